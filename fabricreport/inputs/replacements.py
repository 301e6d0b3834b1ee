"""What stands in place of the library's figures: the client's overrides, and what its experts answered, scored
and pooled; and what is then in force."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, OutOfRange, Problem
from fabricreport.base.uncertain import Judgement, Replaced, Scaled, Uncertain
from fabricreport.base.vocabulary import Grade
from fabricreport.books.elicitation import ExpertFile, Questionnaire, read_expert, read_questionnaire
from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.prices.book import Price, PriceBook, PriceView
from fabricreport.models.audit.disagreement import Contested
from fabricreport.models.judgement.elicitation import Score, multiple, pool, scores
from fabricreport.scenario import Override, Params, Reference

Figures = Mapping[str, tuple[Uncertain, Replaced | None]]


@dataclass(frozen=True)
class Overridden:
    """An override as the params state it, and the entry whose value it takes in the end ('' for a figure)."""

    stated: Override
    follows: str = ""


@dataclass(frozen=True)
class Resolved:
    """Overrides by the id they replace, the figures they put in force, and the prices with those only they state."""

    overrides: Mapping[str, Overridden]
    figures: Figures
    prices: PriceView


@dataclass(frozen=True)
class InForce:
    """What speaks for an input once references are followed and replacements are in force.

    `id`: the input itself, or the entry that a key of the params refers to. `value`: its figure in its own unit and currency,
    the sources that disagree on it, or what no figure is made of. `follows`: the input whose draws it takes, itself or the
    entry that an override refers to in the end. `unit`: of an entry, its money written `usd` whatever the currency.
    `currency`: of a price; all other money is in US dollars. `group`: of the entries that move together.
    """

    id: str
    value: Any
    follows: str
    unit: str = ""
    currency: str = ""
    group: str = ""

    @property
    def figure(self) -> Uncertain:
        """The figure; `TypeError` for words."""
        if isinstance(self.value, str):
            raise TypeError(f"{self.id.replace(':', ' ')} is text: it has no number to draw")
        return self.value.prior if isinstance(self.value, Contested) else Uncertain.of(self.value)

    @property
    def moves_with_others(self) -> bool:
        """Whether its draws are tied to those of its group."""
        return bool(self.group) and not self.figure.fixed


def resolved(
    params: Params,
    evidence: EvidenceBook,
    price_book: PriceBook,
    prices: PriceView,
    quantities: Collection[str],
    elicited: Figures,
) -> Resolved:
    """Every override of the params that names an entry of the books; the others are for `sections.faults` to refuse.

    What experts judged stands where no override does.
    """
    stated = {o.id: o for o in params.overrides}
    overrides = {i: Overridden(o, _followed(i, stated)) for i, o in stated.items()}
    figures: dict[str, tuple[Uncertain, Replaced | None]] = {}
    for input_id, override in overrides.items():
        old = _in_book(input_id, evidence, prices)
        value = _in_force(override, stated, evidence, prices)
        kind, _, name = input_id.partition(":")
        if value is None or (old is None and kind == "evidence") or (kind == "contested" and name not in quantities):
            continue
        said = override.stated
        figures[input_id] = (
            value,
            Replaced(said.who, said.why, str(said.until), old, override.follows, restates=value == old),
        )
        if kind == "price":
            prices = _standing_in(name, value, said, price_book, prices)
    return Resolved(overrides, {**elicited, **figures}, prices)


def deciding(params: Params) -> tuple[object, ...]:
    """What of the params decides which figures of the books are in force, apart from answers."""
    return params.as_of, params.overrides, params.elicited, params.offers


def followed(input_id: str, stated: Mapping[str, Override]) -> str:
    """The entry an override's references lead to; `OutOfRange` if they lead back to themselves."""
    met: list[str] = []
    while input_id in stated and isinstance(stated[input_id].value, Reference):
        if input_id in met:
            raise OutOfRange(Problem(f"the overrides {', '.join(met)} refer to each other", key=input_id))
        met.append(input_id)
        input_id = str(stated[input_id].value)
    return input_id


def _followed(input_id: str, stated: Mapping[str, Override]) -> str:
    try:
        end = followed(input_id, stated)
    except OutOfRange:  # told by `sections.faults`, with its place in the params
        return ""
    return "" if end == input_id else end


def _in_force(
    override: Overridden, stated: Mapping[str, Override], evidence: EvidenceBook, prices: PriceView
) -> Uncertain | None:
    value = override.stated.value
    if not isinstance(value, Reference):
        return Uncertain.of(value)
    other = stated.get(override.follows)
    if other is not None and not isinstance(other.value, Reference):
        return Uncertain.of(other.value)
    return _in_book(override.follows, evidence, prices) if override.follows else None


def _in_book(input_id: str, evidence: EvidenceBook, prices: PriceView) -> Uncertain | None:
    kind, _, name = input_id.partition(":")
    if kind == "price":
        return prices[name].figure if name in prices else None
    entry = evidence.get(name) if kind == "evidence" else None
    return None if entry is None or entry.kind == "text" else entry.figure


def _standing_in(item: str, value: Uncertain, said: Override, book: PriceBook, prices: PriceView) -> PriceView:
    """The view with a price none of whose rows can be used, where its unit and currency are known."""
    terms = book.terms(item)
    if item in prices or terms is None:
        return prices
    note = "no row of it can be used on this day: the price is the override's"
    price = Price(
        item, terms[0], value.central, None, None, terms[1], prices.as_of, said.until, f"{said.who}, for the client",
        "contract", stale=False, age_days=0, quarantined=note,
    )  # fmt: skip
    return prices.plus(price)


GRADE = Grade.ESTIMATE
"""A judgement is a judgement, however well its author is calibrated."""


@dataclass(frozen=True)
class Elicited:
    """The experts in the order of the params, with their scores, and the pooled figures.

    `pooled`: of each question that somebody answered, as it was asked; `equal`: the same with equal weights.
    """

    asked: Questionnaire
    experts: tuple[ExpertFile, ...] = ()
    scores: tuple[Score, ...] = ()
    pooled: Mapping[str, Uncertain] = field(default_factory=dict)
    equal: Mapping[str, Uncertain] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.experts)

    def figures(self, *, equally: bool = False) -> dict[str, Uncertain]:
        """The figure of every entry that answers replace, by entry id; `equally`: with equal weights."""
        pooled = self.equal if equally else self.pooled
        found: dict[str, Uncertain] = {}
        for question in self.asked.questions.values():
            if question.id in pooled:
                figure = pooled[question.id]
                if question.times:
                    base = pooled[question.times]
                    stream = f"evidence:{self.asked.questions[question.times].replaces[0]}"
                    figure = Uncertain.pooled(multiple(base, figure), Scaled(stream, base, figure))
                found |= dict.fromkeys(question.replaces, figure)
        return found

    def answered(self, question: str) -> tuple[tuple[ExpertFile, Score, Judgement], ...]:
        """Who answered a question, and what."""
        pairs = zip(self.experts, self.scores, strict=True)
        return tuple((e, s, e.answers[question]) for e, s in pairs if question in e.answers)

    def replaced(self, evidence: EvidenceBook) -> dict[str, tuple[Uncertain, Replaced | None]]:
        """The figures by input id, each with who judged it, when, and what stood there."""
        asked = {entry: q for q in self.asked.questions.values() for entry in q.replaces}
        found: dict[str, tuple[Uncertain, Replaced | None]] = {}
        for entry, figure in self.figures().items():
            if entry in evidence:
                question = asked[entry]
                behind = [*self.answered(question.id), *(self.answered(question.times) if question.times else ())]
                who = " and ".join(dict.fromkeys(e.expert for e, _, _ in behind))
                newest = max(e.date for e, _, _ in behind)
                why = f"elicited by {newest}" + (", pooled by calibration" if len(self.experts) > 1 else "")
                old = evidence[entry].figure
                found[f"evidence:{entry}"] = figure, Replaced(who, why, "", old, grade=GRADE, date=newest)
        return found


def read_elicited(
    folder: Path, names: Iterable[str], as_of: date | None, asked: Questionnaire | None = None
) -> Elicited:
    """The answers in these files below `folder`; `InputError` with every fault of all of them."""
    asked, experts, problems = asked or read_questionnaire(), [], list[Problem]()
    for name in names:
        try:
            experts.append(read_expert(folder / name, as_of=as_of, asked=asked))
        except InputError as error:
            problems += error.problems
    if not problems:
        problems += _across(experts, asked)
    if problems:
        raise InputError(problems)
    return pooled(experts, asked)


def pooled(experts: Sequence[ExpertFile], asked: Questionnaire) -> Elicited:
    """The experts scored on their seeds, and their answers pooled."""
    if not experts:
        return Elicited(asked)
    truths = [seed.answer for seed in asked.seeds.values()]
    scored = scores([[e.seeds[seed] for seed in asked.seeds] for e in experts], truths)
    found: dict[str, tuple[Uncertain, Uncertain]] = {}
    for question in asked.questions:
        said = [(s.weight, e.answers[question]) for e, s in zip(experts, scored, strict=True) if question in e.answers]
        if said:
            judged = [j for _, j in said]
            found[question] = pool(judged, [w for w, _ in said]), pool(judged, [1.0] * len(said))
    by, equally = ({q: both[n] for q, both in found.items()} for n in (0, 1))
    return Elicited(asked, tuple(experts), scored, by, equally)


def _across(experts: Sequence[ExpertFile], asked: Questionnaire) -> Iterable[Problem]:
    """What only the files together show: one person twice, a multiple of what nobody has stated."""
    first: dict[str, str] = {}
    for expert in experts:
        name = " ".join(expert.expert.casefold().split())
        if name in first:
            remedy = "One file a person: keep the newer, or tell two people of one name apart."
            yield Problem(
                f"has answered in {first[name]} too",
                expert.file,
                expert.lines["expert"],
                "expert",
                expert.expert,
                remedy,
            )
        first.setdefault(name, expert.file)
    stated = {question for expert in experts for question in expert.answers}
    for expert in experts:
        for question in expert.answers:
            base = asked.questions[question].times
            if base and base not in stated:
                remedy = f"Answer {base} as well: its answer is what this one multiplies."
                message, line = f"is a multiple of {base}, which nobody has answered", expert.lines[question]
                yield Problem(message, expert.file, line, "answers", question, remedy)
