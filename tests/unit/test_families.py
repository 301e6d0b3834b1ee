"""Printed derivations: one rule and one set of inputs are said once, and every number keeps its own place."""

from __future__ import annotations

from typing import Any

from nbformat.v4 import new_notebook
from rich_notebook import INPUTS, MIME, block, ledger_entry, num, para, rich_notebook

from fabricreport.memo.document.derivations import Step, grouped_inputs, in_runs, quoted_input, short_steps
from fabricreport.memo.document.document import Document, document_from_notebook
from fabricreport.memo.write.paper import families, runs


def evidence(name: str) -> dict[str, Any]:
    return {**INPUTS[2], "id": f"evidence:{name}", "label": f"Label of {name}"}


def read(ledger: list[dict[str, Any]], inputs: list[dict[str, Any]] | None = None) -> Document:
    cell = block("a", [para(*(num(n["id"], n["text"]) for n in ledger))], ledger=ledger)
    cell.outputs[0].data[MIME]["inputs"] = inputs or INPUTS
    return document_from_notebook(new_notebook(cells=[cell]))


def printed(document: Document) -> list[str]:
    return [m.anchor for f in families(document.derivations) for g in f.groups for r in g.runs for m in r.members]


def test_a_number_that_repeats_an_input_leads_straight_to_it() -> None:
    quote = ledger_entry(
        "stated.price.x",
        "$38,500",
        38500.0,
        rule="as stated by the source",
        inputs=["price:switch-qm9700"],
        spread=None,
    )
    document = read([quote])
    assert document.derivations == ()
    (entry,) = document.inputs
    assert document.body[0].children[0].anchor == entry.anchor == "d-price-switch-qm9700"


def test_only_one_known_input_repeated_as_stated_counts_as_a_quotation() -> None:
    known = {"price:x": {}, "price:y": {}}
    entry = {"id": "tco.x", "rule": "as the article states it", "inputs": ["price:x"]}
    assert quoted_input(entry, known) == "price:x"
    assert quoted_input({**entry, "inputs": ["price:x", "price:y"]}, known) is None
    assert quoted_input({**entry, "inputs": ["price:z"]}, known) is None
    assert quoted_input({**entry, "rule": "as drawn"}, known) is None
    assert quoted_input({**entry, "rule": "as drawn", "id": "stated.x"}, known) == "price:x"


def test_an_audited_claim_shows_what_was_quoted_from_it_under_a_letter_of_its_own() -> None:
    claim = {**INPUTS[2], "id": "claim:s1-years", "kind": "claim", "text": "", "use": "audited: cost"}
    low, high = (
        ledger_entry(f"evidence.{end}", text, 1.0, rule="as the article states it", inputs=["claim:s1-years"])
        for end, text in (("low", "45 TB"), ("high", "99 days"))
    )
    document = read([low, high], [claim])
    ((title, (entry,)),) = grouped_inputs(document.inputs)
    assert (title, entry.code, entry.text) == ("Audited claims", "A1", "45 TB, 99 days")


def test_every_derivation_stands_in_exactly_one_family() -> None:
    document = document_from_notebook(rich_notebook())
    assert sorted(printed(document)) == sorted(d.anchor for d in document.derivations)
    (family,) = families(document.derivations)
    assert family.head == ""
    assert family.grade == ""
    assert len(family.groups) == 7


def test_a_set_that_occurs_again_is_named_once_and_carries_the_sources() -> None:
    names = ["k", "a", "m", "c", "x", "e", "q", "g"]
    alternate = [f"evidence:{n}" for n in names[::2]]
    pairs = [[f"evidence:{a}", f"evidence:{b}"] for a, b in zip(names[::2], names[1::2], strict=True)]
    ledger = [ledger_entry(f"tco.set-{i}", "$1", 1.0, inputs=alternate) for i in range(2)]
    ledger += [ledger_entry(f"tco.pair-{i}", "$1", 1.0, inputs=pair) for i, pair in enumerate(pairs)]
    document = read(ledger, [evidence(n) for n in names])
    # Inputs used together are neighbours, so the set is one run of codes and needs no name.
    assert document.input_sets == ()
    assert [s.text for s in short_steps(document.derivations[0].steps)] == ["E1–E4"]


def test_a_long_set_gets_a_code_and_its_numbers_lead_to_it() -> None:
    import itertools

    names = [f"n{i}" for i in range(12)]
    odd = [f"evidence:{n}" for n in names[::2]]
    rest = [[f"evidence:{a}", f"evidence:{b}"] for a, b in itertools.combinations(names, 2)]
    wide = [[f"evidence:{n}" for n in names[i : i + 7]] for i in range(6)]
    ledger = [ledger_entry(f"w.{i}", "$1", 1.0, inputs=w) for i, w in enumerate(wide)]
    ledger += [ledger_entry(f"p.{i}", "$1", 1.0, inputs=r) for i, r in enumerate(rest)]
    ledger += [ledger_entry(f"o.{i}", "$1", 1.0, inputs=odd) for i in range(3)]
    document = read(ledger, [evidence(n) for n in names])
    (found,) = [s for s in document.input_sets if len(s.steps) == 6]
    members = [d for d in document.derivations if d.input_set and d.input_set.anchor == found.anchor]
    assert [d.id for d in members] == ["o.0", "o.1", "o.2"]
    assert all(d.sources == () for d in members)
    assert [s.text for s in found.sources] == ["1"]
    assert all(step.anchor in {i.anchor for i in document.inputs} for step in found.steps)


def test_words_that_neighbours_share_are_written_once() -> None:
    labels = [
        "Cables of the first fabric",
        "Cables of the second fabric",
        "Staff",
        "Switches, ours: leaf",
        "Switches, ours: spine",
        "Switches, ours: core",
    ]
    document = read([{**ledger_entry(f"tco.{i}", f"{i}", 1.0), "label": label} for i, label in enumerate(labels)])
    made = runs(document.derivations)
    assert [(r.head, [m.label for m in r.members]) for r in made] == [
        ("", ["Cables of the first fabric"]),
        ("", ["Cables of the second fabric"]),
        ("", ["Staff"]),
        ("Switches, ours", ["leaf", "spine", "core"]),
    ]


def test_neighbouring_source_numbers_join() -> None:
    steps = [Step(str(n), f"s-{n}") for n in (1, 4, 5, 6, 9)]
    assert [(s.text, s.anchor) for s in in_runs(steps)] == [("1", "s-1"), ("4–6", "s-4"), ("9", "s-9")]
