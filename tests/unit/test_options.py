from dataclasses import fields

import pytest

from fabricreport.books.evidence import read_evidence
from fabricreport.books.families import ROLES, families
from fabricreport.books.option_reader import read_options
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.models.fabric.cost import PerPiece
from fabricreport.vocabulary import Maturity, Side

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
    *("ethernet-sprayed-800g", "amd-pollara-400g", "ethernet-tcp"),
)


def test_the_ids_of_eleven_options_are_a_contract_and_every_family_has_an_option():
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
        option.priced({"switch-q3400", "licence-ufm", "optic-800g-dr4"}),
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


def test_cost_evidence_is_complete_and_unique():
    entries = read_yaml("library/cost")
    ids = [entry["id"] for entry in entries]
    assert len(ids) == len(set(ids))
    keys = {"id", "what", "value", "unit", "date", "source", "publisher", "address", "read", "grade", "seen"}
    for entry in entries:
        assert set(entry) - {"derived_from"} == keys | {"interest", "use"}
        assert (entry["grade"] == "assumption") == (entry["seen"] == "-")
        value = entry["value"]
        if isinstance(value, dict):
            ends = list(value.values())
            assert ends == sorted(ends), entry["id"]


def test_a_client_adds_an_option_without_code(tmp_path):
    options = read_options(folder(tmp_path, XDR))
    xdr = options["infiniband-own"]
    assert (xdr.radix, xdr.link_gbits_per_s, xdr.fabric) == (144, 800, "infiniband-ndr")
    assert xdr.pieces["switch"].price == "price:switch-q3400"
    assert xdr.pieces["nic"] == options["infiniband-ndr"].pieces["nic"]
    assert xdr.file.endswith("mine.yaml")


def test_a_folder_that_is_not_there_adds_nothing(tmp_path):
    assert list(read_options(tmp_path / "none")) == list(read_options())


@pytest.mark.parametrize(
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
        (("name: InfiniBand of our own", "nam: InfiniBand of our own"), 3, "unknown key", "name"),
        (("price:switch-q3400", "12000"), 8, "reference", ""),
        (("    switch:", "    swicth:"), 8, "unknown kind", "switch"),
        (("id: infiniband-own", "id: infiniband-ndr"), 1, "used already", ""),
        (("id: infiniband-own", "id: Infiniband XDR"), 1, "kebab-case", ""),
        (("physical_ports: 72", "physical_ports: 1"), 6, "cages", ""),
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
    assert {"the key 'radix' is missing", "the key 'pieces' is missing"} <= {p.message for p in found}


@pytest.mark.parametrize("text", ["just text\n", "a: b\n", "- just text\n"])
def test_a_file_that_is_no_list_of_options_is_refused(tmp_path, text):
    assert problems(tmp_path, text)


@pytest.mark.parametrize(
    "terms",
    [
        "licence: {per_endpoint: 3}",
        "management: {links: -1}",
        "management: {links: 1e300}",
        "management: {nodes: 9000000000000000, node_price: 'evidence:management-server-usd'}",
        "management: {nodes: 3, node_price: null}",
        "alternatives: {switch: price:x}",
        "alternatives: {}\n  notes: one sentence",
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
        "cooling: none",
        "copper_m: null",
        "copper_m: -1",
        "gpus_of: []",
        "gpus_of: [intel]",
        "gpus_of: nvidia",
        "on_sale: soon",
        "on_sale: 2027",
        "colour: blue",
        "colour: '#12345'",
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


@pytest.mark.parametrize("note", ["x" * 401, r"two\nlines", r"a hidden \u202e turn"])
def test_a_note_is_one_line_that_shows_as_it_is_typed(tmp_path, note):
    (problem,) = problems(tmp_path, XDR + f'  notes: ["Good.", "{note}"]\n')
    assert problem.key == "[0].notes[1]" and problem.line == 9


def test_notes_belong_to_the_option_they_are_written_for(tmp_path):
    found = read_options(folder(tmp_path, XDR + '  notes: ["Quoted in May."]\n'))
    assert found["infiniband-own"].notes == ("Quoted in May.",) and len(found["infiniband-ndr"].notes) == 2
