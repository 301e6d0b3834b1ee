"""One question followed from end to end: what was asked, what came back, what it moves, the clause, the test, the result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.base.uncertain import Uncertain
from fabricreport.blocks.nodes import plain_text
from fabricreport.blocks.template import Binder
from fabricreport.books.sellers import Question, known_ids, read_questions
from fabricreport.case import Case
from fabricreport.inputs.answers import proof_of
from fabricreport.ledger.numbers import Number
from fabricreport.scenario import client_slug
from fabricreport.sections.diligence.clauses import TERM, clause
from fabricreport.sections.diligence.plan.result import PlannedTest
from fabricreport.sections.diligence.tables import clause_words

NOT_RUN = "not run"
DRAFT = "draft for counsel's review"
RECORD = Path("acceptance") / "acceptance.json"
"""Where the judging of delivered logs is kept, in a client's folder of the output."""
Row = Mapping[str, Any]


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
    moves = any(m.new is not None for m in case.inputs.answered.of(question.id))
    return Trace(
        question=_asked(case, question),
        answer=tuple(_answers(case, question)),
        evidence=_evidence(case, question),
        input=_moved(case, question),
        numbers=tuple(_numbers(case.without_answers(question.id) if moves else case, case, question)),
        clause=_clause(case, question),
        test=tuple(_tests(case, question)),
        result=_result(output / client_slug(case.params) / RECORD, question),
    )


def question_of(question_id: str) -> Question:
    """The question of this id, or of this former name; `InputError` names the nearest."""
    ids = known_ids()
    if question_id not in ids:
        close = did_you_mean(question_id, ids)
        remedy = "Name a question by its id, as the form of `fabricreport questionnaire` does."
        raise InputError(Problem("is no question's id", value=question_id, remedy=remedy, suggestion=close))
    return next(q for q in read_questions() if q.id == ids[question_id])


def _of(thing: object, names: str) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names.split()}


def _asked(case: Case, question: Question) -> Row:
    told = {"text": question.question, "accepts": [str(proof) for proof in question.accepts]}
    put = question.id in {p.question.id for p in case.diligence().questions}
    return _of(question, "id formerly title why good red_flag") | told | {"put_to_sellers": put}


def _answers(case: Case, question: Question) -> Iterator[Row]:
    for judged in case.diligence().judged:
        answer, finding = judged.file.answers.get(question.id), judged.findings.get(question.id)
        if finding is None:
            continue
        said: dict[str, Any] = {"text": "", "choice": "", "value": None, "unit": question.unit, "measured": None}
        if answer is not None:
            said |= _of(answer, "text choice")
            said["value"] = None if answer.low is None else _of(answer, "low high")
            said["measured"] = asdict(answer.measured) if answer.measured else None
        yield _of(judged.file, "provider date answered_by") | said | _of(finding, "verdict reason")


def _evidence(case: Case, question: Question) -> Row:
    came = [
        {"provider": file.provider, "rests_on": str(proof_of(answer)), "document": answer.document}
        for file in case.inputs.answer_files
        if (answer := file.answers.get(question.id)) is not None
    ]
    keys = ("id", "label", "text", "grade", "date", "source", "publisher")
    entries = [{key: record[key] for key in keys} for record in map(case.record, question.evidence)]
    return {"accepted": [str(proof) for proof in question.accepts], "given": came, "behind_the_question": entries}


def _moved(case: Case, question: Question) -> Row:
    priced = next((p for p in case.diligence().questions if p.question.id == question.id), None)
    rows = [
        _of(m, "provider reason")
        | {"id": m.input_id, "rests_on": str(m.proof), "before": _written(m.old), "after": _written(m.new)}
        for m in case.inputs.answered.of(question.id)
    ]
    return {"effect": question.effect, "moved": rows, "settles": list(priced.settles) if priced else []}


def _written(figure: Uncertain | None) -> object:
    return None if figure is None else figure.written()


def _numbers(before: Case, after: Case, question: Question) -> Iterator[Row]:
    """The advice, the headline figures and those of the question, without and with its answers."""
    advice = [f"{d.courses.advised.id}, {d.verdict.confidence}" for d in (before.decision(), after.decision())]
    yield {"id": "advice", "label": "Advice", "before": advice[0], "after": advice[1], "moved": advice[0] != advice[1]}
    for figure_id in dict.fromkeys(i for case in (before, after) for i in _ids(case, question)):
        quotes = figure_id.startswith((f"{TERM}.", "diligence.answer."))  # without the answer it is none
        pair = [None if quotes else _figure(before, figure_id), _figure(after, figure_id)]
        told = next(number for number in reversed(pair) if number is not None)
        texts = [number and number.text for number in pair]
        values = [number and number.as_dict()["value"] for number in pair]
        pairs = {"before": texts[0], "after": texts[1], "before_value": values[0], "after_value": values[1]}
        yield _of(told, "id label unit") | pairs | {"moved": values[0] != values[1]}


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


def _clause(case: Case, question: Question) -> Row | None:
    result = case.diligence()
    found = clause(case.inputs, result, question)
    if found is None:
        return None
    text = plain_text(Binder(case.figure, clause_words(result)).inline(found.text))
    breach = [{"id": n.id, "text": n.text, "value": n.as_dict()["value"]} for n in found.breach]
    told = {"text": text, "answered_by": found.seller, "figures": list(found.figures), "breach": breach}
    return {"id": question.id, **told, "note": DRAFT}


def _tests(case: Case, question: Question) -> Iterator[Row]:
    """The tests of the acceptance plan, stage by stage; where the course is open, those of the rival's plan too."""
    result, names = case.diligence(), {o.id: o.name for o in case.options}
    for plan in filter(None, (result.plan, result.plan_of_rival)):
        for test in (test for test in plan.tests if test.id in question.tests_of(result.terms.exchange.test)):
            limits = [_limit(test, *point) for point in test.thresholds]
            told = _of(test, "id title stage gpus command runs unit at_least")
            yield told | {"option": names[plan.option], "thresholds": limits}


def _limit(test: PlannedTest, gpus: int, size: int) -> Row:
    """A floor with where the credit begins."""
    line = test.lines[gpus, size]
    return {"gpus": gpus, "bytes": size, "value": line.floor.value, "credit_from": line.credit.value}


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


def _lines(found: Trace) -> Iterator[str]:
    q = found.question
    yield f"{q['id']} {q['title']}\n  {q['text']}\n  why: {q['why']}\n  accepted: {', '.join(q['accepts']) or 'not said'}"
    if not q["put_to_sellers"]:
        yield "  not put to this client's sellers"
    yield "Answer" if found.answer else "Answer: none"
    for a in found.answer:
        yield f"  {a['provider']}, {a['date']}: {a['text'] or '–'}\n    {a['verdict']}: {a['reason']}"
    rests = {g["provider"]: g["rests_on"] for g in found.evidence["given"]}
    yield "Evidence: " + ("; ".join(f"{who} gives a {what}" for who, what in rests.items()) or "none")
    yield f"Input: {found.input['effect'] or 'none moved'}"
    for m in found.input["moved"]:
        became = f"{_shown(m['before'])} -> {_shown(m['after'])}"
        yield f"  {m['id'] or m['provider']}: {became if m['after'] is not None else 'moves nothing: ' + m['reason']}"
    yield "Numbers"
    for n in found.numbers:
        yield f"  {n['id']}: " + (f"{n['before'] or '–'} -> {n['after'] or '–'}" if n["moved"] else str(n["after"]))
    yield f"Clause ({DRAFT})\n  {found.clause['text']}" if found.clause else "Clause: none"
    yield from (f"  the seller pays {b['text']}" for b in (found.clause or {"breach": ()})["breach"])
    yield "Test: " + (", ".join(dict.fromkeys(t["id"] for t in found.test)) or "none")
    yield from (f"  {t['id']} {t['title']}: {t['option']}, {t['gpus']:,} GPUs, runs: {t['runs']}" for t in found.test)
    yield f"Result: {found.result['verdict']}"
    yield from (f"  {t['id']}: {t['verdict']}, {t.get('reason', '')}" for t in found.result["tests"])


def _shown(figure: object) -> str:
    if isinstance(figure, Mapping):
        return ", ".join(f"{key} {value:.4g}" for key, value in figure.items())
    return "nothing" if figure is None else f"{figure:.4g}"
