"""What programs and notebooks of one's own may call: cases, what-ifs of them, editions. The commands are thin layers on it.

>>> case = open_case("params/example.yaml")
>>> table = what_if(case, {"cluster.gpus": [512, 2048]}).frame
>>> list(table["cluster.gpus [gpus]"])
[1024, 512, 2048]
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.formats import unit_in
from fabricreport.base.provenance import mean_of
from fabricreport.base.text import Shown, csv_text, html_table, visible
from fabricreport.case import Case, open_case
from fabricreport.ledger.numbers import INPUT_KINDS, Number
from fabricreport.memo.build import build
from fabricreport.memo.editions.editions import EditionInfo, edition_info
from fabricreport.memo.editions.explanation import find_edition, read_ledger
from fabricreport.memo.editions.manifest import MANIFEST, read_sealed
from fabricreport.memo.editions.refresh import refresh
from fabricreport.scenario import flat_keys, stated_at
from fabricreport.sections.client import stages_of
from fabricreport.sections.decision.advice import Advice, Compared, compared, payable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Case", "Comparing", "Edition", "Sweep", "WhatIf", "build", "compare", "load_edition", "open_case", "refresh", "sweep", "what_if"]  # fmt: skip
MOST = 1_000
"""What-ifs that one table may hold."""


@dataclass(frozen=True, repr=False)
class WhatIf(Shown):
    """A case in one line: what was changed in it (nothing: the memo's own), the two that its headline compares, what the first
    stage costs of a plan in stages, and the advice where that was asked for.

    >>> row = what_if(case, {"price:electricity": [0.12]}).rows[1]
    >>> row.changes, row.compared.cost.value > row.compared.lead.value
    ({'price:electricity': 0.12}, True)
    """

    changes: Mapping[str, Any]
    compared: Compared
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
        cost, dearer, lead = (n and n.value for n in (two.cost, two.rival_cost, two.lead))
        spread = two.lead and two.lead.spread
        told: dict[str, Any] = {"cost": cost, "rival cost": dearer, "difference": lead}
        told |= {"difference P5": spread.p5 if spread else None, "difference P95": spread.p95 if spread else None}
        told |= {"first order": first.value} if first else {}
        money = unit_in("usd", two.cost.currency)
        sides = {"choice": two.choice, "rival": two.rival, "side": two.side}
        more = {"action": advice.action, "class": advice.confidence} if advice else {}
        return {**sides, **{f"{name} [{money}]": value for name, value in told.items()}, **more}


@dataclass(frozen=True, repr=False)
class Sweep(Shown):
    """What-ifs of one case as a table: its own row first, then one for each combination of the values, the last key fastest.

    >>> found = sweep(case, "price:switch-sn5610", [40_000, 60_000])
    >>> found.frame.shape, found.unmoved()
    ((3, 9), ())
    """

    case: Case = field(compare=False)
    varied: Mapping[str, tuple[Any, ...]]
    rows: tuple[WhatIf, ...]

    def records(self) -> list[dict[str, Any]]:
        """A row for each what-if by column, units in their names, and figures whole."""
        own, heads = ({key: of(self.case, key) for key in self.varied} for of in (_own_value, _head))
        values = [{**own, **{key: _cell(value) for key, value in row.changes.items()}} for row in self.rows]
        keyed = ({heads[key]: value for key, value in line.items()} for line in values)
        return [{**line, **row.columns} for line, row in zip(keyed, self.rows, strict=True)]

    @property
    def frame(self) -> pd.DataFrame:
        """The same as a table; its index numbers the what-ifs, 0 being the memo's own case."""
        import pandas as pd

        return pd.DataFrame(self.records()).rename_axis(index="what-if")

    def as_csv(self) -> str:
        """The same as CSV; no text in it can be read as a formula."""
        rows = [{"what-if": n, **row} for n, row in enumerate(self.records())]
        return csv_text([list(rows[0]), *(list(row.values()) for row in rows)])

    @property
    def lines(self) -> list[list[str]]:
        """The same for a reader, heads first, figures as a memo writes them."""
        told = [{**{key: _own_value(self.case, key) for key in self.varied}, **row.facts} for row in self.rows]
        heads = list(dict.fromkeys(head for facts in told for head in facts))
        return [heads, *([visible(facts.get(head, ""), 200) for head in heads] for facts in told)]

    def unmoved(self) -> tuple[str, ...]:
        """The keys and entries whose values, each set alone, move no total and no verdict."""
        own = _standing(self.case)

        def moves(key: str) -> bool:
            return any(_standing(self.case.tried({key: value})) != own for value in self.varied[key])

        return tuple(key for key in self.varied if not moves(key))

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.lines, strict=True)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in self.lines)
        return "\n".join(map(str.rstrip, lines))

    def _repr_html_(self) -> str:
        return html_table(self.lines[1:], self.lines[0])


def what_if(
    case: Case,
    varied: Mapping[str, Sequence[Any]],
    *,
    decide: bool = False,
    tell: Callable[[int, float], None] = lambda count, seconds: None,
) -> Sweep:
    """Each combination of values of keys (`cluster.gpus`) and entries (`price:ITEM`), on the memo's own draws and seed.

    Values are written as in the params file. With `decide` the whole advice is made for each; `tell` is handed the number of
    what-ifs and the seconds that the advice took on the case itself, before any is made. `InputError` tells of values that cannot be.

    >>> found = what_if(case, {"price:electricity": [0.2]}, decide=True)
    >>> [row.advice.confidence for row in found.rows] == [row["class"] for row in found.records()]
    True
    """
    if not varied or not all(varied.values()):
        raise InputError(Problem("no value is given", key=", ".join(map(visible, varied)), remedy="Give one or more."))
    if (count := prod(len(values) for values in varied.values())) > MOST:
        raise InputError(Problem(f"is {count:,} what-ifs, and a table holds {MOST:,}", remedy="Give fewer values."))
    rows = [_row(case, {}, decide=False)]
    begun = time.perf_counter()
    if decide:
        rows = [_row(case, {}, decide)]
        tell(count, time.perf_counter() - begun)
    for values in product(*varied.values()):
        changes = dict(zip(varied, values, strict=True))
        rows.append(_row(case.tried(changes), changes, decide))
    _in_one_currency(rows)
    return Sweep(case, {key: tuple(values) for key, values in varied.items()}, tuple(rows))


def sweep(case: Case, key: str, values: Sequence[Any]) -> Sweep:
    """One key (`cluster.gpus`) or entry (`price:ITEM`) at each of these values.

    >>> found = sweep(case, "money.horizon_months", [36, 60])
    >>> [row.changes for row in found.rows]
    [{}, {'money.horizon_months': 36}, {'money.horizon_months': 60}]
    """
    return what_if(case, {key: values})


@dataclass(frozen=True, repr=False)
class Comparing(Shown):
    """Two cases beside each other: the headline of each, what each option that is in both costs and by how much that
    differs, and the inputs that differ, each by id with what either says.

    >>> found = compare(case, case.changed(prices={"electricity": 0.12}))
    >>> found.inputs[0][0], found.a.compared.side == found.b.compared.side
    ('price:electricity', True)
    """

    a: WhatIf
    b: WhatIf
    costs: Mapping[str, tuple[Number, Number, Number]]
    inputs: tuple[tuple[str, str, str], ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The costs of both: a row for each option, or of renters for each offer, by its name."""
        import pandas as pd

        money, rows = unit_in("usd", self.a.compared.cost.currency), {}
        for name, numbers in self.costs.items():
            spread = numbers[2].spread
            ends = (spread.p5, spread.p95) if spread else (None, None)
            rows[name] = [*(n.value for n in numbers), *ends]
        heads = [f"{name} [{money}]" for name in ("cost in a", "cost in b", "b less a", "b less a P5", "b less a P95")]
        return pd.DataFrame.from_dict(rows, orient="index", columns=heads).rename_axis(index="option")

    @property
    def facts(self) -> Mapping[str, str]:
        """What it shows of itself: what a says, then what b says."""
        one, other = self.a.facts, self.b.facts
        told = {head: f"{one.get(head, '')} | {other.get(head, '')}" for head in {**one, **other}}
        return told | {input_id: f"{was} | {now}" for input_id, was, now in self.inputs}


def compare(a: Case, b: Case) -> Comparing:
    """Two cases, or a case and a what-if of it, held against each other; of one seed outcome by outcome.

    >>> bool(compare(case, case.changed(cluster__gpus=512)).frame["b less a [usd]"].max() < 0)
    True
    """
    one, other = (_row(case, {}, decide=False) for case in (a, b))
    _in_one_currency([one, other])
    was, now = (payable(case.inputs, case.chain.bills.totals, case.knowledge.offers) for case in (a, b))
    paired = (a.params.seed, a.inputs.draws) == (b.params.seed, b.inputs.draws)
    costs = {}
    for option in [option for option in was if option in now]:
        (name, before), (_, after) = was[option], now[option]
        apart = after - before if paired else mean_of(after) - mean_of(before)
        costs[name] = _amount(a, before), _amount(b, after), _amount(b, apart)
    return Comparing(one, other, costs, tuple(_apart(a, b)))


@dataclass(frozen=True, repr=False)
class Edition(Shown):
    """A published edition, every file of it proved against its manifest: `ledger` has a row for each number.

    >>> edition.info.status, edition.headline["recommendation"]
    ('Client copy', 'Buy A')
    """

    info: EditionInfo
    manifest: Mapping[str, Any]
    numbers: tuple[Mapping[str, Any], ...]

    @property
    def headline(self) -> Mapping[str, Any]:
        """What is advised, in keys, with the figures that answer the client's question."""
        return self.info.headline

    @property
    def ledger(self) -> pd.DataFrame:
        """The numbers, a row each by id: value, range and unit, and what each is made of."""
        import pandas as pd

        rows = [{**number, **(number.get("spread") or {})} for number in self.numbers]
        heads = [
            "id",
            "value",
            "unit",
            "p5",
            "p50",
            "p95",
            "text",
            "label",
            "grade",
            "rule",
            "inputs",
            "stale",
            "assumed",
        ]
        return pd.DataFrame(rows).reindex(columns=heads).set_index("id")

    @property
    def frame(self) -> pd.DataFrame:
        """The numbers in one row, a column each with its unit: rows of several editions make a history."""
        import pandas as pd

        heads = [f"{n['id']} [{n['unit']}]" if n.get("unit") else n["id"] for n in self.numbers]
        row = [n.get("value") for n in self.numbers]
        return pd.DataFrame([row], columns=heads, index=pd.Index([self.info.edition], name="edition"))

    @property
    def facts(self) -> Mapping[str, str]:
        """What it shows of itself."""
        head, info = self.headline, self.info
        told = {"Edition": f"{info.client}/{info.edition}", "As of": info.as_of, "Status": info.status}
        told |= {"Advice": head.get("recommendation", ""), "Class": head.get("confidence", "")}
        return told | {number["label"]: number["text"] for number in head.get("numbers", ())}


def load_edition(path: str | Path) -> Edition:
    """An edition by its folder, or a client's latest by the client's; `InputError` names each file that is not as published.

    >>> edition = load_edition(published)
    >>> list(edition.frame.columns), edition.ledger.loc["tco.difference", "text"]
    (['tco.difference [usd]'], '$531k')
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
    two = compared(given, case.chain.bills.totals, found, offers)
    staged = offers is None and len(stages_of(given)) > 1
    first = case.figure(f"tco.stage.price.0.{found.choice}") if staged else None
    return WhatIf(changes, two, first, case.decision().advice if decide else None)


def _amount(case: Case, value: Any) -> Number:
    return case.inputs.number("api.amount", value, "usd", label="", rule="", central="mean")


def _head(case: Case, key: str) -> str:
    """A key with the unit of its values."""
    unit = case.record(key)["unit"] if key.startswith(INPUT_KINDS) else stated_at(case.params, key).unit
    return f"{visible(key)} [{unit}]" if unit and unit != "text" else visible(key)


def _own_value(case: Case, key: str) -> Any:
    """What a case has for a key or an entry: a number or words."""
    if key.startswith(INPUT_KINDS):
        record = case.record(key)
        return record["text"] if record.get("value") is None else record["value"]
    stated = stated_at(case.params, key)
    return stated.value if isinstance(stated.value, int | float | str) else stated.text


def _cell(value: Any) -> Any:
    """A value that was tried, as a cell holds it: a number, or text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return visible(value if isinstance(value, str) else json.dumps(value, default=str, allow_nan=False), 200)


def _standing(case: Case) -> tuple[Any, ...]:
    """What a case's headline rests on: every total, the offers' among them, and the verdict."""
    known = payable(case.inputs, case.chain.bills.totals, case.knowledge.offers)
    return case.comparison.verdict, {i: (name, mean_of(total)) for i, (name, total) in known.items()}


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
