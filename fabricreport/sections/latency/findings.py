"""What the latency study found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

import numpy as np

from fabricreport.books.gpu_type import LARGEST_SERVER
from fabricreport.books.names import family_names
from fabricreport.findings import Findings, Name, Named, OptionName, Spoken
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.provenance import plain
from fabricreport.sections.client import domain_gpus, gpu_type, shared_cluster
from fabricreport.sections.latency.figure_context import THRESHOLD, slug
from fabricreport.sections.latency.gap import SOURCES_DISAGREE, display, within
from fabricreport.sections.latency.inputs import TRAINING_KINDS
from fabricreport.sections.latency.measured import ClientLog
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.validity import beyond
from fabricreport.validation.collectives import collectives_card
from fabricreport.validation.training import training_card

TRAFFIC = {
    "data": "gradients and parameters between replicas",
    "experts": "tokens between experts",
    "pipeline": "activations between pipeline stages",
    "tensor": "activations inside layers",
    "halo": "halos between neighbours",
    "reduction": "small sums over all ranks",
}
"""What each kind of traffic carries."""
SIMULATED = "one domain on each GPU"
HALF = 0.5
FAR_WORSE = 2.0
"""TCP is told apart where it loses more than so many times what RDMA does."""


class LatencyFinding(StrEnum):
    """What may be true of a client's latency; those of one group exclude each other."""

    # how the section opens
    OPENS_ONE_NODE = "all GPUs share one node"
    OPENS_INSIDE = "several nodes, and no traffic between them"
    OPENS_HIDDEN = "the gap is small, and so is all that the step waits for"
    OPENS_SMALL = "the gap is small beside what the step waits for"
    OPENS_EXPERTS = "the gap may count, and traffic between experts is what the step waits for"
    OPENS_LONGER = "the gap may count, and RoCEv2 has the longer step on the median"
    OPENS_SHORTER = "the gap may count, and RoCEv2 has no longer step on the median"
    # the step
    TRAFFIC = "something travels between nodes"
    LONGER_RUN = "the median step is longer on RoCEv2, and a run's length is stated"
    LONGER = "the median step is longer on RoCEv2"
    SHORTER_RUN = "the median step is shorter on RoCEv2, and a run's length is stated"
    SHORTER = "the median step is shorter on RoCEv2"
    LEVEL = "the median step takes as long on both"
    GROWS = "the plan has several sizes, and something travels between nodes"
    FINAL_LONGER = "and at the last the median step is longer on RoCEv2"
    FINAL_SHORTER = "and at the last the median step is shorter on RoCEv2"
    FINAL_LEVEL = "and at the last the median step takes as long on both"
    # what runs
    PLAN_CHOSEN = "the plan is chosen by the rule"
    PLAN_GIVEN = "the client states the plan"
    PLANS_DIFFER = "an option's own network has a faster plan"
    BATCH_GROWS = "the batch follows from the GPUs"
    SPARES = "the fastest plan leaves some GPUs of the largest job idle"
    JOB_ONE = "nothing says in what sizes of job, and one takes all GPUs"
    JOBS_STATED = "the client states the sizes of the jobs"
    JOBS_PUBLISHED = "the cluster is shared, and nothing says in what sizes of job"
    JOBS_LISTED = "the sizes of the jobs are stated or taken from a publication"
    SITES = "the cluster spans sites"
    TUNES = "a model is fine-tuned, which is priced as pre-training"
    TUNES_ONE = "likewise, and one copy of the model fills the largest job"
    RUNS_RING = "the traffic that takes longest runs in rings"
    RUNS_TREE = "the traffic that takes longest runs on trees"
    RUNS_NVLSTREE = "the traffic that takes longest runs on trees with sums in the switches of NVLink"
    RUNS_DIRECT = "the traffic that takes longest goes from GPU to GPU"
    KEEPS_MOST = "a scale-up domain is larger than a server, and keeps more than half of a step's bytes off the fabric"
    KEEPS_LESS = "a scale-up domain is larger than a server, and keeps no more than half of them off"
    COUNTED = "names of this GPU's rack differ by what counts as one GPU"
    WIDEST_BEARS = (
        "the client reaches the size of the articles' example, and its largest traffic is no exchange of tokens"
    )
    # when it matters
    STEP_EXCEEDS = "the step's median gap passes the threshold at some size tried"
    STEP_QUIET = "the step's median gap passes it at no size tried"
    RING_EXCEEDS = "a large AllReduce on a flat ring passes it at a size that the cluster reaches"
    # how sure
    UNSURE = "the gap has a spread, so that its causes can be ranked"
    ALL_BY_SOURCES = "its largest cause is something on which sources disagree, and as printed the only one of these"
    MOST_BY_SOURCES = "its largest cause is something on which sources disagree, and one among several"
    MOST_BY_OTHER = "its largest cause is something else"
    # the options
    LOSE_NOTHING = "no option loses time to the fabric"
    LOSE_BY_TCP = "the gap is small, and an option without RDMA loses far more"
    LOSE_TO_EXPERTS = "traffic between experts is what both lose to"
    LOSE_ALIKE = "the gap is small, and no option stands out; or there is nothing to hold against the base"
    LOSE_APART = "the options lose differently"
    # an AllReduce
    ALLREDUCE_ALIKE = "an AllReduce takes as long on both fabrics at every size shown"
    ALLREDUCE_SMALL = "small messages pay more of the gap than large ones"
    ALLREDUCE_OTHER = "neither of these"
    # the overlap
    OVERLAP_QUIET = "the median gap reaches the threshold at no overlap"
    OVERLAP_COUNTS = "the median gap reaches the threshold at some overlap"
    # the client's logs and the models' cards
    LOGS = "the client has logs"
    LOGS_USED = "the model was fitted to a log"
    LOGS_CARRIED = "a log recalibrates the model at every size the client plans"
    LOGS_SMALL = "a log ran on too few nodes to say anything of the client's cluster"
    # outside what the model was tried on
    BEYOND = "the model of a step was tried on no such run"
    BEYOND_MIXTURE = "a mixture of experts"
    BEYOND_SIMULATION = "a simulation"
    BEYOND_INFERENCE = "inference"
    BEYOND_FEW = "a job on fewer GPUs than any run tried"
    BEYOND_MANY = "a job on more GPUs than any run tried"
    # the card
    CARD_MISSED = "something written down before the fit was not met"
    CARD_MET = "all that was written down before the fit was met"


F = LatencyFinding


class _Read:
    """A latency result with what its findings and words are made of."""

    def __init__(self, given: Inputs, result: LatencyResult, figure: FigureOf) -> None:
        self.given, self.result, self.figure = given, result, figure
        self.threshold = given.central(THRESHOLD)
        self.penalty = figure("latency.penalty")
        self.infiniband, self.rocev2 = result.pair
        self.means = {o: float(plain(v).mean()) for o, v in result.exposed_now.items()}
        self.base = self.infiniband.id if self.infiniband.id in self.means else next(iter(self.means))
        self.worst = max(self.means, key=self.means.__getitem__)
        self.exposed = figure(f"latency.exposed.{self.base}").value

    @property
    def small(self) -> bool:
        """Whether the gap stays below the threshold, on the median and at its P95."""
        most = self.penalty.spread.p95 if self.penalty.spread else self.penalty.value
        return max(abs(self.penalty.value), abs(most)) < self.threshold

    @property
    def tcp_loses(self) -> bool:
        """Whether the worst option has no RDMA and loses far more than the base."""
        rdma = next(o.rdma for o in self.given.options if o.id == self.worst)
        return not rdma and self.means[self.worst] > FAR_WORSE * self.exposed

    @property
    def longer(self) -> list[float]:
        """How much longer an AllReduce takes on RoCEv2, a share, by the table's sizes."""
        ids = [[f"latency.allreduce_time.{o.id}.{i}" for o in self.result.pair] for i, _ in enumerate(self.sizes)]
        times = [[self.figure(i).value for i in row] for row in ids]
        return [ours / base - 1 for base, ours in times]

    @property
    def sizes(self) -> tuple[float, ...]:
        """Message sizes of the table."""
        return self.result.table_bytes

    @property
    def logs(self) -> tuple[tuple[ClientLog, ...], tuple[ClientLog, ...]]:
        """The client's logs that the model was fitted to, and those of them that recalibrate it."""
        measured = self.result.measurements
        return (measured.used, measured.carried(self.given)) if measured else ((), ())

    @property
    def missed(self) -> list[str]:
        """What was written down before the training model was fitted and did not come true."""
        card = training_card()
        return [text for text, met in zip(card.expected, card.as_expected.values(), strict=True) if not met]


def spoken(given: Inputs, result: LatencyResult, figure: FigureOf) -> Spoken:
    """Findings and words of the latency section; `figure` answers with the ledger's numbers."""
    read = _Read(given, result, figure)
    groups = (
        _opening,
        _step,
        _jobs,
        _running,
        _keeping,
        _mattering,
        _causes,
        _losing,
        _allreduce,
        _overlap,
        _tried,
        _beyond,
    )
    return Spoken(Findings(LatencyFinding, (f for group in groups for f in group(read))), _words(read))


def _opening(read: _Read) -> Iterator[LatencyFinding]:
    if read.result.one_node:
        yield F.OPENS_ONE_NODE
    elif not read.result.traffic:
        yield F.OPENS_INSIDE
    elif read.small:
        yield F.OPENS_HIDDEN if read.exposed < read.threshold else F.OPENS_SMALL
    elif read.result.experts:
        yield F.OPENS_EXPERTS
    else:
        yield F.OPENS_LONGER if read.penalty.value > 0 else F.OPENS_SHORTER


def _step(read: _Read) -> Iterator[LatencyFinding]:
    if not read.result.traffic:
        return
    yield F.TRAFFIC
    run = read.given.params.workload.run_days is not None
    if read.penalty.value > 0:
        yield F.LONGER_RUN if run else F.LONGER
    elif read.penalty.value < 0:
        yield F.SHORTER_RUN if run else F.SHORTER
    else:
        yield F.LEVEL
    if read.result.grows:
        yield F.GROWS
        final = read.figure("latency.penalty_final").value
        yield F.FINAL_LONGER if final > 0 else F.FINAL_SHORTER if final < 0 else F.FINAL_LEVEL


def _jobs(read: _Read) -> Iterator[LatencyFinding]:
    params = read.given.params
    if params.cluster.sites > 1:
        yield F.SITES
    if not read.result.traffic:
        return
    if params.workload.jobs:
        yield from (F.JOBS_STATED, F.JOBS_LISTED)
    elif shared_cluster(read.given):
        yield from (F.JOBS_PUBLISHED, F.JOBS_LISTED)
    elif params.workload.parallelism == "choose" and not str(params.workload.kind).startswith("inference"):
        yield F.JOB_ONE
    if read.result.job.used < read.result.job.gpus:
        yield F.SPARES
    if read.result.job.kind in TRAINING_KINDS:
        yield F.BATCH_GROWS
    if read.result.job.kind == "fine-tuning" and (plan := read.result.job.plan):
        yield F.TUNES if plan.dp > 1 else F.TUNES_ONE
    if read.result.own_plans:
        yield F.PLANS_DIFFER


def _running(read: _Read) -> Iterator[LatencyFinding]:
    if not read.result.traffic:
        return
    params = read.given.params
    stated = read.result.job.kind in TRAINING_KINDS and params.workload.parallelism != "choose"
    yield F.PLAN_GIVEN if stated else F.PLAN_CHOSEN
    runs = {
        "ring": F.RUNS_RING,
        "tree": F.RUNS_TREE,
        "nvlstree": F.RUNS_NVLSTREE,
        "direct": F.RUNS_DIRECT,
    }
    yield runs[read.result.traffic[0].algorithm]
    if params.cluster.final_gpus >= read.figure("latency.headline_gpus").value and not read.result.experts:
        yield F.WIDEST_BEARS


def _keeping(read: _Read) -> Iterator[LatencyFinding]:
    if gpu_type(read.given).counted:
        yield F.COUNTED
    if read.result.kept is not None and domain_gpus(read.given) > LARGEST_SERVER:
        yield F.KEEPS_MOST if read.figure("latency.kept.bytes").value > HALF else F.KEEPS_LESS


def _mattering(read: _Read) -> Iterator[LatencyFinding]:
    gap = read.result.gap
    passes = {name: within(read.given, sweep, read.threshold)[1] for name, sweep in gap.sweeps.items()}
    yield F.STEP_EXCEEDS if passes["step"] else F.STEP_QUIET
    if (
        passes["ring"]
        and within(read.given, gap.sweeps["ring"], read.threshold)[0] < read.given.params.cluster.final_gpus
    ):
        yield F.RING_EXCEEDS


def _causes(read: _Read) -> Iterator[LatencyFinding]:
    causes = read.result.gap.hangs_on
    if causes:
        yield F.UNSURE
        first = next(iter(causes))
        if not first.endswith(SOURCES_DISAGREE):
            yield F.MOST_BY_OTHER
        else:
            named, all_of_it = read.figure(f"latency.hangs.{slug(first)}"), read.figure("latency.disagreement")
            yield F.ALL_BY_SOURCES if named.text == all_of_it.text else F.MOST_BY_SOURCES


def _losing(read: _Read) -> Iterator[LatencyFinding]:
    if not read.result.traffic:
        yield F.LOSE_NOTHING
    elif read.tcp_loses and read.small:
        yield F.LOSE_BY_TCP
    elif read.result.experts:
        yield F.LOSE_TO_EXPERTS
    else:
        yield F.LOSE_ALIKE if read.small or read.worst == read.base else F.LOSE_APART


def _allreduce(read: _Read) -> Iterator[LatencyFinding]:
    longer = read.longer
    if max(map(abs, longer)) < read.threshold:
        yield F.ALLREDUCE_ALIKE
    elif longer[0] > max(read.threshold, longer[-1]):
        yield F.ALLREDUCE_SMALL
    else:
        yield F.ALLREDUCE_OTHER


def _overlap(read: _Read) -> Iterator[LatencyFinding]:
    middle = np.median(plain(read.result.gap.by_overlap.gap), axis=0)
    yield F.OVERLAP_QUIET if float(np.abs(middle).max()) < read.threshold else F.OVERLAP_COUNTS


def _tried(read: _Read) -> Iterator[LatencyFinding]:
    if read.result.measurements:
        yield F.LOGS
        used, carried = read.logs
        yield from (F.LOGS_USED,) if used else ()
        yield from (F.LOGS_CARRIED,) if carried else ()
        yield from (F.LOGS_SMALL,) if len(carried) < len(used) else ()
    yield F.CARD_MISSED if read.missed else F.CARD_MET


def _beyond(read: _Read) -> Iterator[LatencyFinding]:
    found = beyond(read.given)
    if found:
        yield F.BEYOND
    yield from (LatencyFinding[f"BEYOND_{one.name}"] for one in found)


# ---- words


def _words(read: _Read) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    result, options = read.result, (*read.given.options, *read.result.pair)
    name = {o.id: OptionName(o.name, o.id, family=Name(family_names(o.family).phrase)) for o in options}
    medians = {o: float(np.median(plain(v))) for o, v in result.exposed_now.items()}
    order = sorted(medians, key=medians.__getitem__)
    plan, traffic, logs = result.job.plan, result.traffic, result.measurements
    cause = next(iter(result.gap.hangs_on), "")
    used, carried = read.logs
    small = [log for log in used if log not in carried]
    trained, collected = training_card(), collectives_card()
    return {
        "ib": name[read.infiniband.id],
        "roce": name[read.rocev2.id],
        "base": name[read.base],
        "worst": name[read.worst],
        "least": name[order[0]],
        "most": name[order[-1]],
        "gpu": Name(gpu_type(read.given).name),
        "counted": Name(counted) if (counted := gpu_type(read.given).counted) else None,
        "plan": Name(plan.text() if plan else SIMULATED),
        "own_plans": tuple(
            OptionName(str(name[o]), o, plan=Name(job.plan.text())) for o, job in result.own_plans.items() if job.plan
        ),
        "most_in": Named(f"jobs of {result.mix[-1][0]:,} GPUs", str(result.mix[-1][0])),
        "carried": TRAFFIC[traffic[0].kind] if traffic else None,
        "large": read.figure(f"latency.size.{read.sizes.index(float(display()['headline_bytes']))}"),
        "cause": Named(cause.removesuffix(SOURCES_DISAGREE), slug(cause)) if cause else None,
        "fabric_of_logs": OptionName(logs.option.name, logs.option.id) if logs else None,
        "log": Named(used[0].source, "0") if used else None,
        "whole": Named(carried[0].source, str(used.index(carried[0]))) if carried else None,
        "few": Named(small[0].source, str(used.index(small[0]))) if small else None,
        "missed": Name("; ".join(read.missed)) if read.missed else None,
        "valid": Name(trained.valid_range),
        "unclaimed": tuple(
            Named(text, slug(text)) for text in (*trained.does_not_claim, *collected.does_not_claim[:2])
        ),
    }
