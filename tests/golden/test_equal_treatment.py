"""Whom the example's figures favour, and on whose word: the same network under either name costs the same.

The figures are those of 24 November 2026, frozen beside this client's params: a price that moves later moves nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import Uncertain
from fabricreport.base.yaml_files import load_strict
from fabricreport.case import Case, open_case

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
FROZEN = ROOT / "tests/data/november24"
FIGURES: Mapping[str, Mapping[str, Any]] = load_strict(FROZEN / "figures.yaml").data
IB, TWIN, ROCE = "infiniband-ndr", "twin", "rocev2-branded-400g"
TWIN_OPTION = """
- {id: twin, name: The same pieces under another name, like: infiniband-ndr, family: rocev2, fabric: rocev2-400g}
"""
PRIORS = tuple(
    tuple(template.format(family) for family in ("infiniband", "rocev2"))
    for template in (
        *("weeks-to-stable-{}", "shared-stall-share-{}", "fat-tree-contention-{}"),
        *("config-faults-{}-per-year", "fabric-tuning-{}-medium", "fabric-fte-factor-{}-medium"),
    )
)
"""Inputs that are stated of each of the two fabrics by a figure of its own."""
ALIKE: Mapping[str, Any] = {"subnet-manager-faults-per-year": 0.0, "fabric-complexity-exponent": 0.0}
"""What one of the two alone has, set to none, and what more switches cost to start and keep."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The client with no estate of either kind, who may buy InfiniBand or the very same pieces under RoCEv2's name."""
    folder = tmp_path_factory.mktemp("northmere")
    data = yaml.safe_load((FROZEN / "northmere.yaml").read_text(encoding="utf-8"))
    data["organisation"] |= {"existing_ethernet": "none", "existing_infiniband": "none"}
    data["options"] = [IB, TWIN, ROCE]
    (folder / "client.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    (folder / "prices").symlink_to(ROOT / "params/prices", target_is_directory=True)
    (folder / "options").mkdir()
    (folder / "options/own.yaml").write_text(TWIN_OPTION, encoding="utf-8")
    return open_case(folder / "client.yaml")


def with_priors(client: Case, infiniband: Mapping[str, float], rocev2: Mapping[str, float], **more: Any) -> Case:
    """The client on the frozen figures, with a value of each prior for either fabric and nothing else to tell them apart."""
    own = {pair[0]: infiniband[pair[0]] for pair in PRIORS} | {pair[1]: rocev2[pair[0]] for pair in PRIORS}
    return client.changed(
        prices=FIGURES["price"],
        contested={"roce-extra-latency-per-step": 0.0, "roce-bandwidth-share": 1.0},
        evidence={**FIGURES["evidence"], **ALIKE, **own, **more},
    )


def modes(which: int) -> dict[str, float]:
    """The likeliest value of each prior, as InfiniBand (0) or RoCEv2 (1) has it, under InfiniBand's id."""
    return {pair[0]: Uncertain.of(FIGURES["evidence"][pair[which]]).mode for pair in PRIORS}


def gap(case: Case, other: str) -> np.ndarray:
    return np.asarray(plain(case.chain.bills.gap(other, IB)))


ONE_MODEL = {f"operating-model-branded-{part}": 1.0 for part in ("bring-up", "faults", "staff", "tuning")}


def test_equal_priors_on_the_same_pieces_leave_no_difference_in_any_draw(client: Case) -> None:
    assert np.allclose(gap(with_priors(client, modes(0), modes(0), **ONE_MODEL), TWIN), 0.0, atol=1e-3)


def test_priors_exchanged_on_the_same_pieces_mirror_the_difference_in_every_draw(client: Case) -> None:
    one, other = gap(with_priors(client, modes(0), modes(1)), TWIN), gap(with_priors(client, modes(1), modes(0)), TWIN)
    assert np.any(np.abs(one) > 1e3) and np.allclose(one, -other, rtol=1e-6, atol=1e-2)


def test_with_equal_priors_and_one_operating_model_only_what_is_bought_and_run_differs(client: Case) -> None:
    case = with_priors(client, modes(0), modes(0), **ONE_MODEL)
    causes = {c: float(np.abs(plain(d)).max()) for c, d in case.chain.bills.gap_by_cause(ROCE, IB).items()}
    assert causes["switches"] > 1e4
    time = {c: causes[c] for c in ("lost_bring_up", "lost_communication", "lost_tail")}
    assert max(time.values()) < 100.0, "faults of more switches or fewer share out the same lost hours anew"
