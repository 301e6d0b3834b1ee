"""What the evidence section found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport import __version__
from fabricreport.books.names import item_names
from fabricreport.evidence import read_yaml
from fabricreport.findings import Findings, Name, Named, Spoken
from fabricreport.inputs import Inputs
from fabricreport.sections.client import judges, judges_missed
from fabricreport.sections.evidence.context import Disagreement, Fact
from fabricreport.sections.evidence.result import EvidenceResult


class EvidenceFinding(StrEnum):
    """What may be true of the evidence; those of one group exclude each other."""

    # what the advice rests on
    MOSTLY_ASSUMED = "more than half of the figures behind the memo are assumptions"
    MOSTLY_SOURCED = "at least half of the figures behind the memo have a source"
    # the articles
    HALF_FALLS = "at least half of the claims do not follow or cannot be checked"
    MORE_STANDS = "more than half of the claims follow"
    CONTRADICTED = "an article contradicts itself"
    # the wider field
    OTHERS_CONTESTED = "sources disagree on quantities that move nothing here"
    LESSER_FACTS = "some facts of the field are of less weight here"
    # prices and measurements
    PRICED = "a price of the price files is behind the memo"
    HELD = "a price row was held back"
    STOOD_IN = "the price files lack an item that the package's own price stands in for"
    OVERRIDDEN = "the client replaces figures"
    MEASURED = "the client measured its own hardware"
    # what nobody has published
    ELICITED = "experts judged for this client what nobody has published"
    SEVERAL_JUDGED = "more than one expert did"
    MULTIPLE_JUDGED = "one quantity was judged as a multiple of another"
    DOUBTED = "the known answers were missed by more than chance explains, by everybody"


F = EvidenceFinding


def spoken(given: Inputs, result: EvidenceResult) -> Spoken:
    """Findings and words of the evidence."""
    holds = [*_sources(result), *_prices(given, result)]
    return Spoken(Findings(EvidenceFinding, holds), _words(given, result))


def _sources(result: EvidenceResult) -> Iterator[EvidenceFinding]:
    count = {
        id: result.numbers[f"evidence.{id}"].value for id in ("used", "used.assumption", "claims", "claims.standing")
    }
    yield F.MOSTLY_ASSUMED if count["used.assumption"] > count["used"] / 2 else F.MOSTLY_SOURCED
    yield F.HALF_FALLS if count["claims.standing"] * 2 <= count["claims"] else F.MORE_STANDS
    if result.contradictions:
        yield F.CONTRADICTED
    if any(not d.bears for d in result.disagreements):
        yield F.OTHERS_CONTESTED
    if any(not f.bears for f in result.facts):
        yield F.LESSER_FACTS


def _prices(given: Inputs, result: EvidenceResult) -> Iterator[EvidenceFinding]:
    if result.prices:
        yield F.PRICED
    if given.prices.quarantine:
        yield F.HELD
    if any(p.stand_in for p in result.prices):
        yield F.STOOD_IN
    if given.params.overrides:
        yield F.OVERRIDDEN
    if given.params.measurements:
        yield F.MEASURED
    if given.elicited:
        yield F.ELICITED
    if len(given.elicited.experts) > 1:
        yield F.SEVERAL_JUDGED
    if any(given.elicited.asked.questions[question].times for question in given.elicited.pooled):
        yield F.MULTIPLE_JUDGED
    if judges_missed(given):
        yield F.DOUBTED


# ---- words


def _words(given: Inputs, result: EvidenceResult) -> Mapping[str, object]:
    """Every word of the section's prose."""
    assurance = read_yaml("assurance")
    return {
        "client": Name(given.params.client.name),
        "widest": _named(max(result.bearing, key=_width)),
        "disputed": tuple(_named(d) for d in result.bearing),
        "undisputed": tuple(_named(d) for d in result.of_one_publisher),
        "facts": tuple(_fact(f) for f in result.facts if f.bears),
        "lesser": tuple(_fact(f) for f in result.facts if not f.bears),
        "checks": tuple(Named(c["what"], f"check-{n}", by=c["by"]) for n, c in enumerate(assurance["checks"])),
        "unchecked": tuple(Named(text, f"gap-{n}") for n, text in enumerate(assurance["not_checked"])),
        "held": Name("; ".join(f"{item_names(h.item).row} ({h.message})" for h in given.prices.quarantine)),
        "shipped": Name(", ".join(sorted(p.item for p in result.prices if p.stand_in))),
        "judges": judges(given),
        "version": Name(f"version {__version__}"),
        "seed": Name(str(given.params.seed)),
    }


def _width(item: Disagreement) -> float:
    """How many times its low end the prior's high end is; without end where the low end is zero or below."""
    quantity = item.quantity
    return quantity.prior_high / quantity.prior_low if quantity.prior_low > 0 else math.inf


def _named(item: Disagreement) -> Named:
    scale = "logarithmic" if item.wide else "even"
    return Named(item.short, item.id, settle=Name(item.quantity.would_settle), scale=scale)


def _fact(fact: Fact) -> Named:
    return Named(f"{fact.topic[0].upper()}{fact.topic[1:]}", fact.id, says=fact.text, sources=fact.evidence)
