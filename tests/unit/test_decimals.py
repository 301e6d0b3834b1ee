"""What a written number may mean: "3,00" is 3.00, "3,000" is asked back, and no remedy is off by a factor of ten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.formats import meanings, number_remedy
from fabricreport.books.acceptance import read_records
from fabricreport.books.answers import read_answers
from fabricreport.books.elicitation import read_expert
from fabricreport.books.prices.rules import COLUMNS, parse_row
from fabricreport.scenario import load_params

PARAMS = Path(__file__).parents[2] / "params"

KNOWN: dict[str, tuple[str, ...]] = {
    "3,00": ("3.00",),
    "3,0000": ("3.0000",),
    "0,125": ("0.125",),
    ",5": ("0.5",),
    "3000,125": ("3000.125",),
    "3,000": ("3000", "3.000"),
    "1.000": ("1000", "1.000"),
    "-27.900": ("-27900", "-27.900"),
    "1,234.5": ("1234.5",),
    "1.234,5": ("1234.5",),
    "1.234,567": ("1234.567",),
    "1,234,567": ("1234567",),
    "1.234.567": ("1234567",),
    "12 000": ("12000",),
    "12\N{NARROW NO-BREAK SPACE}000,5": ("12000.5",),
    "12'000": ("12000",),
    "1'234,567": ("1234.567",),
    "512": ("512",),
    **dict.fromkeys(["", "-", ",", "3,", "1,2,3", "1,234,56", "1,234.567.890", "12 00", "1e3", "3 USD", "1" * 41], ()),
}


@rows("written", KNOWN)
def test_a_written_number_means_what_its_marks_allow(written: str) -> None:
    assert meanings(written) == KNOWN[written]


def test_a_remedy_is_the_number_or_the_question() -> None:
    assert number_remedy("3,00") == "Write 3.00 (a point, not a comma)."
    assert number_remedy("3,000") == "Is it 3000 or 3.000? Write the one that is meant."
    assert number_remedy("12'000") == "Write 12000 alone: no separators."
    assert number_remedy("1,024", whole=True) == "Write 1024 alone: no separators."
    assert number_remedy("2,5", whole=True) == "Write it without a fraction."
    assert not any(number_remedy(value) for value in ("soon", None, 3, True, ["3,00"]))


@given(st.floats(-1e9, 1e9), st.integers(0, 6), st.sampled_from([",.", ".,", " ,", "'.", "’,", "\N{NO-BREAK SPACE},"]))
def test_no_habit_of_writing_is_read_as_another_number(value: float, decimals: int, marks: str) -> None:
    """English, German, French and Swiss: the number is among the meanings, and where there is one it is that."""
    rounded = float(f"{value:.{decimals}f}")
    plain = f"{value:.{decimals}f}".replace(".", marks[1])
    parted = f"{value:,.{decimals}f}".translate(str.maketrans(",.", marks))
    for written in (plain, parted):
        found = [float(meant) for meant in meanings(written)]
        assert rounded in found, written
        if len(found) > 1:
            assert max(map(abs, found)) == pytest.approx(1000 * min(map(abs, found))), "asked back, not guessed"
            assert number_remedy(written).startswith("Is it ")
        else:
            assert meanings(written)[0] in number_remedy(written)


ROW = "x,each,NUMBER,,,USD,2026-11-01,,a source,published"
RECORD = "tests:\n- {test: T-WEEKS, gpus: 64, value: NUMBER, unit: week, evidence: signed}\n"
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "params": ((PARAMS / "example.yaml").read_text("utf-8").replace("run_days: 30", "run_days: NUMBER"), load_params),
    "a range of the params": (
        (PARAMS / "kestrel-lab.yaml").read_text("utf-8").replace("mode: 5000", "mode: NUMBER"),
        load_params,
    ),
    "a price": (ROW, lambda path: parse_row(_cells(path), str(path), 1)),
    "a record of a delivery": (RECORD, lambda path: read_records(path, {"T-WEEKS": "week"})),
    "an expert's answer": (
        (PARAMS / "elicited/example-answers.yaml").read_text("utf-8").replace("p50: 8\n", "p50: NUMBER\n"),
        read_expert,
    ),
    "a seller's answer": (
        (PARAMS / "providers/example-answers.yaml").read_text("utf-8").replace("value: 400\n", "value: NUMBER\n"),
        lambda path: read_answers(path, provider="Example Cloud"),
    ),
}


def _cells(path: Path) -> dict[str, str]:
    """The row's cells: a semicolon is the comma of a number."""
    cells = path.read_text(encoding="utf-8").split(",")
    return dict(zip(COLUMNS, (cell.replace(";", ",") for cell in cells), strict=True))


@rows("reader", READERS)
def test_every_reader_refuses_a_comma_with_the_same_remedy(tmp_path: Path, reader: str) -> None:
    text, read = READERS[reader]
    for written, remedy in (("3;00", "Write 3.00 (a point"), ("3;000", "Is it 3000 or 3.000?")):
        path = tmp_path / "file.yaml"
        path.write_text(text.replace("NUMBER", written if text == ROW else f'"{written.replace(";", ",")}"'), "utf-8")
        with pytest.raises(InputError) as refused:
            read(path)
        assert remedy in str(refused.value) and "file.yaml:" in str(refused.value), (reader, str(refused.value))
