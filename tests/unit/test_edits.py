"""A number that is changed in a notebook is found with its cell, and a client copy carries it only where somebody signs for it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bench
import nbformat
import pytest
from nbformat.v4 import new_code_cell

from fabricreport.base.errors import InputError
from fabricreport.blocks.document import Section
from fabricreport.case import Case
from fabricreport.memo import signatures
from fabricreport.memo.document.checks import edit_faults
from fabricreport.memo.document.document import stitch
from fabricreport.memo.document.pieces import EDITS_MIME, Edit, gather
from fabricreport.memo.run import watch
from fabricreport.memo.run.overlay import laid_over
from fabricreport.memo.run.plan import BuildPlan
from fabricreport.scenario import Params
from fabricreport.scenario.files import load_params_file
from fabricreport.scenario.template import with_entries
from fabricreport.sections.decision import tables

pytestmark = pytest.mark.slow
SWITCH, SPARES = "price:switch-qm9700", "tco.spares"
SIGNED = {"who": "Ann: head of 'ops'", "why": "Agreed, by letter", "until": "2027-01-31"}
PARAMS = """\
client: {name: Acme, slug: acme}   # ours
as_of: 2026-11-27
cluster: {gpus: 1024}
workload: {kind: pretraining-dense, run_days: 30}
organisation: {networking_maturity: medium}
money: {acquisition: buy}
overrides:   # see the file of quotes
  # asked in May
  - id: evidence:pue
    value: 1.3   # measured
    who: Bob
    why: Their meter
    until: 2026-12-31
# the end
"""


def own() -> Case:
    return bench.case("example").read_afresh()


def found(**space: Any) -> list[tuple[str, str]]:
    return [(e["kind"], e["id"]) for e in watch.edits(own, space)]


def spares(case: Case, **more: Any) -> Any:
    return case.number(SPARES, 25_000, "usd", label="Two spare switches", rule="agreed", **more)


def test_what_a_notebook_replaces_is_found_and_a_what_if_is_its_own_affair() -> None:
    case, cheaper = own(), own().changed(prices={"switch-qm9700": 20000})
    body = Section("tco", case)
    body.say("{tco.difference}, {price:switch-qm9700}, {param:cluster.gpus}")
    twice = case.number("tco.twice", case.inputs.draw(SWITCH) * 2, "usd", label="Two", rule="price × two")
    body.say("{two}", two=twice)
    assert found(case=case, given=case.inputs, body=body, what_if=cheaper) == []
    other = Section("tco", cheaper)
    smaller = own().changed(cluster__gpus=512)
    moved = case.inputs.replacing({SWITCH: cheaper.inputs.in_force(SWITCH).figure})
    for space in ({"case": cheaper}, {"case": case, "given": moved}, {"case": case, "body": other}):
        assert found(**space) == [("input", SWITCH)]
    (edit,) = watch.edits(own, {"case": cheaper})
    assert (edit["new"], edit["value"]) == ("$20,000", 20000.0) and edit["old"] == case.record(SWITCH)["text"]
    assert ("param", "param:cluster.gpus") in found(case=smaller) and ("input", SWITCH) not in found(case=smaller)
    body.say("{changed}", changed=replace(case.figure("tco.difference"), value=1.0))
    assert found(case=case, body=body) == [("figure", "tco.difference")]


def test_a_number_made_of_nothing_is_found_and_one_that_rests_on_inputs_is_not() -> None:
    case = own()
    spares(case)
    assert found(case=case) == [("own", SPARES)]
    other = own()
    spares(other, inputs=[SWITCH])
    assert found(case=other) == []


def test_each_cell_shows_what_it_changed_once_and_the_memo_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    after: dict[str, Any] = {}
    space: dict[str, Any] = {"case": own()}
    events = SimpleNamespace(register=after.__setitem__)
    watch.watch(own, SimpleNamespace(user_ns=space, events=events))
    spares(space["case"])
    for _ in range(2):
        after["post_run_cell"](None)
    assert len(shown) == 1
    source = 'case.number("tco.spares", 25_000)'
    output = nbformat.v4.new_output("display_data", data=shown[0])  # type: ignore[no-untyped-call]
    hidden = {"tags": ["remove-cell"], "fabricreport": {"section": "tco", "notebook": "tco.ipynb", "cell": 4}}
    cell = nbformat.v4.new_code_cell(source, outputs=[output], metadata=hidden)  # type: ignore[no-untyped-call]
    memo = gather({"cells": [cell]})
    assert memo.edits == [
        Edit("tco", "tco.ipynb, cell 4", sha256(source.encode()).hexdigest(), "own", SPARES, "", "$25k")
    ]
    assert not memo.problems


EDITS = [
    Edit("tco", "tco.ipynb, cell 1", "b" * 64, "input", SWITCH, "$33,000", "$20,000", 20000.0),
    Edit("tco", "tco.ipynb, cell 1", "b" * 64, "figure", "tco.difference", "$1M", "$2M"),
    Edit("tco", "tco.ipynb, cell 2", "a" * 64, "own", SPARES, "", "$25,000"),
    Edit("latency", "latency.ipynb, cell 1", "c" * 64, "param", "cluster.gpus", "1024", "512"),
    Edit("decision", "decision.ipynb, cell 1", "c" * 64, "figure", "decision.difference", "$1M", "$2M"),
]
IDS = {
    "tco": {"tco.ipynb, cell 1": "cheaper", "tco.ipynb, cell 2": "own-spares"},
    "latency": {},
    "decision": {"decision.ipynb, cell 1": "x"},
}
ADOPTED = {"id": SPARES, "cell": "tco.ipynb:own-spares", "value": "$25,000", "source": "a" * 64, **SIGNED}


def test_a_cell_that_lies_over_an_original_is_named_where_it_was_written(tmp_path: Path) -> None:
    original = [new_code_cell(f"x = {n}", id=f"o{n}") for n in (1, 2)]
    own = [new_code_cell("%overlays tco.ipynb", id="h"), new_code_cell("", id="o1"), new_code_cell("y = 2", id="mine")]
    laid, _ = laid_over(original, own, "tco.ipynb", "acme/notebooks/tco.ipynb")
    edit = {"kind": "own", "id": SPARES, "old": "", "new": "$25k"}
    ran = [new_code_cell(c["source"], id=c["id"], metadata=c["metadata"]) for c in laid]
    nb = nbformat.v4.new_notebook(cells=ran)  # type: ignore[no-untyped-call]
    nbformat.write(nb, copy := tmp_path / "tco.ipynb")  # type: ignore[no-untyped-call]
    ran[0].outputs = [nbformat.v4.new_output("display_data", data={EDITS_MIME: [edit]})]  # type: ignore[no-untyped-call]
    cells = BuildPlan.cells.func(SimpleNamespace(notebooks={"tco": copy}))  # type: ignore[attr-defined]
    ids = BuildPlan.cell_ids.fget(SimpleNamespace(cells=cells))  # type: ignore[attr-defined]
    found = gather(stitch({"tco": nb}, {})).edits
    (told,) = edit_faults(found, {SPARES}, (), ids)
    assert told.startswith("acme/notebooks/tco.ipynb, cell 3 (mine): ") and "adopt tco.ipynb:mine" in told
    (gone,) = edit_faults(found, {SPARES}, (), {"tco": {}})
    assert "adopt tco.ipynb:3" in gone, "a preview shows the last good memo of a notebook that has fewer cells now"


def params_of(adopted: Iterable[dict[str, str]]) -> Params:
    return Params.model_validate({**bench.case("example").params.model_dump(by_alias=True), "adopted": [*adopted]})


def test_every_edit_is_told_at_once_with_cell_old_new_and_remedy_and_a_signature_holds_until_it_changes() -> None:
    told = [*edit_faults(EDITS, {SPARES}, (), IDS)]
    starts = ["tco.ipynb, cell 1 (cheaper): ", "tco.ipynb, cell 2 (own-spares): ", "latency.ipynb, cell 1 (1): ", "decision.ipynb, cell 1 (x): "]  # fmt: skip
    assert [fault.startswith(start) for fault, start in zip(told, starts, strict=True)] == [True] * 4
    assert "$20,000" in told[0] and "$33,000" in told[0] and "fabricreport adopt tco.ipynb:cheaper --who" in told[0]
    assert "1024" in told[2] and "512" in told[2] and "adopt" not in told[2] + told[3]
    own_number = [EDITS[2]]
    assert not [*edit_faults(own_number, set(), (), IDS)]  # nobody reads it
    for changed, faults in (
        ({}, 0),
        ({"value": "$30,000"}, 1),
        ({"source": "d" * 64}, 1),
        ({"cell": "tco.ipynb:else"}, 1),
    ):
        signed = params_of([{**ADOPTED, **changed}]).adopted
        assert len([*edit_faults(own_number, {SPARES}, signed, IDS)]) == faults, changed
    assert len([*edit_faults([], set(), params_of([ADOPTED]).adopted, IDS)]) == 1  # a signature under no number
    assert not [
        *edit_faults([], set(), params_of([ADOPTED]).adopted, {"latency": {}})
    ]  # of a notebook that did not run


def test_signing_edits_the_params_once_and_keeps_every_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "acme.yaml"
    mine = [
        (e.place(IDS), e) for e in (*EDITS[:3], replace(EDITS[0], id="evidence:pue", value={"low": 1.2, "high": 1.4}))
    ]
    monkeypatch.setattr(signatures, "edits_of", lambda *_: mine)
    said = {"who": SIGNED["who"], "why": SIGNED["why"]}
    path.write_text(PARAMS.replace("evidence:pue", "evidence:no-such"), encoding="utf-8")
    with pytest.raises(InputError, match="no-such"):  # found by the check alone
        signatures.adopt("tco.ipynb:1", path, **said)
    path.write_text(PARAMS, encoding="utf-8")
    monkeypatch.setattr(signatures, "make_ready", lambda at, _: SimpleNamespace(loaded=load_params_file(at)))
    done = signatures.adopt("tco.ipynb:1", path, **said)
    assert [one["id"] for one in done["signed"]] == [SWITCH, "evidence:pue"] and done["until"] == "2026-11-27"
    signatures.adopt("tco.ipynb:own-spares", path, **said, until=dt.date(2027, 1, 31))
    text, params = path.read_text(), load_params_file(path).params
    assert [line for line in PARAMS.splitlines() if "#" in line and "value" not in line] == [
        line for line in text.splitlines() if "#" in line and "value" not in line
    ]
    assert "# measured" in text and "value: 20000, who" in text
    assert [(o.id, o.who) for o in params.overrides] == [("evidence:pue", said["who"]), (SWITCH, said["who"])]
    assert params.adopted == params_of([ADOPTED]).adopted
    assert not signatures.adopt("tco.ipynb:own-spares", path, **said, until=dt.date(2027, 1, 31))["changed"]
    for asked, kwargs in (("tco.ipynb:9", {}), ("tco.ipynb:2", {"until": dt.date(2026, 1, 1)})):
        with pytest.raises(InputError):
            signatures.adopt(asked, path, **said, **kwargs)
    laid = replace(EDITS[2], where="acme/notebooks/tco.ipynb, cell 9", source="f" * 64)
    monkeypatch.setattr(signatures, "edits_of", lambda *_: [*mine, ("tco.ipynb:own-laid", laid)])
    with pytest.raises(InputError, match=r"sign for: tco.ipynb:cheaper .*own-laid") as refused:
        signatures.adopt("tco.ipynb:8", path, **said)
    assert "own-spares" not in str(refused.value), "somebody has signed for that"
    with pytest.raises(InputError, match=r"is not of this memo.*tco.ipynb"):
        signatures.adopt("nope.ipynb:1", path, **said)
    other = tmp_path / "other.yaml"
    other.write_text(PARAMS, encoding="utf-8")
    ours = (EDITS[1].place(IDS), replace(EDITS[1], where="tco.ipynb, cell 9"))
    monkeypatch.setattr(signatures, "edits_of", lambda *_: [ours, ("tco.ipynb:own-laid", laid)])
    assert [one["id"] for one in signatures.adopt("tco.ipynb:9", other, **said)["signed"]] == [SPARES]
    monkeypatch.setattr(signatures, "edits_of", lambda *_: [(EDITS[3].place(IDS), EDITS[3])])
    with pytest.raises(InputError, match=r"cluster\.gpus"):
        signatures.adopt("latency.ipynb:1", path, **said)
    assert path.read_text() == text


def test_params_that_are_laid_out_otherwise_are_left(tmp_path: Path) -> None:
    path = tmp_path / "acme.yaml"
    path.write_text(PARAMS.split("overrides:")[0] + "overrides: &a []\n", encoding="utf-8")
    with pytest.raises(InputError):
        with_entries(load_params_file(path), [("overrides", {"id": SWITCH, "value": 1})])


def test_what_the_params_say_already_keeps_its_name_and_both_kinds_stand_in_one_table() -> None:
    case = own()
    override = {"id": SWITCH, "value": 20000, **SIGNED}
    data = {**case.params.model_dump(mode="json", by_alias=True, exclude_unset=True), "overrides": [override]}
    signed = case.with_params(Params.model_validate({**data, "adopted": [ADOPTED]}))
    again = signed.changed(prices={"switch-qm9700": 20000})
    assert again.params == signed.params and not [*watch.differences(signed.inputs, again.inputs)]
    table = tables.overrides(signed.inputs, signed.figure)
    assert [[str(cell) for cell in row.cells][:1] for row in table.rows] == [
        [SWITCH],
        [f"{SPARES} (tco.ipynb:own-spares)"],
    ]
