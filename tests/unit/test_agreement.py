"""A memo whose sections name different options, rivals or amounts of the lead is rejected, with the two cells named."""

from __future__ import annotations

from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from fabricreport.blocks import Section
from fabricreport.ledger import Number
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.gather import gather
from fabricreport.memo.document.stitch import stitch

STATED_AS = {"decision": "decision.difference", "tco": "tco.difference", "diligence": "diligence.lead"}


class Compares:
    """A case of which only the comparison and its lead are asked."""

    names = ("switch-a", "switch-b")

    def __init__(self, choice: str = "switch-a", rival: str = "switch-b", lead: float = 426_000.0) -> None:
        self.lead = lead
        text = self.figure("decision.difference").text
        self.compared = {"choice": choice, "rival": rival, "lead": text, "stated_as": list(STATED_AS.values())}

    def figure(self, figure_id: str) -> Number:
        return Number(figure_id, self.lead, "usd", "Lead", "mean difference")

    def record(self, input_id: str) -> dict[str, Any]:
        raise KeyError(input_id)


class Silent(Compares):
    """A case that compares nothing."""

    compared = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.lead = 1.0


def notebook(section: str, case: Compares, *, headline: str = "") -> Any:
    """A section of a line that opens it, and, where the section states the lead, a line that quotes it."""
    body = Section(section, case)
    body.heading("What it comes to", level=1)
    if section in STATED_AS:
        body.say(f"The lead is {{{STATED_AS[section]}}}.")
    if headline:
        body.headline({"choice": headline}, [case.figure("decision.difference")])
    shown = [new_output("display_data", data=block._repr_mimebundle_()) for block in body.emitted]
    return new_notebook(cells=[new_code_cell("x", outputs=[output]) for output in shown])


def faults(**notebooks: Any) -> list[str]:
    return check_memo(gather(stitch(notebooks, {})))


def test_sections_made_on_one_comparison_pass() -> None:
    assert faults(**{s: notebook(s, Compares()) for s in (*STATED_AS, "latency")}) == []


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (Compares(choice="switch-c"), "the advised option is switch-c"),
        (Compares(rival="switch-c"), "its rival is switch-c"),
        (Compares(lead=531_000.0), "the lead is $531k"),
    ],
)
@pytest.mark.parametrize("section", ["tco", "diligence", "latency"])
def test_a_section_made_on_another_comparison_is_told_with_both_cells(section: str, other: Compares, told: str) -> None:
    found = faults(decision=notebook("decision", Compares()), **{section: notebook(section, other)})
    named = [fault for fault in found if told in fault]
    assert len(named) == 1
    assert f"{section}.ipynb, cell 1" in named[0] and "decision.ipynb, cell 1" in named[0]


@pytest.mark.parametrize("section", ["tco", "diligence"])
def test_a_figure_of_another_amount_under_the_same_comparison_is_told(section: str) -> None:
    strays = Compares()
    strays.lead = 531_000.0
    found = faults(decision=notebook("decision", Compares()), **{section: notebook(section, strays)})
    assert len(found) == 1
    assert f"the lead as {STATED_AS[section]} is $531k in {section}.ipynb, cell 2" in found[0]
    assert "$426k in the section decision (decision.ipynb, cell 1)" in found[0]


def test_a_headline_that_advises_another_option_than_the_memo_is_told() -> None:
    assert faults(decision=notebook("decision", Compares(), headline="switch-a")) == []
    (fault,) = faults(decision=notebook("decision", Compares(), headline="switch-b"))
    assert "the advised option of the headline is switch-b" in fault


def test_a_section_that_compares_nothing_is_held_to_nothing() -> None:
    assert faults(decision=notebook("decision", Compares()), latency=notebook("latency", Silent())) == []
