"""The params file: what is valid, what is refused and how, and that its other forms agree with it."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import BaseModel
from rows import rows
from scenario_cases import EXAMPLES, PARAMS, minimal, only, override, problems_of, with_value

from fabricreport.base.errors import InputError
from fabricreport.base.uncertain import Uncertain
from fabricreport.base.vocabulary import SPINES, Question
from fabricreport.base.yaml_files import read_yaml
from fabricreport.scenario import (
    SECTION_NAMES,
    SHIPPED_OPTIONS,
    Client,
    Cluster,
    Money,
    Organisation,
    Params,
    Workload,
    assumptions,
    canonical_json,
    client_slug,
    defaulted_keys,
    is_given,
    json_schema,
    load_params,
    new_params,
    params_from,
)
from fabricreport.scenario.defaults import FOLLOWS_FROM

# --- what is valid ---------------------------------------------------------------------------------------


def test_six_keys_make_a_valid_file() -> None:
    params = params_from(minimal())
    assert params.cluster.gpu == "h100"
    assert params.workload.run_days == 30
    assert params.weights.shares == {
        "workload": 0.25,
        "maturity": 0.25,
        "scale_and_budget": 0.25,
        "time_to_production": 0.25,
    }


def _leaves(model: type[BaseModel], path: str = "") -> set[str]:
    found = set()
    for name, field in model.model_fields.items():
        key, inner = f"{path}{field.alias or name}", field.annotation
        nested = isinstance(inner, type) and issubclass(inner, BaseModel)
        found |= _leaves(inner, f"{key}.") if nested else {key}
    return found


def test_every_key_is_either_given_or_listed_as_assumed() -> None:
    given = {
        "client.name",
        "as_of",
        "cluster.gpus",
        "workload.kind",
        "organisation.networking_maturity",
        "money.acquisition",
    }
    assert set(defaulted_keys(params_from(minimal()))) == _leaves(Params) - given
    full = load_params(PARAMS / "example.yaml")
    silent = set(defaulted_keys(full))
    assert {"cluster.trajectory", "workload.tokens_billion", "measurements", "overrides", "cluster.vendor"} <= silent
    for key in _leaves(Params):
        assert is_given(full, key) is (key not in silent)
    assert is_given(full, "providers[0].name") and not is_given(full, "cluster.trajectory[0].gpus")


def test_a_part_of_a_given_plan_that_was_left_out_is_listed() -> None:
    plan = {"tp": 8, "pp": 1, "dp": 8}
    assert {"workload.parallelism.ep", "workload.parallelism.cp"} <= set(
        defaulted_keys(params_from(with_value("workload.parallelism", plan)))
    )


def test_what_is_assumed_is_said_with_what_it_follows_from() -> None:
    of = {a.key: a for a in assumptions(params_from(with_value("cluster.links_per_gpu", 2)))}
    assert all(a.text for a in of.values())
    assert of["cluster.nic_ports_per_node"].text == "16"
    assert "cluster.links_per_gpu" in of["cluster.nic_ports_per_node"].follows_from
    assert (of["organisation.qos_expertise"].text, of["organisation.qos_expertise"].follows_from) == (
        "some",
        ("organisation.networking_maturity",),
    )
    assert of["client.slug"].text == "acme" and of["workload.latency_variance_bound"].text == "no"
    assert of["measurements"].text == "none"


def test_every_default_that_a_rule_makes_names_what_it_follows_from() -> None:
    sections = {
        "client": Client,
        "cluster": Cluster,
        "workload": Workload,
        "organisation": Organisation,
        "money": Money,
    }
    made = {
        f"{section}.{name}"
        for section, model in sections.items()
        for name, field in model.model_fields.items()
        if field.default_factory is not None
    }
    assert made <= set(FOLLOWS_FROM) <= _leaves(Params)
    assert {source for keys in FOLLOWS_FROM.values() for source in keys} <= _leaves(Params)


def test_defaults_follow_from_what_was_given() -> None:
    params = params_from(with_value("cluster.gpu", "mi300x"))
    assert params.cluster.vendor == "amd"
    assert params_from(with_value("organisation.networking_maturity", "low")).organisation.qos_expertise == "none"
    assert params_from(with_value("money.acquisition", "rent")).money.gpu_hour_value == "market"
    assert params_from(minimal()).money.gpu_hour_value == "amortised"


def test_the_memo_may_be_in_any_currency_the_price_book_knows() -> None:
    known = read_yaml("price_rules")["currencies"]
    assert [params_from(with_value("money.currency", c)).money.currency for c in known] == known


def test_the_shipped_options_are_those_with_data() -> None:
    assert {option["id"] for option in read_yaml("options")} == set(SHIPPED_OPTIONS)


def test_params_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        params_from(minimal()).cluster.gpus = 3  # type: ignore[misc]


def test_weights_of_any_scale_give_shares() -> None:
    data = with_value("weights", {"workload": 1, "maturity": 2, "scale_and_budget": 3, "time_to_production": 4})
    assert list(params_from(data).weights.shares.values()) == pytest.approx([0.1, 0.2, 0.3, 0.4])


@rows("name", EXAMPLES)
def test_the_example_clients_are_valid_and_name_their_schema(name: str) -> None:
    path = PARAMS / f"{name}.yaml"
    assert path.read_text().startswith("# yaml-language-server: $schema=./params.schema.json\n")
    params = load_params(path)
    jsonschema.validate(json.loads(canonical_json(params)), json.loads(json_schema()))


def test_the_example_is_the_worked_case_of_the_third_article() -> None:
    params = load_params(PARAMS / "example.yaml")
    assert params.workload.run_days is not None
    gpu_hours = params.cluster.gpus * params.workload.run_days * 24
    assert gpu_hours * 0.05 == pytest.approx(36_864)
    assert gpu_hours * 0.05 * params.money.gpu_hour_value == pytest.approx(110_592)


def test_the_three_example_clients_share_no_situation() -> None:
    loaded = [load_params(PARAMS / f"{name}.yaml") for name in EXAMPLES]
    for question in (
        lambda p: p.cluster.gpus,
        lambda p: p.workload.kind,
        lambda p: p.organisation.networking_maturity,
        lambda p: p.money.acquisition,
        client_slug,
    ):
        assert len({question(p) for p in loaded}) == 3


# --- what is refused -------------------------------------------------------------------------------------


@rows(
    ("key", "value", "words"),
    [
        ("cluster.gpus", 0, "at least 1"),
        ("cluster.gpus", -8, "at least 1"),
        ("cluster.gpus", 1024.0, "whole number"),
        ("cluster.gpus", "1,024", "Write 1024 alone"),
        ("cluster.gpus", True, "whole number"),
        ("cluster.gpus", None, "has no value"),
        ("cluster.gpus", [8], "whole number"),
        ("cluster.gpus", 100, "whole number of nodes of 8"),
        ("cluster.gpu", "h10", "Did you mean 'h100'"),
        ("cluster.topology", "rail-optimized", "Did you mean 'rail-optimised'"),
        ("cluster.topology", "torus", "One of|one of fat-tree, rail-optimised, dragonfly"),
        ("cluster.vendor", "amd", "is made by nvidia"),
        ("cluster.link_gbits_per_s", 401, "one of 25, 50"),
        ("cluster.link_gbits_per_s", "400G", "one of 25, 50"),
        ("cluster.oversubscription", 0.5, "at least 1"),
        ("cluster", "big", "keys of its own"),
        ("cluster.trajectory", {"month": 3}, "must be a list"),
        ("cluster.trajectory", [{"month": 6, "gpus": 32}], "shrinks"),
        ("cluster.trajectory", [{"month": 6, "gpus": 128}, {"month": 6, "gpus": 256}], "months must rise"),
        ("cluster.trajectory", [{"month": 60, "gpus": 128}], "beyond money.horizon_months"),
        ("cluster.trajectory", [{"month": 6, "gpus": 130}], "Write 128 or 136"),
        ("workload.kind", "pretraining", "Did you mean 'pretraining-"),
        ("workload.run_days", -1, r"at least 0\.04 "),
        ("workload.run_days", 1e-300, r"at least 0\.04 "),
        ("workload.model_parameters_billion", 1e-300, r"at least 0\.001 "),
        ("workload.tokens_billion", 1e-300, r"at least 0\.001 "),
        ("schedule.share_wanted", 1.0, r"at most 0\.99"),
        ("schedule.production_by", "2026-11-20", "is not after the memo's date"),
        ("schedule.production_by", "20.11.2026", "a date of the calendar"),
        ("organisation.network_engineers", 1e-300, r"0 or at least 0\.01:"),
        ("weights.workload", 1e-300, r"0 or at least 0\.001:"),
        ("money.discount_rate_per_year", 1e-300, "0 or at least"),
        ("money.discount_rate_per_year", {"low": 0.01, "high": 1e300}, "'high' must be at most 1:"),
        ("money.price_of_delay_usd_per_day", 1e-300, "0 or at least"),
        ("workload.run_days", "30 days", "Write 30 alone"),
        ("workload.run_days", float("nan"), "must be a number"),
        ("workload.model_parameters_billion", 1e308, "at most"),
        ("workload.latency_variance_bound", "yes", "Did you mean 'true'"),
        ("workload.parallelism", "chose", "Did you mean 'choose'"),
        ("workload.parallelism", {"tp": 8, "pp": 1, "dp": 4}, "is 32, but cluster.gpus is 64"),
        ("workload.parallelism", {"tp": 8, "pp": 1}, "workload.parallelism.dp: is missing"),
        ("workload.parallelism", {"tp": 8, "pp": 1, "dp": 8, "ep": 3}, "does not divide"),
        ("workload.parallelism", 4, "one of choose"),
        ("organisation.network_engineers", -1, "at least 0"),
        ("money.discount_rate_per_year", "8%", "Write 0.08"),
        ("money.discount_rate_per_year", 8, "at most 1"),
        ("money.currency", "EURO", "Did you mean 'EUR'"),
        ("money.gpu_hour_value", "amortized", "Did you mean 'amortised'"),
        ("money.gpu_hour_value", -1, "at least 0"),
        ("money.gpu_hour_value", {"low": 3, "high": 2}, "must not fall"),
        ("money.price_of_delay_usd_per_day", 10**400, "finite"),
        ("money.price_of_delay_usd_per_day", {"p5": 0, "p95": 2}, "above 0"),
        ("money.price_of_delay_usd_per_day", {"lo": 0, "hi": 2}, "do not describe a range"),
        ("weights", {"workload": -1}, "at least 0"),
        (
            "weights",
            {"workload": 0, "maturity": 0, "scale_and_budget": 0, "time_to_production": 0},
            "all weights are zero",
        ),
        ("options", [], "at least 1"),
        ("options", ["infiniband-ndr"], "nothing to compare"),
        ("options", ["infiniband-ndr", "infiniband-ndr"], "already item 1"),
        ("options", ["infiniband-ndr", "rocev2-whitbox-400g"], "Did you mean 'rocev2-whitebox-400g'"),
        ("options", ["infiniband-ndr", "A B"], "not written as it must be"),
        ("options", "infiniband-ndr", "must be a list"),
        ("sections", [], "at least 1"),
        ("sections", ["decision", "decision"], "already item 1"),
        ("sections", ["decision", "tail-risk"], "Did you mean 'tail_risk'"),
        ("providers", [{"name": "A"}, {"name": "a"}], "already item 1"),
        ("providers", ["CoreWeave"], "Write them indented below it: name, answers"),
        ("client", {"name": ""}, "at least 1 char"),
        ("client", {"name": "   "}, "is empty"),
        ("client", {"name": "x" * 121}, "at most 120"),
        ("client", {"name": "a\nb"}, "single line"),
        ("client", {"name": "a\u202eb"}, "bidirectional"),
        ("client", {"name": 7}, "must be text"),
        ("client", {"name": "A", "slug": "../x"}, "client.slug"),
        ("client", {"name": "A", "slug": "con"}, "reserved"),
        ("client", {"name": "A", "slug": "latest"}, "reserved"),
        ("client", "Acme", "keys of its own"),
        ("as_of", "1999-01-01", "outside the years 2020 to 2100"),
        ("as_of", "2026-02-30", "date of the calendar"),
        ("as_of", "20.11.2026", "YYYY-MM-DD"),
        ("as_of", 20261120, "date of the calendar"),
        ("seed", -1, "at least 0"),
        ("measurements", ["/etc/passwd"], "relative"),
        ("measurements", ["../x.txt"], "may not leave"),
        ("measurements", ["a/../../x.txt"], "may not leave"),
        ("measurements", ["~/x.txt"], "relative"),
        ("measurements", ["C:\\x.txt"], "relative"),
        ("measurements", ["http://x/y"], "relative"),
        ("measurements", ["logs/con.txt"], "no ordinary file"),
        ("measurements", ["x" * 256], "at most 255"),
    ],
)
def test_one_wrong_value_gives_one_message_with_key_and_remedy(key: str, value: Any, words: str) -> None:
    problem = only(with_value(key, value))
    assert re.search(words, str(problem)), str(problem)
    assert problem.key.startswith(key.split(".")[0])


def test_three_links_per_gpu_do_not_fit_a_two_port_node() -> None:
    data = with_value("cluster", {"gpus": 64, "gpus_per_node": 8, "links_per_gpu": 3, "nic_ports_per_node": 2})
    assert "need 24 ports, but cluster.nic_ports_per_node is 2" in str(only(data))


def test_a_part_filled_single_node_is_allowed() -> None:
    assert params_from(with_value("cluster", {"gpus": 3})).cluster.nodes == 1


def test_one_option_is_enough_on_a_single_node() -> None:
    data = with_value("cluster", {"gpus": 8}) | {"options": ["ethernet-tcp"]}
    assert params_from(data).options == ("ethernet-tcp",)


def test_a_clients_own_option_is_accepted_when_its_data_adds_it(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(minimal() | {"options": ["infiniband-ndr", "infiniband-own"]}))
    with pytest.raises(InputError, match="infiniband-own"):
        load_params(path)
    assert load_params(path, extra_options=["infiniband-own"]).options[1] == "infiniband-own"
    (tmp_path / "options").mkdir()
    (tmp_path / "options" / "xdr.yaml").write_text("- id: infiniband-own\n  like: infiniband-ndr\n")
    assert load_params(path).options[1] == "infiniband-own"


def test_an_override_says_who_why_and_until_when() -> None:
    assert params_from(override()).overrides[0].value == Uncertain.of({"low": 28000.0, "high": 31000.0})
    for key in ("who", "why", "until"):
        assert only(override(**{key: "drop"})).key == f"overrides[0].{key}"


def test_an_expired_override_is_an_error_and_its_last_day_is_not() -> None:
    assert "expired" in str(only(override(until="2026-11-19")))
    assert params_from(override(until="2026-11-20")).overrides


def test_an_override_names_a_price_or_an_evidence_entry_once() -> None:
    assert only(override(id="switch-qm9700")).key == "overrides[0].id"
    assert "refers to the entry it replaces" in str(only(override(value="price:switch-qm9700")))
    twice = override()
    twice["overrides"] *= 2
    assert only(twice).key == "overrides[1].id"


def test_all_problems_come_at_once_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(
        "client: {nam: Acme}\n"  # 1: an unknown key, which the missing name is taken to be meant by
        "as_of: 2026-02-30\n"  # 2
        "cluster:\n"
        "  gpus: 64\n"
        "  gpuz: h100\n"  # 5
        "  links_per_gpu: 3\n"  # 6
        "  nic_ports_per_node: 2\n"
        "  oversubscription: .nan\n"  # 8
        "  trajectory:\n"
        "    - {month: 6, gpus: 128}\n"
        "    - {month: 12, gpus: 96}\n"  # 11
        "workload:\n"
        "  kind: fine-tunning\n"  # 13
        "organisation: {networking_maturity: low}\n"
        "money: {acquisition: buy, acquisition: rent}\n"  # 15
        "gpus: 8\n"  # 16
    )
    with pytest.raises(InputError) as caught:
        load_params(path)
    found = {(p.line, p.key) for p in caught.value.problems}
    assert found == {
        (1, "client.nam"),
        (2, "as_of"),
        (5, "cluster.gpuz"),
        (6, "cluster.links_per_gpu"),
        (8, "cluster.oversubscription"),
        (11, "cluster.trajectory[1].gpus"),
        (13, "workload.kind"),
        (15, "money.acquisition"),
        (16, "gpus"),
    }
    by_key = {p.key: p for p in caught.value.problems}
    assert by_key["cluster.gpuz"].suggestion in ("gpus", "gpu")
    assert by_key["workload.kind"].suggestion == "fine-tuning"
    assert "belongs under cluster" in by_key["gpus"].remedy
    assert all(p.file == str(path) for p in caught.value.problems)


def leaf_keys() -> list[tuple[str, str]]:
    """Every dotted key of the template, by section."""
    data = yaml.safe_load(new_params("Acme", dt.date(2026, 11, 20)))
    return [(s, k) for s, v in data.items() if isinstance(v, dict) for k in v if len(k) > 4]


@rows(("section", "key"), leaf_keys())
def test_a_key_with_one_letter_wrong_is_recognised(section: str, key: str) -> None:
    for typo in (key[:2] + key[3:], key[:3] + "x" + key[3:], key[:1] + key[2] + key[1] + key[3:], key.upper()):
        if typo == key:
            continue
        data = minimal()
        data.setdefault(section, {})[typo] = 1
        unknown = [p for p in problems_of(data) if p.message == "is not a known key"]
        assert [p.suggestion for p in unknown] == [key]


NOTEBOOKS = PARAMS.parent / "notebooks"
BUYS, RENTS, LEASES = ({"money": {"acquisition": how}} for how in ("buy", "rent", "lease"))
ONCE: dict[str, Any] = {"cluster": {"gpus": 64}}
GROWS = {"cluster": {"gpus": 64, "trajectory": [{"month": 12, "gpus": 128}]}}
PAUSES = {"cluster": {"gpus": 64, "trajectory": [{"month": 12, "gpus": 64}]}}


def params(*parts: dict[str, Any], **stated: Any) -> Params:
    data = minimal()
    for part in parts:
        data |= part
    return params_from(data | stated)


@rows(
    ("parts", "asked"),
    [
        ((BUYS, ONCE), "buy-once"),
        ((BUYS, PAUSES), "buy-once"),
        ((BUYS, GROWS), "grow-in-stages"),
        ((LEASES, GROWS), "grow-in-stages"),
        ((LEASES, ONCE), "buy-once"),
        ((RENTS, ONCE), "choose-provider"),
        ((RENTS, GROWS), "choose-provider"),
    ],
)
def test_the_question_follows_from_acquisition_and_growth_and_may_be_stated(
    parts: tuple[dict[str, Any], ...], asked: str
) -> None:
    silent = params(*parts)
    assert silent.asked == asked and "question" in defaulted_keys(silent)
    (assumed,) = (a for a in assumptions(silent) if a.key == "question")
    assert (assumed.text, assumed.follows_from) == (asked, ("money.acquisition", "cluster.trajectory"))
    stated = params(*parts, question=asked)
    assert stated.asked == asked and "question" not in defaulted_keys(stated)


def test_whoever_grows_may_ask_for_one_purchase() -> None:
    assert params(BUYS, GROWS, question="buy-once").asked == Question.BUY_ONCE


@rows(
    ("parts", "question", "words"),
    [
        ((RENTS, ONCE), "buy-once", "whoever rents chooses a provider"),
        ((RENTS, GROWS), "grow-in-stages", "whoever rents chooses a provider"),
        ((BUYS, ONCE), "choose-provider", "nobody else does"),
        ((LEASES, GROWS), "choose-provider", "nobody else does"),
        ((BUYS, ONCE), "grow-in-stages", "no stages to plan"),
        ((BUYS, PAUSES), "grow-in-stages", "no stages to plan"),
        ((BUYS, ONCE), "buy-twice", "Did you mean 'buy-once'"),
    ],
)
def test_a_question_of_other_clients_is_refused_with_one_message(
    parts: tuple[dict[str, Any], ...], question: str, words: str
) -> None:
    data = minimal()
    for part in parts:
        data |= part
    problem = only(data | {"question": question})
    assert problem.key == "question" and words in str(problem)


def test_the_clients_that_ship_ask_all_three() -> None:
    names = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")
    assert {load_params(PARAMS / f"{name}.yaml").asked for name in names} == set(Question)


def test_each_question_has_its_notebook() -> None:
    assert tuple(q.spine for q in Question) == SPINES
    assert [s for s in SPINES if not (NOTEBOOKS / f"{s}.ipynb").is_file()] == []


def test_a_memo_with_the_decision_begins_with_its_body_and_one_without_has_none() -> None:
    assert params().notebooks == ("buy_once", *SECTION_NAMES)
    assert params(sections=["tco", "decision"]).notebooks == ("buy_once", "tco", "decision")
    assert params(sections=["tco", "latency"]).notebooks == ("tco", "latency")


def test_a_key_of_weeks_is_refused_with_the_date_that_it_meant(tmp_path: Path) -> None:
    path = tmp_path / "weeks.yaml"
    text = (PARAMS / "example.yaml").read_text(encoding="utf-8")
    path.write_text(
        text.replace("\nschedule: {production_by: 2027-02-19}", "  time_to_production_weeks: 12"), encoding="utf-8"
    )
    with pytest.raises(InputError) as caught:
        load_params(path)
    (told,) = caught.value.problems
    assert (told.key, told.line) == ("organisation.time_to_production_weeks", 41)
    assert "`schedule: {production_by: 2027-02-19}`" in told.remedy
