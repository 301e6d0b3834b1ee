"""Where a memo, or the evidence report, shows what its seeds said: one lookup for each kind of anchor that `tests/golden/seeds.yaml` names."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import bench
from click.testing import CliRunner
from read_memo import page_texts, stitched

from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.nodes import (
    Cite,
    DataTable,
    Figure,
    Glance,
    Heading,
    Headline,
    Inline,
    Node,
    Num,
    Text,
    plain_text,
    walk,
)
from fabricreport.cli.main import main
from fabricreport.memo.document.pieces import gather
from fabricreport.sections.decision.inputs import framework_of

ROOT = Path(__file__).parents[2]
PRINTED = ("page-one", "body")


Cells = tuple[tuple[Inline, ...], ...]


def by_id(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows}


def words_of(cell: Iterable[Inline]) -> str:
    """A cell or paragraph as its reader sees it, in one spacing."""
    return " ".join(plain_text(cell).split())


def numbers_in(cells: Cells) -> set[str]:
    """Ids of the ledger's numbers in the cells of a row."""
    return {node.id for cell in cells for node in walk(cell) if isinstance(node, Num)}


@dataclass(frozen=True)
class Printed:
    """One place of a memo: everything that is printed there."""

    nodes: tuple[Node, ...]

    @cached_property
    def inside(self) -> tuple[Node, ...]:
        return tuple(walk(self.nodes))

    @cached_property
    def numbers(self) -> dict[str, str]:
        return {n.id: n.text for n in self.inside if isinstance(n, Num)}

    def texts(self, name: str) -> list[str]:
        """How the number, or each of a family (`tco.part.*`), is printed."""
        return [text for number, text in self.numbers.items() if fnmatchcase(number, name)]

    @cached_property
    def cited(self) -> set[str]:
        """Evidence cited in words, quoted as a number or drawn in a chart."""
        marks = {i for n in self.inside if isinstance(n, Cite) for i in n.ids}
        quoted = {i.removeprefix("stated.").replace(".", ":", 1) for i in self.numbers if i.startswith("stated.")}
        told = {f"evidence:{part}" for i in self.numbers if i.startswith("report.stated.") for part in i.split(".")}
        drawn = {f"evidence:{row['id']}" for chart in self.charts.values() for row in rows_of(chart) if "id" in row}
        return marks | quoted | told | drawn

    @cached_property
    def charts(self) -> dict[str, Figure]:
        return {n.id: n for n in self.inside if isinstance(n, Figure)}

    @cached_property
    def tables(self) -> dict[str, DataTable]:
        return {n.id: n for n in self.inside if isinstance(n, DataTable)}

    @cached_property
    def sections(self) -> set[str]:
        return {n.id for n in self.inside if isinstance(n, Heading)}

    def row(self, table: str, name: str, column: int = 0) -> Cells | None:
        """The row of a table that bears a name in one of its cells."""
        for cells in self.rows(table):
            if words_of(cells[column]) == " ".join(name.split()):
                return cells
        return None

    def rows(self, table: str) -> list[Cells]:
        return [row.cells for row in self.tables[table].rows] if table in self.tables else []


def rows_of(chart: Figure) -> list[dict[Any, Any]]:
    head, *rows = chart.data
    return [dict(zip(head, row, strict=True)) for row in rows]


class _Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids |= {str(value) for name, value in attrs if name == "id"}


class Edition:
    """A published edition, read where its readers read it; `name` is what its files are called."""

    def __init__(self, folder: Path, name: str = "memo") -> None:
        self.folder, self.name = folder, name
        pieces = gather(stitched(folder)).pieces
        nodes = [n for p in pieces for n in p.nodes if not isinstance(n, Headline)]
        self.printed = {
            "page-one": Printed(tuple(n for n in nodes if isinstance(n, Glance))),
            "body": Printed(tuple(n for n in nodes if not isinstance(n, Glance))),
        }

    @cached_property
    def first_page(self) -> str:
        return "".join(page_texts(self.folder / f"{self.name}.pdf")[0].split())

    @cached_property
    def html_ids(self) -> set[str]:
        parser = _Ids()
        parser.feed((self.folder / f"{self.name}.html").read_text(encoding="utf-8"))
        return parser.ids

    @cached_property
    def ledger(self) -> set[str]:
        book = json.loads((self.folder / "ledger.json").read_text(encoding="utf-8"))
        return {entry["id"] for part in ("inputs", "numbers") for entry in book[part]}

    def data_rows(self, name: str) -> int:
        path = self.folder / "data" / f"{name}.csv"
        return len(list(csv.reader(path.read_text(encoding="utf-8").splitlines()))) - 1 if path.exists() else 0

    def shows(self, place: str, anchor: str) -> bool:
        """True if the anchor is found at this place."""
        kind, _, name = anchor.partition(":")
        if place == "html":
            return kind == "anchor" and name in self.html_ids
        if place == "file":
            return self.data_rows(name) > 0 if kind == "data" else kind == "ledger" and name in self.ledger
        found = LOOKUPS[kind](self.printed[place], name)
        if place == "page-one" and kind == "number":
            texts = self.printed[place].texts(name)
            return any("".join(text.split()) in self.first_page for text in texts)
        return found

    def shows_anywhere(self, anchor: str) -> bool:
        """True if any place of the edition, its HTML or its files has the anchor."""
        kind = anchor.partition(":")[0]
        places = {"anchor": ("html",), "data": ("file",), "ledger": ("file",)}.get(kind, PRINTED)
        return any(self.shows(place, anchor) for place in places)


CONTEXT, FRAMEWORK, PROVIDERS = read_yaml("context"), read_yaml("framework"), read_yaml("providers")
AUDIT, QUESTIONS = read_yaml("claims"), by_id(read_yaml("questions")["questions"])
CLAIMS = by_id(AUDIT["claims"])


def _claim(at: Printed, name: str) -> bool:
    """A row of the audit with the claim, its figures and a verdict."""
    if name not in CLAIMS:
        return False
    said = " ".join(CLAIMS[name]["claim"].split()) + "."  # what is wrong with it may follow in the same cell
    cells = next((c for c in at.rows("tab-report-claims") if words_of(c[0]).startswith(said)), None)
    if cells is None:
        return False
    figures = numbers_in(cells)
    numeric = isinstance(CLAIMS[name].get("stated"), int | float | dict)
    told = {i for i in figures if i.startswith(f"report.claim.{name}.stated")}
    return bool(words_of(cells[-1])) and bool(told) == numeric


def _publisher(at: Printed, name: str) -> bool:
    source = AUDIT["sources"].get(name)
    return (
        source is not None and at.row("tab-report-claims", f"{source['publisher']} ({source['interest']})") is not None
    )


def _contradiction(at: Printed, name: str) -> bool:
    return name in CLAIMS and at.row("tab-report-contradictions", CLAIMS[name]["claim"], 1) is not None


def _question(at: Printed, name: str) -> bool:
    """A row of the questions' table with the question itself, its good answer and its red flag."""
    cells = at.row("tab-report-questions", name)
    if name not in QUESTIONS or cells is None:
        return False
    parts = [" ".join(QUESTIONS[name][key].split()) for key in ("question", "good", "red_flag")]
    return all(part in words_of(cell) for part, cell in zip(parts, cells[1:], strict=True))


def _fact(at: Printed, name: str) -> bool:
    fact = by_id(CONTEXT["facts"]).get(name)
    if fact is None:
        return False
    text = " ".join(fact["text"].split())
    told = any(text in words_of(cells[1]) for cells in at.rows("tab-report-facts"))
    return set(fact["evidence"]) <= at.cited and told


def _term(at: Printed, name: str) -> bool:
    return any(at.row("tab-report-glossary", name, column) is not None for column in (0, 2))


def _rowed(table: str, names: Mapping[str, str]) -> Callable[[Printed, str], bool]:
    return lambda at, name: name in names and at.row(table, names[name]) is not None


def _names(rows: list[dict[str, Any]], key: str = "name") -> dict[str, str]:
    return {row["id"]: row[key] for row in rows}


def _axis(at: Printed, name: str) -> bool:
    title = _names(FRAMEWORK["axes"], "title").get(name)
    return title is not None and at.row("tab-decision-rules", title) is not None


def _rule(at: Printed, name: str) -> bool:
    """The rule's reason, and beside it either whom it favours or what of the bill holds it already."""
    rule = by_id(FRAMEWORK["rules"]).get(name)
    if rule is None:
        return False
    reason = " ".join(rule["reason"].split())
    cells = next((c for c in at.rows("tab-decision-rules") if words_of(c[1]).startswith(reason)), None)
    return cells is not None and bool(words_of(cells[2])) and words_of(cells[3]) in _billed(rule)


def _billed(rule: dict[str, Any]) -> tuple[str, ...]:
    """What the bill of an owner or of a renter calls the line that holds a rule already."""
    line = rule.get("priced_as", "")
    return (line, FRAMEWORK["rented"].get(line, line))


def _seller(at: Printed, name: str) -> bool:
    """The seller's row with where its fabric is sold, its topology and, where there is one, its link."""
    seller = by_id(PROVIDERS["providers"]).get(name)
    cells = at.row("tab-report-sellers", seller["name"]) if seller else None
    if seller is None or cells is None:
        return False
    told = words_of([node for cell in cells for node in (*cell, Text(" "))])
    link = numbers_in(cells) == {f"report.link.{name}"}
    return (
        seller["availability"] in told
        and (seller["topology"] or "not documented") in told
        and link == (seller["link_gbits_per_s"] is not None)
    )


LOOKUPS: dict[str, Callable[[Printed, str], bool]] = {
    "axis": _axis,
    "chart": lambda at, name: name in at.charts,
    "claim": _claim,
    "contradiction": _contradiction,
    "evidence": lambda at, name: f"evidence:{name}" in at.cited,
    "fact": _fact,
    "number": lambda at, name: bool(at.texts(name)),
    "operator": _rowed("tab-report-context", _names(CONTEXT["operators"])),
    "option": lambda at, name: f"tco.total.{name}" in at.numbers,
    "product": _rowed("tab-report-context", _names(CONTEXT["products"])),
    "publisher": _publisher,
    "question": _question,
    "rule": _rule,
    "section": lambda at, name: name in at.sections,
    "seller": _seller,
    "stress": lambda at, name: f"tail_risk.stress.{name}.usd" in at.numbers,
    "table": lambda at, name: name in at.tables,
    "term": _term,
    "transport": _rowed("tab-report-transports", _names(CONTEXT["rdma_family"])),
}
OF_REPORT = {*LOOKUPS, "anchor", "data", "ledger"}
"""Kinds of anchors that the evidence report may show: it is one place, with its HTML edition and its files."""
PLACED = {
    "report": OF_REPORT,
    "html": {"anchor"},
    "file": {"data", "ledger"},
    "command": {"claim", "evidence", "model"},
}


def rules_printed(client: str, given: Mapping[str, Any]) -> set[str]:
    """The rules of the framework that a memo would print for a client whose params are changed as `given`."""
    keys = {
        (f"{section}__{key}" if isinstance(changes, dict) else section): value
        for section, changes in given.items()
        for key, value in (changes.items() if isinstance(changes, dict) else [(section, changes)])
    }
    found = framework_of(bench.changed(client, **keys).inputs)
    return {rule.id for axis in found.axes for rule in axis.rules}


def told_by_command(anchor: str) -> bool:
    """True if the command line lists the anchor."""
    kind, _, name = anchor.partition(":")
    commands = {"claim": ["evidence", "--claims"], "evidence": ["evidence"], "model": ["validate", name]}
    done = CliRunner().invoke(main, [*commands[kind], "--json"])
    if done.exit_code != 0:
        return False
    rows = json.loads(done.stdout)
    return bool(rows) if kind == "model" else name in {row["id"] for row in rows}
