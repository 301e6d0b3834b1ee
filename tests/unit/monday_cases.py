"""Clients of whom it is known what they have to do before signing: what the tests of Monday share."""

from __future__ import annotations

from typing import Any

import bench

from fabricreport.case import Case
from fabricreport.sections.decision.actions import Facts, Kind
from fabricreport.sections.decision.steps import Monday, monday_of

CLIENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "example": ("example", {}),
    "renter": ("tern-finetuning", {}),
    "grower": ("kestrel-lab", {}),
    "landlord": ("open cloud", {}),
    "one node": ("one node", {}),
    "too late": ("two options", {"schedule__production_by": "2027-01-08"}),
    "pressed": (
        "two options",
        {"schedule__production_by": "2027-01-08", "money__price_of_delay_usd_per_day": 1_000_000},
    ),
    "nobody tunes": (
        "example",
        {"options": ["rocev2-branded-400g", "rocev2-whitebox-400g"], "organisation__qos_expertise": "none"},
    ),
    "unlike generations": ("example", {"cluster__link_gbits_per_s": 800, "cluster__gpu": "b300"}),
    "out of date": ("two options", {"as_of": "2027-05-28", "schedule": {}}),
}


def of(name: str) -> Case:
    client, changes = CLIENTS[name]
    return bench.changed(client, **changes)


def listed(case: Case, **result: Any) -> Monday:
    return monday_of(case.inputs, bench.altered(case.decision(), **result), case.diligence(), case.tail())


def kinds(monday: Monday) -> set[Kind]:
    return {one.action.kind for one in monday.todos}


def facts(case: Case, **result: Any) -> Facts:
    return Facts(case.inputs, bench.altered(case.decision(), **result), case.diligence(), case.tail())
