"""A path of the machine in any file of an edition is named with its file, and in a notebook with its cell."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from fabricreport.memo.document.leaks import leaks, machine_folders, not_said_by, text_leaks
from fabricreport.memo.run.environment import PROJECT
from fabricreport.memo.run.plan import Places, load_checked, make_plan

PLACES = {
    "/srv/buyers/acme": "the params' folder",
    "/home/ann": "the home folder",
    "/tmp": "the folder for temporary files",
}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("read from /home/ann/data/x.csv today", "the home folder"),
        ("/home/ann", "the home folder"),
        ('{"a": "/srv/buyers/acme/log.txt"}', "the params' folder"),
        ("file:///home/ann/x", "the home folder"),
        ("<code>/tmp/fbr-1/x</code>", "the folder for temporary files"),
    ],
)
def test_a_path_of_the_machine_is_named_by_what_it_is_and_not_repeated(text: str, named: str) -> None:
    (fault,) = text_leaks("memo.html", text, PLACES)
    assert fault.startswith(f"memo.html: holds the path of {named}")
    assert not any(path in fault for path in PLACES)


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/home/ann/x",
        "/home/annette/x",
        "the folder /tmp is not ours",
        "iVBORw0KGgo+/tmp/AAAA",
        "notes/home/ann",
        "/srv/buyers/acme-2/x",
    ],
)
def test_what_only_looks_alike_passes(text: str) -> None:
    assert list(text_leaks("memo.html", text, PLACES)) == []


def test_the_project_the_home_the_interpreter_and_the_scratch_folder_are_known(tmp_path: Path) -> None:
    known = machine_folders({"the build's scratch folder": tmp_path})
    named = set(known.values())
    assert {"the build's scratch folder", "the project's folder", "Python's libraries", "the interpreter"} <= named
    assert known[str(PROJECT)] == "the project's folder" and "/" not in known
    assert sorted(map(len, known), reverse=True) == [len(path) for path in known]


def test_every_kind_of_file_is_read_and_a_notebook_cell_by_cell(tmp_path: Path) -> None:
    edition = tmp_path / "edition"
    (edition / "notebooks").mkdir(parents=True)
    (edition / "data").mkdir()
    nb = nbformat.v4.new_notebook()
    output = nbformat.v4.new_output("stream", name="stderr", text="/home/ann/p/style.py:1: UserWarning: x")
    nb.cells = [
        nbformat.v4.new_markdown_cell("Nothing here."),
        nbformat.v4.new_code_cell("x = open('/home/ann/x.csv')"),
        nbformat.v4.new_code_cell("y", outputs=[output]),
    ]
    (edition / "notebooks" / "tco.ipynb").write_text(json.dumps(nb), encoding="utf-8")
    for name in ("memo.html", "ledger.json", "data/fig-a.csv", "memo.pdf"):
        (edition / name).write_bytes(b"%\xff /srv/buyers/acme/x\n")
    (edition / "clean.txt").write_text("nothing", encoding="utf-8")
    where = [fault.partition(": ")[0] for fault in leaks(edition, PLACES)]
    assert sorted(where) == [
        "data/fig-a.csv", "ledger.json", "memo.html", "memo.pdf", "notebooks/tco.ipynb, cell 2", "notebooks/tco.ipynb, cell 3",
    ]  # fmt: skip


def test_a_notebook_with_a_figure_that_is_not_finite_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "tco.ipynb").write_text(
        '{"cells": [{"outputs": [{"data": {"x": NaN, "y": ["/home/ann/x"]}}]}]}', "utf-8"
    )
    (fault,) = leaks(tmp_path, PLACES)
    assert fault.startswith("tco.ipynb, cell 1: holds the path of the home folder")


@pytest.mark.parametrize("name", ["params.json", "providers/answers.yaml", "logs/nccl.txt"])
def test_a_folder_that_an_input_names_is_no_leak_and_all_others_still_are(tmp_path: Path, name: str) -> None:
    said = tmp_path / "inputs" / name
    said.parent.mkdir(parents=True)
    said.write_text('document: "/home/ann/secret"\n', encoding="utf-8")
    left = not_said_by(tmp_path / "inputs", PLACES)
    assert left == {path: what for path, what in PLACES.items() if path != "/home/ann"}
    assert not list(text_leaks("memo.html", "they gave /home/ann/secret", left))
    assert len(list(text_leaks("memo.html", "read from /srv/buyers/acme/x", left))) == 1


def test_inputs_that_only_hold_something_alike_leave_every_folder_searched(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text('{"a": "https://example.com/home/ann/x and /home/annette"}', encoding="utf-8")
    assert not_said_by(tmp_path, PLACES) == PLACES


def test_the_copies_of_a_shipped_clients_inputs_name_no_folder_of_the_machine(tmp_path: Path) -> None:
    params = PROJECT / "params" / "example.yaml"
    plan = make_plan(load_checked(params, Places()), tmp_path)
    known = machine_folders({"the params' folder": params.parent, "the build's scratch folder": tmp_path})
    assert not_said_by(plan.snapshot.folder, known) == known
