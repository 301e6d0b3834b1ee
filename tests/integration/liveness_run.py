"""Does an input move anything? Each is set to another value, and what the studies then print is compared.

`python tests/integration/liveness_run.py` writes the table anew (`fabricreport/evidence/liveness.csv`): a few minutes.
`... liveness_run.py --missing` only adds the rows of inputs that have none and drops those of inputs that are gone;
ids after it (`evidence:pue`) have their rows made anew too.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml

from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.options import Piece
from fabricreport.books.references import shipped_references
from fabricreport.bounds import Bound, bound_of, price_bound
from fabricreport.case import Case, open_case
from fabricreport.chain import STEPS as STEPS_OF_CHAIN
from fabricreport.chain import Chain
from fabricreport.checking.liveness import CONTEXT, LIVE, is_quotation
from fabricreport.checking.plausibility import cautions
from fabricreport.checking.trial import FOUNDERS
from fabricreport.inputs import CORRELATION, Inputs
from fabricreport.ledger import Number
from fabricreport.scenario import changed_params
from fabricreport.sections.decision.articles.facts import article_facts
from fabricreport.sections.evidence import study as evidence
from fabricreport.sections.evidence.answered import Buyer
from fabricreport.uncertain import Uncertain, exactly

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "data" / "liveness_cases.yaml"
PARAMS = ROOT / "tests" / "data" / "liveness_params.yaml"
TABLE = ROOT / "fabricreport" / "evidence" / "liveness.csv"
COLUMNS = ("id", "status", "case", "figures", "reason")
HEAD = "# Made by tests/integration/liveness_run.py and held true by test_liveness.py: what each input moves, or why it is context.\n"
SHOWN = 3
"""Figures named for each input."""
DRAWS = 256
STUDIES = ("latency", "tail_risk", "tco", "diligence", "evidence")
STEPS = (*STUDIES, "advice", "cautions", "decision")
"""What is computed of a case, the dearest last: the studies, the advice in words, and the cautions."""

BY_PROVENANCE = ("diligence", "decision")
"""Studies whose figures follow from what others are made of: run with provenance, the others faster without."""

AT_OPENING = "evidence:answer-noise-"
"""What the ids of entries begin with that decide which figures are in force, and are asked for no more after that."""

FACTORS = (1.3, 0.5, 0.1)
WORDS = ("low", "medium", "high")
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Change:
    """Another value of an input of the books."""

    input_id: str
    value: Uncertain | str


@dataclass(frozen=True)
class Printed:
    """What a step of a case prints, by figure id: the texts, the inputs, and which figures only quote an input."""

    texts: Mapping[str, str]
    inputs: Mapping[str, frozenset[str]]
    quotes: frozenset[str] = frozenset()


@dataclass
class Tried:
    """A case, and by step what it prints and which inputs were asked for on the way."""

    name: str
    case: Case
    asked: dict[str, set[str]] = field(default_factory=dict)
    found: dict[str, Printed] = field(default_factory=dict)

    @cached_property
    def bare(self) -> Chain:
        """The chain ready to be run again."""
        return self.case.chain.bare()

    def printed(self, step: str) -> Printed:
        """What a step prints; it is computed once."""
        if step not in self.found:
            _ = self.case.chain
            if step != "advice":  # the comparison is made once and handed on
                self.printed("advice")
            with self.case.inputs.noting() as asked:
                numbers, words = of_step(self.case, step)
            self.asked[step] = asked
            quotes = frozenset(n.id for n in numbers if is_quotation(n, self.case.inputs))
            self.found[step] = Printed(_texts(numbers, words), {n.id: frozenset(n.inputs) for n in numbers}, quotes)
        return self.found[step]

    def reaches(self, ids: set[str], step: str) -> bool:
        """Whether a step can depend on any of the ids: it, or what it is handed, asked for one."""
        parts = self.case.chain.asked
        lists = self.lists(ids, step)
        everything = {*self.case.chain.reached_by, *self.asked["advice"]}
        steps = frozenset().union(*(asked for part, asked in parts.items() if part.startswith(STEPS_OF_CHAIN)))
        handed: Mapping[str, Set[str]] = {"latency": steps, "evidence": frozenset()}
        return lists or bool(ids & handed.get(step, everything) or ids & self.asked[step])

    def lists(self, ids: set[str], step: str) -> bool:
        """Whether a figure of a step that is more than a quotation names one of the ids among its inputs."""
        found = self.printed(step)
        return any(ids & behind for figure, behind in found.inputs.items() if figure not in found.quotes)


def of_step(case: Case, step: str) -> tuple[tuple[Number, ...], dict[str, str]]:
    """The figures and the words that one step of a case makes."""
    if step == "advice":
        verdict = case.comparison.verdict
        words = ("choice", "runner_up", "confidence", "decided_by")
        return (), {f"advice.{word}": str(getattr(verdict, word)) for word in words}
    if step == "cautions":
        return (), {f"caution.{c.id}": str(c) for c in cautions(case)}
    if step == "evidence":  # of the other studies it only needs to know what they rest on: here, every price
        buyer = Buyer(article_facts(case.inputs), {})
        found = evidence.run(case.inputs, [], frozenset(f"price:{item}" for item in case.prices), buyer)
        return tuple(found.numbers.values()), {}
    return tuple(case.result(step).numbers.values()), {}


def _texts(numbers: Iterable[Number], words: Mapping[str, str]) -> dict[str, str]:
    """Every word, and every figure with its ends, each to its own digits: on one scale a small end hides what moves it."""
    return {**words, **{n.id: f"{n.text} {n.as_dict()['spread_text']}" for n in numbers}}


def moved(before: Printed, case: Case, step: str) -> list[str]:
    """Figures that read otherwise in another case, quotations left out.

    The decision prints the widest swings; which one of two equal swings is the last is no movement of anything.
    """
    now = _texts(*of_step(case, step))
    either = {*before.texts, *now} - before.quotes
    if step == "decision":
        either &= {*before.texts} & {*now}
    return sorted(i for i in either if before.texts.get(i) != now.get(i))


@lru_cache(maxsize=1)
def tried_cases() -> dict[str, Tried]:
    """Every case of the file, with few draws; nothing is computed yet."""
    found = {}
    for name, changes in yaml.safe_load(CASES.read_text(encoding="utf-8")).items():
        found[name] = Tried(name, few(open_case(_params(changes))))
    return found


def _params(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The example of the shipped params, its sections replaced by those given."""
    data = yaml.safe_load((ROOT / "params" / "example.yaml").read_text(encoding="utf-8"))
    data["as_of"] = str(data["as_of"])
    return {**data, **changes}


def few(case: Case) -> Case:
    """The case with few draws."""
    i = case.inputs
    return Case(Inputs(i.params, i.folder, i.shipped, i.price_book, i.all_options, draws=DRAWS))


# ---- books: prices, evidence, contested quantities


def book_ids() -> list[str]:
    """Every price with a usable row on the day, every entry of the library, every contested quantity."""
    given = tried_cases()["plain buyer"].case.inputs
    return [
        *(f"price:{i}" for i in sorted(given.prices)),
        *(f"evidence:{i}" for i in sorted(given.evidence)),
        *(f"contested:{q}" for q in sorted(given.quantities)),
    ]


@dataclass(frozen=True)
class Moved:
    """The case in which an input moves something, and some of the figures."""

    case: str
    figures: tuple[str, ...]


def moved_by(input_id: str) -> Moved | None:
    """What an input of the books moves, in the first case in which it does; None if it moves nothing anywhere.

    A contested quantity is itself what the section on the evidence prints of it, so there it is only quoted.
    """
    steps = [step for step in STEPS if step != "evidence" or not input_id.startswith("contested:")]
    given = tried_cases()["plain buyer"].case.inputs
    ids = together(given, input_id)
    likeliest = sorted(tried_cases().values(), key=lambda tried: not any(tried.lists(ids, s) for s in STUDIES))
    for tried in likeliest:
        for figures in _moved(tried, input_id, sorted(steps, key=lambda step: not tried.lists(ids, step))):
            return Moved(tried.name, tuple(figures[:SHOWN]))
    special = special_case(input_id)
    figures = next(_moved(special, input_id, ("tco",)), []) if special else []
    return Moved(special.name, tuple(figures[:SHOWN])) if special and figures else None


def still_moves(input_id: str, claim: Moved) -> bool:
    """Whether the input moves the figures in that case."""
    tried = special_case(input_id) if claim.case.startswith(REFERS) else tried_cases()[claim.case]
    if tried is None:
        return False
    steps = {_step_of(figure) for figure in claim.figures}
    return any(set(claim.figures) <= set(figures) for figures in _moved(tried, input_id, sorted(steps)))


def _step_of(figure: str) -> str:
    first = figure.partition(".")[0]
    return {"caution": "cautions", "sources": "evidence"}.get(first, first)


def together(given: Inputs, input_id: str) -> set[str]:
    """The input, and the contested quantities that it is counted in."""
    quantities = given.quantities_of([input_id])
    counted = [q for q in quantities if any(input_id == f"evidence:{p.id}" for p in given.contested(q).admissible)]
    return {input_id, *(f"contested:{q}" for q in counted)}


def _moved(tried: Tried, input_id: str, steps: Iterable[str]) -> Iterator[list[str]]:
    """Figures that move, by step and value; no step is run again that the input cannot reach."""
    given = tried.case.inputs
    ids = together(given, input_id)
    steps = [step for step in steps if tried.reaches(ids, step)]
    if is_words(given, input_id):  # a figure that counts what the words list does not read them
        steps = [step for step in steps if ids & {*tried.case.chain.reached_by, *tried.asked[step]}]
    changes = _changes(tried.case.inputs, input_id) if steps else []
    made: dict[tuple[int, bool], Case] = {}
    for step in steps:
        traced = step in BY_PROVENANCE
        for n, change in enumerate(changes[: 1 if step == "decision" else None]):  # dear, and compared in parts before
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if (n, traced) not in made:
                        made[n, traced] = _changed(tried, ids, change, traced)
                    figures = moved(tried.printed(step), made[n, traced], step)
            except FOUNDERS:
                continue
            if figures:
                yield figures


def is_words(given: Inputs, input_id: str) -> bool:
    """Whether the input is a fact in words."""
    kind, _, name = input_id.partition(":")
    return kind == "evidence" and given.evidence[name].kind == "text"


def _changes(given: Inputs, input_id: str) -> list[Change]:
    """Other values of the input, each well inside its bounds; other words for a fact in words."""
    if is_words(given, input_id):
        return [Change(input_id, word) for word in WORDS]
    return [Change(input_id, v) for v in other_values(given.uncertain(input_id), _bound(given, input_id))]


def _changed(tried: Tried, ids: set[str], change: Change, traced: bool) -> Case:
    """The case with the input changed; what the change does not reach stands."""
    chain = tried.case.chain if traced else tried.bare
    if change.input_id.startswith(AT_OPENING) and not isinstance(change.value, str):
        return Case(_opened_with(chain.given, change.input_id, change.value))
    given = _inputs_with(chain.given, change)
    reached = bool(ids & chain.reached_by)
    if change.input_id == CORRELATION or (reached and isinstance(change.value, str)):
        return Case(given)
    figures = {} if isinstance(change.value, str) else {change.input_id: change.value}
    other = chain.replacing(figures) if reached else replace(chain, given=given)
    case = Case(other.given)
    put(case, "chain", other)
    if not tried.reaches(ids, "advice"):
        put(case, "comparison", tried.case.comparison)
    for study in ("latency", "tail_risk", "tco", "diligence"):
        if not tried.reaches(ids, study):
            put(case, study, tried.case.result(study))
    return case


def put(case: Case, name: str, made: object) -> None:
    """Have the case take over something made elsewhere."""
    case._found[name] = made


def _inputs_with(given: Inputs, change: Change) -> Inputs:
    if not isinstance(change.value, str):
        return given.replacing({change.input_id: change.value})
    return _opened_with(given, change.input_id, change.value)


def _opened_with(given: Inputs, input_id: str, value: Uncertain | str) -> Inputs:
    """The inputs opened with another value in the library."""
    name = input_id.partition(":")[2]
    book = EvidenceBook(replace(e, value=value) if e.id == name else e for e in given.shipped.values())
    return Inputs(given.params, given.folder, book, given.price_book, given.all_options, draws=given.draws)


def _bound(given: Inputs, input_id: str) -> Bound:
    kind, _, name = input_id.partition(":")
    if kind == "price":
        return price_bound(given.prices[name].unit, given.prices[name].currency)
    return bound_of(given.evidence[name].unit if kind == "evidence" else given.contested(name).unit)


def other_values(figure: Uncertain, bound: Bound) -> list[Uncertain]:
    """The figure scaled, where all of it stays possible; else, and for a figure of 0, points inside the bounds."""
    whole = figure.kind != "interval" or figure.low > 0  # else some draws would be negative
    scaled = [figure.times(f) if whole else exactly(figure.mode * f) for f in FACTORS if figure.mode]
    possible = [f for f in scaled if all(bound.allows(end) for end in (f.low, f.mode, f.high))]
    span = bound.high - bound.least
    shares = (0.1, 0.9, 0.99) if figure.mode else (1e-6, 1e-4, 0.01, 0.5)
    inside = [exactly(bound.least + span * share) for share in shares]
    return [*possible, *(p for p in inside if bound.allows(p.mode))]


def special_case(input_id: str) -> Tried | None:
    """The plain buyer made to refer to a price that no shipped option or server does; None where nobody could."""
    kind, _, item = input_id.partition(":")
    chain = tried_cases()["plain buyer"].case.chain
    slot = next((s for start, s in SLOTS.items() if item.startswith(start)), "")
    if kind != "price" or not slot:
        return None
    given = chain.given
    if slot in ("currency", "gpu_hour_value"):
        value = item.split("-")[1].upper() if slot == "currency" else input_id
        given = given.with_params(changed_params(given.params, {f"money__{slot}": value}, {}))
    else:
        first = given.options[0]
        pieces = {**first.pieces, slot: Piece(input_id, first.pieces[slot].watts)}
        options = {**given.all_options, first.id: replace(first, pieces=pieces)}
        given = Inputs(given.params, given.folder, given.shipped, given.price_book, options, draws=DRAWS)
    case = Case(given)
    put(case, "chain", chain.under(given))  # prices reach neither steps nor losses
    return Tried(f"{REFERS}{item}", case)


REFERS = "refers to "
SLOTS = {
    "fx-": "currency",
    "gpu-hour-": "gpu_hour_value",
    "switch-": "switch",
    "optic-400g": "node_optic",
    "optic-800g": "switch_optic",
    "nic-": "nic",
    "fibre-mpo": "fibre",
}
"""The key of the params, or the piece of an option, that can refer to a price whose item begins so."""


# ---- why a thing is context


def why_context(input_id: str) -> str:
    """Who quotes an input that no figure rests on."""
    kind, _, name = input_id.partition(":")
    if kind == "contested":
        return "no model draws it: the memo only shows what its sources say"
    if kind == "price":
        return "in the price book; no option, server or site of the package refers to it"
    cited = [
        r for r in shipped_references() if r.evidence_id == name and r.file != "said.yaml"
    ]  # a phrase quotes nothing
    places = list(dict.fromkeys(f"{r.file.removesuffix('.yaml')}: {r.cited_by}" for r in cited))
    if places:
        return f"quoted by {'; '.join(places[:2])}" + (f" and {len(places) - 2} more" if len(places) > 2 else "")
    return "listed in the library; nothing quotes it"


# ---- params


def keys() -> Mapping[str, Mapping[str, Any]]:
    """The keys of the params with the change tried of each, or why it is context."""
    found: Mapping[str, Mapping[str, Any]] = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    return found


def moved_by_key(key: str) -> Moved | None:
    """What a key of the params moves; None for context, or where the change moves nothing."""
    change = keys()[key]
    if "to" not in change:
        return None
    first, second = _before_and_after(change)
    for step in STEPS:
        if figures := moved(first.printed(step), second, step):
            return Moved(change["case"], tuple(figures[:SHOWN]))
    return None


def _before_and_after(change: Mapping[str, Any]) -> tuple[Tried, Case]:
    known = tried_cases()[change["case"]]
    if not {"first", "folder"} & set(change):
        return known, known.case.changed(**change["to"])
    tried = known.case
    if "folder" in change:
        i = tried.inputs
        unanswered = changed_params(i.params, {"providers": [{"name": p.name} for p in i.params.providers]}, {})
        tried = Case(Inputs(unanswered, ROOT / change["folder"], i.shipped, i.price_book, i.all_options, draws=DRAWS))
    first = change.get("first", {})
    return Tried("", tried.changed(**first)), tried.changed(**{**first, **change["to"]})


# ---- the table


def row_of(input_id: str) -> tuple[str, str, str, str, str]:
    """One row of the table, computed."""
    kind, _, key = input_id.partition(":")
    found = moved_by_key(key) if kind == "param" else moved_by(input_id)
    if found is not None:
        return input_id, LIVE, found.case, " ".join(found.figures), ""
    reason = keys()[key].get("context", "") if kind == "param" else why_context(input_id)
    assert reason, f"{input_id} moves nothing and has no reason to be context"
    return input_id, CONTEXT, "", "", reason


def write(kept: Mapping[str, Sequence[str]]) -> None:
    """Write the table: rows of `kept` as they are, all others made anew."""
    ids = [*(f"param:{key}" for key in keys()), *book_ids()]
    rows = [kept[i] if i in kept else row_of(i) for i in ids]
    with TABLE.open("w", encoding="utf-8", newline="") as handle:
        handle.write(HEAD)
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def rows_but(anew: Iterable[str]) -> dict[str, list[str]]:
    """The rows of the table by id, without those to be made anew."""
    with TABLE.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.reader(line for line in handle if not line.startswith("#")))
    return {row[0]: row for row in rows[1:] if row[0] not in set(anew)}


if __name__ == "__main__":
    write(rows_but(sys.argv[2:]) if sys.argv[1:2] == ["--missing"] else {})
