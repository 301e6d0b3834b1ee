"""Blocks bind numbers from the ledger and refuse bare ones."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from rows import rows

from fabricreport.base.provenance import Traced
from fabricreport.blocks import Column, Drawing, Name, Row, Section
from fabricreport.blocks.gate import bare_numbers, texts, written
from fabricreport.blocks.nodes import (
    BulletList,
    Callout,
    Cite,
    DataTable,
    Figure,
    Glance,
    GlanceTile,
    Num,
    Paragraph,
    Strong,
    TableColumn,
    TableRow,
    Text,
    plain_text,
    walk,
)
from fabricreport.blocks.tables import with_units_once
from fabricreport.blocks.template import split_style
from fabricreport.blocks.theme import canvas, slim, svg
from fabricreport.ledger.numbers import Number, NumberMaker, Spread


class Figures:
    """A small case: two figures and their inputs."""

    names = ("Fabric 9000 <svg>",)
    stale_ids = frozenset({"price:x"})

    def __init__(self) -> None:
        self.numbers = {
            "tco.difference": Number(
                "tco.difference", -1.25e6, "usd", "difference", "a − b", ("price:x",), ("price:x",), "quote",
                Spread(-2e6, -1.25e6, 0.3e6),
            ),
            "price:x": Number("price:x", 10.0, "usd", "x", "as stated", ("price:x",), ("price:x",), "quote"),
        }  # fmt: skip

    def figure(self, figure_id: str) -> Number:
        return self.numbers[figure_id]

    def value(self, input_id: str) -> NDArray[np.float64]:
        return np.array([1.0, 2.0, 3.0, 4.0])

    def record(self, input_id: str) -> dict[str, Any]:
        return {
            "id": input_id,
            "kind": input_id.partition(":")[0],
            "grade": "quote",
            "date": "2026-09-01",
            "stale": True,
            "value": 10.0,
        }


def emitted(section: Section) -> dict[str, Any]:
    return dict(section.emitted[-1].bundle)


def test_a_figure_is_quoted_by_its_id_and_style() -> None:
    body = Section("tco", Figures())
    body.say("It costs {tco.difference:absrange} less, at {price:x} each.")
    bundle = emitted(body)
    (said,) = body.emitted[-1].nodes
    assert isinstance(said, Paragraph)
    assert (
        plain_text(said.children) == "It costs $1.25M (90\N{NO-BREAK SPACE}% range: −$300k to $2M) less, at $10 each."
    )
    assert [n["id"] for n in bundle["ledger"]] == ["price:x", "tco.difference"]
    assert [i["id"] for i in bundle["inputs"]] == ["price:x"]


def test_a_bare_number_as_a_value_is_refused_with_the_remedy() -> None:
    with pytest.raises(TypeError, match=r"give a Number \(case\.number"):
        Section("tco", Figures()).say("It costs {x}.", x=3.5)


def test_text_given_as_a_value_is_never_markdown_or_html() -> None:
    body = Section("tco", Figures())
    hostile = Name("**bold** <script>alert(1)</script> [x](javascript:y)")
    body.say("From {who}.", who=hostile)
    bundle = emitted(body)
    assert bundle["nodes"] == [{"t": "p", "c": [{"t": "text", "v": f"From {hostile}."}]}]
    assert bundle["names"] == sorted([str(hostile), *Figures.names])
    assert "<script>" not in body.emitted[-1]._repr_mimebundle_()["text/html"]


def test_references_citations_footnotes_and_braces() -> None:
    body = Section("tco", Figures())
    body.say("See {fig-a} and {sec-b} {cite price:x}.^[At {price:x}.] Set {{1, 2}}.")
    (said,) = body.emitted[-1].nodes
    assert isinstance(said, Paragraph)
    assert [n.kind for n in said.children] == ["text", "ref", "text", "ref", "text", "cite", "text", "note", "text"]
    assert said.children[5] == Cite(("price:x",)) and said.children[8] == Text(" Set {1, 2}.")
    assert [n.id for n in walk(said.children[7]) if isinstance(n, Num)] == ["price:x"]


def test_a_table_column_has_one_unit_and_numbers_without_it() -> None:
    body = Section("tco", Figures())
    figures = Figures().numbers
    body.table(
        "tab-x",
        "Costs differ",
        [Column("Item"), Column("Cost")],
        [Row([Name("A"), figures["tco.difference"]]), Row(["B", None])],
    )
    node = emitted(body)["nodes"][0]
    assert node["columns"][1] == {"label": [{"t": "text", "v": "Cost"}], "unit": "$k", "align": "right"}
    assert node["rows"][0]["cells"][1][0]["text"] == "−1,250"
    with pytest.raises(ValueError, match="2 cells for 1 columns"):
        body.table("tab-y", "Ragged", [Column("Item")], [Row(["A", "B"])])


COLUMNS = {
    "money in one letter": (["$130k", "$83k", "$5,800", "–"], "$k", ["130", "83", "5.8", "–"]),
    "two currencies": (["$51,999", "€38.8k"], "", ["$51,999", "€38.8k"]),
    "thousands beside millions": (["$877k", "$77.2k", "$1.54M"], "$k", ["877", "77.2", "1,540"]),
    "ranges": (["−$120k to $2.02M", "1.9M to 2M weeks"], "", ["−$120k to $2.02M", "1.9M to 2M weeks"]),
    "a unit said once of a range": (["1.9 to 12\u00a0weeks", "under 3\u00a0weeks"], "weeks", ["1.9 to 12", "under 3"]),
    "of a hundred": (["20 of 100", "fewer than 1 of 100"], "%", ["20", "fewer than 1"]),
    "a contract’s amounts": (["$146k per percent", "$30.5k per percent"], "$k per percent", ["146", "30.5"]),
    "no unit": (["4", "5"], "", ["4", "5"]),
    "one without": (["4", "5 days"], "", ["4", "5 days"]),
    "rates": (["$11.6k per percent", "$223 per percent"], "$ per percent", ["11,600", "223"]),
    "a ratio": (["1.1×", "2×"], "", ["1.1×", "2×"]),
}


@pytest.mark.parametrize("told", COLUMNS.values(), ids=COLUMNS)
def test_a_unit_of_all_figures_of_a_column_stands_once_in_its_head(told: tuple[list[str], str, list[str]]) -> None:
    before, unit, after = told
    cells = [(Num("n", text, None) if text != "–" else Text(text),) for text in before]
    (head,), rows = with_units_once([TableColumn((), "", "left")], [TableRow((cell,), "normal") for cell in cells])
    assert (head.unit, head.align) == (unit, "right" if unit else "left")
    assert [plain_text(row.cells[0]) for row in rows] == after
    assert [[w.value for w in written(t, unit)] for t in after] == [[w.value for w in written(t)] for t in before]


def test_a_unit_of_all_figures_of_a_row_stands_once_in_its_name() -> None:
    def row(name: str, *texts: str) -> TableRow:
        return TableRow(((Text(name),), *((Num("n", text, None),) for text in texts)), "normal")

    columns = [TableColumn((), "", side) for side in ("left", "right", "right", "right")]  # type: ignore[arg-type]
    rows = [
        row("Pass", "146 GB/s", "182 GB/s", "$11.6k per percent"),
        row("Weeks to wait", "3 weeks", "4 weeks", "5 weeks"),
        row("T-WEEKS: Stable", "5 weeks", "6 weeks", "$9 per week"),
        row("A switch fails", "3 s", "4 s", "5 s"),
    ]
    heads, told = with_units_once(columns, [*rows, row("Faults", "4", "4", "$2 per fault")])
    assert not any(head.unit for head in heads)
    assert [[plain_text(cell) for cell in one.cells] for one in told] == [
        ["Pass (GB/s)", "146", "182", "$11.6k per percent"],
        ["Weeks to wait", "3", "4", "5"],
        ["T-WEEKS: Stable (weeks)", "5", "6", "$9 per week"],
        ["A switch fails (s)", "3", "4", "5"],
        ["Faults", "4", "4", "$2 per fault"],
    ]


def test_a_chart_carries_alt_text_and_data_and_its_literals_meet_the_gate() -> None:
    body = Section("tco", Figures())
    drawn = Drawing("fig-x", "<svg/>", (("a",), ("1",)))
    body.chart(drawn, title="It rises", subtitle="USD", alt="Rises to {tco.difference} in 5 steps")
    node = emitted(body)["nodes"][0]
    assert node["alt"] == "Rises to −$1.25M in 5 steps"
    assert [word for _, text in texts(body.emitted[-1].nodes) for word in bare_numbers(text)] == ["5"]


def test_styles_split_from_ids() -> None:
    assert split_style("price:x") == ("price:x", "")
    assert split_style("price:x:range") == ("price:x", "range")
    assert split_style("tco.a:abs") == ("tco.a", "abs")


def test_a_number_made_of_draws_knows_its_inputs_grade_and_age() -> None:
    maker = NumberMaker(Figures())
    draws = Traced([1.0, 2.0, 3.0, 4.0], {"price:x"})
    number = maker.number("n", draws * 2, "usd", label="n", rule="twice x", inputs=("param:k",))
    assert number.inputs == ("param:k", "price:x")
    assert (number.value, number.grade, number.stale) == (5.0, "quote", True)
    assert number.spread is not None and number.spread.p5 < number.value < number.spread.p95
    with pytest.raises(ValueError, match="finite"):
        maker.number("bad", float("nan"), "usd", label="n", rule="r")


def test_thousands_follow_millions_in_a_row_but_dollars_stay_dollars() -> None:
    body = Section("tco", Figures())
    usd = lambda value: Number(f"n{value}", value, "usd", "n", "r")  # noqa: E731
    columns = [Column("Item"), Column("Large"), Column("Middling"), Column("Small")]
    body.table("tab-x", "Scales", columns, [Row([Name("A"), usd(5e6), usd(6e5), usd(131.0)])])
    node = emitted(body)["nodes"][0]
    assert [c["unit"] for c in node["columns"][1:]] == ["$M", "$M", "$"]
    assert [cell[0]["text"] for cell in node["rows"][0]["cells"][1:]] == ["5.00", "0.60", "131.00"]


def test_a_dataframe_becomes_a_table_whose_figures_keep_their_footing_and_whose_text_is_never_a_template() -> None:
    figures = Figures().numbers
    frame = pd.DataFrame(
        {"What": ["Fabric 9000 <svg>", "{tco.difference} *5*", None], "Cost": [*figures.values(), None], "n": [1, 2, 3]}
    )
    body = Section("tco", Figures())
    body.frame(frame, "tab-x", "Costs of {price:x}")
    bundle = emitted(body)
    (node,) = bundle["nodes"]
    assert [[c["t"] for cell in row["cells"] for c in cell] for row in node["rows"][:2]] == [
        ["text", "num", "text"]
    ] * 2
    assert node["rows"][1]["cells"][0] == [{"t": "text", "v": "{tco.difference} *5*"}]
    assert [n["id"] for n in bundle["ledger"]] == ["price:x", "tco.difference"]
    assert [w for _, text in texts(body.emitted[-1].nodes) for w in bare_numbers(text, bundle["names"])] == [
        "1",
        "*5*",
        "2",
        "3",
    ]


def test_a_frame_of_several_units_shows_the_unit_in_each_cell() -> None:
    body = Section("tco", Figures())
    numbers = [Number("a", 5.0, "usd", "a", "r"), Number("b", 0.5, "share", "b", "r")]
    body.frame(pd.DataFrame({"Value": numbers}), "tab-x", "Two units")
    node = emitted(body)["nodes"][0]
    assert [row["cells"][0][0]["text"] for row in node["rows"]] == ["$5", "50\u00a0%"]


@rows(
    "text",
    [
        "RoCEv2 on H100 nodes with 400G links and QM9700 switches",
        "IEEE 802.1Qbb and RFC 3168 are the standards behind PFC and ECN",
        "as of 20 November 2026, and again on 2026-11-20, in 2024 and at SIGCOMM 2016",
        "see Section 2.1, Table 4 and Figure 12",
        "P5–P95 of the draws; NVL72 racks; LL128; GB200-NVL72; 8x400G per node",
        "an edition of November 2026 (2024) and mid-2025",
        "no digits at all",
    ],
)
def test_names_dates_and_references_pass(text: str) -> None:
    assert bare_numbers(text) == []


@rows(
    ("text", "found"),
    [
        ("It costs $5.3M more", ["$5.3M"]),
        ("a 5 % loss", ["5"]),
        ("1,024 GPUs", ["1,024"]),
        ("USD5000 a year", ["USD5000"]),
        ("about 2048 GPUs", ["2048"]),
        ("grows in 2024 GPUs", ["2024"]),
        ("roughly ½ of it", ["½"]),
        ("eight (8) links", ["8"]),
        ("٣ links", ["٣"]),
        ("saves 12-15% of it", ["12-15%"]),
        ("7-10 µs", ["7-10"]),
    ],
)
def test_bare_numbers_are_found(text: str, found: list[str]) -> None:
    assert bare_numbers(text) == found


def test_a_name_of_the_case_is_not_a_number_but_only_that_name() -> None:
    assert bare_numbers("Studio 54 Labs buys", ["Studio 54 Labs"]) == []
    assert bare_numbers("Studio 54 Labs buys 54", ["Studio 54 Labs"]) == ["54"]


def test_a_number_split_by_emphasis_is_still_found() -> None:
    nodes = [Paragraph((Strong((Text("7"),)), Text(" weeks")))]
    assert [bare_numbers(text) for _, text in texts(nodes)] == [["7"]]


def test_ledger_numbers_are_masked_and_every_part_of_a_figure_and_table_is_read() -> None:
    one = (Text("one 1"),)
    nodes = [
        Paragraph((Num("x", "42", 42.0),)),
        Figure("fig-x", one, one, one, "shows 9", "", (), one),
        DataTable("tab-x", one, (TableColumn(one, "", "left"),), (TableRow((one,), "normal"),), one),
        Callout("note", one, (BulletList(((Paragraph(one),),)),)),
        Glance((), (GlanceTile(one, one, one),)),
    ]
    found = [where for where, text in texts(nodes) if bare_numbers(text)]
    table = ["caption", "note", "table head", "table cell"]
    tile = ["tile label", "tile value", "tile note"]
    assert found == ["title", "subtitle", "caption", "alt text", *table, "title", "prose", *tile]


RAW = (
    '<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" viewBox="0 0 72 36">\n <metadata>x</metadata>\n <defs>\n </defs>\n'
    ' <!-- Option 1 -->\n <g id="axes_1">\n  <path id="p1" d="M 0 0.123456 \nL -0.001 18.999 \nz\n" clip-path="url(#c1)"/>\n'
    '  <g transform="translate(1.23456 7.5) scale(0.085 -0.085)"><use xlink:href="#p1" transform="translate(63.671875 0)"/></g>\n'
    '  <use xlink:href="#p1" x="12.345678" y="3"/>\n </g>\n <clipPath id="c1"><rect x="0.5" y="1.005001" width="9" height="9"/></clipPath>\n</svg>'
)


def test_coordinates_are_short_and_nothing_stands_between_tags() -> None:
    text = slim(RAW)
    assert 'd="M0 0.12L0 19z"' in text
    assert "translate(1.23 7.5) scale(0.085 -0.085)" in text
    assert '<use xlink:href="#p1" x="64"/>' in text
    assert 'x="12.35" y="3"' in text
    assert not re.search(r">\s+<", text)
    assert "metadata" not in text and "Option" not in text and "<defs" not in text


def test_a_chart_keeps_its_size_its_paths_and_its_bytes() -> None:
    def draw() -> str:
        with canvas(2.0) as (figure, (axis,)):
            axis.plot([1, 2, 3], [1.0, 4.0, 2.5])
            return svg(figure, "Fig B")

    text = draw()
    assert text == draw()
    root = ET.fromstring(text)
    assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(468, abs=1)
