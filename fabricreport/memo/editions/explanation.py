"""`fabricreport explain`: the chain from a printed number to its sources, read from an edition's ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.ledger.bases import told
from fabricreport.memo.editions.editions import EDITION, EVIDENCE, LATEST, latest_edition, list_editions
from fabricreport.memo.editions.manifest import MANIFEST, read_output, read_sealed

if TYPE_CHECKING:
    from fabricreport.case import Case
    from fabricreport.ledger.numbers import Record
    from fabricreport.report.report import Report

LEDGER = "ledger.json"
LIBRARY = "the library"


@dataclass(frozen=True)
class Ledger:
    """The ledger of one published edition: whose it is, which edition, its entries as `ledger.json` keeps them."""

    client: str
    slug: str
    edition: str
    numbers: tuple[Record, ...]
    inputs: tuple[Record, ...]


@dataclass(frozen=True)
class Explanation:
    """A number or an input of a ledger, the inputs it rests on, and (for an input) the numbers that rest on it."""

    ledger: Ledger
    entry: Mapping[str, Any]
    inputs: tuple[Record, ...]
    dependents: tuple[Record, ...]
    worked_out_from: str = ""
    """The params file of a figure that was worked out when asked, or the library; it is in no memo."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        whose = {"name": self.ledger.client, "slug": self.ledger.slug}
        return {
            "client": whose,
            "edition": self.ledger.edition,
            "entry": dict(self.entry),
            "inputs": list(self.inputs),
            "dependents": list(self.dependents),
            **({"worked_out_from": self.worked_out_from} if self.worked_out_from else {}),
        }

    def as_text(self) -> str:
        """The chain as lines for a terminal."""
        entry = self.entry
        lines = [f"{self.ledger.client}, edition {self.ledger.edition}"]
        if self.worked_out_from:
            lines.append(f"worked out now, from {self.worked_out_from} as it is today: this figure is in no memo")
        lines += [f"{entry['id']} = {entry['text']}", f"  {entry['label']}"]
        if entry.get("base"):
            lines.append(f"  base: {told(entry['base'])}")
        if entry.get("rule"):
            lines.append(f"  rule: {entry['rule']}")
        if entry.get("spread"):
            spread = entry["spread_text"]
            lines.append(f"  P5 {spread['p5']}, P50 {spread['p50']}, P95 {spread['p95']}")
        lines.append(f"  grade: {entry['grade']}" + (" (stale)" if entry.get("stale") else ""))
        if "source" in entry:
            lines += _source_lines(entry, "  ")
        if self.inputs:
            lines.append(f"  rests on {len(self.inputs)} inputs:")
        for record in self.inputs:
            lines.append(
                f"    {record['id']} = {record['text']} [{record['grade']}{', stale' if record['stale'] else ''}]"
            )
            lines += _source_lines(record, "      ")
        if self.dependents:
            lines.append(f"  {len(self.dependents)} printed numbers rest on it:")
            lines += [f"    {d['id']} = {d['text']}" for d in self.dependents]
        return "\n".join(lines)


def _source_lines(record: Mapping[str, Any], indent: str) -> list[str]:
    parts = [str(record[k]) for k in ("source", "publisher", "date", "address") if record.get(k)]
    lines = [indent + "; ".join(dict.fromkeys(parts))]
    if record.get("override"):
        over = record["override"]
        until = f" until {over['until']}" if over["until"] else ""
        lines.append(f"{indent}overridden by {over['who']}{until}: {over['why']}")
    return lines


def explain(ledger: Ledger, entry_id: str, params: Path | None = None, output: Path | None = None) -> Explanation:
    """Explain a number's or an input's id; what the ledger lacks is worked out from `params`, else from the client's params
    file in the project that `output` belongs to, or for the evidence report from the library.

    `InputError` with "did you mean" when neither has it.
    """
    numbers = {n["id"]: n for n in ledger.numbers}
    inputs = {i["id"]: i for i in ledger.inputs}
    if entry_id in numbers:
        entry = numbers[entry_id]
        return Explanation(
            ledger, entry, tuple(inputs[i] for i in entry["inputs"] if i in inputs and i != entry_id), ()
        )
    if entry_id in inputs:
        resting = tuple(n for n in numbers.values() if entry_id in n["inputs"])
        return Explanation(ledger, inputs[entry_id], (), resting)
    if params is None and output is not None and ledger.slug != EVIDENCE:
        params = params_of(ledger, output)
    found = _worked_out(ledger, entry_id, params)
    if found is not None:
        return found
    raise InputError(
        Problem(
            f"is no number of the ledger of {ledger.client}, edition {ledger.edition}",
            key=entry_id,
            suggestion=did_you_mean(entry_id, [*numbers, *inputs, *_declared()]),
            remedy="ledger.json in the edition lists every id; --params works out what it lacks."
            if params is None
            else "ledger.json in the edition lists every id.",
        )
    )


def _declared() -> list[str]:
    from fabricreport.bodies.bodies import DECLARED

    return [spec.pattern for one in DECLARED.values() for spec in one.specs]


def _worked_out(ledger: Ledger, entry_id: str, params: Path | None) -> Explanation | None:
    """What the case of a params file, or the library, says to the id; None if it has no such figure."""
    case: Case | Report
    if ledger.slug == EVIDENCE:
        from fabricreport.report.report import open_report

        case = open_report()
    elif params is not None:
        from fabricreport.case import open_case

        case = open_case(params)
    else:
        return None
    try:
        number = case.figure(entry_id)
    except LookupError:
        return None
    used = sorted({*number.inputs, *number.sources} - {entry_id})
    return Explanation(
        ledger, number.as_dict(), tuple(dict(case.record(i)) for i in used), (), params.name if params else LIBRARY
    )


def params_of(ledger: Ledger, output: Path) -> Path | None:
    """The params file of the ledger's client in the project that `output` belongs to; None if there is none."""
    from fabricreport.scenario import client_slug, load_params

    for path in sorted((output.absolute().parent / "params").glob("*.yaml")):
        try:
            if client_slug(load_params(path)) == ledger.slug:
                return path
        except InputError:
            continue
    return None


def read_ledger(edition: Path) -> Ledger:
    """The ledger of an edition's folder, as it was published; `InputError` if it was changed or cut since."""
    try:
        entries = json.loads(read_output(edition, LEDGER))
        manifest = read_sealed(edition / MANIFEST)
    except ValueError as error:
        remedy = "Move that folder away and build again: the same inputs give the same edition."
        raise InputError(Problem(f"this edition is damaged: {error}", file=str(edition), remedy=remedy)) from error
    client = manifest["client"]
    return Ledger(
        client["name"], client["slug"], manifest["edition"], tuple(entries["numbers"]), tuple(entries["inputs"])
    )


def find_edition(output: Path, asked: str) -> Path:
    """The folder of the edition asked for: a path, `<client>/<edition>`, an edition's id or a client.

    '' is the client's newest edition if `output` holds one client only; between clients nothing is guessed.
    """
    for folder in (Path(asked), output / asked) if asked else ():
        for found in (folder / LATEST, folder):
            at = found.resolve()
            if at.is_dir() and (EDITION.fullmatch(at.name) or any((at / n).is_file() for n in (LEDGER, MANIFEST))):
                return at if found.is_symlink() else found
    every = list_editions(output)
    editions = [e for e in every if (asked in (e.edition, e.client) if asked else e.client != EVIDENCE)]
    if not editions:
        message = f"no edition {asked}" if asked else "no edition yet"
        raise InputError(Problem(message, file=str(output), remedy="See `fabricreport list`."))
    clients = sorted({e.client for e in editions})
    if len(clients) > 1:
        whose = [f"{client}/{asked}" if asked else client for client in clients]
        remedy = f"Say whose with --edition: {', '.join(whose)}."
        raise InputError(Problem("there are editions of several clients here", file=str(output), remedy=remedy))
    newest = latest_edition(output, clients[0]) if not asked or asked == clients[0] else None
    return (newest or max(editions, key=lambda e: e.sequence)).folder
