"""What a seller answers on the price of its network takes the place of what was published."""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest import mock

import pytest

import fabricreport.inputs as inputs_module
from fabricreport.case import open_case

pytestmark = pytest.mark.slow

PARAMS = Path(__file__).parents[2] / "params"
ANSWER = """provider: Nebius
date: 2026-11-10
answered_by: A. Seller
fabric: infiniband-ndr
answers:
  - {question: Q-COM-02, answer: An add-on, value: 0.5, unit: usd/gpu-hour, evidence: contract, document: offer.pdf}
"""


def test_an_add_on_in_a_contract_is_paid_though_the_published_price_holds_the_network(tmp_path: Path) -> None:
    folder = shutil.copytree(PARAMS, tmp_path / "params")
    file = folder / "tern-finetuning.yaml"
    file.write_text(file.read_text().replace("{name: Nebius}", "{name: Nebius, answers: providers/nebius.yaml}"))
    (folder / "providers/nebius.yaml").write_text(ANSWER)
    with mock.patch.object(inputs_module, "DRAWS", 128):
        asked = open_case(file)
        before, after = (
            c.figure("decision.offers.total.nebius").value for c in (asked.without_answers(), asked) if c.decision()
        )
    hours = 16 * 8766
    assert 0.9 < (after - before) / (0.5 * hours) < 1.1
