"""Inputs that are stated by kind of fabric: whom each of them favours, and on whose word it stands."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.client import maturity_of
from fabricreport.vocabulary import NEITHER, Family, Grade

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
    """The inputs by fabric that the bills rest on (`reached`: ids), where both kinds of fabric are compared."""
    families = {o.family for o in given.options}
    if not {Family.INFINIBAND, Family.ROCEV2} <= families:
        return ()
    found = []
    models = {o.operating_model for o in given.options if o.family == Family.ROCEV2}
    for row in read_yaml("priors"):
        if "model" in row and row["model"] not in models:
            continue
        ids = [
            f"evidence:{row[side].format(maturity=maturity_of(given))}" if row[side] else ""
            for side in (Family.INFINIBAND, Family.ROCEV2)
        ]
        if any(i in reached for i in ids):
            found.append(_prior(given, row["what"], ids, row["better"], float(row.get("against", 0))))
    return tuple(found)


def _prior(given: Inputs, what: str, ids: list[str], better: str, against: float) -> Prior:
    infiniband, rocev2 = (float(np.mean(plain(given.own(i)))) if i else against for i in ids)
    gap = (rocev2 - infiniband) * (1 if better == "less" else -1)
    same = all(ids) and len({given.record(i)["text"] for i in ids}) == 1
    level = same or abs(gap) <= ALIKE * max(abs(infiniband), abs(rocev2))
    side = NEITHER if level else Family.INFINIBAND if gap > 0 else Family.ROCEV2
    records = [given.record(i) for i in ids if i]
    assumed = all(r["grade"] == Grade.ASSUMPTION for r in records)
    words = dict.fromkeys(
        "this memo" if r["grade"] == Grade.ASSUMPTION else r["publisher"] or r["source"] for r in records
    )
    return Prior(what, ids[0], ids[1], side, " and ".join(words), assumed)
