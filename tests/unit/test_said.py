"""Every input that can turn the answer or drive a figure is called by words that can be said."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rows import rows

from fabricreport.books.evidence import read_evidence
from fabricreport.books.families import families
from fabricreport.books.option_reader import read_options
from fabricreport.books.prices.spoken import priced
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.sections.said import headed, plainly, row_of, said_of
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
