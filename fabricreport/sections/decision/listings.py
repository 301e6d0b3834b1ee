"""The advice without an option whose switch has one listed price: a single web page cannot decide alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Comparison, Verdict
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import Confidence


def on_one_listing(given: Inputs) -> tuple[str, ...]:
    """Ids of the options that an owner would buy whose switch price is one listing, read and not offered."""
    if given.team.rented:
        return ()
    refs = {o.id: o.pieces["switch"].price for o in given.options}
    listed = {o: given.prices[ref[6:]] for o, ref in refs.items() if ref.startswith("price:")}
    return tuple(o for o, price in listed.items() if price.one_listing and price.replaced is None)


def without_each(given: Inputs, bills: Bills) -> Mapping[str, Verdict]:
    """The verdict without each of those options, by its id, and without the others that the same listing prices; none where
    fewer than two options are left."""
    judge = judge_of(given)
    listed = {o.id: o.pieces["switch"].price for o in given.options}
    found = {}
    for option in on_one_listing(given):
        left = {k: v for k, v in bills.totals.items() if listed[k] != listed[option]}
        if option not in judge.barred and len([o for o in left if o not in judge.barred]) > 1:
            found[option] = judge.verdict(replace(bills, totals=left))
    return found


def rests_on_listing(comparison: Comparison, without: Mapping[str, Verdict], sides: Mapping[str, str]) -> bool:
    """Whether the choice is such an option, and without it no other of its side would be as clear."""
    choice = comparison.choice
    if choice not in without:
        return False
    left = without[choice]
    return sides[left.choice] != sides[choice] or left.confidence != Confidence.CLEAR
