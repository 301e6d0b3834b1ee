"""The closing annexes of the printed memo: the sources that it cites, and where the numbers of page one come from."""

from __future__ import annotations

from dataclasses import replace

from fabricreport.memo.document.derive import Derivation, Step, grouped_inputs
from fabricreport.memo.document.document import Document

MOST_NAMED = 4
"""A number that rests on more inputs than that tells how many there are: the HTML edition names them."""


def closing_of(document: Document, most_inputs: int | None = None) -> Document:
    """The document with the sources, derivations and inputs that print closes with.

    All of them; of the evidence report the sources; of a memo with a body of its own, those of page one and the sources that
    print cites. Of the inputs behind page one `most_inputs` are printed at most, in their order.
    """
    if not document.derives_in_print:
        sources = document.sources if document.lists_sources else ()
        return replace(document, sources=sources, derivations=(), inputs=(), input_sets=())
    if not document.spined:
        return document
    shown = [d for d in document.derivations if d.id in document.first_numbers]
    quoted = {i for d in shown for i in (d.steps if len(d.steps) <= MOST_NAMED else ())}
    needed = {step.anchor for step in quoted}
    inputs = [d for d in document.inputs if d.anchor in needed or d.id in document.first_numbers]
    inputs = [d for _, entries in grouped_inputs(inputs) for d in entries][:most_inputs]
    behind = {step.anchor for d in inputs for step in d.sources}
    sources = tuple(s for n, s in enumerate(document.sources) if n < document.printed_sources or s.anchor in behind)
    listed = {source.anchor for source in sources}
    return replace(
        document,
        sources=sources,
        derivations=tuple(_short(d, listed) for d in shown),
        inputs=tuple(replace(d, sources=tuple(s for s in d.sources if s.anchor in listed)) for d in inputs),
        input_sets=(),
    )


def _short(derivation: Derivation, listed: set[str]) -> Derivation:
    steps = derivation.steps
    if len(steps) > MOST_NAMED:
        steps = (Step(f"{len(steps)} inputs", ""),)
    sources = tuple(s for s in derivation.sources if s.anchor in listed)
    return replace(derivation, steps=steps, sources=sources, input_set=None)
