"""One owner of every input: params, books and overrides, resolved once when a case is opened.

    given.draw("price:switch-qm9700")     # draws in the memo's currency, tagged with where they come from
    given.central("evidence:pue")         # the value in force as a point
    given.record("evidence:pue")          # the same for a reader, with the value replaced, who, why, until
    given.number("tco.mine", draws, "usd", label="...", rule="...")

Everything else asks here: no section and no model opens a book by itself, so what is overridden is overridden for all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from fabricreport.base.locations import did_you_mean
from fabricreport.base.memory import cached_method, forget, fresh_copy
from fabricreport.base.provenance import Traced, drawn_exactly, inputs_of, out_of_date, plain
from fabricreport.base.uncertain import Replaced, Uncertain
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.constants import catalogue, practice
from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.options import Option
from fabricreport.books.prices.book import PriceBook, PriceView
from fabricreport.books.prices.currency import Rate
from fabricreport.books.sellers import known_ids
from fabricreport.inputs.answers import Answered, BeforeAnswers, answered, decided_by, read_files
from fabricreport.inputs.offers import with_offers
from fabricreport.inputs.records import (
    QUOTABLE,
    contested_record,
    evidence_record,
    origin,
    param_record,
    price_record,
)
from fabricreport.inputs.replacements import Figures, InForce, deciding, read_elicited, resolved
from fabricreport.inputs.view import Books, Reader
from fabricreport.ledger.bases import Statistic
from fabricreport.ledger.numbers import Number, NumberMaker, weakest
from fabricreport.models.audit.disagreement import Contested
from fabricreport.models.collectives.parameters import Catalogue
from fabricreport.models.draws import Hypercubes, Sampler
from fabricreport.models.risk.entries import Effort
from fabricreport.models.training.parallel import Practice
from fabricreport.scenario import Params

DRAWS = 4096
"""Draws of a case unless it asks for fewer: enough for the P5 and P95 that the memo prints."""

CORRELATION = "evidence:correlation-within-group"
_RATE = "rate"
"""Before the currency in the key of an exchange rate's draws."""


class Inputs(Reader):
    """A buyer's params, the books as of the memo's date with the overrides in force, one seeded sample of it all."""

    def __init__(
        self,
        params: Params,
        folder: Path,
        evidence: EvidenceBook,
        price_book: PriceBook,
        options: Mapping[str, Option],
        *,
        draws: int | None = None,
        without_answers: Collection[str] = (),
    ) -> None:
        self.params, self.compares_for = params, params
        self._books = Books(folder, evidence, price_book, options)
        self.draws = DRAWS if draws is None else draws
        self._definitions = {item["id"]: item for item in read_yaml("contested")}
        self._weights = {e.id: float(read_yaml("prior_weights")[e.grade]) for e in evidence.values()}
        self._values: dict[str, Traced] = {}
        self._noted: list[set[str]] = []
        self._traced, self._hypercubes, self.answered = True, 0, Answered()
        self._quantities, self._builder = {}, self
        view = price_book.at(date.fromisoformat(str(params.as_of)))
        self.elicited = read_elicited(folder, params.elicited, view.as_of)
        self.offers, view = with_offers(folder, params, view)
        found = resolved(params, evidence, price_book, view, self.quantities, self.elicited.replaced(evidence))
        self.overrides, self._unasked = found.overrides, frozenset(without_answers)
        self._put(evidence, found.prices, found.figures)
        self.all_options = {o: option.priced(found.prices) for o, option in options.items()}
        if files := read_files(folder, params, self.catalogue):
            known = [self.built(o) for o in params.options if o in self.all_options.keys() - self.excluded]
            before = BeforeAnswers(self._copy(), known, self.offers, found.overrides, self.evidence.__getitem__)
            self.answered = answered(files, before, self._unasked)
            following = {i: o.follows for i, o in self.overrides.items() if o.follows in self.answered.figures}
            told = {i: (self.answered.figures[o][0], found.figures[i][1]) for i, o in following.items()}
            figures = {**found.figures, **self.answered.figures, **told}
            self._put(evidence, found.prices.plus(*self.answered.prices), figures)

    def _anew(self, params: Params, unasked: frozenset[str]) -> Inputs:
        """The same books read again under other params, for the same client."""
        b = self._books
        other = Inputs(params, b.folder, b.evidence, b.prices, b.options, draws=self.draws, without_answers=unasked)
        other.compares_for = self.compares_for
        return other

    def without_answers(self, questions: Collection[str]) -> Inputs:
        """The same inputs as if nobody had answered these questions, or any if none is named; draws are kept where nothing
        that they rest on is another."""
        other = self._anew(self.params, self._unasked | frozenset(questions or known_ids().values()))
        moved = {i for i, figure in self.answered.figures.items() if figure != other.answered.figures.get(i)}
        moved |= {i for i in other.answered.figures if i not in self.answered.figures}
        other._keep_draws(self, lambda i: not self.rests_on(i, moved))
        return other

    def _put(self, evidence: EvidenceBook, prices: PriceView, figures: Figures) -> None:
        by_kind: dict[str, dict[str, tuple[Uncertain, Replaced | None]]] = {}
        for input_id, figure in figures.items():
            kind, _, name = input_id.partition(":")
            by_kind.setdefault(kind, {})[name] = figure
        self.evidence = evidence.with_figures(by_kind.get("evidence", {}))
        self.prices = prices.with_figures(by_kind.get("price", {}))
        self._quantities = {**self._quantities, **by_kind.get("contested", {})}
        forget(self)

    def replacing(self, figures: Mapping[str, Uncertain]) -> Inputs:
        """The same inputs with other figures in force for these books' ids (in each entry's own unit and currency).

        Every other input keeps its draws; what does not depend on the ids is not drawn again. An override of one of the
        ids is no longer in force, and an entry that follows one of them follows the new figure.
        """
        other = self._copy()
        other.overrides = {i: o for i, o in self.overrides.items() if i not in figures}
        following = {i: figures[o.follows] for i, o in other.overrides.items() if o.follows in figures}
        in_force = {**following, **figures}
        other._put(self.evidence, self.prices, {i: (value, None) for i, value in in_force.items()})
        other._keep_draws(self, lambda i: not self.rests_on(i, figures))
        return other

    def rests_on(self, input_id: str, ids: Collection[str]) -> bool:
        """Whether any of these ids has a part in the draws of an input: itself, what it follows or refers to, the sources
        of a contested quantity, the exchange rate of a price, the correlation inside its group.
        """
        return input_id in ids or not self._behind(input_id).isdisjoint(ids)

    @cached_method
    def _behind(self, input_id: str) -> frozenset[str]:
        """Every other id that has a part in the draws of an input."""
        kind, _, name = input_id.partition(":")
        if kind == _RATE:
            return frozenset(self.prices.rate(name, self.currency).inputs)
        found = self.in_force(input_id)
        other = found.follows if found.id == input_id else found.id
        if other != input_id:
            return self._behind(other) | {other}
        if isinstance(found.value, Contested):
            return frozenset(self._speaking_on(name))
        if self._converted(found):
            return self._behind(f"{_RATE}:{found.currency}")
        return frozenset({CORRELATION} if found.moves_with_others else ())

    def bare(self) -> Inputs:
        """The same inputs without provenance: several times faster, for what-ifs that only ask which way the answer goes."""
        other = self._copy()
        other._traced = False
        other._values = {i: cast(Traced, plain(d)) for i, d in self._values.items()}
        return other

    def resampled(self, count: int, size: int) -> Inputs:
        """The same inputs drawn anew: `count` independently scrambled hypercubes of `size` draws, one after the other, none of
        them the case's own."""
        other = self._copy()
        other.draws, other._hypercubes, other._values = count * size, count, {}
        return other

    def tagged(self, values: Any, ids: set[str]) -> Traced:
        """Values that are made of these inputs, and all out of date where one of them is; bare inputs know no ids."""
        if not self._traced:
            return cast(Traced, plain(values))
        made = Traced(values, ids)
        return made if self.stale_ids.isdisjoint(ids) else out_of_date(made)

    @property
    def stale_ids(self) -> frozenset[str]:
        """The ids of prices that are out of date."""
        return self.prices.stale_ids

    def with_params(self, params: Params) -> Inputs:
        """The same books under other params; draws are kept where nothing that they rest on has changed."""
        ours = self.params
        if (deciding(params), decided_by(params)) != (deciding(ours), decided_by(ours)):
            return self._anew(params, self._unasked)
        other = self._copy()
        other.params, other._builder = params, other
        same = (params.seed, params.money.currency) == (ours.seed, ours.money.currency)
        other._keep_draws(self, lambda i: same and not i.startswith("param:"))
        return other

    def take_over(self, before: Inputs) -> frozenset[str] | None:
        """Take over the draws of the same client's inputs with other overrides, where nothing that they rest on is another.

        The ids whose figure in force differs; None where more differs than such figures, and nothing is taken over.
        """
        same = before.params.model_copy(update={"overrides": self.params.overrides}) == self.params
        if not same or self.answer_files or (self.all_options, self.options) != (before.all_options, before.options):
            return None
        moved = self.apart(before)
        self._keep_draws(before, lambda i: not before.rests_on(i, moved))
        return moved

    def apart(self, before: Inputs) -> frozenset[str]:
        """Ids of the entries whose figure in force is another than in these inputs."""
        moved = {i for i in {*self.overrides, *before.overrides} if self.overrides.get(i) != before.overrides.get(i)}
        for kind, now, then in (("evidence", self.evidence, before.evidence), ("price", self.prices, before.prices)):
            moved |= {f"{kind}:{i}" for i in {*now, *then} if now.get(i) != then.get(i)}
        moved |= {f"contested:{q}" for q, own in self._quantities.items() if own != before._quantities.get(q)}
        moved |= {f"contested:{q}" for q in before._quantities if q not in self._quantities}
        return frozenset(moved)

    def _copy(self) -> Inputs:
        other = fresh_copy(self)
        other._noted = []
        return other

    def _keep_draws(self, before: Inputs, kept: Callable[[str], bool]) -> None:
        """Take over the draws of another's inputs, as far as they are the same here."""
        self._values = {i: value for i, value in before._values.items() if kept(i)}

    # ---- what the models know before they meet a client

    @property
    def catalogue(self) -> Catalogue:
        """GPU and fabric classes, the library's constants and the fit of the collective model."""
        return catalogue()

    @property
    def practice(self) -> Practice:
        """Models to train, GPUs, and the rules of plans and steps."""
        return practice()

    def effort(self, option: Option) -> Effort:
        """What an option takes to build and run with the client's team."""
        return self.team.effort(option, lambda entry: self.value(f"evidence:{entry}"))

    # ---- the sample

    @property
    def sampler(self) -> Sampler:
        """The seeded streams of all inputs."""
        known = CORRELATION.partition(":")[2] in self.evidence
        own = int(self.params.seed), self.draws, self.central(CORRELATION) if known else 0.0
        return Hypercubes(*own, self._hypercubes) if self._hypercubes else Sampler(*own)

    def draw(self, input_id: str) -> Traced:
        """Draws (DRAWS,) of `price:…` (in the memo's currency), `evidence:…`, `contested:…` or `param:…`."""
        return self.spread(self.value(input_id))

    def value(self, input_id: str) -> Traced:
        """Draws of an input; a scalar that still knows where it comes from when every draw is the same."""
        self._note(input_id)
        if input_id not in self._values:
            found = self.in_force(input_id)
            made = self._values[input_id] = self._valued(found) if found.id == input_id else self.value(found.id)
            made.flags.writeable = (
                False  # a notebook that writes into it would change every number behind the ledger's back
            )
        return self._values[input_id]

    def own(self, input_id: str) -> Traced:
        """Draws of an input in its own unit and currency."""
        found = self.in_force(input_id)
        return self._as_stated(found) if self._converted(found) else self.draw(input_id)

    def _valued(self, found: InForce) -> Traced:
        """The value of an input in the memo's currency."""
        made: Any = self._as_stated(found)
        if self._converted(found):
            made = made * self.rate(found.currency)
            made = self.tagged(made, {*inputs_of(made)})
        draws = plain(made)
        return self.tagged(draws[0], {*inputs_of(made)}) if drawn_exactly(draws) else made

    def _as_stated(self, found: InForce) -> Traced:
        """Draws in the input's own unit and currency, under its own id; one replaced by a reference takes the other's."""
        self._note(found.id)
        if isinstance(found.value, Contested):
            return self.tagged(found.value.quantile(self.sampler.uniforms(found.id)), set())
        other = found if found.follows == found.id else self.in_force(found.follows)
        if other is not found:
            drawn = plain(self.own(found.follows))
        elif found.figure.fixed:  # what is known exactly needs no stream
            drawn = np.full(self.draws, found.figure.central)
        else:
            drawn = self.sampler.draws(found.figure, found.id, found.group)
        return self.tagged(drawn, {found.id, CORRELATION} if other.moves_with_others else {found.id})

    def _converted(self, found: InForce) -> bool:
        """Whether `draw` gives an input in another currency than its own."""
        return found.currency not in ("", self.currency)

    def rate(self, source: str) -> Any:
        """Units of the memo's currency for one of `source`: draws, or 1 where they are the same."""
        rate = self.prices.rate(source, self.currency)
        self._note(*rate.inputs)
        if not rate.inputs:
            return 1.0

        stream = f"{_RATE}:{source}"
        if stream not in self._values:
            drawn = np.full(self.draws, rate.rate)
            if rate.low < rate.high:
                spread = Uncertain("pert", rate.low, rate.rate, rate.high)
                drawn = self.sampler.draws(spread, "+".join(rate.inputs))
            self._values[stream] = self.tagged(drawn, set(rate.inputs))
        return self._values[stream]

    def money(self, input_id: str) -> Any:
        """Draws (or a scalar) of an amount in the memo's currency; evidence and params are stated in US dollars.

        A price that a param refers to is in the memo's currency already.
        """
        amount = self.value(input_id)
        return amount if self.in_force(input_id).currency else amount * self.rate("USD")

    def spread(self, values: Any) -> Traced:
        """A scalar or (DRAWS,) value as (DRAWS,), provenance kept."""
        wide = np.asanyarray(values, dtype=float)
        if wide.shape != (self.draws,):
            wide = np.broadcast_to(wide, (self.draws,))
        if isinstance(wide, Traced) or not self._traced:
            return cast(Traced, wide)
        return self.tagged(wide, set())

    # ---- the ledger

    @cached_property
    def maker(self) -> NumberMaker:
        """Makes ledger numbers from arrays of this case."""
        return NumberMaker(self, self.currency)

    def number(self, id: str, value: Any, unit: str, *, label: str, rule: str, **more: Any) -> Number:
        """A ledger number from a scalar or draws; its inputs follow from the array's provenance (see `NumberMaker`).

        `inputs` and `sources` name inputs by id, or are ledger numbers, whose own inputs and sources the number takes
        over: it is no firmer than they are.
        """
        ids, figures = self._footing(more.pop("inputs", ()))
        sources, told = self._footing(more.pop("sources", ()))
        taken = {i for figure in (*figures, *told) for i in figure.sources}
        made = self.maker.number(
            id, value, unit, label=label, rule=rule, inputs=ids, sources={*sources, *taken}, **more
        )
        if not figures:
            return made
        own = [made.grade] if made.inputs or made.sources or more.get("counted") else []
        grade = weakest([*own, *(f.grade for f in figures)], made.grade)
        return replace(made, grade=grade)

    def _footing(self, given: str | Number | Iterable[str | Number]) -> tuple[list[str], list[Number]]:
        """Input ids and figures a number is said to rest on; the figures' own inputs are among the first."""
        each = [given] if isinstance(given, str | Number) else list(given)
        figures = [one for one in each if isinstance(one, Number)]
        ids = [one for one in each if isinstance(one, str)]
        return [*ids, *(i for figure in figures for i in figure.inputs)], figures

    def ids(self) -> list[str]:
        """Ids of all inputs that can be quoted."""
        from pydantic import BaseModel

        params = [f"param:{g}.{k}" for g, fields in self.params if isinstance(fields, BaseModel) for k, _ in fields]
        quantities = [f"contested:{q}" for q in self.quantities]
        return [*(f"price:{i}" for i in self.prices), *(f"evidence:{i}" for i in self.evidence), *quantities, *params]

    @cached_method
    def record(self, input_id: str) -> dict[str, Any]:
        """Value in force, value replaced, unit, date, source, grade … of an input, as the ledger prints it.

        `KeyError` with the nearest id if no input has it.
        """
        kind, _, name = input_id.partition(":")
        try:
            if kind == "price":
                return price_record(self.prices[name])
            if kind == "evidence":
                return evidence_record(self.evidence[name])
            if kind == "contested":
                return contested_record(self.contested(name), *self._quantities.get(name, (None, None)))
            return param_record(self.params, name) if kind == "param" else QUOTABLE[kind](name)
        except (AttributeError, LookupError) as error:
            close = did_you_mean(input_id, self.ids())
            raise KeyError(f"no input {input_id}" + (f"; did you mean {close}?" if close else "")) from error

    def figure(self, input_id: str) -> Number:
        """The ledger number that quotes an input as it is stated."""
        record, found, rate = self.record(input_id), self.in_force(input_id), self.rate_of(input_id)
        draws = self.draw(input_id)
        exact = drawn_exactly(draws)
        books_own = input_id.startswith(("price:", "evidence:")) and found.figure.states_central
        stated = found.figure.central * rate.rate if books_own else None
        drawn = self.maker.number(
            f"stated.{input_id.replace(':', '.')}",
            float(draws[0]) if exact else plain(draws),
            found.unit if input_id.startswith("price:") else record["unit"],
            label=record["label"],
            rule=origin(record, stated=stated is not None),
            inputs=(input_id, *rate.inputs),
            digits=6 if exact else 3,
        )
        drawn = replace(drawn, currency=self.currency if found.currency else "USD")
        # A source's own central figure is quoted as it stands; the median of a distribution around it is ours.
        if stated is None:
            return drawn
        base = replace(drawn.based, statistic=Statistic.STATED)
        return replace(drawn, value=stated, digits=3 if rate.inputs else 6, base=base)

    def rate_of(self, input_id: str) -> Rate:
        """The exchange rate from the currency of a price to the memo's; of all else one for one."""
        name = input_id.removeprefix("price:")
        return self.prices.rate(self.currency if name == input_id else self.prices[name].currency, self.currency)
