"""Charts can be read in grey, by the colour-blind, in dark mode, on paper and on a phone, in the face of the document."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fabricreport.blocks import theme

INKS = {"ink": theme.INK, "first": theme.FIRST, "second": theme.SECOND, "third": theme.THIRD}
CSS = (Path(theme.__file__).parents[1] / "memo" / "templates" / "memo.css").read_text(encoding="utf-8")
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE_XYZ = np.array([0.9505, 1.0, 1.089])
SEEN = {
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
"""What is seen of linear red, green and blue, after Machado, Oliveira and Fernandes (2009)."""
TOLD_APART = 25.0
"""A distance in CIE Lab at which two marks are surely told apart; a just noticeable one is about 2.3."""
PHONE_PX, REM_PX = 11.0, 16.0


def linear(colour: str) -> NDArray[np.float64]:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    dark, light = sorted(float(LUMINANCE @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(light: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in TO_XYZ @ np.clip(light, 0, 1) / WHITE_XYZ
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def dark(colour: str) -> str:
    """What the style sheet makes of an ink in dark mode: its own rule, or its variable's value there."""
    if own := re.search(rf'\[fill="{colour}"\] {{ fill: (#[0-9a-f]{{6}}); }}', CSS):
        return own[1]
    named = re.search(rf'\[fill="{colour}"\][^{{]*{{ fill: var\(--([a-z]+)\)', CSS)
    assert named, f"{colour} is not named in the style sheet"
    return re.findall(rf"--{named[1]}: (#[0-9a-f]{{6}})", CSS)[1]


def test_inks_stand_on_white_and_on_the_dark_page() -> None:
    assert all(contrast(colour, "#ffffff") >= 3 for colour in INKS.values())
    assert all(contrast(dark(colour), dark("#ffffff")) >= 3 for colour in INKS.values())


def test_any_two_inks_differ_in_grey_and_to_the_colour_blind() -> None:
    night = [dark(colour) for colour in INKS.values()]
    for one, other in [*combinations(INKS.values(), 2), *combinations(night, 2)]:
        assert contrast(one, other) >= 1.5, (one, other)
        for seen in SEEN.values():
            assert np.linalg.norm(lab(seen @ linear(one)) - lab(seen @ linear(other))) >= TOLD_APART, (one, other)


def test_a_chart_is_set_in_the_face_of_the_document_and_other_scripts_in_the_one_beside_it() -> None:
    def letters(text: str) -> set[str]:
        with theme.canvas(1.0) as (figure, (axis,)):
            axis.set_axis_off()
            axis.text(0.5, 0.5, text)
            return set(re.findall(r'href="#(\w+)-[\w-]+"', theme.svg(figure, "fig-words")))

    assert letters("InfiniBand costs €76k – ½ more") == {"LibertinusSerif"}
    assert letters("Сеть") == {"LibertinusSerif"} and letters("شبكة") == {"DejaVuSans"}


def test_letters_are_large_enough_on_paper_and_on_a_phone() -> None:
    least = re.search(r"figure \.chart {[^}]*min-width: ([\d.]+)rem", CSS)
    assert least
    on_screen = float(least[1]) * REM_PX / (theme.WIDTH_IN * 72)
    assert theme.SMALL_PT >= 7.5 and theme.SMALL_PT * on_screen >= PHONE_PX
    with theme.canvas(1.0) as (figure, (axis,)):
        axis.set_xlabel("words")
        drawn = {float(size) * 100 for size in re.findall(r"scale\((0\.\d+) -", theme.svg(figure, "fig-words"))}
    assert drawn and min(drawn) == pytest.approx(theme.FONT_PT)
