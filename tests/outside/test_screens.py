"""The pages as a reader sees them, in Chromium: wide and narrow, light and dark, printed, without scripts, and by axe. `make outside`.

`FABRICREPORT_MEMOS` names a folder of editions to look at, as CI does; without it the four memos are built.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pypdf
import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.outside, pytest.mark.browser]
WIDE, TABLET, PHONE, SMALL = (1280, 800), (768, 1024), (390, 844), (320, 640)
MOST_SCREENS = {WIDE: 10, PHONE: 18}
LEAST_LETTER_PX = 11.0
OPEN_ALL = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
Shown = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if given := os.environ.get("FABRICREPORT_MEMOS"):
        return Path(given)
    made = tmp_path_factory.mktemp("memos")
    params = sorted(map(str, ROOT.glob("params/*.yaml")))
    subprocess.run([sys.executable, "-m", "fabricreport", "build", *params, "--output", made], cwd=ROOT, check=True)
    return made


@pytest.fixture(scope="module")
def built(folder: Path) -> list[Path]:
    found = sorted(folder.glob("*/latest/memo.html"))
    assert found
    return found


@pytest.fixture(scope="module")
def pages(folder: Path, built: list[Path]) -> list[Path]:
    """The memos, and one of each other document."""
    beside = [built[0].with_name("acceptance-plan.html"), built[0].with_name("letters.html")]
    return [*built, *beside, folder / "_evidence" / "latest" / "report.html"]


@pytest.fixture(scope="module")
def shown(chromium: Any) -> Shown:
    """Opens a page, and holds it to no request, no error and no id twice."""

    @contextmanager
    def opened(path: Path, size: tuple[int, int] = WIDE, *, anchor: str = "", **options: Any) -> Iterator[Any]:
        view = {"width": size[0], "height": size[1]}
        context = chromium.new_context(viewport=view, reduced_motion="reduce", **options)
        page, asked, errors = context.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path.resolve().as_uri() + anchor)
        yield page
        assert asked == [path.resolve().as_uri()] and errors == []
        assert (
            page.evaluate(
                "[...document.querySelectorAll('[id]')].map((e) => e.id).filter((id, n, all) => all.indexOf(id) !== n)"
            )
            == []
        )
        context.close()

    return opened


def test_a_memo_fits_its_screens_with_the_advice_in_the_open(built: list[Path], shown: Shown) -> None:
    faults = []
    for path in built:
        for size, most in MOST_SCREENS.items():
            with shown(path, size) as page:
                screens = page.evaluate("document.documentElement.scrollHeight") / size[1]
                print(f"{path.parts[-3]} at {size[0]}: {screens:.1f} screens")
                hidden = page.locator("details").locator(".glance, div.first, div.body").count()
                folded = page.locator(".page-one details:not(.data), .body details:not(.data)").count()
                if screens > most or hidden or folded:
                    faults.append((path.parts[-3], size, screens, hidden, folded))
    assert not faults


def test_no_page_is_wider_than_its_screen_folded_or_open(pages: list[Path], shown: Shown) -> None:
    faults = []
    for path in pages:
        for size in (WIDE, TABLET, PHONE, SMALL):
            with shown(path, size) as page:
                widths = [page.evaluate("document.documentElement.scrollWidth")]
                page.evaluate(OPEN_ALL)
                widths.append(page.evaluate("document.documentElement.scrollWidth"))
                if max(widths) > size[0]:
                    faults.append((path.name, size, widths))
    assert not faults


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_folded_or_open(scheme: str, pages: list[Path], shown: Shown) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe, faults = Axe(), []
    for number, path in enumerate(pages):
        with shown(path, color_scheme=scheme, bypass_csp=True) as page:  # axe is a script that the policy would forbid
            page.evaluate(OPEN_ALL)
            page.evaluate(FEWER_ENTRIES)
            faults += [(path.parts[-3:], "open", *found) for found in violations(axe, page)]
        if number % 3 == 0:
            with shown(path, PHONE, color_scheme=scheme, bypass_csp=True) as page:
                faults += [(path.parts[-3:], "folded, on a phone", *found) for found in violations(axe, page)]
    assert not faults


FEWER_ENTRIES = """for (const list of document.querySelectorAll('.entries, .sources, tbody'))
    [...list.children].slice(8).forEach((entry) => entry.remove())"""
"""Of hundreds of rows, all alike, axe reads some: it takes minutes for all."""


def violations(axe: Any, page: Any) -> list[tuple[str, str]]:
    found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found]


def test_a_chart_has_one_alt_text_and_one_drawing_with_letters_to_read(built: list[Path], shown: Shown) -> None:
    faults, narrow = [], 0
    for path in built:
        for size in (WIDE, TABLET, PHONE):
            with shown(path, size) as page:
                page.evaluate(OPEN_ALL)
                for chart in page.locator("figure:not(.table)").all():
                    alts, seen = chart.locator("[role=img][aria-label]"), chart.locator("svg.chart:visible")
                    narrow += chart.locator("svg.slim:visible").count()
                    scale = seen.first.evaluate(
                        "(svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
                    )
                    if alts.count() != 1 or seen.count() != 1 or scale * 8 < LEAST_LETTER_PX:
                        faults.append((path.parts[-3], size, alts.count(), seen.count(), scale))
    assert not faults and narrow >= len(built)


def test_a_stacked_table_is_still_a_table_and_says_its_heads(built: list[Path], shown: Shown) -> None:
    for path in built:
        with shown(path, PHONE) as page:
            table = page.locator(".body table.cards, .page-one table.cards").first
            assert table.evaluate("(table) => getComputedStyle(table).display") == "block"
            assert table.get_by_role("columnheader").count() > 1 and table.get_by_role("row").count() > 1
            cell = table.locator("td[data-label]").first
            shown_before = "(cell) => getComputedStyle(cell, '::before').content"
            assert cell.get_attribute("data-label") in cell.evaluate(shown_before)
            assert table.get_by_role("cell").count() > 1


@pytest.mark.parametrize("scripts", [True, False])
def test_a_permalink_into_an_annex_opens_it(scripts: bool, built: list[Path], shown: Shown) -> None:
    for path in built:
        with shown(path, PHONE) as page:
            places = [".fold figure.table", ".fold li.entry", ".fold > summary h2"][: 3 if scripts else 2]
            anchors = [page.locator(place).last.get_attribute("id") for place in places]
        for anchor in anchors:
            with shown(path, PHONE, anchor=f"#{anchor}", java_script_enabled=scripts) as page:
                place = page.locator(f"#{anchor}")
                page.wait_for_timeout(100)
                assert page.locator(f"details.fold[open]:has(#{anchor})").count() == 1, anchor
                assert -1 <= place.bounding_box()["y"] < PHONE[1], anchor


def test_contents_say_where_the_reader_is_and_are_folded_on_a_phone_below_the_decision(
    built: list[Path], shown: Shown
) -> None:
    for path in built:
        with shown(path) as page:
            anchor = page.locator(".body section h2").nth(2).get_attribute("id")
            page.locator(f"nav a[href='#{anchor}']").click()
            page.locator(f"nav a[href='#{anchor}'][aria-current=location]").wait_for()
            assert page.locator("nav [aria-current]").count() == 1
        with shown(path, PHONE) as page:
            below = page.locator("nav").bounding_box()["y"] - page.locator(".glance").bounding_box()["y"]
            assert below > 0 and not page.locator("nav li").first.is_visible()
            page.locator("nav summary").click()
            assert page.locator("nav li").first.is_visible()


def test_without_scripts_all_can_be_read(pages: list[Path], shown: Shown) -> None:
    for path in pages:
        with shown(path, java_script_enabled=False) as page:
            assert page.locator("nav li").first.is_visible()
            for fold in page.locator("details.fold").all():
                last = fold.locator(":scope > :not(summary)").last
                fold.locator("summary").first.click()
                assert last.is_visible()


def test_print_has_the_bodys_pages_whatever_is_open(built: list[Path], shown: Shown) -> None:
    for path in built[-2:]:
        with shown(path) as page:
            closed = printed(page)
            page.evaluate(OPEN_ALL)
            opened = printed(page)
            annex = page.locator(".fold > summary h2").first.inner_text()
        assert closed == opened and len(closed) <= 9 and annex not in " ".join(closed)


def printed(page: Any) -> list[str]:
    """The words of each page."""
    sheets = pypdf.PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages
    return [sheet.extract_text() for sheet in sheets]
