"""The sender's own look: name, logo, colours and footer, proved fit to be read before anything is built with them."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
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
_AT = ("brand", "colours")


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
    logo = clean_png(read_beneath(folder, _clean(stated.logo), limit_bytes=MOST_BYTES)) if stated.logo else b""
    inks = (stated.colours.accent.lower(), stated.colours.second.lower()) if stated.colours else ("", "")
    return Brand(stated.name, logo, *inks, stated.footer or "")


def _clean(path: str) -> str:
    return Path(path).as_posix()


def is_word(colour: str) -> bool:
    """Whether words of this colour can be read on every ground of the page."""
    return min(contrast(colour, ground) for ground in PAGE) >= WORDS


def are_series(accent: str, second: str) -> bool:
    """Whether lines of the second colour stand on paper and differ from those of the accent."""
    return contrast(second, PAGE[0]) >= LINES and contrast(accent, second) >= APART


def colour_findings(params: Params) -> Iterator[Finding]:
    """A colour that cannot be read, and two that cannot be told apart, each with the nearest of its hue that can."""
    colours = params.brand.colours if params.brand else None
    if colours is None:
        return
    accent, second = colours.accent.lower(), colours.second.lower()
    if not is_word(accent):
        least = min(contrast(accent, ground) for ground in PAGE)
        message = f"has a contrast of {least:.2f} to the page, where words need {WORDS:g}"
        yield _finding("colour-too-pale", "accent", message, accent, is_word)
        accent = nearest(accent, is_word)
    if not are_series(accent, second):
        pale = contrast(second, PAGE[0])
        rule, message = "colours-alike", "is about as light as the accent, where one has to be half as light again"
        if pale < LINES:
            rule, message = "colour-too-pale", f"has a contrast of {pale:.2f} to the page, where lines need {LINES:g}"
        yield _finding(rule, "second", message, second, lambda shade: are_series(accent, shade))


def _finding(rule: str, key: str, message: str, colour: str, good: Callable[[str], bool]) -> Finding:
    remedy = f'Write "{nearest(colour, good)}", the nearest of its hue that will do.'
    return Finding(rule, (*_AT, key), message, colour, remedy, uses=(_AT,))


def logo_findings(params: Params, folder: Path) -> Iterator[Finding]:
    """What is wrong with the content of the logo's file; one that is not there is told of elsewhere."""
    stated = params.brand.logo if params.brand else None
    try:
        brand_of(params, folder)
    except OSError as error:
        if error.errno != errno.EFBIG:
            return
        message = f"is larger than {MOST_BYTES // 1000} KB"
    except NotAPicture as error:
        message = str(error)
    else:
        return
    remedy = f"Save the logo as a PNG of at most {MOST_BYTES // 1000} KB and {MOST_PX:,} pixels a side."
    yield Finding("", ("brand", "logo"), message, stated or "", remedy)
