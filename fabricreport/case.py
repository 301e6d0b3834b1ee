"""The one object a notebook needs: a buyer's inputs on shared draws, and every section's study, each made once.

    case = open_case("params/example.yaml")
    case.decision().verdict                # what to do, how sure
    case.figure("tco.difference")          # a ledger number by id
    case.inputs.draw("price:switch-qm9700")
    case.changed(cluster__gpus=2048, prices={"switch-qm9700": 30000}).decision()

A case is wiring: it hands each section its inputs and the results it builds on. It holds no formula, plots and prints
nothing; every study is lazy, pure and seeded, so each notebook recomputes what it shares with another and gets the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from fabricreport.before_after import changes_of
from fabricreport.books.evidence import read_evidence
from fabricreport.books.option_reader import read_options
from fabricreport.books.options import Option
from fabricreport.books.prices.book import PriceBook, PriceView
from fabricreport.chain import LOSSES, STEPS, Chain, chain
from fabricreport.errors import InputError, Problem
from fabricreport.findings import Spoken
from fabricreport.given import Given, if_there, read_given
from fabricreport.inputs import INPUT_KINDS, Inputs
from fabricreport.intake import faults_of
from fabricreport.ledger import Number
from fabricreport.located import did_you_mean
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.project import PARAMS, book_folder
from fabricreport.reads import VALUE, Reads, without_parts
from fabricreport.scenario import SECTION_NAMES, Params, changed_params, params_from
from fabricreport.sections.decision import findings as decision_findings
from fabricreport.sections.decision import study as decision
from fabricreport.sections.decision.information.knowledge import Knowledge
from fabricreport.sections.decision.inputs import comparison_of, judge_of
from fabricreport.sections.decision.monday.study import Monday, monday_of
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import Search, weeks_level
from fabricreport.sections.diligence import findings as diligence_findings
from fabricreport.sections.diligence import study as diligence
from fabricreport.sections.diligence.changes import Changes
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.evidence import findings as evidence_findings
from fabricreport.sections.evidence import study as evidence
from fabricreport.sections.evidence.answered import Buyer
from fabricreport.sections.evidence.result import EvidenceResult
from fabricreport.sections.latency import findings as latency_findings
from fabricreport.sections.latency import study as latency
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.short_names import names_told
from fabricreport.sections.tail_risk import findings as tail_findings
from fabricreport.sections.tail_risk import study as tail_risk
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tco import findings as tco_findings
from fabricreport.sections.tco import study as tco
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.result import TcoResult
from fabricreport.spine.spoken import spoken_of
from fabricreport.uncertain import Uncertain
from fabricreport.vocabulary import SPINES

Found = TypeVar("Found")
FIGURE = "figure:"
"""What the name of a value begins with that is a figure of another section."""
STUDY, PART = "study", "part"
"""What an id of something made, not read, begins with: a study, or a part of the chain."""
STATES_THE_LEAD = ("decision.difference", "tco.difference", "diligence.lead")
"""Ids of the figures that state the lead, one in each section that prints it."""


def open_case(params: str | Path | dict[str, Any], *, as_of: date | None = None) -> Case:
    """Read a params file (YAML, or the canonical JSON of a build) with its books; `InputError` lists every fault.

    `params` may be the same as plain data: then the books are the project's own. `as_of` replaces their date.
    """
    return _opened(params, as_of) if isinstance(params, dict) else _of_file(Path(params), as_of)


def _of_file(path: Path, as_of: date | None) -> Case:
    kept = _KEPT.pop(_identity(path), None) if as_of is None else None
    return kept.read_afresh() if kept else case_of(read_given(path, as_of))


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


_KEPT: dict[tuple[object, ...], Case] = {}


def keep_open(params: Path, case: Case) -> None:
    """Have the next `open_case` of this file give a case that was made of the same inputs, with all it has found so far.

    It is given once, and if the file has not changed: whoever opens the file again gets a case of its own, as ever.
    """
    case.inputs.move(params.resolve().parent)
    _KEPT[_identity(params)] = case


def let_go(params: Path) -> None:
    """Have the next `open_case` of this file read it."""
    _KEPT.pop(_identity(params), None)


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


@dataclass
class Studies:
    """What was made of a buyer's inputs, by name, each with what was read to make it; shared by whoever reads the case."""

    inputs: Inputs
    beyond: Reads
    made: dict[str, Any] = field(default_factory=dict)
    reads: dict[str, Reads] = field(default_factory=dict)


class Case:
    """A buyer's inputs and the studies made of them, each computed once."""

    def __init__(self, inputs: Inputs, studies: Studies | None = None) -> None:
        self._studies = studies or Studies(inputs, inputs.reads)
        self._readers = [Reads(self._studies.beyond)]
        self.inputs = inputs.read_by(self._readers[0])
        self._made: dict[str, Number] = {}

    def read_afresh(self) -> Case:
        """The same case for another reader: its studies stay as they are made, and what is read is noted anew."""
        return Case(self._studies.inputs, self._studies)

    @property
    def reads(self) -> frozenset[str]:
        """Ids of everything that was read of this case, with what the studies asked for were made of.

        A study counts as a whole with all that was ever read for it: its figures are made when they are asked for. A
        value of `VALUES`, or a figure quoted of another section, counts as itself: as long as it stays what it is, it
        does not matter what it was made of.
        """
        return self._made_of(self._readers[0].ids)

    def value(self, name: str) -> tuple[Any, frozenset[str]]:
        """One of `VALUES` or a figure, and the ids of everything it was made of; `KeyError` where there is none."""
        made = self._value(name)
        return made, self._made_of(self._studies.reads[name].ids)

    def _made_of(self, ids: Iterable[str]) -> frozenset[str]:
        found: set[str] = set()
        left = [*ids]
        while left:
            one = left.pop()
            if one in found:
                continue
            found.add(one)
            kind, _, name = one.partition(":")
            if kind == STUDY:
                left += self._studies.reads[name].ids
            elif kind == PART:
                left += self._studies.made["chain"].read[name]
        return without_parts(i for i in found if not i.startswith((f"{STUDY}:", f"{PART}:")))

    def problems(self) -> list[Problem]:
        """Every fault that only params and books together show: unknown references, a fabric that cannot be built."""
        return faults_of(self._studies.inputs.read_by(Reads()))  # noted nowhere: an opened case has none

    # ---- what the client says

    @property
    def params(self) -> Params:
        """The client's params."""
        return self.inputs.params

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
        return Case(self.inputs.with_params(params))

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
        """
        replaced = {"price": prices, "evidence": evidence, "contested": contested}
        figures = {f"{kind}:{i}": v for kind, given in replaced.items() for i, v in (given or {}).items()}
        params = changed_params(self.params, keys, figures, extra_options=self.inputs.all_options)
        case = self.with_params(params)
        if problems := faults_of(case.inputs):  # whether there are any is read, too
            raise InputError(problems)
        return case

    def without_answers(self, *questions: str) -> Case:
        """A what-if: as if nobody had answered these questions, or any if none is named."""
        return Case(self.inputs.without_answers(questions))

    # ---- studies, each made once

    @property
    def chain(self) -> Chain:
        """Exposed communication, losses and bills: what every study builds on."""
        return self._asked("chain", chain)

    def _part(self, part: str) -> Chain:
        """The chain for somebody who uses no more of it than one part, and what stands before it."""
        made = self._once("chain", chain)
        self._readers[-1].note_own(f"{PART}:{part}")
        return made

    @property
    def comparison(self) -> Comparison:
        """What is advised, its rival and its lead: made once, handed to every section."""
        return self._asked("comparison", lambda given: comparison_of(given, self.chain.bills))

    @property
    def compared(self) -> Mapping[str, Any]:
        """What every block of a memo says of the comparison, so that a section made on another one is found out."""
        compared: Mapping[str, Any] = self._value("compared")
        return compared

    @property
    def search(self) -> Search:
        """The inputs moved alone, for every section that asks what would turn the comparison."""
        return self._asked("search", lambda given: Search(self.chain.read_by(given), self.comparison))

    @property
    def knowledge(self) -> Knowledge:
        """What knowing inputs is worth, for every section that asks what to find out."""
        return self._asked(
            "knowledge", lambda given: Knowledge(given, self.chain.bills, judge_of(given), self._again(given))
        )

    @property
    def changes(self) -> Changes | None:
        """What the answers of sellers change; None where nobody has answered."""

        def make(given: Inputs) -> Changes | None:
            return changes_of(given, self.comparison, self.knowledge.offers) if given.answer_files else None

        return self._asked("changes", make)

    def _again(self, given: Inputs) -> Callable[[Mapping[str, Uncertain]], Bills]:
        """The bills with other figures in force."""
        base = self.chain.read_by(given)
        return lambda figures: base.replacing(figures).bills

    def latency(self) -> LatencyResult:
        """What latency costs this client."""

        def make(given: Inputs) -> LatencyResult:
            steps = self._part(STEPS)
            return latency.run(given, steps.exposure, steps.measurements, self._value("pair"))

        return self._study("latency", make)

    def tail(self) -> TailResult:
        """What could go wrong: tail, incidents, the date the run ends."""

        def make(given: Inputs) -> TailResult:
            found, lost = self._part(STEPS).exposure, self._part(LOSSES).losses
            exposed = {o.id: found.by_job(given, o.id) for o in given.options}
            hour, pair = self._value("hour"), self._value("pair")
            return tail_risk.run(given, exposed, self.latency().step_time_s, lost, hour, pair)

        return self._study("tail_risk", make)

    def tco(self) -> TcoResult:
        """What each option costs over the horizon."""
        return self._study("tco", lambda given: tco.run(given, self.chain.bills, self.comparison))

    def decision(self) -> DecisionResult:
        """What to do, how sure we are, and what would change it."""

        def make(given: Inputs) -> DecisionResult:
            return decision.run(given, self.search.read_by(given), self.knowledge.read_by(given))

        return self._study("decision", make)

    def diligence(self) -> DiligenceResult:
        """What each provider offers, what it has answered, and what is left to ask."""

        def make(given: Inputs) -> DiligenceResult:
            search = self.search.read_by(given)
            upstream = (self.latency(), self.tail(), self.tco(), self.comparison, weeks_level(search))
            knowledge = self.knowledge.read_by(given)
            return diligence.run(
                given,
                *upstream,
                lambda figures: search.fast.replacing(figures).bills,
                knowledge.worth,
                knowledge.saved,
                self.changes,
            )

        return self._study("diligence", make)

    def monday(self) -> Monday:
        """What to do before signing: who, by when, what it is worth."""
        return monday_of(self.inputs, self.decision(), self.diligence(), self.tail())

    def evidence(self) -> EvidenceResult:
        """The evidence behind this case: library, contested quantities, audited claims."""

        def make(given: Inputs) -> EvidenceResult:
            read = [self.latency().numbers, self.tail().numbers, self.tco().numbers, self.decision().numbers]
            articles = self.decision().articles
            return evidence.run(given, read, self.tco().inputs, Buyer(articles.facts, articles.stands))

        return self._study("evidence", make)

    def result(self, section: str) -> Any:
        """The study of one of SECTION_NAMES."""
        return getattr(self, "tail" if section == "tail_risk" else section)()

    def spoken(self, section: str) -> Spoken:
        """What a section found, named, and the words of its prose; of the memo's body, what all sections found."""
        return spoken_of(self, section) if section in SPINES else SPOKEN[section](self)

    def _once(self, name: str, make: Callable[[Inputs], Found]) -> Found:
        """What is made once, by a reader of its own."""
        if name not in self._studies.made:
            reads = Reads(self._studies.beyond)
            self._readers.append(reads)
            try:
                found = make(self._studies.inputs.read_by(reads))
            except BaseException:
                self._readers[-2].note_own(*reads.ids)  # whoever meets the error has read what led to it
                raise
            finally:
                self._readers.pop()
            self._studies.made[name], self._studies.reads[name] = found, reads
        result: Found = self._studies.made[name]
        return result

    def _value(self, name: str) -> Any:
        figure = name.removeprefix(FIGURE) if name.startswith(FIGURE) else ""
        found = self._once(name, lambda given: self._figure(figure) if figure else VALUES[name](self, given))
        self._readers[-1].note_own(f"{VALUE}:{name}")
        return found

    def _asked(self, name: str, make: Callable[[Inputs], Found]) -> Found:
        """The same, noted as read by whoever asks."""
        found = self._once(name, make)
        self._readers[-1].note_own(f"{STUDY}:{name}")
        return found

    def _study(self, section: str, make: Callable[[Inputs], Found]) -> Found:
        """A section's study; none of its figures may say otherwise than a number made before."""
        new = section not in self._studies.made
        found = self._asked(section, make)
        if new:
            numbers: Mapping[str, Number] = found.numbers  # type: ignore[attr-defined]
            for made in self._made.values():
                _refuse_second(numbers.get(made.id), made)
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
            if section in self._studies.made:
                _refuse_second(self.result(section).numbers.get(id), made)
        _refuse_second(self._made.get(id), made)
        self._made[id] = made
        return made

    def record(self, input_id: str) -> dict[str, Any]:
        """Value in force, value replaced, unit, date, source, grade … of an input, as the ledger prints it."""
        return self.inputs.record(input_id)

    def figure(self, figure_id: str) -> Number:
        """The ledger number with this id: an input (`price:…`, `evidence:…`, `param:…`), a figure of a section, or a
        number made with `number`."""
        if figure_id.startswith(INPUT_KINDS):
            return self.inputs.figure(figure_id)
        if figure_id in self._made:
            return self._made[figure_id]
        section = figure_id.partition(".")[0]
        if section in SECTION_NAMES and f"{STUDY}:{section}" not in self._readers[-1].ids:
            quoted: Number = self._value(f"{FIGURE}{figure_id}")  # of a study that this section makes no other use of
            return quoted
        return self._figure(figure_id)

    def _figure(self, figure_id: str) -> Number:
        section = figure_id.partition(".")[0]
        numbers: Mapping[str, Number] = self.result(section).numbers if section in SECTION_NAMES else {}
        if figure_id not in numbers:
            kinds = f"; a figure's id starts with {', '.join(SECTION_NAMES)}, or was given to case.number before"
            hint = f"; did you mean {close}?" if (close := did_you_mean(figure_id, [*numbers, *self._made])) else ""
            raise KeyError(f"no figure {figure_id}{hint or ('' if numbers else kinds)}")
        return numbers[figure_id]


def _refuse_second(first: Number | None, second: Number) -> None:
    if first is not None and first.as_dict() != second.as_dict():
        raise ValueError(
            f"{second.id} is {first.text} ({first.label}) already and cannot be {second.text} ({second.label}) too: "
            "give the second number an id of its own, or open the case again if you changed the first"
        )


def _compared(case: Case, given: Inputs) -> Mapping[str, Any]:
    found = case.comparison
    lead = given.number("comparison.lead", found.lead, "usd", label="", rule="", central="mean").text
    two = {"choice": found.choice, "rival": found.rival}
    return {**two, "lead": lead, "stated_as": list(STATES_THE_LEAD), "called": names_told(given.options, **two)}


VALUES: Mapping[str, Callable[[Case, Inputs], Any]] = {
    "compared": _compared,
    "pair": lambda case, _: (case.comparison.choice, case.comparison.rival),
    "hour": lambda case, _: case.chain.bills.common.gpu_hour_value,
}
"""Small things that follow from nearly all inputs and seldom move with one: a section may need no more of the bills."""

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
