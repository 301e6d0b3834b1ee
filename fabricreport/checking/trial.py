"""Whether the analyses can be carried out with what the client put in, and what to blame if they cannot.

Bounds by unit refuse what no entry can be; they cannot know that a model divides by this one. So the analyses of a case
with figures, options, logs or answers of the client's own are tried before anything is built, and each of those is left out
in turn to find the one that they founder on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fabricreport.case import Case
from fabricreport.errors import InputError, Problem
from fabricreport.inputs import Inputs
from fabricreport.scenario import SECTION_NAMES, Params

FOUNDERS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, Warning)
COSTS = ("latency", "tail_risk", "tco")
"""The sections that a plan is doubted by, so that they are made at the case's own draws anyhow."""
FEW_DRAWS = 256
"""Draws that the other sections are tried on where nothing is the client's own."""
MOST_TRIED = 40
"""Own figures left out one at a time; a file with more of them is told without a culprit."""


@dataclass(frozen=True)
class Own:
    """Something the client put in: where it stands, how it reads, and the params without it."""

    key: str
    value: str
    without: Params


def own_inputs(case: Case) -> tuple[Own, ...]:
    """Everything of the client's own that reaches a model, each with the params that lack it."""
    return tuple(_own(case))


def founderings(case: Case) -> tuple[Problem, ...]:
    """One problem for each of the client's own inputs that the analyses founder on; none if they can be carried out.

    Where nothing is the client's own, what follows from the costs is tried on few draws: their mathematics is then that of
    the package on its own figures.
    """
    own = own_inputs(case)
    if own or case.inputs.draws <= FEW_DRAWS:
        why = foundering(case)
    else:
        why = foundering(case, COSTS) or foundering(_on_few_draws(case))
    if not why:
        return ()
    blamed = [one for one in own if not foundering(case.with_params(one.without))] if len(own) <= MOST_TRIED else []
    remedy = "Correct the figure, or leave it out."
    if not blamed:
        return (Problem(f"the analyses cannot be carried out with these inputs: {why}", key="as_of", remedy=remedy),)
    return tuple(
        Problem(f"the analyses cannot be carried out with this: {why}", key=one.key, value=one.value, remedy=remedy)
        for one in blamed
    )


def _on_few_draws(case: Case) -> Case:
    given = case.inputs
    books = given.folder, given.shipped, given.price_book, given.all_options
    return Case(Inputs(given.params, *books, draws=FEW_DRAWS))


def foundering(case: Case, sections: Sequence[str] = SECTION_NAMES) -> str:
    """Why the analyses cannot be carried out, in one line; '' if they can."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            for section in sections:
                make_whole(case.result(section))
        except InputError as error:
            return str(replace(error.problems[0], remedy="", file="", line=None)).rstrip(".")
        except FOUNDERS as error:
            return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


def make_whole(result: Any) -> None:
    """Have every part and every figure of a section made, which are else made when they are first asked for."""
    for name, part in vars(type(result)).items():
        if isinstance(part, cached_property):
            getattr(result, name)
    tuple(result.numbers.values())


def _own(case: Case) -> Iterator[Own]:
    params = case.params
    for number, override in enumerate(params.overrides):
        rest = tuple(o for o in params.overrides if o is not override)
        yield Own(f"overrides[{number}].value", override.id, params.model_copy(update={"overrides": rest}))
    for option in case.options:
        left = tuple(o for o in params.options if o != option.id)
        if not option.shipped and left:
            yield Own(case.inputs.option_key(option.id), option.id, params.model_copy(update={"options": left}))
    for number, log in enumerate(params.measurements):
        logs = tuple(m for m in params.measurements if m != log)
        yield Own(f"measurements[{number}]", str(log), params.model_copy(update={"measurements": logs}))
    for number, answers in enumerate(params.elicited):
        fewer = tuple(e for e in params.elicited if e != answers)
        yield Own(f"elicited[{number}]", str(answers), params.model_copy(update={"elicited": fewer}))
    for number, provider in enumerate(params.providers):
        if provider.answers:
            others = tuple(p for p in params.providers if p is not provider)
            yield Own(
                f"providers[{number}].answers", str(provider.answers), params.model_copy(update={"providers": others})
            )
