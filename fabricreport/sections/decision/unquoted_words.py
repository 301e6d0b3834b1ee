"""Words of the prose on items that nobody publishes a price for."""

from __future__ import annotations

from fabricreport.books.names import input_names, option_names
from fabricreport.findings import Named, OptionName, Phrase
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.unquoted import Unquoted

_QUOTED = {"dearer": "higher", "cheaper": "lower", "": ""}
"""What a quote of an item is called that would turn the money."""


def unquoted_named(given: Inputs, figure: FigureOf, one: Unquoted) -> Named:
    """An item without a price: who costs less on either side of the level, and which quote turns the money."""
    short = option_names(given.options)
    return Phrase(
        input_names(given, one.stands_in).phrase,
        one.item,
        each=one.kind.each,
        below=OptionName(short[one.below].short, one.below),
        above=OptionName(short[one.above].short, one.above),
        other=OptionName(short[one.alone_of].short, one.alone_of) if one.alone_of else None,
        price=figure(one.alone_at) if one.alone_of else None,
        turned_by=one.turned_by,
        turns=_turns(given, one),
    )


def _turns(given: Inputs, one: Unquoted) -> str:
    """Which quote turns the money: a higher or a lower one, or only one outside of the range that stands in."""
    stood_in = given.uncertain(one.stands_in)
    if one.level is None or stood_in.low <= one.level <= stood_in.high:
        return f"A {_QUOTED[one.turned_by]} quote"
    return f"Only a quote {'above' if one.level > stood_in.high else 'below'} that whole range"
