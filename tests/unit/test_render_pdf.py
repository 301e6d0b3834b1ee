"""The PDF is tagged, navigable, self-contained, the same twice, and prints hostile text as typed."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pypdf
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from rich_notebook import HOSTILE, block, chart_svg, cost_table, figure, head, hostile_notebook, para, rich_notebook

from fabricreport.errors import MemoRejected
from fabricreport.memo.document.document import Document, document_from_notebook
from fabricreport.memo.write import pdf
from fabricreport.memo.write.exporters import FabricReportPDFExporter
from fabricreport.memo.write.pdf import TEXT_BOTTOM_PT, TEXT_HEIGHT_PT, emptiness, render_pdf

pytestmark = pytest.mark.slow


@cache
def rich() -> tuple[Document, bytes]:
    document = document_from_notebook(rich_notebook())
    return document, render_pdf(document)


def reader(data: bytes) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(data))


def page_texts(data: bytes) -> list[str]:
    return [page.extract_text() for page in reader(data).pages]


def squeezed(text: str) -> str:
    """Without spaces, breaks and hyphenation, so that line breaking does not matter."""
    return re.sub(r"[\s\u00ad\u2060\u00a0]", "", unicodedata.normalize("NFKC", text))


def places(page: Any) -> list[tuple[float, float]]:
    """Where runs of text start on the page, in points from its lower left corner."""
    found = []

    def visit(text: str, cm: Any, tm: Any, font: Any, size: Any) -> None:
        if text.strip():
            found.append((tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]))

    page.extract_text(visitor_text=visit)
    return found


def client_copy(*cells: Any) -> Document:
    notebook = new_notebook(cells=list(cells))
    notebook.metadata["fabricreport"] = {"title": "T", "status": "Client copy", "date": "2026-11-20"}
    return document_from_notebook(notebook)


def objects(data: bytes) -> list[Any]:
    pdf = reader(data)
    found = []
    for number in range(1, len(pdf.xref_objStm) + sum(len(x) for x in pdf.xref.values()) + 1):
        try:
            found.append(pdf.get_object(number))
        except (pypdf.errors.PdfReadError, KeyError):
            continue
    return [o for o in found if o is not None]


def test_the_file_claims_pdf_ua_1_and_has_tags_language_and_a_shown_title() -> None:
    root = reader(rich()[1]).trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert "/StructTreeRoot" in root
    assert root["/Lang"] == "en"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    metadata = root["/Metadata"].get_object().get_data().decode()
    assert "<pdfuaid:part>1</pdfuaid:part>" in metadata


def test_title_author_and_dates_come_from_the_front_matter_not_the_clock() -> None:
    info = reader(rich()[1]).metadata
    assert info is not None
    assert info.title == "The network for Acme's training cluster"
    assert info.author == "Fabric practice"
    assert info["/CreationDate"].startswith("D:20261120")


def test_the_outline_is_the_numbered_headings() -> None:
    def titles(entries: Any) -> list[str]:
        return [t for e in entries for t in (titles(e) if isinstance(e, list) else [e.title])]

    document, data = rich()
    assert titles(reader(data).outline) == [f"{h.number} {h.text}" for h in document.contents]


def test_every_page_says_page_x_of_y_client_edition_and_status() -> None:
    pages = page_texts(rich()[1])
    for number, text in enumerate(pages, start=1):
        for expected in (f"Page {number} of {len(pages)}", "Acme AI", "2026-11-20-ab12cd34", "Client copy"):
            assert squeezed(expected) in squeezed(text)


def test_pages_with_links_follow_the_structure_order() -> None:
    assert all(page["/Tabs"] == "/S" for page in reader(rich()[1]).pages if "/Annots" in page)


def test_page_one_holds_the_title_block_the_glance_and_the_contents() -> None:
    first = squeezed(page_texts(rich()[1])[0])
    for expected in (
        "Board of Acme AI",
        "Buy RoCEv2 on 800G",
        "$1.1M",
        "CONTENTS",
        "Every number links to where it comes from",
    ):
        assert squeezed(expected) in first


def test_page_one_says_what_would_change_the_answer_before_the_contents() -> None:
    first = squeezed(page_texts(rich()[1])[0])
    assert first.index(squeezed("Sign by 15 December")) < first.index("CONTENTS")


def test_every_number_links_into_the_derivation_annex() -> None:
    document, data = rich()
    pdf = reader(data)
    annex = next(i for i, text in enumerate(page_texts(data)) if "Labeloftco.figure-" in squeezed(text))
    pages = {page.indirect_reference.idnum for page in pdf.pages[annex:] if page.indirect_reference}
    targets = set()
    for page in pdf.pages[:annex]:
        for annotation in page.get("/Annots", []):
            found = annotation.get_object()
            if "/Dest" not in found:
                continue
            where = found["/Dest"]
            if isinstance(where, list) and list.__getitem__(where, 0).idnum in pages:
                targets.add(tuple(where[1:]))
    assert len(targets) >= len(document.derivations)


def test_all_fonts_are_embedded_and_of_two_families() -> None:
    fonts = {
        str(o["/FontName"]).partition("+")[2]
        for o in objects(rich()[1])
        if isinstance(o, dict)
        and o.get("/Type") == "/FontDescriptor"
        and any(k in o for k in ("/FontFile2", "/FontFile3", "/FontFile"))
    }
    described = [o for o in objects(rich()[1]) if isinstance(o, dict) and o.get("/Type") == "/FontDescriptor"]
    assert len(described) == len(fonts)
    assert {f.partition("-")[0] for f in fonts} <= {"LibertinusSerif", "DejaVuSans", "DejaVuSansMono"}


def test_figures_carry_their_alt_text() -> None:
    alts = {str(o["/Alt"]) for o in objects(rich()[1]) if isinstance(o, dict) and "/Alt" in o}
    assert "Interval chart of cost by option, where the cheapest option stays below the others." in alts


def test_tables_have_header_cells_and_a_header_repeats_on_each_page() -> None:
    data = rich()[1]
    kinds = [str(o.get("/S")) for o in objects(data) if isinstance(o, dict)]
    assert kinds.count("/TH") == 2 + 4 + 4 + 2
    pages = page_texts(data)
    assert sum("InfiniBand" in p and "Cost group 3" in p for p in pages) >= 2


def test_two_compiles_give_the_same_bytes() -> None:
    document, data = rich()
    assert render_pdf(document) == data


def test_an_image_without_alt_text_is_refused_with_a_remedy() -> None:
    document = client_copy(block("a", [{**figure("fig-a"), "alt": ""}]))
    with pytest.raises(MemoRejected, match=r"alt text.*one or two sentences"):
        render_pdf(document)


def test_a_draft_without_alt_text_compiles_with_a_watermark() -> None:
    notebook = new_notebook(cells=[block("a", [{**figure("fig-a"), "alt": ""}])])
    assert "Draft" in page_texts(render_pdf(document_from_notebook(notebook)))[0]


def test_a_memo_without_anything_still_compiles() -> None:
    data = render_pdf(document_from_notebook(new_notebook()))
    assert len(reader(data).pages) == 1


def test_faulty_references_and_blocks_do_not_break_the_compiler() -> None:
    nodes = [
        para({"t": "ref", "id": "fig-none"}, {"t": "ref", "id": "fig-bad"}),
        {"t": "figure", "id": "fig-bad"},
        head(2, "Two"),
    ]
    document = document_from_notebook(new_notebook(cells=[block("a", nodes)]))
    assert "[missing: fig-none]" in page_texts(render_pdf(document))[0]


def test_an_odd_language_or_date_falls_back() -> None:
    document = client_copy(new_markdown_cell("text"))
    front = dataclasses.replace(document.front, language="xx!!", date="soon")
    data = render_pdf(dataclasses.replace(document, front=front))
    assert reader(data).trailer["/Root"]["/Lang"] == "en"


def test_a_wide_table_with_long_cells_stays_inside_the_page() -> None:
    table = cost_table("tab-w", 30)
    for column in table["columns"]:
        column["label"] = [{"t": "text", "v": "A rather long heading of a column"}]
    table["rows"] = [{"cells": [[{"t": "text", "v": "words " * 12}]] * 4, "role": "normal"} for _ in range(20)]
    data = render_pdf(client_copy(block("a", [table])))
    assert max(x for page in reader(data).pages for x, _ in places(page)) < 595 - 50


@pytest.mark.parametrize("payload", HOSTILE)
def test_hostile_text_is_printed_as_typed_and_opens_nothing(payload: str) -> None:
    data = render_pdf(document_from_notebook(hostile_notebook(payload)))
    text = squeezed("".join(page_texts(data)))
    typed = "".join(c if ord(c) < 0x3000 else f"[U+{ord(c):04X}]" for c in payload)
    # Right-to-left runs are laid out in visual order; their letters must all be there.
    shown = squeezed(typed)
    assert shown in text or (any(unicodedata.bidirectional(c) in "RAL" for c in payload) and set(shown) <= set(text))
    for found in objects(data):
        if isinstance(found, dict):
            assert not {"/JS", "/JavaScript", "/Launch", "/OpenAction", "/EmbeddedFile", "/AA"} & set(found)
            assert found.get("/S") not in ("/JavaScript", "/Launch", "/SubmitForm", "/ImportData")
            if found.get("/S") == "/URI":
                assert re.match(r"https://|mailto:", str(found["/URI"]))


def test_stock_nbconvert_writes_the_pdf(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# One\n\nSome text.")]), path)
    data, resources = FabricReportPDFExporter().from_filename(str(path))
    assert data.startswith(b"%PDF-1.7")
    assert resources["output_extension"] == ".pdf"


def test_no_figure_leaves_more_than_a_third_of_a_page_empty() -> None:
    words = "The fabric is a small share of what the cluster costs, and the two candidates differ by less than that. "
    nodes: list[Any] = [head(1, "A tall figure after a short text")]
    nodes += [para(words * 12), figure("fig-tall", chart_svg(height_in=5)), para(words * 12), para(words * 20)]
    data = render_pdf(client_copy(block("a", nodes)))
    for page in reader(data).pages[:1]:
        assert min(y for _, y in places(page) if y > 60) < 842 - TEXT_BOTTOM_PT + TEXT_HEIGHT_PT / 3


def test_emptiness_counts_blank_page_feet_but_not_where_a_paragraph_runs_on() -> None:
    def place(kind: str, page: int, y_pt: float) -> dict[str, Any]:
        return {"kind": kind, "anchor": "", "page": page, "y_pt": y_pt}

    runs_on = [place("begin", 1, 700), place("end", 2, 100), place("begin", 2, 110), place("end", 2, 300)]
    turned = [
        place("begin", 1, 600),
        place("end", 1, TEXT_BOTTOM_PT - 100),
        place("start", 2, 85),
        place("end", 2, 300),
    ]
    assert emptiness(runs_on) == 0
    assert emptiness(turned) == 100.0**2
    assert emptiness([]) == 0


def test_links_lead_where_their_anchors_stand_once_they_are_there(tmp_path: Path) -> None:
    """The places are those of a layout without links: with links nothing may stand elsewhere."""
    payload = pdf._lay_out(rich()[0], tmp_path)
    pdf._settle(tmp_path, payload)
    pdf._link(tmp_path, payload)
    linked = json.loads((tmp_path / "memo.json").read_text(encoding="utf-8"))
    pdf._write(tmp_path, linked | {"places_wanted": True})
    assert {found["anchor"]: found for found in pdf._query(tmp_path)[2]} == linked["places"]
    assert len(linked["places"]) > 10
