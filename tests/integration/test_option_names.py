"""An option may have any name that its file accepts: it is printed whole everywhere, and every chart has room for it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from one_process import SMALL_DRAWS, whole

from fabricreport.base.errors import InputError
from fabricreport.blocks.gate import texts
from fabricreport.books.options import MAX_NAME, read_options
from fabricreport.memo.document.pieces import gather

PARAMS = Path(__file__).parents[2] / "params"
ODD = "Fabric 9000 <svg> {x} *2* _a_ [l](https://e.example) $y$"
LONGEST = "W" * MAX_NAME


def client_with(folder: Path, client: str, *names: str) -> Path:
    """A copy of a shipped client, renamed, that also compares options of these names and asks one more provider."""
    shutil.copytree(PARAMS, folder / "params")
    options = folder / "params" / "options"
    options.mkdir(exist_ok=True)
    mine = [{"id": f"mine-{n}", "like": "rocev2-whitebox-400g", "name": name} for n, name in enumerate(names)]
    (options / "mine.yaml").write_text(yaml.safe_dump(mine), encoding="utf-8")
    path = folder / "params" / f"{client}.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    data["options"] = ["infiniband-ndr", *(entry["id"] for entry in mine), "ethernet-tcp"]
    data["client"]["name"] = "Studio 54 <b>"
    data["providers"] = [*data.get("providers", ()), {"name": "Cloud 9 <i> {y} *3*"}]
    path.write_text(json.dumps(data, default=str), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "client", ["tern-finetuning", *(pytest.param(c, marks=pytest.mark.trust) for c in ("example", "kestrel-lab"))]
)
def test_names_with_digits_markup_and_the_longest_one_pass_every_check_and_fit_every_chart(
    client: str, tmp_path: Path
) -> None:
    done = whole(client_with(tmp_path, client, ODD, LONGEST), draws=SMALL_DRAWS)
    assert done.faults == []
    nodes = [node for piece in gather(done.memo).pieces for node in piece.nodes]
    printed = [text for _, text in texts(nodes) if "9000" in text or "WWW" in text]
    assert len(printed) > 10
    assert [text for text in printed if ODD not in text and LONGEST not in text] == []


def test_a_name_longer_than_that_is_refused_with_its_line_before_anything_runs(tmp_path: Path) -> None:
    client_with(tmp_path, "example", "W" * (MAX_NAME + 1))
    with pytest.raises(InputError) as caught:
        read_options(tmp_path / "params" / "options")
    (problem,) = caught.value.problems
    assert problem.line == 3 and problem.key == "[0].name" and str(MAX_NAME) in str(problem)
