"""A sender's own look as the two writers need it: inks for charts, rules for the style sheet, data for Typst.

Charts are drawn in the house's inks, by name of which they are changed; so an edition's notebooks keep the house's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from fabricreport.base.colours import contrast, nearest
from fabricreport.scenario.brand import APART, LINES, PAGE, WORDS, Brand, are_series, on_all

NIGHT = ("#14171d", "#1d2129", "#453a12")
"""The page in dark mode: what stands in the place of `PAGE`."""
_MOST, _ROOM = 9.8, 1.03
"""Contrast of a series to the dark page, where words are half as light again; and how far shades may miss a mark."""
_AT_NIGHT = "@media screen and (prefers-color-scheme: dark)"


@cache
def inks(accent: str, second: str) -> Mapping[str, str]:
    """A brand's ink for each of the house's; the third keeps its hue and moves away from where it is too near the two."""
    from fabricreport.blocks.theme import FIRST, SECOND, THIRD

    third = nearest(THIRD, lambda shade: are_series(accent, shade) and are_series(second, shade))
    return {FIRST: accent, SECOND: second, THIRD: third}


@cache
def night_inks(accent: str, second: str) -> Mapping[str, str]:
    """The same for dark mode, where of the two the darker by day is the lighter, with the contrast to the page that it has by
    day as far as that leaves room; the third goes where the two leave some."""
    *pair, (last, third) = inks(accent, second).items()
    (high, bold), (low, pale) = sorted(pair, key=lambda one: -contrast(one[1], PAGE[0]))

    def stands(shade: str, least: float, *others: str) -> bool:
        return contrast(shade, NIGHT[0]) >= least and all(contrast(shade, ink) >= APART for ink in others)

    faint = nearest(pale, lambda s: stands(s, _ROOM * APART * LINES))
    least = max(APART * contrast(faint, NIGHT[0]), min(contrast(bold, PAGE[0]), _MOST))
    bright = nearest(bold, lambda s: stands(s, least, faint))
    return {high: bright, low: faint, last: nearest(third, lambda s: stands(s, LINES, faint, bright))}


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
    of = brand.accent, brand.second
    words = nearest(brand.accent, lambda shade: on_all(shade, NIGHT) >= WORDS)
    return f"{_rules(of[0], inks(*of))}{_AT_NIGHT} {{\n{_rules(words, night_inks(*of))}}}\n"


def _rules(accent: str, of: Mapping[str, str]) -> str:
    # No ancestor is named: what `use` repeats has none. Named twice, the attribute outweighs the house's own rules.
    drawn = [f'[{k}="{ink}"][{k}] {{ {k}: {own}; }}\n' for ink, own in of.items() for k in ("fill", "stroke")]
    return f":root {{ --accent: {accent}; }}\n{''.join(drawn)}"


def hand_to_typst(brand: Brand | None, folder: Path, printable: Callable[[str], str]) -> None:
    """Write what the templates read of a brand."""
    stated = brand or Brand("")
    words = {"name": printable(stated.name), "footer": printable(stated.footer), "accent": stated.accent}
    told = json.dumps(words | {"logo": bool(stated.logo_png)}, ensure_ascii=False, allow_nan=False)
    (folder / "brand.json").write_text(told, encoding="utf-8")
    if stated.logo_png:
        (folder / "logo.png").write_bytes(stated.logo_png)
