"""Page one of the example's memo as the picture that README shows: `python tests/picture.py MEMO.pdf`, as `make picture` does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PIL import Image

PICTURE = Path(__file__).parents[1] / "notebooks" / "page-one.png"
DOTS_PER_INCH, COLOURS = 100, 64


def main(memo: Path) -> None:
    """Set the page by poppler's `pdftoppm`, and keep it in few colours: a third of the bytes, and nobody sees it."""
    pdftoppm = ("pdftoppm", "-png", "-singlefile", "-r", str(DOTS_PER_INCH), "-f", "1", "-l", "1")
    subprocess.run([*pdftoppm, memo, PICTURE.with_suffix("")], check=True)
    with Image.open(PICTURE) as page:
        few = page.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
