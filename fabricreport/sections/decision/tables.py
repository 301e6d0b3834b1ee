"""Tables of the decision: what would turn the answer, the framework's rules, and what was assumed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import input_names, option_names, side_names
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf, Number
from fabricreport.models.judgement.framework import Rule
from fabricreport.scenario import assumptions
from fabricreport.sections.client import stages_of
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import Turn, key_of
from fabricreport.sections.decision.turning_words import course_told
from fabricreport.vocabulary import LEANS, CourseKind, Question, Side

OF_OWNERS = (
    "cluster.optics",
    "cluster.premises",
    "organisation.operations",
    "money.manager_licence",
    "money.switch_system_licence",
)
"""Keys of the params about what only an owner buys."""
_MORE = "Switches at full size: more start slower"


def headline(given: Inputs, result: DecisionResult, figure: FigureOf) -> tuple[dict[str, object], list[Number]]:
    """What the command line and `refresh` report: the advice in keys, and the figures that answer the client's question."""
    verdict = result.verdict
    told: dict[str, object] = {
        "question": given.params.asked,
        "choice": verdict.choice,
        "course": result.courses.advised.id,
    }
    if not result.in_nodes:  # these are of one network beside another
        told |= {
            "confidence": verdict.confidence,
            "decided_by": verdict.decided_by,
            "framework": {True: "agrees", False: "disagrees", None: "takes no side"}[verdict.agrees],
            "framework_leans_to": side_names(given.options, result.framework.leans_to).phrase,
        }
    if result.offers is not None:
        told |= {"offer": result.offers.pick.first, "offer_stands": result.offers.pick.standing.name.lower()}
    return told, [figure(i) for i in _answering(given, result)]


def _answering(given: Inputs, result: DecisionResult) -> Iterator[str]:
    """Ids of the figures that answer the client's question: of a renter what sellers ask, of a grower the first order,
    and where no network is advised what that saves."""
    choice = result.verdict.choice
    if given.params.asked == Question.CHOOSE_PROVIDER:
        yield from _of_sellers(result.offers) if result.offers else (f"tco.total.{choice}",)
        return
    if result.in_nodes:
        yield from (f"decision.courses.against.{CourseKind.SINGLE_NODE}", "decision.courses.single_total")
        if "decision.sure.act" in result.numbers:
            yield "decision.sure.act"
        return
    if len(stages_of(given)) > 1:
        yield from (f"tco.stage.price.0.{choice}", f"tco.fabric_capex.{choice}")
    yield from ("decision.difference", "decision.probability", f"decision.total.{choice}")


def _of_sellers(offers: OffersResult) -> Iterator[str]:
    """What the offer to take comes to, and the next; where none can be taken yet, the least and the most that they come to."""
    total = "decision.offers.total"
    if offers.listed or offers.best is None:
        yield from (f"{total}.{offer}" for offer in dict.fromkeys((offers.order[0], offers.order[-1])))
        yield "decision.offers.asked" if offers.unranked else "decision.offers.count"
        return
    first = offers.pick.first
    yield f"{total}.{first}"
    if offers.pick.second:
        yield from (f"decision.offers.gap.{offers.pick.second}", f"decision.offers.cheapest.{first}")


def turning(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Each input that turns the money or the advice and that the body leaves out: where the money is level, if it is for
    any of them, and where the advice changes."""
    pair = (result.verdict.choice, result.verdict.runner_up)
    found = () if result.in_nodes else result.turning_beyond_body
    courses = dict.fromkeys(edge.course for t in found for edge in result.changing(t))
    words = {course: f"course_{n}" for n, course in enumerate(courses)}
    levels = any(t.flips for t in found)
    rows = [
        Row(
            [
                _named(given, t),
                figure(f"decision.in_use.{key}"),
                *([_level(t, key)] if levels else []),
                _edges(t, key, result, words),
            ]
        )
        for t in found
        for key in [key_of(t.input_id)]
    ]
    heads = [
        Column("Input"),
        Column("In use", style="mixed"),
        *([Column("{dearer} costs less")] if levels else []),
        Column("The advice changes"),
    ]
    return Table(heads, rows, {word: course_told(given, course, pair) for course, word in words.items()})


def _named(given: Inputs, turn: Turn) -> Name:
    return Name(input_names(given, turn.input_id).row)


def _level(turn: Turn, key: str) -> str:
    if not turn.flips:
        return ""
    chance = "" if turn.beyond is None else f" ({{decision.beyond.{key}}} of outcomes)"
    return f"{turn.told(turn.side)} {{decision.break_even.{key}}}{chance}"


def _edges(turn: Turn, key: str, result: DecisionResult, courses: dict[str, str]) -> str:
    told = []
    for end, _, side, course, chance in result.changing(turn):
        likely = "" if chance is None else f" ({{decision.beyond_{end}.{key}}} of outcomes)"
        told.append(f"{turn.told(side)} {{decision.{end}.{key}}}{likely}: {{{courses[course]}}}")
    return "; ".join(told)


def priors(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table | None:
    """Every input by kind of network that favours one of the two compared, and if that differs whose word each stands on;
    None without any."""
    if not result.priors or result.in_nodes:
        return None
    short = option_names(given.options)
    pair = (result.verdict.choice, result.verdict.runner_up)
    several = len({p.word for p in result.priors}) > 1
    called = {o.side: Name(short[o.id].short) for o in given.options if o.id in pair}
    rows = [
        Row(
            [
                Name(p.what),
                *(figure(i) if i else None for i in (p.infiniband, p.rocev2)),
                called[Side(p.favours)],
                *((Name(p.word),) if several else ()),
            ]
        )
        for p in result.priors
    ]
    if counts := _switches(given, pair, figure):
        fewer = min(counts, key=lambda side: counts[side].value)
        word = (Name("the parts list"),) if several else ()
        rows.append(Row([Name(_MORE), *(counts[side] for side in LEANS if side in counts), called[fewer], *word]))
    heads = (Column("Input"), *(Column(called[side], style="mixed") for side in LEANS if side in called))
    return Table([*heads, Column("Favours"), *((Column("On the word of"),) if several else ())], rows)


def _switches(given: Inputs, pair: Collection[str], figure: FigureOf) -> dict[Side, Number]:
    """Of an owner the switches of the two compared by kind of network, where one has more to set up and keep than the other."""
    found = (
        {}
        if given.team.rented
        else {o.side: figure(f"tco.count.switches.{o.id}") for o in given.options if o.id in pair}
    )
    return found if len({number.value for number in found.values()}) > 1 else {}


def rules(given: Inputs, result: DecisionResult) -> Table:
    """The questions in words: each rule that holds, the side it speaks for, and what of the bill holds it already."""
    rows, called = [], read_yaml("framework")["rented"] if given.team.rented else {}
    for axis in () if result.in_nodes else result.framework.axes:
        for place, r in enumerate(axis.rules):
            because = r.reason + (f" {{cite {', '.join(r.sources)}}}" if r.sources else "")
            billed = Name(called.get(r.priced_as, r.priced_as))
            rows.append(Row([Name("" if place else axis.title), because, Name(_speaks_for(given, r)), billed]))
    return Table([Column(h) for h in ("Question", "What holds here", "Speaks for", "In the bill as")], rows)


def _speaks_for(given: Inputs, rule: Rule) -> str:
    if not rule.lean:
        return "neither"
    return side_names(given.options, Side.INFINIBAND if rule.lean > 0 else Side.ROCEV2).phrase


def assumed(given: Inputs) -> Table:
    """Every key that was not given and bears on this client, with what is assumed; a section is named at its first key."""
    rows, before = [], None
    idle = OF_OWNERS if given.team.rented else ()
    for a in sorted(assumptions(given.params), key=lambda a: a.section != ""):
        if a.key in idle:
            continue
        rows.append(Row([Name(a.section if a.section != before else ""), Name(a.name), Name(a.text)]))
        before = a.section
    return Table([Column("Part"), Column("Key"), Column("Assumed")], rows)


def overrides(given: Inputs, figure: FigureOf) -> Table:
    """Every figure that the client replaces, with who, why and until when."""
    rows = [
        Row(
            [
                Name(o.id),
                figure(o.id),
                Name(given.record(o.id)["override"]["replaced"]),
                Name(o.who),
                Name(o.why),
                Name(str(o.until)),
            ]
        )
        for o in given.params.overrides
    ]
    heads = ("Entry", "Value here", "In place of", "Who", "Why", "Until")
    return Table([Column(h, style="mixed" if h == "Value here" else "value") for h in heads], rows)
