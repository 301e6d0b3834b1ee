"""A slim chart draws what the full one draws."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from fabricreport.blocks.slim import slim
from fabricreport.theme import canvas, svg

RAW = (
    '<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" viewBox="0 0 72 36">\n <metadata>x</metadata>\n <defs>\n </defs>\n'
    ' <!-- Option 1 -->\n <g id="axes_1">\n  <path id="p1" d="M 0 0.123456 \nL -0.001 18.999 \nz\n" clip-path="url(#c1)"/>\n'
    '  <g transform="translate(1.23456 7.5) scale(0.085 -0.085)"><use xlink:href="#p1" transform="translate(63.671875 0)"/></g>\n'
    '  <use xlink:href="#p1" x="12.345678" y="3"/>\n </g>\n <clipPath id="c1"><rect x="0.5" y="1.005001" width="9" height="9"/></clipPath>\n</svg>'
)


def test_coordinates_are_short_and_nothing_stands_between_tags() -> None:
    text = slim(RAW, "fig-a")
    assert 'd="M0 0.12L0 19z"' in text
    assert "translate(1.23 7.5) scale(0.085 -0.085)" in text
    assert '<use xlink:href="#fig-a.0" x="64"/>' in text
    assert 'x="12.35" y="3"' in text
    assert not re.search(r">\s+<", text)
    assert "metadata" not in text and "Option" not in text and "<defs" not in text


def test_only_ids_that_are_linked_to_are_kept_and_they_carry_the_charts_name() -> None:
    text = slim(RAW, "fig-a")
    assert re.findall(r'\bid="([^"]+)"', text) == ["fig-a.0", "fig-a.1"]
    assert 'clip-path="url(#fig-a.1)"' in text
    ET.fromstring(text)


def test_a_chart_keeps_its_size_its_paths_and_its_bytes() -> None:
    def draw() -> str:
        with canvas(2.0) as (figure, (axis,)):
            axis.plot([1, 2, 3], [1.0, 4.0, 2.5])
            return svg(figure, "Fig B")

    text = draw()
    assert text == draw()
    root = ET.fromstring(text)
    assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(468, abs=1)
    ids = set(re.findall(r'\bid="([^"]+)"', text))
    links = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    assert links == ids
    assert all(name.startswith("fig-b.") for name in ids)
