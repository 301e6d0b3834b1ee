"""What one prose cell begins the next goes on with: page one, a list, a boxed remark, a paragraph."""

from __future__ import annotations

from fabricreport.blocks.nodes import BulletList, Callout, Glance, GlanceTile, Paragraph, Text
from fabricreport.memo.document.gather import Piece, joined


def test_what_one_prose_cell_begins_the_next_goes_on_with() -> None:
    text, tile = (Text("words"),), GlanceTile((Text("a"),), (Text("b"),), ())
    items = BulletList(((Paragraph(text),),))
    nodes = [
        *(Glance((Paragraph(text),), ()), Glance((), (tile,))),
        *(Callout("caution", text, (items,)), Callout("caution", (), (items,)), Callout("note", (), (items,))),
        *(items, items, Paragraph(text), items),
    ]
    pieces = joined([Piece((node,), "tco", "body", f"cell {n}") for n, node in enumerate(nodes)])
    assert [node.kind for piece in pieces for node in piece.nodes] == ["glance", "callout", "callout", "ul", "p", "ul"]
    glance, caution, *_ = [piece.nodes[0] for piece in pieces]
    assert isinstance(glance, Glance) and (len(glance.children), len(glance.tiles)) == (1, 1)
    assert isinstance(caution, Callout) and caution.title == text
    assert [len(n.items) for n in caution.children if isinstance(n, BulletList)] == [2]
    elsewhere = [
        Piece((items,), "tco", "body", "1"),
        Piece((items,), "tco", "annex", "2"),
        Piece((items,), "latency", "annex", "3"),
    ]
    assert joined(elsewhere) == elsewhere
