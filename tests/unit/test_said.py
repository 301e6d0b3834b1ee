"""Inputs, and the options compared, go by words that can be said and that tell them apart."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.blocks.nodes import Paragraph, plain_text
from fabricreport.blocks.template import Binder
from fabricreport.books.evidence import read_evidence
from fabricreport.books.families import families
from fabricreport.books.options import read_options
from fabricreport.books.prices.spoken import priced
from fabricreport.evidence import read_yaml
from fabricreport.findings import Listing, Name, Named, Phrase
from fabricreport.inputs import Inputs
from fabricreport.sections.said import headed, plainly, row_of, said_of
from fabricreport.sections.short_names import spoken_names
from fabricreport.spine.short import Shortened
from fabricreport.theme import wrapped

LONGEST = 10  # words
EITHER = r"(none|some|strong|large|low|medium|high|ampere|hopper|blackwell|cdna3|cdna4|rubin)"
"""What a pattern may stand for: of these a case has one."""
PHRASES: Mapping[str, str] = read_yaml("said")["inputs"]


def driving() -> Iterator[str]:
    """Every input that a group of the information study holds, that an option or a GPU refers to, and the client's choices."""
    patterns = [p for group in read_yaml("information")["groups"] for p in group["ids"]]
    for entry in read_evidence().values():
        if entry.kind != "text" and any(fnmatchcase(f"evidence:{entry.id}", p) for p in patterns):
            yield f"evidence:{entry.id}"
    for option in read_options().values():
        for need in option.needs:
            yield from (ref for ref in need.ref.split(" or ") if "ufm-h" not in ref)
    text = str(read_yaml("gpus"))
    yield from re.findall(r"price:[a-z0-9.-]+|evidence:(?:server|nic|gpu-hour|kernel)-[a-z0-9.-]+", text)
    yield from (i for i in read_yaml("settling")["names"])
    for family in families().values():
        yield from (i for i in (family.behaviour.step, family.behaviour.share) if ":" in i)


def phrase(input_id: str) -> str:
    return said_of(
        cast(Inputs, SimpleNamespace(prices=(), record=lambda i: pytest.fail(f"{i} has no phrase"))), input_id
    )


@rows("input_id", lambda: sorted(set(driving())))
def test_every_input_that_drives_a_figure_has_a_phrase(input_id: str) -> None:
    assert phrase(input_id)


@rows("said", [*PHRASES.values(), *(g["name"] for g in read_yaml("information")["groups"])])
def test_a_phrase_can_be_said(said: str) -> None:
    assert len(said.split()) <= LONGEST and not re.search(r"[;()\[\]{}]", said)
    assert not any(re.fullmatch(r"[\d.,]+", word) for word in said.split())
    assert said[0].islower() or said.split("’")[0] in ("RoCEv2", "InfiniBand")
    assert "…" not in wrapped(headed(said), 44)
    assert said == " ".join(said.split()) and not said.endswith(".")


def test_no_two_inputs_of_a_case_go_by_one_phrase() -> None:
    assert len({p.casefold() for p in PHRASES.values()}) == len(PHRASES)
    ids = sorted(set(driving()))
    for pattern in (p for p in PHRASES if "*" in p):
        meant = [i for i in ids if fnmatchcase(i, pattern) and i not in PHRASES]
        assert meant and all(re.fullmatch(re.escape(pattern).replace(r"\*", EITHER), i) for i in meant), pattern


def test_every_phrase_is_of_something_that_there_is() -> None:
    library, prices = read_evidence(), read_yaml("item_names")["names"]
    for pattern in PHRASES:
        kind, _, name = pattern.partition(":")
        if kind == "evidence":
            assert any(fnmatchcase(i, name) for i in library), pattern
        if kind == "price" and not name.startswith(("fx-", "gpu-hour-")):
            assert name in prices, pattern


@rows(
    ("item", "said"),
    [
        ("switch-qm8700", "the price of a QM8700 switch, InfiniBand HDR"),
        ("my-own-cable", "the price of my own cable"),
        ("fx-usd-chf", "the exchange rate of USD to CHF"),
        ("gpu-hour-h100-coreweave", "the rent of an hour of one H100, CoreWeave"),
    ],
)
def test_an_item_without_a_phrase_goes_by_its_price(item: str, said: str) -> None:
    given: Any = SimpleNamespace(prices={item})
    assert (priced(item), said_of(given, f"price:{item}")) == (said, said)


def test_an_entry_without_a_phrase_goes_by_its_label_without_asides() -> None:
    given: Any = SimpleNamespace(prices=(), record=lambda _: {"label": "GPU hours lost (all causes); mean (x)"})
    assert row_of(given, "evidence:client-own") == "GPU hours lost"
    assert plainly("Weeks until the site is ready") == "weeks until the site is ready"
    assert headed("the price of a cable") == "Price of a cable"
    assert headed("RoCEv2’s bandwidth") == "RoCEv2’s bandwidth"


OPTIONS = read_options()
NDR, XDR, SPECTRUM, SPECTRUM_800 = "infiniband-ndr", "infiniband-xdr", "spectrum-x-400g", "spectrum-x-800g"
BRANDED, WHITEBOX, WHITEBOX_800 = "rocev2-branded-400g", "rocev2-whitebox-400g", "rocev2-whitebox-800g"
TCP = "ethernet-tcp"


def names(*ids: str, choice: str = "", rival: str = "") -> list[str]:
    told = spoken_names([OPTIONS[i] for i in ids], choice or ids[0], rival or ids[1])
    return [told[i] for i in ids]


@given(st.data())
def test_names_are_distinct_and_never_empty_whatever_is_compared(data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.sampled_from(sorted(OPTIONS)), min_size=1, unique=True))
    choice, rival = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(ids))
    told = spoken_names([OPTIONS[i] for i in ids], choice, rival)
    every = spoken_names([OPTIONS[i] for i in ids], choice, rival, list(OPTIONS.values()))
    assert {i: every[i] for i in ids} == told and len({n.casefold() for n in every.values()}) == len(OPTIONS)
    assert list(told) == ids and all(name.strip() for name in told.values())
    assert len({name.casefold() for name in told.values()}) == len(ids)
    assert all(len(name) <= len(OPTIONS[i].name) for i, name in told.items())


@rows(
    ("ids", "told"),
    [
        ((NDR, WHITEBOX), ["InfiniBand", "RoCEv2"]),
        ((NDR, SPECTRUM), ["InfiniBand", "Spectrum-X"]),
        ((SPECTRUM, WHITEBOX), ["Spectrum-X", "white-box RoCEv2"]),
        ((BRANDED, WHITEBOX), ["branded RoCEv2", "white-box RoCEv2"]),
        ((WHITEBOX, WHITEBOX_800), ["white-box RoCEv2 400G", "white-box RoCEv2 800G"]),
        ((NDR, XDR), ["InfiniBand NDR", "InfiniBand XDR"]),
        (
            (NDR, WHITEBOX, BRANDED, SPECTRUM, TCP),
            ["InfiniBand", "RoCEv2", "branded RoCEv2", "Spectrum-X", "standard Ethernet"],
        ),
        ((NDR, SPECTRUM, WHITEBOX, XDR), ["InfiniBand", "Spectrum-X", "white-box RoCEv2", "InfiniBand XDR"]),
        ((NDR, BRANDED, SPECTRUM, SPECTRUM_800), ["InfiniBand", "RoCEv2", "Spectrum-X 400G", "Spectrum-X 800G"]),
    ],
)
def test_the_pair_goes_by_the_shortest_names_that_tell_it_apart(ids: tuple[str, ...], told: list[str]) -> None:
    assert names(*ids) == told


def test_a_clients_option_goes_by_its_own_words_and_two_of_one_name_by_their_ids() -> None:
    base = replace(OPTIONS[WHITEBOX], say=())
    north, south = replace(base, id="north", name="Nord 400G"), replace(base, id="south", name="Nord 400G")
    assert spoken_names([OPTIONS[NDR], north], NDR, "north") == {NDR: "InfiniBand", "north": "Nord"}
    assert spoken_names([north, south], "north", "south") == {
        "north": "Nord 400G (north)",
        "south": "Nord 400G (south)",
    }


def shortened(**words: object) -> dict[str, Any]:
    options = tuple(OPTIONS[i] for i in (NDR, WHITEBOX, BRANDED))
    given_options = cast(Inputs, SimpleNamespace(options=options, all_options=OPTIONS))
    return Shortened(given_options, NDR, WHITEBOX).words(words)


def test_every_word_that_is_an_option_is_its_short_name_and_keeps_the_whole_one() -> None:
    whole = OPTIONS[BRANDED].name
    kin = Named(whole, BRANDED, why=Name(f"as {OPTIONS[NDR].name} is dearer"))
    told = shortened(
        kin=kin,
        other=Named(OPTIONS["rocev2-branded-800g"].name, "rocev2-branded-800g"),
        all=(kin, [Name(OPTIONS[WHITEBOX].name)]),
        edge=Named("Price", "price", below=Name("RoCEv2 white-box"), course=Name(f"take {whole}")),
        client=Name(whole),
        command=Listing(whole),
        number=3,
        nothing=None,
    )
    assert (told["kin"], told["kin"].key, told["kin"].said["full"]) == ("branded RoCEv2", BRANDED, whole)
    assert told["other"] == "branded RoCEv2 800G"
    assert told["kin"].said["why"] == "as InfiniBand is dearer"
    assert told["all"] == ("branded RoCEv2", ["RoCEv2"])
    assert (told["edge"].said["below"], told["edge"].said["course"]) == ("RoCEv2", "take branded RoCEv2")
    assert (told["client"], told["command"], told["number"], told["nothing"]) == (whole, whole, 3, None)


@rows(
    ("text", "said"),
    [
        ("{kin} costs more than {rival}.", "White-box RoCEv2 costs more than Nord."),
        (
            "It pays. {kin} pays. *{kin}* pays? (“{kin}”) as {kin}",
            "It pays. White-box RoCEv2 pays. White-box RoCEv2 pays? (“White-box RoCEv2”) as white-box RoCEv2",
        ),
        ("Less than {kin}, e.g.\nas {kin} {kin.full}", "Less than white-box RoCEv2, e.g. as white-box RoCEv2 whole"),
        ("{rival.low} is {{kin}}", "low is {kin}"),
    ],
)
def test_a_phrase_has_a_capital_where_it_begins_a_sentence(text: str, said: str) -> None:
    words = {"kin": Phrase("white-box RoCEv2", "k", full=Name("whole")), "rival": Named("Nord", "n", low="low")}
    (node,) = Binder(lambda _: pytest.fail("no figure"), words).prose(text)
    assert isinstance(node, Paragraph) and plain_text(node.children) == said


def test_a_phrase_that_begins_a_heading_an_item_or_a_paragraph_has_a_capital() -> None:
    binder = Binder(lambda _: pytest.fail("no figure"), {"kin": Phrase("white-box RoCEv2", "k")})
    nodes = binder.prose("# {kin} and {kin}\n\n- {kin}\n- as {kin}\n\n**{kin}**")
    assert "White-box RoCEv2 and white-box RoCEv2" in str(nodes[0])
    assert str(nodes).count("White-box") == 3 and str(nodes).count("white-box") == 2
    assert set(binder.names) == {"White-box RoCEv2", "white-box RoCEv2"}
