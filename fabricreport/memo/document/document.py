"""The memo as one value: notebooks stitched, every number placed, every reference resolved, ready for the two writers and for machines.

A merged (or single) executed notebook goes in; a frozen `Document` comes out. Its nodes are those of the notebook's
blocks with what a writer needs filled in (`blocks.nodes.PLACED`). Faults (an unknown reference, a missing alt text) are
collected in `problems`; whether they stop a build is the checker's business, not the reader's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from fabricreport.base.errors import FabricReportError, Problem
from fabricreport.base.version import VERSION
from fabricreport.blocks.cells import written_at
from fabricreport.blocks.forms import to_json
from fabricreport.blocks.nodes import (
    DataTable,
    Figure,
    Flow,
    Glance,
    Heading,
    Headline,
    Note,
    Paragraph,
    Scalar,
    Strong,
    Text,
    Top,
    plain_text,
    walk,
)
from fabricreport.books.glossary import Term, glossary_book
from fabricreport.ledger.numbers import Record, keys
from fabricreport.memo.document.derivations import Derivation, InputSet, Source, SourceBook, appendix
from fabricreport.memo.document.language import sentences_of
from fabricreport.memo.document.layout import table_rows
from fabricreport.memo.document.numbering import ContentsLine, Numbering
from fabricreport.memo.document.pieces import Gathered, Piece, first_heading, gather, parted
from fabricreport.memo.document.safety import one_line, visible
from fabricreport.scenario.brand import Brand

_WORD = re.compile(r"[\w-]+")
DRAFT, CLIENT_COPY = "Draft", "Client copy"
MEMORANDUM, LETTERS = "Memorandum", "Letters"


@dataclass(frozen=True)
class FrontMatter:
    """The title block. `kind` is what the document is called; `status` is "Client copy" or "Draft"; a notebook nobody checked is a draft.
    Only a build gives it a `brand`.

    Only a document that is `marked` says by marks what its numbers rest on: what a seller gets has none.
    """

    title: str
    client: str
    to: str
    sender: str
    date: str
    date_text: str
    edition: str
    subject: str
    language: str
    status: str
    version: str
    seed: str
    since: str
    kind: str
    trial: str = ""
    marked: bool = True
    brand: Brand | None = None

    @property
    def shown_status(self) -> str:
        """The status as it is printed: only a memo is a client's copy or a draft of one."""
        return self.status if self.draft or self.kind == MEMORANDUM else ""

    @property
    def draft(self) -> bool:
        """True when the memo has not passed its checks, or is not meant for a client."""
        return self.status == DRAFT


def _span(kind: str, numbers: Sequence[str]) -> str:
    """Tables or figures that follow each other, as the contents name them."""
    if len(numbers) == 1:
        return f"{kind} {numbers[0]}"
    return f"{kind}s {numbers[0]} {'and' if len(numbers) == 2 else 'to'} {numbers[-1]}"


@dataclass(frozen=True)
class Document:
    """The whole memo in reading order: glance and `first` (page one), body, annexes, sources, derivations.

    Of the derivations print holds those of page one
    (`first_numbers`, with the ids of inputs that they repeat), of the sources the first `printed_sources`, which are those it
    cites, and those of the inputs that it lists. `derivations` has one entry for each printed number that was worked out; a
    number that repeats an input leads to the input's entry in `inputs`. `input_sets` names sets of inputs that several derivations share.
    `keys` says what each mark on it means. `called` says by its id how prose calls each figure, table and heading.
    """

    front: FrontMatter
    glance: Glance | None
    first: tuple[Flow, ...]
    body: tuple[Flow, ...]
    annexes: tuple[Flow, ...]
    contents: tuple[ContentsLine, ...]
    notes: tuple[Note, ...]
    sources: tuple[Source, ...]
    derivations: tuple[Derivation, ...]
    inputs: tuple[Derivation, ...]
    input_sets: tuple[InputSet, ...]
    problems: tuple[Problem, ...]
    keys: tuple[str, ...]
    first_numbers: frozenset[str]
    printed_sources: int
    sources_heading: ContentsLine | None
    derivations_heading: ContentsLine | None
    called: Mapping[str, str]

    @property
    def nodes(self) -> tuple[Top, ...]:
        """All block nodes in reading order, the glance first."""
        return (*((self.glance,) if self.glance else ()), *self.first, *self.body, *self.annexes)

    @property
    def held(self) -> Mapping[str, str]:
        """The numbered tables and figures of each part of body and annexes as the contents name them, by the anchor of its heading."""
        found: dict[str, dict[str, list[str]]] = {}
        for node in (*self.body, *self.annexes):
            if isinstance(node, Heading) and node.level == 1:
                kinds = found[node.anchor] = {"Table": [], "Figure": []}
            elif isinstance(node, DataTable | Figure) and found:
                kinds["Table" if isinstance(node, DataTable) else "Figure"].append(node.number)
        return {
            anchor: ", ".join(_span(kind, numbers) for kind, numbers in kinds.items() if numbers)
            for anchor, kinds in found.items()
        }

    @property
    def derives_in_print(self) -> bool:
        """Whether print tells where numbers come from; of the evidence report and of letters the HTML alone does."""
        return self.front.kind == MEMORANDUM

    @property
    def lists_sources(self) -> bool:
        """Whether print lists sources; letters go to sellers as they are."""
        return self.front.kind != LETTERS

    @property
    def abbreviations(self) -> tuple[Term, ...]:
        """What the abbreviations of a memo mean that it uses outside names of products."""
        words = {w for node in walk(self.nodes) if isinstance(node, Text) for w in _WORD.findall(node.words)}
        return glossary_book().abbreviations(words) if self.spined else ()

    @property
    def looked_up(self) -> bool:
        """Whether it is no memo and no letters but something that readers look things up in."""
        return self.front.kind not in (MEMORANDUM, LETTERS)

    @property
    def spined(self) -> bool:
        """Whether the memo has a body of its own, to which its sections are annexes."""
        return bool(self.first)


def document_from_notebook(nb: Any, title: str = "") -> Document:
    """Read an executed notebook node (one section, or the merged memo) into a `Document`.

    The notebook is not changed. Without front matter in `nb.metadata["fabricreport"]` defaults stand in, so
    that stock nbconvert works on any executed notebook; the result is then marked as a draft. `title` is
    used when neither the front matter nor a heading gives one.
    """
    return document_of(gather(nb), nb, title)


def document_of(found: Gathered, nb: Any, title: str = "") -> Document:
    """The `Document` of what `gather` found in the notebook; neither is changed."""
    problems = list(found.problems)
    front, section_titles = _front_matter(nb, found.pieces, title)
    found = found if front.marked else _unmarked(found)
    parts = parted(found.pieces)
    glance, body = _without_glance(parts.body, problems)
    _, annex = _without_glance(parts.annexes, problems)
    if parts.spined:
        title, first, body = _opening_page(body)
        front = replace(front, title=title or front.title)
    else:
        first = []
    book = SourceBook(found.inputs)
    numbering = Numbering(found.ledger, book, problems, found.report, rings=front.marked)
    first, body = numbering.numbered(first), numbering.numbered(body)
    annexes = numbering.numbered(_grouped(annex, section_titles), annex=True)
    sources_at, derivations_at = numbering.closings(found.pieces)
    done_glance = numbering.glance(glance) if glance else None
    done_first = numbering.placed(first)
    first_numbers = frozenset(filter(None, chain.from_iterable(numbering.used.items())))
    numbering.rings = False
    done_body, done_annexes = numbering.placed(body), numbering.placed(annexes)
    printed_sources = len(book)
    derivations, inputs, input_sets = appendix(numbering.used, found.ledger, book, numbering.anchors)
    return Document(
        front=front,
        glance=done_glance,
        first=done_first,
        body=done_body,
        annexes=done_annexes,
        contents=(*numbering.contents, *filter(None, (sources_at, derivations_at))),
        notes=tuple(numbering.notes),
        sources=book.listed(),
        derivations=derivations,
        inputs=inputs,
        input_sets=input_sets,
        problems=tuple(problems),
        keys=keys(
            stale=any(found.ledger[i].get("stale") for i in numbering.used),
            assumed=numbering.any_ring,
        ),
        sources_heading=sources_at,
        derivations_heading=derivations_at,
        first_numbers=first_numbers,
        printed_sources=printed_sources,
        called={anchor: word for anchor, (word, _) in numbering.targets.items()},
    )


def _opening_page(body: list[Piece]) -> tuple[str, list[Piece], list[Piece]]:
    """A body's title, which is its first heading of level one, the pieces of page one up to the next, and the rest."""
    title = ""
    first: list[Piece] = []
    rest: list[Piece] = []
    for piece in body:
        kept: list[Top] = []
        later: list[Top] = []
        for node in piece.nodes:
            opening = node if isinstance(node, Heading) and node.level == 1 else None
            if opening and not title and not rest and not later:
                title = one_line(plain_text(opening.children))
            elif opening or rest or later:
                later.append(node)
            else:
                kept.append(node)
        if kept:
            first.append(replace(piece, nodes=tuple(kept)))
        if later:
            rest.append(replace(piece, nodes=tuple(later)))
    return title, first, rest


def _front_matter(nb: Any, pieces: list[Piece], name: str) -> tuple[FrontMatter, dict[str, str]]:
    """Front matter with defaults; without a title the first heading of the notebook is one."""
    own = visible((nb.get("metadata") or {}).get("fabricreport") or {})
    own = own if isinstance(own, dict) else {}

    def line(key: str, default: str = "") -> str:
        return one_line(str(own.get(key) or default))

    titles = {
        str(s.get("id")): one_line(str(s.get("title", ""))) for s in own.get("sections", []) if isinstance(s, dict)
    }
    title = line("title")
    if not title and (heading := first_heading(pieces)):
        title = one_line(plain_text(heading.children))
    front = FrontMatter(
        title=title or one_line(name) or "Memo",
        client=line("client"),
        to=line("to"),
        sender=line("from"),
        date=line("date"),
        date_text=line("date_text", str(own.get("date") or "")),
        edition=line("edition"),
        subject=line("subject"),
        language=line("language", "en"),
        status=CLIENT_COPY if own.get("status") == CLIENT_COPY else DRAFT,
        version=line("version", VERSION),
        seed=line("seed"),
        since=line("since"),
        kind=line("kind", MEMORANDUM),
        trial=line("trial"),
        marked=own.get("marked") is not False,
        brand=brand if isinstance(brand := own.get("brand"), Brand) else None,
    )
    return front, titles


def _unmarked(found: Gathered) -> Gathered:
    """The same without a mark at any number or input."""
    plain = {"stale": False, "assumed": False}
    ledger, inputs = ({i: {**entry, **plain} for i, entry in book.items()} for book in (found.ledger, found.inputs))
    return replace(found, ledger=ledger, inputs=inputs)


def _without_glance(pieces: list[Piece], problems: list[Problem]) -> tuple[Glance | None, list[Piece]]:
    """The first glance, which goes to page one, and the pieces without it and without what is not printed."""
    glances = [(node, piece.where) for piece in pieces for node in piece.nodes if isinstance(node, Glance)]
    for _, where in glances[1:]:
        problems.append(Problem("a memo has one glance block", key=where, remedy="Keep the first one."))
    rest = [replace(p, nodes=tuple(n for n in p.nodes if not isinstance(n, Glance | Headline))) for p in pieces]
    return glances[0][0] if glances else None, rest


def _grouped(pieces: list[Piece], titles: dict[str, str]) -> list[Piece]:
    """Annex pieces section by section; a section whose annex has no level-1 heading gets its title as one."""
    sections: dict[str, list[Piece]] = {}
    for piece in pieces:
        if piece.nodes:
            sections.setdefault(piece.section, []).append(piece)
    for section, mine in sections.items():
        first = mine[0].nodes[0]
        if not isinstance(first, Heading) or first.level != 1:
            title = titles.get(section) or section.replace("_", " ").capitalize() or "Further detail"
            heading = Heading(1, (Text(title),), f"annex-{section or 'detail'}")
            mine[0] = replace(mine[0], nodes=(heading, *mine[0].nodes))
    return list(chain.from_iterable(sections.values()))


OWN_FILE = "file:"
"""What the tag of a cell begins with that stands in a file of its own and not in the memo."""


def stitch(notebooks: Mapping[str, Any], front_matter: Mapping[str, Any]) -> Any:
    """Merge executed notebooks (section -> node, in the memo's order) into one node with the memo's front matter.

    Every cell remembers its notebook and its number there, so that a fault can be named; its outputs are not copied.
    """
    merged = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    merged.metadata["fabricreport"] = dict(front_matter)
    for section, notebook in notebooks.items():
        for number, cell in enumerate(notebook.cells, start=1):
            file, at = written_at(cell, f"{section}.ipynb", number)
            own = {"section": section, "notebook": file, "cell": at}
            metadata = {**cell.metadata, "fabricreport": {**cell.metadata.get("fabricreport", {}), **own}}
            kept = {**cell, "id": f"{section}-{number}", "metadata": NotebookNode(metadata)}  # type: ignore[no-untyped-call]
            merged.cells.append(NotebookNode(kept))  # type: ignore[no-untyped-call]
    return merged


def own_files(memo: Any) -> dict[str, Any]:
    """The parts of a stitched memo that are files of their own, by name: the cells tagged `file:<name>`.

    Each is a notebook node with the memo's front matter; its first heading is its title.
    A part whose cells show nothing for this client is left out.
    """
    tagged: dict[str, list[Any]] = {}
    for cell in memo.cells:
        for name in _files(cell) if cell.get("outputs") else ():
            tagged.setdefault(name, []).append(cell)
    return {name: _alone(memo, name, cells) for name, cells in sorted(tagged.items())}


def _files(cell: Any) -> list[str]:
    return [t.removeprefix(OWN_FILE) for t in cell.metadata.get("tags", []) if t.startswith(OWN_FILE)]


def _alone(memo: Any, name: str, cells: list[Any]) -> Any:
    part = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    heading = first_heading(piece for cell in cells for piece in gather({"cells": [cell]}).pieces)
    front = dict(memo.metadata["fabricreport"])
    title = plain_text(heading.children) if heading else str(front["title"])
    kind = {"kind": LETTERS} if name == LETTERS.lower() else {}
    part.metadata["fabricreport"] = {**front, "title": title, "subject": title, "marked": False, **kind}
    part.cells = list(cells)
    return part


def in_memo(memo: Any) -> Any:
    """A stitched memo without the cells that stand in files of their own; the given one is not changed."""
    printed = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    printed.metadata.update(memo.metadata)
    printed.cells = [cell for cell in memo.cells if not _files(cell)]
    return printed


def merged_ledger(found: Gathered) -> dict[str, list[Record]]:
    """`numbers` and `inputs` of the whole memo, each sorted by id: what `ledger.json` holds."""
    return {
        "numbers": [found.ledger[i] for i in sorted(found.ledger)],
        "inputs": [found.inputs[i] for i in sorted(found.inputs)],
    }


def headline(found: Gathered, printed: Glance | None = None) -> dict[str, Any]:
    """The advice as page one words it, and what the decision notebook declares; empty where neither stands in the memo.

    `printed` is the glance of the finished document, in which each reference has its number.
    """
    glance = printed or next((node for node in _nodes(found) if isinstance(node, Glance)), None)
    declared = next((node for node in _nodes(found) if isinstance(node, Headline)), None)
    advice = advice_of(glance) if glance else ""
    said = {"recommendation": advice} if advice else {}
    return {**said, **(dict(to_json(declared)["data"]) if declared else {})}


def advice_of(glance: Glance) -> str:
    """The advice in the memo's own words: what page one opens with in bold, else its first sentence."""
    for part in glance.children:
        if isinstance(part, Paragraph) and part.children:
            first = part.children[0]
            opening = Paragraph(first.children) if isinstance(first, Strong) else part
            said = sentences_of([Piece((opening,), "", "")])
            return said[0].words.rstrip(".,:;") if said else ""
    return ""


def chart_data(found: Gathered, printed: Iterable[Top] = ()) -> dict[str, list[list[Scalar]]]:
    """The rows each chart plots and each table prints, by the block's id, for `data/<id>.csv`.

    `printed`: blocks of the finished document, in which each reference has its words; they go before those gathered.
    """
    rows: dict[str, list[list[Scalar]]] = {}
    tables = {node.id: node for node in printed if isinstance(node, DataTable)}
    for node in _nodes(found):
        if isinstance(node, Figure) and node.data:
            rows[node.id] = [list(row) for row in node.data]
        elif isinstance(node, DataTable) and node.id:
            rows[node.id] = table_rows(tables.get(node.id, node))
    return rows


def _nodes(found: Gathered) -> Iterator[Top]:
    for piece in found.pieces:
        yield from piece.nodes


def write_ledger(folder: Path, found: Gathered) -> None:
    """Write `ledger.json` into a folder that is there."""
    text = json.dumps(merged_ledger(found), sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False)
    (folder / "ledger.json").write_text(text + "\n", encoding="utf-8")


def write_data(folder: Path, document: Document, found: Gathered, notebooks: Mapping[str, Any]) -> None:
    """Write notebooks and data beside the ledger: what was gathered, its tables as the document prints them."""
    from fabricreport.base.text import csv_text
    from fabricreport.memo.run.noise import notebook_bytes

    (folder / "notebooks").mkdir()
    for section, notebook in notebooks.items():
        (folder / "notebooks" / f"{section}.ipynb").write_bytes(notebook_bytes(notebook))
    for name, rows in sorted(chart_data(found, document.nodes).items()):
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise FabricReportError(f"the id of a figure or table is not a file name: {name!r}")
        (folder / "data").mkdir(exist_ok=True)
        (folder / "data" / f"{name}.csv").write_text(csv_text(rows), encoding="utf-8-sig", newline="")
