"""What one seller answered: a YAML file that a person types from a letter, read strictly.

    provider: Example Cloud                # as in the params
    date: 2026-11-02                       # when it was answered
    answered_by: A. Seller, sales          # who answered
    fabric: infiniband-ndr                 # optional; the fabric it speaks for, an option's id or a family's
    answers:
      - question: Q-NET-07                 # id of a question; each at most once
        answer: Logs of 128 nodes attached # the words given; empty if the seller declined
        value: 371.2                       # optional; a number, or {low, high}
        unit: gbytes/s                     # needed with a value: the question's own unit
        document: logs-2026-10.txt         # optional; what was handed over
        evidence: log                      # optional; what it rests on: contract, log, record or statement
        choice: ...                        # one of the question's choices, where it has some
        measured: {gpus: 1024, size_mib: 1024, busbw_gbytes_per_s: 371.2, algbw_gbytes_per_s: 185.78}   # optional

Every fault of a file is reported at once, each with file, line, key, remedy and the nearest name.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Date
from pathlib import Path
from typing import Any

from fabricreport.books.answer_limits import PER_GPU, Links, beyond_links, bound_of_answer
from fabricreport.books.answered_day import answered_day
from fabricreport.books.answers import Answer, AnswerFile, Log
from fabricreport.books.providers import folded
from fabricreport.books.questions import Proof, Question, known_ids, read_questions
from fabricreport.bounds import Bound, Figure, bound_of
from fabricreport.decimals import number_remedy
from fabricreport.errors import InputError, Problem
from fabricreport.located import KeyPath, Located, did_you_mean
from fabricreport.strict_yaml import clean_text, load_strict

_HEAD = ("provider", "date", "answered_by", "answers")
_OPTIONAL_OF_FILE = ("fabric",)
_NEEDED_OF_ANSWER = ("question", "answer")
_OPTIONAL_OF_ANSWER = ("value", "unit", "document", "measured", "evidence", "choice")
MEASURED = {"gpus": "gpus", "size_mib": "mib", "busbw_gbytes_per_s": "gbytes/s", "algbw_gbytes_per_s": "gbytes/s"}
_NEEDED_OF_MEASURED = ("gpus", "busbw_gbytes_per_s")
LONGEST_ANSWER = 2_000


@dataclass(frozen=True)
class Remedies:
    """What to do about faults that are mended otherwise in a workbook than in YAML, which these are for."""

    missing: str = "Add `{key}:`."
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
    reader = _Reader(located, [], fabrics, remedies or Remedies())
    found = reader.file(provider, as_of)
    if found is not None and links is not None and not reader.problems:
        reader.bandwidths(found.answers, links)
    if reader.problems or found is None:
        raise InputError(reader.problems)
    return found


@dataclass
class _Reader:
    """Checks one file; faults go to `problems`."""

    located: Located
    problems: list[Problem]
    fabrics: Collection[str]
    remedies: Remedies

    def file(self, provider: str, as_of: Date | None) -> AnswerFile | None:
        data = self.located.data
        if not isinstance(data, dict):
            self._fault((), "must be a mapping", remedy=f"Begin with the keys {', '.join(_HEAD)}.")
            return None
        self._keys((), data, _HEAD, (*_HEAD, *_OPTIONAL_OF_FILE))
        name = self._line_of_text(("provider",), data.get("provider"))
        if name and folded(name) != folded(provider):
            remedy = "Name the right file in the params, or mend the name here."
            self._fault(("provider",), f"is not the provider of the params, {provider}", name, remedy)
        day = self._day(data.get("date"), as_of)
        who = self._line_of_text(("answered_by",), data.get("answered_by"))
        answers = self._answers(data.get("answers"))
        fabric = self._line_of_text(("fabric",), data.get("fabric"))
        if fabric and self.fabrics and fabric not in self.fabrics:
            remedy = f"One of: {', '.join(self.fabrics)}. Leave it out if none fits."
            self._fault(("fabric",), "is no fabric known here", fabric, remedy, did_you_mean(fabric, self.fabrics))
        return AnswerFile(name, day, who, answers, self.located.file, fabric)

    def bandwidths(self, answers: Mapping[str, Answer], links: Links) -> None:
        """Note every bandwidth that is above what the links carry, in a file without other faults."""
        ids = known_ids()
        index = {ids[row["question"]]: i for i, row in enumerate(self.located.data["answers"])}
        remedy = f"Mend it, or state the links of that cluster: `question: {PER_GPU}` with its value."
        for question, keys, value, reason in beyond_links(answers, links):
            self._fault(("answers", index[question], *keys), reason, value, remedy)

    def _answers(self, rows: Any) -> dict[str, Answer]:
        if not isinstance(rows, list) or not rows:
            self._fault(("answers",), "must be a list of answers", remedy=self.remedies.answers)
            return {}
        found: dict[str, Answer] = {}
        for i in range(len(rows)):
            answer = self._answer(("answers", i), rows[i])
            if answer is None:
                continue
            if answer.question in found:
                first = found[answer.question].line
                self._fault(("answers", i, "question"), f"is answered twice, first on line {first}", answer.question)
            else:
                found[answer.question] = answer
        return found

    def _answer(self, at: KeyPath, row: Any) -> Answer | None:
        if not isinstance(row, dict):
            self._fault(at, "an answer must be a mapping", row, "Write {question: ..., answer: ...}.")
            return None
        self._keys(at, row, _NEEDED_OF_ANSWER, (*_NEEDED_OF_ANSWER, *_OPTIONAL_OF_ANSWER))
        question = self._question_of((*at, "question"), row.get("question"))
        text = "" if row.get("answer") is None else self._text((*at, "answer"), row["answer"])
        document = self._line_of_text((*at, "document"), row["document"]) if "document" in row else ""
        ends = self._value((*at, "value"), row["value"]) if "value" in row else (None, None)
        if question is None:
            return None
        unit = self._unit(at, row, question)
        if unit and ends[0] is not None and ends[1] is not None:
            figure: Figure = {"low": ends[0], "high": ends[1]} if ends[0] < ends[1] else ends[0]
            self._bounded((*at, "value"), unit, bound_of_answer(question.id, unit), figure)
        measured = self._log((*at, "measured"), row["measured"]) if "measured" in row else None
        chosen = self._one_of((*at, "choice"), row.get("choice"), question.choices)
        rests_on = self._one_of((*at, "evidence"), row.get("evidence"), tuple(Proof))
        proof = Proof(rests_on) if rests_on else None
        return Answer(
            question.id, text, *ends, unit, document, measured, self.located.line_of(at), choice=chosen, evidence=proof
        )

    def _one_of(self, at: KeyPath, value: Any, known: Sequence[str]) -> str:
        """One of some words, '' if none is stated or it is another."""
        if value is None or value in known:
            return str(value or "")
        remedy = f"One of: {', '.join(known)}." if known else "Leave it out: this question has no choices."
        self._fault(at, "is none of those known here", value, remedy, did_you_mean(str(value), known))
        return ""

    def _question_of(self, at: KeyPath, value: Any) -> Question | None:
        ids, known = known_ids(), {q.id: q for q in read_questions()}
        if isinstance(value, str) and value in ids:
            return known[ids[value]]
        if value is not None:
            remedy = f"One of: {', '.join(known)}."
            self._fault(at, "is no question's id", value, remedy, did_you_mean(value, ids))
        return None

    def _unit(self, at: KeyPath, row: Mapping[str, Any], question: Question) -> str:
        unit = row.get("unit", "")
        if "value" not in row and "unit" not in row:
            return ""
        if not question.unit:
            key = "value" if "value" in row else "unit"
            self._fault((*at, key), f"{question.id} takes no value", row[key], self.remedies.words)
            return ""
        if unit != question.unit:
            where = (*at, "unit") if "unit" in row else at
            message = f"a value for {question.id} must be in {question.unit}"
            self._fault(where, message, unit, self.remedies.unit.format(unit=question.unit))
            return ""
        return str(unit)

    def _value(self, at: KeyPath, value: Any) -> tuple[float | None, float | None]:
        if isinstance(value, dict):
            if set(value) != {"low", "high"} or not all(_finite(v) for v in value.values()):
                meant = next(filter(None, map(number_remedy, value.values())), self.remedies.range)
                self._fault(at, "a range needs exactly low and high, both numbers", value, meant)
                return None, None
            ends = (float(value["low"]), float(value["high"]))
        elif _finite(value):
            ends = (float(value), float(value))
        else:
            self._fault(
                at, "must be a number or {low, high}", value, number_remedy(value) or "Words belong into `answer`."
            )
            return None, None
        if ends[0] > ends[1]:
            self._fault(at, "must rise from low to high", value)
            return None, None
        return ends

    def _bounded(self, at: KeyPath, unit: str, bound: Bound, figure: Figure) -> None:
        fault = bound.fault(figure)
        if fault:
            self._fault(at, fault, figure, f"The unit is {unit}.")

    def _log(self, at: KeyPath, value: Any) -> Log | None:
        if not isinstance(value, dict):
            self._fault(at, "must be a mapping", value, f"Write {{{', '.join(f'{k}: ...' for k in MEASURED)}}}.")
            return None
        before = len(self.problems)
        self._keys(at, value, _NEEDED_OF_MEASURED, tuple(MEASURED))
        for key, unit in MEASURED.items():
            if key not in value:
                continue
            if not _finite(value[key]) or value[key] == 0:
                remedy = number_remedy(value[key], whole=key == "gpus")
                self._fault((*at, key), "must be a number above 0", value[key], remedy)
            else:
                self._bounded((*at, key), unit, bound_of(unit), value[key])
        gpus: Any = value.get("gpus")
        if _finite(gpus) and (gpus != int(gpus) or gpus < 2):
            self._fault((*at, "gpus"), "must be a whole number of at least 2", gpus, "Count the ranks of the run.")
        if len(self.problems) > before:
            return None
        algbw = value.get("algbw_gbytes_per_s")
        return Log(
            int(value["gpus"]),
            float(value.get("size_mib", 1024)),
            float(value["busbw_gbytes_per_s"]),
            None if algbw is None else float(algbw),
        )

    def _day(self, value: Any, as_of: Date | None) -> str:
        return answered_day(value, as_of, lambda *told: self._fault(("date",), *told))

    def _line_of_text(self, at: KeyPath, value: Any) -> str:
        if value is None and len(at) == 1:
            return ""
        text = self._text(at, value, one_line=True)
        if isinstance(value, str) and not value.strip():
            self._fault(at, "is empty", value, "Write a name.")
        return text

    def _text(self, at: KeyPath, value: Any, *, one_line: bool = False) -> str:
        if not isinstance(value, str):
            self._fault(at, "must be text", value, "Put it in quotes.")
            return ""
        line, key = self.located.line_of(at), self.located.problem(at, "").key
        try:
            return clean_text(
                value, file=self.located.file, line=line, key=key, max_chars=LONGEST_ANSWER, one_line=one_line
            )
        except InputError as error:
            self.problems.extend(error.problems)
            return ""

    def _keys(self, at: KeyPath, found: Mapping[str, Any], needed: tuple[str, ...], known: tuple[str, ...]) -> None:
        for key in found:
            if key not in known:
                remedy = f"Known: {', '.join(known)}."
                self._fault((*at, key), "is no key here", "", remedy, did_you_mean(key, known))
        for key in needed:
            if key not in found or (found[key] is None and key != "answer"):
                self._fault((*at, key), f"has no `{key}`", remedy=self.remedies.missing.format(key=key))

    def _fault(self, at: KeyPath, message: str, value: object = "", remedy: str = "", suggestion: str = "") -> None:
        self.problems.append(self.located.problem(at, message, value=value, remedy=remedy, suggestion=suggestion))


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
