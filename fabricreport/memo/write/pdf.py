"""The memo as bytes of PDF/A-3a and PDF/UA-1: the document goes to Typst as data, never as source text.

Typst compiles in a fresh folder that holds our templates, one JSON file, the images and what is attached, nothing
else: no packages, no fonts but our face and what stands in for letters that it lacks, no symbolic links, no clock.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import hashlib
import json
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import matplotlib
import typst
from matplotlib import ft2font

from fabricreport.base.errors import MemoRejected
from fabricreport.base.project import FONTS
from fabricreport.blocks.forms import to_json
from fabricreport.blocks.nodes import (
    BulletList,
    Code,
    DataTable,
    Figure,
    Formula,
    Heading,
    Image,
    Node,
    OrderedList,
    Paragraph,
    Preformatted,
    Text,
    Top,
    plain_text,
    rebuilt,
)
from fabricreport.ledger.bases import CONVENTION
from fabricreport.memo.document.derivations import KINDS, grouped_inputs
from fabricreport.memo.document.document import Document
from fabricreport.memo.document.safety import one_line
from fabricreport.memo.write.livery import hand_to_typst, inked
from fabricreport.memo.write.paper import (
    LEAD,
    MOST_EMPTY,
    TEXT_BOTTOM_PT,
    TEXT_HEIGHT_PT,
    Layout,
    box_remarks,
    closing_of,
    families,
    feet,
    pack,
)
from fabricreport.scenario.brand import Brand

Data = dict[str, Any]
"""Typst's data: JSON values."""

TEMPLATES = ("memo.typ", "style.typ", "inline.typ", "blocks.typ", "front.typ", "back.typ")
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:-([A-Za-z]{2}))?\Z")
_BREAKS = re.compile(r"[\t\n\r]+")
_BESIDE = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
MOST_GAP, MOST_GAPS_OF_ANNEXES = 1 / 5, (MOST_EMPTY, 1 / 4, 1 / 6, 1 / 8)
"""Of a page, above a block that may float; and above a table of an annex that may break, the next where the one before it is too much."""
MOST_PAGES = 12
"""Of body and annexes."""
CLOSED: Data = dict.fromkeys(("families", "input_sets", "inputs", "sources"), ())
"""Without the closing annexes, which move nothing before them, trying a layout goes faster."""
EMPTY, KEPT_COMPILATIONS = "empty.typ", 12
MOST_TRIES, MOST_TOGETHER = 16, 3
ANNEXES_START = "annexes-start"
MOST_DERIVATION_PAGES = 2
"""Of a memo with a body of its own: all figures of page one, then their inputs as far as these pages reach."""
_TOP_PT = 100.0
"""What begins above this height begins a page: the margin is 26 mm."""
_NO_FALLBACK = frozenset("\u1680\u0670" + "".join(map(chr, range(0x64B, 0x656))))
"""Ogham's space, and Arabic vowels, which may stand on a letter of another script."""
_NO_DAY = (2000, 1, 1)
"""Of a document without a date: PDF/A wants one."""
NO_ALT_YET = "No description yet: this is a draft."
STANDARDS = ["a-3a", "ua-1"]


@dataclass(frozen=True)
class Attachment:
    """A file within the PDF: its bytes, its media type, how it belongs to the pages (ISO 32000-2, 7.11.3), and what it is."""

    data: bytes
    mime: str
    relationship: Literal["source", "data", "alternative", "supplement"]
    description: str


Attachments = Mapping[str, Attachment]
"""What is attached, by the name it is saved under."""


@dataclass(frozen=True)
class Printed:
    """A document as PDF/A-3a and PDF/UA-1, and what stands badly on its pages."""

    pdf: bytes
    remarks: tuple[str, ...]


def printed(document: Document, attachments: Attachments | None = None) -> Printed:
    """The document as PDF/A-3a and PDF/UA-1, with the remarks on its pages. The same document gives the same bytes.

    Raises `MemoRejected` when Typst refuses it, as it does for an image without alt text in a client copy.
    """
    folder = Path(tempfile.mkdtemp(prefix="memo-")).resolve()
    try:
        payload = _lay_out(document, folder)
        _attach(folder, payload, attachments or {})
        _keep_whole(folder, payload, document)
        _settle(folder, payload)
        layout = _link(folder, payload, document)
        return Printed(pack(_compile(folder, document)), tuple(box_remarks(layout, *_told(document))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lay_out(document: Document, folder: Path) -> Data:
    for name in TEMPLATES:
        source = resources.files("fabricreport.memo") / "templates" / name
        (folder / name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    brand = document.front.brand
    hand_to_typst(brand, folder, printable)
    return _payload(document, partial(_print_node, folder=folder, draft=document.front.draft, brand=brand))


def _attach(folder: Path, payload: Data, attachments: Attachments) -> None:
    for name, found in attachments.items():
        (folder / name).write_bytes(found.data)
        facts = {"mime": found.mime, "relationship": found.relationship, "description": found.description}
        payload["attachments"].append({"name": name, **facts})


def _write(folder: Path, payload: Data) -> None:
    text = json.dumps(payload, allow_nan=False, sort_keys=True, ensure_ascii=False)
    (folder / "memo.json").write_text(printable(text), encoding="utf-8")


def _keep_whole(folder: Path, payload: Data, document: Document) -> None:
    """Let a table of an annex break only where it would leave more than a third of a page empty, from the front; or less,
    where the memo would else be too long."""
    tables = {n["anchor"]: n for n in payload["annexes"] if n["t"] == "datatable"} if payload["spined"] else {}
    for most in MOST_GAPS_OF_ANNEXES if tables else ():
        whole = dict(tables)
        for node in tables.values():
            node["whole"] = True
        while gap := _first_gap(_set(folder, payload | CLOSED).blocks, whole, most):
            whole.pop(gap)["whole"] = False
        if _set(folder, payload | _closing(document, 0)).pages <= MOST_PAGES:
            break


def _settle(folder: Path, payload: Data) -> None:
    """Let blocks float that leave a page too empty, from the front, where that mends more than it harms.

    Often the block after one that floats does not fit either: then both, or three, are tried together.
    """
    nodes = [*payload["body"], *payload["annexes"]]
    # In annexes, which are tables alone, a table that floats would pass the heading of the next annex: there they break.
    floating = payload["body"] if payload["spined"] else nodes
    movable = {n["anchor"]: n for n in floating if n["t"] in ("figure", "datatable")}
    if not movable:
        return
    led = {
        here["anchor"]: before["anchor"]
        for before, here in pairwise(nodes)
        if before["t"] == "h" and here["t"] in ("figure", "datatable")
    }
    sketch = payload | CLOSED
    settled = _set(folder, sketch).blocks
    for _ in range(MOST_TRIES):
        together: list[Data] = []
        tried = settled
        while len(together) < MOST_TOGETHER and (gap := _first_gap(tried, movable)):
            together.append(movable.pop(gap))
            together[-1]["float"] = True
            found = _set(folder, sketch)
            tried = found.blocks
            if emptiness(tried) < emptiness(settled) and not _above_heading(tried, found.headings, led):
                settled, together = tried, []
                break
        if not together and tried is settled and _first_gap(settled, movable) is None:
            break
        for node in together:
            del node["float"]
        # Only the first is out of the running: the others may do better without it.
        movable |= {node["anchor"]: node for node in together[1:]}


def _link(folder: Path, payload: Data, document: Document) -> Layout:
    """Say where every anchor stands, for the links: they move nothing themselves. Gives where everything is."""
    _forget_layouts(folder)
    found = _set(folder, payload | {"places_wanted": True})
    while document.spined and (fewer := _fitting_inputs(payload, found)) is not None:
        payload |= _closing(document, fewer)
        found = _set(folder, payload | {"places_wanted": True})
    _forget_layouts(folder)
    ends = {max((p["page"] for p in found.blocks if p["kind"] == "end"), default=found.pages), found.pages}
    if ANNEXES_START in found.places:
        start = found.places[ANNEXES_START]
        body = start["page"] - (start["y_pt"] < _TOP_PT)
        payload["front"]["pages"] = [_counted(body, found.pages, _derivation_pages(payload, found))]
        ends |= {body, 1}
    _write(folder, payload | {"places": found.places})
    own = {node["anchor"] for node in (*payload["body"], *payload["annexes"]) if node["t"] == "h"}
    return Layout(found.blocks, [h for h in found.headings if h["anchor"] in own], frozenset(ends))


def _told(document: Document) -> tuple[dict[str, str], dict[str, int]]:
    """How each heading, figure and table of body and annexes is called, by its anchor, and how many columns the latter two
    have: a figure none."""
    called, columns = {}, {}
    for node in (*document.body, *document.annexes):
        if isinstance(node, Heading):
            called[node.anchor] = f"the heading “{plain_text(node.children)}”"
        elif isinstance(node, DataTable | Figure):
            called[node.anchor] = f"{'Table' if isinstance(node, DataTable) else 'Figure'} {node.number}"
            columns[node.anchor] = len(node.columns) if isinstance(node, DataTable) else 0
    return called, columns


def _derivation_pages(payload: Data, found: Found) -> int:
    heading = payload["derivations_heading"]
    return found.pages - int(found.places[heading["anchor"]]["page"]) + 1 if heading else 0


def _fitting_inputs(payload: Data, found: Found) -> int | None:
    """How many inputs the pages of derivations have room for; None if all that are printed fit, or none would."""
    inputs = [entry["anchor"] for group in payload["inputs"] for entry in group["entries"]]
    over = max(_derivation_pages(payload, found) - MOST_DERIVATION_PAGES, found.pages - MOST_PAGES)
    if not inputs or over <= 0:
        return None
    within = sum(int(found.places[anchor]["page"]) <= found.pages - over for anchor in inputs)
    return min(max(within - 1, 0), len(inputs) - 1)  # the last that begins there may end on the next page


def _counted(body: int, all_pages: int, derivations: int) -> str:
    """On how many pages page one and the body are printed, on how many the annexes, and on how many of these derivations
    stand: kept in the PDF's keywords. A page on which the body ends and the annexes begin is the body's."""
    parts = (
        f"{name}: {count} page{'' if count == 1 else 's'}"
        for name, count in (("body", body), ("annexes", all_pages - body), ("derivations", derivations))
    )
    return ", ".join(parts)


def _forget_layouts(folder: Path) -> None:
    """Have Typst let go what it keeps of layouts that were tried: it drops what so many compilations did not ask for."""
    (folder / EMPTY).write_text("", encoding="utf-8")
    nothing = typst.Compiler(folder / EMPTY, root=folder, font_paths=_fonts())
    for _ in range(KEPT_COMPILATIONS):
        nothing.compile(format="svg")


def _above_heading(blocks: list[Data], headings: list[Data], led: Mapping[str, str]) -> bool:
    """True if a block has floated above the heading it stands right under."""
    height = {place["anchor"]: (place["page"], place["y_pt"]) for place in headings}
    starts = [place for place in blocks if place["kind"] == "float" and place["anchor"] in led]
    return any((p["page"], p["y_pt"]) < height.get(led[p["anchor"]], (0, 0.0)) for p in starts)


def _first_gap(layout: list[Data], movable: Mapping[str, Data], most: float = MOST_GAP) -> str | None:
    """Anchor of the first block that started a new page and left too much of the one before empty."""
    floating = {place["anchor"] for place in layout if place["kind"] == "float"}
    for before, here in pairwise(place for place in layout if place["anchor"] not in floating):
        turned = here["kind"] == "start" and here["page"] == before["page"] + 1
        if turned and here["anchor"] in movable and TEXT_BOTTOM_PT - before["y_pt"] > most * TEXT_HEIGHT_PT:
            return str(here["anchor"])
    return None


def emptiness(layout: list[Data]) -> float:
    """Sum over the pages, but the last, of the squared blank height below their last block (square points); `layout` as
    `Layout.blocks`."""
    lowest = feet(layout)
    last = max(lowest, default=0)
    return sum(max(0.0, TEXT_BOTTOM_PT - y) ** 2 for page, y in lowest.items() if page != last)


@dataclass(frozen=True)
class Found:
    """Where blocks begin and end, where headings stand and, if asked for, all anchors by their names: page and points from its
    top left; and the number of pages."""

    blocks: list[Data]
    headings: list[Data]
    places: dict[str, Data]
    pages: int


def _set(folder: Path, payload: Data) -> Found:
    """Where everything stands once Typst has set this."""
    _write(folder, payload)
    layout = json.loads(asked_of_typst(typst.query, folder, "<layout>", field="value", one=True))
    places = {found["anchor"]: found for found in layout["anchors"]}
    return Found(layout["blocks"], layout["headings"], places, layout["pages"])


def _compile(folder: Path, document: Document) -> bytes:
    day = datetime.datetime(*_day(document.front.date), tzinfo=datetime.UTC)  # never the clock
    return bytes(asked_of_typst(typst.compile, folder, format="pdf", pdf_standards=STANDARDS, timestamp=day))


def asked_of_typst(work: Callable[..., Any], folder: Path, *what: str, **how: Any) -> Any:
    """What Typst makes of `memo.typ` in a folder; `MemoRejected` says what it refuses."""
    try:
        return work(folder / "memo.typ", *what, root=folder, font_paths=_fonts(), **how)
    except typst.TypstError as error:
        raise MemoRejected([typst_message(error)]) from error


@cache
def _fonts() -> typst.Fonts:
    """Our face, and matplotlib's DejaVu for code and for letters that the face lacks."""
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[FONTS, _BESIDE])


def typst_message(error: typst.TypstError) -> str:
    """One line a consultant can act on: what Typst refused, its hints, and for alt text the remedy."""
    message = one_line(str(error.message or error))
    if "alt text" in message.lower():
        message += ". Every chart, image and formula needs alt text: one or two sentences with the finding."
    hints = "; ".join(one_line(hint) for hint in error.hints or [])
    return f"the PDF cannot be written: {message}" + (f" ({hints})" if hints else "")


def _payload(document: Document, of_node: Callable[[Node], Node]) -> Data:
    """The document as plain JSON values, its nodes as `of_node` has them for print."""
    front = dataclasses.asdict(replace(document.front, brand=None))
    match = _LANGUAGE.match(document.front.language)
    front |= {"status": document.front.shown_status, "draft": document.front.draft, "lang": match[1] if match else "en"}
    front["region"] = match[2].upper() if match and match[2] else None
    front["day"] = _day(document.front.date)
    front["pages"] = []

    def each(nodes: Sequence[Top]) -> list[Data]:
        told = list(map(to_json, rebuilt(tuple(nodes), of_node=of_node)))
        for data, node, after in zip(told, nodes, (*nodes[1:], None), strict=False):
            if isinstance(node, Paragraph) and (
                isinstance(after, BulletList | OrderedList | Preformatted)
                or plain_text(node.children).rstrip().endswith(":")
            ):
                data[LEAD] = True
        return told

    read = {
        "glance": document.glance and to_json(rebuilt(document.glance, of_node=of_node)),
        "first": each(document.first),
        "body": each(document.body),
        "annexes": each(document.annexes),
    }
    closing = _closing(document)
    _mark_first_uses(read, closing)
    sources_at = document.sources_heading if document.lists_sources else None
    derived_at = document.derivations_heading if document.derives_in_print else None
    held = document.held
    unprinted = {document.sources_heading, document.derivations_heading} - {sources_at, derived_at}
    return {
        "front": front,
        "spined": document.spined,
        "opening": _opening(document),
        "contents": [
            {"anchor": h.anchor, "annex": h.annex, "holds": held.get(h.anchor, "")}
            for h in document.contents
            if h.level == 1 and h not in unprinted
        ],
        "kinds": [{"letter": letter, "title": title.lower()} for _, letter, title in KINDS],
        "sources_heading": sources_at and dataclasses.asdict(sources_at),
        "derivations_heading": derived_at and dataclasses.asdict(derived_at),
        "convention": CONVENTION,
        "keys": document.keys,
        "abbreviations": [{"name": term.term, "means": term.means} for term in document.abbreviations],
        "places": {},
        "places_wanted": False,
        "attachments": [],
        **read,
        **closing,
    }


def _mark_first_uses(read: Data, closing: Data) -> None:
    """Mark the first place of each number that the closing annexes tell of: they link back there."""
    told = {node["anchor"] for node in _all_of(closing) if "anchor" in node}
    for node in _all_of(read):
        if node.get("t") == "num" and node["anchor"] in told:
            told.remove(node["anchor"])
            node["first"] = True


def _all_of(data: Any) -> Iterator[Data]:
    """Every object within JSON values, in reading order."""
    if isinstance(data, dict):
        yield data
        data = [*data.values()]
    for inner in data if isinstance(data, list | tuple) else ():
        yield from _all_of(inner)


def _closing(document: Document, most_inputs: int | None = None) -> Data:
    """The closing annexes' data, with so many inputs at most."""
    closing = closing_of(document, most_inputs)
    return {
        "sources": list(map(dataclasses.asdict, closing.sources)),
        "families": list(map(dataclasses.asdict, families(closing.derivations))),
        "input_sets": list(map(dataclasses.asdict, closing.input_sets)),
        "inputs": [
            {"title": title, "entries": list(map(dataclasses.asdict, entries))}
            for title, entries in grouped_inputs(closing.inputs)
        ],
    }


def _print_node(node: Node, folder: Path, *, draft: bool, brand: Brand | None) -> Node:
    """What print wants otherwise: words on one line, a picture as a file beside the templates.

    A draft says what has no description yet; a client copy without one is refused by Typst.
    """
    if isinstance(node, Text | Code):
        return replace(node, words=_BREAKS.sub(" ", node.words))
    if isinstance(node, Figure | Image | Formula):
        node = replace(node, alt=node.alt or (NO_ALT_YET if draft else ""))
    if isinstance(node, Figure):
        node = replace(node, narrow="", svg=inked(node.svg, brand))
    if isinstance(node, Figure | Formula) and node.svg:
        return replace(node, svg=_file(folder, "drawing", "svg", node.svg, printable(node.svg).encode()))
    if isinstance(node, Image) and node.src:
        return replace(node, src=_file(folder, "image", "png", node.src, base64.b64decode(node.src.partition(",")[2])))
    return node


def _file(folder: Path, kind: str, ending: str, content: str, data: bytes) -> str:
    """The name of the file that Typst reads a picture or a drawing from: the same one, the same file, so that it is not read
    again with every trial of a layout."""
    name = f"{kind}-{hashlib.sha256(content.encode()).hexdigest()[:16]}.{ending}"
    (folder / name).write_bytes(data)
    return name


def _opening(document: Document) -> int:
    """How many blocks of the body stand with the glance on page one, before the contents: its text up to the first
    figure, table or second heading. A table right under the first heading is part of it."""
    if document.glance is None:
        return 0
    headings = 0
    for number, node in enumerate(document.body):
        headings += isinstance(node, Heading)
        opens = isinstance(node, DataTable) and number == 1
        if headings > 1 or (isinstance(node, Figure | DataTable | Image) and not opens):
            return number
    return len(document.body)


def _day(date: str) -> tuple[int, int, int]:
    try:
        day = datetime.date.fromisoformat(date)
    except ValueError:
        return _NO_DAY
    return day.year, day.month, day.day


@cache
def _without_glyph() -> re.Pattern[str]:
    """What DejaVu Sans cannot print, the fallback of every text; letters for private use, which PDF/A-3a refuses; and what
    Typst takes no fallback for everywhere, so that PDF/A refuses it too."""
    known = map(chr, ft2font.FT2Font(str(_BESIDE / "DejaVuSans.ttf")).get_charmap())
    taken = (re.escape(c) for c in known if unicodedata.category(c) != "Co" and c not in _NO_FALLBACK)
    return re.compile(f"[^\\n\\t\\r{''.join(taken)}]")


def printable(text: str) -> str:
    """The text in which a character without a glyph reads [U+4E2D] rather than vanishing."""
    return _without_glyph().sub(lambda missing: f"[U+{ord(missing[0]):04X}]", text)
