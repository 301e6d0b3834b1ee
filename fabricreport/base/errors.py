"""Every error a user can meet, and the exit code each one ends with.

FabricReportError            1  our bug, if it is raised as itself
├── InputError               2  the user's input is wrong (carries one Problem per fault)
│   └── OutOfRange           2  a model was asked for something outside its domain
├── SectionFailed            3  a notebook failed, hung or died
└── MemoRejected             4  the memo failed its own checks
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One fault in one place: where it is, what was found there, and what to write instead.

    `rule` names the rule of refusal that was broken (`scenario/rules.py`), for faults of that kind.
    """

    message: str
    file: str = ""
    line: int | None = None
    key: str = ""
    value: str = ""
    remedy: str = ""
    suggestion: str = ""
    rule: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file and self.line else (f"{self.file}: " if self.file else "")
        key = f"{self.key}: " if self.key else ""
        found = f" (found {self.value})" if self.value else ""
        hint = f" Did you mean '{self.suggestion}'?" if self.suggestion else ""
        remedy = f" {self.remedy}" if self.remedy else ""
        return f"{where}{key}{self.message}{found}.{hint}{remedy}"

    def as_dict(self) -> dict[str, Any]:
        """The same facts for `--json`."""
        return {k: v for k, v in self.__dict__.items() if v not in ("", None)}


class FabricReportError(Exception):
    """Base of all our errors; raised as itself it means a bug of ours."""

    exit_code = 1
    hint = "This is a bug in fabricreport: please report it with the command you ran."


class InputError(FabricReportError, ValueError):
    """The user's input is wrong; `problems` lists every fault that was found, not only the first."""

    exit_code = 2
    hint = "Mend what is named above and run the command again."

    def __init__(self, problems: str | Problem | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem(problems.rstrip("."))
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.problems,))


class OutOfRange(InputError):
    """A model was asked for something outside the domain where it means anything."""


class SectionFailed(FabricReportError):
    """One or more notebooks did not finish; the last good edition is untouched."""

    exit_code = 3
    hint = "No edition was published; those published before are untouched."


class MemoRejected(FabricReportError):
    """The memo was stitched but failed its own checks; the last good edition is untouched."""

    exit_code = 4
    hint = "No edition was published. Mend the cells named above, or use --draft to see the memo with warnings."

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.faults,))


class NobodyTold(FabricReportError):
    """The command that was to be told ended badly; what it was told is told again by the next run."""

    exit_code = 5
    hint = "Mend the command of --on-change; the next run tells it again what this one had to tell."
