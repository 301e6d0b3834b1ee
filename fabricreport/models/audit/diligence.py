"""What a seller's words are worth: topology read, answers judged, claims checked, promises and questions priced, figures updated by answers.

A verdict reads an answer's form and its figures, never whether it is true: that is what the acceptance test is for.

    fails     a figure, or the person named, is not what this client needs
    missing   no answer
    vague     words instead of what was asked for, or a figure that says nothing at this size
    specific  what was asked for, and it passes the check

A figure and an answer are two observations of one quantity, each normal in its scale: logarithms for what is positive,
the plain value for a share. The posterior lies between them by their precisions (Gelman et al., Bayesian Data Analysis,
3rd ed., section 2.5): with prior variance v and noise n, the answer's weight is v / (v + n) and the width shrinks by
the square root of what is left. A prior keeps its shape: each of its points moves to the new centre and nearer to it,
which for an interval is the normal-normal formula exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import Z95, Uncertain, exactly
from fabricreport.models.judgement.choice import swings

VERDICTS = ("fails", "missing", "vague", "specific")
"""Worst first."""
LOGS = ("busbw", "ranks", "nodes")
"""Checks that read the figures of a log."""


@dataclass(frozen=True)
class Benchmark:
    """An AllReduce log: ranks, busbw and algbw in GB/s, and the model's band (GB/s) for that many ranks and bytes."""

    gpus: int
    busbw_gbytes_per_s: float
    algbw_gbytes_per_s: float | None
    band_low_gbytes_per_s: float
    band_high_gbytes_per_s: float


@dataclass(frozen=True)
class Reply:
    """An answer as it is judged: the words, the ends of its value in the question's unit, what was handed over."""

    text: str = ""
    low: float | None = None
    high: float | None = None
    document: str = ""
    benchmark: Benchmark | None = None


@dataclass(frozen=True)
class Need:
    """What this client needs: sizes now and at the end of its plan, bandwidth per GPU, taper, busbw floor, test size."""

    gpus: int
    largest_gpus: int
    gpus_per_node: int
    gbits_per_s_per_gpu: float
    oversubscription: float
    busbw_floor_gbytes_per_s: float
    least_nodes: int

    @property
    def nodes(self) -> int:
        """Nodes of the cluster as it starts."""
        return math.ceil(self.gpus / self.gpus_per_node)


@dataclass(frozen=True)
class Words:
    """Phrases (lower case) that take the place of an answer, that name somebody else as tuner, and the fewest words."""

    vague: tuple[str, ...]
    others_tune: tuple[str, ...]
    least: int


@dataclass(frozen=True)
class Finding:
    """A verdict (one of VERDICTS) and why, in words. `believed`: an answer that fails is taken at its word all the same.

    A seller that states a taper, or that the client tunes, says what counts against it; a log whose figures do not fit
    each other, or that flatters any fabric, says nothing.
    """

    verdict: str
    reason: str
    believed: bool = False

    @property
    def relied_on(self) -> bool:
        """Whether figures may follow the answer: it says what was asked, for the seller or against it."""
        return self.verdict == "specific" or self.believed


def topology_stated(text: str, known: Sequence[str], unknown: Sequence[str]) -> str:
    """How much a seller's entry says of its topology: stated, equipment only, differs by host or
    not documented. A switch's name is not a topology."""
    low = text.lower()
    if not low.strip():
        return "not documented"
    if any(word in low for word in unknown):
        return "differs by host"
    return "stated" if any(word in low for word in known) else "equipment only"


def speed_fit(low: float | None, high: float | None, need: float) -> str:
    """Whether a link of `low` to `high` Gb/s gives the `need`: enough, some (only the best nodes), unknown or short."""
    if low is None or high is None:
        return "unknown"
    return "enough" if low >= need else "some" if high >= need else "short"


def rank_range(busbw: float, algbw: float) -> tuple[float, float]:
    """Fewest and most ranks that two bandwidths printed with two decimals allow; the most may be infinite."""
    half = 0.005
    low, high = (busbw - half) / (algbw + half), (busbw + half) / max(algbw - half, half)
    return (2.0 / (2.0 - low) if low < 2.0 else math.inf, 2.0 / (2.0 - high) if high < 2.0 else math.inf)


def ranks_agree(gpus: int, busbw: float, algbw: float) -> bool:
    """Whether the two bandwidths can come from a run of that many ranks, given their printed decimals."""
    low, high = rank_range(busbw, algbw)
    return low - 0.5 <= gpus <= high + 0.5


def judge(check: str, form: str, reply: Reply | None, need: Need, words: Words) -> Finding:
    """The verdict on one answer. `check` is the test of its figures, `form` the form a useful answer takes."""
    if reply is None or not (reply.text.strip() or reply.document or reply.high is not None or reply.benchmark):
        return Finding("missing", "no answer")
    if unbelievable := next(_unbelievable(check, reply, need), None):
        return Finding("fails", unbelievable)
    if failed := next(_failures(check, reply, need, words), None):
        return Finding("fails", failed, believed=next(_gaps(check, form, reply, need, words), None) is None)
    vague = next(_gaps(check, form, reply, need, words), None)
    return Finding("vague", vague) if vague else Finding("specific", "answers what was asked")


def _failures(check: str, reply: Reply, need: Need, words: Words) -> Iterator[str]:
    """Reasons to fail, gravest first."""
    low, high = reply.low, reply.high
    if check == "oversubscription" and high is not None and high > need.oversubscription:
        yield "a steeper taper than the client's design allows"
    if check == "link-speed" and low is not None and low < need.gbits_per_s_per_gpu:
        yield "slower links than this client needs"
    if check == "floor" and low is not None and low < need.busbw_floor_gbytes_per_s:
        yield "a floor below the one this cluster needs"
    if check == "gpus" and high is not None and high < need.gpus:
        yield "fewer GPUs on one fabric than the client starts with"
    if check == "growth" and high is not None and high < need.largest_gpus:
        yield "the growth planned does not fit without cables moved"
    if check == "own-team" and any(phrase in reply.text.lower() for phrase in words.others_tune):
        yield "somebody other than the seller's team tunes the fabric"
    log = reply.benchmark
    if log and check in LOGS and log.busbw_gbytes_per_s < log.band_low_gbytes_per_s:
        yield "less bandwidth than a sound fabric of that size reaches"


def _unbelievable(check: str, reply: Reply, need: Need) -> Iterator[str]:
    """Reasons to believe nothing of a log, gravest first."""
    log = reply.benchmark
    if log is None or check not in LOGS:
        return
    nodes = math.ceil(log.gpus / need.gpus_per_node)
    algbw = log.algbw_gbytes_per_s
    if algbw is not None and not ranks_agree(log.gpus, log.busbw_gbytes_per_s, algbw):
        yield "the ratio of the two bandwidths gives another number of ranks than the log claims"
    if nodes <= 2 < need.nodes:
        yield "measured on two nodes, which flatters any fabric"
    if log.busbw_gbytes_per_s > log.band_high_gbytes_per_s:
        yield "more bandwidth than the model allows at that size"


def _gaps(check: str, form: str, reply: Reply, need: Need, words: Words) -> Iterator[str]:
    """Reasons to call an answer vague."""
    text = f" {' '.join(reply.text.lower().split())} "
    if check == "gpus" and reply.high is not None and need.gpus <= reply.high < need.largest_gpus:
        yield "enough GPUs to start, not for the growth planned"
    if reply.benchmark and math.ceil(reply.benchmark.gpus / need.gpus_per_node) < min(need.least_nodes, need.nodes):
        yield "measured on too few nodes to speak for this cluster"
    if check in ("ranks", "nodes", "busbw") and not (reply.benchmark or reply.document):
        yield "no log"
    if check == "ranks" and reply.benchmark and reply.benchmark.algbw_gbytes_per_s is None:
        yield "a log without algbw"
    if form == "number" and check != "ranks" and reply.high is None:
        yield "no number"
    if form in ("document", "table") and not (reply.document or reply.benchmark):
        yield "no document"
    phrase = next((p for p in words.vague if re.search(rf"\W{re.escape(p)}\W", text)), None)
    if phrase and reply.high is None and not reply.document and not reply.benchmark:
        yield f"“{phrase}” in place of an answer"
    if form == "text" and len(reply.text.split()) < words.least and reply.high is None and not reply.document:
        yield "too short to hold anyone to"


def time_per_lost_share(lost_cost: Any, lost_share: Any) -> Any:
    """Money for all GPU time of the horizon, (draws,): what is lost in money over what is lost as a share; 0 if none."""
    cost, share = np.asanyarray(lost_cost), np.asanyarray(lost_share)
    return np.where(share > 0, cost / np.where(share > 0, share, 1.0), 0.0)


def combined_share(*shares: Any) -> Any:
    """The share of time lost to several causes, each acting on what the others leave: 1 - prod(1 - share)."""
    left: Any = 1.0
    for share in shares:
        left = left * (1.0 - np.asanyarray(share))
    return 1.0 - left


def slower_step_share(step: Any, slower: Any) -> Any:
    """Share of GPU time lost when a step takes `slower` instead of `step`, the same work being done."""
    return 1.0 - np.asanyarray(step) / np.asanyarray(slower)


def lead_lost_at(expected: float, lead: float, price: float) -> float | None:
    """Where a promise has fallen so far that the option's lead (money) is used up, at `price` per unit.

    None if there is no lead to lose, if the promise costs nothing, or if the value would fall below zero.
    """
    if lead <= 0 or price <= 0:
        return None
    at = expected - lead / price
    return at if at > 0 else None


def slopes_of(difference: Any, inputs: Mapping[str, Any]) -> dict[str, float]:
    """Slope of `difference` (draws,) on each input that varies, all fitted at once, per standard deviation of the input."""
    d = plain(difference)
    columns = {i: c for i, c in ((i, plain(x)) for i, x in inputs.items()) if c.shape == d.shape and c.min() < c.max()}
    if not columns:
        return {}
    matrix = np.stack([(c - c.mean()) / c.std() for c in columns.values()], axis=1)
    slopes, *_ = np.linalg.lstsq(matrix, d - d.mean(), rcond=None)
    return dict(zip(columns, (float(s) for s in slopes), strict=True))


def joint_share(difference: Any, inputs: Mapping[str, Any]) -> float:
    """Share of the spread of `difference` (draws,) that several inputs explain together: a squared rank correlation."""
    slopes = slopes_of(difference, inputs)
    columns = {i: plain(inputs[i]) for i in slopes}
    direction = sum(((c - c.mean()) / c.std() * slopes[i] for i, c in columns.items()), start=np.zeros(1))
    found = swings(difference, {"": direction}) if np.ptp(direction) > 0 else ()
    return found[0].share_of_variance if found else 0.0


@dataclass(frozen=True)
class Stake:
    """What hangs on an answer: the mean of an amount with the inputs it settles at their low and at their high end."""

    at_low: float
    at_high: float

    @property
    def width(self) -> float:
        """How far the answer moves the amount."""
        return abs(self.at_high - self.at_low)


@dataclass(frozen=True)
class Observed:
    """An answer from `low` to `high` (equal for one value), and its `noise`: the truth's P95 over an answer, as a factor.

    A noise of 1 is a fact; an infinite one says nothing.
    """

    low: float
    high: float
    noise: float

    def __post_init__(self) -> None:
        if not self.low <= self.high or self.noise < 1.0:
            raise ValueError(f"an answer rises from low to high, and its noise is 1 at least: {self}")


@dataclass(frozen=True)
class _Scale:
    """A scale on which a figure is taken as normal: there and back, and how wide a factor of noise is on it."""

    logarithmic: bool
    centre: float

    def there(self, value: float) -> float:
        return math.log(value) if self.logarithmic else value

    def back(self, value: float) -> float:
        return math.exp(value) if self.logarithmic else value

    def deviation(self, noise: float) -> float:
        """One standard deviation of a factor of noise. Of a share it is so much of the share or of what is left to 1,
        whichever is more, so that it does not depend on the answer."""
        width = math.log(noise) / Z95
        return width if self.logarithmic else width * max(self.centre, 1.0 - self.centre)


def updated(prior: Uncertain, answers: Iterable[Observed], *, share: bool = False) -> Uncertain:
    """The figure after these answers, independent of each other; the prior itself where they say nothing.

    `share`: the quantity cannot leave 0 to 1. A positive quantity takes positive answers only; `ValueError` if not.
    A figure that is known exactly stays what it is, unless an answer is a fact.
    """
    scale = _scale(prior, share)
    told, precision = _told(answers, scale)
    if math.isinf(precision):
        return exactly(scale.back(told))
    weight = _weight(prior, scale, precision)
    if weight == 0.0:
        return prior
    shrunk, anchor = math.sqrt(1.0 - weight), scale.there(prior.central)
    centre = anchor + weight * (told - anchor)

    def moved(value: float) -> float:
        at = scale.back(centre + shrunk * (scale.there(value) - anchor))
        return min(max(at, 0.0), 1.0) if share else at

    return _mapped(prior, moved)


def weight_of(prior: Uncertain, answers: Iterable[Observed], *, share: bool = False) -> float:
    """The weight of the answers in what is known after them, from 0 (they say nothing) to 1 (one is a fact)."""
    scale = _scale(prior, share)
    return _weight(prior, scale, _told(answers, scale)[1])


def tapered(contention: Uncertain, loss: float) -> Uncertain:
    """A share of bandwidth lost to collisions, with what a taper takes of it besides: 1 - (1 - x)(1 - loss)."""
    return _mapped(contention, lambda x: 1.0 - (1.0 - x) * (1.0 - loss))


def taper_loss(crossing: float, ratio: float, design: float) -> float:
    """Share of bandwidth lost where traffic meets a taper of `ratio` to one in the place of the `design`.

    What crosses the oversubscribed tier, `crossing` of the traffic, takes its ratio longer: 1 + crossing (ratio - 1).
    """
    slower, planned = (1.0 + crossing * (max(r, 1.0) - 1.0) for r in (ratio, design))
    return max(0.0, 1.0 - planned / slower)


def _scale(prior: Uncertain, share: bool) -> _Scale:
    return _Scale(prior.low > 0.0 and not share, prior.central)


def _told(answers: Iterable[Observed], scale: _Scale) -> tuple[float, float]:
    """What the answers say together on the scale, and how precisely: one over the variance, infinite for facts."""
    weighed = [(_centre(a, scale), _variance(a, scale)) for a in answers]
    if facts := [at for at, noise in weighed if noise == 0.0]:
        return sum(facts) / len(facts), math.inf
    precision = sum(1.0 / noise for _, noise in weighed)
    return (sum(at / noise for at, noise in weighed) / precision if precision else 0.0), precision


def _weight(prior: Uncertain, scale: _Scale, precision: float) -> float:
    if math.isinf(precision):
        return 1.0
    low, high = (scale.there(float(q)) for q in prior.quantile([0.05, 0.95]))
    variance = ((high - low) / (2 * Z95)) ** 2
    return variance * precision / (1.0 + variance * precision)


def _centre(answer: Observed, scale: _Scale) -> float:
    if scale.logarithmic and answer.low <= 0.0:
        raise ValueError(f"an answer on a positive quantity is positive: {answer}")
    return (scale.there(answer.low) + scale.there(answer.high)) / 2


def _variance(answer: Observed, scale: _Scale) -> float:
    """Of the answer: its noise, and its own width taken as P5 to P95."""
    if math.isinf(answer.noise):
        return math.inf
    own = (scale.there(answer.high) - scale.there(answer.low)) / (2 * Z95)
    return float(scale.deviation(answer.noise) ** 2 + own**2)


def _mapped(figure: Uncertain, moved: Callable[[float], float]) -> Uncertain:
    """The figure with every point of it moved; its shape stays."""
    if figure.kind == "pooled":
        return Uncertain.pooled(tuple((at, moved(value)) for at, value in figure.steps))
    return replace(figure, low=moved(figure.low), mode=moved(figure.mode), high=moved(figure.high), scaled=None)
