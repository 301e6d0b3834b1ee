"""The shipped clients, and clients that reach the other courses, state one comparison on every page of their memo."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from one_process import Whole, whole

from fabricreport.blocks import MIME
from fabricreport.case import STATES_THE_LEAD
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.gather import gather
from fabricreport.sections.stance import Stance

PARAMS = Path(__file__).parents[2] / "params"
DRAWS = 256
SHIPPED = ("example", "kestrel-lab", "tern-finetuning", "halden-cloud")


@cache
def memo_of(client: str) -> Whole:
    return whole(PARAMS / f"{client}.yaml", draws=DRAWS, draw_charts=False)


def numbers(done: Whole) -> dict[str, Any]:
    return {entry["id"]: entry for entry in done.ledger["numbers"]}


@pytest.mark.parametrize("client", SHIPPED)
def test_every_section_of_a_shipped_memo_states_the_same_lead(client: str) -> None:
    done = memo_of(client)
    assert done.faults == []
    stated = [numbers(done)[i]["value"] for i in STATES_THE_LEAD]
    assert stated == [stated[0]] * len(STATES_THE_LEAD)
    assert done.headline["choice"] == done.case.comparison.choice


def bundles(memo: Any, section: str) -> list[dict[str, Any]]:
    shown = [o["data"].get(MIME) for c in memo.cells for o in c.get("outputs", [])]
    return [b for b in shown if b and b["section"] == section]


def other_option(bundle: dict[str, Any]) -> None:
    bundle["compared"] = {**bundle["compared"], "choice": "infiniband-xdr"}


def other_amount(bundle: dict[str, Any]) -> None:
    for entry in bundle["ledger"]:
        if entry["id"] in STATES_THE_LEAD:
            entry.update(value=1.0, text="$1")


@pytest.mark.parametrize("tamper", [other_option, other_amount])
@pytest.mark.parametrize("section", ["tco", "diligence"])
def test_a_memo_of_which_one_section_was_changed_is_rejected(
    section: str, tamper: Callable[[dict[str, Any]], None]
) -> None:
    memo = copy.deepcopy(memo_of("example").memo)
    assert check_memo(gather(memo)) == []
    for bundle in bundles(memo, section):
        tamper(bundle)
    told = check_memo(gather(memo))
    assert told and all(f"{section}.ipynb" in fault for fault in told)
    assert any("buy_once.ipynb" in fault for fault in told)


def changed(folder: Path, client: str, change: Callable[[dict[str, Any]], None]) -> Whole:
    """The memo of a shipped client with other params, on the shipped books."""
    data = yaml.safe_load((PARAMS / f"{client}.yaml").read_text(encoding="utf-8"))
    change(data)
    for book in ("prices", "providers"):
        shutil.copytree(PARAMS / book, folder / book)
    (folder / "changed.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return whole(folder / "changed.yaml", draws=DRAWS, draw_charts=False)


def open_course(data: dict[str, Any]) -> None:
    data["money"]["materiality_usd"] = 2_000_000
    del data["weights"], data["organisation"]["time_to_production_weeks"]


def date_decides(data: dict[str, Any]) -> None:
    data["money"]["materiality_usd"] = 60_000_000
    data["organisation"] |= {"existing_infiniband": "large", "existing_ethernet": "none", "qos_expertise": "none"}
    data["organisation"]["time_to_production_weeks"] = 3
    data["cluster"] |= {"gpu": "h200", "link_gbits_per_s": 400}
    data["options"] = ["infiniband-ndr", "rocev2-branded-400g", "rocev2-whitebox-400g"]
    del data["weights"]


def rented(data: dict[str, Any]) -> None:
    data["money"] |= {"acquisition": "rent", "gpu_hour_value": "market"}


def in_euros(data: dict[str, Any]) -> None:
    data["money"]["currency"] = "EUR"


@pytest.mark.parametrize(
    ("client", "change", "stance"),
    [
        ("example", open_course, Stance.OPEN),
        ("example", rented, Stance.OPEN),
        ("kestrel-lab", date_decides, Stance.MORE),
        ("kestrel-lab", in_euros, Stance.LESS),
    ],
)
def test_every_course_builds_and_states_one_comparison(
    tmp_path: Path, client: str, change: Callable[[dict[str, Any]], None], stance: Stance
) -> None:
    done = changed(tmp_path, client, change)
    assert done.faults == []
    assert done.case.tco().stance == done.case.diligence().stance == stance
    stated = {numbers(done)[i]["text"] for i in STATES_THE_LEAD}
    assert len(stated) == 1


def test_an_open_course_marks_no_option_as_the_winner(tmp_path: Path) -> None:
    done = changed(tmp_path, "example", open_course)
    compared = [
        node for b in bundles(done.memo, "tco") for node in b["nodes"] if node.get("id") == "tab-tco-options"
    ]  # fmt: skip
    assert compared and all(row["role"] != "winner" for node in compared for row in node["rows"])


@pytest.mark.parametrize("client", SHIPPED)
def test_the_risk_section_sets_the_compared_two_side_by_side(client: str) -> None:
    case = memo_of(client).case
    assert set(case.tail().pair or ()) == {case.comparison.choice, case.comparison.rival}


@pytest.mark.parametrize("client", SHIPPED)
def test_a_lost_hour_has_one_value_in_the_bill_and_in_the_risk_section(client: str) -> None:
    case = memo_of(client).case
    worth = case.chain.bills.common.gpu_hour_value
    assert all(subject.run.gpu_hour_usd is worth for subject in case.tail().subjects.values())
    own = [n["id"] for n in memo_of(client).ledger["numbers"] if n["unit"] == "usd/gpu-hour"]
    assert "tco.gpu_hour_value" in own and not [i for i in own if i.startswith("tail_risk.")]
