"""The params as files, as canonical JSON, as a schema and as a new file: all forms agree."""

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
from rows import rows
from scenario_cases import EXAMPLES, PARAMS, minimal, override, with_value

from fabricreport.base.errors import InputError
from fabricreport.base.uncertain import Uncertain
from fabricreport.scenario import (
    Params,
    Reference,
    canonical_json,
    client_slug,
    defaulted_keys,
    dump_uncertain,
    json_schema,
    load_params,
    load_params_file,
    new_params,
    params_from,
    parse_uncertain,
    slugify,
    value_at,
)

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


@rows(("named", "place"), [("mine/p.json", "in mine/"), ("p.json", "beside the params file")])
def test_a_file_that_is_missing_is_told_where_to_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, place: str
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / named).write_text(json.dumps(minimal() | {"measurements": ["log.txt"]}))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"Put it {place}, or drop the line"):
        load_params(Path(named))


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


@rows("name", EXAMPLES)
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
    assert again.money.price_of_delay_usd_per_day == Uncertain("pert", 1.0, 2.0, 3.0)
    assert again.overrides[0].value == Uncertain.of({"p5": 1.0, "p95": 2.0})


@given(st.tuples(*[st.floats(0.001, 1e9)] * 3).map(sorted).filter(lambda x: x[0] < x[2]))
@settings(max_examples=50, deadline=None)
def test_uncertain_values_round_trip(numbers: list[float]) -> None:
    low, mode, high = numbers
    ends = {"low": low, "high": high}
    written = (low, ends, ends | {"mode": mode}, {"p5": low, "p95": high})
    for value in map(parse_uncertain, written):
        assert parse_uncertain(dump_uncertain(value)) == value


@rows("value", ["price:", "price:A", "param:x", "", "3", "price:a\n", True, None, [1], {}, {1: 2}])
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


@rows("name", ["Acme", 'A "quoted" \\ # name: x', "北京智能", "true", "- [x]", "Zoë & Söhne", "0x10"])
def test_a_new_file_passes_check_and_shows_every_key(name: str, tmp_path: Path) -> None:
    text = new_params(name, dt.date(2026, 11, 20))
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    params = load_params(path)
    assert params.client.name == name
    for key in _all_keys(Params.model_json_schema(by_alias=True)):
        assert re.search(rf"^\s*(# )?{key}:", text, re.M), key


def test_the_comments_of_a_new_file_are_valid_when_uncommented_and_say_what_was_assumed(tmp_path: Path) -> None:
    text = new_params("Acme", dt.date(2026, 11, 20))
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    silent = load_params(path)
    keys = _all_keys(Params.model_json_schema(by_alias=True)) - {
        "measurements",
        "elicited",
        "offers",
    }  # they name files that are not there
    path.write_text(re.sub(rf"^(\s*)# ({'|'.join(sorted(keys))}):", r"\1\2:", text, flags=re.M), encoding="utf-8")
    spoken = load_params(path)
    assert defaulted_keys(spoken) == ("brand.logo", "offers", "measurements", "elicited")
    assert spoken.cluster.trajectory and spoken.overrides and spoken.providers
    examples = {
        "memo.subject",
        "brand",
        "cluster.trajectory",
        "workload.tokens_billion",
        "workload.jobs",
        "workload.checkpoint_minutes",
        "organisation.beyond_money",
        "schedule.production_by",
        "providers",
        "overrides",
        "adopted",
        "extra",
        "money.materiality_usd",
    }
    derived = {"cluster.nic_ports_per_node": 8, "question": "buy-once"}
    for key in set(defaulted_keys(silent)) - examples - {"offers", "measurements", "elicited"}:
        assert value_at(spoken, key) == derived.get(key, value_at(silent, key)), key


def test_a_new_file_says_only_what_its_author_must_decide(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(new_params("Acme", dt.date(2026, 11, 20)), encoding="utf-8")
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {f"{k}.{i}" if isinstance(v, dict) else k for k, v in data.items() for i in (v if isinstance(v, dict) else "-")} == {
        "client.slug", "client.name", "as_of", "cluster.gpus", "workload.kind", "workload.run_days", "organisation.networking_maturity",
        "money.acquisition",
    }  # fmt: skip
    for key in defaulted_keys(load_params(path)):
        assert re.search(rf"^\s*# {key.rpartition('.')[2]}: .*# .*if left out", path.read_text(), re.M), key


@rows("name", ["", "  ", "a\u202eb", "x" * 121, "a\nb"])
def test_a_new_file_needs_an_honest_name(name: str) -> None:
    with pytest.raises(InputError):
        new_params(name, dt.date(2026, 11, 20))


def _all_keys(schema: dict[str, Any]) -> set[str]:
    models = [
        schema,
        *(schema["$defs"][name] for name in ("Client", "MemoHead", "Cluster", "Workload", "Organisation", "Refresh")),
    ]
    models += [schema["$defs"][name] for name in ("Schedule", "Money", "Weights", "Refresh")]
    return {key for model in models for key in model["properties"]}


# --- slugs -----------------------------------------------------------------------------------------------


@rows(
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
