"""The acceptance plan as it is signed: tests by id with command, sizes and threshold, the stages where they run, and the sheets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fabricreport.books.acceptance import AcceptanceBook, PlanEntry, read_acceptance
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import links_per_gpu
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit.acceptance import Values
from fabricreport.sections.client import fabric_gpus, one_node, stages_of, whole_nodes
from fabricreport.sections.latency import inputs


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

    `lines`: the thresholds, which are their floors, as numbers of the ledger with what stands beside each. `basis`: how they are
    found, or what a floor does for the lead; `why`: what the test finds that others do not. `by_step`: whether the client's step sends
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
    def passes_without(self) -> bool:
        """Whether a network on which the lead is gone meets one of its floors."""
        lost = [(line.floor.value, line.saving.value) for line in self.lines.values() if line.saving]
        return any(floor < gone if self.at_least else floor > gone for floor, gone in lost)

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


_STEP = 4
"""A ladder of nodes goes up by this factor: two, eight, thirty-two, and all."""
_LEAST = 4
"""Nodes that a test with a background of its own takes."""


@dataclass(frozen=True)
class Stage:
    """A size of the cluster: its number, the month it begins in, the GPUs one network joins, and those of the stage before."""

    number: int
    month: int
    gpus: int
    before: int


def stages(given: Inputs) -> tuple[Stage, ...]:
    """Every size of network within the horizon that is larger than the one before and more than one node."""
    found: list[Stage] = []
    for month, gpus in stages_of(given):
        joined = whole_nodes(given, fabric_gpus(given, gpus))
        before = found[-1].gpus if found else 0
        if joined > before and not one_node(given, joined):
            found.append(Stage(len(found) + 1, month, joined, before))
    return tuple(found)


def few_nodes(given: Inputs) -> bool:
    """Whether no stage has the nodes that a test with a background of its own takes."""
    return all(stage.gpus < _LEAST * int(given.params.cluster.gpus_per_node) for stage in stages(given))


@dataclass(frozen=True)
class Layout:
    """How one option is tested: GPUs of a node and of a scale-up domain, whether it has RDMA and several tenants."""

    per_node: int
    domain: int
    rdma: bool
    tenants: bool
    book: AcceptanceBook

    def nodes(self, stage: Stage) -> int:
        """Nodes that one network joins."""
        return stage.gpus // self.per_node

    def half(self, stage: Stage) -> int:
        """Every second node of a stage, the first included."""
        return -(-self.nodes(stage) // 2)

    def applies(self, entry: PlanEntry, stage: Stage) -> bool:
        """Whether a test is run at a stage."""
        many = self.nodes(stage) >= _LEAST
        holds = {
            "always": True,
            "rdma": self.rdma,
            "rdma-four-nodes": self.rdma and many,
            "four-nodes": many,
            "tenants": self.tenants and many,
        }
        return holds[entry.when] and (entry.nodes != "once" or stage.number == 1)

    def spans(self, entry: PlanEntry, stage: Stage) -> tuple[int, ...]:
        """GPUs of the runs of a test: of a ladder from the first that needs the fabric, else of the whole stage or half."""
        if entry.nodes == "half":
            return (self.per_node * self.half(stage),)
        return self.ladder(stage) if entry.nodes == "ladder" else (stage.gpus,)

    def ladder(self, stage: Stage) -> tuple[int, ...]:
        """GPUs of the runs from two nodes, or the stage before, up to the whole stage."""
        nodes, rungs = 2, []
        while nodes * self.per_node < stage.gpus:
            rungs.append(nodes * self.per_node)
            nodes *= _STEP
        return (*(gpus for gpus in rungs if max(stage.before, self.domain) < gpus), stage.gpus)

    def judged(self, stage: Stage) -> int:
        """Thresholds by repeated runs that a stage has: a sound fabric may fail any of them by chance."""
        tests = [entry for entry in self.book.tests if entry.noise != "none" and self.applies(entry, stage)]
        return sum(len(self.spans(entry, stage)) * len(self.book.sizes[entry.sizes]) for entry in tests)


def layout_of(given: Inputs, option: Option) -> Layout:
    """The layout of an option's tests for this client."""
    return Layout(
        int(given.params.cluster.gpus_per_node),
        inputs.middle(given, option).domain_gpus,
        option.rdma,
        str(given.params.cluster.tenancy) == "multi",
        read_acceptance(),
    )


BITS_PER_BYTE = 8.0


def ethernets(given: Inputs) -> Mapping[str, Option]:
    """The options compared whose fabric takes skill with PFC, ECN and DCQCN, by id; none where nothing meets a fabric."""
    if one_node(given, int(given.params.cluster.gpus)):
        return {}
    return {o.id: o for o in given.options if o.behaviour.skill}


def managed(given: Inputs) -> Mapping[str, Option]:
    """The options compared that a subnet manager runs, by id."""
    return {o.id: o for o in given.options if o.behaviour.manager}


def port_gbits_per_s(given: Inputs, option: Option) -> float:
    """Line rate of one port: a GPU's links of the option, over its planes."""
    per_link = given.catalogue.fabric(option.fabric, str(given.params.cluster.gpu)).link_gbits_per_s
    own = links_per_gpu(given.params, given.practice, option)
    return own * per_link / max(1.0, own) / option.planes


def headroom_bytes(given: Inputs, option: Option) -> float:
    """Bytes on their way after a port has asked for a pause: on the cable there and back, and a packet begun at either end.

    What the switch itself takes to react comes on top, and nobody publishes it.
    """
    metres, delay_ns = (given.central(f"evidence:{i}") for i in ("acceptance-cable-metres", "fibre-delay-ns-per-metre"))
    on_the_cable = 2.0 * metres * delay_ns * port_gbits_per_s(given, option) / BITS_PER_BYTE
    return on_the_cable + 2.0 * given.central("evidence:lossless-packet-bytes")
