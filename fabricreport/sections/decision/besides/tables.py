"""Tables of the reasons beyond money."""

from __future__ import annotations

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import option_names, whole_names
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.besides.scores import CRITERIA
from fabricreport.sections.decision.besides.topologies import PARTS
from fabricreport.sections.decision.result import DecisionResult

_PART_HEADS = {
    "capital": "Fabric bought",
    "running": "Running it, less resale",
    "lost": "Lost GPU time",
    "total": "Total",
}


def _titles() -> dict[str, Name]:
    return {c["id"]: Name(c["title"]) for c in read_yaml("besides")["criteria"]}


def scores(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Each option's scores and the share of weightings at which it is first, the largest first."""
    weighed, titles, names = result.besides.weighed, _titles(), whole_names(given.options)
    rows = [
        Row(
            [
                names[o],
                *(figure(f"decision.besides.score.{o}.{c}") for c in CRITERIA),
                figure(f"decision.besides.first.{o}") if weighed.first else None,
            ]
        )
        for o in weighed.first or weighed.options
    ]
    heads = [Column(titles[c], decimals=2) for c in CRITERIA]
    return Table([Column("Option"), *heads, Column("First in")], rows)


def reasons(given: Inputs, result: DecisionResult) -> Table:
    """Every rule that holds, the options it holds for, and what of its criterion the bill holds already."""
    short, titles = option_names(given.options), _titles()
    priced = {c["id"]: Name(c["priced_as"]) for c in read_yaml("besides")["criteria"]}
    rows = []
    for score, options in result.besides.weighed.rules:
        because = score.reason + (f" {{cite {', '.join(score.sources)}}}" if score.sources else "")
        who = Name(", ".join(short[o].short for o in options))
        rows.append(Row([titles[score.criterion], because, who, priced[score.criterion]]))
    return Table([Column("Criterion"), Column("Because"), Column("Of"), Column("In the money as")], rows)


def central(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """For each option that some weights put first: what these weights are, and how surely it is first there."""
    weighed, titles, names = result.besides.weighed, _titles(), whole_names(given.options)
    rows = [
        Row(
            [
                names[o],
                *(figure(f"decision.besides.central.{o}.{c}") for c in weighed.telling),
                figure(f"decision.besides.confidence.{o}"),
            ]
        )
        for o, share in weighed.first.items()
        if share > 0
    ]
    heads = [Column(titles[c], decimals=0) for c in weighed.telling]
    return Table([Column("Option"), *heads, Column("First in, at the weights of its row", decimals=0)], rows)


def money(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """What lock-in and exit come to on each option weighed: its switches again, those of later stages, its resale."""
    priced, names = result.besides.priced, whole_names(given.options)
    asked = {
        "lock_in": ("Its switches again, less those of {open_option}", priced.replaced),
        "lock_in_later": ("The same of later stages", priced.later),
        "resale": ("Resale of its fabric", priced.resale),
    }
    shown = {kind: (head, found) for kind, (head, found) in asked.items() if found}
    rows = [
        Row(
            [
                names[o],
                *(figure(f"decision.besides.{k}.{o}") if o in found else None for k, (_, found) in shown.items()),
            ]
        )
        for o in result.besides.weighed.options
    ]
    return Table([Column("Option"), *(Column(head) for head, _ in shown.values())], rows)


def tenants(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """What keeping tenants apart costs on each option, as far as a price was found."""
    priced, names = result.besides.priced, whole_names(given.options)
    rows = [
        Row(
            [
                names[o],
                figure(f"decision.besides.licences.{o}") if o in priced.licences else None,
                figure(f"decision.besides.neighbours.{o}"),
            ]
        )
        for o in priced.neighbours
    ]
    return Table([Column(h) for h in ("Option", "Licences in the bill", "Other tenants’ traffic")], rows)


def topology(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """The other topology less the planned one, part by part."""
    names, compared = whole_names(given.options), result.besides.compared
    rows = [
        Row(
            [
                names[o],
                figure(f"decision.besides.topology_switches.{o}"),
                figure(f"decision.besides.topology_cables.{o}"),
                *(figure(f"decision.besides.topology.{part}.{o}") for part in PARTS),
            ]
        )
        for o in compared
    ]
    heads = ("Option", "Switches", "Cables", *(_PART_HEADS[part] for part in PARTS))
    return Table([Column(h) for h in heads], rows)


def utilisation(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """MFU by size of job on the two compared, as designed and after the tail, with published runs beside it."""
    found, short, compared = result.besides.utilisations, option_names(given.options), result.besides.compared
    assert found is not None, "asked for where a model is trained across nodes"
    blank = [None] * 2 * len(compared)
    rows = [
        Row(
            [
                "Your size" if size in found.own else "Modelled",
                figure(f"decision.besides.size.{size}"),
                *(figure(f"decision.besides.{kind}.{size}.{o}") for o in compared for kind in ("mfu", "mfu_tail")),
                None,
            ]
        )
        for size in found.by_size
    ]
    rows += [
        Row([Name(run["name"]), None, *blank, figure(run["mfu"])]) for run in read_yaml("besides")["published_mfu"]
    ]
    words = {f"option_{n}": Name(short[o].short) for n, o in enumerate(compared)}
    heads = [Column(f"{{{w}}}: {kind}", decimals=1) for w in words for kind in ("designed", "after tail")]
    return Table([Column("Run"), Column("Size"), *heads, Column("Published", decimals=1)], rows, words)
