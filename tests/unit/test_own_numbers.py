"""Numbers an analyst makes: remembered by their case, quoted by id, and never firmer than what they rest on."""

from __future__ import annotations

import bench
import pandas as pd
import pytest
from rows import rows

from fabricreport.blocks import Section
from fabricreport.blocks.nodes import plain_text
from fabricreport.case import Case, open_case
from fabricreport.ledger.numbers import GRADES
from fabricreport.scenario import SECTION_NAMES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

EXAMPLE = bench.PARAMS / "tern-finetuning.yaml"


@pytest.fixture
def case() -> Case:
    return open_case(EXAMPLE)


def made(case: Case, id: str = "tco.mine", value: float = 1234.0, **more: object) -> None:
    case.number(id, value, "usd", label="A figure of mine", rule="made up", **more)


@pytest.mark.parametrize("number_id", ["tco.mine", "power.mine", "mine"])
def test_a_number_made_in_a_notebook_is_quoted_by_its_id_whatever_its_first_word(case: Case, number_id: str) -> None:
    made(case, number_id)
    body = Section("tco", case)
    body.say("It costs {" + number_id + "}.")
    assert plain_text(body.emitted[-1].nodes[0].children) == "It costs $1,230."


def test_a_number_with_neither_inputs_nor_sources_is_an_assumption(case: Case) -> None:
    made(case)
    assert case.figure("tco.mine").grade == "assumption"


@pytest.mark.parametrize(
    ("footing", "grade"),
    [
        ({"inputs": ("param:cluster.gpus",)}, "contract"),
        ({"inputs": ("evidence:rule-material-share",)}, "assumption"),
        ({"inputs": ("evidence:llama3-effective-training-time",)}, "published"),
        ({"sources": ("evidence:llama3-effective-training-time",)}, "published"),
        ({"counted": True}, "measured"),
    ],
)
def test_a_number_is_as_firm_as_the_weakest_thing_it_rests_on(case: Case, footing: dict, grade: str) -> None:
    made(case, **footing)
    assert case.figure("tco.mine").grade == grade


def test_a_number_rests_on_a_figure_given_as_itself_or_by_its_id(case: Case) -> None:
    base = case.figure("tco.difference")
    made(case, "tco.by-number", inputs=[base])
    made(case, "tco.by-id", inputs=[base.id, "param:cluster.gpus"])
    first, second = case.figure("tco.by-number"), case.figure("tco.by-id")
    assert (first.inputs, first.sources) == (base.inputs, base.sources)
    assert second.inputs == tuple(sorted({*base.inputs, "param:cluster.gpus"}))
    assert GRADES.index(first.grade) >= GRADES.index(base.grade) <= GRADES.index(second.grade)


def test_a_number_made_from_an_assumed_one_is_assumed_whatever_else_it_rests_on(case: Case) -> None:
    made(case, "power.guess")
    made(case, "power.more", inputs=["power.guess", "evidence:llama3-effective-training-time"])
    made(case, "power.most", inputs=(case.figure("power.more"),), counted=True)
    assert case.figure("power.more").grade == case.figure("power.most").grade == "assumption"
    assert case.figure("power.most").inputs == ("evidence:llama3-effective-training-time",)


@pytest.mark.parametrize("key", ["inputs", "sources"])
@pytest.mark.parametrize(
    ("wrong", "right"),
    [("power.mien", "power.mine"), ("price:switch-qm970", "price:switch-qm9700"), ("tco.differenc", "tco.difference")],
)
def test_an_input_nobody_knows_is_answered_with_the_nearest_known_one(
    case: Case, key: str, wrong: str, right: str
) -> None:
    made(case, "power.mine")
    with pytest.raises(KeyError) as caught:
        made(case, "power.next", **{key: [wrong]})
    assert f"did you mean {right}?" in str(caught.value)


def test_a_dataframe_without_rows_is_named_with_the_table_it_was_meant_for(case: Case) -> None:
    with pytest.raises(ValueError, match="the DataFrame of tab-none has no rows"):
        Section("tco", case).frame(pd.DataFrame({"a": []}), "tab-none", "None")


def test_a_second_value_under_the_same_id_is_refused_and_the_same_value_is_not(case: Case) -> None:
    made(case)
    made(case)
    with pytest.raises(ValueError, match=r"tco\.mine is \$1,230 .* cannot be \$5,000"):
        made(case, value=5000.0)


def test_an_id_of_an_analysis_cannot_be_taken_before_or_after_it_ran(case: Case) -> None:
    made(case, "latency.network_gpus")
    with pytest.raises(ValueError, match=r"latency\.network_gpus is"):
        case.latency()
    fresh = open_case(EXAMPLE)
    fresh.latency()
    with pytest.raises(ValueError, match=r"latency\.network_gpus is"):
        made(fresh, "latency.network_gpus")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("power.mien", "power.mine"),
        ("latency.network_gpu", "latency.network_gpus"),
        ("evidence:llama3-effective-training-tme", "evidence:llama3-effective-training-time"),
        ("price:switch-qm970", "price:switch-qm9700"),
        ("param:money.horizon_month", "param:money.horizon_months"),
    ],
)
def test_an_unknown_id_is_answered_with_the_nearest_known_one(case: Case, wrong: str, right: str) -> None:
    made(case, "power.mine")
    with pytest.raises(KeyError) as caught:
        case.figure(wrong)
    assert f"did you mean {right}?" in str(caught.value)


@rows("client", ["example", "tern-finetuning", "kestrel-lab"])
def test_no_figure_of_the_package_is_an_assumption_for_want_of_inputs(client: str) -> None:
    numbers = [n for section in SECTION_NAMES for n in bench.case(client).result(section).numbers.values()]
    assert len(numbers) > 400
    assert [n.id for n in numbers if n.grade == "assumption" and not n.inputs and not n.sources] == []
