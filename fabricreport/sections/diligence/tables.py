"""Tables of diligence: the sellers, the questions worth most, the draft terms, the answers, and the acceptance plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from fabricreport.base.formats import NBSP
from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.tables import Cell
from fabricreport.books.acceptance import Setting, read_acceptance
from fabricreport.books.answers import Answer
from fabricreport.books.equipment import families
from fabricreport.books.names import family_names, input_names, option_names
from fabricreport.books.sellers import folded
from fabricreport.inputs.answers import Moved
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number
from fabricreport.sections.diligence.clauses import Clause, clauses, planned
from fabricreport.sections.diligence.plan.result import Line, Plan, PlannedTest, ethernets, managed
from fabricreport.sections.diligence.result import Changes, DiligenceResult, Judged, PricedQuestion, Shortlisted, key_of

_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
NOT_IN_STEP = " (not in the step)"
CREDIT_AT = "Credit starts at"
AT_LEAST, AT_MOST, EXACTLY = "≥", "≤", "="
TO_STATE = "the seller states it"
PAID_LATE = "weeks"
"""What a test pays by damages, and by no credit."""


def stage_numbers(plan: Plan) -> tuple[int, ...]:
    """The stages of a plan, in order."""
    return tuple(dict.fromkeys(test.stage for test in plan.tests))


def _plans(result: DiligenceResult) -> tuple[Plan, ...]:
    return tuple(plan for plan in (result.plan, result.plan_of_rival) if plan is not None and plan.tests)


def tests(given: Inputs, result: DiligenceResult) -> Mapping[str, Table]:
    """What each stage runs and has to show on all its GPUs, by number of the stage; for either option where the course is open."""
    return {str(stage): _tests(given, result, stage) for stage in stage_numbers(result.plan)}


def _tests(given: Inputs, result: DiligenceResult, stage: int) -> Table:
    plans, short = _plans(result), option_names(given.options)
    rows = []
    for test in _of(result.plan, stage):
        others = [_same(plan, test) for plan in plans]
        lines = [None if other is None else line(other) for other in others]
        rows.append(
            Row(
                [
                    Name(f"{test.id}: {test.title}{NOT_IN_STEP if test.by_step is False else ''}"),
                    _spanned(result, test),
                    EXACTLY if test.unit == "ratio" else AT_LEAST if test.at_least else AT_MOST,
                    *(None if one is None else one.floor for one in lines),
                    *(
                        None if one is None or test.price is None or test.pays == PAID_LATE else one.credit
                        for one in lines
                    ),
                    test.repeats,
                    test.false_fail,
                ]
            )
        )
    return Table(
        [Column("Test"), Column("On"), Column(""), *_heads([short[plan.option].short for plan in plans])], rows
    )


def _heads(options: Sequence[str]) -> list[Column]:
    """Columns of the values, of either option where the course is open; a seller reads them, so not where a saving is gone."""
    heads = ("Pass", CREDIT_AT)
    values = heads if len(options) == 1 else [Name(f"{head}, {option}") for head in heads for option in options]
    return [*_mixed(*values), Column("Runs"), *_mixed("By chance")]


def credits(given: Inputs, result: DiligenceResult) -> Table:
    """What is credited for bandwidth on all GPUs: from where, for each percent and at most, by stage and by network."""
    both, short = _plans(result), option_names(given.options)
    agreed = {t.option: t for t in (result.terms, result.terms_of_rival) if t is not None}
    rows = []
    for plan in both:
        terms = agreed[plan.option]
        for test in plan.of(terms.exchange.test):
            if test.stage not in terms.credits:
                continue
            credit, lowest = terms.credits[test.stage], line(test).credit
            named = [Name(short[plan.option].short)] if len(both) > 1 else []
            cells = [
                _spanned(result, test),
                lowest,
                credit.rate,
                credit.most,
                "share of what is paid" if credit.ends else "all of it lost",
            ]
            rows.append(Row([*named, Name(f"Stage {test.stage}"), *cells]))
    heads = [*(["Network"] if len(both) > 1 else []), "Order", "On"]
    paid = (CREDIT_AT, "For each percent", "At most")  # with the digits that letters and clauses tell them with
    return Table([*map(Column, heads), *_mixed(*paid), Column("Which is")], rows)


def _spanned(result: DiligenceResult, test: PlannedTest) -> Number | None:
    """The GPUs of the run whose line is shown; None where a test is of two adapters, or of the record."""
    return result.numbers.get(f"diligence.run_gpus.{max(gpus for gpus, _ in test.lines)}")


def thresholds(given: Inputs, result: DiligenceResult) -> Mapping[str, Table]:
    """Every threshold of large messages of a stage, by GPUs of the run and message size, GB/s."""
    return {str(s): _by_size(given, result, s, "gbytes/s") for s in stage_numbers(result.plan)}


def ceilings(given: Inputs, result: DiligenceResult) -> Mapping[str, Table]:
    """Every threshold of small messages of a stage, in the same form, µs."""
    return {str(s): _by_size(given, result, s, "us") for s in stage_numbers(result.plan)}


def _by_size(given: Inputs, result: DiligenceResult, stage: int, unit: str) -> Table:
    plans, short = _plans(result), option_names(given.options)
    named = len(plans) > 1
    found = [(plan, t) for plan in plans for t in _of(plan, stage) if t.unit == unit and all(s for _, s in t.bars)]
    sizes = sorted({size for _, test in found for _, size in test.bars})
    rows = [
        Row(
            [
                *([Name(short[plan.option].short)] if named else []),
                Name(test.id),
                result.numbers[f"diligence.run_gpus.{gpus}"],
                *cells,
            ]
        )
        for plan, test in found
        for gpus, cells in _cells(test, sizes)
    ]
    heads = [*([Column("Fabric")] if named else []), Column("Test"), Column("On")]
    return Table([*heads, *(Column(Name(size_text(size)), style="mixed") for size in sizes)], rows)


def _cells(test: PlannedTest, sizes: Sequence[int]) -> Iterator[tuple[int, list[Number | None]]]:
    for gpus in sorted({gpus for gpus, _ in test.bars}):
        yield gpus, [test.bars.get((gpus, size)) for size in sizes]


def size_text(size: int) -> str:
    """A message size as the benchmark's flags write it, spelt out."""
    return next((f"{size // by}{NBSP}{unit}" for by, unit in _UNITS if size >= by), f"{size}{NBSP}B")


def _of(plan: Plan, stage: int) -> tuple[PlannedTest, ...]:
    return tuple(test for test in plan.tests if test.stage == stage)


def _same(plan: Plan, test: PlannedTest) -> PlannedTest | None:
    return next((t for t in plan.tests if (t.id, t.stage) == (test.id, test.stage)), None)


def line(test: PlannedTest) -> Line:
    """The line on the most GPUs at the smallest size."""
    most = max(gpus for gpus, _ in test.lines)
    return test.lines[min(key for key in test.lines if key[0] == most)]


def shown(test: PlannedTest) -> Number:
    """The floor on the most GPUs at the smallest size."""
    return line(test).floor


# ---- the sheets


def lossless(given: Inputs, result: DiligenceResult) -> Table:
    """What the seller states of a lossless Ethernet fabric, and how it is seen; the headroom for each option compared."""
    rows: list[Row] = []
    for row in read_acceptance().sheet("lossless"):
        if row.formula:
            rows += [
                Row(
                    [
                        f"{row.what}: {{{i}}}, a port of {{diligence.port_rate.{i}}}, at least",
                        result.numbers[f"diligence.headroom.{i}"],
                        *_rest(row, result),
                    ]
                )
                for i in ethernets(given)
            ]
        else:
            rows.append(_setting(row, result))
    return replace(_sheet(rows), values={i: Name(o.name) for i, o in ethernets(given).items()})


def manager(given: Inputs, result: DiligenceResult) -> Table:
    """The same of a subnet manager."""
    return _sheet([_setting(row, result) for row in read_acceptance().sheet("manager")])


def isolation(given: Inputs, result: DiligenceResult) -> Table:
    """The same of what keeps tenants apart, for the kinds of fabric compared."""
    kinds = {"marked": bool(ethernets(given)), "managed": bool(managed(given))}
    return _sheet([_setting(row, result) for row in read_acceptance().sheet("isolation") if kinds[row.of]])


def _setting(row: Setting, result: DiligenceResult) -> Row:
    return Row([Name(row.what), Name(row.stated or TO_STATE), *_rest(row, result)])


def _rest(row: Setting, result: DiligenceResult) -> list[Cell]:
    return [Name(row.verify), Name(row.asks) if row.asks in result.put else None, ""]


def _sheet(rows: Sequence[Row]) -> Table:
    heads = [
        Column("Setting"),
        Column("What sources say", style="mixed"),
        Column("Seen by"),
        Column("Answer to"),
        Column("Value"),
    ]
    return Table(heads, rows)


def signatures(given: Inputs) -> Table:
    """The lines on which client and seller sign."""
    rows = [Row([Name(who), "", "", ""]) for who in (str(given.params.client.name), "Seller", "Witness of the tests")]
    return Table([Column(h) for h in ("Party", "Name", "Day", "Signature")], rows)


NOT_DOCUMENTED = "not documented"
_ANSWERED = (("Size", "Q-NET-06"), ("Isolation", "Q-NET-14"))
"""Columns of what a seller answered that no article lists, by the question."""
BELOW = "below noise"
_FIRST = 8
"""How many questions a short table holds."""
_AMOUNTS = ("Worth before cost and wait", "Moves the saving by", "Moves the cost by")
NEITHER = "neither"
SHARE = "share"


def _fabric(documented: str) -> str:
    """What a seller documents, in words."""
    return family_names(documented).phrase if documented in families() else "by host"


def _mixed(*labels: str) -> list[Column]:
    return [Column(label, style="mixed") for label in labels]


def shortlist(result: DiligenceResult) -> Table:
    """The sellers of the client's list by what matters to it, the ones with the least open first, and what each leaves open.

    Which columns there are follows from the client: answers where any seller has given some, and isolation then where several
    tenants share the fabric.
    """
    columns = _compared(result)
    if any(s.gaps for s in result.shown):
        columns.append(("Left open", lambda s: "; ".join(s.gaps) or None))
    rows = [Row([Name(s.name), *(cell(s) for _, cell in columns)]) for s in result.shown]
    return Table([Column(head) for head in ("Seller", *(head for head, _ in columns))], rows)


def _compared(result: DiligenceResult) -> list[tuple[str, Callable[[Shortlisted], Cell]]]:
    """The heads of the columns that matter to this client, each with its cell for a seller."""
    numbers = result.numbers
    found: list[tuple[str, Callable[[Shortlisted], Cell]]] = [
        ("Network", lambda s: Name(_fabric(s.seller.fabric) if s.seller else "not known")),
        ("Link, at most", lambda s: numbers.get(f"diligence.link.{s.seller.id}") if s.seller else None),
        ("Every node", lambda s: ("yes" if s.seller.every_gpu_node else "no") if s.seller else None),
        ("Topology as documented", lambda s: Name((s.seller.stated_topology if s.seller else "") or NOT_DOCUMENTED)),
    ]
    found.append(("Credit, at most", lambda s: numbers.get(f"diligence.credit.{s.seller.id}") if s.seller else None))
    if result.judged:
        for head, question in _ANSWERED:
            if question in {p.question.id for p in result.questions}:
                found.append((head, lambda s, q=question: _verdict(result, s.name, q)))  # type: ignore[misc]
        found.append(("Answered", lambda s: numbers.get(f"diligence.answers.{key_of(s.name)}.specific")))
    return found


def _verdict(result: DiligenceResult, seller: str, question: str) -> str | None:
    judged = next((j for j in result.judged if folded(j.file.provider) == folded(seller)), None)
    return judged.findings[question].verdict if judged and question in judged.findings else None


def first_questions(result: DiligenceResult) -> Table:
    """The questions whose answers are worth something or move an amount, the first of the list."""
    rows = []
    for p in result.first[:_FIRST]:
        worth, *others = _amounts(result, p)
        rows.append([Name(p.question.title), worth if isinstance(worth, Number) else None, *others])
    heads = ["Question", *_AMOUNTS]
    kept = [place for place, _ in enumerate(heads) if not place or any(row[place] is not None for row in rows)]
    columns = [Column(heads[n], "mixed" if n == 1 else "value") for n in kept]  # a worth is told as page one tells it
    return Table(columns, [Row([row[place] for place in kept]) for row in rows])


def _amounts(result: DiligenceResult, priced: PricedQuestion) -> list[Number | str | None]:
    """What an answer is worth to the choice, and how far it moves the lead and the cost."""
    moved = (result.numbers.get(f"diligence.{name}.{priced.question.id}") for name in ("moves", "stake"))
    below = BELOW if priced.settles else None
    return [result.numbers.get(f"diligence.informs.{priced.question.id}", below), *moved]


def contract_terms(given: Inputs, result: DiligenceResult) -> Table:
    """Every question put with its clause, what the seller pays who breaks it and the tests that hold the seller to it.

    A question without a clause makes the written answer a term. Where a seller has answered with a value that became the term, a column says which.
    """
    found = {clause.question.id: clause for clause in clauses(given, result)}
    answered = any(clause.seller for clause in found.values())
    rows = []
    for question in sorted((p.question for p in result.questions), key=lambda q: q.id):
        clause = found.get(question.id)
        seller = Name(clause.seller) if clause and clause.seller else None
        rows.append(
            Row(
                [
                    Name(question.id),
                    clause.text if clause else "the seller’s answer in writing",
                    *([seller] if answered else []),
                    _breaking(clause) if clause else None,
                    Name(", ".join(planned(result, question))) or None,
                ]
            )
        )
    heads = ["Question", "Draft term", *(["As answered by"] if answered else []), "Breach: the seller pays", "Tests"]
    return Table([Column(head) for head in heads], rows, clause_words(result))


def _breaking(clause: Clause) -> str | None:
    """What the seller pays who breaks a clause, as cells refer to it."""
    return " or ".join(f"{{{number.id}}}" for number in clause.breach) or None


def clause_words(result: DiligenceResult) -> Mapping[str, object]:
    """The words that a clause may hold."""
    exchange = result.terms.exchange.name
    return {"option": Name(result.option.name), "rival": Name(result.rival.name), "exchange": Name(exchange)}


def answers(result: DiligenceResult) -> Mapping[str, Table]:
    """Each seller's answers with the verdicts, by the seller's key."""
    return {key_of(j.file.provider): _answers(result, j) for j in result.judged}


def _answered(answer: Answer | None) -> str:
    """An answer in the seller's words, with the document that came with it, which nobody opened for the memo."""
    if answer is None:
        return "–"
    return " ".join(filter(None, [answer.text or "–", answer.document and f"({answer.document})"]))


def _answers(result: DiligenceResult, judged: Judged) -> Table:
    given = judged.file.answers
    rows = [
        Row(
            [
                Name(q),
                Name(result.book.question(q).title),
                Name(_answered(given.get(q))),
                result.numbers.get(f"diligence.answer.{key_of(judged.file.provider)}.{q}"),
                found.verdict,
                found.reason,
            ]
        )
        for q, found in judged.findings.items()
    ]
    heads = [Column("Id"), Column("Question"), Column("Answer"), *_mixed("Value"), Column("Verdict"), Column("Because")]
    return Table(heads, rows)


def changes(given: Inputs, result: DiligenceResult) -> Mapping[str, Table]:
    """What each seller's answers move, and what is advised with each question's answers alone, by the seller's key."""
    found = result.changes
    return {key_of(s): _changes(given, result, found, s) for s in found.sellers} if found else {}


def _changes(given: Inputs, result: DiligenceResult, found: Changes, seller: str) -> Table:
    rows = [
        Row(
            [
                Name(m.question),
                str(m.proof),
                Name(_moved_label(given, m)),
                _range_of(result, "before", key),
                _range_of(result, "after", key),
                Name(found.alone[m.question].course or NEITHER),
                result.numbers.get(f"diligence.lead_alone.{m.question}"),
            ]
        )
        for key, m in found.of_seller(seller).items()
    ]
    for outcome, which, label in (
        (found.without, "without", "no answer"),
        (found.together, "together", "all answers"),
    ):
        row = [label, None, None, None, None, Name(outcome.course or NEITHER)]
        rows.append(Row([*row, result.numbers.get(f"diligence.lead_{which}")], role="total"))
    heads = ("Question", "Rests on", "Moves", "Before", "After", "Advised", "Lead")
    return Table([Column(h) for h in heads], rows)


def _moved_label(given: Inputs, moved: Moved) -> str:
    """What an answer moves, in the words of its entry; a term of an offer by its name."""
    if moved.input_id.startswith(("evidence:", "param:")):
        return input_names(given, moved.input_id).row
    return f"{moved.effect} of the offer"


def _range_of(result: DiligenceResult, when: str, key: str) -> str | None:
    """Both ends of a figure, as cells refer to them; one where they are the same."""
    ends = [f"diligence.{when}_{end}.{key}" for end in ("low", "high")]
    if ends[0] not in result.numbers:
        return None
    low, high = (result.numbers[end] for end in ends)
    if low.value == high.value:
        return f"{{{ends[0]}}}"
    first = f"{{{ends[0]}}}" if low.unit == SHARE else f"{{{ends[0]}:bare}}"  # a share is printed in percent
    return f"{first} to {{{ends[1]}}}"
