from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from rows import rows

from fabricreport.base import project
from fabricreport.base.project import PARAMS, SHIPPED, book_folder, filing_folder, lay_out, project_of, shipped_files
from fabricreport.cli.main import main
from fabricreport.memo.editions import remains
from fabricreport.memo.editions.manifest import SectionRun
from fabricreport.memo.run.recall import Places


def invoked(*words: str) -> tuple[int, str]:
    """The exit code of a command and what it says, on one line."""
    result = CliRunner().invoke(main, words)
    return result.exit_code, " ".join(result.output.split())


@rows(
    ("folder", "found"),
    [("/srv/acme/params", "/srv/acme"), ("/srv/acme", "/srv/acme"), ("/params/acme", "/params/acme"), ("/params", "/")],
)
def test_a_project_is_the_folder_above_params_or_that_of_the_params_file(folder: str, found: str) -> None:
    assert project_of(Path(folder)) == Path(found)


def test_params_are_of_a_project_wherever_the_command_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "params").mkdir()
    monkeypatch.chdir(tmp_path / "params")
    assert project_of(Path()) == tmp_path


def test_a_book_is_that_beside_the_params_else_the_projects_else_the_shipped_one(tmp_path: Path) -> None:
    beside = tmp_path / "client"
    assert book_folder(beside, "prices") == PARAMS / "prices"
    (beside / "params" / "prices").mkdir(parents=True)
    assert book_folder(beside, "prices") == beside / "params" / "prices"
    (beside / "prices").symlink_to("nowhere")
    assert book_folder(beside, "prices") == beside / "prices", "a link that leads nowhere is there, to be refused"


def test_a_notebook_is_the_projects_own_else_the_shipped_one(tmp_path: Path) -> None:
    places = Places.of(tmp_path / "params" / "acme.yaml")
    assert places.notebook("tco") == SHIPPED / "notebooks" / "tco.ipynb"
    own = tmp_path / "notebooks" / "tco.ipynb"
    own.parent.mkdir()
    own.symlink_to("nowhere")
    assert places.notebook("tco") == own, "a link that leads nowhere is not passed over"
    assert places.notebook("latency") == SHIPPED / "notebooks" / "latency.ipynb"


def test_a_project_is_laid_out_and_what_is_there_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = tmp_path / "work" / "params" / "example.yaml"
    ours.parent.mkdir(parents=True)
    ours.write_text("ours", encoding="utf-8")
    (tmp_path / "work" / "params" / "README.md").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)
    code, told = invoked("new", "--project", "work")
    assert code == 0 and "Kept as they were: params/README.md, params/example.yaml." in told and "cd work" in told
    (tmp_path / "work" / "params" / "README.md").unlink()
    assert lay_out(tmp_path / "work")[0] == ["params/README.md"]
    differ = [
        name for name in shipped_files() if (tmp_path / "work" / name).read_bytes() != (SHIPPED / name).read_bytes()
    ]
    assert differ == ["params/example.yaml"]

    monkeypatch.chdir(tmp_path / "work")
    assert invoked("new", "--project")[1].count("cd ") == 0
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, told = invoked("new", "--project", str(tmp_path / "file" / "work"))
    assert code == 2 and "cannot be written" in told and "Name another folder" in told


@rows("words", [("new",), ("new", "Acme", "--project", "work")])
def test_new_takes_a_client_or_a_project(words: tuple[str, ...]) -> None:
    code, told = invoked(*words)
    assert code == 2 and "Give the NAME of a client, or --project." in told


def test_a_new_file_names_the_schema_only_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema, day = "$schema=./params.schema.json", ("--as-of", "2026-11-20")
    assert invoked("new", "A", *day)[0] == 0
    (tmp_path / "params" / "params.schema.json").write_text("{}", encoding="utf-8")
    assert invoked("new", "B", *day)[0] == 0
    assert [schema in (tmp_path / "params" / f"{name}.yaml").read_text(encoding="utf-8") for name in "ab"] == [
        False,
        True,
    ]


def test_nothing_is_filed_into_the_package_as_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert filing_folder(tmp_path, "prices") == PARAMS / "prices", "a checkout is there to be added to"
    monkeypatch.setattr(project, "IS_INSTALLED", True)
    monkeypatch.setattr(project, "PACKAGE", SHIPPED)
    assert filing_folder(tmp_path, "prices") == tmp_path / "params" / "prices"
    (tmp_path / "prices").mkdir()
    assert filing_folder(tmp_path, "prices") == tmp_path / "prices"


@rows(("installed", "told"), [(False, "Mend cell 4 of"), (True, "new --project")])
def test_nobody_is_told_to_mend_a_notebook_in_the_package_as_installed(
    installed: bool, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remains, "IS_INSTALLED", installed)
    source = remains.PACKAGE / "shipped" / "notebooks" / "tco.ipynb"
    remedy = remains._remedy(SectionRun("tco", "failed", 4), source)
    assert told in remedy and (str(source) in remedy) != installed
    theirs = remains._remedy(SectionRun("power", "failed", 4), Path("params/acme/notebooks/power.ipynb"), is_own=True)
    assert theirs == "Mend cell 4 of params/acme/notebooks/power.ipynb and run the command again."
