"""Every figure that a notebook or a chart names is declared, and every declared figure is named: told without a case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

import pytest
import yaml
from figure_readers import HOLE, Readers, read_cells, readers_of
from pydantic import BaseModel

from fabricreport.books.evidence import read_evidence
from fabricreport.declared import DECLARED
from fabricreport.figures import AnySpec, FigureSpec, find_spec, specs_met
from fabricreport.located import did_you_mean
from fabricreport.scenario import SECTION_NAMES, Params

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


def own_specs() -> Iterator[AnySpec]:
    """What is made for being read, and not because a study's findings hang on it."""
    yield from (spec for one in DECLARED.values() for spec in one.specs if isinstance(spec, FigureSpec))


@pytest.mark.parametrize(
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
        assert len(readers[f"notebooks/{section}.ipynb"].read) > 10, section
