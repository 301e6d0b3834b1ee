"""The questions put to experts, and what one expert answered: a YAML file, read strictly. `fabricreport elicit PARAMS` writes the form.

    expert: R. Expert                      # who answers
    role: head of networks, Example Ltd    # why this person can know
    date: 2026-11-02                       # when
    seeds:
      - {question: interruptions-of-a-run, p5: 100, p50: 300, p95: 900}
      - {question: first-rack-to-training, known: true}     # the answer was known: it does not count
    answers:
      - {question: weeks-infiniband, p5: 2, p50: 4, p95: 10}

Every seed stands in the file once. Every fault is reported at once, each with file, line, key, remedy and the nearest name.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date as Date
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, model_validator

from fabricreport.base.bounds import bound_of
from fabricreport.base.errors import InputError
from fabricreport.base.locations import did_you_mean
from fabricreport.base.uncertain import Judgement
from fabricreport.base.yaml_files import load_strict
from fabricreport.books.evidence import read_evidence
from fabricreport.books.fields import CLOSED, AnsweredDay, Fault, Id, Keyed, Unwritten, context, refusal, text
from fabricreport.books.reader import judged, repeated, shipped


@dataclass(frozen=True, kw_only=True)
class Question:
    """A quantity asked of an expert as P5, P50 and P95; `short` is how tables name it.

    `replaces` are the entries that take the pooled answer; with `times` it is a multiple of that question's quantity.
    """

    __pydantic_config__ = CLOSED
    id: Id
    short: str
    ask: str
    unit: str
    replaces: tuple[str, ...] = ()
    times: str = ""


@dataclass(frozen=True, kw_only=True)
class Seed(Question):
    """A question whose answer is known, and where from: told here, or by the entry of the library that it names."""

    answer: float = 0.0
    source: str = ""
    publisher: str = ""
    address: str = ""
    date: str = ""
    grade: str = ""
    entry: str = ""


@dataclass(frozen=True)
class Questionnaire:
    """All that is asked, and how many seeds must count."""

    __pydantic_config__ = CLOSED
    questions: Annotated[Mapping[str, Question], Keyed("id")]
    seeds: Annotated[Mapping[str, Seed], Keyed("id")]
    least_seeds: int

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """A multiple is of a question that is none itself."""
        known = self.questions
        wrong = [i for i, q in enumerate(known.values()) if q.times and (q.times not in known or known[q.times].times)]
        if wrong:
            remedy = "Name a question without `times`."
            raise refusal(*(Fault("is no quantity of its own", ("questions", i, "times"), remedy) for i in wrong))
        return self


@cache
def read_questionnaire() -> Questionnaire:
    """The shipped questions; a seed that names an entry of the library has its answer as shipped."""
    asked = shipped("elicitation", Questionnaire)
    return replace(asked, seeds={seed.id: _answered(seed) for seed in asked.seeds.values()})


def _answered(seed: Seed) -> Seed:
    if not seed.entry:
        return seed
    found = read_evidence().require(seed.entry, asked_by=seed.id)
    told = {name: getattr(found, name) for name in ("source", "publisher", "address", "date", "grade")}
    return replace(seed, **told, answer=found.figure.mode)


_NUMBERS = ("p5", "p50", "p95")
_TWICE = "is answered twice, first on line {line}"


def _asked(info: ValidationInfo, *blocks: str) -> dict[str, Question]:
    """The questions of these blocks by id."""
    return {id: question for block in blocks for id, question in getattr(context(info)["asked"], block).items()}


def _of(block: str) -> AfterValidator:
    def kept(id: str, info: ValidationInfo) -> str:
        if id not in (known := _asked(info, block)):
            raise refusal(Fault("is no question here", (), f"One of: {', '.join(known)}.", did_you_mean(id, known)))
        return id

    return AfterValidator(kept)


def _number(value: float, info: ValidationInfo) -> float:
    unit = _asked(info, "seeds", "questions")[info.data["question"]].unit if "question" in info.data else ""
    fault = "must be above 0" if value <= 0 else bound_of(unit).fault(value) if unit else ""
    if fault:
        raise refusal(Fault(fault, (), f"The unit is {unit}." if unit else ""))
    return value


def _unless_known(value: float | None, info: ValidationInfo) -> float | None:
    if info.data.get("known"):
        if value is not None:
            raise refusal(Fault("stands beside `known: true`", remedy="Leave out one of the two."))
        return None
    if value is None:
        raise refusal(Fault("is missing", remedy="Add it, or write `known: true` if the answer was known."))
    return _number(value, info)


def _only_true(known: bool | None) -> bool | None:
    if known is False:
        raise refusal(Fault("may only be true", remedy="Leave it out, and answer the question."))
    return known


_Seed = Annotated[float | None, AfterValidator(_unless_known), Field(validate_default=True)]


@dataclass(frozen=True)
class Judged:
    """A question as it is answered: the three values in its unit."""

    __pydantic_config__ = CLOSED
    question: Annotated[str, _of("questions")]
    p5: Annotated[float, AfterValidator(_number), Field(description="One answer in twenty is below it.")]
    p50: Annotated[float, AfterValidator(_number), Field(description="It is as likely too high as too low.")]
    p95: Annotated[float, AfterValidator(_number), Field(description="One answer in twenty is above it.")]


@dataclass(frozen=True)
class JudgedSeed:
    """A seed as it is answered: the three values, or that its answer was known."""

    __pydantic_config__ = CLOSED
    question: Annotated[str, _of("seeds")]
    known: Annotated[bool | None, AfterValidator(_only_true)] = None
    p5: _Seed = None
    p50: _Seed = None
    p95: _Seed = None


def _rising(row: Judged | JudgedSeed) -> Judged | JudgedSeed:
    if row.p5 is not None and row.p50 is not None and row.p95 is not None and not row.p5 < row.p50 < row.p95:
        shown = f"p5: {row.p5:g}, p50: {row.p50:g}, p95: {row.p95:g}"
        remedy = "P5 is the value that one in twenty falls below."
        raise refusal(Fault("p5, p50 and p95 must rise", (), remedy, shown=shown))
    return row


def _judgement(row: Judged | JudgedSeed) -> Judgement | None:
    """What was judged; None where the answer was known."""
    if row.p5 is None or row.p50 is None or row.p95 is None:
        return None
    return Judgement(row.p5, row.p50, row.p95)


_RISING = AfterValidator(_rising)
_BEGIN = Field(description="Begin each item with '- question: <id>'.")
_Name = Annotated[str, StringConstraints(strip_whitespace=True), text(120, remedy="Write a name.")]


@dataclass(frozen=True)
class ExpertFile:
    """What one expert answered, by the ids of the questions; a seed that the expert knew is None.

    `lines` are those of the file, by question, and that of the name as `expert`.
    """

    __pydantic_config__ = CLOSED
    expert: Annotated[_Name, Field(description="Write `expert:` and who answers.")]
    role: Annotated[_Name, Field(description="Write `role:` and why this person can know.")]
    date: Annotated[AnsweredDay, Field(description="Write `date: YYYY-MM-DD`.")]
    seeds: Annotated[
        Mapping[str, Judgement | None], Keyed("question", Annotated[JudgedSeed, _RISING], _judgement), _BEGIN
    ]
    answers: Annotated[Mapping[str, Judgement], Keyed("question", Annotated[Judged, _RISING], _judgement), _BEGIN]
    file: Unwritten[str] = field(default="", compare=False)
    lines: Unwritten[Mapping[str, int]] = field(default_factory=dict, compare=False, repr=False)

    @model_validator(mode="after")
    def whole(self, info: ValidationInfo) -> Self:
        """Every seed is there, enough of them count, and something is answered."""
        asked: Questionnaire = context(info)["asked"]
        remedy = "Add it with p5, p50 and p95, or with `known: true` if the answer was known."
        lacking = [seed for seed in asked.seeds if seed not in self.seeds]
        faults = [Fault("lacks a seed question", ("seeds",), remedy, shown=seed) for seed in lacking]
        least, counted = asked.least_seeds, sum(judged is not None for judged in self.seeds.values())
        if not lacking and counted < least:
            message = (
                f"at least {least} seeds must be answered without knowing the answer, or nothing calibrates the expert"
            )
            remedy = "Ask somebody who does not know these sources."
            faults.append(Fault(message, ("seeds",), remedy, shown=str(counted)))
        if not self.answers:
            faults.append(Fault("answers no question", ("answers",), f"One of: {', '.join(asked.questions)}."))
        if faults:
            raise refusal(*faults)
        return self


def read_expert(path: Path, *, as_of: Date | None = None, asked: Questionnaire | None = None) -> ExpertFile:
    """One expert's answers; `as_of` refuses answers from after the memo. Raises `InputError` with every fault."""
    located = load_strict(path)
    found, problems = judged(located, ExpertFile, as_of=as_of, asked=asked or read_questionnaire())
    for block in ("seeds", "answers"):
        problems += repeated(located, (block,), "question", _TWICE)
    if found is None or problems:
        raise InputError(sorted(problems, key=lambda p: p.line or 0))
    lines = {question: located.line_of(("answers", n)) for n, question in enumerate(found.answers)}
    return replace(found, file=located.file, lines={**lines, "expert": located.line_of(("expert",))})


# ---- the form

_TOP = """\
# What nobody has published, asked of one person. Fill in every line, then name the file in the params:
#     elicited: [{name}]
# p50 is as likely too high as too low; one answer in twenty is below p5, and one in twenty above p95. Wide is honest.
# The first questions have known answers: they show how well the ranges are judged, not who knows the sources. If an answer
# was known, write `known: true` in place of the three numbers; at least {least} have to be judged.
"""


def form(name: str, given: ExpertFile | None = None, asked: Questionnaire | None = None) -> str:
    """The form as YAML, to be filled in, or filled with what was `given`; `name` is its path below the params' folder."""
    asked = asked or read_questionnaire()
    head = {"expert": given.expert, "role": given.role, "date": given.date} if given else {}
    lines = [_TOP.format(name=name, least=asked.least_seeds)]
    lines += [f"{key}: {_quoted(head.get(key))}".rstrip() for key in ("expert", "role", "date")]
    for block, questions in (("seeds", asked.seeds), ("answers", asked.questions)):
        stated: Mapping[str, Judgement | None] = getattr(given, block) if given else {}
        lines += ["", f"{block}:"]
        for question in questions.values():
            if given is None or question.id in stated:
                lines += _item(question, stated.get(question.id), known=given is not None)
    return "\n".join(lines) + "\n"


def _item(question: Question, judged: Judgement | None, *, known: bool) -> list[str]:
    words = f"{question.ask} Unit: {question.unit}."
    lines = textwrap.wrap(words, 112, initial_indent="  # ", subsequent_indent="  # ")
    lines.append(f"  - question: {question.id}")
    if known and judged is None:
        return [*lines, "    known: true"]
    return lines + [f"    {name}: {getattr(judged, name):.15g}" if judged else f"    {name}:" for name in _NUMBERS]


def _quoted(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False, allow_nan=False) if text else ""
