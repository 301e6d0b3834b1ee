"""Where the plan's tests are run: the stages of the cluster, the nodes of each run, and how many thresholds a stage has."""

from __future__ import annotations

from dataclasses import dataclass

from fabricreport.books.acceptance import AcceptanceBook, PlanEntry, read_acceptance
from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.sections.client import fabric_gpus, one_node, stages_of, whole_nodes
from fabricreport.sections.latency import inputs

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
