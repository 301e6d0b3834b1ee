"""Every book is read by one reader: what a schema does not allow is told at its place, all of it, with what to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

import pytest
from pydantic import Field, ValidationInfo, model_validator

from fabricreport.base.errors import InputError
from fabricreport.base.locations import Located
from fabricreport.base.yaml_files import load_strict
from fabricreport.books.fields import (
    CLOSED,
    Count,
    Fault,
    Id,
    Keyed,
    PriceOrEvidenceId,
    Unwritten,
    measured,
    one_of,
    refusal,
    text,
    unknown_word,
    within,
)
from fabricreport.books.reader import checked, judged, read_book, read_table, repeated


class Wine(StrEnum):
    RED = "red"
    WHITE = "white"


@dataclass(frozen=True)
class Cask:
    __pydantic_config__ = CLOSED
    litres: Annotated[float, within("count", low=1, why="an empty cask is not counted")]


@dataclass(frozen=True)
class Cellar:
    __pydantic_config__ = CLOSED
    id: Id
    wine: Annotated[Wine, Field(description="What is in it.")]
    casks: Mapping[str, Cask]
    price: PriceOrEvidenceId
    shelf: Literal[1, 2] = 1
    words: tuple[Annotated[str, text(12)], ...] = ()
    near: Annotated[str, one_of(lambda: ("door", "wall"))] = ""

    @model_validator(mode="after")
    def agreeing(self, info: ValidationInfo) -> Self:
        guests = (info.context or {}).get("guests", ("red", "white"))
        faults = [] if self.wine in guests else [unknown_word(self.wine, guests, "drunk here", ("wine",))]
        faults += [Fault("has no cask", ("casks",), "Add one.")] if not self.casks else []
        if faults:
            raise refusal(*faults)
        return self


SOUND = """\
- id: the-deep
  wine: red
  casks: {left: {litres: 225}}
  price: price:a-bottle
  words: [oak, cork]
"""


def found(tmp_path: Path, content: str) -> list[str]:
    path = tmp_path / "cellar.yaml"
    path.write_text(content)
    with pytest.raises(InputError) as told:
        read_book(path, tuple[Cellar, ...])
    return [str(p).removeprefix(str(path)) for p in told.value.problems]


def test_what_a_schema_allows_is_read_as_its_values(tmp_path: Path) -> None:
    path = tmp_path / "cellar.yaml"
    path.write_text(SOUND)
    read = read_book(path, tuple[Cellar, ...])
    made = Cellar("the-deep", Wine.RED, {"left": Cask(225.0)}, "price:a-bottle", words=("oak", "cork"))
    assert read.value == (made,) and type(read.value[0].wine) is Wine
    assert read.located.line_of((0, "casks")) == 3


def test_every_fault_is_told_with_line_key_value_and_remedy(tmp_path: Path) -> None:
    faulty = """\
- id: The Deep
  wine: rde
  casks: {left: {litres: 0, age: 3}}
  price: 12
  shelf: 3
  words: [oak, "a text that is too long"]
  near: dor
  colour: red
- wine: red
  caskz: {}
  price: price:a
- 12
"""
    assert found(tmp_path, faulty) == [
        ":1: [0].id: must be lower-case words joined by hyphens (found The Deep). For example switch-qm9700.",
        ":2: [0].wine: is not one of the values allowed here (found rde). Did you mean 'red'? Write one of red, white.",
        ":3: [0].casks.left.litres: must be at least 1: an empty cask is not counted (found 0).",
        ":3: [0].casks.left.age: is not a known key. Known here: litres.",
        ":4: [0].price: must be text (found 12). Put it in quotes.",
        ":5: [0].shelf: is not one of the values allowed here (found 3). Write one of 1, 2.",
        ":6: [0].words[1]: is 23 characters long; at most 12 are allowed (found a text that is too long). Shorten it.",
        ":7: [0].near: is not one of the values allowed here (found dor). Did you mean 'door'? Write one of door, wall.",
        ":8: [0].colour: is not a known key. Known here: id, wine, casks, price, shelf, words, near.",
        ":9: [1].id: is missing. Add it.",
        ":10: [1].caskz: is not a known key. Did you mean 'casks'? Correct or delete it.",
        ":12: [2]: must hold keys of its own (found 12). "
        "Write them indented below it: id, wine, casks, price, shelf, words, near.",
    ]


def test_a_file_of_another_shape_is_told_what_it_must_be(tmp_path: Path) -> None:
    [told] = found(tmp_path, "id: the-deep\n")
    assert told.startswith(":1: must be a list")


def test_rules_that_join_fields_name_each_field_and_ask_the_context() -> None:
    located = Located({"id": "a", "wine": "red", "casks": {}, "price": "price:a"}, "a.yaml", {(): 1, ("casks",): 7})
    with pytest.raises(InputError) as told:
        checked(located, Cellar, guests=("white",))
    lines = [str(p) for p in told.value.problems]
    assert lines == [
        "a.yaml:1: wine: is not drunk here (found red). Write one of white.",
        "a.yaml:7: casks: has no cask. Add one.",
    ]


def test_a_part_is_judged_at_its_place_also_when_it_was_completed_from_another(tmp_path: Path) -> None:
    path = tmp_path / "cellar.yaml"
    path.write_text(SOUND + "- {id: next, wine: rose}\n")
    located = load_strict(path)
    merged = {**located.data[0], **located.data[1]}
    value, problems = judged(located, Cellar, at=(1,), data=merged)
    assert value is None and [(p.line, p.key) for p in problems] == [(6, "[1].wine")]


@dataclass(frozen=True)
class Guest:
    __pydantic_config__ = CLOSED
    name: Annotated[str, text(20, remedy="Write a name.")]
    glasses: Annotated[Count, measured("count")]


@dataclass(frozen=True)
class Party:
    __pydantic_config__ = CLOSED
    guests: Annotated[Mapping[str, Guest], Keyed("name"), Field(min_length=1)]
    tables: Annotated[Mapping[str, int], Keyed("name", Guest, lambda guest: guest.glasses)]
    file: Unwritten[str] = ""


def party(tmp_path: Path, content: str, **more: Mapping[str, str]) -> tuple[Party | None, list[str]]:
    path = tmp_path / "party.yaml"
    path.write_text(content)
    located = load_strict(path)
    value, problems = judged(located, Party, **more)
    problems += repeated(located, ("guests",), "name", "is there twice, first on line {line}", {"al": "ann"})
    return value, [str(p).removeprefix(str(path)) for p in problems]


def test_a_list_is_a_mapping_by_the_field_that_names_its_rows(tmp_path: Path) -> None:
    value, problems = party(
        tmp_path, "guests: [{name: ann, glasses: 2.0}, {name: bob, glasses: 3}]\ntables: [{name: x, glasses: 4}]\n"
    )
    assert not problems and value == Party({"ann": Guest("ann", 2), "bob": Guest("bob", 3)}, {"x": 4})


def test_what_is_wrong_with_its_rows_is_told_row_by_row_and_that_two_are_one_with_it(tmp_path: Path) -> None:
    faulty = """\
guests:
  - {name: ann, glasses: 2.5}
  - {name: al, glasses: 0}
  - {glasses: 1e300, nam: bob}
tables: [{nam: x}]
file: mine.yaml
"""
    assert party(tmp_path, faulty)[1] == [
        ":2: guests[0].glasses: must be a whole number (found 2.5). Write it without a fraction.",
        ":3: guests[1].glasses: must be above 0 (found 0). The unit is count.",
        ":4: guests[2].glasses: must be at most 1e+15: nothing of this kind comes near that (found 1e+300)."
        " The unit is count.",
        ":4: guests[2].nam: is not a known key. Did you mean 'name'? Correct or delete it.",
        ":5: tables[0].glasses: is missing. Add it.",
        ":5: tables[0].nam: is not a known key. Did you mean 'name'? Correct or delete it.",
        ":6: file: is not a known key. Known here: guests, tables.",
        ":3: guests[1].name: is there twice, first on line 2 (found al). Keep one of the two.",
    ]
    assert party(tmp_path, "guests: []\ntables: []\n")[1] == [":1: guests: must hold at least 1 item(s) (found [])."]


def test_a_file_that_is_not_mended_as_yaml_is_has_remedies_of_its_own(tmp_path: Path) -> None:
    mended = {"missing": "Fill `{key}` in.", "string_type": "Format the cell as text."}
    told = party(tmp_path, "guests: [{name: 7, glasses: 1}]\n", mended=mended)[1]
    assert told == [
        ":1: guests[0].name: must be text (found 7). Format the cell as text.",
        ":1: tables: is missing. Fill `tables` in.",
    ]


@dataclass(frozen=True)
class Bottle:
    __pydantic_config__ = CLOSED
    name: Annotated[str, text(20)]
    wine: Wine
    file: Unwritten[str] = ""
    line: Unwritten[int] = 0


def test_good_rows_of_a_table_stand_beside_faulty_ones_each_with_its_line() -> None:
    def head(cells: list[str], file: str, line: int) -> list[str]:
        assert (cells, file, line) == (["name", "wine"], "b.csv", 2)
        return cells

    content = "# a comment\nname, wine\na, red\n\nb,rde\nc\nd,white\n"
    rows = list(read_table(content, "b.csv", Bottle, head=head, most_rows=7))
    assert [row.value for row in rows] == [
        Bottle("a", Wine.RED, "b.csv", 3),
        None,
        None,
        Bottle("d", Wine.WHITE, "b.csv", 7),
    ]
    assert [str(p) for row in rows for p in row.problems] == [
        "b.csv:5: wine: is not one of the values allowed here (found rde). Did you mean 'red'? Write one of red, white.",
        "b.csv:6: 1 cells instead of 2. Quote a text that holds a comma; no decimal commas.",
    ]
    with pytest.raises(InputError, match="more than 6 rows"):
        list(read_table(content, "b.csv", Bottle, head=head, most_rows=6))
    with pytest.raises(InputError, match="an empty file"):
        list(read_table("# nothing\n", "b.csv", Bottle, head=head, most_rows=6))
