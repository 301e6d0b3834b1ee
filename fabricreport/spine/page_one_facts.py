"""What the argument of page one turns on, for who buys: alike for one purchase and for a plan in stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from fabricreport.findings import Facts, Findings, Name
from fabricreport.sections.decision.courses.single_node import within_nodes
from fabricreport.sections.stance import direction
from fabricreport.spine.buy_once_read import Read
from fabricreport.vocabulary import CourseKind


@dataclass(frozen=True)
class PageOne(Facts):
    """What page one turns on. `within` is an advice of jobs within nodes, `none` that there is nothing to tell."""

    course: Literal["rent", "rent_late", "pilot", "within", "ahead", "none"]
    """What is advised in place of an order or before it: machines rented first, for their cost or for the date, …"""
    advice: Literal["take", "settle", "stage", "ask", "price", "small", "none"]
    """Which order: of an option, of one once something is settled, of its first stage; or of the better offer, or on price."""
    missed: Literal["both", "alone", "asking", "choice", "none"]
    """How the client's date is missed: by either network, by all there is, by asking first, by the one advised."""
    remedy: Literal["rent", "move", "none"]
    """What makes production earlier where it is."""
    money: Literal["both", "cash", "time", "level", "alone", "none"]
    """In what the two compared differ, as printed."""
    saved: Literal["both", "cash", "none"]
    """In what jobs within nodes differ from those across them, as printed."""
    sure: Literal["act", "ask", "several", "within", "wins", "alone", "none"]
    """Of what it is told how sure it is: of an order, of asking two or several, of a share won."""
    dated: Literal["dated", "undated"]
    """Whether the client has a date."""
    near: Literal["date", "stated", "none"]
    """What decides between two that money leaves close."""
    other: Literal["reversed", "nearly", "small", "alone", "within", "none"]
    """The case for the other side: of what reverses the order, or comes near; or why there is none."""
    care: Literal["compared", "alone", "cut", "stated"]
    """What is read with care first: the comparison, or why jobs stay within nodes (we cut them, or the client says so)."""


def page_one(read: Read) -> dict[str, Any]:
    """The facts of a case, by name."""
    decision = read.held
    return {
        "course": _arm(
            decision, rent="rent_first", rent_late="rent_first_late", pilot="pilot_first", within="single_nodes",
            ahead="order_ahead",
        ),
        "advice": _arm(
            decision, take="take", settle="settle_first", stage=("sign_stage_one", "settle_stage_one"),
            ask=("ask_both", "offers_first"), price="on_price", small="take_small",
        ),
        "missed": _arm(decision, both="too_late", alone="too_late_alone", asking="late_by_asking", choice="late_choice"),
        "remedy": _arm(decision, rent="late_rent", move="late_move"),
        "money": _money(read),
        "saved": _saved(read),
        "sure": _sure(read),
        "dated": "dated" if read.given.params.dated else "undated",
        "near": _arm(decision, date="near_by_date", stated="near_by_stated"),
        "other": _other(read),
        "care": _care(read),
    }  # fmt: skip


def page_one_words(read: Read) -> dict[str, Name | None]:
    """Words that choose within a sentence of page one: each there where it holds."""
    held = {"settled_first": "settle_stage_one", "asked_first": "offers_first", "rent_dear": "date_dear"}
    return {word: Name(word) if getattr(read.held, finding) else None for word, finding in held.items()}


def _arm(held: Findings, **arms: str | tuple[str, ...]) -> str:
    """The arm of the one finding among these that holds."""
    each = ((arm, (found,) if isinstance(found, str) else found) for arm, found in arms.items())
    return next((arm for arm, found in each if any(getattr(held, finding) for finding in found)), "none")


def _money(read: Read) -> str:
    if read.nodes or read.alone:
        return "none" if read.nodes else "alone"
    cash, time = (direction(read.case.figure(f"decision.{part}")) != "same" for part in ("cash", "time"))
    return "both" if cash and time else "cash" if cash else "time" if time else "level"


def _sure(read: Read) -> str:
    if read.alone or read.result.offers:
        return "alone" if read.alone and not read.nodes else "none"
    kind = read.result.courses.advised.kind
    if read.result.sure is None or kind == CourseKind.SINGLE_NODE:
        return "wins" if read.result.sure is None else "within"
    if kind not in (CourseKind.EITHER, CourseKind.OFFERS, CourseKind.PILOT):
        return "act"
    return "several" if {*read.verdict.tied} - {*read.pair} else "ask"


def _saved(read: Read) -> str:
    if not read.nodes:
        return "none"
    return "cash" if direction(read.case.figure("decision.courses.single_lost")) == "same" else "both"


def _other(read: Read) -> str:
    if read.nodes:
        return "within"
    if read.alone or read.small:
        return "alone" if read.alone else "small"
    found = read.result.reversals
    return "none" if found is None or not found.tried else "reversed" if found.reversing else "nearly"


def _care(read: Read) -> str:
    if read.nodes:
        return "stated" if within_nodes(read.given) else "cut"
    return "alone" if read.alone else "compared"
