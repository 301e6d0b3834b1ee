"""Every arm of a delivery on a constructed one, and every sentence of its memo said, checked and spelt."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import bench
import pytest
from delivered_memo import memo_of
from notebook_cells import sources

from fabricreport.base.vocabulary import Confidence, Ground
from fabricreport.blocks.prose import is_prose, read_cell
from fabricreport.bodies.bodies import Turns
from fabricreport.delivery.facts import SECTION, spoken
from fabricreport.delivery.judgement import Judged, TestVerdict, Why, credits_due
from fabricreport.delivery.runs import Logs
from fabricreport.delivery.study import Acceptance, Decided, Evidence, accept, plan_of
from fabricreport.memo.document.document import Document
from fabricreport.models.judgement.comparison import Verdict

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PASS, FAIL, OPEN = TestVerdict.PASS, TestVerdict.FAIL, TestVerdict.NOT_PROVEN


@cache
def nothing_shown() -> Acceptance:
    case = bench.case("tern-finetuning")
    return accept(case, plan_of(case), Logs((), ()))


def delivered(verdicts: dict[str, TestVerdict] | None = None, *, worse: float = 0.1, **changes: Any) -> Acceptance:
    """A delivery that passes every test but those named; a failed one misses its threshold by the share `worse`."""
    found = nothing_shown()
    judged = tuple(_judged(one, (verdicts or {}).get(one.test.id, PASS), worse) for one in found.judged)
    made = replace(found, judged=judged, credits=credits_due(judged), logs=Logs((), ("a.log",)), points=judged)
    return replace(made, **changes)


def _judged(one: Judged, verdict: TestVerdict, worse: float) -> Judged:
    if verdict is OPEN:
        return replace(one, verdict=OPEN, why=Why.NO_LOG)
    off = worse if verdict is FAIL else 0.0
    least = one.threshold if verdict is FAIL else one.credit_from
    measured = least * (1.0 - off if one.test.at_least else 1.0 + off)
    why = Why.HOLDS if verdict is PASS else Why.BELOW if one.test.at_least else Why.ABOVE
    return replace(one, verdict=verdict, why=why, measured=measured, runs=one.wanted)


def agreed(found: Acceptance, test_id: str, **terms: Any) -> Acceptance:
    """The same delivery where the plan has other terms for one of its tests."""
    judged = tuple(
        replace(one, test=replace(one.test, **terms)) if one.test.id == test_id else one for one in found.judged
    )
    return replace(found, judged=judged, points=judged, credits=credits_due(judged))


def decided(before: Verdict, after: Verdict, moved: float = 0.0) -> Decided:
    had: Any = nothing_shown().decided.lead_before
    return replace(nothing_shown().decided, before=before, after=after, lead_after=had + moved)


def verdicts() -> dict[str, Verdict]:
    """What may be advised: the option that stands, its rival, or either."""
    either = nothing_shown().decided.before
    own, rival = nothing_shown().option.id, nothing_shown().rival.id
    taken = replace(either, choice=own, runner_up=rival, confidence=Confidence.CLEAR, decided_by=Ground.MONEY)
    return {"either": either, "own": taken, "rival": replace(taken, choice=rival, runner_up=own)}


SEEN = Evidence(16, 2**34, 400.0)


def constructed() -> Iterator[tuple[set[str], Acceptance]]:
    """Arms that must be taken and words that must be there, and the delivery."""
    may = verdicts()

    def again(before: str, after: str, moved: float = 0.0, seen: Evidence = SEEN, **tests: TestVerdict) -> Acceptance:
        named = {f"T-{name}": verdict for name, verdict in tests.items()}
        return delivered(named, seen=seen, decided=decided(may[before], may[after], moved))

    yield {"retest", "not_due", "unmoved", "open_tests", "nothing_handed"}, nothing_shown()
    yield {"accept", "not_due", "still_advised", "passing", "rises", "busbw"}, again("own", "own", 1e5)
    short = tuple(
        replace(j, measured=j.threshold) if j.test.id == "T-LATENCY" else j for j in delivered().judged
    )  # between floor and credit
    owed = replace(delivered(), judged=short, points=short, credits=credits_due(short))
    yield {"credit", "due", "passing"}, owed
    yield {"credit", "due", "still_open", "failing"}, again("either", "either", WEEKS=FAIL)
    yield {"retest", "due"}, again("own", "own", WEEKS=FAIL, SOAK=OPEN)
    yield {"retest", "not_priced", "ranks_refused"}, again("own", "own", RANKS=FAIL)
    yield {"refused_unpriced", "not_priced", "refused_list"}, again("own", "own", COUNTERS=FAIL, LINKS=FAIL)
    yield {"refused_advice", "lost", "falls"}, again("own", "rival", -9e5, ALLGATHER=FAIL)
    yield {"now_open"}, again("own", "either", -1e3)
    yield {"now_clear"}, again("either", "own", 1e5)
    yield {"never_advised"}, again("rival", "rival")
    lasting = Evidence(16, 2**34, 400.0, weeks=0.5, faults=4.0)
    yield {"weeks", "faults"}, again("own", "own", seen=lasting, WEEKS=FAIL)
    twice = delivered({"T-ALLGATHER": FAIL, "T-REDUCESCATTER": FAIL})
    price = next(one.test.price for one in twice.judged if one.test.id == "T-ALLGATHER")
    yield {"one_loss", "due"}, agreed(twice, "T-REDUCESCATTER", price=price)
    yield {"capped", "due"}, agreed(twice, "T-ALLGATHER", most=1.0)
    yield {"damages_capped", "due"}, agreed(delivered({"T-WEEKS": FAIL}), "T-WEEKS", most=1.0)
    staged = tuple(replace(j, test=replace(j.test, stage=2)) for j in twice.judged)
    yield {"staged"}, replace(twice, judged=(*delivered().judged, *staged))


def test_each_arm_and_each_choice_is_said_of_a_delivery_made_for_it_and_passes_the_checks() -> None:
    met: set[str] = set()
    words: list[str] = []
    for wanted, found in constructed():
        told = spoken(found)
        holds = {*map(told.facts.arm, Turns.kinds()), *(word for word, value in told.words.items() if value)}
        assert wanted <= holds, wanted - holds
        document, faults = memo_of(found)
        assert faults == [], wanted
        met |= holds
        words += prose(document)
    asked = {name for source, _ in sources(SECTION) if is_prose(source) for name in read_cell(source).asked}
    assert {*asked, *(arm for arms in Turns.kinds().values() for arm in arms)} <= met
    if shutil.which("hunspell") is None:
        pytest.skip("hunspell is not installed")
    assert misspelt("\n".join(words)) == []


def prose(document: Document) -> list[str]:
    """What the notebook's cells say, names and numbers left out."""
    assert document.front.title
    cells = (read_cell(source) for source, _ in sources(SECTION) if is_prose(source))
    return [re.sub(r"\{[^}]*\}", " ", text) for cell in cells for text in cell.texts]


def misspelt(text: str) -> list[str]:
    bare = re.sub(r"[’'](?:s\b)?", " ", text)
    command = ["hunspell", "-d", "en_GB", "-p", str(ROOT / "tests/data/words.txt"), "-l"]
    wrong = subprocess.run(command, input=bare, capture_output=True, text=True, check=True).stdout.split()
    return sorted(set(wrong))
