"""A preview as an analyst lives in it, in Chromium: what is saved is seen, what is broken is told and clears. `make outside`.

`FABRICREPORT_PICTURES` names a folder for a picture of each step.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.outside, pytest.mark.browser]
WAIT_MS = 60_000
MEMO = "fetch('/memo').then((answer) => answer.text())"
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

    def run(self, *words: str) -> subprocess.Popen[str]:
        environ = {**os.environ, "TMPDIR": str(self.temporary), "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "fabricreport", *words]
        return subprocess.Popen(command, cwd=self.folder, env=environ, stdout=subprocess.PIPE, text=True)

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
    built = project.run("build", "params/example.yaml", "--draft")
    built.communicate()
    assert built.returncode == 0
    return project


@pytest.fixture(scope="module")
def address(project: Project) -> Iterator[str]:
    before, running = project.output(), project.run("preview", "params/example.yaml", "--no-browser")
    try:
        assert running.stdout is not None
        yield running.stdout.readline().strip()
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    finally:
        running.kill()
        running.communicate()
    assert [*project.temporary.iterdir()] == [], "what it worked in is gone"
    assert project.output() == before


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    assert chromium, "chromium is not on the PATH: apt-get install chromium"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(WAIT_MS)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        yield page
        assert [url for url in asked if not url.startswith(page.url) and url != address] == []
        browser.close()


class Eyes:
    """What is seen of a page, and pictures of it."""

    def __init__(self, page: Any) -> None:
        self.page, self._count = page, 0

    @property
    def memo(self) -> Any:
        return self.page.frame_locator("iframe:not(.next)")

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
        if folder := os.environ.get("FABRICREPORT_PICTURES"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"preview-{self._count}-{name}.png")


def test_a_preview_shows_what_is_saved_and_what_is_broken(project: Project, page: Any) -> None:
    eyes = Eyes(page)
    eyes.sees("Draft: not checked for a client")
    assert "token" not in page.url
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    draft = next((project.folder / "output").glob("[!_]*/*/memo.html"))
    assert page.evaluate(MEMO) == draft.read_text(encoding="utf-8")
    eyes.picture("first")

    # A sentence, read where the reader is.
    project.edit("tco", lambda cells: cells.extend(code(cell, source) for cell, source in OWN.items()))
    eyes.sees("indeed")
    eyes.memo.locator("details.fold", has_text="indeed").locator("summary").first.click()
    eyes.memo.get_by_text("indeed").scroll_into_view_if_needed()
    place = page.evaluate("document.querySelector('iframe').contentWindow.scrollY")
    project.say("tco", "own-3", "%%say\nMine is {tco.mine} truly.")
    eyes.sees("Mine is 1")
    eyes.sees("truly")
    assert page.evaluate("document.querySelector('iframe').contentWindow.scrollY") == place > 0
    assert eyes.memo.get_by_text("truly").is_visible()
    eyes.told("new", "Ran tco.ipynb from cell 13 on; figures of others are as last run")
    eyes.told("stops", "")  # what refers to the cells before it leads there
    eyes.picture("sentence")

    # Cells before the one that is new are as they were: a list has what it had, a number is made once.
    project.say("tco", "own-2", OWN["own-2"] + "\nagain = True")
    eyes.told("new", "from cell 12 on")
    assert eyes.faults() == eyes.told("stops", "") == ""
    eyes.sees("Mine is 1")

    # A cell that fails is told with notebook, cell and line, as text; the last good memo stays.
    project.say("tco", "own-2", OWN["own-2"] + "\nraise ValueError('<img src=x onerror=\"document.title=1\">')")
    told = eyes.faults("ValueError")
    assert "tco.ipynb, cell 12, line 3: ValueError: <img src=x" in told
    assert page.locator("img").count() == 0 and page.title() == "Preview"
    eyes.sees("truly")
    eyes.picture("broken")
    project.say("tco", "own-2", OWN["own-2"])
    assert eyes.faults() == ""
    eyes.picture("mended")

    # What stops a client copy is told too, and a figure that nobody declares.
    project.say("tco", "own-3", "%%say\nMine is {tco.mine} and\nalmost 15 truly.")
    assert "tco.ipynb, cell 13, line 3: bare number '15'" in eyes.told("stops", "15")
    project.say("tco", "own-3", "%%say\nMine is {tco.mine} and\n{tco.totl} truly.")
    assert "tco.ipynb, cell 13, line 3" in eyes.faults("tco.totl")
    eyes.picture("gate")

    # Half of a notebook, as an editor may leave it.
    path = project.folder / "notebooks" / "tco.ipynb"
    path.write_text(path.read_text(encoding="utf-8")[:500], encoding="utf-8")
    assert "tco.ipynb" in eyes.faults("is not a notebook")
    shutil.copyfile(ROOT / "notebooks" / "tco.ipynb", path)
    assert eyes.faults() == ""
    assert page.evaluate(MEMO) == draft.read_text(encoding="utf-8"), "what ran cell by cell is what runs whole"

    # Params: what is wrong is told with its line, what is right is another case in all sections.
    text = project.params.read_text(encoding="utf-8")
    line = text[: text.index("name:")].count("\n") + 1
    project.params.write_text(text.replace("name:", "nmae:", 1), encoding="utf-8")
    assert f"example.yaml:{line}" in eyes.faults("nmae")
    eyes.picture("params")
    project.params.write_text(text.replace("name: Northmere AI", "name: Quillfeather Labs", 1), encoding="utf-8")
    eyes.sees("Quillfeather Labs")
    assert eyes.faults() == ""
    eyes.picture("another-case")
