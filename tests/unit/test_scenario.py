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
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.errors import InputError, Problem
from fabricreport.evidence import read_yaml
from fabricreport.scenario import (
    SHIPPED_OPTIONS,
    Interval90,
    Params,
    Pert,
    Range,
    Reference,
    canonical_json,
    client_slug,
    defaulted_keys,
    dump_uncertain,
    json_schema,
    load_params,
    load_params_file,
    new_params,
    notes,
    params_from,
    parse_uncertain,
    slugify,
)

PARAMS = Path(__file__).parents[2] / "params"
EXAMPLES = ("example", "tern-finetuning", "kestrel-lab")


def minimal() -> dict[str, Any]:
    return {
        "client": {"name": "Acme"},
        "as_of": "2026-11-20",
        "cluster": {"gpus": 64},
        "workload": {"kind": "fine-tuning"},
        "organisation": {"networking_maturity": "medium"},
        "money": {"acquisition": "buy"},
    }


def with_value(dotted: str, value: Any) -> dict[str, Any]:
    """The minimal data with one key set."""
    data = minimal()
    *parents, last = dotted.split(".")
    at = data
    for part in parents:
        at = at.setdefault(part, {})
    at[last] = value
    return data


def problems_of(data: dict[str, Any], tmp_path: Path | None = None) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        if tmp_path is None:
            params_from(data)
        else:
            path = tmp_path / "params.yaml"
            path.write_text(yaml.safe_dump(data, sort_keys=False))
            load_params(path)
    return caught.value.problems


def only(data: dict[str, Any]) -> Problem:
    problems = problems_of(data)
    assert len(problems) == 1, problems
    return problems[0]


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


def test_what_the_user_did_not_give_is_listed() -> None:
    keys = defaulted_keys(params_from(minimal()))
    assert "cluster.gpu" in keys
    assert "weights.maturity" in keys
    assert "cluster.gpus" not in keys
    assert "workload.tokens_billion" not in keys


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


@pytest.mark.parametrize("name", EXAMPLES)
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


@pytest.mark.parametrize(
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
        ("workload.kind", "pretraining-dense", "run_days or|run_days \\(for example"),
        ("workload.run_days", -1, "above 0"),
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
        ("options", ["infiniband-ndr", "rocev2-whitbox"], "Did you mean 'rocev2-whitebox'"),
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


def test_infiniband_with_amd_gpus_is_only_a_note() -> None:
    assert any("AMD" in note for note in notes(params_from(with_value("cluster.gpu", "mi300x"))))
    assert not any("AMD" in note for note in notes(params_from(minimal())))


def test_a_clients_own_option_is_accepted_when_its_data_adds_it(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(minimal() | {"options": ["infiniband-ndr", "infiniband-xdr"]}))
    with pytest.raises(InputError, match="infiniband-xdr"):
        load_params(path)
    assert load_params(path, extra_options=["infiniband-xdr"]).options[1] == "infiniband-xdr"
    (tmp_path / "options").mkdir()
    (tmp_path / "options" / "xdr.yaml").write_text("- id: infiniband-xdr\n  like: infiniband-ndr\n")
    assert load_params(path).options[1] == "infiniband-xdr"


def override(**changes: Any) -> dict[str, Any]:
    entry = {
        "id": "price:switch-qm9700",
        "value": {"low": 28000, "high": 31000},
        "who": "J. Buyer",
        "why": "Quote of 3 November",
        "until": "2027-01-31",
    }
    return minimal() | {"overrides": [{k: v for k, v in (entry | changes).items() if v != "drop"}]}


def test_an_override_says_who_why_and_until_when() -> None:
    assert params_from(override()).overrides[0].value == Range(28000.0, 31000.0)
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
        "client: {nam: Acme}\n"  # 1: missing name, unknown key
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
        (1, "client.name"),
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


@pytest.mark.parametrize(("section", "key"), leaf_keys())
def test_a_key_with_one_letter_wrong_is_recognised(section: str, key: str) -> None:
    for typo in (key[:2] + key[3:], key[:3] + "x" + key[3:], key[:1] + key[2] + key[1] + key[3:], key.upper()):
        if typo == key:
            continue
        data = minimal()
        data.setdefault(section, {})[typo] = 1
        unknown = [p for p in problems_of(data) if p.message == "is not a known key"]
        assert [p.suggestion for p in unknown] == [key]


# --- files -----------------------------------------------------------------------------------------------


def test_named_files_must_exist_inside_the_folder_and_not_be_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "log.txt").write_text("x")
    folder = tmp_path / "params"
    folder.mkdir()
    (folder / "good.txt").write_text("x")
    (folder / "link.txt").symlink_to(outside / "log.txt")
    (folder / "linked").symlink_to(outside)
    (folder / "folder.txt").mkdir()
    names = ["good.txt", "link.txt", "linked/log.txt", "folder.txt", "missing.txt", "a\0b"]
    path = folder / "p.json"
    path.write_text(
        json.dumps(minimal() | {"measurements": names[:-1], "providers": [{"name": "A", "answers": "no.yaml"}]})
    )
    with pytest.raises(InputError) as caught:
        load_params(path)
    assert {p.key for p in caught.value.problems} == {f"measurements[{i}]" for i in (1, 2, 3, 4)} | {
        "providers[0].answers"
    }
    path.write_text(json.dumps(minimal() | {"measurements": names[-1:]}))
    with pytest.raises(InputError, match="measurements"):
        load_params(path)


def test_paths_may_start_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "log.txt").write_text("x")
    path = tmp_path / "a" / "p.json"
    path.write_text(json.dumps(minimal() | {"measurements": ["log.txt"]}))
    with pytest.raises(InputError, match="does not exist"):
        load_params(path)
    assert load_params_file(path, folder=tmp_path / "b").folder == tmp_path / "b"


# --- other forms of the same params ----------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_canonical_json_gives_equal_params_and_the_same_assumptions(name: str, tmp_path: Path) -> None:
    params = load_params(PARAMS / f"{name}.yaml")
    path = tmp_path / "params.json"
    path.write_text(canonical_json(params), encoding="utf-8")
    again = load_params(path)
    assert again == params
    assert defaulted_keys(again) == defaulted_keys(params)
    assert canonical_json(again) == canonical_json(params)


def test_canonical_json_keeps_every_form_of_uncertainty(tmp_path: Path) -> None:
    data = override(value={"p5": 1, "p95": 2})
    data["money"] |= {
        "gpu_hour_value": "price:gpu-h100",
        "price_of_delay_usd_per_day": {"low": 1, "mode": 2, "high": 3},
    }
    params = params_from(data)
    path = tmp_path / "params.json"
    path.write_text(canonical_json(params))
    again = load_params(path)
    assert again == params
    assert again.money.gpu_hour_value == Reference("price", "gpu-h100")
    assert again.money.price_of_delay_usd_per_day == Pert(1.0, 2.0, 3.0)
    assert again.overrides[0].value == Interval90(1.0, 2.0)


@given(st.tuples(*[st.floats(0.001, 1e9)] * 3).map(sorted).filter(lambda x: x[0] < x[2]))
@settings(max_examples=50, deadline=None)
def test_uncertain_values_round_trip(numbers: list[float]) -> None:
    low, mode, high = numbers
    for value in (low, Pert(low, mode, high), Interval90(low, high), Range(low, high)):
        assert parse_uncertain(dump_uncertain(value)) == value


@pytest.mark.parametrize("value", ["price:", "price:A", "param:x", "", "3", "price:a\n", True, None, [1], {}, {1: 2}])
def test_what_is_not_an_uncertain_value_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_uncertain(value)


def test_the_published_schema_is_up_to_date() -> None:
    assert (PARAMS / "params.schema.json").read_text(encoding="utf-8") == json_schema()


def test_every_key_is_described_in_the_schema() -> None:
    schema = json.loads(json_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    for model in [schema, *schema["$defs"].values()]:
        assert model["additionalProperties"] is False
        assert model.get("description")
        assert all("$ref" in field or field.get("description") for field in model["properties"].values())
    assert schema["$defs"]["Cluster"]["properties"]["gpu"]["enum"][1] == "h100"


@pytest.mark.parametrize(
    "name", ["Acme", 'A "quoted" \\ # name: x', "北京智能", "true", "- [x]", "Zoë & Söhne", "0x10"]
)
def test_a_new_file_passes_check_and_shows_every_key(name: str, tmp_path: Path) -> None:
    text = new_params(name, dt.date(2026, 11, 20))
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    params = load_params(path)
    assert params.client.name == name
    assert defaulted_keys(params) == ()
    for key in _all_keys(Params.model_json_schema(by_alias=True)):
        assert re.search(rf"^\s*(# )?{key}:", text, re.M), key


def test_the_optional_lines_of_a_new_file_are_valid_when_uncommented(tmp_path: Path) -> None:
    text = new_params("Acme", dt.date(2026, 11, 20))
    text = re.sub(
        r"^(\s*)# (subject|trajectory|nic_ports_per_node|tokens_billion|providers|overrides): ",
        r"\1\2: ",
        text,
        flags=re.M,
    )
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    params = load_params(path)
    assert params.cluster.trajectory and params.overrides and params.providers


@pytest.mark.parametrize("name", ["", "  ", "a\u202eb", "x" * 121, "a\nb"])
def test_a_new_file_needs_an_honest_name(name: str) -> None:
    with pytest.raises(InputError):
        new_params(name, dt.date(2026, 11, 20))


def _all_keys(schema: dict[str, Any]) -> set[str]:
    models = [
        schema,
        *(schema["$defs"][name] for name in ("Client", "MemoHead", "Cluster", "Workload", "Organisation")),
    ]
    models += [schema["$defs"][name] for name in ("Money", "Weights")]
    return {key for model in models for key in model["properties"]}


# --- slugs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Acme", "acme"),
        ("Zoë & Söhne GmbH", "zoe-sohne-gmbh"),
        ("../../etc", "etc"),
        ("CON", "con-client"),
        ("latest", "latest-client"),
        ("acme-old", "acme-old"),
        ("Acme\t2", "acme-2"),
    ],
)
def test_slugs(name: str, slug: str) -> None:
    assert slugify(name) == slug


@given(st.text(max_size=200))
@settings(max_examples=50, deadline=None)
def test_a_slug_is_always_a_safe_folder_name(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,65}[a-z0-9])?", slugify(name))
    assert len(slugify(name)) <= 60
    assert slugify(slugify(name)) == slugify(name)


def test_a_given_slug_wins() -> None:
    assert client_slug(params_from(with_value("client", {"name": "Acme", "slug": "acme2"}))) == "acme2"
