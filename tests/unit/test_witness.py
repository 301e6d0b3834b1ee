"""A section is kept by what it read only if all of it is known: any other look at the inputs is seen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PARAMS = ROOT / "params"
READ_BOOK = "next(iter((folder / 'prices').glob('*.csv'))).read_text()"
LOOKS = {
    "": True,
    "(folder.parent / 'elsewhere.txt').read_text()": True,
    "import fabricreport.sections.tco.tables": True,
    READ_BOOK: False,
    "list(folder.iterdir())": False,
    "import pandas as pd\npd.read_csv(folder / 'prices' / 'equipment.csv')": False,
    "from fabricreport.books.prices.book import PriceBook\nPriceBook.read(folder / 'prices')": False,
    "import os\nos.chdir(folder)\nopen('prices/equipment.csv')": False,
    "import threading\nt = threading.Thread(target=lambda: open(folder / 'params.yaml'))\nt.start()\nt.join()": False,
    f"list(Path({str(PARAMS)!r}).iterdir())": False,
    "import subprocess\nsubprocess.run(['true'])": False,
    "import sys\nsys.modules['pyarrow'] = sys": False,
    f"open_case({str(PARAMS / 'tern-finetuning.yaml')!r})": False,
    "open_case({**written, 'as_of': '2026-11-20'})": False,
    "open_case(params)": True,
    "from datetime import date\nopen_case(params, as_of=date(2026, 11, 19))": False,
    "WITNESS.watching = False": False,
}
HEAD = """
import json, sys
from pathlib import Path
from fabricreport.witness import WITNESS
WITNESS.begin()
params = sys.argv[1]
folder = Path(params).parent
"""
OPENING = """
import yaml
from fabricreport.case import open_case
case = open_case(params)
written = case.params.model_dump(mode="json", by_alias=True, exclude_unset=True)
WITNESS.begin()
case = open_case(params)
case.inputs.draw("price:switch-qm9700")
"""
TAIL = """
ids = WITNESS.account(params)
print(json.dumps(None if ids is None else sorted(ids)))
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("client") / "inputs"
    shutil.copytree(PARAMS / "prices", folder / "prices")
    shutil.copy(PARAMS / "example.yaml", folder / "params.yaml")
    (folder.parent / "elsewhere.txt").write_text("not an input")
    return folder / "params.yaml"


def accounts(params: Path, *cells: str) -> list[str] | None:
    """What a process that ran these cells says it read."""
    argv = [sys.executable, "-c", "\n".join([HEAD, *cells, TAIL]), str(params)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    found: list[str] | None = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("look", LOOKS, ids=range(len(LOOKS)))
def test_a_look_that_is_not_accounted_for_is_seen(client: Path, look: str) -> None:
    found = accounts(client, OPENING, look)
    assert (found is not None) == LOOKS[look]
    assert found is None or {"price:switch-qm9700", "params:seed", "params:money"} <= set(found)


def test_a_notebook_that_opens_no_case_reads_nothing(client: Path) -> None:
    assert accounts(client, "") == []
    assert accounts(client, READ_BOOK) is None


def test_a_file_that_the_params_name_is_read_by_its_name(client: Path) -> None:
    data = (PARAMS / "example.yaml").read_text(encoding="utf-8")
    named = client.with_name("named.yaml")
    named.write_text(data.replace("{name: CoreWeave}", "{name: Example Cloud, answers: providers/answers.yaml}"))
    shutil.copytree(PARAMS / "providers", client.parent / "providers")
    (client.parent / "providers" / "example-answers.yaml").rename(client.parent / "providers" / "answers.yaml")
    opening = OPENING.replace('case.inputs.draw("price:switch-qm9700")', "case.diligence()")
    found = accounts(named, opening)
    assert found is not None and "file:providers/answers.yaml" in found and "file:*" not in found
    assert accounts(named, OPENING, "(folder / 'providers' / 'answers.yaml').read_text()") is None
