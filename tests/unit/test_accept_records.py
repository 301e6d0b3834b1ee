"""What no benchmark prints, read from a file that a person wrote: strictly, and every fault at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows

from fabricreport.books.delivery_records import Seen, read_records
from fabricreport.errors import InputError

UNITS = {"T-WEEKS": "week", "T-COUNTERS": "count", "T-LINK-FAILURE": "s"}


def read(folder: Path, text: str) -> tuple[Seen, ...]:
    path = folder / "records.yaml"
    path.write_text(text, encoding="utf-8")
    return read_records(path, UNITS)


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as refused:
        read(folder, text)
    return [str(problem) for problem in refused.value.problems]


def test_each_record_is_read_with_its_line(tmp_path: Path) -> None:
    one = "  - {test: T-WEEKS, gpus: 64, value: 7, unit: week, evidence: Ticket of the seller}\n"
    found = read(
        tmp_path, f"tests:\n{one}  - {{test: T-COUNTERS, gpus: 64, value: 0, unit: count, evidence: none lost}}\n"
    )
    assert found == (
        Seen("T-WEEKS", 64, 7.0, "week", "Ticket of the seller", 2),
        Seen("T-COUNTERS", 64, 0.0, "count", "none lost", 3),
    )


def test_every_fault_is_told_at_once_with_line_key_and_remedy(tmp_path: Path) -> None:
    text = """tests:
  - {test: T-WEEK, gpus: 64, value: 7, unit: week, evidence: a}
  - {test: T-WEEKS, gpus: 64.5, value: seven, unit: day, evidence: ""}
  - {test: T-WEEKS, gpus: 64, value: 7, unit: week, seen: a}
  - T-WEEKS
"""
    found = faults(tmp_path, text)
    assert all(":" in fault for fault in found)
    said = "\n".join(found)
    assert "Did you mean 'T-WEEKS'?" in found[0] and ":2:" in found[0]
    assert "is recorded in week (found day)" in said
    assert "must be a number (found seven)" in said
    assert "must be a whole number (found 64.5)" in said
    assert "must be text" in said
    assert "is no key here" in said and "has no `evidence`" in said
    assert "a record must be a mapping" in said


@rows("text", ["", "tests:\n", "tests: {}\n", "- a\n", "test: []\n"])
def test_a_file_without_a_list_says_how_to_begin(tmp_path: Path, text: str) -> None:
    assert faults(tmp_path, text)


@rows("value", ["-1", ".inf", ".nan", "1e300", "true"])
def test_a_value_that_its_unit_cannot_have_is_refused(tmp_path: Path, value: str) -> None:
    text = f"tests:\n  - {{test: T-WEEKS, gpus: 64, value: {value}, unit: week, evidence: a}}\n"
    assert faults(tmp_path, text)


def test_text_that_a_page_could_show_otherwise_than_typed_is_refused(tmp_path: Path) -> None:
    text = 'tests:\n  - {test: T-WEEKS, gpus: 64, value: 7, unit: week, evidence: "a\\u202eb"}\n'
    assert faults(tmp_path, text)
