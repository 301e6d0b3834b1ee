"""A picture that somebody hands in, decoded and written anew: nothing but its pixels reaches a page."""

from __future__ import annotations

import io
import struct
from functools import lru_cache

MOST_BYTES, MOST_PX = 500_000, 4_000
"""Of the file, and of a side: both are looked at before anything is unpacked."""
KEPT_PX = 1_200
"""Of the longer side as it is written: what prints 100 mm wide at 300 dots per inch."""
_HEAD = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


class NotAPicture(ValueError):
    """What is wrong with it, to be said of the file."""


@lru_cache(maxsize=2)
def clean_png(data: bytes) -> bytes:
    """The still picture of a PNG file as red, green, blue and alpha of 8 bits, without any text, profile or later frame.

    Raises `NotAPicture`.
    """
    if len(data) > MOST_BYTES:
        raise NotAPicture(f"is larger than {MOST_BYTES // 1000} KB")
    if not data.startswith(_HEAD) or len(data) < len(_HEAD) + 8:
        raise NotAPicture("is no PNG")
    width, height = struct.unpack(">II", data[len(_HEAD) : len(_HEAD) + 8])
    if not (0 < width <= MOST_PX and 0 < height <= MOST_PX):
        raise NotAPicture(f"has {width:,} × {height:,} pixels")
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as found:
            deep = found.mode.startswith("I")  # 16 bits of grey, which Pillow would cut off at 255
            shown = (found.point(lambda v: v / 257).convert("L") if deep else found).convert("RGBA")
    except Exception as error:  # whatever a decoder meets in a file of a stranger
        raise NotAPicture("cannot be decoded as PNG") from error
    shown.thumbnail((KEPT_PX, KEPT_PX))
    shown.info = {}
    written = io.BytesIO()
    shown.save(written, "PNG", optimize=True)
    return written.getvalue()
