"""The file of families is read strictly: each fault is told with file, line and key, and all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricreport.books.families import ROLES, SHIPPED_FILE, UNITS, families, read_families
from fabricreport.case import open_case
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.vocabulary import Side

ROOT = Path(__file__).parents[2]
Spoil = Callable[[dict[str, Any]], Any]
FAULTS: dict[str, tuple[Spoil, str, str]] = {
    "unknown key": (lambda f: f.update(colours="#0b66a8"), "colours", "Did you mean 'colour'"),
    "missing key": (lambda f: f.pop("staff"), "[1]", "the key 'staff' is missing"),
    "bad colour": (lambda f: f.update(colour="blue"), "colour", "must be #rrggbb"),
    "colour in capitals": (lambda f: f.update(colour="#0B66A8"), "colour", "must be #rrggbb"),
    "unknown role": (lambda f: f["behaviour"].update(stall="x"), "behaviour.stall", "Did you mean 'stalls'"),
    "role that is no entry": (lambda f: f["behaviour"].update(step=3), "behaviour.step", "id of an entry, or null"),
    "roles in a list": (lambda f: f.update(behaviour=["step"]), "behaviour", "must map roles"),
    "unknown side": (lambda f: f.update(side="ethernet"), "side", "must be one of infiniband, rocev2, plain"),
    "id in capitals": (lambda f: f.update(id="Umbra"), "id", "kebab-case"),
    "no kinds": (lambda f: f.update(kinds=[]), "kinds", "list of kinds"),
    "nameless": (lambda f: f.update(short_name=" "), "short_name", "must be text"),
    "name on two lines": (lambda f: f.update(name="a\nb"), "name", "line"),
    "name too long": (lambda f: f.update(name="W" * 41), "name", "40"),
    "prefix with blanks": (lambda f: f.update(risk="a b"), "risk", "prefix of entries"),
    "skill in words": (lambda f: f.update(skill="much"), "skill", "true or false"),
    "partner in words": (lambda f: f.update(cloud_partner="maybe"), "cloud_partner", "true or false"),
    "id used twice": (lambda f: f.update(id="infiniband"), "id", "used already"),
}


def spoilt(folder: Path, spoil: Spoil, place: int = 1) -> Path:
    """The shipped file with one entry spoilt."""
    rows = yaml.safe_load(SHIPPED_FILE.read_text(encoding="utf-8"))
    spoil(rows[place])
    path = folder / "families.yaml"
    path.write_text(yaml.safe_dump(rows, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_message_with_file_line_and_key(name: str, tmp_path: Path) -> None:
    spoil, key, words = FAULTS[name]
    path = spoilt(tmp_path, spoil)
    with pytest.raises(InputError) as caught:
        read_families(path)
    (problem,) = caught.value.problems
    assert problem.file == str(path) and problem.line > 1
    assert problem.key == (key if key.startswith("[") else f"[1].{key}") and words in str(problem)


def test_faults_of_several_families_are_told_at_once(tmp_path: Path) -> None:
    path = spoilt(tmp_path, lambda f: f.update(colour="red"), 0)
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    rows[2]["side"] = "third"
    path.write_text(yaml.safe_dump(rows, sort_keys=False), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_families(path)
    assert [p.key for p in caught.value.problems] == ["[0].colour", "[2].side"]


def test_a_file_that_is_no_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "families.yaml"
    path.write_text("id: infiniband\n", encoding="utf-8")
    with pytest.raises(InputError, match="must be a list of families"):
        read_families(path)


def test_two_sides_have_the_family_that_gives_them_their_name() -> None:
    assert {families()[side].side for side in (Side.INFINIBAND, Side.ROCEV2)} == {Side.INFINIBAND, Side.ROCEV2}


def test_every_kind_of_a_family_has_a_class_and_every_colour_is_its_own() -> None:
    kinds = {row["kind"] for row in read_yaml("collectives")["fabrics"].values()}
    assert all(set(family.kinds) <= kinds for family in families().values())
    assert len({family.colour for family in families().values()}) == len(families())


def test_every_role_is_explained_at_the_head_of_the_file() -> None:
    head = SHIPPED_FILE.read_text(encoding="utf-8").split("- id:")[0]
    assert not [role for role in ROLES if role not in head]


def test_every_role_has_the_units_that_serve_it() -> None:
    assert set(UNITS) == set(ROLES)


@pytest.mark.parametrize(
    ("role", "entry", "words"),
    [
        ("stalls", "shared-stall-share-rocev3", "Did you mean 'evidence:shared-stall-share-rocev2'"),
        ("weeks", "shared-stall-share-rocev2", "week"),
        ("tuning", "fabric-tuning-none", "fabric-tuning-none-medium"),
    ],
)
def test_an_entry_of_behaviour_that_cannot_answer_is_told_at_its_key(
    role: str, entry: str, words: str, tmp_path: Path
) -> None:
    own = [{"id": "own", "like": "spectrum-x-800g", "name": "Own", "behaviour": {role: entry}}]
    (tmp_path / "options").mkdir()
    (tmp_path / "options" / "own.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    data = yaml.safe_load((ROOT / "params" / "halden-cloud.yaml").read_text(encoding="utf-8"))
    (tmp_path / "client.yaml").write_text(
        yaml.safe_dump({**data, "options": ["infiniband-xdr", "own"]}), encoding="utf-8"
    )
    with pytest.raises(InputError) as caught:
        open_case(tmp_path / "client.yaml")
    (problem,) = caught.value.problems
    assert problem.key == f"own.behaviour.{role}" and words in str(problem)
    assert problem.file.endswith("own.yaml")
