"""Tables of what is sold when: pairs of one generation, and what was proposed."""

from __future__ import annotations

from collections.abc import Iterator

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf, Number
from fabricreport.scenario import SHIPPED_OPTIONS, is_given, options_left_out
from fabricreport.sections.decision.alike import Pair
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction


def pairs(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table | None:
    """The lead as compared and in one generation, pair by pair; None where it is told of no other pair."""
    mismatch, verdict = result.mismatch, result.verdict
    if mismatch is None or mismatch.alike is None or result.in_nodes:
        return None
    rows = [
        Row(
            [
                *_two(given, verdict.choice, verdict.runner_up),
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
