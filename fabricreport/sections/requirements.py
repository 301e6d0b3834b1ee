"""Every price and evidence entry a case will ask for, who asks, and what is wrong with the ones that cannot answer.

A reference of the params, of an option or of the client's kind of server is looked up before anything is drawn: the id
must be known, hold a number, have a unit that serves, lie within what the key allows, and convert into the memo's
currency. What the analyses ask of the shipped library by name is `check.examination`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from fabricreport.base.bounds import Bound
from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean, dotted
from fabricreport.books.equipment import UNITS
from fabricreport.books.options import MONEY, WATTS, WORDS, Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.replacements import InForce, followed
from fabricreport.scenario import Override, Reference
from fabricreport.scenario.uncertain import Bounds
from fabricreport.sections.client import behaviour_ids, gpu_type
from fabricreport.sections.rents import listing
from fabricreport.sections.tco.inputs import utilities

ANYTHING = Bounds()
RENT = ("usd/gpu-hour",)
_OF_A_GPU: Mapping[str, tuple[str, ...]] = {
    "price": MONEY,
    "watts": WATTS,
    "adapter_price": MONEY,
    "adapter_watts": WATTS,
    "rent": RENT,
    "total": ("gbits/s",),
    "efficiency": ("share",),
}
"""The units that can serve each reference of a GPU type."""
_FX = "price:fx-"


@dataclass(frozen=True)
class Asked:
    """An input somebody asks for: its id, the key that asks (with the file and line if it is not the params'), what
    may answer: one of `units` (any if empty) and a value within `within`. `what` names the asker in words where the id
    is not the params' own but the package's.
    """

    input_id: str
    key: str
    file: str = ""
    line: int | None = None
    units: tuple[str, ...] = ()
    within: Bounds = ANYTHING
    what: str = ""

    def problem(self, message: str, remedy: str, suggestion: str = "") -> Problem:
        """A fault at the key that asks."""
        if self.what:
            message = f"{self.what} needs {self.input_id}, which {message}"
        return Problem(message, self.file, self.line, self.key, "" if self.what else self.input_id, remedy, suggestion)


def asked_inputs(given: Inputs) -> tuple[Asked, ...]:
    """Every price and evidence id that the params, the options, the server, the site and the sellers named call for."""
    found = [*_of_params(given.params, ())]
    for option in given.options:
        key = given.option_key(option.id)
        found += [*_of_option(given.all_options[option.id], key), *_of_behaviour(given, option, key)]
    needs = gpu_type(given).references
    gpu = f"a server of this GPU ({given.params.cluster.gpu})"
    found += [Asked(needs[k], "cluster.gpu", units=u, what=gpu) for k, u in _OF_A_GPU.items()]
    found += [Asked(i, "money.acquisition", what="the running cost of the site") for i in utilities(given)]
    named = {p.name: f"providers[{n}].name" for n, p in enumerate(given.params.providers)}
    listed = listing(given)
    found += [
        Asked(price, named.get(o.seller, "providers"), what="its newest price")
        for o in (*listed.ranked, *listed.apart)
        for price in o.prices
    ]
    found += [Asked(price, o.key, o.file, what="the offer") for o in given.offers for price in o.prices]
    return tuple(found)


def unanswered(given: Inputs) -> tuple[Problem, ...]:
    """Every fault of a reference, once for each place that a person can mend."""
    found = [*_of_overrides(given)]
    replaced = frozenset(given.overrides) if found else frozenset()
    told: set[str] = set()
    for asked in asked_inputs(given):
        faults = _fault(given, asked, replaced) if asked.input_id not in told or not asked.what else []
        told |= {asked.input_id} if faults and asked.what else set()
        found += faults
    if not found:  # a rate is only looked for once every price is known
        found += _of_currencies(given)
    return (
        *found,
        *(p for option in _not_compared(given) for a in _of_option(option, "") for p in _misspelt(given, a)),
    )


# ---- who asks


def _of_params(model: BaseModel, path: tuple[str | int, ...]) -> Iterator[Asked]:
    """Every reference in the params, however deep, but those of overrides: what they replace decides their unit."""
    for name, field in model.__class__.model_fields.items():
        here, value = (*path, field.alias or name), getattr(model, name)
        items: tuple[Any, ...] = value if isinstance(value, tuple) else ()
        for number, item in enumerate(items):
            if isinstance(item, BaseModel) and not isinstance(item, Override):
                yield from _of_params(item, (*here, number))
        if isinstance(value, BaseModel):
            yield from _of_params(value, here)
        elif isinstance(value, Reference):
            bounds = next((m for m in field.metadata if isinstance(m, Bounds)), ANYTHING)
            yield Asked(str(value), dotted(here), units=bounds.units, within=bounds)


def _of_option(option: Option, key: str) -> Iterator[Asked]:
    for need in (*option.needs, *option.sayings):
        if option.shipped:
            yield Asked(need.ref, key, units=need.units, what=option.id)
        else:
            line = option.lines.get(need.path)
            yield Asked(need.ref, f"{option.id}.{dotted(need.path)}", option.file, line, need.units)


def _of_behaviour(given: Inputs, option: Option, key: str) -> Iterator[Asked]:
    """What a family and an option say of behaviour; contested quantities are the package's own."""
    for role, input_id in behaviour_ids(given, option).items():
        if input_id.startswith("contested:"):
            continue
        if option.shipped:
            yield Asked(input_id, key, units=UNITS[role], what=option.id)
        else:
            yield Asked(input_id, f"{option.id}.behaviour.{role}", option.file, units=UNITS[role])


def _not_compared(given: Inputs) -> list[Option]:
    compared = {o.id for o in given.options}
    return [o for o in given.all_options.values() if o.id not in compared and not o.shipped]


def _of_overrides(given: Inputs) -> Iterator[Problem]:
    """Overrides of what no book holds or of words, and references in their values that cannot replace the entry."""
    for number, override in enumerate(given.params.overrides):
        replaced = Asked(override.id, f"overrides[{number}].id")
        faults = _fault(given, replaced)
        if not faults and isinstance(override.value, Reference):
            value = Asked(str(override.value), f"overrides[{number}].value")
            faults = _fault(given, value) or [*_unlike(given, override.id, value)]
        yield from faults


def _unlike(given: Inputs, replaced: str, value: Asked) -> Iterator[Problem]:
    wanted, found = (given.record(one)["unit"] for one in (replaced, value.input_id))
    if wanted != found:
        yield value.problem(f"is in {found}, but {replaced} is in {wanted}", "Write the figure itself, in that unit.")
        return
    try:
        followed(replaced, {o.id: o for o in given.params.overrides})
    except InputError as error:
        yield replace(error.problems[0], key=value.key, value=value.input_id, remedy="Write the figure in one of them.")


# ---- what is wrong


def _fault(given: Inputs, asked: Asked, unsettled: frozenset[str] = frozenset()) -> list[Problem]:
    """The first thing wrong with an input asked for; none if it can answer. The value of one `unsettled` is not read."""
    try:
        found = given.in_force(asked.input_id)
    except (LookupError, InputError):
        if faults := list(_unknown(given, asked)):
            return faults
        raise
    if asked.units == WORDS:
        return []
    if isinstance(found.value, str):
        return [asked.problem("is a fact in words, where a number is needed", "Name an entry that holds a number.")]
    if asked.units and found.unit not in asked.units:
        needed = " or ".join(asked.units)
        return [asked.problem(f"is in {found.unit}, where {needed} is needed", f"Name an entry in {needed}.")]
    bound = None if asked.input_id in unsettled else asked.within.bound
    return [*_out_of_bounds(given, asked, found, bound)] if bound else []


def _misspelt(given: Inputs, asked: Asked) -> Iterator[Problem]:
    """The id of an option that is not compared here: it may lack a price on this day, but must be one."""
    kind, _, name = asked.input_id.partition(":")
    if kind == "evidence" or given.price_book.terms(name) is None:
        yield from _unknown(given, asked)


def _unknown(given: Inputs, asked: Asked) -> Iterator[Problem]:
    kind, _, name = asked.input_id.partition(":")
    if kind == "evidence":
        if name not in given.evidence:
            close = did_you_mean(name, given.evidence)
            remedy = "`fabricreport evidence` lists the ids; add your own to params/evidence."
            yield asked.problem("is the id of no evidence", remedy, close and f"evidence:{close}")
        return
    if kind == "contested":
        if name not in given.quantities:
            close = did_you_mean(name, given.quantities)
            remedy = f"Known: {', '.join(given.quantities)}."
            yield asked.problem("is no contested quantity", remedy, close and f"contested:{close}")
        return
    if name in given.prices:
        return
    dates = sorted(r.date for r in (*given.price_book.rows, *given.price_book.shipped) if r.item == name)
    held = [h for h in given.price_book.quarantine if h.item == name]
    if dates and dates[0] > given.as_of:
        remedy = "Date the memo later, add a row of that day to a CSV in params/prices, or override it."
        early = asked.problem(f"has no price on {given.as_of}; its first is of {dates[0]}", remedy)
        # Where the package itself asks (a shipped option, a server), no key of the params but the date is at fault.
        yield replace(early, key="as_of", value="") if asked.what else early
    elif held:
        remedy = f"Mend {held[-1].file}:{held[-1].line}, or state the price under `overrides`."
        if given.price_book.terms(name) is None:
            remedy = f"Mend {held[-1].file}:{held[-1].line}; until its unit and currency can be read, no override can stand in."
        yield asked.problem(f"has no row that can be used: {held[-1].message}", remedy)
    else:
        close = did_you_mean(name, given.prices)
        remedy = "`fabricreport prices show` lists the ids; add a dated row of your own to a CSV in params/prices."
        yield asked.problem("is the id of no price", remedy, close and f"price:{close}")


def _out_of_bounds(given: Inputs, asked: Asked, found: InForce, bound: Bound) -> Iterator[Problem]:
    factor = _usd_per_own(given, found)
    low, high = found.figure.low * factor, found.figure.high * factor
    if fault := bound.fault({"low": low, "high": high} if low != high else low):
        span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        message = f"is {span} {found.unit}: {fault}"
        yield asked.problem(message, "Name another entry, or write the figure itself.")


def _of_currencies(given: Inputs) -> Iterator[Problem]:
    """Exchange rates the memo needs and nobody states: one problem for each, at the key that makes it needed."""
    target = str(given.params.money.currency)
    told: set[str] = set()
    overridden = [(o.id, f"overrides[{n}].id") for n, o in enumerate(given.params.overrides)]
    asked = [Asked("", "money.currency"), *asked_inputs(given), *(Asked(i, key) for i, key in overridden)]
    for one in asked:
        if one.input_id and not one.input_id.startswith("price:"):
            continue
        own = given.prices[one.input_id[6:]].currency if one.input_id else "USD"
        try:
            given.prices.rate(own, target)
        except InputError as error:
            fault = error.problems[0]
            if fault.key not in told:
                yield replace(fault, key=one.key, file=one.file, line=one.line)
            told.add(fault.key)


def _usd_per_own(given: Inputs, found: InForce) -> float:
    """Dollars for a unit of a price's currency: the params' own amounts are in dollars. 1 where no rate is known."""
    if found.id.startswith(_FX):
        return 1.0
    try:
        return given.prices.rate(found.currency or "USD", "USD").rate
    except InputError:
        return 1.0


def prices_asked(given: Inputs) -> tuple[str, ...]:
    """The ids of the prices asked for, exchange rates among them."""
    ids = [a.input_id for a in asked_inputs(given)] + [r for p in _priced(given) for r in _rates(given, p)]
    return tuple(dict.fromkeys(i for i in ids if i.startswith("price:")))


def stood_in(given: Inputs) -> Mapping[str, str]:
    """The price ids asked for that the client's files do not hold, each with what stands in, in words."""
    found = {}
    for input_id in prices_asked(given):
        price = given.prices[input_id[6:]]
        if price.stand_in:
            found[input_id] = f"{price.price:,.10g} {price.currency} of {price.date}"
    return found


def _priced(given: Inputs) -> Iterator[str]:
    yield "USD"
    yield from (given.prices[a.input_id[6:]].currency for a in asked_inputs(given) if a.input_id.startswith("price:"))


def _rates(given: Inputs, currency: str) -> tuple[str, ...]:
    return given.prices.rate(currency, str(given.params.money.currency)).inputs
