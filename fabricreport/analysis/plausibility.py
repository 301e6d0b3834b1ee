"""Is the plan itself plausible? Cautions about what a client may have meant otherwise, each true of the case.

Impossible is refused when the params are read; improbable is said here, on page one and by `check`. A caution is a
sentence of `evidence/plausibility.yaml` with figures of this case. `date_notes` compares the memo's date with the
clock, which is handed in: only the command line asks it, and no memo does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabricreport.analysis.latency_inputs import TRAINING_KINDS, Job, one_node
from fabricreport.analysis.tco_inputs import server_row
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.ledger import Number
from fabricreport.models import parallel
from fabricreport.provenance import plain
from fabricreport.scenario import is_given

if TYPE_CHECKING:
    from fabricreport.books.options import Option
    from fabricreport.case import Case

_MONTHS_PER_YEAR, _DAYS_PER_YEAR = 12, 365.25
_ROOM, _ASSUMED = "{assumed}", " (assumed, for none was given)"
_LINKS = ("param:cluster.links_per_gpu", "param:cluster.link_gbits_per_s")
_WEEKS = "organisation.time_to_production_weeks"


@dataclass(frozen=True)
class Caution:
    """One sentence about the plan, what to look at, and the keys of the params file it rests on.

    `text` is a template; each field in braces is in `values`, a ledger number or the name of something.
    """

    id: str
    text: str
    look: str
    keys: tuple[str, ...]
    values: Mapping[str, Number | str]

    def __str__(self) -> str:
        shown = {name: v if isinstance(v, str) else v.text for name, v in self.values.items()}
        return f"{self.text.format(**shown)} {self.look} ({', '.join(self.keys)})"


def cautions(case: Case) -> tuple[Caution, ...]:
    """Every caution that is true of the case, the gravest first; most cases have none."""
    return tuple(caution for find in _FINDERS for caution in find(case))


def _caution(id: str, *, assumed: str = "", **values: Number | str) -> Caution:
    """The caution of that id; `assumed` are the words that stand where its text leaves room for them."""
    entry = next(e for e in read_yaml("plausibility") if e["id"] == id)
    text = entry["text"].replace(_ROOM, assumed)
    return Caution(id, text, entry["look"], tuple(entry["keys"]), values)


def _threshold(case: Case, name: str) -> float:
    return case.central(f"evidence:plausible-{name}")


def _advised(case: Case) -> Option:
    return case.all_options[case.decision().verdict.choice]


def _rdma(case: Case) -> tuple[Option, ...]:
    """The options that are real rivals: those with RDMA, or all where none has it."""
    return tuple(o for o in case.options if o.rdma) or case.options


def _idle(case: Case) -> Iterator[Caution]:
    """Less than half of the GPU time works on the advised fabric; the largest loss is named."""
    option, tail = _advised(case), case.tail()
    if float(np.median(plain(case.tco().useful_share[option.id]))) >= _threshold(case, "useful-share"):
        return
    losses = {
        "exposed": (case.latency().exposed_share, f"latency.exposed.{option.id}"),
        "bring-up": (tail.bring_up_share, f"tail_risk.bring_up_share.{option.id}"),
        "tail": (tail.tail_share, f"tail_risk.tail_share.{option.id}"),
        "incidents": (tail.incident_share, f"tail_risk.incident_share.{option.id}"),
    }
    worst = max(losses, key=lambda cause: float(np.median(plain(losses[cause][0][option.id]))))
    yield _caution(
        f"idle-{worst}",
        choice=option.name,
        useful=case.figure(f"tco.useful.{option.id}"),
        lost=case.figure(losses[worst][1]),
    )


def _too_little_work(case: Case) -> Iterator[Caution]:
    """At some size each replica's batch is the least there is, and the network's time shows."""
    option, latency = _advised(case), case.latency()
    stages = {case.params.cluster.gpus: latency.exposed_now, case.params.cluster.final_gpus: latency.exposed_final}
    for (gpus, exposed), suffix in zip(stages.items(), ("now", "final"), strict=False):
        job = latency.jobs.get(gpus)
        if job is None or not _at_least_batch(job) or one_node(case, gpus):
            continue
        if float(np.median(plain(exposed[option.id]))) < _threshold(case, "exposed-share"):
            continue
        size = case.number(
            f"decision.caution_gpus_{suffix}", float(gpus), "gpus", label="GPUs of the stage looked at",
            rule="as stated in the params", inputs=("param:cluster.gpus",), digits=6,
        )  # fmt: skip
        replicas = case.number(
            f"decision.caution_replicas_{suffix}", float(job.plan.dp if job.plan else 1), "count",
            label="Copies of the model that train side by side", rule="GPUs ÷ (tensor × pipeline × context ranks)",
            inputs=("param:cluster.gpus", "param:workload.model_parameters_billion"), digits=6,
        )  # fmt: skip
        share = case.figure(f"latency.exposed_{suffix}.{option.id}")
        yield _caution("too-little-work", choice=option.name, size=size, replicas=replicas, exposed=share)
        return


def _at_least_batch(job: Job) -> bool:
    """Whether each replica of a training plan has no more micro-batches than the rules' least."""
    if job.kind not in TRAINING_KINDS or job.model is None or job.plan is None:
        return False
    least = parallel.rules()["microbatches_per_stage"] * job.plan.pp if job.plan.pp > 1 else 1
    return parallel.microbatches(job.model, job.plan) <= least


def _fits_one_node(case: Case) -> Iterator[Caution]:
    """Serving over several nodes, of a model that one node holds."""
    job, per_node = case.latency().job, int(case.params.cluster.gpus_per_node)
    if job.kind == "inference-multi-node" and job.plan is not None and job.plan.pp == 1 and job.gpus > per_node:
        yield _caution(
            "fits-one-node",
            parameters=case.figure("param:workload.model_parameters_billion"),
            per_node=case.figure("param:cluster.gpus_per_node"),
        )


def _thin_links(case: Case) -> Iterator[Caution]:
    """Links far below what a server of that GPU usually carries."""
    cluster = case.params.cluster
    usual = str(server_row(case)["fabric_per_gpu"])
    own = float(cluster.links_per_gpu * cluster.link_gbits_per_s)
    if one_node(case, cluster.final_gpus) or own >= _threshold(case, "link-share") * case.central(usual):
        return
    given = case.number(
        "decision.caution_links", own, "gbits/s", label="Fabric bandwidth of one GPU as planned",
        rule="links per GPU × rate of a link", inputs=_LINKS,
    )  # fmt: skip
    yield _caution("thin-links", own=given, usual=case.figure(usual))


def _not_ready(case: Case) -> Iterator[Caution]:
    """The client's date is missed more often than met: by every RDMA fabric, or by the advised one."""
    tail, option = case.tail(), _advised(case)
    missed = {o.id: float(np.mean(plain(tail.bring_up_weeks[o.id]) > tail.weeks_allowed)) for o in case.options}
    best = min(_rdma(case), key=lambda o: missed[o.id])
    most = 1.0 - _threshold(case, "ready-share")
    common: dict[str, Number | str] = {
        "weeks": case.figure(f"param:{_WEEKS}"),
        "best": best.name,
        "least": case.figure(f"tail_risk.not_ready.{best.id}"),
    }
    assumed = "" if is_given(case.params, _WEEKS) else _ASSUMED
    if missed[best.id] > most:
        yield _caution("nobody-ready", assumed=assumed, **common)
    elif missed[option.id] > most:
        of_advice = case.figure(f"tail_risk.not_ready.{option.id}")
        yield _caution("advice-not-ready", assumed=assumed, choice=option.name, missed=of_advice, **common)


def _run_length(case: Case) -> Iterator[Caution]:
    """A run that outlasts the horizon, or one that the client's own days leave no time for."""
    tail, params = case.tail(), case.params
    planned = case.figure("tail_risk.planned")
    if tail.planned_days > params.money.horizon_months * _DAYS_PER_YEAR / _MONTHS_PER_YEAR:
        yield _caution("run-beyond-horizon", planned=planned, horizon=case.figure("param:money.horizon_months"))
    if not is_given(params, "workload.run_days"):
        return
    late = {o.name: case.figure(f"tail_risk.late.{o.id}") for o in _rdma(case)}
    punctual = min(late, key=lambda name: late[name].value)
    if late[punctual].value > 1.0 - _threshold(case, "punctual-share"):
        yield _caution("run-late", planned=planned, punctual=punctual, late=late[punctual])


_FINDERS: tuple[Callable[[Case], Iterator[Caution]], ...] = (
    _idle,
    _too_little_work,
    _fits_one_node,
    _thin_links,
    _not_ready,
    _run_length,
)


def date_notes_of(paths: Iterable[Path], today: date, *, as_of: date | None = None) -> tuple[str, ...]:
    """The notes of several params files, each with its file; a file with faults has none here."""
    from fabricreport.case import open_case

    found: list[str] = []
    for path in paths:
        try:
            found += [f"{path}: {note}" for note in date_notes(open_case(path), today, as_of=as_of)]
        except InputError:
            continue
    return tuple(found)


def date_notes(case: Case, today: date, *, as_of: date | None = None) -> tuple[str, ...]:
    """What the clock says of the memo's date (`as_of`, by default the params') and of the prices: said, not followed."""
    day, limit = as_of or case.as_of, int(_threshold(case, "clock-days"))
    found = []
    apart = (day - today).days
    if abs(apart) > limit:
        found.append(
            f"the memo is dated {day}, {abs(apart)} days {'after' if apart > 0 else 'before'} today ({today}): "
            "prices and evidence are taken as of that date; change as_of if it is not meant"
        )
    ahead = [row for row in case.price_book.rows if row.date > today]
    if ahead:
        last = max(ahead, key=lambda row: row.date)
        found.append(
            f"{len(ahead)} price{'s are' if len(ahead) > 1 else ' is'} dated after today ({today}), the furthest {last.date} "
            f"({last.item}): a refresh follows the newest price's date; correct the date if it is not meant"
        )
    return tuple(found)
