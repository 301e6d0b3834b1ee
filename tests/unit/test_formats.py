"""Numbers are rounded to what is known and carry their unit."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.formats import (
    MINUS,
    NBSP,
    Scale,
    between,
    column_scale,
    fixed,
    fixed_share,
    inside,
    listed,
    money,
    of_hundred,
    percent,
    plain_number,
    significant,
    write,
)
from fabricreport.ledger.numbers import STYLES, Number, Spread


@rows(
    ("value", "unit", "digits", "text"),
    [
        (5_353_000, "usd", 4, "$5.353M"),
        (110_592, "usd", 6, "$110,592"),
        (110_592, "usd", 3, "$111k"),
        (-14_200, "usd", 3, "−$14.2k"),
        (2.95, "usd/gpu-hour", 3, "$2.95 per GPU-hour"),
        (0.0123, "share", 2, "1.2\N{NO-BREAK SPACE}%"),
        (0.9999, "share", 2, "over 99\N{NO-BREAK SPACE}%"),
        (0.0004, "share", 2, "under 0.1\N{NO-BREAK SPACE}%"),
        (1024, "gpus", 2, "1,024\N{NO-BREAK SPACE}GPUs"),
        (1, "week", 3, "1\N{NO-BREAK SPACE}week"),
        (25.16, "us", 3, "25.2\N{NO-BREAK SPACE}µs"),
        (36_864, "gpu-hour", 5, "36,864\N{NO-BREAK SPACE}GPU-hours"),
    ],
)
def test_a_value_is_written_with_its_unit(value: float, unit: str, digits: int, text: str) -> None:
    assert write(value, unit, digits) == text


def test_other_currencies_keep_their_sign() -> None:
    assert money(1500, 2, "€") == "€1,500"
    assert write(33_894, "usd", 6, "EUR") == "€33,894"
    assert write(12, "usd", 3, "CHF") == "CHF\N{NO-BREAK SPACE}12"


@rows(
    ("unit", "currency", "text"),
    [
        ("eur", "USD", "€34.4k"),
        ("gbp", "EUR", "£34.4k"),
        ("eur/switch", "USD", "€34.4k per switch"),
        ("usd", "EUR", "€34.4k"),
    ],
)
def test_an_amount_that_its_source_states_in_another_currency_is_written_in_it(
    unit: str, currency: str, text: str
) -> None:
    assert write(34_400.0, unit, 3, currency) == text
    assert column_scale("eur", 34_400.0).head == "€k"


def test_significant_digits_and_fixed_decimals() -> None:
    assert significant(123_456, 3) == 123_000
    assert significant(0.0, 3) == 0
    assert fixed(-0.004, 2) == "0.00"
    assert fixed(-1.5, 1) == "−1.5"
    assert plain_number(1234.5, 6) == "1,234.5"


@rows(
    ("text", "written"),
    [
        (money(0.0023214, 3, "€"), "€0.0023"),
        (money(-0.0023214), "−$0.0023"),
        (money(0.00999), "$0.01"),
        (money(0.00295039157), "$0.003"),  # rounded once: not 0.00295 first
        (money(1e-9), "$0"),
        (money(-1e-9), "$0"),
        (write(0.00232, "usd/gpu-hour"), "$0.0023 per GPU-hour"),
        (plain_number(-3e-13, 2), "0"),
        (percent(-3e-13), "0\N{NO-BREAK SPACE}%"),
        (percent(-0.02), "−2\N{NO-BREAK SPACE}%"),
    ],
)
def test_what_is_small_is_not_written_as_nothing_and_nothing_has_no_sign(text: str, written: str) -> None:
    assert text == written


def test_a_column_has_one_scale_in_its_head() -> None:
    scale = column_scale("usd", 7_700_000)
    assert (scale.head, scale.by) == ("$M", 1e6)
    assert column_scale("usd", 7_700_000, "JPY").head == "JPY\N{NO-BREAK SPACE}M"
    assert column_scale("share", 0.05).head == "%"
    assert percent(1.0) == "100\N{NO-BREAK SPACE}%"


def test_a_label_inside_a_sentence_begins_small_unless_it_is_an_abbreviation() -> None:
    assert [inside(x) for x in ("Optics and cables", "GPU time lost", "NICs", "", "A")] == [
        "optics and cables",
        "GPU time lost",
        "NICs",
        "",
        "a",
    ]


def test_names_are_listed_as_a_sentence_lists_them() -> None:
    assert [listed("ABC"[:n]) for n in range(4)] == ["", "A", "A and B", "A, B and C"]


amounts = st.floats(-1e9, 1e9, allow_nan=False)
units = st.sampled_from(["usd", "day", "week", "share", "1/year", "usd/gpu-hour", "h"])


def number(p5: float, p95: float, unit: str = "usd", digits: int = 3, value: float | None = None) -> Number:
    middle = (p5 + p95) / 2 if value is None else value
    return Number("n", middle, unit, "n", "r", spread=Spread(p5, middle, p95), digits=digits)


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


@rows(
    ("share", "told"),
    [
        (0.0, "0 of 100"),
        (1e-9, "fewer than 1 of 100"),
        (0.0049, "fewer than 1 of 100"),
        (0.005, "1 of 100"),
        (0.734, "73 of 100"),
        (0.735, "74 of 100"),
        (0.9949, "99 of 100"),
        (0.995, "over 99 of 100"),
        (0.9999999, "over 99 of 100"),
        (1.0, "100 of 100"),
    ],
)
def test_a_share_is_told_of_a_hundred(share: float, told: str) -> None:
    assert of_hundred(share) == told
    assert Number("n", share, "share", "n", "r").show("of100") == told


@given(st.floats(0, 1))
def test_none_and_all_of_a_hundred_are_said_only_where_it_is_exactly_so(share: float) -> None:
    told = of_hundred(share)
    assert (told == "0 of 100") == (share == 0) and (told == "100 of 100") == (share == 1)
    assert abs(int(re.findall(r"\d+", told)[0]) / 100 - share) <= 0.01


def test_only_a_share_is_told_of_a_hundred() -> None:
    with pytest.raises(ValueError, match="n is in day"):
        Number("n", 0.5, "day", "n", "r").show("of100")
    with pytest.raises(ValueError, match="between 0 and 1"):
        of_hundred(1.2)
    with pytest.raises(ValueError, match="use range, spread"):
        Number("n", 0.5, "day", "n", "r").show("spraed")


@rows(
    ("p5", "p95", "unit", "told"),
    [
        (2.0, 9.1, "week", "2 to 9.1 weeks"),
        (84.2, 350.4, "1/year", "84 to 350 per year"),
        (1.0, 1.04, "week", "1 to 1.04 weeks"),
        (0.2, 1.0, "week", "0.2 to 1 week"),
        (-0.0097, 1.2, "day", "0 to 1.2 days"),
        (-1.2, 0.0097, "day", f"{MINUS}1.2 to 0 days"),
        (-0.3, 1.2, "day", f"{MINUS}0.3 to 1.2 days"),
        (0.0097, 1.2, "day", "0.0097 to 1.2 days"),
        (-671_234.0, 1_549_876.0, "usd", f"{MINUS}$670k to $1.55M"),
        (2.4, 3.117, "usd/gpu-hour", "$2.40 to $3.12 per GPU-hour"),
        (0.03, 0.081, "share", "3 to 8.1 %"),
        (0.98, 0.99999, "share", "98 to over 99 %"),
        (3.0001, 3.0002, "day", "3 days"),
        (5.0, 5.0, "day", "5 days"),
    ],
)
def test_a_range_says_its_unit_once_and_its_ends_on_one_scale(p5: float, p95: float, unit: str, told: str) -> None:
    assert plain(number(p5, p95, unit, digits=2 if unit == "share" else 3).show("spread")) == told


@rows(
    ("p5", "p95", "unit", "told"),
    [
        (-671_234.0, 1_549_876.0, "usd", "from $670k more to $1.55M less"),
        (200_000.0, 1_600_000.0, "usd", "from $200k to $1.6M less"),
        (-1_600_000.0, -200_000.0, "usd", "from $200k to $1.6M more"),
        (0.0, 1_600_000.0, "usd", "from $0 to $1.6M less"),
        (-5_000.0, 1_600_000.0, "usd", "from $0 to $1.6M less"),
        (-1_600_000.0, 5_000.0, "usd", "from $0 to $1.6M more"),
        (2.0, 9.1, "week", "from 2 to 9.1 weeks less"),
        (-2.0, 9.1, "week", "from 2 weeks more to 9.1 weeks less"),
        (700.0, 700.0, "usd", "$700 less"),
        (-700.0, -700.0, "usd", "$700 more"),
    ],
)
def test_a_saving_is_told_from_side_to_side(p5: float, p95: float, unit: str, told: str) -> None:
    assert plain(number(p5, p95, unit).show("sides")) == told


@given(amounts, amounts, units)
def test_words_and_not_signs_say_on_which_side_a_saving_lies(a: float, b: float, unit: str) -> None:
    low, high = sorted((a, b))
    told = number(low, high, unit).show("sides")
    assert MINUS not in told and told.count("less") + told.count("more") == told.count(" more to ") + 1
    if low >= 0 or high <= 0:
        assert " more to " not in told
    mirrored = number(-high, -low, unit).show("sides")
    if " more to " not in told and low != high and 0 not in (low, high):
        assert {told, mirrored} == {told[:-4] + "less", told[:-4] + "more"}


@given(amounts, amounts, units)
def test_a_range_is_made_of_its_ends(a: float, b: float, unit: str) -> None:
    shown = number(*sorted((a, b)), unit)
    assert shown.show("spread") == between(shown.show("low"), shown.show("high"))
    assert shown.show("spread") in shown.show("range") or a == b
    assert len(re.findall("day|week|hour|year|%", shown.show("spread"))) <= 1


@given(amounts, st.floats(1e-6, 1e6), st.integers(1, 6))
def test_rounding_moves_an_end_by_less_than_the_noise_of_its_range(low: float, width: float, digits: int) -> None:
    shown = number(low, low + width, "index", digits=digits)
    for style, end in (("low", low), ("high", low + width)):
        said = float(shown.show(style).replace(MINUS, "-").replace(",", ""))
        assert abs(said - end) <= 0.51 * max(abs(low), abs(low + width)) * 10.0 ** (1 - digits) + 0.0101 * width


def test_a_number_without_a_range_is_its_own_ends() -> None:
    alone = Number("n", -3.0, "day", "n", "r")
    assert [plain(alone.show(s)) for s in ("spread", "low", "high", "range")] == [f"{MINUS}3 days"] * 4
    assert plain(alone.show("absrange")) == "3 days"
    assert set(STYLES) == {"range", "spread", "low", "high", "sides", "turned", "abs", "absrange", "of100", "bare"}


def test_the_middle_of_a_range_is_nothing_where_it_is_below_its_noise() -> None:
    assert plain(number(-1.0, 1.2, "day", value=-0.0097).show("range")) == f"0 days (90 % range: {MINUS}1 to 1.2 days)"


def test_a_share_that_is_not_the_whole_is_not_printed_as_the_whole() -> None:
    whole, fine = Scale("%", 0.01, 0), Scale("%", 0.01, 1)
    assert [fixed_share(v, whole) for v in (1.0, 0.9999, 0.994, 0.5)] == ["100", "over 99", "99", "50"]
    assert [fixed_share(v, fine) for v in (1.0, 0.9999)] == ["100.0", "over 99.9"]
    assert write(20.0, "percentage-point", 2) == "20\N{NO-BREAK SPACE}percentage points"
    assert write(1.0, "percentage-point", 2) == "1\N{NO-BREAK SPACE}percentage point"
