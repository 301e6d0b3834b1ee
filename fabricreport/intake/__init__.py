"""Faults that only params and books together show, found before any analysis."""

from __future__ import annotations

from collections.abc import Iterator

from fabricreport.errors import Problem
from fabricreport.inputs import Inputs
from fabricreport.intake.asked import unanswered
from fabricreport.intake.feasibility import contradictions
from fabricreport.intake.offers import unfit_offers
from fabricreport.intake.overrides import impossible_overrides
from fabricreport.scenario import meant
from fabricreport.sections.client import one_node


def faults_of(given: Inputs) -> list[Problem]:
    """Every fault, each with its key of the params: overrides no entry could have, options nobody knows, references
    that nothing answers, a fabric that cannot be built."""
    unknown = [*impossible_overrides(given), *_unknown_options(given)]
    if bare := unknown or [*_too_few(given)]:
        return bare
    return [*unanswered(given), *contradictions(given), *unfit_offers(given)]


def excluded_words(given: Inputs) -> tuple[str, ...]:
    """Each stated option that is not compared, with why."""
    return tuple(f"{option} is not compared: {reason.value}" for option, reason in given.excluded.items())


def _too_few(given: Inputs) -> Iterator[Problem]:
    """Stated options of which too few can be compared."""
    left = len(given.options)
    if given.excluded and left < (1 if one_node(given, int(given.params.cluster.final_gpus)) else 2):
        yield Problem(
            f"leaves {left} to compare: {'; '.join(excluded_words(given))}",
            key="options",
            value=", ".join(given.params.options),
            remedy="Add options with RDMA that are on sale, or leave out options to have them proposed.",
            rule="nothing-to-compare",
        )


def _unknown_options(given: Inputs) -> Iterator[Problem]:
    for number, option_id in enumerate(given.params.options):
        if option_id not in given.all_options:
            yield Problem(
                "is no option",
                key=f"options[{number}]",
                value=option_id,
                suggestion=meant(option_id, given.all_options),
                remedy=f"Known: {', '.join(given.all_options)}; add your own as params/options/*.yaml.",
            )
