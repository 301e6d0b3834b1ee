"""Editions are whole or not there, whatever fails and whenever; a failed build names the user's own files."""

import contextlib
import datetime as dt
import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
import pytest
from rows import rows

from fabricreport.base.errors import FabricReportError, InputError
from fabricreport.base.files import open_file
from fabricreport.check.check import Checked
from fabricreport.memo.editions import locks
from fabricreport.memo.editions.editions import (
    Files,
    edition_before,
    latest_edition,
    list_editions,
    publish,
    sequence_of,
    verify,
)
from fabricreport.memo.editions.locks import client_lock, scratch_folder, sweep
from fabricreport.memo.editions.manifest import (
    MANIFEST,
    RUN,
    RunRecord,
    SectionRun,
    list_outputs,
    read_output,
    read_sealed,
    sealed,
)
from fabricreport.memo.editions.remains import keep_failed
from fabricreport.memo.run.plan import Places, load_checked, make_plan
from fabricreport.memo.run.snapshot import Fingerprint
from fabricreport.scenario import SECTION_NAMES, new_params

FIRST, SECOND = "2026-11-20-aaaaaaaa", "2026-11-21-bbbbbbbb"


def fill(scratch: Path, edition: str, text: str = "memo", status: str = "Client copy") -> None:
    folder = scratch / edition
    (folder / "data").mkdir(parents=True)
    (folder / "memo.html").write_text(f"<p>{text} of {edition}</p>", encoding="utf-8")
    (folder / "data" / "fig-a.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    manifest = {"edition": edition, "as_of": edition[:10], "status": status, "outputs": list_outputs(folder)}
    (folder / MANIFEST).write_bytes(sealed(manifest))


def put(output: Path, edition: str, *, files: Files | None = None, text: str = "memo", **options: Any) -> Any:
    with scratch_folder(output) as scratch:
        fill(scratch, edition, text)
        return publish(scratch, output, "acme", edition, run={"sections": []}, files=files, **options)


def state(output: Path) -> tuple[set[str], str, list[str]]:
    """Editions that are there, where `latest` points, and every fault of any edition."""
    client = output / "acme"
    there = {p.name for p in client.iterdir() if p.is_dir() and not p.name.startswith(".") and not p.is_symlink()}
    link = str((client / "latest").readlink()) if (client / "latest").is_symlink() else ""
    return there, link, [fault for name in sorted(there) for fault in verify(client / name)]


class Failing(Files):
    """Counts the operations and makes one of them (or all from it on) fail."""

    def __init__(self, at: int, code: int, forever: bool) -> None:
        self.at, self.code, self.forever, self.count = at, code, forever, 0

    def _step(self) -> None:
        self.count += 1
        if self.count == self.at or (self.forever and self.count > self.at):
            raise OSError(self.code, os.strerror(self.code))


class Killing(Failing):
    """Kills its own process instead, before or after the operation."""

    def _step(self) -> None:
        self.count += 1
        if self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


def _counted(name: str, late: bool) -> Any:
    def operation(self: Any, *args: Any) -> None:
        if not late:
            self._step()
        getattr(Files, name)(self, *args)
        if late:
            self._step()

    return operation


OPERATIONS = ("write", "fsync", "make_folder", "rename", "fsync_open", "link", "swap")
for _name in OPERATIONS:
    setattr(Failing, _name, _counted(_name, late=False))


class KillingAfter(Killing):
    pass


for _name in OPERATIONS:
    setattr(KillingAfter, _name, _counted(_name, late=True))


def test_an_edition_is_published_and_found_again(tmp_path: Path) -> None:
    done = put(tmp_path, FIRST)
    assert (done.reused, done.messages) == (False, ()) and sequence_of(done.folder) == 1
    assert state(tmp_path) == ({FIRST}, FIRST, [])
    assert json.loads((done.folder / RUN).read_text())["sequence"] == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == [".sweeping", "acme"]


def test_editions_are_ordered_by_sequence_not_by_date(tmp_path: Path) -> None:
    put(tmp_path, SECOND)
    put(tmp_path, FIRST)
    infos = list_editions(tmp_path)
    assert [(i.edition, i.sequence, i.latest) for i in infos] == [(SECOND, 1, False), (FIRST, 2, True)]
    latest = latest_edition(tmp_path, "acme")
    assert latest is not None and latest.edition == FIRST
    (tmp_path / "acme" / "latest").unlink()
    latest = latest_edition(tmp_path, "acme")
    assert latest is not None and latest.edition == FIRST


def test_the_same_edition_again_changes_nothing_but_latest(tmp_path: Path) -> None:
    put(tmp_path, FIRST)
    put(tmp_path, SECOND)
    before = {p: p.read_bytes() for p in (tmp_path / "acme" / FIRST).rglob("*") if p.is_file()}
    again = put(tmp_path, FIRST)
    assert again.reused and sequence_of(again.folder) == 1 and again.messages == ()
    assert {p: p.read_bytes() for p in before} == before
    assert state(tmp_path) == ({FIRST, SECOND}, FIRST, [])


def test_a_memo_comes_after_the_newest_edition_and_the_same_inputs_always_after_the_same(tmp_path: Path) -> None:
    def made(prices: str, since: str = "") -> Fingerprint:
        return Fingerprint("p", {"prices/a.csv": prices}, {}, "", "", {}, "3", 1, since=since)

    def published(edition: str, found: Fingerprint) -> None:
        place = put(tmp_path, edition).folder
        (place / MANIFEST).write_bytes(sealed({**read_sealed(place / MANIFEST), "fingerprint": asdict(found)}))

    assert edition_before(tmp_path, "acme", made("a")) == ""
    published(FIRST, made("a"))
    assert edition_before(tmp_path, "acme", made("b")) == FIRST and edition_before(tmp_path, "acme", made("a")) == ""
    published(SECOND, made("b", FIRST))
    assert edition_before(tmp_path, "acme", made("b")) == FIRST, "built again, it is the standing edition"
    assert edition_before(tmp_path, "acme", made("a")) == "", "so is the first"
    assert edition_before(tmp_path, "acme", made("c")) == SECOND
    (tmp_path / "acme" / SECOND / MANIFEST).write_text("{", encoding="utf-8")
    assert edition_before(tmp_path, "acme", made("a")) == ""


def test_other_bytes_under_the_same_name_are_an_error_and_not_taken(tmp_path: Path) -> None:
    put(tmp_path, FIRST)
    with pytest.raises(InputError, match="gave other bytes"):
        put(tmp_path, FIRST, text="other memo")
    assert "other" not in (tmp_path / "acme" / FIRST / "memo.html").read_text()


def test_a_changed_edition_is_not_overwritten(tmp_path: Path) -> None:
    put(tmp_path, FIRST)
    (tmp_path / "acme" / FIRST / "memo.html").write_text("forged", encoding="utf-8")
    with pytest.raises(InputError, match=r"memo\.html: was changed"):
        put(tmp_path, FIRST)
    assert (tmp_path / "acme" / FIRST / "memo.html").read_text() == "forged"


def test_drafts_and_partial_memos_leave_latest_alone(tmp_path: Path) -> None:
    put(tmp_path, FIRST)
    put(tmp_path, SECOND, draft=True)
    partial = put(tmp_path, "2026-11-20-cccccccc-tco", aside="partial")
    assert partial.folder == tmp_path / "acme" / "partial" / "2026-11-20-cccccccc-tco"
    assert verify(partial.folder) == []
    assert (tmp_path / "acme" / "latest").readlink() == Path(FIRST)
    assert [i.edition for i in list_editions(tmp_path)] == [FIRST, SECOND]


@rows("damage", ["change", "flip", "add", "remove", "link", "folder", "swap", "reformat"])
def test_verify_finds_damage(tmp_path: Path, damage: str) -> None:
    put(tmp_path, FIRST)
    put(tmp_path, SECOND)
    edition = tmp_path / "acme" / FIRST
    memo = edition / "memo.html"
    if damage == "change":
        memo.write_text("changed", encoding="utf-8")
    elif damage == "flip":
        data = bytearray(memo.read_bytes())
        data[3] ^= 1
        memo.write_bytes(bytes(data))
    elif damage == "add":
        (edition / "data" / "more.csv").write_text("x", encoding="utf-8")
    elif damage == "remove":
        memo.unlink()
    elif damage == "link":
        memo.rename(tmp_path / "memo.html")
        memo.symlink_to(tmp_path / "memo.html")
    elif damage == "folder":
        (edition / "empty").mkdir()
    elif damage == "swap":
        (edition / RUN).write_bytes((tmp_path / "acme" / SECOND / RUN).read_bytes())
    else:
        (edition / MANIFEST).write_text(json.dumps(read_sealed(edition / MANIFEST)), encoding="utf-8")
    assert len(verify(edition)) == 1
    assert verify(tmp_path / "acme" / SECOND) == []


@rows("damage", ["cut", "gone", "added"])
def test_a_listed_edition_says_what_was_changed_in_it(tmp_path: Path, damage: str) -> None:
    edition = put(tmp_path, FIRST).folder
    put(tmp_path, SECOND)
    memo = edition / "memo.html"
    if damage == "cut":
        memo.write_bytes(memo.read_bytes()[:-4])
    elif damage == "gone":
        memo.unlink()
    else:
        (edition / "more.html").write_text("x", encoding="utf-8")
    first, second = (info.verified() for info in list_editions(tmp_path))
    assert first.damaged and first.sequence == 1 and len(first.faults) == 1
    assert not second.damaged and second.faults == ()


@rows("damage", ["cut", "turned", "gone", "added"])
def test_one_file_of_an_edition_is_read_as_published_or_not_at_all(tmp_path: Path, damage: str) -> None:
    edition = put(tmp_path, FIRST).folder
    memo = edition / "memo.html"
    whole = memo.read_bytes()
    assert read_output(edition, "memo.html") == whole
    if damage == "cut":
        memo.write_bytes(whole[:-4])
    elif damage == "turned":
        memo.write_bytes(whole[::-1])
    elif damage == "gone":
        memo.unlink()
    else:
        memo = edition / "more.html"
        memo.write_text("x", encoding="utf-8")
    with pytest.raises(ValueError, match=memo.name):
        read_output(edition, memo.name)


def test_verify_finds_every_flipped_bit_of_the_records(tmp_path: Path) -> None:
    edition = put(tmp_path, FIRST).folder
    for name in (MANIFEST, RUN):
        whole = (edition / name).read_bytes()
        for at in range(len(whole)):
            bad = bytearray(whole)
            bad[at] ^= 1 << (at % 8)
            (edition / name).write_bytes(bytes(bad))
            assert verify(edition) != [], (name, at)
        (edition / name).write_bytes(whole)
    assert verify(edition) == []


@pytest.mark.slow
@rows("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@rows("forever", [False, True])
def test_each_failing_operation_leaves_the_old_or_the_new_edition(tmp_path: Path, code: int, forever: bool) -> None:
    put(tmp_path, FIRST)
    failures = 0
    for at in range(1, 100):
        files = Failing(at, code, forever)
        try:
            put(tmp_path, SECOND, files=files)
        except InputError as error:
            failures += 1
            assert os.strerror(code) in str(error) and "untouched" in str(error)
        else:
            break
        there, latest, faults = state(tmp_path)
        assert (latest in there, FIRST in there, faults) == (True, True, [])
        assert not list(tmp_path.glob(".scratch-*")) and not list((tmp_path / "acme").glob(".latest-*"))
        put_back(tmp_path)
    assert failures >= 10
    assert state(tmp_path) == ({FIRST, SECOND}, SECOND, [])


def put_back(output: Path) -> None:
    """Make a published second edition go away again, so that every point of failure meets the same start."""
    import shutil

    if (output / "acme" / SECOND).exists():
        shutil.rmtree(output / "acme" / SECOND)
    put(output, FIRST)


@pytest.mark.slow
@rows("kind", [Killing, KillingAfter])
def test_a_kill_at_each_operation_leaves_the_old_or_the_new_edition(tmp_path: Path, kind: type[Failing]) -> None:
    put(tmp_path, FIRST)
    kills = 0
    for at in range(1, 100):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                put(tmp_path, SECOND, files=kind(at, 0, False))
                os._exit(0)
            os._exit(1)
        status = os.waitpid(pid, 0)[1]
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            break
        kills += 1
        there, latest, faults = state(tmp_path)
        assert (latest in there, FIRST in there, faults) == (True, True, [])
        again = put(tmp_path, SECOND)
        assert state(tmp_path) == ({FIRST, SECOND}, SECOND, [])
        assert not list(tmp_path.glob(".scratch-*")) and not list((tmp_path / "acme").glob(".latest-*"))
        assert again.messages == () or "taken over" in again.messages[0]
        put_back(tmp_path)
    assert kills >= 10


@pytest.mark.slow
def test_kills_at_random_instants_leave_no_torn_edition(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; sys.path[:0] = sys.argv[2:]; import test_editions as t\n"
        "out = Path(sys.argv[1]); print('ready', flush=True)\n"
        "for n in range(100000): t.put(out, f'2026-11-20-{n % 50:08x}')"
    )
    dice = random.Random(20261120)
    for _ in range(5):
        argv = [sys.executable, "-c", code, str(tmp_path), *map(str, Path(__file__).parents[:2])]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            time.sleep(dice.uniform(0.01, 0.1))
            process.kill()
        if not (tmp_path / "acme").is_dir():
            continue
        there, latest, faults = state(tmp_path)
        assert faults == [] and (latest == "" or latest in there)
    put(tmp_path, SECOND)
    sequences = [info.sequence for info in list_editions(tmp_path)]
    assert sequences == list(range(1, len(sequences) + 1)) and not list(tmp_path.glob(".scratch-*"))


def test_a_lock_held_by_a_living_build_is_respected_and_named(tmp_path: Path) -> None:
    put(tmp_path, FIRST)
    folder = os.open(tmp_path / "acme", os.O_RDONLY)
    with client_lock(folder, tmp_path), pytest.raises(InputError, match=f"process {os.getpid()} on"):
        put(tmp_path, SECOND, wait_s=0.1)
    os.close(folder)
    assert state(tmp_path) == ({FIRST}, FIRST, [])


def test_a_lock_left_by_a_killed_build_is_taken_over_with_a_message(tmp_path: Path) -> None:
    put(tmp_path, FIRST)
    (tmp_path / "acme" / ".lock").write_text(json.dumps({"pid": 4242, "host": "elsewhere"}), encoding="utf-8")
    done = put(tmp_path, SECOND)
    assert done.messages == ("process 4242 on elsewhere ended while it was publishing here; its lock was taken over",)
    assert put(tmp_path, FIRST).messages == ()


def test_scratch_folders_of_the_dead_are_swept_and_those_of_the_living_stay(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as mine:
        orphans = [tmp_path / f".scratch-{pid}-00000000" for pid in (999999999, os.getpid())]
        for orphan in orphans:  # a number of a process says nothing: it may be another host's
            orphan.mkdir()
        owned = tmp_path / f".scratch-{os.getpid()}-11111111"
        owned.mkdir()
        (owned / ".owner").write_text("{}", encoding="utf-8")
        assert sorted(sweep(tmp_path)) == sorted(path.name for path in (*orphans, owned))
        assert mine.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == [".sweeping"]


def test_a_scratch_folder_is_not_swept_before_its_owner_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other() -> None:
        with scratch_folder(tmp_path):
            pass

    def slow(name: Any, *arguments: Any, **more: Any) -> int:
        if str(name).endswith(".owner") and threading.current_thread() is not beside and not beside.ident:
            beside.start()
            beside.join(0.3)  # it waits for us, however long
        return open_file(name, *arguments, **more)

    beside = threading.Thread(target=other)
    monkeypatch.setattr(locks, "open_file", slow)
    with scratch_folder(tmp_path) as mine:
        beside.join()
        assert mine.is_dir()


@rows("place", ["output", "client", "lock", "edition"])
def test_a_symbolic_link_in_the_way_is_refused(tmp_path: Path, place: str) -> None:
    foreign, output = tmp_path / "foreign", tmp_path / "output"
    foreign.mkdir()
    if place == "output":
        output.symlink_to(foreign)
    else:
        (output / "acme").mkdir(parents=True)
    if place == "client":
        (output / "acme").rmdir()
        (output / "acme").symlink_to(foreign)
    elif place == "lock":
        (output / "acme" / ".lock").symlink_to(foreign / "lock")
    elif place == "edition":
        (output / "acme" / FIRST).symlink_to(foreign)
    with pytest.raises(InputError):
        put(output, FIRST)
    assert list(foreign.iterdir()) == []


def test_latest_made_a_foreign_link_is_only_replaced(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    put(tmp_path, FIRST)
    (tmp_path / "acme" / "latest").unlink()
    (tmp_path / "acme" / "latest").symlink_to(foreign)
    put(tmp_path, SECOND)
    assert list(foreign.iterdir()) == [] and state(tmp_path)[1] == SECOND


@pytest.mark.slow
def test_builds_at_once_publish_each_edition_once(tmp_path: Path) -> None:
    pids = []
    for number in range(6):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                put(tmp_path, f"2026-11-20-{number % 3:08x}")
                os._exit(0)
            os._exit(1)
        pids.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * 6
    there, latest, faults = state(tmp_path)
    assert (len(there), latest in there, faults) == (3, True, [])
    assert [i.sequence for i in list_editions(tmp_path)] == [1, 2, 3]


@rows("slug", ["", "..", "a/b", "Acme", "-a", "a" * 80])
def test_names_that_are_not_slugs_never_reach_the_disk(tmp_path: Path, slug: str) -> None:
    with pytest.raises(FabricReportError), scratch_folder(tmp_path) as scratch:
        publish(scratch, tmp_path, slug, FIRST)
    assert [path.name for path in tmp_path.iterdir()] == [".sweeping"]


MADE_OF = ("buy_once", *SECTION_NAMES)


def test_a_failed_section_names_the_users_files_in_message_and_notebook(tmp_path: Path) -> None:
    client, notebooks, scratch = tmp_path / "client", tmp_path / "notebooks", tmp_path / "out" / ".scratch-1"
    for folder in (client / "prices", client / "logs", notebooks, scratch / "work"):
        folder.mkdir(parents=True)
    (client / "logs" / "run.txt").write_text("a log\n", encoding="utf-8")
    params = client / "acme.yaml"
    text = new_params("Acme", dt.date(2026, 11, 20))
    params.write_text(text + "\nmeasurements: [logs/run.txt]\n", encoding="utf-8")
    for section in MADE_OF:
        nbformat.write(nbformat.v4.new_notebook(), notebooks / f"{section}.ipynb")
    places = Places(notebooks, tmp_path / "project", lambda *_: Checked())
    work = scratch / "work"
    plan = make_plan(load_checked(params, places), work, places=places)

    copy = plan.snapshot.folder / "logs" / "run.txt"
    said = f"{copy}:3: odd; params {plan.snapshot.params_json}; kernel in {work}/executed"
    nb = nbformat.v4.new_notebook()
    nb.cells = [nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("stream", text=said)])]
    executed = work / "tco.ipynb"
    nbformat.write(nb, executed)
    failed = SectionRun("tco", "failed", 3, "x", "InputError", said, said, notebook=str(executed))
    told = keep_failed(RunRecord((failed,)), tmp_path / "out", plan, params)

    kept = tmp_path / "out" / "acme" / ".failed" / "tco.ipynb"
    for text in (told, kept.read_text(encoding="utf-8")):
        assert f"{client / 'logs' / 'run.txt'}:3: odd; params {params}" in text
        assert str(scratch) not in text
    assert str(kept) in told
