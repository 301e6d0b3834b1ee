"""The proof of a memo: all of its words, figures, tables, charts and files, against the ledger and against each other.

`faults` stop a client copy; `remarks` are told when a build ends, since a figure that moved may make them and nobody is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabricreport.memo.document.agreement import disagreements
from fabricreport.memo.document.as_printed import chart_remarks, day_remarks, sum_remarks
from fabricreport.memo.document.checks import check_file, check_memo
from fabricreport.memo.document.gather import Gathered, gather
from fabricreport.memo.document.language import language_remarks
from fabricreport.memo.document.one_base import base_remarks
from fabricreport.memo.document.stitch import in_memo, own_files
from fabricreport.memo.document.totals import mark_remarks


@dataclass(frozen=True)
class Proof:
    """What a stitched notebook was found to hold: all of it; the memo alone, as a notebook and gathered; the files beside
    it by name; then what is wrong with them."""

    found: Gathered
    memo: Any
    printed: Gathered
    files: Mapping[str, Any]
    faults: tuple[str, ...]
    remarks: tuple[str, ...]


def prove(stitched: Any, *, draft: bool = False) -> Proof:
    """The proof of a stitched notebook with its front matter; a draft may be empty."""
    found, memo, files = gather(stitched), in_memo(stitched), own_files(stitched)
    printed = gather(memo)
    beside = [fault for part in files.values() for fault in check_file(gather(part))]
    faults = [*map(str, found.problems), *disagreements(found), *check_memo(printed, draft=draft), *beside]
    remarks = (
        *base_remarks(found),
        *chart_remarks(found),
        *sum_remarks(found),
        *day_remarks(found),
        *mark_remarks(found),
        *language_remarks(printed),
    )
    return Proof(found, memo, printed, files, tuple(dict.fromkeys(faults)), remarks)
