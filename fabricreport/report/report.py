"""The one object that the notebook of the evidence report needs: the shipped library, every figure made of it, and its words.

    case = open_report()
    case.figure("report.claims")       # a ledger number by id
    case.figure("evidence:pue")        # an entry of the library as its source states it

No params file is read, and nothing that a project has of its own. Purchases of others are held against the prices and options
that the package ships.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any

from fabricreport.base.locations import did_you_mean
from fabricreport.base.version import VERSION
from fabricreport.base.yaml_files import ROOT, read_yaml
from fabricreport.books.evidence import read_evidence
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.publications import purchases
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Name, Named, Spoken
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.ledger.numbers import INPUT_KINDS, Number
from fabricreport.report.figures import FIGURES, ReportFigures
from fabricreport.scenario import params_from


class ReportFinding(StrEnum):
    """What may be true of the report: nothing, for it is the same for everybody."""


def words(at: ReportFigures) -> Mapping[str, object]:
    """Every word of the report."""
    assurance = read_yaml("assurance")
    return {
        "version": Name(f"version {VERSION}"),
        "day": Name(at.given.as_of.isoformat()),
        "checks": tuple(Named(c["what"], f"check-{n}", by=c["by"]) for n, c in enumerate(assurance["checks"])),
        "unchecked": tuple(Named(text, f"gap-{n}") for n, text in enumerate(assurance["not_checked"])),
    }


SECTION = "report"
_NOBODY: Mapping[str, Any] = {
    "client": {"name": "Nobody in particular"},
    "cluster": {"gpus": 16},
    "workload": {"kind": "pretraining-dense"},
    "organisation": {"networking_maturity": "medium"},
    "money": {"acquisition": "rent"},
}
"""What has to be said for inputs to open; nothing that is printed rests on it."""


def newest_reading() -> str:
    """The day on which an entry of the shipped library, or a purchase, was last read, YYYY-MM-DD."""
    return max(*(entry.read for entry in read_evidence().values()), *(bought.read for bought in purchases().values()))


def open_report() -> Report:
    """The shipped library as of the day of its newest reading."""
    return Report()


class Report:
    """The library and its figures, each made once; to a notebook it is what a case is to a memo's."""

    names = ()
    """The report speaks of no client, so there is no name of one."""

    @cached_property
    def inputs(self) -> Inputs:
        """The library as inputs of nobody in particular."""
        params = params_from({**_NOBODY, "as_of": newest_reading()})
        return Inputs(params, ROOT, read_evidence(), PriceBook.of([]), {})

    @cached_property
    def found(self) -> ReportFigures:
        """What the figures are made from, and what tables and charts show."""
        return ReportFigures(self.inputs)

    @cached_property
    def numbers(self) -> Mapping[str, Number]:
        """Every figure of the report's own, each made when it is asked for."""
        return DeclaredFigures(FIGURES, self.found, self.inputs)

    def figure(self, figure_id: str) -> Number:
        """The ledger number with this id: an entry of the library, or a figure of the report."""
        if figure_id.startswith(INPUT_KINDS):
            return self.inputs.figure(figure_id)
        if figure_id not in self.numbers:
            close = did_you_mean(figure_id, self.numbers)
            raise KeyError(f"no figure {figure_id}" + (f"; did you mean {close}?" if close else ""))
        return self.numbers[figure_id]

    def record(self, input_id: str) -> Mapping[str, Any]:
        """Value, unit, date, source and grade of an entry, as the ledger prints it."""
        return self.inputs.record(input_id)

    def spoken(self, section: str) -> Spoken:
        """The words of the report's prose; it has no findings that hang on a client."""
        return Spoken(Findings(ReportFinding, ()), words(self.found))
