"""The quote commands at a terminal: what they write, where, and what they end with."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabricreport.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]
ROOT = Path(__file__).parents[2]
ANSWER = {"seller": "Acme Ltd", "quoted_on": "2026-11-10", "unit_price": "120000", "valid_until": "2026-12-31"}


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A client with price files of its own, from whose folder the commands are run."""
    for name in ("prices", "providers"):
        shutil.copytree(ROOT / "params" / name, tmp_path / name)
    shutil.copy(ROOT / "params/halden-cloud.yaml", tmp_path / "client.yaml")
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "client.yaml"


def answer(form: Path, **more: str) -> None:
    """Fill in the first quote of the switch."""
    with form.open(encoding="utf-8-sig", newline="") as handle:
        rows = list(csv.DictReader(handle))
    first = next(row for row in rows if row["item"] == "switch-q3400")
    first.update({**ANSWER, **more})
    with form.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_forms_are_written_once_and_a_filled_one_is_filed(client: Path) -> None:
    code, out, _ = run("quotes", "client.yaml", "--output", "forms")
    assert code == 0 and "quotes import FILE --params client.yaml" in out
    assert {path.suffix for path in Path("forms").iterdir()} == {".csv", ".xlsx"}
    code, _, err = run("quotes", "--output", "forms", "client.yaml")
    assert code == 2 and "is already there" in err
    form = Path("forms/infiniband-xdr.csv")
    answer(form)
    code, out, _ = run("quotes", "import", str(form), "--params", "client.yaml")
    assert code == 0 and "1 quotes added" in out
    filed = Path("prices/quotes-acme-ltd.csv").read_bytes()
    code, out, _ = run("quotes", "import", str(form), "--params", "client.yaml", "--json")
    told = json.loads(out)
    assert (code, told["added"], told["known"]) == (0, 0, 1)
    assert Path("prices/quotes-acme-ltd.csv").read_bytes() == filed
    assert "120,000" in run("prices", "show", "switch-q3400")[1]


def test_without_params_a_form_is_filed_where_a_build_from_here_would_read(client: Path) -> None:
    assert run("quotes", "client.yaml")[0] == 0
    form = next(Path("quotes").glob("*/infiniband-xdr.csv"))
    answer(form)
    assert run("quotes", "import", str(form))[0] == 0
    assert Path("prices/quotes-acme-ltd.csv").is_file()


def test_a_form_with_a_fault_files_nothing_and_names_the_line(client: Path) -> None:
    assert run("quotes", "client.yaml", "--output", "forms")[0] == 0
    form = Path("forms/infiniband-xdr.csv")
    answer(form, unit_price="-1", seller="=cmd")
    code, _, err = run("quotes", "import", str(form), "--params", "client.yaml")
    assert code == 2 and f"{form}:2: unit_price" in err and f"{form}:2: seller" in err
    assert not list(Path("prices").glob("*quotes*"))
    code, out, _ = run("quotes", "import", str(form), "--params", "client.yaml", "--json")
    assert code == 2 and len(json.loads(out)["problems"]) == 2


def test_a_file_or_params_that_cannot_be_read_end_in_a_message(client: Path) -> None:
    for args in (("none.yaml",), ("import", "none.csv"), ("import", "client.yaml")):
        code, _, err = run("quotes", *args)
        assert code == 2 and err and "Traceback" not in err
    Path("client.yaml").write_text("client: 1\n", encoding="utf-8")
    assert run("quotes", "client.yaml")[0] == 2
    Path("file").write_text("", encoding="utf-8")
    shutil.copy(ROOT / "params/halden-cloud.yaml", "client.yaml")
    code, _, err = run("quotes", "client.yaml", "--output", "file/forms")
    assert code == 2 and "cannot be written" in err
