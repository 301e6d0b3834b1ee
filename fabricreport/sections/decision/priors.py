"""Inputs that are stated by kind of fabric: whom each of them favours, and on whose word it stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from string import Formatter
from typing import Any

from fabricreport.books.names import family_names
from fabricreport.books.options import Option
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of
from fabricreport.sections.client import maturity_of
from fabricreport.vocabulary import NEITHER, Grade, Side

ALIKE = 0.01
"""Two means that differ by less than this share of the larger favour neither."""


@dataclass(frozen=True)
class Prior:
    """One input by fabric: what it is, the entries ('' where a fabric has none), whom it favours, and on whose word."""

    what: str
    infiniband: str
    rocev2: str
    favours: str
    word: str
    assumed: bool


def priors_of(given: Inputs, reached: Collection[str]) -> tuple[Prior, ...]:
    """The inputs by fabric that the bills rest on (`reached`: ids), where both kinds of fabric are compared.

    Each family of Ethernet whose entry is its own is held against the first InfiniBand option.
    """
    ours = next((o for o in given.options if o.side == Side.INFINIBAND), None)
    theirs = [o for o in given.options if o.side == Side.ROCEV2]
    if ours is None or not theirs:
        return ()
    found = []
    for row in read_yaml("priors"):
        meant = [o for o in theirs if o.operating_model in row.get("model", (o.operating_model,))]
        for what, ids in _pairs(given, row, ours, meant):
            if ids[0] != ids[1] and any(i in reached for i in ids):
                found.append(_prior(given, what, ids, row["better"], float(row.get("against", 0))))
    return tuple(found)


def _pairs(
    given: Inputs, row: Mapping[str, Any], ours: Option, theirs: list[Option]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """What a row compares and its two ids, once for each entry that families of Ethernet have."""
    by_entry: dict[str, list[str]] = {}
    for option in theirs:
        names = by_entry.setdefault(_entry(given, row[Side.ROCEV2], option), [])
        if (name := family_names(option.family).phrase) not in names:
            names.append(name)
    base = _entry(given, row[Side.INFINIBAND], ours)
    for entry, names in by_entry.items():
        what = row["what"] if len(by_entry) == 1 else f"{row['what']}, {' and '.join(names)}"
        yield what, (base, entry)


def _entry(given: Inputs, template: str | None, option: Option) -> str:
    """The input that a row means of an option; '' where it has none."""
    said = {
        **asdict(option.behaviour),
        "maturity": maturity_of(given),
        "training": option.training,
        "licence": option.licence.per_endpoint_year if option.licence else "",
        "system": option.operating_system,
    }
    asked = [name for _, name, *_ in Formatter().parse(template or "") if name]
    if not template or not all(said[name] for name in asked):
        return ""
    name = template.format(**said)
    return name if ":" in name else f"evidence:{name}"


def _prior(given: Inputs, what: str, ids: tuple[str, str], better: str, against: float) -> Prior:
    infiniband, rocev2 = (mean_of(given.own(i)) if i else against for i in ids)
    gap = (rocev2 - infiniband) * (1 if better == "less" else -1)
    same = all(ids) and len({given.record(i)["text"] for i in ids}) == 1
    level = same or abs(gap) <= ALIKE * max(abs(infiniband), abs(rocev2))
    side = NEITHER if level else Side.INFINIBAND if gap > 0 else Side.ROCEV2
    records = [given.record(i) for i in ids if i]
    assumed = all(r["grade"] == Grade.ASSUMPTION for r in records)
    words = dict.fromkeys(
        "this memo" if r["grade"] == Grade.ASSUMPTION else r["publisher"] or r["source"] for r in records
    )
    return Prior(what, ids[0], ids[1], side, " and ".join(words), assumed)
