"""What the command line says of a memo that is there."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from fabricreport.base.vocabulary import Question
from fabricreport.memo.editions.history import sureness

if TYPE_CHECKING:
    from fabricreport.check.dates import Dates
    from fabricreport.memo.build import BuildResult


MANIFEST = "manifest.json"
_REMARKS = 5
"""As many remarks on the language as a person reads on a screen."""


def dates_words(params: Path, dates: Dates) -> list[str]:
    """What today's date makes of the memo's and the prices' dates, a note each."""
    return [f"{params}: {note}" for note in dates.notes(date.today())]


def remarks_words(result: BuildResult) -> list[str]:
    """The first remarks on the memo's language, and where the others stand."""
    shown = [f"to mend: {remark}" for remark in result.remarks[:_REMARKS]]
    more = len(result.remarks) - len(shown)
    return [*shown, f"to mend: and {more} more, in {result.folder / MANIFEST}"] if more else shown


def result_words(result: BuildResult) -> tuple[list[str], list[str]]:
    """Lines of messages and faults, for stderr, and of the memo and its headline, for stdout."""
    aside = [*result.messages, *(f"warning: {fault}" for fault in result.faults), *remarks_words(result)]
    again = " (already there: nothing had changed)" if result.reused else ""
    lines = [f"{result.client}, edition {result.edition}{again}", f"  {result.memo_pdf}", f"  {result.memo_html}"]
    lines += [f"  {result.docx}"] if result.docx else []
    head = result.headline
    if head.get("recommendation"):
        lines.append(f"  {head['recommendation']}" + (f" ({sure})" if (sure := sureness(head)) else ""))
    if head.get("framework") == "disagrees" and head.get("question") != Question.CHOOSE_PROVIDER:
        lines.append(f"  The framework disagrees: it leans to {head['framework_leans_to']}.")
    lines += [f"    {number['label']}: {number['text']}" for number in head.get("numbers", ())]
    return aside, lines
