"""What a section says it has read is all that it rests on: with anything else changed it comes out byte for byte the same.

Group testing: everything that a section did not name is changed at once, so one run tries every entry of every book.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from one_process import SMALL_DRAWS, drawing, executed

import fabricreport.inputs as inputs_module
from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.options import Option
from fabricreport.books.prices.book import Held, PriceBook
from fabricreport.books.prices.rules import PriceRow
from fabricreport.case import Case, open_case
from fabricreport.digests import Digests
from fabricreport.evidence_entry import EvidenceEntry
from fabricreport.inputs import Inputs
from fabricreport.memo.run.volatile import notebook_bytes
from fabricreport.provenance import plain
from fabricreport.reads import EVERY, VALUE
from fabricreport.scenario import SECTION_NAMES, changed_params
from fabricreport.uncertain import Uncertain

pytestmark = pytest.mark.slow
PARAMS = Path(__file__).parents[2] / "params"
CLIENTS = ("example", "tern-finetuning", "kestrel-lab")
ON_THEIR_OWN = "tern-finetuning"
NUDGE = 1 + 1e-9


@dataclass(frozen=True)
class Ran:
    """A section's notebook as it came out, and what it says it has read."""

    data: bytes
    ids: frozenset[str]


@dataclass(frozen=True)
class Kept:
    """A client's case, and every section run on it in one process."""

    case: Case
    sections: dict[str, Ran]


def run(case: Case, section: str, path: Path) -> Ran:
    """The section on a case whose studies others may have used before."""
    mine = case.read_afresh()
    return Ran(notebook_bytes(executed(section, mine, path)), mine.reads)


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    with mock.patch.object(inputs_module, "DRAWS", SMALL_DRAWS), drawing(False):
        yield


@pytest.fixture(scope="module", params=CLIENTS)
def kept(request: pytest.FixtureRequest, few_draws: None) -> Kept:
    """A client's sections, each on a case of its own or all on one, as a build without and with a warm parent has them."""
    path = PARAMS / f"{request.param}.yaml"
    case = open_case(path)
    shared = request.param != ON_THEIR_OWN
    return Kept(case, {s: run(case if shared else Case(case.inputs), s, path) for s in SECTION_NAMES})


# ---- inputs that say something else


def other_price(row: PriceRow) -> PriceRow:
    """Another price with another range, source, grade and day."""
    ends = {"low": row.price * 0.9, "high": row.price * 1.6}
    return replace(row, price=row.price * 1.23, **ends, source=f"Another seller, {row.source}", grade="quote")


def other_entry(entry: EvidenceEntry) -> EvidenceEntry:
    """Another figure, or other words, from another source."""
    value: Any = f"not so: {entry.value}"
    if not isinstance(entry.value, str):
        value = Uncertain("pert", entry.low * 0.8, entry.mid * 0.9, entry.high * 0.95)
        if not value.low <= value.mode <= value.high or value.low == value.high:
            value = Uncertain("number", *(3 * (entry.mid * 0.9,)))
    return replace(entry, value=value, what=f"Other: {entry.what}", source="Another source", publisher="Somebody else",
                   date="2026-01-01", seen="C", interest="seller")  # fmt: skip


def nudged_price(row: PriceRow) -> PriceRow:
    """A price that differs by less than anything printed shows."""
    ends = {name: end and end * NUDGE for name, end in (("low", row.low), ("high", row.high))}
    return replace(row, price=row.price * NUDGE, **ends)


def nudged_entry(entry: EvidenceEntry) -> EvidenceEntry:
    """The same of a figure; words stay."""
    return entry if isinstance(entry.value, str) else replace(entry, value=entry.value.times(NUDGE))


@dataclass(frozen=True)
class Change:
    """How entries are changed, and the books that get one entry more."""

    price: Callable[[PriceRow], PriceRow] = other_price
    entry: Callable[[EvidenceEntry], EvidenceEntry] = other_entry
    wholes: frozenset[str] = frozenset()


def with_others(given: Inputs, ids: frozenset[str], change: Change) -> Inputs:
    """The inputs with every entry of `ids` another."""
    books = given.books
    rows, shipped = (
        [change.price(r) if f"price:{r.item}" in ids else r for r in some]
        for some in (books.prices.rows, books.prices.shipped)
    )
    held = list(books.prices.quarantine)
    if "price" in change.wholes:
        rows.append(replace(rows[0], item="nobody-asks-for-this"))
    if "held" in change.wholes:
        held.append(Held(rows[0].item, "step", "made up", "a.csv", 9))
    entries = [change.entry(e) if f"evidence:{e.id}" in ids else e for e in books.evidence.values()]
    if "evidence" in change.wholes:
        entries.append(replace(entries[0], id="nobody-asks-for-this", contested=""))
    options: dict[str, Option] = {
        o: replace(v, name=f"Other {v.name}", radix=16, notes=("Made up.",)) if f"option:{o}" in ids else v
        for o, v in books.options.items()
    }
    params = given.params
    if "params:memo" in ids:
        params = changed_params(params, {"memo__subject": "Another subject"}, {}, extra_options=books.options)
    book = PriceBook(tuple(rows), tuple(held), books.prices.problems, tuple(shipped))
    return Inputs(params, books.folder, EvidenceBook(entries), book, options, draws=given.draws)


def everything(given: Inputs) -> frozenset[str]:
    """Ids of every entry that can be changed."""
    books = given.books
    prices = {f"price:{r.item}" for r in (*books.prices.rows, *books.prices.shipped)}
    return frozenset(
        {*prices, *(f"evidence:{e}" for e in books.evidence), *(f"option:{o}" for o in books.options), "params:memo"}
    )


def hit(kept: Kept, section: str, other: Case) -> bool:
    """Whether the cache would take the section over."""
    ids = kept.sections[section].ids
    return Digests(kept.case).of(ids) == Digests(other).of(ids)


def unread(given: Inputs, ids: frozenset[str]) -> frozenset[str]:
    """Ids of the entries on which nothing rests that has read these."""
    quantities = {f"contested:{q}": q for q in given.quantities}
    read = {q for i, q in quantities.items() if i in ids}
    shown = {p.id for i in ids if i.startswith("dearest:") for p in given.in_force.prices.values() if p.unit in i}
    return frozenset(
        i
        for i in everything(given) - ids - shown
        if EVERY[i.partition(":")[0]] not in ids and not given.quantities_of([i]) & read
    )


def behind_values(case: Case, ids: frozenset[str]) -> frozenset[str]:
    """What the values among the ids were made of."""
    values = [i.partition(":")[2] for i in ids if i.startswith(f"{VALUE}:")]
    return frozenset[str]().union(*(case.value(name)[1] for name in values))


@pytest.mark.parametrize("section", SECTION_NAMES)
def test_with_everything_else_changed_a_section_comes_out_the_same(kept: Kept, section: str) -> None:
    before, given = kept.sections[section], kept.case.inputs
    ids = before.ids | behind_values(kept.case, before.ids)
    others = unread(given, ids)
    wholes = frozenset(kind for kind in ("price", "held", "evidence") if EVERY[kind] not in ids)
    other = Case(with_others(given, others, Change(wholes=wholes)))
    assert hit(kept, section, other) and len(others) > 150
    fresh = run(other, section, Path("other.yaml"))
    assert fresh.data == before.data and fresh.ids <= before.ids


@pytest.mark.parametrize("section", ["latency", "tail_risk"])
def test_a_section_that_takes_a_value_as_it_is_stays_while_the_value_does(kept: Kept, section: str) -> None:
    before, given = kept.sections[section], kept.case.inputs
    others = behind_values(kept.case, before.ids) & unread(given, before.ids)
    other = Case(with_others(given, others, Change(nudged_price, nudged_entry)))
    assert len([i for i in others if i.startswith("price:")]) >= 6
    hours = [Digests(case).of([f"{VALUE}:hour"]) for case in (kept.case, other)]
    assert hit(kept, section, other) == (section == "latency" or hours[0] == hours[1])
    totals = [plain(next(iter(c.chain.bills.totals.values()))) for c in (other, kept.case)]
    assert not np.array_equal(*totals) or kept.case.params.money.acquisition == "rent"
    if hit(kept, section, other):
        assert run(other, section, Path("other.yaml")).data == before.data


def test_the_id_of_whatever_is_changed_gets_another_digest(kept: Kept) -> None:
    given, wholes = kept.case.inputs, frozenset({"price", "held", "evidence"})
    ids = everything(given) | {EVERY[kind] for kind in wholes}
    told = [Digests(c).of(ids) for c in (kept.case, Case(with_others(given, ids, Change(wholes=wholes))))]
    assert not {i for i in ids if told[0][i] == told[1][i]} - {f"price:{p}" for p in given.overrides}
