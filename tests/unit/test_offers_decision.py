"""Which offer: judged on the same work and draws, with every price the same figure wherever it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import bench
import numpy as np
import pytest
import yaml
from bench import OFFER as BASE
from bench import OTHER

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.units import HOURS_PER_MONTH
from fabricreport.base.vocabulary import Confidence
from fabricreport.books.sellers import Kind
from fabricreport.case import Case
from fabricreport.models.money.offers import Standing
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.decision.offers.judgements import Open
from fabricreport.sections.decision.offers.study import OffersResult, committing
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.words import offer_words
from fabricreport.sections.rents import listing

pytestmark = pytest.mark.slow

RUN_OUT = {**OTHER, "expiry": "2026-11-13"}
LATE = {**OTHER, "start": "2027-03-01"}
ANSWERED = {"name": "Example Cloud", "answers": "providers/example-answers.yaml"}


def tern() -> Case:
    return bench.case("tern-finetuning")


def offered(*offers: dict[str, Any], **changes: Any) -> Case:
    return bench.changed("tern-finetuning", offers=list(offers), **changes)


def of(case: Case) -> OffersResult:
    """The offers judged, no more of the decision made than they ask for."""
    found = case.knowledge.offers
    assert found is not None
    return found


def means(case: Case) -> dict[str, float]:
    return {o: float(plain(j.total).mean()) for o, j in of(case).judged.items()}


def words(case: Case) -> Mapping[str, Any]:
    """The words of its offers, nothing else of the decision worked out."""
    return offer_words(case.inputs, cast(DecisionResult, SimpleNamespace(offers=of(case), bids={})), case.figure)


# ---- the published prices


def test_without_offers_the_newest_price_of_each_seller_stands_in_as_it_was_found() -> None:
    found = listing(tern().inputs)
    assert {o.seller for o in found.ranked} <= {p.name for p in tern().params.providers}
    by_seller = {o.seller: o for o in found.ranked}
    data = by_seller["DataCrunch/Verda"]
    assert tern().inputs.central(data.rungs[0].price) == 3.56 and data.with_network
    assert (by_seller["Hyperstack"].kind, by_seller["Nebius"].with_network) == (Kind.ON_DEMAND, True)
    assert not by_seller["Lambda"].with_network and by_seller["Lambda"].product == "1-Click Clusters only"


def test_spot_prices_and_sellers_without_any_are_told_apart() -> None:
    found = listing(tern().inputs)
    assert {o.seller: o.kind for o in found.apart}["SF Compute"] == Kind.SPOT
    assert "Vast.ai" in {o.seller for o in found.apart}
    assert set(found.unpriced) >= {"FluidStack", "Voltage Park"}
    assert found.slow == ("OVHcloud",), "its own documents tell of links slower than those asked for"
    named = {o.seller for o in (*found.ranked, *found.apart)} | set(found.unpriced) | set(found.slow)
    assert named == {p.name for p in tern().params.providers}


def test_where_nobody_is_named_every_known_seller_is_asked_about() -> None:
    assert {o.seller for o in listing(tern().changed(providers=[]).inputs).ranked} == {
        o.seller for o in listing(tern().inputs).ranked
    }


def test_the_price_of_a_seller_is_one_figure_wherever_it_is_printed() -> None:
    """In the list of sources and in the what-if: the price found, and no mean of a range."""
    case = tern()
    for judged in of(case).judged.values():
        item = judged.price.removeprefix("price:")
        assert case.figure(judged.price).value == case.prices[item].price == case.inputs.record(judged.price)["value"]
        assert judged.price in inputs_of(judged.total)
        hour = plain(judged.cost.rung.usd_per_gpu_hour) / plain(judged.factor)
        assert hour.mean() == pytest.approx(case.prices[item].price, rel=1e-9)
    assert not [i for section in ("tco", "diligence") for i in case.result(section).numbers if "offer" in i]


def test_a_price_list_is_ranged_each_seller_by_itself_and_a_contract_is_not() -> None:
    factors = of(tern()).price_factors
    assert all(plain(f).mean() == pytest.approx(1.0) and np.ptp(plain(f)) > 0 for f in factors.values())
    assert abs(np.corrcoef([plain(f) for f in factors.values()])[0, 1]) < 0.3
    bound = of(offered(BASE, OTHER)).price_factors
    assert all(np.all(plain(f) == 1.0) for f in bound.values())


def test_no_seller_is_advised_on_a_published_price() -> None:
    found = of(tern())
    assert found.pick.standing == Standing.LISTED and all(j.reach.open for j in found.judged.values())
    assert found.asked[0] == found.order[0] and set(found.pick.contenders) <= set(found.asked)


def test_a_cent_of_a_rent_comes_to_its_hours_of_the_term_discounted_as_a_contract_is_paid_whoever_asks_it() -> None:
    for case in (tern(), offered(BASE, OTHER), offered(BASE, OTHER, money__discounting="real")):
        found, common = of(case), case.chain.bills.common
        money = case.params.money
        rate, inflation = float(money.discount_rate_per_year), float(money.inflation_per_year)
        yearly = 1 + rate if money.discounting == "nominal" else (1 + rate) * (1 + inflation)
        months = yearly ** (-np.arange(1, common.months + 1) / 12)
        useful = plain(case.chain.bills.own[found.leading.option].lost.useful)
        assert found.per_dollar == pytest.approx(16 * HOURS_PER_MONTH * months.sum() * np.mean(1 / useful))


# ---- offers


def test_of_two_offers_equal_but_for_the_price_the_cheaper_wins_by_price_times_hours_over_the_useful_share() -> None:
    case = offered(BASE, OTHER)
    found, common = of(case), case.chain.bills.common
    hours = 16 * HOURS_PER_MONTH * plain(common.discounting.level(1.0, common.months, terms="fixed"))
    useful = plain(case.chain.bills.own["infiniband-ndr"].lost.useful)
    gap = plain(found.judged["example-cloud"].total) - plain(found.judged["example-hosting"].total)
    assert np.allclose(gap, 0.2 * hours / useful)
    assert (found.pick.first, found.pick.standing) == ("example-hosting", Standing.TAKE)
    assert found.room == pytest.approx(0.2)


def test_a_dominated_offer_never_reorders_the_rest() -> None:
    before = of(offered(BASE, OTHER))
    worse = {**BASE, "seller": "Example Racks", "price_per_gpu_hour": 9.0, "network": "unknown"}
    after = of(offered(BASE, OTHER, worse))
    assert after.order == (*before.order, "example-racks")
    assert (after.pick.first, after.pick.second) == (before.pick.first, before.pick.second)


def test_the_network_that_an_offer_has_is_charged_with_its_own_lost_hours() -> None:
    slow = {**BASE, "seller": "Example Hosting", "fabric": "ethernet-tcp"}
    case = offered(BASE, slow)
    assert means(case)["example-hosting"] > means(case)["example-cloud"] * 1.01


def test_a_commitment_beyond_the_horizon_is_charged_and_a_late_start_is_late() -> None:
    long = {**BASE, "term_months": 18}
    assert means(offered(long))["example-cloud"] > means(offered(BASE))["example-cloud"] * 1.3
    half = {**long, "minimum_share": 0.5}
    assert means(offered(BASE))["example-cloud"] < means(offered(half))["example-cloud"]
    late = {**BASE, "seller": "Example Hosting", "start": "2026-12-31"}
    found = of(offered(BASE, late)).judged
    assert found["example-hosting"].ready == 0.0 < found["example-cloud"].ready
    priced = means(offered(BASE, late, money__price_of_delay_usd_per_day=1000.0))
    assert priced["example-hosting"] - priced["example-cloud"] > 20_000


def test_an_offer_that_does_not_say_whether_it_holds_the_network_is_advised_on_that_condition_only() -> None:
    unsure = {**OTHER, "network": "unknown"}
    case = offered(BASE, unsure)
    assert of(case).pick.standing == Standing.TAKE_IF and of(case).next is not None
    assert of(case).pick.second == "example-cloud"
    assert "network" in str(words(case)["first_offer"].said["asks"])


def test_a_renter_of_nobody_and_a_buyer_have_no_offers() -> None:
    nobody = offered(providers=[{"name": "Nobody"}])
    assert nobody.knowledge.offers is None and nobody.comparison.verdict.confidence == Confidence.DOES_NOT_MATTER
    buyer = offered(money__acquisition="buy")
    assert buyer.knowledge.offers is None and buyer.decision().bids == {}


def test_sellers_without_a_price_are_told_by_what_is_known_of_them() -> None:
    found = of(tern())
    assert dict(found.published.undated) == {"Voltage Park": "evidence:voltage-park-ib-tier"}
    assert "Voltage Park" in found.published.unpriced and "Voltage Park" not in str(words(tern())["unpriced_sellers"])


def test_no_order_of_lists_holds_once_a_term_s_discount_is_off_them() -> None:
    """The autumn of 2026: five sellers within a quarter of each other by list, and two dearer that may not be with a term."""
    found, case = of(tern()), tern()
    hours = {o: case.inputs.central(j.price) for o, j in found.judged.items()}
    near = ("hyperstack", "datacrunch-verda", "crusoe", "runpod", "lambda")
    assert max(hours[o] for o in near) / min(hours[o] for o in near) < 1.25
    assert min(hours["nebius"], hours["coreweave"]) > max(hours[o] for o in near)
    assert {*near, "nebius", "coreweave"} <= set(found.asked) and found.unranked and found.room is None
    assert max(found.cheapest.values()) < 0.5
    assert "Nebius" in (words(case)["asked_old"] or words(case)["asked_new"])


def test_an_order_is_told_where_it_holds_at_the_ends_of_the_discounts() -> None:
    """A seller so cheap that nobody's most discount reaches what he asks without any."""
    override = {
        "id": "price:gpu-hour-h100-datacrunch",
        "value": 1.0,
        "who": "A buyer",
        "why": "a test",
        "until": "2027-12-31",
    }
    case = tern().changed(overrides=[override])
    found = of(case)
    assert found.asked == ("datacrunch-verda",) and not found.unranked and found.room
    assert words(case)["asked_old"] is words(case)["asked_new"] is None


def test_a_term_takes_off_what_the_seller_publishes_and_else_what_is_assumed() -> None:
    found, given = of(tern()), tern().inputs
    ends = {o: (t.share.low, t.share.high) for o, t in found.terms.items()}
    assert (ends["nebius"], ends["coreweave"], ends["datacrunch-verda"]) == ((0, 0.35), (0, 0.6), (0.02, 0.25))
    assert ends["hyperstack"] == (0, pytest.approx(1 - 2.72 / 3.20)) and found.terms["lambda"].assumed
    assumed = given.uncertain("evidence:rent-term-discount")
    published = [given.uncertain(f"evidence:rent-term-discount-{s}").high for s in ("verda", "nebius", "coreweave")]
    assert (assumed.kind, assumed.low, assumed.high) == ("range", 0, np.median(published))
    money = yaml.safe_load((bench.PARAMS / "tern-finetuning.yaml").read_text(encoding="utf-8"))["money"]
    longer = of(bench.changed("tern-finetuning", money={**money, "horizon_months": 24}))
    assert longer.terms["datacrunch-verda"].share.mode == 0.25, "what it publishes for two years"
    fresh = [o for o in found.judged if o in ("nebius", "lambda")]
    for offer in fresh:
        factor = plain(found.judged[offer].factor)
        assert 1 - ends[offer][1] <= factor.min() and factor.max() <= 1 - ends[offer][0]


def test_what_a_renter_may_commit_to_are_the_offers_that_refuse_nothing_needed() -> None:
    case = offered(BASE, {**OTHER, "refuses": ["acceptance-test"]})
    judge, bills = judge_of(case.inputs), case.chain.bills
    assert set(committing(judge, bills, of(case))) == {"example-cloud"}
    assert set(committing(judge, bills, None)) == set(judge.advisable(bills))


def test_an_offer_for_more_gpus_than_are_needed_is_paid_in_full_and_asks_about_growth() -> None:
    larger = {**BASE, "size": 24}
    assert means(offered(larger))["example-cloud"] == pytest.approx(
        1.5 * means(offered(BASE))["example-cloud"], rel=1e-6
    )
    grown = offered(larger, cluster__trajectory=[{"month": 6, "gpus": 32}])
    assert Open.GROWTH in of(grown).judged["example-cloud"].open


def test_an_offer_that_has_run_out_is_ranged_as_an_old_price_and_is_never_taken_as_it_stands() -> None:
    found = of(offered(BASE, RUN_OUT))
    assert found.pick.standing == Standing.RENEW and found.pick.first == "example-hosting"
    assert np.ptp(plain(found.price_factors["example-hosting"])) > 0
    assert np.ptp(plain(found.price_factors["example-cloud"])) == 0
    assert not found.judged["example-hosting"].reach.firm


def test_a_date_without_a_price_puts_offers_that_meet_it_first_and_a_price_of_delay_decides_by_money() -> None:
    case = offered(BASE, LATE, providers=[ANSWERED])
    found = of(case)
    assert (found.pick.first, found.pick.standing) == ("example-cloud", Standing.TAKE)
    assert found.pick.late == ("example-hosting",) and set(found.totals) == {"example-cloud"}
    assert case.figure("decision.offers.ready.example-hosting").value == 0.0
    assert "Example Hosting" in str(words(case)["late_sellers"])
    cheap = of(offered(BASE, LATE, money__price_of_delay_usd_per_day=1.0))
    assert cheap.pick.first == "example-hosting" and not cheap.pick.late and len(cheap.totals) == 2
    dear = of(offered(BASE, LATE, money__price_of_delay_usd_per_day=5000.0))
    assert dear.pick.first == "example-cloud"


def test_what_an_offer_leaves_out_may_cost_as_much_as_the_next_offer_is_dearer_by() -> None:
    apart = {**OTHER, "network": "extra"}
    case = offered(BASE, apart)
    room = of(case).room
    assert room == pytest.approx(0.2)
    with_it = {**OTHER, "network": "add-on", "add_ons": [{"name": "Tier", "price_per_gpu_hour": room}]}
    level = means(offered(BASE, with_it))
    assert level["example-hosting"] == pytest.approx(level["example-cloud"], rel=1e-9)
    asks = words(case)["first_offer"].said["asks"]
    assert str(asks) == "What does the network cost beside this price?"


# ---- a client that buys


def test_a_bill_of_quantities_prices_its_option_beside_the_memos_own_bill() -> None:
    bill = {k: BASE[k] for k in ("seller", "date", "expiry", "fabric")}
    asked = {**bill, "items": [{"item": "switch-qm9700", "price": 28_000, "quantity": 48}]}
    case, buyer = bench.changed("two options", offers=[asked]), bench.case("two options")
    cheaper = bench.changed("two options", prices={"switch-qm9700": 28_000})
    (bid,) = case.decision().bids.values()
    option = bid.option
    assert np.allclose(plain(bid.total), plain(cheaper.chain.bills.totals[option]))
    assert np.allclose(plain(bid.model), plain(buyer.chain.bills.totals[option]))
    assert "optic-400g-sr4" in bid.missing and "switch-qm9700" not in bid.missing
    assert case.decision().numbers["decision.bids.gap.example-cloud"].value == pytest.approx(
        plain(bid.gap).mean(), rel=0.01
    )
    assert case.spoken("decision").findings.bids


def test_the_examples_are_invented_and_say_so() -> None:
    for path in (bench.PARAMS / "offers").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        assert "invented" in text and yaml.safe_load(text)["seller"].startswith("Example ")
