"""What sellers answered, as the models take it: the figures that the answers move, and those that move nothing, with why.

An answer is judged (`models.audit.diligence`), read (`effects`) and weighed by what it rests on
(`models.audit.diligence`). Who owns its fabric has one figure of it, whoever answers for it: answers of several sellers
on one fabric are several observations, and the figure they leave is in force everywhere. Who rents has a figure for each
seller: what one answers concerns its own offer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NamedTuple

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.uncertain import Replaced, Uncertain
from fabricreport.base.vocabulary import Grade
from fabricreport.books.answers import Answer, AnswerFile, read_answers
from fabricreport.books.equipment import families
from fabricreport.books.evidence import EvidenceEntry
from fabricreport.books.names import family_named
from fabricreport.books.options import Option
from fabricreport.books.prices.book import Price
from fabricreport.books.sellers import Offer, Proof, Question, folded, read_providers, read_questions, read_wording
from fabricreport.inputs.effects import TERMS, Effect, Known, Nothing, Put, Says, Term, busbw, says, term_of
from fabricreport.inputs.options import is_rented, links_of
from fabricreport.inputs.replacements import Figures
from fabricreport.models.audit.diligence import (
    Benchmark,
    Finding,
    Need,
    Reply,
    Words,
    judge,
    tapered,
    updated,
    weight_of,
)
from fabricreport.models.collectives.parameters import Catalogue
from fabricreport.scenario import Params

NETWORK_NAMED = "Q-NET-04"
"""The question whose answer names the kind of network."""
MOST_OF_IT = 0.5
"""The weight from which on a figure is the seller's rather than the library's."""
_GRADES: Mapping[Proof, str] = {
    Proof.CONTRACT: Grade.CONTRACT,
    Proof.LOG: Grade.MEASURED,
    Proof.RECORD: Grade.ESTIMATE,
}


@dataclass(frozen=True)
class Moved:
    """What one answer does to one input: its figure before and with this answer alone.

    `input_id` is '' where no input is concerned, `new` None where the answer moves nothing: then `reason` says why. Of a
    term of an offer `old` is None: nothing stood there, or a published price.
    """

    question: str
    provider: str
    effect: str
    input_id: str
    old: Uncertain | None
    new: Uncertain | None
    proof: Proof
    reason: str = ""


@dataclass(frozen=True)
class Answered:
    """The files of answers, what each answer moves, and what comes of all together.

    `figures`: in force for a client that owns its fabric. By the seller's folded name, for one that rents: `own` figures
    and `terms` of its offer. `prices`: those of terms. `leads`: weeks from order to delivery by option.
    """

    files: tuple[AnswerFile, ...] = ()
    moved: tuple[Moved, ...] = ()
    figures: Figures = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Uncertain]] = field(default_factory=dict)
    terms: Mapping[str, Mapping[Effect, Term]] = field(default_factory=dict)
    prices: tuple[Price, ...] = ()
    leads: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.files)

    def of(self, question: str) -> tuple[Moved, ...]:
        """What the answers to a question do, of every seller."""
        return tuple(m for m in self.moved if m.question == question)

    @property
    def moving(self) -> tuple[Moved, ...]:
        """Of what the answers do, that which moves something."""
        return tuple(m for m in self.moved if m.new is not None)

    def figures_of(self, seller: str) -> Mapping[str, Uncertain]:
        """The figures of a seller's own fabric, for a client that rents."""
        return self.own.get(folded(seller), {})

    def terms_of(self, seller: str) -> Mapping[Effect, Term]:
        """The terms of an offer that a seller answered."""
        return self.terms.get(folded(seller), {})


@dataclass(frozen=True)
class BeforeAnswers:
    """What is known before any answer, with the options compared, the offers, and the entries that the client overrides."""

    known: Known
    options: Sequence[Option]
    offers: Sequence[Offer]
    overridden: Collection[str]
    entry: Callable[[str], EvidenceEntry]

    @property
    def params(self) -> Params:
        """The client's params."""
        return self.known.params

    def noise(self, proof: Proof) -> float:
        """By what factor an answer that rests on this may be off; a client's figure below 1 says that it is a fact."""
        return max(1.0, self.known.central(f"evidence:answer-noise-{proof}"))


class Told(NamedTuple):
    """An answer, what it rests on, and whether it is one `against` the seller that gave it."""

    answer: Answer
    proof: Proof
    against: bool


@dataclass(frozen=True)
class _Claim:
    """One thing that one answer says of one input."""

    question: str
    file: AnswerFile
    effect: Effect
    proof: Proof
    noise: float
    says: Says

    def moved(self, old: Uncertain | None, new: Uncertain | None, reason: str = "") -> Moved:
        own = self.says.input_id
        return Moved(self.question, self.file.provider, self.effect, own, old, new, self.proof, reason)


def read_files(folder: Path, params: Params, known: Catalogue) -> tuple[AnswerFile, ...]:
    """The files of answers that the params name; `InputError` with every fault of all of them."""
    links, found, problems = links_of(params, known), list[AnswerFile](), list[Problem]()
    as_of = date.fromisoformat(str(params.as_of))
    for provider in params.providers:
        if provider.answers:
            at = folder / str(provider.answers)
            try:
                found.append(read_answers(at, provider=provider.name, as_of=as_of, links=links))
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(problems)
    return tuple(found)


def decided_by(params: Params) -> tuple[object, ...]:
    """What of the params decides what answers move; nothing where there are none."""
    if not any(provider.answers for provider in params.providers):
        return ()
    return params.providers, params.cluster, params.organisation, params.money, params.options, params.workload.kind


def answered(files: Sequence[AnswerFile], books: BeforeAnswers, without: Collection[str] = ()) -> Answered:
    """What the answers do, but for those to the questions `without`."""
    claims, moved, terms = list[_Claim](), list[Moved](), dict[str, dict[Effect, Term]]()
    for file in files:
        for question in read_questions():
            answer = file.answers.get(question.id)
            if answer is None or not question.effect or question.id in without:
                continue
            effect, proof = Effect(question.effect), proof_of(answer)
            try:
                finding = verdict_on(books, file, question, answer)
                if not finding.relied_on:
                    raise Nothing(finding.reason)
                if effect in TERMS:
                    term = term_of(effect, books.params, books.offers, file, answer, proof)
                    spoken_for(file, books.options)
                    terms.setdefault(folded(file.provider), {})[effect] = term
                    moved.append(Moved(question.id, file.provider, effect, term.input_id, None, term.figure, proof))
                else:
                    claims += _claims(books, file, effect, Told(answer, proof, finding.believed))
            except Nothing as why:
                moved.append(Moved(question.id, file.provider, effect, "", None, None, proof, str(why)))
    counted, passed_over = _counted(claims, books)
    each = [claim.moved(old := books.known.uncertain(claim.says.input_id), _after(old, [claim])) for claim in counted]
    order = {q.id: n for n, q in enumerate(read_questions())}
    told = sorted([*moved, *passed_over, *each], key=lambda m: (m.provider, order[m.question]))
    return Answered(
        tuple(files),
        tuple(told),
        {} if is_rented(books.params) else _in_force(counted, books),
        _own(counted, books) if is_rented(books.params) else {},
        terms,
        tuple(t.price for own in terms.values() for t in own.values() if t.price is not None),
        _leads(files, books, terms),
    )


def proof_of(answer: Answer) -> Proof:
    """What an answer rests on: as the seller says, if it handed that over; else as what came with it shows."""
    handed = bool(answer.document or answer.measured)
    if answer.evidence is None:
        return Proof.LOG if answer.measured else Proof.RECORD if answer.document else Proof.STATEMENT
    needs = answer.evidence in (Proof.LOG, Proof.RECORD)
    return Proof.STATEMENT if needs and not handed else answer.evidence


def spoken_for(file: AnswerFile, options: Sequence[Option]) -> tuple[Option, ...]:
    """The options compared that a seller's answers speak for; `Nothing` where that cannot be told or none is compared.

    Its file names the fabric, else its answer on the kind of network does, else the shipped table of sellers; where all
    options compared are of one side, they are what it speaks for.
    """
    seller = read_providers().seller(file.provider)
    named = file.answers.get(NETWORK_NAMED)
    chosen = family_named(named.choice) if named else ""
    fabric = file.fabric or chosen or (seller.fabric if seller and seller.fabric in families() else "")
    if not fabric:
        if len({o.side for o in options}) == 1:
            return tuple(options)
        raise Nothing("which fabric it speaks for is not said")
    found = [o for o in options if o.id == fabric] or [o for o in options if o.family == fabric]
    side = families()[fabric].side if fabric in families() else None
    found = found or [o for o in options if o.side == side]
    if not found:
        raise Nothing("the fabric it speaks for is not compared")
    return tuple(found)


# ---- whether anybody may rely on it


def verdict_on(books: BeforeAnswers, file: AnswerFile, question: Question, answer: Answer) -> Finding:
    """The verdict on an answer as far as its form and its figures go, the acceptance test's floor apart."""
    wording, cluster = read_wording(), books.params.cluster
    need = Need(
        gpus=int(cluster.gpus),
        largest_gpus=max([int(cluster.gpus), *(int(s.gpus) for s in cluster.trajectory)]),
        gpus_per_node=int(cluster.gpus_per_node),
        gbits_per_s_per_gpu=float(cluster.links_per_gpu * cluster.link_gbits_per_s),
        oversubscription=float(cluster.oversubscription),
        busbw_floor_gbytes_per_s=0.0,
        least_nodes=int(books.known.central("evidence:acceptance-least-nodes")),
    )
    reply = Reply(answer.text, answer.low, answer.high, answer.document, _benchmark(books, file, answer))
    words = Words(wording.vague, wording.others_tune, wording.least_words)
    return judge(question.check, question.form, reply, need, words)


def _benchmark(books: BeforeAnswers, file: AnswerFile, answer: Answer) -> Benchmark | None:
    """A log beside the most that a tuned fabric of the kind reaches by the model, with its error and the allowance."""
    log = answer.measured
    if log is None:
        return None
    central = books.known.central
    most = [busbw(books.known, option, log) for option in spoken_for(file, books.options)]
    error = books.known.uncertain("evidence:collective-model-error-large").high
    high = max(most) * error * (1.0 + central("evidence:acceptance-margin"))
    return Benchmark(log.gpus, log.busbw_gbytes_per_s, log.algbw_gbytes_per_s, 0.0, high)


# ---- what it comes to


def _claims(books: BeforeAnswers, file: AnswerFile, effect: Effect, told: Told) -> Iterator[_Claim]:
    """What an answer says of each input, once; `Nothing` where it says nothing of any."""
    found: dict[str, Says] = {}
    for option in spoken_for(file, books.options):
        for said in says(effect, Put(books.known, option, told.answer, told.proof, told.against)):
            found.setdefault(said.input_id, said)
    noise = books.noise(told.proof)
    yield from (_Claim(told.answer.question, file, effect, told.proof, noise, said) for said in found.values())


def _counted(claims: Iterable[_Claim], books: BeforeAnswers) -> tuple[list[_Claim], list[Moved]]:
    """The claims that count, the firmest of each seller on each input, and what the others come to."""
    firmest: dict[tuple[str, str], _Claim] = {}
    passed_over = []
    for claim in claims:
        input_id = claim.says.input_id
        if input_id in books.overridden:
            passed_over.append(
                claim.moved(books.known.uncertain(input_id), None, "the client’s own figure stands there")
            )
            continue
        key = folded(claim.file.provider), input_id
        other = firmest.get(key)
        if other is None:
            firmest[key] = claim
            continue
        better, worse = (claim, other) if _weight(claim, books) > _weight(other, books) else (other, claim)
        firmest[key] = better
        reason = f"{better.question} tells of the same figure, on firmer ground"
        passed_over.append(worse.moved(books.known.uncertain(input_id), None, reason))
    return list(firmest.values()), passed_over


def _leads(
    files: Sequence[AnswerFile], books: BeforeAnswers, terms: Mapping[str, Mapping[Effect, Term]]
) -> dict[str, float]:
    """Weeks from order to delivery of each of a buyer's options that sellers answered for: the latest of theirs."""
    weeks: dict[str, float] = {}
    for file in files:
        term = terms.get(folded(file.provider), {}).get(Effect.START)
        if term is not None and not is_rented(books.params):
            for option in spoken_for(file, books.options):
                weeks[option.id] = max(weeks.get(option.id, 0.0), term.value)
    return weeks


def _weight(claim: _Claim, books: BeforeAnswers) -> float:
    """The weight of a claim beside what is known already."""
    if claim.says.loss:
        return 1.0
    old = books.known.uncertain(claim.says.input_id)
    return weight_of(old, [claim.says.observed(claim.noise)], share=claim.says.share)


def _after(old: Uncertain, claims: Sequence[_Claim]) -> Uncertain:
    """A figure after these claims on it."""
    valued = [c.says.observed(c.noise) for c in claims if not c.says.loss]
    new = updated(old, valued, share=any(c.says.share for c in claims))
    loss = max((c.says.loss for c in claims), default=0.0)
    return tapered(new, loss) if loss else new


def _in_force(claims: Sequence[_Claim], books: BeforeAnswers) -> Figures:
    """The figures after every seller's claims, each with who answered, when, and what stood there."""
    found: dict[str, tuple[Uncertain, Replaced | None]] = {}
    for input_id in dict.fromkeys(c.says.input_id for c in claims):
        mine = [c for c in claims if c.says.input_id == input_id]
        old = books.known.uncertain(input_id)
        who = " and ".join(dict.fromkeys(c.file.provider for c in mine))
        newest = max(c.file.date for c in mine)
        why = ", ".join(dict.fromkeys(f"answered {c.question} ({c.proof})" for c in mine))
        entry = books.entry(input_id.partition(":")[2])
        found[input_id] = (
            _after(old, mine),
            Replaced(who, f"{why} by {newest}", "", old, grade=_grade(entry, old, mine), date=newest),
        )
    return found


def _grade(entry: EvidenceEntry, old: Uncertain, claims: Sequence[_Claim]) -> str:
    """The grade of what the figure rests on most: the library's own, unless the answers have most of the weight."""
    firmest = min(claims, key=lambda c: c.noise)
    observed = [c.says.observed(c.noise) for c in claims if not c.says.loss]
    weight = weight_of(old, observed, share=firmest.says.share) if observed else 1.0
    return _GRADES.get(firmest.proof, entry.grade) if weight >= MOST_OF_IT else entry.grade


def _own(claims: Sequence[_Claim], books: BeforeAnswers) -> dict[str, dict[str, Uncertain]]:
    """By seller: the figures of its own fabric after its claims."""
    found: dict[str, dict[str, Uncertain]] = {}
    for claim in claims:
        old = books.known.uncertain(claim.says.input_id)
        found.setdefault(folded(claim.file.provider), {})[claim.says.input_id] = _after(old, [claim])
    return found
