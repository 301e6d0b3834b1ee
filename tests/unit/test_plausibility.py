"""A plan that its own author would doubt is doubted on page one and by `check`; an ordinary one is left in peace."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from string import Formatter
from typing import Any, get_args

import bench
import pytest
import yaml
from rows import rows

from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.equipment import gpu_types
from fabricreport.books.evidence import EvidenceBook
from fabricreport.case import Case
from fabricreport.check.plausibility import cautions, dates_of
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number
from fabricreport.scenario import params_from, value_at
from fabricreport.scenario.schema import Gpu

pytestmark = pytest.mark.slow
EXAMPLES = ("example", "tern-finetuning", "kestrel-lab")
KNOWN = {entry["id"]: entry for entry in read_yaml("plausibility")}


def override(evidence_id: str, value: Any) -> dict[str, Any]:
    return {"id": f"evidence:{evidence_id}", "value": value, "who": "Tester", "why": "A test", "until": "2027-12-31"}


LOG = "b200_32gpu_all_reduce_bench.txt"
ASKED = {"date": "2026-11-10", "expiry": "2026-12-20", "fabric": "infiniband", "price_per_gpu_hour": 3.0}
PLANS: dict[str, dict[str, Any]] = {
    "racks": {"cluster.gpus": 16416, "cluster.gpu": "gb200-nvl72", "cluster.gpus_per_node": 72, "cluster.nic_ports_per_node": 72, "workload.model_parameters_billion": 2},
    "thin": {"cluster.link_gbits_per_s": 100},
    "small-serving": {"workload.kind": "inference-multi-node", "workload.model_parameters_billion": 8},
    "next-week": {"organisation.networking_maturity": "low", "organisation.qos_expertise": "none", "schedule.production_by": "2026-12-04"},
    "five-weeks": {"options": ["infiniband-ndr", "spectrum-x-400g", "rocev2-whitebox-400g"], "schedule.production_by": "2027-04-26", "overrides": [override("x", 90000) | {"id": "price:switch-qm9700"}, override("x", 140000) | {"id": "price:switch-sn5610"}]},
    "ten-trillion": {"workload.tokens_billion": 9_000_000, "workload.run_days": None},
    "stalls": {"options": ["infiniband-ndr", "rocev2-whitebox-400g"], "overrides": [override(f"shared-stall-share-{f}", 0.99) for f in ("infiniband", "spectrum-x", "rocev2")]},
    "faults": {"overrides": [override("link-failures-per-link-year", 200), override("link-flaps-per-link-year", 2000)]},
    "unwatched": {"overrides": [override("detection-hours", 200)]},
    "slow-start": {"options": ["infiniband-ndr", "rocev2-whitebox-400g"], "money.horizon_months": 1, "schedule.production_by": "2026-12-20", "overrides": [override("bring-up-productivity", 0.1), override("weeks-to-stable-rocev2", 9), override("weeks-to-stable-infiniband", 9)]},
    "large": {"cluster.gpus": 16384, "workload.model_parameters_billion": 405},
    "larger-than-any": {"cluster.gpus": 16384, "cluster.link_gbits_per_s": 200, "workload.model_parameters_billion": 10000},
    "profiled": {"workload.kind": "hpc-simulation", "workload.mpi_share": 0.6},
    "profiled-and-stalled": {"workload.kind": "hpc-simulation", "workload.mpi_share": 0.42, "overrides": [override(f"shared-stall-share-{f}", 0.25) for f in ("infiniband", "rocev2")]},
    "office": {"cluster.gpus": 64, "cluster.premises": "office", "workload.model_parameters_billion": 8},
    "trays": {"cluster.gpu": "gb200-nvl72", "cluster.gpus": 128, "cluster.gpus_per_node": 8, "workload.tokens_billion": 2000},
    "one-box": {"cluster.gpus": 72, "cluster.gpus_per_node": 72, "cluster.nic_ports_per_node": 256, "money.gpu_hour_value": 10000, "money.price_of_delay_usd_per_day": 1e10, "money.currency": "EUR", "overrides": [override("x", 1000) | {"id": "price:fx-eur-usd"}]},
    "log": {"cluster.gpu": "a100", "cluster.link_gbits_per_s": 800, "cluster.sites": 2, "measurements": [LOG]},
    "renter": {"cluster.gpu": "mi300x", "money.acquisition": "rent", "providers": []},
    "offers": {"money.acquisition": "rent", "schedule.production_by": "2027-02-19", "providers": [], "offers": [
        ASKED | {"seller": "A", "expiry": "2026-11-11", "start": "2026-11-01", "price_per_gpu_hour": 900},
        ASKED | {"seller": "B", "price_per_gpu_hour": 0.002, "ladder": [{"months": 12, "price_per_gpu_hour": 0.003}]},
        ASKED | {"seller": "C", "size": 100_000, "start": "2027-11-01"}, ASKED | {"seller": "D"}, ASKED | {"seller": "D"},
    ]},
    "tenants": {"cluster.tenancy": "multi", "organisation.qos_expertise": "none"},
}  # fmt: skip
EXPECTED = {
    "racks": {"idle-common", "run-late"},
    "thin": {"thin-links"},
    "small-serving": {"fits-one-node"},
    "next-week": {"nobody-ready"},
    "five-weeks": {"advice-not-ready"},
    "ten-trillion": {"run-beyond-horizon"},
    "stalls": {"idle-tail", "run-late"},
    "faults": {"idle-incidents", "run-late"},
    "unwatched": {"idle-common", "run-late"},
    "slow-start": {"idle-bring-up", "late-production", "nobody-ready"},
    "large": {"run-late"},
    "larger-than-any": {"half-waiting", "run-late"},
    "profiled": {"half-waiting"},
    "office": {"office-power"},
    "profiled-and-stalled": {"idle-exposed", "run-late"},
    "trays": {"part-of-a-rack", "run-and-tokens"},
    "one-box": {"large-node", "dear-hour", "dear-delay", "moved-rate"},
    "log": {"worse-fit"},
    "renter": {"no-provider"},
    "offers": {
        f"offer-{what}" for what in ("expired", "from-before", "dear", "cheap", "ladder", "larger", "late", "twice")
    },
    "tenants": {"untuned-tenants"},
}

WITHOUT_FIGURE = {"no-provider", "untuned-tenants", "offer-expired", "offer-from-before", "offer-late", "offer-twice"}
"""Cautions of choices, which have no figure to quote."""


def planned(changes: dict[str, Any]) -> Case:
    """The example client between two options and without a date, with some keys changed."""
    data = yaml.safe_load((bench.PARAMS / "example.yaml").read_text())
    data |= {"as_of": str(data["as_of"]), "options": ["infiniband-ndr", "rocev2-whitebox-400g"], "schedule": {}}
    for key, value in changes.items():
        *sections, last = key.split(".")
        at = data[sections[0]] if sections else data
        at[last] = value
    whole, folder = bench.case("example").inputs, bench.ROOT / "tests/data/logs"
    library = EvidenceBook(whole.shipped.values())
    return Case(Inputs(params_from(data), folder, library, whole.price_book, whole.all_options, draws=bench.DRAWS))


@pytest.mark.laws(7)
@pytest.mark.parametrize("name", PLANS)
def test_a_doubtful_plan_is_doubted_once_for_each_thing_that_is_wrong_with_it(name: str) -> None:
    found = cautions(planned(PLANS[name]))
    assert {c.id for c in found} == EXPECTED[name]
    named: dict[str, Number | str] = {}
    for caution in found:
        told, fields = caution.sentence, {field for _, field, _, _ in Formatter().parse(caution.text) if field}
        assert fields == set(caution.values)
        assert any(isinstance(v, Number) for v in caution.values.values()) or caution.id in WITHOUT_FIGURE
        assert "{" not in told
        assert all(named.setdefault(key, value) == value for key, value in caution.values.items()), (
            "one name, one thing"
        )


SANE: dict[str, dict[str, Any]] = {
    "faster-links": {"cluster.link_gbits_per_s": 800},
    "tokens": {"workload.tokens_billion": 2000},
    "trays": {"cluster.gpu": "gb200-nvl72", "cluster.gpus": 128, "cluster.gpus_per_node": 4, "cluster.nic_ports_per_node": 4},
    "dear-but-meant": {"money.gpu_hour_value": 12, "money.price_of_delay_usd_per_day": 500_000, "money.currency": "EUR", "overrides": [override("x", 1.3) | {"id": "price:fx-eur-usd"}]},
    "small": {"cluster.gpus": 16, "workload.model_parameters_billion": 8, "cluster.sites": 2, "cluster.subnets": 2},
    "provider tunes": {"money.acquisition": "rent", "cluster.tenancy": "multi", "organisation.qos_expertise": "none"},
    "offers name providers": {"money.acquisition": "rent", "providers": [], "offers": [
        ASKED | {"seller": seller, "network": "included"} for seller in ("A", "B")
    ]},
    "thin within one node": {"cluster.gpus": 8, "cluster.link_gbits_per_s": 100, "workload.model_parameters_billion": 8},
    "year": {"money.horizon_months": 12, "schedule.production_by": "2027-05-20"},
}  # fmt: skip


@rows("name", SANE)
def test_what_may_well_be_meant_is_not_doubted(name: str) -> None:
    assert cautions(planned(SANE[name])) == ()


@rows("name", EXAMPLES)
def test_an_ordinary_plan_is_left_in_peace(name: str) -> None:
    assert cautions(bench.changed(name, schedule={})) == ()


def test_every_caution_in_the_data_is_reached_by_some_plan_and_names_real_keys() -> None:
    assert set().union(*EXPECTED.values()) == set(KNOWN)
    params = bench.case("example").params
    for entry in KNOWN.values():
        assert [value_at(params, key) for key in entry["keys"]]
        assert not any(character.isdigit() for character in entry["text"] + entry["look"])


def test_every_gpu_has_a_usual_fabric_to_hold_links_against() -> None:
    book = bench.case("example").inputs.evidence
    for gpu in get_args(Gpu):
        assert book[gpu_types().of(gpu).links.total.removeprefix("evidence:")].unit == "gbits/s"


def test_a_memo_dated_far_from_the_clock_or_a_price_dated_ahead_is_told_and_not_followed() -> None:
    case = bench.case("example")
    newest = case.inputs.price_book.newest
    assert newest is not None
    limit = timedelta(days=int(case.inputs.central("evidence:plausible-clock-days")))
    near = max(case.as_of, newest)
    dates = dates_of(case)
    assert dates.notes(near) == ()
    (late,) = dates.notes(case.as_of + limit + timedelta(days=1))
    assert f"{limit.days + 1} days before today" in late
    early, ahead = dates.notes(newest - timedelta(days=365))
    furthest = max(row.date for row in case.inputs.price_book.rows)
    assert "after today" in early and furthest.isoformat() in ahead
    (future,) = replace(dates, as_of=date(near.year + 2, 1, 1)).notes(near)
    assert f"dated {near.year + 2}-01-01" in future
