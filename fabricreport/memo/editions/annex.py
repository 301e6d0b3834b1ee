"""What changed since the edition before, as a memo tells it: two lines on page one at most, and an annex with a table.

The words stand in `data/changes.yaml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import nbformat

from fabricreport.base.formats import inside
from fabricreport.base.vocabulary import Grade
from fabricreport.blocks.document import MIME, Block
from fabricreport.blocks.nodes import Glance, Heading, Top
from fabricreport.blocks.tables import Column, Row, table_node
from fabricreport.blocks.template import Binder, PhraseCell
from fabricreport.ledger.facts import Name, capital
from fabricreport.ledger.numbers import Number
from fabricreport.memo.editions.causes import Cause, Kind
from fabricreport.memo.editions.probe import ACTION, CLASS, TERMS
from fabricreport.memo.editions.redline import WORDS, NumberChange, Redline

SECTION = "changes"
MOST_WORDS = 16
"""Of a number's name and of its largest cause on page one; a longer cause is left to the annex."""


def with_changes(notebooks: Mapping[str, Any], spine: str, found: Redline, day: tuple[str, str]) -> dict[str, Any]:
    """The notebooks of a memo with the changes since the edition of a day (as ISO has it, and in words): in its body behind the
    summary, and as an annex."""
    told = _Told(found, *day)
    body, annex = nbformat.from_dict(notebooks[spine]), nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    body.cells = [*notebooks[spine].cells]
    body.cells.insert(behind_summary(body), told.line(spine))
    annex.cells = [told.annex()]
    return {**notebooks, spine: body, **({SECTION: annex} if found.numbers or found.prices or found.keys else {})}


def behind_summary(notebook: Any) -> int:
    """The place behind the last cell that shows a part of page one's summary; 0 where none does."""
    shown = [[o.get("data", {}).get(MIME, {}) for o in cell.get("outputs", ())] for cell in notebook.cells]
    kinds = [{node.get("t") for bundle in bundles for node in bundle.get("nodes", ())} for bundles in shown]
    return max((n for n, found in enumerate(kinds, start=1) if Glance.kind in found), default=0)


@dataclass(frozen=True)
class _Printed(Number):
    """A number as it was printed."""

    printed: str = ""

    @property
    def text(self) -> str:
        """What was printed."""
        return self.printed


@dataclass(frozen=True)
class _Told:
    """The words of a redline, and the ledger numbers in them."""

    found: Redline
    date: str
    day: str

    def line(self, spine: str) -> Any:
        """A cell: whether the advice is another, and the first number that moved with its largest cause."""
        words = dict[str, object].fromkeys(("moved", "due", "share"))
        told = {word.id: (word.old, word.new) for word in self.found.words}
        (unsure, sure), (met, terms), ids = told.get(next(iter(CLASS)), ("", "")), told.get(TERMS, ("", "")), {*told}
        words |= {
            "other": bool(ids & {*ACTION}),
            "class": bool(unsure and sure),
            "terms": bool(terms),
            "met": bool(met),
        }
        words |= {"unsure": Name(unsure), "sure": Name(sure)}
        words["dated"] = bool(self.found.dated) and ids & {*ACTION, *CLASS} <= self.found.dated
        first = next((n for n in self.found.moving if n.causes and n.id in self.found.material), None)
        if first is not None:
            alone = [cause for cause in first.causes if cause.kind != Kind.TOGETHER] or first.causes
            due = self.name(max(alone, key=lambda cause: abs(cause.amount)), inside)
            label = WORDS["short"].get(first.id, first.label)
            room = len(f"{label} {due}".split()) <= MOST_WORDS
            before, now = self.ends(first)
            words |= {"moved": Name(label), "due": due if room else None, "before": before, "now": now}
            words["share"] = WORDS["share"]["one" if len(first.causes) == 1 else "more"]
        binder = self.binder(words)
        return self.cell(spine, [Glance(binder.prose(WORDS["line"]), ())], binder)

    def annex(self) -> Any:
        """A cell with a heading and a table: each number before and now, and under it what it is due to."""
        binder, (what, *heads) = self.binder({"rule": WORDS["rules"]["due"]}), WORDS["columns"]
        columns = [Column(what), *(Column(head, "mixed") for head in heads)]
        rows = [row for number in self.found.moving or self.found.numbers for row in self.rows(number)]
        rows += [Row((Name(capital(one.label)), *self.ends(one), None)) for one in self.found.beside]
        table = table_node(binder, f"tab-{SECTION}", WORDS["caption"], columns, rows, WORDS["note"])
        return self.cell(SECTION, [Heading(1, binder.inline(WORDS["title"]), f"sec-{SECTION}"), table], binder)

    def binder(self, words: Mapping[str, object]) -> Binder:
        return Binder(dict[str, Number]().__getitem__, {"day": Name(self.day), **words})

    def cell(self, section: str, nodes: Sequence[Top], binder: Binder) -> Any:
        """A cell that shows nodes, with the edition before as the source of all numbers but the memo's own."""
        edition, memo = self.found.editions[0], f"This memo, its edition of {self.day}"
        source = {
            "id": f"edition:{edition}", "kind": "edition", "label": memo, "value": None, "text": edition, "unit": "text",
            "date": self.date, "source": memo, "publisher": "", "address": "", "read": "", "grade": Grade.MEASURED,
            "seen": "A", "interest": "", "use": "what it printed, or was made from", "expiry": "", "stale": False,
            "override": None,
        }  # fmt: skip
        own = [number.as_dict() for number in binder.numbers.values() if number.id.startswith(f"{SECTION}.")]
        ledger = tuple({**entry, "section": section} for entry in own)
        told = {i for entry in own for i in entry["inputs"]}
        moves = (*self.found.prices.values(), *self.found.keys.values())
        prices = [dict(one.record) for one in moves if one.record and one.id in told]
        block = Block(section, tuple(nodes), ledger, (source, *prices), tuple(binder.names), {})
        output = nbformat.v4.new_output("display_data", data={MIME: block.bundle})  # type: ignore[no-untyped-call]
        return nbformat.v4.new_code_cell("# made by the build", outputs=[output], id=SECTION)  # type: ignore[no-untyped-call]

    def rows(self, n: NumberChange) -> Iterator[Row]:
        """A number, and each of its causes."""
        moved = n.old_text != n.new_text
        whole = self.number(f"{n.id}.change", n.amount(n.new - n.old), f"Change of: {n.label}", "change")
        yield Row((PhraseCell("**{label}**", {"label": Name(n.label)}), *self.ends(n), whole if moved else None))
        for cause in n.causes if moved else ():
            name, one = self.name(cause, capital), self.found.alone(cause)
            id = "-".join((n.id, cause.kind.name.lower(), *cause.of))
            due = self.number(id, n.amount(cause.amount), f"{n.label}, due to: {name}", "due")
            yield Row((name, *(self.ends(one) if one else (None, None)), due))

    def name(self, cause: Cause, begun: Callable[[str], str]) -> str:
        """What a cause is called; a price or a key by a name of its own."""
        name = begun(self.found.name(cause))
        return Name(name) if self.found.alone(cause) else name

    def ends(self, n: NumberChange) -> tuple[Number, Number] | tuple[Name, Name]:
        """A number, a price or a key before and now; a number's of now is the memo's own."""
        if n.unit == "text":
            return Name(n.old_text), Name(n.new_text)
        name, id = capital(n.label), n.id.replace(":", ".")
        before = self.number(f"{id}.before", (n.old, n.old_text, n.unit), f"{name}, before", "before")
        now = self.number(f"{id}.now", (n.new, n.new_text, n.unit), f"{name}, now", "now")
        if n.record is None:
            return before, now.renamed(n.id)
        own = {"inputs": (n.id,), "sources": (n.id,), "grade": n.record["grade"], "date": n.record["date"]}
        return before, replace(now, **own)

    def number(self, id: str, amount: tuple[float, str, str], label: str, rule: str) -> Number:
        """A value, its text and its unit as a number."""
        source, made = (f"edition:{self.found.editions[0]}",), WORDS["rules"][rule].format(day=self.day)
        grade = Grade.MEASURED if rule in ("before", "now") else Grade.ESTIMATE  # copied, or worked out
        value, text, unit = amount
        return _Printed(
            f"{SECTION}.{id}", value, unit, label, made, source, source, grade, date=self.date, printed=text
        )
