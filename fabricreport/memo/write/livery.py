"""A sender's own look as the two writers need it: inks for charts, rules for the style sheet, data for Typst.

Charts are drawn in the house's inks, by name of which they are changed; so an edition's notebooks keep the house's.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from fabricreport.base.colours import GLARE, contrast, luminance, nearest, toned
from fabricreport.base.pictures import sides_px
from fabricreport.scenario.brand import APART, LINES, PAGE, WORDS, Brand, are_series

NIGHT = ("#14171d", "#1d2129", "#453a12")
"""The page in dark mode: what stands in the place of `PAGE`."""
LIGHTEST = 0.81
"""Luminance of words in dark mode; no series is lighter."""
_LOGO_MM = (70.0, 10.0)
"""Room for the logo in the margin above page one."""


@cache
def inks(accent: str, second: str) -> Mapping[str, str]:
    """A brand's ink for each of the house's; the third keeps its hue and moves away from where it is too near the two."""
    from fabricreport.blocks.theme import FIRST, SECOND, THIRD

    third = nearest(THIRD, lambda shade: are_series(accent, shade) and are_series(second, shade))
    return {FIRST: accent, SECOND: second, THIRD: third}


@cache
def night_inks(accent: str, second: str) -> Mapping[str, str]:
    """The same for dark mode, where what is darkest by day is lightest: each as near as may be to the contrast that it has by
    day, all apart from each other."""
    *pair, third = inks(accent, second).items()
    (high, bold), (low, pale) = sorted(pair, key=lambda one: luminance(one[1]))

    def stands(shade: str, *others: str) -> bool:
        return contrast(shade, NIGHT[0]) >= LINES and all(contrast(shade, ink) >= APART for ink in others)

    room = 0.9 * (LIGHTEST + GLARE) / APART
    faint = toned(pale, _by_night(pale), lambda s: stands(s) and luminance(s) + GLARE <= room)
    bright = toned(bold, _by_night(bold), lambda s: stands(s, faint) and luminance(faint) < luminance(s) <= LIGHTEST)
    return {
        high: bright,
        low: faint,
        third[0]: toned(third[1], _by_night(third[1]), lambda s: stands(s, faint, bright)),
    }


def _by_night(ink: str) -> float:
    """The luminance, with glare, at which an ink has on the dark page the contrast that it has on paper."""
    return contrast(ink, PAGE[0]) * (luminance(NIGHT[0]) + GLARE)


def night_accent(accent: str) -> str:
    """The shade of the accent in which words can be read in dark mode."""
    return nearest(accent, lambda shade: min(contrast(shade, ground) for ground in NIGHT) >= WORDS)


def inked(svg: str, brand: Brand | None) -> str:
    """A drawing in a brand's inks."""
    if brand is None or not brand.accent:
        return svg
    of = inks(brand.accent, brand.second)
    return re.sub("|".join(f'(?<=="){ink}(?=")' for ink in of), lambda found: of[found[0]], svg)


def rules(brand: Brand) -> str:
    """The style sheet's rules for the two colours, by day, on paper and at night."""
    if not brand.accent:
        return ""
    day, night = inks(brand.accent, brand.second), night_inks(brand.accent, brand.second)
    dark = _rules(night_accent(brand.accent), night)
    return f"{_rules(brand.accent, day)}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _rules(accent: str, of: Mapping[str, str]) -> str:
    drawn = (
        f'.chart [{what}="{ink}"] {{ {what}: {own}; }}\n' for ink, own in of.items() for what in ("fill", "stroke")
    )
    return f":root {{ --accent: {accent}; }}\n{''.join(drawn)}"


def address(png: bytes) -> str:
    """A picture as an address that fetches nothing."""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def hand_to_typst(brand: Brand | None, folder: Path, printable: Callable[[str], str]) -> None:
    """Write what the templates read of a brand, and its logo with the size that it is printed at."""
    stated = brand or Brand("")
    width, height = sides_px(stated.logo_png) if stated.logo_png else (1, 1)
    scale = min(_LOGO_MM[0] / width, _LOGO_MM[1] / height)
    told = {
        "name": printable(stated.name),
        "accent": stated.accent,
        "footer": printable(stated.footer),
        "logo_mm": [width * scale, height * scale] if stated.logo_png else [],
    }
    (folder / "brand.json").write_text(json.dumps(told, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    if stated.logo_png:
        (folder / "logo.png").write_bytes(stated.logo_png)
