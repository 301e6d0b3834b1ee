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


def faults_of(given: Inputs) -> list[Problem]:
    """Every fault, each with its key of the params: overrides no entry could have, options nobody knows, references
    that nothing answers, a fabric that cannot be built."""
    unknown = [*impossible_overrides(given), *_unknown_options(given)]
    return unknown or [*unanswered(given), *contradictions(given), *unfit_offers(given)]


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
