"""Two dozen decisions: what this program says to each buyer, held against an honest expert, the articles and the laws.

`python tests/golden/test_decisions.py` writes what we say anew.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from fabricreport.case import Case, open_case
from fabricreport.provenance import plain
from fabricreport.vocabulary import CourseKind, Ground, Side

FOLDER = Path(__file__).parent / "decisions"
EXPECTED: dict[str, Any] = yaml.safe_load((FOLDER / "expected.yaml").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = {c["case"]: c for c in EXPECTED["cases"]}
SIDES = {Side.INFINIBAND: "infiniband", Side.ROCEV2: "rocev2", Side.PLAIN: "standard-ethernet"}
NOISE = 2e-3
"""Share of a total by which an order of draws, and not a law, may move a mean."""


@cache
def case_of(name: str) -> Case:
    return open_case(FOLDER / f"{name}.yaml")


def answers_of(case: Case) -> tuple[str, ...]:
    """What the memo advises, in the words of the expectations; a close call is told as either, and as not mattering."""
    course, verdict = case.decision().courses.advised, case.comparison.verdict
    side = SIDES[Side(next(o.side for o in case.options if o.id == course.options[0]))]
    if course.kind == CourseKind.SINGLE_NODE:
        return ("single-node", side) if side == "standard-ethernet" else ("single-node",)
    if verdict.decided_by == Ground.SIZE:
        return ("does-not-matter",)
    if course.kind == CourseKind.ASK:
        return ("ask",)
    if course.kind in (CourseKind.EITHER, CourseKind.OFFERS, CourseKind.PILOT):
        return ("either", "does-not-matter") if verdict.confidence == "does not matter" else ("either",)
    ask = ("ask",) if course.kind == CourseKind.RENT_FIRST else ()
    return (side, *ask)


@pytest.mark.parametrize("name", CASES)
def test_an_honest_expert_would_say_so_too(name: str) -> None:
    said = set(answers_of(case_of(name)))
    assert said & set(CASES[name]["accept"])
    assert not said <= set(CASES[name].get("must_not", ()))


@pytest.mark.parametrize("name", CASES)
def test_advice_that_no_article_gives_comes_with_its_reason(name: str) -> None:
    case = case_of(name)
    theirs = {a["says"] for a in CASES[name]["articles"].values()} - {"silent"}
    ours = {*answers_of(case), *(("does-not-matter",) if case.comparison.verdict.open else ())}
    told = [f for f in case.spoken("decision").findings if f.name.startswith("ARTICLES_DIFFER")]
    if not theirs & ours:
        assert len(told) == 1


# ---- the laws of the advice, on every buyer


@pytest.fixture
def buyer(request: pytest.FixtureRequest) -> Case:
    return case_of(request.param)


every_buyer = pytest.mark.parametrize("buyer", CASES, indirect=True)


def means(case: Case, **changes: Any) -> dict[str, float]:
    """Mean total cost of each option of a buyer, with keys of its params changed."""
    return {o: float(plain(t).mean()) for o, t in case.changed(**changes).chain.bills.totals.items()}


def pairs(case: Case) -> list[tuple[str, str]]:
    """Each option that takes skill with lossless Ethernet, beside each of InfiniBand."""
    skilled = [o.id for o in case.options if o.behaviour.skill]
    return [(o, i.id) for o in skilled for i in case.options if i.side == Side.INFINIBAND]


def slack(case: Case) -> float:
    return NOISE * max(means(case).values())


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@every_buyer
def test_less_skill_never_favours_the_fabric_that_needs_more_of_it(buyer: Case) -> None:
    found = [means(buyer, organisation__qos_expertise=skill) for skill in ("none", "some", "strong")]
    for roce, infiniband in pairs(buyer):
        leads = [f[roce] - f[infiniband] for f in found]
        assert np.all(np.diff(leads) <= slack(buyer)), (roce, infiniband)


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@every_buyer
def test_an_estate_never_hurts_its_own_fabric(buyer: Case) -> None:
    levels = ("none", "some", "large")
    ethernet = [means(buyer, organisation__existing_ethernet=e) for e in levels]
    infiniband = [means(buyer, organisation__existing_infiniband=e) for e in levels]
    for roce, ib in pairs(buyer):
        assert np.all(np.diff([f[roce] - f[ib] for f in ethernet]) <= slack(buyer))
        assert np.all(np.diff([f[roce] - f[ib] for f in infiniband]) >= -slack(buyer))


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@every_buyer
def test_fewer_weeks_never_favour_what_takes_longer_at_every_percentile(buyer: Case) -> None:
    courses = []
    for weeks in (40, 12, 5, 1):
        case = buyer.changed(organisation__time_to_production_weeks=weeks)
        stable = {o: np.sort(plain(w)) for o, w in case.chain.losses.weeks.items()}
        courses.append((case.comparison.verdict, stable))
    for (before, stable), (after, _) in pairwise(courses):
        a, b = stable[before.choice], stable[after.choice]
        slower = before.choice != after.choice and bool(np.all(b >= a) and np.any(b > a))
        assert not slower, (before.choice, after.choice)


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@every_buyer
def test_dearer_staff_and_energy_make_no_option_cheaper(buyer: Case) -> None:
    base = means(buyer)
    for change in ({"evidence": {"network-architect-pay": 400_000}}, {"prices": {"electricity": 0.5}}):
        found = means(buyer, **change)
        assert all(found[o] >= base[o] - 1e-6 * abs(base[o]) for o in base), change


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@every_buyer
def test_each_pair_turns_at_most_once_in_the_value_of_a_gpu_hour(buyer: Case) -> None:
    found = [means(buyer, money__gpu_hour_value=value) for value in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)]
    for a, b in pairs(buyer):
        signs = [f[a] - f[b] > 0 for f in found]
        assert sum(x != y for x, y in pairwise(signs)) <= 1, (a, b)


def ours(name: str) -> dict[str, str]:
    """What this program says to a buyer, and why: the course, its class, what decides, and who agrees."""
    case = case_of(name)
    result, verdict = case.decision(), case.comparison.verdict
    agree = " ".join(result.articles.agree) or "none"
    return {
        "course": result.courses.advised.id,
        "class": str(result.verdict.confidence),
        "by": str(verdict.decided_by),
        "articles_agree": agree,
    }


OURS_FILE = FOLDER / "ours.yaml"
OURS = """\
# What this program says to each buyer of this folder, made by `python tests/golden/test_decisions.py`.
# course: what is advised; class: how sure; by: what decides (money, the size, the client's date or weights, nothing for a
# close call); articles_agree: the articles that would say the same. A change of it is a change of advice: say why.
"""


@pytest.mark.parametrize("name", CASES)
def test_what_we_say_is_what_we_said(name: str) -> None:
    assert ours(name) == yaml.safe_load(OURS_FILE.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    said = {name: ours(name) for name in CASES}
    OURS_FILE.write_text(OURS + yaml.safe_dump(said, sort_keys=False), encoding="utf-8")
