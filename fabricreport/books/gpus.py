"""The types of GPU that a cluster may be made of, read from one file: `evidence/gpus.yaml`, whose head explains each key.

A type says what is sold as one server (or one rack), the links it carries, what its kernels and its scale-up network
do, and by reference (`price:<item>`, `evidence:<id>`) what it costs, draws and rents for. Every default of the params
that follows from the GPU is taken from here, so that a further type is a further entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from fabricreport.books.gpu_type import LARGEST_SERVER, GpuType, Kernels, Links, ScaleUp, Server
from fabricreport.bounds import bound_of
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT, read_yaml
from fabricreport.hostile_text import clean_text
from fabricreport.located import KeyPath, Located, did_you_mean
from fabricreport.strict_yaml import load_strict
from fabricreport.vocabulary import Grade

SHIPPED_FILE = ROOT / "gpus.yaml"
VENDORS = ("nvidia", "amd")
LINK_SPEEDS = (25, 50, 100, 200, 400, 800)
"""Line rates of one fabric link that the params may state, in Gbit/s: those for which a fabric can be bought."""
_LONGEST = 400  # characters


@dataclass(frozen=True)
class GpuTypes:
    """All types by id, and the one that is assumed of a client who names none."""

    default: str
    known: Mapping[str, GpuType]

    def of(self, gpu: str) -> GpuType:
        """The type of that id, or an `InputError` with the nearest id."""
        if gpu not in self.known:
            remedy = f"Take one of {', '.join(self.known)}. In a checkout, an entry of fabricreport/evidence/gpus.yaml adds one."
            nearest = did_you_mean(gpu, self.known)
            raise InputError(
                Problem("is no known GPU type", key="cluster.gpu", value=gpu, remedy=remedy, suggestion=nearest)
            )
        return self.known[gpu]


def gpu_types() -> GpuTypes:
    """The shipped types, read once."""
    return read_gpus(SHIPPED_FILE)


def read_gpus(path: Path) -> GpuTypes:
    """The types of a file of the form of `evidence/gpus.yaml`.

    Raises `InputError` with every fault found, each with file, line, key, value and remedy: an unknown or missing key, a
    value outside its domain, a malformed reference, an id used twice, a default that no entry has.
    """
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read(path: Path, _changed_ns: int) -> GpuTypes:
    located = load_strict(path)
    reader = _Reader(located)
    data = located.data
    known: dict[str, GpuType] = {}
    if not isinstance(data, dict) or set(data) != {"default", "types"} or not isinstance(data["types"], list):
        reader.fault((), "must hold `default` and a list of `types`", remedy="Begin each entry with '- id: ...'.")
        raise InputError(reader.problems)
    for i, entry in enumerate(data["types"]):
        made = reader.made(GpuType, ("types", i), entry)
        if made is not None and made.id in known:
            reader.fault(("types", i, "id"), "this id is used already", made.id, "Give the type an id of its own.")
        elif made is not None:
            known[made.id] = made
    if not reader.problems and data["default"] not in known:
        nearest = did_you_mean(data["default"], known)
        reader.fault(("default",), "is the id of no entry", data["default"], f"Known: {', '.join(known)}.", nearest)
    if reader.problems:
        raise InputError(reader.problems)
    return GpuTypes(data["default"], known)


Made = TypeVar("Made")
Check = Callable[["_Reader", KeyPath, Any], Any]
"""What a key's value must be: notes a fault, and returns the value as the type holds it."""


@dataclass
class _Reader:
    """Checks the entries of one file; faults go to `problems`."""

    located: Located
    problems: list[Problem] = field(default_factory=list)

    def fault(self, path: KeyPath, message: str, value: object = "", remedy: str = "", suggestion: str = "") -> None:
        self.problems.append(self.located.problem(path, message, value=value, remedy=remedy, suggestion=suggestion))

    def made(self, kind: type[Made], path: KeyPath, value: Any) -> Made | None:
        """The value as this kind, or None when it has faults."""
        before, checks = len(self.problems), _CHECKS[kind]
        if not isinstance(value, dict):
            self.fault(path, "must hold keys of its own", value, f"Write {', '.join(checks)} below it.")
            return None
        for key in value:
            if key not in checks:
                remedy = f"Known here: {', '.join(checks)}."
                self.fault((*path, key), "unknown key", key, remedy, did_you_mean(key, checks))
        needed = [f.name for f in fields(kind) if f.default is MISSING]  # type: ignore[arg-type]
        for key in needed:
            if key not in value:
                remedy = "Add it; the head of evidence/gpus.yaml says what it means."
                self.fault(path, f"the key '{key}' is missing", str(value.get("id", "")), remedy)
        made = {key: checks[key](self, (*path, key), found) for key, found in value.items() if key in checks}
        if len(self.problems) > before:
            return None
        whole = kind(**made)
        if isinstance(whole, GpuType):
            self._agreeing(path, whole)
        return whole if len(self.problems) == before else None

    def _agreeing(self, path: KeyPath, made: GpuType) -> None:
        """Keys of one entry that must agree."""
        if made.domain_gpus % made.gpus_per_node:
            remedy = "Write the GPUs that NVLink or its like joins: one server, or the rack."
            self.fault((*path, "domain_gpus"), "must hold whole servers", made.domain_gpus, remedy)
        if made.rack != (made.small_group is not None):
            wrong = "is missing for a rack" if made.rack else f"is only of a domain above {LARGEST_SERVER} GPUs"
            remedy = "Add `small_group` to a rack's entry, and to no other."
            self.fault((*path, "small_group"), wrong, made.domain_gpus, remedy)


def _choice(known: Callable[[], Sequence[Any]]) -> Check:
    def check(reader: _Reader, path: KeyPath, value: Any) -> Any:
        if isinstance(value, bool) or value not in known():
            words = [str(k) for k in known()]
            remedy = f"Write one of {', '.join(words)}."
            reader.fault(path, "is not one of the values allowed here", value, remedy, did_you_mean(value, words))
        return value

    return check


def _number(unit: str, *, whole: bool = False, low: float | None = None, why: str = "") -> Check:
    bound = bound_of(unit).within(low, zero=False if low else None)
    bound = replace(bound, why=why or bound.why)

    def check(reader: _Reader, path: KeyPath, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            reader.fault(path, "must be a whole number" if whole else "must be a number", value, "Write it alone.")
            return value
        if wrong := bound.fault(value):
            reader.fault(path, wrong, value, "Correct it.")
        return value if whole else float(value)

    return check


def _words(*, empty: bool = False) -> Check:
    def check(reader: _Reader, path: KeyPath, value: Any) -> Any:
        if not isinstance(value, str) or not (value.strip() or empty):
            reader.fault(path, "must be text", value, "Write a few plain words.")
            return ""
        found = reader.located.problem(path, "")
        try:
            return clean_text(value, file=found.file, line=found.line, key=found.key, max_chars=_LONGEST, one_line=True)
        except InputError as error:
            reader.problems.extend(error.problems)
            return ""

    return check


def _matching(pattern: re.Pattern[str], what: str, remedy: str) -> Check:
    def check(reader: _Reader, path: KeyPath, value: Any) -> Any:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            reader.fault(path, f"must be {what}", value, remedy)
        return value

    return check


def _part(kind: type[Any]) -> Check:
    return lambda reader, path, value: reader.made(kind, path, value)


def _limits() -> Sequence[str]:
    return list(read_yaml("collectives")["library"]["ll_max_gbytes_per_s"]["one_node"])


_REFERENCE = _matching(
    re.compile(r"(price|evidence):[a-z0-9]+([-.][a-z0-9]+)*"),
    "a reference to a price or an evidence entry",
    "Write price:<item> or evidence:<id>.",
)
_EVIDENCE = _matching(
    re.compile(r"evidence:[a-z0-9]+([-.][a-z0-9]+)*"), "a reference to an evidence entry", "Write evidence:<id>."
)
_GRADE = _choice(lambda: [str(g) for g in Grade])
_CHECKS: Mapping[type[Any], Mapping[str, Check]] = {
    Links: {
        "per_gpu": _number("links-per-gpu", whole=True),
        "gbits_per_s": _choice(lambda: LINK_SPEEDS),
        "total": _EVIDENCE,
    },
    Kernels: {
        "peak_tflops": _number("tflops"),
        "memory_gbytes": _number("gbytes"),
        "memory_gbytes_per_s": _number("memory-gbytes/s"),
        "efficiency": _EVIDENCE,
        "source": _words(),
        "address": _words(empty=True),
        "grade": _GRADE,
    },
    ScaleUp: {
        "limits_as": _choice(_limits),
        "nvlink_gbytes_per_s": _number("gbytes/s", low=1),
        "nvls_gbytes_per_s": _number("gbytes/s"),
        "nvls_us": _number("us"),
        "nvls_channels": _number("count", whole=True, low=1),
        "intra_step_scale": _number("x", low=0.01),
        "source": _words(),
        "grade": _GRADE,
    },
    Server: {
        "adapters": _number("count", whole=True),
        **dict.fromkeys(("price", "watts", "adapter_price", "adapter_watts", "rent"), _REFERENCE),
    },
    GpuType: {
        "id": _matching(re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"), "kebab-case", "Lower-case words joined by hyphens."),
        "name": _words(),
        "vendor": _choice(lambda: VENDORS),
        "generation": _words(),
        "on_sale": _number("count", whole=True, low=2000, why="it is the year in which it was first sold"),
        "counted": _words(),
        "gpus_per_node": _number("gpus", whole=True, low=1),
        "domain_gpus": _number("gpus", whole=True, low=1),
        "links": _part(Links),
        "kernels": _part(Kernels),
        "scale_up": _part(ScaleUp),
        "small_group": _part(ScaleUp),
        "server": _part(Server),
    },
}
