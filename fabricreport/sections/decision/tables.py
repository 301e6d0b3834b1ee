"""Tables of the decision: what would turn the answer, the framework, what was assumed and sold, courses, offers, first steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import date

from fabricreport.base.formats import NBSP
from fabricreport.base.provenance import mean_of
from fabricreport.base.vocabulary import LEANS, Confidence, CourseKind, Question, Side, Sold
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.template import PhraseCell
from fabricreport.books.equipment import families, gpu_types
from fabricreport.books.names import family_names, input_names, item_names, option_names, side_names, whole_names
from fabricreport.books.options import Licence
from fabricreport.books.sellers import Network, Offer
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import FigureOf, Number
from fabricreport.models.judgement.framework import Rule
from fabricreport.scenario import SHIPPED_OPTIONS, Assumed, is_given, options_left_out, stated_at
from fabricreport.sections.client import stages_of
from fabricreport.sections.decision.actions import PAGE_ONE
from fabricreport.sections.decision.courses.result import CHOICE, RIVAL, PricedCourse
from fabricreport.sections.decision.inputs import assumed_keys
from fabricreport.sections.decision.market import Pair
from fabricreport.sections.decision.offers.judgements import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.sensitivity import VERB, course_told
from fabricreport.sections.decision.steps import Monday, Todo, named
from fabricreport.sections.decision.turning import Edge, Turn, key_of
from fabricreport.sections.stance import direction
from fabricreport.sections.tco.cost import CAUSES

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
        if verdict.confidence == Confidence.LEANING and result.changes:  # which costs most of a headline
            told["conditions"] = "settled first"
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
    sure = {"decision.sure.act"} & result.numbers.keys()
    if result.in_nodes:
        yield from (f"decision.courses.against.{CourseKind.SINGLE_NODE}", "decision.courses.single_total", *sure)
        return
    if len(stages_of(given)) > 1:
        yield from (f"tco.stage.price.0.{choice}", f"tco.fabric_capex.{choice}")
    yield from ("decision.difference", "decision.probability", *sure, f"decision.total.{choice}")


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
    pair = result.verdict.pair
    found = () if result.in_nodes else result.turning_beyond_body
    courses = dict.fromkeys(edge.course for t in found for edge in result.changing(t))
    words = {course: f"course_{n}" for n, course in enumerate(courses)}
    levels = any(t.level for t in found)
    rows = [
        Row(
            [
                _named(given, t),
                figure(f"decision.in_use.{key}"),
                *([_point(t, t.level, key) if t.level else ""] if levels else []),
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


def _point(turn: Turn, edge: Edge, key: str) -> str:
    likely = "" if edge.chance is None else f" ({{decision.{edge.beyond}.{key}}} of outcomes)"
    return f"{turn.told(edge.side)} {{decision.{edge.end}.{key}}}{likely}"


def _edges(turn: Turn, key: str, result: DecisionResult, courses: dict[str, str]) -> str:
    return "; ".join(f"{_point(turn, edge, key)}: {{{courses[edge.course]}}}" for edge in result.changing(turn))


def priors(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table | None:
    """Every input by kind of network that favours one of the two compared, and if that differs whose word each stands on;
    None without any."""
    if not result.priors or result.in_nodes:
        return None
    short = option_names(given.options)
    pair = result.verdict.pair
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
    """What was not said and bears on this client, with what is assumed; a choice of the schema without its hyphens."""
    rows = [Row([Name(_meaning(given, one)), Name(_assumed(given, one.key))]) for one in assumed_keys(given)]
    return Table([Column("What"), Column("Assumed")], rows)


def _meaning(given: Inputs, one: Assumed) -> str:
    """What a key is, without the unit that its value stands in."""
    return one.meaning if stated_at(given.params, one.key).unit == "text" else one.meaning.partition(", in ")[0]


def _assumed(given: Inputs, key: str) -> str:
    """What is assumed at a key, things by their names and numbers in their units."""
    cluster, text = given.params.cluster, stated_at(given.params, key).text
    names = {
        "cluster.gpu": gpu_types().of(str(cluster.gpu)).name,
        "cluster.vendor": str(cluster.vendor).upper(),
        "options": ", ".join(option.name for option in given.options),
    }
    return names.get(key, text if " " in text else text.replace("-", " "))


def overrides(given: Inputs, figure: FigureOf) -> Table:
    """Every figure that the client replaces and every number of a notebook's own, with who, why and until when."""
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
    rows += [
        Row([Name(f"{a.id} ({a.cell})"), Name(a.value), None, Name(a.who), Name(a.why), Name(str(a.until))])
        for a in given.params.adopted
    ]
    heads = ("Entry", "Value here", "In place of", "Who", "Why", "Until")
    return Table([Column(h, style="mixed" if h == "Value here" else "value") for h in heads], rows)


def sold(given: Inputs, result: DecisionResult) -> Table | None:
    """How the manager and the switch system of each option are sold, with the entry that says so; None where no buyer
    compares two."""
    if not result.corners or result.in_nodes:
        return None
    names = option_names(given.options)
    rows = [Row([Name(names[o.id].short), _sold(o.licence), _sold(o.operating_system)]) for o in given.options]
    return Table([Column("Option"), Column("Manager"), Column("Switch system")], rows)


def _sold(licence: Licence | None) -> str:
    if licence is None:
        return "none"
    cited = f" {{cite {licence.says}}}" if licence.says else ""
    if licence.sold == Sold.INCLUDED:
        return f"included{cited}"
    return (
        f"apart, charged above {{{licence.above_gpus}}} GPUs{cited}"
        if licence.above_gpus
        else f"apart, always charged{cited}"
    )


def pairs(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table | None:
    """The lead as compared and in one generation, pair by pair; None where it is told of no other pair."""
    mismatch, verdict = result.mismatch, result.verdict
    if mismatch is None or mismatch.alike is None or result.in_nodes:
        return None
    rows = [
        Row(
            [
                *_two(given, *verdict.pair),
                figure("decision.difference"),
                figure("decision.probability"),
                Name(str(verdict.confidence)),
            ]
        ),
        *(
            Row(
                [
                    *_two(given, p.choice, p.rival),
                    figure(f"decision.alike_lead.{p.key}"),
                    figure(f"decision.alike_probability.{p.key}"),
                    Name(_class(figure(f"decision.alike_lead.{p.key}"), p)),
                ]
            )
            for p in mismatch.pairs
        ),
    ]
    heads = ("First", "Second", "Links", "First costs less by", "In outcomes", "Grade")
    return Table([Column(h) for h in heads], rows)


def _two(given: Inputs, first: str, second: str) -> Iterator[Name]:
    """Two options with their years, and the speed of their links."""
    both = [given.all_options[o] for o in (first, second)]
    speeds = dict.fromkeys(f"{o.link_gbits_per_s:g}" for o in both)
    yield from (Name(f"{o.name} ({o.generation})") for o in both)
    yield Name(f"{' and '.join(speeds)} Gb/s")


def _class(lead: Number, pair: Pair) -> str:
    """The class of a pair, and that it is the second's where the second leads."""
    behind = direction(lead) == "more" and not pair.verdict.confidence.close
    return f"{pair.verdict.confidence}, for the second" if behind else str(pair.verdict.confidence)


def proposed(given: Inputs, result: DecisionResult) -> Table | None:
    """The shipped options: those compared because the client names none, and why the others are left out; None where it
    names some."""
    if is_given(given.params, "options") or result.in_nodes:
        return None
    why = options_left_out(given.params)
    rows = [Row([Name(given.all_options[o].name), str(why.get(o, "compared"))]) for o in SHIPPED_OPTIONS]
    return Table([Column("Option"), Column("Compared, or why not")], rows)


def courses(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Every course that is priced: its cost against the plain one, what it needs, and where a date binds its chance of
    being in time."""
    found = result.courses
    names = whole_names(given.options)
    known: Mapping[str, Mapping[str, str]] = read_yaml("courses")
    short, verdict = option_names(given.options), result.verdict
    pair = Name(" and ".join(short[o].short for o in dict.fromkeys(verdict.pair)))
    values: dict[str, object] = {"verb": VERB[given.params.money.acquisition], "pair": pair}
    rows = []
    for place, row in enumerate(found.rows):
        told, option = known[found.told_as(row)], f"option_{place}"
        values[option] = names[row.course.options[0]]
        against = f"decision.courses.against.{row.key}"
        number = None if found.is_base(row) else figure(against)
        rows.append(
            Row(
                [
                    told["name"].replace("{option}", f"{{{option}}}"),
                    number,
                    None if number is None or row.kind in (CourseKind.OFFERS, CourseKind.PILOT) else number,
                    told["needs"],
                    *([figure(f"decision.courses.ready.{row.key}")] if given.params.dated else []),
                ],
                role="winner" if not given.team.rented and _marked(row, result) else "normal",
            )
        )
    heads = [
        Column("Course"),
        Column("Costs more"),
        Column("90 % range", style="spread"),
        Column("Needs"),
        *([Column("In time")] if given.params.dated else []),
    ]
    return Table(heads, rows, values)


def _marked(row: PricedCourse, result: DecisionResult) -> bool:
    """Whether a row is the advised one; a renter is advised a seller, and none of these.

    Where no option is advised over the other that is to ask for offers on both; both are where offers are not priced."""
    advised, verdict = result.courses.advised, result.verdict
    if result.courses.involved:
        return row.kind == advised.kind
    if (
        verdict.open
        and verdict.confidence == Confidence.DOES_NOT_MATTER
        and result.courses.row(CourseKind.OFFERS) is None
    ):
        return row.key in (CHOICE, RIVAL)
    if advised.kind in (CourseKind.TAKE, CourseKind.STAGE_ONE):  # with what its contract brings, where that is priced
        return row.kind == CourseKind.DAMAGES if result.courses.row(CourseKind.DAMAGES) else row.key == CHOICE
    return row.kind == CourseKind.OFFERS


def within(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """The bill of the work in jobs within nodes, and the one with a network between nodes that it is held against."""
    courses, base = result.courses, whole_names(given.options)[result.courses.base]
    amounts = {CAUSES[cause]: f"decision.courses.single_part.{cause}" for cause in courses.single.causes}
    amounts |= {"GPU time lost, at its value": "decision.courses.single_idle"}
    rows = [
        *(Row([Name(what), number]) for what, i in amounts.items() if (number := figure(i)).value),
        Row(["Within nodes", figure("decision.courses.single_total")], role="winner"),
        Row(["Across nodes, on {base}", figure(f"decision.total.{courses.base}")]),
    ]
    return Table([Column("What is paid and lost"), Column("Amount", style="mixed")], rows, {"base": base})


def stops(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """A plan that ends after each stage: what was paid for each option, and what of it was for growth."""
    growing = result.courses.growing
    assert growing is not None, "asked for where the plan has stages"
    short = option_names(given.options)
    rows = [
        Row(
            [
                figure(f"decision.courses.stop_month.{number}"),
                figure(f"decision.courses.stop_gpus.{number}"),
                *(
                    figure(f"decision.courses.{what}.{number}.{option}")
                    for option in growing.left
                    for what in ("paid", "wasted")
                ),
            ]
        )
        for number, _ in enumerate(growing.stops)
    ]
    heads = [Column("Month"), Column("Size")]
    for option in growing.left:
        heads += [Column(Name(f"{short[option].short}: paid")), Column(Name(f"{short[option].short}: for growth"))]
    return Table(heads, rows)


_NETWORK_SOLD: dict[str, str] = {
    Network.INCLUDED: "in the price",
    Network.ADD_ON: "as an add-on, counted",
    Network.EXTRA: "not in the price",
    Network.UNKNOWN: "not said",
}


def tiers(offer: Offer) -> str:
    """What an hour more is paid for the network that is sold as an add-on, as a table's cell prints it; '' where it is not."""
    if offer.network != Network.ADD_ON:
        return ""
    return "".join(f", +{{{a.price}:bare}}" for a in offer.add_ons if a.needed and not a.monthly)


def where_of(offer: Offer) -> str:
    """Where the network of an offer can be had: on which product, or whether it is in the price."""
    if offer.contractual and offer.network == Network.ADD_ON:
        return ", ".join(a.name for a in offer.add_ons if a.needed and not a.monthly) or _NETWORK_SOLD[offer.network]
    said = offer.contractual and offer.network in (Network.EXTRA, Network.UNKNOWN)
    return _NETWORK_SOLD[offer.network] if said or not offer.product else offer.product


def network_name(given: Inputs, fabric: str) -> str:
    """What a sentence calls the fabric that an offer names."""
    family = next((o.family for o in given.options if o.id == fabric), fabric)
    return family_names(family).phrase if family in families() else "not named"


def conditions(judged: Judged) -> tuple[str, ...]:
    """What a seller has to answer before its offer is taken, in the order in which it is asked."""
    renew = ("renew",) if Open.OLD in judged.open else ()
    return (*renew, *(str(what) for what in (Open.EXTRA, Open.NETWORK, Open.FABRIC) if what in judged.open))


def asking(judged: Judged) -> str:
    """What to ask a seller first, by what is open."""
    open_, bound = set(judged.open), judged.offer.contractual
    if Open.OLD in open_:
        apart = "old-network" if Open.NETWORK in open_ else "old-extra" if Open.EXTRA in open_ else "old"
        return "renew" if bound else apart
    order = (
        Open.EXTRA,
        Open.NETWORK,
        Open.FABRIC,
        Open.GROWTH,
        Open.TOPOLOGY,
        Open.GENERATION,
        Open.SPEED,
        Open.LISTED,
    )
    return next((str(what) for what in order if what in open_), "nothing")


def bid_items(result: DecisionResult, figure: FigureOf) -> Table:
    """Every line of the bills: what the seller counts and asks, and what the model does; no rows without offers to a buyer."""
    rows = [
        Row(
            [
                Name(b.offer.seller),
                Name(item_names(line.item).row),
                figure(f"decision.bids.counted.{key}.{line.item}") if line.counted else None,
                figure(f"decision.bids.ours.{key}.{line.item}"),
                figure(line.price),
                figure(line.replaces),
            ]
        )
        for key, b in ({} if result.in_nodes else result.bids).items()
        for line in b.lines
    ]
    heads = ("Seller", "Item", "Counted", "First stage takes", "Price asked", "Price in use")
    return Table([Column(h, style="mixed" if h.startswith("Price") else "value") for h in heads], rows)


UNPRICED = "not priced"
TRIFLE, TRIFLE_USD = "next to nothing", 100.0
"""What a step is said to be worth below an amount that nobody would act on."""
WORTH_HEAD = "Worth on average"


def todo(monday: Monday, *, worth: bool = True) -> Table:
    """What to do, who does it, by when, and what it is `worth`, but for a page that a seller may see."""
    rows = [
        Row([Name(one.mark), _said(one), Name(_who(one)), Name(_by(one)), *([_worth(one)] if worth else [])])
        for one in monday.todos
    ]
    return Table([Column(h) for h in ("", "Do", "Who", "By", *([WORTH_HEAD] if worth else []))], rows)


def first_steps(monday: Monday) -> Table:
    """The steps that page one has room for: what to have done by which day, and what it is worth."""
    rows = [
        Row([Name(one.mark), _said(one), Name(_short_day(one.answer or one.by)), _worth(one)])
        for one in monday.todos[:PAGE_ONE]
    ]
    return Table([Column(h) for h in ("", "Do", "Done by", WORTH_HEAD)], rows)


def _said(one: Todo) -> PhraseCell:
    several = one.action.several if one.due.networks else ""
    return PhraseCell(several or one.action.does, {"todo": named(one)})


def _who(one: Todo) -> str:
    return f"{one.who}, with {one.to}" if one.to else one.who


def _by(one: Todo) -> str:
    day = _day(one.by)
    if one.answer is not None:
        return f"{day}, answers {_day(one.answer)}"
    return f"{day}, as a draft term" if one.action.contract else day


def _day(day: date) -> str:
    return NBSP.join((str(day.day), f"{day:%b}", str(day.year)))


def _short_day(day: date) -> str:
    return f"{day.day}{NBSP}{day:%B}"


def _worth(one: Todo) -> str:
    if one.due.worth is None:
        return UNPRICED
    return Name(TRIFLE) if mean_of(one.due.worth.usd) < TRIFLE_USD else f"{{decision.worth.{one.action.kind}}}"
