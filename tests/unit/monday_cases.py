"""Clients of whom it is known what they have to do before signing, each analysed once: what the tests of Monday share."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import fabricreport.inputs as inputs_module
from fabricreport.case import Case, open_case
from fabricreport.sections.decision.monday.conditions import Facts
from fabricreport.sections.decision.monday.kinds import Kind
from fabricreport.sections.decision.monday.study import Monday, monday_of

ROOT = Path(__file__).parents[2]
CLIENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "example": ("example", {}),
    "renter": ("tern-finetuning", {}),
    "grower": ("kestrel-lab", {}),
    "landlord": ("halden-cloud", {}),
    "one node": ("example", {"cluster__gpus": 8}),
    "nobody tunes": ("kestrel-lab", {"organisation__qos_expertise": "none"}),
    "too late": ("example", {"organisation__time_to_production_weeks": 1}),
    "a choice not on sale": (
        "example",
        {"options": ("infiniband-xdr", "ethernet-sprayed-800g", "rocev2-branded-400g")},
    ),
    "small": ("example", {"cluster__gpus": 128}),
    "unlike generations": ("example", {"cluster__link_gbits_per_s": 800, "cluster__gpu": "b300"}),
    "out of date": ("halden-cloud", {"as_of": "2027-05-28"}),
    "pressed": (
        "example",
        {"organisation__time_to_production_weeks": 1, "money__price_of_delay_usd_per_day": 1_000_000},
    ),
    "large": ("example", {"cluster__gpus": 4096, "organisation__qos_expertise": "none"}),
}


@cache
def client(name: str = "example", **changes: Any) -> Case:
    with mock.patch.object(inputs_module, "DRAWS", 256):
        case = open_case(ROOT / f"params/{name}.yaml")
        case = case.changed(**changes) if changes else case
        case.decision(), case.diligence()
    return case


def listed(case: Case, **result: Any) -> Monday:
    return monday_of(case.inputs, replace(case.decision(), **result), case.diligence(), case.tail())


def kinds(monday: Monday) -> set[Kind]:
    return {one.action.kind for one in monday.todos}


def facts(case: Case, **result: Any) -> Facts:
    return Facts(case.inputs, replace(case.decision(), **result), case.diligence(), case.tail())


@cache
def of(name: str) -> Case:
    base, changes = CLIENTS[name]
    if name != "a choice not on sale":
        return client(base, **changes)
    free = {"nic-connectx8-2x400g": 1, "switch-sn5610": 100, "optic-800g-2xsr4": 1}
    with mock.patch.object(inputs_module, "DRAWS", 256):
        return open_case(ROOT / f"params/{base}.yaml").changed(prices=free, **changes)
