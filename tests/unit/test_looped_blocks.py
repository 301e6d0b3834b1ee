"""One chart or one table for each of several things, from one prose cell."""

from __future__ import annotations

from typing import Any

import pytest

from fabricreport.blocks import Column, Drawing, Named, Row, Section, Table
from fabricreport.blocks.prose import ProseFault, read_cell
from fabricreport.blocks.say import run_cell
from fabricreport.ledger import Number

SELLERS = (Named("Seller One", "one", day="Monday"), Named("Seller Two", "two", day="Friday"))
CHART = "%%chart each=seller in sellers from=drawn\ntitle: {seller}\nsubtitle: On {seller.day}\nalt: Bars of {seller}"
TABLE = "%%table tab-x-answers each=seller in sellers from=made\ncaption: {seller} answered on {seller.day}"


class Names:
    names = ("Seller One", "Seller Two")

    def figure(self, figure_id: str) -> Number:
        raise KeyError(figure_id)

    def record(self, input_id: str) -> dict[str, Any]:
        raise KeyError(input_id)


def nodes(source: str, **space: Any) -> list[dict[str, Any]]:
    body = Section("x", Names(), words={"sellers": SELLERS})
    run_cell(read_cell(source), {"body": body}, space.__getitem__)
    return [node for block in body.emitted for node in block.bundle["nodes"]]


def table(text: str) -> Table:
    return Table([Column("Answer")], [Row([text])])


def test_each_thing_has_a_table_under_its_own_id() -> None:
    made = nodes(TABLE, made={"one": table("yes"), "two": table("no")})
    assert [n["id"] for n in made] == ["tab-x-answers-one", "tab-x-answers-two"]
    assert [n["rows"][0]["cells"][0][0]["v"] for n in made] == ["yes", "no"]


def test_each_thing_has_a_chart_that_speaks_of_it() -> None:
    drawn = {s.key: Drawing(f"fig-x-{s.key}", "<svg/>", (("a",), ("b",))) for s in SELLERS}
    made = nodes(CHART, drawn=drawn)
    assert [(n["id"], n["alt"]) for n in made] == [
        ("fig-x-one", "Bars of Seller One"),
        ("fig-x-two", "Bars of Seller Two"),
    ]


def test_a_thing_without_its_own_is_named() -> None:
    with pytest.raises(ProseFault, match="nothing for two"):
        nodes(TABLE, made={"one": table("yes")})
    with pytest.raises(ProseFault, match="nothing for one"):
        nodes(TABLE, made=table("yes"))
