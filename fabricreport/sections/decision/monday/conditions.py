"""When an action applies to a case: one condition for each, with what it is worth in money where that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabricreport.books.names import item_names, whole_names
from fabricreport.findings import OptionName
from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of
from fabricreport.sections.client import one_node, rented, run_by_others
from fabricreport.sections.decision.courses.result import TEST_OF
from fabricreport.sections.decision.market import beyond_the_servers
from fabricreport.sections.decision.monday.kinds import Kind, actions
from fabricreport.sections.decision.offers.judged import Open
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import label_of
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.result import DiligenceResult, PricedQuestion
from fabricreport.sections.gpu_age import newer_gpu
from fabricreport.sections.sites import sites_in_use
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.vocabulary import CourseKind

_NAMED = 3
"""Most things that one action names."""
_SELLERS = 4
"""Most sellers that are asked first."""
_EACH, _EVERYTHING = "each provider", "switches, optics and adapters"


@dataclass(frozen=True)
class Facts:
    """A decision, the promises, questions and sellers beside it, and what would lower the risk."""

    given: Inputs
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

    @cached_property
    def names(self) -> Mapping[str, OptionName]:
        """Names of the options."""
        return whole_names(self.given.options)

    @property
    def bought(self) -> tuple[str, ...]:
        """What the client may come to buy: the choice, or either of the two where the course is open."""
        return self.pair if self.result.verdict.open else self.pair[:1]

    @property
    def pair(self) -> tuple[str, ...]:
        """The two compared; one where only one is."""
        return tuple(dict.fromkeys((self.result.verdict.choice, self.result.verdict.runner_up)))

    def price(self, promise: str) -> float | None:
        """What a unit of a promise costs, if it costs anything."""
        found = self.promises.get(promise)
        return found.price.value if found and found.price and found.price.value > 0 else None

    def apart(self, promise: str, *parts: str) -> bool:
        """Whether the two write down, or lose, other amounts on a promise, as printed; never where one of them is advised."""
        own = self.promises.get(promise)
        other = next((p for p in self.tests.promises_of_rival if p.id == promise), None)
        if own is None or other is None:
            return False
        pairs = [(getattr(own, part), getattr(other, part)) for part in parts]
        return all(a and b for a, b in pairs) and any(a.text != b.text for a, b in pairs)

    def answered(self, question: str) -> bool:
        """Whether a seller has answered a question."""
        return any(question in judged.file.answers for judged in self.tests.judged)

    def turned_by_weeks(self) -> bool:
        """Whether the weeks until a fabric is stable turn the money or the advice."""
        weeks = {f"evidence:{o.behaviour.weeks}" for o in self.given.options}
        return any(t.input_id in weeks for t in self.result.turns.turning)


@dataclass(frozen=True)
class Due:
    """An action that applies: its `worth` in money (None where it protects and nothing prices it), the `key` that its
    figures go by, what it is about (`things`), and the questions that it settles. `choice`: whether it is worth that by a
    better choice, and not by a lower price. `either`: the parts of its phrase that name an amount of each of the two, because
    neither is advised and their amounts part."""

    kind: Kind
    worth: float | None
    key: str = ""
    things: tuple[str, ...] = ()
    settles: tuple[str, ...] = field(default=())
    choice: bool = False
    either: frozenset[str] = frozenset()


Condition = Callable[[Facts], Due | None]


def _asked(at: Facts, kind: Kind, things: tuple[str, ...]) -> Due:
    """An action that puts questions, of which the one worth most prices it."""
    questions = actions()[kind].questions
    put = [at.questions[q] for q in questions if q in at.questions]
    best = max(put, key=lambda q: q.worth, default=None)
    if best is None or best.worth <= 0:
        return Due(kind, None, questions[0], things, questions)
    return Due(kind, best.worth, best.question.id, things, questions, choice=not best.by_price)


def _rents(at: Facts) -> Due | None:
    """Whom page one asks first; where no price is known, sellers that name the fabric."""
    sellers = sellers_asked(at) or tuple(s.name for s in at.tests.shown[:_SELLERS]) or (_EACH,)
    return _asked(at, Kind.RENTS, sellers) if rented(at.given) else None


def sellers_asked(at: Facts, *, open_: Open | None = None) -> tuple[str, ...]:
    """The sellers that a renter asks first, or where offers bind the first two; `open_`: only those of which that is open."""
    found = at.result.offers
    if found is None:
        return ()
    ids = found.asked if found.listed else tuple(o for o in (found.pick.first, found.pick.second) if o)
    return tuple(found.judged[o].offer.seller for o in ids if open_ is None or open_ in found.judged[o].open)


def _quote(at: Facts) -> Due | None:
    """Quotes of the whole parts list, above all of what nobody publishes a price for and of what is out of date."""
    if rented(at.given):
        return None
    unpriced = [label_of(at.given, u.stands_in) for u in at.result.unquoted if u.turned_by]
    old = [item_names(item).row for item in at.result.monday.stale if f"price:{item}" in _quoted(at)]
    return _asked(at, Kind.QUOTE, (*unpriced[:_NAMED], *old[:_NAMED]) or (_EVERYTHING,))


def _quoted(at: Facts) -> frozenset[str]:
    """Ids of the inputs that quotes of the parts list, or of the rent, settle."""
    asked = (*actions()[Kind.QUOTE].questions, *actions()[Kind.RENTS].questions)
    return frozenset(i for q in asked if q in at.questions for i in at.questions[q].settles)


def _both(at: Facts) -> Due | None:
    asks = at.result.verdict.open or at.result.courses.advised.kind == CourseKind.OFFERS
    if rented(at.given) or not asks or len(at.pair) == 1:
        return None
    asked = at.result.information.tried(TEST_OF[CourseKind.OFFERS]) if at.result.information else None
    worth = asked.estimate.value if asked and not asked.estimate.below_noise else None
    return Due(Kind.BOTH, worth, things=tuple(at.names[o] for o in at.pair))


def _kin(at: Facts) -> Due | None:
    kin = at.result.kin
    if not kin:
        return None
    choice = at.result.verdict.choice
    gap = abs(float(at.result.totals[kin].mean() - at.result.totals[choice].mean()))
    return Due(Kind.KIN, gap or None, kin, (at.names[choice], at.names[kin]))


def _generation(at: Facts) -> Due | None:
    """Quotes of what stands in for the two compared, unless the servers cannot carry its links."""
    mismatch = at.result.mismatch
    if mismatch is None or mismatch.alike is None or beyond_the_servers(at.given, mismatch):
        return None
    pair = mismatch.alike
    others = tuple(whole_names(at.given.all_options[o] for o in (pair.choice, pair.rival) if o not in at.pair).values())
    worth = abs(at.result.verdict.lead - pair.lead)
    return Due(Kind.GENERATION, worth, pair.key, others) if others and worth else None


def _delivery(at: Facts) -> Due | None:
    terms = at.tests.terms
    price = terms.delivery.loss if terms else 0.0
    return Due(Kind.DELIVERY, price) if at.given.params.dated and price > 0 else None


def _either(at: Facts, promise: str, written: tuple[str, ...]) -> frozenset[str]:
    """The parts that name the amounts of either of the two: what a shortfall costs, and with it what a letter writes."""
    worth = {"worth"} if at.apart(promise, "price") else set()
    return frozenset(worth | ({"send"} if at.apart(promise, *(written or ("price",))) else set()))


def _clause(at: Facts) -> Due | None:
    """Damages on the weeks until stable, on the terms that the courses price."""
    option = at.result.courses.base
    clause = at.result.courses.clauses.get(option)
    worth = mean_of(clause.paid) if clause else 0.0
    both = (
        frozenset({"worth", "send"}) if at.result.verdict.open and len(at.result.courses.clauses) > 1 else frozenset()
    )
    return Due(Kind.CLAUSE, worth, option, either=both) if worth > 0 else None


def _rent_first(at: Facts) -> Due | None:
    """What renting first is worth: the lateness that it saves, or what it costs less."""
    courses = at.result.courses
    row = courses.row(CourseKind.RENT_FIRST)
    if courses.advised.kind != CourseKind.RENT_FIRST or row is None:
        return None
    if courses.by_date and courses.meeting:
        return Due(Kind.RENT_FIRST, mean_of(courses.meeting.late) or None)
    return Due(Kind.RENT_FIRST, -mean_of(row.against), choice=True)


def _pilot(at: Facts) -> Due | None:
    courses = at.result.courses
    if courses.advised.kind != CourseKind.PILOT or courses.pilot is None:
        return None
    return Due(Kind.PILOT, -mean_of(courses.pilot.net), things=tuple(at.names[o] for o in at.pair))


def _trial(at: Facts) -> Due | None:
    """Jobs within single nodes, where they cost less or so little more that it does not count."""
    row = at.result.courses.row(CourseKind.SINGLE_NODE)
    if row is None or not row.ranked:
        return None
    against = mean_of(row.against)
    return Due(Kind.TRIAL, -against if against < 0 else None) if against < at.result.verdict.materiality else None


def _weeks(at: Facts) -> Due | None:
    """A term on weeks where no clause is priced, as of a renter."""
    if _clause(at) is not None:
        return None
    price = at.price("weeks")
    if price is None or not at.turned_by_weeks():
        return None
    return Due(Kind.WEEKS, price, either=_either(at, "weeks", ("passes", "price")))


def _tuner(at: Facts) -> Due | None:
    skill = {o.id: o.behaviour.skill for o in at.given.options}
    lacking = str(at.given.params.organisation.qos_expertise) == "none"
    if run_by_others(at.given) or not lacking or not any(skill[o] for o in at.bought):
        return None
    action = actions()[Kind.TUNER]
    saved = next((mean_of(v.saved_usd) for v in at.tail.levers if v.id == action.lever), 0.0)
    return Due(Kind.TUNER, saved if saved > 0 else None, action.lever, settles=action.questions)


def _topology(at: Facts) -> Due | None:
    unasked = () if at.result.offers else tuple(s.name for s in at.tests.undocumented)[:_SELLERS]
    sellers = sellers_asked(at, open_=Open.TOPOLOGY) or unasked
    if not rented(at.given) or not sellers:
        return None
    return _asked(at, Kind.TOPOLOGY, sellers)


def _halls(at: Facts) -> Due | None:
    cluster = at.given.params.cluster
    return Due(Kind.HALLS, None) if sites_in_use(cluster, cluster.final_gpus) > 1 and not rented(at.given) else None


def _reprice(at: Facts) -> Due | None:
    cluster = at.given.params.cluster
    if cluster.final_gpus <= cluster.gpus or at.result.courses.advised.kind == CourseKind.AHEAD:
        return None
    growing, choice = at.result.courses.growing, at.result.verdict.choice
    return Due(Kind.REPRICE, None if growing is None else mean_of(growing.left[choice]), choice)


def _acceptance(at: Facts) -> Due | None:
    return Due(Kind.ACCEPTANCE, at.price("busbw"), either=_either(at, "busbw", ("passes",))) if at.promises else None


def _stale(at: Facts) -> Due | None:
    """Prices out of date that no other quote renews."""
    old = {i: moved for i, moved in at.result.monday.stale.items() if f"price:{i}" not in _quoted(at)}
    if not old:
        return None
    first = next(iter(old))
    return Due(Kind.STALE, old[first], first, tuple(item_names(item).row for item in list(old)[:_NAMED]))


def _newer_gpu(at: Facts) -> Due | None:
    newer = newer_gpu(at.given)
    return Due(Kind.NEWER_GPU, None, newer.id, (newer.name,)) if newer else None


def _experts(at: Facts) -> Due | None:
    group = actions()[Kind.EXPERTS].learns
    told = at.result.information.telling if at.result.information else ()
    worth = next((w.estimate.value for w in told if w.group.id == group), None)
    return Due(Kind.EXPERTS, worth, group, choice=True) if worth and not at.given.elicited else None


def unanswered(at: Facts, settled: frozenset[str]) -> Due | None:
    """The question worth most that nobody has answered and that no other action settles."""
    left = [q for q in at.tests.priced if q.question.id not in settled and not at.answered(q.question.id)]
    if not left or one_node(at.given, int(at.given.params.cluster.gpus)):
        return None
    best, question = left[0], left[0].question
    if best.worth <= 0:  # knowing it would not better the choice by more than the noise
        return None
    things = (question.title, question.question)
    return Due(Kind.ANSWERS, best.worth, question.id, things, (question.id,), choice=not best.by_price)


CONDITIONS: Mapping[Kind, Condition] = {
    Kind.RENTS: _rents,
    Kind.BOTH: _both,
    Kind.KIN: _kin,
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
