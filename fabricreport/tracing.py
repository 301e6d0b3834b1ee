"""One question followed from end to end: what was asked, what came back, what it moves, the clause, the test, the result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabricreport.answered import Moved, proof_of
from fabricreport.blocks.nodes import plain_text
from fabricreport.blocks.template import Binder
from fabricreport.books.questions import Question, known_ids, read_questions
from fabricreport.case import Case
from fabricreport.errors import InputError, Problem
from fabricreport.findings import Name
from fabricreport.ledger import Number
from fabricreport.located import did_you_mean
from fabricreport.scenario import client_slug
from fabricreport.sections.diligence.clauses import clause
from fabricreport.sections.diligence.held import TERM
from fabricreport.uncertain import Uncertain

NOT_RUN = "not run"
DRAFT = "draft for counsel's review"
RECORD = Path("acceptance") / "acceptance.json"
"""Where the judging of delivered logs is kept, in a client's folder of the output."""
Row = Mapping[str, Any]
_QUOTED = (f"{TERM}.", "diligence.answer.")
"""What ids of figures begin with that quote an answer: without it they are none."""


@dataclass(frozen=True)
class Trace:
    """What is known of one question for one client, each part as plain values.

    `answer`: one row for each seller that sent answers. `evidence`: what a useful answer rests on, what came with each, and
    the entries behind the question. `input`: what of the models an answer moves. `numbers`: figures of the memo with and
    without the answers to this question. `clause` None where the question has none here; `test` the tests that hold a seller
    to the answer; `result` what they found.
    """

    question: Row
    answer: tuple[Row, ...]
    evidence: Row
    input: Row
    numbers: tuple[Row, ...]
    clause: Row | None
    test: tuple[Row, ...]
    result: Row

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`, under the names of the parts."""
        return asdict(self)

    def as_text(self) -> str:
        """The same as lines for a terminal."""
        return "\n".join(_lines(self))


def trace(case: Case, question_id: str, output: Path) -> Trace:
    """Follow one question, named by its id or by what it was called before, for the client of a case.

    `output` is the folder of all editions, where what tests found is kept. Raises `InputError` for an id that no question
    has, with the nearest, and for a record of results that cannot be read.
    """
    question = question_of(question_id)
    moved = case.inputs.answered.of(question.id)
    before = case.without_answers(question.id) if any(m.new is not None for m in moved) else case
    return Trace(
        _asked(case, question),
        tuple(_answers(case, question)),
        _evidence(case, question),
        _moved(case, question, moved),
        tuple(_numbers(before, case, question)),
        _clause(case, question),
        tuple(_tests(case, question)),
        _result(output / client_slug(case.params) / RECORD, question),
    )


def question_of(question_id: str) -> Question:
    """The question of this id, or of this former name; `InputError` names the nearest."""
    ids = known_ids()
    if question_id not in ids:
        close = did_you_mean(question_id, ids)
        remedy = "Name a question of fabricreport/evidence/questions.yaml by its id."
        raise InputError(Problem("is no question's id", value=question_id, remedy=remedy, suggestion=close))
    return next(q for q in read_questions() if q.id == ids[question_id])


# ---- what was asked and what came back


def _asked(case: Case, question: Question) -> Row:
    put = question.id in {p.question.id for p in case.diligence().questions}
    return {
        "id": question.id,
        "formerly": question.formerly,
        "title": question.title,
        "text": question.question,
        "why": question.why,
        "good": question.good,
        "red_flag": question.red_flag,
        "accepts": [str(proof) for proof in question.accepts],
        "put_to_sellers": put,
    }


def _answers(case: Case, question: Question) -> Iterator[Row]:
    for judged in case.diligence().judged:
        answer, finding = judged.file.answers.get(question.id), judged.findings.get(question.id)
        if finding is None:
            continue
        said: dict[str, Any] = {"text": "", "choice": "", "value": None, "unit": question.unit, "measured": None}
        if answer is not None:
            value = None if answer.low is None else {"low": answer.low, "high": answer.high}
            measured = asdict(answer.measured) if answer.measured else None
            said = {**said, "text": answer.text, "choice": answer.choice, "value": value, "measured": measured}
        yield {
            "provider": judged.file.provider,
            "date": judged.file.date,
            "answered_by": judged.file.answered_by,
            **said,
            "verdict": finding.verdict,
            "reason": finding.reason,
        }


def _evidence(case: Case, question: Question) -> Row:
    came = [
        {"provider": file.provider, "rests_on": str(proof_of(answer)), "document": answer.document}
        for file in case.inputs.answer_files
        if (answer := file.answers.get(question.id)) is not None
    ]
    keys = ("id", "label", "text", "grade", "date", "source", "publisher")
    entries = [{key: record[key] for key in keys} for record in map(case.record, question.evidence)]
    return {"accepted": [str(proof) for proof in question.accepts], "given": came, "behind_the_question": entries}


# ---- what it moves


def _moved(case: Case, question: Question, moved: tuple[Moved, ...]) -> Row:
    priced = next((p for p in case.diligence().questions if p.question.id == question.id), None)
    rows = [
        {
            "provider": m.provider,
            "id": m.input_id,
            "before": _written(m.old),
            "after": _written(m.new),
            "rests_on": str(m.proof),
            "reason": m.reason,
        }
        for m in moved
    ]
    return {"effect": question.effect, "moved": rows, "settles": list(priced.settles) if priced else []}


def _written(figure: Uncertain | None) -> object:
    return None if figure is None else figure.written()


def _numbers(before: Case, after: Case, question: Question) -> Iterator[Row]:
    """The advice, the headline figures and those of the question, without and with its answers."""
    advice = [_advice(case) for case in (before, after)]
    yield {"id": "advice", "label": "Advice", "before": advice[0], "after": advice[1], "moved": advice[0] != advice[1]}
    ids = dict.fromkeys(i for case in (before, after) for i in _ids(case, question))
    for figure_id in ids:
        quoted = figure_id.startswith(_QUOTED)
        pair = [None if quoted else _figure(before, figure_id), _figure(after, figure_id)]
        told = next(number for number in reversed(pair) if number is not None)
        values = [None if number is None else number.as_dict()["value"] for number in pair]
        yield {
            "id": figure_id,
            "label": told.label,
            "unit": told.unit,
            "before": pair[0].text if pair[0] else None,
            "after": pair[1].text if pair[1] else None,
            "before_value": values[0],
            "after_value": values[1],
            "moved": values[0] != values[1],
        }


def _advice(case: Case) -> str:
    verdict = case.decision().verdict
    return f"{case.decision().courses.advised.id}, {verdict.confidence}"


def _ids(case: Case, question: Question) -> Iterator[str]:
    """Figures in which an answer to the question may show: those of the headline, and the question's own."""
    yield from ("decision.difference", "decision.probability")
    parts = ("decision.total.", "decision.offers.total.", "decision.offers.useful_hour.")
    yield from (i for i in case.decision().numbers if i.startswith(parts))
    result = case.diligence()
    yield from (i for i in result.numbers if i.endswith(f".{question.id}") or f".{question.id}." in i)
    found = clause(case.inputs, result, question)
    if found is not None:
        yield from (i for i in found.figures if i in result.numbers)
        yield from (number.id for number in found.breach)


def _figure(case: Case, figure_id: str) -> Number | None:
    try:
        return case.figure(figure_id)
    except KeyError:
        return None


# ---- what holds the seller to it


def _clause(case: Case, question: Question) -> Row | None:
    result = case.diligence()
    found = clause(case.inputs, result, question)
    if found is None:
        return None
    words = {"option": Name(result.option.name), "rival": Name(result.rival.name)}
    return {
        "id": question.id,
        "text": plain_text(Binder(case.figure, words).inline(found.text)),
        "answered_by": found.seller,
        "figures": list(found.figures),
        "breach": [
            {"id": number.id, "text": number.text, "value": number.as_dict()["value"]} for number in found.breach
        ],
        "note": DRAFT,
    }


def _tests(case: Case, question: Question) -> Iterator[Row]:
    """The tests of the acceptance plan, stage by stage; where the course is open, those of the rival's plan too."""
    result = case.diligence()
    names = {o.id: o.name for o in case.options}
    for plan in filter(None, (result.plan, result.plan_of_rival)):
        for test in plan.tests:
            if test.id in question.tests:
                yield {
                    "id": test.id,
                    "title": test.title,
                    "option": names[plan.option],
                    "stage": test.stage,
                    "gpus": test.gpus,
                    "command": test.command,
                    "runs": test.runs,
                    "thresholds": [
                        {"gpus": gpus, "bytes": size, "value": value} for (gpus, size), value in test.thresholds.items()
                    ],
                    "unit": test.unit,
                    "at_least": test.at_least,
                }


def _result(path: Path, question: Question) -> Row:
    """What was found when logs were judged: every test of the question, or that none was run."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {"verdict": NOT_RUN, "tests": []}
    except OSError as error:
        raise InputError(Problem(f"cannot be read ({error.strerror or error})", str(path))) from error
    remedy = "Judge the logs again with fabricreport accept."
    try:
        found = json.loads(text)
        tests = [t for t in found["tests"] if t["id"] in question.tests or question.id in t["questions"]]
        verdicts = {str(t["verdict"]) for t in tests}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(Problem("is no record of judged logs", str(path), remedy=remedy)) from error
    worst = next((v for v in ("fail", "not proven", "pass") if v in verdicts), NOT_RUN)
    return {"verdict": worst, "as_of": found.get("as_of"), "tests": tests}


# ---- as text


def _lines(found: Trace) -> Iterator[str]:
    q = found.question
    yield f"{q['id']} {q['title']}"
    yield f"  {q['text']}"
    yield f"  why: {q['why']}"
    yield f"  accepted: {', '.join(q['accepts']) or 'not said'}"
    if not q["put_to_sellers"]:
        yield "  not put to this client's sellers"
    yield "Answer" if found.answer else "Answer: none"
    for a in found.answer:
        yield f"  {a['provider']}, {a['date']}: {a['text'] or '–'}"
        yield f"    {a['verdict']}: {a['reason']}"
    rests = {g["provider"]: g["rests_on"] for g in found.evidence["given"]}
    yield "Evidence: " + ("; ".join(f"{who} gives a {what}" for who, what in rests.items()) or "none")
    yield f"Input: {found.input['effect'] or 'none moved'}"
    for m in found.input["moved"]:
        became = (
            f"{_shown(m['before'])} -> {_shown(m['after'])}"
            if m["after"] is not None
            else f"moves nothing: {m['reason']}"
        )
        yield f"  {m['id'] or m['provider']}: {became}"
    yield "Numbers"
    yield from (f"  {n['id']}: {_change(n)}" for n in found.numbers)
    yield f"Clause ({DRAFT})" if found.clause else "Clause: none"
    if found.clause:
        yield f"  {found.clause['text']}"
        yield from (f"  breaking it costs {b['text']}" for b in found.clause["breach"])
    yield "Test: " + (", ".join(dict.fromkeys(t["id"] for t in found.test)) or "none")
    yield from (f"  {t['id']} {t['title']}: {t['option']}, {t['gpus']:,} GPUs, runs: {t['runs']}" for t in found.test)
    yield f"Result: {found.result['verdict']}"
    yield from (f"  {t['id']}: {t['verdict']}, {t.get('reason', '')}" for t in found.result["tests"])


def _change(row: Row) -> str:
    return f"{row['before'] or '–'} -> {row['after'] or '–'}" if row["moved"] else str(row["after"])


def _shown(figure: object) -> str:
    if isinstance(figure, Mapping):
        return ", ".join(f"{key} {value:.4g}" for key, value in figure.items())
    return "nothing" if figure is None else f"{figure:.4g}"
