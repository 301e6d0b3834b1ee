"""Whatever is done to a file, it is accepted or refused in one clear way: no traceback, the file named, and its line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
import yaml
from fuzz_cases import CASES, COUNTS, SEED
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from mutations import Change, changes, params_data

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.project import PARAMS as SHIPPED
from fabricreport.books.logs.measurements import measure_report
from fabricreport.books.prices.feeds import import_prices
from fabricreport.books.prices.reports import check_prices
from fabricreport.case import open_case
from fabricreport.check.check import check
from fabricreport.scenario import load_params

LOGS = Path(__file__).parents[1] / "data" / "logs"
EVIDENCE = """\
- id: own-step
  what: Extra time per step measured on our own pilot
  value: {p5: 1.2, p95: 4.8}
  unit: us
  date: 2026-10-01
  source: Pilot report 7
  publisher: Client
  address: ""
  read: 2026-11-20
  grade: measured
  seen: A
  interest: ""
  use: replaces the contested range
- id: own-watts
  what: Draw of our own switch
  value: 1700
  unit: w
  date: undated
  source: Pilot report 7
  publisher: Client
  address: ""
  read: 2026-11-20
  grade: quote
  seen: A
  interest: ""
  use: power of the fabric
"""
OPTIONS = """\
- id: own-option
  like: rocev2-branded-400g
  name: RoCEv2 on our own switch
  link_gbits_per_s: 400
  physical_ports: 64
  radix: 128
  links_per_cage: 2
  pieces:
    switch: {price: "price:switch-sn5610", watts: "evidence:own-watts"}
  management: {links: 2, nodes: 2, node_price: "evidence:management-server-usd"}
  licence: {sold: apart, per_year: "evidence:licence-ufm-per-endpoint-year"}
  notes:
    - Priced as quoted.
"""
PARAMS = "acme.yaml"
_IDS = re.compile(r"^- id: ([a-z0-9-]{4,})$", re.MULTILINE)
TESTS = 14
"""Tests that share the cases: one for each kind of file of a client's folder, and those of the commands."""
FUZZ = settings(
    max_examples=max(1, CASES // TESTS),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)


@cache
def files() -> dict[str, str]:
    """A client's folder in which every kind of file is present and nothing is wrong, by path."""
    data = load_params(SHIPPED / "example.yaml").model_dump(mode="json", by_alias=True, exclude_none=True)
    data["providers"] = [{"name": "Example Cloud", "answers": "providers/answers.yaml"}]
    data["measurements"] = ["logs/nccl.txt", "logs/perftest.txt", "logs/bench.txt"]
    data["elicited"] = ["elicited/answers.yaml"]
    data["options"] = [*data["options"], "own-option"]
    who = {"who": "A. Buyer", "why": "A written quote", "until": "2027-06-30"}
    data["overrides"] = [
        {"id": "price:switch-qm9700", "value": {"low": 28000, "mode": 30000, "high": 31000}, **who},
        {"id": "evidence:switch-qm9700-watts", "value": 1700, **who},
    ]
    return {
        PARAMS: yaml.safe_dump(data, sort_keys=False),
        "evidence/own.yaml": EVIDENCE,
        "options/own.yaml": OPTIONS,
        "providers/answers.yaml": (SHIPPED / "providers" / "example-answers.yaml").read_text(encoding="utf-8"),
        "elicited/answers.yaml": (SHIPPED / "elicited" / "example-answers.yaml").read_text(encoding="utf-8"),
        "logs/nccl.txt": (LOGS / "xe9680_16gpu_mpirun.txt").read_text(encoding="utf-8"),
        "logs/perftest.txt": (LOGS / "roce_perftest.txt").read_text(encoding="utf-8"),
        "logs/bench.txt": (LOGS / "b200_32gpu_all_reduce_bench.txt").read_text(encoding="utf-8"),
        **{f"prices/{p.name}": p.read_text(encoding="utf-8") for p in sorted((SHIPPED / "prices").glob("*.csv"))},
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's folder on disk; a test puts back what it changed."""
    root = tmp_path_factory.mktemp("client")
    for name, text in files().items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def faults_of(folder: Path) -> tuple[Problem, ...]:
    """What is wrong with all that a build of the folder's params file reads, as `fabricreport check` tells it.

    That the analyses are tried as well is left to `test_trial.py`: thousands of them would take hours.
    """
    with mock.patch("fabricreport.check.examination.tried_out", lambda _: ()):
        return check(folder / PARAMS).problems


def refusal(read: Callable[[], object]) -> tuple[Problem, ...] | None:
    """The problems of a refusal, None where what is read is accepted; any other exception is the test's."""
    try:
        read()
    except InputError as error:
        return error.problems
    return None


def changed(text: str, edits: Iterable[Change]) -> str:
    for edit in edits:
        text = edit.on(text)
    return text


def untold(kind: str, problems: tuple[Problem, ...] | None, at: Path, before: str = "") -> list[str]:
    """Count the case; what a refusal (None: accepted) fails to tell: a file and a line in each problem, and in one of
    them the file that was changed, as the place of the fault or as the one that names that place.

    Another file may be named alone if it refers to an id which the changed one (`before`) had and has no more, or if the
    problem is of an entry of the changed one that is sound in itself, and names it.
    """
    COUNTS[f"{kind}:{'accepted' if problems is None else 'refused'}"] += 1
    if problems is None:
        return []
    missing = [f"without file, line or reason: {p}" for p in problems if not (p.message and p.file and p.line)]
    after = at.read_text(encoding="utf-8", errors="surrogatepass")
    lost = [p for p in problems if (name := p.value.rpartition(":")[2]) and name in before and name not in after]
    told = [p for p in problems if any(name in f"{p.message} {p.value}" for name in _IDS.findall(after))]
    named = any(Path(p.file).name == at.name or f"{at.name} names this file" in p.remedy for p in problems)
    if not lost and not told and not named:
        missing += [f"{at.name} is not named by", *map(str, problems)]
    return missing


def test_the_folder_is_accepted_as_it_is(folder: Path) -> None:
    assert len(files()) + 3 == TESTS
    assert faults_of(folder) == ()


@pytest.mark.parametrize("name", sorted(files()))
def test_a_changed_file_is_accepted_or_refused_with_its_name_and_line(folder: Path, name: str) -> None:
    path = folder / name
    kind = name.partition("/")[0] if "/" in name else "params"

    @FUZZ
    @seed(SEED)
    @given(st.lists(changes, min_size=1, max_size=3))
    def one(edits: list[Change]) -> None:
        path.write_text(changed(files()[name], edits), encoding="utf-8", errors="surrogatepass", newline="")
        assert untold(kind, faults_of(folder) or None, path, files()[name]) == []

    try:
        one()
    finally:
        path.write_text(files()[name], encoding="utf-8")


@FUZZ
@seed(SEED)
@given(data=params_data())
def test_params_made_from_the_schema_are_accepted_or_refused_with_key_and_line(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, object]
) -> None:
    path = tmp_path_factory.getbasetemp() / "made.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    problems = refusal(lambda: open_case(path))
    assert all(p.key for p in problems or ())
    assert untold("schema", problems, path) == []


@FUZZ
@seed(SEED)
@given(
    name=st.sampled_from([n for n in sorted(files()) if n.startswith("prices/")]),
    edits=st.lists(changes, min_size=1, max_size=3),
)
def test_a_changed_price_file_is_checked_and_imported_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, edits: list[Change]
) -> None:
    root = tmp_path_factory.getbasetemp() / "feed"
    shutil.rmtree(root, ignore_errors=True)
    (root / "prices").mkdir(parents=True)
    source = root / "prices" / Path(name).name
    source.write_text(changed(files()[name], edits), encoding="utf-8", errors="surrogatepass", newline="")
    as_of = load_params(SHIPPED / "example.yaml").as_of

    def look() -> None:
        check_prices(root / "prices", as_of).as_dict()

    assert untold("prices check", refusal(look), source) == []

    def bring() -> None:
        import_prices(str(source), "csv", folder=root / "book", as_of=as_of).as_dict()

    (root / "book").mkdir()
    assert untold("prices import", refusal(bring), source) == []


@FUZZ
@seed(SEED)
@given(
    name=st.sampled_from([n for n in sorted(files()) if n.startswith("logs/")]),
    edits=st.lists(changes, min_size=1, max_size=3),
)
def test_a_changed_log_is_measured_or_refused_with_its_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, edits: list[Change]
) -> None:
    path = tmp_path_factory.getbasetemp() / Path(name).name
    path.write_text(changed(files()[name], edits), encoding="utf-8", errors="surrogatepass", newline="")

    def measure() -> None:
        report = measure_report([path])
        report.text()
        report.as_dict()

    assert untold("measure", refusal(measure), path) == []
