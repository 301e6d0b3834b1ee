"""Two editions beside each other: every cause at its known amount, and nothing subtracted that is not the same thing."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from unittest import mock

import bench
import pytest
import yaml
from click.testing import CliRunner
from rows import rows

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.formats import NBSP
from fabricreport.base.text import csv_text
from fabricreport.case import Case, case_of
from fabricreport.cli.main import main
from fabricreport.inputs.dossier import read_given, read_params
from fabricreport.memo.editions.causes import Kind
from fabricreport.memo.editions.manifest import MANIFEST, list_outputs, read_sealed, sealed
from fabricreport.memo.editions.probe import headline_of_case
from fabricreport.memo.editions.redline import NumberChange, Redline, redline
from fabricreport.memo.editions.remains import INPUTS, LIBRARY, keep_inputs
from fabricreport.memo.run.snapshot import take_snapshot

pytestmark = pytest.mark.slow
HOUR, TOTAL = "gpu-hour-h100-hyperstack", "decision.offers.total.hyperstack"
DEAR = "decision.offers.total.coreweave"


@pytest.fixture(autouse=True)
def few_draws() -> Iterator[None]:
    with mock.patch.object(inputs_module, "DRAWS", bench.DRAWS):
        yield


class Client:
    """A renter in a folder of its own, whose editions hold what a diff reads: inputs, headline, ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.output = folder / "params", folder / "output"
        shutil.copytree(bench.PARAMS, self.folder)
        self.path = self.folder / "tern-finetuning.yaml"
        self.keys: dict[str, Any] = yaml.safe_load(self.path.read_text(encoding="utf-8"))

    def priced(self, price: float, date: str = "", item: str = HOUR) -> None:
        """Put another price in the newest row of an item."""
        path = self.folder / "prices" / ("gpu_hours.csv" if "hour" in item else "utilities.csv")
        found = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
        row = [row for row in found if row["item"] == item and row["date"] != "undated"][-1]
        row.update(price=str(price), low="", high="", date=date or row["date"])
        path.write_text(csv_text([list(found[0]), *(list(row.values()) for row in found)]), encoding="utf-8")

    def edition(self, name: str) -> Path:
        """Keep what the client is now as an edition, its headline by today's code."""
        self.path.write_text(yaml.safe_dump(self.keys), encoding="utf-8")
        loaded = read_params(self.path)
        edition = self.output / loaded.slug / f"{loaded.params.as_of}-{name * 8}"
        edition.mkdir(parents=True)
        keep_inputs(edition, take_snapshot(loaded.params, self.path, self.folder.parent / f"work-{name}"))
        (edition / "ledger.json").write_text('{"numbers": [], "inputs": []}', encoding="utf-8")
        return resealed(
            edition, headline=headline_of_case(opened(edition)), client={"name": "Tern", "slug": loaded.slug}
        )


def opened(edition: Path) -> Case:
    """What an edition was made from, as today's code reads it."""
    return case_of(read_given(edition / INPUTS / "params.json", shared=edition / INPUTS))


def resealed(edition: Path, **facts: Any) -> Path:
    """Seal an edition as it lies there."""
    old = read_sealed(edition / MANIFEST) if (edition / MANIFEST).exists() else {"edition": edition.name}
    outputs = list_outputs(edition)
    (edition / MANIFEST).write_bytes(sealed({**old, "as_of": edition.name[:10], **facts, "outputs": outputs}))
    return edition


def number(found: Redline, id: str) -> NumberChange:
    return next(n for n in found.numbers if n.id == id)


def amounts(found: NumberChange) -> dict[tuple[Kind, tuple[str, ...]], float]:
    """The causes of a number by kind and what they are of; they come to what it changed by."""
    assert sum(c.amount for c in found.causes) == pytest.approx(found.new - found.old, abs=1e-6)
    return {(c.kind, c.of): c.amount for c in found.causes}


def counted(before: Path, after: Path) -> tuple[Redline, int]:
    """The comparison, and for how many mixes of whole groups a headline was worked out."""
    with mock.patch("fabricreport.memo.editions.redline.case_of", wraps=case_of) as mixes:
        return redline(before, after), mixes.call_count


def test_one_price_is_the_whole_cause_of_what_it_moves_and_turns_round_with_the_editions(tmp_path: Path) -> None:
    client = Client(tmp_path)
    old = client.edition("a")
    client.priced(2.9)
    new = client.edition("b")
    found, mixes = counted(old, new)
    total = number(found, TOTAL)
    assert mixes == 2 and found.words == () and total.new < total.old
    assert amounts(total) == {(Kind.PRICE, (f"price:{HOUR}",)): pytest.approx(total.new - total.old, abs=1e-6)}
    assert number(found, DEAR).causes == ()
    assert re.search(r"Hyperstack.* went from \$3.20 .* to \$2.90 .*: −\$", found.as_text())
    back = number(redline(new, old), TOTAL)
    assert [c.amount for c in back.causes] == [-c.amount for c in total.causes]


def test_a_change_of_method_is_found_to_the_dollar_before_prices_and_after_them(tmp_path: Path) -> None:
    """The new edition and today's code know of 12,345 dollars that the old edition's did not; then of 7 more."""
    client, plain = Client(tmp_path), Case.figure
    old = client.edition("a")
    client.priced(2.9)

    def dearer(by: float) -> Any:
        def figure(self: Case, id: str) -> Any:
            made = plain(self, id)
            return replace(made, value=made.value + by) if id == TOTAL else made

        return mock.patch.object(Case, "figure", figure)

    with dearer(12_345):
        new = client.edition("b")
        there = amounts(number(redline(old, new), TOTAL))
    with dearer(12_352):
        later = amounts(number(redline(old, new), TOTAL))
    assert round(there.pop((Kind.METHOD, ()))) == 12_345 and {kind for kind, _ in there} == {Kind.PRICE}
    assert (round(later[Kind.METHOD, ()]), round(later[Kind.SINCE, ()])) == (12_352, -7)


RENT = f"price:{HOUR}"


def cheap(case: Case) -> dict[str, Any]:
    """A headline worked out by hand: an hour's rent times what is discounted times the sellers, and a dollar a day."""
    given, first = case.inputs, case.params.options[0]
    hour, rate = given.central(RENT), given.central("param:money.discount_rate_per_year")
    value = hour * (1 + rate) * len(case.params.providers) + case.as_of.toordinal()
    ids = [RENT, "evidence:pue"] if first == "mine" else [RENT]
    numbers = [{"id": i, "label": f"Cost of {i}", "text": f"${value:.0f}", "value": value, "unit": "usd"} for i in ids]
    return {"choice": first, "numbers": numbers}


@pytest.fixture
def by_hand() -> Iterator[None]:
    there, here = "fabricreport.memo.editions.redline.headline_of_case", f"{__name__}.headline_of_case"
    with mock.patch(there, cheap), mock.patch(here, cheap):
        yield


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with two editions, between which a rent fell."""
    client = Client(tmp_path_factory.mktemp("pair"))
    with mock.patch(f"{__name__}.headline_of_case", cheap):
        client.edition("a")
        client.priced(2.9)
        client.edition("b")
    return client.output


def copied(pair: Path, folder: Path) -> list[Path]:
    """The two editions in an output folder of a test's own."""
    return sorted(shutil.copytree(pair, folder / "output").glob("*/*"))


@pytest.mark.usefixtures("by_hand")
def test_groups_have_the_shares_worked_out_by_hand_and_the_date_goes_with_the_newest_price(tmp_path: Path) -> None:
    """3.2 x 1.1 x 17 becomes 2.9 x 1.2 x 16, four days later: of three factors each has its difference times the mean of
    the others, the products of both ends counted twice."""
    client = Client(tmp_path)
    old = client.edition("a")
    client.priced(2.9, "2026-12-01")
    client.keys["as_of"] = "2026-12-01"
    client.keys["money"]["discount_rate_per_year"] = 0.2
    client.keys["providers"].pop()
    new = client.edition("b")
    found, mixes = counted(old, new)

    def share(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> float:
        return (x[1] - x[0]) * (2 * y[0] * z[0] + y[0] * z[1] + y[1] * z[0] + 2 * y[1] * z[1]) / 6

    hour, rate, sellers = (3.2, 2.9), (1.1, 1.2), (17.0, 16.0)
    alone = (2.9 - 3.2) * 1.1 * 17
    expected = {
        (Kind.PRICE, (RENT,)): alone,
        (Kind.TOGETHER, ("prices",)): share(hour, rate, sellers) + 4 - alone,
        (Kind.INPUTS, ("params",)): share(rate, hour, sellers),
        (Kind.INPUTS, ("sources",)): share(sellers, hour, rate),
    }
    assert mixes == 8 and amounts(number(found, RENT)) == pytest.approx(expected, abs=1e-6)
    assert "the memo's date" in found.moved["prices"]
    assert found.moved["params"] == ("money.discount_rate_per_year",) and found.moved["sources"] == ("providers",)
    said = next(line for line in found.due(number(found, RENT)) if "discount" in line)
    assert re.fullmatch(
        r".* \(money\.discount_rate_per_year\) went from 10 % to 20 %: \+\$.*", said.replace(NBSP, " ")
    ), said
    back = amounts(number(redline(new, old), RENT))
    assert all(back[key] == pytest.approx(-expected[key], abs=1e-6) for key in [*expected][2:])


def test_the_librarys_evidence_counts_as_it_was(tmp_path: Path) -> None:
    client = Client(tmp_path)
    old, new = client.edition("a"), client.edition("b")
    kept = old / INPUTS / LIBRARY
    was = opened(new)
    id, entry = next((i, e) for i, e in was.inputs.evidence.items() if f"evidence:{i}" in was.figure(TOTAL).inputs)
    other = entry.figure.high * 0.9
    listed = [e | ({"value": other} if e["id"] == id else {}) for e in json.loads(kept.read_text())]
    kept.write_text(json.dumps(listed), encoding="utf-8")
    found = redline(resealed(old, headline=headline_of_case(was.changed(evidence={id: other}))), new)
    change = number(found, TOTAL)
    assert change.new != change.old and found.moved == {"sources": (LIBRARY,)}
    assert amounts(change) == {(Kind.INPUTS, ("sources",)): pytest.approx(change.new - change.old, abs=1e-6)}


@pytest.mark.usefixtures("by_hand")
def test_another_advice_is_told_in_words_and_nothing_of_it_is_subtracted(tmp_path: Path) -> None:
    """The client's own option is in the new edition alone, so no mix of params and sources can be worked out."""
    client = Client(tmp_path)
    old = client.edition("a")
    (client.folder / "options").mkdir()
    (client.folder / "options" / "own.yaml").write_text("- id: mine\n  like: infiniband-ndr\n  name: Mine\n")
    client.keys["options"] = ["mine", *client.keys["options"]]
    client.priced(2.9)
    found = redline(old, client.edition("b"))
    text = found.as_text()
    assert (
        "(choice): infiniband-ndr -> mine" in text
        and "Cost of evidence:pue (evidence:pue): not in the headline -> $" in text
    )
    assert [n.id for n in found.numbers] == [RENT] and {*amounts(number(found, RENT))} == {(Kind.PRICE, (RENT,))}
    client.keys["money"]["discount_rate_per_year"] = 0.2
    both = redline(old, client.edition("c")).numbers[0]
    assert {cause.of for cause in both.causes} == {(RENT,), ("prices",), ("params", "sources")}


def test_words_that_the_date_alone_turns_are_due_to_it_also_where_a_price_is_new(tmp_path: Path) -> None:
    """How sure it is turns with the day, or with the day and a key that the client changed too."""
    client, when = Client(tmp_path), "2026-12-01"

    def sure(case: Case) -> dict[str, Any]:
        late, more = str(case.as_of) == when, case.params.seed == 5
        return {**cheap(case), "confidence": "close" if late else "clear", "offer": "b" if late and more else "a"}

    there, here = "fabricreport.memo.editions.redline.headline_of_case", f"{__name__}.headline_of_case"
    with mock.patch(there, sure), mock.patch(here, sure):
        old = client.edition("a")
        client.keys["as_of"] = when
        dated = redline(old, client.edition("b"))
        client.priced(2.9, when)
        priced = redline(old, client.edition("c"))
        client.keys["seed"] = 5
        both = redline(old, client.edition("d"))
    days = (date.fromisoformat(when) - date.fromisoformat(old.name[:10])).days
    for found in (dated, priced):
        (said,) = found.why()["confidence"]
        told = rf"the date \({days} days later, prices newly out of date: \d+\) went from {old.name[:10]} to {when}"
        assert re.fullmatch(told, said.replace(NBSP, " ")) and said in found.as_text().replace("The date", "the date")
    assert dated.told(dated.numbers[0].causes[0]) == dated.why()["confidence"][0]
    assert both.dated == {"confidence"} and "seed (seed) went from 20261120 to 5" in both.why()["offer"]


def damaged(edition: Path, how: str) -> None:
    inputs = edition / INPUTS
    params = inputs / "params.json"
    if how == "no inputs":
        shutil.rmtree(inputs)
    elif how == "a file more":
        (inputs / "prices" / "more\x1b[2J.csv").write_text("x", encoding="utf-8")
    elif how == "a bit":
        params.write_bytes(params.read_bytes().replace(b"0.1", b"0.2"))
    elif how == "no library":
        (inputs / LIBRARY).unlink()
        resealed(edition)
    elif how == "no list":
        (inputs / LIBRARY).write_text("7", encoding="utf-8")
        resealed(edition)
    elif how == "a key of old":
        params.write_text(json.dumps(json.loads(params.read_text()) | {"gone\x1b[2J": 1}), encoding="utf-8")
        resealed(edition)
    else:
        resealed(edition, headline={"numbers": [7]} if how == "no numbers" else {})


@rows(
    "how", ["no inputs", "a file more", "a bit", "no library", "no list", "a key of old", "no numbers", "no decision"]
)
def test_an_edition_that_cannot_be_worked_out_again_is_one_message(how: str, pair: Path, tmp_path: Path) -> None:
    old, new = copied(pair, tmp_path)
    damaged(old, how)
    ran = CliRunner().invoke(main, ["diff", str(old), str(new)])
    assert ran.exit_code == 2 and isinstance(ran.exception, SystemExit)
    assert str(old) in ran.stderr and "\x1b" not in ran.stderr and ran.stdout == ""


@pytest.mark.usefixtures("by_hand")
def test_the_command_tells_the_same_as_text_and_as_json_and_nothing_repaints_a_terminal(
    pair: Path, tmp_path: Path
) -> None:
    old, new = copied(pair, tmp_path)
    head = read_sealed(old / MANIFEST)["headline"]
    resealed(
        old,
        headline={
            **head,
            "confidence": "\x1b[2Jsure",
            "numbers": [{**n, "text": "\x1b]0;x\x07"} for n in head["numbers"]],
        },
    )
    for asked in (str(old), f"{old.parent.name}/{old.name}"), (old.name, new.name):
        args = ["diff", *asked, "--output", str(tmp_path / "output")]
        ran, told = (CliRunner().invoke(main, [*args, *more]) for more in ([], ["--json"]))
        assert ran.exit_code == told.exit_code == 0 and "\x1b" not in ran.stdout and json.loads(told.stdout)["ok"]
    causes = [cause for n in json.loads(told.stdout)["numbers"] for cause in n["causes"]]
    assert causes and all(cause["text"] in ran.stdout for cause in causes)
