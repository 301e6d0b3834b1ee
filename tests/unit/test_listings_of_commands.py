"""Lines to be copied stand as they are: in a paragraph of their own, name for name, in the file of their own too."""

from __future__ import annotations

from typing import Any

import nbformat

from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.blocks.nodes import Heading, Paragraph, Preformatted, plain_text
from fabricreport.blocks.template import Binder, Prose
from fabricreport.findings import Listing, Name
from fabricreport.memo.document.document import document_from_notebook
from fabricreport.memo.document.gather import BLOCK_MIME
from fabricreport.memo.document.stitch import in_memo, own_files, stitch

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


def cell(tags: list[str], *nodes: dict[str, Any], place: str = "annex") -> Any:
    block = {"version": 1, "place": place, "section": "diligence", "nodes": list(nodes), "ledger": [], "inputs": []}
    data = {BLOCK_MIME: {**block, "names": []}}
    output = nbformat.v4.new_output("display_data", data=data)  # type: ignore[no-untyped-call]
    made = nbformat.v4.new_code_cell(outputs=[output] if nodes else [])  # type: ignore[no-untyped-call]
    made.metadata["tags"] = tags
    return made


def words(text: str) -> dict[str, Any]:
    return {"t": "p", "c": [{"t": "text", "v": text}]}


def memo() -> Any:
    notebook = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    title = {"t": "h", "level": 1, "c": [{"t": "text", "v": "The plan"}], "id": "sec-plan"}
    notebook.cells = [
        cell([], words("elsewhere"), place="body"),
        cell(["file:plan"], title),
        cell(["file:plan"], words("tested")),
        cell(["file:plan", "only-file"], words("typed in")),
        cell(["file:empty"]),
    ]
    return stitch({"diligence": notebook}, {"title": "Memo", "client": "Acme", "status": "Client copy"})


def test_tagged_cells_are_a_document_of_their_own_and_the_memo_stays_as_it_is() -> None:
    whole = memo()
    files = own_files(whole)
    assert list(files) == ["plan"]
    alone = document_from_notebook(files["plan"])
    assert (alone.front.title, alone.front.client, alone.front.status) == ("The plan", "Acme", "Client copy")
    assert [plain_text(n.children) for n in alone.body if isinstance(n, Heading | Paragraph)] == [
        "The plan",
        "tested",
        "typed in",
    ]
    assert alone.annexes == () and alone.problems == ()
    before = document_from_notebook(in_memo(whole))
    assert before.problems == () and before.front == document_from_notebook(whole).front
    assert [plain_text(n.children) for n in before.body if isinstance(n, Paragraph)] == ["elsewhere"]
    assert [plain_text(n.children) for n in before.annexes if isinstance(n, Paragraph)] == ["tested"]
