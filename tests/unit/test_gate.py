"""The gate lets names and dates through and stops every number that is not in the ledger."""

import pytest

from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.blocks.nodes import (
    BulletList,
    Callout,
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
)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
