"""The table of purchases of others: what they took and paid, and what we would have said."""

from __future__ import annotations

from collections.abc import Sequence

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.purchases import YES
from fabricreport.findings import capital
from fabricreport.hindsight import Hindsight, advice_text, all_compared

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
