"""The recipes of CONTRIBUTING.md, followed in a copy: data alone adds a family of fabrics, an option and a GPU type."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from recipe_book import RECIPES, ROOT, copied, recipes

from fabricreport.blocks.theme import FIRST, SECOND

BOOK = recipes()
EVIDENCE = "fabricreport/data/"
((THE_FAMILY,), (THE_OPTION,), (THE_GPU,)) = (
    BOOK["family"].entries(EVIDENCE + "families.yaml"),
    BOOK["option"].entries(EVIDENCE + "options.yaml"),
    BOOK["gpu"].entries(EVIDENCE + "gpus.yaml"),
)
NAME = THE_FAMILY["short_name"]
SWITCH = THE_OPTION["pieces"]["switch"]["price"]
DOCUMENT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SCHEMA = "params/params.schema.json"
CLIENT: dict[str, Any] = {
    "client": {"name": "Example Buyer", "slug": "example-buyer"},
    "as_of": "2026-11-20",
    "memo": {"to": "Chief Technology Officer", "from": "Advisory", "subject": "Network"},
    "cluster": {"gpus": 512, "gpu": THE_GPU["id"], "topology": "fat-tree", "tenancy": "multi"},
    "workload": {"kind": "pretraining-dense", "model_parameters_billion": 70, "run_days": 30},
    "organisation": {"networking_maturity": "medium", "existing_ethernet": "large"},
    "schedule": {"production_by": "2027-02-12"},
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

    def told(self, sort: str, *clients: str) -> Any:
        """What `recipe_run.py` tells of clients."""
        done = self.run("tests/integration/recipe_run.py", sort, *clients)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def write(self, name: str, **changes: Any) -> str:
        """A client of the copy's params; keys of a block are changed one by one."""
        blocks = {key: {**CLIENT[key], **to} if isinstance(to, dict) else to for key, to in changes.items()}
        (self.folder / "params" / f"{name}.yaml").write_text(yaml.safe_dump({**CLIENT, **blocks}), encoding="utf-8")
        return f"params/{name}.yaml"

    def digests(self) -> dict[str, str]:
        """Every file of the copy."""
        files = (p for p in self.folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        return {str(p.relative_to(self.folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def followed(folder: Path, *names: str) -> Copy:
    copy = Copy(copied(folder))
    for name in names:
        BOOK[name].follow(folder)
    return copy


@pytest.fixture(scope="module")
def whole_copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Every recipe followed, one after the other."""
    return followed(tmp_path_factory.mktemp("recipes"), *BOOK)


@pytest.fixture(scope="module")
def memo(whole_copy: Copy) -> Any:
    """The memo of a client who compares the recipe's option on the recipe's GPUs."""
    return whole_copy.told("whole", whole_copy.write("buyer"))


def test_the_document_names_every_recipe() -> None:
    assert {path.name for path in RECIPES.iterdir()} == set(BOOK)
    assert all(f"tests/data/recipes/{name}/" in DOCUMENT for name in BOOK)


def test_what_the_recipes_add_says_that_it_is_an_example_and_resembles_nothing_shipped() -> None:
    added = [entry for recipe in BOOK.values() for entry in recipe.evidence]
    assert {entry["grade"] for entry in added} == {"assumption"} and all("example" in e["use"] for e in added)
    shipped = yaml.safe_load((ROOT / EVIDENCE / "families.yaml").read_text(encoding="utf-8"))
    assert "like" not in THE_OPTION and THE_OPTION["family"] == THE_FAMILY["id"]
    for key in ("id", "name", "short_name", "risk", "tuning", "staff"):
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
def test_the_schema_lists_the_new_ids_once_it_is_made_again(whole_copy: Copy) -> None:
    (code,) = re.findall(rf'^ *python -c "(.*{re.escape(SCHEMA)}.*)"$', DOCUMENT, flags=re.MULTILINE)
    path = whole_copy.folder / SCHEMA
    assert THE_GPU["id"] not in path.read_text(encoding="utf-8")
    assert whole_copy.run("-c", code).returncode == 0
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert THE_GPU["id"] in schema["$defs"]["Cluster"]["properties"]["gpu"]["enum"]
    assert THE_OPTION["id"] in json.dumps(schema["properties"]["options"])


@pytest.mark.slow
def test_mistyped_ids_are_told_what_was_meant(whole_copy: Copy) -> None:
    option = whole_copy.write("option", options=["infiniband-xdr", THE_OPTION["id"][:-1]])
    gpu = whole_copy.write("gpu", cluster={"gpu": THE_GPU["id"] + "0"})
    refused = whole_copy.run("-m", "fabricreport", "check", option, gpu)
    said = refused.stdout + refused.stderr
    assert refused.returncode == 2
    assert all(f"Did you mean '{meant}'" in said for meant in (THE_OPTION["id"], THE_GPU["id"]))


@pytest.mark.slow
def test_a_client_compares_them_and_everything_they_add_is_behind_the_bill(whole_copy: Copy) -> None:
    """The entries by maturity stand behind the bill of a client of that maturity."""
    buyers = [whole_copy.write(m, organisation={"networking_maturity": m}) for m in ("low", "medium", "high")]
    quoted = {"id": SWITCH, "value": 640000, "who": "A test", "why": "Ten times as dear.", "until": "2027-01-31"}
    dear = whole_copy.write("dear", overrides=[quoted])
    *cases, dearer = whole_copy.told("case", *buyers, dear)
    for case in cases:
        assert case["options"][THE_OPTION["id"]] == [THE_OPTION["name"], NAME, THE_FAMILY["side"]]
        assert case["choice"] in case["options"]
    added = {f"evidence:{entry['id']}" for recipe in BOOK.values() for entry in recipe.evidence}
    assert {SWITCH, *added} <= {input_id for case in cases for input_id in case["behind"]}
    usual, now, (ours, other) = cases[1]["switches"], dearer["switches"], (THE_OPTION["id"], "infiniband-xdr")
    assert now[ours] > 9 * usual[ours] and now[other] == usual[other]


@pytest.mark.slow
@pytest.mark.laws(1)
@pytest.mark.parametrize(
    ("names", "client"),
    [
        (["family", "option"], {"cluster": {"gpu": "b300"}}),
        (["gpu"], {"options": ["infiniband-xdr", "rocev2-branded-800g"]}),
    ],
)
def test_each_recipe_is_enough_of_itself(names: list[str], client: dict[str, Any], tmp_path: Path) -> None:
    """An option needs its family, and a family is seen through an option of it."""
    copy = followed(tmp_path, *names)
    small = {**client, "cluster": {"gpus": 32, **client.get("cluster", {})}}
    (told,) = copy.told("case", copy.write("buyer", **small))
    assert list(told["options"]) == client.get("options", CLIENT["options"])
    assert told["choice"] in told["options"]


@pytest.mark.slow
def test_a_family_without_an_option_is_known_and_changes_nothing_else(tmp_path: Path) -> None:
    code = "from fabricreport.books.equipment import families; from fabricreport.books.constants import catalogue; "
    code += "from fabricreport.books.evidence import read_evidence; read_evidence(None); print(*families(), *catalogue().fabrics)"
    known = followed(tmp_path, "family").run("-c", code).stdout.split()
    assert {THE_FAMILY["id"], *BOOK["family"].entries(EVIDENCE + "collectives.yaml")["fabrics"]} <= set(known)


@pytest.mark.trust
def test_what_check_accepts_is_a_memo_that_names_them_in_every_section(whole_copy: Copy, memo: Any) -> None:
    assert whole_copy.run("-m", "fabricreport", "check", whole_copy.write("good")).returncode == 0
    assert memo["faults"] == []
    assert {s: any(NAME in text for text in said) for s, said in memo["said"].items()} == dict.fromkeys(
        ("buy_once", "decision", "latency", "tco", "tail_risk", "diligence", "evidence"), True
    )
    assert any(THE_GPU["name"] in text for said in memo["said"].values() for text in said)


@pytest.mark.trust
def test_charts_that_name_both_options_draw_each_in_its_own_ink(memo: Any) -> None:
    (other,) = (found for option, found in memo["options"].items() if option != THE_OPTION["id"])
    ours = memo["options"][THE_OPTION["id"]]
    both = [p for p in memo["pictures"] if all(any(n in p["words"] for n in names[:2]) for names in (other, ours))]
    drawn = [{FIRST, SECOND} & set(p["colours"]) for p in both]
    assert both and not [p["words"] for p, c in zip(both, drawn, strict=True) if len(c) == 1]
    assert sum(len(c) == 2 for c in drawn) >= 1


@pytest.mark.trust
def test_the_framework_treats_it_by_its_side_and_calls_the_side_by_its_name(memo: Any) -> None:
    assert memo["leans_to"] == THE_FAMILY["side"]
    assert {side for side in memo["speaks_for"] if side != "neither"} == {NAME, "InfiniBand"}
