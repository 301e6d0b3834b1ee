"""What the cost study found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

import numpy as np

from fabricreport.books.names import whole_names
from fabricreport.findings import Findings, Name, Named, OptionName, Spoken, joined
from fabricreport.formats import inside
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.stance import Stance
from fabricreport.sections.tco.cross_check import Agreement, compared, stands
from fabricreport.sections.tco.list_bills import ListBill
from fabricreport.sections.tco.reading import CostReading
from fabricreport.sections.tco.result import TcoResult
from fabricreport.sections.validity import beyond
from fabricreport.vocabulary import Acquisition, Basis, Confidence, Ground, Side

_HOLDING: dict[str, str] = {Acquisition.LEASE: "leasing"}
_WAYS = {"less": "more", "same": "more", "more": "less"}
"""A rival that costs less than the choice is said to cost less: the other way round than the choice."""
HALF = 0.5


class TcoFinding(StrEnum):
    """What may be true of the total cost; those of one group exclude each other."""

    # how the GPUs are had
    OWNS = "the fabric is bought or leased"
    RENTS = "the GPUs are rented, and no fabric is owned"
    COMPARES_FABRICS = "an owner compares several options"
    RENT_ALONE = "a renter: one option"
    RENT_CANCELS = "a renter of several options: the rent cancels"
    # the choice against its rival
    ALONE = "only one option is compared"
    COSTS_LESS = "the choice costs less"
    COSTS_MORE = "the choice costs more, and something else decides"
    COSTS_SAME = "the lead prints as nothing"
    COSTS_OPEN = "the two are too close, and the course stays open"
    COSTS_OPEN_RENTED = "a renter: the two are too close at the market's rent"
    # what a saving is worth
    SAVES_CLEARLY = "money decides, clearly"
    SAVES_ON_AVERAGE = "money decides, on the mean"
    SAVES_TOO_LITTLE = "the choice is ahead by too little to choose by"
    SAVES_TOO_LITTLE_RENTED = "a renter: the choice is ahead by too little to choose by, at the market's rent"
    # what decides where money does not
    BY_DATE = "the date decides a close call"
    BY_WEIGHTS = "the client's weights decide a close call"
    # what a lost hour is charged at
    VALUED_AMORTISED = "a lost hour costs what a useful one costs all in"
    VALUED_MARKET = "a lost hour costs the market's rent"
    VALUED_STATED = "a lost hour costs what the client says"
    # what a renter's hours come to
    HOURS_DIFFER = "a renter: a useful hour costs more on one option than on another"
    HOURS_EQUAL = "a renter: a useful hour prints the same on every option"
    WITHOUT_RDMA_DEARER = "a renter: an option without RDMA costs more"
    TIER_WORTH = "a renter: InfiniBand has the lower mean and is worth a surcharge"
    # why an owner's options differ
    CAUSES_AT_ONCE = "an owner whose fabric is bought at once: some cause differs"
    CAUSES_GROWN = "an owner whose fabric grows: some cause differs"
    # the purchase price against the whole bill
    PURCHASE_HOLDS = "the fabric that is dearer to buy costs more in all"
    PURCHASE_REVERSED = "the fabric that is dearer to buy costs less in all"
    PURCHASE_EVENED = "one fabric is dearer to buy, and the totals are the same"
    PURCHASE_SAME = "the two fabrics cost the same to buy"
    # the table of an owner's options
    LOWEST = "an owner: no option costs less than the choice"
    LOWEST_OPEN = "an owner: the totals do not choose between the two"
    LOWEST_PASSED_OVER = "an owner: the rival has the lowest total"
    # RoCEv2 against what is said of it
    BOTH_FAMILIES = "an owner compares InfiniBand with RoCEv2"
    DISCOUNT_THROUGHOUT = "RoCEv2 is cheaper on every base of the purchase"
    DISCOUNT_MIXED = "RoCEv2 is the dearer on some base of the purchase"
    TIERS_DIFFER = "InfiniBand needs a tier of switches more"
    SIZE_SUITS_ONE = "the client's size fills whole units of one option's switches and not of the other's"
    SWITCHES_ALONE = "as many tiers, and adapters and optics that cost the same"
    TIERS_ALIKE = "as many tiers, and adapters or optics that differ"
    VENDOR_CLAIM_FAR = "no RoCEv2 option reaches what a vendor-paid study claims"
    VENDOR_CLAIM_REACHED = "a RoCEv2 option reaches what a vendor-paid study claims"
    INFINIBAND_DRAWS_MORE = "InfiniBand's fabric draws more power than RoCEv2's"
    # what others measured, in money
    PAIRS_TOLD = "a training client compares both families: published pairs are told in money"
    PAIRS_LIKE = "the model's charge and the median pair point the same way and are of like size"
    PAIRS_LESS = "they point the same way, and the model charges far less"
    PAIRS_MORE = "they point the same way, and the model charges far more"
    PAIRS_OPPOSED = "they point opposite ways"
    PAIRS_WITHIN = "the charge lies within the range of the pairs"
    PAIRS_BEYOND = "the charge lies beyond the range of the pairs"
    # growth
    GROWS = "an owner of several options: the fabric is bought in stages"
    GROWS_LATE = "most of it is paid for when the cluster grows"
    GROWS_EARLY = "most of it is paid for at the start"
    # renting instead
    OWNING_CHEAPER = "a useful hour costs less owned than rented"
    RENTING_CHEAPER = "a useful hour costs no less owned than rented"
    # limits
    SITES_UNPRICED = "the cluster spans sites, whose links have no price"
    PORTS_FULL = "every leaf port is taken, and the manager has none"
    MANAGER_HOLDS = "a manager that the size does not need would leave the order as it is"
    MANAGER_TURNS = "a manager that the size does not need would turn the order"
    MANAGER_LEVELS = "with a manager that the size does not need the two would cost the same"
    GENUINE = "an owner takes optics of the switch's own maker"
    LEASES = "everything is leased"
    COLOCATES = "space is colocated"
    DELAY_PRICED = "the params price a day of delay"
    BEYOND = "a model of lost time was tried on no such run"
    # the bill
    SWITCHES_LESS_THAN_HALF = "switches are less than half of the choice's hardware"
    SWITCHES_HALF = "switches are half of the choice's hardware or more"
    LIES_BETWEEN = "InfiniBand's list bill lies between two of one RoCEv2 option"
    NOTED = "options have notes"
    # other sizes, and the money's dates
    CROSSES_HERE = "the order of the two changes within the client's own sizes"
    ORDER_HOLDS = "the order of the two holds at the client's own sizes"
    BEYOND_SWEEP = "an option lies beyond the picture of sizes"
    CASH_AT_PURCHASE = "most of the gap in cash opens on the days of purchase"
    CASH_OVER_TIME = "running costs move the gap in cash at least as much as purchases"
    BEYOND_CASH = "an option lies beyond the picture of cash"


F = TcoFinding


def spoken(given: Inputs, result: TcoResult) -> Spoken:
    """Findings and words of the total cost."""
    read = CostReading(given, result)
    groups = (
        *(_against, _basis, _lowest, _renting, _why, _purchase),
        *(_claims, _units, _pairs, _growth, _instead, _limits, _bill, _scale, _cash),
    )
    return Spoken(Findings(TcoFinding, (f for group in groups for f in group(read))), _words(read))


# ---- findings


def _against(read: CostReading) -> Iterator[TcoFinding]:
    yield {
        Stance.ALONE: F.ALONE,
        Stance.OPEN: F.COSTS_OPEN_RENTED if read.rents else F.COSTS_OPEN,
        Stance.LEVEL: F.COSTS_SAME,
        Stance.LESS: F.COSTS_LESS,
        Stance.AHEAD: F.COSTS_LESS,
        Stance.MORE: F.COSTS_MORE,
    }[read.stance]
    verdict = read.result.verdict
    if read.stance == Stance.LESS:
        yield F.SAVES_CLEARLY if verdict.confidence == Confidence.CLEAR else F.SAVES_ON_AVERAGE
    if read.stance == Stance.AHEAD:
        yield F.SAVES_TOO_LITTLE_RENTED if read.rents else F.SAVES_TOO_LITTLE
    deciding = {Ground.DEADLINE: F.BY_DATE, Ground.WEIGHTS: F.BY_WEIGHTS}
    if verdict.decided_by in deciding and read.stance in (Stance.AHEAD, Stance.MORE):
        yield deciding[verdict.decided_by]


def _basis(read: CostReading) -> Iterator[TcoFinding]:
    if read.rents:
        yield F.RENTS
        yield F.RENT_ALONE if read.alone else F.RENT_CANCELS
    else:
        yield F.OWNS
    if read.compares:
        yield F.COMPARES_FABRICS
    yield {
        Basis.AMORTISED: F.VALUED_AMORTISED,
        Basis.MARKET: F.VALUED_MARKET,
        Basis.STATED: F.VALUED_STATED,
    }[Basis(read.result.common.value_basis)]


def _lowest(read: CostReading) -> Iterator[TcoFinding]:
    if read.owns:
        yield {Stance.OPEN: F.LOWEST_OPEN, Stance.MORE: F.LOWEST_PASSED_OVER}.get(read.stance, F.LOWEST)


def _renting(read: CostReading) -> Iterator[TcoFinding]:
    if not read.rents:
        return
    result = read.result
    hours = {result.numbers[f"tco.usd_per_useful_gpu_hour.{o}"].text for o in result.order}
    yield F.HOURS_EQUAL if len(hours) == 1 else F.HOURS_DIFFER
    if read.dearer_without_rdma:
        yield F.WITHOUT_RDMA_DEARER
    if not read.alone and result.infiniband == result.choice and read.way(f"tco.worth_less.{result.rival}") == "less":
        yield F.TIER_WORTH


def _why(read: CostReading) -> Iterator[TcoFinding]:
    if read.causes:
        yield F.CAUSES_GROWN if read.grows else F.CAUSES_AT_ONCE


def _purchase(read: CostReading) -> Iterator[TcoFinding]:
    if not read.compares:
        return
    bought, counted = read.way("tco.fabric_difference"), read.way("tco.difference")
    if bought == "same":
        yield F.PURCHASE_SAME
    elif counted == "same":
        yield F.PURCHASE_EVENED
    else:
        yield F.PURCHASE_HOLDS if bought == counted else F.PURCHASE_REVERSED


def _claims(read: CostReading) -> Iterator[TcoFinding]:
    if not read.both_families:
        return
    yield F.BOTH_FAMILIES
    infiniband, rocev2 = read.infiniband, read.result.rocev2 or ""
    bought = min(read.value(f"tco.discount.{base}.{rocev2}") for base in ("switches", "fabric", "cluster"))
    yield F.DISCOUNT_MIXED if bought < 0 else F.DISCOUNT_THROUGHOUT
    tiers = [read.last(o).bom.tiers for o in (infiniband, rocev2)]
    if tiers[0] > tiers[1]:
        yield F.TIERS_DIFFER
    elif tiers[0] == tiers[1]:
        rest = [
            {read.result.numbers[f"tco.bill.{cause}.{o}"].text for o in (infiniband, rocev2)}
            for cause in ("optics_and_cables", "adapters")
        ]
        yield F.SWITCHES_ALONE if all(len(texts) == 1 for texts in rest) else F.TIERS_ALIKE
    most = max(read.value(f"tco.discount.total.{o}") for o in read.roces)
    yield F.VENDOR_CLAIM_FAR if most < read.given.central("evidence:roce-discount-acg") else F.VENDOR_CLAIM_REACHED
    if read.value("tco.power_penalty") > 0:
        yield F.INFINIBAND_DRAWS_MORE


def _units(read: CostReading) -> Iterator[TcoFinding]:
    if read.suited:
        yield F.SIZE_SUITS_ONE


def _pairs(read: CostReading) -> Iterator[TcoFinding]:
    if not compared(read):
        return
    agreement, within = stands(read)
    yield F.PAIRS_TOLD
    yield {
        Agreement.LIKE: F.PAIRS_LIKE,
        Agreement.LESS: F.PAIRS_LESS,
        Agreement.MORE: F.PAIRS_MORE,
        Agreement.OPPOSED: F.PAIRS_OPPOSED,
    }[agreement]
    yield F.PAIRS_WITHIN if within else F.PAIRS_BEYOND


def _growth(read: CostReading) -> Iterator[TcoFinding]:
    if not read.grows:
        return
    yield F.GROWS
    first, *later = [sum(added.values()) for added in read.owned.bought[read.result.choice]]
    yield F.GROWS_LATE if first < sum(later) else F.GROWS_EARLY


def _instead(read: CostReading) -> Iterator[TcoFinding]:
    if read.owns:
        owning = read.value(f"tco.usd_per_useful_gpu_hour.{read.result.choice}")
        cheaper = owning < read.value("tco.rent_per_useful_gpu_hour")
        yield F.OWNING_CHEAPER if cheaper else F.RENTING_CHEAPER


def _limits(read: CostReading) -> Iterator[TcoFinding]:
    params = read.given.params
    acquired = Acquisition(params.money.acquisition)
    if params.cluster.sites > 1 and read.owns:
        yield F.SITES_UNPRICED
    if read.full:
        yield F.PORTS_FULL
    if params.cluster.optics == "genuine" and read.owns:
        yield F.GENUINE
    if read.unmanaged:
        managed, counted = read.way("tco.difference_managed"), read.way("tco.difference")
        apart = F.MANAGER_HOLDS if managed == counted else F.MANAGER_TURNS
        yield F.MANAGER_LEVELS if managed == "same" else apart
    if acquired == Acquisition.LEASE:
        yield F.LEASES
    if acquired == Acquisition.COLOCATE:
        yield F.COLOCATES
    if beyond(read.given):
        yield F.BEYOND
    if "delay" in read.result.labels:
        yield F.DELAY_PRICED


def _bill(read: CostReading) -> Iterator[TcoFinding]:
    if read.owns:
        less = read.value(f"tco.switch_share.{read.result.choice}") < HALF
        yield F.SWITCHES_LESS_THAN_HALF if less else F.SWITCHES_HALF
    if read.straddled:
        yield F.LIES_BETWEEN
    if any(o.notes for o in read.given.options):
        yield F.NOTED


def _scale(read: CostReading) -> Iterator[TcoFinding]:
    if not read.compares:
        return
    first, last = read.result.common.stages[0][1], read.result.common.stages[-1][1]
    crossings = read.owned.sweep.crossovers(read.result.choice, read.result.rival)
    yield F.CROSSES_HERE if any(low < last and first < high for low, high in crossings) else F.ORDER_HOLDS
    if read.beyond_sweep:
        yield F.BEYOND_SWEEP


def _cash(read: CostReading) -> Iterator[TcoFinding]:
    if not read.compares:
        return
    choice, rival = (plain(read.owned.cash[o]) for o in (read.result.choice, read.result.rival))
    monthly = (rival - choice)[:-1]  # the last month takes off what is resold
    bought = np.isin(np.arange(monthly.size), [b.month for b in read.owned.builds[read.result.choice]])
    opened, moved = abs(float(monthly[bought].sum())), abs(float(monthly[~bought].sum()))
    yield F.CASH_AT_PURCHASE if opened > moved else F.CASH_OVER_TIME
    if read.beyond_cash:
        yield F.BEYOND_CASH


# ---- words


def _words(read: CostReading) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    result, owned = read.result, read.result.ownership
    name = whole_names(read.given.options)
    whole, part = read.suited or (None, None)
    held = _HOLDING.get(read.given.params.money.acquisition, "owning")
    low, high = read.straddled or (None, None)
    card = read.card if owned else None
    return {
        "choice": name[result.choice],
        "rival": name[result.rival],
        "stepped": tuple(name[o] for o in result.order if owned and owned.sweep.steps[o][0] > 0),
        "cheapest": name[result.order[0]],
        "dearest": name[result.order[-1]],
        Side.INFINIBAND: name[result.infiniband] if result.infiniband else None,
        Side.ROCEV2: name[result.rocev2] if result.rocev2 else None,
        "suited": name[whole] if whole else None,
        "unsuited": name[part] if part else None,
        "own_size": _size(read.given.params.cluster.final_gpus) if whole else None,
        "even_size": _size(read.owned.sweep.even[part]) if part else None,
        "without_rdma": name[read.dearer_without_rdma] if read.dearer_without_rdma else None,
        "kind": Name(read.given.params.money.discounting),
        "currency": Name(read.given.params.money.currency),
        "holding": held,
        "Holding": held.capitalize(),
        "largest": next((_cause(read, c) for c in read.causes), None),
        "saved": tuple(_cause(read, c) for c in read.saved),
        "conceded": tuple(_cause(read, c) for c in read.conceded),
        "purchase_way": _WAYS[read.way("tco.fabric_difference")] if owned else None,
        "total_way": _way_of_total(read),
        "tier": _tier(read),
        "overbuild_way": "less" if read.grows and read.value(f"tco.overbuild.{result.choice}") < 0 else "more",
        "worth_less": tuple(name[o] for o in read.hours("less")),
        "worth_same": tuple(name[o] for o in read.hours("same")),
        "worth_more": tuple(name[o] for o in read.hours("more")),
        "last_stage": _last_stage(read) if owned else None,
        "manager_way": read.way("tco.difference_managed") if read.unmanaged else None,
        "unmanaged": tuple(name[o] for o in owned.managers) if owned else (),
        "bundled_unevenly": tuple(name[o] for o in read.bundled_unevenly),
        "bundled_equally": tuple(name[o] for o in read.bundled_equally),
        "full": joined(whole_names(read.full).values()) if read.full else None,
        "noted": tuple(OptionName(o.name, o.id, notes=Name(" ".join(o.notes))) for o in read.given.options if o.notes),
        "list_infiniband": _listed(owned.list_bills[0]) if owned and low else None,
        "list_option": name[low.option] if low else None,
        "list_low": _listed(low) if low else None,
        "list_high": _listed(high) if high else None,
        "beyond_cash": joined(name[o] for o in read.beyond_cash) if read.beyond_cash else None,
        "beyond_sweep": joined(name[o] for o in read.beyond_sweep) if read.beyond_sweep else None,
        "card_range": Name(inside(card.valid_range)) if card else None,
        "card_limits": tuple(Named(c, str(n)) for n, c in enumerate(card.does_not_claim)) if card else (),
    }


def _cause(read: CostReading, cause: str) -> Named:
    """A cause as it stands within a sentence."""
    return Named(inside(read.result.labels[cause]), cause)


def _way_of_total(read: CostReading) -> str | None:
    """Whether RoCEv2 costs less than InfiniBand in all, or more."""
    if not read.both_families:
        return None
    return "less" if read.value(f"tco.discount.total.{read.result.rocev2}") >= 0 else "more"


def _tier(read: CostReading) -> Named | None:
    """The tier of switches that InfiniBand needs, by the tiers that are enough up to there."""
    if not read.both_families:
        return None
    enough = max(read.last(read.infiniband).bom.tiers - 1, 1)
    return Named("a second tier" if enough == 1 else "a third tier", str(enough))


def _size(gpus: int) -> Named:
    return Named(f"{gpus:,} GPUs", str(gpus))


def _last_stage(read: CostReading) -> Named:
    number = len(read.owned.builds[read.result.choice]) - 1
    return Named("the last stage", str(number))


def _listed(bill: ListBill) -> Named:
    """A bill at list prices, by the switch it prices."""
    switch = switch_of(bill)
    return Named(switch, f"{bill.option}.{switch}")


def switch_of(bill: ListBill) -> str:
    """The switch that a bill prices, as the price book calls it."""
    return bill.switch_ref.partition(":")[2]
