"""Declared figures: listed without making any, made once when asked for, each id by one declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import bench
import pandas as pd
import pytest
import yaml
from figure_readers import HOLE, Readers, read_cells, readers_of
from pydantic import BaseModel
from rows import rows

from fabricreport.base.formats import unit_in
from fabricreport.base.locations import did_you_mean
from fabricreport.blocks.tables import frame_parts
from fabricreport.bodies.bodies import DECLARED
from fabricreport.books.evidence import read_evidence
from fabricreport.case import Case, open_case
from fabricreport.ledger.bases import Horizon
from fabricreport.ledger.figures import (
    Declaration,
    DeclaredFigures,
    FigureSpec,
    Index,
    Reckoning,
    Stated,
    figure,
    find_spec,
    specs_met,
)
from fabricreport.ledger.numbers import Number
from fabricreport.memo.editions.manifest import headline_of
from fabricreport.scenario import SECTION_NAMES, Params

PARAMS = Path(__file__).parents[2] / "params"


class Counting:
    """A context that counts how often a value is asked of it."""

    def __init__(self, **values: float) -> None:
        self.values: Mapping[str, float] = values
        self.asked: list[str] = []

    def value(self, key: str) -> float:
        self.asked.append(key)
        return self.values[key]


class Tree(Counting):
    """Figures that `figures.yaml` beside this file says the words of."""

    old = True

    def some(self, branch: str) -> bool:
        return branch != "b"

    @figure("tree.age")
    def age(self) -> float:
        return 7.0

    @figure("tree.leaf[branch]")
    def leaf(self, branch: str) -> float:
        return self.value(branch)

    @figure("tree.leaf[branch].low")
    def fewest(self, branch: str) -> Reckoning:
        return Reckoning(0.0, words={"of": branch.upper()})

    @figure("tree[part][branch]")
    def parts(self, part: str, branch: str) -> float:
        return 1.0


def branch_name(at: Tree, branch: str) -> str:
    return f"branch {branch}"


INDEXES: Mapping[str, Index[Any]] = {
    "branch": Index(lambda at: at.values, called=branch_name),
    "part": Index(lambda _: ["bark"], ["bark", "root"]),
}
TREE = Declaration("tree", Tree, INDEXES)


@pytest.fixture(scope="module")
def case() -> Case:
    return bench.case("example")


@pytest.mark.slow
def test_figures_are_listed_without_making_any_and_each_is_made_once(case: Case) -> None:
    at = Tree(**{"a": 1.0, "b.c": 2.0, "b": 3.0})
    numbers = DeclaredFigures(TREE, at, case.inputs)
    assert "tree.leaf.b.c" in numbers and "tree.leaf.b.low" not in numbers and len(numbers) == 1 + 3 + 2 + 3
    assert numbers.get("tree.none") is None
    assert not at.asked and not numbers.made
    assert [numbers["tree.leaf.b.c"].value for _ in range(3)] == [2.0] * 3
    assert at.asked == ["b.c"] and numbers.made == ("tree.leaf.b.c",)
    told = [numbers[i].label for i in ("tree.leaf.b.c", "tree.leaf.a.low", "tree.bark.a", "tree.age")]
    assert told == ["Leaves of branch b.c", "Fewest of A", "Parts: bark, branch a", "Age, old"]
    assert numbers["tree.leaf.a"].based.horizon is Horizon.WHOLE and numbers["tree.leaf.a.low"].based.of == "all leaves"


@pytest.mark.slow
def test_an_id_that_is_not_there_is_met_with_the_nearest(case: Case) -> None:
    with pytest.raises(KeyError, match=r"no figure tree\.leef\.a; did you mean tree\.leaf\.a\?"):
        DeclaredFigures(TREE, Tree(a=1.0), case.inputs)["tree.leef.a"]


@pytest.mark.slow
def test_two_declarations_of_one_id_are_refused(case: Case) -> None:
    with pytest.raises(ValueError, match=r"tree\.leaf\.a\.low is declared twice"):
        len(DeclaredFigures(TREE, Tree(**{"a": 1.0, "a.low": 2.0}), case.inputs))


def test_a_declaration_that_does_not_hang_together_is_refused_when_it_is_read() -> None:
    class Lost(Tree):
        @figure("tree.leaf[twig]")
        def twig(self, twig: str) -> float:
            return 1.0

    class Twice(Tree):
        @figure("tree.age")
        def years(self) -> float:
            return 7.0

    for section, made_by, indexes, said in (
        ("tree", Tree, {"part": INDEXES["part"]}, "no index branch"),
        ("bush", Tree, INDEXES, "is none of bush"),
        ("tree", Lost, INDEXES, r"figure tree\.leaf\[twig\] has no record"),
        ("tree", Twice, INDEXES, r"makes tree\.age: .* is made already"),
    ):
        with pytest.raises(ValueError, match=said):
            _ = Declaration(section, made_by, indexes).specs
    with pytest.raises(ValueError, match="no key lable"):
        Stated.read("tree.age", {"lable": "Age"})
    with pytest.raises(ValueError, match="Tree has no budding"):
        Stated(when="budding").refuse_unknown("tree.age", Tree)


@rows(
    ("wanted", "pattern"),
    [
        ("tree.age", "tree.age"),
        ("tree.leaf.a", "tree.leaf[branch]"),
        ("tree.leaf.a.b", "tree.leaf[branch]"),
        ("tree.leaf.a.low", "tree.leaf[branch].low"),
        ("tree.leaf[any]", "tree.leaf[branch]"),
        ("tree.leaf[any].low", "tree.leaf[branch].low"),
        ("tree.leaf[any].high", None),
        ("tree.leaf.{x}", "tree.leaf[branch]"),
        ("tree.{what}.{x}", "tree.leaf[branch]"),
        ("tree.bark.a", "tree[part][branch]"),
        ("tree.bark[b]", "tree[part][branch]"),
        ("tree.twig.a", None),
        ("tree.agee", None),
    ],
)
def test_a_declaration_is_found_without_a_case(wanted: str, pattern: str | None) -> None:
    found = find_spec([TREE], wanted)
    assert (found and found.pattern) == pattern


def declared_numbers(case: Case) -> Iterator[tuple[str, DeclaredFigures]]:
    for section in DECLARED:
        numbers = case.result(section).numbers
        assert isinstance(numbers, DeclaredFigures)
        yield section, numbers


@pytest.mark.slow
def test_every_figure_of_a_case_is_found_by_the_declaration_that_makes_it(case: Case) -> None:
    for _, numbers in declared_numbers(case):
        lost = [i for i in numbers if find_spec(DECLARED.values(), i) is not numbers.spec(i)]
        assert not lost


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_the_order_in_which_figures_are_made_changes_none() -> None:
    first, second = (open_case(PARAMS / "tern-finetuning.yaml") for _ in range(2))
    forwards = {i: n.as_dict() for _, numbers in declared_numbers(first) for i, n in numbers.items()}
    ids = {section: list(numbers) for section, numbers in declared_numbers(second)}
    backwards = {i: second.figure(i).as_dict() for section in reversed(ids) for i in reversed(ids[section])}
    assert forwards == backwards


SEEDS = Path(__file__).parents[1] / "golden" / "seeds.yaml"


@pytest.fixture(scope="module")
def readers() -> Mapping[str, Readers]:
    return readers_of()


def unknown(found: Readers, made: Set[str] = frozenset()) -> list[str]:
    """What nothing declares of what is read, with the nearest pattern; sections without a declaration are passed over."""
    patterns = {literal(spec.pattern): spec.pattern for one in DECLARED.values() for spec in one.specs}
    return [
        f"{wanted}; did you mean {patterns.get(did_you_mean(literal(wanted), patterns), 'something else')}?"
        for wanted in sorted(found.read - {i.replace(HOLE, "{…}") for i in found.made | made})
        if _section(wanted) in DECLARED and find_spec(DECLARED.values(), wanted) is None
    ]


def literal(wanted: str) -> str:
    """What is written out of an id."""
    return re.sub(r"[.]?\{…\}|\[\w*\]", "", wanted)


def _section(wanted: str) -> str:
    return wanted.split(".")[0].split("[")[0]


def names(node: object) -> Iterator[str]:
    """Every text in data."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for child in node.values():
            yield from names(child)
    elif isinstance(node, list):
        for child in node:
            yield from names(child)


def test_every_figure_that_a_notebook_or_a_module_names_is_declared(readers: Mapping[str, Readers]) -> None:
    made = {i for found in readers.values() for i in found.made}
    assert {path: lost for path, found in readers.items() if (lost := unknown(found, made))} == {}


def test_every_declared_figure_has_a_reader(readers: Mapping[str, Readers]) -> None:
    anchors = [text.removeprefix("number:").partition("@")[0] for text in names(yaml.safe_load(SEEDS.read_text()))]
    read = {i.replace("*", "{…}") for i in anchors if _section(i) in DECLARED}
    for found in readers.values():
        begun = {i.replace(HOLE, "{…}") for i in found.named}
        read |= found.read | begun | {f"{i}.{{…}}" for i in begun}
    met = {spec for wanted in read for spec in specs_met(DECLARED.values(), wanted)}
    assert [spec.pattern for spec in own_specs() if spec not in met] == []


def own_specs() -> Iterator[FigureSpec]:
    """What is made for being read, and not because a study's findings hang on it."""
    yield from (spec for one in DECLARED.values() for spec in one.specs if not spec.taken)


@rows(
    ("kind", "cell", "said"),
    [
        ("markdown", "It costs {tco.totl.ib}.", "tco.totl.ib; did you mean tco.total[option]?"),
        ("code", "%%say when=finding.clear\nIt costs {tco.total[choice]:range}.", ""),
        ("code", "%%say\nIt costs {tco.totl[choice]:range}.", "tco.totl[choice]; did you mean tco.total[option]?"),
        ("code", '%%chart from=charts.one(figure("decision.evpy"))\ntitle: T\nsubtitle: S\nalt: A', "decision.evpy"),
        ("code", "case.figure(f'tco.totl.{option}')", "tco.totl.{…}; did you mean tco.total[option]?"),
        ("code", "body.say('{tco.totl.' + choice + '} of {{it}}')", "tco.totl.{…}"),
        ("code", "body.say(f'{{tco.total.{choice}}} and {{decision.evpy:abs}}')", "decision.evpy"),
        ("code", "numbers.get('tco.lots')", "tco.lots"),
        ("code", "case.number('tco.mine', 1.0)\nbody.say('{tco.mine}')", ""),
        ("code", "'''{tco.totl}'''", ""),
    ],
)
def test_a_wrong_id_is_named_in_any_kind_of_cell(kind: str, cell: str, said: str) -> None:
    told = unknown(read_cells([(kind, cell)]))
    assert len(told) == bool(said)
    assert not said or told[0].startswith(said)


def test_every_input_that_a_cell_quotes_is_in_the_books(readers: Mapping[str, Readers]) -> None:
    known = {f"evidence:{i}" for i in read_evidence()} | {f"param:{key}" for key in keys_of(Params)}
    quoted = {i for found in readers.values() for i in found.inputs if i.startswith(("evidence:", "param:"))}
    assert quoted and sorted(i for i in quoted if HOLE not in i and i not in known) == []


def keys_of(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Keys of the params that a memo can quote."""
    for name, value in model.model_fields.items():
        inner: Any = value.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys_of(inner, f"{prefix}{name}.")
        yield prefix + name


def test_the_reader_of_notebooks_sees_figures_in_each(readers: Mapping[str, Readers]) -> None:
    for section in SECTION_NAMES:  # the notebook of a delivery has its numbers as words
        assert readers[f"notebooks/{section}.ipynb"].read, section


CURRENCIES = {"USD": "$", "EUR": "€", "GBP": "£"}


def in_currency(currency: str, **money: Any) -> Case:
    return bench.changed("example", money__currency=currency, **{f"money__{key}": v for key, v in money.items()})


@rows(
    ("unit", "currency", "written"),
    [
        ("usd", "EUR", "eur"),
        ("usd/gpu-hour", "EUR", "eur/gpu-hour"),
        ("usd/day", "USD", "usd/day"),
        ("gpus", "EUR", "gpus"),
        ("usdollar", "EUR", "usdollar"),
    ],
)
def test_a_unit_of_money_names_its_currency(unit: str, currency: str, written: str) -> None:
    assert unit_in(unit, currency) == written


@pytest.mark.slow
@rows("currency", CURRENCIES)
def test_every_amount_of_a_section_is_filed_in_the_money_it_is_printed_in(currency: str) -> None:
    numbers = in_currency(currency).tco().numbers.values()
    money = [n.as_dict() for n in numbers if n.unit.startswith("usd")]
    assert len(money) > 50
    for entry in money:
        own = currency if CURRENCIES[currency] in entry["text"] else "USD"
        assert entry["unit"].partition("/")[0] == own.lower() and CURRENCIES[own] in entry["text"], entry["id"]
        assert entry.get("currency", "USD") == own
    assert all("currency" not in n.as_dict() for n in numbers if not n.unit.startswith("usd"))
    assert any(entry["unit"] == currency.lower() for entry in money)


@pytest.mark.slow
def test_a_memo_in_dollars_has_the_entries_it_had() -> None:
    entry = in_currency("USD").figure("tco.difference").as_dict()
    assert entry["unit"] == "usd" and "currency" not in entry


@pytest.mark.slow
def test_what_a_source_or_the_params_say_in_dollars_stays_in_dollars() -> None:
    case = in_currency("EUR", price_of_delay_usd_per_day=5000)
    delay = case.figure("param:money.price_of_delay_usd_per_day")
    assert (delay.text, delay.as_dict()["unit"]) == ("$5,000 per day", "usd/day")
    pay = case.figure("evidence:network-architect-pay").as_dict()
    assert pay["text"].startswith("$") and pay["unit"] == "usd" and "currency" not in pay
    price = case.figure("price:switch-qm9700").as_dict()
    assert price["text"].startswith("€") and (price["unit"], price["currency"]) == ("eur", "EUR")


@pytest.mark.slow
def test_a_param_that_refers_to_a_price_is_in_the_memos_currency_as_the_price_is() -> None:
    case = in_currency("EUR", gpu_hour_value="price:gpu-hour-h100-on-demand")
    value = case.figure("param:money.gpu_hour_value").as_dict()
    assert value["text"].startswith("€") and value["unit"] == "eur/gpu-hour"


@pytest.mark.slow
@rows("currency", ["USD", "EUR"])
def test_the_record_of_a_price_is_in_the_currency_of_its_row(currency: str) -> None:
    case = in_currency(currency)
    for item, price in case.prices.items():
        record = case.record(f"price:{item}")
        money = price.unit != "usd"
        assert record["unit"].startswith(price.currency.lower()) == money, item
        assert record.get("currency", "USD") == (price.currency if money else "USD"), item
    assert any(price.currency == "EUR" for price in case.prices.values())


def test_a_column_of_two_currencies_shows_the_currency_in_each_cell() -> None:
    one = Number("a.b", 5.0, "usd", "A", "r")
    for other, style in ((one, "value"), (replace(one, currency="EUR"), "mixed")):
        ((column,), _) = frame_parts(pd.DataFrame({"Cost": [one, other]}))
        assert column.style == style


def test_the_headline_of_an_edition_names_the_currency() -> None:
    entry = Number("tco.d", 5e5, "usd", "Difference", "r", currency="EUR").as_dict()
    (told,) = headline_of({"numbers": ["tco.d"]}, {"numbers": [entry]})["numbers"]
    assert told["unit"] == "eur"
