"""`fabricreport diff`: an edition beside another, number by number, each change with its causes.

What both were made from is read back from the `inputs/` that they keep, and mixes of old and new are put through today's
code, by the functions and on the draws of the memo's headline. What causes are called stands in `data/changes.yaml`.

What moves with what: the lists `providers`, `offers`, `measurements` and `elicited` of the params name files and go with the
sources; the memo's date goes with the prices where the newest of them sets the later edition's, else with the params; the
seed is one of the params. What the package itself knows but its evidence (options, GPUs, models) is method.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.formats import listed, unit_in, write
from fabricreport.base.text import visible
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.names import input_names
from fabricreport.case import Case, case_of
from fabricreport.inputs.dossier import Given
from fabricreport.inputs.records import param_record, price_record, price_unit
from fabricreport.ledger.facts import capital
from fabricreport.memo.editions.causes import Cause, Group, Kind, Player, causes_of, mixes_of
from fabricreport.memo.editions.manifest import HeadlineChange, value_of
from fabricreport.memo.editions.probe import ACTION, CLASS, as_told, headline_of_case, moves
from fabricreport.memo.editions.remains import PRICES, Kept, read_kept, refused
from fabricreport.scenario import flat_keys, params_from, value_at

if TYPE_CHECKING:
    from fabricreport.books.prices.book import Price
    from fabricreport.scenario import Params

Mixed = tuple[Case, Mapping[str, Any]]
"""A mix of two editions, and its headline."""
WORDS = read_yaml("changes")
NAMING = ("providers", "offers", "measurements", "elicited")
"""Keys of the params that name sources, and move with these."""
NO_NUMBERS = ("as_of", "memo", "brand", "extra")
"""Keys that are told as the memo's date, and of the memo's words and look."""
DATE = "the memo's date"
SINGLE_PRICES = 8
"""As many prices are worked out alone: those that a number rests on first, of these those that moved furthest."""


@dataclass(frozen=True)
class NumberChange:
    """A number of both headlines, or a price, as printed in each, and what the change is due to; `record`: the new price's own."""

    id: str
    label: str
    unit: str
    old: float
    new: float
    old_text: str
    new_text: str
    causes: tuple[Cause, ...] = ()
    record: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        way = f"went from {self.old_text} to {self.new_text}" if self.old_text != self.new_text else "has another range"
        return f"{self.label} {way}"

    def amount(self, value: float) -> tuple[float, str, str]:
        """A difference of the number: in the unit that it is told in, as text with its sign, and the unit."""
        in_points = self.unit in ("share", "relative")
        told, unit = (value * 100, "percentage-point") if in_points else (value, self.unit)
        return told, f"{'+' if value > 0 else ''}{write(told, unit)}", unit


@dataclass(frozen=True)
class Redline:
    """What a reader of the old edition must be told: words that are others or numbers of one alone, and numbers of both.

    `moved` says of each group what of it is another, `prices` of each price that was worked out alone, `keys` of each key of
    the params; `material` are the numbers that moved by more than the client lets pass; `dated` the words that the date alone
    turns.
    """

    client: str
    editions: tuple[str, str]
    words: tuple[HeadlineChange, ...]
    numbers: tuple[NumberChange, ...]
    moved: Mapping[str, tuple[str, ...]]
    prices: Mapping[str, NumberChange]
    material: frozenset[str]
    keys: Mapping[str, NumberChange] = field(default_factory=dict)
    dated: frozenset[str] = frozenset()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        causes = [[{"text": self.told(c), **asdict(c)} for c in n.causes] for n in self.numbers]
        numbers = [{**asdict(n), "causes": told} for n, told in zip(self.numbers, causes, strict=True)]
        return {**asdict(self), "numbers": numbers, "material": sorted(self.material), "dated": sorted(self.dated)}

    def as_text(self) -> str:
        """Lines for a terminal."""
        lines = [f"{self.client}: from edition {self.editions[0]} to {self.editions[1]}", *map(str, self.words)]
        for number in self.moving:
            lines += [f"{number}:", *(f"  {due}" for due in self.due(number))]
        none = ", which moves none of these alone"
        lines += [f"{capital(str(one))}{none if one.id in self.prices else ''}" for one in self.beside]
        told = lines if len(lines) > 1 else [*lines, "Neither advice nor numbers differ."]
        return "\n".join(visible(line, 1000) for line in told)

    def why(self) -> dict[str, list[str]]:
        """What is told beneath each material number; and beneath words that the date turned, or others where no such number moved."""
        due = {n.id: self.due(n) for n in self.numbers if n.causes and n.id in self.material}
        others = [f"{n}: {due}" for n in self.moving for due in self.due(n)] + [*map(str, self.beside)]
        rest = self.told(Cause(Kind.INPUTS if self.moved else Kind.METHOD, 0.0, tuple(self.moved)))
        reasons = [] if due else others or [rest]
        return due | {word.id: [str(self.keys[DATE])] if word.id in self.dated else reasons for word in self.words}

    def due(self, number: NumberChange) -> list[str]:
        """Each cause of a number with its amount."""
        return [f"{self.told(cause)}: {number.amount(cause.amount)[1]}" for cause in number.causes]

    @property
    def moving(self) -> tuple[NumberChange, ...]:
        """The numbers that read otherwise."""
        return tuple(number for number in self.numbers if number.old_text != number.new_text)

    @property
    def beside(self) -> tuple[NumberChange, ...]:
        """The prices and keys that are others and no cause of a number by themselves."""
        alone = [self.alone(cause) for number in self.numbers for cause in number.causes]
        return tuple(one for one in (*self.prices.values(), *self.keys.values()) if one not in alone)

    def alone(self, cause: Cause) -> NumberChange | None:
        """The price, the one key of the params, or the date that a cause is."""
        found = [self.moved.get(one, (one,)) for one in cause.of if cause.kind != Kind.TOGETHER]
        return {**self.prices, **self.keys}.get(found[0][0]) if [*map(len, found)] == [1] else None

    def name(self, cause: Cause) -> str:
        """What a cause is called."""
        if one := self.alone(cause):
            return one.label
        return WORDS["causes"].get(cause.kind) or ", ".join(WORDS["groups"][group] for group in cause.of)

    def told(self, cause: Cause) -> str:
        """A cause by its name, with what became of it: of a price or a key its values, of other inputs which are others."""
        if one := self.alone(cause):
            return str(one)
        what = [one for group in cause.of for one in self.moved[group]] if cause.kind == Kind.INPUTS else []
        found = listed(str(self.keys.get(one, one)) for one in what)
        return f"{self.name(cause)} ({found})" if what else self.name(cause)


def redline(before: Path, after: Path) -> Redline:
    """Compare two editions of a client, by their folders; `InputError` where they cannot be worked out again."""
    old, new = read_kept(before), read_kept(after)
    if old.loaded.slug != new.loaded.slug:
        message = f"is of {new.loaded.slug}, and {before.name} of {old.loaded.slug}"
        raise InputError(Problem(message, str(after), remedy="Name two editions of one client."))
    mixes = _Mixes(old, new)
    olds, news = _numbers(old.headline), _numbers(new.headline)
    pairs = ((as_told(olds[i], found), found) for i, found in news.items() if i in olds)
    numbers = tuple(_changed(before, found, mixes) for before, found in pairs if before is not None)
    both = {number.id for number in numbers}
    words = tuple(change for change in moves(old.headline, new.headline, 0.0) if change.id not in both)
    prices = {i: move for i, (move, _) in mixes.singles.items()}
    material = frozenset(one.id for one in moves(old.headline, new.headline, new.loaded.params.refresh.moved_share))
    dated, late = mixes.dated({word.id: word.new for word in words if word.id in (*ACTION, *CLASS)})
    return Redline(
        new.loaded.params.client.name, (before.name, after.name), words, numbers, mixes.moved, prices, material,
        mixes.keys | late, dated,
    )  # fmt: skip


def _numbers(head: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """A headline's numbers by their ids."""
    return {n["id"]: n for n in head.get("numbers", ())}


def _changed(old: Mapping[str, Any], new: Mapping[str, Any], mixes: _Mixes) -> NumberChange:
    def value(head: Mapping[str, Any]) -> float | None:
        found = _numbers(head).get(new["id"])
        told = None if found is None else as_told(found, new)
        return None if told is None else value_of(told)

    players, cases = mixes.played
    alone = {i: value(head) for i, (_, head) in mixes.singles.items()}
    printed = float(old["value"]), float(new["value"])
    causes = causes_of(printed, lambda moved: value(cases[moved][1]), players, alone)
    return NumberChange(new["id"], new["label"], new["unit"], *printed, old["text"], new["text"], causes)


class _Mixes:
    """Cases of the old edition's parts and the new one's, each worked out once."""

    def __init__(self, old: Kept, new: Kept) -> None:
        self.old, self.new = old, new
        before, after = _parts(old), _parts(new)
        later = max((old, new), key=lambda kept: kept.loaded.params.as_of)
        self.dating = Group.PRICES if later.prices.newest == later.loaded.params.as_of else Group.PARAMS
        before[self.dating][DATE], after[self.dating][DATE] = old.keys["as_of"], new.keys["as_of"]
        found = {g: sorted(k for k in {*before[g], *after[g]} if before[g].get(k) != after[g].get(k)) for g in Group}
        self.moved = {str(group): tuple(keys) for group, keys in found.items() if keys}

    @cached_property
    def played(self) -> tuple[tuple[Player, ...], dict[frozenset[Group], Mixed]]:
        """The groups that differ, each by itself, and every mix of them; where one cannot be worked out the first apart from
        the rest, and then all together."""
        moved = tuple(map(Group, self.moved))
        for players in (tuple((group,) for group in moved), (moved[:1], moved[1:])):
            with suppress(InputError):
                return players, {mix: self.mixed(mix) for mix in mixes_of(players)}
        return (moved,), {mix: self.mixed(mix) for mix in mixes_of((moved,))}

    @cached_property
    def keys(self) -> dict[str, NumberChange]:
        """What became of each key of the params that is another."""
        before, after = (kept.loaded.params for kept in (self.old, self.new))
        first, found = self.played[1][frozenset()][0].inputs, self.moved.get(Group.PARAMS, ())
        return {k: _said(k, before, after, input_names(first, f"param:{k}").phrase) for k in found if k != DATE}

    def dated(self, turned: Mapping[str, str]) -> tuple[frozenset[str], dict[str, NumberChange]]:
        """Which of these words of the headline the date alone turns, and what became of the date if it may be a cause."""
        old, new = (str(kept.keys["as_of"]) for kept in (self.old, self.new))
        if old == new or not (turned or {*self.moved.values()} == {(DATE,)}):
            return frozenset(), {}
        try:
            case, head = self.mixed(frozenset(), new)
        except InputError:
            return frozenset(), {}
        aged = case.inputs.stale_ids - self.played[1][frozenset()][0].inputs.stale_ids
        behind = {i for n in head["numbers"] for i in case.figure(n["id"]).inputs}
        days = write((date.fromisoformat(new) - date.fromisoformat(old)).days, "day")
        label = WORDS["date"].format(days=days, expired=len(aged & behind))
        found = {id for id, word in turned.items() if str(head.get(id)) == word}
        told = frozenset(found | ({"recommendation"} if {*turned} & {*ACTION} <= found else set()))
        return told, {DATE: NumberChange("param:as_of", label, "text", 0.0, 0.0, old, new)}

    def mixed(self, moved: frozenset[Group], day: str = "") -> Mixed:
        """The case where these groups are the new edition's; `InputError` where today's code has none."""
        prices, params, sources = (self.new if group in moved else self.old for group in Group)
        day = day or (self.new if self.dating in moved else self.old).keys["as_of"]
        own = {k: v for k, v in params.keys.items() if k not in NAMING}
        named = {k: v for k, v in sources.keys.items() if k in NAMING}
        try:
            keys = params_from({**own, **named, "as_of": day}, extra_options=sources.options)
            loaded, folder = replace(params.loaded, params=keys), sources.loaded.folder
            case = case_of(Given(folder, loaded, sources.evidence, prices.prices, sources.options, ()))
            return case, headline_of_case(case)
        except (InputError, LookupError) as error:
            raise refused((self.new if moved else self.old).edition, error) from None

    @cached_property
    def singles(self) -> dict[str, tuple[NumberChange, Mapping[str, Any]]]:
        """Prices by their ids: what became of each, and the headline where of all inputs it alone is the new edition's.

        None where prices move with other groups; not one on which an override is in force.
        """
        players, cases = self.played
        if (Group.PRICES,) not in players:
            return {}
        before, after = (kept.prices.at(kept.loaded.params.as_of) for kept in (self.old, self.new))
        ends = [cases[frozenset()], cases[frozenset(map(Group, self.moved))]]
        used = {i for case, head in ends for n in head["numbers"] for i in case.figure(n["id"]).inputs}
        first = ends[0][0].inputs
        both = [(before[i], after[i]) for i in after if i in before and f"price:{i}" not in first.overrides]
        alike = [(old, new) for old, new in both if (old.unit, old.currency) == (new.unit, new.currency)]
        moved = [(old, new) for old, new in alike if old.figure != new.figure]
        moved.sort(key=lambda pair: (pair[0].id not in used, -abs(pair[1].price / (pair[0].price or 1.0) - 1)))
        return {
            new.id: (_move(old, new, input_names(first, new.id).phrase, price_record(new)), headline_of_case(case))
            for old, new in moved[:SINGLE_PRICES]
            for case in [Case(first.replacing({new.id: new.figure}))]
        }


def _move(old: Price, new: Price, name: str, record: Mapping[str, Any]) -> NumberChange:
    unit, ends = price_unit(new), (old.figure.central, new.figure.central)
    before, after = (write(end, unit, 4 if unit == "ratio" else 3, new.currency) for end in ends)
    return NumberChange(new.id, name, unit_in(unit, new.currency), *ends, before, after, record=record)


def _said(key: str, before: Params, after: Params, name: str) -> NumberChange:
    """A key of the params as it was told and is told; a number only if it is one in both."""
    old, new = param_record(before, key), param_record(after, key)
    was, now = value_at(before, key), value_at(after, key)
    unit, was, now = (new["unit"], was, now) if {type(was), type(now)} <= {int, float} else ("text", 0.0, 0.0)
    texts = visible(old["text"]), visible(new["text"])
    return NumberChange(new["id"], f"{name} ({key})", unit, float(was), float(now), *texts, record=new)


def _parts(kept: Kept) -> dict[Group, dict[str, Any]]:
    """What an edition was made from, by group: files by name, and keys of the params."""
    folders = (f"{PRICES}/", f"{kept.loaded.slug}/{PRICES}/")
    prices = {name: digest for name, digest in kept.files.items() if name.startswith(folders)}
    brand = kept.loaded.params.brand
    logo = str(PurePosixPath(brand.logo)) if brand and brand.logo else ""
    sources = {name: digest for name, digest in kept.files.items() if name not in {*prices, "params.json", logo}}
    given = {k: v for k, v in kept.keys.items() if k not in (*NAMING, *NO_NUMBERS)}
    params = dict(flat_keys(given, kept.loaded.params))
    named = {k: v for k, v in kept.keys.items() if k in NAMING}
    return {Group.PRICES: dict[str, Any](prices), Group.PARAMS: params, Group.SOURCES: {**sources, **named}}
