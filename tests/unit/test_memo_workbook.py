"""The memo as a workbook: its formulas give the model's central case, also at other prices, and no text of others is one."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import bench
import pytest
from openpyxl import load_workbook
from rows import rows
from workbook_formulas import Worked

from fabricreport.base.provenance import plain
from fabricreport.base.text import FORMULA_STARTS
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.base.written import Script, leaf, term_of
from fabricreport.blocks.nodes import DataTable, Heading, TableColumn, TableRow, Text
from fabricreport.case import Case
from fabricreport.memo.document.document import Document, FrontMatter
from fabricreport.memo.write.workbook import number_in, workbook
from fabricreport.models.money.accounts import Scheduled, payments
from fabricreport.models.money.cashflow import Discounting
from fabricreport.sections.decision import accounts as accounts_module

EVIL = '=HYPERLINK("http://x.example","@")'


def document(client: str = "Example & Co", *nodes: Any) -> Document:
    front = dict.fromkeys(FrontMatter.__dataclass_fields__, "") | {"title": "A memo", "client": client}
    made = FrontMatter(**{**front, "date": "2026-11-27", "edition": "2026-11-27-00000000", "marked": True})  # type: ignore[arg-type]
    empty = dict.fromkeys(Document.__dataclass_fields__, ())
    return Document(**{**empty, "front": made, "glance": None, "body": nodes})  # type: ignore[arg-type]


def by_hand(name: str = "Fabric A") -> dict[str, Any]:
    """Two options over 24 months at a rate of 0: three or five switches of 100, 10 a month for one from month 12 on, and two
    hours a month lost at 7 each, of the first option's."""
    script, months = Script(), Scheduled(leaf(0.0, "param:rate"))
    price, hour = leaf([100.0], "price:switch"), leaf([7.0], "price:hour")

    def line(name: str, amount: Any, *, time: bool = False) -> dict[str, Any]:
        found = [vars(p) | {"amount": script.place(p.amount)} for p in payments(term_of(amount))]
        return {"name": name, "cause": name, "time": time, "payments": found}

    def subject(o: str, name: str, pieces: float, mean: float, lost: float, monthly: float) -> dict[str, Any]:
        bought = months.lump(leaf(pieces, f"count:switch:{o}") * price, 0, 24)
        kept = months.level(leaf(monthly, "evidence:keep"), 24, after=12) if monthly else 0.0
        time = months.present_value([lost] * 25) * hour if lost else 0.0
        cash = bought + kept
        lines = [line("Switches", bought), line("Keep", kept), line("Lost", time, time=True)]
        whole = {"paid": script.place(term_of(cash)), "total": script.place(term_of(cash + time))}
        return {
            "id": o, "name": name, "mean": mean, "lines": [one for one in lines if one["payments"]],
            **whole, "hour": script.place(term_of(hour)),
        }  # fmt: skip

    two = [subject("a", name, 3.0, 800.0, 2.0, 10.0), subject("b", "Fabric B", 5.0, 510.0, 0.0, 0.0)]
    rates = {
        "today": script.place(term_of(months.real_per_year)),
        "fixed": script.place(term_of(months.nominal_per_year)),
    }
    told = dict.fromkeys(("unit", "grade", "source", "date"), "")
    values = {step[2]: step[1] for step in script.steps if step[0] == "in"}
    inputs = {
        key: {**told, "label": name, "kind": key.partition(":")[0], "low": value * 0.8, "high": value * 1.2}
        for key, value in values.items()
    }
    return {
        "currency": "USD",
        "compared": ["a", "b"],
        "subjects": two,
        "rates": rates,
        "inputs": inputs,
        "materials": [],
        "hours": [flow.tolist() for flow in months.flows],
        "steps": script.steps,
    }


def test_what_is_worked_out_by_hand_stands_on_the_first_sheet_and_follows_a_price() -> None:
    made = Worked(workbook(document(), by_hand()))
    # 3 x 100 + 12 x 10 + 25 x 2 x 7 = 770, and 5 x 100
    assert [made.cell("Summary", cell) for cell in ("B5", "B6", "B7")] == [770, 500, -270]
    assert [made.cell("Summary", cell) for cell in ("C5", "D5", "D7", "F7")] == [30, 800, -290, "reconciles"]
    moved = made.changed(**{"price:switch": 110.0})
    assert [moved.cell("Summary", cell) for cell in ("B5", "B6", "B7")] == [800, 550, -250]
    assert "same two" in moved.cell("Summary", "B9") and moved.cell("Summary", "F5").startswith("inputs are changed")
    assert moved.changed(**{"price:hour": 8.0}).cell("Summary", "B9").startswith("rebuild: more than one")
    assert moved.changed(**{"price:switch": 121.0, "price:hour": 7.0}).cell("Summary", "B9").startswith("rebuild: an")


def central_totals(case: Case, figures: dict[str, Uncertain]) -> dict[str, float]:
    """What each option, or offer of a renter, comes to in the model's own central case at other figures."""
    if not case.inputs.team.rented:
        return {o: float(plain(t)[0]) for o, t in case.chain.replacing(figures).at_centre().bills.totals.items()}
    then = Case(case.inputs.replacing(figures)).accounts()
    return {s["id"]: then["steps"][s["total"]][1] for s in then["subjects"]}


@pytest.mark.slow
@pytest.mark.parametrize("client", ["example", "kestrel-lab", "tern-finetuning"])
def test_every_formula_gives_what_it_carries_and_a_changed_price_gives_the_models_central_case(
    client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_module._Limits, "of", lambda self, input_id: (0.5, 2.0))
    case = bench.case(client)
    accounts = case.accounts()
    made = Worked(workbook(document(), accounts))
    for sheet in made.book:
        for cell in (one for row in sheet.iter_rows() for one in row if one.data_type == "f"):
            told, worked = made.told[sheet.title][cell.coordinate].value, made.cell(sheet.title, cell.coordinate)
            same = (
                told == pytest.approx(worked, rel=1e-9, abs=1e-6)
                if isinstance(worked, int | float)
                else (told or "") == worked
            )
            assert same, f"{sheet.title} {cell.coordinate} {cell.value}: {told}, not {worked}"
    prices = [i for i in made.places if i.startswith("price:")][::3][:2]
    for price, factor in zip(prices, (0.9, 1.1), strict=False):
        value = case.inputs.central(price)
        moved = made.changed(**{price: value * factor})
        totals = central_totals(case, {price: exactly(value * factor)})
        for cell, option in zip(("B5", "B6"), accounts["compared"], strict=True):
            if option in totals:
                assert moved.cell("Summary", cell) == pytest.approx(totals[option], abs=0.5), (price, factor, option)
        made.changed(**{price: value})


@pytest.mark.slow
def test_inside_its_limits_a_price_leaves_the_two_compared_and_beyond_them_it_does_not() -> None:
    case = bench.case("example")
    search, pair = case.studies.search, case.comparison.verdict.pair
    limits = accounts_module._Limits(case.chain, search.fast, search.judge, frozenset(pair), None)

    def compared(price: str, factor: float) -> set[str]:
        moved = search.fast.replacing({price: exactly(case.inputs.central(price) * factor)})
        return set(search.judge.verdict(moved.bills).pair)

    turned = 0
    for price in ("price:switch-sn5610", "price:switch-n9600-64od", "price:optic-800g-2xsr4"):
        low, high = limits.of(price)
        assert low < 1 < high and compared(price, low) == compared(price, high) == set(pair)
        for end, beyond in ((low, low * 0.9), (high, high * 1.1)):
            if end not in (accounts_module.LEAST, accounts_module.MOST):
                given, central = case.inputs, case.inputs.in_force(price).figure
                moved = search.fast.replacing({price: central.times(beyond)})
                bought = any(accounts_module._chosen(moved.given, o) != given.built(o) for o in case.chain.bills.own)
                ends = compared(price, beyond), set(search.judge.verdict(moved.bills).pair)
                assert bought or any(two != set(pair) for two in ends)
                turned += 1
    assert turned, "no limit was tried"


def test_no_text_of_others_is_a_formula_a_link_or_a_code_of_the_page_and_none_runs_as_csv() -> None:
    cells = (Text(EVIL),), (Text("-2+3"),)
    columns = (TableColumn((Text("@SUM(1)"),), "", "left"), TableColumn((Text("b"),), "+x", "left"))
    table = DataTable("tab-x", (Text(EVIL),), columns, (TableRow(cells, "normal"),), (Text("=1"),))
    nodes = (Heading(1, (Text("[a]:b*?/\\" * 9),), "x"), table, Heading(1, (Text("'"),), "y"), table)
    accounts = by_hand(EVIL)
    for one in accounts["inputs"].values():
        one |= dict.fromkeys(("label", "unit", "grade", "source", "date"), EVIL)
    made = workbook(document("&[Path]&Z", *nodes), accounts)
    book = load_workbook(io.BytesIO(made))
    ours = {
        cell.value
        for sheet in load_workbook(io.BytesIO(workbook(document(), by_hand())))
        for row in sheet
        for cell in row
    }
    for sheet in book:
        assert sheet.oddHeader.left.text == "&&[Path]&&Z"
        for cell in (one for row in sheet.iter_rows() for one in row if one.value is not None):
            assert cell.hyperlink is None
            if cell.data_type == "f":
                assert cell.value in ours and "HYPERLINK" not in cell.value
            else:
                assert not str(cell.value).startswith(FORMULA_STARTS) or isinstance(cell.value, int | float)
    assert b"vbaProject" not in made and b"externalLink" not in made
    cut = load_workbook(io.BytesIO(workbook(document("x" * 79 + "&Z"), None)))["Summary"].oddHeader
    assert (cut.left.text, cut.center.text) == ("x" * 79, "&A"), "half of what stands for & is a code"


def test_the_same_memo_is_the_same_bytes_and_without_accounts_it_has_its_tables() -> None:
    table = DataTable(
        "tab-x", (Text("Costs"),), (TableColumn((Text("What"),), "", "left"), TableColumn((Text("Cost"),), "$M", "right")),
        (TableRow(((Text("Switches"),), (Text("−1,234.50"),)), "total"),), (),
    )  # fmt: skip
    nodes = (Heading(1, (Text("The cost"),), "x", number="2"), table)
    assert workbook(document("C", *nodes), by_hand()) == workbook(document("C", *nodes), by_hand())
    book = load_workbook(io.BytesIO(workbook(document("C", *nodes), None)))
    assert book.sheetnames == ["Summary", "Section 2"]
    sheet = book["Section 2"]
    assert [cell.value for cell in sheet[4]] == ["What", "Cost ($M)"] and sheet["B5"].value == -1234.5
    assert sheet["B5"].number_format == "#,##0.00", "as the memo prints it"
    assert sheet.page_setup.orientation == "landscape" and sheet.freeze_panes and sheet.print_title_rows
    narrow = replace(table, columns=table.columns[:1], rows=(TableRow(((Text("Switches"),),), "normal"),))
    (_, sheet) = load_workbook(io.BytesIO(workbook(document("C", nodes[0], narrow), None)))
    assert sheet["A5"].value == "Switches" and not sheet.merged_cells, "one column is as wide as all"


@rows("text", {
    "12": (12, "0"), "1,024": (1024, "#,##0"), "−0.05": (-0.05, "0.00"), "23 %": (0.23, "0%"),
    "$1.54M": (1_540_000, '"$"0.00,,"M"'), "2 to 3": None, "4.6 weeks": None, "–": None,
}.items())  # fmt: skip
def test_a_cell_that_is_one_number_is_a_number(text: Any) -> None:
    written, told = text
    assert number_in(written) == (told and (pytest.approx(told[0]), told[1]))


def test_the_central_case_discounts_as_the_sample_does() -> None:
    plain = Discounting(0.08, "nominal", 0.025)
    told = Scheduled(leaf(0.08, "param:rate"), "nominal", leaf(0.025, "param:inflation"))
    for terms in ("today", "fixed"):
        assert float(told.level(leaf(5.0, "x"), 48, after=12, terms=terms)) == pytest.approx(
            float(plain.level(5.0, 48, after=12, terms=terms))
        )
    assert float(told.lump(leaf(5.0, "x"), 12, 48)) == pytest.approx(float(plain.lump(5.0, 12, 48)))
