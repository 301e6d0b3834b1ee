"""What `check` accepts, `build` builds: proved over a covering array of clients, not over the three we like.

`make laws` builds the few clients in which every single choice stands at least once, on a small sample and with blank
pictures, `make test` two of them, by the commit. `make trust` builds every client of the array whole, and CI a tenth of them, by the commit.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import clients
import pytest
import yaml
from one_process import SMALL_DRAWS, Whole, whole, written

from fabricreport.base.errors import InputError
from fabricreport.case import Case, open_case
from fabricreport.scenario.rules import REFUSALS
from fabricreport.sections.decision.actions import most
from fabricreport.sections.decision.tables import todo
from fabricreport.sections.schedule import Step

SIZES = yaml.safe_load(clients.SIZES.read_text(encoding="utf-8"))
IN_ARRAY, COVERING = SIZES["in_array"], SIZES["covering"]
PRINTED = 7
"""One in so many of the few is drawn and written as PDF and HTML, every client of the array in `make trust`."""
IN_TEST = 1
"""How many of the few `make test` builds, by the commit; `make laws` builds them all."""
MOST_REFUSED = 0.05


def built(row: dict[str, Any], folder: Path, **how: Any) -> tuple[Whole | None, list[str]]:
    """The client's memo with what its checks find wrong; None if the client is refused, with what no rule of refusal
    names as a contradiction."""
    path = clients.write_client(row, folder)
    try:
        open_case(path)
    except InputError as error:
        return None, [str(p) for p in error.problems if p.rule not in REFUSALS or not p.line]
    done = whole(path, **how)
    assert_list_can_be_done(done.case)
    return done, done.faults


def assert_list_can_be_done(case: Case) -> None:
    """What to do before signing is short, in order, and never on a weekend."""
    monday = case.monday()
    todos, cluster = monday.todos, case.params.cluster
    assert len(todos) <= most() and len(todo(monday).rows) == len(todos)
    worth = [one.due.worth.usd if one.due.worth else None for one in todos]
    priced = [w for w in worth if w is not None]
    assert worth == [*sorted(priced, reverse=True), *[None] * (len(worth) - len(priced))]
    assert all((f"decision.worth.{one.action.kind}" in case.decision().numbers) == one.due.pays for one in todos)
    assert all(case.as_of < one.by <= monday.calendar.days[Step.ORDER] and one.by.weekday() < 5 for one in todos)
    assert cluster.final_gpus > cluster.gpus_per_node or not any(one.action.network for one in todos)


def test_no_client_of_the_array_is_left_out() -> None:
    assert (len(clients.rows()), len(clients.covering_rows())) == (IN_ARRAY, COVERING)


def test_every_key_of_the_schema_is_varied() -> None:
    assert clients.keys_without_factor() == set()


def test_every_pair_of_choices_stands_together_in_a_client() -> None:
    factors = clients.factors()
    seen = {
        ((a, repr(row[a])), (b, repr(row[b])))
        for row in clients.rows()
        for a, b in itertools.combinations(sorted(factors), 2)
    }
    wanted = {
        ((a, repr(x)), (b, repr(y)))
        for a, b in itertools.combinations(sorted(factors), 2)
        for x, y in itertools.product(factors[a], factors[b])
        if not any(excluded({a: x, b: y}) for _, excluded in clients.CONTRADICTIONS)
    }
    assert wanted <= seen


@pytest.mark.laws(0)
def test_under_one_client_in_twenty_is_refused_and_each_by_a_rule(tmp_path: Path) -> None:
    refused = []
    for number, row in enumerate(clients.rows()):
        path = clients.write_client(row, tmp_path / str(number))
        try:
            open_case(path)
        except InputError as error:
            refused.append(error)
            assert {p.rule for p in error.problems} <= set(REFUSALS), str(error)
    assert len(refused) < MOST_REFUSED * IN_ARRAY


@pytest.mark.slow
@pytest.mark.laws(IN_TEST)
@pytest.mark.parametrize("number", range(COVERING))
def test_every_single_choice_builds_a_whole_memo(number: int, tmp_path: Path) -> None:
    printed = number % PRINTED == 0
    done, faults = built(clients.covering_rows()[number], tmp_path, draws=SMALL_DRAWS, draw_charts=printed)
    assert faults == []
    if done is not None and printed:
        html, pdf = written(done)
        assert pdf.startswith(b"%PDF") and "</html>" in html


@pytest.mark.trust
@pytest.mark.parametrize("number", range(IN_ARRAY))
def test_every_pair_of_choices_builds_a_whole_memo(number: int, tmp_path: Path) -> None:
    done, faults = built(clients.rows()[number], tmp_path, draws=SMALL_DRAWS)
    assert faults == []
    if done is not None:
        html, pdf = written(done)
        assert pdf.startswith(b"%PDF") and "</html>" in html


def plain_clients() -> list[tuple[str, str, str]]:
    """Every kind of workload on every GPU, obtained in two of the four ways: neighbours in the two others."""
    ways = clients.choices("money.acquisition")
    return [
        (kind, way, gpu)
        for i, kind in enumerate(clients.choices("workload.kind"))
        for j, gpu in enumerate(clients.choices("cluster.gpu"))
        for way in ways[(i + j) % 2 :: 2]
    ]


@pytest.mark.trust
@pytest.mark.parametrize(("kind", "acquisition", "gpu"), plain_clients())
def test_every_kind_of_workload_builds_on_every_gpu_however_it_is_obtained(
    kind: str, acquisition: str, gpu: str, tmp_path: Path
) -> None:
    path = clients.write_plain_client(tmp_path, kind=kind, acquisition=acquisition, gpu=gpu)
    assert whole(path, draws=SMALL_DRAWS, draw_charts=False).faults == []
