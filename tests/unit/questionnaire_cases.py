"""Questionnaires to fill in: the example client's, and a workbook filled as a person would."""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import bench
from openpyxl import load_workbook

from fabricreport.case import Case
from fabricreport.desk.questionnaire import HEAD_ROWS, LETTERS, SHEET, TABLE_ROW, Questionnaire
from fabricreport.desk.quotes import questionnaire_of
from fabricreport.desk.workbooks import as_workbook

ROOT = Path(__file__).parents[2]
SELLER = "Example Cloud"
DAY = date(2026, 11, 20)
Cells = Mapping[str, Any]
HEAD: Cells = {"date": "2026-11-02", "answered_by": "A. Seller, sales", "fabric": "infiniband-ndr"}
ANSWERS: Mapping[str, Cells] = {
    "Q-NET-01": {"answer": "Two tiers, one to one; drawing attached.", "value": 1, "evidence": "record",
                 "document": "drawing.pdf"},
    "Q-NET-09": {"answer": "Log of 128 nodes attached.", "choice": "yes", "evidence": "log", "document": "all.txt",
                 "gpus": 1024, "size_mib": 1024, "busbw_gbytes_per_s": 310.5, "algbw_gbytes_per_s": 155.4},
    "Q-NET-12": {"answer": "A floor can be written in.", "value": 120, "high": "180.5", "choice": "yes",
                 "evidence": "contract"},
    "Q-OPS-01": {"answer": "A team of four.\nTested every night.", "choice": "own team", "evidence": "statement"},
}  # fmt: skip


def example(**changes: Any) -> Case:
    return bench.changed("example", **changes)


@cache
def form_of(name: str = SELLER, **changes: Any) -> Questionnaire:
    return questionnaire_of(example(**changes), name)


@cache
def blank(name: str = SELLER) -> bytes:
    return as_workbook(form_of(name), DAY)


def opened(name: str = SELLER) -> Any:
    return load_workbook(io.BytesIO(blank(name)))


def row_of(question: str, name: str = SELLER) -> int:
    return TABLE_ROW + 1 + [q.id for q in form_of(name).questions].index(question)


def fill(book: Any, answers: Mapping[str, Cells], head: Cells) -> None:
    for key, value in head.items():
        book[SHEET].cell(HEAD_ROWS[key], 2).value = value
    for question, cells in answers.items():
        for column, value in cells.items():
            book[SHEET][f"{LETTERS[column]}{row_of(question)}"].value = value


def filled(path: Path, answers: Mapping[str, Cells] = ANSWERS, head: Cells = HEAD, name: str = SELLER) -> Path:
    """A workbook with these answers, written to `path`."""
    book = opened(name)
    fill(book, answers, head)
    book.save(path)
    return path


def client(
    folder: Path, providers: str = "providers:\n  - {name: CoreWeave}   # hosts\n  - {name: Example Cloud}\n"
) -> Path:
    """The example client's params in a folder of its own, with other providers."""
    text = (ROOT / "params/example.yaml").read_text("utf-8")
    before, _, rest = text.partition("providers:")
    path = folder / "client.yaml"
    path.write_text(before + providers + "\n" + rest[rest.index("\nsections:") :].lstrip("\n"), encoding="utf-8")
    return path
