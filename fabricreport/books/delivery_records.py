"""What no benchmark prints, seen at delivery: a YAML file that whoever ran the acceptance test writes, read strictly.

    tests:
      - test: T-WEEKS                       # id of a test of the plan
        gpus: 1024                          # GPUs it was run on
        value: 7                            # what was seen, a number
        unit: week                          # the plan's own unit
        evidence: Ticket 4711, closed ...   # what it was seen by

A test may stand in it several times: each entry is one run. Every fault of a file is reported at once, with file, line,
key and remedy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricreport.bounds import bound_of
from fabricreport.decimals import number_remedy
from fabricreport.errors import InputError, Problem
from fabricreport.located import KeyPath, Located, did_you_mean
from fabricreport.strict_yaml import clean_text, load_strict

SUFFIXES = (".yaml", ".yml")
"""How the name of such a file ends; every other file is a log."""
KEYS = ("test", "gpus", "value", "unit", "evidence")
_LONGEST = 500
_BEGIN = "Begin with `tests:` and a list under it."


@dataclass(frozen=True)
class Seen:
    """One test as somebody saw it: `value` in `unit` on `gpus` GPUs; `evidence`: what it was seen by."""

    test: str
    gpus: int
    value: float
    unit: str
    evidence: str
    line: int


def read_records(path: Path, units: Mapping[str, str]) -> tuple[Seen, ...]:
    """The records of one file. `units`: by test id, the unit of every test of the plan that is recorded by hand.

    Raises `InputError` with every fault: unknown or missing keys, a test that the plan does not record, another unit, a
    value that its unit cannot have, text that a page could show otherwise than typed.
    """
    reader = _Reader(load_strict(path), units, [])
    found = reader.all()
    if reader.problems:
        raise InputError(reader.problems)
    return tuple(found)


@dataclass
class _Reader:
    """Checks one file; faults go to `problems`."""

    located: Located
    units: Mapping[str, str]
    problems: list[Problem]

    def all(self) -> list[Seen]:
        data = self.located.data
        if not isinstance(data, dict):
            self._fault((), "must be a mapping", remedy=_BEGIN)
            return []
        self._keys((), data, ("tests",))
        rows = data.get("tests")
        if not isinstance(rows, list) or not rows:
            self._fault(("tests",) if "tests" in data else (), "must be a list of records", remedy=_BEGIN)
            return []
        found = [self._one(("tests", i), row) for i, row in enumerate(rows)]
        return [seen for seen in found if seen is not None]

    def _one(self, at: KeyPath, row: Any) -> Seen | None:
        if not isinstance(row, dict):
            self._fault(at, "a record must be a mapping", row, "Write {test: ..., gpus: ..., value: ...}.")
            return None
        before = len(self.problems)
        self._keys(at, row, KEYS)
        test, unit = self._test((*at, "test"), row.get("test")), row.get("unit")
        if test and unit is not None and unit != self.units[test]:
            self._fault((*at, "unit"), f"{test} is recorded in {self.units[test]}", unit, "Convert the value.")
        gpus = self._number((*at, "gpus"), row.get("gpus"), "gpus")
        value = self._number((*at, "value"), row.get("value"), self.units.get(test, ""))
        if gpus is not None and gpus != int(gpus):
            self._fault((*at, "gpus"), "must be a whole number", row["gpus"], "Count the GPUs that it was seen on.")
        evidence = self._text((*at, "evidence"), row.get("evidence"))
        if len(self.problems) > before or gpus is None or value is None:
            return None
        return Seen(test, int(gpus), value, self.units[test], evidence, self.located.line_of(at))

    def _test(self, at: KeyPath, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, str) and value in self.units:
            return value
        known = ", ".join(self.units) or "none: the plan records nothing by hand"
        self._fault(
            at, "is no test that is recorded by hand", value, f"Known: {known}.", did_you_mean(value, self.units)
        )
        return ""

    def _number(self, at: KeyPath, value: Any, unit: str) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            remedy = number_remedy(value, whole=unit == "gpus") or "Words belong into `evidence`."
            self._fault(at, "must be a number", value, remedy)
            return None
        fault = bound_of(unit).fault(float(value)) if unit else ""
        if fault:
            self._fault(at, fault, value, f"The unit is {unit}.")
            return None
        return float(value)

    def _text(self, at: KeyPath, value: Any) -> str:
        if value is None:
            return ""
        if not isinstance(value, str) or not value.strip():
            self._fault(at, "must be text", value, "Say what it was seen by: a ticket, a log, a person.")
            return ""
        line, key = self.located.line_of(at), self.located.problem(at, "").key
        try:
            return clean_text(value, file=self.located.file, line=line, key=key, max_chars=_LONGEST, one_line=True)
        except InputError as error:
            self.problems.extend(error.problems)
            return ""

    def _keys(self, at: KeyPath, found: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in found:
            if key not in known:
                self._fault((*at, key), "is no key here", "", f"Known: {', '.join(known)}.", did_you_mean(key, known))
        for key in known:
            if found.get(key) is None:
                self._fault(at, f"has no `{key}`", remedy=f"Add `{key}:`.")

    def _fault(self, at: KeyPath, message: str, value: object = "", remedy: str = "", suggestion: str = "") -> None:
        self.problems.append(self.located.problem(at, message, value=value, remedy=remedy, suggestion=suggestion))
