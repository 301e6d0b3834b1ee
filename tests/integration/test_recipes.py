"""The recipes of CONTRIBUTING.md, followed word for word in a copy: data alone adds a family, an option and a GPU type."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from recipe_book import Recipe, copied, recipes

FAMILY, OPTION, GPU = "Add a family of fabrics", "Add an option", "Add a GPU type"
BOOK = recipes()
SCHEMA = "params/params.schema.json"
pytestmark = pytest.mark.xdist_group("recipes")


def entries(recipe: Recipe, file: str) -> list[dict[str, Any]]:
    """The entries that a recipe adds to a file."""
    return [e for block in recipe.blocks if block.target.endswith(file) for e in yaml.safe_load(block.text)]


((THE_FAMILY,), (THE_OPTION,), (THE_GPU,)) = (
    entries(BOOK[FAMILY], "families.yaml"),
    entries(BOOK[OPTION], "options.yaml"),
    entries(BOOK[GPU], "gpus.yaml"),
)
NAME = THE_FAMILY["short_name"]
CLIENT: dict[str, Any] = {
    "client": {"name": "Example Buyer", "slug": "example-buyer"},
    "as_of": "2026-11-20",
    "memo": {"to": "Chief Technology Officer", "from": "Advisory", "subject": "Network"},
    "cluster": {"gpus": 512, "gpu": THE_GPU["id"], "topology": "fat-tree", "tenancy": "multi"},
    "workload": {"kind": "pretraining-dense", "model_parameters_billion": 70, "run_days": 30},
    "organisation": {"networking_maturity": "medium", "time_to_production_weeks": 12, "existing_ethernet": "large"},
    "money": {"acquisition": "buy"},
    "options": ["infiniband-xdr", THE_OPTION["id"]],
}


@dataclass(frozen=True)
class Copy:
    """A copy of the project in which recipes were followed."""

    folder: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Python in the copy, on the copy's package."""
        path = os.pathsep.join(str(self.folder / part) for part in ("", "tests", "tests/integration"))
        env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)

    def told(self, client: str, sort: str) -> Any:
        """What `recipe_run.py` tells of a client."""
        done = self.run("tests/integration/recipe_run.py", client, sort)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def write(self, name: str, **changes: Any) -> str:
        """A client of the copy's params; keys of `cluster` are changed one by one."""
        data = {**CLIENT, **changes, "cluster": {**CLIENT["cluster"], **changes.get("cluster", {})}}
        (self.folder / "params" / f"{name}.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
        return f"params/{name}.yaml"

    def digests(self) -> dict[str, str]:
        """Every file of the copy."""
        files = (p for p in self.folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        return {str(p.relative_to(self.folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def followed(folder: Path, *titles: str) -> Copy:
    copy = Copy(copied(folder))
    for title in titles:
        BOOK[title].follow(folder)
    return copy


@pytest.fixture(scope="module")
def whole_copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Every recipe followed, one after the other."""
    return followed(tmp_path_factory.mktemp("recipes"), *BOOK)


@pytest.fixture(scope="module")
def memo(whole_copy: Copy) -> Any:
    """The memo of a client who compares the recipe's option on the recipe's GPUs."""
    return whole_copy.told(whole_copy.write("buyer"), "whole")


def test_there_is_a_recipe_for_each_and_it_says_what_the_data_are() -> None:
    assert list(BOOK) == [FAMILY, OPTION, GPU]
    assert all(recipe.blocks and recipe.commands for recipe in BOOK.values())
    entry_files = [(b.target, b.text) for r in BOOK.values() for b in r.blocks if "/library/" in b.target]
    added = [e for _, text in entry_files for e in yaml.safe_load(text)]
    assert {e["grade"] for e in added} == {"assumption"} and all("example" in e["use"] for e in added)


def test_the_family_and_the_option_of_the_recipes_resemble_no_other() -> None:
    shipped = yaml.safe_load((Path(__file__).parents[2] / "fabricreport/evidence/families.yaml").read_text())
    assert "like" not in THE_OPTION and THE_OPTION["family"] == THE_FAMILY["id"]
    for key in ("id", "name", "short_name", "colour", "risk", "tuning", "staff"):
        assert THE_FAMILY[key] not in [family[key] for family in shipped]
    kinds = {kind for family in shipped for kind in family["kinds"]}
    entries = {str(entry) for family in shipped for entry in family["behaviour"].values()}
    assert not kinds & set(THE_FAMILY["kinds"]) and not entries & set(map(str, THE_FAMILY["behaviour"].values()))


def test_only_files_of_data_are_touched_and_only_those_named(tmp_path: Path) -> None:
    copy = Copy(copied(tmp_path))
    for recipe in BOOK.values():
        before = copy.digests()
        recipe.follow(tmp_path)
        after = copy.digests()
        assert {path for path in after if after[path] != before.get(path)} == recipe.files
        assert before.keys() == after.keys() and {Path(path).suffix for path in recipe.files} <= {".yaml", ".csv"}


@pytest.mark.slow
def test_the_schema_lists_the_new_ids_once_it_is_made_again(tmp_path: Path) -> None:
    copy = followed(tmp_path, *BOOK)
    (command,) = {c for r in BOOK.values() for c in r.commands if SCHEMA in c}
    assert THE_GPU["id"] not in (tmp_path / SCHEMA).read_text(encoding="utf-8")
    code = command.removeprefix('python -c "').removesuffix('"')
    assert copy.run("-c", code).returncode == 0
    schema = json.loads((tmp_path / SCHEMA).read_text(encoding="utf-8"))
    assert THE_GPU["id"] in schema["$defs"]["Cluster"]["properties"]["gpu"]["enum"]
    assert THE_OPTION["id"] in json.dumps(schema["properties"]["options"])


@pytest.mark.slow
def test_a_client_of_them_passes_the_check_and_mistyped_ids_are_told_what_was_meant(whole_copy: Copy) -> None:
    good = whole_copy.write("good")
    option = whole_copy.write("option", options=["infiniband-xdr", THE_OPTION["id"][:-1]])
    gpu = whole_copy.write("gpu", cluster={"gpu": THE_GPU["id"] + "0"})
    assert whole_copy.run("-m", "fabricreport", "check", good).returncode == 0
    refused = whole_copy.run("-m", "fabricreport", "check", option, gpu)
    said = refused.stdout + refused.stderr
    assert refused.returncode == 2
    assert all(f"Did you mean '{meant}'" in said for meant in (THE_OPTION["id"], THE_GPU["id"]))


@pytest.mark.slow
def test_the_memo_names_them_in_all_six_sections_and_passes_its_checks(memo: Any) -> None:
    assert memo["faults"] == []
    assert memo["options"][THE_OPTION["id"]] == [THE_OPTION["name"], NAME, THE_FAMILY["colour"], THE_FAMILY["side"]]
    assert {s: any(NAME in text for text in said) for s, said in memo["said"].items()} == dict.fromkeys(
        ("buy_once", "decision", "latency", "tco", "tail_risk", "diligence", "evidence"), True
    )
    assert any(THE_GPU["name"] in text for said in memo["said"].values() for text in said)
    assert memo["said"]["latency"][0].startswith(NAME)  # the opening speaks of the family compared


@pytest.mark.slow
def test_charts_that_draw_one_option_draw_both_each_in_its_colour_and_by_its_name(memo: Any) -> None:
    (other,) = (found for option, found in memo["options"].items() if option != THE_OPTION["id"])
    ours = memo["options"][THE_OPTION["id"]]
    both = [p for p in memo["pictures"] if other[0] in p["words"] and ours[0] in p["words"]]
    drawn = [{other[2], ours[2]} & set(p["colours"]) for p in both]
    assert len(both) >= 5 and not [p["words"] for p, c in zip(both, drawn, strict=True) if len(c) == 1]
    assert sum(len(c) == 2 for c in drawn) >= 5


@pytest.mark.slow
def test_the_framework_treats_it_by_its_side_and_calls_the_side_by_its_name(memo: Any) -> None:
    (axes,) = (p for p in memo["pictures"] if "no lean" in p["words"])
    assert NAME in axes["words"] and "RoCEv2" not in axes["words"]
    assert memo["leans_to"] == THE_FAMILY["side"] and THE_FAMILY["colour"] in axes["colours"]
    assert any(f"our four questions favour {NAME}" in text for text in memo["said"]["decision"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("titles", "client"),
    [
        ([FAMILY, OPTION], {"cluster": {"gpu": "b300"}}),
        ([GPU], {"options": ["infiniband-xdr", "rocev2-branded-800g"]}),
    ],
)
def test_each_recipe_is_enough_of_itself(titles: list[str], client: dict[str, Any], tmp_path: Path) -> None:
    """An option needs its family, and a family is seen through an option of it."""
    copy = followed(tmp_path, *titles)
    small = {**client, "cluster": {"gpus": 32, **client.get("cluster", {})}}
    told = copy.told(copy.write("buyer", **small), "advice")
    assert list(told["options"]) == client.get("options", CLIENT["options"])
    assert told["choice"] in told["options"]


@pytest.mark.slow
def test_a_family_without_an_option_is_known_and_changes_nothing_else(tmp_path: Path) -> None:
    code = "from fabricreport.books.families import families; from fabricreport.constants import catalogue; "
    code += "from fabricreport.books.evidence import read_evidence; read_evidence(None); print(*families(), *catalogue().fabrics)"
    known = followed(tmp_path, FAMILY).run("-c", code).stdout.split()
    (row,) = (b.text for b in BOOK[FAMILY].blocks if b.action == "under fabrics")
    assert {THE_FAMILY["id"], *yaml.safe_load(row)} <= set(known)
