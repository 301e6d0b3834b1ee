"""Two dozen decisions: what this program says to each buyer, held against an honest expert.

Asked at the memo's own draws. `PYTHONPATH=.:tests python tests/golden/test_decisions.py` writes what we say anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bench
import pytest
import yaml

from fabricreport.base.vocabulary import CourseKind, Ground, Side
from fabricreport.sections.decision.words import DecisionFinding, schedule_findings

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parent / "decisions"
EXPECTED: dict[str, Any] = yaml.safe_load((FOLDER / "expected.yaml").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = {c["case"]: c for c in EXPECTED["cases"]}
SIDES = {Side.INFINIBAND: "infiniband", Side.ROCEV2: "rocev2", Side.PLAIN: "standard-ethernet"}


def answers_of(name: str) -> tuple[str, ...]:
    """What the memo advises, in the words of the expectations; a close call is told as either, and as not mattering, and to rent
    first or to move a date that nothing meets as asking."""
    case = bench.drawn(name)
    course, verdict = case.decision().courses.advised, case.comparison.verdict
    side = SIDES[Side(next(o.side for o in case.options if o.id == course.options[0]))]
    if course.kind == CourseKind.SINGLE_NODE:
        return ("single-node", side) if side == "standard-ethernet" else ("single-node",)
    if verdict.decided_by == Ground.SIZE:
        return ("does-not-matter",)
    moves = DecisionFinding.LATE_MOVE in {*schedule_findings(case.decision())}
    ask = ("ask",) if moves or course.kind == CourseKind.RENT_FIRST else ()
    if course.kind in (CourseKind.EITHER, CourseKind.OFFERS, CourseKind.PILOT):
        return ("either", *(("does-not-matter",) if verdict.confidence == "does not matter" else ()), *ask)
    return (side, *ask)


@pytest.mark.laws(4)
@pytest.mark.parametrize("name", CASES)
def test_an_honest_expert_would_say_so_too(name: str) -> None:
    said = set(answers_of(name))
    assert said & set(CASES[name]["accept"])
    assert not said <= set(CASES[name].get("must_not", ()))


def ours(name: str) -> dict[str, str]:
    """What this program says to a buyer, and why: the course, its class, what decides."""
    found = bench.drawn(name).decision()
    return {
        "course": found.courses.advised.id,
        "class": str(found.verdict.confidence),
        "by": str(found.verdict.decided_by),
    }


OURS_FILE = FOLDER / "ours.yaml"
OURS = """\
# What this program says to each buyer of this folder, made by `PYTHONPATH=.:tests python tests/golden/test_decisions.py`.
# course: what is advised; class: how sure; by: what decides (money, the size, the client's date or weights, nothing for a
# close call). A change of it is a change of advice: say why.
"""


@pytest.mark.laws(4)
@pytest.mark.parametrize("name", CASES)
def test_what_we_say_is_what_we_said(name: str) -> None:
    assert ours(name) == yaml.safe_load(OURS_FILE.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    said = {name: ours(name) for name in CASES}
    OURS_FILE.write_text(OURS + yaml.safe_dump(said, sort_keys=False), encoding="utf-8")
