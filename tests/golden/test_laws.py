"""Laws of the advice, on any client: what must never favour whom, whatever the figures are.

Tried on the two dozen buyers, and on clients drawn at random round the example: size, team, skill, estates, horizon, value of
a GPU-hour. `make laws` asks all of them, `make test` four, by the commit: at the memo's own draws, for with few of them a law
is broken by luck.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import bench
import numpy as np
import pytest

from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import exactly
from fabricreport.base.vocabulary import Side
from fabricreport.case import Case
from fabricreport.sections.tco.cost import COMMON_CAUSES, LOST_CAUSES
from fabricreport.sections.tco.result import bills

pytestmark = [pytest.mark.slow, pytest.mark.laws(4)]
DRAWN = 176
CLIENTS = (*bench.GOLDEN, *(f"drawn {seed}" for seed in range(DRAWN)))
NOISE = 2e-3
"""Share of a total by which an order of draws, and not a law, may move a mean."""
every_client = pytest.mark.parametrize("client", CLIENTS)
SKILL, ESTATES, LEVELS = ("none", "some", "strong"), ("none", "some", "large"), ("low", "medium", "high")
WEEKS, VALUES = (60, 26, 23, 20, 17), (0.5, 2.0, 4.0, 16.0)
MEMO = date(2026, 11, 27)
TURNKEY, WHITEBOX = "rocev2-branded-400g", "rocev2-whitebox-400g"
_STOPS = ("lost_faults", "lost_interruptions")
_ACTS_ON = {
    "faster-detection": _STOPS,
    "frequent-checkpoints": _STOPS,
    "asynchronous-checkpoints": _STOPS,
    "managed-tuning": ("lost_bring_up", "lost_interruptions"),
    "spares-on-site": _STOPS,
    "burn-in": ("lost_interruptions",),
}
"""Lines of the bill that each measure acts on."""


def of(client: str, **changes: Any) -> Case:
    """The client with keys of its params changed."""
    if not client.startswith("drawn "):
        return bench.drawn(client, **changes)
    return bench.drawn("example", **{**drawn_at_random(int(client.partition(" ")[2])), **changes})


def drawn_at_random(seed: int) -> dict[str, Any]:
    """Keys of a client; the options are the three with RDMA."""
    rng = np.random.default_rng(seed)
    return {
        "cluster__gpus": int(rng.choice([256, 512, 1024, 1536, 2048, 4096])),
        "organisation__networking_maturity": str(rng.choice(LEVELS)),
        "organisation__qos_expertise": str(rng.choice(SKILL[:2])),
        "organisation__existing_ethernet": str(rng.choice(ESTATES[:2])),
        "organisation__existing_infiniband": str(rng.choice(ESTATES[:2])),
        "money__horizon_months": int(rng.choice([24, 36, 48, 60])),
        "money__gpu_hour_value": float(rng.choice([1.0, 2.0, 3.0, 6.0])),
        "options": ("infiniband-ndr", TURNKEY, WHITEBOX),
    }


def means(client: str, **changes: Any) -> dict[str, float]:
    """Mean total cost of each option."""
    return {o: float(plain(t).mean()) for o, t in of(client, **changes).chain.bills.totals.items()}


def pairs(client: str) -> list[tuple[str, str]]:
    """Each option that takes skill with lossless Ethernet, beside each of InfiniBand."""
    options = of(client).options
    return [(o.id, i.id) for o in options if o.behaviour.skill for i in options if i.side == Side.INFINIBAND]


def leads(client: str, key: str, values: tuple[Any, ...], *besides: tuple[str, str]) -> list[np.ndarray]:
    """For each of these pairs, how much dearer its first is at each value of a key."""
    found = [means(client, **{key: value}) for value in values]
    return [np.array([f[a] - f[b] for f in found]) for a, b in (*pairs(client), *besides)]


def slack(client: str) -> float:
    return NOISE * max(means(client).values())


@every_client
def test_less_skill_never_favours_the_fabric_that_needs_more_of_it(client: str) -> None:
    for lead in leads(client, "organisation__qos_expertise", SKILL):
        assert np.all(np.diff(lead) <= slack(client)), lead
    if client.startswith("drawn "):
        by_level = [means(client, organisation__networking_maturity=level) for level in LEVELS]
        assert np.all(np.diff([f[WHITEBOX] - f["infiniband-ndr"] for f in by_level]) <= slack(client))


@every_client
def test_an_estate_never_hurts_its_own_fabric(client: str) -> None:
    for lead in leads(client, "organisation__existing_ethernet", ESTATES):
        assert np.all(np.diff(lead) <= slack(client)), lead
    for lead in leads(client, "organisation__existing_infiniband", ESTATES):
        assert np.all(np.diff(lead) >= -slack(client)), lead


@every_client
def test_fewer_weeks_never_favour_what_takes_longer_at_every_percentile(client: str) -> None:
    """As long as some network meets the date: one that none meets has to move, and decides nothing."""
    courses = []
    for weeks in WEEKS:
        case = of(client, schedule__production_by=(MEMO + timedelta(weeks=weeks)).isoformat())
        found = case.comparison
        if not any(found.verdict.likely(o, found.rule) for o in (found.choice, found.rival)):
            break
        stable = {o: np.sort(plain(w)) for o, w in case.chain.losses.weeks.items()}
        courses.append((found.verdict.choice, stable))
    for (before, stable), (after, _) in pairwise(courses):
        a, b = stable[before], stable[after]
        assert not (before != after and np.all(b >= a) and np.any(b > a)), (before, after)


@every_client
def test_dearer_staff_energy_and_equipment_make_no_option_cheaper(client: str) -> None:
    base = means(client)
    dearer: list[dict[str, Any]] = [
        {"evidence": {"network-architect-pay": 400_000}},
        {"evidence": {"fabric-fte-mid": 4.0, "fabric-fte-large": 8.0, "fabric-fte-small": 2.0}},
        {"evidence": {f"switch-{s}-watts": 2000 for s in ("qm9700", "sn5600", "tomahawk5")}},
        {"prices": {"electricity": 0.5}},
        {"prices": {"switch-qm9700": 45_000, "switch-sn5610": 80_000, "switch-n9600-64od": 60_000}},
    ]
    for change in dearer:
        found = means(client, **change)
        assert all(found[o] >= base[o] - 1e-6 * abs(base[o]) for o in base), change
        if client.startswith("drawn ") and "network-architect-pay" not in str(change):
            assert all(found[o] > base[o] for o in base), change


@every_client
def test_each_pair_turns_at_most_once_in_the_value_of_a_gpu_hour(client: str) -> None:
    besides = [(WHITEBOX, TURNKEY)] if client.startswith("drawn ") else []
    for lead in leads(client, "money__gpu_hour_value", VALUES, *besides):
        assert sum(np.diff(lead > 0)) <= 1, lead


@every_client
def test_a_dearer_gpu_hour_favours_what_loses_fewer(client: str) -> None:
    found = [means(client, money__gpu_hour_value=value) for value in VALUES]
    lost = {o: found[-1][o] - found[0][o] for o in found[0]}
    hours = [lost[min(costs, key=costs.__getitem__)] for costs in found]
    assert np.all(np.diff(hours) <= slack(client)), hours


def test_the_white_box_takes_longer_at_every_percentile_than_the_turnkey_fabric_of_its_kind() -> None:
    weeks = of("drawn 0").chain.losses.weeks
    assert np.all(np.sort(plain(weeks[WHITEBOX])) >= np.sort(plain(weeks[TURNKEY])))


@every_client
def test_what_no_network_changes_is_alike_on_each_and_no_difference_holds_it(client: str) -> None:
    found = of(client).chain.bills
    first, *others = found.order
    for option in others:
        for cause in set(COMMON_CAUSES) & set(found.labels):
            assert np.array_equal(plain(found.components[option][cause]), plain(found.components[first][cause]))
        assert not set(COMMON_CAUSES) & set(found.gap_by_cause(option, first))


@every_client
def test_a_network_that_loses_nothing_leaves_the_common_lines_equal_to_the_cent(client: str) -> None:
    case = of(client, money__gpu_hour_value=2.5)
    found, given = case.chain.bills, case.inputs
    free = case.chain.replacing(dict.fromkeys(networks_own(case), exactly(0.0))).bills
    own = {o: replace(i, lost=replace(i.lost, exposed_communication=0.0)) for o, i in free.own.items()}
    perfect = bills(given, free.stated, own, free.built)
    for option in found.order:
        for cause in set(LOST_CAUSES) & set(perfect.labels):
            assert plain(perfect.components[option][cause]).max() < 0.01, (option, cause)
        for cause in set(COMMON_CAUSES) & set(found.labels):
            both = (plain(one.components[option][cause]) for one in (found, perfect))
            assert np.abs(np.subtract(*both)).max() < 0.01, (option, cause)


def networks_own(case: Case) -> set[str]:
    """What makes a network lose time beside what it leaves exposed: weeks, stalls, collisions, neighbours, and its faults."""
    ids = {f"{what}-year" for what in ("link-flaps-per-link", "link-failures-per-link", "switch-failures-per-switch")}
    for behaviour in (option.behaviour for option in case.options):
        ids |= {behaviour.weeks, behaviour.stalls, behaviour.neighbours, behaviour.config_faults}
        ids |= {"dragonfly-contention" if case.params.cluster.topology == "dragonfly" else behaviour.contention}
        ids |= {f"{behaviour.manager}-faults-per-year"} if behaviour.manager else set()
    return {f"evidence:{entry}" for entry in ids}


@every_client
def test_no_measure_saves_more_than_its_lines(client: str) -> None:
    case = of(client)
    tail, lines = case.tail(), case.chain.bills.components
    for lever in tail.levers:
        most = sum(float(plain(lines[tail.worked].get(c, 0.0)).mean()) for c in _ACTS_ON[lever.id])
        assert float(plain(lever.saved_usd).mean()) <= most, lever.id
