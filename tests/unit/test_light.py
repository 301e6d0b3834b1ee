"""What is asked often or refused at once loads no more than it needs: no analyses, no notebook library, no schema."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from published_cases import put_edition
from rows import rows, words

from fabricreport.cli.entry import says_again
from fabricreport.cli.main import main
from fabricreport.memo.build import build
from fabricreport.memo.editions.refresh import feed_day, refresh
from fabricreport.memo.run.recall import Places
from fabricreport.scenario import load_params_file

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PARAMS = ROOT / "params/tern-finetuning.yaml"
MODELS = set(
    words("numpy scipy pandas matplotlib nbformat jsonschema papermill nbconvert openpyxl xlsxwriter fabricreport.case")
)
HEAVY = MODELS | {"pydantic", "yaml", "markdown_it"}
WATCH = """
import json, sys
from fabricreport.cli.entry import run
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        run()
        codes.append(0)
    except SystemExit as ended:
        codes.append(ended.code or 0)
print(json.dumps([codes, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded_by(*commands: Sequence[str]) -> tuple[list[int], set[str], str]:
    """The exit codes of commands run one after the other, every module they loaded, and what they printed."""
    asked = [sys.executable, "-c", WATCH, json.dumps(commands)]
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    codes, modules = json.loads(ended.stderr.splitlines()[-1])
    return codes, set(modules), ended.stdout


def test_what_only_prints_loads_nothing(tmp_path: Path) -> None:
    helped = [["--help"], ["build", "--help"], ["evidence", "--help"], ["prices", "--help"]]
    codes, modules, _ = loaded_by(*helped, ["list", "--output", str(tmp_path)])
    assert codes == [0] * 5 and not modules & HEAVY


def test_editions_are_listed_and_explained_without_what_made_them(tmp_path: Path) -> None:
    put_edition(PARAMS, tmp_path / "output")
    said = [[*words, "--output", str(tmp_path / "output")] for words in (["list"], ["explain", "tco.difference"])]
    codes, modules, out = loaded_by(*said)
    assert codes == [0, 0] and not modules & HEAVY and "$531k" in out and "latest" in out


def refused(folder: Path, contents: Sequence[bytes | None]) -> set[str]:
    """What `check`, `build` and `refresh` load to refuse params of each content; None: there is no such file."""
    paths = [folder / f"{number}.yaml" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        if content is not None:
            path.write_bytes(content)
    asked = [[command, str(path)] for path in paths for command in ("check", "build", "refresh")]
    codes, modules, _ = loaded_by(*asked)
    assert codes == [2] * len(asked), [words for words, code in zip(asked, codes, strict=True) if code != 2]
    return modules


def test_params_that_cannot_be_read_are_refused_without_their_schema_and_the_models(tmp_path: Path) -> None:
    """The books beside them are read by schemas of their own, for their faults are told at once with those of the params."""
    modules = refused(tmp_path, [None, b"", b"a: [1,\n", b"\xff\xfe\x00", b"# nothing\n"])
    assert not modules & ((HEAVY - {"yaml", "pydantic"}) | {"fabricreport.scenario"})


def test_params_that_the_schema_or_a_rule_refuses_are_refused_without_the_models(tmp_path: Path) -> None:
    wrongs = ("gpuz: 1024", "gpus: many", "gpus: 1024\n  gpus: 512", "gpus: 1020")
    example = (ROOT / "params/example.yaml").read_text()
    modules = refused(tmp_path, [example.replace("gpus: 1024", wrong, 1).encode() for wrong in wrongs])
    assert not modules & MODELS


def test_nothing_of_this_package_asks_for_what_only_unix_has_when_it_is_imported() -> None:
    """No module imports `fcntl` by itself, so that each can be imported anywhere."""
    asking = [
        p
        for p in (ROOT / "fabricreport").rglob("*.py")
        if re.search(r"^(import|from)\b.*\bfcntl\b", p.read_text(), re.M)
    ]
    assert asking == []


def test_an_unchanged_build_is_answered_without_loading_what_would_build_it(tmp_path: Path) -> None:
    output = tmp_path / "output"
    edition = put_edition(PARAMS, output)
    assert build(PARAMS, output=output).reused, "the ordinary way, which leaves a record"
    codes, modules, out = loaded_by(["build", str(PARAMS), "--output", str(output)])
    assert codes == [0] and not modules & (HEAVY | {"click"})
    assert edition.name in out and "already there: nothing had changed" in out and "Buy A (clear)" in out
    shown = CliRunner().invoke(main, ["build", str(PARAMS), "--output", str(output)])
    assert shown.stdout == out, "the command line says the same"


@rows(
    "words",
    [
        [],
        ["build"],
        ["build", ""],
        ["build", "a", "b"],
        ["build", "--", "a"],
        ["build", "a", "--draft"],
        ["build", "a", "--output"],
        ["build", "a", "--output", "-x"],
        ["build", "--output", "a"],
        ["list", "a"],
    ],
)
def test_all_but_a_plain_build_is_for_the_command_line(words: Sequence[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert not says_again(words)
    assert capfd.readouterr() == ("", "")


def test_a_plain_build_that_finds_nothing_of_before_or_a_fault_says_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "output").symlink_to(tmp_path)
    for params in (PARAMS, tmp_path / "none.yaml", tmp_path):
        for output in (tmp_path / "new", tmp_path / "output"):
            assert not says_again(["build", str(params), "--output", str(output)])
    assert capfd.readouterr() == ("", "")


def test_a_listener_that_has_gone_is_no_bug(tmp_path: Path) -> None:
    output = tmp_path / "output"
    put_edition(PARAMS, output)
    assert build(PARAMS, output=output).reused
    command = [sys.executable, "-m", "fabricreport", "build", str(PARAMS), "--output", str(output)]
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    heard = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, heard.stderr) and heard.stdout


def test_an_unchanged_refresh_is_answered_without_loading_what_would_build_it(tmp_path: Path) -> None:
    output, (day, _) = tmp_path / "output", feed_day(load_params_file(PARAMS), Places())
    edition = put_edition(PARAMS, output, as_of=day)
    assert refresh(PARAMS, output=output).built is None, "the ordinary way, which leaves a record"
    codes, modules, out = loaded_by(["refresh", str(PARAMS), "--output", str(output)])
    assert codes == [0] and not modules & HEAVY
    assert f"nothing that moves a number has changed since edition {edition.name}" in out
