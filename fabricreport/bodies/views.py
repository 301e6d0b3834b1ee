"""What a body asks of a case, what it calls options, and what the contract asks as it shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from fabricreport.base.locations import did_you_mean
from fabricreport.blocks import Column, Row, Table
from fabricreport.books.names import Names, option_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Listing, Name, Named, OptionName, Phrase, Spoken
from fabricreport.ledger.numbers import Number
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.steps import Monday
from fabricreport.sections.diligence.promises import Promise
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.tables import CREDIT_AT
from fabricreport.sections.evidence.result import EvidenceResult
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tco.result import TcoResult


class Told(Protocol):
    """A case, as far as the memo's body asks it."""

    @property
    def inputs(self) -> Inputs:
        """Every input, resolved."""
        ...

    def figure(self, figure_id: str) -> Number:
        """The ledger number with this id."""
        ...

    def spoken(self, section: str) -> Spoken:
        """Findings and words of a section."""
        ...

    def decision(self) -> DecisionResult:
        """The advice."""
        ...

    def monday(self) -> Monday:
        """What to do before signing."""
        ...

    def tco(self) -> TcoResult:
        """The bills."""
        ...

    def tail(self) -> TailResult:
        """Dates, faults and levers."""
        ...

    def evidence(self) -> EvidenceResult:
        """What the advice rests on."""
        ...

    def latency(self) -> LatencyResult:
        """Steps and messages."""
        ...

    def diligence(self) -> DiligenceResult:
        """Questions, sellers and the acceptance test."""
        ...


class AllFindings(Findings):
    """The spine's own findings and those of every section, by one name: the first that knows a name answers."""

    def __init__(self, own: Findings, sections: Sequence[Findings]) -> None:
        super().__init__(own.kind, own)
        self._asked = (own, *sections)

    def __getattr__(self, name: str) -> bool:
        if name.startswith("__") or name == "_asked":
            raise AttributeError(name)
        known = self.by_name()
        if name not in known:
            close = did_you_mean(name, known)
            raise AttributeError(f"no section has a finding {name}" + (f"; did you mean {close}?" if close else ""))
        return known[name]

    def by_name(self) -> dict[str, bool]:
        """Each finding of them all by its name, and whether it holds."""
        return {name: holds for found in reversed(self._asked) for name, holds in found.by_name().items()}


def body_names(given: Inputs, choice: str, rival: str) -> Mapping[str, Names]:
    """The names of every option, compared or not, in a body that weighs these two."""
    return option_names(given.options, choice, rival, tuple(given.all_options.values()))


def called(names: Mapping[str, Names], value: object) -> object:
    """A word of the body: options by their phrases, also those within a name; one alone keeps its whole name as `full`."""
    if isinstance(value, tuple | list):
        return type(value)(called(names, one) for one in value)
    if isinstance(value, Listing) or not isinstance(value, Name):
        return value
    if not isinstance(value, Named):
        alone = value.parts[0] if len(value.parts) == 1 else None
        return called(names, alone) if isinstance(alone, OptionName) else Name(text_called(names, value))
    said = {what: called(names, one) for what, one in value.said.items()}
    if isinstance(value, OptionName):
        return Phrase(names[value.key].phrase, value.key, **{**said, "full": Name(names[value.key].name)})
    return type(value)(text_called(names, value), value.key, **said)


def text_called(names: Mapping[str, Names], text: str) -> str:
    """A text with the options that it is made of by their phrases."""
    if isinstance(text, OptionName):
        return names[text.key].phrase
    return "".join(text_called(names, part) for part in text.parts) if isinstance(text, Name) else text


_WEEKS = "weeks"


class Agreed(StrEnum):
    """What a body says of damages."""

    CLAUSE_OF_ONE = "for weeks until stable of the one option that is ordered"
    CLAUSE_OF_BOTH = "for those of either of two"
    DAMAGES_SHARED = "as the share of the loss: nothing caps them"
    DELIVERY_PRICED = "for a late delivery as well"
    DELIVERY_ALONE = "for that alone: no network between nodes is bought"


def damages(case: Told) -> Iterator[Agreed]:
    """What holds of damages here; nothing where a network is rented, for its weeks stand among what has to pass."""
    terms, result = case.diligence().terms, case.decision()
    if terms.weeks is None:
        if terms.delivery.per_unit:
            yield Agreed.DELIVERY_ALONE
        return
    if not terms.weeks.per_unit or not result.courses.clauses:
        return
    both = case.diligence().terms_of_rival is not None
    yield Agreed.CLAUSE_OF_BOTH if both else Agreed.CLAUSE_OF_ONE
    if terms.weeks.by_share:
        yield Agreed.DAMAGES_SHARED
    if terms.delivery.per_unit:
        yield Agreed.DELIVERY_PRICED


def shown(result: DecisionResult, tests: DiligenceResult, told: Sequence[str] = ()) -> list[Promise]:
    """Those promises, without what is `told` elsewhere; the weeks until stable only where no clause limits them."""
    left = {*told, *([_WEEKS] if result.courses.clauses else [])}
    return [p for p in tests.promises if p.price is not None and p.id not in left]


def contract_table(given: Inputs, result: DecisionResult, tests: DiligenceResult, told: Sequence[str] = ()) -> Table:
    """What to pass and what the seller pays beyond it; of either of two where none is advised over the other."""
    promises, of_rival = shown(result, tests, told), {p.id: p for p in tests.promises_of_rival}
    late = tests.numbers.get("diligence.damages.weeks")

    def paid(promise: Promise) -> Number | None:
        return late if promise.id == _WEEKS and late is not None else promise.price

    if not of_rival:
        heads: list[str | Name] = ["Pass", CREDIT_AT, "The seller pays"]
        rows = [Row([p.title, p.passes, p.credit or p.passes, paid(p)]) for p in promises]
    else:
        pair = (tests.option.id, tests.rival.id)
        short = option_names(given.options, *pair)
        heads = [Name(f"{head}, {short[o].phrase}") for head in ("Pass", "It pays") for o in pair]
        both = [(p, of_rival[p.id]) for p in promises if p.id in of_rival]
        rows = [Row([p.title, p.passes, other.passes, paid(p), paid(other)]) for p, other in both]
    return Table([Column("Promise"), *(Column(head, style="mixed") for head in heads)], rows)
