"""Tables of the courses of action: all of them side by side, and a plan in stages that ends early."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import option_names, whole_names
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.courses.result import CHOICE, RIVAL, CoursesResult, PricedCourse
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning_words import VERB
from fabricreport.sections.tco.cost import CAUSES
from fabricreport.vocabulary import Confidence, CourseKind


def courses(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Every course that is priced: its cost against the plain one, what it needs, and where a date binds its chance of
    being in time."""
    found = result.courses
    names = whole_names(given.options)
    known: Mapping[str, Mapping[str, str]] = read_yaml("courses")
    short, verdict = option_names(given.options), result.verdict
    pair = Name(" and ".join(short[o].short for o in dict.fromkeys((verdict.choice, verdict.runner_up))))
    values: dict[str, object] = {"verb": VERB[given.params.money.acquisition], "pair": pair}
    rows = []
    for place, row in enumerate(found.rows):
        told, option = known[_told_as(row, found)], f"option_{place}"
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


def _told_as(row: PricedCourse, found: CoursesResult) -> str:
    staged = found.growing is not None
    if row.kind == CourseKind.DAMAGES:
        return "stage-one-damages" if staged else row.kind
    if row.kind == CourseKind.SINGLE_NODE and found.single.days is not None:
        return "single-run"
    return CourseKind.STAGE_ONE if staged and row.kind == CourseKind.TAKE else row.kind


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
