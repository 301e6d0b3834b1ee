"""Figures declared once and made on request: which ledger numbers a section has, what they are called, how each is made.

`figures.yaml`, beside the module, says of each figure what a translator, a lint or a reader needs:

    tco.total[option]:
      label: Total cost of {option} over the horizon
      rule: mean over the outcomes of the sum of all causes, present value
      unit: usd
      statistic: mean

and a method says how it is worked out:

    class CostFigures:
        @figure("tco.total[option]")
        def total(self, option: str) -> Traced:
            return self.result.totals[option]

    FIGURES = Declaration("tco", CostFigures, {"option": Index(lambda at: at.result.totals, CostFigures.name)})
    numbers = DeclaredFigures(FIGURES, at, given)   # nothing is computed yet
    numbers["tco.total.rocev2-whitebox-400g"]            # made now, once

`[option]` in a pattern stands for `.` and a key in the id. Keys may hold dots themselves. What may stand in a record of
`figures.yaml` is told at `Stated`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from fabricreport.base.locations import did_you_mean
from fabricreport.base.memory import cached_method
from fabricreport.base.yaml_files import read_yaml, read_yaml_at
from fabricreport.ledger.bases import Clock, Horizon, Size, Statistic
from fabricreport.ledger.numbers import Number, Part

At = TypeVar("At")
Footing = Iterable[str | Number]
"""What a figure is said to rest on: ids of inputs, or figures whose own inputs it takes over."""


class Numbering(Protocol):
    """Makes ledger numbers of values and of what they are said to rest on: a case's inputs."""

    def number(self, id: str, value: Any, unit: str, *, label: str, rule: str, **more: Any) -> Number:
        """The number with this id."""


_INDEX = re.compile(r"\[(\w+)\]")


Known = TypeVar("Known")
Maker = TypeVar("Maker", bound=Callable[..., Any])
Choice = str | Mapping[Any, str]
"""A text, or one of several: `by` names what of the context chooses, the other keys are its values."""
_FIELD = re.compile(r"\{(\w+)\}")


def there(found: Known | None) -> Known:
    """What a figure is only asked of where it is there (`when`)."""
    assert found is not None
    return found


def worded(file: str, kind: str, **fields: object) -> dict[str, Any]:
    """Label and rule of a number that is made where it is agreed or measured: `figures` of a file of `data/` has them by kind."""
    told = read_yaml(file)["figures"][kind]
    return {key: told[key].format(**fields) for key in ("label", "rule")}


def figure(pattern: str) -> Callable[[Maker], Maker]:
    """Marks a method as what makes the figures of a pattern: it is given their keys, and returns a value or a `Reckoning`."""

    def mark(method: Maker) -> Maker:
        method.__dict__["figure"] = pattern
        return method

    return mark


@dataclass(frozen=True)
class Reckoning:
    """A value, and what only the case tells of it, beside what `Stated` says or in its place.

    `parts` are what a total is the sum of, `words` fill fields of label, rule and unit.
    """

    value: Any
    inputs: Footing = ()
    sources: Footing = ()
    parts: Iterable[Part] = ()
    currency: str = ""
    grade: str = ""
    date: str = ""
    digits: int | None = None
    base: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stated:
    """What `figures.yaml` says of a figure.

    Label, rule and unit are texts: `{option}` in them is the key of that index by its name, any other `{field}` an attribute of the
    context, or one of the words that were found with the value. Each may be a choice (`by`). `statistic`
    is that of the draws that is printed (`mean`, else the median). `inputs` and `sources` are ids, or the name of what in
    the context gives them; `when` names what is False, or not there, where there is no such figure (`courses.pilot`, say),
    `compares` the two options that it tells apart: above zero the first has less of what it counts. `base` has the fields of
    `Base`, as far as they do not follow from the rest. A figure that its study makes has a base alone.
    """

    label: Choice = ""
    rule: Choice = ""
    unit: Choice = ""
    statistic: str = ""
    digits: int = 3
    inputs: str | tuple[str, ...] = ()
    sources: str | tuple[str, ...] = ()
    counted: bool = False
    grade: str = ""
    when: str = ""
    compares: str = ""
    base: Mapping[str, Any] = field(default_factory=dict)

    def refuse_unknown(self, pattern: str, context: type) -> None:
        """`ValueError` where it names what the context has not."""
        named = [self.inputs, self.sources, self.when, self.compares]
        named += [text["by"] for text in (self.label, self.rule, self.unit) if isinstance(text, Mapping)]
        known = {"", *dir(context), *getattr(context, "__dataclass_fields__", ())}
        if lost := [name for name in named if isinstance(name, str) and name.partition(".")[0] not in known]:
            raise ValueError(f"figure {pattern}: {context.__name__} has no {lost[0]}")

    @classmethod
    def read(cls, pattern: str, record: Mapping[str, Any]) -> Stated:
        """A record of the file; `ValueError` names a key that is none."""
        if unknown := sorted({*record} - {one.name for one in fields(cls)}):
            raise ValueError(f"figures.yaml, {pattern}: no key {unknown[0]}")
        made: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in record.items()
        }
        made["base"] = {key: _BASE_WORDS[key](value) for key, value in record.get("base", {}).items()}
        return cls(**made)


def _enumerated(kind: Any) -> Callable[[str], Any]:
    return lambda name: kind[name.upper()]


_BASE_WORDS: Mapping[str, Callable[[str], Any]] = {
    "about": tuple,
    "quantity": str,
    "of": str,
    "stage": str,
    "statistic": _enumerated(Statistic),
    "clock": _enumerated(Clock),
    "size": _enumerated(Size),
    "horizon": _enumerated(Horizon),
}


@dataclass(frozen=True, eq=False)
class FigureSpec:
    """One kind of ledger number: the pattern of its ids, what is stated of it, and the method that makes it."""

    pattern: str
    stated: Stated
    method: Callable[..., Any]
    called: Mapping[str, Callable[[Any, str], str]]
    """By index, how its keys are called."""

    @cached_property
    def indexes(self) -> tuple[str, ...]:
        """Names of the pattern's indexes, in order."""
        return tuple(_INDEX.findall(self.pattern))

    @cached_property
    def shape(self) -> re.Pattern[str]:
        """What its ids look like, whatever the keys."""
        return re.compile(r"\..+".join(map(re.escape, _INDEX.sub(_KEY, self.pattern).split(_KEY))))

    def id(self, *keys: object) -> str:
        """The id of the figure with these keys."""
        left = iter(keys)
        return _INDEX.sub(lambda _: f".{next(left)}", self.pattern)

    @property
    def compares(self) -> bool:
        """Whether it is stated to tell two options apart."""
        return bool(self.stated.compares)

    @property
    def taken(self) -> bool:
        """Whether its study makes it, because what that finds hangs on it."""
        return not self.stated.label

    def when(self, at: Any, *keys: str) -> bool:
        """Whether there is such a figure; cheap, for it is asked whenever ids are listed."""
        if not self.stated.when:
            return True
        found = _asked(at, self.stated.when, keys)
        return found is not None and found is not False

    def make(self, given: Numbering, at: Any, *keys: str) -> Number:
        """The figure with these keys; `ValueError` where its study gave it another id."""
        value = self.method(at, *keys)
        if isinstance(value, Number):
            if value.id != self.id(*keys):
                raise ValueError(f"{self.id(*keys)} is {value.id} in the study")
            return self._based(value, keys, {})
        stated, found = self.stated, value if isinstance(value, Reckoning) else Reckoning(value)
        made = given.number(
            self.id(*keys),
            found.value,
            self._told(stated.unit, at, keys, found),
            label=self._told(stated.label, at, keys, found),
            rule=self._told(stated.rule, at, keys, found),
            inputs=(*self._ids(stated.inputs, at, keys), *found.inputs),
            sources=(*self._ids(stated.sources, at, keys), *found.sources),
            digits=stated.digits if found.digits is None else found.digits,
            central=stated.statistic or "p50",
            counted=stated.counted,
            parts=found.parts,
        )
        made = replace(
            made,
            currency=found.currency or made.currency,
            grade=found.grade or stated.grade or made.grade,
            date=found.date or made.date,
            compares=_asked(at, stated.compares, keys) if stated.compares else None,
        )
        return self._based(made, keys, found.base)

    def _ids(self, named: str | tuple[str, ...], at: Any, keys: tuple[str, ...]) -> Footing:
        return named if isinstance(named, tuple) else _asked(at, named, keys)

    def _told(self, text: Choice, at: Any, keys: tuple[str, ...], found: Reckoning) -> str:
        if not isinstance(text, str):
            text = text[_asked(at, text["by"], keys)]
        own = dict(zip(self.indexes, keys, strict=True))

        def filled(field: re.Match[str]) -> str:
            name = field[1]
            if name in found.words:
                return found.words[name]
            if name in own:
                return self.called[name](at, own[name]) if name in self.called else own[name]
            return str(_asked(at, name, keys))

        return _FIELD.sub(filled, text)

    def _based(self, made: Number, keys: tuple[str, ...], declared: Mapping[str, Any]) -> Number:
        """The figure with its base: the statistic of draws is what is printed of them, whatever is said of fixed values."""
        of = made.based.about + (made.compares or ())
        rule = {"about": (*of, *(str(k) for k in keys if k not in of)), **self.stated.base, **declared}
        if made.spread is not None:
            rule.pop("statistic", None)
        return replace(made, base=replace(made.based, **rule))


def _asked(at: Any, path: str, keys: tuple[str, ...]) -> Any:
    """An attribute of the context, called with the keys where it is a method, and what that has after a dot; None without it."""
    name, *further = path.split(".")
    asked = getattr(at, name)
    found = asked(*keys) if callable(asked) else asked
    for part in further:
        found = None if found is None else getattr(found, part)
    return found


def specs_of(made_by: type, called: Mapping[str, Callable[[Any, str], str]]) -> tuple[FigureSpec, ...]:
    """Every figure of a class and of those that it is made of, with what the `figures.yaml` beside each says.

    `ValueError` where a record has no method, a method no record, or two methods one name.
    """
    methods: dict[str, Callable[..., Any]] = {}
    stated: dict[str, Mapping[str, Any]] = {}
    names: dict[str, str] = {}
    for of in made_by.__mro__:
        own = {name: m for name, m in vars(of).items() if hasattr(m, "figure")}
        for name, method in own.items():
            if name in names or method.figure in methods:
                raise ValueError(
                    f"{of.__name__}.{name} makes {method.figure}: {names.get(name, method.figure)} is made already"
                )
            names[name] = methods[method.figure] = method
        if own:
            stated |= read_yaml_at(Path(str(sys.modules[of.__module__].__file__)).with_name("figures.yaml"))
    if apart := sorted({*methods} ^ {*stated}):
        raise ValueError(f"figure {apart[0]} has " + ("no record" if apart[0] in methods else "no method"))
    return tuple(FigureSpec(p, Stated.read(p, stated[p]), methods[p], called) for p in methods)


@dataclass(frozen=True)
class Index(Generic[At]):
    """What an index in brackets runs through: `keys` of one case; `among`, where it is known, of every case.

    `called` is what a key is called where a label names it; without it the key itself stands there.
    """

    keys: Callable[[At], Iterable[str]]
    among: Collection[str] = ()
    called: Callable[[At, str], str] | None = None


@dataclass(frozen=True, eq=False)
class Declaration(Generic[At]):
    """Every figure of a section, and the indexes that their patterns name. Files are read when a figure is first asked for."""

    section: str
    made_by: type[At]
    indexes: Mapping[str, Index[At]] = field(default_factory=dict)

    @cached_property
    def specs(self) -> tuple[FigureSpec, ...]:
        """The declarations; `ValueError` where one names no index, another section, or what its context has not."""
        called = {name: index.called for name, index in self.indexes.items() if index.called}
        found = specs_of(self.made_by, called)
        for spec in found:
            spec.stated.refuse_unknown(spec.pattern, self.made_by)
            if unknown := [name for name in spec.indexes if name not in self.indexes]:
                raise ValueError(f"figure {spec.pattern}: no index {unknown[0]}")
            if not spec.pattern.startswith((f"{self.section}.", f"{self.section}[")):
                raise ValueError(f"figure {spec.pattern} is none of {self.section}")
        return found


class DeclaredFigures(Mapping[str, Number]):
    """The figures of one case by id: ids are listed without making any, a figure is made when asked for and remembered."""

    def __init__(self, declared: Declaration[At], at: At, given: Numbering) -> None:
        self._declared: Declaration[Any] = declared
        self._at, self._given = at, given
        self._made: dict[str, Number] = {}

    @cached_property
    def _ids(self) -> Mapping[str, tuple[FigureSpec, tuple[str, ...]]]:
        ids: dict[str, tuple[FigureSpec, tuple[str, ...]]] = {}
        for spec in self._declared.specs:
            for keys in self._keys_of(spec):
                figure_id = spec.id(*keys)
                if figure_id in ids:
                    raise ValueError(f"{figure_id} is declared twice: {ids[figure_id][0].pattern}, {spec.pattern}")
                ids[figure_id] = (spec, keys)
        return ids

    def _keys_of(self, spec: FigureSpec) -> Iterator[tuple[str, ...]]:
        """Of which keys there is a figure."""
        for keys in product(*(self._run(name) for name in spec.indexes)):
            if spec.when(self._at, *keys):
                yield keys

    @cached_method
    def _run(self, index: str) -> tuple[str, ...]:
        return tuple(self._declared.indexes[index].keys(self._at))

    def _found(self, figure_id: str) -> tuple[FigureSpec, tuple[str, ...]] | None:
        """The declaration of a figure and its keys: only what may be its own is asked for its keys, for some are dear."""
        if "_ids" in vars(self):
            return self._ids.get(figure_id)
        for spec in self._declared.specs:
            if spec.shape.fullmatch(figure_id):
                for keys in self._keys_of(spec):
                    if spec.id(*keys) == figure_id:
                        return spec, keys
        return None

    def __getitem__(self, figure_id: str) -> Number:
        if figure_id not in self._made:
            spec, keys = self._spec(figure_id)
            self._made[figure_id] = spec.make(self._given, self._at, *keys)
        return self._made[figure_id]

    def _spec(self, figure_id: str) -> tuple[FigureSpec, tuple[str, ...]]:
        found = self._found(figure_id)
        if found is None:
            close = did_you_mean(figure_id, self._ids)
            raise KeyError(f"no figure {figure_id}" + (f"; did you mean {close}?" if close else ""))
        return found

    def __contains__(self, figure_id: object) -> bool:
        return isinstance(figure_id, str) and (figure_id in self._made or self._found(figure_id) is not None)

    def get(self, figure_id: str, default: Any = None) -> Any:
        """The figure, or the default where there is none; nothing similar is sought."""
        return self[figure_id] if figure_id in self else default  # noqa: SIM401 - this is `get`

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def spec(self, figure_id: str) -> FigureSpec:
        """The declaration that a figure of this case is made by; `KeyError` names the nearest id."""
        return self._spec(figure_id)[0]

    @property
    def made(self) -> tuple[str, ...]:
        """Ids of the figures made so far."""
        return tuple(self._made)


# ---- which declaration covers an id, without a case

_KEY, _HOLE = "\0", "\1"
"""Stand for `.` and whatever key, and for what is not known of an id: no id holds them."""


def find_spec(declared: Iterable[Declaration[Any]], wanted: str) -> FigureSpec | None:
    """The declaration that covers `tco.total.ib`, `tco.total[choice]` or `tco.{what}.{option}`; None if there is none.

    An index in brackets, by whatever name, stands for an index of the pattern; `{…}` for a part between dots, or for a
    key. Where several declarations cover it, it is the one that leaves least to its keys.
    """

    def told(spec: FigureSpec) -> tuple[int, int]:
        return len(_INDEX.sub("", spec.pattern)), len(spec.indexes)

    return max(specs_met(declared, wanted), key=told, default=None)


def specs_met(declared: Iterable[Declaration[Any]], wanted: str) -> tuple[FigureSpec, ...]:
    """Every declaration that `wanted` may mean (see `find_spec`)."""
    asked = re.sub(r"\{[^{}]*\}", _HOLE, re.sub(r"\[[^\]]*\]", _KEY, wanted))
    literals = re.escape(asked).replace(_KEY, rf"\.{_KEY}").replace(_HOLE, "[^.]+")
    return tuple(
        spec
        for one in declared
        for spec in one.specs
        if _ids(spec, one).fullmatch(asked)
        or (_HOLE in asked and any(re.fullmatch(literals, i) for i in _samples(spec, one)))
    )


@lru_cache(maxsize=4096)
def _ids(spec: FigureSpec, declared: Declaration[Any]) -> re.Pattern[str]:
    """What the ids of a declaration look like, an index in brackets having become `_KEY` and what is not known `_HOLE`."""

    def keys(name: str) -> str:
        among = declared.indexes[name].among
        known = "|".join([*map(re.escape, among), rf"[^{_KEY}]*{_HOLE}[^{_KEY}]*"]) if among else rf"[^{_KEY}]+"
        return rf"(?:{_KEY}|\.(?:{known}))"

    literal_and_index = _INDEX.split(spec.pattern)
    return re.compile("".join(keys(p) if i % 2 else re.escape(p) for i, p in enumerate(literal_and_index)))


@lru_cache(maxsize=4096)
def _samples(spec: FigureSpec, declared: Declaration[Any]) -> tuple[str, ...]:
    """Ids of a declaration, one for each choice of keys known beforehand, `_KEY` for any key."""
    among = [(_KEY, *declared.indexes[name].among) for name in spec.indexes]
    return tuple(spec.id(*keys) for keys in product(*among))
