"""The sender's own look: name, logo, colours and footer, proved fit to be read before anything is built with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricreport.base.colours import contrast, nearest
from fabricreport.base.files import read_beneath
from fabricreport.base.pictures import MOST_BYTES, MOST_PX, NotAPicture, clean_png
from fabricreport.scenario.rules import Finding

if TYPE_CHECKING:
    from fabricreport.scenario.schema import Params

PAGE = ("#ffffff", "#f3f5f7", "#fff3c4")
"""Paper, its tint, and where a link has led to: what words stand on by day."""
WORDS, LINES = 4.5, 3.0
"""Least contrast of words and of the lines of a chart to the page (WCAG 2.2, 1.4.3 and 1.4.11)."""
APART = 1.5
"""Of two inks one is half as light again as the other: they differ in grey and to the colour-blind."""


@dataclass(frozen=True)
class Brand:
    """What a document shows of its sender. The logo is a clean PNG (b'': none); colours are #rrggbb, or '' for the house's.

    `accent` is of headings, links and the first series of a chart, `second` of the second; white words can be read on `accent`.
    """

    name: str
    logo_png: bytes = b""
    accent: str = ""
    second: str = ""
    footer: str = ""


def brand_of(params: Params, folder: Path) -> Brand | None:
    """The brand that the params state, its logo read from below `folder`; None where they state none. `OSError` and
    `NotAPicture` pass."""
    stated = params.brand
    if stated is None:
        return None
    logo = clean_png(read_beneath(folder, Path(stated.logo).as_posix())) if stated.logo else b""
    inks = (stated.colours.accent.lower(), stated.colours.second.lower()) if stated.colours else ("", "")
    return Brand(stated.name, logo, *inks, stated.footer or "")


def on_all(colour: str, grounds: tuple[str, ...] = PAGE) -> float:
    """Least contrast of words of this colour to any ground of the page."""
    return min(contrast(colour, ground) for ground in grounds)


def are_series(accent: str, second: str) -> bool:
    """Whether lines of the second colour stand on paper and differ from those of the accent."""
    return contrast(second, PAGE[0]) >= LINES and contrast(accent, second) >= APART


def colour_findings(params: Params) -> Iterator[Finding]:
    """A colour that cannot be read, and two that cannot be told apart, each with the nearest of its hue that can."""
    colours = params.brand.colours if params.brand else None
    if colours is None:
        return
    accent, second = colours.accent.lower(), colours.second.lower()
    if (least := on_all(accent)) < WORDS:
        fault = "colour-too-pale", f"has a contrast of {least:.2f} to the page, where words need {WORDS:g}"
        yield _finding("accent", accent, fault, accent := nearest(accent, lambda shade: on_all(shade) >= WORDS))
    if not are_series(accent, second):
        fault = "colours-alike", "is about as light as the accent, where one has to be half as light again"
        if (pale := contrast(second, PAGE[0])) < LINES:
            fault = "colour-too-pale", f"has a contrast of {pale:.2f} to the page, where lines need {LINES:g}"
        yield _finding("second", second, fault, nearest(second, lambda shade: are_series(accent, shade)))


def _finding(key: str, colour: str, fault: tuple[str, str], good: str) -> Finding:
    path = ("brand", "colours")
    return Finding(
        fault[0], (*path, key), fault[1], colour, f'Write "{good}", the nearest of its hue that will do.', "", (path,)
    )


def logo_findings(params: Params, folder: Path) -> Iterator[Finding]:
    """What is wrong with the content of the logo's file; one that cannot be had is told of elsewhere."""
    try:
        with suppress(OSError):
            brand_of(params, folder)
    except NotAPicture as error:
        remedy = f"Save the logo as a PNG of at most {MOST_BYTES // 1000} KB and {MOST_PX:,} pixels a side."
        yield Finding("", ("brand", "logo"), str(error), params.brand and params.brand.logo, remedy)
