"""A client's own notebooks: words laid over the originals cell by cell, and sections of its own.

    params/<slug>/notebooks/tco.ipynb      lies over the original of that name
    params/<slug>/notebooks/power.ipynb    a section, where the params say `extra: [power.ipynb]`

A cell with the id of an original one stands in its place, or takes it out where it is empty; one with an id of its own stands
behind the cell before it. A copy that nobody edited, by what it remembers as `over`, follows the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import read_beneath
from fabricreport.base.project import SHIPPED, client_folder, project_of
from fabricreport.base.text import visible
from fabricreport.blocks.prose import opening_cells
from fabricreport.memo.run.snapshot import sha256

if TYPE_CHECKING:
    from fabricreport.memo.run.recall import Places
    from fabricreport.scenario import ParamsFile

PART, OVER, AT = "notebooks", "over", "at"
"""The client's folder; in a cell's own metadata the hash of the original it was copied from, and where a cell was written."""
_OVERLAYS, _LOAD = "%overlays", "%load_ext fabricreport"
Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Laid:
    """Cells laid over others, and by cell id what to tell: an original that has changed since, or is gone."""

    cells: tuple[Cell, ...]
    notes: tuple[tuple[str, str], ...] = ()


def laid_over(original: Sequence[Cell], own: Sequence[Cell], name: str, at: str) -> Laid:
    """The cells of the notebook `name` with those of a client's own laid over, which is called `at`; `ValueError` says why not.

    Behind a head that says `%overlays` stand cells that the original opens with: it has run them.
    """
    known = {c.get("id"): n for n, c in enumerate(original)}
    head, ids = _head(own, name), [c.get("id") for c in own if c.get("id")]
    if twice := sorted({i for i in ids if ids.count(i) > 1}):
        raise ValueError(f"has two cells of the id {twice[0]}")
    if head is None and not known.keys() & set(ids):
        raise ValueError(f"shares no cell with the {name} that it would lie over")
    place, behind, instead = (
        (-1 if head is None else opening_cells(original) - 1),
        dict[int, list[Cell]](),
        dict[int, Cell](),
    )
    notes = []
    for number, cell in enumerate(own, start=1):
        over, source = (
            _over(cell),
            _without_head(cell, is_known=cell.get("id") in known) if number - 1 == head else cell["source"],
        )
        told, found = _placed(cell, source, (at, number)), known.get(cell.get("id"))
        place = place if found is None else found
        now = "" if found is None else sha256(str(original[found]["source"]).encode())
        if over == sha256(source.encode()):
            continue
        if over != now and (over or found is not None):
            notes.append((str(cell.get("id")), now))
        if found is not None:
            instead[found] = told
        elif source.strip():
            behind.setdefault(place, []).append(told)
    cells = [*behind.get(-1, ())]
    for n, cell in enumerate(original):
        kept = instead.get(n, _placed(cell, cell["source"], (name, n + 1)))
        cells += [*([kept] if n not in instead or kept["source"].strip() else []), *behind.get(n, ())]
    return Laid(tuple(cells), tuple(notes))


def _head(own: Sequence[Cell], name: str) -> int | None:
    """Which cell says what the notebook lies over, if one does."""
    for number, cell in enumerate(own):
        for words in (x.split() for x in cell["source"].splitlines() if x.startswith(_OVERLAYS)):
            if cell["cell_type"] == "code":
                if words[1:2] != [name]:
                    raise ValueError(f"says {' '.join(words)} and is called {name}")
                return number
    return None


def _without_head(cell: Cell, *, is_known: bool) -> str:
    gone = (_OVERLAYS,) if is_known else (_OVERLAYS, _LOAD)
    return "\n".join(line for line in cell["source"].splitlines() if not line.startswith(gone))


def _over(cell: Cell) -> str:
    own = cell["metadata"].get("fabricreport")
    return str(own.get(OVER, "")) if isinstance(own, Mapping) else ""


def _placed(cell: Cell, source: str, at: tuple[str, int]) -> Cell:
    """A cell that knows where it was written."""
    own = cell["metadata"].get("fabricreport")
    own = {**{k: v for k, v in (own if isinstance(own, Mapping) else {}).items() if k != OVER}, AT: list(at)}
    return {**cell, "source": source, "metadata": {**cell["metadata"], "fabricreport": own}}


def read_notebook(data: bytes, shown: Path) -> Any:
    """A notebook's node from its bytes; `InputError` where they are none."""
    try:
        return nbformat.reads(data.decode("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError, nbformat.ValidationError) as error:
        why = visible(str(error).splitlines()[0] if str(error) else type(error).__name__, 200)
        raise InputError(
            Problem(f"is not a notebook: {why}", str(shown), remedy="Open and save it in JupyterLab.")
        ) from None


def lay(original: Path, own: bytes, shown: Path) -> tuple[Any, tuple[str, ...]]:
    """The node of a notebook with a client's own, which is shown as `shown`, laid over, and what is to be told of it."""
    below, above = read_notebook(original.read_bytes(), original), read_notebook(own, shown)
    called = "/".join(shown.parts[-3:])
    try:
        found = laid_over(below.cells, above.cells, shown.name, called)
    except ValueError as error:
        remedy = (
            f"Begin it anew with `fabricreport new --section {shown.stem}`, give it a first cell with the line "
            f"`{_OVERLAYS} {shown.name}`, or call it otherwise and name it in `extra`."
        )
        raise InputError(Problem(str(error), str(shown), remedy=remedy)) from None
    cells = ({**cell, "id": cell.get("id") or f"cell-{number}"} for number, cell in enumerate(found.cells, start=1))
    below.cells = [nbformat.from_dict(cell) for cell in cells]  # type: ignore[no-untyped-call]
    below.nbformat_minor = 5
    return below, tuple(_note(shown, *note) for note in found.notes)


def _note(shown: Path, cell: str, now: str) -> str:
    where = f"{shown}, cell {visible(cell, 60)}"
    if not now:
        return f"{where}: the original it was written over is gone, so it stands as a cell of its own: take it out or keep it"
    return (
        f"{where}: the original it stands in place of has changed since, or it does not say which it was written over. Compare "
        f'the two, then put {{"fabricreport": {{"{OVER}": "{now}"}}}} into the cell\'s metadata'
    )


@dataclass(frozen=True)
class OwnNotebooks:
    """Those of one client, as they stand in its folder beside the params; most clients have none."""

    loaded: ParamsFile
    places: Places

    @property
    def folder(self) -> Path:
        """Where they stand; it need not exist."""
        return client_folder(self.loaded.path.parent, self.loaded.slug, PART)

    def _read(self, section: str) -> bytes | None:
        try:
            return read_beneath(self.loaded.path.parent, f"{self.loaded.slug}/{PART}/{section}.ipynb")
        except OSError:
            return None  # whoever copies it says why

    def laid(self) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
        """Each notebook that is changed by one of the client's own: its section, its node, and what to tell of it."""
        for section in self.loaded.params.notebooks:
            original, own = self.places.notebook(section), self._read(section)
            if own is not None and original.is_file():
                yield (section, *lay(original, own, self.folder / f"{section}.ipynb"))

    def examined(self) -> tuple[tuple[Problem, ...], tuple[str, ...]]:
        """What is wrong with them, and what is worth a note."""
        problems, notes = list[Problem](), list[str]()
        try:
            for _, _, told in self.laid():
                notes += told
        except InputError as error:
            problems += error.problems
        if not self.places.trusted and not self.is_here() and (foreign := self.outside()):
            problems.append(_untrusted(foreign, self.loaded))
        return tuple(problems), tuple(notes)

    def outside(self) -> tuple[Path, ...]:
        """The notebooks outside the package that a build would run, in order."""
        found = []
        for section in self.loaded.params.notebooks:
            original, own = self.places.notebook(section), self.folder / f"{section}.ipynb"
            found += [p for p in (original, own) if p.exists() and not p.is_relative_to(SHIPPED / "notebooks")]
        return tuple(dict.fromkeys(found))

    def is_here(self) -> bool:
        """Whether the params belong to the project of the current folder."""
        return project_of(self.loaded.path.parent).resolve() == project_of(Path.cwd()).resolve()


def _untrusted(foreign: Sequence[Path], loaded: ParamsFile) -> Problem:
    more = f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""
    listed = ", ".join(map(str, foreign[:3])) + more
    return Problem(
        "these params are of another project than the current folder, and a build of them would run its notebooks, which are code",
        str(loaded.path),
        key="--trust-notebooks",
        value=listed,
        remedy=f"Read them, then add --trust-notebooks, or run the command in {project_of(loaded.path.parent)}.",
    )
