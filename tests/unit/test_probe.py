"""A new edition is due where advice, class, a material number or a mark of age moved, against the last one published."""

from typing import Any

import bench
import pytest
from rows import rows

from fabricreport.memo.editions.manifest import HeadlineChange
from fabricreport.memo.editions.probe import Probe, headline_of_case, moves, probe

SHARE = 0.02
DIFFERING = ("decision.difference", "decision.probability")


def headline(difference: float, total: float, odds: float, **words: str) -> dict[str, Any]:
    """Of a buyer, its texts to three digits."""
    numbers = [
        {"id": "decision.difference", "label": "D", "text": f"${difference:,.3g}", "value": difference, "unit": "usd"},
        {"id": "decision.probability", "label": "P", "text": f"{odds:.0%}", "value": odds, "unit": "share"},
        {"id": "decision.total.a", "label": "T", "text": f"${total:,.3g}", "value": total, "unit": "usd"},
    ]
    said = {"question": "buy-once", "choice": "a", "course": "take:a", "confidence": "leaning", "decided_by": "money"}
    return {**said, **words, "numbers": numbers}


BEFORE = headline(1_000_000, 58_600_000, 0.93)


@rows(
    "after, moved",
    [
        (headline(1_019_000, 58_600_000, 0.93), []),  # 1.9 % of the difference
        (headline(1_021_000, 58_600_000, 0.93), ["decision.difference"]),
        (headline(979_000, 58_600_000, 0.93), ["decision.difference"]),
        (headline(1_000_000, 58_640_000, 0.93), []),  # 4 % of the difference, but it reads as before
        (headline(1_000_000, 58_700_000, 0.93), ["decision.total.a"]),
        (headline(1_000_000, 58_600_000, 0.945), []),
        (headline(1_000_000, 58_600_000, 0.96), ["decision.probability"]),
        (headline(1_000_000, 58_600_000, 0.93, course="ask:a"), ["course"]),
        (headline(1_000_000, 58_600_000, 0.93, confidence="clear"), ["confidence"]),
        (headline(1_000_000, 58_600_000, 0.93, framework="disagrees"), []),  # told in the memo, no action of itself
    ],
)
def test_moved_is_what_is_material_for_the_difference(after: dict[str, Any], moved: list[str]) -> None:
    assert [one.id for one in moves(BEFORE, after, SHARE)] == moved
    back = headline(1_000_000, 58_600_000, 0.93)
    assert [one.id for one in moves(after, back, SHARE)] == moved, "the other way the same"


def test_any_change_of_sign_is_material_and_a_share_of_one_lets_all_else_pass() -> None:
    least, most = headline(100, 58_600_000, 0.93), headline(-100, 58_600_000, 0.93)
    assert [one.id for one in moves(least, most, 5.0)] == ["decision.difference"]
    assert not list(moves(BEFORE, headline(1_900_000, 58_600_000, 0.93), 1.0))


def test_a_renter_is_not_told_of_networks_and_a_total_counts_by_itself() -> None:
    def rented(choice: str, total: float) -> dict[str, Any]:
        number = {
            "id": "decision.offers.total.x",
            "label": "X",
            "text": f"${total:,.4g}",
            "value": total,
            "unit": "usd",
        }
        return {"question": "choose-provider", "choice": choice, "course": "either:a+b", "numbers": [number]}

    assert not list(moves(rented("a", 415_000), rented("b", 422_000), SHARE))
    assert [str(m) for m in moves(rented("a", 415_000), rented("b", 425_000), SHARE)] == [
        "X (decision.offers.total.x): $4.15e+05 -> $4.25e+05"
    ]


@pytest.mark.slow
@rows("name", ["example", "tern-finetuning", "serving-replicas-64"])
def test_a_case_moves_nothing_against_itself_and_a_mark_of_age_is_seen(name: str) -> None:
    case = bench.case(name)
    head = headline_of_case(case)
    record = next(case.record(i) for i in case.figure(head["numbers"][0]["id"]).inputs if i.startswith("price:"))
    kept = {record["id"]: {"stale": record["stale"]}, "price:gone": {"stale": True}}
    assert probe(case, {**head, "recommendation": "Buy"}, kept) == Probe() and Probe().is_quiet
    kept[record["id"]] = {"stale": not record["stale"]}
    found = probe(case, head, kept)
    assert found is not None and found.aged == (record["id"],) and not found.is_quiet
    assert probe(case, {"recommendation": "an analyst's own"}, kept) is None


def test_words_come_first_figures_old_to_new_and_what_is_gone_last() -> None:
    def of(recommendation: str, **numbers: tuple[str, float]) -> dict[str, Any]:
        listed = [{"id": k, "label": k.upper(), "text": t, "value": v, "unit": "usd"} for k, (t, v) in numbers.items()]
        return {"recommendation": recommendation, "numbers": listed}

    old = of("InfiniBand", cost=("$1.0M", 1e6), gone=("3", 3.0), same=("over 99 %", 0.995))
    new = of("RoCEv2", cost=("$1.2M", 1.2e6), same=("over 99 %", 0.997), fresh=("4", 4.0))
    assert [str(c) for c in moves(old, new, SHARE)] == [
        "Advice (recommendation): InfiniBand -> RoCEv2",
        "COST (cost): $1.0M -> $1.2M",
        "FRESH (fresh): not in the headline -> 4",
        "GONE (gone): 3 -> no longer in the headline",
    ]
    assert not list(moves({}, {}, SHARE))
    gone = HeadlineChange("decision.offers.total.b", "Cost of the work: B", "$437k", "")
    assert str(gone).endswith("$437k -> no longer among the sellers named first"), "it has a price still"


def test_a_difference_is_told_under_the_new_label_where_the_two_have_changed_sides() -> None:
    def of(value: float, odds: float, less: str, more: str) -> dict[str, Any]:
        sides = {"less": less, "more": more}
        money = {"label": f"{more} less {less}", "text": f"${value:,.0f}", "value": value, "unit": "usd"}
        share = {"label": f"{less} costs less than {more}", "text": f"{odds:.0%}", "value": odds, "unit": "share"}
        numbers = [{"id": "decision.difference", **money, "compares": sides}]
        numbers += [{"id": "decision.probability", **share, "compares": sides}]
        return {"question": "buy-once", "choice": less, "course": f"take:{less}", "numbers": numbers}

    told = [*moves(of(641_000, 0.8, "r", "i"), of(213_000, 0.65, "i", "r"), SHARE)]
    assert [(c.id, c.old_value, c.new_value) for c in told[-2:]] == [
        ("decision.difference", -641_000, 213_000),
        ("decision.probability", pytest.approx(0.2), 0.65),
    ]
    assert told[-2].old == "−$641k" and told[-2].label == "r less i"
    other = [
        c
        for c in moves(of(641_000, 0.8, "r", "i"), of(213_000, 0.65, "x", "r"), SHARE)
        if c.old_value is None and c.id in DIFFERING
    ]
    assert [c.label for c in other] == ["r less x", "x costs less than r"], "of other options nothing is subtracted"
