"""The PDF is tagged, navigable, self-contained, the same twice, and prints hostile text as typed."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import shutil
import subprocess
import unicodedata
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pypdf
import pytest
from matplotlib import ft2font
from nbformat.v4 import new_markdown_cell, new_notebook
from read_memo import pdf_objects, read_memo
from rich_notebook import (
    HOSTILE,
    NUMBERS,
    block,
    chart_svg,
    cost_table,
    figure,
    front_matter,
    glance,
    head,
    hostile_notebook,
    num,
    para,
    ref,
    rich_notebook,
    text,
)
from rows import rows

from fabricreport.base.errors import MemoRejected
from fabricreport.memo.document.document import Document, document_from_notebook
from fabricreport.memo.write import pdf
from fabricreport.memo.write.exporters import FabricReportPDFExporter
from fabricreport.memo.write.html import render_html
from fabricreport.memo.write.paper import pack
from fabricreport.memo.write.pdf import TEXT_BOTTOM_PT, TEXT_HEIGHT_PT, emptiness


@cache
def rich() -> tuple[Document, bytes]:
    document = document_from_notebook(rich_notebook())
    return document, pdf.printed(document).pdf


def reader(data: bytes) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(data))


@cache
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


@cache
def objects(data: bytes) -> list[Any]:
    return [one for one in pdf_objects(reader(data)) if one is not None]


@pytest.mark.slow
def test_the_file_claims_pdf_a_3a_and_pdf_ua_1_and_has_tags_language_and_a_shown_title() -> None:
    root = reader(rich()[1]).trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert "/StructTreeRoot" in root
    assert root["/Lang"] == "en"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    metadata = root["/Metadata"].get_object().get_data().decode()
    for claim in ("pdfuaid:part>1<", "pdfaid:part>3<", "pdfaid:conformance>A<"):
        assert f"<{claim}/" in metadata
    assert b"<pdfaid:part>3</pdfaid:part>" in rich()[1], (
        "who looks for it reads no compressed metadata (ISO 19005-3, 6.6.2)"
    )
    assert [str(o["/S"]) for o in root["/OutputIntents"]] == ["/GTS_PDFA1"] and len(
        reader(rich()[1]).trailer["/ID"]
    ) == 2


@pytest.mark.slow
def test_title_author_and_dates_come_from_the_front_matter_not_the_clock() -> None:
    info = reader(rich()[1]).metadata
    assert info is not None
    assert info.title == "The network for Acme's training cluster"
    assert info.author == "Fabric practice"
    assert info["/CreationDate"].startswith("D:20261120")


@pytest.mark.slow
def test_the_outline_is_the_numbered_headings() -> None:
    def titles(entries: Any) -> list[str]:
        return [t for e in entries for t in (titles(e) if isinstance(e, list) else [e.title])]

    document, data = rich()
    assert titles(reader(data).outline) == [f"{h.number} {h.text}" for h in document.contents]


@pytest.mark.slow
def test_every_page_says_page_x_of_y_client_edition_and_status() -> None:
    pages = page_texts(rich()[1])
    for number, shown in enumerate(pages, start=1):
        for expected in (f"Page {number} of {len(pages)}", "Acme AI", "2026-11-20-ab12cd34", "Client copy"):
            assert squeezed(expected) in squeezed(shown)


@pytest.mark.slow
def test_pages_with_links_follow_the_structure_order() -> None:
    assert all(page["/Tabs"] == "/S" for page in reader(rich()[1]).pages if "/Annots" in page)


@pytest.mark.slow
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


@pytest.mark.slow
def test_page_one_says_what_would_change_the_answer_before_the_contents() -> None:
    first = squeezed(page_texts(rich()[1])[0])
    assert first.index(squeezed("Sign by 15 December")) < first.index("CONTENTS")


@pytest.mark.slow
def test_every_derivation_leads_back_to_the_first_place_of_its_number() -> None:
    document, _ = rich()
    read = pdf._payload(document, lambda node: node)
    marked = [
        node["anchor"] for node in pdf._all_of([read["glance"], read["body"], read["annexes"]]) if node.get("first")
    ]
    assert len(marked) == len(set(marked)) and {d.anchor for d in document.derivations} <= set(marked)
    pages = list(reader(rich()[1]).pages)
    at = {page.indirect_reference.idnum: n for n, page in enumerate(pages) if page.indirect_reference}
    ends = [a.get_object()["/Dest"] for a in pages[-1]["/Annots"] if "/Dest" in a.get_object()]
    led = {at[list.__getitem__(end, 0).idnum] for end in ends if isinstance(end, list)}
    assert {0, 1} <= led, "from the last page back to those of the text"


@pytest.mark.slow
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


@pytest.mark.slow
def test_all_fonts_are_embedded_four_cuts_of_one_family_and_one_for_code() -> None:
    def fonts(data: bytes) -> set[str]:
        described = [o for o in objects(data) if isinstance(o, dict) and o.get("/Type") == "/FontDescriptor"]
        assert all({"/FontFile2", "/FontFile3"} & set(o) for o in described)
        return {str(o["/FontName"]).partition("+")[2].removesuffix("-Identity-H") for o in described}

    cuts = {f"LibertinusSerif-{cut}" for cut in ("Regular", "Italic", "Bold", "BoldItalic")}
    assert fonts(rich()[1]) == cuts | {"DejaVuSansMono"}
    nodes = [para("† ‡ ○ ‣ → − × ≥ ½ Ω µ Zoë Łódź Сеть ", {"t": "code", "v": "letters.pdf"}), cost_table("tab-a", 4)]
    assert fonts(pdf.printed(client_copy(block("a", nodes))).pdf) <= cuts


@pytest.mark.slow
def test_whatever_letters_are_typed_they_are_printed_or_named() -> None:
    """PDF/A refuses a letter without a glyph, and one that means nothing to others."""
    known = ft2font.FT2Font(str(pdf._BESIDE / "DejaVuSans.ttf")).get_charmap()
    words = " ".join(map(chr, known))
    marks = " ".join(f"e{chr(c)}" for c in known if unicodedata.category(chr(c)) in ("Mn", "Cf"))
    nodes = [para(text(words)), para({"t": "strong", "c": [text(marks)]}), para({"t": "em", "c": [text(marks)]})]
    assert pdf.printed(client_copy(block("a", nodes))).pdf.startswith(b"%PDF")
    assert pdf.printable("Zoë \uf6c5 e\u064b 中") == "Zoë [U+F6C5] e[U+064B] [U+4E2D]"


@pytest.mark.slow
def test_what_is_attached_says_what_it_is_and_keeps_its_bytes() -> None:
    document, bare = rich()
    ledger = b'{"numbers": []}' * 1000
    files = {
        "ledger.json": pdf.Attachment(ledger, "application/json", "data", "Every number"),
        "memo.xlsx": pdf.Attachment(b"PK\x03\x04", "application/x-test", "source", "A workbook"),
    }
    data = pdf.printed(document, files).pdf
    assert pdf.printed(document, files).pdf == data
    root = reader(data).trailer["/Root"]
    told = [spec.get_object() for spec in root["/AF"]]
    assert [(s["/UF"], s["/AFRelationship"], s["/Desc"]) for s in told] == [
        ("ledger.json", "/Data", "Every number"),
        ("memo.xlsx", "/Source", "A workbook"),
    ]
    inside = told[0]["/EF"]["/F"].get_object()
    assert inside.get_data() == ledger and inside["/Subtype"] == "/application/json"
    assert inside["/Params"]["/ModDate"].startswith("D:20261120")
    assert not reader(bare).attachments and "/AF" not in reader(bare).trailer["/Root"]
    assert reader(data).attachments["memo.xlsx"] == [b"PK\x03\x04"]


@pytest.mark.slow
def test_figures_carry_their_alt_text() -> None:
    alts = {str(o["/Alt"]) for o in objects(rich()[1]) if isinstance(o, dict) and "/Alt" in o}
    assert "Interval chart of cost by option, where the cheapest option stays below the others." in alts


@pytest.mark.slow
def test_tables_have_header_cells_and_a_header_repeats_on_each_page() -> None:
    data = rich()[1]
    kinds = [str(o.get("/S")) for o in objects(data) if isinstance(o, dict)]
    assert kinds.count("/TH") == 2 + 4 + 4 + 2
    pages = page_texts(data)
    assert sum("InfiniBand" in p and "Cost group 3" in p for p in pages) >= 2


@pytest.mark.slow
def test_two_compiles_give_the_same_bytes() -> None:
    document, data = rich()
    assert pdf.printed(document).pdf == data


@pytest.mark.slow
def test_an_image_without_alt_text_is_refused_with_a_remedy() -> None:
    document = client_copy(block("a", [{**figure("fig-a"), "alt": ""}]))
    with pytest.raises(MemoRejected, match=r"alt text.*one or two sentences"):
        pdf.printed(document)


@pytest.mark.slow
def test_a_draft_without_alt_text_compiles_with_a_watermark() -> None:
    notebook = new_notebook(cells=[block("a", [{**figure("fig-a"), "alt": ""}])])
    assert "Draft" in page_texts(pdf.printed(document_from_notebook(notebook)).pdf)[0]


@pytest.mark.slow
def test_a_memo_without_anything_still_compiles() -> None:
    data = pdf.printed(document_from_notebook(new_notebook())).pdf
    assert len(reader(data).pages) == 1


@pytest.mark.slow
def test_faulty_references_and_blocks_do_not_break_the_compiler() -> None:
    nodes = [
        para({"t": "ref", "id": "fig-none"}, {"t": "ref", "id": "fig-bad"}),
        {"t": "figure", "id": "fig-bad"},
        head(2, "Two"),
    ]
    document = document_from_notebook(new_notebook(cells=[block("a", nodes)]))
    assert "[missing: fig-none]" in page_texts(pdf.printed(document).pdf)[0]


@pytest.mark.slow
def test_an_odd_language_or_date_falls_back() -> None:
    document = client_copy(new_markdown_cell("text"))
    front = dataclasses.replace(document.front, language="xx!!", date="soon")
    data = pdf.printed(dataclasses.replace(document, front=front)).pdf
    assert reader(data).trailer["/Root"]["/Lang"] == "en"


@pytest.mark.slow
def test_a_wide_table_with_long_cells_stays_inside_the_page() -> None:
    table = cost_table("tab-w", 30)
    for column in table["columns"]:
        column["label"] = [{"t": "text", "v": "A rather long heading of a column"}]
    table["rows"] = [{"cells": [[{"t": "text", "v": "words " * 12}]] * 4, "role": "normal"} for _ in range(20)]
    data = pdf.printed(client_copy(block("a", [table]))).pdf
    assert max(x for page in reader(data).pages for x, _ in places(page)) < 595 - 50


@pytest.mark.slow
@rows("group", (HOSTILE[n::3] for n in range(3)))
def test_hostile_text_is_printed_as_typed_and_opens_nothing(group: list[str]) -> None:
    data = pdf.printed(document_from_notebook(hostile_notebook(" ".join(group)))).pdf
    text = squeezed("".join(page_texts(data)))
    for payload in group:
        shown = squeezed("".join(c if ord(c) < 0x3000 else f"[U+{ord(c):04X}]" for c in payload))
        # Right-to-left runs are laid out in visual order; their letters must all be there.
        turned = any(unicodedata.bidirectional(c) in "RAL" for c in payload)
        assert shown in text or (turned and set(shown) <= set(text)), payload
    for found in objects(data):
        if isinstance(found, dict):
            assert not {"/JS", "/JavaScript", "/Launch", "/OpenAction", "/EmbeddedFile", "/AA"} & set(found)
            assert found.get("/S") not in ("/JavaScript", "/Launch", "/SubmitForm", "/ImportData")
            if found.get("/S") == "/URI":
                assert re.match(r"https://|mailto:", str(found["/URI"]))


@pytest.mark.slow
def test_stock_nbconvert_writes_the_pdf(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# One\n\nSome text.")]), path)
    data, resources = FabricReportPDFExporter().from_filename(str(path))
    assert data.startswith(b"%PDF-1.7")
    assert resources["output_extension"] == ".pdf"


@pytest.mark.slow
def test_no_figure_leaves_more_than_a_third_of_a_page_empty() -> None:
    words = "The fabric is a small share of what the cluster costs, and the two candidates differ by less than that. "
    nodes: list[Any] = [head(1, "A tall figure after a short text")]
    nodes += [para(words * 12), figure("fig-tall", chart_svg(height_in=5)), para(words * 12), para(words * 20)]
    data = pdf.printed(client_copy(block("a", nodes))).pdf
    for page in reader(data).pages[:1]:
        assert min(y for _, y in places(page) if y > 60) < 842 - TEXT_BOTTOM_PT + TEXT_HEIGHT_PT / 3


def test_a_document_has_five_sizes_of_letters_and_lines_that_are_read_at_a_glance() -> None:
    sizes: set[float] = set()

    def visit(text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        if text.strip():
            sizes.add(round(size * abs(tm[3] * cm[3]), 1))

    for page in reader(rich()[1]).pages:
        page.extract_text(visitor_text=visit)
    assert len(sizes) <= 5, sorted(sizes)
    words = (
        "Every step of a job waits for the slowest of its messages, which is why a network is bought for its tail. "
        * 20
    )
    lines = page_texts(pdf.printed(client_copy(block("a", [para(text(words))]))).pdf)[0].split("\n")
    filled = [len(line.strip()) for line in lines if line.strip() and line.strip() in words]
    assert 55 <= sorted(filled)[len(filled) // 2] <= 78 and max(filled) <= 84


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


@pytest.mark.slow
def test_links_lead_where_their_anchors_stand_once_they_are_there(tmp_path: Path) -> None:
    """The places are those of a layout without links: with links nothing may stand elsewhere."""
    payload = pdf._lay_out(rich()[0], tmp_path)
    pdf._settle(tmp_path, payload)
    pdf._link(tmp_path, payload, rich()[0])
    linked = json.loads((tmp_path / "memo.json").read_text(encoding="utf-8"))
    assert pdf._set(tmp_path, linked | {"places_wanted": True}).places == linked["places"]
    assert len(linked["places"]) > 10


SPINE = "buy_once"
LONG = "A sentence of page one that says why, with its figure and what it rests on, in plain words. "


def table(identity: str, caption: str, rows: int) -> dict[str, Any]:
    return cost_table(identity, rows, caption)


def spined(*, rows: int = 4, sentences: int = 3, care: int = 2) -> Document:
    """A memo whose page one holds a glance, two paragraphs, a table and remarks, as full as asked for."""
    remarks = {
        "t": "callout",
        "tone": "caution",
        "title": [text("Read with care")],
        "c": [para(f"Remark {i} on what this rests on, in a line of its own.") for i in range(care)],
    }
    lead = {"t": "strong", "c": [text("Why.")]}
    cells = [
        block(SPINE, [head(1, "Which network should the 64 GPUs use?", "sec-question"), glance()]),
        block(SPINE, [para(lead, " ", LONG * sentences, num("tco.figure-5", "$5.5M")), para("The other side. ", LONG)]),
        block(SPINE, [table("tab-body-changes", "What would change the answer", rows), remarks]),
        block(SPINE, [head(1, "RoCEv2 saves money in each part", "sec-body-money"), para("Say more of it. ", ref("sec-tco"))]),
        block(SPINE, [figure("fig-body-x"), para("It comes to ", num("tco.figure-6", "$6.6M"), " in all.")]),
        block("tco", [head(1, "How the cost is made up", "sec-tco"), para("Printed behind the body, with ", num("tco.figure-8", "$8.8M"), ".")]),
    ]  # fmt: skip
    notebook = new_notebook(cells=cells)
    notebook.metadata["fabricreport"] = {**front_matter(), "title": ""}
    document = document_from_notebook(notebook)
    assert document.problems == () and document.spined
    return document


@cache
def printed() -> tuple[Document, bytes]:
    document = spined()
    return document, pdf.printed(document).pdf


@cache
def pages(data: bytes) -> list[str]:
    return [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(io.BytesIO(data)).pages]


@pytest.mark.slow
def test_page_one_stands_alone_with_the_question_as_its_title_and_no_contents() -> None:
    document, data = printed()
    first, second, *_ = pages(data)
    assert document.front.title == "Which network should the 64 GPUs use?"
    for words in ("Which network should the 64 GPUs use?", "Would flip at", "What would change the answer", "Remark 1"):
        assert words in first
    assert "RoCEv2 saves money in each part" not in first and "RoCEv2 saves money in each part" in second
    assert "Contents" not in first.title() and "Annexes" not in first.title()


@pytest.mark.slow
@rows(("rows", "sentences", "care"), [(2, 1, 1), (8, 6, 3), (14, 8, 5)])
def test_page_one_is_set_closer_where_it_would_not_fit(rows: int, sentences: int, care: int) -> None:
    document = spined(rows=rows, sentences=sentences, care=care)
    tried = replace(document, front=replace(document.front, trial="cluster.gpus = 512"))
    first, second, *_ = pages(pdf.printed(tried).pdf)
    assert (
        "Trial, with cluster.gpus = 512" in first
        and f"Remark {care - 1}" in first
        and "RoCEv2 saves money in each part" in second
    )


@pytest.mark.slow
def test_nothing_on_paper_is_smaller_than_eight_points() -> None:
    sizes = set()

    def visit(words: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        if words.strip():
            sizes.add(round(abs(size * tm[3] * cm[3]), 1))

    data = pdf.printed(spined(rows=14, sentences=8, care=5)).pdf
    for page in pypdf.PdfReader(io.BytesIO(data)).pages:
        page.extract_text(visitor_text=visit)
    assert min(sizes) >= 8.0


@pytest.mark.slow
def test_the_annexes_follow_the_body_with_a_list_of_them() -> None:
    _, data = printed()
    texts = pages(data)
    (at,) = (n for n, page in enumerate(texts) if "How the cost is made up" in page and "ANNEXES" in page.upper())
    assert at >= 1 and "RoCEv2 saves money in each part" in " ".join(texts[: at + 1]).partition("ANNEXES")[0]
    assert all("Acme AI" in page for page in texts), "the running head is kept"


@pytest.mark.slow
def test_print_derives_the_numbers_of_page_one_alone_and_html_all() -> None:
    document, data = printed()
    derived = " ".join(pages(data)).rpartition("Every number leads to its inputs")[2]
    labels = {str(n["id"]): str(n["label"]) for n in NUMBERS}
    assert {f"tco.figure-{i}" for i in (1, 2, 3, 4, 5)} <= document.first_numbers
    assert not {"tco.figure-6", "tco.figure-8"} & document.first_numbers
    assert labels["tco.figure-5"] in derived and "$5.5M" in derived
    assert "$6.6M" not in derived and "$8.8M" not in derived
    derivations = render_html(document).rpartition("Every number leads to its inputs")[2]
    assert all(labels[f"tco.figure-{i}"] in derivations for i in (5, 6, 8))


@pytest.mark.slow
def test_nothing_is_underlined_on_paper() -> None:
    _, data = printed()
    folder = Path(pdf.__file__).parents[1] / "templates"
    assert not [p.name for p in folder.glob("*.typ") if "underline(" in p.read_text(encoding="utf-8")]
    for page in pypdf.PdfReader(io.BytesIO(data)).pages:
        for found in page.get("/Annots", ()):
            link = found.get_object()
            assert list(link.get("/Border", (0, 0, 1)))[2] == 0 or link.get("/BS", {}).get("/W", 0) == 0
    style = (folder / "memo.css").read_text(encoding="utf-8").partition("@media print")[2]
    assert "a, .num { color: inherit; text-decoration: none; }" in style


@pytest.mark.slow
def test_the_pdf_states_the_pages_of_its_body_its_annexes_and_its_derivations(tmp_path: Path) -> None:
    document, data = printed()
    (tmp_path / "memo.html").write_text(render_html(document), encoding="utf-8")
    (tmp_path / "memo.pdf").write_bytes(data)
    memo = read_memo(tmp_path)
    assert memo.body_pages + memo.annex_pages == len(pages(data)) and memo.derivation_pages == 1
    assert (memo.client, memo.title) == ("Acme AI", "Which network should the 64 GPUs use?")
    said = memo.sentences
    assert "It comes to $6.6M in all." in said and "Remark 0 on what this rests on, in a line of its own." in said
    assert not any("Printed behind the body" in words for words in said)


@pytest.mark.slow
def test_the_contents_of_the_html_name_the_parts() -> None:
    page = render_html(printed()[0])
    contents = page.partition("<nav")[2].partition("</nav>")[0]
    titles = re.findall(r'<p class="part">([^<]*)</p>', contents)
    assert titles == ["The memo", "Annexes", "Sources and numbers"]
    assert contents.index("#page-one") < contents.index("RoCEv2 saves money")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
@rows("scheme", ["light", "dark"])
def test_a_narrow_screen_shows_everything_without_scrolling_sideways(scheme: str, tmp_path: Path) -> None:
    page = render_html(printed()[0])
    # The page's own policy forbids further scripts, so the frame that holds it is measured from outside.
    (tmp_path / "memo.html").write_text(re.sub(r"<meta http-equiv[^>]*>", "", page), encoding="utf-8")
    probe = (
        '<iframe id="f" src="memo.html" style="width:390px;height:800px;border:0"></iframe><script>'
        'document.getElementById("f").onload = e => { const d = e.target.contentDocument.documentElement;'
        'document.title = d.scrollWidth <= d.clientWidth ? "fits" : "overflows " + d.scrollWidth }</script>'
    )
    (tmp_path / "probe.html").write_text(probe, encoding="utf-8")
    shown = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
            f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}", "--virtual-time-budget=4000",
            "--dump-dom", (tmp_path / "probe.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    assert "<title>fits</title>" in shown, re.findall("<title>[^<]*</title>", shown)


@cache
def plain() -> bytes:
    text = "\n\n".join(
        f"# Heading {n}\n\nendstream and endobj, 1 0 obj, and (a [link](https://example.org/x))." for n in range(40)
    )
    document = document_from_notebook(new_notebook(cells=[new_markdown_cell(text)]))
    kept, pdf.pack = pdf.pack, lambda data: data
    try:
        return pdf.printed(document).pdf
    finally:
        pdf.pack = kept


def content(found: Any) -> bytes:
    written = io.BytesIO()
    found.write_to_stream(written)
    return written.getvalue()


def test_every_object_survives_byte_for_byte() -> None:
    before, after = (pypdf.PdfReader(io.BytesIO(data), strict=True) for data in (plain(), pack(plain())))
    numbers = sorted(before.xref[0])
    assert len(numbers) > 300
    root = before.trailer["/Root"]
    assert dict(root["/MarkInfo"].items()) == {"/Marked": True, "/Suspects": False}, "what Typst writes has changed"
    del root["/MarkInfo"]["/Suspects"]
    assert all(content(before.get_object(n)) == content(after.get_object(n)) for n in numbers)
    assert before.trailer["/ID"] == after.trailer["/ID"]
    assert [p.extract_text() for p in before.pages] == [p.extract_text() for p in after.pages]


def test_the_packed_file_is_less_than_half_as_long_and_always_the_same() -> None:
    assert len(pack(plain())) < len(plain()) / 2
    assert pack(plain()) == pack(plain())


def test_a_file_laid_out_otherwise_comes_back_unchanged() -> None:
    for data in (b"", b"%PDF-1.7\n", plain()[:-20], plain().replace(b" 0 obj\n", b" 0 obj ", 1), pack(plain())):
        assert pack(data) == data


@pytest.mark.skipif(shutil.which("pdfinfo") is None, reason="Poppler is not installed")
def test_poppler_reads_it_without_a_complaint(tmp_path: Path) -> None:
    path = tmp_path / "memo.pdf"
    path.write_bytes(pack(plain()))
    for tool, *more in (("pdfinfo",), ("pdftotext", "-")):
        done = subprocess.run([tool, str(path), *more], capture_output=True, text=True, check=True)
        assert done.stderr == "" and done.stdout


@pytest.mark.slow
def test_the_inputs_behind_page_one_are_listed_in_order_as_far_as_two_pages_reach() -> None:
    document = spined()
    example = document.inputs[0]
    many = tuple(
        replace(example, id=f"price:p{i}", anchor=f"d-p{i}", code=f"P{i}", label=f"{LONG} input {i}")
        for i in range(400)
    )
    crowded = replace(document, inputs=many, first_numbers=document.first_numbers | {entry.id for entry in many})
    derived = " ".join(pages(pdf.printed(crowded).pdf)).rpartition("Every number leads to its inputs")[2]
    shown = [int(n) for n in re.findall(r"\bP(\d+)\b", derived)]
    assert 10 < len(set(shown)) < 400 and set(shown) == set(range(max(shown) + 1))
    assert b"derivations: 2 pages" in pdf.printed(crowded).pdf
