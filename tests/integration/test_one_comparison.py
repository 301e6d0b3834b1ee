"""The shipped clients, and clients that reach the other courses, state one comparison on every page of their memo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bench
import pytest
from read_memo import blocks_of, stitched

from fabricreport.case import STATES_THE_LEAD
from fabricreport.memo.build import BuildResult
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.pieces import gather
from fabricreport.sections.stance import Stance

pytestmark = pytest.mark.slow
SHIPPED = ("example", "kestrel-lab", "tern-finetuning", "halden-cloud")


@pytest.mark.parametrize("client", SHIPPED)
def test_every_section_of_a_shipped_memo_states_the_same_lead(memos: dict[str, BuildResult], client: str) -> None:
    memo = gather(stitched(memos[client].folder))
    assert check_memo(memo) == []
    leads = {memo.ledger[i]["value"] for i in STATES_THE_LEAD if i in memo.ledger}
    assert len(leads) == (client != "tern-finetuning"), "whose sellers all name one network weighs none"
    assert memos[client].headline["choice"] == bench.comparison(client).choice


def bundles(memo: Any, section: str) -> list[dict[str, Any]]:
    return [block for block in blocks_of(memo) if block["section"] == section]


def other_option(bundle: dict[str, Any]) -> None:
    bundle["compared"] = {**bundle["compared"], "choice": "infiniband-xdr"}


def other_amount(bundle: dict[str, Any]) -> None:
    for entry in bundle["ledger"]:
        if entry["id"] in STATES_THE_LEAD:
            entry.update(value=1.0, text="$1")


@pytest.mark.parametrize(
    ("section", "tamper"), [("tco", other_option), ("diligence", other_option), ("decision", other_amount)]
)
def test_a_memo_of_which_one_section_was_changed_is_rejected(
    memos: dict[str, BuildResult], section: str, tamper: Callable[[dict[str, Any]], None]
) -> None:
    memo = stitched(memos["example"].folder)
    for bundle in bundles(memo, section):
        tamper(bundle)
    told = check_memo(gather(memo))
    assert told and all(f"{section}.ipynb" in fault for fault in told)
    assert any("buy_once.ipynb" in fault for fault in told)


OPEN: dict[str, Any] = {
    "money__materiality_usd": 2_000_000,
    "weights": {},
    "schedule__production_by": "2028-11-24",
}
DATE_DECIDES: dict[str, Any] = {
    "money__materiality_usd": 60_000_000,
    "organisation__existing_infiniband": "large",
    "organisation__existing_ethernet": "none",
    "organisation__qos_expertise": "none",
    "schedule__production_by": "2027-04-17",
    "cluster__gpu": "h200",
    "cluster__link_gbits_per_s": 400,
    "options": ["infiniband-ndr", "rocev2-branded-400g", "rocev2-whitebox-400g"],
    "weights": {},
}


@pytest.mark.parametrize(
    ("client", "changes", "stance"),
    [
        ("example", OPEN, Stance.OPEN),
        ("example", {"money__acquisition": "rent", "money__gpu_hour_value": "market"}, Stance.OPEN),
        ("kestrel-lab", DATE_DECIDES, Stance.MORE),
        ("kestrel-lab", {"money__currency": "EUR"}, Stance.LESS),
    ],
)
def test_every_course_states_one_comparison(client: str, changes: dict[str, Any], stance: Stance) -> None:
    case = bench.changed(client, **changes)
    assert case.tco().stance == stance
    assert len({case.figure(i).text for i in STATES_THE_LEAD}) == 1


@pytest.mark.parametrize("client", SHIPPED)
def test_the_risk_section_sets_the_compared_two_side_by_side(client: str) -> None:
    case = bench.case(client)
    assert set(case.tail().pair or ()) == {case.comparison.choice, case.comparison.rival}


@pytest.mark.parametrize("client", SHIPPED)
def test_a_lost_hour_has_one_value_in_the_bill_and_in_the_risk_section(
    memos: dict[str, BuildResult], client: str
) -> None:
    case, ledger = bench.case(client), gather(stitched(memos[client].folder)).ledger
    worth = case.chain.bills.common.gpu_hour_value
    assert all(subject.run.gpu_hour_usd is worth for subject in case.tail().subjects.values())
    own = [i for i, number in ledger.items() if number["unit"] == "usd/gpu-hour"]
    assert not [i for i in own if i.startswith("tail_risk.")]
