"""Two clients in one folder: what one was quoted, answered or called reaches nothing of the other's."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from click.testing import CliRunner
from pypdf import PdfReader

from fabricreport.case import Case, open_case
from fabricreport.cli.main import main
from fabricreport.memo.build import BuildResult, built_before
from fabricreport.memo.editions.editions import EVIDENCE
from fabricreport.memo.run.recall import Places, Question
from fabricreport.memo.run.snapshot import take_snapshot

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SELLER, PRICE, ANSWER, SECRET = "Kanarienvogel GmbH", "31337.5", "Only at nightingale hours.", "zeisig-4711-token"
CANARIES = ("kanarienvogel", "31337", "31,337", "31.3k", "nightingale", "zeisig", "northmere")
"""Of A: the seller and the files called after it, the price, the answer, the client itself; and of who builds, a secret."""
A, B = Path("params/a.yaml"), Path("params/b.yaml")


def run(*words: str) -> str:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    return done.stdout


def quoted(day: str) -> Path:
    """A form of A's with one quote in it."""
    form = Path("forms/infiniband-ndr.csv")
    if not form.exists():
        run("quotes", str(A), "--output", str(form.parent))
    with form.open(encoding="utf-8-sig", newline="") as handle:
        lines = list(csv.DictReader(handle))
    switch = next(line for line in lines if line["item"] == "switch-qm9700")
    switch |= {"seller": SELLER, "quoted_on": day, "unit_price": PRICE, "valid_until": "2027-12-31"}
    with form.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return form


def answered() -> Path:
    """A seller's answer to A."""
    form = Path("form.yaml")
    answer = f"answers:\n  - {{question: Q-COM-05, answer: {ANSWER}}}\n"
    form.write_text(f"provider: {SELLER}\ndate: 2026-11-02\nanswered_by: A. Seller\n{answer}", encoding="utf-8")
    return form


def texts(*folders: Path) -> Iterator[tuple[str, str]]:
    """Every file below with its name, as text: of a PDF what can be read in it, and all its streams unpacked."""
    for path in (p for folder in folders for p in sorted(folder.rglob("*")) if p.is_file()):
        data = path.read_bytes()
        yield str(path), f"{path}\n{data.decode('utf-8', 'replace')}"
        if path.suffix == ".pdf":
            reader = PdfReader(path)
            yield str(path), "\n".join([str(reader.metadata), *(page.extract_text() for page in reader.pages)])
            yield str(path), "\n".join(map(unpacked, re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL)))


def unpacked(stream: bytes) -> str:
    try:
        return zlib.decompressobj().decompress(stream).decode("utf-8", "replace")
    except zlib.error:
        return ""


def frozen(params: Path, target: Path) -> Case:
    """The case that a build's kernel opens."""
    return open_case(take_snapshot(open_case(params).params, params, target).params_json)


def write_notebook(params: Path, name: str, *cells: tuple[str, str, dict[str, Any]]) -> None:
    """A notebook in the folder of a client whose slug is the params file's own name."""
    made = [
        {"cell_type": kind, "id": f"n{number}", "metadata": metadata, "source": source}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for number, (kind, source, metadata) in enumerate(cells)
    ]
    at = params / "notebooks" / name
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")


MESSY = """\
import os, warnings
import halls, numpy as np, pandas as pd, seaborn as sns
sns.set_theme()
pd.set_option("display.precision", 1)
warnings.simplefilter("ignore")
np.random.seed(3)
racks = pd.read_csv("data/racks.csv").assign(hall=halls.NAMES)
os.chdir("/")"""
CLEAN = """\
import os, sys, matplotlib.pyplot as plt
assert "halls" not in sys.modules and sys.path.count(os.getcwd()) == 1
assert os.path.basename(os.getcwd()) == "notebooks", os.getcwd()
assert plt.rcParams["axes.facecolor"] == "white" and pd.get_option("display.precision") == 6"""


def own_words() -> None:
    """Words and sections of B's own: a plain notebook that leaves a mess, a section and an overlay begun by `new`."""
    folder = Path("params/sedge-works")
    plain = (
        ("markdown", "# Racks\n\nBeside {sec-power} stand the racks.", {}),
        ("code", MESSY, {}),
        ("code", "racks.set_index('rack')[['hall']]", {"caption": "The racks by name"}),
        (
            "code",
            "sns.barplot(racks, x='rack', y='load')",
            {"alt": "Bars: the second rack is the heavier.", "caption": "The racks by weight"},
        ),
    )
    write_notebook(folder, "plain.ipynb", *plain)
    (folder / "notebooks/data").mkdir()
    (folder / "notebooks/data/racks.csv").write_text("rack,load\nnorth,40\nsouth,44\n", encoding="utf-8")
    (folder / "notebooks/halls.py").write_text('NAMES = ["old", "new"]\n', encoding="utf-8")
    run("new", "--section", "power", "--params", str(B))
    run("new", "--section", "tco", "--params", str(B))
    text = B.read_text("utf-8")
    assert text.endswith("\nextra: [power.ipynb]\n"), "it is named in the params"
    B.write_text(text.replace("[power.ipynb]", "[plain.ipynb, power.ipynb]"), encoding="utf-8")
    for name, at, said in (("power", 3, CLEAN), ("tco", 2, "%%say\nBittern words stand here.")):
        path = folder / "notebooks" / f"{name}.ipynb"
        notebook = json.loads(path.read_text("utf-8"))
        assert notebook["metadata"]["kernelspec"]["name"] == "python3", "papermill runs it as it is"
        cell = notebook["cells"][at]
        cell["source"] = said if name == "tco" else f"{said}\n{''.join(cell['source'])}"
        path.write_text(json.dumps(notebook), encoding="utf-8")


def _has_its_own_words(edition: Path) -> None:
    """What B's own notebooks say stands in its memo, numbered, in the ledger and in what is kept of it."""
    page = (edition / "memo.html").read_text("utf-8")
    ledger, manifest = (json.loads((edition / name).read_bytes()) for name in ("ledger.json", "manifest.json"))
    for words in (
        "Bittern words stand here.",
        "The racks by name",
        "Bars: the second rack",
        "The racks by weight",
        "What spare switches cost",
    ):
        assert words in page, words
    assert "{sec-" not in page and "left out of this copy" not in page
    assert {"power.one", "power.two"} <= {number["id"] for number in ledger["numbers"]}
    assert manifest["sections"] == ["tco", "plain", "power"]
    (told,) = [remark for remark in manifest["remarks"] if remark.startswith("plain.ipynb changed")]
    assert all(name in told for name in ("rcParams", "pandas options", "folder", "warnings", "random state")), told
    kept = {path.name for path in (edition / "inputs/sedge-works/notebooks").rglob("*.*")}
    assert kept == {"plain.ipynb", "power.ipynb", "tco.ipynb", "racks.csv", "halls.py"}


@pytest.mark.usefixtures("few_draws")
def test_what_one_client_has_for_itself_moves_its_memo_and_stands_in_no_byte_of_anothers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memos: dict[str, BuildResult]
) -> None:
    monkeypatch.chdir(tmp_path)
    copytree(memos["example"].folder.parents[1] / EVIDENCE, Path("output") / EVIDENCE, symlinks=True)
    for name in ("prices", "providers"):
        copytree(ROOT / "params" / name, A.parent / name)
    text = (ROOT / "params/example.yaml").read_text("utf-8")
    A.write_text(text, encoding="utf-8")
    own = re.sub(
        r"(?m)^client: .*", "client: {name: Sedge Works}", re.sub(r"(?m)^sections: .*", "sections: [tco]", text)
    )
    B.write_text(re.sub(r"Northmere( AI)?", "Sedge", own), encoding="utf-8")
    own_words()
    before = Question(B, Places()).stamp()
    assert before is not None
    run("quotes", "import", str(quoted("2026-11-10")), "--params", str(A))
    run("answers", str(answered()), "--params", str(A))
    run("elicit", str(A), "--form")
    write_notebook(Path("params/northmere-ai"), "power.ipynb", ("markdown", "# Nightingale and Kanarienvogel", {}))
    after = Question(B, Places()).stamp()
    assert after is not None and after.sha256 == before.sha256
    filed = sorted(p.relative_to("params").as_posix() for p in Path("params/northmere-ai").rglob("*.*"))
    assert filed == [
        "northmere-ai/elicited/form.yaml",
        "northmere-ai/notebooks/power.ipynb",
        "northmere-ai/prices/quotes-kanarienvogel-gmbh.csv",
        "northmere-ai/providers/kanarienvogel-gmbh.yaml",
    ]
    used = frozen(A, tmp_path / "frozen-a").prices["switch-qm9700"]
    assert (used.price, used.grade) == (31337.5, "quote") and SELLER in used.source
    assert frozen(B, tmp_path / "frozen-b").prices["switch-qm9700"].price != used.price

    command = [sys.executable, "-m", "fabricreport", "build", str(B)]
    environment = {**os.environ, "FABRICREPORT_SECRET": SECRET}
    built = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    listed = run("list", "--json")
    (edition,) = [e for e in json.loads(listed) if e["client"] != EVIDENCE]
    assert edition["latest"] and not edition["faults"]
    places = [("log", built.stdout + built.stderr), ("list", listed + run("list"))]
    places += texts(Path("output"), Path(".cache"), tmp_path / "frozen-b")
    assert any("Sedge" in text for name, text in places if name.endswith("memo.pdf")), "what stands in a PDF is found"
    _has_its_own_words(Path("output") / edition["client"] / edition["edition"])
    found = [(name, word) for name, text in places for word in CANARIES if word in text.casefold()]
    assert not found
    assert any(word in text.casefold() for _, text in texts(tmp_path / "frozen-a") for word in CANARIES[:2])

    run("quotes", "import", str(quoted("2026-11-11")), "--params", str(A))
    again = built_before(B, output=Path("output"))
    assert again is not None and again.edition == edition["edition"], "nothing has changed for B"
