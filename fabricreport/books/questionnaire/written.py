"""Answers as the file in which they are kept: the same answers always give the same text."""

from __future__ import annotations

from collections.abc import Iterator

from fabricreport.books.answers import Answer, AnswerFile
from fabricreport.strict_yaml import quoted

_HEAD = "# Answers of a seller, as `fabricreport answers` filed them."


def as_filed(found: AnswerFile) -> str:
    """The YAML text; answers in which nothing is said are left out."""
    return "\n".join(_lines(found)) + "\n"


def said(answer: Answer) -> bool:
    """Whether anything is said in it."""
    given = (answer.text.strip(), answer.document, answer.choice, answer.evidence, answer.measured)
    return answer.high is not None or any(given)


def _lines(found: AnswerFile) -> Iterator[str]:
    yield _HEAD
    yield f"provider: {quoted(found.provider)}"
    yield f"date: {found.date}"
    yield f"answered_by: {quoted(found.answered_by)}"
    if found.fabric:
        yield f"fabric: {quoted(found.fabric)}"
    yield "answers:"
    for answer in found.answers.values():
        if said(answer):
            yield f"  - question: {answer.question}"
            yield from (f"    {line}" for line in _answer(answer))


def _answer(answer: Answer) -> Iterator[str]:
    yield f"answer: {quoted(answer.text)}"
    if answer.low is not None and answer.high is not None:
        low, high = _number(answer.low), _number(answer.high)
        yield f"value: {low if low == high else f'{{low: {low}, high: {high}}}'}"
        yield f"unit: {answer.unit}"
    if answer.choice:
        yield f"choice: {quoted(answer.choice)}"
    if answer.evidence:
        yield f"evidence: {answer.evidence}"
    if answer.document:
        yield f"document: {quoted(answer.document)}"
    if answer.measured is not None:
        log = answer.measured
        figures = [f"gpus: {log.gpus}", f"size_mib: {_number(log.size_mib)}"]
        figures.append(f"busbw_gbytes_per_s: {_number(log.busbw_gbytes_per_s)}")
        if log.algbw_gbytes_per_s is not None:
            figures.append(f"algbw_gbytes_per_s: {_number(log.algbw_gbytes_per_s)}")
        yield f"measured: {{{', '.join(figures)}}}"


def _number(value: float) -> str:
    """The shortest digits that give this number again."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
