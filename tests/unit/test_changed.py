"""What-ifs: a change tried in memory is the same file with that written, and a rerun is the same as a fresh run."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import bench
import numpy as np
import pytest
import yaml
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import Uncertain
from fabricreport.books.evidence import EvidenceBook
from fabricreport.case import Case, keep_open, open_case
from fabricreport.inputs.inputs import CORRELATION, Inputs
from fabricreport.scenario import changed_params, params_from
from fabricreport.sections.chain import Chain, chain

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

PARAMS = Path(__file__).parents[2] / "params"
WORD = {"who": "A what-if", "why": "A change tried, not a source", "until": "2026-11-20"}
STEP = "contested:roce-extra-latency-per-step"
WEEKS = ("evidence:weeks-to-stable-rocev2", "evidence:weeks-to-stable-infiniband")


def written(name: str, **more: Any) -> dict[str, Any]:
    data = yaml.safe_load((PARAMS / f"{name}.yaml").read_text(encoding="utf-8"))
    return {**data, "as_of": str(data["as_of"]), **more}


def small() -> dict[str, Any]:
    """A buyer with a second stage, two sites' worth of options and a memo in euros, small enough to be cheap.

    Two links a GPU make two tiers of every network with RDMA, which no figure moved alone turns into other switches.
    """
    return {
        "client": {"name": "Small"},
        "as_of": "2026-11-20",
        "cluster": {"gpus": 24, "links_per_gpu": 2, "trajectory": [{"month": 12, "gpus": 72}]},
        "workload": {
            "kind": "fine-tuning",
            "model_parameters_billion": 8,
            "run_days": 5,
            "latency_variance_bound": True,
        },
        "organisation": {"networking_maturity": "medium"},
        "schedule": {"production_by": "2027-04-23"},
        "money": {
            "acquisition": "buy",
            "currency": "EUR",
            "price_of_delay_usd_per_day": {"low": 0, "mode": 100, "high": 900},
        },
        "options": ["infiniband-ndr", "rocev2-branded-400g", "rocev2-whitebox-400g", "ethernet-tcp"],
    }


def opened(data: dict[str, Any]) -> Case:
    """A case of these params on books that were read before."""
    books = bench.case("example").inputs
    library = EvidenceBook(books.shipped.values())
    return Case(Inputs(params_from(data), PARAMS, library, books.price_book, books.all_options))


@pytest.fixture(scope="module")
def base() -> Case:
    case = opened(small())
    assert set(case.chain.bills.built) == set(small()["options"])
    return case


def differences(one: Chain, other: Chain) -> list[str]:
    """Every total, loss and line of a bill that is not the same number in every draw, by name."""

    def unlike(name: str, mine: Any, theirs: Any) -> list[str]:
        return [] if np.array_equal(plain(mine), plain(theirs)) else [name]

    found = [] if one.bills.built == other.bills.built else ["what stands"]
    if list(one.bills.totals) != list(other.bills.totals):
        return [*found, "options"]
    for option, total in one.bills.totals.items():
        mine, theirs = one.bills.parts[option], other.bills.parts[option]
        found += unlike(f"total of {option}", total, other.bills.totals[option])
        found += unlike(f"weeks of {option}", one.losses.weeks[option], other.losses.weeks[option])
        found += [f"{n} of {option}" for n in mine if n not in theirs or unlike(n, mine[n], theirs[n])]
        found += [f"{n} of {option}" for n in theirs if n not in mine]
    return found


def moved(one: Chain, other: Chain) -> bool:
    return any(not np.array_equal(plain(d), plain(other.bills.totals[o])) for o, d in one.bills.totals.items())


# ---- changed


CHOICES: Mapping[str, tuple[Any, ...]] = {
    "cluster__gpus": (16, 32, 40),
    "money__horizon_months": (18, 36),
    "money__gpu_hour_value": (2.5, "market", "amortised", {"low": 1, "mode": 2, "high": 4}),
    "organisation__networking_maturity": ("low", "high"),
    "workload__run_days": (3, 11),
    "money__currency": ("USD", "EUR"),
    "seed": (7, 20261120),
}
FIGURES: Mapping[str, tuple[Any, ...]] = {
    "price:switch-qm9700": (30_000, {"low": 20_000, "mode": 25_000, "high": 40_000}),
    "price:switch-sn5610": ("price:switch-qm9700",),
    WEEKS[0]: (3, {"p5": 1, "p95": 9}, WEEKS[1]),
    CORRELATION: (0.1,),
    STEP: (40, {"low": 3, "high": 30}),
}


def random_change(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    dice = random.Random(seed)
    keys = {k: dice.choice(CHOICES[k]) for k in dice.sample(sorted(CHOICES), 2)}
    return keys, {i: dice.choice(FIGURES[i]) for i in dice.sample(sorted(FIGURES), 2)}


def by_book(figures: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {"price": {}, "evidence": {}, "contested": {}}
    for input_id, value in figures.items():
        kind, _, name = input_id.partition(":")
        found[kind][name] = value
    return {"prices": found["price"], "evidence": found["evidence"], "contested": found["contested"]}


@rows("seed", range(4))
def test_a_what_if_is_the_same_file_with_that_written(base: Case, seed: int, tmp_path: Path) -> None:
    keys, figures = random_change(seed)
    data = small()
    for key, value in keys.items():
        *sections, name = key.split("__")
        place = data
        for section in sections:
            place = place[section]
        place[name] = value
    data["overrides"] = [{"id": i, "value": v, **WORD} for i, v in figures.items()]
    path = tmp_path / "written.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    (tmp_path / "prices").symlink_to(PARAMS / "prices")
    anew, tried = open_case(path), base.changed(**by_book(figures), **keys)
    assert differences(tried.chain, anew.chain) == []
    assert tried.comparison.verdict == anew.comparison.verdict
    assert {i: tried.record(i)["override"] for i in figures} == {i: anew.record(i)["override"] for i in figures}


def test_a_what_if_leaves_the_case_as_it_was_and_can_be_taken_back(base: Case) -> None:
    before, params = base.chain, base.params
    tried = base.changed(cluster__gpus=16, prices={"switch-qm9700": 1_000})
    assert moved(tried.chain, before)
    assert base.chain is before and base.params is params
    assert base.record("price:switch-qm9700")["override"] is None
    assert differences(base.changed().chain, before) == []
    assert differences(base.changed(cluster__gpus=16).changed(cluster__gpus=24).chain, before) == []


@rows(
    ("change", "key", "named", "suggestion"),
    [
        ({"cluster__gpuss": 8}, "cluster.gpuss", "", "gpus"),
        ({"clusters__gpus": 8}, "clusters", "", "cluster"),
        ({"cluster__gpus": -3}, "cluster.gpus", "-3", ""),
        ({"cluster__gpus": "many"}, "cluster.gpus", "many", ""),
        ({"money__acquisition": "byu"}, "money.acquisition", "byu", "buy"),
        ({"prices": {"switch-qm970": 1}}, "price:switch-qm970", "price:switch-qm970", "price:switch-qm9700"),
        ({"evidence": {"puw": 1.2}}, "evidence:puw", "evidence:puw", "evidence:pue"),
        (
            {"contested": {"roce-latenci": 1.2}},
            "contested:roce-latenci",
            "contested:roce-latenci",
            "contested:roce-latency",
        ),
        ({"evidence": {"pue": {"low": 2, "high": 1}}}, "evidence:pue", "", ""),
        ({"cluster__gpus__now": 1}, "cluster.gpus", "", ""),
        ({"options__0": "infiniband-ndr"}, "options", "", ""),
        ({"client__name__first": "A"}, "client.name", "", ""),
        ({"": 1}, "", "", ""),
    ],
)
def test_a_change_that_no_file_could_hold_is_one_error_that_names_it(
    base: Case, change: dict[str, Any], key: str, named: str, suggestion: str
) -> None:
    before = base.params
    with pytest.raises(InputError) as caught:
        base.changed(**change)
    (problem,) = caught.value.problems
    assert problem.key == key and named in problem.value
    assert suggestion in problem.suggestion
    assert base.params is before


# ---- reruns


AGAIN: Mapping[str, float] = {
    "price:switch-qm9700": 30_000.0,
    "price:optic-800g-2xsr4": 700.0,
    "price:switch-n9600-64od": 20_000.0,
    "price:fx-eur-usd": 1.3,
    WEEKS[0]: 3.0,
    "evidence:roce-extra-latency-s1": 500.0,
    "evidence:roce-bandwidth-ratio-1gib-16gpu": 0.7,
    STEP: 300.0,
    "contested:roce-bandwidth-share": 0.8,
    CORRELATION: 0.0,
    "evidence:servers-per-rack": 16.0,
    "evidence:licence-ufm-per-endpoint-year": 400.0,
    "evidence:ufm-hard-requirement-gpus": 8.0,
    "evidence:ufm-ha-nodes": 3.0,
    "evidence:expansion-bring-up-factor": 0.9,
    "evidence:collective-model-error-large": 1.4,
    "evidence:pue": 1.9,
    "evidence:network-architect-pay": 900_000.0,
    "evidence:config-faults-rocev2-per-year": 20.0,
    "evidence:tcp-extra-latency-per-step": 90.0,
    "evidence:restart-hours": 9.0,
    "evidence:rule-clear-probability": 0.6,
}


def overridden(figures: Mapping[str, float], data: dict[str, Any]) -> Case:
    return opened({**data, "overrides": [{"id": i, "value": v, **WORD} for i, v in figures.items()]})


@lru_cache(maxsize=len(AGAIN))
def fresh(input_id: str) -> Case:
    """The small buyer with one figure overridden, opened afresh."""
    return overridden({input_id: AGAIN[input_id]}, small())


@rows("input_id", AGAIN)
def test_a_chain_run_again_is_a_fresh_chain(base: Case, input_id: str) -> None:
    for start in (base.chain, base.chain.bare()):
        assert differences(start.replacing({input_id: Uncertain.of(AGAIN[input_id])}), fresh(input_id).chain) == []


@rows("input_id", [STEP, WEEKS[0], CORRELATION, "price:switch-qm9700", "evidence:pue"])
def test_a_what_if_of_a_figure_takes_over_what_it_does_not_reach_and_is_a_fresh_case(input_id: str) -> None:
    data = small() | {"options": ["infiniband-ndr", "ethernet-tcp"]}
    start = opened(data)
    assert start.chain
    tried, anew = start.changed(**by_book({input_id: AGAIN[input_id]})), overridden({input_id: AGAIN[input_id]}, data)
    assert differences(tried.chain, anew.chain) == []
    assert {i: n.value for i, n in tried.latency().numbers.items()} == {
        i: n.value for i, n in anew.latency().numbers.items()
    }
    reached = any(start.inputs.rests_on(a, {input_id}) for a in start.chain.asked["steps of infiniband-ndr"])
    taken = tried.chain.exposure.timed["infiniband-ndr"] is start.chain.exposure.timed["infiniband-ndr"]
    assert taken is not reached


@rows("input_id", [WEEKS[0], "evidence:licence-ufm-per-endpoint-year", "evidence:pue"])
def test_a_bill_that_an_input_does_not_reach_is_taken_over_and_is_the_same(input_id: str) -> None:
    """Where the client states what an hour is worth, one option's cost says nothing of another's."""
    data = small()
    data["money"]["gpu_hour_value"] = 3.0
    start = opened(data).chain.bare()
    again = start.replacing({input_id: Uncertain.of(AGAIN[input_id])})
    assert differences(again, overridden({input_id: AGAIN[input_id]}, data).chain) == []
    kept = {o for o in start.bills.parts if again.bills.parts[o] is start.bills.parts[o]}
    reached = {WEEKS[0]: "rocev2", "evidence:licence-ufm-per-endpoint-year": "infiniband", "evidence:pue": ""}[input_id]
    assert kept == {o.id for o in again.given.options if reached and o.family != reached}


def test_what_is_paid_is_taken_over_where_only_the_losses_change(base: Case) -> None:
    start = base.chain.bare()
    again = start.replacing({WEEKS[0]: Uncertain.of(AGAIN[WEEKS[0]])})
    assert all(again.bills.paid[o] is start.bills.paid[o] for o in start.bills.paid)
    assert moved(again, start)


def test_the_ids_run_again_reach_every_part_of_the_chain(base: Case) -> None:
    """The table above is worth something: it holds ids that reach each part, and most of them move the money."""
    reached = {
        part
        for part, asked in base.chain.asked.items()
        for i in AGAIN
        if any(base.inputs.rests_on(a, {i}) for a in asked)
    }
    assert reached == set(base.chain.asked)
    moving = [i for i in AGAIN if moved(base.chain.replacing({i: Uncertain.of(AGAIN[i])}), base.chain)]
    assert len(moving) > len(AGAIN) / 2 and {STEP, CORRELATION, "evidence:servers-per-rack", "price:fx-eur-usd"} <= set(
        moving
    )


def test_two_changes_one_after_the_other_are_both_in_force(base: Case) -> None:
    first, second = {"evidence:servers-per-rack": 16.0}, {WEEKS[0]: 3.0, STEP: 300.0}
    both = overridden({**first, **second}, small())
    again = base.chain.bare()
    for figures in (first, second):
        again = again.replacing({i: Uncertain.of(v) for i, v in figures.items()})
    assert differences(again, both.chain) == []


def test_a_figure_put_back_gives_back_every_draw(base: Case) -> None:
    own = base.inputs.uncertain(WEEKS[0])
    assert differences(base.chain.replacing({WEEKS[0]: Uncertain.of(1.0)}).replacing({WEEKS[0]: own}), base.chain) == []


def test_what_follows_a_figure_follows_its_replacement() -> None:
    data = small() | {"overrides": [{"id": WEEKS[0], "value": WEEKS[1], **WORD}]}
    case = opened(data)
    again = case.chain.replacing({WEEKS[1]: Uncertain.of(3.0)})
    anew = opened(data | {"overrides": [*data["overrides"], {"id": WEEKS[1], "value": 3.0, **WORD}]})
    assert differences(again, anew.chain) == []
    assert again.given.central(WEEKS[0]) == anew.inputs.central(WEEKS[0]) == 3.0


def test_a_replacement_ends_the_reference_it_replaces() -> None:
    follows = [{"id": WEEKS[0], "value": WEEKS[1], **WORD}]
    case = opened(small() | {"overrides": follows})
    assert differences(case.chain.replacing({WEEKS[0]: Uncertain.of(AGAIN[WEEKS[0]])}), fresh(WEEKS[0]).chain) == []


def test_a_param_that_refers_to_a_price_moves_with_it(base: Case) -> None:
    data = small()
    price = next(p.id for p in base.prices.values() if p.unit == "gpu-hour" and p.currency == "USD")
    data["money"]["gpu_hour_value"] = price
    case = opened(data)
    case.inputs.draw("param:money.gpu_hour_value")  # drawn before the chain asks for it
    again = case.chain.bare().replacing({price: Uncertain.of(9.0)})
    assert differences(again, overridden({price: 9.0}, data).chain) == []
    assert moved(again, case.chain)


@rows("input_id", [CORRELATION, "price:fx-eur-usd", "evidence:roce-extra-latency-s1"])
def test_inputs_drawn_before_the_chain_are_known_to_reach_it(input_id: str) -> None:
    """What a chain asks for is the same whether or not somebody else has drawn it before."""
    case = opened(small())
    for other in ("price:switch-n9600-64od", STEP, WEEKS[0], "price:switch-qm9700"):
        case.inputs.draw(other)
    assert differences(case.chain.replacing({input_id: Uncertain.of(AGAIN[input_id])}), fresh(input_id).chain) == []


# ---- inputs


def draws_of(given: Inputs, ids: list[str]) -> list[Any]:
    return [plain(given.draw(i)) for i in ids]


REPLACED = [STEP, CORRELATION, "price:switch-qm9700", "price:fx-eur-usd", "evidence:roce-extra-latency-s1", WEEKS[0]]


@rows("input_id", REPLACED)
def test_replaced_inputs_are_fresh_inputs_whether_drawn_before_or_not(base: Case, input_id: str) -> None:
    value = Uncertain.of(AGAIN[input_id])
    watched = [*REPLACED, "price:switch-n9600-64od", "evidence:pue", "evidence:fabric-fte-small"]
    expected = draws_of(fresh(input_id).inputs, watched)
    for given in (base.inputs, base.inputs.bare(), opened(small()).inputs.bare()):
        undrawn = given.replacing({input_id: value})
        draws_of(given, watched)
        drawn = given.replacing({input_id: value})
        for again in (undrawn, drawn, drawn.bare()):
            assert all(np.array_equal(a, b) for a, b in zip(draws_of(again, watched), expected, strict=True))
        assert undrawn.central(input_id) == AGAIN[input_id]


def test_bare_inputs_give_the_same_totals(base: Case) -> None:
    assert differences(chain(opened(small()).inputs.bare()), base.chain) == []


@rows(("key", "value"), [("money__gpu_hour_value", 9.0), ("schedule__production_by", "2026-12-04")])
def test_the_keys_of_money_alone_need_only_the_bills_again(base: Case, key: str, value: Any) -> None:
    params = changed_params(base.params, {key: value}, {})
    again = base.chain.bare().under(base.inputs.bare().with_params(params))
    assert differences(again, base.changed(**{key: value}).chain) == []
    assert moved(again, base.chain)


@rows(("key", "value"), [("cluster__gpus", 16), ("money__horizon_months", 18)])
def test_the_whole_chain_again_is_a_fresh_chain(base: Case, key: str, value: int) -> None:
    params = changed_params(base.params, {key: value}, {})
    assert (
        differences(base.chain.bare().again(base.inputs.bare().with_params(params)), base.changed(**{key: value}).chain)
        == []
    )


def test_who_asked_is_told_apart_when_blocks_are_nested(base: Case) -> None:
    given = base.inputs
    with given.noting() as outer:
        given.central("evidence:pue")
        with given.noting() as inner:
            given.central("evidence:pue")
        given.central("evidence:restart-hours")
    assert inner == {"evidence:pue"} and outer == {"evidence:pue", "evidence:restart-hours"}


# ---- a case handed on


def test_openings_of_frozen_files_share_studies_and_no_numbers(tmp_path: Path) -> None:
    frozen = tmp_path / "params.json"
    frozen.write_text((PARAMS / "tern-finetuning.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "prices").symlink_to(PARAMS / "prices")
    assert open_case(frozen).chain is not open_case(frozen).chain
    keep_open(frozen)
    first, second = open_case(frozen), open_case(frozen)
    assert first.chain is second.chain
    first.number("tco.mine", 1.0, "usd", label="Mine", rule="as I say", inputs="param:cluster.gpus")
    assert first.figure("tco.mine").value == 1.0
    with pytest.raises(KeyError):
        second.figure("tco.mine")
    frozen.write_text(frozen.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert open_case(frozen).chain is not first.chain, "a file that has changed is read again"
