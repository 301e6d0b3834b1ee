"""What a build leaves for later: what an edition was made from, and of a failed one its notebooks and a message.

    inputs/params.json           the params as the run was given them, the date in force among them
    inputs/library.json          the package's evidence as it was, one entry to a line
    inputs/prices/*.csv          every row of the price files that is a price, in use or held
    inputs/evidence, options     the client's own, as they are
    inputs/<slug>/prices/*.csv   the client's own prices
    inputs/<path>                offers, answers, experts' forms and measurements that the params name

It is laid out as the folder of a params file, so whatever reads one reads it again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import close_folder, open_folder
from fabricreport.base.project import IS_INSTALLED, PACKAGE
from fabricreport.base.text import visible
from fabricreport.books.evidence import EvidenceBook, EvidenceEntry, evidence_as_it_was, read_evidence
from fabricreport.books.options import Option, read_options
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.prices.files import read_price_file, table_text
from fabricreport.books.prices.rules import PriceRow
from fabricreport.inputs.dossier import if_there, read_params, read_prices
from fabricreport.memo.editions.manifest import (
    MANIFEST,
    RunRecord,
    SectionRun,
    digest_regular,
    read_sealed,
    value_of,
    walk,
)
from fabricreport.memo.run.noise import notebook_bytes, notebook_from_bytes
from fabricreport.memo.run.plan import BuildPlan
from fabricreport.memo.run.snapshot import OWN, PART, Snapshot

if TYPE_CHECKING:
    from fabricreport.scenario import ParamsFile

INPUTS = "inputs"
LIBRARY = "library.json"
PRICES = "prices"


def keep_inputs(folder: Path, snapshot: Snapshot) -> None:
    """Write `inputs/` into the folder of an edition that is being made."""
    kept = folder / INPUTS
    (kept / PRICES).mkdir(parents=True)
    (kept / LIBRARY).write_text(_listed(read_evidence().values()), encoding="utf-8")
    if not any(file.kind == PRICES for file in snapshot.files):
        (kept / PRICES / "none.csv").write_bytes(table_text([]).encode())
    for file in snapshot.files:
        target, source = kept / file.name, snapshot.folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        is_table = file.kind in (PRICES, OWN) and file.name.endswith(".csv")
        target.write_bytes(table_text(read_price_file(source)[0]).encode() if is_table else source.read_bytes())


def prices_of(edition: Path, slug: str, day: date) -> dict[str, PriceRow]:
    """The row of each item that counted in an edition; none where it does not hold them, or is damaged."""
    kept = edition / INPUTS
    try:
        _whole(edition)
        return read_prices(kept, slug, kept).in_use(day)
    except (OSError, ValueError):
        return {}


def _whole(edition: Path) -> dict[str, str]:
    """The hash of each file in `inputs/` of an edition; `ValueError` says that one, or the manifest, is not as published."""
    listed = {entry["name"]: entry["sha256"] for entry in read_sealed(edition / MANIFEST)["outputs"]}
    named = {(name, digest) for name, digest in listed.items() if name.startswith(f"{INPUTS}/")}
    found = {name: digest_regular(path)[0] for name, path in walk(edition / INPUTS)}
    if wrong := named ^ {(f"{INPUTS}/{name}", digest) for name, digest in found.items()}:
        raise ValueError(f"{min(wrong)[0]}: was changed, added or lost")
    return found


@dataclass(frozen=True)
class Kept:
    """An edition's headline, of its numbers those that are one, and what it was made from, as today's readers read it;
    `files`: the hash of each, by its name."""

    edition: Path
    headline: Mapping[str, Any]
    files: Mapping[str, str]
    loaded: ParamsFile
    evidence: EvidenceBook
    prices: PriceBook
    options: dict[str, Option]

    @property
    def keys(self) -> dict[str, Any]:
        """The params as plain data, the keys that were given alone."""
        return self.loaded.params.model_dump(mode="json", by_alias=True, exclude_unset=True)


def read_kept(edition: Path) -> Kept:
    """What an edition keeps, with the package's evidence as it was; `InputError` says what is missing, damaged or refused."""
    try:
        folder, files, head = edition / INPUTS, _whole(edition), read_sealed(edition / MANIFEST)["headline"]
        numbers = [n for n in head["numbers"] if value_of(n) is not None]
        loaded = read_params(folder / "params.json")
        evidence = evidence_as_it_was(folder / LIBRARY, if_there(folder / "evidence"))
        prices, options = read_prices(folder, loaded.slug, folder), read_options(if_there(folder / "options"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise refused(edition, error) from None
    return Kept(edition, {**head, "numbers": numbers}, files, loaded, evidence, prices, options)


def refused(edition: Path, error: Exception) -> InputError:
    """The message that an edition cannot be compared, and why."""
    why = error.problems[0] if isinstance(error, InputError) else error
    message = f"what this edition says and was made from cannot be worked out again today: {visible(why, 300)}"
    remedy = "Restore its folder if it is damaged, or build the client again and compare from that edition on."
    return InputError(Problem(message, str(edition), remedy=remedy))


def _listed(entries: Iterable[EvidenceEntry]) -> str:
    lines = [json.dumps(_own_keys(entry), ensure_ascii=False, allow_nan=False) for entry in entries]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _own_keys(entry: EvidenceEntry) -> dict[str, Any]:
    """An entry as its file states it; where the file lies is no business of a reader."""
    return {key: value for key, value in entry.as_dict().items() if key not in ("file", "line")}


FAILED = ".failed"


def _failed_folder(root: Path, slug: str) -> Path | None:
    """The folder for failed notebooks, emptied; None if a link or file stands in its way."""
    folder = root / slug / FAILED
    try:
        for part in (root / slug, folder):
            part.mkdir(exist_ok=True)
            close_folder(open_folder(part))
        for old in folder.glob("*.ipynb"):
            old.unlink()
    except OSError:
        return None
    return folder


def keep_failed(record: RunRecord, root: Path, plan: BuildPlan, params_path: Path) -> str:
    """Copy the notebooks of failed sections out of the scratch folder; the message that names them.

    The message and the notebooks name the user's own files where a section was given a copy.
    """
    folder = _failed_folder(root, plan.slug)
    own = _own_names(plan)
    beside, lines = plan.snapshot.origins["params.json"].parent, []
    mine = beside / plan.slug / PART
    for fault in record.faults:
        name, number = plan.written(fault.section, fault.cell)
        run, source = replace(fault, cell=number), plan.sources[fault.section]
        source = beside / name if "/" in name else source
        lines.append(own(run.explain()))
        lines += [f"    {own(line)}" for line in run.traceback.splitlines()[-3:]]
        if folder is not None and run.notebook:
            lines.append("    " + _keep(run, folder, params_path, own))
        lines.append("    " + _remedy(run, source, is_own=source.parent == mine))
    return "\n".join(lines)


def _keep(run: SectionRun, folder: Path, params_path: Path, own: Callable[[str], str]) -> str:
    """Copy one executed notebook; where it is, or why it is not there (the failure itself matters more)."""
    kept = folder / f"{run.section}.ipynb"
    try:
        nb = notebook_from_bytes(Path(run.notebook).read_bytes())
        for cell in nb.cells:
            if "injected-parameters" in cell.metadata.get("tags", []):
                cell.source = f"# The build's own copy is gone\nparams = {str(params_path.absolute())!r}"
            cell.update({k: _renamed(cell[k], own) for k in ("outputs",) if k in cell})
        kept.write_bytes(notebook_bytes(nb))
    except OSError as error:
        kept.unlink(missing_ok=True)
        return f"the executed notebook could not be kept: {error.strerror or error}"
    return f"the executed notebook is kept at {kept}"


def _remedy(run: SectionRun, source: Path, *, is_own: bool = False) -> str:
    if run.status == "dead":
        return "Free some memory, or build fewer clients at once (--jobs 1), then run the command again."
    ours = IS_INSTALLED and source.is_relative_to(PACKAGE)  # nobody is told to write there
    named = source.name if ours else str(source)
    cell = f"cell {run.cell} of {named}" if run.cell is not None else named
    if run.status == "timeout":
        return f"Make {cell} shorter, or give the machine less else to do, and run the command again."
    if ours:
        return (
            f"The fault is in {cell} as shipped: please report it with your params file. `fabricreport new --project` "
            "puts the notebooks where you can mend them."
        )
    mend = f"Mend {cell} and run the command again."
    bug = "If nobody changed that notebook, this is a bug in fabricreport: please report it with your params file."
    return mend if is_own else f"{mend} {bug}"


def _own_names(plan: BuildPlan) -> Callable[[str], str]:
    """Text with the paths of a build's own copies turned into those of the user's files."""
    work, pairs = plan.snapshot.folder.parent, list[tuple[str, str]]()
    for top in dict.fromkeys((work.absolute(), work.resolve())):
        pairs += [(str(top / "inputs" / name), str(at)) for name, at in plan.snapshot.origins.items()]
        pairs += [(str(top / "inputs"), str(plan.snapshot.origins["params.json"].parent))]
        pairs += [(str(top), "the build's copy")]
    pairs.sort(key=lambda pair: len(pair[0]), reverse=True)

    def rename(text: str) -> str:
        for scratch, named in pairs:
            text = text.replace(scratch, named)
        return text

    return rename


def _renamed(node: Any, own: Callable[[str], str]) -> Any:
    """The outputs of a cell with every text renamed."""
    if isinstance(node, str):
        return own(node)
    if isinstance(node, Mapping):
        return {key: _renamed(value, own) for key, value in node.items()}
    return [_renamed(item, own) for item in node] if isinstance(node, list) else node


def clear_failed(root: Path, slug: str) -> None:
    """Remove what an earlier failed build left: the last one succeeded."""
    folder = root / slug / FAILED
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
