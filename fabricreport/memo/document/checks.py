"""What a memo must pass before a client may see it. Each fault names its notebook, its cell and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.blocks.nodes import DataTable, Figure, Formula, Image, Node, Numbered, Ref, walk
from fabricreport.located import did_you_mean
from fabricreport.memo.document.agreement import disagreements
from fabricreport.memo.document.as_printed import printed_faults
from fabricreport.memo.document.gather import Gathered, Piece
from fabricreport.memo.document.language import language_faults
from fabricreport.memo.document.numbering import CLOSING_ANNEXES, in_report, left_out, png_width_px
from fabricreport.memo.document.proofs import contradictions
from fabricreport.memo.document.remedies import ALT_REMEDY, CAPTION_REMEDY, PICTURE_REMEDY
from fabricreport.memo.document.safe import one_line

_SHOWN = 60
_LIKELIHOOD = re.compile(r"\b(remote|unlikely|roughly even|likely|probable|almost certain|nearly certain)\b", re.I)
_UNCLOSED = re.compile(
    r"\{((?:price|evidence|param|contested):[^\s{}]+|[a-z][a-z0-9_]*\.[a-z][^\s{}]*|(?:fig|tab|sec)-[^\s{}]+|cite [^\s{}]+)"
    r"(?![^{}]*\})"
)
"""What begins like a field of the ledger and has no closing brace."""
_CONFIDENCE = re.compile(r"\bconfiden(?:ce|t)\b", re.I)


def check_memo(found: Gathered, *, draft: bool = False) -> list[str]:
    """Every fault of a stitched memo, in reading order. A draft is checked alike: the caller only warns."""
    faults = [str(problem) for problem in found.problems]
    for piece in found.pieces:
        faults += [f"{piece.where}: {fault}" for fault in _piece_faults(piece, found.names)]
    faults += _reference_faults(found)
    faults += _dead_references(found)
    faults += disagreements(found)
    faults += language_faults(found)
    faults += contradictions(found)
    faults += printed_faults(found)
    if not draft and not found.pieces:
        faults.append("the memo is empty: no notebook emitted a block")
    return faults


def check_file(found: Gathered) -> list[str]:
    """Every fault of a file beside the memo, whose sentences are held as a memo's are: what it refers to stands in it."""
    faults = [f"{piece.where}: {fault}" for piece in found.pieces for fault in _piece_faults(piece, found.names)]
    faults += [*_reference_faults(found), *_dead_references(found)]
    return [*faults, *language_faults(found), *contradictions(found), *printed_faults(found)]


def _piece_faults(piece: Piece, known: set[str]) -> Iterator[str]:
    for node in walk(piece.nodes):
        yield from _missing_parts(node)
    for where, text in texts(piece.nodes):
        for field in () if where == "preformatted text" else _UNCLOSED.findall(text):
            yield f"the field {{{_id(field)} in {where} is not closed: write {{{_id(field)}}}."
        text = _UNCLOSED.sub(" ", text)
        for word in bare_numbers(text, known, in_words=where != "preformatted text"):
            yield (
                f"bare number '{word}' in {where}: “{_excerpt(text, word)}”. "
                'Quote it from the ledger in a code cell, say("… {figure.id} …"), or put it in the params or the evidence.'
            )
        for sentence in re.split(r"(?<=[.!?])\s+", text):
            if _LIKELIHOOD.search(sentence) and _CONFIDENCE.search(sentence):
                yield f"one sentence mixes likelihood and confidence: “{sentence[:_SHOWN]}…”. Make two sentences of it."


def _id(field: str) -> str:
    return field.rstrip(".,;:!?)")


def _missing_parts(node: Node) -> Iterator[str]:
    if isinstance(node, Figure | Image | Formula) and not node.alt.strip():
        name = (node.id if isinstance(node, Figure) else "") or "an image"
        yield (
            f"{name} has no alt text: say in one or two sentences what it shows, for readers who cannot see it. "
            f"{ALT_REMEDY[node.kind]}"
        )
    if isinstance(node, Figure) and not node.title:
        yield f"{node.id} has no title: state its finding."
    if isinstance(node, DataTable) and not node.caption:
        yield f"a table has no caption: state its takeaway. {CAPTION_REMEDY}"
    if isinstance(node, Image) and not png_width_px(node.src):
        name = f"the image {one_line(node.address)[:_SHOWN]}" if node.address else "an image"
        yield f"{name} is not embedded: {PICTURE_REMEDY}"


def _reference_faults(found: Gathered) -> Iterator[str]:
    """Citations of unknown inputs, numbers without a footing, ids used twice."""
    seen: dict[str, str] = {}
    for piece in found.pieces:
        for node in walk(piece.nodes):
            anchor = node.id if isinstance(node, Numbered) else ""
            if anchor and anchor in seen:
                yield f"{piece.where}: the id {anchor} is already used in {seen[anchor]}: give it another one."
            elif anchor:
                seen[anchor] = piece.where
    for number_id, entry in found.ledger.items():
        for input_id in entry["inputs"]:
            if input_id not in found.inputs:
                yield f"{found.ledger_where[number_id]}: number {number_id} names the unknown input {input_id}."
        if not entry["inputs"] and not entry["rule"]:
            yield f"{found.ledger_where[number_id]}: number {number_id} has neither a rule nor an input."


def _dead_references(found: Gathered) -> Iterator[str]:
    """References to a figure, table or heading that the memo does not hold; a section left out of it is told in words."""
    inside = [(piece, node) for piece in found.pieces for node in walk(piece.nodes)]
    known = {node.id for _, node in inside if isinstance(node, Numbered) and node.id} | CLOSING_ANNEXES
    present = {piece.section for piece in found.pieces}
    for piece in found.pieces:
        for target in sorted({n.id for n in walk(piece.nodes) if isinstance(n, Ref)} - known):
            if not (in_report(target, found.report) or left_out(target, present)):
                close = did_you_mean(target, known)
                yield (
                    f"{piece.where}: the reference {{{target}}} leads nowhere"
                    + (f": did you mean {{{close}}}?" if close else ": give the id of a figure, a table or a heading.")
                )


def _excerpt(text: str, word: str) -> str:
    clean = re.sub("[\ue000-\uf8ff]", "…", text)
    at = max(0, clean.find(word) - _SHOWN // 2)
    return clean[at : at + _SHOWN].strip()
