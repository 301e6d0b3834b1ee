"""What sentences call an option: short, distinct, never empty, by the two that are weighed."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.blocks.nodes import Paragraph, plain_text
from fabricreport.blocks.template import Binder
from fabricreport.books.option_reader import read_options
from fabricreport.findings import Listing, Name, Named, Phrase
from fabricreport.inputs import Inputs
from fabricreport.sections.short_names import spoken_names
from fabricreport.spine.short import Shortened

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
