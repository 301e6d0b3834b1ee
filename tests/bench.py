"""The bench: clients known by name, each opened once a worker, and what-ifs of them.

    bench.case("example")                          # a client of few draws: prose, tables, provenance, findings
    bench.changed("example", cluster__gpus=2048)   # a what-if of it
    bench.drawn("example").comparison              # the memo's own draws: class, odds, laws (the comparison alone is cheap)

A name is that of a shipped params file, of a decision of `tests/golden/decisions`, or one of EDGES. Whoever asks twice gets
the same case, so a test changes none of them.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from copy import copy
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from answer_cases import LOG, REPAIR, TUNER, WEEKS, answered, resting
from elicited_cases import write_two

import fabricreport.inputs.inputs as inputs_module
from fabricreport.case import Case, open_case
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.sections.decision.result import DecisionResult

ROOT = Path(__file__).parents[1]
PARAMS, DECISIONS = ROOT / "params", Path(__file__).parent / "golden" / "decisions"
DRAWS, DRAWN = 128, inputs_module.DRAWS
SHIPPED = tuple(sorted(path.stem for path in PARAMS.glob("*.yaml")))
GOLDEN = tuple(sorted(path.stem for path in DECISIONS.glob("*.yaml") if path.stem not in ("expected", "ours")))
OFFER: dict[str, Any] = {
    "seller": "Example Cloud",
    "date": "2026-11-12",
    "expiry": "2026-12-12",
    "fabric": "infiniband",
    "network": "included",
    "topology": "rail-optimised",
    "generation": "NDR",
    "price_per_gpu_hour": 2.6,
}
OTHER = {**OFFER, "seller": "Example Hosting", "price_per_gpu_hour": 2.4}
"""Two offers to a renter that differ in their seller and price."""
WHAT_IFS: dict[str, tuple[str, dict[str, Any]]] = {
    "one node": ("example", {"cluster__gpus": 8}),
    "one option": ("example", {"cluster__gpus": 8, "options": ["infiniband-ndr"]}),
    "two nodes": ("example", {"cluster__gpus": 16}),
    "two options": ("example", {"options": ["infiniband-ndr", "rocev2-branded-400g"]}),
    "too late": ("example", {"schedule__production_by": "2027-01-08"}),
    "pressed": (
        "example",
        {"schedule__production_by": "2027-01-08", "money__price_of_delay_usd_per_day": 1_000_000},
    ),
    "nothing is material": ("example", {"money__materiality_usd": 1}),
    "rare checkpoints": ("example", {"workload__checkpoint_minutes": 240}),
    "open cloud": ("halden-cloud", {"organisation__existing_ethernet": "some", "money__materiality_usd": 9_000_000}),
    "infiniband ahead": ("example", {"prices": {"switch-qm9700": 10_000}}),
    "sites apart": (
        "kestrel-lab",
        {"cluster__sites_joined": False, "options": ["infiniband-xdr", "rocev2-whitebox-800g"]},
    ),
    "one node rented": ("tern-finetuning", {"cluster__gpus": 8}),
    "offers": ("tern-finetuning", {"offers": [OFFER, OTHER]}),
}
"""Edges that differ from a shipped client in their params."""


def _example(folder: Path, **keys: Any) -> Case:
    (folder / "prices").symlink_to(PARAMS / "prices", target_is_directory=True)
    data = yaml.safe_load((PARAMS / "example.yaml").read_text(encoding="utf-8")) | keys
    (folder / "client.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return open_case(folder / "client.yaml")


def _measured(folder: Path) -> Case:
    (folder / "logs").mkdir()
    names = ("xe9680_16gpu_mpirun.txt", "roce_perftest.txt")
    for name in names:
        shutil.copy(Path(__file__).parent / "data" / "logs" / name, folder / "logs")
    return _example(folder, measurements=[f"logs/{name}" for name in names])


def _overridden(folder: Path) -> Case:
    word = {"who": "J. Buyer", "why": "Quote of 3 November", "until": "2027-01-31"}
    prices = {"price:switch-qm9700": {"low": 28000, "high": 31000}, "price:electricity": 0.07}
    return _example(folder, overrides=[{"id": name, "value": value, **word} for name, value in prices.items()])


FILES: dict[str, Callable[[Path], Case]] = {
    "measured": _measured,
    "overridden": _overridden,
    "elicited": lambda folder: _example(folder, elicited=write_two(folder)),
    "answered": lambda folder: answered(
        folder,
        *(resting(said, "record", document="a.pdf") for said in (WEEKS, REPAIR, TUNER)),
        resting(LOG, "log"),
    ),
}
"""Edges with files of their own, written into an empty folder."""
EDGES = (*WHAT_IFS, *FILES)
NAMES = (*SHIPPED, *GOLDEN, *EDGES)


def case(name: str) -> Case:
    """A client at few draws."""
    return changed(name)


def changed(name: str, **changes: Any) -> Case:
    """The same client with keys changed and entries overridden, as `Case.changed` takes them."""
    return _of(DRAWS, name, changes)


def drawn(name: str, **changes: Any) -> Case:
    """The client at the memo's own draws."""
    return _of(DRAWN, name, changes)


def comparison(name: str, **changes: Any) -> Comparison:
    """Its comparison at the memo's own draws."""
    return drawn(name, **changes).comparison


def altered(result: DecisionResult, **parts: Any) -> DecisionResult:
    """A decision of which some parts are others; the rest is as it is found there when asked for, and not made of those."""
    if not parts:
        return result
    names = (name for name, part in vars(DecisionResult).items() if isinstance(part, cached_property))
    found = {name: cached_property(lambda _, name=name: getattr(result, name)) for name in names}
    other = copy(result)
    object.__setattr__(other, "__class__", type("Altered", (DecisionResult,), found))
    vars(other).update(parts)
    return other


_MADE: dict[tuple[int, str, str], Case] = {}


def forget() -> None:
    """Let go of what-ifs, and of clients at the memo's own draws: they weigh most, and few files ask for the same."""
    for key in [key for key in _MADE if key[0] != DRAWS or key[2]]:
        del _MADE[key]


def _of(draws: int, name: str, changes: dict[str, Any]) -> Case:
    key = draws, name, repr(sorted(changes.items())) if changes else ""
    if key not in _MADE:
        base, own = WHAT_IFS.get(name, (name, {}))
        every = {**own, **changes}
        _MADE[key] = _of(draws, base, {}).changed(**every) if every else _opened(draws, name)
    return _MADE[key]


def _opened(draws: int, name: str) -> Case:
    with mock.patch.object(inputs_module, "DRAWS", draws):
        if name in FILES:
            return FILES[name](Path(tempfile.mkdtemp(dir=_scratch())))
        return open_case((PARAMS if name in SHIPPED else DECISIONS) / f"{name}.yaml")


@cache
def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
