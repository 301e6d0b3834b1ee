"""How many of each item of the price files an option takes, spares included."""

from __future__ import annotations

from collections import defaultdict

from fabricreport.books.options import Option
from fabricreport.books.quotes.terms import Kind, items_of
from fabricreport.inputs import Inputs
from fabricreport.models.fabric.cabling import with_spares
from fabricreport.models.fabric.cost import pieces
from fabricreport.sections.tco.fabric import Build


def quantities(given: Inputs, option: Option, build: Build) -> tuple[dict[str, int], dict[str, int]]:
    """Pieces of each item, spares included, and the spares among them; endpoints and switches for what is licensed by them."""
    share = given.central("evidence:spares-share")
    counts: dict[str, int] = defaultdict(int)
    spares: dict[str, int] = defaultdict(int)
    for item, kinds in items_of(option).items():
        for kind in kinds:
            for site in build.sites or (build,):
                installed = _installed(given, option, site, kind)
                kept = int(with_spares(installed, share)) if kind.id in option.pieces else 0
                counts[item] += installed + kept
                spares[item] += kept
    return counts, spares


def _installed(given: Inputs, option: Option, build: Build, kind: Kind) -> int:
    """Pieces of a kind that one network takes."""
    if kind.id in option.pieces:
        return pieces(build.bom, build.cables)[kind.id]
    if kind.id == "licence":
        return build.cables.nics if build.managed else 0
    if kind.id == "operating_system":
        return build.bom.switches
    if kind.id == "management":
        nodes = option.management.nodes
        return int(given.central(nodes) if isinstance(nodes, str) else nodes) if build.managed else 0
    return int(given.params.organisation.network_engineers)
