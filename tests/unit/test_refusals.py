"""Each rule of refusal refuses its own contradiction, at its key, and no other rule stands in code."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from elicited_cases import answers_text
from rows import rows
from scenario_cases import minimal, override

from fabricreport.base.errors import Problem
from fabricreport.base.project import FOLDERS
from fabricreport.base.yaml_files import read_yaml
from fabricreport.case import open_case
from fabricreport.check.check import check
from fabricreport.cli import books
from fabricreport.cli.main import main
from fabricreport.delivery import study
from fabricreport.desk import answers as filing
from fabricreport.desk import trace
from fabricreport.inputs.dossier import read_given
from fabricreport.memo.run.snapshot import BOOKS
from fabricreport.scenario import SHIPPED_OPTIONS, new_params
from fabricreport.scenario.rules import REFUSALS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]


def client(**sections: Any) -> dict[str, Any]:
    data = minimal()
    for key, value in sections.items():
        data[key] = {**data[key], **value} if isinstance(data.get(key), dict) else value
    return data


TWO = ["infiniband-ndr", "rocev2-branded-400g"]
ANSWERS = "elicited/careful.yaml"
OFFER = {"seller": "Example Cloud", "date": "2026-11-12", "expiry": "2026-12-12", "fabric": "infiniband"}
HOURS = {**OFFER, "price_per_gpu_hour": 2.6}


def offered(*, buys: bool = False, **changes: Any) -> dict[str, Any]:
    """A client that rents (or buys) and is offered something."""
    money = {} if buys else {"money": {"acquisition": "rent"}}
    return client(**money, offers=[{**HOURS, **changes}])


BREAKERS: dict[str, tuple[dict[str, Any], str]] = {
    "offer-after-horizon": (offered(start="2036-12-01"), "offers[0].start"),
    "offer-after-memo": (offered(date="2026-12-01"), "offers[0].date"),
    "offer-ends-before-it-begins": (offered(expiry="2026-11-01"), "offers[0].expiry"),
    "offer-of-other-gpus": (offered(gpu="h200"), "offers[0].gpu"),
    "offer-too-small": (offered(size=8), "offers[0].size"),
    "offer-of-another-trade": (offered(buys=True), "offers[0].price_per_gpu_hour"),
    "offer-without-price": (client(money={"acquisition": "rent"}, offers=[OFFER]), "offers[0].seller"),
    "offer-of-no-option": (
        {**offered(), "options": ["rocev2-branded-400g", "rocev2-whitebox-400g"]},
        "offers[0].fabric",
    ),
    "memo-date": (client(as_of="1999-01-01"), "as_of"),
    "production-before-memo": (client(schedule={"production_by": "2020-01-01"}), "schedule.production_by"),
    "colour-too-pale": (
        client(brand={"name": "A", "colours": {"accent": "#ffcc00", "second": "#14466b"}}),
        "brand.colours.accent",
    ),
    "colours-alike": (
        client(brand={"name": "A", "colours": {"accent": "#14466b", "second": "#6b1446"}}),
        "brand.colours.second",
    ),
    "reserved-slug": (client(client={"slug": "latest"}), "client.slug"),
    "folder-of-others": (client(client={"name": "Evidence"}), "client.name"),
    "stages-out-of-order": (
        client(cluster={"trajectory": [{"month": 24, "gpus": 128}, {"month": 12, "gpus": 256}]}),
        "cluster.trajectory[1].month",
    ),
    "cluster-shrinks": (client(cluster={"trajectory": [{"month": 12, "gpus": 32}]}), "cluster.trajectory[0].gpus"),
    "stage-beyond-horizon": (
        client(cluster={"trajectory": [{"month": 60, "gpus": 128}]}),
        "cluster.trajectory[0].month",
    ),
    "part-of-a-node": (client(cluster={"gpus": 65}), "cluster.gpus"),
    "more-sites-than-servers": (client(cluster={"sites": 9}), "cluster.sites"),
    "too-few-ports": (client(cluster={"nic_ports_per_node": 4}), "cluster.links_per_gpu"),
    "maker-of-the-gpu": (client(cluster={"vendor": "amd"}), "cluster.vendor"),
    "plan-does-not-multiply": (
        client(workload={"parallelism": {"tp": 8, "pp": 1, "dp": 9}}),
        "workload.parallelism",
    ),
    "experts-do-not-divide": (
        client(workload={"parallelism": {"tp": 8, "pp": 1, "dp": 8, "ep": 3}}),
        "workload.parallelism.ep",
    ),
    "jobs-do-not-sum": (client(workload={"jobs": [{"gpus": 8, "share": 0.5}]}), "workload.jobs"),
    "job-beyond-site": (
        client(cluster={"sites": 2, "sites_joined": False}, workload={"jobs": [{"gpus": 64, "share": 1.0}]}),
        "workload.jobs[0].gpus",
    ),
    "links-of-no-sites": (client(cluster={"site_distance_km": 10}), "cluster.site_distance_km"),
    "sites-beyond-links": (client(cluster={"sites": 2, "site_tbits_per_s": 13}), "cluster.site_tbits_per_s"),
    "sites-apart-cut-the-job": (client(cluster={"sites": 2, "sites_joined": False}), "cluster.sites_joined"),
    "plan-does-not-divide-jobs": (
        client(workload={"parallelism": {"tp": 8, "pp": 2, "dp": 4}, "jobs": [{"gpus": 8, "share": 1.0}]}),
        "workload.parallelism",
    ),
    "profile-of-no-simulation": (client(workload={"mpi_share": 0.2}), "workload.mpi_share"),
    "method-of-no-fine-tuning": (
        client(workload={"kind": "pretraining-dense", "run_days": 9, "method": "lora"}),
        "workload.method",
    ),
    "rented-servers-used": (
        client(cluster={"server_age_months": 24}, money={"acquisition": "rent"}),
        "cluster.server_age_months",
    ),
    "office-of-others": (
        client(cluster={"premises": "office"}, money={"acquisition": "colocate"}),
        "cluster.premises",
    ),
    "no-weight": (
        client(weights=dict.fromkeys(("workload", "maturity", "scale_and_budget", "time_to_production"), 0)),
        "weights",
    ),
    "partner-rule-leaves-too-few": (
        client(organisation={"nvidia_cloud_partner": True}, options=["infiniband-ndr", "rocev2-whitebox-400g"]),
        "organisation.nvidia_cloud_partner",
    ),
    "option-of-other-gpus": (client(options=["infiniband-ndr", "amd-pollara-400g"]), "options[1]"),
    "nothing-to-compare": (client(options=["infiniband-ndr"]), "options"),
    "question-of-others": (client(question="choose-provider"), "question"),
    "operations-of-others": (
        client(money={"acquisition": "rent"}, organisation={"operations": "bought-in"}),
        "organisation.operations",
    ),
    "nothing-grows": (client(question="grow-in-stages"), "question"),
    "given-twice": (client(options=["infiniband-ndr", "infiniband-ndr"]), "options[1]"),
    "override-expired": (override(until="2026-01-01"), "overrides[0].until"),
    "override-of-itself": (override(value="price:switch-qm9700"), "overrides[0].value"),
    "override-moves-nothing": (
        {**override(id="evidence:gateway-skyway-port-speed", value=400), "options": TWO},
        "overrides[0].id",
    ),
    "elicited-moves-nothing": (
        client(
            cluster={"gpus": 8}, workload={"model_parameters_billion": 8}, options=["ethernet-tcp"], elicited=[ANSWERS]
        ),
        "elicited",
    ),
    "elicited-and-overridden": (
        {**override(id="evidence:weeks-to-stable-rocev2", value=4), "elicited": [ANSWERS]},
        "overrides[0].id",
    ),
    "dragonfly-has-no-taper": (
        client(cluster={"topology": "dragonfly", "oversubscription": 2}),
        "cluster.oversubscription",
    ),
    "switches-cannot-connect": (client(cluster={"gpus": 131_072}), "cluster.gpus"),
    "model-does-not-fit": (
        client(cluster={"gpus": 8}, workload={"model_parameters_billion": 1500}),
        "workload.model_parameters_billion",
    ),
}


def refused(data: dict[str, Any], folder: Path) -> tuple[Problem, ...]:
    path = folder / "client.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    for answers in data.get("elicited", ()):
        (folder / answers).parent.mkdir()
        judged = answers_text("C. Careful", 4.0, "p5: 2, p50: 4, p95: 10", "p5: 0.9, p50: 1.1, p95: 1.6")
        (folder / answers).write_text(judged, encoding="utf-8")
    return check(path).problems


def test_every_rule_of_the_list_has_its_contradiction_here() -> None:
    assert set(BREAKERS) == set(REFUSALS)
    assert all(why.endswith(".") and why.count(".") == 1 for why in REFUSALS.values())


@pytest.mark.laws(12)
@pytest.mark.parametrize("rule", BREAKERS)
def test_a_contradiction_is_refused_by_its_rule_at_its_key(rule: str, tmp_path: Path) -> None:
    data, key = BREAKERS[rule]
    problems = refused(data, tmp_path)
    assert {p.rule for p in problems} == {rule}, problems
    assert key in {p.key for p in problems}
    assert all(p.file == str(tmp_path / "client.yaml") and p.line and p.remedy for p in problems)


def test_a_model_that_nobody_stated_refuses_nobody(tmp_path: Path) -> None:
    data = client(cluster={"gpus": 8}, workload={"kind": "pretraining-dense"})
    path = tmp_path / "client.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    assert open_case(path).params.workload.model_parameters_billion == 16


@rows("folder", [*FOLDERS, "as-delivered-infiniband-ndr"])
def test_a_client_called_like_a_folder_is_refused_by_name_or_slug_and_new_calls_it_otherwise(
    folder: str, tmp_path: Path
) -> None:
    for named, key in (({"slug": folder}, "slug"), ({"name": folder.title().replace("-", " ")}, "name")):
        (problem,) = refused(client(client=named), tmp_path)
        assert (problem.rule, problem.key) == (
            "folder-of-others",
            f"client.{key}",
        ) and f"client-{folder}" in problem.remedy
    assert f"slug: client-{folder}" in new_params(folder, date(2026, 11, 20)).replace('"', "")


def test_every_folder_that_the_program_uses_beside_params_is_among_those() -> None:
    assert {*BOOKS, filing.FOLDER, books.FOLDER, study.FOLDER, trace.RECORD.parent.name} <= FOLDERS


def test_an_adapter_of_the_maker_of_the_gpus_is_accepted(tmp_path: Path) -> None:
    data = client(cluster={"gpu": "mi300x"}, options=["infiniband-ndr", "amd-pollara-400g"])
    assert refused(data, tmp_path) == ()


def test_an_option_of_before_is_refused_with_what_has_taken_its_place(tmp_path: Path) -> None:
    former = read_yaml("former_options")
    assert set(former.values()) <= set(SHIPPED_OPTIONS) and not set(former) & set(SHIPPED_OPTIONS)
    for option, now in former.items():
        (problem,) = refused(client(options=["infiniband-ndr", option]), tmp_path)
        assert (problem.key, problem.value, problem.suggestion) == ("options[1]", option, now)


@rows("gpus", [65_536, 65_544])
def test_the_largest_cluster_of_a_switch_is_accepted_and_one_node_more_is_not(gpus: int, tmp_path: Path) -> None:
    data = client(cluster={"gpus": gpus}, options=["infiniband-ndr", "rocev2-whitebox-400g"])
    path = tmp_path / "client.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    if gpus <= 65_536:
        assert open_case(path).tco().totals
    else:
        assert {p.rule for p in refused(data, tmp_path)} == {"switches-cannot-connect"}


def test_check_lists_the_rules() -> None:
    done = CliRunner().invoke(main, ["check", "--rules", "--json"])
    assert done.exit_code == 0 and json.loads(done.stdout) == dict(REFUSALS)
    assert all(why in CliRunner().invoke(main, ["check", "--rules"]).stdout for why in REFUSALS.values())
    assert CliRunner().invoke(main, ["check"]).exit_code == 2


@rows(
    ("gpus", "kind", "size"),
    [(8, "fine-tuning", 70), (1, "fine-tuning", 8), (8, "inference", 405), (256, "pretraining-moe", 1000)],
)
def test_a_model_that_people_do_run_on_such_gpus_is_accepted(gpus: int, kind: str, size: float, tmp_path: Path) -> None:
    path = tmp_path / "client.yaml"
    data = client(cluster={"gpus": gpus}, workload={"kind": kind, "model_parameters_billion": size})
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    assert open_case(path).latency().numbers


def test_two_clients_of_one_slug_do_not_share_what_is_one_clients_own(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "params" / "tern-finetuning.yaml").read_text(encoding="utf-8")
    for name in ("Tern Analytics", "Zeta Limited"):
        (tmp_path / f"{name[0]}.yaml").write_text(text.replace("Tern Analytics", name), encoding="utf-8")
    assert not read_given(tmp_path / "Z.yaml").problems  # two scenarios, and nothing that is one's own
    (tmp_path / "tern-analytics" / "prices").mkdir(parents=True)
    [told] = read_given(tmp_path / "Z.yaml").problems
    assert (
        told.key == "client.slug" and told.line == 6 and "T.yaml" in told.message and "tern-analytics-2" in told.remedy
    )
    (tmp_path / "Z.yaml").write_text(text, encoding="utf-8")
    assert not read_given(tmp_path / "Z.yaml").problems  # the same client twice
