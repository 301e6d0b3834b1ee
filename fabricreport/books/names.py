"""What the memo calls things: a ladder of names each for options, inputs, items, families, sides and sellers.

Options and families bring their names in their own files; all others stand in `data/names.yaml`. Which rung a reader
gets is the business of who prints: a table's head takes `short`, a sentence `phrase`, the head of a row `row`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Protocol

from fabricreport.base.formats import inside
from fabricreport.base.vocabulary import LEANS
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.equipment import families
from fabricreport.books.fields import CLOSED
from fabricreport.books.options import Option
from fabricreport.books.reader import shipped
from fabricreport.ledger.facts import OptionName, capital

_ARTICLE = re.compile(r"(?:an?|the) ")
_BRACKETS = re.compile(r" ?\([^()]*\)")
_SPEED = re.compile(r"\d+G")
_HOUR = re.compile(r"gpu-hour-([a-z]+[0-9]+[a-z]*)(?:-(.+))?")
_EXCHANGE = re.compile(r"fx-([a-z]{3})-([a-z]{3})")


@dataclass(frozen=True)
class Names:
    """The names of one thing: in full, short enough for a column, as it stands within a sentence, and at the head of a row."""

    name: str
    short: str
    phrase: str
    row: str


@dataclass(frozen=True)
class ItemName:
    """What a client reads in place of an item, and what of it sentences say (`say`) where that is not the whole."""

    __pydantic_config__ = CLOSED
    name: str
    say: str = ""


@dataclass(frozen=True)
class NameBook:
    """`data/names.yaml`, whose head explains each key."""

    __pydantic_config__ = CLOSED
    grounds: Mapping[str, str]
    doubts: Mapping[str, str]
    hour_values: Mapping[str, str]
    rent: str
    price: str
    inputs: Mapping[str, str]
    words: Mapping[str, Mapping[str, str]]
    items: Mapping[str, ItemName]
    hours: str
    currencies: str
    listings: Mapping[str, str]
    no_side: str
    filling: tuple[str, ...]


def name_book() -> NameBook:
    """The names that stand in no file of their own."""
    return shipped("names", NameBook)


class Recorded(Protocol):
    """Inputs, as far as their names need them."""

    @property
    def prices(self) -> Container[str]:
        """The items that have a price."""
        ...

    def record(self, input_id: str) -> Mapping[str, Any]:
        """The ledger's record of an input."""
        ...


def names_of(phrase: str) -> Names:
    """The names of what has a phrase alone: a row begins without its article, with a capital."""
    row = capital(_ARTICLE.sub("", phrase, count=1) if _ARTICLE.match(phrase) else phrase)
    return Names(row, row, phrase, row)


# ---- inputs


def input_names(given: Recorded, input_id: str) -> Names:
    """The names of an input: by its phrase, else by the item of the price files, else by its label."""
    known = phrases()
    found = known.get(input_id) or next((p for pattern, p in known.items() if fnmatchcase(input_id, pattern)), None)
    kind, _, item = input_id.partition(":")
    if found is None and kind == "price" and item in given.prices:
        found = _priced(item)
    return names_of(found or _plain(str(given.record(input_id)["label"])))


@cache
def phrases() -> Mapping[str, str]:
    """What sentences call inputs, by id or pattern: each line of the book with every word that may stand in its braces."""
    book = name_book()
    pieces = {item: names.say for item, names in book.items.items() if names.say}
    words = {**book.words, "item": {**book.words["item"], **pieces}}
    found = {i: phrase for i, phrase in book.inputs.items() if "{" not in i}
    for line, phrase in book.inputs.items():
        for kind in (kind for kind in words if f"{{{kind}}}" in line):
            for part, word in words[kind].items():
                found.setdefault(line.replace(f"{{{kind}}}", part), phrase.replace(f"{{{kind}}}", word))
    return found


def _plain(label: str) -> str:
    """A label as a sentence can say it: without what stands in brackets or behind a semicolon."""
    return inside(_BRACKETS.sub("", label).partition(";")[0].strip())


# ---- items of the price files


def item_names(item: str) -> Names:
    """The names of an item of the price files: `a QM9700 switch (InfiniBand NDR)` within a sentence."""
    book = name_book()
    if item in book.items:
        return names_of(book.items[item].name)
    if exchanged := _EXCHANGE.fullmatch(item):
        source, target = (code.upper() for code in exchanged.groups())
        return names_of(book.currencies.replace("{from}", source).replace("{to}", target))
    if hour := _HOUR.fullmatch(item):
        rest = _listing(hour[2] or "", {**_sellers(), **book.listings})
        return names_of(book.hours.replace("{gpu}", hour[1].upper()) + (f" ({rest})" if rest else ""))
    return names_of(item.replace("-", " "))


def _priced(item: str) -> str:
    """The price of an item within a sentence, without brackets: `the price of a QM8700 switch, InfiniBand HDR`."""
    book, named = name_book(), item_names(item).phrase.replace(" (", ", ").replace(")", "")
    if _EXCHANGE.fullmatch(item):
        return named
    return (book.rent if _HOUR.fullmatch(item) else book.price).replace("{item}", named)


def _sellers() -> dict[str, str]:
    """The names of sellers, whole ones and the parts of double ones, as the price files write them."""
    called = (name for row in read_yaml("providers")["providers"] for name in seller_names(row["name"]))
    return {re.sub(r"[^a-z0-9]+", "-", name.casefold()): name for name in called}


def _listing(rest: str, words: Mapping[str, str]) -> str:
    """What follows the GPU in the name of a rent: its longest known beginning, then what follows that."""
    known = (word for word in sorted(words, key=len, reverse=True) if rest == word or rest.startswith(f"{word}-"))
    first = next(known, "")
    if not first:
        return rest.replace("-", " ")
    after = _listing(rest[len(first) + 1 :], words)
    return words[first] + (f", {after}" if after else "")


# ---- families, sides, sellers


def family_names(family: str) -> Names:
    """The names of a family of fabrics."""
    found = families()[family]
    return Names(found.name, found.short_name, found.short_name, capital(found.short_name))


def family_named(said: str) -> str:
    """The family that a short answer names, by its id or a name, whatever its case; '' if none."""
    found = ((f.id, {f.id, f.name.casefold(), f.short_name.casefold()}) for f in families().values())
    return next((family for family, names in found if said.casefold() in names), "")


def side_names(options: Sequence[Option], side: str) -> Names:
    """The names of a side: those of its own family where that is compared or nothing of the side is, else of those that are."""
    if side not in LEANS:
        return names_of(name_book().no_side)
    found = list(dict.fromkeys(o.family for o in options if o.side == side))
    return names_of(" and ".join(family_names(f).phrase for f in ([side] if side in found or not found else found)))


def seller_names(name: str) -> tuple[str, ...]:
    """Every name that a seller goes by: the whole one, and the parts of a double name (`DataCrunch/Verda`)."""
    return tuple(dict.fromkeys((name, *name.split("/"))))


# ---- options


def option_names(
    options: Sequence[Option], choice: str = "", rival: str = "", beside: Sequence[Option] = ()
) -> dict[str, Names]:
    """The names of options where `choice` and `rival` are weighed; the phrases of the two tell them apart from each other.

    Of several compared of one family none goes by its name, nor of two weighed of one side by the side's. Any other has the shortest name
    that could be meant for no second one; so have those `beside`, which are not compared and change no other's name.
    """
    heads = Counter(_bare(o) for o in options)
    said = _compared(options, choice, rival)
    every = [*options, *(o for o in beside if o.id not in said)]
    for option in every[len(options) :]:
        said[option.id] = _first(option, [o for o in every if o.id != option.id], "")
    return {
        o.id: Names(o.name, _bare(o) if _bare(o) and heads[_bare(o)] == 1 else o.name, said[o.id], capital(said[o.id]))
        for o in every
    }


def whole_names(options: Iterable[Option]) -> dict[str, OptionName]:
    """Each option by its whole name, which a memo's body says as it calls the option there."""
    return {o.id: OptionName(o.name, o.id) for o in options}


def names_told(options: Sequence[Option], choice: str, rival: str) -> dict[str, list[str]]:
    """Every name by which a memo that weighs `choice` and `rival` may call each option, without those that two of them bear.

    Between the two weighed, the name of a family is that of the one that is of it.
    """
    called = {o: {n.name, n.short, n.phrase} for o, n in option_names(options, choice, rival).items()}
    pair = [o for o in options if o.id in (choice, rival)]
    for option in pair:
        if [o.family for o in pair].count(option.family) == 1:
            called[option.id].add(family_names(option.family).phrase)
    borne = Counter(name.casefold() for names in called.values() for name in names)
    return {i: sorted(name for name in names if borne[name.casefold()] == 1) for i, names in called.items()}


def _compared(options: Sequence[Option], choice: str, rival: str) -> dict[str, str]:
    found = {o.id: o for o in options}
    pair = [found[i] for i in dict.fromkeys((choice, rival)) if i in found]
    said: dict[str, str] = {}
    for option in options:
        others = [o for o in (pair if option in pair else options) if o.id != option.id]
        beside = option.side in (o.side for o in others if o.id in (choice, rival))
        several = [o.family for o in options].count(option.family) > 1
        own = family_names(option.side).phrase if beside and option.side in families() else ""
        said[option.id] = _first(option, others, family_names(option.family).phrase if several else own)
    return said


def _first(option: Option, others: Sequence[Option], own: str) -> str:
    """The shortest name that none of the others could go by, nor is the side's `own`."""
    taken = {name.casefold() for o in others for name in _ladder(o)}
    names = (name for name in _ladder(option) if name.casefold() not in taken and name != own)
    return next(names, f"{option.name} ({option.id})")


def _ladder(option: Option) -> tuple[str, ...]:
    """The names an option may go by, the shortest first: its family's, where its own name has it, and those it is said by.

    What has no RDMA never goes by its family's: every Ethernet is of that name.
    """
    family = family_names(option.family).phrase
    names = (family if option.rdma and family in option.name else "", *option.say, _bare(option), option.name)
    return tuple(name for name in dict.fromkeys(names) if name)


def _bare(option: Option) -> str:
    """A name without link speeds, filling words and what it is `without`."""
    words, filling = option.name.partition(" without ")[0].split(), name_book().filling
    return " ".join(word for word in words if word not in filling and not _SPEED.fullmatch(word))
