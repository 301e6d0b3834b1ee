"""What only Linux has is taken away, in a process of its own; nothing here was tried on another system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TAKEN_AWAY = """
import importlib, os, pkgutil, signal, socket, sys, types
from pathlib import Path
import asyncio, multiprocessing, shutil, subprocess, tempfile  # what is not ours may know the system
import numpy, pandas, zmq, IPython, papermill, nbconvert
for name in ("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC", "geteuid", "getuid", "uname", "pread", "pwrite", "fork",
             "killpg", "sched_getaffinity", "waitid"):
    delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGQUIT", "pthread_sigmask"):
    delattr(signal, name)
del socket.AF_UNIX
os.supports_dir_fd = set()
sys.modules["fcntl"] = sys.modules["resource"] = None
held = set()
def locking(descriptor, mode, count):
    facts = os.fstat(descriptor)
    if facts.st_ino in held:
        raise PermissionError(13, "held")
    held.add(facts.st_ino)
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=locking)
"""
IMPORTED = """
import fabricreport
for found in pkgutil.walk_packages(fabricreport.__path__, "fabricreport."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""
PUBLISHED = """
from fabricreport.memo.editions.editions import latest_edition, publish
from fabricreport.memo.editions.locks import scratch_folder, sweep
from fabricreport.memo.editions.manifest import MANIFEST, list_outputs, sealed
from fabricreport.base.files import read_beneath
from fabricreport.memo.run.recall import cache_place

root = Path(sys.argv[1])
for edition in ("2026-11-20-00000001", "2026-11-21-00000002"):
    with scratch_folder(root) as scratch:
        assert not sweep(root), "a folder in use is left"
        folder = scratch / edition
        folder.mkdir()
        (folder / "memo.html").write_bytes(b"a memo\\r\\n")
        manifest = {"edition": edition, "as_of": edition[:10], "status": "Client copy", "outputs": list_outputs(folder)}
        (folder / MANIFEST).write_bytes(sealed(manifest))
        publish(scratch, root, "acme", edition)
        held.clear()  # a lock ends with who holds it
    assert latest_edition(root, "acme").edition == edition
    assert not latest_edition(root, "acme").verified().damaged
assert read_beneath(root, "acme/2026-11-20-00000001/memo.html") == b"a memo\\r\\n"
os.symlink(root / "acme", root / "led")
for name in ("led/2026-11-20-00000001/memo.html", "led"):
    try:
        read_beneath(root, name)
    except OSError as error:
        assert error.errno == 40 or os.strerror(error.errno) == os.strerror(40), error
    else:
        raise AssertionError(f"{name} was followed")
assert cache_place(root).folder is not None
print("done")
"""


@pytest.mark.slow
def test_without_what_only_linux_has_all_is_imported_and_editions_are_published_and_links_refused(
    tmp_path: Path,
) -> None:
    words = [sys.executable, "-c", TAKEN_AWAY + IMPORTED + PUBLISHED, str(tmp_path / "output")]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (run.stdout, run.returncode) == ("done\n", 0), run.stderr
