"""Numbers are rounded to what is known and carry their unit."""

import pytest

from fabricreport.formats import column_scale, fixed, inside, listed, money, percent, plain_number, significant, write


@pytest.mark.parametrize(
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
    assert money(1500, 2, "€") == "€1.5k"
    assert write(33_894, "usd", 6, "EUR") == "€33,894"
    assert write(12, "usd", 3, "CHF") == "CHF\N{NO-BREAK SPACE}12"


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (money(0.0023214, 3, "€"), "€0.0023"),
        (money(-0.0023214), "−$0.0023"),
        (money(0.00999), "$0.01"),
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
