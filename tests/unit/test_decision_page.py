"""Page one doubts what is doubtful, and the annex lists every key that nobody gave: read from the notebook's own cells."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from notebook_cells import run, sources

from fabricreport.blocks.nodes import Callout, Code, DataTable, Heading, Headline, Node, Num, Text, Top, walk
from fabricreport.case import open_case
from fabricreport.scenario import assumptions, defaulted_keys, load_params, new_params
from fabricreport.sections.decision.inputs import OF_RUNS, OF_SIMULATIONS, OF_SITES, OF_TUNING, framework_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

ROOT = Path(__file__).parents[2]


def nodes_of(params: Path) -> list[Top]:
    """The nodes that the decision notebook emits for a params file, body first, run without a kernel."""
    space: dict[str, Any] = {}
    for source, tags in sources("decision"):
        run(f"params = {str(params)!r}" if "parameters" in tags else source, space)
    return [node for block in space["body"].emitted for node in block.nodes]


def texts(part: Node | Iterable[Node]) -> list[str]:
    words = (n.text if isinstance(n, Num) else n.words for n in walk(part) if isinstance(n, Text | Code | Num))
    return list(words)


def numbers(part: Node) -> list[str]:
    return [node.id for node in walk(part) if isinstance(node, Num)]


def named(nodes: list[Top], identity: str) -> Top:
    return next(n for n in nodes if isinstance(n, Heading | DataTable) and n.id == identity)


def write(folder: Path, changes: dict[str, Any]) -> Path:
    data = yaml.safe_load((ROOT / "params/example.yaml").read_text())
    data["as_of"] = str(data["as_of"])
    for key, value in changes.items():
        section, _, last = key.rpartition(".")
        (data.setdefault(section, {}) if section else data)[last] = value
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(data))
    return path


def doubts(nodes: list[Top]) -> list[int]:
    callouts = [(i, n) for i, n in enumerate(nodes) if isinstance(n, Callout)]
    return [i for i, n in callouts if "Look at the plan" in "".join(texts(n.title))]


def headline(nodes: list[Top]) -> Mapping[str, object]:
    return next(n.data for n in nodes if isinstance(n, Headline))


def test_a_client_who_said_five_things_is_told_the_rest_and_that_the_framework_takes_no_side(tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    path.write_text(new_params("Newcomer", dt.date(2026, 11, 20)), encoding="utf-8")
    nodes = nodes_of(path)
    assert doubts(nodes) == []
    table = "\n".join(texts(named(nodes, "tab-decision-assumed")))
    silent = {one.key: one.meaning for one in assumptions(load_params(path)) if one.key not in OF_RUNS}
    moot = {silent.pop(key) for key in (*OF_SITES, *OF_SIMULATIONS, *OF_TUNING)}
    lines = {*table.split("\n")}
    assert len(silent) > 40
    assert [key for key, what in silent.items() if not {what, what.partition(", in ")[0]} & lines] == []
    assert not {what.partition(", in ")[0] for what in moot} & lines, "of one site, of no simulation, of no fine-tuning"
    assert "server_age_months" not in table and "buy-once" not in table, "told in words, not by keys of the file"
    told = headline(nodes)
    assert (told["framework"], told["framework_leans_to"]) == ("takes no side", "neither side")
    assert any("assumed, not stated" in text for node in nodes for text in texts(node))


def test_a_client_who_said_everything_is_told_that_nothing_was_assumed(tmp_path: Path) -> None:
    absent = {
        "offers": [],
        "measurements": [],
        "elicited": [],
        "overrides": [],
        "adopted": [],
        "extra": [],
        "cluster.trajectory": [],
        "cluster.vendor": "nvidia",
    }
    absent |= {"cluster.optics": "compatible", "workload.jobs": [], "organisation.nvidia_cloud_partner": False}
    absent |= {"schedule.share_wanted": 0.66, "organisation.operations": "own", "workload.checkpoint_minutes": None}
    absent |= {"cluster.sites_joined": True, "cluster.site_distance_km": 2.0, "cluster.site_tbits_per_s": None}
    absent |= {"organisation.beyond_money": [], "question": "buy-once"}
    absent |= {"money.manager_licence": "as-sold", "money.switch_system_licence": "as-sold"}
    absent |= {"workload.calls_per_step": None, "workload.mpi_share": None, "workload.method": "full"}
    absent |= {"cluster.server_age_months": None, "cluster.premises": "data-centre"}
    path = write(
        tmp_path,
        absent
        | {
            "workload.tokens_billion": None,
            "money.materiality_usd": None,
            "memo.language": "en",
            "brand": None,
            "refresh.moved_share": 0.02,
        },
    )
    assert defaulted_keys(load_params(path)) == ()
    given = open_case(path).inputs
    assert assumptions(given.params) == ()
    rules = [rule for axis in framework_of(given).axes for rule in axis.rules]
    assert rules and not [rule for rule in rules if "assumed, not stated" in rule.reason]


def client(folder: Path, cluster: dict[str, Any], kind: str = "pretraining-dense") -> Path:
    path = folder / "client.yaml"
    data = {
        "client": {"name": "Client"},
        "as_of": "2026-11-20",
        "cluster": cluster,
        "workload": {"kind": kind},
        "organisation": {"networking_maturity": "medium"},
        "money": {"acquisition": "buy"},
    }
    path.write_text(yaml.safe_dump(data))
    return path


def test_a_single_gpu_is_told_the_chief_cause_of_the_difference(tmp_path: Path) -> None:
    single = open_case(client(tmp_path, {"gpus": 1, "gpus_per_node": 1}, "inference"))
    assert single.comparison.verdict.decided_by == "size"
    assert str(single.spoken("decision").words["cause"]) == "network staff and training"
