"""Charts as clean SVG: known elements and attributes alone, ids of their own, no address but within the drawing.

An executed notebook is not trusted for markup, so an SVG passes an allow-list before it reaches a page.
Style attributes turn into presentation attributes: the HTML then needs no inline style in its security
policy, and the style sheet can recolour a chart for dark mode by attribute.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_DRAWING_WORDS = (
    "svg g defs path rect circle ellipse line polyline polygon text tspan clipPath use symbol marker "
    "linearGradient radialGradient stop pattern image mask"
)
_ELEMENTS = frozenset(_DRAWING_WORDS.split())
_ATTRIBUTE_WORDS = (
    "id x y x1 y1 x2 y2 cx cy r rx ry fx fy dx dy d points width height viewBox preserveAspectRatio "
    "transform gradientTransform gradientUnits patternUnits patternTransform offset rotate textLength "
    "lengthAdjust clipPathUnits maskUnits markerWidth markerHeight refX refY orient markerUnits"
)
_ATTRIBUTES = frozenset(_ATTRIBUTE_WORDS.split())
_STYLE_WORDS = (
    "fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray stroke-dashoffset "
    "stroke-linecap stroke-linejoin stroke-miterlimit opacity clip-path clip-rule mask font-family font-size "
    "font-style font-weight font-stretch font-variant text-anchor dominant-baseline letter-spacing "
    "word-spacing stop-color stop-opacity marker-start marker-mid marker-end visibility display color"
)
_STYLES = frozenset(_STYLE_WORDS.split())
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*>", re.IGNORECASE)
_LOCAL_URL = re.compile(r"url\(\s*['\"]?#([^'\")]+)['\"]?\s*\)")
_FONT = re.compile(r"^(?P<before>.*?)(?P<size>[\d.]+(?:px|pt)?)(?:/\S+)?\s+(?P<family>\S.*)$")
_LENGTH = re.compile(r"^\s*([\d.]+)\s*(pt|px|in|mm|cm)?\s*$")
_TO_PT = {"pt": 1.0, "px": 0.75, "": 0.75, "in": 72.0, "mm": 72 / 25.4, "cm": 72 / 2.54}
_PNG = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\s]+\Z")


class UnsafeDrawing(ValueError):
    """The text is no SVG, or declares entities."""


@dataclass(frozen=True)
class Drawing:
    """A clean SVG (an `<svg>` element, no prolog) and its natural size in points."""

    svg: str
    width_pt: float
    height_pt: float


def clean_svg(text: str, prefix: str) -> Drawing:
    """Keep what draws, drop everything else; every id starts with `prefix`. Raises `UnsafeDrawing`."""
    source = _DOCTYPE.sub("", text, count=1)
    if "<!DOCTYPE" in source.upper() or "<!ENTITY" in source.upper():
        raise UnsafeDrawing("the SVG declares entities")
    try:
        root = ET.fromstring(source)
    except ET.ParseError as error:
        raise UnsafeDrawing(f"the SVG cannot be parsed: {error}") from error
    if root.tag != f"{{{_SVG}}}svg":
        raise UnsafeDrawing("the drawing's outermost element is not <svg>")
    try:
        clean = _element(root, prefix, inherited=_global_style(root))
    except RecursionError as error:
        raise UnsafeDrawing("the SVG is nested too deeply") from error
    width, height = _size(clean)
    clean.set("viewBox", clean.get("viewBox") or f"0 0 {width:g} {height:g}")
    clean.set("xmlns", _SVG)
    _shorten_ids(clean, prefix)
    return Drawing(ET.tostring(clean, encoding="unicode"), width, height)


def _element(element: ET.Element, prefix: str, inherited: dict[str, str] | None = None) -> ET.Element:
    result = ET.Element(str(element.tag).removeprefix(f"{{{_SVG}}}"))
    for name, value in (inherited or {}).items():
        result.set(name, value)
    for name, value in element.attrib.items():
        if name == "style":
            for key, setting in _declarations(value):
                _set_style(result, key, setting, prefix)
        elif name in ("href", _XLINK):
            _set_link(result, value, prefix)
        elif name == "id":
            result.set("id", prefix + value)
        elif name in _STYLES:
            _set_style(result, name, value, prefix)
        elif name in _ATTRIBUTES:
            result.set(name, value)
    # Space counts only within text; elsewhere it is the drawing program's own layout.
    wordy = result.tag in ("text", "tspan")
    result.text, result.tail = element.text if wordy else None, None
    for child in element:
        if isinstance(child.tag, str) and child.tag.removeprefix(f"{{{_SVG}}}") in _ELEMENTS:
            kept = _element(child, prefix)
            kept.tail = child.tail if wordy else None
            result.append(kept)
    return result


def _shorten_ids(root: ET.Element, prefix: str) -> None:
    """Number the ids that something links to, drop the others: a page holds thousands of letters' ids."""
    linked = {name for element in root.iter() for value in element.attrib.values() for name in _linked(value)}
    short: dict[str, str] = {}
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in linked:
            element.set("id", short.setdefault(str(name), f"{prefix}{len(short)}"))
    for element in root.iter():
        for key, value in element.attrib.items():
            for name in _linked(value) if key != "id" else ():
                if name in short:
                    element.set(key, value.replace(f"#{name}", f"#{short[name]}"))


def _linked(value: str) -> list[str]:
    return [value[1:]] if value.startswith("#") else _LOCAL_URL.findall(value)


def _declarations(style: str) -> list[tuple[str, str]]:
    pairs = []
    for declaration in style.split(";"):
        key, _, value = declaration.partition(":")
        if not value.strip():
            continue
        key = key.strip().lower()
        if key == "font" and (match := _FONT.match(value.strip())):
            pairs += [("font-size", match["size"]), ("font-family", match["family"])]
            pairs += [("font-style", w) for w in match["before"].split() if w in ("italic", "oblique")]
            pairs += [("font-weight", w) for w in match["before"].split() if w == "bold" or w.isdigit()]
        else:
            pairs.append((key, value.strip()))
    return pairs


def _set_style(element: ET.Element, key: str, value: str, prefix: str) -> None:
    if key not in _STYLES:
        return
    without_links = _LOCAL_URL.sub("", value)
    if "url(" in without_links.lower() or "\\" in value or "@" in value:
        return
    value = _LOCAL_URL.sub(lambda m: f"url(#{prefix}{m[1]})", value)
    element.set(key, value.lower() if value.startswith("#") else value)


def _set_link(element: ET.Element, value: str, prefix: str) -> None:
    if value.startswith("#"):
        element.set("href", f"#{prefix}{value[1:]}")
    elif element.tag == "image" and _PNG.match(value):
        element.set("href", "".join(value.split()))


def _global_style(root: ET.Element) -> dict[str, str]:
    """The line joins and caps matplotlib sets for `*` in one rule; inherited from the root they do the same."""
    styles: dict[str, str] = {}
    for sheet in root.iter(f"{{{_SVG}}}style"):
        match = re.fullmatch(r"\s*\*\s*\{([^}]*)\}\s*", sheet.text or "")
        if match:
            styles |= {k: v for k, v in _declarations(match[1]) if k in ("stroke-linejoin", "stroke-linecap")}
    return styles


def _size(root: ET.Element) -> tuple[float, float]:
    def points(name: str) -> float | None:
        match = _LENGTH.match(root.get(name, ""))
        return float(match[1]) * _TO_PT[match[2] or ""] if match and float(match[1]) > 0 else None

    width, height = points("width"), points("height")
    if width and height:
        return width, height
    box = [float(v) for v in re.findall(r"-?[\d.]+(?:e-?\d+)?", root.get("viewBox", ""))]
    if len(box) == 4 and box[2] > 0 and box[3] > 0:
        return box[2] * 0.75, box[3] * 0.75
    raise UnsafeDrawing("the SVG has no size")
