"""Every input that may be set is one on which a figure of some client rests, or is context with a reason.

The inputs of the books by provenance: of the clients of `tests/data/liveness_cases.yaml`, of few draws, all have their bills
made, and some every figure. The keys of the params by moving each once (`tests/data/liveness_params.yaml`): it moves the
money or the figure it names, or is in the provenance of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import yaml
from pydantic import BaseModel

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.errors import InputError
from fabricreport.base.provenance import mean_of, plain
from fabricreport.base.yaml_files import read_yaml
from fabricreport.case import Case, open_case
from fabricreport.check.examination import context, make_whole, resting, why_context
from fabricreport.check.plausibility import _links as doubts_on_links
from fabricreport.check.plausibility import cautions
from fabricreport.inputs.inputs import Inputs
from fabricreport.report.report import open_report
from fabricreport.scenario import SECTION_NAMES, Params
from fabricreport.sections.decision import tables as decision_tables

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
PLAIN, DRAWS = "plain buyer", 128
FACTORS = (0.97, 1.03)
PARTS = 20  # of what is moved: `make test` moves one, by the commit, and `make laws` all
WHOLE = (
    PLAIN,
    "renter of sixteen",
    "racks of seventy-two",
    "buyer with answers",
    "a size of which others publish a run",
)
"""Clients all of whose figures are made; of the others the bills, and what the section on cost says of them."""
REFERRED_TO = tuple(f"price:{start}" for start in ("fx-", "gpu-hour-", "switch-", "optic-", "nic-", "fibre-mpo"))
"""Prices that an option, a currency or a key of the client's own may refer to, whoever of the package does."""
BESIDE = (
    "engineer-hours",
    "engineering-hours",
    "gpu-hour-",
    "incident-",
    "inference-",
    "rent-spread",
    "rent-term-discount",
    "training-",
    "validated-up-to-",
)
"""Names of what is asked for on the way to the bills and moves other figures, or the bills of who pays for it."""


@cache
def clients() -> Mapping[str, Case]:
    """Every client of the file: the example, its sections replaced by those given."""
    data = yaml.safe_load((ROOT / "params" / "example.yaml").read_text(encoding="utf-8"))
    data["as_of"] = str(data["as_of"])
    changes = yaml.safe_load((DATA / "liveness_cases.yaml").read_text(encoding="utf-8"))
    with mock.patch.object(inputs_module, "DRAWS", DRAWS):
        return {name: open_case({**data, **own}) for name, own in changes.items()}


@cache
def rested_on() -> frozenset[str]:
    """Ids of the inputs on which figures of any client rest."""
    found: set[str] = set()
    for name, case in clients().items():
        with case.inputs.noting() as asked:
            for section in SECTION_NAMES if name in WHOLE else ("tco",):
                make_whole(case.result(section))
            tuple(cautions(case) if name in WHOLE else doubts_on_links(case))
            if name in WHOLE:
                case.spoken(case.params.asked.spine)
        found |= resting(case, frozenset(asked)) if name in WHOLE else case.chain.reached_by | (asked - context())
    report = open_report().numbers.values()  # what the evidence report shows is not idle either
    return frozenset(found | {i for number in report for i in (*number.inputs, *number.sources)})


@pytest.mark.laws(0)
def test_every_input_of_the_books_is_rested_on_by_a_client_or_is_context_with_a_reason() -> None:
    given = clients()[PLAIN].inputs
    books = {*(f"price:{i}" for i in given.prices), *(f"contested:{q}" for q in given.quantities)}
    books |= {f"evidence:{i}" for i in given.evidence}
    assert context() <= books and all(why_context(i) for i in context())
    unseen = books - rested_on() - context()
    assert sorted(i for i in unseen if not i.startswith(REFERRED_TO)) == []


def test_no_bill_rests_on_context() -> None:
    assert [i for case in clients().values() for i in case.chain.reached_by & context()] == []


def moves_a_bill(input_id: str) -> bool:
    """Whether the bills of some client are others with the figure a little larger or smaller."""
    for case, factor in product(clients().values(), FACTORS):
        base, given = case.chain, case.inputs
        if input_id in base.reached_by:
            with suppress(InputError):  # a share that would be above one
                again = base.replacing({input_id: given.uncertain(input_id).times(factor)}).bills.totals
                if any(not np.array_equal(plain(again[o]), plain(total)) for o, total in base.bills.totals.items()):
                    return True
    return False


@pytest.mark.laws(1)
@pytest.mark.parametrize("part", range(PARTS))
def test_what_the_bills_rest_on_moves_one(part: int) -> None:
    given = clients()[PLAIN].inputs
    reached = {i for case in clients().values() for i in case.chain.reached_by if not i.startswith("param:")}
    figures = sorted(i for i in reached if given.record(i)["unit"] != "text" and given.uncertain(i).central)
    assert len(figures) > 200
    still = [i for i in figures[part::PARTS] if not moves_a_bill(i)]
    assert [i for i in still if not i.partition(":")[2].startswith(BESIDE)] == []


# ---- the keys of the params


@cache
def keys() -> Mapping[str, Mapping[str, Any]]:
    """The keys of the params with the change tried of each, or why it is context."""
    found: Mapping[str, Mapping[str, Any]] = yaml.safe_load((DATA / "liveness_params.yaml").read_text(encoding="utf-8"))
    return found


def schema_keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key that a params file may hold a value at, those inside lists and plans included."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        inner = list(_models(field.annotation))
        yield from (key for part in inner for key in schema_keys(part, f"{path}.")) if inner else (path,)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models(part)


@cache
def _changed(name: str, change: str) -> Case:
    own = yaml.safe_load(change)
    return clients()[name].changed(**own) if own else clients()[name]


def _beside_logs() -> Case:
    """The plain buyer with nobody's answers, its files looked for where the tests keep their logs."""
    i = clients()[PLAIN].changed(providers=[]).inputs
    return Case(Inputs(i.params, DATA, i.shipped, i.price_book, i.all_options, draws=DRAWS))


def money(case: Case) -> object:
    """What each option costs, what each offer, and what is advised."""
    offers, verdict = case.knowledge.offers, case.comparison.verdict
    judged = {o: mean_of(j.total) for o, j in offers.judged.items()} if offers else {}
    totals = {o: mean_of(total) for o, total in case.chain.bills.totals.items()}
    return totals, judged, verdict.choice, verdict.runner_up, verdict.confidence, verdict.decided_by


def shown(case: Case, figure_id: str) -> str:
    """A figure as printed, a doubt, a word of the decision or its table of rules; '' where there is none."""
    if figure_id.startswith("caution."):
        return next((c.sentence for c in cautions(case) if c.id == figure_id.partition(".")[2]), "")
    if figure_id.startswith("word."):
        return str(case.spoken("decision").words[figure_id.partition(".")[2]])
    if figure_id == "tab-decision-rules":
        return str([row.cells for row in decision_tables.rules(case.inputs, case.decision()).rows])
    try:
        return case.figure(figure_id).text
    except KeyError:
        return ""


def moves(change: Mapping[str, Any]) -> bool:
    """Whether the change moves the money, or the figure it names."""
    first, to = (yaml.safe_dump(c) for c in (change.get("first", {}), {**change.get("first", {}), **change["to"]}))
    if "folder" in change:
        before = _beside_logs()
        after = before.changed(**change["to"])
    else:
        before, after = _changed(change["case"], first), _changed(change["case"], to)
    figure = change.get("figure")
    return shown(before, figure) != shown(after, figure) if figure else money(before) != money(after)


def test_every_key_of_the_schema_is_moved_or_said_to_be_context() -> None:
    assert set(keys()) == set(schema_keys(Params))
    assert all(("to" in key) != ("context" in key) for key in keys().values())


@pytest.mark.laws(1)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_key_that_is_moved_moves_the_money_or_a_figure_or_is_behind_one(part: int) -> None:
    tried = [(key, change) for key, change in keys().items() if "to" in change][part::PARTS]
    still = [key for key, change in tried if not moves(change)]
    behind = {i for case in clients().values() for i in case.chain.reached_by} if still else set()
    assert [key for key in still if f"param:{key}" not in behind and f"param:{key}" not in rested_on()] == []


def test_a_list_of_entries_names_no_other_kind() -> None:
    assert set(read_yaml("standing")) == {"live", "context", "context_prices", "context_quantities"}
