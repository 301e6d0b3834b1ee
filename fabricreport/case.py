"""The one object a notebook needs: a buyer's params, the books as of the memo's date, and one shared sample.

    case = open_case("params/example.yaml")
    case.sample("price:switch-qm9700")     # draws, tagged with where they come from
    case.tco().numbers["tco.difference"]   # a ledger number
    case.figure("tco.difference")          # the same, by id

Every analysis (`case.latency()`, `case.tco()` …) is lazy, pure and seeded, so each notebook recomputes what it shares
with another and gets the same values. A case does not plot or print.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.books.evidence import EvidenceBook, EvidenceEntry, read_evidence
from fabricreport.books.options import Option, read_options
from fabricreport.books.prices import Price, PriceBook, PriceView
from fabricreport.errors import InputError, Problem
from fabricreport.ledger import Number, NumberMaker
from fabricreport.models import sampling
from fabricreport.models.disagreement import Contested, contested
from fabricreport.provenance import Traced
from fabricreport.records import (
    distribution_of,
    evidence_distribution,
    evidence_record,
    impossible_figures,
    param_record,
    param_value,
    price_distribution,
    price_record,
)
from fabricreport.scenario import Override, Params, ParamsFile, Reference, load_params_file

if TYPE_CHECKING:
    from fabricreport.analysis.decision import DecisionResult
    from fabricreport.analysis.diligence import DiligenceResult
    from fabricreport.analysis.latency import LatencyResult
    from fabricreport.analysis.sources import SourcesResult
    from fabricreport.analysis.tail_risk import TailResult
    from fabricreport.analysis.tco import TcoResult

DRAWS = 4096
PROJECT = Path(__file__).parent.parent
ANALYSES = ("decision", "latency", "tco", "tail_risk", "diligence", "sources")


def open_case(path: str | Path) -> Case:
    """Read a params file (YAML, or the canonical JSON of a build) with its books; `InputError` lists every fault."""
    loaded = load_params_file(Path(path))
    folder = Path(path).resolve().parent
    case = Case(
        loaded.params,
        folder,
        read_evidence(_beside(folder, "evidence")),
        PriceBook.read(book_folder(folder, "prices")),
        read_options(_beside(folder, "options")),
    )
    problems = [_placed(problem, loaded) for problem in case.problems()]
    if problems:
        raise InputError(problems)
    return case


def _placed(problem: Problem, loaded: ParamsFile) -> Problem:
    """The problem with the file and the line of its key."""
    path = [int(part) if part.isdigit() else part for part in re.split(r"[.\[\]]+", problem.key) if part]
    return replace(problem, file=str(loaded.path), line=loaded.line_of(*path))


def book_folder(folder: Path, name: str) -> Path:
    """The folder of a book: beside the params file if it is there, else the project's own `params/`."""
    return _beside(folder, name) or PROJECT / "params" / name


def drawn_exactly(draws: Traced) -> bool:
    """True when every draw of an input is the same number."""
    return float(draws.min()) == float(draws.max())


def _beside(folder: Path, name: str) -> Path | None:
    found = folder / name
    if found.is_dir():
        return found
    shipped = PROJECT / "params" / name
    return shipped if shipped.is_dir() else None


class Case:
    """A buyer, the books as of the memo's date, and one seeded sample of everything uncertain."""

    def __init__(
        self,
        params: Params,
        folder: Path,
        evidence: EvidenceBook,
        price_book: PriceBook,
        options: Mapping[str, Option],
    ) -> None:
        self.params = params
        self.folder = folder
        self.evidence = evidence
        self.price_book = price_book
        self.as_of = date.fromisoformat(str(params.as_of))
        self.prices: PriceView = price_book.at(self.as_of)
        self.all_options = options
        self.overrides: dict[str, Override] = {o.id: o for o in params.overrides}
        self._samples: dict[str, Traced] = {}
        self._results: dict[str, Any] = {}
        self._records: dict[str, dict[str, Any]] = {}

    def problems(self) -> list[Problem]:
        """Every fault that only params and books together show: unknown references, a fabric that cannot be built."""
        unknown = [*self._unknown_overrides(), *self._unknown_options()]
        impossible = impossible_figures(self.params, self.prices, self.evidence)
        return [*impossible, *(unknown or import_module("fabricreport.analysis.feasibility").contradictions(self))]

    def _unknown_overrides(self) -> Iterable[Problem]:
        from difflib import get_close_matches

        known = [f"price:{i}" for i in self.price_book.items] + [f"evidence:{i}" for i in self.evidence]
        for number, override in enumerate(self.params.overrides):
            if override.id not in known:
                close = get_close_matches(override.id, known, n=1)
                yield Problem(
                    "overrides something that no book holds",
                    key=f"overrides[{number}].id",
                    value=override.id,
                    suggestion=close[0] if close else "",
                    remedy="`fabricreport prices show` and `fabricreport evidence` list the ids.",
                )

    def _unknown_options(self) -> Iterable[Problem]:
        from difflib import get_close_matches

        for number, option_id in enumerate(self.params.options):
            if option_id not in self.all_options:
                close = get_close_matches(option_id, list(self.all_options), n=1)
                yield Problem(
                    "is no option",
                    key=f"options[{number}]",
                    value=option_id,
                    suggestion=close[0] if close else "",
                    remedy=f"Known: {', '.join(self.all_options)}; add your own as params/options/*.yaml.",
                )

    # ---- options and params

    @property
    def options(self) -> tuple[Option, ...]:
        """The options to compare, in the params' order."""
        return tuple(self.all_options[o] for o in self.params.options)

    # ---- the sample

    @cached_property
    def sampler(self) -> sampling.Sampler:
        """The seeded streams of all inputs."""
        return sampling.Sampler(int(self.params.seed), DRAWS, self._value_of("correlation-within-group", 0.0))

    def _value_of(self, evidence_id: str, otherwise: float) -> float:
        return self.evidence[evidence_id].mid if evidence_id in self.evidence else otherwise

    def sample(self, input_id: str) -> Traced:
        """Draws (DRAWS,) of `price:…` (in the memo's currency), `evidence:…`, `contested:…` or `param:…`."""
        if input_id not in self._samples:
            self._samples[input_id] = self._draw(input_id)
        return self._samples[input_id]

    def _draw(self, input_id: str) -> Traced:
        kind, _, name = input_id.partition(":")
        if kind == "contested":
            return self.contested(name).quantile(self.sampler.uniforms(input_id))
        if kind == "param":
            value = param_value(self.params, name)
            if isinstance(value, Reference):
                return self.sample(str(value))
            return self._from(distribution_of(value), input_id)
        if kind == "price":
            price = self.prices[name]
            rate = self.prices.rate(price.currency, str(self.params.money.currency))
            own = self._from(self._distribution(input_id), input_id)
            return own if not rate.inputs else self._converted(own, rate)
        if kind == "evidence":
            return self._from(self._distribution(input_id), input_id, self._entry(name).group)
        raise KeyError(f"{input_id}: an input id starts with price:, evidence:, contested: or param:")

    def _converted(self, own: Traced, rate: Any) -> Traced:
        uncertain = sampling.Distribution("pert", rate.low, rate.rate, rate.high)
        u = self.sampler.uniforms("+".join(rate.inputs))
        return Traced(own * Traced(uncertain.quantile(u), set(rate.inputs)))

    def _from(self, distribution: sampling.Distribution, input_id: str, group: str = "") -> Traced:
        return Traced(distribution.quantile(self.sampler.uniforms(input_id, group)), {input_id})

    def _distribution(self, input_id: str) -> sampling.Distribution:
        """The uncertainty of a price or an evidence entry, with the client's override if there is one."""
        kind, _, name = input_id.partition(":")
        if input_id in self.overrides:
            return distribution_of(self.overrides[input_id].value)
        return price_distribution(self.prices[name]) if kind == "price" else evidence_distribution(self._entry(name))

    def central(self, input_id: str) -> float:
        """The central value of an input: its mode if it has one, else its median."""
        distribution = self._distribution(input_id)
        return distribution.mode if distribution.kind in ("fixed", "pert") else float(distribution.quantile(0.5))

    def _entry(self, name: str) -> EvidenceEntry:
        return self.evidence[name]

    def contested(self, quantity: str) -> Contested:
        """What the sources say on a contested quantity, and the prior that their spread makes."""
        return contested(quantity, self.evidence)

    def price(self, item: str) -> Price:
        """A price as of the memo's date."""
        return self.prices[item]

    # ---- the ledger

    @cached_property
    def maker(self) -> NumberMaker:
        """Makes ledger numbers from arrays of this case."""
        return NumberMaker(self, str(self.params.money.currency))

    def number(self, id: str, value: Any, unit: str, *, label: str, rule: str, **more: Any) -> Number:
        """A ledger number from a scalar or draws; its inputs follow from the array's provenance (see `NumberMaker`)."""
        return self.maker.number(id, value, unit, label=label, rule=rule, **more)

    def input_record(self, input_id: str) -> dict[str, Any]:
        """Value, unit, date, source, grade … of an input, as the ledger and the source list print it."""
        if input_id not in self._records:
            self._records[input_id] = self._record(input_id)
        return self._records[input_id]

    def _record(self, input_id: str) -> dict[str, Any]:
        kind, _, name = input_id.partition(":")
        override = self.overrides.get(input_id)
        if kind == "price":
            return price_record(self.prices[name], override)
        if kind == "evidence":
            return evidence_record(self._entry(name), override)
        if kind == "param":
            return param_record(self.params, name)
        if kind == "claim":
            from fabricreport.books.claims import claim_record

            return claim_record(name)
        raise KeyError(f"{input_id}: an input id starts with price:, evidence:, claim: or param:")

    def figure(self, figure_id: str) -> Number:
        """The ledger number with this id: an input (`price:…`, `evidence:…`, `param:…`) or a figure of an analysis."""
        if figure_id.startswith(("price:", "evidence:", "param:")):
            return self._input_figure(figure_id)
        analysis = figure_id.partition(".")[0]
        if analysis not in ANALYSES:
            raise KeyError(f"{figure_id}: a figure's id starts with {', '.join(ANALYSES)}, price:, evidence: or param:")
        numbers = self.result(analysis).numbers
        if figure_id not in numbers:
            from difflib import get_close_matches

            close = get_close_matches(figure_id, list(numbers), n=1)
            raise KeyError(f"no figure {figure_id}" + (f"; did you mean {close[0]}?" if close else ""))
        found: Number = numbers[figure_id]
        return found

    def _input_figure(self, input_id: str) -> Number:
        record = self.input_record(input_id)
        draws = self.sample(input_id)
        value: Any = float(draws[0]) if drawn_exactly(draws) else draws
        drawn = self.number(
            f"stated.{input_id.replace(':', '.')}",
            value,
            record["unit"],
            label=record["label"],
            rule="as stated by the source" if not input_id.startswith("param:") else "as stated in the params",
            inputs=(input_id,),
            digits=6 if drawn_exactly(draws) else 3,
        )
        # A source's own central figure is quoted as it stands; the median of a distribution around it is ours.
        stated = None if input_id.startswith("param:") else self._stated(input_id)
        return drawn if stated is None else replace(drawn, value=stated, digits=6)

    def _stated(self, input_id: str) -> float | None:
        distribution = self._distribution(input_id)
        foreign = input_id.startswith("price:") and self.prices[input_id[6:]].currency != self.params.money.currency
        return distribution.mode if distribution.kind in ("fixed", "pert") and not foreign else None

    # ---- analyses, each computed once

    def result(self, analysis: str) -> Any:
        """The result of one of ANALYSES, computed on first use."""
        if analysis not in self._results:
            self._results[analysis] = import_module(f"fabricreport.analysis.{analysis}").run(self)
        return self._results[analysis]

    def latency(self) -> LatencyResult:
        """What latency costs this client."""
        found: LatencyResult = self.result("latency")
        return found

    def tail(self) -> TailResult:
        """What could go wrong: tail, incidents, the date the run ends."""
        found: TailResult = self.result("tail_risk")
        return found

    def tco(self) -> TcoResult:
        """What each option costs over the horizon."""
        found: TcoResult = self.result("tco")
        return found

    def diligence(self) -> DiligenceResult:
        """What each provider offers, what it has answered, and what is left to ask."""
        found: DiligenceResult = self.result("diligence")
        return found

    def sources(self) -> SourcesResult:
        """The evidence behind this case: library, contested quantities, audited claims."""
        found: SourcesResult = self.result("sources")
        return found

    def decision(self) -> DecisionResult:
        """What to buy, how sure we are, and what would change the answer."""
        found: DecisionResult = self.result("decision")
        return found
