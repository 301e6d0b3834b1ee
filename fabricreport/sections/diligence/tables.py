"""Tables of diligence: the sellers, the questions worth most, the draft terms, and the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fabricreport.answered import Moved
from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.tables import Cell
from fabricreport.books.answers import Answer
from fabricreport.books.families import families
from fabricreport.books.names import family_names, input_names
from fabricreport.books.providers import folded
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.sections.diligence.changes import Changes, key_of
from fabricreport.sections.diligence.clauses import Clause, clauses, planned
from fabricreport.sections.diligence.result import DiligenceResult, Judged, PricedQuestion, Shortlisted

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
    told = [p for p in result.questions if p.worth > 0 or p.difference or p.own_cost]
    rows = []
    for p in (told or result.questions)[:_FIRST]:
        worth, *others = _amounts(result, p)
        rows.append([Name(p.question.title), worth if isinstance(worth, Number) else None, *others])
    heads = ["Question", *_AMOUNTS]
    kept = [place for place, _ in enumerate(heads) if not place or any(row[place] is not None for row in rows)]
    return Table([Column(heads[place]) for place in kept], [Row([row[place] for place in kept]) for row in rows])


def _amounts(result: DiligenceResult, priced: PricedQuestion) -> list[Number | str | None]:
    """What an answer is worth to the choice, and how far it moves the lead and the cost."""
    moved = (result.numbers.get(f"diligence.{name}.{priced.question.id}") for name in ("moves", "stake"))
    below = BELOW if priced.settles else None
    return [result.numbers.get(f"diligence.informs.{priced.question.id}", below), *moved]


def contract_terms(given: Inputs, result: DiligenceResult) -> Table:
    """Every question put with its clause, what the seller pays who breaks it and the tests that hold the seller to it.

    A question without a clause asks for an answer in writing alone. Where a seller has answered with a value that became the term, a column says which.
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
                    clause.text if clause else "an answer in writing",
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
