"""What changed since the edition before, as a memo tells it: two lines on page one at most, and an annex with a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import nbformat

from fabricreport.base.formats import inside
from fabricreport.base.vocabulary import Grade
from fabricreport.blocks.document import MIME, Block
from fabricreport.blocks.nodes import (
    DataTable,
    Flow,
    Glance,
    Heading,
    Inline,
    Num,
    Paragraph,
    Strong,
    TableColumn,
    TableRow,
    Text,
)
from fabricreport.ledger.facts import capital
from fabricreport.ledger.numbers import Number, Record
from fabricreport.memo.editions.causes import Cause, Kind
from fabricreport.memo.editions.redline import NumberChange, Redline

SECTION = "changes"
TITLE = "What changed since the edition before"
NAMED: Mapping[Kind, str] = {
    Kind.METHOD: "The method",
    Kind.TOGETHER: "All prices together, beyond these alone",
    Kind.SINCE: "The method since",
    Kind.ALL: "Method and inputs",
}
GROUPS = {"prices": "the prices", "params": "what you told us", "sources": "sources and offers"}
MOST_WORDS = 20
"""Of a number's name and of its largest cause on page one; a longer cause is left to the annex."""
RULE = "what it adds, averaged over every order in which what changed may change; a price and the method by themselves"


def with_changes(notebooks: Mapping[str, Any], spine: str, found: Redline, day: tuple[str, str]) -> dict[str, Any]:
    """The notebooks of a memo with the changes since the edition of a day (as ISO has it, and in words): in its body behind the
    summary, and as an annex."""
    told = _Told(found, day)
    body, annex = nbformat.from_dict(notebooks[spine]), nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    body.cells = [*notebooks[spine].cells]
    body.cells.insert(behind_summary(body), _cell(told.block(spine, (Glance(told.lines(), ()),))))
    annex.cells = [_cell(told.block(SECTION, told.annex()))]
    return {**notebooks, spine: body, **({SECTION: annex} if found.numbers else {})}


def behind_summary(notebook: Any) -> int:
    """The place behind the last cell that shows a part of page one's summary; 0 where none does."""
    shown = [[o.get("data", {}).get(MIME, {}) for o in cell.get("outputs", ())] for cell in notebook.cells]
    kinds = [{node.get("t") for bundle in bundles for node in bundle.get("nodes", ())} for bundles in shown]
    return max((n for n, found in enumerate(kinds, start=1) if Glance.kind in found), default=0)


def _cell(block: Block) -> Any:
    output = nbformat.v4.new_output("display_data", data={MIME: block.bundle})  # type: ignore[no-untyped-call]
    return nbformat.v4.new_code_cell("# made by the build", outputs=[output], id=SECTION)  # type: ignore[no-untyped-call]


class _Told:
    """The words of a redline, and the ledger numbers in them."""

    def __init__(self, found: Redline, day: tuple[str, str]) -> None:
        self.found, self.day, edition = found, day[1], found.editions[0]
        self.source: Record = {
            "id": f"edition:{edition}", "kind": "edition", "label": f"This memo as of {self.day}", "value": None,
            "text": edition, "unit": "text", "date": day[0], "source": f"This memo, its edition of {self.day}",
            "publisher": "", "address": "", "read": "", "grade": Grade.MEASURED, "seen": "A", "interest": "",
            "use": "what that edition printed, or was made from", "expiry": "", "stale": False, "override": None,
        }  # fmt: skip
        self.ledger: dict[str, Record] = {}

    def block(self, section: str, nodes: Sequence[Any]) -> Block:
        """Nodes with the ledger numbers met so far."""
        names = (
            self.day,
            *(n.label for n in self.found.numbers),
            *(capital(m.name) for m in self.found.prices.values()),
        )
        ledger = tuple({**entry, "section": section} for entry in self.ledger.values())
        return Block(section, tuple(nodes), ledger, (self.source,), names, {})

    def lines(self) -> tuple[Flow, ...]:
        """At most two lines: whether the advice is another, and the first number that moved with its largest cause."""
        other = any(word.id in ("recommendation", "choice", "offer") for word in self.found.words)
        moved = [n for n in self.found.numbers if n.old_text != n.new_text]
        text: list[Inline] = [
            Text(f"Since the edition of {self.day} the advice {'is another' if other else 'stands'}.")
        ]
        if moved:
            first = moved[0]
            due = f", most of all for {inside(self.name(max(first.causes, key=lambda c: abs(c.amount))))}"
            room = len(f"{first.label}{due}".split()) <= MOST_WORDS
            text += [Text(f" {first.label}: "), self.before(first), Text(" then, "), self.now(first)]
            text.append(Text(f" now{due if room else ''}."))
        return (Paragraph(tuple(text)),)

    def annex(self) -> tuple[Any, ...]:
        """A heading and a table: each number before and now, and under it what it is due to."""
        heads = [("What changed", "left"), ("Before", "right"), ("Now", "right"), ("Due to it", "right")]
        columns = tuple(TableColumn((Text(head),), "", align) for head, align in heads)  # type: ignore[arg-type]
        rows = [row for number in self.found.numbers for row in self.rows(number)]
        caption = (
            Text(f"What each number of the advice was in the edition of {self.day}, and what its change is due to"),
        )
        table = DataTable(f"tab-{SECTION}", caption, columns, tuple(rows), (Text(f"Due to it: {RULE}."),))
        return Heading(1, (Text(TITLE),), f"sec-{SECTION}"), table

    def rows(self, n: NumberChange) -> list[TableRow]:
        """A number, and each of its causes."""
        stays = n.old_text == n.new_text
        whole = () if stays else (self.number(f"{n.id}.change", n.new - n.old, n, f"Change of: {n.label}"),)
        rows = [TableRow(((Strong((Text(n.label),)),), (self.before(n),), (self.now(n),), whole), "normal")]
        for cause in () if stays else n.causes:
            name = self.name(cause)
            id = "-".join((n.id, cause.kind.name.lower(), *cause.of))
            amount = self.number(id, cause.amount, n, f"{name}: {n.label}")
            rows.append(TableRow(((Text(name),), *self.ends(cause), (amount,)), "normal"))
        return rows

    def name(self, cause: Cause) -> str:
        if cause.kind == Kind.PRICE:
            return capital(self.found.prices[cause.of[0]].name)
        return NAMED.get(cause.kind) or capital(", ".join(GROUPS[group] for group in cause.of))

    def ends(self, cause: Cause) -> tuple[tuple[Inline, ...], tuple[Inline, ...]]:
        if cause.kind != Kind.PRICE:
            return (), ()
        move, item = self.found.prices[cause.of[0]], cause.of[0].partition(":")[2]
        (old, new), (was, now), name = move.values, move.texts, capital(move.name)
        rule = f"as used in the edition of {self.day}"
        before = self.record(f"price.{item}.before", old, was, move.unit, f"{name}, before", rule)
        after = self.record(f"price.{item}.now", new, now, move.unit, f"{name}, now", "as used in this memo")
        return (before,), (after,)

    def before(self, n: NumberChange) -> Num:
        rule = f"as printed in the edition of {self.day}"
        return self.record(f"{n.id}.before", n.old, n.old_text, n.unit, f"{n.label}, before", rule)

    def now(self, n: NumberChange) -> Num:
        return Num(n.id, n.new_text, n.new)

    def number(self, id: str, value: float, n: NumberChange, label: str) -> Num:
        share = n.unit in ("share", "relative")
        unit, told = ("percentage-point", value * 100) if share else (n.unit, value)
        return self.record(id, told, n.amount(value), unit, label, RULE)

    def record(self, id: str, value: float, text: str, unit: str, label: str, rule: str) -> Num:
        own, source = f"{SECTION}.{id}", (self.source["id"],)
        made = Number(own, value, unit, label, rule, source, source, Grade.MEASURED, date=self.source["date"])
        self.ledger[own] = {**made.as_dict(), "text": text}
        return Num(own, text, self.ledger[own]["value"])
