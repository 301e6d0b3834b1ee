"""A written figure read back, and whether a table's figures add up as they stand."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base import formats
from fabricreport.blocks.gate import bare_numbers, written
from fabricreport.blocks.nodes import DataTable, Num, TableColumn, TableRow, Text, plain_text
from fabricreport.blocks.tables import ROUNDED, sums_of, with_rounding_told
from fabricreport.ledger.numbers import STYLES, Number, Spread
from fabricreport.memo.document.proofs import reads_back

READ = {
    ("$1.22M", ""): [("1220000", "10000")],
    ("−$257k", ""): [("-257000", "1000")],
    ("−0.43 to 1.52", "$M"): [("-430000", "10000"), ("1520000", "10000")],
    ("95 of 100", ""): [("0.95", "0.01")],
    ("97", "%"): [("0.97", "0.01")],
    ("5.8 %", ""): [("0.058", "0.001")],
    ("598,000 GPU-hours", ""): [("598000", "1000")],
    ("$1.90", ""): [("1.9", "0.1")],
    ("€36.8k", ""): [("36800", "100")],
    ("14 to 22.1 %", ""): [("0.14", "0.01"), ("0.221", "0.001")],
    ("none", ""): [],
}


@rows("text", READ)
def test_a_written_figure_is_read_back(text: tuple[str, str]) -> None:
    assert [(w.value, w.step) for w in written(*text)] == [(Decimal(v), Decimal(s)) for v, s in READ[text]]


def table(*lines: tuple[str, list[tuple[str, float]]]) -> DataTable:
    """Lines of a role and cells of a text and its value, in millions of dollars."""
    count = len(lines[0][1])
    cells = [
        TableRow(tuple((Num(f"n{r}{c}", text, value * 1e6),) for c, (text, value) in enumerate(line)), role)  # type: ignore[arg-type]
        for r, (role, line) in enumerate(lines)
    ]
    return DataTable(
        "tab-x", (Text("Costs"),), (TableColumn((), "$M", "right"),) * count, tuple(cells), (Text("Means."),)
    )


THIRD = ("0.33", 1 / 3)
TABLES = {
    "a column that adds up": (table(("normal", [("0.50", 0.5)]), ("normal", [("0.25", 0.25)]), ("total", [("0.75", 0.75)])), 1, False),
    "a column rounded off": (table(("normal", [THIRD]), ("normal", [THIRD]), ("total", [("0.67", 2 / 3)])), 1, True),
    "a row rounded off": (table(("normal", [THIRD, THIRD, ("0.67", 2 / 3)])), 1, True),
    "a row of a difference": (table(("normal", [("1.00", 1.0), ("0.40", 0.4), ("−0.60", -0.6)])), 0, False),
    "figures that have nothing to do with each other": (table(("normal", [THIRD]), ("normal", [THIRD]), ("total", [("0.70", 0.7)])), 0, False),
    "totals of totals": (
        table(
            ("normal", [("0.30", 0.3)]), ("normal", [("0.20", 0.2)]), ("total", [("0.50", 0.5)]),
            ("normal", [("0.30", 0.3)]), ("normal", [("0.11", 0.11)]), ("total", [("0.41", 0.41)]),
            ("total", [("0.91", 0.91)]),
        ), 3, False,
    ),
}  # fmt: skip


@rows("name", TABLES)
def test_a_note_tells_of_rounding_where_a_sum_shows_it_and_only_there(name: str) -> None:
    given_table, sums, rounded = TABLES[name]
    made = with_rounding_told(given_table)
    assert (ROUNDED in plain_text(made.note)) is rounded
    assert plain_text(made.note).startswith("Means.")
    if sums:
        assert len(sums_of(given_table)) >= sums


@rows("text", ["three weeks", "the twelve working days", "Five repeats of it", "ten per cent"])
def test_a_duration_in_words_is_a_bare_number(text: str) -> None:
    assert len(bare_numbers(text)) == 1


@rows("text", ["nine times in ten", "two networks", "once a week", "the two-node test"])
def test_a_count_of_things_in_words_is_none(text: str) -> None:
    assert bare_numbers(text) == []


FIGURE = st.builds(
    lambda ends, unit, digits, currency, central: Number(
        "tco.x", central if central is not None else ends[1], unit, "X", "made up", digits=digits, currency=currency,
        spread=Spread(*ends) if central is None else None,
    ),
    st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=3).map(sorted),
    st.sampled_from([*formats._WRITERS, "usd", "usd/gpu-hour", "eur", "faults a year"]),
    st.sampled_from([2, 3, 4]),
    st.sampled_from(["USD", "EUR", "CHF"]),
    st.none() | st.floats(0, 1) | st.integers(0, 10**6).map(float),
)  # fmt: skip


@settings(max_examples=300)
@given(FIGURE, st.sampled_from(["", *STYLES]))
def test_every_figure_reads_back_in_every_style(number: Number, style: str) -> None:
    if style == "of100" and (number.unit != "share" or not 0 <= number.value <= 1):
        return
    text = number.show(style)
    assert reads_back(text, "", number.as_dict()), (text, number.value, number.spread)


@settings(max_examples=200)
@given(FIGURE, st.floats(1, 1e4))
def test_every_figure_reads_back_in_a_column(number: Number, larger: float) -> None:
    scale = formats.column_scale(number.unit, abs(number.value) * larger, number.currency)
    shown = formats.fixed(number.value / scale.by, scale.decimals)
    assert reads_back(shown, scale.head, number.as_dict()), (shown, scale, number.value)
