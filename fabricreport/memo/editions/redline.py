"""`fabricreport diff`: an edition beside another, number by number, each change with its causes.

What both were made from is read back from the `inputs/` that they keep, and mixes of old and new are put through today's
code, by the functions and on the draws of the memo's headline.

What moves with what: the lists `providers`, `offers`, `measurements` and `elicited` of the params name files and go with the
sources; the memo's date goes with the prices where the newest of them sets the later edition's, else with the params; the
seed is one of the params. What the package itself knows but its evidence (options, GPUs, models) is method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.formats import MINUS, listed, unit_in, write
from fabricreport.base.text import visible
from fabricreport.books.names import input_names
from fabricreport.case import Case, case_of
from fabricreport.inputs.dossier import Given
from fabricreport.inputs.records import price_unit
from fabricreport.memo.editions.causes import Cause, Group, Kind, Player, causes_of
from fabricreport.memo.editions.manifest import HeadlineChange
from fabricreport.memo.editions.probe import headline_of_case, moves
from fabricreport.memo.editions.remains import PRICES, REBUILD, Kept, read_kept
from fabricreport.scenario import params_from

if TYPE_CHECKING:
    from fabricreport.books.prices.book import Price

NAMING = ("providers", "offers", "measurements", "elicited")
"""Keys of the params that name sources, and move with these."""
NO_NUMBERS = ("as_of", "memo")
"""Keys that are told as the memo's date, and of the memo's words."""
DATE = "the memo's date"
TOLD: Mapping[Kind, str] = {
    Kind.METHOD: "the method, today's on the old inputs",
    Kind.SINCE: "the method since, for the new edition was made by another fabricreport than today's",
    Kind.ALL: "method and inputs, which cannot be told apart: by today's method one of the two has no such number",
}
MOST = 5
"""As many files or keys of a group are named."""
SINGLE_PRICES = 8
"""As many prices are worked out alone: those that a number rests on first, of these those that moved furthest."""


@dataclass(frozen=True)
class PriceMove:
    """A price that is another: its name within a sentence, its central value in each edition, and these as written."""

    name: str
    unit: str
    values: tuple[float, float]
    texts: tuple[str, str]

    def __str__(self) -> str:
        if self.texts[0] == self.texts[1]:
            return f"the range around {self.name}, {self.texts[1]}, is another"
        way = "rose" if self.values[1] > self.values[0] else "fell"
        return f"{self.name} {way} from {self.texts[0]} to {self.texts[1]}"


@dataclass(frozen=True)
class NumberChange:
    """A number of both headlines, as printed in each, and what the change is due to."""

    id: str
    label: str
    unit: str
    currency: str
    old: float
    new: float
    old_text: str
    new_text: str
    causes: tuple[Cause, ...]

    def amount(self, value: float) -> str:
        """A difference of the number, with its sign."""
        share = self.unit in ("share", "relative")
        text = write(abs(value) * (100 if share else 1), "percentage-point" if share else self.unit, 3, self.currency)
        return f"{'+' if value > 0 else MINUS if value < 0 else ''}{text}"


@dataclass(frozen=True)
class Redline:
    """What a reader of the old edition must be told: words that are others, numbers of both, numbers of one alone.

    `moved` says of each group what of it is another, `prices` of each price that was worked out alone.
    """

    client: str
    editions: tuple[str, str]
    words: tuple[HeadlineChange, ...]
    numbers: tuple[NumberChange, ...]
    alone: tuple[HeadlineChange, ...]
    moved: Mapping[str, tuple[str, ...]]
    prices: Mapping[str, PriceMove]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        causes = [[{"text": self.told(c), **asdict(c)} for c in n.causes] for n in self.numbers]
        numbers = [{**asdict(n), "causes": told} for n, told in zip(self.numbers, causes, strict=True)]
        return {**asdict(self), "numbers": numbers}

    def as_text(self) -> str:
        """Lines for a terminal."""
        lines = [f"{self.client}: from edition {self.editions[0]} to {self.editions[1]}"]
        lines += [
            f"{w.id.replace('_', ' ').capitalize()}: {w.old or 'not given'} -> {w.new or 'not given'}"
            for w in self.words
        ]
        for number in self.numbers:
            if number.old_text == number.new_text:
                lines.append(f"{number.label}: {number.new_text}, as before")
                continue
            way = "rose" if number.new > number.old else "fell"
            lines.append(f"{number.label} {way} from {number.old_text} to {number.new_text}:")
            lines += [f"  {self.told(cause)}: {number.amount(cause.amount)}" for cause in number.causes]
        for one in self.alone:
            lines.append(f"{one.label}: {one.new or one.old}, in the {'new' if one.new else 'old'} edition only")
        return "\n".join(lines if len(lines) > 1 else [*lines, "Neither advice nor numbers differ."])

    def told(self, cause: Cause) -> str:
        """A cause in words."""
        if cause.kind == Kind.PRICE:
            return str(self.prices[cause.of[0]])
        if cause.kind in TOLD:
            return TOLD[cause.kind]
        if cause.kind == Kind.TOGETHER:
            dated = f" and {DATE}" if DATE in self.moved[Group.PRICES] else ""
            return f"beyond these alone, all prices{dated} together"
        groups = []
        for group in cause.of:
            what = self.moved[group]
            shown = listed(what if len(what) <= MOST else [*what[:MOST], f"{len(what) - MOST} more"])
            groups.append(f"the {group} ({shown})")
        return f"{listed(groups)}{', together' if len(groups) > 1 else ''}"


def redline(before: Path, after: Path) -> Redline:
    """Compare two editions of a client, by their folders; `InputError` where they cannot be worked out again."""
    old, new = read_kept(before), read_kept(after)
    if old.loaded.slug != new.loaded.slug:
        message = f"is of {visible(new.loaded.slug)}, and {before.name} of {visible(old.loaded.slug)}"
        raise InputError(Problem(message, str(after), remedy="Name two editions of one client."))
    heads = [_headline(kept, at) for kept, at in ((old, before), (new, after))]
    mixes = _Mixes(old, new, (before, after))
    changes = moves(heads[0], heads[1], 0.0)
    olds, news = ({n["id"]: n for n in head["numbers"]} for head in heads)
    both = [i for i in news if i in olds and mixes.currency and _alike(olds[i], news[i])]
    numbers = tuple(_changed(olds[i], news[i], mixes) for i in both)
    alone = [HeadlineChange(i, n["label"], n["text"], "") for i, n in olds.items() if i not in both]
    alone += [HeadlineChange(i, n["label"], "", n["text"]) for i, n in news.items() if i not in both]
    words = tuple(c for c in changes if c.id not in {*olds, *news})
    client, editions = visible(new.loaded.params.client.name), (visible(before.name), visible(after.name))
    prices = {i: words for i, (words, _) in mixes.singles.items()}
    return Redline(client, editions, words, numbers, tuple(alone), mixes.moved, prices)


def _headline(kept: Kept, at: Path) -> dict[str, Any]:
    """The headline of an edition, its texts fit for a terminal."""
    try:
        head = kept.manifest["headline"]
        words = {visible(k): visible(v, 1000) for k, v in head.items() if k != "numbers" and isinstance(v, str)}
        numbers = [
            {**{k: visible(n[k], 1000) for k in ("id", "label", "text", "unit")}, "value": n["value"]}
            for n in head["numbers"] if isinstance(n["value"], int | float)
        ]  # fmt: skip
    except (LookupError, TypeError, AttributeError):
        message = "has no headline that could be compared"
        raise InputError(Problem(message, str(at), remedy="Name editions of whole memos, with a decision.")) from None
    return {**words, "numbers": numbers}


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two numbers are of the same thing; the label names the options that are weighed."""
    return all(one[key] == other[key] for key in ("id", "label", "unit"))


def _changed(old: Mapping[str, Any], new: Mapping[str, Any], mixes: _Mixes) -> NumberChange:
    def value(head: Mapping[str, Any]) -> float | None:
        return next((float(n["value"]) for n in head.get("numbers", ()) if _alike(n, new)), None)

    alone = {i: value(head) for i, (_, head) in mixes.singles.items()}
    printed = float(old["value"]), float(new["value"])
    causes = causes_of(printed, lambda moved: value(mixes.headline(moved)), mixes.players, alone)
    return NumberChange(
        new["id"], new["label"], new["unit"], mixes.currency, *printed, old["text"], new["text"], causes,
    )  # fmt: skip


class _Mixes:
    """Cases of the old edition's parts and the new one's, each worked out once."""

    def __init__(self, old: Kept, new: Kept, places: tuple[Path, Path]) -> None:
        self.old, self.new, self._places = old, new, places
        self._heads: dict[frozenset[Group], Mapping[str, Any]] = {}
        self._cases: dict[frozenset[Group], Case] = {}
        self.dating = _dating(old, new)
        first, last = (str(kept.loaded.params.money.currency) for kept in (old, new))
        self.currency = first if first == last else ""  # amounts in two currencies are not subtracted

    @cached_property
    def moved(self) -> dict[str, tuple[str, ...]]:
        """The groups that differ, and what of each: files, or keys of the params."""
        before, after = _parts(self.old, self.dating), _parts(self.new, self.dating)
        found = {g: sorted(k for k in {*before[g], *after[g]} if before[g].get(k) != after[g].get(k)) for g in Group}
        return {group: tuple(visible(key) for key in keys) for group, keys in found.items() if keys}

    @cached_property
    def players(self) -> tuple[Player, ...]:
        """The groups that differ, each by itself; those together of which a mix cannot be worked out."""
        moved = tuple(group for group in Group if group in self.moved)
        self.headline(frozenset()), self.headline(frozenset(moved))
        rest = tuple(group for group in moved if group != Group.PRICES)
        for players in ([(group,) for group in moved], [p for p in ((Group.PRICES,), rest) if {*p} <= {*moved}]):
            mixes = chain.from_iterable(combinations(players, count) for count in range(1, len(players)))
            with suppress(InputError):
                for some in mixes:
                    self.headline(frozenset(chain(*some)))
                return tuple(players)
        return (moved,)

    def headline(self, moved: frozenset[Group]) -> Mapping[str, Any]:
        """The headline where these groups are the new edition's; `InputError` where today's code has none."""
        moved &= {*self.moved}
        if moved not in self._heads:
            try:
                self._heads[moved] = headline_of_case(self.case(moved))
            except (InputError, LookupError) as error:
                message = f"today's fabricreport cannot work out what this edition was made from: {visible(error, 300)}"
                raise InputError(Problem(message, str(self._places[bool(moved)]), remedy=REBUILD)) from None
        return self._heads[moved]

    def case(self, moved: frozenset[Group]) -> Case:
        """The case where these groups are the new edition's."""
        if moved not in self._cases:
            prices, params, sources = (self.new if group in moved else self.old for group in Group)
            day = (self.new if self.dating in moved else self.old).keys["as_of"]
            own = {k: v for k, v in params.keys.items() if k not in NAMING}
            named = {k: v for k, v in sources.keys.items() if k in NAMING}
            mixed = params_from({**own, **named, "as_of": day}, extra_options=sources.options)
            loaded, folder = replace(params.loaded, params=mixed), sources.loaded.folder
            given = Given(folder, loaded, sources.evidence, prices.prices, sources.options, ())
            self._cases[moved] = case_of(given)
        return self._cases[moved]

    @cached_property
    def singles(self) -> dict[str, tuple[PriceMove, Mapping[str, Any]]]:
        """Prices by their ids: what became of each, and the headline where of all inputs it alone is the new edition's.

        None where prices move with other groups; not one on which an override is in force.
        """
        if (Group.PRICES,) not in self.players:
            return {}
        before, after = (kept.prices.at(kept.loaded.params.as_of) for kept in (self.old, self.new))
        first, ends = self.case(frozenset()).inputs, (frozenset[Group](), frozenset(map(Group, self.moved)))
        both = [(before[i], after[i]) for i in after if i in before and f"price:{i}" not in first.overrides]
        moved = [(old, new) for old, new in both if old.figure != new.figure]
        found = [(old, new) for old, new in moved if (old.unit, old.currency) == (new.unit, new.currency)]
        used = {i for end in ends for n in self.headline(end)["numbers"] for i in self.case(end).figure(n["id"]).inputs}
        found.sort(
            key=lambda pair: (pair[0].id not in used, -abs(pair[1].price - pair[0].price) / (pair[0].price or 1.0))
        )
        return {
            new.id: (
                _move(old, new, input_names(first, new.id).phrase),
                headline_of_case(Case(first.replacing({new.id: new.figure}))),
            )
            for old, new in found[:SINGLE_PRICES]
        }


def _move(old: Price, new: Price, name: str) -> PriceMove:
    unit, ends = price_unit(new), (old.figure.central, new.figure.central)
    before, after = (write(end, unit, 4 if unit == "ratio" else 3, new.currency) for end in ends)
    return PriceMove(visible(name, 200), unit_in(unit, new.currency), ends, (before, after))


def _dating(old: Kept, new: Kept) -> Group:
    """The group that the memo's date moves with."""
    later = max((old, new), key=lambda kept: kept.loaded.params.as_of)
    priced = later.prices.newest == later.loaded.params.as_of and _price_files(old) != _price_files(new)
    return Group.PRICES if priced else Group.PARAMS


def _price_files(kept: Kept) -> dict[str, str]:
    folders = (f"{PRICES}/", f"{kept.loaded.slug}/{PRICES}/")
    return {name: digest for name, digest in kept.files.items() if name.startswith(folders)}


def _parts(kept: Kept, dating: Group) -> dict[Group, dict[str, Any]]:
    """What an edition was made from, by group: files by name, and keys of the params."""
    prices, keys = _price_files(kept), kept.keys
    sources = {name: digest for name, digest in kept.files.items() if name not in prices and name != "params.json"}
    params = dict(_flat({k: v for k, v in keys.items() if k not in (*NAMING, *NO_NUMBERS)}))
    sources |= {k: v for k, v in keys.items() if k in NAMING}
    parts: dict[Group, dict[str, Any]] = {Group.PRICES: {**prices}, Group.PARAMS: params, Group.SOURCES: sources}
    parts[dating][DATE] = keys["as_of"]
    return parts


def _flat(keys: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in keys.items():
        yield from _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else [(above + key, value)]
