"""The HTML page fetches nothing, runs only its own script, and shows hostile text as typed."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import shutil
import subprocess
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from rich_notebook import HOSTILE, PNG, hostile_notebook, rich_notebook
from rows import rows, words

from fabricreport.blocks.forms import unbroken
from fabricreport.blocks.nodes import Num, TableColumn, TableRow, Text
from fabricreport.memo.document.document import document_from_notebook
from fabricreport.memo.document.layout import table_shape
from fabricreport.memo.write.exporters import FabricReportHTMLExporter
from fabricreport.memo.write.html import MemoWriter, render_html

OURS = words("""html head meta title style body a p header h1 h2 h3 h4 dl div dt dd nav ol ul li span main section strong em
    code br sup pre data blockquote figure figcaption details summary table caption thead tbody tr th td img footer
    script svg""")
DRAWN = words("g defs path use rect circle line polyline polygon text tspan clippath image ellipse")
ATTRIBUTES = words("""lang charset http-equiv content name class id href download aria-label aria-labelledby role tabindex value
    title rel scope colspan src alt data-label""")
IDS = re.compile(r"(?:m|d|s|n|nr|f|i)-[a-z0-9-]+|u-d-[a-z0-9-]+|memo|glance|contents|notes")


class Page(HTMLParser):
    """Elements, attributes and words of a page, with the drawings kept apart."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.drawn: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._svg = 0
        self._silent = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pair = (tag, {k: v or "" for k, v in attrs})
        self._svg += tag == "svg"
        self._silent += tag in ("script", "style")
        (self.drawn if self._svg else self.tags).append(pair)

    def handle_endtag(self, tag: str) -> None:
        self._svg -= tag == "svg"
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))

    def attribute(self, name: str) -> list[str]:
        return [a[name] for _, a in self.tags if name in a]


def check_page(page: Page) -> None:
    """No element, attribute, address or id that our templates do not write."""
    assert {t for t, _ in page.tags} <= set(OURS)
    assert {t for t, _ in page.drawn} <= {*DRAWN, "svg"}
    assert {k for _, a in page.tags for k in a} <= set(ATTRIBUTES)
    drawn_attributes = {k for _, a in page.drawn for k in a}
    assert not {k for k in drawn_attributes if k.startswith("on") or k == "style"}
    assert sum(t == "script" for t, _ in page.tags) == 1
    assert sum(t == "style" for t, _ in page.tags) == 1
    for href in page.attribute("href"):
        assert re.match(r"#|data:text/csv;charset=utf-8;base64,|https://example\.org/x\Z|mailto:", href), href
    assert all(s.startswith("data:image/png;base64,") for s in page.attribute("src"))
    assert all(a["href"].startswith(("#", "data:image/png")) for _, a in page.drawn if "href" in a)
    assert all(IDS.fullmatch(i) for i in page.attribute("id"))


@cache
def rich() -> str:
    return render_html(document_from_notebook(rich_notebook()))


def test_the_page_holds_only_what_the_templates_write() -> None:
    check_page(Page(rich()))


def test_no_network_address_is_fetched_and_the_policy_forbids_it() -> None:
    (policy,) = [
        a["content"] for t, a in Page(rich()).tags if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy
    assert "//" not in re.sub(r"sha256-\S+", "", policy)
    assert not re.search(r"<link|@import|url\(\s*['\"]?(?:https?:)?//", rich())


def test_the_policys_hashes_are_those_of_the_style_and_script() -> None:
    for tag in ("style", "script"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", rich(), re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in rich() or f"{tag}-src 'sha256-{digest}'" in rich()


def test_ids_are_unique_and_every_inner_link_has_its_target() -> None:
    page = Page(rich())
    ids = page.attribute("id") + [a["id"] for _, a in page.drawn if "id" in a]
    assert len(ids) == len(set(ids))
    assert {h[1:] for h in page.attribute("href") if h.startswith("#")} <= set(ids)


def test_numbers_are_data_elements_that_link_to_their_derivation() -> None:
    found = re.findall(r'<a class="num \w+"[^>]* href="#(d-[^"]+)"><data value="([^"]+)">([^<]+)</data>', rich())
    assert len(found) > 20
    assert all(float(value) for _, value, _ in found)


def test_headings_do_not_skip_a_level_and_there_is_one_h1() -> None:
    levels = [int(t[1]) for t, _ in Page(rich()).tags if re.fullmatch(r"h[1-6]", t)]
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_every_table_has_a_caption_or_a_name_and_scoped_headers() -> None:
    page = Page(rich())
    headers = [a for t, a in page.tags if t == "th"]
    assert headers
    assert all(a.get("scope") in ("col", "row", "rowgroup") for a in headers)
    tables = re.findall(r'<figure class="table"[^>]*>(.*?)</figure>', rich(), re.DOTALL)
    assert len(tables) == 4
    assert all(t.startswith("<figcaption>") and "<figcaption" not in t.partition('class="scroll"')[2] for t in tables)


def test_dates_and_negative_amounts_are_not_broken() -> None:
    assert str(unbroken("until 2025-11 or 2026-03-31")) == (
        'until <span class="nb">2025-11</span> or <span class="nb">2026-03-31</span>'
    )
    assert str(unbroken("−$665 <b>")) == '<span class="nb">−$665</span> &lt;b&gt;'
    assert str(unbroken("a well-known 800G-DR4")) == "a well-known 800G-DR4"


def test_charts_are_images_with_a_name_and_their_data_as_safe_csv() -> None:
    page = Page(rich())
    charts = [a for t, a in page.drawn if t == "svg"]
    assert all(a["role"] == "img" and len(a["aria-label"]) > 10 for a in charts)
    (encoded,) = [a["href"] for t, a in page.tags if t == "a" and a.get("download") == "fig-cost.csv"]
    text = base64.b64decode(encoded.partition("base64,")[2]).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text)))[1:] == [["Option 1", "1.0", "'=1+1"], ["Option 2", "1.3", "-2.4"]]


def test_a_narrow_drawing_stands_under_the_same_words() -> None:
    page = Page(str(MemoWriter().drawing('<svg id="a"></svg>', "Says <this>.", '<svg id="b"></svg>')))
    assert [a["aria-label"] for _, a in page.tags if a.get("role") == "img"] == ["Says <this>."]
    assert [a["class"] for _, a in page.drawn] == ["chart wide", "chart slim"]
    assert not any("aria-label" in a or "role" in a for _, a in page.drawn)


def test_what_is_looked_up_folds_under_a_heading_without_links_and_nothing_else_does() -> None:
    folds = re.findall(
        r'<a class="here" href="#([^"]+)"[^>]*>#</a>\n<details class="fold"><summary>(.*?)</summary>', rich()
    )
    assert [f'id="{anchor}"' in words and "<a " not in words for anchor, words in folds] == [True] * len(folds)
    assert len(folds) == rich().count('class="fold"') >= 2
    before = rich()[: rich().index('class="annexes"')]
    assert "fold" not in before[before.index("<main") :]


def test_a_stacked_table_keeps_its_roles_and_its_cells_their_heads() -> None:
    page = Page(rich())
    roles = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row"}
    stacked = re.findall(r'<table role="table".*?</table>', rich(), re.DOTALL)
    assert stacked
    for tag, a in Page("".join(stacked)).tags:
        assert a.get("role") == roles.get(tag) or tag not in roles, tag
        assert tag not in ("th", "td") or a.get("role") in ("columnheader", "rowheader", "cell"), a
    assert any(a.get("data-label") for t, a in page.tags if t == "td")


def test_landmarks_skip_link_and_language_are_there() -> None:
    page = Page(rich())
    tags = [t for t, _ in page.tags]
    assert all(t in tags for t in ("header", "nav", "main", "footer"))
    links = [a for t, a in page.tags if t == "a"]
    assert links[0] == {"class": "skip", "href": "#memo"}
    assert next(a for t, a in page.tags if t == "html") == {"lang": "en"}


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@rows("theme", [0, 1])
def test_text_colours_reach_aa_contrast_on_every_ground_in_both_themes(theme: int) -> None:
    css = rich()[rich().index("<style>") : rich().index("</style>")]
    block = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[theme]
    colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", block))
    for ground in ("paper", "tint", "target"):
        for ink in ("ink", "muted", "accent", "warning"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["focus"], colours["paper"]) >= 3
    assert contrast(colours["rule"], colours["paper"]) >= 3


def test_two_renderings_are_the_same_text() -> None:
    assert render_html(document_from_notebook(rich_notebook())) == rich()


@rows("payload", HOSTILE)
def test_hostile_text_stays_text(payload: str) -> None:
    text = render_html(document_from_notebook(hostile_notebook(payload)))
    page = Page(text)
    check_page(page)
    assert re.sub(r"\s+", " ", payload) in page.text


def test_a_draft_says_so() -> None:
    text = render_html(document_from_notebook(new_notebook(cells=[new_markdown_cell("# T")])))
    assert "Draft: not checked for a client" in Page(text).text
    assert "not checked for a client" not in Page(rich()).text


def test_stock_nbconvert_writes_the_page(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("Some text.")]), path)
    text, resources = FabricReportHTMLExporter().from_filename(str(path))
    assert text.startswith("<!doctype html>")
    assert resources["output_extension"] == ".html"
    assert "<h1>x</h1>" in text


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not on the PATH")
def test_a_browser_builds_no_element_out_of_hostile_text(tmp_path: Path) -> None:
    path = tmp_path / "memo.html"
    path.write_text(render_html(document_from_notebook(hostile_notebook(" ".join(HOSTILE)))), encoding="utf-8")
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ]
    command += [
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    tags = {t for t, _ in Page(done.stdout).tags}
    assert tags <= set(OURS)
    assert done.stdout.count("<script") == 1


def test_an_attached_image_survives_the_exporter_and_any_other_path_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    cell = new_markdown_cell("![All is grey.](attachment:a.png)\n\n![No.](secret.png)")
    cell["attachments"] = {"a.png": {"image/png": base64.b64encode(PNG).decode()}}
    path = tmp_path / "x.ipynb"
    nbformat.write(new_notebook(cells=[cell]), path)
    text, _ = FabricReportHTMLExporter().from_filename(str(path))
    images = [a for t, a in Page(text).tags if t == "img"]
    assert [a["alt"] for a in images] == ["All is grey."]
    assert "Image not attached: No." in text


def test_a_crowded_table_leaves_every_column_its_longest_word() -> None:
    def row(*cells: str) -> TableRow:
        return TableRow(tuple((Text(c),) for c in cells), "normal")

    heads = ["Run", *(f"RoCEv2 800G white-box: designed {n}" for n in range(5))]
    columns = [TableColumn((Text(h),), "%", "right" if n else "left") for n, h in enumerate(heads)]
    shape = table_shape(columns, [row("MegaScale, 175B on 12,288 A100s", *["55.1"] * 5)])
    assert shape.crowded and len(shape.stretch) == 6 and min(shape.stretch) > len("white-box:")
    assert shape.stretch[0] >= len("MegaScale,")


def test_a_crowded_column_has_room_for_a_dagger_and_for_the_digits_that_it_lines_up() -> None:
    def row(name: str, before: str, now: str, *, stale: bool = False) -> TableRow:
        return TableRow(((Text(name),), (Num("a", before, 1.0),), (Num("b", now, 1.0, stale=stale),)), "normal")

    columns = [TableColumn((Text("What"),), "", "left"), *(TableColumn((Text("x"),), "", "right") for _ in range(2))]
    shape = table_shape(columns, [row("long " * 60, "$58.6", "$58.6M", stale=True), row("short", "$3.255", "$2.825k")])
    assert shape.crowded and shape.stretch[1] >= len("$58.6") + 2 and shape.stretch[2] >= len("$58.6M†")
    assert shape.decimals[0] == (-1, 2, -1), "decimals of two units make no line"
