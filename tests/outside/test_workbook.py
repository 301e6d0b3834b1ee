"""`memo.xlsx` in LibreOffice: ten prices at ±10 % beside the central cases of rebuilds. `make outside`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from openpyxl import load_workbook

from fabricreport.base.provenance import plain
from fabricreport.case import open_case
from fabricreport.memo.build import build

ROOT = Path(__file__).parents[2]
OFFICE = shutil.which("soffice")
pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(OFFICE is None, reason="LibreOffice lacks: apt-get install libreoffice-calc"),
]
PRICES = (
    *("switch-qm9700", "switch-n9600-64od", "switch-sn5610", "optic-400g-sr4", "optic-800g-2xsr4"),
    *("fibre-mpo-trunk", "nic-connectx7-400g", "server-h100-8gpu", "electricity", "fx-eur-usd"),
)
REBUILT = (("server-h100-8gpu", 1.1), ("switch-sn5610", 0.9))
"""The prices of which the whole memo is built again."""
AT = {"choice": "B5", "rival": "B6", "state": "B9"}


@pytest.fixture(scope="module")
def memo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's workbook."""
    return built(tmp_path_factory.mktemp("memo"), {})


def built(folder: Path, prices: dict[str, float]) -> Path:
    """The workbook of the example at other prices."""
    shutil.copytree(ROOT / "params" / "prices", folder / "prices")
    stated = yaml.safe_load((ROOT / "params" / "example.yaml").read_text(encoding="utf-8"))
    because = {"who": "a test", "why": "another price", "until": "2027-12-31"}
    stated["overrides"] = [{"id": f"price:{item}", "value": value, **because} for item, value in prices.items()]
    (folder / "params.yaml").write_text(yaml.safe_dump(stated), encoding="utf-8")
    return build(folder / "params.yaml", output=folder / "output").folder / "memo.xlsx"


def worked_out(folder: Path, memo: Path, changes: list[tuple[str, float]]) -> list[dict[str, Any]]:
    """The first sheet after each change of one price, as LibreOffice works it out: no value that the file carries is left."""
    for number, (item, value) in enumerate(changes):
        book = load_workbook(memo)
        cell = next(row[2] for row in book["Inputs"].iter_rows(min_row=5) if row[10].value == f"price:{item}")
        cell.value = value
        book.save(folder / f"{number}.xlsx")
    files = [str(folder / f"{number}.xlsx") for number in range(len(changes))]
    profile = f"-env:UserInstallation=file://{folder}/profile"
    words = [str(OFFICE), profile, "--headless", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir"]
    subprocess.run([*words, str(folder / "out"), *files], check=True, capture_output=True)
    books = (load_workbook(folder / "out" / Path(file).name, data_only=True)["Summary"] for file in files)
    return [{name: sheet[cell].value for name, cell in AT.items()} for sheet in books]


def test_a_changed_price_gives_the_central_case_of_a_rebuild_to_the_dollar_or_asks_for_one(
    memo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = open_case(ROOT / "params" / "example.yaml")
    pair = case.comparison.verdict.pair
    changes = [(item, case.inputs.central(f"price:{item}") * by) for item in PRICES for by in (0.9, 1.1)]
    lines, faults = [], []
    for (item, value), found in zip(changes, worked_out(tmp_path, memo, changes), strict=True):
        then = case.changed(prices={item: value})
        totals = then.chain.at_centre().bills.totals
        rebuilt = [float(plain(totals[o])[0]) for o in pair]
        same = set(then.comparison.verdict.pair) == set(pair) and then.options == case.options
        asked = found["state"].startswith("rebuild")
        lines.append(f"{item:20} {value:12,.4f} {found['choice']:15,.2f} {rebuilt[0]:15,.2f} {found['rival']:15,.2f} {rebuilt[1]:15,.2f} {found['state'][:7]}")  # fmt: skip
        off = max(abs(found["choice"] - rebuilt[0]), abs(found["rival"] - rebuilt[1]))
        if not asked and (off > 0.5 or not same):
            faults.append(lines[-1])
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert not faults and sum("rebuild" not in line for line in lines) > len(PRICES)


@pytest.mark.parametrize(("item", "by"), REBUILT)
def test_a_memo_built_again_at_that_price_has_the_same_central_case(
    memo: Path, tmp_path: Path, item: str, by: float
) -> None:
    value = open_case(ROOT / "params" / "example.yaml").inputs.central(f"price:{item}") * by
    for name in ("here", "again"):
        (tmp_path / name).mkdir()
    (found,) = worked_out(tmp_path / "here", memo, [(item, value)])
    again = load_workbook(built(tmp_path / "again", {item: value}), data_only=True)["Summary"]
    assert [found["choice"], found["rival"]] == pytest.approx([again["B5"].value, again["B6"].value], abs=0.5)
    assert again["F5"].value == again["F7"].value == "reconciles"
