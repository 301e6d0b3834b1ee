"""The acceptance plan as it is signed: tests by id, each with its command, its sizes and what it has to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fabricreport.ledger import Number
from fabricreport.models.audit.acceptance import Values


class Tool(StrEnum):
    """With what a test is run: which reader its log takes."""

    NCCL = "nccl-tests"
    PERFTEST = "perftest"
    RECORD = "record"


@dataclass(frozen=True)
class Line:
    """What one point of a test is held to, three numbers of the ledger in the test's unit.

    `floor`: on its wrong side the fabric may be refused. `credit`: where the credit begins, never less demanding than the
    floor. `saving`: where the lead is gone; None where none is lost within reach, or nobody leads.
    """

    floor: Number
    credit: Number
    saving: Number | None = None

    @classmethod
    def exact(cls, number: Number) -> Line:
        """Where nothing lies between a credit and the floor."""
        return cls(number, number)


@dataclass(frozen=True)
class PlannedTest:
    """One test at one stage of the cluster.

    `id`: `T-<name>`, the same at every stage; `gpus`: of the stage. `measures`: the collective, or the perftest program, whose
    rows count (`allreduce`, `ib_write_bw`), or the name of a record's value. `thresholds`: what each run has to show, by GPUs
    of the run and message size in bytes (0 where sizes do not matter), in `unit`; `at_least` or at most so much. `runs`: how
    often each is repeated; `counted`: which run counts, from the worst (1). `price`: what a unit of shortfall is paid by, which `pays` names; `most`: where
    such payments end, None where they never get there.
    `false_pass` and `false_fail`: the chance that a fabric at the value at which the lead is gone passes, and that one fails of
    those that the model holds possible, None where the test is exact; `passing`: by draw of the model, the chance to pass.

    `month`: of the client's plan in which the stage begins. `lines`: the thresholds, which are their floors, as numbers of the
    ledger with what stands beside each. `basis`: the
    case by which `reason` is said; `why`: what the test finds that others do not. `by_step`: whether the client's step sends
    such traffic over the fabric, None where the test is of no collective. `repeats`: the runs as a number of the ledger.
    """

    id: str
    title: str
    tool: Tool
    measures: str
    stage: int
    gpus: int
    thresholds: Mapping[tuple[int, int], float]
    unit: str
    at_least: bool
    runs: int
    counted: int
    command: str
    reason: str
    questions: tuple[str, ...]
    price: Number | None = None
    false_pass: Number | None = None
    false_fail: Number | None = None
    options: tuple[str, ...] = ()
    month: int = 0
    lines: Mapping[tuple[int, int], Line] = field(default_factory=dict)
    basis: str = ""
    why: str = ""
    by_step: bool | None = None
    repeats: Number | None = None
    passing: Values | None = field(default=None, compare=False, repr=False)
    most: float | None = None
    pays: str = ""

    @property
    def bars(self) -> Mapping[tuple[int, int], Number]:
        """The thresholds as numbers of the ledger."""
        return {point: line.floor for point, line in self.lines.items()}

    @property
    def logged_sizes(self) -> tuple[int, ...]:
        """Sizes in bytes that a log of its command has: from its smallest to its largest by doubling; none where sizes do
        not matter."""
        sizes = {size for _, size in self.thresholds} - {0}
        return tuple(min(sizes) << n for n in range((max(sizes) // min(sizes)).bit_length())) if sizes else ()


@dataclass(frozen=True)
class Plan:
    """Every test of the plan, in the order in which they are run, stage by stage. `option`: the one tested.

    `setup`: what the commands of a stage begin with, by its number; `versions`: what is written down before any. `settings`: of
    the collective library, as the order names them.
    """

    option: str
    tests: tuple[PlannedTest, ...]
    setup: Mapping[int, str] = field(default_factory=dict)
    versions: str = ""
    settings: tuple[str, ...] = ()

    def of(self, test_id: str) -> tuple[PlannedTest, ...]:
        """A test at every stage."""
        return tuple(test for test in self.tests if test.id == test_id)
