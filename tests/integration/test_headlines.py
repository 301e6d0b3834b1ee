"""The headline figures of the four example memos, kept beside the tests: a change must be meant.

To accept a change on purpose: PYTHONPATH=.:tests python tests/integration/test_headlines.py
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fabricreport import open_case, what_if
from fabricreport.memo.build import BuildResult, build

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "headlines.json"
CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")


def told(edition: BuildResult) -> dict[str, str]:
    """All that is held of a client: its advice in words, what it is and rests on, and figures."""
    head = edition.headline
    ledger = {n["id"]: n for n in json.loads((edition.folder / "ledger.json").read_text(encoding="utf-8"))["numbers"]}
    words = {"advice": head["recommendation"], **{key: head[key] for key in ("choice", "confidence", "decided_by")}}
    figures = {number["id"]: number["text"] for number in head["numbers"]}
    return {**words, **figures, "tail_risk.deadline": ledger["tail_risk.deadline"]["text"]}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_headlines_are_those_last_accepted(memos: dict[str, BuildResult], client: str) -> None:
    assert told(memos[client]) == json.loads(GOLDEN.read_text(encoding="utf-8"))[client]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_first_line_of_a_what_if_is_the_memo_to_the_digit(memos: dict[str, BuildResult], client: str) -> None:
    ledger = {n["id"]: n for n in json.loads((memos[client].folder / "ledger.json").read_text("utf-8"))["numbers"]}
    row = what_if(open_case(ROOT / "params" / f"{client}.yaml"), {"seed": [7]}).rows[0]
    figures = [row.compared.cost, row.compared.rival_cost, row.compared.lead, row.first_order]
    found = [(entry["value"], entry["spread"]) for number in figures if number for entry in [number.as_dict()]]
    headline = [str(number["id"]) for number in memos[client].headline["numbers"]]
    equal = [i for i in headline if (ledger[i]["value"], ledger[i]["spread"]) in found]
    told = ("decision.difference", "decision.total.", "decision.offers.total.", "tco.stage.price.0.")
    assert equal == [i for i in headline if i.startswith(told)] != []


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        built = {name: build(ROOT / "params" / f"{name}.yaml", output=Path(folder)) for name in CLIENTS}
        found = {name: told(edition) for name, edition in built.items()}
    GOLDEN.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
