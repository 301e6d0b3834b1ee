"""What is said and drawn of an option is its own family's: sides, questions, inputs by fabric, what is known of each."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import bench
import pytest
from rows import rows

from fabricreport.base.vocabulary import NEITHER, Side
from fabricreport.books.names import side_names
from fabricreport.books.options import Option, read_options
from fabricreport.books.sellers import read_providers
from fabricreport.case import Case
from fabricreport.sections.decision.reversals import _entry
from fabricreport.sections.diligence.study import asked

SPRAYED, SPECTRUM, ROCE, NDR = "ethernet-sprayed-800g", "spectrum-x-800g", "rocev2-branded-800g", "infiniband-ndr"


def of(*ids: str) -> list[Option]:
    return [read_options()[o] for o in ids]


@rows(
    ("compared", "name"),
    [
        ((NDR, ROCE), "RoCEv2"),
        ((NDR, SPECTRUM, ROCE), "RoCEv2"),
        ((NDR, SPECTRUM), "Spectrum-X"),
        ((NDR, SPECTRUM, SPRAYED), "Spectrum-X and sprayed Ethernet"),
        ((NDR,), "RoCEv2"),
    ],
)
def test_a_side_has_the_name_of_its_own_family_or_of_those_compared(compared: tuple[str, ...], name: str) -> None:
    assert side_names(of(*compared), Side.ROCEV2).phrase == name
    assert side_names(of(*compared), Side.INFINIBAND).phrase == "InfiniBand"
    assert side_names(of(*compared), NEITHER).phrase == "neither side"


def test_who_sets_pfc_and_ecn_is_asked_only_where_a_fabric_takes_that_skill() -> None:
    def put(*ids: str) -> set[str]:
        cluster = SimpleNamespace(gpus=512, gpus_per_node=8, tenancy="single", trajectory=())
        params = SimpleNamespace(cluster=cluster, money=SimpleNamespace(horizon_months=36))
        given: Any = SimpleNamespace(params=params, options=of(*ids), team=SimpleNamespace(rented=False))
        return {q.id for q in asked(given, read_providers(), joins_nodes=True)}

    assert put(NDR, ROCE) - put(NDR, SPRAYED) == {"Q-OPS-02", "Q-NET-16"}
    assert put(NDR, SPECTRUM) == put(NDR, SPRAYED)  # its one maker ships the settings
    assert put(NDR, SPECTRUM, ROCE) == put(NDR, ROCE)


@pytest.fixture(scope="module")
def case() -> Case:
    return bench.case("halden-cloud")


@pytest.mark.slow
def test_an_input_by_fabric_is_the_options_own_and_none_where_it_has_none(case: Case) -> None:
    ours, theirs = of(NDR, ROCE)
    assert _entry(case.inputs, "{training}", ours) != _entry(case.inputs, "{training}", theirs)
    assert _entry(case.inputs, "{manager}-faults-per-year", ours) == "evidence:subnet-manager-faults-per-year"
    assert _entry(case.inputs, "{manager}-faults-per-year", theirs) == ""
    untuned = replace(theirs, roles={**theirs.roles, "tuning": ""}, licence=None)
    assert (_entry(case.inputs, "{tuning}-{maturity}", untuned), _entry(case.inputs, "{licence}", untuned)) == ("", "")
