"""A preview as an analyst lives in it, in Chromium: what is saved is seen, what is broken is told and clears. `make outside`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.outside, pytest.mark.browser]
WAIT_MS = 60_000
SCROLLED = "document.querySelector('iframe').contentWindow.scrollY"
OWN = {
    "own-1": "made = []\nmine = {'parts': [made]}",
    "own-2": "made.append(1)\ncounted = case.number('tco.mine', float(len(mine['parts'][0])), 'weeks', label='Mine', rule='counted', inputs=('param:cluster.gpus',))",
    "own-3": "%%say\nMine is {tco.mine} indeed.",
}


class Project:
    """A project of one client's own, and its preview."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.temporary = folder, folder / "tmp"
        for name in ("params", "notebooks"):
            shutil.copytree(ROOT / name, folder / name)
        self.temporary.mkdir()
        self.params = folder / "params" / "example.yaml"

    @property
    def draft(self) -> str:
        """The memo that was built before."""
        return next((self.folder / "output").glob("[!_]*/*/memo.html")).read_text(encoding="utf-8")

    def output(self) -> dict[str, bytes]:
        top = self.folder / "output"
        return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}

    def edit(self, notebook: str, change: Callable[[list[Any]], object]) -> None:
        path = self.folder / "notebooks" / f"{notebook}.ipynb"
        data = json.loads(path.read_text(encoding="utf-8"))
        change(data["cells"])
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def say(self, notebook: str, cell: str, source: str) -> None:
        """Put other words or code into a cell."""
        self.edit(notebook, lambda cells: next(c for c in cells if c["id"] == cell).update(source=source))


def code(cell: str, source: str) -> dict[str, Any]:
    return {"cell_type": "code", "id": cell, "metadata": {}, "outputs": [], "execution_count": None, "source": source}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """With a draft that was built before."""
    project = Project(tmp_path_factory.mktemp("project"))
    build = [sys.executable, "-m", "fabricreport", "build", "params/example.yaml", "--draft"]
    subprocess.run(build, cwd=project.folder, check=True, stdout=subprocess.DEVNULL)
    return project


@pytest.fixture(scope="module")
def address(project: Project, previewing: Callable[..., AbstractContextManager[str]]) -> Iterator[str]:
    before = project.output()
    with previewing(project.folder, TMPDIR=str(project.temporary)) as address:
        yield address
    assert [*project.temporary.iterdir()] == [], "what it worked in is gone"
    assert project.output() == before


@pytest.fixture(scope="module")
def eyes(address: str, chromium: Any, picture: Callable[[Any, str], None]) -> Iterator[Eyes]:
    """On the page, which asks nobody else for anything."""
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(WAIT_MS)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    yield Eyes(page, picture)
    assert [url for url in asked if not url.startswith(page.url) and url != address] == []
    page.close()


@pytest.fixture
def own(project: Project, eyes: Eyes) -> Iterator[None]:
    """Three cells at the end of tco.ipynb; they are gone afterwards, and so is what was wrong with them."""
    project.edit("tco", lambda cells: cells.extend(code(cell, source) for cell, source in OWN.items()))
    eyes.sees("indeed")
    yield
    project.edit("tco", lambda cells: cells.__delitem__(slice(-len(OWN), None)))
    eyes.lacks("Mine is")
    assert eyes.faults() == eyes.told("stops", "") == ""


class Eyes:
    """What is seen of a page, and pictures of it."""

    def __init__(self, page: Any, picture: Callable[[Any, str], None]) -> None:
        self.page, self._picture, self._count = page, picture, 0

    @property
    def memo(self) -> Any:
        return self.page.frame_locator("iframe:not(.next)")

    @property
    def html(self) -> str:
        """The memo as it was sent."""
        return str(self.page.evaluate("fetch('/memo').then((answer) => answer.text())"))

    def lacks(self, words: str) -> None:
        """Wait until the memo has not these words."""
        from playwright.sync_api import expect

        expect(self.memo.get_by_text(words)).to_have_count(0, timeout=WAIT_MS)

    def sees(self, words: str) -> None:
        """Wait until the memo has these words and nothing is being done."""
        self.memo.get_by_text(words).first.wait_for(state="attached")
        self.told("doing", "")

    def told(self, place: str, words: str) -> str:
        """Wait until these words, or none at all, are told above the memo."""
        from playwright.sync_api import expect

        where = self.page.locator(f"#{place}")
        expected = expect(where)
        expected.to_contain_text(words, timeout=WAIT_MS) if words else expected.to_have_text("", timeout=WAIT_MS)
        return str(where.inner_text())

    def faults(self, words: str = "") -> str:
        """Wait until these words are told as a fault, or none is."""
        return self.told("faults", words)

    def picture(self, name: str) -> None:
        self._count += 1
        self._picture(self.page, f"preview-{self._count}-{name}")


def test_it_opens_with_what_the_next_draft_has_for_the_browser_with_the_token_alone(
    project: Project, eyes: Eyes
) -> None:
    eyes.sees("Draft: not checked for a client")
    assert "token" not in eyes.page.url
    (cookie,) = eyes.page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert eyes.html == project.draft
    eyes.picture("first")


@pytest.mark.usefixtures("own")
def test_a_saved_sentence_is_seen_where_the_reader_is(project: Project, eyes: Eyes) -> None:
    eyes.memo.locator("details.fold", has_text="indeed").locator("summary").first.click()
    eyes.memo.get_by_text("indeed").scroll_into_view_if_needed()
    place = eyes.page.evaluate(SCROLLED)
    project.say("tco", "own-3", "%%say\nMine is {tco.mine} truly.")
    eyes.sees("Mine is 1")
    eyes.sees("truly")
    assert eyes.page.evaluate(SCROLLED) == place > 0
    assert eyes.memo.get_by_text("truly").is_visible()
    eyes.told("new", "Ran tco.ipynb; figures of others are as last run")
    eyes.told("stops", "")  # what refers to the cells before it leads there
    eyes.picture("sentence")


@pytest.mark.usefixtures("own")
def test_a_notebook_that_runs_again_begins_with_nothing_of_the_run_before(project: Project, eyes: Eyes) -> None:
    """A list has what it had, and a number is made once."""
    project.say("tco", "own-3", "%%say\nMine is {tco.mine} again.")
    eyes.sees("again.")
    assert eyes.faults() == eyes.told("stops", "") == ""
    eyes.sees("Mine is 1")


@pytest.mark.usefixtures("own")
def test_a_cell_that_fails_is_told_as_text_with_its_line_over_the_last_good_memo(project: Project, eyes: Eyes) -> None:
    project.say("tco", "own-2", OWN["own-2"] + "\nraise ValueError('<img src=x onerror=\"document.title=1\">')")
    told = eyes.faults("ValueError")
    assert "tco.ipynb, cell 12, line 3: ValueError: <img src=x" in told
    assert eyes.page.locator("img").count() == 0 and eyes.page.title() == "Preview"
    eyes.sees("indeed")
    eyes.picture("broken")
    project.say("tco", "own-2", "x = (")
    assert eyes.faults("SyntaxError").startswith("tco.ipynb, cell 12, line 1: ")
    project.say("tco", "own-2", OWN["own-2"])
    assert eyes.faults() == ""
    eyes.picture("mended")


@pytest.mark.usefixtures("own")
def test_what_stops_a_client_copy_is_told_with_its_line_and_so_is_an_unknown_figure(
    project: Project, eyes: Eyes
) -> None:
    project.say("tco", "own-3", "%%say\nMine is {tco.mine} and\nalmost 15 truly.")
    assert "tco.ipynb, cell 13, line 3: bare number '15'" in eyes.told("stops", "15")
    project.say("tco", "own-3", "%%say\nMine is {tco.mine} and\n{tco.totl} truly.")
    assert "tco.ipynb, cell 13, line 3" in eyes.faults("tco.totl")
    eyes.picture("gate")


def test_half_of_a_notebook_is_told_and_cell_by_cell_comes_to_what_runs_whole(project: Project, eyes: Eyes) -> None:
    """As an editor may leave it."""
    path = project.folder / "notebooks" / "tco.ipynb"
    path.write_text(path.read_text(encoding="utf-8")[:500], encoding="utf-8")
    assert "tco.ipynb" in eyes.faults("is not a notebook")
    shutil.copyfile(ROOT / "notebooks" / "tco.ipynb", path)
    assert eyes.faults() == ""
    assert eyes.html == project.draft


def test_wrong_params_are_told_with_their_line_and_right_ones_are_another_case(project: Project, eyes: Eyes) -> None:
    text = project.params.read_text(encoding="utf-8")
    line = text[: text.index("name:")].count("\n") + 1
    project.params.write_text(text.replace("name:", "nmae:", 1), encoding="utf-8")
    assert f"example.yaml:{line}" in eyes.faults("nmae")
    eyes.picture("params")
    project.params.write_text(text.replace("name: Northmere AI", "name: Quillfeather Labs", 1), encoding="utf-8")
    eyes.sees("Quillfeather Labs")
    assert eyes.faults() == ""
    eyes.picture("another-case")


def test_an_own_cell_whose_original_has_changed_is_told(project: Project, eyes: Eyes) -> None:
    path = project.params.parent / "northmere-ai" / "notebooks" / "tco.ipynb"
    path.parent.mkdir(parents=True)
    mine = code("tco-edge-ahead", "%%say\nBittern words.") | {"metadata": {"fabricreport": {"over": "0" * 64}}}
    data = {"cells": [code("head", "%overlays tco.ipynb"), mine], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(data), encoding="utf-8")
    assert "tco.ipynb, cell tco-edge-ahead: its original is not the one" in eyes.told("notes", "original")
    eyes.sees("Bittern words.")
    path.unlink()
    eyes.lacks("Bittern")
    assert eyes.told("notes", "") == eyes.faults() == ""
