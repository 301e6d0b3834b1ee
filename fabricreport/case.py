"""The one object a notebook needs: a buyer's params, the books as of the memo's date, and one shared sample.

    case = open_case("params/example.yaml")
    case.sample("price:switch-qm9700")     # draws, tagged with where they come from
    case.tco().numbers["tco.difference"]   # a ledger number
    case.figure("tco.difference")          # the same, by id

Every analysis (`case.latency()`, `case.tco()` …) is lazy, pure and seeded, so each notebook recomputes what it shares
with another and gets the same values. A case does not plot or print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from fabricreport.books.evidence import EvidenceBook, EvidenceEntry, read_evidence
from fabricreport.books.options import Option, read_options
from fabricreport.books.prices.book import Price, PriceBook, PriceView
from fabricreport.errors import InputError, OutOfRange, Problem
from fabricreport.ledger import Number, NumberMaker, weakest
from fabricreport.located import did_you_mean
from fabricreport.models import sampling
from fabricreport.models.audit.disagreement import Contested, contested
from fabricreport.provenance import Traced, plain
from fabricreport.records import (
    distribution_of,
    evidence_distribution,
    evidence_record,
    impossible_overrides,
    param_record,
    price_distribution,
    price_record,
    price_unit,
)
from fabricreport.scenario import Override, Params, Reference, dated, load_params_file, value_at

if TYPE_CHECKING:
    from fabricreport.sections.decision.study import DecisionResult
    from fabricreport.sections.diligence.study import DiligenceResult
    from fabricreport.sections.evidence.study import SourcesResult
    from fabricreport.sections.latency.study import LatencyResult
    from fabricreport.sections.tail_risk.study import TailResult
    from fabricreport.sections.tco.study import TcoResult

Read = TypeVar("Read")
DRAWS = 4096
PROJECT = Path(__file__).parent.parent
_ORIGIN = {"assumption": "as assumed: not stated in the params"}
INPUT_KINDS = ("price:", "evidence:", "param:")
_ROOM = {"sources": "evidence"}
ANALYSES = ("decision", "latency", "tco", "tail_risk", "diligence", "sources")


def open_case(path: str | Path, *, as_of: date | None = None) -> Case:
    """Read a params file (YAML, or the canonical JSON of a build) with its books; `InputError` lists every fault.

    `as_of` replaces the date of the params.
    """
    faults: list[Problem] = []

    def read(reader: Callable[..., Read], *given: Any) -> Read | None:
        try:
            return reader(*given)
        except InputError as error:
            faults.extend(error.problems)
            return None

    folder = Path(path).resolve().parent
    loaded = read(load_params_file, Path(path))
    loaded = loaded and read(dated, loaded, as_of)
    evidence = read(read_evidence, _beside(folder, "evidence"))
    prices = read(PriceBook.read, book_folder(folder, "prices"))
    options = read(read_options, _beside(folder, "options"))
    if loaded is None or evidence is None or prices is None or options is None:
        raise InputError(faults)
    case = Case(loaded.params, folder, evidence, prices, options)
    problems = [loaded.placed(problem) for problem in case.problems()]
    if problems:
        raise InputError(problems)
    return case


def book_folder(folder: Path, name: str) -> Path:
    """The folder of a book: beside the params file if it is there, else the project's own `params/`."""
    return _beside(folder, name) or PROJECT / "params" / name


def drawn_exactly(draws: Traced) -> bool:
    """True when every draw of an input is the same number."""
    return float(draws.min()) == float(draws.max())


def _hint(wanted: str, known: Iterable[str]) -> str:
    close = did_you_mean(wanted, known)
    return f"; did you mean {close}?" if close else ""


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
        for override in params.overrides:
            self._put_in(override)
        self._samples: dict[str, Traced] = {}
        self._results: dict[str, Any] = {}
        self._made: dict[str, Number] = {}
        self._computing = 0
        self._records: dict[str, dict[str, Any]] = {}

    def problems(self) -> list[Problem]:
        """Every fault that only params and books together show: unknown references, a fabric that cannot be built."""
        asked, feasible = (import_module(f"fabricreport.intake.{name}") for name in ("asked", "feasibility"))
        impossible = list(impossible_overrides(self.params, self.price_book.terms, self.evidence))
        unknown = [*impossible, *self._unknown_options()]
        return unknown or [*asked.unanswered(self), *feasible.contradictions(self)]

    def _unknown_options(self) -> Iterable[Problem]:
        for number, option_id in enumerate(self.params.options):
            if option_id not in self.all_options:
                yield Problem(
                    "is no option",
                    key=f"options[{number}]",
                    value=option_id,
                    suggestion=did_you_mean(option_id, self.all_options),
                    remedy=f"Known: {', '.join(self.all_options)}; add your own as params/options/*.yaml.",
                )

    def with_params(self, params: Params) -> Case:
        """The same books under other params."""
        return Case(params, self.folder, self.evidence, self.price_book, self.all_options)

    # ---- options and params

    @property
    def options(self) -> tuple[Option, ...]:
        """The options to compare, in the params' order."""
        return tuple(self.all_options[o] for o in self.params.options)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the client, the options and the providers, which may hold digits wherever they are printed."""
        options = [option.name for option in self.options]
        providers = [provider.name for provider in self.params.providers]
        return tuple(dict.fromkeys([self.params.client.name, *options, *providers]))

    # ---- the sample

    @cached_property
    def sampler(self) -> sampling.Sampler:
        """The seeded streams of all inputs."""
        known = "correlation-within-group" in self.evidence
        together = self.central("evidence:correlation-within-group") if known else 0.0
        return sampling.Sampler(int(self.params.seed), DRAWS, together)

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
            value = value_at(self.params, name)
            if isinstance(value, Reference):
                return self.sample(str(value))
            return self._from(distribution_of(value), input_id)
        if kind == "price":
            price = self.prices[name]
            rate = self.prices.rate(price.currency, str(self.params.money.currency))
            own = self._own(input_id)
            return own if not rate.inputs else self._converted(own, rate)
        if kind == "evidence":
            return self._own(input_id)
        raise KeyError(f"{input_id}: an input id starts with price:, evidence:, contested: or param:")

    def _converted(self, own: Traced, rate: Any) -> Traced:
        uncertain = sampling.Distribution("pert", rate.low, rate.rate, rate.high)
        u = self.sampler.uniforms("+".join(rate.inputs))
        return Traced(own * Traced(uncertain.quantile(u), set(rate.inputs)))

    def _from(self, distribution: sampling.Distribution, input_id: str, group: str = "") -> Traced:
        return Traced(distribution.quantile(self.sampler.uniforms(input_id, group)), {input_id})

    def _own(self, input_id: str) -> Traced:
        """Draws of a price or an evidence entry in its own unit; an override that refers takes the other's draws."""
        stated = self.stated_by(input_id)
        if stated != input_id:
            return Traced(plain(self._own(stated)), {input_id})
        kind, _, name = input_id.partition(":")
        return self._from(self.distribution(input_id), input_id, self._entry(name).group if kind == "evidence" else "")

    def stated_by(self, input_id: str) -> str:
        """The entry that states the value: the input itself, or what an override of it refers to in the end."""
        met: list[str] = []
        while input_id in self.overrides and isinstance(self.overrides[input_id].value, Reference):
            if input_id in met:
                raise OutOfRange(Problem(f"the overrides {', '.join(met)} refer to each other", key=input_id))
            met.append(input_id)
            input_id = str(self.overrides[input_id].value)
        return input_id

    def _put_in(self, override: Override) -> None:
        """Let an override stand in the view of prices for a price none of whose rows can be used, where its unit and
        currency are known, and for an exchange rate, which conversions read from the view."""
        kind, _, item = override.id.partition(":")
        terms = self.price_book.terms(item)
        rate = item.startswith("fx-")
        if (
            kind != "price"
            or terms is None
            or isinstance(override.value, Reference)
            or (item in self.prices and not rate)
        ):
            return
        note = "" if item in self.prices else "no row of it can be used on this day: the price is the override's"
        stated, until = distribution_of(override.value), override.until
        value = stated.mode if stated.kind in ("fixed", "pert") else float(stated.quantile(0.5))
        low, high = (None, None) if not rate or stated.kind == "fixed" else (stated.low, stated.high)
        price = Price(
            item, terms[0], value, low, high, terms[1], self.as_of, until, f"{override.who}, for the client", "contract",
            stale=False, age_days=0, quarantined=note,
        )  # fmt: skip
        self.prices = self.prices.plus(price)

    def distribution(self, input_id: str) -> sampling.Distribution:
        """The uncertainty of a price or an evidence entry, with the client's override if there is one."""
        input_id = self.stated_by(input_id)
        kind, _, name = input_id.partition(":")
        if input_id in self.overrides:
            return distribution_of(self.overrides[input_id].value)
        return price_distribution(self.prices[name]) if kind == "price" else evidence_distribution(self._entry(name))

    def central(self, input_id: str) -> float:
        """The central value of an input: its mode if it has one, else its median."""
        distribution = self.distribution(input_id)
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
        """A ledger number from a scalar or draws; its inputs follow from the array's provenance (see `NumberMaker`).

        `inputs` names inputs, or figures (ledger numbers or their ids), whose own inputs and sources the number takes
        over: it is no firmer than they are. A number made in a notebook is remembered: from then on `{id}` quotes it, in prose and in Markdown cells. Its id
        may have any first word; a second, different value under the same id is refused.
        """
        ids, figures = self._footing(more.pop("inputs", ()))
        sources, told = self._footing(more.pop("sources", ()))
        taken = {i for figure in (*figures, *told) for i in figure.sources}
        made = self.maker.number(
            id, value, unit, label=label, rule=rule, inputs=ids, sources={*sources, *taken}, **more
        )
        if figures:
            own = [made.grade] if made.inputs or made.sources or more.get("counted") else []
            made = replace(
                made,
                grade=weakest([*own, *(f.grade for f in figures)], made.grade),
                stale=made.stale or any(f.stale for f in figures),
            )
        if not self._computing:
            self._remember(made)
        return made

    def _footing(self, given: Any) -> tuple[list[str], list[Number]]:
        """Input ids and figures that a number is said to rest on; the ids of the figures' own inputs are among the first."""
        ids: list[str] = []
        figures: list[Number] = []
        for one in (given,) if isinstance(given, str | Number) else given:
            if isinstance(one, Number):
                figures.append(one)
            elif ":" not in one:
                figures.append(self.figure(one))
            else:
                ids.append(self._known_input(one))
        return [*ids, *(i for figure in figures for i in figure.inputs)], figures

    def _known_input(self, input_id: str) -> str:
        try:
            self.input_record(input_id)
        except (AttributeError, LookupError) as error:
            raise KeyError(f"no input {input_id}{_hint(input_id, self._input_ids())}") from error
        return input_id

    def _remember(self, made: Number) -> None:
        for result in self._results.values():
            self._refuse_second(result.numbers.get(made.id), made)
        self._refuse_second(self._made.get(made.id), made)
        self._made[made.id] = made

    @staticmethod
    def _refuse_second(first: Number | None, second: Number) -> None:
        if first is not None and first.as_dict() != second.as_dict():
            raise ValueError(
                f"{second.id} is {first.text} ({first.label}) already and cannot be {second.text} ({second.label}) too: "
                "give the second number an id of its own, or open the case again if you changed the first"
            )

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
        """The ledger number with this id: an input (`price:…`, `evidence:…`, `param:…`), a figure of an analysis, or a
        number made with `number`."""
        if figure_id.startswith(INPUT_KINDS):
            return self._input_figure(figure_id)
        if figure_id in self._made:
            return self._made[figure_id]
        analysis = figure_id.partition(".")[0]
        numbers: Mapping[str, Number] = self.result(analysis).numbers if analysis in ANALYSES else {}
        if figure_id not in numbers:
            kinds = f"; a figure's id starts with {', '.join(ANALYSES)}, or was given to case.number before"
            hint = _hint(figure_id, [*numbers, *self._made])
            raise KeyError(f"no figure {figure_id}{hint or ('' if numbers else kinds)}")
        return numbers[figure_id]

    def _input_figure(self, input_id: str) -> Number:
        record = self.input_record(self._known_input(input_id))
        draws = self.sample(input_id)
        value: Any = float(draws[0]) if drawn_exactly(draws) else draws
        drawn = self.maker.number(
            f"stated.{input_id.replace(':', '.')}",
            value,
            price_unit(self.prices[input_id[6:]]) if input_id.startswith("price:") else record["unit"],
            label=record["label"],
            rule=_ORIGIN.get(record["grade"], "as stated in the params")
            if input_id.startswith("param:")
            else "as stated by the source",
            inputs=(input_id,),
            digits=6 if drawn_exactly(draws) else 3,
        )
        drawn = replace(drawn, currency=self._currency_of(input_id))
        # A source's own central figure is quoted as it stands; the median of a distribution around it is ours.
        stated = None if input_id.startswith("param:") else self._stated(input_id)
        return drawn if stated is None else replace(drawn, value=stated, digits=6)

    def _currency_of(self, input_id: str) -> str:
        """The currency that `sample` draws an amount in: a price is converted to the memo's, all else is in dollars."""
        value = value_at(self.params, input_id[6:]) if input_id.startswith("param:") else None
        if isinstance(value, Reference):
            return self._currency_of(str(value))
        return self.maker.currency if input_id.startswith("price:") else "USD"

    def _input_ids(self) -> list[str]:
        """Ids of all inputs that can be quoted."""
        params = [
            f"param:{group}.{key}"
            for group, fields in self.params
            if isinstance(fields, BaseModel)
            for key, _ in fields
        ]
        return [*(f"price:{i}" for i in self.price_book.items), *(f"evidence:{i}" for i in self.evidence), *params]

    def _stated(self, input_id: str) -> float | None:
        distribution = self.distribution(input_id)
        foreign = input_id.startswith("price:") and self.prices[input_id[6:]].currency != self.params.money.currency
        return distribution.mode if distribution.kind in ("fixed", "pert") and not foreign else None

    # ---- analyses, each computed once

    def result(self, analysis: str) -> Any:
        """The result of one of ANALYSES, computed on first use."""
        if analysis not in self._results:
            self._computing += 1
            try:
                found = import_module(f"fabricreport.sections.{_ROOM.get(analysis, analysis)}.study").run(self)
            finally:
                self._computing -= 1
            for made in self._made.values():
                self._refuse_second(found.numbers.get(made.id), made)
            self._results[analysis] = found
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
