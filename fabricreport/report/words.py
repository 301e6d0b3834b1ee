"""The words of the report's prose: sequences of named things that its cells go through."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from fabricreport import __version__
from fabricreport.evidence import read_yaml
from fabricreport.findings import Name, Named
from fabricreport.report.figures import ReportFigures


class ReportFinding(StrEnum):
    """What may be true of the report: nothing, for it is the same for everybody."""


def words(at: ReportFigures) -> Mapping[str, object]:
    """Every word of the report."""
    assurance = read_yaml("assurance")
    return {
        "version": Name(f"version {__version__}"),
        "day": Name(at.given.as_of.isoformat()),
        "checks": tuple(Named(c["what"], f"check-{n}", by=c["by"]) for n, c in enumerate(assurance["checks"])),
        "unchecked": tuple(Named(text, f"gap-{n}") for n, text in enumerate(assurance["not_checked"])),
    }
