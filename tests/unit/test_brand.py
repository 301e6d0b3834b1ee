"""A sender's own look: colours that can be read by day and night, a logo that is its pixels alone, words shown as typed."""

from __future__ import annotations

import base64
import colorsys
import hashlib
import io
import math
import re
import struct
import zlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_markdown_cell, new_notebook
from PIL import Image, PngImagePlugin
from read_memo import pdf_objects
from rich_notebook import front_matter
from rows import rows
from scenario_cases import minimal, only, problems_of

from fabricreport.base.colours import contrast, nearest
from fabricreport.base.errors import InputError
from fabricreport.base.pictures import KEPT_PX, NotAPicture, clean_png
from fabricreport.memo.document.document import Document, document_from_notebook
from fabricreport.memo.run.snapshot import take_snapshot
from fabricreport.memo.write import pdf
from fabricreport.memo.write.html import render_html
from fabricreport.memo.write.livery import NIGHT, inked, inks, night_inks, rules
from fabricreport.scenario import Brand, Params, assumptions, brand_of, load_params, params_from
from fabricreport.scenario.brand import APART, LINES, PAGE, WORDS, colour_findings
from fabricreport.scenario.files import load_params_file
from fabricreport.sections.decision.inputs import OF_RUNS

CSS = (Path(pdf.__file__).parents[1] / "templates" / "memo.css").read_text(encoding="utf-8")
HEX = re.compile(r"#[0-9a-f]{6}")
NAME, FOOTER = '<b>Häuser & Co</b> #strong[x] "$x$" {{7*7}}', "Street 1 · <script>alert(1)</script> · =HYPERLINK(1)"
colours = st.integers(0, 0xFFFFFF).map(lambda value: f"#{value:06x}")


def named(**brand: Any) -> dict[str, Any]:
    return minimal() | {"brand": {"name": "Acme Advisory", **brand}}


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def raw_png(width: int, height: int, pixels: bytes, *, bits: int = 8, kind: int = 2, more: bytes = b"") -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + more + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b"")


def png(picture: Image.Image, **how: Any) -> bytes:
    written = io.BytesIO()
    picture.save(written, "PNG", **how)
    return written.getvalue()


def sides_px(data: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(data)).size


def kinds(data: bytes) -> set[bytes]:
    """The kinds of the chunks of a PNG file."""
    found, at = set(), 8
    while at < len(data):
        found.add(data[at + 4 : at + 8])
        at += 12 + struct.unpack(">I", data[at : at + 4])[0]
    return found


# --- colours -----------------------------------------------------------------------------------------------


@rows(
    ("one", "other", "told"),
    [
        ("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.478), ("#767676", "#ffffff", 4.542), ("#ff0000", "#ffffff", 3.998),
        ("#0000ff", "#ffffff", 8.592), ("#FFFF00", "#000000", 19.556), ("#abcdef", "#abcdef", 1.0),
    ],
)  # fmt: skip
def test_contrast_is_that_of_wcag(one: str, other: str, told: float) -> None:
    assert contrast(one, other) == contrast(other, one) == pytest.approx(told, abs=0.001)


def test_the_nearest_shade_keeps_its_hue_and_moves_no_further_than_it_must() -> None:
    red, grey = (nearest(c, lambda s: contrast(s, "#ffffff") >= WORDS) for c in ("#ff0000", "#ffffff"))
    assert red[3:] == "0000" and 4.5 <= contrast(red, "#ffffff") < 4.6
    assert len({grey[1:3], grey[3:5], grey[5:]}) == 1 and 4.5 <= contrast(grey, "#ffffff") < 5.1
    assert nearest("#14466b", lambda s: False) == "#14466b"


def saturation(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return max(parts) - min(parts)


def hue(colour: str) -> float:
    """As a share of the circle, in a space that shades are not taken in."""
    return colorsys.rgb_to_hsv(*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)))[0]


def findings(accent: str, second: str) -> list[Any]:
    stated = SimpleNamespace(brand=SimpleNamespace(colours=SimpleNamespace(accent=accent, second=second)))
    return list(colour_findings(cast(Params, stated)))


@given(colours, colours)
@settings(max_examples=25, deadline=None)
def test_colours_that_are_proposed_are_taken_keep_their_hue_and_can_be_read_by_night_too(one: str, other: str) -> None:
    pair = {"accent": one, "second": other}
    for found in findings(one, other):
        (proposed,) = HEX.findall(found.remedy)
        if min(saturation(found.value), saturation(proposed)) > 0.3:
            assert abs(math.remainder(hue(found.value) - hue(proposed), 1.0)) < 0.08
        pair[found.path[-1]] = proposed
    assert findings(*pair.values()) == []
    day, night = (list(of(*pair.values()).values()) for of in (inks, night_inks))
    assert min(contrast(ink, PAGE[0]) for ink in day) >= LINES and min(contrast(i, NIGHT[0]) for i in night) >= LINES
    for first, second, third in (day, night):
        assert min(contrast(first, second), contrast(first, third), contrast(second, third)) >= APART
    by_day, by_night = re.findall(r"--accent: (#\w+)", rules(Brand("A", b"", pair["accent"], pair["second"])))
    assert by_day == pair["accent"] and min(contrast(by_night, ground) for ground in NIGHT) >= WORDS


def test_the_grounds_are_those_of_the_style_sheet() -> None:
    by_day, by_night = (re.findall(rf"--{name}: (#\w+)", CSS)[:2] for name in ("paper", "tint", "target")), NIGHT
    assert list(zip(PAGE, by_night, strict=True)) == [tuple(found) for found in by_day]


def test_a_bad_colour_is_refused_with_its_place_and_the_nearest_good_one(tmp_path: Path) -> None:
    path = tmp_path / "acme.yaml"
    text = "client: {name: Acme}\nas_of: 2026-11-20\ncluster: {gpus: 64}\nworkload: {kind: fine-tuning}\n"
    text += "organisation: {networking_maturity: medium}\nmoney: {acquisition: buy}\nbrand:\n  name: A\n  colours:\n"
    path.write_text(f'{text}    accent: "#ffcc00"\n    second: "#886b00"\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_params(path)
    pale, alike = caught.value.problems
    assert (pale.file, pale.line, pale.key, pale.value) == (str(path), 10, "brand.colours.accent", "#ffcc00")
    assert (alike.line, alike.key, alike.value) == (11, "brand.colours.second", "#886b00")
    accent, second = (HEX.findall(problem.remedy)[0] for problem in (pale, alike))
    path.write_text(f'{text}    accent: "{accent}"\n    second: "{second}"\n', encoding="utf-8")
    assert brand_of(load_params(path), tmp_path) == Brand("A", accent=accent, second=second)


@rows(
    ("brand", "key"),
    [
        ({"colours": {"accent": None, "second": "#b84c00"}}, "colours.accent"), ({"colours": {"accent": "#14466b"}}, "colours.second"),
        ({"colours": {"accent": "red;}", "second": "#b84c00"}}, "colours.accent"), ({"colours": "#14466b"}, "colours"),
        ({"name": "a\u202eb"}, "name"), ({"name": "a\nb"}, "name"), ({"name": "x" * 61}, "name"), ({"name": " "}, "name"),
        ({"footer": "a\x1b[31mb"}, "footer"), ({"footer": "x" * 101}, "footer"), ({"logo": "../logo.png"}, "logo"),
        ({"logo": "/logo.png"}, "logo"), ({"font": "a.ttf"}, "font"),
    ],
)  # fmt: skip
def test_what_no_brand_may_hold_is_told_at_its_key(brand: dict[str, Any], key: str) -> None:
    assert only(named(**brand)).key == f"brand.{key}"


# --- the logo ----------------------------------------------------------------------------------------------


def test_a_logo_is_written_anew_without_what_rode_along() -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", "secret")
    exif = Image.Exif()
    exif[0x13B] = "secret"
    red, blue = (Image.new("RGB", (12, 9), ink) for ink in ("red", "blue"))
    data = png(red, pnginfo=info, exif=exif, icc_profile=b"secret", save_all=True, append_images=[blue])
    clean = clean_png(data + b"PK\x03\x04 secret <script>")
    assert kinds(clean) == {b"IHDR", b"IDAT", b"IEND"} and b"secret" not in clean and sides_px(clean) == (12, 9)
    assert clean == clean_png.__wrapped__(clean) == clean_png(data), "the same pixels, the same bytes"
    assert Image.open(io.BytesIO(clean)).getpixel((0, 0)) == (255, 0, 0, 255)


def test_deep_grey_and_a_palette_with_a_hole_keep_their_looks_and_a_large_one_is_made_small() -> None:
    def pixel(data: bytes) -> Any:
        return Image.open(io.BytesIO(clean_png(data))).getpixel((0, 0))

    assert pixel(raw_png(1, 1, b"\0\x80\x80", bits=16, kind=0)) == (128, 128, 128, 255)
    assert pixel(raw_png(1, 1, b"\0" + struct.pack(">4H", 65535, 32896, 0, 32896), bits=16, kind=6)) == (
        255,
        128,
        0,
        128,
    )
    palette = Image.new("P", (2, 2))
    palette.putpalette([255, 0, 0, 0, 255, 0])
    assert pixel(png(palette, transparency=0))[3] == 0 and pixel(png(palette)) == (255, 0, 0, 255)
    assert sides_px(clean_png(png(Image.new("1", (3000, 300))))) == (KEPT_PX, 120)


def test_a_bomb_of_pixels_is_not_unpacked() -> None:
    packed = zlib.compressobj(9)
    flood = b"".join(packed.compress(bytes(1 << 20)) for _ in range(64)) + packed.flush()
    end = chunk(b"IDAT", flood) + chunk(b"IEND", b"")
    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
    assert sides_px(clean_png(head + end)) == (4, 4)


@rows(
    "data",
    [
        b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\xff\xd8\xff\xe0 JFIF" + bytes(50), b"GIF89a" + bytes(50), b"%PDF-1.7",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", raw_png(4, 4, b"")[:60], raw_png(0, 4, b""), raw_png(100_000, 100_000, bytes(100)),
        raw_png(4, 4001, bytes(100)), raw_png(400, 400, bytes(100)), raw_png(1, 1, bytes(4), more=chunk(b"iCCP", b"a")) [:-20],
        raw_png(1, 1, bytes(4), more=chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(1 << 24)))),
    ],
)  # fmt: skip
def test_what_is_no_small_png_is_refused(data: bytes) -> None:
    with pytest.raises(NotAPicture):
        clean_png.__wrapped__(data)


@cache
def logo() -> bytes:
    return clean_png(png(Image.new("RGBA", (300, 100), (20, 70, 107, 128))))


def test_a_logo_is_an_input_by_its_bytes_and_its_faults_are_told_at_its_line(tmp_path: Path) -> None:
    data = named(logo="art/logo.png")
    (tmp_path / "art").mkdir()
    at = tmp_path / "art" / "logo.png"
    assert "does not exist" in problems_of(data, tmp_path)[0].message
    for content in (b"<svg/>", png(Image.effect_noise((900, 900), 100))):
        at.write_bytes(content)
        (problem,) = problems_of(data, tmp_path)
        assert (problem.key, problem.value, problem.line) == (
            "brand.logo",
            "art/logo.png",
            14,
        ) and "PNG" in problem.remedy
    at.unlink()
    at.symlink_to(tmp_path / "elsewhere.png")
    (tmp_path / "elsewhere.png").write_bytes(logo())
    assert "symbolic link" in problems_of(data, tmp_path)[0].message
    at.unlink()
    found = []
    for number, content in enumerate((logo(), logo() + b"more")):
        at.write_bytes(content)
        loaded = load_params_file(tmp_path / "params.yaml")
        frozen = take_snapshot(loaded.params, loaded.path, tmp_path / f"frozen-{number}")
        assert brand_of(load_params(frozen.params_json), frozen.folder) == Brand("Acme Advisory", logo())
        found.append((frozen.params_sha256, frozen.hashes["art/logo.png"]))
    assert found[0][0] == found[1][0] and found[0][1] != found[1][1]


# --- the documents -----------------------------------------------------------------------------------------

LOOK = Brand(NAME, b"", "#7a0019", "#cc5500", FOOTER)


@cache
def plain() -> Document:
    """A memo of two pages."""
    text = "# Which network\n\n" + "All that is said of it. " * 40
    notebook = new_notebook(cells=[new_markdown_cell(text * 8)])  # type: ignore[no-untyped-call]
    notebook.metadata["fabricreport"] = front_matter()
    return document_from_notebook(notebook)


def branded(**changes: Any) -> Document:
    return replace(plain(), front=replace(plain().front, brand=replace(LOOK, logo_png=logo(), **changes)))


def test_the_page_shows_the_sender_as_typed_and_fetches_nothing() -> None:
    page, without = render_html(branded()), render_html(plain())
    style = re.findall(r"<style>(.*?)</style>", page, re.S)[0]
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in page, "the policy knows the style"
    assert (
        "&lt;b&gt;Häuser &amp; Co&lt;/b&gt; #strong[x] &#34;$x$&#34; {{7*7}}</span>" in page
        and 'alt=""> <span>' in page
        and NAME not in page
    )
    assert "· &lt;script&gt;alert(1)&lt;/script&gt; ·" in page and "<script>alert" not in page
    assert page.count("data:image/png;base64," + base64.b64encode(logo()).decode()) == 1
    assert "--accent: #7a0019" in style and 'brand"' not in without and CSS in style
    assert not re.search(r"Häuser|7a0019|cc5500", without)


def test_charts_are_in_the_brand_s_inks_each_where_it_was_the_house_s() -> None:
    svg = '<path fill="#0b4f8a"/><path stroke="#b84c00" fill="#1f2430"/><path fill="#32a17f"/><text>#0b4f8a</text>'
    third = inks("#b84c00", "#0b4f8a")["#32a17f"]
    swapped = replace(LOOK, accent="#b84c00", second="#0b4f8a")
    wanted = f'<path fill="#b84c00"/><path stroke="#0b4f8a" fill="#1f2430"/><path fill="{third}"/><text>#0b4f8a</text>'
    assert inked(svg, swapped) == wanted and inked(svg, None) == inked(svg, replace(LOOK, accent="", second="")) == svg


def test_the_pdf_shows_the_sender_as_typed_its_logo_has_a_name_and_page_one_holds_as_much() -> None:
    made, without = (pypdf.PdfReader(io.BytesIO(pdf.printed(document).pdf)) for document in (branded(), plain()))
    first, second = (re.sub(r"\s+", " ", page.extract_text()) for page in made.pages)
    assert NAME in first and FOOTER in first and FOOTER in second and NAME not in second
    alts = [[o["/Alt"] for o in pdf_objects(of) if isinstance(o, dict) and "/Alt" in o] for of in (made, without)]
    assert alts == [[NAME], []]
    assert [page.extract_text().count("All that") for page in made.pages] == [
        page.extract_text().count("All that") for page in without.pages
    ]


def test_a_notebook_s_own_file_can_state_no_brand_and_one_in_part_is_nothing_assumed() -> None:
    notebook = new_notebook()  # type: ignore[no-untyped-call]
    notebook.metadata["fabricreport"] = front_matter() | {
        "brand": {"name": "x", "accent": "red;} body {}", "logo_png": "x"}
    }
    assert document_from_notebook(notebook).front.brand is None
    silent = [one for one in assumptions(params_from(named())) if one.key.startswith("brand")]
    assert {one.key for one in silent} == {"brand.logo", "brand.colours", "brand.footer"} <= set(OF_RUNS)
    assert params_from(minimal()).brand is None and brand_of(params_from(minimal()), Path()) is None
