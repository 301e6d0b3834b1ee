"""Clients whose courses of action are known, each analysed once: what the tests of courses share."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fabricreport.case import Case, open_case
from fabricreport.sections.decision.courses.result import CoursesResult

ROOT = Path(__file__).parents[2]
CLIENTS = ("example", "halden-cloud", "kestrel-lab", "tern-finetuning")


@cache
def client(name: str) -> Case:
    return open_case(ROOT / f"params/{name}.yaml")


@cache
def found(name: str) -> CoursesResult:
    return client(name).decision().courses
