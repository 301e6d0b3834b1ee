"""Inputs that are stated by kind of fabric: whom each of them favours, and on whose word it stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from string import Formatter
from typing import Any

import numpy as np

from fabricreport.books.options import Licence, Option
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of
from fabricreport.sections.client import estate_entry
from fabricreport.sections.decision.turning import Search
from fabricreport.sections.tco.licences import above_gpus
from fabricreport.uncertain import Uncertain, exactly
from fabricreport.vocabulary import NEITHER, Grade, Side

ALIKE = 0.01
"""Two means that differ by less than this share of the larger favour neither."""


@dataclass(frozen=True)
class Prior:
    """One input by fabric: what it is, the entries ('' where a fabric has none), the side it favours, and on whose word.

    `against`: what a fabric without an entry has in its place. `of_client`: it follows from what the client runs.
    """

    what: str
    infiniband: str
    rocev2: str
    favours: str
    word: str
    against: float = 0.0
    of_client: bool = False


def priors_of(given: Inputs, reached: Collection[str], pair: Collection[str]) -> tuple[Prior, ...]:
    """The inputs by fabric that the bills rest on (`reached`: ids) and that favour one of the `pair` of options compared.

    None where these are not of both kinds of fabric.
    """
    ours = next((o for o in given.options if o.id in pair and o.side == Side.INFINIBAND), None)
    theirs = next((o for o in given.options if o.id in pair and o.side == Side.ROCEV2), None)
    if ours is None or theirs is None:
        return ()
    found = []
    for row in read_yaml("priors"):
        if theirs.operating_model not in row.get("model", (theirs.operating_model,)) or (
            row.get("owner") and given.team.rented
        ):
            continue
        ids = (_entry(given, row[Side.INFINIBAND], ours), _entry(given, row[Side.ROCEV2], theirs))
        if ids[0] != ids[1] and any(i in reached for i in ids):
            found.append(_prior(given, row, ids))
    return tuple(prior for prior in found if prior.favours != NEITHER)


def _entry(given: Inputs, template: str | None, option: Option) -> str:
    """The input that a row means of an option; '' where it has none."""
    said = {
        **asdict(option.behaviour),
        "maturity": given.team.maturity,
        "training": option.training,
        "estate": estate_entry(given, option),
        "licence": _in_bill(given, option.licence, given.params.money.manager_licence),
        "system": _in_bill(given, option.operating_system, given.params.money.switch_system_licence),
    }
    asked = [name for _, name, *_ in Formatter().parse(template or "") if name]
    if not template or not all(said[name] for name in asked):
        return ""
    name = template.format(**said)
    return name if ":" in name else f"evidence:{name}"


def _in_bill(given: Inputs, licence: Licence | None, charge: str) -> str:
    """The price of a licence that is in the bill at the last size; '' of one that is not."""
    above = above_gpus(given, licence, charge)
    return licence.per_year if licence and np.any(above < given.params.cluster.final_gpus) else ""


def _prior(given: Inputs, row: Mapping[str, Any], ids: tuple[str, str]) -> Prior:
    against = float(row.get("against", 0))
    infiniband, rocev2 = (mean_of(given.own(i)) if i else against for i in ids)
    gap = (rocev2 - infiniband) * (1 if row["better"] == "less" else -1)
    same = all(ids) and (
        len({given.record(i)["text"] for i in ids}) == 1 or len({given.figure(i).text for i in ids}) == 1
    )
    level = same or abs(gap) <= ALIKE * max(abs(infiniband), abs(rocev2))
    side = NEITHER if level else Side.INFINIBAND if gap > 0 else Side.ROCEV2
    records = [given.record(i) for i in ids if i]
    words = dict.fromkeys(
        "this memo" if r["grade"] == Grade.ASSUMPTION else r["publisher"] or r["source"] for r in records
    )
    return Prior(row["what"], *ids, side, " and ".join(words), against, bool(row.get("client")))


def equal_priors(search: Search) -> tuple[Prior, ...]:
    """The inputs by kind that equal treatment sets alike: neither prices, which are what is sold, nor what the client runs."""
    given, pair = search.base.given, (search.comparison.choice, search.comparison.rival)
    return tuple(p for p in priors_of(given, search.base.reached_by, pair) if not p.of_client and not _priced(given, p))


def leads_with(search: Search, priors: Sequence[Prior]) -> tuple[float, float]:
    """The mean lead of the choice, the model run again with these priors of both fabrics as one has it, then as the other.

    An input that one fabric alone has is none for both.
    """
    given, (choice, rival) = search.base.given, (search.comparison.choice, search.comparison.rival)

    def lead(*, as_first: bool) -> float:
        same: dict[str, Uncertain] = {}
        for prior in priors:
            source, other = (prior.infiniband, prior.rocev2) if as_first else (prior.rocev2, prior.infiniband)
            if source and other:
                same[other] = given.uncertain(source)
            else:
                same[source or other] = exactly(prior.against)
        return mean_of(search.fast.replacing(same).bills.gap(rival, choice))

    return lead(as_first=True), lead(as_first=False)


def lead_with_equal_priors(search: Search) -> float | None:
    """The lower lead with every such prior alike; None where the two compared have none of their own."""
    found = equal_priors(search)
    return min(leads_with(search, found)) if found else None


def _priced(given: Inputs, prior: Prior) -> bool:
    return str(given.record(prior.infiniband or prior.rocev2)["unit"]).startswith("usd")
