"""What to do before signing, over clients of the covering array: short, in order, and never on a weekend."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import clients
import pytest
from one_process import SMALL_DRAWS

import fabricreport.inputs as inputs_module
from fabricreport.case import open_case
from fabricreport.errors import InputError
from fabricreport.sections.decision.monday.kinds import most
from fabricreport.sections.decision.monday.tables import letters, todo

pytestmark = pytest.mark.slow
SAMPLE = 5


@pytest.mark.parametrize("number", range(SAMPLE))
def test_each_client_s_list_fits_is_ordered_and_can_be_done(number: int, tmp_path: Path) -> None:
    path = clients.write_client(clients.chosen(SAMPLE, skip=3)[number], tmp_path)
    with mock.patch.object(inputs_module, "DRAWS", SMALL_DRAWS):
        try:
            case = open_case(path)
        except InputError:
            pytest.skip("a client that is refused")
        monday = case.monday()
    todos = monday.todos
    assert len(todos) <= most() and len(todo(monday).rows) == len(letters(monday).rows) == len(todos)
    worth = [one.due.worth for one in todos]
    priced = [w for w in worth if w is not None]
    assert worth == [*sorted(priced, reverse=True), *[None] * (len(worth) - len(priced))] and all(w > 0 for w in priced)
    assert all(case.as_of < one.by <= monday.last.day and one.by.weekday() < 5 for one in todos)
    assert monday.about_network or not any(one.action.network for one in todos)
    assert all(
        not one.action.network or case.params.cluster.final_gpus > case.params.cluster.gpus_per_node for one in todos
    )
