"""Figures of the articles: how many advise what."""

from __future__ import annotations

from fabricreport.figures import Index
from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec, Spec

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
)

INDEXES: dict[str, Index[DecisionFigures]] = {
    "camp": Index(lambda at: at.result.articles.camps),
}
