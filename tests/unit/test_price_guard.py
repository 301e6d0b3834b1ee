"""Claims about the guard of prices: what it holds, what a person settles, what the market explains, and what it has missed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.uncertain import Uncertain
from fabricreport.books.prices.book import Price, PriceBook
from fabricreport.books.prices.files import append
from fabricreport.books.prices.rules import ALL_COLUMNS, COLUMNS, PriceRow, parse_row, rules, slip
from fabricreport.books.prices.settlement import FILE, Verdict, decided, decisions_in, idle, record
from fabricreport.cli.main import main
from fabricreport.validation.price_guard import LATER, OWN, Replay, replays

ITEM = "gpu-hour-h100-acme"
LAST, NEWER = date(2026, 1, 5), date(2026, 10, 1)
AS_OF = date(2026, 11, 27)
ONE, TWO, THREE = "github.com/one/x", "github.com/two/x", "three.example/prices"


def rent(price: float, day: date = LAST, item: str = ITEM, **other: object) -> PriceRow:
    """A rent of the columns that every price has; others by name."""
    cells = {"item": item, "unit": "gpu-hour", "price": f"{price:.10g}", "currency": "USD", "date": day.isoformat()}
    return parse_row({**cells, "source": ONE, "grade": "secondary", **{k: str(v) for k, v in other.items()}})


def filed(folder: Path, *given: PriceRow) -> Path:
    """A folder of prices that holds these rows in one file."""
    folder.mkdir(parents=True, exist_ok=True)
    append(folder / "rents.csv", given)
    return folder


def settle(folder: Path, row: PriceRow, verdict: Verdict, who: str = "A. Mensah") -> Path:
    """A decision on a row, written beside the rows of a folder."""
    return record(folder, decided(row, verdict, who=who, why="her page says so", on=AS_OF))


def used(book: PriceBook, item: str = ITEM) -> Price:
    return book.at(AS_OF)[item]


# --- what is held, and what a memo computes with meanwhile


@settings(deadline=None)
@given(st.floats(0.01, 900) | st.sampled_from([1 / 3, 0.5, 2, 3]))
def test_a_step_of_two_is_held_and_spans_only_within_a_third_and_three_times(factor: float) -> None:
    row = rent(10 * factor, NEWER, product="on-demand")
    size = max(row.price / 10, 10 / row.price)
    price = used(PriceBook.of([rent(10), row]))
    if size < 2 * (1 - 1e-9):
        assert (price.price, price.held, price.quarantined) == (row.price, None, "")
        return
    assert (price.price, price.date) == (10, LAST) and price.quarantined
    assert price.held is not None and price.held.kind == "jump" and price.held.row == row
    assert price.spanned is (size <= 3 * (1 + 1e-9))
    low, high = sorted((10, row.price))
    assert price.figure == (Uncertain.of({"low": low, "high": high}) if price.spanned else Uncertain.of(10))


@rows(
    ("factor", "reason"),
    [(8, "node"), (10, "decimal"), (12, "year"), (100, "cents"), (730, "month"), (1000, "thousands"), (8760, "year")],
)
def test_a_slip_that_has_a_name_is_named_and_leaves_the_last_good_price_alone(factor: float, reason: str) -> None:
    assert {s.factor for s in rules().slips} == {8, 10, 12, 100, 730, 1000, 8760}
    for ratio in (factor, 1 / factor):
        widgets = [rent(p, day, "widget", unit="each") for p, day in ((400, LAST), (400 * ratio, NEWER))]
        price = used(PriceBook.of(widgets), "widget")
        assert price.held is not None and reason in price.held.message and reason in slip(ratio)
        assert price.figure == Uncertain.of(400) and not price.spanned


@rows(
    ("factor", "other", "kind", "spanned"),
    [
        (0.64, {}, "spot", False), (0.4, {}, "spot", False), (0.66, {}, "", False), (0.64, {"product": "on-demand"}, "", False),
        (0.4, {"product": "on-demand"}, "jump", True), (0.64, {"item": f"{ITEM}-spot"}, "", False),
    ],
)  # fmt: skip
def test_an_unlabelled_rent_far_below_its_last_is_held_as_a_spot_and_enters_no_span(
    factor: float, other: dict[str, str], kind: str, spanned: bool
) -> None:
    item = other.get("item", ITEM)
    price = used(PriceBook.of([rent(10, item=item), rent(10 * factor, NEWER, **{"item": item} | other)]), item)
    assert (price.held.kind if price.held else "", price.spanned) == (kind, spanned)
    assert price.price == pytest.approx(10 if kind else 10 * factor)


def test_what_stands_beside_a_held_row_is_told_whenever_its_page_was_read() -> None:
    (held,) = PriceBook.of([rent(10, read=AS_OF), rent(45, NEWER, product="on-demand")]).quarantine
    assert held.in_use == f"10 USD of {LAST}"


# --- what a person settles


def test_an_accepted_row_is_good_and_the_next_is_judged_by_it(tmp_path: Path) -> None:
    jumped, next_one = rent(25, NEWER), rent(45, date(2026, 11, 1))
    folder = filed(tmp_path, rent(10), jumped, next_one)
    assert used(PriceBook.read(folder)).price == 10
    settle(folder, jumped, "accept")
    price = used(PriceBook.read(folder))
    assert (price.price, price.held) == (45, None)


def test_a_rejected_row_is_silent_and_judges_nothing(tmp_path: Path) -> None:
    jumped = rent(25, NEWER)
    folder = filed(tmp_path, rent(10), jumped, rent(11, date(2026, 11, 1)))
    settle(folder, jumped, "reject")
    book = PriceBook.read(folder)
    assert [(h.kind, h.is_question) for h in book.quarantine] == [("rejected", False)]
    for day in (NEWER, AS_OF):
        price = book.at(day)[ITEM]
        assert (price.held, price.quarantined) == (None, "")
    settle(folder, jumped, "accept")
    (one,) = decisions_in(folder)
    assert one.verdict == "accept" and PriceBook.read(folder).at(NEWER)[ITEM].price == 25


@rows("change", [{"price": 26.0}, {"date": date(2026, 10, 2)}, {"source": TWO}, {"currency": "EUR"}])
def test_a_decision_on_a_row_that_was_changed_since_settles_nothing(tmp_path: Path, change: dict[str, object]) -> None:
    jumped = rent(25, NEWER)
    changed = replace(jumped, **change)  # type: ignore[arg-type]
    folder = filed(tmp_path, rent(10), changed)
    settle(folder, jumped, "accept")
    book = PriceBook.read(folder)
    assert used(book).price == 10 and used(book).held is not None
    assert idle(book.decisions, book.given.rows) == list(book.decisions)


def test_a_row_settled_twice_in_a_file_is_one_error_with_file_and_line(tmp_path: Path) -> None:
    path = settle(filed(tmp_path, rent(10)), rent(25, NEWER), "accept")
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, lines[-1].replace("accept", "reject")]) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        PriceBook.read(tmp_path)
    (fault,) = caught.value.problems
    assert Path(fault.file).name == FILE and fault.line == len(lines) + 1 and f"line {len(lines)}" in fault.message


def test_a_clients_own_decision_beats_a_shared_one_and_moves_no_other_client(tmp_path: Path) -> None:
    jumped = rent(25, NEWER)
    shared = filed(tmp_path / "prices", rent(10), jumped)
    settle(shared, jumped, "reject")
    settle(tmp_path / "acme", jumped, "accept")
    assert used(PriceBook.read(shared, tmp_path / "acme")).price == 25
    assert used(PriceBook.read(shared, tmp_path / "other")).price == used(PriceBook.read(shared)).price == 10


# --- what the market explains


@rows(
    ("others", "let_through"),
    [
        ([("b", TWO, 1.5), ("c", THREE, 1.3)], True),
        ([("b", TWO, 1.5), ("c", TWO, 1.5), ("d", THREE, 2.5)], True),
        ([("b", TWO, 1.5)], False),
        ([("b", ONE, 1.5), ("c", ONE, 1.5)], False),
        ([("b", TWO, 1.5), ("c", THREE, 0.7)], False),
        ([("b", TWO, 1.5), ("c", THREE, 1.2)], False),
        ([("b", TWO, 1.5), ("c", THREE, 3.1)], False),
        ([("b", TWO, 1.5), ("c-spot", THREE, 1.5)], False),
    ],
)
def test_three_sellers_of_three_publishers_that_move_one_way_are_the_market(
    others: Sequence[tuple[str, str, float]], let_through: bool
) -> None:
    given = [rent(10), rent(22, NEWER)]
    for seller, source, factor in others:
        item, product = f"gpu-hour-h200-{seller}", "spot" if seller.endswith("spot") else "on-demand"
        given += [rent(4 * f, day, item, source=source, product=product) for f, day in ((1, LAST), (factor, NEWER))]
    book = PriceBook.of(given)
    assert used(book).price == (22 if let_through else 10)
    assert any(note.startswith(f"{ITEM}: 22 USD") for note in book.notes) is let_through


@rows("verdict", ["", "reject"])
def test_a_row_that_was_rejected_or_may_be_a_spot_price_says_nothing_of_the_market(verdict: str) -> None:
    """Down by half with two others: unlabelled, these may be spot prices; labelled, one of them was rejected."""
    product = "on-demand" if verdict else ""
    given = [rent(10), rent(4.5, NEWER, product="on-demand")]
    for seller, source in (("b", TWO), ("c", THREE)):
        item = f"gpu-hour-h100-{seller}"
        given += [rent(4, item=item, source=source), rent(1.9, NEWER, item, source=source, product=product)]
    decisions = [decided(given[-1], "reject", who="A. Mensah", why="a spot price", on=AS_OF)] if verdict else []
    price = used(PriceBook.of(given, decisions=decisions))
    assert price.price == 10 and price.spanned
    said = [replace(row, product="on-demand") for row in given]
    assert used(PriceBook.of(said)).price == 4.5


@rows(("sources", "price"), [((ONE, TWO, THREE), 240), ((ONE, TWO), 100), ((ONE, "github.com/one/y", TWO), 100)])
def test_of_a_piece_of_equipment_its_publishers_are_the_sellers(sources: Sequence[str], price: float) -> None:
    jumps = [rent(220 + 10 * n, NEWER, "widget", unit="each", source=source) for n, source in enumerate(sources)]
    assert used(PriceBook.of([rent(100, LAST, "widget", unit="each"), *jumps]), "widget").price == price


def test_no_market_explains_a_price_outside_the_bounds() -> None:
    given = [rent(10), rent(31, NEWER)]
    for seller, source in (("b", TWO), ("c", THREE)):
        given += [rent(price, day, f"gpu-hour-h100-{seller}", source=source) for price, day in ((4, LAST), (10, NEWER))]
    assert used(PriceBook.of(given)).price == 10


# --- what a row may say


@rows(
    ("change", "key", "message", "remedy"),
    [
        ({"product": "spot"}, "product", "mixed products", f"here {ITEM}-spot"),
        ({"item": f"{ITEM}-spot", "product": "on-demand"}, "product", "mixed products", f"here {ITEM}."),
        ({"product": "reserved-12"}, "product", "unknown term", "reserved-12m"),
        ({"product": "sport"}, "product", "unknown product", "Did you mean 'spot'"),
        ({"sold_by": "lorry"}, "sold_by", "unknown sold_by", "gpu, node"),
        ({"date": "undated"}, "read", "needs the day on which its page was read", "read"),
        ({"item": "switch-x", "unit": "each", "product": "on-demand"}, "product", "only a rent says this", "gpu-hour"),
    ],
)  # fmt: skip
def test_a_row_that_says_what_it_cannot_be_is_one_message_with_file_line_and_remedy(
    tmp_path: Path, change: dict[str, str], key: str, message: str, remedy: str
) -> None:
    cells = dict(zip(ALL_COLUMNS, rent(10).cells(), strict=True)) | change
    text = "\n".join([",".join(ALL_COLUMNS), ",".join(cells.values())])
    (tmp_path / "rents.csv").write_text(text + "\n", encoding="utf-8")
    (fault,) = PriceBook.read(tmp_path).problems
    assert (Path(fault.file).name, fault.line, fault.key) == ("rents.csv", 2, key)
    assert message in fault.message and remedy in f"{fault}"


# --- what is known on a day

SELLERS = tuple(f"gpu-hour-h100-{name}" for name in "abc")


def _made(item: str, price: int, day: int, wait: int | None, source: str, product: str) -> PriceRow:
    dated = date(2026, 1, 1) + timedelta(days=day)
    read = None if wait is None else dated + timedelta(days=wait)
    return PriceRow(
        item, "gpu-hour", "USD", price / 10, None, None, dated, None, source, "secondary", product, read=read
    )


made = st.builds(
    _made, st.sampled_from(SELLERS), st.integers(10, 90), st.integers(0, 300), st.none() | st.integers(0, 300),
    st.sampled_from([ONE, TWO, THREE]), st.sampled_from(["", "on-demand"]),
)  # fmt: skip
history = st.lists(made, max_size=10)
days = st.integers(0, 700).map(lambda n: date(2026, 1, 1) + timedelta(days=n))


@settings(max_examples=40, deadline=None)
@given(history, history, days)
def test_a_book_as_of_a_day_is_the_same_whether_or_not_later_rows_are_there(
    shared: list[PriceRow], own: list[PriceRow], day: date
) -> None:
    def known(given: list[PriceRow]) -> list[PriceRow]:
        return [row for row in given if row.known_from <= day]

    whole, then = PriceBook.of(shared, own=own), PriceBook.of(known(shared), own=known(own))
    assert dict(whole.at(day)) == dict(then.at(day)) and whole.at(day).quarantine == then.at(day).quarantine
    assert {*whole.waiting(day)} == {*shared, *own} - {*known(shared), *known(own)}


@settings(max_examples=40, deadline=None)
@given(history, days)
def test_no_price_is_older_than_the_last_good_one_before_a_held_row_and_none_is_held_in_silence(
    given_rows: list[PriceRow], day: date
) -> None:
    view = PriceBook.of(given_rows).at(day)
    for held in (h for h in view.quarantine if h.is_question):
        price, last = view[held.item], held.last
        assert last is not None and held.date is not None
        assert price.date >= last.date or last.date > held.date, "an item's first row may be judged by later ones"
        newer = held.date >= price.date
        assert not newer or (price.held is not None and price.held.date is not None and price.held.date >= held.date)


def test_an_item_of_the_package_does_not_fall_back_behind_a_held_row() -> None:
    """With its old rows deleted, a rent is judged by the price shipped, and is told as held beside it."""
    item = "gpu-hour-h100-nebius"
    alone = PriceBook.of([rent(45, date(2026, 11, 26), item, product="on-demand")])
    price = alone.at(AS_OF)[item]
    assert price.stand_in and price.held is not None and price.held.price == 45


# --- files


def test_a_file_of_ten_columns_stays_as_it_is_until_a_row_fills_another(tmp_path: Path) -> None:
    path = tmp_path / "rents.csv"
    before = f'# by hand\n{",".join(COLUMNS)}\n# an old one\n{ITEM},gpu-hour,2.10,,,USD,2026-01-05,,"A; b",quote\n'
    path.write_text(before, encoding="utf-8")
    append(path, [rent(2.2, NEWER)])
    assert path.read_text(encoding="utf-8") == before + f"{ITEM},gpu-hour,2.2,,,USD,2026-10-01,,{ONE},secondary\n"
    old = PriceBook.read(tmp_path).history(ITEM)
    append(path, [rent(2.3, AS_OF, product="on-demand", read="2026-11-27")])
    text = path.read_text(encoding="utf-8").splitlines()
    assert [text[n] for n in (0, 1, 2)] == ["# by hand", ",".join(ALL_COLUMNS), "# an old one"]
    new = PriceBook.read(tmp_path).history(ITEM)
    assert new[:-1] == old and (new[-1].product, new[-1].read) == ("on-demand", AS_OF)
    assert not PriceBook.read(tmp_path).problems


# --- what it would have held, and what it has missed


def _faults(one: Replay) -> Counter[str]:
    return Counter(r.wrong for r in one.misses())


def test_the_shipped_history_is_held_nowhere_and_is_not_known_to_be_wrong() -> None:
    now = replays()["now"]
    assert not now.false_holds(OWN) and not now.false_holds(LATER) and not now.misses()


def test_the_replay_of_what_was_entered_before_holds_and_misses_by_name() -> None:
    """Measured; a change of rules that moves it should be seen here."""
    before, labelled = replays()["unlabelled"], replays()["labelled"]
    assert len(before.rows) == len(labelled.rows)
    nebius = {"gpu-hour-h100-nebius", "gpu-hour-h200-nebius"}
    assert {r.row.item for r in before.false_holds()} == nebius | {"gpu-hour-h100-datacrunch"}
    assert {r.row.item for r in labelled.false_holds()} == nebius
    assert not before.false_holds(LATER) and not labelled.false_holds(LATER)
    assert _faults(before) == {"spot": 5, "two-products": 7, "median": 10, "date": 28}
    assert _faults(labelled) == {"two-products": 7, "median": 10, "date": 28}


def test_a_wrong_row_that_names_its_product_cannot_be_entered() -> None:
    spots = [r for r in replays()["labelled"].rows if r.wrong == "spot"]
    assert len(spots) == 5 and {h for r in spots for h in r.held} == {"mixed products"}


def test_the_replay_is_a_command_that_names_every_row_held_or_missed() -> None:
    text = CliRunner().invoke(main, ["validate", "price-guard"]).output
    assert all(f"{r.row.item}, {r.row.price:g} USD of {r.row.date}" in text for r in replays()["unlabelled"].misses())
    (plain,) = json.loads(CliRunner().invoke(main, ["validate", "price-guard", "--json"]).output)
    assert [r["id"] for r in plain["replays"]] == [*replays()]
    assert [len(r["cases"]) for r in plain["replays"]] == [0, 55, 54]
