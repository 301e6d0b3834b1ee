"""Prose cells: what their first line may say, how fields are filled, and how a fault is told."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import pytest

from fabricreport.blocks import Column, Drawing, Named, Row, Section, Table
from fabricreport.blocks.prose import ProseFault, is_prose, read_cell
from fabricreport.blocks.say import run_cell
from fabricreport.findings import Findings
from fabricreport.ledger import Number


class Found(StrEnum):
    CLEAR = "clear"
    OPEN = "open"


class Case:
    """Two figures, no names."""

    names: Sequence[str] = ()

    def figure(self, figure_id: str) -> Number:
        known = {"tco.total.ib": 5.0, "tco.total.roce": 4.0}
        if figure_id not in known:
            raise KeyError(f"no figure {figure_id}; did you mean tco.total.ib?")
        return Number(figure_id, known[figure_id], "usd", "Total", "sum")

    def record(self, input_id: str) -> dict[str, Any]:
        return {"id": input_id}


def space(**words: object) -> dict[str, Any]:
    said = {"choice": Named("InfiniBand", "ib", side="above", sources=("claim:a",)), "none": None, "things": ()} | words
    body = Section("tco", Case(), words=said)
    return {"body": body, "annex": body.annex(), "finding": Findings(Found, [Found.CLEAR])}


def nodes(source: str, where: str = "body", **words: object) -> list[dict[str, Any]]:
    names = space(**words)
    made = {"drawing": Drawing("fig-x", "<svg/>", (("a",),)), "table": Table([Column("A")], [Row(["one"])])}
    run_cell(read_cell(source), names, lambda expression: made[expression])
    return [node for block in names[where].emitted for node in block.bundle["nodes"]]


def text(node: Any) -> str:
    if isinstance(node, list):
        return "".join(text(part) for part in node)
    if not isinstance(node, dict):
        return ""
    return str(node.get("text") or node.get("v") or "") + "".join(text(v) for v in node.values())


def test_a_condition_that_holds_says_its_sentence_and_one_that_does_not_says_nothing() -> None:
    assert text(nodes("%%say when=finding.clear\nSo it is.")) == "So it is."
    assert nodes("%%say when=finding.open\nSo it is.") == []
    assert nodes("%%say when=not finding.clear\nSo it is.") == []
    assert text(nodes("%%say when=not finding.open\nSo it is.")) == "So it is."


def test_a_figure_is_named_by_the_key_of_a_word_and_a_word_tells_what_is_said_of_it() -> None:
    said = text(nodes("%%say\n{choice} costs {tco.total[choice]}, {choice.side} {tco.total[roce]}."))
    assert said == "InfiniBand costs $5, above $4."


def test_a_citation_of_a_word_is_one_of_its_sources() -> None:
    (paragraph,) = nodes("%%say\nSo {cite choice}.")
    assert [n["ids"] for n in paragraph["c"] if n["t"] == "cite"] == [["claim:a"]]


def test_a_loop_says_its_line_for_each_thing_as_one_list() -> None:
    things = (Named("A", "ib"), Named("B", "roce"))
    (items,) = nodes("%%say each=thing in things\n- {thing}: {tco.total[thing]}", things=things)
    assert [text(item) for item in items["items"]] == ["A: $5", "B: $4"]
    assert nodes("%%say each=thing in things\n- {thing}") == []


def test_a_first_heading_opens_the_section_and_page_one_is_made_of_parts() -> None:
    assert nodes("%%say\n# So")[0]["id"] == "sec-tco"
    assert nodes("%%say annex\n# So", "annex")[0]["id"] == ""
    assert nodes("%%say glance\nSo.")[0]["t"] == "glance"
    (tile,) = nodes("%%tile\nlabel: A\nvalue: {tco.total[choice]}\nnote: c")[0]["tiles"]
    assert (text(tile["label"]), text(tile["value"]), text(tile["note"])) == ("A", "$5", "c")


def test_a_boxed_remark_without_a_title_goes_on_from_the_one_before() -> None:
    (first,) = nodes("%%say caution\ntitle: Mind this\n- one")
    (second,) = nodes("%%say caution\n- two")
    assert (text(first["title"]), second["title"]) == ("Mind this", [])


def test_a_chart_and_a_table_take_their_words_from_the_cell_or_a_title_said_before() -> None:
    chart = "%%chart from=drawing\ntitle: T\nsubtitle: S\nalt: A of {tco.total[choice]}\ncaption: C"
    (figure,) = nodes(chart)
    assert (figure["id"], text(figure["title"]), figure["alt"], text(figure["caption"])) == (
        "fig-x",
        "T",
        "A of $5",
        "C",
    )
    (table,) = nodes("%%table tab-x from=table\ncaption: C\nnote: N")
    assert (table["id"], text(table["caption"]), text(table["note"])) == ("tab-x", "C", "N")
    names = space()
    run_cell(read_cell("%%title when=finding.clear\nSaid {choice}"), names, str)
    made = Table([Column("A")], [Row(["one"])])
    run_cell(read_cell("%%table tab-x from=table"), names, lambda _: made)
    assert text(names["body"].emitted[0].bundle["nodes"][0]["caption"]) == "Said InfiniBand"


def test_every_wrong_field_of_a_cell_is_named_at_once_with_the_nearest_there_is() -> None:
    with pytest.raises(ProseFault) as caught:
        nodes("%%say\n{tco.totl[choice]} and {choice.sde} and {none}.")
    told = str(caught.value)
    assert "{tco.totl[choice]}: no figure tco.totl.ib; did you mean tco.total.ib?" in told
    assert "did you mean choice.side?" in told and "{none}: there is none here" in told
    assert caught.value._render_traceback_() == [told]
    with pytest.raises(ProseFault, match=r"did you mean \{choice\}\?") as caught:
        nodes("%%say\n{choce} at {tco.total[chioce]}, {tco.total[roce]}.")
    assert "did you mean [choice]?" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("%%say when=finding.clear or finding.open\nx", "a cell has one condition"),
        ("%%say when=1 < 2\nx", "a cell has one condition"),
        ("%%say when=finding.cleer\nx", "did you mean clear?"),
        ("%%say when=nothing.clear\nx", "the notebook has no nothing"),
        ("%%say when=body\nx", "true or false"),
        ("%%say each=a of b\nx", "write each=turn in turns"),
        ("%%say each=a in choice\nx", "has no choice to go through"),
        ("%%say sidebar\nx", "does not know 'sidebar'"),
        ("%%say from=table\nx", "takes no from="),
        ("%%tile further\nlabel: a", "cannot go further"),
        ("%%table tab-x\ncaption: c", "needs from="),
        ("%%table X from=table\ncaption: c", "names the table first"),
        ("%%table tab-x from=table\nwords", "begins with one of caption:, note:"),
        ("%%table tab-x from=table", "has no caption"),
        ("%%table tab-x from=drawing\ncaption: c", "not a Table"),
        ("%%chart from=drawing\ntitle: T", "has no subtitle and no alt"),
        ("%%chart from=table\ntitle: T", "not a Drawing"),
        ("%%tile\nlabel: a\nlabel: b", "says label: twice"),
        ("%%say when=finding.clear when=finding.open\nx", "says when= twice"),
    ],
)
def test_a_cell_that_cannot_be_read_is_refused_in_words(source: str, said: str) -> None:
    with pytest.raises(ProseFault, match=said.replace("?", r"\?")):
        nodes(source)


def test_a_notebook_without_a_section_is_told_how_to_begin() -> None:
    with pytest.raises(ProseFault, match="open_section"):
        run_cell(read_cell("%%say\nx"), {}, str)


def test_only_our_magics_make_a_cell_prose() -> None:
    assert is_prose("%%say\nx") and is_prose("%%tile") and is_prose("%%say when=finding.clear")
    assert not is_prose("%%time\nx") and not is_prose("x = 1") and not is_prose("%load_ext fabricreport")


def test_what_a_person_typed_stays_text() -> None:
    (paragraph,) = nodes(
        "%%say\n{client}: {{braces}} `{code}` <b>x</b>", client=Named("<i>{tco.total.ib}</i> *A*", "c")
    )
    assert text(paragraph) == "<i>{tco.total.ib}</i> *A*: {braces} {code} <b>x</b>"
