"""The headline figures of the four example clients, kept beside the tests: a change must be meant.

To accept a change on purpose: python tests/golden/test_headlines.py
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabricreport.case import Case, open_case

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("headlines.json")
CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")
FIGURES = (
    "decision.difference",
    "decision.probability",
    "decision.framework_total",
    "decision.evpi",
    "latency.penalty",
    "tco.gpu_hours",
    "tail_risk.deadline",
    "diligence.lead",
    "evidence.claims",
)


def headlines(case: Case) -> dict[str, str]:
    verdict = case.decision().verdict
    words = {"choice": verdict.choice, "confidence": verdict.confidence, "decided_by": verdict.decided_by}
    return {**words, **{figure: case.figure(figure).text for figure in FIGURES}}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_headlines_are_those_last_accepted(client: str) -> None:
    assert headlines(open_case(ROOT / "params" / f"{client}.yaml")) == json.loads(GOLDEN.read_text())[client]


if __name__ == "__main__":
    found = {client: headlines(open_case(ROOT / "params" / f"{client}.yaml")) for client in CLIENTS}
    GOLDEN.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
