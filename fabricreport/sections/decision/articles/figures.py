"""Figures of the articles: how many advise what, and what the two sides cost at the sizes that they speak of."""

from __future__ import annotations

from fabricreport.figures import Index
from fabricreport.sections.decision.articles.sizes import SizeRun
from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec, Spec

_RUN = "the model run again at this size, all else as the client states it: "


def _run(at: DecisionFigures, key: str) -> SizeRun:
    return at.result.articles.runs[key]


def _named(run: SizeRun) -> str:
    return f" ({run.team or 'planned'} team)"


ARTICLES = (
    Spec(
        "decision.articles.all",
        "count",
        label="Articles of the trade press asked",
        rule="articles whose claims the audit worked through",
        value=lambda at: float(len(at.result.articles.advised)),
        counted=True,
    ),
    EachSpec(
        "decision.articles.advising[camp]",
        "count",
        label=lambda _, camp: f"Articles that would advise {camp} here",
        rule="articles whose rules, evaluated on this client's facts, come to that answer",
        value=lambda at, camp: float(len(at.result.articles.camps[camp])),
        counted=True,
    ),
    Spec(
        "decision.articles.sizes_all",
        "count",
        label="Rules of size that could be tried on this client",
        rule="rules of size of the articles whose size the client's plan allows",
        value=lambda at: float(sum(bool(rule.runs) for rule in at.result.articles.sizes)),
        counted=True,
        when=lambda at: bool(at.result.articles.sizes),
    ),
    Spec(
        "decision.articles.sizes_held",
        "count",
        label="Rules of size that hold for this client",
        rule="rules of size of which the model run again at that size finds what they expect",
        value=lambda at: float(sum(rule.outcome.held for rule in at.result.articles.sizes)),
        inputs=lambda at: at.everything,
        counted=True,
        when=lambda at: bool(at.result.articles.sizes),
    ),
    EachSpec(
        "decision.articles.size_gpus[sized]",
        "gpus",
        label="Size at which a rule of an article was tried",
        rule="the client's own size where it lies in the rule's range, else one within it",
        value=lambda at, key: float(_run(at, key).gpus),
        inputs=("param:cluster.gpus",),
    ),
    EachSpec(
        "decision.articles.size_lead[sized]",
        "usd",
        label=lambda at, key: f"Difference between the cheapest option of either RDMA side{_named(_run(at, key))}",
        rule=_RUN + "mean total cost of the costlier less that of the cheaper",
        value=lambda at, key: _run(at, key).lead,
        inputs=lambda at, _: at.everything,
    ),
    EachSpec(
        "decision.articles.size_close[sized]",
        "usd",
        label=lambda at, key: f"Lead below which the two are close at that size{_named(_run(at, key))}",
        rule=_RUN + "by the printed rule",
        value=lambda at, key: _run(at, key).close,
        inputs=lambda at, _: {*at.everything, "evidence:rule-material-share"},
        digits=2,
    ),
)

INDEXES: dict[str, Index[DecisionFigures]] = {
    "camp": Index(lambda at: at.result.articles.camps),
    "sized": Index(lambda at: at.result.articles.runs),
}
