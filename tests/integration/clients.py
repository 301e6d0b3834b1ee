"""A covering array of clients: every pair of choices in the params schema stands together in at least one of them.

The factors are read off the schema, so that a new key cannot be forgotten: an enumeration gives its choices, a number
its least and largest value and its default, an uncertain number each form it may be written in. Where two keys must
agree (whole nodes, a plan that multiplies out, growth within the horizon) a level is a rule and not a figure, and is
settled when the client is written down. What is contradictory even so is left to the rules of refusal, and counted.
"""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import yaml
from allpairspy import AllPairs
from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fabricreport.base.vocabulary import Acquisition, Question
from fabricreport.books.equipment import GpuType, gpu_types
from fabricreport.books.fields import Unit
from fabricreport.books.messages import choices_of
from fabricreport.books.options import read_options
from fabricreport.scenario import SECTION_NAMES, SHIPPED_OPTIONS, Cluster, Params
from fabricreport.scenario.candidates import shipped
from fabricreport.scenario.uncertain import Bounds
from fabricreport.sections.faults import most_gpus

ROOT = Path(__file__).parents[2]
LEFT_OUT = "left out"
Levels = dict[str, tuple[Any, ...]]
Row = Mapping[str, Any]

_LOG = "logs/allreduce.txt"
_EXPERT = "elicited/example-answers.yaml"
_ANSWERS = "providers/example-answers.yaml"
_OVERRIDES: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "a price and a source": [
        {"id": "price:electricity", "value": {"low": 0.06, "mode": 0.08, "high": 0.11}},
        {"id": "evidence:pue", "value": 1.3},
    ],
}
_DUE = {"too soon": "2026-12-04", "in time": "2027-06-18", "after years": "2029-11-30"}
_BY_HAND: Levels = {
    "client": ("Acme", "Ørsted & Söhne 9000"),
    "as_of": ("2026-11-27", "2026-11-05"),
    "cluster.gpus": ("least", "one node", "sixteen nodes", "largest"),
    "cluster.trajectory": ("none", "pause", "growth"),
    "cluster.vendor": (LEFT_OUT, "stated"),
    "cluster.nic_ports_per_node": (LEFT_OUT, "just enough", "most"),
    "workload.model_parameters_billion": (LEFT_OUT, "least", "usual", "largest"),
    "workload.tokens_billion": (LEFT_OUT, "least", "usual", "largest"),
    "workload.run_days": (LEFT_OUT, "least", "usual", "largest"),
    "workload.parallelism": ("choose", "stated"),
    "workload.jobs": (LEFT_OUT, "one size", "two sizes"),
    "organisation.beyond_money": (LEFT_OUT, "one first", "all in order"),
    "schedule.production_by": (LEFT_OUT, "too soon", "in time", "after years"),
    "weights": ("equal", "one axis", "largest"),
    "options": ("proposed", "two of one family", "without InfiniBand", "own"),
    "providers": ("none", "named", "answered", "unlisted"),
    "measurements": ("none", "one log"),
    "elicited": ("none", "one expert"),
    "overrides": tuple(_OVERRIDES),
    "question": (LEFT_OUT, "as it follows", "as if of one size"),
    "sections": ("all", "reversed", "decision only"),
}
"""Factors whose levels must agree with other keys, or that are more than one value."""

_ALSO = {"cluster.gpus_per_node": (4,)}
"""Levels between the edges at which something changes: several servers in one rack that NVLink joins."""

_NOT_VARIED = {
    "client.name": "the factor `client`", "client.slug": "the factor `client`",
    "memo.to": "text, tried by the hostile params", "memo.from": "text, tried by the hostile params",
    "memo.subject": "text, tried by the hostile params", "memo.language": "one choice",
    "extra": "of no figure of ours: test_two_clients.py builds a memo with sections of the client's own",
    "brand": "of no figure: how a memo looks, test_brand.py",
    "adopted": "a signature under a number of a notebook: test_edits.py",
    "refresh.moved_share": "of no figure: when an edition is made, test_quiet.py",
    "offers": "what may stand in one follows from the way of paying: test_offers_memo.py builds memos with them",
    **{f"weights.{axis}": "the factor `weights`" for axis in ("workload", "maturity", "scale_and_budget", "time_to_production")},
}  # fmt: skip


def factors() -> Levels:
    """Every key of the schema with the levels it takes in the array."""
    found: Levels = {}
    for path, field in _leaves(Params, ""):
        if path in _BY_HAND or path in _NOT_VARIED:
            continue
        found[path] = (*_levels(field), *_ALSO.get(path, ()))
    return {**found, **_BY_HAND}


def keys_without_factor() -> set[str]:
    """Keys of the schema that no factor covers: none, or the array has a hole."""
    covered = {*factors(), *_NOT_VARIED}
    return {path for path, _ in _leaves(Params, "") if path not in covered}


def _leaves(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        inner = field.annotation
        if path in _BY_HAND and path != "client" and path != "weights":
            yield path, field
        elif isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _leaves(inner, f"{path}.")
        else:
            yield path, field


def _levels(field: FieldInfo) -> tuple[Any, ...]:
    """The levels of an ordinary field, its default (left out) first where it has one."""
    default = () if field.is_required() else (LEFT_OUT,)
    if choices := choices_of(field):
        return (*default, *choices)
    bounds = next((m for m in field.metadata if isinstance(m, Bounds)), None)
    if bounds is not None:
        return (*default, *bounds.words, *_uncertain(bounds))
    if bool in _arms(field.annotation):
        return (*default, True, False)
    low, high = _edges(field)
    return (*default, low, high)


def _uncertain(bounds: Bounds) -> tuple[Any, ...]:
    assert bounds.bound is not None, "only an override has the unit of what it replaces"
    low, high = bounds.bound.least, bounds.bound.high
    span = high - low
    inner = [low + span * share for share in (0.02, 0.05, 0.1)]
    return (
        low, high, {"low": inner[0], "mode": inner[1], "high": inner[2]}, {"low": inner[0], "high": inner[2]},
        {"p5": max(inner[1], span * 0.02), "p95": max(inner[2], span * 0.05)},
    )  # fmt: skip


def _arms(annotation: Any) -> list[Any]:
    if get_origin(annotation) in (Union, UnionType):
        return [arm for part in get_args(annotation) for arm in _arms(part)]
    return [annotation]


def _edges(field: FieldInfo) -> tuple[Any, Any]:
    """Least and largest value of a number."""
    whole = int in _arms(field.annotation)
    marks = {type(m): m for mark in field.metadata for m in (mark if isinstance(mark, Unit) else (mark,))}
    low, high = marks[Ge].ge, marks[Le].le
    return (int(low), int(high)) if whole else (float(low), float(high))


@lru_cache(maxsize=1)
def rows() -> tuple[dict[str, Any], ...]:
    """The covering array, in an order that is the same on every machine."""
    levels = factors()
    ordered = dict(sorted(levels.items(), key=lambda item: (-len(item[1]), item[0])))
    names = list(ordered)
    made = AllPairs([[(k, i) for i in range(len(ordered[k]))] for k in names], filter_func=_possible(ordered))
    return _completed([{k: ordered[k][i] for k, i in row} for row in made], levels)


def _completed(made: list[dict[str, Any]], levels: Levels) -> tuple[dict[str, Any], ...]:
    """The rows, and one more for each pair of levels that the array left out: it is greedy and may miss a few."""
    names = sorted(levels)

    def pairs(row: Row) -> set[tuple[tuple[str, str], ...]]:
        return {((a, repr(row[a])), (b, repr(row[b]))) for a, b in itertools.combinations(names, 2)}

    seen = set().union(*(pairs(row) for row in made))
    for a, b in itertools.combinations(names, 2):
        for x, y in itertools.product(levels[a], levels[b]):
            row = {**made[0], a: x, b: y}
            left_out = ((a, repr(x)), (b, repr(y))) not in seen
            if left_out and not any(excluded({a: x, b: y}) or excluded(row) for _, excluded in CONTRADICTIONS):
                made.append(row)
                seen |= pairs(row)
    return tuple(made)


CONTRADICTIONS: tuple[tuple[str, Callable[[Row], bool]], ...] = (
    (
        "operations-of-others",
        lambda r: r.get("organisation.operations") == "bought-in" and r.get("money.acquisition") == "rent",
    ),
    (
        "dragonfly-has-no-taper",
        lambda r: (
            r.get("cluster.topology") == "dragonfly"
            and r.get("cluster.oversubscription", LEFT_OUT) not in (LEFT_OUT, 1.0)
        ),
    ),
    (
        "partner-rule-leaves-too-few",
        lambda r: (
            r.get("organisation.nvidia_cloud_partner") is True and r.get("options") in ("own", "two of one family")
        ),
    ),
)
"""Pairs of choices that a rule of refusal excludes, by the rule's name: no client can have both."""


def _possible(ordered: Levels) -> Callable[[Sequence[tuple[str, int]]], bool]:
    def possible(partial: Sequence[tuple[str, int]]) -> bool:
        row = {k: ordered[k][i] for k, i in partial}
        return not any(excluded(row) for _, excluded in CONTRADICTIONS)

    return possible


@lru_cache(maxsize=1)
def covering_rows() -> tuple[dict[str, Any], ...]:
    """The fewest rows found in which each single level stands at least once: the most new levels first."""
    array = list(rows())
    missing = {(k, repr(v)) for row in array for k, v in row.items()}
    picked: list[dict[str, Any]] = []
    while missing:
        best = max(array, key=lambda row: len(missing & {(k, repr(v)) for k, v in row.items()}))
        picked.append(best)
        missing -= {(k, repr(v)) for k, v in best.items()}
    return tuple(picked)


# ---- from a row to a params file


def write_client(row: Row, folder: Path) -> Path:
    """The client of a row as `folder/params/client.yaml`, with the answers, logs and options it names."""
    params = folder / "params"
    (params / "logs").mkdir(parents=True)
    (params / "providers").mkdir()
    shutil.copy(ROOT / "tests" / "data" / "logs" / "xe9680_16gpu_mpirun.txt", params / _LOG)
    for answers in (_ANSWERS, _EXPERT):
        (params / answers).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "params" / answers, params / answers)
    if row["options"] == "own":
        (params / "options").mkdir()
        (params / "options" / "own.yaml").write_text(yaml.safe_dump([_OWN_OPTION]), encoding="utf-8")
    path = params / "client.yaml"
    path.write_text(yaml.safe_dump(data_of(row), sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


_OWN_OPTION = {"id": "house-ethernet", "like": "rocev2-whitebox-400g", "name": "House Ethernet 800G"}


def choices(key: str) -> tuple[Any, ...]:
    """The choices of an enumerated key."""
    return tuple(v for v in factors()[key] if v != LEFT_OUT)


def write_plain_client(folder: Path, *, kind: str, acquisition: str, gpu: str) -> Path:
    """A client who says no more than must be said, with sixteen nodes."""
    per_node = gpu_types().of(gpu).gpus_per_node
    data = {
        "client": {"name": "Acme"}, "as_of": "2026-11-27",
        "cluster": {"gpus": 16 * per_node, "gpu": gpu, "gpus_per_node": per_node},
        "workload": {"kind": kind}, "organisation": {"networking_maturity": "medium"},
        "money": {"acquisition": acquisition},
    }  # fmt: skip
    path = folder / "client.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def data_of(row: Row) -> dict[str, Any]:
    """The params of a row, with the levels that are rules settled."""
    plain = {k: v for k, v in row.items() if k not in _BY_HAND and v != LEFT_OUT}
    data: dict[str, Any] = {}
    for key, value in plain.items():
        _put(data, key, value)
    for settle in (
        _settle_head,
        _settle_cluster,
        _settle_work,
        _settle_others,
        _settle_jobs,
        _settle_lists,
        _settle_question,
    ):
        settle(row, data)
    return data


def _put(data: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    at = data
    for part in parents:
        at = at.setdefault(part, {})
    at[last] = value


def _settle_head(row: Row, data: dict[str, Any]) -> None:
    data["client"] = {"name": row["client"]}
    data["as_of"] = row["as_of"]
    if row["schedule.production_by"] != LEFT_OUT:
        _put(data, "schedule.production_by", _DUE[row["schedule.production_by"]])
    if row["weights"] == "one axis":
        data["weights"] = {"workload": 1.0, "maturity": 0.0, "scale_and_budget": 0.0, "time_to_production": 0.0}
    elif row["weights"] == "largest":
        data["weights"] = {"maturity": 1000.0}
    order = {"one first": ["supply"], "all in order": ["exit", "lock-in", "skills", "supply", "isolation"]}
    if row["organisation.beyond_money"] in order:
        _put(data, "organisation.beyond_money", order[row["organisation.beyond_money"]])


def _settle_cluster(row: Row, data: dict[str, Any]) -> None:
    cluster = data.setdefault("cluster", {})
    per_node = _per_node(cluster)
    most = max(per_node, _most_gpus(row, cluster) // per_node * per_node)
    cluster["gpus"] = {"least": 1, "one node": per_node, "sixteen nodes": min(16 * per_node, most), "largest": most}[
        row["cluster.gpus"]
    ]
    if row["cluster.vendor"] == "stated":
        cluster["vendor"] = _gpu(cluster).vendor
    ports = cluster.get("links_per_gpu", _gpu(cluster).links.per_gpu) * per_node
    if row["cluster.nic_ports_per_node"] == "just enough" and ports <= 256:
        cluster["nic_ports_per_node"] = ports
    elif row["cluster.nic_ports_per_node"] == "most" and ports <= 256:
        cluster["nic_ports_per_node"] = 256
    horizon = data["money"].get("horizon_months", 48)
    if horizon > 2 and row["cluster.trajectory"] != "none":
        first = cluster["gpus"] if cluster["gpus"] >= per_node else per_node
        later = first if row["cluster.trajectory"] == "pause" else min(4 * first, most)
        cluster["trajectory"] = [{"month": 1, "gpus": first}, {"month": horizon // 2, "gpus": later}]
    largest = max(cluster["gpus"], *(stage["gpus"] for stage in cluster.get("trajectory", ())), 0)
    if "sites" in cluster:
        cluster["sites"] = min(cluster["sites"], -(-largest // per_node))
    _settle_sites(cluster, largest)


def _settle_sites(cluster: dict[str, Any], largest: int) -> None:
    """Links are stated of several sites that are joined, at no more than their GPUs send."""
    per_node, sites = _per_node(cluster), cluster.get("sites", 1)
    links = ("site_distance_km", "site_tbits_per_s")
    for key in (*links, "sites_joined") if sites == 1 else links if not cluster.get("sites_joined", True) else ():
        cluster.pop(key, None)
    if "site_tbits_per_s" in cluster:
        kind = _gpu(cluster).links
        gbits = cluster.get("links_per_gpu", kind.per_gpu) * cluster.get("link_gbits_per_s", kind.gbits_per_s)
        site = -(-largest // per_node // sites) * per_node
        cluster["site_tbits_per_s"] = min(cluster["site_tbits_per_s"], site * gbits / 1000)


def _per_node(cluster: Mapping[str, Any]) -> int:
    return int(cluster.get("gpus_per_node", _gpu(cluster).gpus_per_node))


def _gpu(cluster: Mapping[str, Any]) -> GpuType:
    return gpu_types().of(cluster.get("gpu", gpu_types().default))


def _most_gpus(row: Row, cluster: Mapping[str, Any]) -> int:
    """The largest cluster that each of the row's options can connect, or the schema's own limit."""
    known = {**read_options(), "house-ethernet": read_options()["rocev2-whitebox-400g"]}
    shape = Cluster.model_validate({**cluster, "gpus": 1})
    return min(1_000_000, *(most_gpus(shape, known[o]) for o in _options(row)))


def _settle_work(row: Row, data: dict[str, Any]) -> None:
    cluster, work = data["cluster"], data["workload"]
    size, room = row["workload.model_parameters_billion"], 2.0 * cluster["gpus"]
    if size != LEFT_OUT:
        work["model_parameters_billion"] = {"least": 0.1, "usual": min(70.0, room), "largest": min(100_000.0, room)}[
            size
        ]
    for key, levels in (("tokens_billion", (0.1, 2000.0, 10_000_000.0)), ("run_days", (1.0, 30.0, 3650.0))):
        level = row[f"workload.{key}"]
        if level != LEFT_OUT:
            work[key] = dict(zip(("least", "usual", "largest"), levels, strict=True))[level]
    if work["kind"].startswith("pretraining") and not {"tokens_billion", "run_days"} & set(work):
        work["run_days"] = 30.0
    if row["workload.parallelism"] == "stated":
        tp = next(t for t in (8, 4, 2, 1) if cluster["gpus"] % t == 0 and t <= _per_node(cluster))
        work["parallelism"] = {"tp": tp, "pp": 1, "dp": cluster["gpus"] // tp}


def _settle_others(row: Row, data: dict[str, Any]) -> None:
    """Keys of one kind of work, or of what the client owns, are left out elsewhere."""
    work, paid = data["workload"], data["money"]["acquisition"]
    kinds = {"hpc-simulation": ("calls_per_step", "mpi_share"), "fine-tuning": ("method",)}
    for kind, keys in kinds.items():
        for key in keys if work["kind"] != kind else ():
            work.pop(key, None)
    for key, others in (("server_age_months", ("rent",)), ("premises", ("rent", "colocate"))):
        if paid in others:
            data["cluster"].pop(key, None)


def _settle_jobs(row: Row, data: dict[str, Any]) -> None:
    """Jobs of one node, and beside them jobs as large as a site at the start."""
    cluster = data["cluster"]
    small = min(_per_node(cluster), cluster["gpus"])
    large = small * max(1, cluster["gpus"] // small // cluster.get("sites", 1))
    if row["workload.jobs"] == "one size" or (row["workload.jobs"] == "two sizes" and large == small):
        data["workload"]["jobs"] = [{"gpus": small, "share": 1.0}]
    elif row["workload.jobs"] == LEFT_OUT and not cluster.get("sites_joined", True):
        data["workload"]["jobs"] = [{"gpus": small, "share": 1.0}]  # one job on all GPUs finds no room in a site
    elif row["workload.jobs"] == "two sizes":
        data["workload"]["jobs"] = [{"gpus": small, "share": 0.4}, {"gpus": large, "share": 0.6}]


def _options(row: Row) -> list[str]:
    vendor = "amd" if row["cluster.gpu"].startswith("mi") else "nvidia"
    sold = [o for o in SHIPPED_OPTIONS if vendor in shipped()[o].gpus_of]
    return {
        "proposed": sold,  # of which those for the speed and the day
        "two of one family": [o for o in sold if shipped()[o].family == "rocev2"][:2],
        "without InfiniBand": [o for o in sold if not o.startswith("infiniband")],
        "own": ["house-ethernet", *SHIPPED_OPTIONS[:1]],
    }[row["options"]]


def _settle_lists(row: Row, data: dict[str, Any]) -> None:
    if row["options"] != "proposed":
        data["options"] = _options(row)
    named = [{"name": "CoreWeave"}, {"name": "Lambda"}]
    answered = {"name": "Example Cloud", "answers": _ANSWERS}
    data["providers"] = {
        "none": [], "named": named, "answered": [*named, answered], "unlisted": [{"name": "Nobody's Cloud"}],
    }[row["providers"]]  # fmt: skip
    data["measurements"] = [_LOG] if row["measurements"] == "one log" else []
    data["elicited"] = [_EXPERT] if row["elicited"] == "one expert" else []
    data["overrides"] = [
        {**o, "who": "Head of purchasing", "why": "Written quote", "until": "2027-01-31"}
        for o in _OVERRIDES[row["overrides"]]
    ]
    data["sections"] = {
        "all": list(SECTION_NAMES), "reversed": list(reversed(SECTION_NAMES)), "decision only": ["decision"],
    }[row["sections"]]  # fmt: skip


def _settle_question(row: Row, data: dict[str, Any]) -> None:
    """What the memo answers, where it is stated: a buyer who grows may ask for one size all the same."""
    cluster = data["cluster"]
    grows = any(stage["gpus"] > cluster["gpus"] for stage in cluster.get("trajectory", ()))
    if row["question"] == LEFT_OUT:
        return
    if data["money"]["acquisition"] == Acquisition.RENT:
        data["question"] = Question.CHOOSE_PROVIDER.value
    else:
        staged = grows and row["question"] == "as it follows"
        data["question"] = (Question.GROW_IN_STAGES if staged else Question.BUY_ONCE).value


# ---- the sizes that are written down


SIZES = ROOT / "tests" / "data" / "covering_array.yaml"


def write_sizes() -> None:
    """Write down the sizes of the array and of the few that hold every single choice; the rest of the file stays."""
    found = {"in_array": len(rows()), "covering": len(covering_rows())}
    text = SIZES.read_text(encoding="utf-8")
    for key, size in found.items():
        text = re.sub(rf"(?m)^{key}: \d+", f"{key}: {size}", text)
    SIZES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_sizes()
