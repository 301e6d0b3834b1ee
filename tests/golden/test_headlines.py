"""The headline figures of the four example clients, kept beside the tests: a change must be meant.

To accept a change on purpose: python tests/golden/test_headlines.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fabricreport.blocks.nodes import Glance
from fabricreport.case import Case, open_case
from fabricreport.memo.document.stitch import advice_of

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


def advice(path: Path) -> str:
    """The advice in the words that page one opens with, as the command line reports it: the cells that say it, run here."""
    from notebook_cells import run, sources

    space: dict[str, Any] = {}
    for source, tags in sources(open_case(path).params.asked.spine):
        if "parameters" in tags:
            source = f"params = {str(path)!r}"
        if not source.startswith("%%") or source.startswith("%%say glance"):
            run(source, space)
    glances = (node for block in space["body"].emitted for node in block.nodes if isinstance(node, Glance))
    return next(filter(None, map(advice_of, glances)))


def headlines(case: Case) -> dict[str, str]:
    verdict = case.decision().verdict
    words = {"choice": verdict.choice, "confidence": verdict.confidence, "decided_by": verdict.decided_by}
    return {**words, **{figure: case.figure(figure).text for figure in FIGURES}}


def told(path: Path) -> dict[str, str]:
    """All that is held of a client."""
    return {"advice": advice(path), **headlines(open_case(path))}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_headlines_are_those_last_accepted(client: str) -> None:
    assert told(ROOT / "params" / f"{client}.yaml") == json.loads(GOLDEN.read_text())[client]


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))
    found = {client: told(ROOT / "params" / f"{client}.yaml") for client in CLIENTS}
    GOLDEN.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
