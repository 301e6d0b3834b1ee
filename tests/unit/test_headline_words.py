"""The command line and `refresh` report the advice in the words in which page one opens."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import bench
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from rows import rows

from fabricreport.blocks.document import Section
from fabricreport.blocks.nodes import Glance, Num, Paragraph, Ref, Strong, Text
from fabricreport.cli.words import result_words
from fabricreport.ledger.numbers import Number
from fabricreport.memo.build import BuildResult
from fabricreport.memo.document.document import advice_of, document_of, headline, stitch
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.editions.manifest import RunRecord
from fabricreport.models.money.offers import Standing
from fabricreport.sections.decision import tables as decided

WEEKS = Num("course.weeks", "8 weeks", 8.0)


@rows(
    ("paragraphs", "advice"),
    [
        ([(Strong((Text("Buy InfiniBand"),)), Text(" for the 64 GPUs. Then test it."))], "Buy InfiniBand"),
        (
            [(Strong((Text("Rent for "), WEEKS, Text(" first,"))), Text(" and order behind it."))],
            "Rent for 8 weeks first",
        ),
        ([(Text("Rent for "), WEEKS, Text(" first. It costs less."))], "Rent for 8 weeks first"),
        (
            [(Text("Take the offer of Example v2.1 at $2.60. It costs less."),)],
            "Take the offer of Example v2.1 at $2.60",
        ),
        ([(Text("Buy "), Strong((Text("InfiniBand"),)), Text(" now."))], "Buy InfiniBand now"),
        ([(), (Strong((Text("Ask both."),)),)], "Ask both"),
        ([], ""),
    ],
)
def test_the_advice_is_what_page_one_opens_with_in_bold_or_else_its_first_sentence(
    paragraphs: list[tuple[Any, ...]], advice: str
) -> None:
    assert advice_of(Glance(tuple(Paragraph(p) for p in paragraphs), ())) == advice


class Leads:
    """A case with one figure."""

    names = ()
    compared: ClassVar[dict[str, Any]] = {"choice": "a", "rival": "b", "lead": "$1", "stated_as": []}

    def figure(self, figure_id: str) -> Number:
        return Number(figure_id, 1.0, "usd", "Lead", "mean difference")

    def record(self, input_id: str) -> dict[str, Any]:
        raise KeyError(input_id)


def notebook(section: Section) -> Any:
    shown = [new_output("display_data", data=block._repr_mimebundle_()) for block in section.emitted]
    return new_notebook(cells=[new_code_cell("x", outputs=[output]) for output in shown])


def told(*, glance: bool, declared: bool) -> dict[str, Any]:
    spine, decision = Section("buy_once", Leads()), Section("decision", Leads())
    spine.heading("Which network should it be?", level=1)
    if glance:
        said = (Paragraph((Strong((Text("Buy A"),)), Text(" for what it costs."))),)
        spine.emit((Glance(said, ()),), spine.binder({}))
    decision.heading("How the advice was reached", level=1)
    if declared:
        decision.headline({"choice": "a", "confidence": "clear"}, [Leads().figure("decision.difference")])
    return headline(gather(stitch({"buy_once": notebook(spine), "decision": notebook(decision)}, {})))


def test_the_headline_joins_the_words_of_page_one_with_what_the_decision_declares() -> None:
    both = told(glance=True, declared=True)
    assert (both["recommendation"], both["choice"], both["confidence"]) == ("Buy A", "a", "clear")
    assert [number["id"] for number in both["numbers"]] == ["decision.difference"]
    assert told(glance=True, declared=False) == {"recommendation": "Buy A"}
    assert "recommendation" not in told(glance=False, declared=True)
    assert told(glance=False, declared=False) == {}


def test_the_headline_names_a_section_by_its_number() -> None:
    spine = Section("buy_once", Leads())
    spine.heading("Which network should it be?", level=1)
    advice = Strong((Text("Buy A, with the test of "), Ref("sec-body-test"), Text(" in the order")))
    spine.emit((Glance((Paragraph((advice, Text("."))),), ()),), spine.binder({}))
    spine.heading("Test the network", level=1, anchor="sec-body-test")
    memo = stitch({"buy_once": notebook(spine)}, {})
    found = gather(memo)
    printed = document_of(found, memo).glance
    assert (
        headline(found, printed)["recommendation"] == "Buy A, with the test of Section\N{NO-BREAK SPACE}1 in the order"
    )


@rows(
    ("head", "line"),
    [
        ({"recommendation": "Buy A"}, "  Buy A"),
        ({"recommendation": "Buy A", "confidence": "clear", "numbers": []}, "  Buy A (clear)"),
        (
            {
                "recommendation": "Buy A",
                "confidence": "leaning",
                "numbers": [{"id": "decision.probability", "label": "Odds", "text": "73 %"}],
            },
            "  Buy A (leaning, 73 % of outcomes)",
        ),
        (
            {"recommendation": "Buy A", "confidence": "toss-up", "decided_by": "deadline", "numbers": []},
            "  Buy A (close, by the client's date)",
        ),
        (
            {
                "recommendation": "Sign with A",
                "question": "choose-provider",
                "confidence": "does not matter",
                "offer": "a",
                "offer_stands": "take",
                "numbers": [],
            },
            "  Sign with A (nothing about the offer is open)",
        ),
        (
            {"recommendation": "Ask A", "question": "choose-provider", "confidence": "does not matter", "numbers": []},
            "  Ask A (no seller has a price that could be judged)",
        ),
    ],
)
def test_the_command_line_says_the_advice_and_how_firm_it_is(head: dict[str, Any], line: str) -> None:
    built = BuildResult("A", "a", "e", Path("x"), "Client copy", head, RunRecord(()))
    assert line in result_words(built)[1]


@rows("standing", list(Standing))
def test_a_renter_is_told_where_the_first_offer_stands_whatever_it_is(standing: Standing) -> None:
    head = {
        "recommendation": "x",
        "question": "choose-provider",
        "confidence": "clear",
        "numbers": [],
        "framework": "disagrees",
        "framework_leans_to": "RoCEv2",
        "offer_stands": standing.name.lower(),
    }
    line, *more = result_words(BuildResult("A", "a", "e", Path("x"), "Client copy", head, RunRecord(())))[1][3:]
    assert line.startswith("  x (") and not more, "no word of networks"


def ids(name: str) -> list[str]:
    case = bench.case(name)
    return [number.id for number in decided.headline(case.inputs, case.decision(), case.figure)[1]]


@pytest.mark.slow
def test_the_figures_that_are_told_answer_the_question() -> None:
    choice = bench.case("kestrel-lab").comparison.choice
    assert ids("kestrel-lab")[0] == f"tco.stage.price.0.{choice}", "a grower is told of the first order"
    assert all(i.startswith("decision.offers.") for i in ids("tern-finetuning") + ids("offers")), "a renter of sellers"
    assert ids("offers")[0] == "decision.offers.total.example-hosting"
    assert ids("serving-replicas-64")[0] == "decision.courses.against.single-node", "who needs no network of none"
    assert ids("example")[:2] == ["decision.difference", "decision.probability"], "a buyer of the networks compared"


@pytest.mark.slow
@rows("name", ["example", "tern-finetuning", "kestrel-lab", "serving-replicas-64", "offers"])
def test_page_one_of_every_question_can_say_from_when_to_when_its_prices_are(name: str) -> None:
    case = bench.case(name)
    words = case.spoken(case.inputs.params.asked.spine).words
    first, last = (datetime.strptime(str(words[f"{age}_price"]), "%B %Y").date() for age in ("oldest", "newest"))
    total = case.figure("decision.offers.total.example-hosting") if name == "offers" else None
    dates = [
        case.inputs.prices.by_id(i).date.replace(day=1)
        for i in (total.inputs if total else ())
        if i.startswith("price:")
    ]
    assert first <= min(dates, default=last) and max(dates, default=last) <= last <= case.as_of
