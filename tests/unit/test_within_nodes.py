"""Where jobs within nodes are advised, what is printed, promised and asked is of that course, and nothing of a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bench import changed
from notebook_cells import SECTIONS, sources
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.blocks.prose import IF, ProseCell, is_prose, read_cell, resolved
from fabricreport.books.sellers import read_providers
from fabricreport.case import Case
from fabricreport.scenario import SECTION_NAMES
from fabricreport.sections.decision.tables import headline
from fabricreport.sections.diligence.clauses import clauses
from fabricreport.sections.diligence.study import asked
from fabricreport.sections.schedule import Step

pytestmark = pytest.mark.slow
_SMALL: dict[str, Any] = {"cluster__gpus": 64, "workload__kind": "fine-tuning", "workload__run_days": 2}
CLIENTS: dict[str, dict[str, Any]] = {
    "serves requests": {"cluster__gpus": 64, "workload__kind": "inference-multi-node", "schedule": {}},
    "short runs": _SMALL | {"workload__model_parameters_billion": 13},
    "value stated": _SMALL | {"workload__model_parameters_billion": 13, "money__gpu_hour_value": 3.0},
    "too late": _SMALL | {"workload__model_parameters_billion": 13, "schedule__production_by": "2026-12-18"},
    "jobs stated, in stages": _SMALL
    | {
        "cluster__gpus": 32,
        "cluster__trajectory": [{"month": 12, "gpus": 64}],
        "workload__jobs": [{"gpus": 8, "share": 1.0}],
        "workload__model_parameters_billion": 13,
        "money__acquisition": "colocate",
    },
}
_OF_A_NETWORK = re.compile(
    r"\{(latency|tail_risk|tco|diligence\.(pass|rival|starts|price\.(busbw|weeks|latency)|credit|cap\b|damages\.weeks)"
    r"|decision\.(difference|probability|cash|time|gap|ready|total|reverses|sure\.wins|change))[.\[}:_]"
)
_ONE_LINE = {"{tco.gpu_hour_value}", "{tco.fabric_capex[base]}"}
"""What a GPU-hour is worth, and the one line on the network that is not taken."""


def client(name: str) -> Case:
    return changed("example", **CLIENTS[name])


def printed(case: Case, section: str) -> Iterator[ProseCell]:
    """The prose cells that hold for a case, but for what is done and sent before signing."""
    spoken = case.spoken(section)
    if spoken.muted:
        return
    for cell in (read_cell(source) for source, _ in sources(section) if is_prose(source)):
        if cell.each is not None and not spoken.words[cell.each[1]]:
            continue
        if cell.by:
            yield from filter(None, [cell.said_of(spoken.facts.arm(cell.by))])
        elif not cell.when or getattr(spoken.findings, cell.when.partition(".")[2]) is not cell.negated:
            yield cell


def said(text: str, case: Case, section: str) -> str:
    """A text with its choices made by the words of the section."""
    spoken = case.spoken(section)
    words = {**spoken.findings.by_name(), **spoken.words}
    return resolved(text, lambda kind, asked: kind == IF and bool(words.get(asked)))


@pytest.mark.laws(2)
@pytest.mark.parametrize("name", CLIENTS)
def test_nothing_that_is_printed_holds_a_figure_of_a_network(name: str) -> None:
    case = client(name)
    body = case.params.asked.spine
    assert body in SECTIONS
    found = [
        (section, field.group())
        for section in (body, *SECTION_NAMES)
        if section != "evidence"
        for cell in printed(case, section)
        for text in (cell.text, *cell.parts.values())
        for field in re.finditer(r"\{[^{}]+\}", said(text, case, section))
        if _OF_A_NETWORK.match(field.group()) and field.group() not in _ONE_LINE
    ]
    assert found == []
    for section in ("latency", "tco", "tail_risk"):
        assert list(printed(case, section)) == []


@rows("name", CLIENTS)
def test_no_promise_test_clause_or_question_is_of_a_network(name: str) -> None:
    case = client(name)
    found = case.diligence()
    assert case.decision().in_nodes and not case.decision().courses.clauses
    assert not (found.promises or found.promises_of_rival or found.plan.tests or found.floors or found.terms.credits)
    assert found.terms.weeks is None and set(found.terms.damages) == {"delivery"}
    one = asked(
        case.changed(cluster__gpus=8, cluster__trajectory=[], workload__jobs=[]).inputs,
        read_providers(),
        joins_nodes=True,
    )
    assert {q.question.id for q in found.questions} == {q.id for q in one}
    terms = {clause.question.id: clause.text for clause in clauses(case.inputs, found)}
    assert "{diligence.damages.delivery}" in terms["Q-DEL-01"]
    assert not any(word in text for text in terms.values() for word in ("etwork", "busbw", "Acceptance Test"))


@rows("kind", ["fine-tuning", "inference-multi-node"])
def test_a_renter_whose_work_takes_no_longer_within_nodes_is_promised_no_network(kind: str) -> None:
    jobs = [{"gpus": 8, "share": 1.0}] if kind == "fine-tuning" else []
    case = changed("tern-finetuning", cluster__gpus=32, workload__kind=kind, workload__jobs=jobs)
    found = case.diligence()
    assert not (case.decision().joins_nodes or found.promises or found.plan.tests or found.terms.credits)
    assert found.terms.weeks is None and {q.question.when for q in found.questions} == {""}
    assert not any("busbw" in clause.text for clause in clauses(case.inputs, found))


@rows("name", CLIENTS)
def test_amounts_are_those_of_the_course(name: str) -> None:
    """Cash and time make what is saved; the causes make what is paid; a quote saves on what is bought."""
    case = client(name)
    decision, figure = case.decision(), case.figure
    saved = -figure("decision.courses.against.single-node").value
    cash, time = (figure(f"decision.courses.single_{part}").value for part in ("cash", "lost"))
    assert np.isclose(cash + time, saved) and cash > 0
    single = decision.courses.single
    assert np.allclose(plain(sum(single.causes.values())), plain(single.cash))
    total = figure("decision.courses.single_total").value
    assert np.isclose(total + saved, figure(f"decision.total.{decision.courses.base}").value)
    assert np.allclose(plain(case.diligence().total), plain(single.total))
    told, numbers = headline(case.inputs, decision, figure)
    assert "confidence" not in told and {n.id for n in numbers} >= {"decision.courses.single_total"}


@rows("name", CLIENTS)
def test_production_begins_at_power_on(name: str) -> None:
    days = client(name).decision().schedule.advised.days
    assert days[Step.PRODUCTION] == days[Step.STABLE] == days[Step.POWER_ON]
