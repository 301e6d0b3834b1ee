"""What tests in a browser share: Chromium, a preview as a process, and pictures of each step, in the folder that
`FABRICREPORT_PICTURES` names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

Previewing = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser without a window; of each module its own, for while it is open no other loop runs in this process."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium")
    assert found, "chromium is not on the PATH: apt-get install chromium"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def previewing() -> Previewing:
    """Previews the example in a project's folder, gives the address, and holds the process to end well at a signal."""

    @contextmanager
    def begun(project: Path, **environ: str) -> Iterator[str]:
        words = [sys.executable, "-m", "fabricreport", "preview", "params/example.yaml", "--no-browser"]
        own = {**os.environ, "PYTHONUNBUFFERED": "1", **environ}
        running = subprocess.Popen(words, cwd=project, env=own, stdout=subprocess.PIPE, text=True)
        try:
            assert running.stdout is not None
            yield running.stdout.readline().strip()
            running.terminate()
            assert running.wait(30) == 0
        finally:
            running.kill()
            running.communicate()

    return begun


@pytest.fixture(scope="session")
def picture() -> Callable[[Any, str], None]:
    """Keeps how a page looks, where a folder is named for it."""

    def kept(page: Any, step: str) -> None:
        if folder := os.environ.get("FABRICREPORT_PICTURES"):
            page.screenshot(path=Path(folder) / f"{step}.png")

    return kept
