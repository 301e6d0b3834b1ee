"""What the notebook of a delivery opens: a case that speaks of its acceptance as the others speak of their sections.

case = open_delivery(params)           # judged on what lies in `as-delivered/` beside the params
body, finding = open_section("acceptance", case)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricreport.acceptance.result import Acceptance
from fabricreport.acceptance.speech import spoken
from fabricreport.acceptance.study import accept, handed_beside, plan_of, read_logs
from fabricreport.case import open_case
from fabricreport.findings import Spoken
from fabricreport.ledger import Number

SECTION = "acceptance"


class Delivery:
    """A case and the delivery judged, for the blocks of a notebook."""

    compared: Mapping[str, Any] = {}
    """Nothing: the memo of a delivery states two leads, before and after."""

    def __init__(self, found: Acceptance) -> None:
        self.found = found

    @cached_property
    def names(self) -> Sequence[str]:
        """Names that may hold digits: the case's own, and those of the files handed over."""
        tests = (one.test for one in self.found.judged)
        return (*self.found.case.names, *self.found.logs.names, *dict.fromkeys(test.title for test in tests))

    def figure(self, figure_id: str) -> Number:
        """A figure of the case."""
        return self.found.case.figure(figure_id)

    def record(self, input_id: str) -> dict[str, Any]:
        """The record of an input of the case."""
        return self.found.case.record(input_id)

    def spoken(self, section: str) -> Spoken:
        """Findings and words of the delivery."""
        if section != SECTION:
            raise KeyError(f"a delivery speaks of {SECTION}, not of {section}")
        return spoken(self.found)


def open_delivery(params: str | Path) -> Delivery:
    """The delivery of the client of a params file, judged on the files in `as-delivered/` beside it (`as-delivered-<option>/`
    for one of two options that are as good); none is a delivery of which nothing was shown. `InputError` lists every fault of
    params and files.
    """
    path = Path(params)
    case = open_case(path)
    option, files = handed_beside(path)
    plan = plan_of(case, option)
    return Delivery(accept(case, plan, read_logs(case, plan, files)))
