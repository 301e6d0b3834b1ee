"""What `check` passes, a build can read: every reference, price, answer and log is tried out first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from check_cases import OVERRIDE, desk, line_of, only
from click.testing import CliRunner
from pydantic import BaseModel
from rows import rows
from scenario_cases import PARAMS, minimal

from fabricreport.base.bounds import bound_of
from fabricreport.base.errors import InputError, Problem
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.evidence import read_evidence
from fabricreport.case import open_case
from fabricreport.check.check import check
from fabricreport.cli.main import main
from fabricreport.memo.build import build
from fabricreport.memo.run.plan import Places, load_checked
from fabricreport.scenario import Params
from fabricreport.scenario.uncertain import Bounds

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]
TWO = ["infiniband-ndr", "rocev2-branded-400g"]
ENTRY = {
    "what": "The client's own figure", "date": "2026-10-01", "source": "Treasury", "publisher": "The client", "grade": "contract",
    "read": "2026-11-01", "seen": "A", "use": "this memo",
}  # fmt: skip


def with_key(dotted: str, value: Any) -> dict[str, Any]:
    """The smallest params with one key set; a key of `overrides` stands in an otherwise good override."""
    data = minimal()
    *parents, last = dotted.split(".")
    if parents == ["overrides"]:
        return data | {"overrides": [OVERRIDE | {last: value}]}
    for part in parents:
        data[part] = data.get(part, {}) | {last: value}
    return data


def uncertain_fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Bounds]]:
    """Every key of the schema that may hold a reference."""
    for name, field in model.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        yield from ((key, m) for m in field.metadata if isinstance(m, Bounds))
        args = getattr(field.annotation, "__args__", ())
        for arm in (field.annotation, *args):
            if isinstance(arm, type) and issubclass(arm, BaseModel):
                yield from uncertain_fields(arm, f"{key}.")


FIELDS = dict(uncertain_fields(Params))
IN_PARAMS = [key for key in FIELDS if not key.startswith("overrides")]


# ---- references of the params


def test_the_schema_has_keys_that_may_refer() -> None:
    assert {"money.gpu_hour_value", "money.discount_rate_per_year", "overrides.value"} <= set(FIELDS)
    assert all(FIELDS[key].units for key in IN_PARAMS), "each says which units can serve it"


@rows("key", [*FIELDS, "overrides.id"])
@rows(
    ("given", "meant"),
    [("evidence:gpu-hour-gb200-nvl72-us", "evidence:gpu-hour-gb200-nvl72-usd"), ("price:switch-n9600-64o", "price:switch-n9600-64od")],
)  # fmt: skip
def test_a_mistyped_id_is_refused_with_file_line_and_the_nearest_id(
    tmp_path: Path, key: str, given: str, meant: str
) -> None:
    path = desk(tmp_path, with_key(key, given))
    problem = only(check(path).problems)
    assert (problem.file, problem.line, problem.suggestion) == (str(path), line_of(path, given), meant)
    assert problem.key.split(".")[-1] == key.split(".")[-1]
    assert problem.value == given and problem.remedy


@rows("key", IN_PARAMS)
@rows("given", ["price:switch-qm9700", "evidence:switch-qm9700-watts"])
def test_a_reference_in_another_unit_is_refused_with_the_unit_needed(tmp_path: Path, key: str, given: str) -> None:
    path = desk(tmp_path, with_key(key, given))
    problem = only(check(path).problems)
    assert (problem.key, problem.value, problem.line) == (key, given, line_of(path, given))
    assert all(unit in problem.message for unit in FIELDS[key].units)


@rows("key", [*FIELDS, "overrides.id"])
def test_a_fact_in_words_cannot_stand_for_a_number(tmp_path: Path, key: str) -> None:
    words = next(e.id for e in read_evidence().values() if e.kind == "text")
    problem = only(check(desk(tmp_path, with_key(key, f"evidence:{words}"))).problems)
    assert problem.key.split(".")[-1] == key.split(".")[-1] and "words" in problem.message


@rows("key", IN_PARAMS)
@rows("factor", [1.0, 1.5])
def test_a_value_referred_to_keeps_the_bounds_of_the_key(tmp_path: Path, key: str, factor: float) -> None:
    bounds = FIELDS[key]
    unit = next((u for u in bounds.units if not u.startswith("share")), bounds.units[0])
    assert bounds.bound is not None
    value = bounds.bound.high * factor
    path = desk(tmp_path, with_key(key, "evidence:mine"))
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "own.yaml").write_text(
        yaml.safe_dump([ENTRY | {"id": "mine", "value": value, "unit": unit}]), encoding="utf-8"
    )
    problems = check(path).problems
    if factor == 1.0:
        assert not problems
    elif bound_of(unit).allows(value):
        assert only(problems).key == key and f"{bounds.bound.high:,g}" in problems[0].message
    else:  # what no entry of the unit can be is refused where it is written
        assert only(problems).file.endswith("own.yaml")


def test_an_overridden_entry_is_judged_by_the_overrides_value(tmp_path: Path) -> None:
    data = with_key("money.inflation_per_year", "evidence:mine")
    data["overrides"] = [OVERRIDE | {"id": "evidence:mine", "value": 2.0}]
    path = desk(tmp_path, data)
    (tmp_path / "evidence").mkdir()
    entry = ENTRY | {"id": "mine", "value": 0.02, "unit": "relative"}
    (tmp_path / "evidence" / "own.yaml").write_text(yaml.safe_dump([entry]), encoding="utf-8")
    assert only(check(path).problems).key == "money.inflation_per_year"


# ---- overrides that refer


def overriding(*pairs: tuple[str, Any]) -> dict[str, Any]:
    return minimal() | {"overrides": [OVERRIDE | {"id": i, "value": v} for i, v in pairs]}


def test_an_override_of_an_exchange_rate_converts_every_amount(tmp_path: Path) -> None:
    data = minimal() | {"money": {"acquisition": "buy", "currency": "JPY"}}
    plain = open_case(desk(tmp_path / "a", data))
    half = float(plain.prices["fx-jpy-usd"].price) / 2
    dear = open_case(desk(tmp_path / "b", data | {"overrides": [OVERRIDE | {"id": "price:fx-jpy-usd", "value": half}]}))
    switches = [float(np.median(c.inputs.draw("price:switch-qm9700"))) for c in (plain, dear)]
    assert switches[1] / switches[0] == pytest.approx(2.0, rel=0.1)


def test_an_override_that_refers_takes_the_other_entrys_draws(tmp_path: Path) -> None:
    case = open_case(desk(tmp_path, overriding(("price:switch-qm9700", "price:switch-sn5610"))))
    assert np.array_equal(case.inputs.draw("price:switch-qm9700"), case.inputs.draw("price:switch-sn5610"))
    of_the_book = case.inputs.price_book.at(case.as_of)["switch-qm9700"].price
    taken, other = (case.inputs.central(f"price:{item}") for item in ("switch-qm9700", "switch-sn5610"))
    assert taken == other != of_the_book


def test_overrides_that_refer_to_each_other_are_refused_each_with_its_line(tmp_path: Path) -> None:
    pair = ("price:switch-qm9700", "price:switch-sn5610")
    problems = check(desk(tmp_path, overriding(pair, pair[::-1]))).problems
    assert [p.key for p in problems] == ["overrides[0].value", "overrides[1].value"]
    assert all("each other" in p.message and p.line for p in problems)


def test_an_override_must_refer_to_the_same_unit_and_currency(tmp_path: Path) -> None:
    given = overriding(("price:switch-n9600-64od", "price:switch-qm9700"), ("evidence:pue", "price:electricity"))
    problems = check(desk(tmp_path, given)).problems
    assert [p.key for p in problems] == ["overrides[0].value", "overrides[1].value"]
    assert "eur" in problems[0].message and "usd/kwh" in problems[1].message


# ---- references of options


def own_option(folder: Path, **changes: Any) -> Path:
    data = minimal() | {"options": ["mine", "rocev2-branded-400g"]}
    path = desk(folder, data)
    (folder / "options").mkdir()
    base = next(o for o in read_yaml("options") if o["id"] == "infiniband-ndr")
    option = {**base, "id": "mine", "notes": []} | changes
    (folder / "options" / "own.yaml").write_text(yaml.safe_dump([option], sort_keys=False), encoding="utf-8")
    return path


def references(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(node, str) and node.startswith(("price:", "evidence:")):
        yield path, node
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in pairs:
        yield from references(value, (*path, key))


def test_every_reference_of_a_clients_option_is_looked_up_in_its_own_file(tmp_path: Path) -> None:
    path = own_option(tmp_path)
    assert not check(path).problems
    file = tmp_path / "options" / "own.yaml"
    (option,) = yaml.safe_load(file.read_text())
    places = list(references(option))
    assert len(places) > 15
    for where, ref in places:
        option = yaml.safe_load(file.read_text())[0]
        at: Any = option
        for part in where[:-1]:
            at = at[part]
        at[where[-1]] = f"{ref}-x-y"
        own_text = file.read_text()
        file.write_text(yaml.safe_dump([option], sort_keys=False), encoding="utf-8")
        problem = only(tuple(unanswered_in(path)))
        missed = f"{ref}-x-y".split(" or ")[-1]  # of two, what stands in for a price that nobody has
        assert (problem.file, problem.line, problem.value) == (str(file), line_of(file, f"{ref}-x-y"), missed)
        file.write_text(own_text, encoding="utf-8")


def unanswered_in(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        open_case(path)
    return caught.value.problems


def test_a_reference_of_an_option_in_another_unit_is_refused(tmp_path: Path) -> None:
    pieces = {
        **read_yaml("options")[0]["pieces"],
        "nic": {"price": "evidence:nic-connectx7-watts", "watts": "price:nic-connectx7-400g"},
    }
    found = {p.key: p for p in check(own_option(tmp_path, pieces=pieces)).problems}
    assert set(found) == {"mine.pieces.nic.price", "mine.pieces.nic.watts"}
    assert "usd" in found["mine.pieces.nic.price"].remedy and "in w" in found["mine.pieces.nic.watts"].remedy


def test_an_option_of_an_unknown_fabric_is_refused_before_a_model_meets_it(tmp_path: Path) -> None:
    problem = only(check(own_option(tmp_path, fabric="infiniband-ndt")).problems)
    assert problem.suggestion == "infiniband-ndr" and problem.line == line_of(tmp_path / "options/own.yaml", "ndt")


def test_an_option_nobody_compares_must_still_name_things_that_exist(tmp_path: Path) -> None:
    path = own_option(tmp_path, training="evidence:no-such-course")
    path.write_text(yaml.safe_dump(minimal()), encoding="utf-8")
    assert only(check(path).problems).key == "mine.training"


# ---- answers and logs


ANSWERS = "provider: CoreWeave\ndate: 2026-10-02\nanswered_by: A. Seller\nanswers:\n  - question: Q-NET-07\n"


def with_files(folder: Path, answers: str, log: str) -> Path:
    data = minimal() | {
        "options": TWO,
        "providers": [{"name": "CoreWeave", "answers": "in/answers.yaml"}],
        "measurements": ["in/log.txt"],
    }
    path = desk(folder, data)
    (folder / "in").mkdir()
    (folder / "in" / "answers.yaml").write_text(answers, encoding="utf-8")
    (folder / "in" / "log.txt").write_text(log, encoding="utf-8")
    return path


def good_log() -> str:
    return (PARAMS.parent / "tests/data/logs/xe9680_16gpu_mpirun.txt").read_text()


GOOD = ANSWERS + "    answer: yes indeed\n"


def test_good_answers_and_a_good_log_pass(tmp_path: Path) -> None:
    assert not check(with_files(tmp_path, GOOD, good_log())).problems


@rows(
    ("answers", "log", "named", "line"),
    [
        (ANSWERS + "    answer: a\n    valu: 3\n", None, "answers.yaml", 7),
        (ANSWERS + "    answer: a\n    value: 3\n    unit: gbytes\n", None, "answers.yaml", 8),
        (ANSWERS.replace("Q-NET-07", "allreduce-result") + "    answer: a\n", None, "answers.yaml", 5),
        (ANSWERS.replace("CoreWeave", "Lambda") + "    answer: a\n", None, "answers.yaml", 1),
        (ANSWERS.replace("2026-10-02", "2026-12-02") + "    answer: a\n", None, "answers.yaml", 2),
        (None, "Meeting of 3 May: we talked about the network.\n", "log.txt", 1),
        (None, "", "log.txt", 1),
    ],
)  # fmt: skip
def test_broken_answers_and_logs_are_the_users_error_in_check_and_in_build(
    tmp_path: Path, answers: str | None, log: str | None, named: str, line: int | None
) -> None:
    path = with_files(tmp_path / "client", answers or GOOD, good_log() if log is None else log)
    done = CliRunner().invoke(main, ["check", str(path)])
    own = str(tmp_path / "client" / "in" / named)
    faults = [told for told in done.stderr.splitlines() if not told.startswith("note: ")]
    assert done.exit_code == 2 and faults[0].startswith(f"{own}:{line}: " if line else f"{own}: ")
    with pytest.raises(InputError) as caught:
        build(path, output=tmp_path / "out")
    assert str(caught.value) in done.stderr and "scratch" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_cluster_beyond_the_model_is_refused_in_the_file_that_claims_it(tmp_path: Path) -> None:
    measured = "    measured: {gpus: 8388608, busbw_gbytes_per_s: 300}\n"
    log = good_log().replace("-np 16", "-np 8388608").replace("Rank 15", "Rank 8388607")
    found = check(with_files(tmp_path, GOOD + measured, log)).problems
    assert [Path(p.file).name for p in found] == ["answers.yaml", "log.txt"]
    assert found[0].line == 5 and all(p.value == "8388608" for p in found)


def test_a_file_named_in_the_wrong_list_is_told_with_the_line_that_names_it(tmp_path: Path) -> None:
    path = with_files(tmp_path, GOOD, "")
    named = path.read_text().splitlines().index("- in/log.txt") + 1
    assert only(check(path).problems).remedy.endswith(f"{path.name} names this file in line {named}.")
    path.write_text(path.read_text().replace("- in/log.txt", "- in/answers.yaml"), encoding="utf-8")
    fault = only(check(path).problems)
    assert "no row of a measurement" in fault.message
    assert f"{path.name} names this file in line " in fault.remedy


# ---- one check for all


def test_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    path = with_files(tmp_path, ANSWERS + "    answer: a\n    valu: 3\n", "no log\n")
    path.write_text(path.read_text() + "seeed: 3\n", encoding="utf-8")
    for name, text in (("evidence", "- id: X\n"), ("options", "- id: mine\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "own.yaml").write_text(text, encoding="utf-8")
    files = {Path(p.file).relative_to(tmp_path).as_posix() for p in check(path).problems}
    assert {"acme.yaml", "evidence/own.yaml", "options/own.yaml"} <= files
    path.write_text(path.read_text().replace("seeed: 3\n", ""), encoding="utf-8")
    files = {Path(p.file).relative_to(tmp_path).as_posix() for p in check(path).problems}
    assert files == {"evidence/own.yaml", "options/own.yaml", "in/answers.yaml", "in/log.txt"}


def test_a_book_behind_a_link_is_refused_by_check_as_by_build(tmp_path: Path) -> None:
    path = desk(tmp_path / "client", minimal() | {"options": TWO})
    (tmp_path / "client" / "prices").rename(tmp_path / "elsewhere")
    (tmp_path / "client" / "prices").symlink_to(tmp_path / "elsewhere")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 2 and f"{tmp_path / 'client' / 'prices'}: is a symbolic link" in done.stderr
    with pytest.raises(InputError, match="symbolic link"):
        load_checked(path, Places())


def test_a_later_date_is_checked_as_if_the_params_stated_it(tmp_path: Path) -> None:
    path = desk(tmp_path, minimal() | {"options": TWO, "overrides": [OVERRIDE]})
    assert load_checked(path, Places(), "2027-01-31").params.as_of == date(2026, 11, 20)
    with pytest.raises(InputError, match="expired") as caught:
        load_checked(path, Places(), "2027-02-01")
    problem = only(caught.value.problems)
    assert (problem.file, problem.line) == (str(path), line_of(path, "until"))
