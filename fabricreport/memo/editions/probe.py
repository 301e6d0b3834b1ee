"""Whether a new edition would say anything else than the last: its headline, worked out without notebooks or pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricreport.base.formats import write
from fabricreport.base.vocabulary import Question
from fabricreport.memo.editions.manifest import HeadlineChange, headline_of, value_of

if TYPE_CHECKING:
    from fabricreport.case import Case

DECLARES = "decision"
"""The section whose notebook declares the headline."""
ACTION = {
    "question": "What is asked",
    "course": "What to do",
    "offer": "The offer to take",
    "offer_stands": "Where it stands",
}
"""Keys of a headline that say what is advised, and how a run calls them."""
CLASS = {"confidence": "How sure"}
TERMS = "conditions"
"""The key of a headline whose advice holds on conditions."""
OF_NETWORKS = ("course", "choice", "confidence")
"""Keys that are of networks, which nothing is told of to whoever chooses among offers."""
DIFFERENCES = ("decision.difference", "decision.courses.against.", "decision.offers.gap.")
"""How the ids begin of the one figure of a headline by which the money is told apart."""


def headline_of_case(case: Case) -> dict[str, Any]:
    """The headline as an edition's manifest keeps it, but for the advice in words: made by the functions and on the draws
    of the memo. Empty for a memo without a decision."""
    if DECLARES not in case.params.sections:
        return {}
    told, numbers = case.headline()
    records = [number.as_dict() for number in numbers]
    declared = {key: str(value) for key, value in told.items()}
    return headline_of({**declared, "numbers": [r["id"] for r in records]}, {"numbers": records})


@dataclass(frozen=True)
class Probe:
    """What would be new: what of the headline moved, and the inputs whose mark of age would come or go, by id."""

    moved: tuple[HeadlineChange, ...] = ()
    aged: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether an edition of it would tell nobody anything."""
        return not self.moved and not self.aged


def probe(case: Case, headline: Mapping[str, Any], inputs: Mapping[str, Mapping[str, Any]]) -> Probe | None:
    """Hold a case against an edition's headline and the inputs of its ledger, by id.

    None where they say nothing of each other: the edition's headline is an analyst's own, or there is none.
    """
    now = headline_of_case(case)
    if not now or "course" not in headline:
        return None
    before = {key: value for key, value in headline.items() if key in now}
    aged = (i for i, kept in inputs.items() if _is_aged(case, i) not in (None, bool(kept.get("stale"))))
    return Probe(tuple(moves(before, now, case.params.refresh.moved_share)), tuple(sorted(aged)))


def _is_aged(case: Case, input_id: str) -> bool | None:
    """Whether the memo would mark an input as past its shelf life; None for one that the case does not know."""
    try:
        return bool(case.record(input_id).get("stale"))
    except LookupError:
        return None


def moves(
    old: Mapping[str, Any], new: Mapping[str, Any], share: float, why: Mapping[str, Sequence[str]] | None = None
) -> Iterator[HeadlineChange]:
    """What a reader of the old headline must be told, first words of advice and class, then figures in the new order.

    A figure in money has moved if its sign changed or it went by more than `share` of the difference (of itself, where the
    headline has none), a share if it went by more than `share`; and if it reads otherwise, unless it is the difference itself.
    `why`: causes by id.
    """
    causes = why or {}
    for key, label in turned(old, new).items():
        yield HeadlineChange(key, label, str(old.get(key, "")), str(new.get(key, "")), why=causes.get(key, ()))
    olds, news = ({n["id"]: n for n in headline.get("numbers", ())} for headline in (old, new))
    scale = next(
        (abs(n["value"]) for i, n in olds.items() if i.startswith(DIFFERENCES) and value_of(n) is not None), None
    )
    none: Mapping[str, Any] = {}
    for number_id in dict.fromkeys([*news, *olds]):
        before, after = olds.get(number_id, none), news.get(number_id, none)
        told = as_told(before, after) if before and after else before
        for one, other in ((told, after),) if told is not None else ((none, after), (before, none)):
            if _moved(one, other, share, scale):
                label = str(other.get("label") or one.get("label") or "")
                texts = str(one.get("text", "")), str(other.get("text", ""))
                values = value_of(one), value_of(other)
                yield HeadlineChange(number_id, label, *texts, *values, causes.get(number_id, ()))


def turned(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """The keys of advice and class that differ, each by its name; the advice in words only where one of its keys does, for the
    same advice may be worded with other figures."""
    renter = new.get("question") == Question.CHOOSE_PROVIDER
    idle = OF_NETWORKS if renter and "offer" in new else ("choice",) if renter else ()
    asked = {
        k: v
        for k, v in {**ACTION, "choice": "The cheaper network", **CLASS, TERMS: "On conditions"}.items()
        if k not in idle
    }
    found = {key: label for key, label in asked.items() if str(old.get(key, "")) != str(new.get(key, ""))}
    worded = str(old.get("recommendation", "")) != str(new.get("recommendation", ""))
    told = worded and ("course" not in new or bool({*found} & {*ACTION}))
    return {**({"recommendation": "Advice"} if told else {}), **found}


def as_told(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """A number of an old headline as the new one tells it: turned round where the two options weighed have changed sides; None
    where the two are not of the same thing."""
    if old["unit"] != new["unit"]:
        return None
    if old["label"] == new["label"]:
        return old
    was, now, value = old.get("compares"), new.get("compares"), value_of(old)
    if value is None or not (was and now) or (was["less"], was["more"]) != (now["more"], now["less"]):
        return None
    turned = 1 - value if new["unit"] == "share" else -value
    return {**old, "label": new["label"], "value": turned, "text": write(turned, str(new["unit"]))}


def _moved(before: Mapping[str, Any], after: Mapping[str, Any], share: float, scale: float | None) -> bool:
    was, now = value_of(before), value_of(after)
    if was is None or now is None:
        return before.get("text") != after.get("text")
    unit = after.get("unit", "")
    of = 1.0 if unit == "share" else scale if scale is not None and unit == "usd" else max(abs(was), abs(now))
    beyond = was * now < 0 or abs(now - was) > share * of
    return beyond and (after["id"].startswith(DIFFERENCES) or before.get("text") != after.get("text"))
