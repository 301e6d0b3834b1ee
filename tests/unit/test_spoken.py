"""Items of the price files as a client reads them."""

from __future__ import annotations

import csv
from pathlib import Path

from rows import rows

from fabricreport.blocks.nodes import TableColumn, TableRow, Text
from fabricreport.books.options import read_options
from fabricreport.books.prices.spoken import spoken, titled
from fabricreport.books.quotes.terms import items_of
from fabricreport.evidence import read_yaml
from fabricreport.formats import Scale, fixed_share, write
from fabricreport.memo.document.tables import table_shape

ROOT = Path(__file__).parents[2]


@rows(
    ("item", "name", "row"),
    [
        ("switch-qm9700", "a QM9700 switch (InfiniBand NDR)", "QM9700 switch (InfiniBand NDR)"),
        ("switch-n9600-64od", "an N9600-64OD white-box switch (in EUR)", "N9600-64OD white-box switch (in EUR)"),
        ("fx-eur-usd", "the exchange rate of EUR to USD", "Exchange rate of EUR to USD"),
        ("gpu-hour-h100-aws-list", "an hour of one H100 (AWS, list price)", "Hour of one H100 (AWS, list price)"),
        ("gpu-hour-h100-some-seller", "an hour of one H100 (some seller)", "Hour of one H100 (some seller)"),
        ("widget-a", "widget a", "Widget a"),
    ],
)
def test_an_item_is_spoken_within_a_sentence_and_titled_in_a_row(item: str, name: str, row: str) -> None:
    assert (spoken(item), titled(item)) == (name, row)


def test_every_item_of_the_price_book_and_of_every_option_has_a_name() -> None:
    with (ROOT / "fabricreport/evidence/price_baseline.csv").open(encoding="utf-8") as file:
        items = {row["item"] for row in csv.DictReader(file)}
    items |= {item for option in read_options().values() for item in items_of(option.priced(items))}
    named = read_yaml("item_names")["names"]
    assert {i for i in items if i not in named and not i.startswith(("gpu-hour-", "fx-"))} == set()


def test_a_share_that_is_not_the_whole_is_not_printed_as_the_whole() -> None:
    whole, fine = Scale("%", 0.01, 0), Scale("%", 0.01, 1)
    assert [fixed_share(v, whole) for v in (1.0, 0.9999, 0.994, 0.5)] == ["100", "over 99", "99", "50"]
    assert [fixed_share(v, fine) for v in (1.0, 0.9999)] == ["100.0", "over 99.9"]
    assert write(20.0, "percentage-point", 2) == "20\N{NO-BREAK SPACE}percentage points"
    assert write(1.0, "percentage-point", 2) == "1\N{NO-BREAK SPACE}percentage point"


def test_a_crowded_table_leaves_every_column_its_longest_word() -> None:
    def row(*cells: str) -> TableRow:
        return TableRow(tuple((Text(c),) for c in cells), "normal")

    heads = ["Run", *(f"RoCEv2 800G white-box: designed {n}" for n in range(5))]
    columns = [TableColumn((Text(h),), "%", "right" if n else "left") for n, h in enumerate(heads)]
    shape = table_shape(columns, [row("MegaScale, 175B on 12,288 A100s", *["55.1"] * 5)])
    assert shape.crowded and len(shape.stretch) == 6 and min(shape.stretch) > len("white-box:")
    assert shape.stretch[0] >= len("MegaScale,")
