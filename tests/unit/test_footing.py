"""A source that disappears is missed, and every figure that rested on it is named."""

from pathlib import Path

from fabricreport.checking.footing import lost_footing, missing_entries

from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.case import Case, open_case
from fabricreport.evidence import read_lines

ROOT = Path(__file__).parents[2]


def without(*gone: str) -> tuple[Case, Case]:
    whole = open_case(ROOT / "params" / "example.yaml")
    book = EvidenceBook(e for e in whole.evidence.values() if e.id not in gone)
    return whole, Case(whole.params, whole.folder, book, whole.price_book, whole.all_options)


def test_the_index_is_the_library() -> None:
    assert list(read_lines("library_index")) == sorted(read_evidence(None))


def test_a_whole_library_has_nothing_to_say() -> None:
    whole, _ = without()
    assert missing_entries(whole) == () and lost_footing(whole) == ()


def test_every_figure_that_rests_on_a_deleted_entry_is_named() -> None:
    whole, case = without("weeks-to-stable-rocev2")
    (problem,) = lost_footing(case)
    resting = {
        n.id
        for analysis in ("tail_risk", "tco", "decision")
        for n in whole.result(analysis).numbers.values()
        # Which inputs have a swing of their own to print follows from the draws, so it may differ with a placeholder.
        if "evidence:weeks-to-stable-rocev2" in n.inputs and not {"swing", "break_even"} & set(n.id.split("."))
    }
    named = set(problem.message.partition("footing: ")[2].split(", "))
    assert problem.key == "evidence:weeks-to-stable-rocev2"
    assert len(resting) > 50 and resting <= named
    assert {"tail_risk.weeks.rocev2-nvidia-800g", "tco.total.rocev2-nvidia-800g", "decision.difference"} <= named
