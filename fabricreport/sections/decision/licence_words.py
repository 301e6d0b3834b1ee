"""What the decision says of licences: the conventions that turn the money."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.findings import Named
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction

_WHERE: Mapping[str, str] = {
    "as-sold": "as the makers sell them",
    "both": "with managers and systems charged on both",
    "managers": "with managers alone charged on both",
    "systems": "with systems alone charged on both",
    "neither": "with neither charged",
}


def turning_corners(result: DecisionResult, figure: FigureOf) -> tuple[str, str] | None:
    """The conventions at which either of the two costs least against the other, by the figures as they are printed; None
    where one of them never leads."""
    found = {corner.key: figure(f"decision.corner.{corner.key}") for corner in result.corners}
    ways = {direction(number) for number in found.values()}
    if not {"less", "more"} <= ways:
        return None
    most = max(found, key=lambda key: found[key].value)
    return most, min(found, key=lambda key: found[key].value)


def closest_corner(result: DecisionResult, figure: FigureOf) -> str:
    """The convention at which a lead that counts is smallest, where it would not count there; '' where it always does."""
    if result.verdict.confidence.close or not result.corners:
        return ""
    found = {corner.key: figure(f"decision.corner.{corner.key}").value for corner in result.corners}
    least = min(found, key=found.__getitem__)
    return least if found[least] <= result.verdict.materiality else ""


def licence_words(result: DecisionResult, figure: FigureOf) -> Mapping[str, object]:
    """The conventions that turn the money, each with the option that costs less there."""
    turning = turning_corners(result, figure)
    if turning is None:
        close = closest_corner(result, figure)
        return {"for_choice": None, "for_rival": None, "closest": Named(_WHERE[close], close) if close else None}
    told = zip(("for_choice", "for_rival"), turning, strict=True)
    return {"closest": None, **{word: Named(_WHERE[key], key) for word, key in told}}
