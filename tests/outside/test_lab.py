"""An analyst's day in JupyterLab, driven in Chromium: open, run all, edit, save; the preview shows it, the next memo carries it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.outside, pytest.mark.browser]
TOKEN = "analyst"
WAIT_MS = 90_000
UNFOLD = (
    "(e) => { for (let x = e; x; x = x.parentElement) if (x.tagName === 'DETAILS') x.open = true; e.scrollIntoView() }"
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of its own, notebooks to edit and the example's params."""
    folder = tmp_path_factory.mktemp("lab") / "project"
    told(["new", "--project", folder], folder.parent)
    return folder


def told(words: list[str | Path], cwd: Path) -> str:
    """What a command says, once it has ended well."""
    command = [sys.executable, "-m", "fabricreport", *map(str, words)]
    run = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def lab(project: Path) -> Iterator[str]:
    """JupyterLab on the project; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root"]
    words += [f"--IdentityProvider.token={TOKEN}", "--LabApp.news_url=None", "--ServerApp.port_retries=0"]
    with (project.parent / "lab.log").open("w") as log:
        server = subprocess.Popen(words, cwd=project, stdout=log, stderr=subprocess.STDOUT, env=_environment(project))
        try:
            until(lambda: _answers(port), "JupyterLab answers")
            yield f"http://127.0.0.1:{port}/lab"
        finally:
            server.terminate()
            server.wait(20)


def _environment(project: Path) -> dict[str, str]:
    own = {
        name: str(project.parent / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    }
    return {**os.environ, **own}


def _answers(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def until(holds: Callable[[], bool], what: str, within_s: float = 90) -> None:
    """Wait for something to hold."""
    last = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < last, what
        time.sleep(0.1)


@pytest.fixture(scope="module")
def page(chromium: Any, picture: Callable[[Any, str], None]) -> Iterator[Any]:
    """A page of a browser."""
    shown = chromium.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    shown.set_default_timeout(WAIT_MS)
    yield shown
    picture(shown, "lab-end")
    shown.context.close()


def run_all(page: Any) -> None:
    """Choose it from the menu and wait for the kernel to be done."""
    idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    idle.wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.locator(".jp-Notebook .jp-InputPrompt", has_text="[1]:").first.wait_for()
    page.wait_for_function(
        "![...document.querySelectorAll('.jp-InputPrompt')].some((e) => e.textContent.includes('*'))"
    )
    idle.wait_for()


def add(page: Any, cell: str, words: str) -> None:
    """Write at the end of the first cell that holds some words, and run it."""
    editor = page.locator(".jp-Notebook .jp-CodeCell .cm-content", has_text=cell).first
    editor.scroll_into_view_if_needed()
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type(words)
    page.keyboard.press("Shift+Enter")


@pytest.fixture(scope="module")
def preview(project: Path, previewing: Callable[..., AbstractContextManager[str]]) -> Iterator[str]:
    """The address of the memo as it is being written."""
    with previewing(project) as address:
        yield address


@pytest.mark.parametrize(
    ("folder", "cell", "between"),
    [("notebooks", "%%say", "\n\n"), ("params/northmere-ai/notebooks", "This paragraph is ours alone", " ")],
)
def test_a_paragraph_written_in_the_lab_is_seen_at_once_in_the_preview_and_in_the_next_memo(
    project: Path,
    lab: str,
    preview: str,
    page: Any,
    picture: Callable[[Any, str], None],
    folder: str,
    cell: str,
    between: str,
) -> None:
    """In the project's own notebook, and in the one that lies over it for one client."""
    notebook, whose = project / folder / "tco.ipynb", folder.split("/")[0]
    words = f"Weighed by hand on a Monday, {whose} first."
    if not notebook.exists():
        told(["new", "--section", "tco", "--params", "params/example.yaml"], project)
    seen = page.context.new_page()
    seen.set_default_timeout(WAIT_MS)
    seen.goto(preview)
    page.goto(f"{lab}/workspaces/{whose}/tree/{folder}/tco.ipynb?token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.get_by_text("| Idle").wait_for()
    picture(page, f"lab-{whose}-1-opened")
    run_all(page)
    assert not page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']").count()
    picture(page, f"lab-{whose}-2-run")
    add(page, cell, between + words)
    page.wait_for_selector(f".jp-OutputArea-output:has-text('{words}')")
    picture(page, f"lab-{whose}-3-edited")
    page.keyboard.press("Control+s")
    until(lambda: words in notebook.read_text("utf-8"), "the notebook is saved")
    shown = seen.frame_locator("iframe:not(.next)").get_by_text(words).first
    shown.wait_for(state="attached")
    shown.evaluate(UNFOLD)
    picture(seen, f"lab-{whose}-4-preview")
    seen.close()
    told(["build", "params/example.yaml"], project)
    memo = project / "output" / "northmere-ai" / "latest" / "memo.html"
    assert words in memo.read_text("utf-8")
    page.goto(memo.as_uri())
    page.get_by_text(words).first.evaluate(UNFOLD)
    picture(page, f"lab-{whose}-5-memo")
