"""Figures of what is known of each option compared: its inputs behind the memo, and how many are assumptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fabricreport.books.options import Option
from fabricreport.evidence import read_yaml
from fabricreport.figures import FigureSpec
from fabricreport.inputs import Inputs
from fabricreport.sections.client import behaviour_ids
from fabricreport.vocabulary import Grade

EachSpec = FigureSpec[Any, str]


def options_shown(given: Inputs) -> Mapping[str, Option]:
    """The options compared, by id."""
    return {option.id: option for option in given.options}


def speak_of(given: Inputs, option: Option) -> frozenset[str]:
    """The prices and entries that speak of an option or of its kind of fabric, whether a figure rests on them or not."""
    return frozenset({*option.references, *behaviour_ids(given, option).values()})


def unpriced(option: Option, used: frozenset[str]) -> tuple[str, ...]:
    """The parts of an option that nobody publishes a price of, where a figure rests on the entry that stands in."""
    lacking = [need.path for need in option.needs if need.ref in option.unquoted.values() and need.ref in used]
    words = read_yaml("assurance")["parts"]
    return tuple(dict.fromkeys(words[path[1] if path[0] == "pieces" else path[0]] for path in lacking))


def _count(name: str, words: str, value: Callable[[Inputs, frozenset[str]], int]) -> EachSpec:
    return EachSpec(
        f"evidence.option[option].{name}",
        "count",
        label=lambda at, option: f"{words}: {options_shown(at.given)[option].name}",
        rule="count of evidence and prices behind printed numbers that speak of the option or its kind of network",
        value=lambda at, option: float(
            value(at.given, at.result.used & speak_of(at.given, options_shown(at.given)[option]))
        ),
        counted=True,
        stale=False,
    )


OPTIONS = (
    _count("inputs", "Inputs behind this memo that speak of one option", lambda _, ids: len(ids)),
    _count(
        "assumed",
        "Assumptions among the inputs of one option",
        lambda given, ids: sum(given.record(i)["grade"] == Grade.ASSUMPTION for i in ids),
    ),
)
