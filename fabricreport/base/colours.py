"""Colours, written #rrggbb: how well one stands out (WCAG 2.2), and shades of its hue in OKLab (B. Ottosson, 2020)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

_STEPS = 200
_TO_LMS = ((0.412221, 0.536333, 0.051446), (0.211903, 0.680700, 0.107397), (0.088302, 0.281719, 0.629979))
_TO_LAB = ((0.210454, 0.793618, -0.004072), (1.977998, -2.428592, 0.450594), (0.025904, 0.782772, -0.808676))
_FROM_LAB = ((1, 0.396338, 0.215804), (1, -0.105561, -0.063854), (1, -0.089484, -1.291486))
_FROM_LMS = ((4.076742, -3.307712, 0.230970), (-1.268438, 2.609757, -0.341319), (-0.004196, -0.703419, 1.707615))


def _times(rows: Iterable[Iterable[float]], of: Iterable[float]) -> list[float]:
    found = list(of)
    return [sum(a * b for a, b in zip(row, found, strict=True)) for row in rows]


def _linear(colour: str) -> list[float]:
    """Linear red, green and blue from 0 to 1."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def _written(lab: Iterable[float]) -> str:
    linear = (min(max(v, 0.0), 1.0) for v in _times(_FROM_LMS, (v**3 for v in _times(_FROM_LAB, lab))))
    parts = (12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055 for v in linear)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


@lru_cache(maxsize=4096)
def _luminance(colour: str) -> float:
    return _times([(0.2126, 0.7152, 0.0722)], _linear(colour))[0]


def contrast(one: str, other: str) -> float:
    """From 1 (as light as each other) to 21 (black and white)."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@lru_cache(maxsize=16)
def shades(colour: str) -> tuple[str, ...]:
    """Its hue from black to white, the nearest to it first."""
    lab = _times(_TO_LAB, map(math.cbrt, _times(_TO_LMS, _linear(colour))))
    ways = [(step / _STEPS, end) for end in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)) for step in range(_STEPS + 1)]
    ways.sort(key=lambda way: way[0] * math.dist(lab, way[1]))
    return tuple(_written(a + share * (b - a) for a, b in zip(lab, end, strict=True)) for share, end in ways)


def nearest(colour: str, good: Callable[[str], bool]) -> str:
    """The nearest shade of a colour that is good; the colour itself where none is."""
    return next(filter(good, shades(colour)), colour)
