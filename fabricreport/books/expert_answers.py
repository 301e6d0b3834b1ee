"""What one expert answered: a YAML file, read strictly. `fabricreport elicit PARAMS` writes the form.

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
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date as Date
from pathlib import Path
from typing import Any

from fabricreport.books.answered_day import answered_day
from fabricreport.books.elicitation import Question, Questionnaire, read_questionnaire
from fabricreport.bounds import bound_of
from fabricreport.decimals import number_remedy
from fabricreport.errors import InputError, Problem
from fabricreport.located import KeyPath, Located, did_you_mean
from fabricreport.strict_yaml import clean_text, load_strict
from fabricreport.uncertain import Judgement

_HEAD = ("expert", "role", "date", "seeds", "answers")
_NUMBERS = ("p5", "p50", "p95")
_LONGEST_LINE = 120


@dataclass(frozen=True)
class ExpertFile:
    """What one expert answered, by the ids of the questions; a seed that the expert knew is None.

    `lines` are those of the file, by question, and that of the name as `expert`.
    """

    expert: str
    role: str
    date: str
    seeds: Mapping[str, Judgement | None]
    answers: Mapping[str, Judgement]
    file: str = field(default="", compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)


def read_expert(path: Path, *, as_of: Date | None = None, asked: Questionnaire | None = None) -> ExpertFile:
    """One expert's answers; `as_of` refuses answers from after the memo. Raises `InputError` with every fault."""
    reader = _Reader(load_strict(path), asked or read_questionnaire(), [])
    found = reader.file(as_of)
    if reader.problems:
        raise InputError(reader.problems)
    return found


@dataclass
class _Reader:
    """Checks one file; faults go to `problems`."""

    located: Located
    asked: Questionnaire
    problems: list[Problem]

    def file(self, as_of: Date | None) -> ExpertFile:
        data = self.located.data
        if not isinstance(data, dict):
            self._fault((), "must be a mapping", remedy=f"Begin with the keys {', '.join(_HEAD)}.")
            return ExpertFile("", "", "", {}, {})
        self._keys((), data, _HEAD, _HEAD)
        expert, role = (self._line((key,), data.get(key)) for key in ("expert", "role"))
        day = self._day(data.get("date"), as_of)
        seeds = self._rows("seeds", data.get("seeds"), self.asked.seeds, may_be_known=True)
        answers = self._rows("answers", data.get("answers"), self.asked.questions)
        if not self.problems:
            self._whole(seeds, answers)
        stated = {i: judged for i, judged in answers.items() if judged is not None}
        rows = data["answers"] if stated else ()
        lines = {
            row["question"]: self.located.line_of(("answers", n)) for n, row in enumerate(rows) if not self.problems
        }
        lines["expert"] = self.located.line_of(("expert",))
        return ExpertFile(expert, role, day, seeds, stated, self.located.file, lines)

    def _whole(self, seeds: Mapping[str, Judgement | None], answers: Mapping[str, Judgement | None]) -> None:
        """Every seed is there, enough of them count, and something is answered."""
        for seed in self.asked.seeds:
            if seed not in seeds:
                remedy = "Add it with p5, p50 and p95, or with `known: true` if the answer was known."
                self._fault(("seeds",), "lacks a seed question", seed, remedy)
        least, counted = self.asked.least_seeds, sum(judged is not None for judged in seeds.values())
        if len(seeds) == len(self.asked.seeds) and counted < least:
            message = (
                f"at least {least} seeds must be answered without knowing the answer, or nothing calibrates the expert"
            )
            self._fault(("seeds",), message, counted, "Ask somebody who does not know these sources.")
        if not answers:
            self._fault(("answers",), "answers no question", "", f"One of: {', '.join(self.asked.questions)}.")

    def _rows(
        self, block: str, rows: Any, known: Mapping[str, Question], *, may_be_known: bool = False
    ) -> dict[str, Judgement | None]:
        if rows is None:
            return {}
        if not isinstance(rows, list):
            self._fault((block,), "must be a list", rows, "Begin each item with '- question: <id>'.")
            return {}
        found: dict[str, Judgement | None] = {}
        first: dict[str, int] = {}
        for n, row in enumerate(rows):
            at: KeyPath = (block, n)
            if not isinstance(row, dict):
                self._fault(at, "must be a mapping", row, "Write {question: ..., p5: ..., p50: ..., p95: ...}.")
                continue
            question = self._question((*at, "question"), row.get("question"), known)
            judged = self._judged(at, row, question, may_be_known)
            if question is None:
                continue
            if question.id in first:
                message = f"is answered twice, first on line {first[question.id]}"
                self._fault((*at, "question"), message, question.id, "Keep one of the two.")
            first.setdefault(question.id, self.located.line_of(at))
            found[question.id] = judged
        return found

    def _question(self, at: KeyPath, value: Any, known: Mapping[str, Question]) -> Question | None:
        if isinstance(value, str) and value in known:
            return known[value]
        if value is not None:
            self._fault(at, "is no question here", value, f"One of: {', '.join(known)}.", did_you_mean(value, known))
        return None

    def _judged(
        self, at: KeyPath, row: Mapping[str, Any], question: Question | None, may_be_known: bool
    ) -> Judgement | None:
        if may_be_known and "known" in row:
            self._keys(at, row, ("question", "known"), ("question", "known"))
            if row["known"] is not True:
                self._fault((*at, "known"), "may only be true", row["known"], "Leave it out, and answer the question.")
            return None
        self._keys(at, row, ("question", *_NUMBERS), ("question", *_NUMBERS))
        given = {name: row[name] for name in _NUMBERS if row.get(name) is not None}
        sound = [self._number((*at, name), value, question) for name, value in given.items()]
        if len(sound) < len(_NUMBERS) or not all(sound):
            return None
        numbers = [float(given[name]) for name in _NUMBERS]
        if not numbers[0] < numbers[1] < numbers[2]:
            shown = ", ".join(f"{name}: {given[name]:g}" for name in _NUMBERS)
            self._fault(at, "p5, p50 and p95 must rise", shown, "P5 is the value that one in twenty falls below.")
            return None
        return Judgement(*numbers)

    def _number(self, at: KeyPath, value: Any, question: Question | None) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            self._fault(at, "must be a number", value, number_remedy(value) or "Write digits, without a unit.")
            return False
        fault = "must be above 0" if value <= 0 else bound_of(question.unit).fault(value) if question else ""
        if fault:
            self._fault(at, fault, value, f"The unit is {question.unit}." if question else "")
        return not fault

    def _day(self, value: Any, as_of: Date | None) -> str:
        return answered_day(value, as_of, lambda *told: self._fault(("date",), *told))

    def _line(self, at: KeyPath, value: Any) -> str:
        if value is None:
            return ""
        if not isinstance(value, str):
            self._fault(at, "must be text", value, "Put it in quotes.")
            return ""
        if not value.strip():
            self._fault(at, "is empty", value, "Write a name.")
        line, key = self.located.line_of(at), self.located.problem(at, "").key
        try:
            return clean_text(
                value.strip(), file=self.located.file, line=line, key=key, max_chars=_LONGEST_LINE, one_line=True
            )
        except InputError as error:
            self.problems.extend(error.problems)
            return ""

    def _keys(self, at: KeyPath, found: Mapping[str, Any], needed: tuple[str, ...], known: tuple[str, ...]) -> None:
        for key in found:
            if key not in known:
                self._fault((*at, key), "is no key here", "", f"Known: {', '.join(known)}.", did_you_mean(key, known))
        for key in needed:
            if found.get(key) is None:
                self._fault((*at, key) if key in found else at, f"has no `{key}`", remedy=f"Write `{key}:`.")

    def _fault(self, at: KeyPath, message: str, value: object = "", remedy: str = "", suggestion: str = "") -> None:
        self.problems.append(self.located.problem(at, message, value=value, remedy=remedy, suggestion=suggestion))


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
