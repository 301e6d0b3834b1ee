"""Tables of what experts judged: who they are and what they are worth, their seeds, and the ranges beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.sections.evidence.elicited_figures import QUANTILES, judgement, persons
from fabricreport.sections.evidence.result import EvidenceResult

_SCORES = ("seeds", "surprises", "calibration", "information", "weight")
_HEADS = ("P5", "P50", "P95")


def experts(given: Inputs, result: EvidenceResult) -> Table:
    """Who was asked, when, and what the seeds say of each."""
    rows = [
        Row(
            [
                Name(expert.expert),
                Name(expert.role),
                Name(expert.date),
                *(result.numbers[f"evidence.expert.{key}.{name}"] for name in _SCORES),
            ]
        )
        for key, (expert, _) in persons(given).items()
    ]
    heads = ("Expert", "Role", "Date", "Seeds", "Outside the 90 % range", "Calibration", "Information", "Weight")
    mixed = ("Calibration", "Information", "Weight")
    return Table([Column(h, style="mixed" if h in mixed else "value") for h in heads], rows)


def seeds(given: Inputs, result: EvidenceResult) -> Table:
    """Each seed with its answer and source, and what each expert had stated."""
    rows = []
    for seed in given.elicited.asked.seeds.values():
        answer = result.numbers[f"evidence.seed.{seed.id}.answer"]
        source = Name(f"{seed.short} ({seed.source}, {seed.publisher}, {seed.date})")
        rows.append(Row([source, "", "", "", "", ""], role="group"))
        for key, (expert, _) in persons(given).items():
            stated = judgement(given, key, seed.id)
            verdict = "known before" if stated is None else "outside" if stated.surprised_by(seed.answer) else "inside"
            rows.append(Row([Name(expert.expert), *_said(result, key, seed.id), answer, verdict]))
    return _table("Question, and what each expert stated", rows, "Answer", "Verdict")


def ranges(given: Inputs, result: EvidenceResult) -> Table:
    """What each expert stated, and each range that it makes beside the library's."""
    rows, found = [], given.elicited
    for question in found.asked.questions.values():
        if question.id in found.pooled:
            rows.append(Row([Name(question.short), "", "", ""], role="group"))
            stated = [key for key in persons(given) if judgement(given, key, question.id) is not None]
            rows += [Row([Name(persons(given)[key][0].expert), *_said(result, key, question.id)]) for key in stated]
    for entry in found.figures():
        rows.append(Row([Name(given.evidence[entry].what), "", "", ""], role="group"))
        rows += _compared(result, entry, several=len(found.experts) > 1)
    return _table("Quantity", rows)


def _compared(result: EvidenceResult, entry: str, *, several: bool) -> Iterator[Row]:
    """The range that this memo assumed, the one in use, and the one with equal weights."""

    def ends(whose: str) -> list[Number]:
        return [result.numbers[f"evidence.elicited.{entry}.{whose}.{name}"] for name in QUANTILES]

    yield Row(["This memo’s assumption", *ends("library")])
    yield Row(["In use, by calibration" if several else "In use", *ends("pooled")], role="winner")
    if several:
        yield Row(["With equal weights", *ends("equal")])


def _said(result: EvidenceResult, person: str, asked: str) -> list[Number | None]:
    """P5, P50 and P95 that a person stated; nothing where there is none."""
    return [result.numbers.get(f"evidence.expert.{person}.said.{asked}.{name}") for name in QUANTILES]


def _table(first: str, rows: list[Row], *more: str) -> Table:
    """A table of quantiles whose rows have units of their own."""
    mixed = (*_HEADS, "Answer")
    return Table([Column(h, style="mixed" if h in mixed else "value") for h in (first, *_HEADS, *more)], rows)
