"""What reverses the order of the two compared: each thing that somebody may set otherwise, with the model run again.

Nothing but that one thing is changed, and the outcomes are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from string import Formatter
from typing import Any

import numpy as np

from fabricreport.base.formats import inside
from fabricreport.base.provenance import Traced, inputs_of, mean_of
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.base.vocabulary import NEITHER, Charge, Grade, Side
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.options import Licence, Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.judgement.comparison import Comparison, Verdict
from fabricreport.scenario import changed_params
from fabricreport.sections.chain import Chain
from fabricreport.sections.client import estate_entry
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.decision.market import Mismatch, too_fast
from fabricreport.sections.decision.turning import Search
from fabricreport.sections.tco.inputs import above_gpus
from fabricreport.sections.tco.result import Bills, instead_of_our_charge

CORNERS: Mapping[str, tuple[Charge, Charge]] = {
    "as-sold": (Charge.AS_SOLD, Charge.AS_SOLD),
    "both": (Charge.CHARGED, Charge.CHARGED),
    "managers": (Charge.CHARGED, Charge.LEFT_OUT),
    "systems": (Charge.LEFT_OUT, Charge.CHARGED),
    "neither": (Charge.LEFT_OUT, Charge.LEFT_OUT),
}
"""The conventions by key: what becomes of the managers' licences, and of the switch systems'."""


def corners_of(base: Chain, comparison: Comparison) -> Mapping[str, Traced]:
    """The rival's total cost less the advised option's (draws,) under each convention, by its key; none where nothing is
    compared, or where the network is part of a rent."""
    if base.given.team.rented or comparison.choice == comparison.rival:
        return {}
    return {
        key: _under(
            base, comparison, {"money__manager_licence": str(manager), "money__switch_system_licence": str(system)}
        )
        for key, (manager, system) in CORNERS.items()
    }


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


ALIKE = 0.01
"""Two means that differ by less than this share of the larger favour neither."""


@dataclass(frozen=True)
class Prior:
    """One input by fabric: what it is, the entries ('' where a fabric has none), the side it favours, and on whose word.

    `against`: what a fabric without an entry has in its place. `of_client`: it follows from what the client runs.
    """

    what: str
    infiniband: str
    rocev2: str
    favours: str
    word: str
    against: float = 0.0
    of_client: bool = False


def priors_of(given: Inputs, reached: Collection[str], pair: Collection[str]) -> tuple[Prior, ...]:
    """The inputs by fabric that the bills rest on (`reached`: ids) and that favour one of the `pair` of options compared.

    None where these are not of both kinds of fabric.
    """
    ours = next((o for o in given.options if o.id in pair and o.side == Side.INFINIBAND), None)
    theirs = next((o for o in given.options if o.id in pair and o.side == Side.ROCEV2), None)
    if ours is None or theirs is None:
        return ()
    found = []
    for row in read_yaml("priors"):
        if theirs.operating_model not in row.get("model", (theirs.operating_model,)) or (
            row.get("owner") and given.team.rented
        ):
            continue
        ids = (_entry(given, row[Side.INFINIBAND], ours), _entry(given, row[Side.ROCEV2], theirs))
        if ids[0] != ids[1] and any(i in reached for i in ids):
            found.append(_prior(given, row, ids))
    return tuple(prior for prior in found if prior.favours != NEITHER)


def _entry(given: Inputs, template: str | None, option: Option) -> str:
    """The input that a row means of an option; '' where it has none."""
    said = {
        **asdict(option.behaviour),
        "maturity": given.team.maturity,
        "training": option.training,
        "estate": estate_entry(given, option),
        "licence": _in_bill(given, option.licence, given.params.money.manager_licence),
        "system": _in_bill(given, option.operating_system, given.params.money.switch_system_licence),
    }
    asked = [name for _, name, *_ in Formatter().parse(template or "") if name]
    if not template or not all(said[name] for name in asked):
        return ""
    name = template.format(**said)
    return name if ":" in name else f"evidence:{name}"


def _in_bill(given: Inputs, licence: Licence | None, charge: str) -> str:
    """The price of a licence that is in the bill at the last size; '' of one that is not."""
    above = above_gpus(given, licence, charge)
    return licence.per_year if licence and np.any(above < given.params.cluster.final_gpus) else ""


def _prior(given: Inputs, row: Mapping[str, Any], ids: tuple[str, str]) -> Prior:
    against = float(row.get("against", 0))
    infiniband, rocev2 = (mean_of(given.own(i)) if i else against for i in ids)
    gap = (rocev2 - infiniband) * (1 if row["better"] == "less" else -1)
    same = all(ids) and (
        len({given.record(i)["text"] for i in ids}) == 1 or len({given.figure(i).text for i in ids}) == 1
    )
    level = same or abs(gap) <= ALIKE * max(abs(infiniband), abs(rocev2))
    side = NEITHER if level else Side.INFINIBAND if gap > 0 else Side.ROCEV2
    records = [given.record(i) for i in ids if i]
    words = dict.fromkeys(
        "this memo" if r["grade"] == Grade.ASSUMPTION else r["publisher"] or r["source"] for r in records
    )
    return Prior(row["what"], *ids, side, " and ".join(words), against, bool(row.get("client")))


def equal_priors(search: Search) -> tuple[Prior, ...]:
    """The inputs by kind that equal treatment sets alike: neither prices, which are what is sold, nor what the client runs."""
    given = search.base.given
    found = priors_of(given, search.base.reached_by, search.comparison.verdict.pair)
    return tuple(p for p in found if not p.of_client and not _priced(given, p))


def leads_with(search: Search, priors: Sequence[Prior]) -> tuple[float, float]:
    """The mean lead of the choice, the model run again with these priors of both fabrics as one has it, then as the other.

    An input that one fabric alone has is none for both.
    """
    given, (choice, rival) = search.base.given, search.comparison.verdict.pair

    def lead(*, as_first: bool) -> float:
        same: dict[str, Uncertain] = {}
        for prior in priors:
            source, other = (prior.infiniband, prior.rocev2) if as_first else (prior.rocev2, prior.infiniband)
            if source and other:
                same[other] = given.uncertain(source)
            else:
                same[source or other] = exactly(prior.against)
        return mean_of(search.fast.replacing(same).bills.gap(rival, choice))

    return lead(as_first=True), lead(as_first=False)


def _priced(given: Inputs, prior: Prior) -> bool:
    return str(given.record(prior.infiniband or prior.rocev2)["unit"]).startswith("usd")


EQUAL, MANAGER, OPTICS, PAIRS, WEEKS = "equal", "manager", "optics", "pairs", "no-weeks"
"""Keys: of every input by kind, of single kinds (with a number behind it), and of what else is set otherwise."""
_LICENCES = frozenset({MANAGER, *CORNERS})
_STARTS = "evidence:bring-up-productivity"


@dataclass(frozen=True)
class Reversal:
    """One thing set otherwise (`what`, within a sentence): the mean `lead` then, the rival's total cost less the choice's.

    `pair`: the options that stand in their places. `behind`: ids of the inputs that the lead rests on then.
    """

    key: str
    what: str
    lead: float
    pair: tuple[str, str]
    behind: frozenset[str]

    @property
    def cheaper(self) -> str:
        """The option that costs less then."""
        return self.pair[self.lead < 0]


@dataclass(frozen=True)
class Reversals:
    """What was tried: all of it by what it takes off the side that costs less as we reckon (`lead`), the most first."""

    lead: float
    tried: tuple[Reversal, ...]

    def left(self, one: Reversal) -> float:
        """What is left then of the lead of the side that costs less as we reckon; below zero where the order is reversed."""
        return one.lead if self.lead >= 0 else -one.lead

    @property
    def reversing(self) -> tuple[Reversal, ...]:
        """Those that reverse the order, the strongest first."""
        return tuple(one for one in self.tried if self.left(one) < 0)


def reversals_of(
    search: Search, corners: Mapping[str, Traced], mismatch: Mismatch | None, material: float
) -> Reversals | None:
    """What was tried in a case; None where nothing is compared, or where the network is part of a rent.

    Left out are networks that the servers' links are too slow for, what moves the lead by less than a hundredth of what counts, of two ways to count licences the second that
    does the same, and of single kinds of input what does not reverse.
    """
    comparison = search.comparison
    if search.base.given.team.rented or comparison.choice == comparison.rival:
        return None
    lead = mean_of(comparison.lead)
    found = Reversals(lead, tuple(_tried(search, corners, mismatch)))
    kept: list[Reversal] = []
    for one in found.tried:
        told = [lead, *(other.lead for other in kept if {one.key, other.key} <= _LICENCES)]
        single = one.key.startswith(f"{EQUAL}-") and found.left(one) >= 0
        if not single and all(abs(one.lead - other) > material / 100 for other in told):
            kept.append(one)
    return Reversals(lead, tuple(sorted(kept, key=found.left)))


def _tried(search: Search, corners: Mapping[str, Traced], mismatch: Mismatch | None) -> Iterator[Reversal]:
    said: Mapping[str, str] = read_yaml("reversals")
    comparison, fast = search.comparison, search.fast
    pair = comparison.verdict.pair
    everything = inputs_of(comparison.lead)

    def at(key: str, lead: float, behind: frozenset[str] = everything) -> Reversal:
        return Reversal(key, said[key], lead, pair, behind)

    found = equal_priors(search)
    if found:
        yield at(EQUAL, min(leads_with(search, found)))
    for number, prior in enumerate(found if len(found) > 1 else ()):
        what = said["equal-one"].format(what=inside(prior.what))
        yield Reversal(f"{EQUAL}-{number}", what, min(leads_with(search, [prior])), pair, everything)
    params = search.base.given.params
    if str(params.money.manager_licence) != str(Charge.CHARGED):
        gap = _under(search.base, comparison, {"money__manager_licence": str(Charge.CHARGED)})
        yield at(MANAGER, mean_of(gap), inputs_of(gap))
    for key, gap in [*corners.items()][1:]:
        yield at(key, mean_of(gap), inputs_of(gap))
    other = "compatible" if params.cluster.optics == "genuine" else "genuine"
    gap = _under(search.base, comparison, {"cluster__optics": other})
    yield Reversal(OPTICS, said[f"{OPTICS}-{other}"], mean_of(gap), pair, inputs_of(gap))
    sides = {o.id: o.side for o in search.base.given.options}
    if {sides[o] for o in pair} == {Side.INFINIBAND, Side.ROCEV2}:
        more = instead_of_our_charge(search.base.given, search.base.bills, *sorted(pair, key=lambda o: sides[o]))
        if more is not None:
            yield at(PAIRS, mean_of(comparison.lead) + more * (1 if sides[pair[1]] == Side.ROCEV2 else -1))
    started = fast.replacing({_STARTS: exactly(1.0)}).bills
    yield at(WEEKS, mean_of(started.gap(comparison.rival, comparison.choice)))
    for one in mismatch.pairs if mismatch else ():
        if not too_fast(search.base.given, one):
            yield Reversal(one.key, said[one.key], one.lead, (one.choice, one.rival), inputs_of(one.gap))


def _under(base: Chain, comparison: Comparison, keys: Mapping[str, str]) -> Traced:
    """The lead with these keys of the params set, the client's options left as they are."""
    params = changed_params(base.given.params, keys, {}, extra_options=base.given.all_options)
    return base.priced(base.given.with_params(params)).bills.gap(comparison.rival, comparison.choice)
