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
    before = Question(B, Places()).stamp()
    assert before is not None
    run("quotes", "import", str(quoted("2026-11-10")), "--params", str(A))
    run("answers", str(answered()), "--params", str(A))
    run("elicit", str(A), "--form")
    after = Question(B, Places()).stamp()
    assert after is not None and after.sha256 == before.sha256
    filed = sorted(p.relative_to("params").as_posix() for p in Path("params/northmere-ai").rglob("*.*"))
    assert filed == [
        "northmere-ai/elicited/form.yaml",
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
    found = [(name, word) for name, text in places for word in CANARIES if word in text.casefold()]
    assert not found
    assert any(word in text.casefold() for _, text in texts(tmp_path / "frozen-a") for word in CANARIES[:2])

    run("quotes", "import", str(quoted("2026-11-11")), "--params", str(A))
    again = built_before(B, output=Path("output"))
    assert again is not None and again.edition == edition["edition"], "nothing has changed for B"
