"""How a block looks in JupyterLab, and as plain text. The memo never uses these: it reads the block's nodes."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from fabricreport.blocks.html import HtmlWriter
from fabricreport.blocks.nodes import DataTable, Figure, Heading, Paragraph, Top, plain_text, walk

_STYLE = Markup(
    ".fabricreport .num{border-bottom:1px dotted}.fabricreport .tag{color:#5b6472}"
    ".fabricreport td,.fabricreport th{text-align:left}.fabricreport .r{text-align:right}"
    ".fabricreport .callout{border-left:4px solid #5b6472;padding:.2em 1em;margin:1em 0}"
    ".fabricreport .decision{border-color:#2f6f4f}.fabricreport .caution{border-color:#b3541e}"
    ".fabricreport .tiles{display:flex;gap:2em}.fabricreport .value{display:block;font-size:1.4em}"
    ".fabricreport .subtitle{display:block}.fabricreport .total,.fabricreport .winner{font-weight:bold}"
)


def preview_html(nodes: Sequence[Top]) -> str:
    """Block nodes as a fragment of HTML with its own small style."""
    return str(Markup('<div class="fabricreport"><style>{}</style>{}</div>').format(_STYLE, HtmlWriter().blocks(nodes)))


def preview_text(nodes: Sequence[Top]) -> str:
    """The words of block nodes, one block to a line."""
    lines = []
    for node in walk(nodes):
        if isinstance(node, Paragraph | Heading):
            lines.append(plain_text(node.children))
        elif isinstance(node, Figure):
            lines.append(f"{plain_text(node.title)}: {node.alt}")
        elif isinstance(node, DataTable):
            lines.append(plain_text(node.caption))
    return "\n".join(lines)
