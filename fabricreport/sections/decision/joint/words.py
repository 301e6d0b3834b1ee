"""The words that the prose of the joint study uses."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.books.names import input_names, whole_names
from fabricreport.findings import Name, Named, Phrase
from fabricreport.inputs import Inputs
from fabricreport.sections.decision.joint.result import JointResult, Moved


def joint_words(given: Inputs, found: JointResult) -> Mapping[str, object]:
    """Words by name; None where there is none here."""
    names = whole_names(given.options)
    pair = found.flip.pair if found.flip else (None, None)
    conditions = found.region.conditions if found.region else ()
    bounds = [*conditions, None, None, None][:3]
    crossing = found.hours.crossing if found.hours else None
    contestants = found.contestants
    return {
        "moved_a": _named(given, pair[0]),
        "moved_b": _named(given, pair[1]),
        **{f"bound_{letter}": _named(given, c) for letter, c in zip("abc", bounds, strict=True)},
        "likeliest_below": names[contestants[crossing.below]] if crossing else None,
        "likeliest_above": names[contestants[crossing.above]] if crossing else None,
        "likeliest": names[max(found.shares, key=lambda o: found.shares[o])],
        "least_regret": names[found.regrets.least_mean],
        "least_regret_p95": names[found.regrets.least_p95],
    }


def _named(given: Inputs, moved: Moved | None) -> Named | None:
    """An input as it stands within a sentence, and on which side of its bound the money has turned."""
    if moved is None:
        return None
    return Phrase(input_names(given, moved.input_id).phrase, moved.key, side=Name(moved.side))
