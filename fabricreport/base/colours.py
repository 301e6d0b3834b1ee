"""Colours, written #rrggbb: how light one is, how well it stands out, and shades of its hue.

Luminance and contrast are those of WCAG 2.2; shades are taken in OKLab (B. Ottosson, 2020), where equal distances look equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

Triple = tuple[float, float, float]
GLARE = 0.05
"""Luminance of stray light that WCAG adds to both colours."""
_STEPS, _HALVINGS = 250, 10
_TO_LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_TO_LAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
_FROM_LAB = ((1, 0.3963377774, 0.2158037573), (1, -0.1055613458, -0.0638541728), (1, -0.0894841775, -1.2914855480))
_FROM_LMS = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


def _times(rows: tuple[Triple, Triple, Triple], of: Triple) -> Triple:
    red, green, blue = (sum(a * b for a, b in zip(row, of, strict=True)) for row in rows)
    return red, green, blue


def _linear(colour: str) -> Triple:
    """Linear red, green and blue from 0 to 1."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return red, green, blue


def _written(linear: Triple) -> str:
    kept = (min(max(v, 0.0), 1.0) for v in linear)
    return "#" + "".join(
        f"{round(255 * (12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055)):02x}" for v in kept
    )


@lru_cache(maxsize=4096)
def luminance(colour: str) -> float:
    """Relative luminance: 0 of black, 1 of white."""
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 (as light as each other) to 21 (black and white)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + GLARE) / (dark + GLARE)


def _lab(colour: str) -> Triple:
    long, middle, short = _times(_TO_LMS, _linear(colour))
    return _times(_TO_LAB, (math.cbrt(long), math.cbrt(middle), math.cbrt(short)))


def _of_lab(lab: Triple) -> Triple:
    long, middle, short = _times(_FROM_LAB, lab)
    return _times(_FROM_LMS, (long**3, middle**3, short**3))


@lru_cache(maxsize=16)
def shades(colour: str) -> tuple[str, ...]:
    """From black to white in even steps of lightness: its hue and, as far as sRGB has it, its chroma."""
    _, a, b = _lab(colour)
    return tuple(_shade(step / _STEPS, a, b) for step in range(_STEPS + 1))


def _shade(light: float, a: float, b: float) -> str:
    """The shade of this lightness with the most of the chroma that sRGB has there."""
    held, most = 0.0, 2.0
    for _ in range(_HALVINGS):
        share = (held + most) / 2
        if all(-0.001 <= v <= 1.001 for v in _of_lab((light, a * share, b * share))):
            held = share
        else:
            most = share
        if held == 1.0:
            break
    return _written(_of_lab((light, a * held, b * held)))


def nearest(colour: str, good: Callable[[str], bool]) -> str:
    """The shade least far from it that is good; where none is, the colour itself."""
    lab = _lab(colour)
    return min(filter(good, shades(colour)), key=lambda shade: math.dist(lab, _lab(shade)), default=colour)


def toned(colour: str, light: float, good: Callable[[str], bool]) -> str:
    """The good shade whose luminance, with `GLARE`, comes nearest to this one; the colour itself where none is good."""
    return min(
        filter(good, shades(colour)),
        key=lambda shade: abs(math.log((luminance(shade) + GLARE) / light)),
        default=colour,
    )
