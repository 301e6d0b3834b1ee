"""The tables of the evidence report."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fabricreport.base.vocabulary import LEANS
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks import RANGE, Column, Name, Row, Table
from fabricreport.books.equipment import families
from fabricreport.books.glossary import glossary_book
from fabricreport.books.names import family_names, item_names
from fabricreport.books.publications import ADVICE, YES
from fabricreport.ledger.facts import capital
from fabricreport.models.audit.claims import AuditedClaim
from fabricreport.report.figures import worst_row
from fabricreport.report.hindsight import Hindsight, advice_text, all_compared
from fabricreport.report.report import Report
from fabricreport.validation.price_guard import FAULTS, HORIZONS, LATER, Replayed, replays

_STATED = re.compile(r"\{stated ([\w-]+)\}")
SHORT = {"reproduces with a caveat": "with a caveat", "cannot be checked": "not checkable"}
EXPLAINED = ("reproduces with a caveat", "contradicted", "out of date", "unsupported", *ADVICE)
REFUTED = ("contradicted", "out of date", "not followed")
"""Verdicts whose grounds are printed beside the claim."""
NOT_DOCUMENTED = "not documented"
_UPTIME, _CLAIM = ("-uptime", "-uptime-text"), ("-claim-days", "-claim-window")


def _heads(*labels: str) -> list[Column]:
    return [Column(label) for label in labels]


def _mixed(*labels: str) -> list[Column]:
    return [Column(label, style="mixed") for label in labels]


def _cited(text: str, ids: Iterable[str]) -> str:
    listed = ", ".join(ids)
    return f"{text} {{cite {listed}}}".strip() if listed else text


def _stated(case: Report, evidence_id: str) -> str:
    """A figure as its source states it, as a template."""
    return case.found.amount(case.numbers, f"report.stated.{evidence_id.removeprefix('evidence:')}")


def _claim(case: Report, claim_id: str) -> Name:
    """A claim in our words: an entry of the audit, with its own digits."""
    return Name(case.record(f"claim:{claim_id}")["label"])


# ---- what the articles claim


def claims(case: Report) -> Table:
    """Every audited claim under its article, with what it comes to and what we found; our cross-checks last."""
    rows, said = [], dict[str, object]()
    found = case.found.claims.values()
    groups = {
        f"{source.publisher} ({source.interest})": [c for c in found if c.source == article and c.kind != "check"]
        for article, source in case.found.articles.items()
    }
    groups["Our own cross-checks"] = [c for c in found if c.kind == "check"]
    for title, members in groups.items():
        rows.append(Row([Name(title), "", "", ""], role="group"))
        for claim in members:
            key = f"c{len(said)}"
            said[key] = _claim(case, claim.id)
            why = capital((claim.caveat or claim.note) if claim.verdict in EXPLAINED else "")
            said |= {f"{key}why": Name(why)} if why else {}
            rows.append(
                Row(
                    [
                        _cited(f"{{{key}}}." + (f" *{{{key}why}}*" if why else ""), _against(claim)),
                        case.found.amount(case.numbers, f"report.claim.{claim.id}.stated") or None,
                        case.found.amount(case.numbers, f"report.claim.{claim.id}.recomputed") or None,
                        SHORT.get(claim.verdict, claim.verdict),
                    ]
                )
            )
    return Table(_heads("Claim, and what we found", "Stated", "Comes to", "Verdict"), rows, said)


def _against(claim: AuditedClaim) -> list[str]:
    """The entries that contradict a claim."""
    return [i for i in claim.by if i.startswith("evidence:")] if claim.verdict in REFUTED else []


def contradictions(case: Report) -> Table:
    """Claims of one article that cannot both hold."""
    rows = [
        Row([Name(case.found.articles[c.source].publisher), _claim(case, c.claim), _claim(case, c.against)])
        for c in case.found.contradictions
    ]
    return Table(_heads("Article", "It says", "It also says"), rows)


def factors(case: Report) -> Table:
    """What two articles compare, factor by factor, with what we found."""
    rows = []
    for article, members in _by_article("factors").items():
        rows.append(Row([Name(case.found.articles[article].publisher), "", "", ""], role="group"))
        for factor in members:
            says = [_STATED.sub(lambda found: _stated(case, found[1]), factor[side]) for side in LEANS]
            rows.append(Row([factor["factor"], *says, _cited(f"{factor['here']}.", factor.get("cite", ()))]))
    return Table(_heads("Factor", "InfiniBand, it says", "RoCEv2, it says", "What we found"), rows)


def asked(case: Report) -> Table:
    """What two articles ask, answered without a client."""
    rows = []
    for article, members in _by_article("questions").items():
        rows.append(Row([Name(case.found.articles[article].publisher), ""], role="group"))
        rows += [Row([q["asks"], _cited(f"{q['here']}.", q.get("cite", ()))]) for q in members]
    return Table(_heads("Question", "Answer"), rows)


def _by_article(part: str) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in read_yaml("factors")[part]:
        found.setdefault(entry["article"], []).append(entry)
    return found


# ---- what is disputed and what is not known


def contested(case: Report) -> Table:
    """Every quantity on which sources disagree: how far apart they are, the range in use, what would settle it."""
    rows = [
        Row(
            [
                _cited(capital(d.short), [f"evidence:{p.id}" for p in d.stated]),
                case.found.amount(case.numbers, f"report.contested.{d.id}"),
                f"{{report.contested.{d.id}.prior:spread}}",
                case.numbers[f"report.contested.{d.id}.sources"],
                d.quantity.rule,
                Name(capital(d.quantity.would_settle)),
            ]
        )
        for d in case.found.contested.values()
    ]
    return Table(_heads("Quantity", "Stated", RANGE, "Publishers", "Prior", "What would settle it"), rows)


def unmeasured() -> Table:
    """What we looked for and did not find, and what memos do instead."""
    rows = [Row([u["what"], u["instead"]]) for u in read_yaml("assurance")["unmeasured"]]
    return Table(_heads("Unmeasured", "What a memo does instead"), rows)


def searched(case: Report) -> Table:
    """The assumptions and estimates that were looked for again, as they stand, and where we looked."""
    looked = [e for e in case.inputs.evidence.values() if e.searched]
    rows = [Row([Name(e.what), _cited(f"{e.grade}", [f"evidence:{e.id}"]), Name(capital(e.searched))]) for e in looked]
    return Table(_heads("Quantity", "Grade", "Searched"), rows)


# ---- the models


def cards(case: Report) -> Table:
    """Each model's validation card in a line."""
    heads = [
        *_heads("Model", "Published figures", "Held out"),
        Column("Median error", decimals=1),
        Column("Worst error", decimals=0),
        *_heads("Worst at", "Date"),
    ]
    rows = []
    for key, card in case.found.cards.items():
        numbers = [case.numbers.get(f"report.card.{key}.{name}") for name in ("rows", "held_out", "median", "worst")]
        worst_at = Name(worst_row(card).case) if numbers[3] is not None and numbers[3].value else None
        rows.append(Row([Name(capital(card.model)), *numbers, worst_at, Name(card.date)]))
    return Table(heads, rows)


def limits(case: Report) -> Table:
    """What each model does not claim, what no model of its kind can do, and what it missed of what was written down before."""
    rows = []
    for card in case.found.cards.values():
        missed = [said for said, met in zip(card.expected, card.as_expected.values(), strict=True) if not met]
        parts = (
            ("Tried on", [f"{len(card.data_used)} publications and tables; it holds for: {card.valid_range}"]),
            ("Does not claim", card.does_not_claim),
            ("No model of its kind does better than", card.irreducible),
            ("Expected before the fit, and missed", missed),
        )
        rows.append(Row([Name(capital(card.model)), ""], role="group"))
        rows += [Row([what, Name("; ".join(map(str, said)) + ".")]) for what, said in parts if said]
    return Table(_heads("", "Limit"), rows)


# ---- sellers


def questions(case: Report) -> Table:
    """Every question to a seller, why it is put, what a good answer holds, and what should warn."""
    rows = [
        Row([Name(q.id), Name(f"{q.question} {q.why}"), Name(q.good), Name(q.red_flag)])
        for q in case.found.sellers.questions
    ]
    return Table(_heads("Id", "Question, and why", "A good answer", "Red flag"), rows)


def sellers(case: Report) -> Table:
    """The clouds of the published table, with what was found since."""
    rows = [
        Row(
            [
                Name(s.name),
                Name(family_names(s.fabric).phrase if s.fabric in families() else "by host"),
                case.numbers.get(f"report.link.{s.id}"),
                Name(s.availability + (", an add-on" if s.add_on else "")),
                Name(s.topology or NOT_DOCUMENTED),
                _since(s.since),
            ]
        )
        for s in case.found.sellers.sellers
    ]
    words = {_word(i): Name(case.record(i)["text"]) for s in case.found.sellers.sellers for i in s.since}
    return Table(
        _heads("Seller", "Network", "Link, at most", "Where", "Topology as documented", "Found since"), rows, words
    )


def _word(evidence_id: str) -> str:
    return evidence_id.removeprefix("evidence:").replace("-", "_")


def _since(ids: Iterable[str]) -> str | None:
    return "; ".join(_cited(f"{{{_word(i)}}}", [i]) for i in ids) or None


def service_levels(case: Report) -> Table:
    """The contracts that were read."""
    rows = [
        Row(
            [
                Name(s.name),
                _clause(case, s.sla, _UPTIME),
                _clause(case, s.sla, _CLAIM),
                case.numbers.get(f"report.credit.{s.id}"),
            ]
        )
        for s in case.found.contracts
    ]
    return Table([Column("Seller"), *_mixed("Uptime", "Claim within"), Column("Credit, at most")], rows)


def _clause(case: Report, ids: tuple[str, ...], ends: tuple[str, ...]) -> Any:
    """The first service level whose id ends so."""
    found = next((i for end in ends for i in ids if i.endswith(end)), None)
    if found is None:
        return None
    number = case.inputs.entry(found.partition(":")[2]).kind == "number"
    return case.figure(found) if number else Name(case.record(found)["text"])


# ---- the wider field


def transports(case: Report) -> Table:
    """The members of the RDMA family, with the latency that articles state of each."""
    rows = [
        Row(
            [
                Name(r["name"]),
                _cited(r["transport"], r["evidence"]),
                r["routed"],
                r["lossless"],
                r["state"],
                "; ".join(_cited(_stated(case, i), [i]) for i in r["latency"]) or None,
            ]
        )
        for r in read_yaml("context")["rdma_family"]
    ]
    return Table(_heads("Transport", "Made of", "Routed", "Lossless by", "State", "Latency as articles state it"), rows)


def facts() -> Table:
    """Facts of the field by topic, each with its sources."""
    found = read_yaml("context")["facts"]
    said = {f"f{n}": Name(f["text"]) for n, f in enumerate(found)}
    rows = [Row([Name(capital(f["topic"])), _cited(f"{{f{n}}}", f["evidence"])]) for n, f in enumerate(found)]
    return Table(_heads("On", "What is known"), rows, said)


def field(case: Report) -> Table:
    """Switches, operators and what others report: one row each, with who says so."""
    context, said = read_yaml("context"), dict[str, object]()
    rows = [Row([Name("Switches"), "", ""], role="group")]
    for p in context["products"]:
        each = f"{_stated(case, p['ports'])} ports of {_stated(case, p['link'])}"
        rows.append(Row([Name(p["name"]), _cited(each, [p["ports"], *p["checked_by"]]), Name(p["family"])]))
    rows.append(Row([Name("Operators"), "", ""], role="group"))
    for o in context["operators"]:
        for n, i in enumerate(o["says"]):
            said[f"{o['id']}{n}"] = Name(case.record(i)["text"])
        article = "; ".join(_cited(f"an article: {{{o['id']}{n}}}", [i]) for n, i in enumerate(o["says"]))
        fails = f" {o['contradiction']}" if o["contradiction"] else ""
        rows.append(
            Row([Name(o["name"]), _cited(o["fabric"], o["primary"]), f"{article}.{fails}" if article else None])
        )
    shares = [p.get("share") or p["ethernet"] for p in context["market_share"]]
    for group in (
        *context["reported"],
        {"what": "InfiniBand and Ethernet in sales of AI back-end switches", "entries": shares},
    ):
        rows.append(Row([Name(group["what"]), "", ""], role="group"))
        for i in group["entries"]:
            entry = case.inputs.evidence[i.removeprefix("evidence:")]
            words = isinstance(entry.value, str)
            if words:
                said[_word(i)] = Name(str(entry.value))
            by = f"{entry.publisher} ({entry.interest})" if entry.interest else entry.publisher
            shown = f"{{{_word(i)}}}" if words else _stated(case, i)
            rows.append(Row([Name(entry.what), _cited(shown, [i]), Name(f"{by}: {entry.grade}")]))
    return Table(_heads("What", "As reported", "By whom, or what an article makes of it"), rows, said)


# ---- how to read it


def grades(case: Report) -> Table:
    """Each grade, what it means, what it weighs, and how many entries have it."""
    rows = [
        Row([g["id"], g["means"], *(case.figure(f"report.{of}.{g['id']}") for of in ("weight", "entries"))])
        for g in read_yaml("assurance")["grades"]
    ]
    total = Row(["All", "", None, case.figure("report.entries")], role="total")
    return Table(_heads("Grade", "Meaning", "Weight in a prior", "In the library"), [*rows, total])


def likelihoods(case: Report) -> Table:
    """The words of likelihood, each with its share of chances."""
    rows = [Row([s["words"], _cited(_stated(case, s["share"]), [s["share"]])]) for s in read_yaml("assurance")["scale"]]
    return Table(_heads("Words", "Share of chances"), rows)


def glossary() -> Table:
    """Terms of the trade in plain words, two to a row."""
    terms = [(t.term, t.means) for t in glossary_book().terms]
    half = (len(terms) + 1) // 2
    right = [*terms[half:], ("", "")][:half]
    rows = [Row([*first, *second]) for first, second in zip(terms[:half], right, strict=True)]
    return Table(_heads("Term", "Meaning", "Term", "Meaning"), rows)


_HEADS = (
    "Purchase",
    "Network they took, and why",
    "Price they paid",
    "Our bill, in hindsight",
    "Our advice, in hindsight",
)
_BILL = {True: "what they paid is within it", False: "**a miss**, what they paid is outside it", None: ""}
_ADVICE = {True: "as they took", False: "**a miss**, not what they took", None: "so no choice could miss"}
_EXPECTED = {True: "we expected so", False: "we expected another", None: ""}
_APART = (*_HEADS[:3], "Why not beside ours")


def purchases() -> Table:
    """The purchases that can be compared: theirs to the left, ours to the right."""
    return _table(_HEADS, is_compared=True)


def purchases_apart() -> Table:
    """The others, and why they are not compared."""
    return _table(_APART, is_compared=False)


def _table(heads: Sequence[str], *, is_compared: bool) -> Table:
    rows, said = [], dict[str, object]()
    for n, h in enumerate(all_compared().values()):
        if (h.verdict is not None or h.bill_usd is not None) is is_compared:
            words = _words(h)
            said |= {f"p{n}{part}": Name(text) for part, text in words.items() if text}
            cells = _theirs(h, f"p{n}", words)
            rows.append(Row([*cells, *(_ours(h, f"p{n}") if is_compared else [f"{{p{n}bill}} {{p{n}advice}}"])]))
    return Table([Column(head) for head in heads], rows, said)


def _words(h: Hindsight) -> dict[str, str]:
    p = h.purchase
    why = f": {'; '.join(p.reasons)}" if p.reasons else ""
    return {
        "who": f"{p.owner}, {p.date}",
        "gpu": p.gpu,
        "count": p.count_note,
        "took": capital(f"{p.network}{why}."),
        "paid": p.price.includes if p.price else "",
        "bill": _why_not(p.computable.bill),
        "advice": _why_not(h.purchase.computable.advice) if h.verdict is None else capital(advice_text(h)),
    }


def _why_not(computable: str) -> str:
    return "" if computable == YES else capital(computable.removeprefix("no: ")) + "."


def _theirs(h: Hindsight, key: str, words: dict[str, str]) -> list[str | None]:
    p = h.purchase
    size = f"{{report.purchase.{p.id}.gpus}}, " if p.gpus is not None else ""
    doubt = "" if p.is_confirmed else "; *unconfirmed*"
    note = f" ({{{key}count}}{doubt})" if words["count"] else f" ({doubt.removeprefix('; ')})" if doubt else ""
    price = f"{{report.purchase.{p.id}.price}}: {{{key}paid}}." if p.price else None
    return [f"{{{key}who}}: {size}{{{key}gpu}}{note} {{cite purchase:{p.id}}}", f"{{{key}took}}", price]


def _ours(h: Hindsight, key: str) -> list[str | None]:
    at = f"report.purchase.{h.purchase.id}"
    advice = f"{{{key}advice}}"
    return [
        f"*{{{key}bill}}*" if h.bill_usd is None else f"{{{at}.bill}} ({{{at}.bill:spread}}): {_BILL[h.bill_holds]}.",
        f"*{advice}*" if h.verdict is None else f"{advice}: {_ADVICE[h.agrees]}; {_EXPECTED[h.as_expected]}.",
    ]


_GUARD_HEADS = ("Replay", "Right prices held", "Wrong prices held", "Wrong prices let through")
_BY_NUMBER = "date"
"""The fault whose rows are too many to name here, and alike."""


def guard() -> Table:
    """Every replay: what was held and what was let through on a row's own day, by name."""
    rows, said = [], dict[str, object](when=Name(f"Held {list(HORIZONS)[LATER]}"))
    for one in replays().values():
        at = f"report.guard.{one.id}"
        names = {
            "title": capital(one.title),
            "held": _named(one.false_holds()),
            "caught": _by_fault(one.right_holds()),
            "missed": _by_fault(one.misses()),
        }
        said |= {f"{one.id}{part}": Name(text) for part, text in names.items()}
        cells = [f"{{{at}.{p}}}" + (f": {{{one.id}{p}}}" if names[p] else "") for p in ("held", "caught", "missed")]
        later = f" {{when}}: {{{at}.later}}." if one.false_holds() else ""
        rows.append(
            Row([f"{{{one.id}title}}: {{{at}.rows}} prices", f"{cells[0]}.{later}", *(f"{c}." for c in cells[1:])])
        )
    return Table([Column(head) for head in _GUARD_HEADS], rows, said)


def _by_fault(found: Iterable[Replayed]) -> str:
    """Rows counted by what was wrong with them, and named unless they are many and alike."""
    rows = {fault: [r for r in found if r.wrong == fault] for fault in FAULTS}
    return "; ".join(
        f"{len(rows[fault])} {what}" + ("" if fault == _BY_NUMBER else f" ({_named(rows[fault])})")
        for fault, what in FAULTS.items()
        if rows[fault]
    )


def _named(found: Iterable[Replayed]) -> str:
    """Rows by seller, each with its GPUs: `Nebius H100/H200`."""
    gpus: dict[str, dict[str, None]] = defaultdict(dict)
    for r in found:
        gpu, _, seller = item_names(r.row.item).name.removeprefix("Hour of one ").rstrip(")").partition(" (")
        gpus[seller][gpu] = None
    return ", ".join(f"{seller} {'/'.join(of)}" for seller, of in gpus.items())
