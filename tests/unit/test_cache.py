"""An edition holds nothing that varies from run to run, is named for all it rests on, and its cache folder is private."""

import copy
import importlib.util
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.memo.run.environment import compile_checked
from fabricreport.memo.run.noise import notebook_bytes, notebook_from_bytes, strip_volatile
from fabricreport.memo.run.recall import cache_folder, cache_place
from fabricreport.memo.run.snapshot import Fingerprint, notebook_digest, tree_digest, versions


def executed(stamp: str) -> Any:
    """An executed notebook as papermill leaves it, with everything that varies made from `stamp`."""
    nb = nbformat.v4.new_notebook()
    nb.metadata = nbformat.from_dict(
        {
            "papermill": {"start_time": stamp, "duration": 1.0, "output_path": f"/tmp/{stamp}/out.ipynb"},
            "kernelspec": {"name": stamp, "display_name": stamp},
            "language_info": {"name": "python", "version": f"3.11.{len(stamp)}"},
            "fabricreport": {"title": "Cost"},
        }
    )

    def code(source: str, **extra: Any) -> Any:
        metadata = {"papermill": {"start_time": stamp}, "execution": {"iopub.status.busy": stamp}, "tags": ["t"]}
        return nbformat.v4.new_code_cell(source, metadata=metadata, execution_count=len(stamp), **extra)

    injected = code("params = '/scratch'")
    injected.metadata["tags"] = ["injected-parameters"]
    out = nbformat.v4.new_output
    outputs = [
        out("stream", name="stderr", text=f"/tmp/ipykernel_{len(stamp)}/12{len(stamp)}.py:1: UserWarning: w\n"),
        out("stream", name="stdout", text=f"read /work/{stamp}/inputs/prices/a.csv\n"),
        out("stream", name="stderr", text="more\n"),
        out("display_data", {"text/plain": f"<Axes at 0x7f{len(stamp):010x}>"}),
        out("execute_result", {"text/plain": "2"}, execution_count=len(stamp)),
    ]
    nb.cells = [
        nbformat.v4.new_markdown_cell("# Cost"),
        code('params = "x"'),
        injected,
        code("f()", outputs=outputs),
        nbformat.v4.new_code_cell("", execution_count=None),
        code("g()"),
    ]
    return nb


def stripped(stamp: str) -> Any:
    return strip_volatile(executed(stamp), folders=[f"/work/{stamp}/inputs", f"/work/{stamp}"])


def test_two_runs_strip_to_the_same_bytes() -> None:
    assert notebook_bytes(executed("a")) != notebook_bytes(executed("bb"))
    assert notebook_bytes(stripped("a")) == notebook_bytes(stripped("bb"))


def test_stripping_keeps_what_a_reader_needs() -> None:
    nb = stripped("2026")
    assert [c.source for c in nb.cells] == ["# Cost", 'params = "x"', "f()", "", "g()"]
    assert [c.get("execution_count") for c in nb.cells] == [None, 1, 2, None, 3]
    assert nb.cells[2].metadata == {"tags": ["t"]} and nb.metadata["fabricreport"] == {"title": "Cost"}
    texts = [(o.get("name"), o.get("text")) for o in nb.cells[2].outputs[:2]]
    assert texts == [("stdout", "read prices/a.csv\n"), ("stderr", "<cell>:1: UserWarning: w\nmore\n")]
    assert nb.cells[2].outputs[2]["data"]["text/plain"] == "<Axes at 0x0>"
    assert nb.cells[2].outputs[3]["execution_count"] == 2
    nbformat.validate(nb)


def test_a_progress_bar_keeps_its_last_state_and_a_long_line_takes_no_time() -> None:
    nb = nbformat.v4.new_notebook()
    nb.cells = [nbformat.v4.new_code_cell("x", execution_count=1)]
    nb.cells[0].outputs = [
        nbformat.v4.new_output("stream", name="stdout", text=piece)
        for piece in ("start\n10 %\r5", "0 %\r100 %\r\n", "y" * 3_000_000)
    ]
    (shown,) = strip_volatile(nb).cells[0].outputs
    assert shown.text == "start\n100 %\r\n" + "y" * 3_000_000


def test_stripping_twice_changes_nothing_and_leaves_the_original_alone() -> None:
    original = executed("x")
    before = copy.deepcopy(original)
    once = strip_volatile(original)
    assert notebook_bytes(strip_volatile(once)) == notebook_bytes(once) and original == before
    assert notebook_bytes(notebook_from_bytes(notebook_bytes(once))) == notebook_bytes(once)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.text(max_size=5)), max_size=8))
def test_how_a_stream_was_cut_does_not_matter(pieces: list[tuple[str, str]]) -> None:
    def shown(outputs: list[Any]) -> bytes:
        nb = nbformat.v4.new_notebook()
        nb.cells = [nbformat.v4.new_code_cell("x", outputs=outputs, execution_count=1)]
        return notebook_bytes(strip_volatile(nb))

    def out(name: str, text: str) -> Any:
        return nbformat.v4.new_output("stream", name=name, text=text)

    whole = {n: "".join(t for name, t in pieces if name == n) for n in dict.fromkeys(n for n, _ in pieces)}
    assert shown([out(n, t) for n, t in pieces]) == shown([out(n, t) for n, t in whole.items()])


PRINT = Fingerprint("p", {"prices/a.csv": "1"}, {"tco": "n", "tail": "m"}, "h", "k", {"numpy": "2"}, "c-3.11", 7, "")


@rows(
    "change",
    [
        {"params": "q"},
        {"inputs": {"prices/a.csv": "2"}},
        {"inputs": {"prices/b.csv": "1"}},
        {"notebooks": {"tco": "n", "tail": "o"}},
        {"notebook_helpers": "i"},
        {"package": "l"},
        {"versions": {"numpy": "3"}},
        {"python": "c-3.12"},
        {"seed": 8},
        {"variant": "draft"},
    ],
)
def test_an_edition_is_named_for_all_that_it_rests_on(change: dict[str, Any]) -> None:
    assert replace(PRINT, **change).digest != PRINT.digest == replace(PRINT).digest


def test_saved_outputs_do_not_change_a_notebook_but_its_source_does(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    digests = []
    for nb in (executed("a"), executed("bb")):
        nbformat.write(nb, path)
        digests.append(notebook_digest(path))
    nb.cells[3].source = "f(1)"
    nbformat.write(nb, path)
    assert digests[0] == digests[1] != notebook_digest(path)


def test_a_tree_digest_sees_names_and_contents_but_no_caches_and_no_readme(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1", encoding="utf-8")
    first = tree_digest(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("?", encoding="utf-8")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / "README.md").write_text("About a.py.", encoding="utf-8")
    assert tree_digest(tmp_path) == first
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert tree_digest(tmp_path) != first


def test_versions_name_the_pinned_libraries() -> None:
    assert {"numpy", "papermill", "nbconvert", "fabricreport"} <= set(versions())
    assert "pytest" not in versions()


def test_the_cache_lies_beside_the_output(tmp_path: Path) -> None:
    assert cache_folder(tmp_path / "output") == tmp_path / ".cache" / "fabricreport"


def test_the_cache_is_private_and_an_older_open_one_is_closed(tmp_path: Path) -> None:
    folder = cache_place(tmp_path / "output").folder
    assert folder == cache_folder(tmp_path / "output")
    assert [stat.S_IMODE(p.stat().st_mode) for p in (folder, folder.parent)] == [0o700, 0o700]
    folder.chmod(0o755)
    assert cache_place(tmp_path / "output").folder == folder and stat.S_IMODE(folder.stat().st_mode) == 0o700


@rows(
    ("kind", "word"),
    [
        ("foreign", "belongs to another user"),
        ("foreign parent", "belongs to another user"),
        ("writable", "may be written by other users"),
        ("group", "may be written by other users"),
        ("writable parent", "may be written by other users"),
        ("link", "is a link or a file"),
        ("file", "is a link or a file"),
    ],
)
def test_a_cache_folder_that_is_not_ours_alone_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, word: str
) -> None:
    folder = cache_folder(tmp_path / "output")
    folder.parent.mkdir(mode=0o700)
    if kind == "link":
        (tmp_path / "theirs").mkdir()
        folder.symlink_to(tmp_path / "theirs")
    elif kind == "file":
        folder.write_text("")
    else:
        folder.mkdir(mode=0o700)
    foreign = {"foreign": folder, "foreign parent": folder.parent}.get(kind)
    if foreign is not None:
        us, lstat = os.geteuid(), Path.lstat

        def other_owner(path: Path) -> os.stat_result:
            facts = lstat(path)
            return os.stat_result((*facts[:4], us + 4242, *facts[5:])) if path == foreign else facts

        monkeypatch.setattr(Path, "lstat", other_owner)
    if kind.startswith(("writable", "group")):
        (folder.parent if kind.endswith("parent") else folder).chmod(0o770 if kind == "group" else 0o777)
    found = cache_place(tmp_path / "output")
    assert found.folder is None and word in found.message and str(folder) in found.message


def test_a_sticky_parent_of_the_cache_is_as_good_as_our_own(tmp_path: Path) -> None:
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache").chmod(0o1777)
    assert cache_place(tmp_path / "output").folder is not None


def test_checked_bytecode_follows_an_edit_that_time_and_size_do_not_show(tmp_path: Path) -> None:
    module = tmp_path / "price.py"
    module.write_text("PRICE = 1\n", encoding="utf-8")
    assert (compile_checked(tmp_path), compile_checked(tmp_path)) == (1, 0)
    times = module.stat()
    module.write_text("PRICE = 2\n", encoding="utf-8")
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
    argv = [sys.executable, "-B", "-c", "import price; print(price.PRICE)"]
    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "2\n"
    assert Path(importlib.util.cache_from_source(str(module))).exists()
