"""Inputs, items and options go by words that can be said and that tell them apart."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.nodes import Paragraph, plain_text
from fabricreport.blocks.template import Binder
from fabricreport.blocks.theme import wrapped
from fabricreport.bodies.views import body_names, called
from fabricreport.books.equipment import families
from fabricreport.books.evidence import read_evidence
from fabricreport.books.names import input_names, item_names, names_of, option_names, phrases, whole_names
from fabricreport.books.options import read_options
from fabricreport.books.quotes import items_of
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Listing, Name, Named, OptionName, Phrase, joined

ROOT = Path(__file__).parents[2]
LONGEST = 10  # words
EITHER = r"(none|some|strong|large|low|medium|high|ampere|hopper|blackwell|cdna3|cdna4|rubin)"
"""What a pattern may stand for: of these a case has one."""
BOOK = read_yaml("names")
PHRASES: Mapping[str, str] = phrases()


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
    given: Any = SimpleNamespace(prices=(), record=lambda i: pytest.fail(f"{i} has no phrase"))
    return input_names(given, input_id).phrase


@rows("input_id", lambda: sorted(set(driving())))
def test_every_input_that_drives_a_figure_has_a_phrase(input_id: str) -> None:
    assert phrase(input_id)


@rows("said", [*PHRASES.values(), *(g["name"] for g in read_yaml("information")["groups"])])
def test_a_phrase_can_be_said(said: str) -> None:
    assert len(said.split()) <= LONGEST and not re.search(r"[;()\[\]{}]", said)
    assert not any(re.fullmatch(r"[\d.,]+", word) for word in said.split())
    assert said[0].islower() or said.split("’")[0] in ("RoCEv2", "InfiniBand")
    assert "…" not in wrapped(names_of(said).row, 44)
    assert said == " ".join(said.split()) and not said.endswith(".")


def test_no_two_inputs_of_a_case_go_by_one_phrase() -> None:
    ids = sorted({*driving(), *(i for i in PHRASES if "*" not in i and is_there(i))})
    by_phrase: dict[str, set[str]] = {}
    for i in ids:
        by_phrase.setdefault(phrase(i).casefold(), set()).add(next((p for p in PHRASES if fnmatchcase(i, p)), i))
    assert {said: lines for said, lines in by_phrase.items() if len(lines) > 1} == {}
    for pattern in (p for p in BOOK["inputs"] if "*" in p and "{" not in p):
        meant = [i for i in ids if fnmatchcase(i, pattern) and i not in PHRASES]
        assert meant and all(re.fullmatch(re.escape(pattern).replace(r"\*", EITHER), i) for i in meant), pattern


def is_there(pattern: str) -> bool:
    """Whether there is an input of this id or pattern."""
    kind, _, name = pattern.partition(":")
    if kind == "evidence":
        return any(fnmatchcase(i, name) for i in read_evidence())
    return kind != "price" or name.startswith("fx-") or name in shipped_items()


@cache
def shipped_items() -> frozenset[str]:
    """Every item of the price book, and those that an option is or would be priced by."""
    with (ROOT / "fabricreport/data/price_baseline.csv").open(encoding="utf-8") as file:
        items = {row["item"] for row in csv.DictReader(file)}
    return frozenset(items.union(*(items_of(option.priced(items)) for option in read_options().values())))


def test_every_phrase_is_of_something_that_there_is() -> None:
    made = {line: [i for i in PHRASES if re.fullmatch(in_braces(line), i)] for line in BOOK["inputs"]}
    assert [line for line, ids in made.items() if not any(map(is_there, ids))] == []
    words = {(kind, part) for kind, parts in BOOK["words"].items() for part in parts}
    used = {(kind, part) for kind, part in words for i in PHRASES if part in i and is_there(i)}
    assert words == used


def in_braces(line: str) -> str:
    """What a line of the book may stand for."""
    return re.sub(r"\\{\w+\\}", "[a-z0-9.-]+", re.escape(line))


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
    assert input_names(given, f"price:{item}").phrase == said


def test_an_entry_without_a_phrase_goes_by_its_label_without_asides() -> None:
    given: Any = SimpleNamespace(prices=(), record=lambda _: {"label": "GPU hours lost (all causes); mean (x)"})
    assert input_names(given, "evidence:client-own").row == "GPU hours lost"
    assert names_of("the price of a cable").row == "Price of a cable"
    assert names_of("RoCEv2’s bandwidth").row == "RoCEv2’s bandwidth"


@rows(
    ("item", "name", "row"),
    [
        ("switch-qm9700", "a QM9700 switch (InfiniBand NDR)", "QM9700 switch (InfiniBand NDR)"),
        (
            "switch-n9600-64od",
            "an N9600-64OD white-box switch (listed in EUR)",
            "N9600-64OD white-box switch (listed in EUR)",
        ),
        ("fx-eur-usd", "the exchange rate of EUR to USD", "Exchange rate of EUR to USD"),
        ("gpu-hour-h100-aws-list", "an hour of one H100 (AWS, list price)", "Hour of one H100 (AWS, list price)"),
        ("gpu-hour-h100-some-seller", "an hour of one H100 (some seller)", "Hour of one H100 (some seller)"),
        ("widget-a", "widget a", "Widget a"),
    ],
)
def test_an_item_is_named_within_a_sentence_and_at_the_head_of_a_row(item: str, name: str, row: str) -> None:
    assert (item_names(item).phrase, item_names(item).row) == (name, row)


def test_every_item_of_the_price_book_and_of_every_option_has_a_name() -> None:
    assert {i for i in shipped_items() if i not in BOOK["items"] and not i.startswith(("gpu-hour-", "fx-"))} == set()


OPTIONS = read_options()
NDR, XDR, SPECTRUM, SPECTRUM_800 = "infiniband-ndr", "infiniband-xdr", "spectrum-x-400g", "spectrum-x-800g"
BRANDED, WHITEBOX, WHITEBOX_800 = "rocev2-branded-400g", "rocev2-whitebox-400g", "rocev2-whitebox-800g"
TCP = "ethernet-tcp"


def names(*ids: str, choice: str = "", rival: str = "") -> list[str]:
    told = option_names([OPTIONS[i] for i in ids], choice or ids[0], rival or ids[1])
    return [told[i].phrase for i in ids]


@given(st.data())
def test_names_are_distinct_and_never_empty_whatever_is_compared(data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.sampled_from(sorted(OPTIONS)), min_size=1, unique=True))
    choice, rival = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(ids))
    told = option_names([OPTIONS[i] for i in ids], choice, rival)
    every = option_names([OPTIONS[i] for i in ids], choice, rival, list(OPTIONS.values()))
    assert {i: every[i] for i in ids} == told and len({n.phrase.casefold() for n in every.values()}) == len(OPTIONS)
    assert list(told) == ids and all(n.phrase.strip() and n.short.strip() for n in told.values())
    assert len({n.phrase.casefold() for n in told.values()}) == len({n.short for n in told.values()}) == len(ids)
    assert all(max(len(n.phrase), len(n.short)) <= len(OPTIONS[i].name) for i, n in told.items())


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
            ["InfiniBand", "white-box RoCEv2", "branded RoCEv2", "Spectrum-X", "standard Ethernet"],
        ),
        ((NDR, SPECTRUM, WHITEBOX, XDR), ["InfiniBand NDR", "Spectrum-X", "white-box RoCEv2", "InfiniBand XDR"]),
        ((NDR, BRANDED, SPECTRUM, SPECTRUM_800), ["InfiniBand", "RoCEv2", "Spectrum-X 400G", "Spectrum-X 800G"]),
    ],
)
def test_the_pair_goes_by_the_shortest_names_that_tell_it_apart(ids: tuple[str, ...], told: list[str]) -> None:
    assert names(*ids) == told


def test_a_clients_option_goes_by_its_own_words_and_two_of_one_name_by_their_ids() -> None:
    base = replace(OPTIONS[WHITEBOX], say=())
    north, south = replace(base, id="north", name="Nord 400G"), replace(base, id="south", name="Nord 400G")
    alone, twins = option_names([OPTIONS[NDR], north], NDR, "north"), option_names([north, south], "north", "south")
    assert {i: n.phrase for i, n in alone.items()} == {NDR: "InfiniBand", "north": "Nord"}
    assert {i: n.phrase for i, n in twins.items()} == {"north": "Nord 400G (north)", "south": "Nord 400G (south)"}
    assert {n.short for n in twins.values()} == {"Nord 400G"} and alone["north"].short == "Nord"


def test_every_word_that_is_an_option_is_its_short_name_and_keeps_the_whole_one() -> None:
    options, whole = tuple(OPTIONS[i] for i in (NDR, WHITEBOX, BRANDED)), whole_names(OPTIONS.values())
    names = body_names(cast(Inputs, SimpleNamespace(options=options, all_options=OPTIONS)), NDR, WHITEBOX)
    kin = OptionName(whole[BRANDED], BRANDED, why=Name("as ", whole[NDR], " is dearer"))
    words = {
        "kin": kin,
        "other": whole["rocev2-branded-800g"],
        "all": (kin, [Name(whole[WHITEBOX])]),
        "edge": Named("Price", "price", below=OptionName("RoCEv2 white-box", WHITEBOX), course=Name("take ", kin)),
        "list": Named(joined(whole[o] for o in (NDR, BRANDED)), "list"),
        "client": Name(str(whole[BRANDED])),
        "command": Listing(whole[BRANDED]),
        "number": 3,
        "nothing": None,
    }
    told: dict[str, Any] = {word: called(names, value) for word, value in words.items()}
    assert (told["kin"], told["kin"].key, told["kin"].said["full"]) == ("branded RoCEv2", BRANDED, whole[BRANDED])
    assert told["other"] == "branded RoCEv2 800G"
    assert told["kin"].said["why"] == "as InfiniBand is dearer"
    assert told["all"] == ("branded RoCEv2", ["white-box RoCEv2"])
    assert (told["edge"].said["below"], told["edge"].said["course"]) == ("white-box RoCEv2", "take branded RoCEv2")
    assert (told["list"], told["list"].key) == ("InfiniBand, branded RoCEv2", "list")
    assert (told["client"], told["command"], told["number"], told["nothing"]) == (
        whole[BRANDED],
        whole[BRANDED],
        3,
        None,
    )


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
