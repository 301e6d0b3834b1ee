"""What one seller answered, read from a file of the schema `books.answers`, or from a workbook that holds the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date as Date
from pathlib import Path

from fabricreport.books.answer_limits import Links, beyond_links
from fabricreport.books.answers import PER_GPU, Answer, AnswerFile
from fabricreport.books.questions import known_ids
from fabricreport.books.reader import judged, repeated
from fabricreport.errors import InputError, Problem
from fabricreport.located import Located
from fabricreport.strict_yaml import load_strict


@dataclass(frozen=True)
class Remedies:
    """What to do about faults that are mended otherwise in a workbook than in YAML, which these are for.

    '' leaves it to the schema, which says how a key is written.
    """

    missing: str = ""
    number: str = ""
    range: str = "Write {low: 1, high: 2}."
    unit: str = "Convert it and write unit: {unit}."
    words: str = "Put figures into the words of `answer`, or into `measured`."
    answers: str = "Begin each with '- question: <id>'."


def read_answers(
    path: Path,
    *,
    provider: str,
    as_of: Date | None = None,
    links: Links | None = None,
    fabrics: Collection[str] = (),
) -> AnswerFile:
    """One seller's answers from a YAML file; see `answers_of`."""
    return answers_of(load_strict(path), provider=provider, as_of=as_of, links=links, fabrics=fabrics)


def answers_of(
    located: Located,
    *,
    provider: str,
    as_of: Date | None = None,
    links: Links | None = None,
    fabrics: Collection[str] = (),
    remedies: Remedies | None = None,
) -> AnswerFile:
    """One seller's answers. `provider` is the name in the params; `as_of` refuses answers from after the memo.

    `links` are those of the client's cluster: a bandwidth above what they, or the links answered, carry is refused.
    `fabrics`: ids for which answers may speak, any if none is named. Raises `InputError` with every fault: unknown, missing
    or doubled keys and questions, a value outside its domain or in another unit, a name that is not the params' provider,
    text a page could show otherwise than typed.
    """
    said = remedies or Remedies()
    mended = {kind: words for kind, words in (("missing", said.missing), ("float_type", said.number)) if words}
    found, problems = judged(
        located, AnswerFile, mended=mended, provider=provider, as_of=as_of, fabrics=fabrics, remedies=said
    )
    problems += repeated(located, ("answers",), "question", "is answered twice, first on line {line}", known_ids())
    if found is not None and not problems and links is not None:
        problems = list(_bandwidths(located, found.answers, links))
    if found is None or problems:
        raise InputError(sorted(problems, key=lambda p: p.line or 0))
    rows = enumerate(found.answers.items())
    answers = {q: replace(answer, line=located.line_of(("answers", n))) for n, (q, answer) in rows}
    return replace(found, answers=answers, file=located.file)


def _bandwidths(located: Located, answers: Mapping[str, Answer], links: Links) -> list[Problem]:
    """Every bandwidth that is above what the links carry, in a file without other faults."""
    index = {question: n for n, question in enumerate(answers)}
    remedy = f"Mend it, or state the links of that cluster: `question: {PER_GPU}` with its value."
    return [
        located.problem(("answers", index[question], *keys), reason, value=value, remedy=remedy)
        for question, keys, value, reason in beyond_links(answers, links)
    ]
