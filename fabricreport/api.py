"""What programs and notebooks of one's own may call: cases, what-ifs of them, editions. The commands are thin layers on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.formats import unit_in
from fabricreport.base.provenance import mean_of
from fabricreport.base.text import Shown, csv_text, visible
from fabricreport.case import Case, open_case
from fabricreport.ledger.numbers import INPUT_KINDS, Number
from fabricreport.memo.build import build
from fabricreport.memo.editions.editions import EditionInfo, edition_info
from fabricreport.memo.editions.explanation import find_edition, read_ledger
from fabricreport.memo.editions.manifest import MANIFEST, headline_facts, read_sealed
from fabricreport.memo.editions.refresh import refresh
from fabricreport.scenario import flat_keys, stated_at
from fabricreport.sections.client import stages_of
from fabricreport.sections.decision.advice import Advice, Rivals, amount, payable, rivals_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Case", "Comparing", "Edition", "Sweep", "WhatIf", "build", "compare", "load_edition", "open_case", "refresh", "sweep", "what_if"]  # fmt: skip


@dataclass(frozen=True, repr=False)
class WhatIf(Shown):
    """A case in one line: what was changed in it, what its headline compares, what a first stage costs, the advice if asked for."""

    changes: Mapping[str, Any]
    compared: Rivals
    first_order: Number | None = None
    advice: Advice | None = None

    @property
    def facts(self) -> Mapping[str, Any]:
        """What it shows of itself, figures as a memo writes them."""
        first = {"First order": self.first_order.text} if self.first_order else {}
        more = self.advice.facts if self.advice else self.compared.facts
        return {**{key: _cell(value) for key, value in self.changes.items()}, **more, **first}

    @property
    def columns(self) -> dict[str, Any]:
        """What a table says of it, by column with its unit, figures whole."""
        two, first, advice = self.compared, self.first_order, self.advice
        known = {"cost": two.cost, "rival cost": two.rival_cost, "difference": two.lead, "first order": first}
        told = {name: number.value for name, number in known.items() if number}
        if two.lead and (spread := two.lead.spread):
            told |= {"difference P5": spread.p5, "difference P95": spread.p95}
        sides = {"choice": two.choice, "rival": two.rival, "side": two.side}
        more = {"action": advice.action, "class": advice.confidence} if advice else {}
        money = unit_in("usd", two.cost.currency)
        return {**sides, **{f"{name} [{money}]": value for name, value in told.items()}, **more}


@dataclass(frozen=True, repr=False)
class Sweep:
    """What-ifs of one case as a table: its own row first, then one for each combination of the values, the last key fastest.

    >>> sweep(case, "price:switch-sn5610", [40_000, 60_000]).frame.shape
    (3, 9)
    """

    own: Mapping[str, tuple[str, Any]]
    """Of each key its column, and what the case itself has there."""
    rows: tuple[WhatIf, ...]
    idle: tuple[str, ...] = ()
    """Keys that move nothing of it."""

    def records(self) -> list[dict[str, Any]]:
        """A row for each what-if by column, units in their names, and figures whole."""
        changed = ({key: _cell(value) for key, value in row.changes.items()} for row in self.rows)
        lines = ({head: line.get(key, value) for key, (head, value) in self.own.items()} for line in changed)
        return [{**line, **row.columns} for line, row in zip(lines, self.rows, strict=True)]

    @property
    def frame(self) -> pd.DataFrame:
        """The same as a table; its index numbers the what-ifs, 0 being the memo's own case."""
        import pandas as pd

        return pd.DataFrame(self.records()).rename_axis(index="what-if")

    def as_csv(self) -> str:
        """The same as CSV; no text in it can be read as a formula."""
        table = self.frame
        return csv_text([[table.index.name, *table.columns], *table.itertuples()])

    @property
    def _shown(self) -> pd.DataFrame:
        """The same for a reader, figures as a memo writes them."""
        import pandas as pd

        own = {key: value for key, (_, value) in self.own.items()}
        return pd.DataFrame([{**own, **row.facts} for row in self.rows], dtype=object).fillna("")

    def __repr__(self) -> str:
        return "\n".join((self._shown.to_string(index=False), *self.notes))

    def _repr_html_(self) -> str:
        return self._shown.to_html(index=False) + "".join(f"<p>{escape(note)}</p>" for note in self.notes)

    @property
    def notes(self) -> list[str]:
        """What is told under it."""
        return [f"{visible(key)} moves nothing here" for key in self.idle]


def what_if(case: Case, varied: Mapping[str, Sequence[Any]], *, decide: bool = False) -> Sweep:
    """Each combination of values of keys (`cluster.gpus`) and entries (`price:ITEM`) once, on the memo's own draws and seed.

    Values are written as in the params file; `InputError` tells of those that cannot be. With `decide` the advice is made for each.

    >>> found = what_if(case, {"price:electricity": [0.2]}, decide=True)
    >>> [row.advice.confidence for row in found.rows] == [row["class"] for row in found.records()]
    True
    """
    tried = (_row(case.tried(changes), changes, decide) for changes in combinations(varied))
    rows = [_row(case, {}, decide), *tried]
    _in_one_currency(rows)
    idle = tuple(key for key in varied if rows[1:] and _is_idle(case, key, rows, decide=decide))
    return Sweep({key: _known(case, key) for key in varied}, tuple(rows), idle)


def combinations(varied: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Each combination of the values of several keys, a value that is given twice taken once; the last key fastest."""
    once = ([value for n, value in enumerate(values) if value not in values[:n]] for values in varied.values())
    return [dict(zip(varied, values, strict=True)) for values in product(*once)]


def sweep(case: Case, key: str, values: Sequence[Any]) -> Sweep:
    """One key (`cluster.gpus`) or entry (`price:ITEM`) at each of these values.

    >>> found = sweep(case, "money.horizon_months", [36, 60])
    >>> [row.changes for row in found.rows]
    [{}, {'money.horizon_months': 36}, {'money.horizon_months': 60}]
    """
    return what_if(case, {key: values})


@dataclass(frozen=True, repr=False)
class Comparing(Shown):
    """Two cases beside each other: the headline of each; by option or offer the cost in `a`, in `b` and the difference; by id the
    inputs that differ."""

    a: WhatIf
    b: WhatIf
    costs: Mapping[str, tuple[Number, Number, Number]]
    inputs: tuple[tuple[str, str, str], ...]

    @property
    def facts(self) -> Mapping[str, str]:
        """What it shows of itself: what a says, then what b says."""
        one, other = self.a.facts, self.b.facts
        told = {head: f"{one.get(head, '')} | {other.get(head, '')}" for head in {**one, **other}}
        told |= {
            name: f"{was.text} | {now.text} | {less.show('range')}" for name, (was, now, less) in self.costs.items()
        }
        return told | {input_id: f"{was} | {now}" for input_id, was, now in self.inputs}


def compare(a: Case, b: Case) -> Comparing:
    """Two cases, or a case and a what-if of it, held against each other; of one seed outcome by outcome.

    >>> found = compare(case, case.changed(cluster__gpus=512))
    >>> all(less.spread.p95 < 0 for _, _, less in found.costs.values())
    True
    """
    one, other = (_row(case, {}, decide=False) for case in (a, b))
    _in_one_currency([one, other])
    was, now = (payable(case.inputs, case.chain.bills.totals, case.knowledge.offers) for case in (a, b))
    paired = (a.params.seed, a.inputs.draws) == (b.params.seed, b.inputs.draws)
    costs = {}
    for option in [option for option in was if option in now]:
        (name, before), (_, after) = was[option], now[option]
        less = after - before if paired else mean_of(after) - mean_of(before)
        costs[name] = amount(a.inputs, before), amount(b.inputs, after), amount(b.inputs, less)
    return Comparing(one, other, costs, tuple(_apart(a, b)))


@dataclass(frozen=True, repr=False)
class Edition(Shown):
    """A published edition, every file of it proved against its manifest: what it says of itself (`info`, `manifest`) and its ledger."""

    info: EditionInfo
    manifest: Mapping[str, Any]
    numbers: tuple[Mapping[str, Any], ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The numbers, a column each with its unit; the rows are value, P5, P50 and P95."""
        import pandas as pd

        values = ({"value": number.get("value"), **(number.get("spread") or {})} for number in self.numbers)
        heads = [f"{number['id']} [{number.get('unit') or 'text'}]" for number in self.numbers]
        return pd.DataFrame(dict(zip(heads, values, strict=True)), index=["value", "p5", "p50", "p95"])

    @property
    def facts(self) -> Mapping[str, str]:
        """What it shows of itself."""
        info = self.info
        told = {"Edition": f"{info.client}/{info.edition}", "As of": info.as_of, "Status": info.status}
        return told | headline_facts(info.headline)


def load_edition(path: str | Path) -> Edition:
    """An edition by its folder, or a client's latest by the client's; `InputError` names each file that is not as published.

    >>> edition = load_edition(published)
    >>> float(edition.frame.loc["value", "tco.difference [usd]"])
    531000.0
    """
    folder = find_edition(Path("output"), str(path))
    info = edition_info(folder).verified()
    if info.faults:
        remedy = "Move it away and build again: the same inputs give the same edition."
        raise InputError(Problem(fault, str(folder), remedy=remedy) for fault in info.faults)
    ledger = read_ledger(folder)
    return Edition(info, read_sealed(folder / MANIFEST), ledger.numbers)


# ---- one line of a table


def _row(case: Case, changes: Mapping[str, Any], decide: bool) -> WhatIf:
    given, found, offers = case.inputs, case.comparison, case.knowledge.offers
    two = rivals_of(given, case.chain.bills.totals, found, offers)
    staged = offers is None and len(stages_of(given)) > 1
    first = case.figure(f"tco.stage.price.0.{found.choice}") if staged else None
    return WhatIf(changes, two, first, case.decision().advice if decide else None)


def _is_idle(case: Case, key: str, rows: Sequence[WhatIf], *, decide: bool) -> bool:
    """Whether no value of a key moves anything, whatever the others are; where all moves with them they are tried without it."""
    others = [{k: v for k, v in row.changes.items() if k != key} for row in rows]
    alike = (rows[others.index(rest, 1)] for rest in others[1:])
    if any(row.columns != first.columns for row, first in zip(rows[1:], alike, strict=True)):
        return False
    without = _row(case.tried(others[1]), {}, decide) if others[1] else rows[0]
    return without.columns == rows[1].columns


def _known(case: Case, key: str) -> tuple[str, Any]:
    """A key or an entry with the unit of its values, and what the case has for it: a number or words."""
    record = case.record(key if key.startswith(INPUT_KINDS) else f"param:{key}")
    unit, value = record["unit"], record.get("value")
    head = f"{visible(key)} [{unit}]" if unit and unit != "text" else visible(key)
    return head, record["text"] if value is None else value


def _cell(value: Any) -> Any:
    """A value that was tried, as a cell holds it: a number, whole where it is, or text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return int(value) if float(value).is_integer() else value
    return visible(value if isinstance(value, str) else json.dumps(value, default=str, allow_nan=False), 200)


def _apart(a: Case, b: Case) -> Iterator[tuple[str, str, str]]:
    """Entries and keys that two cases have otherwise, with what each says; '' of an entry that it has not."""
    for input_id in sorted(b.inputs.apart(a.inputs)):
        told = [str(case.record(input_id)["text"]) if input_id in case.inputs.ids() else "" for case in (a, b)]
        yield input_id, told[0], told[1]
    one, other = (dict(flat_keys(c.params.model_dump(by_alias=True, exclude={"overrides"}), c.params)) for c in (a, b))
    for key in [key for key in one if one[key] != other.get(key)]:
        yield key, stated_at(a.params, key).text, stated_at(b.params, key).text


def _in_one_currency(rows: Sequence[WhatIf]) -> None:
    if len({row.compared.cost.currency for row in rows}) > 1:
        what, remedy = "amounts in two currencies cannot stand side by side", "Ask for each currency by itself."
        raise InputError(Problem(what, key="money.currency", remedy=remedy))
