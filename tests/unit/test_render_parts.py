"""A memo with a body of its own: page one alone, the body, the printed annexes, and what only the HTML edition holds."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pypdf
import pytest
from nbformat.v4 import new_notebook
from read_memo import read_memo
from rich_notebook import NUMBERS, block, cost_table, figure, front_matter, glance, head, num, para, ref, text

from fabricreport.memo.document.document import Document, document_from_notebook
from fabricreport.memo.write import pdf
from fabricreport.memo.write.html import render_html
from fabricreport.memo.write.pdf import render_pdf

pytestmark = pytest.mark.slow

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
        block(SPINE, [head(1, "RoCEv2 saves money in each part", "sec-body-money"), para("Say more of it. ", ref("sec-web"))]),
        block(SPINE, [figure("fig-body-x"), para("It comes to ", num("tco.figure-6", "$6.6M"), " in all.")]),
        block("tco", [head(1, "How the cost is made up", "sec-tco"), para("Printed behind the body, with ", num("tco.figure-8", "$8.8M"), ".")]),
        block("tco", [head(1, "Every line of the bill", "sec-web"), para("This stands in the browser alone.")], "annex"),
    ]  # fmt: skip
    notebook = new_notebook(cells=cells)
    notebook.metadata["fabricreport"] = {**front_matter(), "title": ""}
    document = document_from_notebook(notebook)
    assert document.problems == () and document.spined
    return document


@cache
def printed() -> tuple[Document, bytes]:
    document = spined()
    return document, render_pdf(document)


def pages(data: bytes) -> list[str]:
    return [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(io.BytesIO(data)).pages]


def test_page_one_stands_alone_with_the_question_as_its_title_and_no_contents() -> None:
    document, data = printed()
    first, second, *_ = pages(data)
    assert document.front.title == "Which network should the 64 GPUs use?"
    for words in ("Which network should the 64 GPUs use?", "Would flip at", "What would change the answer", "Remark 1"):
        assert words in first
    assert "RoCEv2 saves money in each part" not in first and "RoCEv2 saves money in each part" in second
    assert "Contents" not in first.title() and "Annexes" not in first.title()


@pytest.mark.parametrize(("rows", "sentences", "care"), [(2, 1, 1), (8, 6, 3), (14, 8, 5)])
def test_page_one_is_set_closer_where_it_would_not_fit(rows: int, sentences: int, care: int) -> None:
    first, second, *_ = pages(render_pdf(spined(rows=rows, sentences=sentences, care=care)))
    assert f"Remark {care - 1}" in first and "RoCEv2 saves money in each part" in second


def test_nothing_on_paper_is_smaller_than_eight_points() -> None:
    sizes = set()

    def visit(words: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        if words.strip():
            sizes.add(round(abs(size * tm[3] * cm[3]), 1))

    data = render_pdf(spined(rows=14, sentences=8, care=5))
    for page in pypdf.PdfReader(io.BytesIO(data)).pages:
        page.extract_text(visitor_text=visit)
    assert min(sizes) >= 8.0


def test_the_annexes_follow_the_body_with_a_list_of_them() -> None:
    _, data = printed()
    texts = pages(data)
    (at,) = (n for n, page in enumerate(texts) if "How the cost is made up" in page and "ANNEXES" in page.upper())
    assert at >= 1 and "RoCEv2 saves money in each part" in " ".join(texts[: at + 1]).partition("ANNEXES")[0]
    assert "stands there alone" in texts[at]
    assert all("Acme AI" in page for page in texts), "the running head is kept"


def test_what_the_html_edition_alone_holds_is_not_in_the_pdf() -> None:
    document, data = printed()
    everything = " ".join(pages(data))
    assert "This stands in the browser alone." not in everything and "Annex W1" in everything
    page = render_html(document)
    assert "This stands in the browser alone." in page and "only in this edition" in page.lower()
    parts = [page.index(f'class="{name}"') for name in ("page-one", "body", "annexes", "edition")]
    assert parts == sorted(parts)
    assert (
        page.index("How the cost is made up") < page.index('id="web-annexes"') < page.rindex("Every line of the bill")
    )


def test_a_reference_to_what_is_not_printed_is_no_link() -> None:
    page = pypdf.PdfReader(io.BytesIO(printed()[1])).pages[1]
    body, _, annexes = " ".join(page.extract_text().split()).partition("ANNEXES")
    assert "Annex W1" in body and annexes
    ends: list[float] = []

    def visit(words: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        if "ANNEXES" in words:
            ends.append(tm[4] * cm[1] + tm[5] * cm[3] + cm[5])

    page.extract_text(visitor_text=visit)
    links = [link for link in page.get("/Annots", ()) if float(link.get_object()["/Rect"][1]) > ends[0]]
    assert len(links) == 1, (
        "the source in the caption: neither an annex of the HTML edition nor what print does not derive"
    )


def test_print_derives_the_numbers_of_page_one_alone_and_html_all() -> None:
    document, data = printed()
    derived = " ".join(pages(data)).rpartition("Where each number comes from")[2]
    labels = {str(n["id"]): str(n["label"]) for n in NUMBERS}
    assert {f"tco.figure-{i}" for i in (1, 2, 3, 4, 5)} <= document.first_numbers
    assert not {"tco.figure-6", "tco.figure-8"} & document.first_numbers
    assert labels["tco.figure-5"] in derived and "$5.5M" in derived
    assert "$6.6M" not in derived and "$8.8M" not in derived
    derivations = render_html(document).rpartition("Where each number comes from")[2]
    assert all(labels[f"tco.figure-{i}"] in derivations for i in (5, 6, 8))


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


def test_the_pdf_states_the_pages_of_its_body_and_annexes(tmp_path: Path) -> None:
    document, data = printed()
    (tmp_path / "memo.html").write_text(render_html(document), encoding="utf-8")
    (tmp_path / "memo.pdf").write_bytes(data)
    memo = read_memo(tmp_path)
    assert memo.body_pages + memo.annex_pages == len(pages(data))
    assert (memo.client, memo.title) == ("Acme AI", "Which network should the 64 GPUs use?")
    said = memo.sentences
    assert "It comes to $6.6M in all." in said and "Remark 0 on what this rests on, in a line of its own." in said
    assert not any("Printed behind the body" in words or "browser" in words for words in said)


def test_the_contents_of_the_html_name_the_parts() -> None:
    page = render_html(printed()[0])
    contents = page.partition("<nav")[2].partition("</nav>")[0]
    titles = re.findall(r'<p class="part">([^<]*)</p>', contents)
    assert titles == ["The memo", "Annexes", "Only in this edition", "Sources and numbers"]
    assert contents.index("#page-one") < contents.index("RoCEv2 saves money")


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
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
