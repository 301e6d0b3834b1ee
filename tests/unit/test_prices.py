"""Claims about the price book: what is used on a day, what is held, what is refused."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import date, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base import yaml_files
from fabricreport.base.errors import InputError
from fabricreport.books.prices.book import MissingPrice, PriceBook, baseline
from fabricreport.books.prices.reports import check_prices, show_prices
from fabricreport.books.prices.rules import COLUMNS, PriceRow, parse_row, rules, shelf_life_days

SHIPPED = Path(__file__).parents[2] / "params" / "prices"
AS_OF = date(2026, 11, 27)
HEADER = ",".join(COLUMNS)


def row(price: object = 100, day: str = "2026-05-01", item: str = "widget-a", **other: object) -> str:
    cells: dict[str, object] = {
        "unit": "each",
        "low": "",
        "high": "",
        "currency": "USD",
        "expiry": "",
        "source": "A list",
    }
    cells |= {"item": item, "price": price, "date": day, "grade": "secondary"} | other
    return ",".join(str(cells[c]) for c in COLUMNS)


def folder(tmp_path: Path, *rows: str, name: str = "a.csv") -> Path:
    (tmp_path / name).write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return tmp_path


# --- what is used


def test_the_newest_row_not_dated_later_is_used(tmp_path: Path) -> None:
    book = PriceBook.read(folder(tmp_path, row(100, "2026-05-01"), row(120, "2026-07-01"), row(130, "2026-12-01")))
    assert book.at(date(2026, 6, 30))["widget-a"].price == 100
    assert book.at(date(2026, 7, 1))["widget-a"].price == 120
    assert book.at(AS_OF)["widget-a"].price == 120
    assert book.at(AS_OF)["widget-a"].age_days == (AS_OF - date(2026, 7, 1)).days
    assert "widget-a" not in book.at(date(2026, 4, 30))


def test_history_is_kept_whatever_the_order_of_rows(tmp_path: Path) -> None:
    book = PriceBook.read(folder(tmp_path, row(120, "2026-07-01"), row(100, "2026-05-01")))
    assert [r.price for r in book.history("widget-a")] == [100, 120]


def test_of_two_sources_on_one_day_the_stronger_grade_is_used(tmp_path: Path) -> None:
    quote = row(110, source="Our quote", grade="quote")
    book = PriceBook.read(folder(tmp_path, quote, row(100), row(105, source="Blog", grade="estimate")))
    assert book.at(AS_OF)["widget-a"].grade == "quote"


@rows("age", [0, 1, 165, 166, 167, 180, 181, 400])
def test_a_price_is_out_of_date_two_weeks_before_its_units_shelf_life_ends(tmp_path: Path, age: int) -> None:
    assert shelf_life_days("each") == 180
    day = date(2026, 1, 1)
    book = PriceBook.read(folder(tmp_path, row(day=day.isoformat())))
    assert book.at(day + timedelta(days=age))["widget-a"].stale is (age > 180 - 14)


def test_an_expiry_of_its_own_beats_the_shelf_life(tmp_path: Path) -> None:
    book = PriceBook.read(folder(tmp_path, row(expiry="2026-05-20")))
    assert not book.at(date(2026, 5, 6))["widget-a"].stale
    assert book.at(date(2026, 5, 7))["widget-a"].stale


def test_an_unknown_item_is_an_input_error_that_names_the_nearest() -> None:
    with pytest.raises(MissingPrice, match="Did you mean 'switch-qm9700'") as caught:
        PriceBook.read(SHIPPED).at(AS_OF)["switch-qm970"]
    assert isinstance(caught.value, InputError)
    assert caught.value.exit_code == 2


# --- what is held


@rows(("change", "kind"), [({"unit": "gpu-hour"}, "unit"), ({"currency": "EUR"}, "currency")])
def test_another_unit_or_currency_than_before_is_held(tmp_path: Path, change: dict[str, str], kind: str) -> None:
    book = PriceBook.read(folder(tmp_path, row(100), row(101, "2026-06-01", **change)))
    assert [h.kind for h in book.quarantine] == [kind]
    assert book.at(AS_OF)["widget-a"].price == 100


def test_a_price_after_a_held_one_is_judged_against_the_last_good_one(tmp_path: Path) -> None:
    rows = [row(100), row(1000, "2026-06-01"), row(104, "2026-07-01")]
    book = PriceBook.read(folder(tmp_path, *rows))
    price = book.at(AS_OF)["widget-a"]
    assert price.price == 104 and price.quarantined == ""
    assert book.at(date(2026, 6, 15))["widget-a"].quarantined
    assert len(book.quarantine) == 1


def test_a_bad_first_row_is_held_against_the_items_later_rows(tmp_path: Path) -> None:
    rows = [row(1000, "2026-04-01"), row(100), row(104, "2026-07-01")]
    book = PriceBook.read(folder(tmp_path, *rows))
    assert [h.line for h in book.quarantine] == [2]
    assert book.at(AS_OF)["widget-a"].price == 104


def test_a_row_given_twice_is_said_and_harmless(tmp_path: Path) -> None:
    book = PriceBook.read(folder(tmp_path, row(100), row(100)))
    assert not book.problems and [h.kind for h in book.quarantine] == ["repeat"]
    assert book.at(AS_OF)["widget-a"].quarantined == ""


def spoilt(cells: list[str], how: str) -> list[str]:
    """A shipped row with one of the known slips in it."""
    cells = list(cells)
    numbers = [n for n in (2, 3, 4) if cells[n]]
    if how == "currency":
        cells[5] = "EUR" if cells[5] != "EUR" else "USD"
    elif how == "comma":
        cells[2] = f'"{float(cells[2]):.2f}"'.replace(".", ",")
    elif how in ("-1", "0", "nan"):
        cells[2] = how
    else:
        for n in numbers:
            cells[n] = repr(float(cells[n]) * float(how))
    return cells


@rows("how", ["10", "0.1", "100", "730", "8", "-1", "0", "nan", "comma", "currency"])
def test_every_known_slip_in_every_shipped_item_is_held_and_a_good_price_stays(tmp_path: Path, how: str) -> None:
    """Each item's newest row is spoilt in place: 100 % held, and what is in use is a price that was good."""
    book = PriceBook.read(SHIPPED)
    newest = {r.item: r for r in book.rows}
    lines = [HEADER]
    for r in book.rows:
        cells = list(r.cells())
        if r is newest[r.item]:
            cells = spoilt(cells, how)
        cells[8] = '"' + cells[8].replace('"', "'") + '"'
        lines.append(",".join(cells))
    (tmp_path / "spoilt.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    spoiled = PriceBook.read(tmp_path)
    held = {h.item for h in spoiled.quarantine if h.date == newest[h.item].date}
    assert held == set(newest)
    view = spoiled.at(AS_OF)
    good = {(r.item, r.price, r.currency) for r in book.rows}
    assert all((p.item, p.price, p.currency) in good and p.quarantined for p in view.values())
    assert set(view) == set(newest)


# --- what is refused


@rows(
    ("change", "word"),
    [
        ({"price": "nan"}, "finite"), ({"price": "inf"}, "finite"), ({"price": "-5"}, "at least 0.01"),
        ({"price": "0"}, "at least 0.01"), ({"price": ""}, "no price"), ({"price": "1e400"}, "finite"),
        ({"price": '"1,5"'}, "comma"), ({"price": '"32,870"'}, "comma"), ({"price": "$5"}, "plain number"),
        ({"price": "1_000"}, "plain number"), ({"price": "٣"}, "plain number"), ({"low": "1101", "price": "1000"}, "low: 1,101 is above the price 1,000 "),
        ({"high": "999", "price": "1000"}, "high: 999 is below the price 1,000 "), ({"high": "-1"}, "at least 0.01"), ({"price": "1e12"}, "at most 1,000,000,000"),
        ({"price": "1e-300"}, "at least 0.01"), ({"unit": "gpu-hr"}, "Did you mean 'gpu-hour'"),
        ({"currency": "usd"}, "Did you mean 'USD'"), ({"currency": "XXX"}, "unknown currency"),
        ({"grade": "publish"}, "Did you mean 'published'"), ({"day": "2026-02-30"}, "not a date"),
        ({"day": "01/02/2026"}, "not a date"), ({"day": ""}, "not a date"), ({"expiry": "2026-04-01"}, "before its own"),
        ({"source": ""}, "no source"), ({"source": "=cmd()"}, "formula"), ({"source": "-1+1"}, "formula"), ({"source": "@SUM(A1)"}, "formula"), ({"source": "A\u202eB"}, "bidirectional"),
        ({"source": "x" * 601}, "longer than"), ({"item": "Switch QM"}, "kebab-case"), ({"price": "1,5"}, "11 cells"),
    ],
)  # fmt: skip
def test_a_malformed_row_is_refused_with_file_and_line(tmp_path: Path, change: dict[str, str], word: str) -> None:
    where = folder(tmp_path, row(100), row(**({"day": "2026-06-01"} | change)))  # type: ignore[arg-type]
    book = PriceBook.read(where)
    assert any(re.search(word, str(problem)) for problem in book.problems), book.problems
    assert book.problems[0].line == 3
    assert book.problems[0].file.endswith("a.csv")
    assert book.at(AS_OF)["widget-a"].price == 100
    assert [h.kind for h in book.quarantine][:1] == ["malformed"]


def test_every_fault_of_a_file_is_named_at_once(tmp_path: Path) -> None:
    where = folder(tmp_path, row("nan", currency="usd"), row("-1", "2026-06-01"))
    assert len(PriceBook.read(where).problems) == 3


def test_two_prices_of_one_source_on_one_day_are_an_error_and_neither_is_used(tmp_path: Path) -> None:
    where = folder(tmp_path, row(90, "2026-04-01"), row(100), row(110))
    book = PriceBook.read(where)
    assert [p.message[:44] for p in book.problems] == ["2 different rows for widget-a on 2026-05-01 "]
    assert book.at(AS_OF)["widget-a"].price == 90
    assert [h.kind for h in book.quarantine] == ["duplicate", "duplicate"]


def test_a_free_licence_may_cost_zero_but_a_switch_may_not() -> None:
    cells = dict(zip(COLUMNS, row(0, unit="endpoint-year").split(","), strict=True))
    assert parse_row(cells).price == 0
    with pytest.raises(InputError, match="Leave the row out"):
        parse_row(cells | {"unit": "each"})


@rows(
    ("content", "word"),
    [(b"item,price\nx,1\n", "columns missing: unit, low"), (b"", "empty file"), (b"\xff\xfe\x00\x01", "UTF-8"),
     (",".join(reversed(COLUMNS)).encode() + b"\n", "another order"), (HEADER.encode() + b'\n"x\n', "not a CSV")],
)  # fmt: skip
def test_a_file_that_is_no_price_table_stops_every_reader(tmp_path: Path, content: bytes, word: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=word):
        PriceBook.read(tmp_path)


def test_a_folder_that_does_not_exist_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        PriceBook.read(tmp_path / "none")


def test_an_item_with_no_good_row_and_no_shipped_price_says_why(tmp_path: Path) -> None:
    book = PriceBook.read(folder(tmp_path, row("nan")))
    with pytest.raises(MissingPrice, match="not a finite number"):
        book.at(AS_OF)["widget-a"]


# --- a client's own


ITEMS = ("widget-a", "switch-qm9700")
made = st.builds(
    lambda item, price, day, life, source, grade: PriceRow(
        item, "each", "USD", price, None, None, date(2026, 1, 1) + timedelta(days=day),
        date(2026, 1, 1) + timedelta(days=day + life), source, grade,
    ),
    st.sampled_from(ITEMS), st.integers(10_000, 90_000), st.integers(0, 300), st.integers(0, 200),
    st.sampled_from(["A list", "B list"]), st.sampled_from(["quote", "secondary"]),
)  # fmt: skip
series = st.lists(made, max_size=8)
days = st.integers(0, 400).map(lambda n: date(2026, 1, 1) + timedelta(days=n))


@given(series, series)
def test_own_rows_never_change_which_shared_rows_are_good(shared: list[PriceRow], own: list[PriceRow]) -> None:
    own = [replace(row, file="own") for row in own]
    alone, over = PriceBook.of(shared), PriceBook.of(shared, own=own)
    assert [row for row in over.rows if row.file != "own"] == [*alone.rows]
    assert [h for h in over.quarantine if h.file != "own"] == [
        replace(h, in_use=told.in_use)
        for h, told in zip(alone.quarantine, (h for h in over.quarantine if h.file != "own"), strict=True)
    ]


@given(series, series, days)
def test_an_own_row_that_has_not_expired_wins_and_an_expired_one_competes_by_date(
    shared: list[PriceRow], own: list[PriceRow], day: date
) -> None:
    book = PriceBook.of(shared, own=[replace(row, file="own") for row in own])
    for item, used in book.in_use(day).items():
        valid = [row for row in book.own if row.item == item and row.date <= day <= row.expires]
        known = [row for row in book.rows if row.item == item and row.date <= day]
        assert used in (valid or known) and used.date == max(row.date for row in valid or known)


@given(series, days)
def test_rows_that_are_a_clients_own_alone_are_settled_as_any_others(rows: list[PriceRow], day: date) -> None:
    own, shared = PriceBook.of((), own=rows), PriceBook.of(rows)
    assert (own.rows, own.problems, {*own.own}) == (shared.rows, shared.problems, {*shared.rows})
    assert {h.message for h in own.quarantine} == {h.message for h in shared.quarantine}


def test_an_own_row_is_held_against_the_last_good_shared_one(tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    shared, own = folder(tmp_path, row(100)), folder(tmp_path / "acme", row(10, "2026-06-01", grade="quote"))
    book = PriceBook.read(shared, own)
    (held,) = book.quarantine
    assert held.file == str(own / "a.csv") and "the last good price 100" in held.message
    assert book.at(AS_OF)["widget-a"].price == 100 and not PriceBook.read(shared).quarantine
    assert PriceBook.read(shared, tmp_path / "none").rows == PriceBook.read(shared).rows


# --- currencies


def fx(tmp_path: Path) -> PriceBook:
    eur = row(1.10, item="fx-eur-usd", unit="usd", low=1.0, high=1.25, grade="assumption")
    gbp = row(1.30, item="fx-gbp-usd", unit="usd", grade="assumption", day="2026-01-01")
    return PriceBook.read(folder(tmp_path, eur, gbp))


def test_conversion_uses_the_dated_rate_there_back_and_across(tmp_path: Path) -> None:
    book = fx(tmp_path)
    assert book.at(date(2026, 6, 1)).convert(100, "EUR", "USD") == pytest.approx(110)
    assert book.at(date(2026, 6, 1)).convert(110, "USD", "EUR") == pytest.approx(100)
    assert book.at(date(2020, 1, 1)).convert(7, "USD", "USD") == 7
    rate = book.at(date(2026, 6, 1)).rate("GBP", "EUR")
    assert rate.rate == pytest.approx(1.30 / 1.10)
    assert rate.inputs == ("price:fx-gbp-usd", "price:fx-eur-usd")
    assert (rate.low, rate.high) == (pytest.approx(1.30 / 1.25), pytest.approx(1.30))
    assert rate.stale is book.at(date(2026, 6, 1))["fx-gbp-usd"].stale is True


def test_a_missing_rate_names_the_row_to_add(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fx-jpy-usd"):
        fx(tmp_path).at(date(2026, 4, 1)).convert(1, "JPY", "USD")
    with pytest.raises(InputError, match="fx-eur-usd"):
        fx(tmp_path).at(date(2026, 4, 1)).convert(1, "EUR", "USD")


# --- what we ship


def test_the_shipped_book_has_no_error_and_holds_nothing() -> None:
    report = check_prices(SHIPPED, AS_OF)
    assert report.ok and report.exit_code == 0 and not report.quarantine and not report.future


def test_the_spread_of_a_class_is_the_median_of_its_products_with_several_sellers() -> None:
    newest: dict[str, PriceRow] = {}
    for row in PriceBook.read(SHIPPED).rows:
        if row.grade in ("secondary", "estimate") and row.high is not None and not row.item.endswith("volume"):
            newest[row.item] = row
    for told in rules().spread:
        members = [r for r in newest.values() if any(fnmatchcase(r.item, p) for p in told.items)]
        ratios = [r.high / (r.low or r.price) for r in members if r.high]
        assert told.factor == pytest.approx(median(ratios), abs=0.006), told.items


def test_single_web_prices_are_ranged_alike_and_quotes_stand_as_they_are(tmp_path: Path) -> None:
    header = "item,unit,price,low,high,currency,date,expiry,source,grade\n"
    rows = [f"switch-mine,each,1000,,,USD,2026-11-01,,Seller,{grade}\n" for grade in ("secondary", "quote")]
    for grade, ends in zip(rows, ((1000 / 1.34, 1340.0), (None, None)), strict=True):
        (tmp_path / "own.csv").write_text(header + grade)
        found = PriceBook.read(tmp_path).at(AS_OF)["switch-mine"]
        assert (found.low, found.high) == (pytest.approx(ends) if ends[0] else ends)


def test_the_yardstick_are_the_two_newest_shipped_prices_of_each_item() -> None:
    rows = PriceBook.read(SHIPPED).rows
    newest = [r.cells() for item in sorted({r.item for r in rows}) for r in [o for o in rows if o.item == item][-2:]]
    assert [r.cells() for r in baseline()] == newest


def test_every_price_an_option_names_is_shipped_but_for_those_that_nobody_publishes() -> None:
    text = (yaml_files.ROOT / "options.yaml").read_text(encoding="utf-8")
    named = set(re.findall(r"price:([a-z0-9][a-z0-9.-]*)(?! or |[a-z0-9.-])", text))
    assert len(named) > 5
    assert named <= set(PriceBook.read(SHIPPED).items)


def test_a_price_one_per_cent_higher_in_place_is_used(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED, tmp_path / "p")
    path = tmp_path / "p" / "equipment.csv"
    path.write_text(path.read_text().replace("switch-sn5610,each,51999", "switch-sn5610,each,52518.99"))
    assert PriceBook.read(tmp_path / "p").at(AS_OF)["switch-sn5610"].price == 52518.99


def test_reports_are_plain_values_and_plain_text(tmp_path: Path) -> None:
    where = folder(tmp_path, row(100), row(1000, "2026-06-01"), row("nan", "2026-07-01"), row(101, "2027-01-01"))
    report = check_prices(where, AS_OF)
    assert report.exit_code == 2
    assert [d["kind"] for d in json.loads(json.dumps(report.as_dict()))["quarantine"]] == ["jump", "malformed"]
    assert "1 errors, 2 held, 1 out of date, 0 undated, 1 not yet used" in report.text()
    listing = show_prices(where, AS_OF, "price:widget-a")
    assert "STALE, NEWER HELD" in listing.text() and "decimal" in listing.text()
    assert json.loads(json.dumps(listing.as_dict()))["prices"][0]["item"] == "widget-a"
    assert len(show_prices(SHIPPED, AS_OF).prices) == len(PriceBook.read(SHIPPED).items)


def test_the_rules_file_names_every_unit_and_grade_it_needs() -> None:
    assert {r.unit for r in baseline()} <= set(rules().units)
    assert rules().grades[0] == "measured"
