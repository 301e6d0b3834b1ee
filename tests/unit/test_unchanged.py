"""An unchanged build is answered from a record, and the record never lies: whatever differs leads the ordinary way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import yaml
from published_cases import put_edition
from rows import rows
from scenario_cases import minimal

from fabricreport.base.errors import InputError
from fabricreport.check.dates import Dates
from fabricreport.memo import build as building
from fabricreport.memo.build import BuildResult, build
from fabricreport.memo.editions.refresh import plan_refresh
from fabricreport.memo.run import recall as recalling
from fabricreport.memo.run import recall as stamping
from fabricreport.memo.run.recall import Places, Planned, Question, recall, remember
from fabricreport.memo.run.snapshot import OWN, InputFile, Snapshot, own_names

ROOT = Path(__file__).parents[2]
LOG = "logs/run.txt"


class Desk:
    """A client's folder, the notebooks, a package and its libraries: all that a build rests on, in small."""

    def __init__(self, top: Path, patch: pytest.MonkeyPatch) -> None:
        self.top, self.output = top, top / "output"
        self.params = self.write("client/acme.yaml", "client: {name: Acme}\n")
        self.write("client/prices/a.csv", "item,price\n")
        self.write("client/acme/prices/quotes-s.csv", "item,price\n")
        self.write("client/acme/notebooks/tco.ipynb", "{}")
        self.write(f"client/{LOG}", "8 1.0\n")
        self.write("client/logo.png", "PNG")
        self.write("project/evidence/own.yaml", "[]\n")
        self.write("notebooks/tco.ipynb", "{}")
        self.write("notebooks/helpers/rows.py", "ROWS = 3\n")
        self.write("own/latency.ipynb", "{}")
        self.write("notebooks/.pictures/rack.png", "PNG")
        self.write("package/models.py", "x = 1\n")
        self.write("package/evidence/gpus.yaml", "- gpu: h100\n")
        self.write("site/numpy-2.4.6.dist-info/METADATA", "Version: 2.4.6\n")
        patch.setattr(stamping, "PACKAGE", top / "package")
        patch.setattr(stamping, "TICK_NS", -(10**9))  # no test waits for files to be older than a tick
        patch.setattr(sys, "path", [str(top / "site"), str(top / "nowhere")])
        self.question = Question(self.params, Places(top / "notebooks", top / "project", own_notebooks=top / "own"))
        self.planned = Planned("acme", "2026-11-20", "2026-11-20-0123abcd", "0123abcd" * 8, notes=("a note",))

    def write(self, name: str, text: str) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def remember(self, question: Question | None = None, before: stamping.Stamp | None = None) -> None:
        """What a build does that was begun with the stamp `before` (None: just now)."""
        question = question or self.question
        log = (self.top / "client" / LOG).read_bytes()
        own = [(name, (self.top / "client" / name).read_bytes()) for name in own_names(self.params.parent, "acme")]
        files = [InputFile(name, kind, recalling.sha256(data), len(data)) for name, kind, data in
                 ((LOG, "logs", log), ("logo.png", "brand", b"PNG"), *((name, OWN, data) for name, data in own))]  # fmt: skip
        remember(self.output, question, before or question.stamp(), self.planned, Snapshot(self.top, tuple(files)))

    def recalled(self, question: Question | None = None) -> Planned | None:
        question = question or self.question
        return recall(self.output, question, question.stamp())

    @property
    def record(self) -> Path:
        (path,) = (self.top / ".cache" / "fabricreport" / "builds").glob("*.json")
        return path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def test_the_same_inputs_come_to_the_same_whatever_their_times(desk: Desk) -> None:
    assert desk.recalled() is None
    desk.planned = replace(desk.planned, dates=Dates(date(2026, 11, 20), 90, ((date(2026, 11, 1), 3, "switch"),)))
    desk.remember()
    for path in desk.top.rglob("*"):
        os.utime(path, (1, 1))
    desk.write("package/__pycache__/models.pyc", "compiled")
    assert desk.recalled() == desk.planned


def linked(path: Path) -> None:
    path.rename(path.with_name("there"))
    path.symlink_to(path.with_name("there"))


def same_size_and_time(path: Path) -> None:
    facts, text = path.stat(), path.read_text(encoding="utf-8")
    path.write_text(text[:-2] + ("y" if text[-2] != "y" else "z") + text[-1], encoding="utf-8")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


FILES = [
    "client/acme.yaml", "client/prices/a.csv", "client/acme/prices/quotes-s.csv", "client/acme/notebooks/tco.ipynb", f"client/{LOG}", "client/logo.png", "project/evidence/own.yaml", "notebooks/tco.ipynb",
    "own/latency.ipynb", "notebooks/helpers/rows.py", "notebooks/.pictures/rack.png", "package/models.py", "package/evidence/gpus.yaml",
]  # fmt: skip


@rows("spoil", [same_size_and_time, Path.unlink, linked])
@rows("name", FILES)
def test_a_file_that_is_changed_gone_or_a_link_is_no_longer_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, spoil: Callable[[Path], None]
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    desk.remember()
    assert desk.recalled() == desk.planned
    spoil(desk.top / name)
    if (name, spoil) == ("client/acme.yaml", linked):
        assert desk.recalled() is None, "the params may be a link, but not the one that was asked for before"
    assert desk.recalled() is None


@rows(
    "name",
    ["client/prices/b.csv", "client/acme/prices/b.csv", "client/acme/notebooks/b.ipynb", "client/evidence/own.yaml", "client/options/own.yaml", "notebooks/new.py", "own/tco.ipynb", "package/new.py",
     "site/pandas-3.dist-info/METADATA"],
)  # fmt: skip
def test_a_new_file_where_a_build_looks_is_no_longer_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    desk.remember()
    desk.write(name, "")
    assert desk.recalled() is None


def test_a_new_file_where_no_build_looks_changes_nothing(desk: Desk) -> None:
    desk.remember()
    for name in ("other-client.yaml", "other-client/prices/quotes-s.csv", "acme/providers/seller.yaml"):
        desk.write(f"client/{name}", "")
    assert desk.recalled() == desk.planned


@rows("link", ["acme", "acme/prices"])
def test_a_link_in_place_of_the_clients_folder_is_no_longer_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    desk.remember()
    linked(desk.top / "client" / link)
    assert desk.recalled() is None


def test_a_book_that_is_a_link_a_pipe_in_it_and_another_interpreter_are_no_longer_the_same(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.remember()
    monkeypatch.setattr(sys, "version", "3.99")
    assert desk.recalled() is None
    monkeypatch.undo()
    monkeypatch.setattr(stamping, "PACKAGE", desk.top / "package")
    monkeypatch.setattr(sys, "path", [str(desk.top / "site")])
    assert desk.recalled() == desk.planned
    os.mkfifo(desk.top / "client/prices/pipe.csv")
    assert desk.recalled() is None
    (desk.top / "client/prices/pipe.csv").unlink()
    linked(desk.top / "client/prices")
    assert desk.recalled() is None


def test_another_version_of_a_library_is_no_longer_the_same_and_our_own_record_is_no_matter(desk: Desk) -> None:
    desk.remember()
    desk.write("site/package-0.1.0.dist-info/METADATA", "")
    assert desk.recalled() == desk.planned
    (desk.top / "site/numpy-2.4.6.dist-info").rename(desk.top / "site/numpy-2.4.7.dist-info")
    assert desk.recalled() is None


def test_another_question_has_another_answer(desk: Desk) -> None:
    desk.remember()
    places = desk.question.places
    others = [
        replace(desk.question, day="2026-11-20"),
        replace(desk.question, only="tco"),
        replace(desk.question, draft=True),
        replace(desk.question, attach=False),
        replace(desk.question, params_path=desk.write("client/other.yaml", "client: {name: Acme}\n")),
        replace(desk.question, places=replace(places, project_params=desk.top / "else")),
        replace(desk.question, places=replace(places, own_notebooks=desk.top / "else")),
        replace(desk.question, places=replace(places, check=lambda *_: pytest.fail("asked"))),
    ]
    assert [desk.recalled(other) for other in others] == [None] * len(others)


@rows("damage", [lambda t: t[: len(t) // 2], lambda t: t.replace("acme", "acne"), lambda _: "{}"])
def test_a_damaged_record_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[str], str]
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    desk.remember()
    desk.record.write_text(damage(desk.record.read_text(encoding="utf-8")), encoding="utf-8")
    assert desk.recalled() is None
    desk.remember()
    assert desk.recalled() == desk.planned


def test_a_record_where_others_may_write_or_behind_a_link_is_not_read(desk: Desk) -> None:
    desk.remember()
    linked(desk.record)
    assert desk.recalled() is None
    desk.record.unlink()
    desk.remember()
    desk.record.parent.parent.chmod(0o777)
    assert desk.recalled() is None


@rows("name", ["client/acme.yaml", "notebooks/tco.ipynb", "client/prices/a.csv", "client/prices/z.csv"])
def test_what_changes_while_it_is_read_is_not_remembered_even_if_it_is_changed_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    desk = Desk(tmp_path, monkeypatch)
    monkeypatch.setattr(stamping, "TICK_NS", 20_000_000)
    desk.remember()
    assert desk.recalled() is None, "written just now: the next change might bear the same time"
    time.sleep(0.05)
    path, before = desk.top / name, desk.question.stamp()
    text = path.read_text(encoding="utf-8") if path.exists() else None
    desk.write(name, "otherwise")
    path.unlink() if text is None else desk.write(name, text)
    desk.remember(before=before)
    assert desk.recalled() is None
    time.sleep(0.05)
    desk.remember()
    assert desk.recalled() == desk.planned


def test_the_oldest_records_give_way(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalling, "MAX_RECORDS", 3)
    questions = [replace(desk.question, only=str(n)) for n in range(5)]
    for n, question in enumerate(questions):
        desk.remember(question)
        newest = max(desk.top.glob(".cache/fabricreport/builds/*"), key=lambda p: p.stat().st_mtime_ns)
        os.utime(newest, ns=(n, n))
    assert len(list(desk.top.glob(".cache/fabricreport/builds/*"))) == 3
    assert desk.recalled(questions[-1]) == desk.planned


def client(folder: Path) -> Path:
    """A client with books, answers and a log of its own."""
    shutil.copytree(ROOT / "params/prices", folder / "prices")
    shutil.copytree(ROOT / "params/providers", folder / "providers")
    (folder / "acme/prices").mkdir(parents=True)
    head = (ROOT / "params/prices/equipment.csv").read_text("utf-8").splitlines()[0]
    (folder / "acme/prices/quotes-s.csv").write_text(f"{head}\n", encoding="utf-8")
    (folder / "logs").mkdir()
    shutil.copy(ROOT / "tests/data/logs/b200_32gpu_all_reduce_bench.txt", folder / "logs" / "run.txt")
    data = minimal() | {
        "providers": [{"name": "Example Cloud", "answers": "providers/example-answers.yaml"}],
        "measurements": ["logs/run.txt"],
        "options": ["infiniband-ndr", "rocev2-branded-400g"],
    }
    path = folder / "acme.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


READS = """
import json, sys
from pathlib import Path
from fabricreport.memo.run.recall import Places
from fabricreport.memo.run.plan import make_plan, make_ready
from fabricreport.memo.run.recall import Question
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
path, work = Path(sys.argv[1]), Path(sys.argv[2])
Question(path, Places()).stamp()
stamped = set(opened)
opened.clear()
import fabricreport.inputs.inputs
fabricreport.inputs.inputs.DRAWS = 16  # what is read does not rest on their number
plan = make_plan(make_ready(path, Places()).loaded, work)
named = [f.name for f in plan.snapshot.files if f.kind in ("own", "providers", "logs")]
print(json.dumps([sorted(stamped), sorted(set(opened)), named]))
"""


@pytest.mark.slow
def test_everything_that_is_read_to_plan_a_build_is_in_the_stamp_or_named(tmp_path: Path) -> None:
    folder, work = tmp_path / "client", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    asked = [sys.executable, "-c", READS, str(client(folder)), str(work)]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    stamped, opened, named = json.loads(told)
    assert named == ["acme/prices/quotes-s.csv", "logs/run.txt", "providers/example-answers.yaml"]
    ours = [Path(name) for name in opened if name.startswith((str(folder), str(ROOT)))]
    read = {str(path) for path in ours if path.is_file() and not {"__pycache__", ".venv"} & {*path.parts}}
    assert len(read) > 20
    assert read - set(stamped) <= {str(folder / name) for name in named}


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A client's params whose edition stands in `output` beside them, built once more the ordinary way."""
    path = tmp_path / "acme.yaml"
    path.write_text(yaml.safe_dump(minimal(), sort_keys=False), encoding="utf-8")
    put_edition(path, tmp_path / "output")
    return path


def built(path: Path) -> tuple[BuildResult, list[Dates]]:
    dates: list[Dates] = []
    return build(path, output=path.parent / "output", dates=dates.append), dates


@pytest.mark.slow
def test_the_answer_is_that_of_the_ordinary_way(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ordinary = built(published)
    latest = published.parent / "output/acme/latest"
    latest.unlink()
    monkeypatch.setattr("fabricreport.memo.run.plan.make_ready", lambda *_: pytest.fail("planned again"))
    assert built(published) == ordinary
    assert ordinary[0].reused and ordinary[1] and latest.readlink().name == ordinary[0].edition


@pytest.mark.slow
def test_a_damaged_edition_is_refused_and_a_lost_one_is_no_answer(published: Path) -> None:
    edition = built(published)[0].folder
    ledger = edition / "ledger.json"
    whole = ledger.read_bytes()
    ledger.write_bytes(whole + b" ")
    with pytest.raises(InputError, match=r"was changed since: ledger\.json"):
        built(published)
    ledger.write_bytes(whole)
    root = published.parent / "output"
    known = recall(root, question := Question(published, Places.of(published)), question.stamp())
    assert known is not None and building._answered(known, root, lambda _: None) is not None
    shutil.rmtree(edition)
    assert building._answered(known, root, lambda _: None) is None


@pytest.mark.slow
def test_a_refresh_looks_at_the_edition_that_stands(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output, day = published.parent / "output", minimal()["as_of"]
    ordinary = plan_refresh(published, output=output, as_of=day)
    assert not ordinary.changed
    with monkeypatch.context() as patch:
        patch.setattr("fabricreport.memo.run.plan.load_checked", lambda *_: pytest.fail("planned again"))
        assert plan_refresh(published, output=output, as_of=day) == ordinary
    assert ordinary.last is not None
    (ordinary.last.folder / "ledger.json").write_text("{}", encoding="utf-8")
    assert "is damaged" in plan_refresh(published, output=output, as_of=day).reasons[0]
