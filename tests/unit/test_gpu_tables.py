"""One file holds the GPU types: it is read strictly, every rule of the package takes them from it, and none is spelt in code."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args
from unittest import mock

import numpy as np
import pytest
import yaml
from scenario_cases import minimal, with_value

import fabricreport.inputs as inputs_module
from fabricreport.books.gpus import SHIPPED_FILE, gpu_types, read_gpus
from fabricreport.case import open_case
from fabricreport.constants import catalogue, practice
from fabricreport.errors import InputError
from fabricreport.located import did_you_mean
from fabricreport.provenance import plain
from fabricreport.scenario import json_schema, params_from
from fabricreport.scenario.schema import Cluster
from fabricreport.sections.client import gpu_type

GPUS = get_args(Cluster.model_fields["gpu"].annotation)
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "params" / "example.yaml"


def of(gpu: str) -> Any:
    return SimpleNamespace(params=SimpleNamespace(cluster=SimpleNamespace(gpu=gpu)))


def test_the_params_the_models_and_the_schema_know_the_same_types() -> None:
    assert tuple(gpu_types().known) == GPUS == tuple(catalogue().gpus) == tuple(practice().gpus)
    assert yaml.safe_load(json_schema())["$defs"]["Cluster"]["properties"]["gpu"]["enum"] == list(GPUS)


@pytest.mark.parametrize("gpu", GPUS)
def test_what_an_entry_refers_to_is_in_the_books(gpu: str) -> None:
    case, kind = open_case(EXAMPLE), gpu_types().of(gpu)
    assert all(case.inputs.central(input_id) > 0 for input_id in kind.references.values())
    assert case.inputs.central(kind.links.total) == kind.links.per_gpu * kind.links.gbits_per_s


@pytest.mark.parametrize("look_up", [lambda gpu: gpu_type(of(gpu)), catalogue().gpu, practice().gpu])
def test_a_type_without_an_entry_is_an_input_error_with_a_remedy(look_up: Any) -> None:
    with pytest.raises(InputError) as caught:
        look_up("h999")
    (problem,) = caught.value.problems
    assert "h999" in problem.value and "gpu" in problem.key and "h100" in str(problem) and problem.remedy


def test_a_mistyped_type_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(InputError) as caught:
        params_from(with_value("cluster.gpu", GPUS[-1][:-1]))
    assert did_you_mean(GPUS[-1][:-1], GPUS) in str(caught.value)


@pytest.mark.parametrize("gpu", GPUS)
def test_defaults_of_the_cluster_follow_from_the_type(gpu: str) -> None:
    kind, made = gpu_types().of(gpu), params_from(with_value("cluster.gpu", gpu)).cluster
    found = (made.vendor, made.gpus_per_node, made.links_per_gpu, made.link_gbits_per_s)
    assert found == (kind.vendor, kind.gpus_per_node, kind.links.per_gpu, kind.links.gbits_per_s)


ON_SALE = {
    "a100": ("nvidia", 8, 200),
    "h100": ("nvidia", 8, 400),
    "h200": ("nvidia", 8, 400),
    "b200": ("nvidia", 8, 400),
    "b300": ("nvidia", 8, 800),
    "gb200-nvl72": ("nvidia", 72, 400),
    "gb300-nvl72": ("nvidia", 72, 800),
    "vr200-nvl72": ("nvidia", 72, 1600),
    "mi300x": ("amd", 8, 400),
    "mi325x": ("amd", 8, 400),
    "mi355x": ("amd", 8, 400),
}
"""Maker, GPUs of a scale-up domain and Gbit/s of fabric links a GPU, as published."""


@pytest.mark.parametrize("gpu", ON_SALE)
def test_what_is_known_of_the_types_on_sale(gpu: str) -> None:
    kind = gpu_types().of(gpu)
    assert (kind.vendor, kind.domain_gpus, kind.links.per_gpu * kind.links.gbits_per_s) == ON_SALE[gpu]
    assert kind.gpus_per_node == kind.domain_gpus and kind.rack == (kind.domain_gpus == 72)
    assert ("die" in kind.counted) == (gpu == "vr200-nvl72")


def test_newer_types_of_a_maker_are_no_slower_and_hold_no_less() -> None:
    known = gpu_types().known
    for row in (("a100", "h100", "h200", "b200", "b300", "gb300-nvl72", "vr200-nvl72"), ("mi300x", "mi325x", "mi355x")):
        kinds = [known[gpu] for gpu in row]
        for older, newer in pairwise(kinds):
            assert older.on_sale <= newer.on_sale
            assert older.kernels.peak_tflops <= newer.kernels.peak_tflops
            assert older.kernels.memory_gbytes <= newer.kernels.memory_gbytes


def test_what_nobody_publishes_is_called_an_assumption_and_is_wide() -> None:
    book = open_case(EXAMPLE).inputs.evidence
    for entry in ("server-mi325x-8gpu-usd", "server-mi355x-8gpu-usd", "gpu-hour-vr200-nvl72-usd", "nic-connectx9-usd"):
        assert book[entry].grade == "assumption"
        assert book[entry].figure.high > 1.5 * book[entry].figure.low
    for entry in ("server-gb300-nvl72-usd", "server-vr200-nvl72-usd", "server-b300-8gpu-usd"):
        assert book[entry].grade == "secondary"
        assert book[entry].figure.high > 1.5 * book[entry].figure.low


@pytest.mark.parametrize("acquisition", ["buy", "rent"])
@pytest.mark.parametrize("gpu", GPUS)
def test_every_type_is_compared_bought_and_rented(gpu: str, acquisition: str) -> None:
    data = minimal()
    data["cluster"] = {"gpu": gpu, "gpus": 4 * gpu_types().of(gpu).gpus_per_node}
    data["money"] = {"acquisition": acquisition}
    with mock.patch.object(inputs_module, "DRAWS", 64):
        case = open_case(data)
        lead, numbers = case.comparison, case.latency().numbers
    assert lead.choice in {o.id for o in case.options}
    costs = [plain(total) for total in case.tco().totals.values()]
    assert all(np.isfinite(cost).all() and (cost > 0).all() for cost in costs)
    assert all(0 <= numbers[f"latency.exposed.{o.id}"].value < 1 for o in case.options)


def test_no_type_is_spelt_in_code() -> None:
    found = []
    for path in sorted((ROOT / "fabricreport").rglob("*.py")):
        words = [n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)]
        found += [f"{path.name}: {word}" for word in words if word in GPUS]
    assert found == []


# ---- the file is read strictly

Spoil = Callable[[dict[str, Any]], Any]
FAULTS: dict[str, tuple[Spoil, str, str]] = {
    "unknown key": (lambda e: e.update(link=1), "link", "unknown key"),
    "misspelt key": (lambda e: e["server"].update(prise="price:x"), "server.prise", "Did you mean 'price'"),
    "missing key": (lambda e: e.pop("generation"), "types[0]", "the key 'generation' is missing"),
    "missing part": (lambda e: e["kernels"].pop("source"), "kernels", "the key 'source' is missing"),
    "bad reference": (lambda e: e["server"].update(rent="gpu-hour"), "server.rent", "must be a reference"),
    "price for evidence": (lambda e: e["links"].update(total="price:x"), "links.total", "evidence entry"),
    "unknown vendor": (lambda e: e.update(vendor="nvida"), "vendor", "Did you mean 'nvidia'"),
    "unknown generation": (lambda e: e["scale_up"].update(limits_as="hoper"), "scale_up.limits_as", "'hopper'"),
    "unknown rate": (lambda e: e["links"].update(gbits_per_s=300), "links.gbits_per_s", "one of 25"),
    "no number": (lambda e: e["kernels"].update(peak_tflops="fast"), "kernels.peak_tflops", "must be a number"),
    "no year": (lambda e: e.update(on_sale=22), "on_sale", "the year"),
    "nobody's grade": (lambda e: e["scale_up"].update(grade="sure"), "scale_up.grade", "one of measured"),
    "half a server": (lambda e: e.update(domain_gpus=4), "domain_gpus", "whole servers"),
    "rack without small groups": (lambda e: e.update(domain_gpus=72), "small_group", "missing for a rack"),
    "id in capitals": (lambda e: e.update(id="H100"), "id", "kebab-case"),
    "part that is none": (lambda e: e.update(server="dear"), "server", "keys of its own"),
}


def spoilt(folder: Path, spoil: Spoil) -> Path:
    """The shipped file with its first entry spoilt."""
    data = yaml.safe_load(SHIPPED_FILE.read_text(encoding="utf-8"))
    spoil(data["types"][0])
    path = folder / "gpus.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_file_is_one_message_with_its_place_and_remedy(name: str, tmp_path: Path) -> None:
    spoil, key, words = FAULTS[name]
    path = spoilt(tmp_path, spoil)
    with pytest.raises(InputError) as caught:
        read_gpus(path)
    (problem,) = caught.value.problems
    assert problem.file == str(path) and problem.line and key in problem.key
    assert words in str(problem) and (problem.remedy or problem.suggestion)


def test_an_id_used_twice_and_a_default_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="used already"):
        read_gpus(spoilt(tmp_path, lambda e: e.update(id=GPUS[1])))
    data = yaml.safe_load(SHIPPED_FILE.read_text(encoding="utf-8"))
    path = tmp_path / "other.yaml"
    path.write_text(yaml.safe_dump({**data, "default": "h10"}), encoding="utf-8")
    with pytest.raises(InputError, match="Did you mean 'h100'"):
        read_gpus(path)
    path.write_text("types: []\n", encoding="utf-8")
    with pytest.raises(InputError, match="must hold `default`"):
        read_gpus(path)
