"""Who cites which evidence: the marks `evidence:<id>` in the shipped data files.

Deleting a source must name every figure that loses its footing, so the citations are read from the files
themselves and not from a list somebody keeps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fabricreport.evidence import ROOT

_CITATION = re.compile(r"\bevidence:(?![a-z0-9-]*[*{])([a-z0-9]+(?:-[a-z0-9]+)*)")  # a pattern over ids cites none
_OWNER = re.compile(r"^\s*(?:-\s+|\{\s*)*id:\s*[\"']?([A-Za-z0-9][A-Za-z0-9.-]*)")


@dataclass(frozen=True)
class Reference:
    """One citation: the evidence id, the file and 1-based line that cite it, and the entry it stands in."""

    evidence_id: str
    file: str
    line: int
    cited_by: str


def references_in(path: Path) -> tuple[Reference, ...]:
    """The citations of one YAML file, each with the id of the nearest entry above it."""
    found: list[Reference] = []
    owner = path.stem
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = _OWNER.match(line)
        if match:
            owner = match.group(1)
        if not line.lstrip().startswith("#"):
            found.extend(Reference(cited, path.name, number, owner) for cited in _CITATION.findall(line))
    return tuple(found)


@cache
def shipped_references() -> tuple[Reference, ...]:
    """The citations of every YAML file shipped under `fabricreport/evidence`, read once."""
    return tuple(ref for path in sorted(ROOT.rglob("*.yaml")) for ref in references_in(path))
