"""What the decision found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabricreport.base.formats import inside
from fabricreport.base.vocabulary import NEITHER, STATED, Confidence, CourseKind, Ground
from fabricreport.books.names import family_names, input_names, name_book, side_names, whole_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Name, Named, OptionName, Phrase, Spoken, joined
from fabricreport.ledger.numbers import FigureOf
from fabricreport.models.judgement.framework import leaning
from fabricreport.scenario import is_given
from fabricreport.sections.client import REQUIREMENT, barred, gpu_type, judges, judges_missed, newer_gpu, told
from fabricreport.sections.decision.actions import PAGE_ONE, Kind
from fabricreport.sections.decision.inputs import assumed_keys, criteria, target_gpus, told_ground
from fabricreport.sections.decision.market import held_words
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.sensitivity import VERB, unquoted_named, without_named
from fabricreport.sections.decision.steps import Monday, monday_words
from fabricreport.sections.decision.turning import key_of
from fabricreport.sections.decision.words import (
    DecisionFinding,
    advice,
    cheaper_courses,
    course_findings,
    course_words,
    offer_words,
    schedule_findings,
    schedule_words,
    staged,
)
from fabricreport.sections.diligence.result import Changes
from fabricreport.sections.stance import direction
from fabricreport.sections.tco.result import TcoResult

_FEW_TIMES = 4
"""The rule of size is told to whoever plans up to so many times the GPUs from which a network matters."""


class _Read:
    """A decision with what its findings and words are made of."""

    def __init__(
        self,
        given: Inputs,
        result: DecisionResult,
        tco: TcoResult,
        monday: Monday,
        figure: FigureOf,
        changes: Changes | None,
    ) -> None:
        self.changes = changes
        self.given, self.result, self.tco, self.figure = given, result, tco, figure
        self.monday = monday
        self.verdict, self.ground = result.verdict, result.ground
        self.money = direction(figure("decision.difference"))
        self.barred = barred(given)
        self.newer = newer_gpu(given)
        self.alone = len(result.totals) == 1

    def cheaper_tied(self, other: str) -> bool:
        """Whether the choice is taken on a ground of the client's though this option costs less."""
        if self.verdict.preferred_by is None or other not in self.result.totals:
            return False
        return self.figure(f"decision.gap.{other}").value < 0

    @property
    def also_tied(self) -> tuple[str, ...]:
        """What ties with the choice beside the two compared."""
        return tuple(o for o in self.verdict.tied if o not in self.verdict.pair)

    @property
    def stood_in(self) -> list[str]:
        """Items that the client's price files lack."""
        behind = self.result.behind if self.result.in_nodes else self.tco.inputs
        items = sorted(i[6:] for i in behind if i.startswith("price:"))
        return [item for item in items if self.given.prices[item].stand_in]


def spoken(
    given: Inputs, result: DecisionResult, tco: TcoResult, monday: Monday, figure: FigureOf, changes: Changes | None
) -> Spoken:
    """Findings and words of the decision; `monday` is what to do before signing, `figure` answers with the ledger's numbers,
    `changes` is what the answers of sellers change."""
    read = _Read(given, result, tco, monday, figure, changes)
    networks = (_courses, _why, _turns_drawn, _view, _quotes, _lead, _rule)
    groups = (
        *(_date, _advice, _care, _monday, _annex),
        *((_not_taken,) if result.in_nodes else (*networks, _answered, _offered)),
    )
    return Spoken(Findings(DecisionFinding, (f for group in groups for f in group(read))), _words(read))


F = DecisionFinding


def _answered(read: _Read) -> Iterator[DecisionFinding]:
    if read.changes is not None and read.changes.turned:
        yield F.ANSWERS_TURNED


def _offered(read: _Read) -> Iterator[DecisionFinding]:
    if read.result.bids:
        yield F.BIDS


def _courses(read: _Read) -> Iterator[DecisionFinding]:
    yield from course_findings(read.given, read.result.courses)


def _not_taken(read: _Read) -> Iterator[DecisionFinding]:
    yield F.NOT_TAKEN


def _date(read: _Read) -> Iterator[DecisionFinding]:
    if not read.result.offers:
        yield from schedule_findings(read.result)


def _advice(read: _Read) -> Iterator[DecisionFinding]:
    if read.result.offers:
        return
    advised: dict[str, DecisionFinding] = {
        Confidence.LEANING: F.SETTLE_FIRST if read.result.changes else F.TAKE,
        Confidence.CLOSE: F.ASK_BOTH,
        Confidence.DOES_NOT_MATTER: F.ON_PRICE,
        Ground.SIZE: F.TAKE_SMALL,
    }
    priced = {one.action.kind for one in read.monday.todos if one.due.pays}
    for kind, step, finding in (
        (CourseKind.OFFERS, Kind.QUOTE, F.OFFERS_SHOW),
        (CourseKind.PILOT, Kind.PILOT, F.PILOT_SHOWS),
    ):
        if read.result.courses.advised.kind == kind and step in priced:
            yield finding
    yield advice(read.result.courses) or staged(read.result.courses, advised.get(read.ground, F.TAKE))


def _why(read: _Read) -> Iterator[DecisionFinding]:
    near: dict[str, DecisionFinding] = {
        Ground.DEADLINE: F.NEAR_BY_DATE,
        **dict.fromkeys(STATED, F.NEAR_BY_STATED),
    }
    if not (read.alone or read.result.offers) and read.ground in near:
        yield near[read.ground]
    if read.also_tied and not read.result.offers:
        if not read.verdict.open:
            yield F.ALSO_TIED
        if read.verdict.preferred_by is not None:
            yield F.TIE_SETTLED
    if read.barred:
        yield F.BARRED


def _turns_drawn(read: _Read) -> Iterator[DecisionFinding]:
    if read.result.turns.uncertain and not (read.alone or read.result.in_nodes or read.result.offers):
        yield F.TURNS_DRAWN


def _view(read: _Read) -> Iterator[DecisionFinding]:
    if read.result.parts and read.ground != Ground.SIZE:
        yield F.MONEY_AND_FRAMEWORK_PART
    if not read.alone and read.ground != Ground.SIZE and (read.result.parts or read.result.argued_apart):
        yield F.FRAMEWORK_APART
    if read.result.beyond_first:
        yield F.BEYOND_STATED


def _quotes(read: _Read) -> Iterator[DecisionFinding]:
    if any(u.turned_by for u in read.result.unquoted):
        yield F.QUOTE_TURNS


def _doubts(result: DecisionResult) -> tuple[str, ...]:
    """Why a lead that would be clear is called leaning, as one text; none where that is not so."""
    capped, told = result.verdict.capped, name_book().doubts
    also = (told["act"],) if capped in ("input", "priors", "listing", "generation") and result.stands_in_few else ()
    return (" and ".join((told[capped], *also)),) if capped else ()


def _lead(read: _Read) -> Iterator[DecisionFinding]:
    """What to read with care in a lead of one network over another."""
    if judges_missed(read.given):
        yield F.JUDGES_MISSED
    if read.verdict.capped == "listing":
        yield F.LISTING_TURNS
    if read.verdict.capped == "generation":
        yield F.GENERATION_TURNS
    if read.result.later:
        yield F.LATER


def _care(read: _Read) -> Iterator[DecisionFinding]:
    if read.newer:
        yield F.OLDER_GPU
    if read.figure("decision.stale_prices").value:
        yield F.STALE
    if read.stood_in:
        yield F.STOOD_IN


def _monday(read: _Read) -> Iterator[DecisionFinding]:
    if read.monday.todos:
        yield F.MONDAY_LISTED
    if len(read.monday.todos) > PAGE_ONE:
        yield F.MONDAY_MORE


def _rule(read: _Read) -> Iterator[DecisionFinding]:
    """How networks are told apart, and which."""
    params = read.given.params
    yield F.OPTIONS_TOLD
    yield F.LIMIT_RULED if params.money.materiality_usd is None else F.LIMIT_STATED
    if target_gpus(params) <= _FEW_TIMES * read.given.central("evidence:fabric-matters-from-gpus"):
        yield F.FEW_GPUS


def _annex(read: _Read) -> Iterator[DecisionFinding]:
    if assumed_keys(read.given):
        yield F.ASSUMED


# ---- words


def _choices(read: _Read) -> Mapping[str, Name | None]:
    """Words that choose within a sentence: each there where it holds."""
    params, rented = read.given.params, read.given.team.rented
    asks = any(one.action.kind == Kind.RENTS for one in read.monday.todos)
    held = {
        "rents": rented,
        "real_rent": rented and params.money.discounting == "real",
        "asks_for_a_term": asks and not is_given(params, "money.horizon_months"),
    }
    return {word: Name(word) if holds else None for word, holds in held.items()}


def _words(read: _Read) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    verdict, result = read.verdict, read.result
    name = whole_names(read.given.options)
    ahead, behind = verdict.pair if verdict.lead >= 0 else verdict.pair[::-1]
    titles = {c: inside(title) for c, title in criteria().items()}
    other = result.sure.other.partition(":")[2] if result.sure else ""
    sellers = {o: j.offer.seller for o, j in result.offers.judged.items()} if result.offers else {}
    tie = told_ground(read.given.params, by) if (by := verdict.preferred_by) else ""
    return {
        "judges": judges(read.given),
        **_choices(read),
        **monday_words(read.monday),
        "choice": name[verdict.choice],
        "rival": name[verdict.runner_up],
        "ties": _ties(name, read.also_tied),
        "third_tied": name[read.also_tied[0]] if read.also_tied else None,
        "asked_of": _asked_of(name, result),
        "of_network": Name("") if read.given.team.rented else _of_network(name, result),
        "best": Name("better" if len(_open(result)) == 2 else "best"),
        "either_of": joined((str(name[o]) for o in _open(result)), last=" or "),
        "cheaper": name[ahead],
        "lost_way": Name(direction(read.figure("decision.courses.single_lost"))) if result.in_nodes else None,
        "hour_basis": Name(name_book().hour_values.get(read.tco.common.value_basis, "")),
        "dearer": name[behind],
        "Verb": VERB[read.given.params.money.acquisition],
        "side": _side(read, result.framework.leans_to),
        "argued": _side(read, leaning(result.framework.argued)),
        "idle_side": Name("idle") if verdict.open and result.framework.leans_to != NEITHER else None,
        **course_words(read.given, result.courses),
        "cheaper_courses": () if result.in_nodes else cheaper_courses(read.given, result.courses, read.figure),
        **schedule_words(read.given, result),
        "grade": None if read.ground == Ground.SIZE else Phrase(str(verdict.confidence), "grade"),
        "firmness": Name(", since ".join((verdict.confidence, *_doubts(result)))),
        "stands": Name("stands") if result.sure and not result.offers else None,
        "other_course": _other_course(read, name, other),
        "third_best": _third(read, name, other),
        "cheaper_tied": name[other] if read.cheaper_tied(other) else None,
        "tie_decider": Name(tie) if tie else None,
        "tie_again": Name("that" if verdict.decided_by == verdict.preferred_by else tie) if tie else None,
        "decider": Name(ground) if (ground := told_ground(read.given.params, verdict.decided_by)) else None,
        "No_network": _no_network(read, name),
        "cause": Name(_cause(read, verdict.runner_up)),
        "unanswered": Name(read.changes.without.course or "neither") if read.changes else None,
        "barred": Named(joined(name[o] for o in read.barred), "barred", sources=(REQUIREMENT,))
        if read.barred
        else None,
        "turned": _turned(whole_names(read.given.all_options.values()), result),
        **_nearest_turn(read),
        "quote": unquoted_named(read.given, nearest) if (nearest := result.nearest_quote) else None,
        "turned_without": tuple(without_named(read.given, result.without[o], o) for o in result.turned_without),
        "beyond_first": name[first] if (first := result.beyond_first) else None,
        "beyond_order": Name(", then ".join(titles[c] for c in read.given.params.organisation.beyond_money)),
        **offer_words(read.given, result, read.figure),
        "gpu": told(gpu_type(read.given)),
        "newer": told(read.newer) if read.newer else None,
        **held_words(read.given, result.held, verdict.pair, sellers),
        "shipped": Name(", ".join(read.stood_in)),
    }


def _open(result: DecisionResult) -> tuple[str, ...]:
    """What may be ordered where no option is advised over another: the two compared, and all that tie."""
    return tuple(dict.fromkeys((*result.verdict.pair, *result.verdict.tied)))


def _of_network(names: Mapping[str, OptionName], result: DecisionResult) -> Name:
    """Behind a colon, the network that a letter to a seller is about; nothing where none is bought. A renter's goes to sellers of either."""
    about = result.verdict.pair if result.verdict.open else (result.courses.base,)
    named = joined((str(names[o]) for o in dict.fromkeys(about)), last=" or ")
    return joined((": ", named), between="") if result.joins_nodes else Name("")


def _asked_of(names: Mapping[str, OptionName], result: DecisionResult) -> Name:
    """The same as those that offers are asked of."""
    found = [str(names[o]) for o in _open(result)]
    return Name("both " if len(found) == 2 else "", joined(found, last=" and "))


def _ties(names: Mapping[str, OptionName], tied: Sequence[str]) -> Named | None:
    """The options that tie with the choice beside the two compared, and what is asked for of them."""
    if not tied:
        return None
    offers = Name("offers" if len(tied) > 1 else "an offer")
    return Phrase(joined((names[o] for o in tied), last=" and "), "ties", offers=offers)


def _other_course(read: _Read, names: Mapping[str, OptionName], other: str) -> Name:
    """What the best other course takes, between commas, where that is one option."""
    plain = " ordered at once" if other == read.verdict.choice else ""
    return joined((", ", names[other], plain, ","), between="") if other in names else Name("")


def _third(read: _Read, names: Mapping[str, OptionName], other: str) -> Named | None:
    """The option of the best other act where it is none of the two compared, and whether it costs more or less."""
    if other not in names or other in read.verdict.pair:
        return None
    more = direction(read.figure(f"decision.gap.{other}")) == "less"
    return OptionName(names[other], other, way=Name("more" if more else "less"))


def _no_network(read: _Read, names: Mapping[str, OptionName]) -> Name:
    """Who is not in time where neither of the two compared is: no network at all, or not these two."""
    if any(read.verdict.likely(o, read.result.rule) for o in read.result.totals):
        return joined(("Neither ", names[read.verdict.choice], " nor ", names[read.verdict.runner_up]), between="")
    return Name("No network")


def _side(read: _Read, side: str) -> Name:
    """A side by its families: all that are compared where the choice is of another than gives the side its name."""
    families = {o.id: o.family for o in read.given.options if o.side == side}
    if families.get(read.verdict.choice, side) == side:
        return Name(side_names(read.given.options, side).phrase)
    return joined((family_names(f).phrase for f in sorted({*families.values()})), last=" and ")


def _turned(names: Mapping[str, OptionName], result: DecisionResult) -> Named | None:
    """What reverses the order most, else what comes nearest, and the option that costs less then."""
    tried = result.reversals.tried if result.reversals else ()
    return Named(tried[0].what, tried[0].key, cheaper=names[tried[0].cheaper]) if tried else None


def _cause(read: _Read, option: str) -> str:
    """The cause by which an option exceeds the choice most, as it stands within a sentence."""
    return inside(read.tco.labels[read.result.dearest_cause(read.tco.components, option)])


def _nearest_turn(read: _Read) -> Mapping[str, object]:
    """The input that turns the advice or the money most often, with what is drawn of it; None where none does."""
    turn = next(iter(read.result.turns.uncertain), None)
    if turn is None or read.result.in_nodes:
        return {"nearest_turn": None, "turn_advises": None}
    key, (edge, point) = key_of(turn.input_id), read.result.drawn_point(turn)
    numbers = {"used": "in_use", "level": point, "chance": edge.beyond}
    said = {what: read.figure(f"decision.{name}.{key}") for what, name in numbers.items()}
    named = Named(input_names(read.given, turn.input_id).row, key, side=Name(edge.side), **said)
    return {"nearest_turn": named, "turn_advises": Name("advises") if turn.edges else None}
