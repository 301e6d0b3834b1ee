"""How a block looks in JupyterLab, and as plain text. The memo never uses these: it reads the block's nodes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from fabricreport.blocks.markdown import plain_text

Node = dict[str, Any]
_TONES = {"decision": "#2f6f4f", "caution": "#b3541e", "note": "#5b6472"}


def inline_html(nodes: Sequence[Node]) -> str:
    """Inline nodes as HTML; numbers carry their ledger id as a tooltip."""
    return "".join(_inline(node) for node in nodes)


def _inline(node: Node) -> str:
    kind = node["t"]
    if kind == "num":
        title = escape(f"ledger: {node['id']}", quote=True)
        return f'<data value="{escape(str(node["value"]))}" title="{title}" style="border-bottom:1px dotted">{escape(node["text"])}</data>'
    if kind in ("strong", "em"):
        return f"<{kind}>{inline_html(node['c'])}</{kind}>"
    if kind == "link":
        return inline_html(node["c"])
    if kind == "br":
        return "<br>"
    if kind == "ref":
        return f"<em>[{escape(node['id'])}]</em>"
    if kind == "cite":
        return f"<sup>[{escape(', '.join(node['ids']))}]</sup>"
    if kind == "note":
        return f"<sup>({inline_html(node['c'])})</sup>"
    return escape(node.get("v", ""))


def preview_html(nodes: Sequence[Node]) -> str:
    """Block nodes as a fragment of HTML."""
    return "\n".join(_block(node) for node in nodes)


def _block(node: Node) -> str:
    kind = node["t"]
    if kind == "p":
        return f"<p>{inline_html(node['c'])}</p>"
    if kind == "h":
        return f"<h{node['level']}>{inline_html(node['c'])}</h{node['level']}>"
    if kind in ("ul", "ol"):
        return f"<{kind}>" + "".join(f"<li>{preview_html(item)}</li>" for item in node["items"]) + f"</{kind}>"
    if kind == "callout":
        style = f"border-left:4px solid {_TONES[node['tone']]};padding:.2em 1em;margin:1em 0"
        return f'<div style="{style}"><strong>{inline_html(node["title"])}</strong>{preview_html(node["c"])}</div>'
    if kind == "figure":
        return (
            f"<figure><strong>{inline_html(node['title'])}</strong><div>{inline_html(node['subtitle'])}</div>"
            f'<div role="img" aria-label="{escape(node["alt"], quote=True)}">{node["svg"]}</div>'
            f"<figcaption>{inline_html(node['caption'])}</figcaption></figure>"
        )
    if kind == "datatable":
        return _table(node)
    if kind == "glance":
        tiles = "".join(
            f'<td style="padding:.5em 1em;vertical-align:top"><div>{inline_html(t["label"])}</div>'
            f'<div style="font-size:1.4em">{inline_html(t["value"])}</div><div>{inline_html(t["note"])}</div></td>'
            for t in node["tiles"]
        )
        return f"{preview_html(node['c'])}<table><tr>{tiles}</tr></table>"
    if kind == "formula":
        return f'<div role="img" aria-label="{escape(node["alt"], quote=True)}">{node["svg"]}</div>'
    if kind == "headline":
        return f"<p><em>Headline for the command line: {escape(str(node['data'].get('recommendation', '')))}</em></p>"
    if kind == "quote":
        return f"<blockquote>{preview_html(node['c'])}</blockquote>"
    return f"<pre>{escape(node.get('v', ''))}</pre>"


def _table(node: Node) -> str:
    def cell(tag: str, content: str, align: str) -> str:
        return f'<{tag} style="text-align:{align}">{content}</{tag}>'

    heads = "".join(
        cell("th", inline_html(c["label"]) + (f" ({escape(c['unit'])})" if c["unit"] else ""), c["align"])
        for c in node["columns"]
    )
    rows = "".join(
        "<tr>"
        + "".join(cell("td", inline_html(c), col["align"]) for c, col in zip(r["cells"], node["columns"], strict=True))
        + "</tr>"
        for r in node["rows"]
    )
    caption = f"<caption>{inline_html(node['caption'])}</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table><p>{inline_html(node['note'])}</p>"


def preview_text(nodes: Sequence[Node]) -> str:
    """The words of block nodes, one block to a line."""
    lines = []
    for node in nodes:
        if node["t"] in ("p", "h"):
            lines.append(plain_text(node["c"]))
        elif node["t"] in ("ul", "ol"):
            lines += [preview_text(item) for item in node["items"]]
        elif node["t"] in ("callout", "glance", "quote"):
            lines.append(preview_text(node["c"]))
        elif node["t"] == "figure":
            lines.append(f"{plain_text(node['title'])}: {node['alt']}")
        elif node["t"] == "datatable":
            lines.append(plain_text(node["caption"]))
    return "\n".join(lines)
