"""A memo whose sections name different options, rivals or amounts of the lead is rejected, with the two cells named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from rich_notebook import PNG
from rows import rows

from fabricreport.blocks import MIME, Section
from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.blocks.nodes import (
    BulletList,
    Callout,
    Glance,
    GlanceTile,
    Heading,
    Image,
    Paragraph,
    Preformatted,
    Text,
    plain_text,
)
from fabricreport.blocks.template import Binder, Prose
from fabricreport.ledger.facts import Listing, Name
from fabricreport.ledger.numbers import Number
from fabricreport.memo.document import outputs
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.document import document_from_notebook, in_memo, own_files, stitch
from fabricreport.memo.document.leaks import leaks, machine_folders, not_said_by, text_leaks
from fabricreport.memo.document.pieces import Piece, gather, joined
from fabricreport.memo.run.environment import PACKAGE
from fabricreport.memo.run.plan import Places, _copy_notebooks, load_checked, make_plan
from fabricreport.memo.run.snapshot import notebook_digest

STATED_AS = {"decision": "decision.difference", "tco": "tco.difference", "diligence": "diligence.lead"}


class Compares:
    """A case of which only the comparison and its lead are asked."""

    names = ("switch-a", "switch-b")

    def __init__(self, choice: str = "switch-a", rival: str = "switch-b", lead: float = 426_000.0) -> None:
        self.lead = lead
        text = self.figure("decision.difference").text
        self.compared = {"choice": choice, "rival": rival, "lead": text, "stated_as": list(STATED_AS.values())}

    def figure(self, figure_id: str) -> Number:
        return Number(figure_id, self.lead, "usd", "Lead", "mean difference")

    def record(self, input_id: str) -> dict[str, Any]:
        raise KeyError(input_id)


class Silent(Compares):
    """A case that compares nothing."""

    compared = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.lead = 1.0


def notebook(section: str, case: Compares, *, headline: str = "") -> Any:
    """A section of a line that opens it, and, where the section states the lead, a line that quotes it."""
    body = Section(section, case)
    body.heading("What it comes to", level=1)
    if section in STATED_AS:
        body.say(f"The lead is {{{STATED_AS[section]}}}.")
    if headline:
        body.headline({"choice": headline}, [case.figure("decision.difference")])
    shown = [new_output("display_data", data=block._repr_mimebundle_()) for block in body.emitted]
    return new_notebook(cells=[new_code_cell("x", outputs=[output]) for output in shown])


def faults(**notebooks: Any) -> list[str]:
    return check_memo(gather(stitch(notebooks, {})))


def test_sections_made_on_one_comparison_pass() -> None:
    assert faults(**{s: notebook(s, Compares()) for s in (*STATED_AS, "latency")}) == []


@rows(
    ("other", "told"),
    [
        (Compares(choice="switch-c"), "the advised option is switch-c"),
        (Compares(rival="switch-c"), "its rival is switch-c"),
        (Compares(lead=531_000.0), "the lead is $531k"),
    ],
)
@rows("section", ["tco", "diligence", "latency"])
def test_a_section_made_on_another_comparison_is_told_with_both_cells(section: str, other: Compares, told: str) -> None:
    found = faults(decision=notebook("decision", Compares()), **{section: notebook(section, other)})
    named = [fault for fault in found if told in fault]
    assert len(named) == 1
    assert f"{section}.ipynb, cell 1" in named[0] and "decision.ipynb, cell 1" in named[0]


@rows("section", ["tco", "diligence"])
def test_a_figure_of_another_amount_under_the_same_comparison_is_told(section: str) -> None:
    strays = Compares()
    strays.lead = 531_000.0
    found = faults(decision=notebook("decision", Compares()), **{section: notebook(section, strays)})
    assert len(found) == 1
    assert f"the lead as {STATED_AS[section]} is $531k in {section}.ipynb, cell 2" in found[0]
    assert "$426k in the section decision (decision.ipynb, cell 1)" in found[0]


def test_a_headline_that_advises_another_option_than_the_memo_is_told() -> None:
    assert faults(decision=notebook("decision", Compares(), headline="switch-a")) == []
    (fault,) = faults(decision=notebook("decision", Compares(), headline="switch-b"))
    assert "the advised option of the headline is switch-b" in fault


def test_a_section_that_compares_nothing_is_held_to_nothing() -> None:
    assert faults(decision=notebook("decision", Compares()), latency=notebook("latency", Silent())) == []


COMMAND = 'for n in 2 8; do\n  run -b 1G "$HCA" | tee T.$n.log   # {x} <b>\ndone'


def binder() -> Binder:
    def figure(name: str) -> Any:
        raise KeyError(name)

    return Binder(figure, {"command": Listing(COMMAND), "name": Name("A-1")})


def test_a_listing_alone_in_its_paragraph_keeps_every_character() -> None:
    made = binder()
    first, second = made.prose(Prose("Run by {name}:\n\n{command}"))
    assert isinstance(first, Paragraph) and plain_text(first.children) == "Run by A-1:"
    assert second == Preformatted(COMMAND)
    assert [bare_numbers(text, made.names) for _, text in texts((second,))] == [[]]


def test_a_name_alone_in_its_paragraph_stays_prose() -> None:
    (only,) = binder().prose(Prose("{name}"))
    assert isinstance(only, Paragraph)


def cell(tags: list[str], *nodes: dict[str, Any], names: tuple[str, ...] = ()) -> Any:
    block = {"version": 1, "section": "diligence", "nodes": list(nodes), "ledger": [], "inputs": []}
    data = {MIME: {**block, "names": [*names]}}
    output = nbformat.v4.new_output("display_data", data=data)  # type: ignore[no-untyped-call]
    made = nbformat.v4.new_code_cell(outputs=[output] if nodes else [])  # type: ignore[no-untyped-call]
    made.metadata["tags"] = tags
    return made


def words(text: str) -> dict[str, Any]:
    return {"t": "p", "c": [{"t": "text", "v": text}]}


def test_a_name_that_is_a_number_vouches_for_its_own_cell_alone() -> None:
    said = [
        cell([], words("Runs at 400."), names=("400", "NDR 400G")),
        cell([], words("A hall of 400 kW on NDR 400G.")),
    ]
    found = gather(stitch({"diligence": nbformat.v4.new_notebook(cells=said)}, {"title": "Memo"}))  # type: ignore[no-untyped-call]
    (fault,) = check_memo(found, draft=True)
    assert "cell 2: bare number '400'" in fault


def memo() -> Any:
    notebook = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    title = {"t": "h", "level": 1, "c": [{"t": "text", "v": "The plan"}], "id": "sec-plan"}
    notebook.cells = [
        cell([], words("elsewhere")),
        cell(["file:plan"], title),
        cell(["file:plan"], words("tested")),
        cell(["file:empty"]),
    ]
    return stitch({"diligence": notebook}, {"title": "Memo", "client": "Acme", "status": "Client copy"})


def test_tagged_cells_stand_in_a_document_of_their_own_and_not_in_the_memo() -> None:
    whole = memo()
    files = own_files(whole)
    assert list(files) == ["plan"]
    alone = document_from_notebook(files["plan"])
    assert (alone.front.title, alone.front.client, alone.front.status) == ("The plan", "Acme", "Client copy")
    assert [plain_text(n.children) for n in alone.body if isinstance(n, Heading | Paragraph)] == [
        "The plan",
        "tested",
    ]
    assert alone.annexes == () and alone.problems == ()
    before = document_from_notebook(in_memo(whole))
    assert before.problems == () and before.front == document_from_notebook(whole).front
    assert [plain_text(n.children) for n in before.body if isinstance(n, Paragraph)] == ["elsewhere"]


def test_what_one_prose_cell_begins_the_next_goes_on_with() -> None:
    text, tile = (Text("words"),), GlanceTile((Text("a"),), (Text("b"),), ())
    items = BulletList(((Paragraph(text),),))
    nodes = [
        *(Glance((Paragraph(text),), ()), Glance((), (tile,))),
        *(Callout("caution", text, (items,)), Callout("caution", (), (items,)), Callout("note", (), (items,))),
        *(items, items, Paragraph(text), items),
    ]
    pieces = joined([Piece((node,), "tco", f"cell {n}") for n, node in enumerate(nodes)])
    assert [node.kind for piece in pieces for node in piece.nodes] == ["glance", "callout", "callout", "ul", "p", "ul"]
    glance, caution, *_ = [piece.nodes[0] for piece in pieces]
    assert isinstance(glance, Glance) and (len(glance.children), len(glance.tiles)) == (1, 1)
    assert isinstance(caution, Callout) and caution.title == text
    assert [len(n.items) for n in caution.children if isinstance(n, BulletList)] == [2]
    elsewhere = [Piece((items,), "tco", "1"), Piece((items,), "latency", "2")]
    assert joined(elsewhere) == elsewhere


def copied(folder: Path, text: str) -> Path:
    """The build's copy of a notebook with one Markdown cell, beside the files of `folder`."""
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    nbformat.write(nb, folder / "tco.ipynb")
    copies = folder.with_name(f"copies-{len(list(folder.parent.iterdir()))}")
    return _copy_notebooks({"tco": folder / "tco.ipynb"}, copies, copies / "own", copies / "own")["tco"]


def picture_faults(copy: Path) -> list[str]:
    return check_memo(gather(stitch({"tco": nbformat.read(copy, as_version=4)}, {})))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "notebooks"
    (found / "art").mkdir(parents=True)
    (found / "art" / "a plot.png").write_bytes(PNG)
    (tmp_path / "outside.png").write_bytes(PNG)
    return found


@rows("text", ["![All is grey](art/a%20plot.png)", "So ![All is grey](<art/a plot.png>) it is."])
def test_a_png_below_the_notebooks_folder_is_embedded(folder: Path, text: str) -> None:
    copy = copied(folder, text)
    assert picture_faults(copy) == []
    nodes = document_from_notebook(stitch({"tco": nbformat.read(copy, as_version=4)}, {})).nodes
    assert [n.alt for n in nodes if isinstance(n, Image) and n.src] == ["All is grey"]
    assert [plain_text(n.children) for n in nodes if isinstance(n, Paragraph)] in ([], ["So  it is."])


def test_a_changed_picture_is_a_changed_notebook(folder: Path) -> None:
    before = notebook_digest(copied(folder, "![Grey](art/a%20plot.png)"))
    (folder / "art" / "a plot.png").write_bytes(PNG + b"more")
    assert notebook_digest(copied(folder, "![Grey](art/a%20plot.png)")) != before


def test_a_file_that_may_not_be_embedded_is_named_with_notebook_cell_and_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "link.png").symlink_to(folder / "art" / "a plot.png")
    (folder / "linked").symlink_to(folder / "art")
    (folder / "words.png").write_text("no picture", encoding="utf-8")
    (folder / "large.png").write_bytes(PNG + bytes(2000))
    os.mkfifo(folder / "pipe.png")
    monkeypatch.setattr(outputs, "MAX_PICTURE_BYTES", 1000)
    beyond = ("../outside.png", "none.png", "link.png", "linked/a%20plot.png")
    for address in (*beyond, "words.png", "large.png", "art", "pipe.png"):
        (fault,) = picture_faults(copied(folder, f"![Grey]({address})"))
        start = f"tco.ipynb, cell 1: the image {address} is not embedded: attach it to the cell or draw it"
        assert fault.startswith(start)


def test_an_absolute_path_is_not_embedded(folder: Path) -> None:
    (fault,) = picture_faults(copied(folder, f"![Grey]({folder}/art/a%20plot.png)"))
    assert "is not embedded" in fault


PLACES = {
    "/srv/buyers/acme": "the project's folder",
    "/home/ann": "the home folder",
    "/tmp": "the folder for temporary files",
}


@rows(
    ("text", "named"),
    [
        ("read from /home/ann/data/x.csv today", "the home folder"),
        ("/home/ann", "the home folder"),
        ('{"a": "/srv/buyers/acme/log.txt"}', "the project's folder"),
        ("file:///home/ann/x", "the home folder"),
        ("<code>/tmp/fbr-1/x</code>", "the folder for temporary files"),
    ],
)
def test_a_path_of_the_machine_is_named_by_what_it_is_and_not_repeated(text: str, named: str) -> None:
    (fault,) = text_leaks("memo.html", text, PLACES)
    assert fault.startswith(f"memo.html: holds the path of {named}")
    assert not any(path in fault for path in PLACES)


@rows(
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


def test_the_package_the_home_the_interpreter_and_the_scratch_folder_are_known(tmp_path: Path) -> None:
    known = machine_folders({"the build's scratch folder": tmp_path})
    named = set(known.values())
    assert {"the build's scratch folder", "the package's folder", "Python's libraries", "the interpreter"} <= named
    assert known[str(PACKAGE.parent)] == "the package's folder" and "/" not in known
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


@rows("name", ["params.json", "providers/answers.yaml", "logs/nccl.txt"])
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


@pytest.mark.slow
def test_the_copies_of_a_shipped_clients_inputs_name_no_folder_of_the_machine(tmp_path: Path) -> None:
    params = PACKAGE.parent / "params" / "example.yaml"
    plan = make_plan(load_checked(params, Places()), tmp_path)
    known = machine_folders({"the project's folder": params.parent, "the build's scratch folder": tmp_path})
    assert not_said_by(plan.snapshot.folder, known) == known
