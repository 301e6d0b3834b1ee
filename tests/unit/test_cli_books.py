"""The price and log commands at a terminal: where they write, what they end with, and odd files without a traceback."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabricreport.books.prices.rules import COLUMNS
from fabricreport.cli import main

ROOT = Path(__file__).parents[2]
HEADER = ",".join(COLUMNS)
ROW = "switch-qm9700,each,30000,,,USD,2026-11-02,,A quote,quote"
ODD = {
    "empty": b"",
    "a line feed": b"\n",
    "a byte order mark": b"\xef\xbb\xbf",
    "binary": bytes(range(256)),
    "utf-16": HEADER.encode("utf-16"),
    "header only": HEADER.encode() + b"\n",
    "header without a line feed": HEADER.encode(),
    "a NUL": f"{HEADER}\n{ROW}\0\n".encode(),
    "a NUL in the header": b"\0" + HEADER.encode(),
    "1e400": f"{HEADER}\n{ROW.replace('30000', '1e400')}\n".encode(),
    "a long number": f"{HEADER}\n{ROW.replace('30000', '9' * 5000)}\n".encode(),
    "the year 0": f"{HEADER}\n{ROW.replace('2026', '0000')}\n".encode(),
    "the last day": f"{HEADER}\n{ROW.replace('2026-11-02', '9999-12-31')}\n".encode(),
    "an open quote": f'{HEADER}\n"{ROW}\n'.encode(),
    "a huge cell": f"{HEADER}\n{ROW.replace('A quote', 'x' * 200_000)}\n".encode(),
    "too few cells": f"{HEADER}\nswitch-qm9700\n".encode(),
    "carriage returns": f"{HEADER}\r{ROW}\r".encode(),
    "a lone surrogate": f"{HEADER}\n".encode() + b"\xed\xa0\x80,each\n",
}


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("name", ODD)
def test_an_odd_price_file_ends_in_a_message_and_never_in_a_traceback(tmp_path: Path, name: str) -> None:
    source, book = tmp_path / "odd.csv", tmp_path / "prices"
    source.write_bytes(ODD[name])
    shutil.copytree(ROOT / "params" / "prices", book)
    code, _, err = run("prices", "import", str(source), "--folder", str(book), "--name", "new")
    assert code in (0, 2) and (code == 0 or err or (book / "quarantine" / "new.csv").exists())
    shutil.copy(source, book / "zz-odd.csv")
    for command in (("show",), ("show", "switch-qm9700"), ("check",), ("check", "--json")):
        code, out, err = run("prices", *command, "--folder", str(book))
        assert code in (0, 2) and (out or "zz-odd.csv" in err), err


@pytest.mark.parametrize("command", [("show",), ("check",), ("show", "switch-qm9700")])
def test_an_empty_folder_of_prices_is_no_traceback(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "prices").mkdir()
    code, out, err = run("prices", *command, "--folder", str(tmp_path / "prices"))
    assert code in (0, 2) and out + err


def test_a_source_that_is_a_folder_or_is_not_there_is_named(tmp_path: Path) -> None:
    for source in (tmp_path, tmp_path / "none.csv", Path("a\0b")):
        code, _, err = run("prices", "import", str(source), "--folder", str(tmp_path / "prices"))
        assert code == 2 and "cannot be read" in err
    assert not (tmp_path / "prices").exists()


@pytest.mark.parametrize("place", ["params/prices", "prices"])
def test_an_import_writes_where_a_build_from_here_would_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / "quote.csv").write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("prices", "import", "quote.csv")
    assert code == 0 and (tmp_path / place / "quote.csv").is_file() and f"{place}/quote.csv" in out
    assert "30,000" in run("prices", "show", "switch-qm9700")[1]


def test_without_a_folder_here_the_projects_own_prices_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "32,870" in run("prices", "show", "switch-qm9700", "--as-of", "2026-11-20")[1]


def test_an_import_into_a_folder_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "quote.csv").write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")
    (tmp_path / "prices").write_text("a file in its place", encoding="utf-8")
    code, _, err = run("prices", "import", str(tmp_path / "quote.csv"), "--folder", str(tmp_path / "prices" / "x"))
    assert code == 2 and "cannot be written" in err


def test_a_log_that_contradicts_itself_ends_with_two(tmp_path: Path) -> None:
    log = next((ROOT / "tests/data/logs").glob("*xe9680*"))
    assert run("measure", str(log))[0] == 0
    code, out, _ = run("measure", str(log), "--ranks", "2")
    assert "error" in out and code == 2


def test_only_a_build_speaks_of_what_was_not_built(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("client: 1\n", encoding="utf-8")
    output = ("--output", str(tmp_path / "out"))
    for args in (("build", str(bad), *output), ("refresh", str(bad), *output)):
        assert f"Nothing was built for {bad}." in run(*args)[2]
    for args in (("check", str(bad)), ("measure", str(bad)), ("explain", "x", *output), ("prices", "import", str(bad))):
        code, _, err = run(*args)
        assert code == 2 and "built" not in err
