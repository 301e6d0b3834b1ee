"""Requests for quotes: what a form holds, what is refused of a filled one, and how answers become prices."""

from __future__ import annotations

import csv
import io
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import bench
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from rows import rows

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.errors import InputError
from fabricreport.books.options import read_options
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.prices.files import read_price_file
from fabricreport.books.prices.rules import COLUMNS as PRICE_COLUMNS
from fabricreport.books.quote_answers import Quote, read_answers, read_form, stated_lines
from fabricreport.books.quotes import COLUMNS, SHEET, TO_FILL, Line, as_csv, kinds, lines_of, terms
from fabricreport.case import Case, open_case
from fabricreport.desk.filing import file_of, file_quotes, import_quotes, sellers_files
from fabricreport.desk.quotes import GUIDE, SEVERAL, as_workbook, requests_of

ROOT = Path(__file__).parents[2]
SWITCH = Line(
    "infiniband-xdr", "InfiniBand XDR 800G", "turnkey", "switch-q3400", "Q3400-RA", kinds()["switch"], 24, 0, "each", 48,
    "delivery", "USD",
)  # fmt: skip
OPTIC = Line(
    "infiniband-xdr", "InfiniBand XDR 800G", "turnkey", "optic-800g-dr4", "800G DR4", kinds()["node_optic"], 1176, 24,
    "each", 48, "warranty", "USD",
)  # fmt: skip
LINES = (SWITCH, OPTIC)
DAY = date(2026, 11, 20)
FILLED = {"seller": "Acme Ltd", "quoted_on": "2026-11-10", "unit_price": "120000", "valid_until": "2026-12-31"}
Filled = Mapping[str, str]


def filled(folder: Path, rows: Sequence[tuple[Line, Filled]], *, name: str = "form", end: str = "csv") -> Path:
    """A form with these answers, a row for each; `end` says in which format."""
    table = [
        {**dict(zip(COLUMNS, [*map(str, line.cells(1)), *[""] * len(TO_FILL)], strict=True)), **answers}
        for line, answers in rows
    ]
    path = folder / f"{name}.{end}"
    if end == "xlsx":
        book = Workbook()
        book.active.title = SHEET
        for row in [list(COLUMNS), *([cells[c] or None for c in COLUMNS] for cells in table)]:
            book.active.append(row)
        book.save(path)
        return path
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(table)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


def answered(folder: Path, *rows: tuple[Line, Filled], end: str = "csv") -> tuple[Quote, ...]:
    return read_answers(read_form(filled(folder, rows, end=end)), LINES)


def faults(folder: Path, *rows: tuple[Line, Filled], end: str = "csv") -> list[str]:
    with pytest.raises(InputError) as error:
        answered(folder, *rows, end=end)
    return [str(problem) for problem in error.value.problems]


# ---- the form


def table_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_a_form_has_three_quotes_to_fill_in_for_every_piece_alike_in_both_formats() -> None:
    rows = table_of(as_csv(LINES))
    assert rows[0] == list(COLUMNS) and [row[COLUMNS.index("quote")] for row in rows[1:]] == ["1", "2", "3"] * 2
    assert all(not any(row[COLUMNS.index("seller") :]) for row in rows[1:])
    book = load_workbook(io.BytesIO(as_workbook(LINES, DAY)))
    assert book.sheetnames == [GUIDE, SHEET] and book.active.title == SHEET
    sheet = [["" if v is None else str(v) for v in row] for row in book[SHEET].iter_rows(values_only=True)]
    assert sheet == rows


def test_a_name_that_a_spreadsheet_would_run_is_text_in_both_formats() -> None:
    from dataclasses import replace

    line = replace(SWITCH, fabric='=cmd|"/c calc"!A1', what="@SUM(A1)")
    row = dict(zip(COLUMNS, table_of(as_csv([line]))[1:][0], strict=True))
    assert row["fabric"][:2] == "'=" and row["what"][:2] == "'@"
    sheet = load_workbook(io.BytesIO(as_workbook([line], DAY)))[SHEET]
    assert {cell.data_type for cells in sheet.iter_rows() for cell in cells} <= {"s", "n"}
    for column, text in (("fabric", line.fabric), ("what", line.what)):
        cell = sheet.cell(2, COLUMNS.index(column) + 1)
        assert (cell.value, cell.quotePrefix) == (text, True)


def halden() -> Case:
    return bench.case("halden-cloud")


@pytest.mark.slow
def test_every_option_has_its_request_with_the_pieces_of_its_bill() -> None:
    case = halden()
    requests = {request.option: {line.item: line for line in request.lines} for request in requests_of(case)}
    assert list(requests) == [o.id for o in case.options]
    xdr = requests["infiniband-xdr"]
    bill = case.chain.bills.built["infiniband-xdr"][0]
    for item, installed in (
        ("switch-q3400", bill.bom.switches),
        ("nic-connectx8-800g", bill.cables.nics),
        ("optic-1600g-2xdr4", bill.cables.switch_optics),
        ("licence-ufm", bill.cables.nics),
    ):
        assert xdr[item].quantity - xdr[item].spares == installed, item
    assert xdr["licence-ufm"].spares == 0
    added = {  # what a line says besides, of a licence that is not in the bill
        (o, item): line.include.removeprefix(f"{terms().every}; {line.kind.include}").removeprefix("; ")
        for o, lines in requests.items()
        for item, line in lines.items()
        if item.startswith("licence-")
    }
    assert added["infiniband-xdr", "licence-ufm"] == ""
    assert added["spectrum-x-800g", "licence-cumulus"] == terms().included
    assert added["rocev2-whitebox-800g", "licence-whitebox-nos"] == ""
    assert {o.id for o in case.options if set(o.unquoted) - set(requests[o.id])} == set()


@pytest.mark.slow
def test_a_seller_is_shown_no_price_of_ours_and_none_at_which_the_advice_turns() -> None:
    case = halden()
    shown = b"".join(as_csv(request.lines) for request in requests_of(case)).decode("utf-8-sig")
    ours = [case.figure(f"decision.price_level.{u.item}").value for u in case.decision().unquoted if u.level]
    ours += [case.prices[i].price for i in case.prices if i.startswith(("switch-", "optic-", "nic-"))]
    cells = {cell.replace(",", "") for row in table_of(shown.encode()) for cell in row}
    assert not cells & {f"{price:g}" for price in ours if price > 100} and "NADDOD" not in shown


@pytest.mark.slow
def test_a_client_that_rents_has_nobody_to_ask() -> None:
    with pytest.raises(InputError, match="rents"):
        requests_of(bench.changed("example", money__acquisition="rent"))


# ---- what is refused


@rows("end", ["csv", "xlsx"])
def test_a_form_that_is_filled_in_is_read_with_all_that_was_said(tmp_path: Path, end: str) -> None:
    module = {"optics_brand": "compatible", "optics_warranty_months": "36", "unit_price": "900"}
    more = {"price_with_support": "168000", "lead_time_weeks": "12"}
    switch, optic = answered(tmp_path, (SWITCH, FILLED | more), (OPTIC, FILLED | module), end=end)
    assert (switch.seller, switch.row.price, switch.row.date, switch.row.grade) == (
        "Acme Ltd", 120_000, date(2026, 11, 10), "quote",
    )  # fmt: skip
    assert switch.support_per_year == pytest.approx(0.1) and switch.lead_weeks == 12
    assert switch.row.source == "Quote of Acme Ltd, 24 pieces; 12 weeks to delivery"
    assert optic.row.source == "Quote of Acme Ltd, 1176 pieces; compatible modules with 36 months of warranty"


def test_lines_without_an_answer_are_passed_over_and_a_form_without_any_is_refused(tmp_path: Path) -> None:
    assert len(answered(tmp_path, (SWITCH, {}), (SWITCH, FILLED))) == 1
    assert "no quote is filled in" in faults(tmp_path, (SWITCH, {}))[0]


WRONG: dict[str, tuple[Filled, str]] = {
    "an unknown item": ({"item": "switch-q3500"}, "Did you mean 'switch-q3400'?"),
    "an unknown request": ({"request": "infiniband-xdx"}, "Did you mean 'infiniband-xdr'?"),
    "no price": ({"unit_price": ""}, "unit_price: no price"),
    "a price of nothing": ({"unit_price": "0"}, "unit_price"),
    "a price below nothing": ({"unit_price": "-5"}, "unit_price"),
    "a price that may be two": (
        {"unit_price": "120,000"},
        "a comma in a number (found 120,000). Is it 120000 or 120.000?",
    ),
    "weeks with a comma": ({"lead_time_weeks": "3,5"}, "Write 3.5 (a point, not a comma)."),
    "a formula for a price": ({"unit_price": "=1+1"}, "not a plain number"),
    "a day that is none": ({"quoted_on": "2026-02-30"}, "quoted_on: not a date"),
    "no day": ({"quoted_on": ""}, "quoted_on"),
    "no end": ({"valid_until": ""}, "valid_until"),
    "an end before the quote": ({"valid_until": "2026-11-01"}, "expires before"),
    "another currency": ({"currency": "EUR"}, "currency: is not the USD"),
    "another unit": ({"unit": "rack"}, "unit: is not the each"),
    "another term": ({"term_months": "36"}, "term_months: is not the 48"),
    "another quantity": ({"quantity": "12"}, "quantity: is not the 24"),
    "no quantity": ({"quantity": "-24"}, "quantity: is no count"),
    "support below the price": ({"price_with_support": "100"}, "below the unit price"),
    "weeks below nothing": ({"lead_time_weeks": "-3"}, "lead_time_weeks"),
    "a brand for a switch": ({"optics_brand": "genuine"}, "modules alone"),
    "no seller": ({"seller": ""}, "seller: is missing"),
    "a formula for a seller": ({"seller": "=cmd|'/c calc'!A1"}, "seller: is no name"),
    "a seller with a sign": ({"seller": "@Acme"}, "seller: is no name"),
    "a seller who turns the text": ({"seller": "Acme \u202edtL"}, "bidirectional"),
    "an invisible seller": ({"seller": "Ac\u200bme"}, "invisible"),
    "a seller with a path": ({"seller": "../../etc/passwd"}, "seller: is no name"),
    "a seller with a folder": ({"seller": "acme/ltd"}, "seller: is no name"),
    "a seller with a drive": ({"seller": "C:\\acme"}, "seller: is no name"),
    "a long seller": ({"seller": "A" * 61}, "61 characters"),
}


@rows("end", ["csv", "xlsx"])
@rows("name", WRONG)
def test_what_no_quote_can_be_is_refused_by_its_place(tmp_path: Path, name: str, end: str) -> None:
    changes, expected = WRONG[name]
    found = faults(tmp_path, (SWITCH, FILLED | changes), end=end)
    if end == "xlsx" and any(value.startswith("=") for value in changes.values()):
        expected = "is a formula"
    plain = [re.sub(rf" \({SHEET}![A-Z]+2\)", "", text) for text in found]
    assert any(expected in text for text in plain), found
    assert all(("form.csv:2: " if end == "csv" else f"{SHEET}!") in text for text in found)


@rows("mark, name", [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_a_form_and_a_price_file_saved_with_another_separator_are_refused_by_its_name(
    tmp_path: Path, mark: str, name: str
) -> None:
    for quoted in ("", '"'):
        for read, columns in ((read_form, COLUMNS), (read_price_file, PRICE_COLUMNS)):
            path = tmp_path / f"{len(quoted)}-{len(columns)}.csv"
            text = "\n".join(mark.join(f"{quoted}{cell}{quoted}" for cell in cells) for cells in (columns, ["1,5"] * 9))
            path.write_text(f"sep={mark}\n{text}" if quoted else text, encoding="utf-8", newline="")
            with pytest.raises(
                InputError, match=rf"\.csv:1: the columns are separated by {name}\. Save it with commas"
            ):
                read(path)


def test_a_module_without_a_brand_is_refused(tmp_path: Path) -> None:
    assert "must say which modules" in faults(tmp_path, (OPTIC, FILLED))[0]


def test_every_fault_of_every_row_is_told_at_once(tmp_path: Path) -> None:
    found = faults(tmp_path, (SWITCH, FILLED | {"unit_price": "x", "seller": ""}), (SWITCH, FILLED | {"quantity": "1"}))
    assert len(found) == 3 and {text.split(":")[1] for text in found} == {"2", "3"}


def test_the_same_seller_quotes_a_piece_once(tmp_path: Path) -> None:
    assert "already" in faults(tmp_path, (SWITCH, FILLED), (SWITCH, FILLED | {"unit_price": "130000"}))[0]


BROKEN: dict[str, Callable[[Path], Path]] = {
    "not there": lambda folder: folder / "none.csv",
    "another kind": lambda folder: written(folder / "form.pdf", b"%PDF"),
    "not UTF-8": lambda folder: written(folder / "form.csv", b"\xff\xfe\x00"),
    "another head": lambda folder: written(folder / "form.csv", b"item,price\nx,1\n"),
    "semicolons": lambda folder: written(folder / "form.csv", ";".join(COLUMNS).encode()),
    "empty": lambda folder: written(folder / "form.csv", b""),
    "no workbook": lambda folder: written(folder / "form.xlsx", b"PK\x03\x04"),
    "another archive": lambda folder: zipped(folder / "form.xlsx"),
    "too large": lambda folder: written(folder / "form.csv", b"x" * 5_000_001),
}


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    return path


@rows("name", BROKEN)
def test_a_file_that_is_no_form_ends_in_a_message(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="separated by semicolons" if name == "semicolons" else None):
        read_form(BROKEN[name](tmp_path))


def test_what_stands_beside_the_form_or_is_worked_out_in_it_is_named_by_its_cell_all_at_once(tmp_path: Path) -> None:
    path = filled(tmp_path, [(SWITCH, FILLED)], end="xlsx")
    book = load_workbook(path)
    book[SHEET]["U2"], book[SHEET]["V2"], book[SHEET]["E2"] = "one", "two", "=A1"
    book.save(path)
    with pytest.raises(InputError) as error:
        read_form(path)
    assert [problem.key for problem in error.value.problems] == [f"{SHEET}!{cell}" for cell in ("U2", "V2", "E2")]


def test_without_params_a_form_is_held_against_the_options_and_the_price_files(tmp_path: Path) -> None:
    book = PriceBook.read(ROOT / "params/prices")
    items = {o: lines_of(option, book) for o, option in read_options().items()}
    rows = read_form(filled(tmp_path, [(SWITCH, FILLED)]))
    assert read_answers(rows, stated_lines(rows, items))[0].row.price == 120_000
    for changes in ({"item": "switch-q3500"}, {"currency": "XYZ"}, {"quantity": "0"}, {"term_months": "none"}):
        rows = read_form(filled(tmp_path, [(SWITCH, FILLED | changes)]))
        with pytest.raises(InputError):
            read_answers(rows, stated_lines(rows, items))


# ---- filing


def book_of(folder: Path) -> dict[str, Any]:
    view = PriceBook.read(folder).at(date(2026, 11, 20))
    return {item: view[item] for item in ("switch-q3400", "optic-800g-dr4") if item in view}


def of(seller: str, price: float, **more: str) -> tuple[Line, Filled]:
    return SWITCH, FILLED | {"seller": seller, "unit_price": f"{price:g}"} | more


def test_one_quote_is_the_price_and_three_are_its_median_and_its_ends(tmp_path: Path) -> None:
    one, three = tmp_path / "one", tmp_path / "three"
    file_quotes(answered(tmp_path, of("Acme Ltd", 120_000)), one)
    price = book_of(one)["switch-q3400"]
    assert (price.price, price.low, price.grade, price.figure.fixed) == (120_000, None, "quote", True)
    file_quotes(answered(tmp_path, of("Acme Ltd", 120_000), of("Beta & Co", 105_000), of("Gamma (UK)", 150_000)), three)
    price = book_of(three)["switch-q3400"]
    assert (price.low, price.price, price.high) == (105_000, 120_000, 150_000)
    assert all(seller in price.source for seller in ("Acme Ltd", "Beta & Co", "Gamma (UK)"))
    assert sorted(path.name for path in three.iterdir()) == [
        "quotes-acme-ltd.csv", "quotes-beta-co.csv", "quotes-gamma-uk.csv", SEVERAL,
    ]  # fmt: skip


def test_one_sellers_import_leaves_anothers_file_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "prices"
    file_quotes(answered(tmp_path, of("Acme Ltd", 120_000)), folder)
    before = file_of(folder, "Acme Ltd").read_bytes()
    file_quotes(answered(tmp_path, of("Beta", 110_000)), folder)
    assert file_of(folder, "Acme Ltd").read_bytes() == before
    with pytest.raises(InputError, match="would share the file"):
        file_quotes(answered(tmp_path, of("ACME (Ltd)", 90_000)), folder)
    assert file_of(folder, "Acme Ltd").read_bytes() == before


def test_a_quote_that_contradicts_one_that_is_filed_is_refused_and_a_later_one_follows_it(tmp_path: Path) -> None:
    folder = tmp_path / "prices"
    file_quotes(answered(tmp_path, of("Acme Ltd", 120_000)), folder)
    with pytest.raises(InputError, match="the price is 110000 here and 120000 there"):
        file_quotes(answered(tmp_path, of("Acme Ltd", 110_000), of("Beta", 100_000)), folder)
    assert not file_of(folder, "Beta").exists()
    file_quotes(answered(tmp_path, of("Acme Ltd", 110_000, quoted_on="2026-11-12")), folder)
    assert book_of(folder)["switch-q3400"].price == 110_000


def test_a_quote_that_has_lapsed_is_no_part_of_the_spread(tmp_path: Path) -> None:
    folder = tmp_path / "prices"
    lapsed = of("Acme Ltd", 100_000, quoted_on="2026-10-01", valid_until="2026-10-31")
    file_quotes(answered(tmp_path, lapsed, of("Beta", 120_000), of("Gamma", 130_000)), folder)
    price = book_of(folder)["switch-q3400"]
    assert (price.low, price.high) == (120_000, 130_000) and "Acme" not in price.source


def test_genuine_modules_are_told_of_and_not_filed_as_compatible_ones(tmp_path: Path) -> None:
    rows = [
        (OPTIC, FILLED | {"unit_price": "1000", "optics_brand": "compatible"}),
        (OPTIC, FILLED | {"unit_price": "6500", "optics_brand": "Genuine"}),
    ]
    report = import_quotes(filled(tmp_path, rows), tmp_path / "prices", asked=LINES, items={}, as_of=date(2026, 11, 1))
    assert report.ok and book_of(tmp_path / "prices")["optic-800g-dr4"].price == 1000
    assert any("6.5 times" in note for note in report.notes) and any("not used until" in note for note in report.notes)
    assert report.as_dict()["added"] == 1 and "1 quotes added" in report.text()


def test_a_quote_far_from_the_price_known_is_filed_and_held_as_any_other(tmp_path: Path) -> None:
    from dataclasses import replace

    nic = replace(SWITCH, item="nic-connectx8-800g", kind=kinds()["nic"])
    form = filled(tmp_path, [(nic, FILLED | {"unit_price": "19000"})])
    report = import_quotes(form, tmp_path / "prices", asked=[nic], items={}, as_of=None)
    assert not report.ok and report.filed.added == 1 and "held" in report.text()
    assert PriceBook.read(tmp_path / "prices").at(date(2026, 11, 20))["nic-connectx8-800g"].price < 3000


def test_a_folder_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "prices").write_text("a file in its place", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        file_quotes(answered(tmp_path, of("Acme Ltd", 120_000)), tmp_path / "prices" / "x")


def test_a_day_that_a_spreadsheet_turned_into_a_date_is_that_day(tmp_path: Path) -> None:
    path = filled(tmp_path, [(SWITCH, FILLED)], end="xlsx")
    book = load_workbook(path)
    sheet = book[SHEET]
    sheet.cell(2, COLUMNS.index("quoted_on") + 1).value = date(2026, 11, 10)
    sheet.cell(2, COLUMNS.index("unit_price") + 1).value = 120_000.5
    book.save(path)
    row = read_answers(read_form(path), LINES)[0].row
    assert (row.date, row.price) == (date(2026, 11, 10), 120_000.5)


SELLERS = ("Acme Ltd", "Beta", "Gamma & Sons")
prices = st.lists(
    st.tuples(st.sampled_from(SELLERS), st.sampled_from(["2026-11-02", "2026-11-05"]), st.integers(90_000, 150_000)),
    min_size=1, max_size=6, unique_by=lambda q: (q[0], q[1]),
)  # fmt: skip


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def each_alone(quotes: Iterable[tuple[str, str, int]], scratch: Path, folder: Path) -> None:
    """Every quote in a form of its own, one import after the other."""
    for seller, day, price in quotes:
        file_quotes(answered(scratch, of(seller, price, quoted_on=day)), folder)


@settings(deadline=None, max_examples=25)
@given(prices, st.randoms(use_true_random=False))
def test_importing_twice_is_importing_once_and_the_order_does_not_matter(
    quotes: list[tuple[str, str, int]], random: Any
) -> None:
    with TemporaryDirectory() as scratch:
        here = Path(scratch)
        each_alone(quotes, here, here / "once")
        each_alone([*quotes, *quotes], here, here / "twice")
        shuffled = list(quotes)
        random.shuffle(shuffled)
        each_alone(shuffled, here, here / "shuffled")
        assert files_of(here / "once") == files_of(here / "twice") == files_of(here / "shuffled")
        last = PriceBook.read(here / "once").at(date(2026, 11, 20))["switch-q3400"]
        newest = {seller: price for seller, _, price in sorted(quotes, key=lambda q: q[1])}
        low, high = (last.price, last.price) if last.low is None else (last.low, last.high)
        assert low == min(newest.values()) and high == max(newest.values())


# ---- from the form to the memo


@pytest.mark.slow
def test_a_quote_of_every_piece_without_a_price_takes_the_place_of_our_ranges_in_the_memo(tmp_path: Path) -> None:
    for name in ("prices", "providers"):
        shutil.copytree(ROOT / "params" / name, tmp_path / name)
    params, own = tmp_path / "client.yaml", tmp_path / "halden-cloud" / "prices"
    shutil.copy(ROOT / "params/halden-cloud.yaml", params)
    with mock.patch.object(inputs_module, "DRAWS", bench.DRAWS):
        before = open_case(params)
        requests = requests_of(before)
        asked = [line for request in requests for line in request.lines]
        lacking = {item: ref for o in before.options for item, ref in o.unquoted.items()}
        assert lacking and before.decision().unquoted
        cheap = {item: 0.8 * before.inputs.central(ref) for item, ref in lacking.items()}
        for n, times in enumerate((0.95, 1.0, 1.1), start=1):
            for request in requests:
                path = tmp_path / f"{request.option}.xlsx"
                path.write_bytes(as_workbook(request.lines, before.as_of))
                book = load_workbook(path)
                fill(book[SHEET], {i: p * times for i, p in cheap.items()}, f"Seller {n}", str(before.as_of))
                book.save(path)
                import_quotes(path, own, shared=tmp_path / "prices", asked=asked, items={}, as_of=before.as_of)
        after = open_case(params)
        assert not any(o.unquoted for o in after.options) and not after.decision().unquoted
        for item, price in cheap.items():
            now = after.prices[item]
            assert (now.low, now.price, now.high) == pytest.approx((0.95 * price, price, 1.1 * price), rel=1e-3)
            assert now.grade == "quote"
        pair = ("infiniband-xdr", "spectrum-x-800g")
        assert abs(lead(before, pair) - lead(after, pair)) > 100_000
        assert len(sellers_files(own)) == 3 and not sellers_files(tmp_path / "prices")


def fill(sheet: Any, prices: Mapping[str, float], seller: str, day: str) -> None:
    """Fill in the first quote of each piece that is among the prices."""
    at = {name: n for n, name in enumerate(COLUMNS, start=1)}
    for row in range(2, sheet.max_row + 1):
        item = sheet.cell(row, at["item"]).value
        if item in prices and sheet.cell(row, at["quote"]).value == 1:
            answers = {
                "seller": seller,
                "quoted_on": day,
                "unit_price": round(prices[item], 2),
                "valid_until": "2027-12-31",
            }
            answers |= {"optics_brand": "compatible"} if item.startswith("optic-") else {}
            for column, value in answers.items():
                sheet.cell(row, at[column]).value = value


def lead(case: Case, pair: tuple[str, str]) -> float:
    totals = case.chain.bills.totals
    return float(totals[pair[0]].mean() - totals[pair[1]].mean())
