"""Tables of what is sold when: pairs of one generation, what was proposed, and what each option is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import family_names, item_names
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf, Number
from fabricreport.scenario import SHIPPED_OPTIONS, options_left_out
from fabricreport.sections.decision.alike import Pair
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction
from fabricreport.vocabulary import OperatingModel

_RUN_AS: Mapping[str, str] = {
    OperatingModel.TURNKEY: "turnkey",
    OperatingModel.BRANDED: "branded",
    OperatingModel.WHITEBOX: "white-box",
}


def pairs(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """The lead as compared and in one generation, pair by pair."""
    mismatch, verdict = result.mismatch, result.verdict
    assert mismatch is not None, "asked for where generations differ"
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


def proposed(given: Inputs) -> Table:
    """The shipped options: those compared because the client names none, and why the others are left out."""
    why = options_left_out(given.params)
    rows = [Row([Name(given.all_options[o].name), str(why.get(o, "compared"))]) for o in SHIPPED_OPTIONS]
    return Table([Column("Option"), Column("Compared, or why not")], rows)


def equipment(given: Inputs) -> Table:
    """What each option is: its family, generation, links and switch."""
    rows = [
        Row(
            [
                Name(o.name),
                Name(family_names(o.family).phrase),
                Name(str(o.generation)),
                Name(_links(o.link_gbits_per_s, o.planes)),
                Name(_switch(given, o.pieces["switch"].price)),
                Name(f"{o.radix}, from {o.physical_ports} cages"),
            ]
        )
        for o in given.options
    ]
    heads = ("Option", "Family", "Of", "Link of a GPU", "Switch", "Ports of a plane")
    return Table([Column(h) for h in heads], rows)


def _switch(given: Inputs, ref: str) -> str:
    """A switch as the price book calls it, or by the label of the entry that stands in for a price."""
    return item_names(ref.partition(":")[2]).row if ref.startswith("price:") else str(given.record(ref)["label"])


def _links(gbits_per_s: float, planes: int) -> str:
    """A GPU's link, as it is split over its planes."""
    return f"{gbits_per_s:g} Gb/s" if planes == 1 else f"{planes} × {gbits_per_s / planes:g} Gb/s"


def building(given: Inputs) -> Table:
    """How each option is wired, cooled and run, and what of it nobody has a price for."""
    rows = [
        Row(
            [
                Name(o.name),
                Name(o.optics),
                Name("none" if o.copper_m is None else f"{o.copper_m:g} m"),
                Name(o.cooling),
                Name(_RUN_AS[o.operating_model]),
                ", ".join(f"`{item}`" for item in o.unquoted) or "nothing",
            ]
        )
        for o in given.options
    ]
    heads = ("Option", "Optics", "Copper to", "Cooling", "Run as", "Without a published price")
    return Table([Column(h) for h in heads], rows)
