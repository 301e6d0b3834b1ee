"""What the command line says of a memo that is there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.vocabulary import Ground, Question

if TYPE_CHECKING:
    from fabricreport.check.dates import Dates
    from fabricreport.memo.build import BuildResult


MANIFEST = "manifest.json"
_REMARKS = 5
"""As many remarks on the language as a person reads on a screen."""
_CLASSES = {
    Ground.DEADLINE: "close, by the client's date",
    Ground.POLICY: "close, by the client's policy",
    Ground.ESTATE: "close, by the client's estate",
    Ground.ORDER: "close, by the client's order of criteria",
    Ground.WEIGHTS: "close, by the client's weights",
}
"""What stands in the place of the class where a close call was decided by something else than money."""
_STANDINGS = {
    "": "no seller has a price that could be judged",
    "listed": "on published prices: no seller has made an offer",
    "take": "nothing about the offer is open",
    "take_if": "once it has answered in writing",
    "take_within": "its network has no price yet",
    "renew": "the offer has run out",
    "either": "two offers as good as level",
    "none": "no offer can be taken as it stands",
}
"""What is told of offers to whoever chooses among sellers, by where the first of them stands."""


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
    lines = [
        f"{result.client}, edition {result.edition}{again}",
        f"  {result.memo_pdf}",
        f"  {result.memo_html}",
    ]
    head = result.headline
    if head.get("recommendation"):
        lines.append(f"  {head['recommendation']}{_firmness(head)}")
    if head.get("framework") == "disagrees" and not _of_sellers(head):
        lines.append(f"  The framework disagrees: it leans to {head['framework_leans_to']}.")
    lines += [f"    {number['label']}: {number['text']}" for number in head.get("numbers", ())]
    return aside, lines


def _of_sellers(head: Mapping[str, Any]) -> bool:
    """Whether the question is which seller to sign with, and not which network."""
    return head.get("question") == Question.CHOOSE_PROVIDER


def _firmness(head: Mapping[str, Any]) -> str:
    """How firm the advice is, behind it in brackets; nothing where the decision itself was left out."""
    if "confidence" not in head:
        return ""
    if _of_sellers(head):
        return f" ({_STANDINGS[head.get('offer_stands', '')]})"
    probability = next((n for n in head["numbers"] if n["id"] == "decision.probability"), None)
    ground = head.get("decided_by", Ground.MONEY)
    share = f", {probability['text']} of outcomes" if probability and ground == Ground.MONEY else ""
    return f" ({_CLASSES.get(ground, head['confidence'])}{share})"


def built_facts(result: BuildResult) -> dict[str, Any]:
    """A memo that is there, for machines."""
    return {
        "client": result.client,
        "edition": result.edition,
        "folder": str(result.folder),
        "pdf": str(result.memo_pdf),
        "html": str(result.memo_html),
        "status": result.status,
        "headline": dict(result.headline),
        "reused": result.reused,
        "faults": list(result.faults),
        "messages": list(result.messages),
        "remarks": list(result.remarks),
    }
