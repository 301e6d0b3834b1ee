"""The memo as one self-contained HTML page: it fetches nothing, works without scripts, and defends itself."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from fabricreport.base.project import FONTS
from fabricreport.base.text import csv_text
from fabricreport.blocks.forms import EMPTY, HtmlWriter, called
from fabricreport.blocks.nodes import DataTable, Figure, Flow, Heading, Scalar
from fabricreport.ledger.bases import CONVENTION
from fabricreport.ledger.facts import capital
from fabricreport.memo.document.derivations import KINDS, Step, grouped_inputs, short_steps
from fabricreport.memo.document.document import Document
from fabricreport.memo.document.layout import table_rows
from fabricreport.memo.document.numbering import ContentsLine
from fabricreport.memo.document.safety import slug
from fabricreport.memo.write import livery

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,2}\Z")
MOST_NAMED = 6
"""A number made of more inputs than that names them by their codes."""
MOST_DATA_ROWS = 12
"""Of longer data a figure shows the file alone: nobody reads the bars of a histogram."""


class MemoWriter(HtmlWriter):
    """Writes placed nodes, their drawings cleaned, with their data to take along."""

    def sections(self, nodes: Sequence[Flow], *, folded: bool = False) -> Markup:
        """Block nodes, each level-1 heading and what follows it in a `<section>`, or `folded` away under the heading."""
        groups: list[list[Flow]] = [[]]
        for node in nodes:
            if isinstance(node, Heading) and node.level == 1:
                groups.append([])
            groups[-1].append(node)
        written = []
        for group in filter(None, groups):
            first = group[0]
            label = Markup(' aria-labelledby="{}"').format(first.anchor) if isinstance(first, Heading) else EMPTY
            if isinstance(first, Heading) and folded:
                opening = fold(first.anchor, first.number, self.inline(first.children, linked=False))
                inside = Markup("{}{}</details>").format(opening, self.blocks(group[1:]))
            else:
                inside = self.blocks(group)
            written.append(Markup("<section{}>\n{}\n</section>").format(label, inside))
        return Markup("\n").join(written)

    def drawing(self, svg: str, alt: str, narrow: str = "") -> Markup:
        """A cleaned SVG (see `memo.document.drawings`), and the one for a narrow screen, under one alt text."""
        if not svg.startswith("<svg "):
            return Markup('<p class="caption">The drawing cannot be shown.</p>')
        # Safe to mark: `clean_svg` serialised them from an allow-list of elements and attributes.
        wide, slim = (Markup(drawn.removeprefix("<svg ")) for drawn in (svg, narrow))
        if not narrow:
            return Markup('<svg class="chart" role="img" aria-label="{}" {}').format(alt, wide)
        return Markup(
            '<div role="img" aria-label="{}"><svg class="chart wide" {}<svg class="chart slim" {}</div>'
        ).format(alt, wide, slim)

    def data(self, node: Figure | DataTable) -> Markup:
        """A figure's data folded away as a table and as a file; a table as a file."""
        if isinstance(node, Figure):
            return _plotted(node.id, node.data)
        return Markup('<p class="data">{}</p>').format(csv_link(node.id, table_rows(node)))


def fold(anchor: str, number: str, words: Markup | str) -> Markup:
    """What opens a fold: a heading without links, so that a press anywhere on it opens the fold, and beside it one to itself."""
    return Markup(
        '<a class="here" href="#{0}" aria-label="Link to {3}">#</a>\n<details class="fold">'
        '<summary><h2 id="{0}" tabindex="-1"><span class="no">{1}</span> {2}</h2></summary>\n'
    ).format(anchor, number, words, called(number))


def render_html(document: Document) -> str:
    """The whole page. The same document gives the same text."""
    writer = MemoWriter()
    style, script, brand = _faces() + _template("memo.css"), _template("memo.js"), document.front.brand
    if brand:
        style += _template("brand.css") + livery.rules(brand)
    language = document.front.language
    page: str = _page().render(
        document=document,
        front=document.front,
        language=language if _LANGUAGE.match(language) else "en",
        policy=_policy(style, script),
        # Our own files, not content: they must reach the page byte for byte, or their hashes would not hold.
        style=Markup(style),
        script=Markup(script),
        brand=brand,
        logo=base64.b64encode(brand.logo_png).decode() if brand else "",
        # In the order of the page: each number's derivation leads back to its first place.
        glance=writer.blocks([document.glance]) if document.glance else None,
        first=writer.blocks(document.first),
        body=writer.sections(document.body, folded=document.looked_up),
        annexes=writer.sections(document.annexes, folded=document.spined),
        notes=[writer.inline(note.children) for note in document.notes],
        contents=_contents(document),
        input_groups=grouped_inputs(document.inputs),
        kinds=KINDS,
        short_steps=short_steps,
        sorts=sorts,
        most_named=MOST_NAMED,
        first_use=writer.first_use,
        convention=CONVENTION,
        fold=fold,
    )
    return page + "\n"


def _contents(document: Document) -> list[tuple[str, list[ContentsLine]]]:
    """The headings of the first two levels: of a memo with a body of its own by its parts, each with its name."""
    lines = [h for h in document.contents if h.level <= 2]
    if not document.spined:
        return [("", lines)]
    closing = [h for h in (document.sources_heading, document.derivations_heading) if h]
    top = ContentsLine("", "page-one", "The advice on one page", 1, annex=False)
    parts = {
        "The memo": [top, *(h for h in lines if not h.annex)],
        "Annexes": [h for h in lines if h.annex and h not in closing],
        "Sources and numbers": closing,
    }
    return [(title, found) for title, found in parts.items() if found]


def sorts(steps: Sequence[Step]) -> str:
    """How many inputs of each kind: "4 from your case, 24 from evidence, 7 from prices"."""
    found = Counter(step.code[:1] for step in steps)
    kinds = [(letter, title.lower()) for _, letter, title in KINDS[::-1]]
    rest = found.total() - sum(found[letter] for letter, _ in kinds)
    told = [f"{found[letter]} from {title}" for letter, title in kinds if found[letter]]
    return ", ".join([*told, *([f"{rest} from elsewhere"] if rest else [])])


def _policy(style: str, script: str) -> str:
    return (
        "default-src 'none'; img-src data:; font-src data:; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


@cache
def _template(name: str) -> str:
    return (resources.files("fabricreport.memo") / "templates" / name).read_text(encoding="utf-8")


@cache
def _faces() -> str:
    """The four cuts of the face, in the page itself."""
    rules = []
    for cut in ("Regular", "Bold", "Italic", "BoldItalic"):
        weight, style = 700 if "Bold" in cut else 400, "italic" if "Italic" in cut else "normal"
        data = base64.b64encode((FONTS / f"LibertinusSerif-{cut}.woff2").read_bytes()).decode("ascii")
        rules.append(
            f'@font-face {{ font-family: "Libertinus Serif"; font-weight: {weight}; font-style: {style}; '
            f'src: url(data:font/woff2;base64,{data}) format("woff2"); }}\n'
        )
    return "".join(rules)


@cache
def _page() -> Any:
    environment = Environment(
        loader=DictLoader({"memo.html.j2": _template("memo.html.j2")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("memo.html.j2")


def csv_link(name: str, rows: Sequence[Sequence[Scalar]]) -> Markup:
    """A link that saves the rows as CSV; the data travels inside the page (with a mark so that Excel reads UTF-8)."""
    encoded = base64.b64encode(("\ufeff" + csv_text(rows)).encode()).decode("ascii")
    file_name = f"{slug(name)}.csv"
    return Markup('<a download="{0}" href="data:text/csv;charset=utf-8;base64,{1}">{0}</a>').format(file_name, encoded)


def _plotted(name: str, rows: Sequence[Sequence[Scalar]]) -> Markup:
    """The plotted data: folded away as a table if it is short, and as a file."""
    if not rows:
        return EMPTY
    if len(rows) - 1 > MOST_DATA_ROWS:
        return Markup('<p class="data">{}</p>').format(csv_link(name, rows))
    head = EMPTY.join(Markup('<th scope="col">{}</th>').format(capital(str(c).replace("_", " "))) for c in rows[0])
    body = EMPTY.join(
        Markup("<tr>{}</tr>").format(EMPTY.join(Markup("<td>{}</td>").format(cell) for cell in row)) for row in rows[1:]
    )
    return Markup(
        '<details class="data"><summary>Data of this figure</summary><div class="scroll" role="region" tabindex="0" '
        'aria-label="Data of {}"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div><p>{}</p></details>'
    ).format(name, head, body, csv_link(name, rows))
