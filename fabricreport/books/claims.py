"""The claims of the articles a buyer reads: what each says, with the inputs it gives, as data.

The file is read strictly. What a claim comes to when its own inputs are worked through, and so whether it
holds, is not typed in: `fabricreport.models.audit.claims.audit` computes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabricreport.books.units import unit_problem
from fabricreport.claim import Claim
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT
from fabricreport.located import Located, did_you_mean
from fabricreport.strict_yaml import load_strict

CLAIMS = ROOT / "claims.yaml"
KINDS = ("numeric", "recommendation", "statement", "check")
"""A check is ours: a claim's figures held against another base or another article's claim."""
VERDICTS = (
    "reproduces",
    "reproduces with a caveat",
    "contradicted",
    "out of date",
    "unsupported",
    "cannot be checked",
)
COMPARISONS = ("equal", "within", "overlap", "at-most", "at-least")
_REQUIRED = ("id", "source", "kind", "claim", "about", "stated")
_OPTIONAL = (
    *("unit", "inputs", "method", "compare", "tolerance", "caveat"),
    *("verdict", "by", "against", "note", "aged"),
)
_SOURCE_KEYS = ("title", "publisher", "interest", "date", "read")


@dataclass(frozen=True)
class ClaimSource:
    """One article: its title, who published it, when, what the publisher sells, and the day it was read."""

    id: str
    title: str
    publisher: str
    interest: str
    date: str
    read: str


class ClaimBook(Mapping[str, Claim]):
    """Every claim by id, and the articles they come from."""

    def __init__(self, sources: Mapping[str, ClaimSource], claims: tuple[Claim, ...]) -> None:
        self.sources = sources
        self._claims = {claim.id: claim for claim in claims}

    def __getitem__(self, key: str) -> Claim:
        return self._claims[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._claims)

    def __len__(self) -> int:
        return len(self._claims)

    def of(self, source: str) -> tuple[Claim, ...]:
        """The claims of one article, such as "S3"."""
        return tuple(claim for claim in self.values() if claim.source == source)


@lru_cache(maxsize=1)
def read_claims(path: Path = CLAIMS) -> ClaimBook:
    """The claims file; `InputError` with every fault found."""
    tree = load_strict(path, max_nodes=50_000)
    problems: list[Problem] = []
    if not isinstance(tree.data, dict) or set(tree.data) != {"sources", "claims"}:
        raise InputError(tree.problem((), "must have exactly the keys `sources` and `claims`"))
    sources = {
        key: ClaimSource(key, **{k: str(v.get(k, "")) for k in _SOURCE_KEYS}) for key, v in tree.data["sources"].items()
    }
    claims = [_read_claim(tree, index, problems) for index in range(len(tree.data["claims"]))]
    book = ClaimBook(sources, tuple(claim for claim in claims if claim is not None))
    _check_across(tree, book, problems)
    if problems:
        raise InputError(problems)
    return book


def claim_record(name: str) -> dict[str, Any]:
    """A claim as the source list and the ledger print an input: value, unit, source, grade and so on."""
    book = read_claims()
    if name not in book:
        raise InputError(Problem("no claim has this id", value=name, suggestion=did_you_mean(name, book)))
    claim = book[name]
    source = book.sources[claim.source]
    return {
        "id": f"claim:{claim.id}",
        "kind": "claim",
        "label": claim.claim,
        "value": list(claim.stated) if isinstance(claim.stated, tuple) else claim.stated,
        "text": claim.stated if isinstance(claim.stated, str) else "",
        "unit": claim.unit,
        "date": source.date,
        "source": source.title,
        "publisher": source.publisher,
        "address": "",
        "read": source.read,
        "grade": "secondary",
        "seen": "A",
        "interest": source.interest,
        "use": f"audited: {claim.about}",
        "expiry": "",
        "stale": False,
        "override": None,
    }


def _read_claim(tree: Located, index: int, problems: list[Problem]) -> Claim | None:
    at: tuple[str | int, ...] = ("claims", index)
    raw = tree.data["claims"][index]
    if not isinstance(raw, dict):
        problems.append(tree.problem(at, "must be a claim with keys", value=raw))
        return None
    found: list[Problem] = []
    known = (*_REQUIRED, *_OPTIONAL)
    for key in raw:
        if key not in known:
            found.append(tree.problem((*at, key), "is not a key of a claim", suggestion=did_you_mean(key, known)))
    for key in _REQUIRED:
        if raw.get(key) in (None, ""):
            found.append(tree.problem(at, f"has no `{key}`", value=raw.get("id", "")))
    if not found:
        found.extend(_fault(tree, at, raw))
    problems.extend(found)
    if found:
        return None
    stated = _amount(raw["stated"])
    return Claim(
        id=raw["id"],
        source=raw["source"],
        kind=raw["kind"],
        claim=raw["claim"],
        about=raw["about"],
        stated=stated,
        unit=raw.get("unit", "text"),
        inputs={key: _amount(value) for key, value in raw.get("inputs", {}).items()},
        method=raw.get("method", ""),
        compare=raw.get("compare", "equal"),
        tolerance=float(raw.get("tolerance", 0.0)),
        caveat=raw.get("caveat", ""),
        verdict=raw.get("verdict", ""),
        by=tuple(raw.get("by", ())),
        against=tuple(raw.get("against", ())),
        note=raw.get("note", ""),
        aged=raw.get("aged", False),
        line=tree.line_of(at),
    )


def _amount(value: Any) -> Any:
    if isinstance(value, dict):
        return (float(value["low"]), float(value["high"]))
    return value if isinstance(value, str) else float(value)


def _fault(tree: Located, at: tuple[str | int, ...], raw: dict[str, Any]) -> list[Problem]:
    found: list[Problem] = []

    def fault(key: str, message: str, words: tuple[str, ...] = ()) -> None:
        value = raw.get(key, "")
        where = (*at, key) if key in raw else at
        found.append(tree.problem(where, message, value=value, suggestion=did_you_mean(value, words)))

    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(raw["id"])):
        fault("id", "must be lower-case words joined by hyphens")
    for key, words in (("kind", KINDS), ("verdict", VERDICTS), ("compare", COMPARISONS)):
        if key in raw and raw[key] not in words:
            fault(key, f"must be one of {', '.join(words)}", words)
    amounts = {"stated": raw["stated"], **{f"inputs.{k}": v for k, v in raw.get("inputs", {}).items()}}
    for name, value in amounts.items():
        if isinstance(value, dict) and (set(value) != {"low", "high"} or value["low"] > value["high"]):
            fault(name.partition(".")[0], f"{name} must be a number, a text or {{low, high}}")
    computed = "method" in raw and not isinstance(raw["stated"], str)
    if computed and "verdict" in raw:
        fault("verdict", "is computed for this claim and may not be typed in")
    if not computed and "verdict" not in raw:
        fault("verdict", "is needed: there is no number and method to compute it from")
    if not isinstance(raw["stated"], str):
        wrong = unit_problem(str(raw.get("unit", "")))
        if wrong:
            fault("unit", f"{wrong[0]}; perhaps {wrong[1]}" if wrong[1] else wrong[0])
    if ("inputs" in raw) != ("method" in raw):
        fault("method", "inputs and method belong together")
    if raw.get("aged", False) not in (True, False):
        fault("aged", "must be true or false")
    for key in ("by", "against"):
        if not isinstance(raw.get(key, []), list):
            fault(key, "must be a list")
    return found


def _check_across(tree: Located, book: ClaimBook, problems: list[Problem]) -> None:
    if len(book) + len(problems) < len(tree.data["claims"]):
        seen: set[str] = set()
        for index, raw in enumerate(tree.data["claims"]):
            if raw.get("id") in seen:
                problems.append(tree.problem(("claims", index, "id"), "is given twice", value=raw["id"]))
            seen.add(raw.get("id"))
    for claim in book.values():
        if claim.source not in book.sources:
            problems.append(Problem("is not a source", tree.file, claim.line, claim.id, claim.source))
        for other in claim.against:
            if other not in book or book[other].source != claim.source:
                remedy = "`against` names claims of the same source; use `by` for others."
                problems.append(Problem("is no claim of this source", tree.file, claim.line, claim.id, other, remedy))
        for ground in claim.by:
            name = ground.partition(":")[2]
            if ground.startswith("claim:") and name not in book:
                problems.append(Problem("is no claim", tree.file, claim.line, claim.id, ground))
