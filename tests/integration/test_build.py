"""From a params file to a published edition, with small notebooks of our own."""

import datetime as dt
import errno
import hashlib
import json
import os
import resource
import shutil
import stat
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from rows import words

from fabricreport.base.errors import InputError, MemoRejected, SectionFailed
from fabricreport.check.check import Checked
from fabricreport.memo.build import BuildResult, build
from fabricreport.memo.editable import build_and_copy, document_in
from fabricreport.memo.editions.editions import Files, list_editions, verify
from fabricreport.memo.editions.refresh import refresh
from fabricreport.memo.run import snapshot
from fabricreport.memo.run.plan import Places
from fabricreport.scenario import SECTION_NAMES, new_params

pytestmark = pytest.mark.slow

MADE_OF = ("buy_once", *SECTION_NAMES)
HEADER = "item,unit,price,low,high,currency,date,expiry,source,grade\n"
HEADLINE = """
import csv, json, pathlib
from IPython.display import display
book = pathlib.Path(params).parent / "prices" / "a.csv"
price = list(csv.DictReader(book.open()))[-1]["price"]
node = {"t": "headline", "data": {"recommendation": "Buy", "numbers": [
    {"t": "num", "id": "tco.price", "text": "$" + price, "value": float(price)}]}}
block = {"version": 1, "place": "body", "section": "decision", "nodes": [node], "ledger": [], "inputs": [], "names": []}
display({"application/vnd.fabricreport.block+json": block, "text/plain": "headline"}, raw=True)
"""
HIDDEN = "print(pathlib.Path(params), object())"


class Shop:
    def __init__(self, folder: Path) -> None:
        self.folder, self.output = folder, folder / "output"
        self.places = Places(folder / "notebooks", folder / "project", lambda *_: Checked())
        self.params = folder / "client" / "acme.yaml"
        (folder / "client" / "prices").mkdir(parents=True)
        self.places.notebooks.mkdir()
        text = new_params("Acme", dt.date(2026, 11, 20))
        self.params.write_text(text, encoding="utf-8")
        self.price("100", "2026-11-01")
        for section in MADE_OF:
            self.notebook(section, "greeting = 'hello'")
        self.notebook("decision", HEADLINE, hidden=HIDDEN)

    def price(self, price: str, day: str) -> None:
        row = f"switch,each,{price},,,USD,{day},,S,quote\n"
        (self.folder / "client" / "prices" / "a.csv").write_text(HEADER + row, encoding="utf-8")

    def notebook(self, section: str, *sources: str, text: str = "Words only.", hidden: str = "") -> None:
        nb = nbformat.v4.new_notebook()
        parameters = nbformat.v4.new_code_cell('params = "x"', metadata={"tags": ["parameters"]})
        nb.cells = [nbformat.v4.new_markdown_cell(f"# About {section}\n\n{text}"), parameters]
        nb.cells += [nbformat.v4.new_code_cell(s) for s in sources]
        if hidden:
            nb.cells.append(nbformat.v4.new_code_cell(hidden, metadata={"tags": ["remove-cell"]}))
        nbformat.write(nb, self.places.notebooks / f"{section}.ipynb")

    def build(self, **options: Any) -> BuildResult:
        return build(self.params, output=self.output, places=self.places, **options)

    def tree(self) -> dict[str, str]:
        files = [p for p in self.output.rglob("*") if p.is_file() and p.name != "run.json"]
        return {str(p.relative_to(self.output)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    digest = snapshot.package_digest()  # taken once: somebody may be editing the package while this runs
    monkeypatch.setattr(snapshot, "package_digest", lambda: digest)
    return Shop(tmp_path)


def test_two_builds_give_the_same_bytes_and_what_is_there_is_not_built_again(shop: Shop) -> None:
    first = shop.build()
    tree = shop.tree()
    assert verify(first.folder) == [] and not first.reused
    assert first.headline["recommendation"] == "Buy" and first.headline["numbers"][0]["text"] == "$100"
    assert first.memo_pdf.read_bytes().startswith(b"%PDF") and "Acme" in first.memo_html.read_text()
    assert {name for name in tree if name.startswith("acme/2")} >= {
        f"acme/{first.edition}/{name}"
        for name in words("memo.html memo.pdf ledger.json manifest.json notebooks/tco.ipynb inputs/prices/a.csv")
    }
    again = shop.build()
    assert again.reused and again.folder == first.folder
    shutil.rmtree(shop.output)
    assert not shop.build().reused and shop.tree() == tree


def test_an_editable_copy_stands_beside_its_edition_and_is_never_written_over(shop: Shop) -> None:
    built, tree = shop.build(), shop.tree()
    first = build_and_copy(shop.params, output=shop.output, places=shop.places)
    assert first.reused and first.docx == built.folder.with_name(f"{built.edition}.memo.docx")
    copied = first.docx.read_bytes()
    first.docx.unlink()
    again = build_and_copy(shop.params, output=shop.output, places=shop.places)
    assert first.docx.read_bytes() == copied and again.messages == built.messages
    first.docx.write_bytes(b"edited")
    (message,) = build_and_copy(shop.params, output=shop.output, places=shop.places).messages
    assert first.docx.read_bytes() == b"edited" and str(first.docx) in message and "kept" in message
    assert {name: data for name, data in shop.tree().items() if not name.endswith(".docx")} == tree
    assert verify(built.folder) == [] and [i.edition for i in list_editions(shop.output)] == [built.edition]
    other = replace(built, folder=Path(shutil.copytree(built.folder, shop.folder / "other")))
    shutil.copy(other.folder / "notebooks" / "latency.ipynb", other.folder / "notebooks" / "changes.ipynb")
    told = [line.text for line in document_in(other, None).contents if line.text.startswith("About")]
    assert told.count("About latency") == 2 and told[-1] == "About latency", "what changed since is the last section"


def test_a_failing_section_is_named_its_notebook_kept_and_nothing_published(shop: Shop) -> None:
    good = shop.build()
    before = shop.tree()
    shop.notebook("tco", "print(params)", "raise KeyError('switch')")
    with pytest.raises(SectionFailed) as caught:
        shop.build()
    kept = shop.output / "acme" / ".failed" / "tco.ipynb"
    message = str(caught.value)
    assert "section tco failed in cell 4 (raise KeyError('switch')): KeyError: 'switch'" in message
    assert str(kept) in message
    assert f"Mend cell 4 of {shop.places.notebooks / 'tco.ipynb'}" in message, "the remedy names the source"
    assert str(shop.params) in kept.read_text() and "KeyError" in kept.read_text()
    assert {k: v for k, v in shop.tree().items() if ".failed" not in k} == before
    assert (shop.output / "acme" / "latest").readlink() == Path(good.edition)
    shop.notebook("tco", "mended = True")
    shop.build()
    assert not kept.exists()


def test_a_notebook_of_the_project_goes_before_the_shipped_one_with_what_lies_beside_it(shop: Shop) -> None:
    shipped, own = shop.places.notebooks, shop.folder / "own"
    own.mkdir()
    shop.notebook("tco", hidden="print(open('words.txt').read())")
    (shipped / "tco.ipynb").rename(own / "tco.ipynb")
    shop.notebook("tco", hidden="print('theirs')")
    (shipped / "words.txt").write_text("of those shipped", encoding="utf-8")
    (own / "words.txt").write_text("our own", encoding="utf-8")
    shop.places = replace(shop.places, own_notebooks=own)
    executed = shop.build().folder / "notebooks"
    assert "our own" in (executed / "tco.ipynb").read_text() and "hello" in (executed / "latency.ipynb").read_text()

    (own / "words.txt").write_text("changed", encoding="utf-8")
    assert "changed" in (shop.build().folder / "notebooks" / "tco.ipynb").read_text(), "what lies beside it is an input"


def test_a_bare_number_stops_a_client_copy_and_marks_a_draft(shop: Shop) -> None:
    shop.notebook("tco", text="It costs 1234567 dollars.")
    with pytest.raises(MemoRejected, match="1234567"):
        shop.build()
    assert list_editions(shop.output) == ()
    draft = shop.build(draft=True)
    assert draft.status == "Draft" and any("1234567" in fault for fault in draft.faults)
    assert not (shop.output / "acme" / "latest").exists()


def test_one_section_alone_is_a_partial_draft(shop: Shop) -> None:
    only = shop.build(only="tco")
    assert only.folder.parent == shop.output / "acme" / "partial" and only.edition.endswith("-tco")
    assert only.status == "Draft" and verify(only.folder) == [] and shop.build(only="tco").reused
    assert list_editions(shop.output) == () and not (shop.output / "acme" / "latest").exists()
    with pytest.raises(InputError, match="tail_risk"):
        shop.build(only="tail_risks")


def test_bad_input_starts_nothing_and_leaves_nothing(shop: Shop) -> None:
    shop.params.write_text("client: {name: Acme}\nclient: {name: Acme}\n", encoding="utf-8")
    with pytest.raises(InputError):
        shop.build()
    assert not shop.output.exists() and not (shop.folder / ".cache").exists()


def test_refresh_tells_old_and_new_and_does_nothing_the_second_time(shop: Shop) -> None:
    first = refresh(shop.params, output=shop.output, places=shop.places)
    assert first.built is not None and first.changes == ()
    assert refresh(shop.params, output=shop.output, places=shop.places).built is None
    shop.price("120", "2026-12-01")
    second = refresh(shop.params, output=shop.output, places=shop.places)
    assert second.built is not None and second.built.edition.startswith("2026-12-01-")
    assert [str(c) for c in second.changes] == ["tco.price: $100 -> $120"]
    assert second.built.manifest["fingerprint"]["since"] == first.built.edition
    before = shop.tree()
    assert refresh(shop.params, output=shop.output, places=shop.places).built is None
    assert shop.tree() == before and [i.sequence for i in list_editions(shop.output)] == [1, 2]


def test_a_full_disk_is_an_error_and_not_a_memo(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    shop.build(only="tco")
    monkeypatch.setattr(Files, "rename", full)
    with pytest.raises(InputError, match="No space left"):
        shop.build()
    assert list_editions(shop.output) == () and not list(shop.output.glob(".scratch-*"))


def test_a_disk_that_fills_while_sections_run_is_one_message_and_the_last_edition_stays(shop: Shop) -> None:
    good, before = shop.build(), shop.tree()
    shop.notebook("tco", hidden="print(('x' * 79 + chr(10)) * 5_000)")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))  # no file may grow beyond it: a disk's EFBIG
    try:
        with pytest.raises(InputError) as caught:
            shop.build()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    (problem,) = caught.value.problems
    assert problem.file == str(shop.output) and os.strerror(errno.EFBIG) in problem.message
    assert "untouched" in problem.remedy and caught.value.exit_code == 2
    assert shop.tree() == before and verify(good.folder) == []
    assert (shop.output / "acme" / "latest").readlink() == Path(good.edition)
    assert not list(shop.output.glob(".scratch-*"))
    assert shop.build().edition != good.edition, "with room again it builds"


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root may mount a small disk")
def test_a_really_full_disk_is_one_message(shop: Shop) -> None:
    shop.output.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(shop.output)], check=False)
    if done.returncode:
        pytest.skip("this system does not let root mount a tmpfs")
    try:
        shop.notebook("tco", "print(('x' * 79 + chr(10)) * 20_000)")
        with pytest.raises(InputError, match=os.strerror(errno.ENOSPC)):
            shop.build()
        assert not list(shop.output.glob(".scratch-*")) and list_editions(shop.output) == ()
        shop.notebook("tco", "raise KeyError('switch')")
        (shop.output / "filler").write_bytes(b"x" * 940_000)
        with pytest.raises((InputError, SectionFailed)) as caught:
            shop.build()
        assert caught.value.exit_code in (2, 3), "a failure that cannot be kept is still told"
    finally:
        subprocess.run(["umount", str(shop.output)], check=True)


def test_a_cache_that_others_may_write_to_is_left_and_said(shop: Shop) -> None:
    shop.build()
    cache = shop.folder / ".cache" / "fabricreport"
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    cache.chmod(0o777)
    kept = {p: p.stat().st_mtime_ns for p in cache.rglob("*")}
    shutil.rmtree(shop.output)
    again = shop.build()
    assert len(again.messages) == 1 and "may be written by other users" in again.messages[0]
    assert {p: p.stat().st_mtime_ns for p in cache.rglob("*")} == kept


def test_what_is_published_names_no_folder_of_the_machine(shop: Shop) -> None:
    folder = shop.build().folder
    for path in folder.rglob("*"):
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as book:
                assert not any(str(shop.folder).encode() in book.read(name) for name in book.namelist()), path.name
        elif path.is_file() and path.suffix != ".pdf":
            assert str(shop.folder) not in path.read_text(encoding="utf-8"), path.name
    run = json.loads((folder / "run.json").read_text())
    assert run["sequence"] == 1 and all(s["seconds"] > 0 for s in run["sections"])


@pytest.mark.parametrize(
    "cell",
    ["data = '{home}/mine.csv'", "import warnings\nwarnings.warn_explicit('odd', UserWarning, '{home}/x.py', 1)"],
)
def test_a_path_of_the_machine_in_a_notebook_stops_a_client_copy_with_its_cell(shop: Shop, cell: str) -> None:
    shop.notebook("tco", cell.format(home=shop.folder))
    with pytest.raises(MemoRejected, match=r"tco\.ipynb, cell 3") as caught:
        shop.build()
    assert str(shop.folder) not in str(caught.value) and list_editions(shop.output) == ()
    draft = shop.build(draft=True)
    assert any("notebooks/tco.ipynb, cell 3: holds the path of" in fault for fault in draft.faults)
    assert str(shop.folder) not in (draft.folder / "manifest.json").read_text(encoding="utf-8")
