"""Findings of the total cost: each is true where it should be and false elsewhere, and groups exclude each other."""

from __future__ import annotations

import copy
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from bench import case as client
from bench import changed
from rows import rows

from fabricreport.findings import Spoken
from fabricreport.provenance import plain
from fabricreport.sections.tco.findings import TcoFinding as F
from fabricreport.sections.tco.findings import spoken
from fabricreport.sections.tco.result import TcoResult

pytestmark = pytest.mark.slow

BUYER, GROWER, RENTER = "example", "kestrel-lab", "tern-finetuning"
INFINIBAND, WHITEBOX, ROCEV2 = "infiniband-ndr", "rocev2-whitebox-400g", "rocev2-branded-400g"


def other(name: str, **changes: Any) -> Spoken:
    """What is found of a client with other params."""
    return changed(name, **changes).spoken("tco")


def made(name: str, figures: Mapping[str, float] | None = None, **verdict: Any) -> Spoken:
    """What is found of a constructed result: a client's own with other figures, or with another verdict."""
    case, found = client(name), client(name).tco()
    others = {i: replace(found.numbers[i], value=value, spread=None) for i, value in (figures or {}).items()}
    numbers = ChainMap(others, found.numbers)  # type: ignore[arg-type]
    return spoken(case.inputs, replace(found, verdict=replace(found.verdict, **verdict), numbers=numbers))


def fabric(name: str, change: Callable[[TcoResult], dict[str, Any]]) -> Spoken:
    """What is found of a constructed result: a client's own with another fabric."""
    case, found = client(name), client(name).tco()
    assert found.ownership is not None
    return spoken(case.inputs, replace(found, ownership=replace(found.ownership, **change(found))))


def bought_at_once(found: TcoResult) -> dict[str, Any]:
    """Nothing is bought after the first stage."""
    assert found.ownership is not None
    bought = found.ownership.bought
    return {"bought": {o: (stages[0], *(dict.fromkeys(s, 0.0) for s in stages[1:])) for o, stages in bought.items()}}


def crossing_within_the_plan(found: TcoResult) -> dict[str, Any]:
    """The rival is the cheaper up to the middle of the client's own sizes, the dearer beyond."""
    assert found.ownership is not None
    sweep, first, last = found.ownership.sweep, found.common.stages[0][1], found.common.stages[-1][1]
    base = plain(sweep.useful_hour[found.choice])
    sign = np.where(np.asarray(sweep.gpus) < (first + last) / 2, -1.0, 1.0)
    return {"sweep": replace(sweep, useful_hour={**sweep.useful_hour, found.rival: base + sign[:, None]})}


def far_above(found: TcoResult) -> dict[str, Any]:
    """A useful hour without RDMA costs ten times what it does."""
    assert found.ownership is not None
    sweep = found.ownership.sweep
    hours = {o: 10 * hour if o == "ethernet-tcp" else hour for o, hour in sweep.useful_hour.items()}
    return {"sweep": replace(sweep, useful_hour=hours)}


def paid_monthly(found: TcoResult) -> dict[str, Any]:
    """The rival costs a dollar more in every month, and no more to buy."""
    assert found.ownership is not None
    cash = found.ownership.cash
    return {"cash": {**cash, found.rival: cash[found.choice] + 1.0}}


def tiers_grown(found: TcoResult) -> dict[str, Any]:
    """The choice's fabric has a tier more than it has."""
    assert found.ownership is not None
    builds = found.ownership.builds
    last = builds[found.choice][-1]
    taller = replace(last, bom=replace(last.bom, core=1, tiers=last.bom.tiers + 1))
    return {"builds": {**builds, found.choice: (*builds[found.choice][:-1], taller)}}


def without_notes() -> Spoken:
    """The buyer's own result, had no option a note."""
    case = client(BUYER)
    given = copy.copy(case.inputs)
    given.priced_options = {i: replace(option, notes=()) for i, option in given.all_options.items()}
    return spoken(given, case.tco())


SAYINGS: dict[str, Callable[[], Spoken]] = {
    "buyer": lambda: client(BUYER).spoken("tco"),
    "grower": lambda: client(GROWER).spoken("tco"),
    "two generations": lambda: other(GROWER, options=[INFINIBAND, WHITEBOX], cluster__link_gbits_per_s=400),
    "renter": lambda: client(RENTER).spoken("tco"),
    "renter, by date": lambda: made(RENTER, decided_by="deadline"),
    "one option": lambda: other(BUYER, options=[INFINIBAND], cluster__gpus=8),
    "one option, rented": lambda: other(RENTER, options=[INFINIBAND], cluster__gpus=8),
    "genuine": lambda: other(BUYER, cluster__optics="genuine"),
    "leased": lambda: other(BUYER, money__acquisition="lease"),
    "money decides": lambda: made(BUYER, decided_by="money", confidence="leaning"),
    "two units of XDR": lambda: other(
        BUYER, options=["infiniband-xdr", "spectrum-x-800g"], cluster__gpus=1152, cluster__link_gbits_per_s=800
    ),
    "open": lambda: made(BUYER, decided_by="nothing", confidence="toss-up"),
    "level": lambda: made(BUYER, {"tco.difference": 0.0}, decided_by="money", confidence="leaning"),
    "date, ahead": lambda: made(BUYER, decided_by="deadline"),
    "weights, behind": lambda: made(BUYER, {"tco.difference": -1e5}, decided_by="weights"),
    "few GPUs": lambda: made(BUYER, decided_by="size"),
    "same to buy": lambda: made(BUYER, {"tco.fabric_difference": 0.0}),
    "a dearer fabric": lambda: made(BUYER, {f"tco.discount.fabric.{ROCEV2}": -0.1, "tco.power_penalty": -1.0}),
    "a large saving": lambda: made(BUYER, {f"tco.discount.total.{ROCEV2}": 0.6}),
    "other optics": lambda: made(BUYER, {f"tco.bill.optics_and_cables.{ROCEV2}": 1.0}),
    "managers leave it": lambda: made(BUYER, {"tco.difference": 1e5, "tco.difference_managed": 2e5}),
    "managers level it": lambda: made(BUYER, {"tco.difference": 1e5, "tco.difference_managed": 0.0}),
    "cheap rent": lambda: made(BUYER, {"tco.rent_per_useful_gpu_hour": 0.1}),
    "dear switches": lambda: made(BUYER, {f"tco.switch_share.{INFINIBAND}": 0.6}),
    "another tier": lambda: fabric(BUYER, tiers_grown),
    "bought at once": lambda: fabric(GROWER, bought_at_once),
    "crossing": lambda: fabric(GROWER, crossing_within_the_plan),
    "far above": lambda: fabric(BUYER, far_above),
    "paid monthly": lambda: fabric(BUYER, paid_monthly),
    "a slow rival": lambda: made(RENTER, {f"tco.usd_per_useful_gpu_hour.{ROCEV2}": 99.0}),
    "a free fabric": lambda: made(RENTER, {f"tco.worth_less.{ROCEV2}": 0.0}),
    "a better rival": lambda: made(RENTER, {f"tco.worth_less.{ROCEV2}": -0.5}),
    "no notes": without_notes,
    "a charge like the pairs": lambda: made(BUYER, {"tco.pairs.charged": 9e5}),
    "a large charge": lambda: made(BUYER, {"tco.pairs.charged": 9e6}),
    "a charge the other way": lambda: made(BUYER, {"tco.pairs.charged": -1e5}),
}

GROUPS: dict[str, set[F]] = {
    "had": {F.OWNS, F.RENTS},
    "against": {F.ALONE, F.COSTS_LESS, F.COSTS_MORE, F.COSTS_SAME, F.COSTS_OPEN, F.COSTS_OPEN_RENTED},
    "valued": {F.VALUED_AMORTISED, F.VALUED_MARKET, F.VALUED_STATED},
}
WITH: dict[F, set[F]] = {
    F.COSTS_LESS: {F.SAVES_CLEARLY, F.SAVES_ON_AVERAGE, F.SAVES_TOO_LITTLE, F.SAVES_TOO_LITTLE_RENTED},
    F.OWNS: {F.LOWEST, F.LOWEST_OPEN, F.LOWEST_PASSED_OVER},
    F.RENTS: {F.HOURS_DIFFER, F.HOURS_EQUAL},
    F.GROWS: {F.GROWS_LATE, F.GROWS_EARLY},
    F.BOTH_FAMILIES: {F.DISCOUNT_THROUGHOUT, F.DISCOUNT_MIXED},
}
"""Where the first holds, exactly one of the others does; nowhere else any of them."""
ALSO_WITH: tuple[tuple[F, set[F]], ...] = (
    (F.RENTS, {F.RENT_ALONE, F.RENT_CANCELS}),
    (F.OWNS, {F.OWNING_CHEAPER, F.RENTING_CHEAPER}),
    (F.OWNS, {F.SWITCHES_LESS_THAN_HALF, F.SWITCHES_HALF}),
    (F.BOTH_FAMILIES, {F.VENDOR_CLAIM_FAR, F.VENDOR_CLAIM_REACHED}),
    (F.BOTH_FAMILIES, {F.TIERS_DIFFER, F.SWITCHES_ALONE, F.TIERS_ALIKE}),
    (F.COMPARES_FABRICS, {F.PURCHASE_HOLDS, F.PURCHASE_REVERSED, F.PURCHASE_EVENED, F.PURCHASE_SAME}),
    (F.COMPARES_FABRICS, {F.CROSSES_HERE, F.ORDER_HOLDS}),
    (F.COMPARES_FABRICS, {F.CASH_AT_PURCHASE, F.CASH_OVER_TIME}),
    (F.PAIRS_TOLD, {F.PAIRS_LIKE, F.PAIRS_LESS, F.PAIRS_MORE, F.PAIRS_OPPOSED}),
    (F.PAIRS_TOLD, {F.PAIRS_WITHIN, F.PAIRS_BEYOND}),
    (F.COMPARES_FABRICS, {F.CAUSES_AT_ONCE, F.CAUSES_GROWN}),
)

EXPECTED: dict[str, tuple[set[F], set[F]]] = {
    "two units of XDR": ({F.SIZE_SUITS_ONE, F.TIERS_ALIKE}, {F.SWITCHES_ALONE}),
    "open": ({F.COSTS_OPEN, F.LOWEST_OPEN}, {F.COSTS_LESS, F.LOWEST}),
    "buyer": (
        {
            *(F.OWNS, F.COMPARES_FABRICS, F.COSTS_LESS, F.VALUED_STATED, F.CAUSES_AT_ONCE, F.PURCHASE_REVERSED),
            *(F.LOWEST, F.BOTH_FAMILIES, F.DISCOUNT_THROUGHOUT, F.SWITCHES_ALONE, F.VENDOR_CLAIM_FAR),
            *(F.INFINIBAND_DRAWS_MORE, F.OWNING_CHEAPER, F.PORTS_FULL, F.SWITCHES_LESS_THAN_HALF, F.LIES_BETWEEN),
            *(F.NOTED, F.ORDER_HOLDS, F.CASH_AT_PURCHASE, F.BEYOND_CASH, F.MANAGER_TURNS),
            *(F.PAIRS_TOLD, F.PAIRS_LESS, F.PAIRS_WITHIN),
        },
        {
            *(F.RENTS, F.ALONE, F.GROWS, F.SITES_UNPRICED, F.LEASES, F.COLOCATES, F.DELAY_PRICED, F.BY_DATE),
            *(F.BY_WEIGHTS, F.BEYOND, F.SIZE_SUITS_ONE),
        },
    ),
    "grower": (
        {
            *(F.COSTS_LESS, F.SAVES_CLEARLY, F.LOWEST, F.VALUED_AMORTISED, F.GROWS, F.GROWS_LATE, F.CAUSES_GROWN),
            *(F.PURCHASE_HOLDS, F.TIERS_ALIKE, F.SITES_UNPRICED, F.COLOCATES, F.DELAY_PRICED, F.BEYOND),
        },
        {F.COSTS_OPEN, F.CROSSES_HERE, F.GROWS_EARLY, F.SWITCHES_ALONE, F.BEYOND_SWEEP, F.BEYOND_CASH, F.LIES_BETWEEN},
    ),
    "two generations": ({F.TIERS_DIFFER}, {F.TIERS_ALIKE, F.SWITCHES_ALONE}),
    "renter": (
        {
            *(F.RENTS, F.RENT_CANCELS, F.VALUED_MARKET, F.HOURS_DIFFER, F.WITHOUT_RDMA_DEARER),
            *(F.TIER_WORTH, F.COSTS_OPEN_RENTED),
        },
        {F.COSTS_OPEN, F.OWNS, F.COMPARES_FABRICS, F.BOTH_FAMILIES, F.INFINIBAND_DRAWS_MORE, F.PORTS_FULL},
    ),
    "renter, by date": ({F.SAVES_TOO_LITTLE_RENTED, F.BY_DATE}, {F.SAVES_TOO_LITTLE, F.COSTS_OPEN_RENTED}),
    "one option": ({F.OWNS, F.ALONE, F.LOWEST}, {F.COMPARES_FABRICS, F.BOTH_FAMILIES, F.LIES_BETWEEN}),
    "one option, rented": ({F.RENT_ALONE, F.HOURS_EQUAL}, {F.TIER_WORTH, F.WITHOUT_RDMA_DEARER}),
    "genuine": ({F.GENUINE}, {F.LEASES}),
    "leased": ({F.LEASES}, {F.COLOCATES}),
    "money decides": ({F.COSTS_LESS, F.SAVES_ON_AVERAGE, F.LOWEST}, {F.SAVES_CLEARLY}),
    "level": ({F.COSTS_SAME, F.PURCHASE_EVENED, F.LOWEST}, {F.PURCHASE_REVERSED}),
    "date, ahead": ({F.COSTS_LESS, F.SAVES_TOO_LITTLE, F.BY_DATE}, {F.BY_WEIGHTS}),
    "weights, behind": ({F.COSTS_MORE, F.LOWEST_PASSED_OVER, F.BY_WEIGHTS, F.PURCHASE_HOLDS}, {F.BY_DATE}),
    "few GPUs": ({F.COSTS_OPEN, F.LOWEST_OPEN}, {F.BY_DATE, F.BY_WEIGHTS}),
    "same to buy": ({F.PURCHASE_SAME}, {F.PURCHASE_REVERSED}),
    "a dearer fabric": ({F.DISCOUNT_MIXED}, {F.INFINIBAND_DRAWS_MORE}),
    "a large saving": ({F.VENDOR_CLAIM_REACHED, F.DISCOUNT_THROUGHOUT}, {F.VENDOR_CLAIM_FAR}),
    "other optics": ({F.TIERS_ALIKE}, {F.SWITCHES_ALONE}),
    "managers leave it": ({F.MANAGER_HOLDS}, {F.MANAGER_TURNS}),
    "managers level it": ({F.MANAGER_LEVELS}, {F.MANAGER_HOLDS, F.MANAGER_TURNS}),
    "cheap rent": ({F.RENTING_CHEAPER}, {F.OWNING_CHEAPER}),
    "dear switches": ({F.SWITCHES_HALF}, {F.SWITCHES_LESS_THAN_HALF}),
    "another tier": ({F.TIERS_DIFFER}, {F.SWITCHES_ALONE, F.TIERS_ALIKE}),
    "bought at once": ({F.GROWS, F.GROWS_EARLY}, {F.GROWS_LATE}),
    "crossing": ({F.CROSSES_HERE}, {F.ORDER_HOLDS}),
    "far above": ({F.BEYOND_SWEEP}, {F.CROSSES_HERE}),
    "paid monthly": ({F.CASH_OVER_TIME}, {F.CASH_AT_PURCHASE}),
    "a better rival": ({F.RENTS}, {F.TIER_WORTH}),
    "no notes": ({F.OWNS}, {F.NOTED}),
    "a charge like the pairs": ({F.PAIRS_LIKE, F.PAIRS_WITHIN}, {F.PAIRS_LESS, F.PAIRS_MORE}),
    "a large charge": ({F.PAIRS_MORE, F.PAIRS_BEYOND}, {F.PAIRS_LIKE, F.PAIRS_WITHIN}),
    "a charge the other way": ({F.PAIRS_OPPOSED, F.PAIRS_WITHIN}, {F.PAIRS_LESS}),
}


@cache
def said(name: str) -> Spoken:
    return SAYINGS[name]()


@rows("name", EXPECTED)
def test_findings_follow_the_result(name: str) -> None:
    holds, fails = EXPECTED[name]
    found = set(said(name).findings)
    assert (holds - found, fails & found) == (set(), set())


def test_every_finding_is_expected_somewhere_and_false_elsewhere() -> None:
    assert set().union(*(holds for holds, _ in EXPECTED.values())) == set(F)
    assert set.intersection(*(set(said(name).findings) for name in SAYINGS)) == set()


@rows("name", SAYINGS)
def test_findings_of_one_group_exclude_each_other(name: str) -> None:
    found = set(said(name).findings)
    assert {group: len(members & found) for group, members in GROUPS.items()} == dict.fromkeys(GROUPS, 1)
    for first, members in (*WITH.items(), *ALSO_WITH):
        assert len(members & found) == (first in found), first.name


@rows("name", SAYINGS)
def test_every_client_is_spoken_of_in_the_same_words(name: str) -> None:
    words, first = said(name).words, said("buyer").words
    assert set(words) == set(first)
    assert {w for w in words if isinstance(words[w], tuple)} == {w for w in first if isinstance(first[w], tuple)}


def test_a_cause_is_named_on_the_side_that_it_saves_money() -> None:
    words, numbers = said("buyer").words, client(BUYER).tco().numbers
    assert all(numbers[f"tco.part.{cause.key}"].value > 0 for cause in words["saved"])  # type: ignore[attr-defined]
    assert all(numbers[f"tco.part.{cause.key}"].value < 0 for cause in words["conceded"])  # type: ignore[attr-defined]
    assert words["largest"] in {*words["saved"], *words["conceded"]}  # type: ignore[misc]


def test_a_rented_hour_is_worth_less_the_same_or_more_and_is_said_so_once() -> None:
    for name, word in (("renter", "worth_less"), ("a free fabric", "worth_same"), ("a better rival", "worth_more")):
        words = said(name).words
        told = {w: [o.key for o in words[w]] for w in ("worth_less", "worth_same", "worth_more")}  # type: ignore[attr-defined]
        assert [w for w in told if ROCEV2 in told[w]] == [word]
    assert said("buyer").words["worth_less"] == ()


def test_a_word_says_which_way_a_figure_points() -> None:
    assert said("buyer").words["purchase_way"] == "less", "white-box switches cost less than InfiniBand’s"
    assert said("grower").words["purchase_way"] == "more"
    assert said("a large saving").words["total_way"] == "less"
    assert said("leased").words["holding"] == "leasing"


def test_the_list_bills_named_are_the_cheapest_and_the_dearest_of_one_option() -> None:
    words, numbers = said("buyer").words, client(BUYER).tco().numbers
    low, middle, high = (
        numbers[f"tco.list.total.{words[word].key}"].value  # type: ignore[attr-defined]
        for word in ("list_low", "list_infiniband", "list_high")
    )
    assert low < middle < high


def test_the_tier_that_an_article_prices_has_no_date_as_its_sentence_says() -> None:
    assert client("tern-finetuning").inputs.record("evidence:voltage-park-ib-tier")["date"] == "undated"
