"""The gate lets names and dates through and stops every number that is not in the ledger."""

import pytest

from fabricreport.blocks.gate import bare_numbers, texts


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
    nodes = [{"t": "p", "c": [{"t": "strong", "c": [{"t": "text", "v": "7"}]}, {"t": "text", "v": " weeks"}]}]
    assert [bare_numbers(text) for _, text in texts(nodes)] == [["7"]]


def test_ledger_numbers_are_masked_and_every_part_of_a_figure_and_table_is_read() -> None:
    number = {"t": "num", "id": "x", "text": "42", "value": 42.0}
    one = [{"t": "text", "v": "one 1"}]
    nodes = [
        {"t": "p", "c": [number]},
        {"t": "figure", "title": one, "subtitle": one, "caption": one, "alt": "shows 9", "alt_nodes": one},
        {
            "t": "datatable",
            "caption": one,
            "note": one,
            "columns": [{"label": one, "unit": ""}],
            "rows": [{"cells": [one], "role": "normal"}],
        },
    ]
    found = [where for where, text in texts(nodes) if bare_numbers(text)]
    assert found == ["title", "subtitle", "caption", "alt text", "caption", "note", "table head", "table cell"]
