"""The one object a notebook needs: a buyer's inputs on shared draws, and every section's study, each made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.base.project import PARAMS, book_folder
from fabricreport.base.text import Shown
from fabricreport.base.uncertain import Uncertain
from fabricreport.base.vocabulary import SPINES
from fabricreport.bodies.bodies import spoken_of
from fabricreport.books.evidence import read_evidence
from fabricreport.books.names import names_told
from fabricreport.books.options import Option, read_options
from fabricreport.books.prices.book import PriceBook, PriceView
from fabricreport.inputs.dossier import Given, if_there, read_given
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Spoken
from fabricreport.ledger.numbers import INPUT_KINDS, Number
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.scenario import SECTION_NAMES, Params, changed_params, params_from
from fabricreport.sections.chain import Chain, chain
from fabricreport.sections.decision import facts as decision_findings
from fabricreport.sections.decision import study as decision
from fabricreport.sections.decision import tables as decision_tables
from fabricreport.sections.decision.accounts import accounts_of
from fabricreport.sections.decision.courses.alternatives import single_node
from fabricreport.sections.decision.information import Knowledge
from fabricreport.sections.decision.inputs import comparison_of, judge_of
from fabricreport.sections.decision.offers.study import at_offer
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.steps import Monday, monday_of
from fabricreport.sections.decision.study import changes_of
from fabricreport.sections.decision.turning import Search
from fabricreport.sections.diligence import facts as diligence_findings
from fabricreport.sections.diligence import study as diligence
from fabricreport.sections.diligence.inputs import Ground, Within
from fabricreport.sections.diligence.result import Changes, DiligenceResult
from fabricreport.sections.evidence import facts as evidence_findings
from fabricreport.sections.evidence import study as evidence
from fabricreport.sections.evidence.result import EvidenceResult
from fabricreport.sections.faults import faults_of
from fabricreport.sections.latency import facts as latency_findings
from fabricreport.sections.latency import study as latency
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.tail_risk import facts as tail_findings
from fabricreport.sections.tail_risk import study as tail_risk
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tco import facts as tco_findings
from fabricreport.sections.tco import study as tco
from fabricreport.sections.tco.result import Bills, TcoResult


class Study(Protocol):
    """What a section finds: whatever else it holds, its figures by id."""

    @property
    def numbers(self) -> Mapping[str, Number]:
        """The figures."""


Found = TypeVar("Found", bound=Study)
STATES_THE_LEAD = ("decision.difference", "tco.difference", "diligence.lead")
"""Ids of the figures that state the lead, one in each section that prints it."""


def open_case(params: str | Path | dict[str, Any], *, as_of: date | None = None) -> Case:
    """Read a params file (YAML, or the canonical JSON of a build) with its books; `InputError` lists every fault.

    `params` may be the same as plain data: then the books are the project's own. `as_of` replaces their date.

    >>> open_case("params/example.yaml").params.cluster.gpus
    1024
    """
    return _opened(params, as_of) if isinstance(params, dict) else _of_file(Path(params), as_of)


def _of_file(path: Path, as_of: date | None) -> Case:
    identity = _identity(path)
    if as_of is not None or identity not in _KEPT:
        return case_of(read_given(path, as_of))
    kept = _KEPT[identity] = _KEPT[identity] or case_of(read_given(path))
    return kept.read_afresh()


def case_of(given: Given) -> Case:
    """The case of a params file and books that were read; `InputError` lists every fault of them."""
    loaded, library, prices, options = given.loaded, given.library, given.prices, given.options
    if loaded is None or library is None or prices is None or options is None:
        raise InputError(given.problems)
    case = Case(Inputs(loaded.params, given.folder, library, prices, options))
    problems = [loaded.placed(problem) for problem in case.problems()]
    if problems:
        raise InputError(problems)
    return case


_KEPT: dict[tuple[object, ...], Case | None] = {}


def keep_open(params: Path) -> None:
    """Have every `open_case` of this file alone, and books that nobody writes to, share the studies made of it. Each gives a
    case of its own all the same, which remembers the numbers that were made with it and no others."""
    _KEPT.clear()
    _KEPT[_identity(params)] = None


def _identity(params: Path) -> tuple[object, ...]:
    """What tells a file from every other and from itself once changed."""
    try:
        facts = params.stat()
    except OSError:
        return (str(params), None)
    return (str(params.resolve()), facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _opened(data: dict[str, Any], as_of: date | None) -> Case:
    """A case of params in memory, on the project's own books."""
    folder = PARAMS
    stated = data if as_of is None else {**data, "as_of": as_of.isoformat()}
    options = read_options(if_there(book_folder(folder, "options")))
    params = params_from(stated, extra_options=options)
    library = read_evidence(if_there(book_folder(folder, "evidence")))
    case = Case(Inputs(params, folder, library, PriceBook.read(folder / "prices"), options))
    if problems := case.problems():
        raise InputError(problems)
    return case


class Studies:
    """What is found out of a buyer's inputs, each study made when it is first asked for."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs

    @cached_property
    def chain(self) -> Chain:
        """Exposed communication, losses and bills, of a renter at the price of the offer advised: what every study builds on."""
        return at_offer(chain(self.inputs))

    @cached_property
    def comparison(self) -> Comparison:
        """What is advised, its rival and its lead: made once, handed to every section."""
        return comparison_of(self.inputs, self.chain.bills)

    @cached_property
    def compared(self) -> Mapping[str, Any]:
        """What every block of a memo says of the comparison, so that a section made on another one is found out."""
        given, found = self.inputs, self.comparison
        two = {"choice": found.choice, "rival": found.rival}
        lead = given.number("comparison.lead", found.lead, "usd", label="", rule="", central="mean").text
        return {**two, "lead": lead, "stated_as": [*STATES_THE_LEAD], "called": names_told(given.options, **two)}

    @cached_property
    def search(self) -> Search:
        """The inputs moved alone, for every section that asks what would turn the comparison."""
        return Search(self.chain, self.comparison)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What knowing inputs is worth, for every section that asks what to find out."""
        given, base = self.inputs, self.chain
        return Knowledge(given, base.bills, judge_of(given), lambda figures: base.replacing(figures).bills)

    @cached_property
    def changes(self) -> Changes | None:
        """What the answers of sellers change; None where nobody has answered."""
        given = self.inputs
        return changes_of(given, self.comparison, self.knowledge.offers) if given.answer_files else None

    @cached_property
    def latency(self) -> LatencyResult:
        """What latency costs this client."""
        base, found = self.chain, self.comparison
        return latency.run(self.inputs, base.exposure, base.measurements, (found.choice, found.rival))

    @cached_property
    def tail_risk(self) -> TailResult:
        """What could go wrong: tail, incidents, the date the run ends."""
        given, base, found = self.inputs, self.chain, self.comparison
        exposed = {o.id: base.exposure.by_job(given, o.id) for o in given.options}
        hour, pair = base.bills.common.gpu_hour_value, (found.choice, found.rival)
        standby, step_s = base.exposure.jobs.standby, self.latency.step_time_s
        return tail_risk.run(given, exposed, standby, step_s, base.losses, hour, pair)

    @cached_property
    def tco(self) -> TcoResult:
        """What each option costs over the horizon."""
        return tco.run(self.inputs, self.chain.bills, self.comparison, self._sized)

    def _sized(self, gpus: int) -> Bills:
        """The bills of another number of GPUs, of the same client and options."""
        given = self.inputs
        keys = {"cluster__gpus": gpus, "options": list(given.params.options)}
        params = changed_params(given.params, keys, {}, extra_options=given.all_options)
        return self.chain.again(given.with_params(params)).bills

    @cached_property
    def decision(self) -> DecisionResult:
        """What to do, how sure we are, and what would change it."""
        return decision.run(self.search, lambda: self.knowledge, lambda: self.monday)

    @cached_property
    def diligence(self) -> DiligenceResult:
        """What each provider offers, what it has answered, and what is left to ask."""
        search = self.search
        on = Ground(
            self.inputs,
            *(self.latency, self.tail_risk, self.tco, self.comparison),
            lambda figures: search.fast.replacing(figures).bills,
            self.knowledge.worth,
            self.decision.joins_nodes,
            self._within(),
        )
        return diligence.run(on, self.changes)

    def _within(self) -> Within | None:
        """The work in jobs within nodes, where they are advised."""
        found, search = self.decision, self.search
        if not found.in_nodes:
            return None

        def moved(figures: Mapping[str, Uncertain]) -> Any:
            again = search.fast.replacing(figures)
            return single_node(again.given, again, found.courses.base).total

        return Within(found.courses.single.total, moved)

    @cached_property
    def monday(self) -> Monday:
        """What to do before signing: who, by when, what it is worth."""
        return monday_of(self.inputs, self.decision, self.diligence, self.tail_risk)

    @cached_property
    def evidence(self) -> EvidenceResult:
        """The evidence behind the advice: the inputs of the totals and courses compared, of offers, of dates and pass values."""
        found, weeks, promises = self.decision, self.tail_risk.numbers, self.diligence.promises
        tuned = () if found.in_nodes else self.inputs.options
        dates = [weeks.get(f"tail_risk.weeks.{option.id}") for option in tuned]
        carrying = [*filter(None, dates), *(promise.passes for promise in promises)]
        behind = found.behind if found.in_nodes else self.tco.inputs
        bills = {*behind, *found.relied_on, *(i for number in carrying for i in number.inputs)}
        offers = found.offers
        offered = {i for total in offers.totals.values() for i in total.inputs} if offers else set()
        return evidence.run(self.inputs, bills, offered)


class Case(Shown):
    """A buyer's inputs and the studies made of them, each computed once."""

    def __init__(self, inputs: Inputs, studies: Studies | None = None) -> None:
        self.inputs = inputs
        self.studies = studies or Studies(inputs)
        self.made: dict[str, Number] = {}
        """The numbers of the reader's own, by id."""

    def read_afresh(self) -> Case:
        """The same case for another reader: its studies stay as they are made, and no number is made yet."""
        return Case(self.inputs, self.studies)

    def problems(self) -> list[Problem]:
        """Every fault that only params and books together show: unknown references, a fabric that cannot be built."""
        return faults_of(self.inputs)

    # ---- what the client says

    @property
    def params(self) -> Params:
        """The client's params."""
        return self.inputs.params

    @property
    def facts(self) -> Mapping[str, str]:
        """What it shows of itself."""
        told, names = self.params, ", ".join(option.name for option in self.options)
        size = f"{told.money.acquisition} {told.cluster.gpus:,} {told.cluster.gpu}"
        return {"Case": f"{told.client.name}, {self.as_of}: {size}, on {names}"}

    @property
    def as_of(self) -> date:
        """The memo's date."""
        return self.inputs.as_of

    @property
    def prices(self) -> PriceView:
        """The prices of the memo's date, overrides in force."""
        return self.inputs.prices

    @property
    def options(self) -> tuple[Option, ...]:
        """The options to compare, in the params' order."""
        return self.inputs.options

    @property
    def names(self) -> tuple[str, ...]:
        """Names that may hold digits wherever they are printed."""
        return self.inputs.names

    # ---- what-ifs

    def with_params(self, params: Params) -> Case:
        """The same books under other params."""
        inputs = self.inputs.with_params(params)
        inputs.compares_for = params
        return Case(inputs)

    def changed(
        self,
        *,
        prices: Mapping[str, Any] | None = None,
        evidence: Mapping[str, Any] | None = None,
        contested: Mapping[str, Any] | None = None,
        **keys: Any,
    ) -> Case:
        """A what-if: `cluster__gpus=2048` sets a key of the params, the others override entries of the books by id.

        Values are written as in the params file. `InputError` names what is wrong with them.
        >>> case.changed(cluster__gpus=512, prices={"electricity": 0.12}).params.cluster.gpus
        512
        """
        replaced = {"price": prices, "evidence": evidence, "contested": contested}
        figures = {f"{kind}:{i}": v for kind, given in replaced.items() for i, v in (given or {}).items()}
        return self.tried({**{key.replace("__", "."): value for key, value in keys.items()}, **figures})

    def tried(self, changes: Mapping[str, Any]) -> Case:
        """A what-if by dotted keys (`cluster.gpus`) and ids of entries (`price:…`), by which what is wrong is told."""
        figures = {key: value for key, value in changes.items() if key.startswith(INPUT_KINDS)}
        keys = {key.replace(".", "__"): value for key, value in changes.items() if key not in figures}
        try:
            case = self.with_params(changed_params(self.params, keys, figures, extra_options=self.inputs.all_options))
            if problems := case.problems():
                raise InputError(problems)
        except InputError as error:
            ids = [*(o.id for o in self.params.overrides if o.id not in figures), *figures]
            at = {f"overrides[{number}]": input_id for number, input_id in enumerate(ids)}
            raise InputError(replace(p, key=at.get(p.key.partition(".")[0], p.key)) for p in error.problems) from None
        moved = case.inputs.take_over(self.inputs)
        if moved is not None and "chain" in vars(self.studies) and self.chain.measurements is None:
            case.studies.chain = at_offer(self.chain.onto(case.inputs, moved))
        return case

    def without_answers(self, *questions: str) -> Case:
        """A what-if: as if nobody had answered these questions, or any if none is named."""
        return Case(self.inputs.without_answers(questions))

    # ---- studies, each made once

    @property
    def chain(self) -> Chain:
        """What every study builds on."""
        return self.studies.chain

    @property
    def comparison(self) -> Comparison:
        """What is advised, its rival and its lead."""
        return self.studies.comparison

    @property
    def compared(self) -> Mapping[str, Any]:
        """What every block of a memo says of the comparison."""
        return self.studies.compared

    @property
    def knowledge(self) -> Knowledge:
        """What knowing inputs is worth."""
        return self.studies.knowledge

    @property
    def changes(self) -> Changes | None:
        """What the answers of sellers change; None where nobody has answered."""
        return self.studies.changes

    def latency(self) -> LatencyResult:
        """What latency costs this client."""
        return self._agreeing(self.studies.latency)

    def tail(self) -> TailResult:
        """What could go wrong: tail, incidents, the date the run ends."""
        return self._agreeing(self.studies.tail_risk)

    def tco(self) -> TcoResult:
        """What each option costs over the horizon."""
        return self._agreeing(self.studies.tco)

    def decision(self) -> DecisionResult:
        """What to do, how sure we are, and what would change it; `advice` says it in short."""
        return self._agreeing(self.studies.decision)

    def diligence(self) -> DiligenceResult:
        """What each provider offers, what it has answered, and what is left to ask."""
        return self._agreeing(self.studies.diligence)

    def monday(self) -> Monday:
        """What to do before signing: who, by when, what it is worth."""
        return self.studies.monday

    def evidence(self) -> EvidenceResult:
        """The evidence behind the advice."""
        return self._agreeing(self.studies.evidence)

    def result(self, section: str) -> Any:
        """The study of one of SECTION_NAMES."""
        return self._agreeing(getattr(self.studies, section))

    def spoken(self, section: str) -> Spoken:
        """What a section found, named, and the words of its prose; of the memo's body, what all found. A section that tells
        networks apart says nothing where jobs within nodes are advised; one of the client's own has the decision's words."""
        if section in SPINES:
            return spoken_of(self, section)
        if section not in SPOKEN and section not in self.params.extras:
            raise KeyError(f"no section {section}; the params name one of the client's own: extra: [{section}.ipynb]")
        found = SPOKEN.get(section, SPOKEN["decision"])(self)
        return found.silent() if section in OF_NETWORKS and self.decision().in_nodes else found

    def _agreeing(self, found: Found) -> Found:
        """A section's study; none of its figures may say otherwise than a number made before."""
        for made in self.made.values():
            _refuse_second(found.numbers.get(made.id), made)
        return found

    # ---- the ledger

    def number(self, id: str, value: Any, unit: str, *, label: str, rule: str, **more: Any) -> Number:
        """A ledger number of a notebook's own, from a scalar or draws; its inputs follow from the array's provenance.

        `inputs` names inputs, or figures (ledger numbers or their ids), whose own inputs and sources the number takes
        over: it is no firmer than they are. The number is remembered: from then on `{id}` quotes it, in prose and in
        Markdown cells. Its id may have any first word; a second, different value under the same id is refused.
        """
        for key in ("inputs", "sources"):
            given = more.get(key, ())
            each = (given,) if isinstance(given, str | Number) else given
            more[key] = [self.figure(i) if isinstance(i, str) and ":" not in i else i for i in each]
        made = self.inputs.number(id, value, unit, label=label, rule=rule, **more)
        for section in SECTION_NAMES:
            if section in vars(self.studies):
                _refuse_second(self.result(section).numbers.get(id), made)
        _refuse_second(self.made.get(id), made)
        self.made[id] = made
        return made

    def headline(self) -> tuple[dict[str, Any], list[Number]]:
        """What a run tells of the memo: the advice in keys, and the figures that answer the client's question."""
        return decision_tables.headline(self.inputs, self.decision(), self.figure)

    def accounts(self) -> dict[str, Any]:
        """What page one compares as a workbook lays it out: the central case with its formulas, and the limits of prices."""
        search, pair = self.studies.search, self.comparison.verdict.pair
        return accounts_of(self.chain, search.fast, search.judge, pair, self.decision().offers)

    def record(self, input_id: str) -> dict[str, Any]:
        """Value in force, value replaced, unit, date, source, grade … of an input, as the ledger prints it."""
        return self.inputs.record(input_id)

    def figure(self, figure_id: str) -> Number:
        """The ledger number with this id: an input (`price:…`, `evidence:…`, `param:…`), a figure of a section, or a
        number made with `number`."""
        if figure_id.startswith(INPUT_KINDS):
            return self.inputs.figure(figure_id)
        if figure_id in self.made:
            return self.made[figure_id]
        section = figure_id.partition(".")[0]
        numbers: Mapping[str, Number] = self.result(section).numbers if section in SECTION_NAMES else {}
        if figure_id not in numbers:
            kinds = f"; a figure's id starts with {', '.join(SECTION_NAMES)}, or was given to case.number before"
            hint = f"; did you mean {close}?" if (close := did_you_mean(figure_id, [*numbers, *self.made])) else ""
            raise KeyError(f"no figure {figure_id}{hint or ('' if numbers else kinds)}")
        return numbers[figure_id]


def _refuse_second(first: Number | None, second: Number) -> None:
    if first is not None and first.as_dict() != second.as_dict():
        raise ValueError(
            f"{second.id} is {first.text} ({first.label}) already and cannot be {second.text} ({second.label}) too: "
            "give the second number an id of its own, or open the case again if you changed the first"
        )


OF_NETWORKS = frozenset({"latency", "tco", "tail_risk"})
"""The sections that tell networks between nodes apart, and nothing else."""
SPOKEN: Mapping[str, Callable[[Case], Spoken]] = {
    "decision": lambda case: decision_findings.spoken(
        case.inputs, case.decision(), case.tco(), case.monday(), case.figure, case.changes
    ),
    "tail_risk": lambda case: tail_findings.spoken(case.inputs, case.tail()),
    "diligence": lambda case: diligence_findings.spoken(case.inputs, case.diligence()),
    "latency": lambda case: latency_findings.spoken(case.inputs, case.latency(), case.figure),
    "tco": lambda case: tco_findings.spoken(case.inputs, case.tco()),
    "evidence": lambda case: evidence_findings.spoken(case.inputs, case.evidence()),
}
"""How each section's findings and words are made from a case."""
