"""Like with like: generations, purchases beyond today's prices, and what each option is made of."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from bench import changed
from rows import rows
from scenario_cases import minimal

from fabricreport.base.provenance import plain
from fabricreport.base.vocabulary import Confidence
from fabricreport.books.options import Option, read_options
from fabricreport.case import Case, open_case
from fabricreport.scenario import SHIPPED_OPTIONS, dated, load_params_file, options_left_out, params_from
from fabricreport.sections.decision import tables
from fabricreport.sections.decision.market import (
    GENERATION,
    SPEED,
    Market,
    Mismatch,
    Pair,
    beyond_the_servers,
    later_of,
)
from fabricreport.sections.decision.words import DecisionFinding as F

pytestmark = pytest.mark.slow

DAY = date(2026, 11, 23)
OPTIONS = read_options()
NDR, XDR, WHITE_400, WHITE_800 = (
    OPTIONS[o] for o in ("infiniband-ndr", "infiniband-xdr", "rocev2-whitebox-400g", "rocev2-whitebox-800g")
)
SPRAYED = "ethernet-sprayed-800g"
LABORATORY: dict[str, Any] = {
    "cluster__gpu": "h200",
    "cluster__link_gbits_per_s": 400,
    "options": ("infiniband-ndr", "rocev2-branded-400g", "rocev2-whitebox-400g"),
}
"""The laboratory as it was offered fabrics of two generations."""


def client(name: str = "example", **changes: Any) -> Case:
    return changed(name, **changes)


def found(case: Case) -> set[F]:
    return set(case.spoken("decision").findings)  # type: ignore[arg-type]


def market(*options: Option, vendor: str = "nvidia", day: date = DAY) -> Market:
    return Market(tuple(options or OPTIONS.values()), vendor, day, 2)


# ---- generations


def test_the_nearest_generation_of_the_same_side_and_model_stands_in_for_the_older_one() -> None:
    assert market().in_place_of(NDR, WHITE_400) is XDR
    older = replace(WHITE_400, id="mine", generation=2021)
    assert market().in_place_of(older, XDR) is WHITE_800  # the speed of the other, where family and model are the same
    assert market(NDR, WHITE_400).in_place_of(NDR, WHITE_400) is None
    assert market().in_place_of(OPTIONS["ethernet-tcp"], WHITE_400) is None


def test_what_is_not_on_sale_or_of_another_maker_or_a_clients_own_stands_in_for_nothing() -> None:
    older = replace(WHITE_400, id="mine", generation=2021)
    later = replace(XDR, on_sale=date(2027, 1, 1))
    assert market(later).in_place_of(NDR, WHITE_400) is None
    assert market(later, day=date(2027, 1, 1)).in_place_of(NDR, WHITE_400) is later
    assert market(replace(XDR, gpus_of=("amd",))).in_place_of(NDR, WHITE_400) is None
    assert market(replace(WHITE_400, file="mine.yaml")).in_place_of(older, XDR) is None


def test_the_other_side_follows_to_the_same_link_speed() -> None:
    assert market().at_speed_of(XDR, WHITE_400) is WHITE_800
    assert market().at_speed_of(XDR, WHITE_800) is WHITE_800
    assert market(XDR, WHITE_400).at_speed_of(XDR, WHITE_400) is None


@rows(("years", "differ"), [(1, False), (2, True), (3, True)])
def test_generations_two_years_apart_differ(years: int, differ: bool) -> None:
    assert market().apart(NDR, replace(NDR, generation=NDR.generation + years)) is differ


def test_a_clear_lead_that_the_other_side_has_in_one_generation_is_leaning() -> None:
    verdict = replace(client("kestrel-lab").comparison.verdict, confidence=Confidence.CLEAR)

    def turned(lead: float) -> bool:
        pair = Pair(SPEED, "a", "b", np.full(4, lead), verdict)  # type: ignore[arg-type]
        return Mismatch((pair,)).turns(verdict.lead)

    assert (turned(-1.0), turned(1.0), Mismatch(()).turns(verdict.lead)) == (True, False, False)
    capped = verdict.capped_by("generation")
    assert (capped.confidence, capped.capped) == (Confidence.LEANING, "generation")


def test_the_lead_alike_is_that_of_a_client_who_compares_the_two() -> None:
    case = client("kestrel-lab", **LABORATORY)
    mismatch = case.decision().mismatch
    assert mismatch is not None and [p.key for p in mismatch.pairs] == [GENERATION, SPEED]
    for pair in mismatch.pairs:
        options = [*dict.fromkeys((*case.params.options, *(o for p in mismatch.pairs for o in (p.choice, p.rival))))]
        again = client("kestrel-lab", **{**LABORATORY, "options": tuple(options)}).chain.bills.gap(
            pair.rival, pair.choice
        )
        assert case.figure(f"decision.alike_lead.{pair.key}").value == pytest.approx(float(np.mean(plain(again))))


def told_alike(case: Case) -> bool:
    return tables.pairs(case.inputs, case.decision(), case.figure) is not None


def test_a_mismatch_is_told_unless_the_servers_cannot_carry_what_is_faster() -> None:
    assert told_alike(client(prices={"switch-qm9700": 10_000}))
    assert beyond_the_servers(client().inputs, client().decision().mismatch)
    faster = client(cluster__link_gbits_per_s=800).inputs
    assert not beyond_the_servers(faster, client().decision().mismatch)
    laboratory = client("kestrel-lab", **LABORATORY)
    result = laboratory.decision()
    assert result.reversals is not None
    told = {one.key for one in result.reversals.tried}
    assert told.isdisjoint({GENERATION, SPEED}) == beyond_the_servers(laboratory.inputs, result.mismatch)
    assert result.mismatch is not None and result.mismatch.alike is not None and result.mismatch.alike.key == SPEED


def test_where_nothing_stands_in_the_memo_says_so() -> None:
    assert not told_alike(client(options=("infiniband-xdr", "ethernet-tcp"), cluster__gpus=128))


# ---- purchases beyond today's prices


def test_purchases_beyond_today_s_prices_are_told_with_their_share() -> None:
    case = client("kestrel-lab")
    later = case.decision().later
    assert later is not None and later.month == 30
    share = case.figure("decision.later_share").value
    servers = 1 - 4096 / 8192  # what of the equipment month 30 adds, by GPUs
    assert share == pytest.approx(servers, abs=0.05)
    assert F.LATER in found(case)


@rows(
    "changes",
    [
        {"cluster__trajectory": [{"month": 24, "gpus": 4096}]},
        {"cluster__trajectory": [{"month": 12, "gpus": 4096}, {"month": 30, "gpus": 4096}]},
        {"money__acquisition": "rent", "cluster__trajectory": [{"month": 30, "gpus": 8192}]},
    ],
)
def test_nothing_is_told_where_nothing_is_bought_that_late(changes: dict[str, Any]) -> None:
    case = client("kestrel-lab", **changes)
    assert later_of(case.inputs, case.chain.bills, case.comparison.choice) is None


# ---- what was proposed, and what each option is made of


def test_every_shipped_option_is_proposed_or_left_out_with_a_reason() -> None:
    params = params_from(minimal())
    out = options_left_out(params)
    assert (*params.options, *out) and set(params.options) | set(out) == set(SHIPPED_OPTIONS)
    assert not set(params.options) & set(out)
    unnamed = open_case(minimal())
    table = tables.proposed(unnamed.inputs, unnamed.decision())
    assert table is not None
    told = {str(row.cells[0]): str(row.cells[1]) for row in table.rows}
    assert told[OPTIONS["amd-pollara-400g"].name] == "sold with other GPUs"
    assert told[OPTIONS[SPRAYED].name] == "not on sale on the memo's date"
    assert told[NDR.name] == "compared" and len(told) == len(SHIPPED_OPTIONS)
    assert tables.proposed(client().inputs, client().decision()) is None


def test_what_is_proposed_follows_from_the_day_that_the_memo_is_made_for(tmp_path: Path) -> None:
    path = tmp_path / "client.yaml"
    path.write_text(yaml.safe_dump(minimal() | {"cluster": {"gpus": 64, "link_gbits_per_s": 800}}))
    loaded = load_params_file(path)
    assert SPRAYED not in loaded.params.options
    assert SPRAYED in dated(loaded, date(2027, 4, 1)).params.options
