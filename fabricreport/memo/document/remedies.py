"""How an analyst gives what a block lacks, in the words of every message that asks for it."""

from __future__ import annotations

from collections.abc import Mapping

CAPTION_REMEDY = (
    'A DataFrame as last value takes {"caption": "…"} from the cell\'s metadata, a %%table cell a line '
    "`caption: …`, a Markdown table a paragraph `Table: …` under it."
)
_IMAGE_ALT = (
    'A figure that a code cell shows takes {"alt": "…"} from the cell\'s metadata, a %%chart cell a line '
    "`alt: …`, a Markdown image the words in ![…]."
)
ALT_REMEDY: Mapping[str, str] = {
    "image": _IMAGE_ALT,
    "figure": "Give its %%chart cell a line `alt: …`.",
    "formula": "Give it to body.formula(svg, tex, alt).",
}
PICTURE_REMEDY = (
    "attach it to the cell or draw it in a code cell; a PNG below the notebooks folder (no link, at most 5 MB) is "
    "embedded by itself."
)
