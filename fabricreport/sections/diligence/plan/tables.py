"""Tables of the acceptance plan: what each stage runs and has to show, its thresholds, and the sheets of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.tables import Cell
from fabricreport.books.acceptance import Setting, read_acceptance
from fabricreport.books.names import option_names
from fabricreport.formats import NBSP
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.sections.diligence.plan.result import Line, Plan, PlannedTest
from fabricreport.sections.diligence.plan.sheets import ethernets, managed
from fabricreport.sections.diligence.result import DiligenceResult

_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
NOT_IN_STEP = " (not in the step)"
AT_LEAST, AT_MOST, EXACTLY = "≥", "≤", "="
TO_STATE = "the seller states it"
PAID_LATE = "weeks"
"""What a test pays by damages, and by no credit."""


def stage_numbers(plan: Plan) -> tuple[int, ...]:
    """The stages of a plan, in order."""
    return tuple(dict.fromkeys(test.stage for test in plan.tests))


def _plans(result: DiligenceResult) -> tuple[Plan, ...]:
    return tuple(plan for plan in (result.plan, result.plan_of_rival) if plan is not None and plan.tests)


def tests(given: Inputs, result: DiligenceResult) -> Mapping[str, Table]:
    """What each stage runs and has to show on all its GPUs, by number of the stage; for either option where the course is open."""
    return {str(stage): _tests(given, result, stage) for stage in stage_numbers(result.plan)}


def _tests(given: Inputs, result: DiligenceResult, stage: int) -> Table:
    plans, short = _plans(result), option_names(given.options)
    rows = []
    for test in _of(result.plan, stage):
        others = [_same(plan, test) for plan in plans]
        lines = [None if other is None else line(other) for other in others]
        rows.append(
            Row(
                [
                    Name(f"{test.id}: {test.title}{NOT_IN_STEP if test.by_step is False else ''}"),
                    _spanned(result, test),
                    EXACTLY if test.unit == "ratio" else AT_LEAST if test.at_least else AT_MOST,
                    *(None if one is None else one.floor for one in lines),
                    *(
                        None if one is None or test.price is None or test.pays == PAID_LATE else one.credit
                        for one in lines
                    ),
                    *([] if len(plans) > 1 else [line(test).saving]),
                    test.repeats,
                    test.false_fail,
                    *([] if len(plans) > 1 else [test.false_pass]),
                ]
            )
        )
    return Table(
        [Column("Test"), Column("On"), Column(""), *_heads([short[plan.option].short for plan in plans])], rows
    )


def _heads(options: Sequence[str]) -> list[Column]:
    """Columns of the values; of either option where the course is open, and then nobody leads."""
    if len(options) == 1:
        values = [Name("Pass"), Name("Credit beyond"), Name("Saving gone at")]
        errors = ["By chance", "Lost passes"]
    else:
        values = [Name(f"{head}, {option}") for head in ("Pass", "Credit beyond") for option in options]
        errors = ["By chance"]
    mixed = [Column(head, style="mixed") for head in values]
    return [*mixed, Column("Runs"), *(Column(head, style="mixed") for head in errors)]


def credits(given: Inputs, result: DiligenceResult) -> Table:
    """What is credited for bandwidth on all GPUs: from where, for each percent and at most, by stage and by network."""
    both, short = _plans(result), option_names(given.options)
    agreed = {t.option: t for t in (result.terms, result.terms_of_rival) if t is not None}
    rows = []
    for plan in both:
        terms = agreed[plan.option]
        for test in plan.of(terms.exchange.test):
            if test.stage not in terms.credits:
                continue
            credit, lowest = terms.credits[test.stage], line(test).credit
            named = [Name(short[plan.option].short)] if len(both) > 1 else []
            cells = [
                _spanned(result, test),
                lowest,
                credit.rate,
                credit.most,
                "share of what is paid" if credit.ends else "all of it lost",
            ]
            rows.append(Row([*named, Name(f"Stage {test.stage}"), *cells]))
    heads = [
        *(["Network"] if len(both) > 1 else []),
        "Order",
        "On",
        "Credit beyond",
        "For each percent",
        "At most",
        "Which is",
    ]
    return Table([Column(head) for head in heads], rows)


def _spanned(result: DiligenceResult, test: PlannedTest) -> Number | None:
    """The GPUs of the run whose line is shown; None where a test is of two adapters, or of the record."""
    return result.numbers.get(f"diligence.run_gpus.{max(gpus for gpus, _ in test.lines)}")


def thresholds(given: Inputs, result: DiligenceResult) -> Mapping[str, Table]:
    """Every threshold of large messages of a stage, by GPUs of the run and message size, GB/s."""
    return {str(s): _by_size(given, result, s, "gbytes/s") for s in stage_numbers(result.plan)}


def ceilings(given: Inputs, result: DiligenceResult) -> Mapping[str, Table]:
    """Every threshold of small messages of a stage, in the same form, µs."""
    return {str(s): _by_size(given, result, s, "us") for s in stage_numbers(result.plan)}


def _by_size(given: Inputs, result: DiligenceResult, stage: int, unit: str) -> Table:
    plans, short = _plans(result), option_names(given.options)
    named = len(plans) > 1
    found = [(plan, t) for plan in plans for t in _of(plan, stage) if t.unit == unit and all(s for _, s in t.bars)]
    sizes = sorted({size for _, test in found for _, size in test.bars})
    rows = [
        Row(
            [
                *([Name(short[plan.option].short)] if named else []),
                Name(test.id),
                result.numbers[f"diligence.run_gpus.{gpus}"],
                *cells,
            ]
        )
        for plan, test in found
        for gpus, cells in _cells(test, sizes)
    ]
    heads = [*([Column("Fabric")] if named else []), Column("Test"), Column("On")]
    return Table([*heads, *(Column(Name(size_text(size)), style="mixed") for size in sizes)], rows)


def _cells(test: PlannedTest, sizes: Sequence[int]) -> Iterator[tuple[int, list[Number | None]]]:
    for gpus in sorted({gpus for gpus, _ in test.bars}):
        yield gpus, [test.bars.get((gpus, size)) for size in sizes]


def size_text(size: int) -> str:
    """A message size as the benchmark's flags write it, spelt out."""
    return next((f"{size // by}{NBSP}{unit}" for by, unit in _UNITS if size >= by), f"{size}{NBSP}B")


def _of(plan: Plan, stage: int) -> tuple[PlannedTest, ...]:
    return tuple(test for test in plan.tests if test.stage == stage)


def _same(plan: Plan, test: PlannedTest) -> PlannedTest | None:
    return next((t for t in plan.tests if (t.id, t.stage) == (test.id, test.stage)), None)


def line(test: PlannedTest) -> Line:
    """The line on the most GPUs at the smallest size."""
    most = max(gpus for gpus, _ in test.lines)
    return test.lines[min(key for key in test.lines if key[0] == most)]


def shown(test: PlannedTest) -> Number:
    """The floor on the most GPUs at the smallest size."""
    return line(test).floor


# ---- the sheets


def lossless(given: Inputs, result: DiligenceResult) -> Table:
    """What the seller states of a lossless Ethernet fabric, and how it is seen; the headroom for each option compared."""
    rows: list[Row] = []
    for row in read_acceptance().sheet("lossless"):
        if row.formula:
            rows += [
                Row(
                    [
                        f"{row.what}: {{{i}}}, a port of {{diligence.port_rate.{i}}}, at least",
                        result.numbers[f"diligence.headroom.{i}"],
                        *_rest(row, result),
                    ]
                )
                for i in ethernets(given)
            ]
        else:
            rows.append(_setting(row, result))
    return replace(_sheet(rows), values={i: Name(o.name) for i, o in ethernets(given).items()})


def manager(given: Inputs, result: DiligenceResult) -> Table:
    """The same of a subnet manager."""
    return _sheet([_setting(row, result) for row in read_acceptance().sheet("manager")])


def isolation(given: Inputs, result: DiligenceResult) -> Table:
    """The same of what keeps tenants apart, for the kinds of fabric compared."""
    kinds = {"marked": bool(ethernets(given)), "managed": bool(managed(given))}
    return _sheet([_setting(row, result) for row in read_acceptance().sheet("isolation") if kinds[row.of]])


def _setting(row: Setting, result: DiligenceResult) -> Row:
    return Row([Name(row.what), Name(row.stated or TO_STATE), *_rest(row, result)])


def _rest(row: Setting, result: DiligenceResult) -> list[Cell]:
    return [Name(row.verify), Name(row.asks) if row.asks in result.put else None, ""]


def _sheet(rows: Sequence[Row]) -> Table:
    heads = [
        Column("Setting"),
        Column("What sources say", style="mixed"),
        Column("Seen by"),
        Column("Answer to"),
        Column("Value"),
    ]
    return Table(heads, rows)


def signatures(given: Inputs) -> Table:
    """The lines on which client and seller sign."""
    rows = [Row([Name(who), "", "", ""]) for who in (str(given.params.client.name), "Seller", "Witness of the tests")]
    return Table([Column(h) for h in ("Party", "Name", "Day", "Signature")], rows)
