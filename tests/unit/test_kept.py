"""An edition keeps what it was made from: read back, it gives the prices and figures that the run used."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from rows import rows

from fabricreport.base.project import PARAMS
from fabricreport.books.evidence import EvidenceEntry, read_evidence
from fabricreport.books.prices.files import parse_prices
from fabricreport.books.prices.rules import COLUMNS
from fabricreport.case import Case, case_of, open_case
from fabricreport.inputs.dossier import Given, read_given, read_params
from fabricreport.memo.editions.manifest import MANIFEST, list_outputs, sealed
from fabricreport.memo.editions.remains import INPUTS, LIBRARY, keep_inputs, prices_of
from fabricreport.memo.run.snapshot import Snapshot, take_snapshot
from fabricreport.scenario import dated

ROOT = PARAMS.parent
FORMULA = "=HYPERLINK(A1)"


def frozen(params: Path, work: Path, day: str = "") -> Snapshot:
    from fabricreport.memo.run.plan import parse_date

    loaded = read_params(params)
    loaded = dated(loaded, parse_date(day)) if day else loaded
    return take_snapshot(loaded.params, params, work)


def kept(snapshot: Snapshot, edition: Path) -> Path:
    """An edition of nothing but the inputs that it keeps."""
    edition.mkdir()
    keep_inputs(edition, snapshot)
    facts = {"edition": edition.name, "outputs": list_outputs(edition)}
    (edition / MANIFEST).write_bytes(sealed(facts))
    return edition


def read_again(edition: Path) -> Given:
    """What an edition keeps, read as the folder of a params file."""
    return read_given(edition / INPUTS / "params.json", shared=edition / INPUTS)


def stated(entry: EvidenceEntry) -> dict[str, object]:
    return {k: v for k, v in entry.as_dict().items() if k not in ("file", "line")}


def priced(case: Case) -> dict[str, dict[str, object]]:
    return {i: replace(p, file="", line=0, quarantined="").as_dict() for i, p in case.inputs.prices.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@rows("client", ["example", "tern-finetuning", "kestrel-lab", "halden-cloud"])
def test_what_an_edition_keeps_gives_the_prices_and_figures_that_the_run_used(client: str, tmp_path: Path) -> None:
    """Also on another day than the params': a refresh is as of the newest price's."""
    snapshot = frozen(ROOT / "params" / f"{client}.yaml", tmp_path / "work", "2026-11-28")
    ran = open_case(snapshot.params_json)
    edition = kept(snapshot, tmp_path / "edition")
    shutil.rmtree(snapshot.folder)
    again = case_of(read_again(edition))
    assert priced(again) == priced(ran) and str(again.inputs.as_of) == "2026-11-28"
    assert {i: stated(e) for i, e in again.inputs.evidence.items()} == {
        i: stated(e) for i, e in ran.inputs.evidence.items()
    }
    assert again.inputs.params == ran.inputs.params and again.inputs.offers == ran.inputs.offers
    totals = [
        {option: case.chain.bills.totals[option].mean() for option in case.chain.bills.totals} for case in (again, ran)
    ]
    assert totals[0] == totals[1] and again.compared == ran.compared


def test_the_library_is_kept_as_it_was_one_entry_to_a_line(tmp_path: Path) -> None:
    edition = kept(frozen(ROOT / "params/example.yaml", tmp_path / "work"), tmp_path / "edition")
    listed = json.loads((edition / INPUTS / LIBRARY).read_text())
    assert listed == [stated(entry) for entry in read_evidence().values()]


def test_two_editions_of_the_same_inputs_keep_the_same_bytes_and_name_no_folder(tmp_path: Path) -> None:
    made = []
    for n in "ab":
        shutil.copytree(ROOT / "params", tmp_path / n)
        edition = kept(frozen(tmp_path / n / "example.yaml", tmp_path / f"{n}-work"), tmp_path / f"{n}-edition")
        made.append({p.relative_to(edition): p.read_bytes() for p in (edition / INPUTS).rglob("*") if p.is_file()})
    assert made[0] == made[1] and not any(str(tmp_path).encode() in data for data in made[0].values())


def test_a_client_without_price_files_and_rows_that_are_no_price(tmp_path: Path) -> None:
    """A row that is no price is not kept: what a seller wrote into it could run in a spreadsheet."""
    shutil.copyfile(ROOT / "params/example.yaml", tmp_path / "acme.yaml")
    (tmp_path / "prices").mkdir()
    edition = kept(frozen(tmp_path / "acme.yaml", tmp_path / "work"), tmp_path / "bare")
    found = read_again(edition).prices
    assert found is not None and found.rows == ()
    head = ",".join(COLUMNS)
    good = "switch-qm9700,each,25000,,,USD,2026-11-02,,A seller,quote"
    cells = dict(zip(COLUMNS, [""] * len(COLUMNS), strict=True))
    cells |= dict(zip(head.split(",")[:10], good.split(","), strict=True))
    bad = ",".join((cells | {"price": "-1", "source": FORMULA}).values())
    (tmp_path / "prices/a.csv").write_text("\n".join([head, f"# {FORMULA}", ",".join(cells.values()), bad, ""]))
    snapshot = frozen(tmp_path / "acme.yaml", tmp_path / "more")
    edition = kept(snapshot, tmp_path / "priced")
    text = (edition / INPUTS / "prices/a.csv").read_text()
    assert FORMULA not in text and [row.price for row in parse_prices(text, "a")[0]] == [25_000]
    used = prices_of(edition, "northmere-ai", date(2026, 11, 20))
    assert [row.price for row in used.values()] == [25_000]
    assert prices_of(tmp_path, "northmere-ai", used["switch-qm9700"].date) == {}, "no edition at all"
