"""What of our own words carries an advice: the memo's own worth and edges, most worth first, and nothing that is known."""

from __future__ import annotations

import json
from pathlib import Path

import bench
import pytest
from click.testing import CliRunner

from fabricreport.base.vocabulary import OURS
from fabricreport.case import Case
from fabricreport.cli.main import main
from fabricreport.models.information import Estimate
from fabricreport.sections.decision.study import Carrying, carrying_of, ours
from fabricreport.sections.rents import ASSUMED

pytestmark = pytest.mark.slow
WEEKS = "weeks-to-stable-infiniband"


def carrying(case: Case) -> Carrying:
    return carrying_of(case.inputs, case.knowledge, case.decision())


def test_worth_and_edge_are_those_of_the_memo() -> None:
    pair, own = ["infiniband-xdr", "spectrum-x-800g"], "weeks-to-stable-spectrum-x"
    case = bench.drawn("halden-cloud", options=pair, organisation__existing_ethernet="some")
    information = case.decision().information
    assert information is not None
    (group,) = (known for known in information.telling if known.group.id == "weeks-ethernet")
    assert group.ids == (f"evidence:{own}",)  # one line of ours is all of it
    one = next(c for c in carrying(case).carried if c.id == f"evidence:{own}")
    assert one.telling == pytest.approx(group.estimate.value)
    (turn,) = (t for t in case.decision().turns.drawn if t.input_id == f"evidence:{own}")
    unit = case.decision().own_unit(turn)
    assert unit.told(one.turns[0].at) == pytest.approx(case.figure(f"decision.edge.evidence.{own}").value)
    assert one.turns[0].chance == pytest.approx(case.figure(f"decision.beyond_edge.evidence.{own}").value)


def test_the_most_worth_comes_first_and_each_is_ours_and_carries() -> None:
    for client in bench.SHIPPED:
        case = bench.case(client)
        found = carrying(case)
        orders = [c.order for c in found.carried]
        assert orders == sorted(orders, reverse=True)
        assert all(c.grade in OURS and (not c.worth.below_noise or c.turns) and c.settles for c in found.carried)
        assert len(found.carried) <= found.of == len(ours(case.inputs, case.knowledge))


def test_what_is_known_for_certain_carries_nothing() -> None:
    before, known = bench.case("example"), bench.changed("example", evidence={WEEKS: 5})
    assert f"evidence:{WEEKS}" in ours(before.inputs, before.knowledge)
    assert f"evidence:{WEEKS}" not in {c.id for c in carrying(known).carried}
    assert carrying(known).of == carrying(before).of - 1


def test_the_discount_for_a_term_stands_for_the_price_of_each_seller() -> None:
    case = bench.case("tern-finetuning")
    assert ASSUMED in ours(case.inputs, case.knowledge)
    sellers = [i for i in case.knowledge.inputs if i.startswith("offer:")]
    assert sellers and case.knowledge.worth([ASSUMED]) == case.knowledge.worth(sellers)


def test_without_a_choice_nothing_carries() -> None:
    alone = bench.changed("example", cluster__gpus=8, options=["infiniband-ndr"])
    assert all(c.worth == Estimate(0.0, 0.0) for c in carrying(alone).carried)


@pytest.mark.usefixtures("few_draws")
def test_the_command_prints_the_list_and_refuses_what_is_no_params(tmp_path: Path) -> None:
    params = str(bench.PARAMS / "tern-finetuning.yaml")
    listed = json.loads(CliRunner().invoke(main, ["evidence", "--carrying", params, "--json"]).stdout)
    assert listed["of"] > len(listed["carrying"]) > 0
    told = CliRunner().invoke(main, ["evidence", "--carrying", params]).stdout
    assert all(one["id"] in told and one["settles"] in told for one in listed["carrying"])
    broken = tmp_path / "broken.yaml"
    broken.write_text("client: {name: Acme}\n")
    for words in (
        ["--carrying", str(broken)],
        ["--carrying", str(tmp_path / "none.yaml")],
        ["--claims", "--carrying", params],
    ):
        result = CliRunner().invoke(main, ["evidence", *words])
        assert result.exit_code == 2 and result.stderr
