"""Run in a copy of the project in which recipes were followed: what is found there of a client, as JSON.

`python tests/integration/recipe_run.py whole PARAMS` runs every notebook of one client; `... case PARAMS...` analyses each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from one_process import Whole, whole

import fabricreport.inputs.inputs as inputs_module
from fabricreport.blocks import theme
from fabricreport.blocks.gate import texts
from fabricreport.books.names import family_names
from fabricreport.case import open_case
from fabricreport.memo.document.pieces import gather
from fabricreport.sections.decision.tables import rules

DRAWS = 256
_BLANK = '<svg xmlns="http://www.w3.org/2000/svg" width="468pt" height="180pt" viewBox="0 0 468 180"></svg>\n'


def drawn(figure: Figure) -> dict[str, Any]:
    """The words and the colours of a picture."""
    colours: set[str] = set()
    for mark in figure.findobj(lambda artist: isinstance(artist, Line2D | Patch | Collection)):
        if isinstance(mark, Line2D):
            colours |= {to_hex(mark.get_color()), to_hex(mark.get_markerfacecolor())}
        else:
            found = mark.get_facecolor()
            colours |= {to_hex(one) for one in (found if isinstance(mark, Collection) else [found])}
    words = [text.get_text() for text in figure.findobj(Text)]
    return {"words": " | ".join(" ".join(w.split()) for w in words if w.strip()), "colours": sorted(colours)}


def memo(path: Path) -> dict[str, Any]:
    """What the memo's notebooks print and draw."""
    pictures: list[dict[str, Any]] = []

    def noted(figure: Figure) -> str:
        pictures.append(drawn(figure))
        return _BLANK

    with mock.patch.object(theme, "_rendered", noted):
        done = whole(path, draws=DRAWS)
    said = {s: printed(Whole(done.case, {s: notebook})) for s, notebook in done.notebooks.items()}
    framework = done.case.decision().framework
    return {
        "faults": done.faults,
        "said": said,
        "pictures": pictures,
        "leans_to": framework.leans_to,
        "speaks_for": [str(row.cells[2]) for row in rules(done.case.inputs, done.case.decision()).rows],
        **advice(done.case),
    }


def printed(part: Whole) -> list[str]:
    """The texts of a section."""
    return [text for piece in gather(part.memo).pieces for _, text in texts(piece.nodes)]


def advice(case: Any) -> dict[str, Any]:
    """The options compared and the one advised."""
    return {
        "options": {o.id: [o.name, family_names(o.family).phrase, str(o.side)] for o in case.options},
        "choice": case.comparison.choice,
    }


def analysed(path: str) -> dict[str, Any]:
    """What a case compares, what the switches of each option cost, and the inputs behind the bill."""
    case = open_case(path)
    bill = case.result("tco").numbers
    return {
        **advice(case),
        "switches": {o.id: bill[f"tco.bill.switches.{o.id}"].value for o in case.options},
        "behind": sorted({i for number in bill.values() for i in number.inputs}),
    }


if __name__ == "__main__":
    sort, *paths = sys.argv[1:]
    if sort == "whole":
        print(json.dumps(memo(Path(paths[0]))))
    else:
        with mock.patch.object(inputs_module, "DRAWS", 64):
            print(json.dumps([analysed(path) for path in paths]))
