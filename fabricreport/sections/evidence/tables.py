"""Tables of the evidence annex: what sources state, what claims come to, the field, the prices, and how to read it all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from fabricreport.blocks import RANGE, Column, Name, Row, Table
from fabricreport.books.glossary import glossary_book
from fabricreport.books.names import family_names, item_names, side_names, whole_names
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.models.audit.claims import AuditedClaim
from fabricreport.sections.evidence.answered import Answered
from fabricreport.sections.evidence.context import Disagreement
from fabricreport.sections.evidence.figures import slug, worst_row
from fabricreport.sections.evidence.option_figures import options_shown, unpriced
from fabricreport.sections.evidence.result import EvidenceResult
from fabricreport.validation.card import Card
from fabricreport.vocabulary import LEANS

_STATED = re.compile(r"\{stated ([\w-]+)\}")
SHORT = {"reproduces with a caveat": "with a caveat", "cannot be checked": "not checkable"}
FAULTED = ("reproduces with a caveat", "contradicted", "out of date", "unsupported")
REFUTED = ("contradicted", "out of date")
"""Verdicts whose grounds are printed beside the claim."""


def _heads(*labels: str) -> list[Column]:
    return [Column(label) for label in labels]


def _cite(ids: Iterable[str]) -> str:
    """A citation mark for a template, or nothing."""
    listed = ", ".join(ids)
    return f"{{cite {listed}}}" if listed else ""


def _cited(text: str, ids: Iterable[str]) -> str:
    return f"{text} {_cite(ids)}".strip()


def _claim(given: Inputs, claim_id: str) -> Name:
    """A claim in our words: an entry of the audit, with its own digits."""
    return Name(given.record(f"claim:{claim_id}")["label"])


def _stated(result: EvidenceResult, evidence_id: str) -> str:
    """A figure as its source states it, as a template."""
    return result.amount(f"evidence.stated.{evidence_id.removeprefix('evidence:')}")


def disputed(result: EvidenceResult) -> Table:
    """The contested quantities that bear on the client."""
    return _contested(result, result.bearing)


def contested(result: EvidenceResult) -> Table:
    """The contested quantities that are not charted."""
    return _contested(result, [d for d in result.disagreements if not d.bears])


def _contested(result: EvidenceResult, disagreements: Iterable[Disagreement]) -> Table:
    rows = [
        Row(
            [
                Name(d.short[:1].upper() + d.short[1:]),
                result.amount(f"evidence.contested.{d.id}"),
                f"{{evidence.contested.{d.id}.prior:spread}}",
                Name(d.quantity.would_settle),
            ]
        )
        for d in disagreements
    ]
    return Table(_heads("Quantity", "Stated", RANGE, "What would settle it"), rows)


def contradictions(given: Inputs, result: EvidenceResult) -> Table:
    """Claims of one article that cannot both hold."""
    rows = [
        Row([Name(result.articles[c.source].publisher), _claim(given, c.claim), _claim(given, c.against)])
        for c in result.contradictions
    ]
    return Table(_heads("Article", "It says", "It also says"), rows)


def claims(given: Inputs, result: EvidenceResult) -> Table:
    """Every audited claim under its article, with what it comes to and what is wrong with it; our cross-checks last."""
    rows, said = [], dict[str, object]()
    groups = {
        f"{source.publisher} ({source.interest})": [c for c in result.of(id) if c.kind != "check"]
        for id, source in result.articles.items()
    }
    groups["Our own cross-checks"] = [c for c in result.claims if c.kind == "check"]
    for title, members in groups.items():
        rows.append(Row([Name(title), "", "", ""], role="group"))
        for claim in members:
            key = f"c{len(said)}"
            said[key] = _claim(given, claim.id)
            why = _why(claim)
            said |= {f"{key}why": Name(why)} if why else {}
            rows.append(
                Row(
                    [
                        _cited(f"{{{key}}}." + (f" *{{{key}why}}*" if why else ""), _against(claim)),
                        result.amount(f"evidence.claim.{claim.id}.stated") or None,
                        result.amount(f"evidence.claim.{claim.id}.recomputed") or None,
                        SHORT.get(claim.verdict, claim.verdict),
                    ]
                )
            )
    return Table(_heads("Claim, and what is wrong with it", "Stated", "Comes to", "Verdict"), rows, said)


def _why(claim: AuditedClaim) -> str:
    """What is wrong with a claim, as a sentence; nothing where the verdict says it all."""
    why = (claim.caveat or claim.note) if claim.verdict in FAULTED else ""
    return why[:1].upper() + why[1:]


def _against(claim: AuditedClaim) -> list[str]:
    """The entries that contradict a claim."""
    return [i for i in claim.by if i.startswith("evidence:")] if claim.verdict in REFUTED else []


# ---- the wider field


def transports(result: EvidenceResult) -> Table:
    """The members of the RDMA family, with the latency that articles state of each."""
    rows = [
        Row(
            [
                Name(r["name"]),
                _cited(r["transport"], r["evidence"]),
                r["routed"],
                r["lossless"],
                r["state"],
                "; ".join(_cited(_stated(result, i), [i]) for i in r["latency"]) or None,
            ]
        )
        for r in read_yaml("context")["rdma_family"]
    ]
    heads = ("Transport", "Made of", "Routed", "Lossless by", "State", "Latency as articles state it")
    return Table(_heads(*heads), rows)


def products(result: EvidenceResult) -> Table:
    """Switches of either family, with their ports."""
    rows = [
        Row(
            [
                Name(p["name"]),
                Name(p["family"]),
                *(result.numbers[f"evidence.stated.{p[k].removeprefix('evidence:')}"] for k in ("ports", "link")),
                _cite([p["ports"]]),
                _cite(p["checked_by"]),
            ]
        )
        for p in read_yaml("context")["products"]
    ]
    return Table(_heads("Switch", "Generation", "Ports", "Port speed", "Source", "Second source"), rows)


def operators(given: Inputs) -> Table:
    """The largest operators: what they run, what an article says of them, and where that fails."""
    found: list[dict[str, Any]] = read_yaml("context")["operators"]
    said = {f"{o['id']}{n}": Name(given.record(i)["text"]) for o in found for n, i in enumerate(o["says"])}
    rows = [
        Row(
            [
                Name(o["name"]),
                _cited(o["fabric"], o["primary"]),
                "; ".join(_cited(f"{{{o['id']}{n}}}", [i]) for n, i in enumerate(o["says"])) or None,
                o["contradiction"] or None,
            ]
        )
        for o in found
    ]
    return Table(_heads("Operator", "Fabric", "What an article says", "Where that fails"), rows, said)


def reported(given: Inputs, result: EvidenceResult) -> Table:
    """What others report that no model draws on: the figure, whose it is, what they sell, and its grade."""
    groups = read_yaml("context")["reported"]
    found = {i: given.evidence[i.removeprefix("evidence:")] for group in groups for i in group["entries"]}
    words = {i: f"said{n}" for n, (i, entry) in enumerate(found.items()) if isinstance(entry.value, str)}
    rows = []
    for group in groups:
        rows.append(Row([Name(group["what"]), "", "", ""], role="group"))
        for i in group["entries"]:
            entry, said = found[i], f"{{{words[i]}}}" if i in words else _stated(result, i)
            by = f"{entry.publisher} ({entry.interest})" if entry.interest else entry.publisher
            rows.append(Row([Name(entry.what), _cited(said, [i]), Name(by), Name(entry.grade)]))
    heads = _heads("What", "As reported", "By whom (what they sell)", "Grade")
    return Table(heads, rows, {word: Name(str(found[i].value)) for i, word in words.items()})


# ---- what articles compare and ask


def factors(given: Inputs, result: EvidenceResult) -> Table:
    """What two articles compare, factor by factor, with what it comes to here."""
    rows = []
    for article, members in _by_article(result.factors).items():
        rows.append(Row([Name(result.articles[article].publisher), "", "", ""], role="group"))
        for factor in members:
            says = [_says(result, factor.says[side]) for side in LEANS]
            rows.append(Row([Name(factor.head), *says, _cited(f"{factor.here}.", factor.cite)]))
    sides = (Column(f"{side_names(given.options, side).phrase}, it says") for side in LEANS)
    return Table([Column("Factor"), *sides, Column("Here")], rows, _standing(given, result))


def questions(given: Inputs, result: EvidenceResult) -> Table:
    """What two articles ask and answer, answered for this client."""
    rows = []
    for article, members in _by_article(result.questions).items():
        rows.append(Row([Name(result.articles[article].publisher), ""], role="group"))
        rows += [Row([Name(q.head), _cited(f"{q.here}.", q.cite)]) for q in members]
    return Table(_heads("Question", "Answer for this client"), rows, _standing(given, result))


def _by_article(entries: Iterable[Answered]) -> dict[str, list[Answered]]:
    found: dict[str, list[Answered]] = {}
    for entry in entries:
        found.setdefault(entry.article, []).append(entry)
    return found


def _says(result: EvidenceResult, text: str) -> str:
    """What an article says of a fabric; `{stated ID}` prints an entry of the library as its source states it."""
    return _STATED.sub(lambda found: _stated(result, found[1]), text)


def _standing(given: Inputs, result: EvidenceResult) -> dict[str, object]:
    """The names of the options that the answers speak of, by side."""
    names = whole_names(given.options)
    return {side: names[option] for side, option in result.stands.items()}


# ---- prices and overrides


def prices(result: EvidenceResult, figure: FigureOf) -> Table:
    """The prices behind the memo, the ones past their shelf life first."""
    rows = [
        Row(
            [
                Name(item_names(p.item).row),
                figure(p.id),
                Name(p.date.isoformat()),
                figure(f"evidence.age.{p.item}"),
                f"**past:** {p.expiry.isoformat()}" if p.stale else Name(p.expiry.isoformat()),
                p.grade,
                _cite([p.id]),
            ]
        )
        for p in result.prices
    ]
    heads = ("Item", "Price", "Date", "Age", "Good until", "Grade", "Source")
    return Table([Column(h, style="mixed" if h == "Price" else "value") for h in heads], rows)


def overrides(given: Inputs, figure: FigureOf) -> Table:
    """Every figure that the client replaces, with who, why and until when."""
    rows = [
        Row([Name(o.id), figure(o.id), Name(o.who), Name(o.why), Name(str(o.until))]) for o in given.params.overrides
    ]
    heads = ("Entry", "Value here", "Who", "Why", "Until")
    return Table([Column(h, style="mixed" if h == "Value here" else "value") for h in heads], rows)


def options(given: Inputs, result: EvidenceResult) -> Table:
    """What is known of each option compared, and what of it nobody publishes a price of."""
    rows = [
        Row(
            [
                Name(option.name),
                Name(family_names(option.family).phrase),
                *(result.numbers[f"evidence.option.{id}.{count}"] for count in ("inputs", "assumed")),
                Name(", ".join(unpriced(option, result.used)) or "nothing"),
            ]
        )
        for id, option in options_shown(given).items()
    ]
    return Table(_heads("Option", "Kind of network", "Inputs", "Assumed", "No price published of"), rows)


# ---- how to read the memo, and what it was checked by


def grades(figure: FigureOf) -> Table:
    """Each grade, what it means, and how many entries have it."""
    rows = [
        Row([g["id"], g["means"], *(figure(f"evidence.{of}.{g['id']}") for of in ("weight", "entries", "used"))])
        for g in read_yaml("assurance")["grades"]
    ]
    total = Row(["All", "", None, figure("evidence.entries"), figure("evidence.used")], role="total")
    return Table(_heads("Grade", "Meaning", "Weight in a prior", "In the library", "Behind this memo"), [*rows, total])


def likelihoods(result: EvidenceResult) -> Table:
    """The words of likelihood, each with its share of chances."""
    rows = [
        Row([s["words"], _cited(_stated(result, s["share"]), [s["share"]])]) for s in read_yaml("assurance")["scale"]
    ]
    return Table(_heads("Words", "Share of chances"), rows)


def cards(result: EvidenceResult) -> Table:
    """Each model's validation card in a line."""
    heads = [
        *_heads("Model", "Published figures", "Held out"),
        Column("Median error", decimals=1),
        Column("Worst error", decimals=0),
        Column("Worst at"),
    ]
    return Table(heads, [_card(result, card) for card in result.cards])


def _card(result: EvidenceResult, card: Card) -> Row:
    key = f"evidence.card.{slug(card.model.lower())}"
    rows, held_out, median, worst = (
        result.numbers.get(f"{key}.{name}") for name in ("rows", "held_out", "median", "worst")
    )
    worst_at = Name(worst_row(card).case) if worst is not None and worst.value else None
    return Row([Name(card.model[0].upper() + card.model[1:]), rows, held_out, median, worst, worst_at])


def unmeasured() -> Table:
    """What we looked for and did not find, and what the memo does instead."""
    rows = [Row([u["what"], u["instead"]]) for u in read_yaml("assurance")["unmeasured"]]
    return Table(_heads("Unmeasured", "What this memo does instead"), rows)


def glossary() -> Table:
    """Terms of the trade in plain words."""
    return Table(_heads("Term", "Meaning"), [Row([t.term, t.means]) for t in glossary_book().terms])
