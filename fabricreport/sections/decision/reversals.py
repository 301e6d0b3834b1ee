"""What reverses the order of the two compared: each thing that somebody may set otherwise, with the model run again.

Nothing but that one thing is changed, and the outcomes are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricreport.chain import Chain
from fabricreport.evidence import read_yaml
from fabricreport.formats import inside
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.provenance import Traced, inputs_of, mean_of
from fabricreport.scenario import changed_params
from fabricreport.sections.decision.alike import Mismatch
from fabricreport.sections.decision.corners import CORNERS, Corner
from fabricreport.sections.decision.market import too_fast
from fabricreport.sections.decision.priors import equal_priors, leads_with
from fabricreport.sections.decision.turning import Search
from fabricreport.sections.tco.cross_check import instead_of_our_charge
from fabricreport.uncertain import exactly
from fabricreport.vocabulary import Charge, Side

EQUAL, MANAGER, OPTICS, PAIRS, WEEKS = "equal", "manager", "optics", "pairs", "no-weeks"
"""Keys: of every input by kind, of single kinds (with a number behind it), and of what else is set otherwise."""
_LICENCES = frozenset({MANAGER, *CORNERS})
_STARTS = "evidence:bring-up-productivity"


@dataclass(frozen=True)
class Reversal:
    """One thing set otherwise (`what`, within a sentence): the mean `lead` then, the rival's total cost less the choice's.

    `choice`, `rival`: the options that stand in their places. `behind`: ids of the inputs that the lead rests on then.
    """

    key: str
    what: str
    lead: float
    choice: str
    rival: str
    behind: frozenset[str]

    @property
    def cheaper(self) -> str:
        """The option that costs less then."""
        return self.choice if self.lead >= 0 else self.rival


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
    search: Search, corners: Sequence[Corner], mismatch: Mismatch | None, material: float
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


def _tried(search: Search, corners: Sequence[Corner], mismatch: Mismatch | None) -> Iterator[Reversal]:
    said: Mapping[str, str] = read_yaml("reversals")
    comparison, fast = search.comparison, search.fast
    pair = comparison.choice, comparison.rival
    everything = inputs_of(comparison.lead)

    def at(key: str, lead: float, behind: frozenset[str] = everything) -> Reversal:
        return Reversal(key, said[key], lead, *pair, behind)

    found = equal_priors(search)
    if found:
        yield at(EQUAL, min(leads_with(search, found)))
    for number, prior in enumerate(found if len(found) > 1 else ()):
        what = said["equal-one"].format(what=inside(prior.what))
        yield Reversal(f"{EQUAL}-{number}", what, min(leads_with(search, [prior])), *pair, everything)
    params = search.base.given.params
    if str(params.money.manager_licence) != str(Charge.CHARGED):
        gap = _under(search.base, comparison, {"money__manager_licence": str(Charge.CHARGED)})
        yield at(MANAGER, mean_of(gap), inputs_of(gap))
    for corner in corners[1:]:
        yield at(corner.key, mean_of(corner.gap), inputs_of(corner.gap))
    other = "compatible" if params.cluster.optics == "genuine" else "genuine"
    gap = _under(search.base, comparison, {"cluster__optics": other})
    yield Reversal(OPTICS, said[f"{OPTICS}-{other}"], mean_of(gap), *pair, inputs_of(gap))
    sides = {o.id: o.side for o in search.base.given.options}
    if {sides[o] for o in pair} == {Side.INFINIBAND, Side.ROCEV2}:
        more = instead_of_our_charge(search.base.given, search.base.bills, *sorted(pair, key=lambda o: sides[o]))
        if more is not None:
            yield at(PAIRS, mean_of(comparison.lead) + more * (1 if sides[pair[1]] == Side.ROCEV2 else -1))
    started = fast.replacing({_STARTS: exactly(1.0)}).bills
    yield at(WEEKS, mean_of(started.gap(comparison.rival, comparison.choice)))
    for one in mismatch.pairs if mismatch else ():
        if not too_fast(search.base.given, one):
            yield Reversal(one.key, said[one.key], one.lead, one.choice, one.rival, inputs_of(one.gap))


def _under(base: Chain, comparison: Comparison, keys: Mapping[str, str]) -> Traced:
    """The lead with these keys of the params set, the client's options left as they are."""
    params = changed_params(base.given.params, keys, {}, extra_options=base.given.all_options)
    return base.priced(base.given.with_params(params)).bills.gap(comparison.rival, comparison.choice)
