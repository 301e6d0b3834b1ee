"""Tables of the decision: every option, what would turn the answer, the framework's rules, and what was assumed."""

from __future__ import annotations

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import input_names, side_names, whole_names
from fabricreport.formats import inside
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf, Number
from fabricreport.scenario import assumptions
from fabricreport.sections.decision.joint.tables import share_cell
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import Turn, key_of
from fabricreport.sections.decision.turning_words import course_told
from fabricreport.sections.partner import barred
from fabricreport.sections.tco.result import TcoResult
from fabricreport.vocabulary import LEANS, Ground

NOT_ALLOWED = "not allowed to a cloud partner of NVIDIA"


def headline(given: Inputs, result: DecisionResult, figure: FigureOf) -> tuple[dict[str, object], list[Number]]:
    """What the command line and `refresh` report: the advice in keys, and the figures that stand for it."""
    verdict = result.verdict
    told: dict[str, object] = {
        "choice": verdict.choice,
        "course": result.courses.advised.id,
        "confidence": verdict.confidence,
        "decided_by": verdict.decided_by,
        "framework": {True: "agrees", False: "disagrees", None: "takes no side"}[verdict.agrees],
        "framework_leans_to": side_names(given.options, result.framework.leans_to).phrase,
    }
    if result.offers is not None:
        told |= {"offer": result.offers.pick.first, "offer_stands": result.offers.pick.standing.name.lower()}
    ids = ("difference", "probability", f"total.{verdict.choice}", "framework_total")
    return told, [figure(f"decision.{id}") for id in ids]


def options(given: Inputs, result: DecisionResult, tco: TcoResult, figure: FigureOf) -> Table:
    """Every option, the cheapest first, with what speaks for or against it."""
    verdict = result.verdict
    names = whole_names(given.options)
    totals = {o: figure(f"decision.total.{o}") for o in result.totals}
    out = barred(given)
    rows = [
        Row(
            [
                names[o],
                totals[o],
                totals[o],
                share_cell(result.joint, o),
                figure(f"decision.ready.{o}"),
                NOT_ALLOWED if o in out else _judged(o, result, tco, totals[o].value - totals[verdict.choice].value),
            ],
            role="winner" if o == verdict.choice and not (verdict.open or verdict.announced) else "normal",
        )
        for o in sorted(totals, key=lambda o: totals[o].value)
    ]
    heads = ("Option", "Mean", "90 % range", "Cheapest in", "Ready in time", "Verdict")
    return Table([Column(h, style="spread" if h == "90 % range" else "value") for h in heads], rows)


def _judged(option: str, result: DecisionResult, tco: TcoResult, gap: float) -> str:
    """Why an option is advised or not, in a few words."""
    verdict = result.verdict
    if option == verdict.choice:
        if verdict.announced:
            return "not on sale yet"
        return "one of the two" if verdict.open else "advised"
    if verdict.open and option == verdict.runner_up:
        return "one of the two"
    if option == result.kin:
        return "too close to tell from it"
    if gap > 0:
        return f"costs more, chiefly for {inside(tco.labels[result.dearest_cause(tco.components, option)])}"
    if gap == 0:
        return "costs the same"
    behind: dict[str, str] = {
        Ground.DEADLINE: "cheaper, but likely to be late",
        Ground.WEIGHTS: "cheaper, but behind by your weights",
    }
    return behind.get(result.ground, "cheaper")


def parting(result: DecisionResult, tco: TcoResult) -> Table:
    """Reasons for the advice in the bill, and for the other side beyond it, each with the audit's verdict."""
    sides = result.parting
    assert sides is not None, "asked for where the two part"
    ours = [
        f"{tco.labels[r.cause]}: {{decision.saves.{r.cause}}} less ({_audited(r.verdict, r.claim)})"
        for r in sides.money
    ]
    theirs = [f"{r.words} ({_audited(r.verdict, r.claim)})" for r in sides.other]
    longest = max(len(ours), len(theirs))
    padded = [[*side, *[""] * (longest - len(side))] for side in (ours, theirs)]
    heads = [Column("For {choice}, in the bill"), Column("For {side}, beyond the bill")]
    return Table(heads, [Row(list(cells)) for cells in zip(*padded, strict=True)])


def _audited(verdict: str, claim: str) -> str:
    return (verdict or "no claim behind it") + (f" {{cite {claim}}}" if claim else "")


def turning(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Each input that turns the money or the advice: its value, where the money is level, where the advice changes."""
    pair = (result.verdict.choice, result.verdict.runner_up)
    courses = dict.fromkeys(edge.course for t in result.turns.turning for edge in t.edges)
    words = {course: f"course_{n}" for n, course in enumerate(courses)}
    rows = [
        Row([_named(given, t), figure(f"decision.in_use.{key}"), _level(t, key), _edges(t, key, words)])
        for t in result.turns.turning
        for key in [key_of(t.input_id)]
    ]
    heads = [
        Column("Input"),
        Column("In use", style="mixed"),
        Column("{dearer} costs less"),
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


def _edges(turn: Turn, key: str, courses: dict[str, str]) -> str:
    told = []
    for end, _, side, course, chance in turn.edges:
        likely = "" if chance is None else f" ({{decision.beyond_{end}.{key}}} of outcomes)"
        told.append(f"{turn.told(side)} {{decision.{end}.{key}}}{likely}: {{{courses[course]}}}")
    return "; ".join(told)


def without_listed(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """The advice with each option left out whose switch has one listed price."""
    names = whole_names(given.options)
    rows = [
        Row(
            [
                names[o],
                names[v.choice],
                names[v.runner_up],
                figure(f"decision.without_lead.{o}"),
                figure(f"decision.without_probability.{o}"),
                Name(str(v.confidence)),
            ]
        )
        for o, v in result.without.items()
    ]
    heads = ("Left out", "Lower mean", "Rival", "Lead", "Cheaper in", "Grade")
    return Table([Column(h, style="mixed" if h == "Lead" else "value") for h in heads], rows)


def priors(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Every input that is stated by kind of fabric, with whom it favours and on whose word."""
    rows = [
        Row(
            [
                Name(p.what),
                figure(p.infiniband) if p.infiniband else None,
                figure(p.rocev2) if p.rocev2 else None,
                Name(side_names(given.options, p.favours).phrase if p.favours in LEANS else "neither"),
                Name(p.word),
            ]
        )
        for p in result.priors
    ]
    heads = (Column("Input"), *(Column(Name(side_names(given.options, side).phrase), style="mixed") for side in LEANS))
    return Table([*heads, Column("Favours"), Column("On the word of")], rows)


def settling(given: Inputs, result: DecisionResult) -> Table:
    """What settles each of them, and when."""
    rows = [Row([_named(given, t), Name(t.settled["what"]), Name(t.settled["when"])]) for t in result.turns.turning]
    return Table([Column("Input"), Column("Settled by"), Column("When")], rows)


def rules(result: DecisionResult, figure: FigureOf) -> Table:
    """The framework's rules that hold, each with its lean or what of the bill holds it already."""
    rows = []
    for axis in result.framework.axes:
        for r in axis.rules:
            because = r.reason + (f" {{cite {', '.join(r.sources)}}}" if r.sources else "")
            lean = None if r.priced_as else figure(f"decision.rule.{r.id}")
            rows.append(Row([Name(axis.title), because, lean, Name(r.priced_as) if r.priced_as else ""]))
        if not axis.rules:
            rows.append(Row([Name(axis.title), "No rule of this question holds here", None, ""]))
    return Table(
        [Column("Question"), Column("Rule that holds"), Column("Score"), Column("Counted in the bill as")], rows
    )


def assumed(given: Inputs) -> Table:
    """Every key that was not given, by section, with what is assumed and from what it follows."""
    left_out = assumptions(given.params)
    rows = []
    for section in dict.fromkeys(a.section for a in left_out):
        rows.append(Row([Name(section or "outside the sections"), "", ""], role="group"))
        for a in left_out:
            if a.section == section:
                follows = ", ".join(k.rpartition(".")[2] for k in a.follows_from)
                rows.append(Row([Name(a.name), Name(a.text), Name(follows) if follows else None]))
    return Table([Column("Key"), Column("Assumed"), Column("Follows from")], rows)


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
