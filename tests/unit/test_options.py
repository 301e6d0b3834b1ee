"""The file of families is read strictly: each fault is told with file, line and key, and all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import date
from itertools import cycle, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args
from unittest import mock

import bench
import numpy as np
import pytest
import yaml
from rows import rows
from scenario_cases import minimal, with_value

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.errors import InputError
from fabricreport.base.locations import did_you_mean
from fabricreport.base.provenance import plain
from fabricreport.base.vocabulary import Maturity, Side
from fabricreport.base.yaml_files import ROOT as EVIDENCE
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books import equipment as families_book
from fabricreport.books.constants import catalogue, practice
from fabricreport.books.equipment import ROLES, UNITS, families, gpu_types, read_families, read_gpus
from fabricreport.books.evidence import read_evidence
from fabricreport.books.options import read_options
from fabricreport.case import open_case
from fabricreport.models.fabric.bill import PerPiece
from fabricreport.scenario import json_schema, params_from
from fabricreport.scenario.candidates import proposed
from fabricreport.scenario.schema import Cluster
from fabricreport.sections.client import gpu_type

XDR = """\
- id: infiniband-own
  like: infiniband-ndr
  name: InfiniBand of our own
  link_gbits_per_s: 800
  physical_ports: 72
  radix: 144
  pieces:
    switch: {price: "price:switch-q3400", watts: "evidence:q3400-watts"}
"""


def folder(tmp_path, text, name="mine.yaml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def problems(tmp_path, text):
    with pytest.raises(InputError) as caught:
        read_options(folder(tmp_path, text))
    return caught.value.problems


IDS = (
    *("infiniband-ndr", "infiniband-xdr", "spectrum-x-400g", "spectrum-x-800g"),
    *("rocev2-branded-400g", "rocev2-branded-800g", "rocev2-whitebox-400g", "rocev2-whitebox-800g"),
    *("ethernet-sprayed-800g", "amd-pollara-400g", "amd-branded-400g", "ethernet-tcp"),
)


def test_the_ids_of_twelve_options_are_a_contract_and_every_family_has_an_option():
    options = read_options()
    assert tuple(options)[: len(IDS)] == IDS
    assert {o.family for o in options.values()} == set(families())
    sides = {o.id: o.side for o in options.values()}
    assert [o for o in IDS if sides[o] == Side.INFINIBAND] == ["infiniband-ndr", "infiniband-xdr"]
    assert [o for o in IDS if sides[o] == Side.PLAIN] == ["ethernet-tcp"]
    assert {o: options[o].radix for o in ("infiniband-ndr", "infiniband-xdr", "spectrum-x-800g")} == {
        "infiniband-ndr": 64,
        "infiniband-xdr": 144,
        "spectrum-x-800g": 128,
    }
    assert {o.planes for o in options.values()} == {1, 2, 4}


def test_what_differs_from_the_family_stays_with_the_option_and_what_does_not_is_the_familys():
    options = read_options()
    dual, single = options["spectrum-x-800g"].behaviour, options["spectrum-x-400g"].behaviour
    assert single == families()["spectrum-x"].behaviour
    assert dual == single.changed({"link_failure": "link-failure-interrupts-share-multi-plane"})
    sprayed = options["ethernet-sprayed-800g"].behaviour
    assert sprayed == families()["ethernet-sprayed"].behaviour  # not that of the option it is like


def test_a_price_that_nobody_publishes_is_the_assumption_until_there_is_a_quote():
    option = read_options()["infiniband-xdr"]
    before, after = (
        option.priced({"optic-1600g-2xdr4"}),
        option.priced({"switch-q3400", "switch-q3200", "licence-ufm", "optic-800g-dr4"}),
    )
    assert before.pieces["switch"].price == "evidence:switch-q3400-usd"
    assert before.unquoted["switch-q3400"] == "evidence:switch-q3400-usd"
    assert after.pieces["switch"].price == "price:switch-q3400" and not after.unquoted
    assert all(" or " not in ref for ref in (*before.references, *after.references))


def test_one_network_card_serves_both_fabrics_at_one_price():
    options = read_options()
    assert (
        len({options[o].pieces["nic"] for o in ("infiniband-ndr", "rocev2-branded-400g", "rocev2-whitebox-400g")}) == 1
    )


def test_kinds_of_pieces_are_those_the_cost_model_prices():
    for option in read_options().values():
        assert set(option.pieces) <= {field.name for field in fields(PerPiece)}


def test_every_entry_that_an_option_names_is_one_of_the_library():
    known, options = read_evidence(), [o.priced(()) for o in read_options().values()]
    named = {ref.removeprefix("evidence:") for o in options for ref in o.references if ref.startswith("evidence:")}
    named |= {
        name.removeprefix("evidence:")
        for o in options
        for role in ROLES
        if (name := getattr(o.behaviour, role))
        and role not in ("tuning", "staff")
        and not name.startswith("contested:")
    }
    named |= {
        f"{getattr(o.behaviour, role)}-{m}"
        for o in options
        for m in Maturity
        for role in ("tuning", "staff")
        if getattr(o.behaviour, role)
    }
    assert sorted(named - set(known)) == []


def test_a_client_adds_an_option_without_code(tmp_path):
    options = read_options(folder(tmp_path, XDR))
    xdr = options["infiniband-own"]
    assert (xdr.radix, xdr.link_gbits_per_s, xdr.fabric) == (144, 800, "infiniband-ndr")
    assert xdr.pieces["switch"].price == "price:switch-q3400"
    assert xdr.pieces["nic"] == options["infiniband-ndr"].pieces["nic"]
    assert xdr.file.endswith("mine.yaml")


def test_a_folder_that_is_not_there_adds_nothing(tmp_path):
    assert list(read_options(tmp_path / "none")) == list(read_options())


@rows(
    ("change", "line", "message", "suggestion"),
    [
        (("radix: 144", "radix: 143"), 6, "even", ""),
        (("radix: 144", "radix: -2"), 6, "at least 2", ""),
        (("radix: 144", "radix: 9000000000000000"), 6, "at most 16,384", ""),
        (("like: infiniband-ndr", "like: infiniband-ndt"), 2, "no option of this id", "infiniband-ndr"),
        (("link_gbits_per_s: 800", "link_gbits_per_s: fast"), 4, "a number", ""),
        (("link_gbits_per_s: 800", "link_gbits_per_s: 1e-300"), 4, "at least 1", ""),
        (("link_gbits_per_s: 800", "link_gbits_per_s: 1e300"), 4, "at most 12,800", ""),
        (("like: infiniband-ndr", "like: rocev2-whitebox-400g\n  family: infiniband"), 1, "of kind rocev2", ""),
        (("like: infiniband-ndr", "like: {low: 1}"), 2, "no option of this id", ""),
        (("like: infiniband-ndr", "like: [1]"), 2, "no option of this id", ""),
        (("name: InfiniBand of our own", "name: " + "X" * 61), 3, "at most 60", ""),
        (("name: InfiniBand of our own", "nam: InfiniBand of our own"), 3, "is not a known key", "name"),
        (("price:switch-q3400", "12000"), 8, "reference", ""),
        (("    switch:", "    swicth:"), 8, "is not a kind of piece", "switch"),
        (("id: infiniband-own", "id: infiniband-ndr"), 1, "used already", ""),
        (("id: infiniband-own", "id: Infiniband XDR"), 1, "words joined by hyphens", ""),
        (("physical_ports: 72", "physical_ports: 1"), 6, "cages", ""),
        (("radix: 144", "radix: 144\n  gpus_of: [nvida]"), 7, "gpus_of[0]: is not one of the values", "nvidia"),
        (("radix: 144", "radix: 144\n  support: null"), 7, "has no value. Give it one", ""),
        (("radix: 144", "radix: 144\n  support: null"), 7, "Write price:<item> or evidence:<id>", ""),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path, change, line, message, suggestion):
    found = problems(tmp_path, XDR.replace(*change))
    assert len(found) == 1
    assert message in str(found[0])
    assert found[0].line == line
    assert found[0].suggestion == suggestion
    assert found[0].file.endswith("mine.yaml")


def test_an_unknown_option_to_be_like_is_answered_with_the_known_ones(tmp_path):
    (found,) = problems(tmp_path, XDR.replace("like: infiniband-ndr", "like: nope"))
    assert all(option_id in found.remedy for option_id in read_options())


def test_missing_keys_are_told_one_by_one(tmp_path):
    found = problems(tmp_path, "- id: thin\n  name: Thin\n")
    assert {"[0].radix", "[0].pieces"} <= {p.key for p in found if p.message == "is missing"}
    assert {p.remedy for p in found} == {"Add it, or start with 'like: <another option>'."}


def test_what_the_readers_fill_in_is_no_key_of_a_file(tmp_path):
    found = problems(tmp_path, XDR + "  file: /etc/passwd\n  lines: {}\n  unquoted: {}\n")
    assert [(p.key, p.message) for p in found] == [
        (f"[0].{key}", "is not a known key") for key in ("file", "lines", "unquoted")
    ]


@rows("text", ["just text\n", "a: b\n", "- just text\n"])
def test_a_file_that_is_no_list_of_options_is_refused(tmp_path, text):
    assert problems(tmp_path, text)


@rows(
    "terms",
    [
        "licence: {per_endpoint: 3}",
        "management: {links: -1}",
        "management: {links: 1e300}",
        "management: {nodes: 9000000000000000, node_price: 'evidence:management-server-usd'}",
        "management: {nodes: 3, node_price: null}",
        "notes: one sentence",
        "family: token-ring",
        "rdma: 'yes'",
        "pieces: {switch: {watts: 'evidence:x'}}",
        "pieces: none",
        "support: null",
        "fabric: ''",
        "planes: 3",
        "planes: 0",
        "generation: soon",
        "optics: bimodal",
        "copper_m: null",
        "copper_m: -1",
        "gpus_of: []",
        "gpus_of: [intel]",
        "gpus_of: nvidia",
        "on_sale: soon",
        "on_sale: 2027",
        "behaviour: {wekks: weeks-to-stable-infiniband}",
        "behaviour: {weeks: 3}",
        "behaviour: none",
        "say: none",
        "say: ['']",
        "say: [400]",
        f"say: [{'x' * 61}]",
        r'say: ["a hidden \u202e turn"]',
        "pieces: {nic: {price: 'evidence:a or price:b', watts: 'evidence:x'}}",
    ],
)
def test_terms_that_make_no_sense_are_refused(tmp_path, terms):
    assert problems(tmp_path, f"- id: odd\n  like: infiniband-ndr\n  {terms}\n")


@rows("note", ["x" * 401, r"two\nlines", r"a hidden \u202e turn"])
def test_a_note_is_one_line_that_shows_as_it_is_typed(tmp_path, note):
    (problem,) = problems(tmp_path, XDR + f'  notes: ["Good.", "{note}"]\n')
    assert problem.key == "[0].notes[1]" and problem.line == 9


def test_notes_belong_to_the_option_they_are_written_for(tmp_path):
    found = read_options(folder(tmp_path, XDR + '  notes: ["Quoted in May."]\n'))
    assert found["infiniband-own"].notes == ("Quoted in May.",) and len(found["infiniband-ndr"].notes) == 2


ROOT = Path(__file__).parents[2]
Spoil = Callable[[dict[str, Any]], Any]
FAMILY_FAULTS: dict[str, tuple[Spoil, str, str]] = {
    "unknown key": (lambda f: f.update(sides="rocev2"), "sides", "Did you mean 'side'"),
    "missing key": (lambda f: f.pop("staff"), "staff", "is missing. Add it."),
    "unknown role": (lambda f: f["behaviour"].update(stall="x"), "behaviour.stall", "Did you mean 'stalls'"),
    "role that is no entry": (lambda f: f["behaviour"].update(step="a b"), "behaviour.step", "id of an entry, or null"),
    "role that is a number": (lambda f: f["behaviour"].update(step=3), "behaviour.step", "must be text"),
    "roles in a list": (lambda f: f.update(behaviour=["step"]), "behaviour", "keys of its own (found [step]). Ids of"),
    "unknown side": (lambda f: f.update(side="ethernet"), "side", "Write one of infiniband, rocev2, plain"),
    "id in capitals": (lambda f: f.update(id="Umbra"), "id", "lower-case words joined by hyphens"),
    "no kinds": (lambda f: f.update(kinds=[]), "kinds", "must hold at least 1 item(s) (found []). Kinds"),
    "nameless": (lambda f: f.update(short_name=" "), "short_name", "is empty"),
    "name on two lines": (lambda f: f.update(name="a\nb"), "name", "line"),
    "name too long": (lambda f: f.update(name="W" * 41), "name", "40"),
    "prefix with blanks": (lambda f: f.update(risk="a b"), "risk", "prefix of entries"),
    "skill in words": (lambda f: f.update(skill="much"), "skill", "true or false"),
    "partner in words": (lambda f: f.update(cloud_partner="maybe"), "cloud_partner", "true or false"),
    "id used twice": (lambda f: f.update(id="infiniband"), "id", "used already"),
}


def spoilt(folder: Path, spoil: Spoil, place: int = 1) -> Path:
    """The shipped file with one entry spoilt."""
    rows = yaml.safe_load(families_book.SHIPPED_FILE.read_text(encoding="utf-8"))
    spoil(rows[place])
    path = folder / "families.yaml"
    path.write_text(yaml.safe_dump(rows, sort_keys=False), encoding="utf-8")
    return path


@rows("name", FAMILY_FAULTS)
def test_a_fault_is_one_message_with_file_line_and_key(name: str, tmp_path: Path) -> None:
    spoil, key, words = FAMILY_FAULTS[name]
    path = spoilt(tmp_path, spoil)
    with pytest.raises(InputError) as caught:
        read_families(path)
    (problem,) = caught.value.problems
    assert problem.file == str(path) and problem.line > 1
    assert problem.key == f"[1].{key}" and words in str(problem)


def test_faults_of_several_families_are_told_at_once(tmp_path: Path) -> None:
    path = spoilt(tmp_path, lambda f: f.update(staff=3), 0)
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    rows[2]["side"], rows[3]["id"] = "third", rows[1]["id"]
    path.write_text(yaml.safe_dump(rows, sort_keys=False), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_families(path)
    assert [p.key for p in caught.value.problems] == ["[0].staff", "[2].side", "[3].id"]


def test_a_file_that_is_no_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "families.yaml"
    path.write_text("id: infiniband\n", encoding="utf-8")
    with pytest.raises(InputError, match="must be a list"):
        read_families(path)


def test_two_sides_have_the_family_that_gives_them_their_name() -> None:
    assert {families()[side].side for side in (Side.INFINIBAND, Side.ROCEV2)} == {Side.INFINIBAND, Side.ROCEV2}


def test_every_kind_of_a_family_has_a_class() -> None:
    kinds = {row["kind"] for row in read_yaml("collectives")["fabrics"].values()}
    assert all(set(family.kinds) <= kinds for family in families().values())


def test_every_role_is_explained_at_the_head_of_the_file() -> None:
    head = families_book.SHIPPED_FILE.read_text(encoding="utf-8").split("- id:")[0]
    assert not [role for role in ROLES if role not in head]


def test_every_role_has_the_units_that_serve_it() -> None:
    assert set(UNITS) == set(ROLES)


@pytest.mark.slow
@rows(
    ("role", "entry", "words"),
    [
        ("stalls", "shared-stall-share-rocev3", "Did you mean 'evidence:shared-stall-share-rocev2'"),
        ("weeks", "shared-stall-share-rocev2", "week"),
        ("tuning", "fabric-tuning-none", "fabric-tuning-none-medium"),
    ],
)
def test_an_entry_of_behaviour_that_cannot_answer_is_told_at_its_key(
    role: str, entry: str, words: str, tmp_path: Path
) -> None:
    own = [{"id": "own", "like": "spectrum-x-800g", "name": "Own", "behaviour": {role: entry}}]
    (tmp_path / "options").mkdir()
    (tmp_path / "options" / "own.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    data = yaml.safe_load((ROOT / "params" / "halden-cloud.yaml").read_text(encoding="utf-8"))
    (tmp_path / "client.yaml").write_text(
        yaml.safe_dump({**data, "options": ["infiniband-xdr", "own"]}), encoding="utf-8"
    )
    with pytest.raises(InputError) as caught:
        open_case(tmp_path / "client.yaml")
    (problem,) = caught.value.problems
    assert problem.key == f"own.behaviour.{role}" and words in str(problem)
    assert problem.file.endswith("own.yaml")


GPUS = get_args(Cluster.model_fields["gpu"].annotation)


def of(gpu: str) -> Any:
    return SimpleNamespace(params=SimpleNamespace(cluster=SimpleNamespace(gpu=gpu)))


def test_the_params_the_models_and_the_schema_know_the_same_types() -> None:
    assert tuple(gpu_types().known) == GPUS == tuple(catalogue().gpus) == tuple(practice().gpus)
    assert yaml.safe_load(json_schema())["$defs"]["Cluster"]["properties"]["gpu"]["enum"] == list(GPUS)


@pytest.mark.slow
@rows("gpu", GPUS)
def test_what_an_entry_refers_to_is_in_the_books(gpu: str) -> None:
    case, kind = bench.case("example"), gpu_types().of(gpu)
    assert all(case.inputs.central(input_id) > 0 for input_id in kind.references.values())
    assert case.inputs.central(kind.links.total) == kind.links.per_gpu * kind.links.gbits_per_s


@rows("look_up", [lambda gpu: gpu_type(of(gpu)), catalogue().gpu, practice().gpu])
def test_a_type_without_an_entry_is_an_input_error_with_a_remedy(look_up: Any) -> None:
    with pytest.raises(InputError) as caught:
        look_up("h999")
    (problem,) = caught.value.problems
    assert "h999" in problem.value and "gpu" in problem.key and "h100" in str(problem) and problem.remedy


def test_a_mistyped_type_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(InputError) as caught:
        params_from(with_value("cluster.gpu", GPUS[-1][:-1]))
    assert did_you_mean(GPUS[-1][:-1], GPUS) in str(caught.value)


@rows("gpu", GPUS)
def test_defaults_of_the_cluster_follow_from_the_type(gpu: str) -> None:
    kind, made = gpu_types().of(gpu), params_from(with_value("cluster.gpu", gpu)).cluster
    found = (made.vendor, made.gpus_per_node, made.links_per_gpu, made.link_gbits_per_s)
    assert found == (kind.vendor, kind.gpus_per_node, kind.links.per_gpu, kind.links.gbits_per_s)


def test_newer_types_of_a_maker_are_no_slower_and_hold_no_less() -> None:
    known = gpu_types().known
    for row in (("a100", "h100", "h200", "b200", "b300", "gb300-nvl72", "vr200-nvl72"), ("mi300x", "mi325x", "mi355x")):
        kinds = [known[gpu] for gpu in row]
        for older, newer in pairwise(kinds):
            assert older.on_sale <= newer.on_sale
            assert older.kernels.peak_tflops <= newer.kernels.peak_tflops
            assert older.kernels.memory_gbytes <= newer.kernels.memory_gbytes


def test_what_nobody_publishes_is_called_an_assumption_and_is_wide() -> None:
    book = read_evidence()
    for entry in ("server-mi325x-8gpu-usd", "server-mi355x-8gpu-usd", "gpu-hour-vr200-nvl72-usd", "nic-connectx9-usd"):
        assert book[entry].grade == "assumption"
        assert book[entry].figure.high > 1.5 * book[entry].figure.low
    for entry in ("server-gb300-nvl72-usd", "server-vr200-nvl72-usd", "server-b300-8gpu-usd"):
        assert book[entry].grade == "secondary"
        assert book[entry].figure.high > 1.5 * book[entry].figure.low


@pytest.mark.slow
@pytest.mark.laws(4)
@pytest.mark.parametrize(("gpu", "acquisition"), list(zip(GPUS, cycle(("buy", "rent")), strict=False)))
def test_every_type_is_compared_bought_or_rented(gpu: str, acquisition: str) -> None:
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


# ---- the file is read strictly

GPU_FAULTS: dict[str, tuple[Spoil, str, str]] = {
    "unknown key": (lambda e: e.update(link=1), "link", "is not a known key. Did you mean 'links'"),
    "misspelt key": (lambda e: e["server"].update(prise="price:x"), "server.prise", "Did you mean 'price'"),
    "missing key": (lambda e: e.pop("generation"), "types[0].generation", "is missing. Add it. The head of"),
    "missing part": (lambda e: e["kernels"].pop("source"), "kernels.source", "is missing. Add it. The head of"),
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
    "id in capitals": (lambda e: e.update(id="H100"), "id", "lower-case words joined by hyphens"),
    "part that is none": (lambda e: e.update(server="dear"), "server", "keys of its own"),
}


def spoilt_type(folder: Path, spoil: Spoil) -> Path:
    """The shipped file with its first entry spoilt."""
    data = yaml.safe_load((EVIDENCE / "gpus.yaml").read_text(encoding="utf-8"))
    spoil(data["types"][0])
    path = folder / "gpus.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


@rows("name", GPU_FAULTS)
def test_a_fault_in_the_file_is_one_message_with_its_place_and_remedy(name: str, tmp_path: Path) -> None:
    spoil, key, words = GPU_FAULTS[name]
    path = spoilt_type(tmp_path, spoil)
    with pytest.raises(InputError) as caught:
        read_gpus(path)
    (problem,) = caught.value.problems
    assert problem.file == str(path) and problem.line and key in problem.key
    assert words in str(problem) and (problem.remedy or problem.suggestion)


def test_an_id_used_twice_and_a_default_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="used already"):
        read_gpus(spoilt_type(tmp_path, lambda e: e.update(id=GPUS[1])))
    data = yaml.safe_load((EVIDENCE / "gpus.yaml").read_text(encoding="utf-8"))
    path = tmp_path / "other.yaml"
    path.write_text(yaml.safe_dump({**data, "default": "h10"}), encoding="utf-8")
    with pytest.raises(InputError, match="Did you mean 'h100'"):
        read_gpus(path)
    path.write_text("types: []\n", encoding="utf-8")
    with pytest.raises(InputError, match="default: is missing"):
        read_gpus(path)


def test_branded_switches_for_gpus_of_amd_are_not_nvidia_s_with_nvidia_s_adapter():
    for vendor, other in (("nvidia", "amd"), ("amd", "nvidia")):
        branded = [
            option
            for option in (read_options()[o] for o in proposed(vendor, 400.0, 1024, True, date(2026, 11, 27)))
            if option.rdma and option.operating_model == "branded"
        ]
        prices = {piece.price for option in branded for piece in option.pieces.values()}
        assert len(branded) == 1 and other not in branded[0].gpus_of
        assert any("sn5610" in price for price in prices) is (vendor == "nvidia")
        assert any("connectx" in price for price in prices) is (vendor == "nvidia")
