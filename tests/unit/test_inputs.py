"""One build reads one frozen set of inputs, and nothing through a link."""

import datetime as dt
import hashlib
import os
from pathlib import Path

import pytest
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.files import read_beneath
from fabricreport.memo.run import snapshot as inputs
from fabricreport.memo.run.snapshot import take_snapshot
from fabricreport.scenario import load_params, new_params, params_from


def client(folder: Path) -> Path:
    """A params file with one provider's answers and one log, and its own prices."""
    for name in ("prices", "providers", "logs"):
        (folder / name).mkdir(parents=True)
    (folder / "prices" / "a.csv").write_text("item,date\nx,2026-11-01\n", encoding="utf-8")
    (folder / "prices" / "notes.md").write_text("not a price", encoding="utf-8")
    (folder / "prices" / ".hidden.csv").write_text("no", encoding="utf-8")
    (folder / "providers" / "p.yaml").write_text("a: 1\n", encoding="utf-8")
    (folder / "logs" / "l.txt").write_text("log\n", encoding="utf-8")
    text = new_params("Acme", dt.date(2026, 11, 20))
    path = folder / "acme.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def params_of(path: Path, **changes: object):  # type: ignore[no-untyped-def]
    data = load_params(path).model_dump(mode="json", by_alias=True, exclude_unset=True)
    data["providers"] = [{"name": "P", "answers": "providers/p.yaml"}]
    data["measurements"] = ["logs/l.txt"]
    return params_from(data | changes)


def shared(folder: Path) -> Path:
    for name in ("prices", "evidence"):
        (folder / name).mkdir(parents=True)
    (folder / "prices" / "shared.csv").write_text("item\n", encoding="utf-8")
    (folder / "evidence" / "e.yaml").write_text("[]\n", encoding="utf-8")
    return folder


def test_a_snapshot_holds_what_the_params_name_and_the_books(tmp_path: Path) -> None:
    path = client(tmp_path / "client")
    found = take_snapshot(params_of(path), path, tmp_path / "in", project_params=shared(tmp_path / "project"))
    names = ["evidence/e.yaml", "logs/l.txt", "params.json", "prices/a.csv", "providers/p.yaml"]
    assert [f.name for f in found.files] == names
    assert list(found.hashes) == [n for n in names if n != "params.json"]
    for file in found.files:
        data = (found.folder / file.name).read_bytes()
        assert (file.sha256, file.size_bytes) == (hashlib.sha256(data).hexdigest(), len(data))
    assert (found.folder / "options").is_dir(), "an absent book is an empty folder: a section must look no further"


def test_the_snapshot_opens_as_the_same_params(tmp_path: Path) -> None:
    path = client(tmp_path / "client")
    params = params_of(path)
    found = take_snapshot(params, path, tmp_path / "in", project_params=tmp_path / "none")
    assert load_params(found.params_json) == params


def test_a_folder_beside_the_params_hides_the_projects(tmp_path: Path) -> None:
    path = client(tmp_path / "client")
    (tmp_path / "client" / "evidence").mkdir()
    found = take_snapshot(params_of(path), path, tmp_path / "in", project_params=shared(tmp_path / "project"))
    assert not any(name.startswith("evidence/") for name in found.hashes)


@rows("place", ["prices/a.csv", "prices", "providers/p.yaml", "logs", "logs/l.txt"])
def test_symbolic_links_are_refused_wherever_they_point(tmp_path: Path, place: str) -> None:
    path = client(tmp_path / "client")
    params = params_of(path)
    real, link = tmp_path / "elsewhere", tmp_path / "client" / place
    link.rename(real)
    link.symlink_to(real)
    with pytest.raises(InputError, match="symbolic link") as caught:
        take_snapshot(params, path, tmp_path / "in", project_params=tmp_path / "none")
    assert str(tmp_path / "client" / place.split("/")[0]) in str(caught.value)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = client(tmp_path / "client")
    os.mkfifo(tmp_path / "client" / "prices" / "pipe.csv")
    with pytest.raises(InputError, match="not a regular file"):
        take_snapshot(params_of(path), path, tmp_path / "in", project_params=tmp_path / "none")


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    path = client(tmp_path / "client")
    params = params_of(path, measurements=["logs/none.txt", "logs/neither.txt"])
    with pytest.raises(InputError) as caught:
        take_snapshot(params, path, tmp_path / "in", project_params=tmp_path / "none")
    assert [p.message for p in caught.value.problems] == ["does not exist"] * 2


def test_sizes_are_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = client(tmp_path / "client")
    (tmp_path / "client" / "logs" / "l.txt").write_bytes(b"x" * 3000)
    monkeypatch.setattr(inputs, "MAX_TOTAL_BYTES", 2500)
    with pytest.raises(InputError, match="over"):
        take_snapshot(params_of(path), path, tmp_path / "in", project_params=tmp_path / "none")
    with pytest.raises(OSError, match="too large"):
        read_beneath(tmp_path / "client", "logs/l.txt", limit_bytes=2999)


def test_a_one_byte_change_changes_the_hash(tmp_path: Path) -> None:
    path = client(tmp_path / "client")
    first = take_snapshot(params_of(path), path, tmp_path / "in1", project_params=tmp_path / "none")
    (tmp_path / "client" / "prices" / "a.csv").write_text("item,date\nx,2026-11-02\n", encoding="utf-8")
    second = take_snapshot(params_of(path), path, tmp_path / "in2", project_params=tmp_path / "none")
    assert {n for n in first.hashes if first.hashes[n] != second.hashes[n]} == {"prices/a.csv"}
    assert first.params_sha256 == second.params_sha256
