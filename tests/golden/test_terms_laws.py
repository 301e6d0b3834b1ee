"""Laws of the contract, on two hundred clients drawn at random: every amount can be reached, and every document says the same.

`make laws` asks all of them, `make test` three, by the commit.
"""

from __future__ import annotations

import bench
import numpy as np
import pytest
from test_close_laws import client

from fabricreport.base.formats import significant
from fabricreport.base.provenance import mean_of
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.books.acceptance import read_acceptance
from fabricreport.case import Case
from fabricreport.models.audit.acceptance import Reason
from fabricreport.sections.diligence.amounts import GIB
from fabricreport.sections.diligence.terms import Terms, most_credited

pytestmark = [pytest.mark.slow]
each = pytest.mark.parametrize("seed", range(200))
IDS = tuple(entry.id for entry in read_acceptance().tests)


def every_terms(case: Case) -> list[Terms]:
    found = case.diligence()
    return [terms for terms in (found.terms, found.terms_of_rival) if terms is not None]


def test_a_cap_that_no_shortfall_reaches_is_not_where_credits_end() -> None:
    assert most_credited(10_700.0, 5_870_000.0, 0.3) == (pytest.approx(1_070_000.0), False)
    assert most_credited(40_000.0, 5_870_000.0, 0.3) == (pytest.approx(1_761_000.0), True)


@each
@pytest.mark.laws(3)
def test_no_amount_of_the_contract_is_out_of_reach_or_more_than_what_is_lost(seed: int) -> None:
    case = client(seed)[0]
    for terms in every_terms(case):
        for credit in terms.credits.values():
            assert credit.most.value <= 100.0 * credit.rate.value * (1 + 1e-9), "all of the bandwidth, and no more"
            assert credit.ends == (credit.most.value < 100.0 * credit.rate.value * (1 - 1e-9))
        for late in filter(None, (terms.weeks, terms.delivery)):
            assert late.per_unit <= late.share * late.loss * 1.005, "a share of the loss as it is stated"
            if late.rent is not None:
                assert late.per_unit <= late.rent * 1.005, "no more than the rent of that time"
            else:
                assert late.cap is not None and late.paid(1e6) == pytest.approx(late.cap)
            assert late.paid(-3.0) == 0.0 and late.paid(0.0) == 0.0
        tuned, idle = terms.weeks, terms.delivery
        if tuned is None:  # no network between nodes is bought, and so nothing is tuned
            continue
        if tuned.unit == idle.unit:
            assert idle.loss >= tuned.loss, "nothing is done without the GPUs, something while a network is tuned"
            done = mean_of(case.inputs.value("evidence:bring-up-productivity"))
            assert tuned.loss == pytest.approx(significant(float(idle.loss) * (1 - done), 3)), "a part of what is told"
        for late in (tuned, idle):
            if late.cap is not None and late.per_unit:
                paid = [
                    float(late.paid(days / DAYS_PER_WEEK)) for days in (late.days_until_cap, late.days_until_cap - 1)
                ]
                assert paid[0] == pytest.approx(float(late.cap)) and paid[1] < float(late.cap)
        assert (tuned.rent is None) == (not case.inputs.team.rented)


@each
@pytest.mark.laws(3)
def test_memo_plan_and_terms_hold_a_promise_to_one_value(seed: int) -> None:
    """The bandwidth that is promised is of the exchange the job runs, and its credit begins at what the total cost assumes."""
    case = client(seed)[0]
    found, size = case.diligence(), int(GIB * case.inputs.central("evidence:acceptance-message-gib"))
    for promises, plan, terms in (
        (found.promises, found.plan, found.terms),
        (found.promises_of_rival, found.plan_of_rival, found.terms_of_rival),
    ):
        if terms is None or plan is None:
            continue
        promised = {p.id: p for p in promises}
        busbw, weeks = promised["busbw"], promised["weeks"]
        assert weeks.passes.value == terms.weeks.limit and weeks.price is not None
        assert weeks.price.value == terms.weeks.loss
        test = next(test for test in plan.of(terms.exchange.test) if test.stage == 1)
        line = test.lines[max(key for key in test.lines if key[1] == size)]
        assert line.floor.value == busbw.passes.value
        if busbw.price is None:
            assert not terms.credits and test.price is None, "nothing that is timed is sent: a floor, and no credit"
            continue
        assert busbw.credit is not None and test.price is not None
        assert (busbw.credit.value, test.price.value) == (line.credit.value, busbw.price.value)
        assert line.credit.value >= line.floor.value
        assert test.most is None or test.most == terms.credits[1].most.value
        assert busbw.price.value == terms.credits[1].rate.value


@each
@pytest.mark.laws(3)
def test_the_plan_names_every_test_that_a_network_without_the_saving_can_pass(seed: int) -> None:
    case = client(seed)[0]
    found, words = case.diligence(), case.spoken("diligence").words
    named: dict[str, set[str]] = {"plan_below": set(), "plan_near": set()}
    for test in found.plan.tests:
        lines = [(line.floor.value, line.saving.value) for line in test.lines.values() if line.saving]
        if any(floor < gone if test.at_least else floor > gone for floor, gone in lines):
            named["plan_below"].add(test.id)
        elif test.basis == Reason.CREDIT_ONLY:
            named["plan_near"].add(test.id)
    named["plan_near"] -= named["plan_below"]
    for word, tests in named.items():
        assert {test for test in IDS if test in str(words[word] or "").replace(" and ", ", ").split(", ")} == tests
    if (gone := words["saving_gone"]) is not None:
        assert case.figure(f"diligence.plan.{gone.key}").value > case.figure("diligence.pass.busbw").value


def test_damages_hold_the_price_of_delay_as_the_bill_does() -> None:
    """Whole where every outcome is late, nothing of it where none would be for a week more."""
    per_day, without = 100_000.0, bench.case("example").diligence().terms
    for date, counted in (("2027-01-08", 7 * per_day), ("2028-06-30", 0.0)):
        case = bench.changed("example", schedule__production_by=date, money__price_of_delay_usd_per_day=per_day)
        terms = case.diligence().terms
        for late, plain in ((terms.weeks, without.weeks), (terms.delivery, without.delivery)):
            assert late and plain and late.loss == pytest.approx(plain.loss + counted, rel=0.01)


@pytest.mark.parametrize("name", ["example", "kestrel-lab"])
def test_what_a_promise_brings_is_paid_where_the_network_turns_out_worse(name: str) -> None:
    terms = bench.case(name).diligence().terms
    assert terms is not None and {"weeks", "busbw", "latency"} == set(terms.worth)
    for paid in terms.worth.values():
        assert np.min(paid) >= 0.0 and 0.0 < np.mean(paid) < np.max(paid)
