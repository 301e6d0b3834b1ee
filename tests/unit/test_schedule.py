"""One clock: what comes before production, who may move it, and a calendar of it that can be kept."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import bench
import numpy as np
import pytest
import yaml
from hypothesis import given as over
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.books.quote_answers import weeks_to_delivery
from fabricreport.case import open_case
from fabricreport.sections.schedule import (
    LEAD,
    Clock,
    Step,
    calendar_of,
    is_working_day,
    told,
    working_days_after,
    working_days_between,
)

FRIDAY = date(2026, 11, 20)
STEPS = tuple(Step)


def test_working_days_skip_the_weekend() -> None:
    days = [working_days_after(FRIDAY, n) for n in (0, 1, 5, 6)]
    assert [told(day) for day in days] == [
        "20 November 2026",
        "23 November 2026",
        "27 November 2026",
        "30 November 2026",
    ]
    assert [working_days_between(FRIDAY, day) for day in days] == [0, 1, 5, 6]


# ---- the calendar


def clock(*weeks: Any) -> Clock:
    """A clock whose steps take these weeks, one after another: wait, order, lead, installation, stable, soak."""
    wait, order, *rest = (np.atleast_1d(np.asarray(w, dtype=float)) for w in weeks)
    ends = [wait, wait + order]
    for more in rest:
        ends.append(ends[-1] + more)
    return Clock(*ends)


def test_a_calendar_of_weeks_that_are_known_is_their_sum() -> None:
    days = calendar_of(FRIDAY, clock(0, 2, 12, 2, 5, 3 / 7), 0.66, None).days
    assert [days[step] for step in STEPS] == [
        date(2026, 11, 25), date(2026, 12, 2), date(2026, 12, 4), date(2027, 2, 26), date(2027, 3, 12),
        date(2027, 4, 16), date(2027, 4, 19),
    ]  # fmt: skip
    asked = calendar_of(FRIDAY, clock(6, 2, 12, 2, 5, 3 / 7), 0.66, None).days
    assert (asked[Step.ANSWERS], asked[Step.ORDER]) == (date(2027, 1, 1), date(2027, 1, 15)), (
        "an answer after six weeks"
    )


_WEEKS = st.lists(st.floats(min_value=0.0, max_value=60.0), min_size=7, max_size=7).map(np.array)


@over(
    st.dates(min_value=date(2020, 1, 1), max_value=date(2035, 1, 1)),
    st.tuples(*[_WEEKS] * 6),
    st.floats(min_value=0.05, max_value=0.99),
    st.integers(min_value=1, max_value=900),
)
def test_every_calendar_can_be_kept(as_of: date, weeks: tuple[Any, ...], share: float, allowed: int) -> None:
    found = calendar_of(as_of, clock(*weeks), share, as_of + timedelta(days=allowed))
    days = [found.days[step] for step in STEPS]
    assert as_of < days[0] < days[1] < days[2] and days == sorted(days)
    assert all(is_working_day(day) for step, day in found.days.items() if step is not Step.STABLE)
    for count in (1, 3, 10, 40):
        asks, acts = (found.due_by(as_of, count, asks=a) for a in (True, False))
        assert as_of < asks <= days[0] and as_of < acts <= days[2] and is_working_day(asks) and is_working_day(acts)
    if days[-1] > days[2]:  # else the few days that asking takes are the longest
        assert found.in_time == (found.chance >= share - 1e-9), "the share printed and the day printed agree"


def test_without_a_date_nothing_is_late() -> None:
    found = calendar_of(FRIDAY, clock(0, 2, 900, 2, 5, 1), 0.66, None)
    assert found.in_time and found.chance == 1.0


# ---- who moves the clock


@pytest.mark.slow
def test_equal_leads_delay_every_network_by_exactly_as_much() -> None:
    own = bench.case("example").chain.bills.own
    first, *others = own.values()
    for other in others:
        assert np.array_equal(plain(first.arrival.power_on), plain(other.arrival.power_on))


@rows(
    ("source", "weeks"),
    [
        ("Quote of Northern Racks, 10 pieces; 9 weeks to delivery", 9.0),
        ("Quote of Northern Racks, 10 pieces; brand modules; 9.5 weeks to delivery", 9.5),
        ("Quote of Northern Racks, 10 pieces", None),
        ("A shop, 3 weeks to delivery", None),
    ],
)
def test_a_quote_says_when_it_delivers(source: str, weeks: float | None) -> None:
    assert weeks_to_delivery(source) == weeks


def quoted(tmp_path: Path, items: dict[str, float]) -> Any:
    """The example with quotes for these items, each with its weeks to delivery."""
    data = yaml.safe_load((bench.PARAMS / "example.yaml").read_text(encoding="utf-8"))
    prices = bench.case("example").inputs.prices
    lines = ["item,unit,price,low,high,currency,date,expiry,source,grade"]
    for item, weeks in items.items():
        price = prices[item]
        words = f"Quote of Northern Racks, 10 pieces; {weeks:g} weeks to delivery"
        lines.append(f'{item},{price.unit},{price.price},,,{price.currency},2026-11-20,2027-03-01,"{words}",quote')
    folder = tmp_path / "params"
    (folder / "prices").mkdir(parents=True)
    for file in (bench.PARAMS / "prices").glob("*.csv"):
        (folder / "prices" / file.name).write_bytes(file.read_bytes())
    (folder / "prices" / "quotes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    data |= {"providers": [], "options": ["infiniband-ndr", "spectrum-x-400g"]}
    path = folder / "quoted.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return open_case(path)


@pytest.mark.slow
def test_the_last_part_quoted_sets_the_delivery_and_what_no_quote_says_stays_assumed(tmp_path: Path) -> None:
    some = quoted(tmp_path / "some", {"switch-qm9700": 20.0, "nic-connectx7-400g": 4.0})
    lead = {o: plain(own.arrival.lead) for o, own in some.chain.bills.own.items()}
    assumed = plain(some.inputs.value(LEAD))
    assert np.array_equal(lead["infiniband-ndr"], np.maximum(assumed, 20.0)), "the switch comes last"
    assert np.array_equal(lead["spectrum-x-400g"], assumed) or np.all(lead["spectrum-x-400g"] >= assumed)
    server = next(i for i in some.inputs.prices if i.startswith("server-") and "h100" in i)
    whole = quoted(tmp_path / "whole", {"switch-qm9700": 7.0, "nic-connectx7-400g": 4.0, server: 6.0})
    assert float(plain(whole.chain.bills.own["infiniband-ndr"].arrival.lead)) == 7.0, "nothing is left to assume"


@pytest.mark.slow
def test_an_offer_is_handed_over_on_the_day_that_it_states() -> None:
    usual = bench.case("tern-finetuning").chain.bills.own["infiniband-ndr"].arrival
    assert (
        float(np.max(plain(usual.handed_over(6.0).power_on)))
        == float(np.min(plain(usual.handed_over(6.0).power_on)))
        == 6.0
    )
    assert np.all(plain(usual.power_on) > 0.0), "nobody is handed anything on the memo's own day"


@pytest.mark.slow
def test_a_longer_installation_is_later_and_costs_the_price_of_delay() -> None:
    case = bench.changed("example", money__price_of_delay_usd_per_day=10_000, schedule__production_by="2027-05-07")
    slow = case.changed(evidence={"installation-weeks": 8})
    for option, ready in case.comparison.verdict.ready.items():
        assert slow.comparison.verdict.ready[option] < ready
        assert slow.decision().totals[option].mean() > case.decision().totals[option].mean()


@pytest.mark.slow
def test_a_delivery_on_the_last_day_keeps_the_date() -> None:
    for name in ("kestrel-lab", "tern-finetuning"):
        case = bench.case(name)
        found = case.decision().schedule
        assert found.kept is not None and found.kept.chance >= case.params.schedule.share_wanted
        assert is_working_day(found.kept.day), "a hand-over is asked for on a day on which somebody works"
    assert bench.changed("example", schedule={}).decision().schedule.kept is None, "no date binds"
