"""The actions that a client may have to take: each with its condition, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any

from fabricreport.base.formats import inside
from fabricreport.base.provenance import inputs_of, mean_of, stated
from fabricreport.base.vocabulary import CourseKind
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.names import input_names, item_names, whole_names
from fabricreport.books.quotes import items_of
from fabricreport.ledger.facts import Name, joined
from fabricreport.sections.client import OptionNames, newer_gpu, one_node
from fabricreport.sections.decision.market import beyond_the_servers
from fabricreport.sections.decision.offers.judgements import Open
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import label_of
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.result import DiligenceResult, PricedQuestion
from fabricreport.sections.sites import sites_in_use
from fabricreport.sections.tail_risk.result import TailResult


class Kind(StrEnum):
    """What there may be to do; each has a condition, and a letter in the notebook."""

    RENTS = "rents"
    GENERATION = "generation"
    QUOTE = "quote"
    DELIVERY = "delivery"
    CLAUSE = "clause"
    WEEKS = "weeks"
    RENT_FIRST = "rent-first"
    PILOT = "pilot"
    TRIAL = "trial"
    TUNER = "tuner"
    ANSWERS = "answers"
    TOPOLOGY = "topology"
    HALLS = "halls"
    REPRICE = "reprice"
    ACCEPTANCE = "acceptance"
    STALE = "stale"
    NEWER_GPU = "newer-gpu"
    EXPERTS = "experts"
    OWN = "own"
    RECORD = "record"


NEVER_LEFT_OUT = (
    Kind.RENTS,
    Kind.QUOTE,
    Kind.DELIVERY,
    Kind.CLAUSE,
    Kind.WEEKS,
    Kind.HALLS,
    Kind.REPRICE,
    Kind.ACCEPTANCE,
    Kind.OWN,
    Kind.RECORD,
)
"""What the advice is on condition of, and what settles that which would change it."""

PAGE_ONE = 4
"""So many lines stand on page one of a memo, the others at the end of its body."""


@dataclass(frozen=True)
class Action:
    """One entry: roles of who acts and of who answers, working days, whether only a contract settles it, whether it is
    about the network, the questions that it puts and the lever of the risk that it pulls ('' for none). `answer`: working days from the question to its answer, or the id of the entry that states the wait."""

    kind: Kind
    does: str
    who: str
    to: str
    days: int
    contract: bool
    network: bool
    questions: tuple[str, ...] = ()
    lever: str = ""
    answer: int | str = ""
    several: str = ""
    brings: str = ""


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_yaml("actions")
    return data


@lru_cache(maxsize=1)
def actions() -> Mapping[Kind, Action]:
    """Every action by its kind, in the order of the file."""
    rows = [
        {**row, "kind": Kind(row["id"]), "questions": tuple(row.get("questions", ()))} for row in _data()["actions"]
    ]
    return {row["kind"]: Action(**{key: value for key, value in row.items() if key != "id"}) for row in rows}


def roles() -> Mapping[str, Mapping[str, str]]:
    """What each role is called, by the client's situation."""
    found: Mapping[str, Mapping[str, str]] = _data()["roles"]
    return found


def addressed(sellers: Sequence[str], *, contract: bool) -> str:
    """Whom a renter's letter goes to: one seller, each of several, or the one that a contract is signed with."""
    form = "one" if len(sellers) == 1 else "chosen" if contract else "each"
    last = " or " if contract else " and "
    return str(_data()["addressed"][form]).format(sellers=joined(tuple(map(Name, sellers)), last=last))


def most() -> int:
    """Lines of the list at most."""
    return int(_data()["most"])


@dataclass(frozen=True)
class Gain:
    """What a step brings on average, in the memo's currency, and ids of the inputs that it rests on; 0 where that is nothing.

    It ages as what it is the mean of does, where it is the mean of anything.
    """

    usd: Any
    rests_on: frozenset[str]


def gain(amount: Any, rests_on: Collection[str]) -> Gain:
    """The mean of an amount (draws,) that a step brings, nothing where that is below zero."""
    mean = mean_of(amount)
    return Gain(stated(mean, amount), frozenset(rests_on)) if mean > 0 else Gain(0.0, frozenset())


def shown(result: DecisionResult, test: str, *, waiting: Any = 0.0) -> Gain | None:
    """What a test (`data/information.yaml`) brings to the choice, less its cost and the wait for it; None where none was tried."""
    tried = result.information.tried(test) if result.information else None
    if result.information is None or tried is None:
        return None
    spent = mean_of(tried.cost) + mean_of(waiting)
    found = 0.0 if tried.estimate.below_noise else tried.estimate.value
    return gain(found - spent, result.information.rests_on | inputs_of(tried.cost))


_NAMED = 3
"""Most things that one action names."""
_SELLERS = 4
"""Most sellers that are asked first."""
_EACH, _EVERYTHING = "each provider", "switches, optics and adapters"


@dataclass(frozen=True)
class Facts(OptionNames):
    """A decision, the promises, questions and sellers beside it, and what would lower the risk."""

    result: DecisionResult
    tests: DiligenceResult
    tail: TailResult

    @cached_property
    def promises(self) -> Mapping[str, Promise]:
        """The lines of the acceptance test by id; empty in a single node."""
        return {p.id: p for p in self.tests.promises}

    @cached_property
    def questions(self) -> Mapping[str, PricedQuestion]:
        """The questions this client should put, by id."""
        return {q.question.id: q for q in self.tests.questions}

    @property
    def bought(self) -> tuple[str, ...]:
        """What the client may come to buy: the choice, or either of the two where the course is open."""
        return self.pair if self.result.verdict.open else self.pair[:1]

    @property
    def pair(self) -> tuple[str, ...]:
        """The two compared; one where only one is."""
        return tuple(dict.fromkeys(self.result.verdict.pair))

    @property
    def asked(self) -> tuple[str, ...]:
        """The networks that offers are asked of: all that money does not tell apart, and those whose offers decide."""
        return tuple(dict.fromkeys((*(self.pair if self.asks_first else self.bought), *self.result.verdict.tied)))

    @property
    def asks_first(self) -> bool:
        """Whether the order waits for what offers tell."""
        return self.result.courses.advised.kind in (CourseKind.EITHER, CourseKind.OFFERS)

    def apart(self, promise: str, *parts: str) -> bool:
        """Whether the two write down, or lose, other amounts on a promise, as printed; never where one of them is advised."""
        own = self.promises.get(promise)
        other = next((p for p in self.tests.promises_of_rival if p.id == promise), None)
        if own is None or other is None:
            return False
        pairs = [(getattr(own, part), getattr(other, part)) for part in parts]
        return all(a and b for a, b in pairs) and any(a.text != b.text for a, b in pairs)

    @property
    def turning(self) -> tuple[str, ...]:
        """Ids of the inputs that would change the advice, and of the listings without which another is advised."""
        listed = (f"price:{self.given.all_options[o].pieces['switch'].price}" for o in self.result.turned_without)
        return (*(change.turn.input_id for change in self.result.changes), *listed)

    def answered(self, question: str) -> bool:
        """Whether a seller has answered a question."""
        return any(question in judged.file.answers for judged in self.tests.judged)

    def turned_by_weeks(self) -> bool:
        """Whether the weeks until a fabric is stable turn the money or the advice."""
        weeks = {f"evidence:{o.behaviour.weeks}" for o in self.given.options}
        return any(t.input_id in weeks for t in self.result.turns.turning)


@dataclass(frozen=True)
class Due:
    """An action that applies: what it is worth (None where it protects and nothing prices it), the `key` that its figures go
    by, what it is about (`things`), the networks that it is put for where there are several (`networks`), and the questions
    that it settles. `either`: its letter names an amount of each of two, because neither is advised and their amounts part."""

    kind: Kind
    worth: Gain | None = None
    key: str = ""
    things: tuple[str, ...] = ()
    settles: tuple[str, ...] = field(default=())
    networks: tuple[str, ...] = ()
    either: bool = False

    @property
    def pays(self) -> bool:
        """Whether it is worth something."""
        return self.worth is not None and mean_of(self.worth.usd) > 0


Condition = Callable[[Facts], Due | None]


def _rents(at: Facts) -> Due | None:
    """Whom page one asks first; where no price is known, sellers that name the fabric."""
    if not at.given.team.rented:
        return None
    sellers = sellers_asked(at) or tuple(s.name for s in at.tests.shown[:_SELLERS]) or (_EACH,)
    return Due(Kind.RENTS, shown(at.result, "rents"), things=sellers, settles=actions()[Kind.RENTS].questions)


def sellers_asked(at: Facts, *, open_: Open | None = None) -> tuple[str, ...]:
    """The sellers that a renter asks first, or where offers bind the first two; `open_`: only those of which that is open."""
    found = at.result.offers
    if found is None:
        return ()
    ids = found.asked if found.listed else tuple(o for o in (found.pick.first, found.pick.second) if o)
    return tuple(found.judged[o].offer.seller for o in ids if open_ is None or open_ in found.judged[o].open)


def _quote(at: Facts) -> Due | None:
    """Quotes of the whole parts list of each network that offers are asked of, above all of what in it would change the advice,
    nobody publishes a price for, or is out of date."""
    if at.given.team.rented:
        return None
    parts = {item for option in at.given.options if option.id in at.asked for item in items_of(option)}
    turning = [item_names(item).row for i in at.turning if (item := i.removeprefix("price:")) in parts]
    unpriced = [label_of(at.given, u.stands_in) for u in at.result.unquoted if u.turned_by and u.item in parts]
    old = [item_names(item).row for item in at.result.stale if f"price:{item}" in _quoted(at)]
    waiting = at.result.courses.offers.waiting if at.asks_first and at.result.courses.offers else 0.0
    return Due(
        Kind.QUOTE,
        shown(at.result, "quotes", waiting=waiting),
        things=(*dict.fromkeys((*turning, *unpriced[:_NAMED], *old[:_NAMED])),) or (_EVERYTHING,),
        settles=actions()[Kind.QUOTE].questions,
        networks=tuple(at.names[o] for o in at.asked) if len(at.asked) > 1 else (),
    )


def _quoted(at: Facts) -> frozenset[str]:
    """Ids of the inputs that quotes of the parts list, or of the rent, settle."""
    asked = (*actions()[Kind.QUOTE].questions, *actions()[Kind.RENTS].questions)
    return frozenset(i for q in asked if q in at.questions for i in at.questions[q].settles)


def _generation(at: Facts) -> Due | None:
    """Quotes of what stands in for the two compared, unless the servers cannot carry its links."""
    mismatch = at.result.mismatch
    if mismatch is None or mismatch.alike is None or beyond_the_servers(at.given, mismatch):
        return None
    pair = mismatch.alike
    others = tuple(whole_names(at.given.all_options[o] for o in (pair.choice, pair.rival) if o not in at.pair).values())
    return Due(Kind.GENERATION, key=pair.key, things=others) if others else None


def _delivery(at: Facts) -> Due | None:
    terms = at.tests.terms
    if terms is None or terms.delivery.loss <= 0:
        return None
    return Due(
        Kind.DELIVERY,
        gain(terms.delivery.paid(at.result.schedule.late_weeks(rented=at.given.team.rented)), terms.delivery.rests_on),
    )


def _broken(at: Facts, *promises: str) -> Gain | None:
    """What breaking these promises pays on average; of two that may be ordered, each as often as it is the cheaper."""
    share = at.result.verdict.probability if at.tests.terms_of_rival else 1.0
    weighed = ((at.tests.terms, share), (at.tests.terms_of_rival, 1.0 - share))
    paid = [
        (stated(mean_of(of.worth[p]) * part, of.worth[p]), inputs_of(of.worth[p]))
        for of, part in weighed
        if of
        for p in promises
        if p in of.worth
    ]
    return gain(sum(amount for amount, _ in paid), frozenset[str]().union(*(ids for _, ids in paid)))


def _clause(at: Facts) -> Due | None:
    """Damages on the weeks until stable, on the terms that the courses price."""
    several = len(at.result.courses.clauses) > 1 and at.result.verdict.open
    clauses = at.result.courses.clauses
    return Due(Kind.CLAUSE, _broken(at, "weeks"), at.result.courses.base, either=several) if clauses else None


def _weeks(at: Facts) -> Due | None:
    """A term on weeks where no clause is priced, as of a renter."""
    promise = at.promises.get("weeks")
    if _clause(at) is not None or promise is None or promise.price is None or not at.turned_by_weeks():
        return None
    return Due(Kind.WEEKS, _broken(at, "weeks"), either=at.apart("weeks", "passes", "price"))


def _rent_first(at: Facts) -> Due | None:
    """What renting first is worth: what it costs less, the price of delay in it; where it costs more, the hours of lateness that
    it saves less that."""
    courses = at.result.courses
    row = courses.row(CourseKind.RENT_FIRST)
    if courses.advised.kind != CourseKind.RENT_FIRST or row is None:
        return None
    if mean_of(row.against) >= 0 and courses.by_date and courses.meeting:
        return Due(Kind.RENT_FIRST, gain(courses.meeting.late - courses.meeting.extra, inputs_of(courses.meeting.late)))
    return Due(Kind.RENT_FIRST, gain(-row.against, inputs_of(row.against)))


def _pilot(at: Facts) -> Due | None:
    courses = at.result.courses
    if courses.advised.kind != CourseKind.PILOT or courses.pilot is None:
        return None
    worth = gain(-courses.pilot.net, inputs_of(courses.pilot.net))
    return Due(Kind.PILOT, worth, things=tuple(at.names[o] for o in at.pair))


def _trial(at: Facts) -> Due | None:
    """Jobs within single nodes, where they cost less or so little more that it does not count."""
    row = at.result.courses.row(CourseKind.SINGLE_NODE)
    if row is None or not row.ranked or mean_of(row.against) >= at.result.verdict.materiality:
        return None
    return Due(Kind.TRIAL, gain(-row.against, inputs_of(row.against)))


def _tuner(at: Facts) -> Due | None:
    """Somebody who tunes the network: what that saves in the first year, less what it costs."""
    skill = {o.id: o.behaviour.skill for o in at.given.options}
    lacking = str(at.given.params.organisation.qos_expertise) == "none"
    if at.given.team.others or not lacking or not any(skill[o] for o in at.bought):
        return None
    action = actions()[Kind.TUNER]
    net = next(
        (gain(v.saved_usd - v.cost_usd, inputs_of(v.saved_usd)) for v in at.tail.levers if v.id == action.lever), None
    )
    return Due(Kind.TUNER, net, action.lever, settles=action.questions)


def _topology(at: Facts) -> Due | None:
    unasked = () if at.result.offers else tuple(s.name for s in at.tests.undocumented)[:_SELLERS]
    sellers = sellers_asked(at, open_=Open.TOPOLOGY) or unasked
    if not at.given.team.rented or not sellers:
        return None
    questions = actions()[Kind.TOPOLOGY].questions
    return Due(Kind.TOPOLOGY, _answer(at, *questions), things=sellers, settles=questions)


def _answer(at: Facts, *questions: str) -> Gain | None:
    """What the answer worth most of these is worth to the choice: whoever asks pays nothing."""
    put = [at.questions[q] for q in questions if q in at.questions]
    best = max(put, key=lambda q: q.worth, default=None)
    known = at.result.information
    return gain(best.worth, known.rests_on if known else frozenset()) if best else None


def _halls(at: Facts) -> Due | None:
    cluster = at.given.params.cluster
    return Due(Kind.HALLS) if sites_in_use(cluster, cluster.final_gpus) > 1 and not at.given.team.rented else None


def _reprice(at: Facts) -> Due | None:
    cluster = at.given.params.cluster
    grows = cluster.final_gpus > cluster.gpus and at.result.courses.advised.kind != CourseKind.AHEAD
    return Due(Kind.REPRICE, key=at.result.verdict.choice) if grows else None


def _acceptance(at: Facts) -> Due | None:
    """The test as a term, and what its credits pay."""
    if not at.promises:
        return None
    return Due(
        Kind.ACCEPTANCE,
        _broken(at, "busbw", "latency"),
        either=at.apart("busbw", "passes") or at.apart("busbw", "credit"),
    )


def _stale(at: Facts) -> Due | None:
    """Prices out of date that no other quote renews."""
    single = at.result.courses.single.total
    within = at.result.courses.advised.kind == CourseKind.SINGLE_NODE and single is not None
    behind = inputs_of(single) if within else {f"price:{i}" for i in at.result.stale}
    old = [i for i in at.result.stale if f"price:{i}" in behind - _quoted(at)]
    if not old:
        return None
    knowing = at.result.knowing([f"price:{i}" for i in old])
    known = at.result.information
    worth = gain(0.0 if knowing.below_noise else knowing.value, known.rests_on) if known else None
    return Due(Kind.STALE, worth, old[0], tuple(item_names(item).row for item in old[:_NAMED]))


def _newer_gpu(at: Facts) -> Due | None:
    newer = newer_gpu(at.given)
    return Due(Kind.NEWER_GPU, key=newer.id, things=(newer.name,)) if newer else None


def _experts(at: Facts) -> Due | None:
    found = Due(Kind.EXPERTS, shown(at.result, "experts"))
    return found if found.pays and not at.given.elicited else None


def unanswered(at: Facts, settled: frozenset[str]) -> Due | None:
    """The question worth most that nobody has answered and that no other action settles."""
    left = [q for q in at.tests.priced if q.question.id not in settled and not at.answered(q.question.id)]
    if not left or one_node(at.given, int(at.given.params.cluster.gpus)):
        return None
    question = left[0].question
    worth = _answer(at, question.id)  # none where knowing it would not better the choice by more than the noise
    found = Due(Kind.ANSWERS, worth, question.id, (question.title, question.question), (question.id,))
    return found if found.pays else None


def settled_by(at: Facts, listed: Collection[Kind]) -> Mapping[str, Kind]:
    """The kind of action that settles each input that would change the advice, by the input's id: the one that the book of
    settlings names, or where that does not apply a record that the seller shows."""
    named = {change.turn.input_id: Kind(change.turn.settled["step"]) for change in at.result.changes}
    return {i: kind if kind in listed or kind == Kind.OWN else Kind.RECORD for i, kind in named.items()}


def unsettled(at: Facts, kind: Kind, steps: Mapping[str, Kind]) -> Due | None:
    """What would change the advice and no other action settles: what the client alone can tell, or what a record shows."""
    ids = [i for i, settles in steps.items() if settles == kind]
    if not ids:
        return None
    knowing, known = at.result.knowing(ids), at.result.information
    worth = gain(0.0 if knowing.below_noise else knowing.value, known.rests_on) if known else None
    return Due(kind, worth, things=tuple(inside(input_names(at.given, i).row) for i in ids))


CONDITIONS: Mapping[Kind, Condition] = {
    Kind.RENTS: _rents,
    Kind.GENERATION: _generation,
    Kind.QUOTE: _quote,
    Kind.DELIVERY: _delivery,
    Kind.CLAUSE: _clause,
    Kind.WEEKS: _weeks,
    Kind.RENT_FIRST: _rent_first,
    Kind.PILOT: _pilot,
    Kind.TRIAL: _trial,
    Kind.TUNER: _tuner,
    Kind.TOPOLOGY: _topology,
    Kind.HALLS: _halls,
    Kind.REPRICE: _reprice,
    Kind.ACCEPTANCE: _acceptance,
    Kind.STALE: _stale,
    Kind.NEWER_GPU: _newer_gpu,
    Kind.EXPERTS: _experts,
}
"""The condition of every action but that on answers, which goes by what the others settle."""
