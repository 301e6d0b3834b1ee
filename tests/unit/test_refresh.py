"""A refresh builds only where something the last edition rested on has changed, and never asks the clock."""

import datetime as dt
import json
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import pytest
from click.testing import CliRunner
from published_cases import put_edition
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.books.prices.book import PriceBook
from fabricreport.check.check import Checked
from fabricreport.cli.main import main
from fabricreport.inputs.dossier import read_prices
from fabricreport.memo.editions.manifest import MANIFEST, headline_of, section_title
from fabricreport.memo.editions.refresh import RefreshPlan, feed_day, plan_refresh, refresh
from fabricreport.memo.run.plan import Places, load_checked, make_plan
from fabricreport.scenario import SECTION_NAMES, load_params_file, new_params

MADE_OF = ("buy_once", *SECTION_NAMES)
HEADER = "item,unit,price,low,high,currency,date,expiry,source,grade\n"


class Desk:
    """A client's folder, notebooks, and editions published without running anything."""

    def __init__(self, folder: Path) -> None:
        self.output = folder / "output"
        self.places = Places(folder / "notebooks", folder / "project", lambda *_: Checked())
        self.prices = folder / "client" / "prices"
        self.params = folder / "client" / "acme.yaml"
        self.prices.mkdir(parents=True)
        self.places.notebooks.mkdir()
        self.params.write_text(new_params("Acme", dt.date(2026, 11, 20)), encoding="utf-8")
        self.price("2026-11-01")
        for section in MADE_OF:
            self.notebook(section, "x = 1")

    def price(self, *days: str) -> None:
        rows = "".join(f"switch,each,1,,,USD,{day},,S,quote\n" for day in days)
        (self.prices / "a.csv").write_text(HEADER + rows, encoding="utf-8")

    def notebook(self, section: str, source: str) -> None:
        nb = nbformat.v4.new_notebook()
        nb.cells = [nbformat.v4.new_code_cell(source)]
        nbformat.write(nb, self.places.notebooks / f"{section}.ipynb")

    def plan(self, **options: Any) -> RefreshPlan:
        return plan_refresh(self.params, output=self.output, places=self.places, **options)

    def publish(self, **asked: Any) -> str:
        return put_edition(self.params, self.output, places=self.places, **asked).name


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_without_an_edition_one_is_due(desk: Desk) -> None:
    plan = desk.plan()
    assert (plan.changed, plan.reasons, plan.last) == (True, ("there is no edition yet",), None)
    assert plan.as_of == "2026-11-20"


def test_a_date_on_which_the_params_do_not_hold_is_refused_before_anything_runs(desk: Desk) -> None:
    text = desk.params.read_text(encoding="utf-8")
    override = '{id: "price:switch-qm9700", value: 30000, who: Me, why: Quote, until: 2026-11-25}'
    desk.params.write_text(text + f"\noverrides: [{override}]\n", encoding="utf-8")
    assert desk.plan().changed
    desk.price("2026-12-01")
    with pytest.raises(InputError, match="expired before as_of, 2026-12-01") as caught:
        desk.plan()
    assert caught.value.problems[0].file == str(desk.params) and caught.value.problems[0].line


def test_nothing_changed_means_nothing_to_do(desk: Desk) -> None:
    edition = desk.publish()
    plan = desk.plan()
    assert plan.last is not None and (plan.changed, plan.reasons, plan.last.edition) == (False, (), edition)
    assert not list(desk.output.glob(".scratch-*"))


def test_each_kind_of_change_is_named(desk: Desk) -> None:
    desk.publish()
    desk.price("2026-11-02")
    assert desk.plan().reasons == ("prices/a.csv changed",)
    (desk.prices / "b.csv").write_text(HEADER, encoding="utf-8")
    assert desk.plan().reasons == ("prices/a.csv changed", "prices/b.csv is new")
    desk.publish()
    (desk.prices / "b.csv").unlink()
    desk.notebook("tco", "x = 2")
    assert desk.plan().reasons == ("prices/b.csv is gone", "the notebook tco changed")
    desk.publish()
    (desk.places.notebooks / "helper.py").write_text("y = 1", encoding="utf-8")
    assert desk.plan().reasons == ("files beside the notebooks changed",)
    desk.publish()
    desk.params.write_text(desk.params.read_text().replace("Acme", "Acme Inc"), encoding="utf-8")
    assert desk.plan().reasons == ("the params changed",)
    desk.publish()
    assert not desk.plan().changed


def test_a_changed_package_or_library_is_a_reason(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.publish()
    monkeypatch.setattr("fabricreport.memo.run.snapshot.package_digest", lambda: "other")
    monkeypatch.setattr("fabricreport.memo.run.snapshot.versions", lambda: {"numpy": "99"})
    reasons = desk.plan().reasons
    assert reasons[0] == "the fabricreport package changed"
    assert any(r.startswith("numpy: ") and r.endswith("-> 99") for r in reasons)


def test_a_comment_in_the_params_is_no_reason(desk: Desk) -> None:
    desk.publish()
    desk.params.write_text(desk.params.read_text() + "\n# a remark\n", encoding="utf-8")
    assert not desk.plan().changed


def test_the_new_date_is_the_newest_feed_date(desk: Desk) -> None:
    desk.publish()
    desk.price("2026-11-01", "2026-12-05")
    plan = desk.plan()
    assert plan.as_of == "2026-12-05"
    assert plan.reasons == ("the date moved: 2026-11-20 -> 2026-12-05", "prices/a.csv changed")
    desk.publish(as_of=plan.as_of)
    assert not desk.plan().changed


def test_a_newer_date_in_the_params_is_kept_and_a_given_one_wins(desk: Desk) -> None:
    desk.price("2026-10-01")
    assert desk.plan().as_of == "2026-11-20"
    assert desk.plan(as_of="2026-10-15").as_of == "2026-10-15"
    with pytest.raises(InputError, match="is not a date"):
        desk.plan(as_of="tomorrow")


def test_a_held_row_sets_no_date(desk: Desk) -> None:
    """A price ten times too dear, dated after all others, is not used: so its date is not followed either."""
    rows = [
        f"switch,each,{price},,,USD,{day},,S,quote\n"
        for price, day in ((30_000, "2026-12-01"), (300_000, "2026-12-10"))
    ]
    (desk.prices / "a.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    book = PriceBook.read(desk.prices)
    assert [held.date for held in book.quarantine] == [dt.date(2026, 12, 10)]
    assert desk.plan().as_of == "2026-12-01" == str(book.newest)


def priced(desk: Desk, low: int, price: int) -> None:
    """The median of three sellers' quotes, and one seller's alone."""
    rows = (f"switch,each,{price},{low},33000,USD,2026-11-01,,Three sellers,quote\n",
            "switch,each,31500,,,USD,2026-11-01,,One seller,quote\n")  # fmt: skip
    (desk.prices / "a.csv").write_text(HEADER + "".join(rows), encoding="utf-8")


def test_a_row_that_is_no_price_leaves_the_last_editions_price_in_use_and_is_told(desk: Desk, tmp_path: Path) -> None:
    priced(desk, 27_900, 28_700)
    edition = desk.publish()
    priced(desk, 27_900, 26_000)
    plan = desk.plan()
    assert plan.last_good is not None and [row.price for row in plan.last_good] == [28_700]
    (told,) = plan.messages
    assert f"{desk.prices / 'a.csv'}:2: switch: low: 27,900 is above the price 26,000" in told
    assert "the last good price, 28,700 USD of 2026-11-01" in told
    assert plan.held == (told,)
    loaded = load_checked(desk.params, desk.places)
    (tmp_path / "work").mkdir()
    frozen = make_plan(loaded, tmp_path / "work", places=desk.places, last_good=plan.last_good).snapshot
    price = read_prices(frozen.folder, "acme").at(dt.date(2026, 11, 20))["switch"]
    assert (price.price, price.low, price.high, price.source) == (28_700, 27_900, 33_000, "Three sellers")
    assert "a newer price was held: low: 27,900 is above" in price.quarantined
    again = desk.publish(last_good=plan.last_good)
    assert again != edition and not desk.plan().changed, "the same price stays in use"
    priced(desk, 25_900, 26_000)
    assert (desk.plan().last_good, desk.plan().messages) == (None, ())
    assert desk.plan().reasons == ("acme/prices/last-good.csv is gone", "prices/a.csv changed")


def test_a_row_that_is_no_price_leaves_the_newest_good_one_in_use_where_there_is_no_edition(desk: Desk) -> None:
    priced(desk, 27_900, 26_000)
    plan = desk.plan()
    assert plan.last_good == () and "the last good price, 31,500 USD of 2026-11-01" in plan.messages[0]


@rows("day", ["2026-01-01", "2027-01-01"])
def test_an_old_row_and_one_of_a_later_day_that_are_no_price_move_nothing(tmp_path: Path, day: str) -> None:
    desk = Desk(tmp_path)
    desk.publish()
    desk.price("2026-11-01", "2026-11-21")
    with (desk.prices / "a.csv").open("a", encoding="utf-8") as handle:
        handle.write(f"switch,each,nan,,,USD,{day},,S,quote\n")
    plan = desk.plan()
    assert plan.as_of == "2026-11-21" and plan.last_good == () and "1 USD of 2026-11-21" in plan.messages[0]


def test_new_prices_and_refresh_go_by_the_same_date(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a row of 2062 among them, and another that is no price at all: by the newest date that can be meant."""
    desk.price("2026-11-01", "2026-12-05", "2062-11-26")
    with (desk.prices / "a.csv").open("a", encoding="utf-8") as handle:
        handle.write("switch,each,nan,,,USD,2026-12-31,,S,quote\n")
    monkeypatch.chdir(desk.params.parent)
    made = CliRunner().invoke(main, ["new", "Other", "--folder", "."])
    shown = CliRunner().invoke(main, ["prices", "show", "--folder", str(desk.prices), "--json"])
    assert "2026-12-05" in made.output and "2062-11-26" in made.output, made.output
    assert json.loads(shown.output)["as_of"] == desk.plan().as_of == "2026-12-05"
    assert load_params_file(Path("other.yaml")).params.as_of == dt.date(2026, 12, 5)


def test_a_date_far_after_all_others_is_told_and_not_followed(desk: Desk) -> None:
    desk.price("2026-11-01", "2026-11-25", "2062-11-26")
    day, messages = feed_day(load_checked(desk.params, desk.places), desk.places)
    assert day == dt.date(2026, 11, 25)
    assert len(messages) == 1 and "2062-11-26" in messages[0] and "a.csv:4: " in messages[0]


def test_a_draft_is_not_what_a_refresh_compares_with(desk: Desk) -> None:
    edition = desk.publish()
    desk.publish(draft=True)
    plan = desk.plan()
    assert plan.last is not None and plan.last.edition == edition and not plan.changed


def test_an_edition_without_attachments_is_another_and_a_refresh_goes_on_without(desk: Desk) -> None:
    with_them, without = desk.publish(), desk.publish(attach=False)
    plan = desk.plan()
    assert without != with_them and without.startswith("2026-11-20-")
    assert plan.last is not None and (plan.last.edition, plan.changed) == (without, False)
    with mock.patch("fabricreport.memo.build.build") as build:
        desk.price("2026-12-01")
        refresh(desk.params, output=desk.output, places=desk.places)
    assert build.call_args.kwargs["attach"] is False


def test_a_damaged_last_edition_is_a_reason(desk: Desk) -> None:
    edition = desk.publish()
    (desk.output / "acme" / edition / "ledger.json").write_text("forged", encoding="utf-8")
    assert "damaged" in desk.plan().reasons[0]
    (desk.output / "acme" / edition / MANIFEST).unlink()
    assert "cannot be read" in desk.plan().reasons[0]


def test_a_lost_latest_is_restored_and_said(desk: Desk) -> None:
    edition = desk.publish()
    link = desk.output / "acme" / "latest"
    for break_it in (link.unlink, lambda: (link.unlink(), link.symlink_to("2020-01-01-00000000"))):
        break_it()
        result = refresh(desk.params, output=desk.output, places=desk.places)
        assert result.built is None and link.readlink() == Path(edition)
        assert [m for m in result.plan.messages if f"points to {edition} again" in m]
        assert refresh(desk.params, output=desk.output, places=desk.places).plan.messages == ()


def test_a_headline_takes_labels_and_units_from_the_ledger() -> None:
    ledger = {"numbers": [{"id": "tco.d", "label": "Difference", "text": "$1M", "value": 1e6, "unit": "usd"}]}
    declared = {"confidence": "leaning", "numbers": [{"t": "num", "id": "tco.d", "text": "$1.00M", "value": 1e6}]}
    assert headline_of(declared, ledger) == {
        "confidence": "leaning",
        "numbers": [{"id": "tco.d", "label": "Difference", "text": "$1.00M", "value": 1e6, "unit": "usd"}],
    }
    assert headline_of({}, ledger) == {}


def test_a_section_is_titled_by_its_first_heading() -> None:
    nb = nbformat.v4.new_notebook()
    assert section_title(nb, "tail_risk") == "Tail risk"
    nb.cells = [nbformat.v4.new_markdown_cell("text\n\n# What it costs #\n")]
    assert section_title(nb, "tco") == "What it costs"
    nb.metadata["fabricreport"] = {"title": "Money"}
    assert section_title(nb, "tco") == "Money"
