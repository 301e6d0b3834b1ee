"""The pages a reader begins with are true: the commands are those of the program, and what is named exists."""

from __future__ import annotations

import io
import math
import re
import tomllib
from pathlib import Path
from unittest import mock

import click
import pytest
from click.testing import CliRunner
from PIL import Image
from rows import rows

import fabricreport.inputs.inputs
from fabricreport.base.errors import FabricReportError, InputError, MemoRejected, NobodyTold, SectionFailed
from fabricreport.base.vocabulary import Confidence
from fabricreport.base.yaml_files import read_yaml
from fabricreport.cli.groups import GROUPS
from fabricreport.cli.main import main

ROOT = Path(__file__).parents[2]
COMMANDS, COST, PYTHON = (f"fabricreport/{folder}README.md" for folder in ("cli/", "memo/", ""))
NAMES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "params/README.md",
    "notebooks/README.md",
    "output/README.md",
    COMMANDS,
    COST,
    PYTHON,
)
LINES = {"README.md": 150, "CONTRIBUTING.md": 220, "CHANGELOG.md": 120}
"""How long a page may be that is read first."""
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
ROW = re.compile(r"^\| `fabricreport ([a-z-]+)((?: [a-z]+(?:\\\|[a-z]+)*)?)([^`]*` \|.*)$", re.MULTILINE)


def commands(group: click.Group, prefix: str = "") -> dict[str, click.Command]:
    """Every command that does something by itself, by its words."""
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        within = commands(command, f"{prefix}{name} ") if isinstance(command, click.Group) else {prefix + name: command}
        found |= within
    return found


def table() -> dict[str, str]:
    """What the rows of each command say, in the order of the page; `prices show|check` is a row for two."""
    rows: dict[str, str] = {}
    for first, more, rest in ROW.findall(PAGES[COMMANDS]):
        for second in more.strip().split(r"\|"):
            name = f"{first} {second}".strip()
            rows[name] = rows.get(name, "") + rest
    return rows


def named(pattern: str, page: str) -> set[str]:
    """What a page names in a certain form."""
    return set(re.findall(pattern, PAGES[page], flags=re.MULTILINE))


def test_the_table_of_commands_is_the_programs_own() -> None:
    rows, known = table(), commands(main)
    assert set(rows) == set(known)
    unknown = {
        name: set(re.findall(r"--[a-z-]+", rest)) - {opt for param in known[name].params for opt in param.opts}
        for name, rest in rows.items()
        if "prices" not in name
    }
    assert {name: options for name, options in unknown.items() if options} == {}


def test_the_pages_list_commands_as_the_help_does() -> None:
    groups = {title: [*lines] for title, lines in GROUPS.items()}
    rows = re.findall(r"^\| ([^|]+) \| ((?:`[a-z-]+` ?)+)\|$", PAGES["README.md"], flags=re.MULTILINE)
    assert {title: re.findall(r"`([a-z-]+)`", names) for title, names in rows} == groups
    parts = re.split(r"^## ", PAGES[COMMANDS], flags=re.MULTILINE)[1:]
    of_page = {part.partition("\n")[0]: list(dict.fromkeys(row[0] for row in ROW.findall(part))) for part in parts}
    assert {title: names for title, names in of_page.items() if names} == groups


def test_every_command_explains_itself_and_its_options() -> None:
    mute = []
    for name, command in commands(main).items():
        told = CliRunner().invoke(main, [*name.split(), "--help"])
        whole = command.help and command.help.strip().endswith(".")
        explained = all(getattr(p, "help", "") or isinstance(p, click.Argument) for p in command.params)
        if told.exit_code or "Exit codes" not in told.stdout or not (whole and explained):
            mute.append(name)
    assert mute == []


def test_the_exit_codes_are_those_of_the_error_tree() -> None:
    codes = {e: e.exit_code for e in (FabricReportError, InputError, SectionFailed, MemoRejected, NobodyTold)}
    assert list(codes.values()) == [1, 2, 3, 4, 5]
    told = re.search(r"^Exit codes: .*$", PAGES[COMMANDS], flags=re.MULTILINE)
    assert told and re.findall(r"\*\*(\d)\*\*", told[0]) == ["0", "2", "3", "4", "5", "1"]


def test_the_targets_that_are_explained_are_those_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert named(r"(?:`|^)make ([a-z]+)", "CONTRIBUTING.md") == set(
        re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE)
    )


@rows("page", PAGES)
def test_commands_targets_and_files_that_a_page_names_are_there(page: str) -> None:
    beside, makefile = (ROOT / page).parent, (ROOT / "Makefile").read_text(encoding="utf-8")
    missing = named(r"(?:`|bin/|^)fabricreport ([a-z][a-z-]*)", page) - set(main.commands)
    missing |= {target for target in named(r"(?:`|^)make ([a-z]+)", page) if f"\n{target}:" not in makefile}
    missing |= {path for path in named(r"\]\(([^)#:]+)\)", page) if not (beside / path).exists()}
    paths = named(r"\b((?:fabricreport|tests|params|notebooks)/[\w./-]*\w)", page)
    assert missing | {p for p in paths if not p.startswith("params/acme") and not (ROOT / p).exists()} == set()


@pytest.mark.slow
def test_the_example_in_python_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGES[PYTHON], flags=re.DOTALL)
    monkeypatch.chdir(ROOT)
    with mock.patch.object(fabricreport.inputs.inputs, "DRAWS", 128):
        exec(compile(example, PYTHON, "exec"), {})
    told = capsys.readouterr().out
    assert any(str(one) in told for one in Confidence) and "\nmoney.horizon_months [" in told


def test_pages_that_are_read_first_are_short() -> None:
    long = {name: (ROOT / name).read_text(encoding="utf-8").count("\n") for name in LINES}
    assert {name: lines for name, lines in long.items() if lines > LINES[name]} == {}


def test_the_changelog_begins_with_the_version_that_this_is() -> None:
    released = re.findall(
        r"^## (\d\S+) \(\d{4}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert [stated, stated] == [fabricreport.__version__, released[0]]


def test_the_readme_shows_page_one_and_says_what_is_on_it() -> None:
    ((alt, path),) = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", PAGES["README.md"])
    picture = (ROOT / path).read_bytes()
    with Image.open(io.BytesIO(picture)) as page:
        wide, high = page.size
        assert page.format == "PNG" and 700 <= wide <= 1200 and abs(high / wide - math.sqrt(2)) < 0.01, "a page of A4"
    assert len(picture) <= 200_000 and len(alt.split()) > 20


def test_the_params_page_lists_the_options_that_ship() -> None:
    (told,) = re.findall(r"\*\*Options\*\*: \w+ ship: `([a-z0-9\s-]+)`", PAGES["params/README.md"])
    assert told.split() == [str(entry["id"]) for entry in read_yaml("options")]
