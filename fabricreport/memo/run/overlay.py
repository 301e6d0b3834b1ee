"""A client's own notebooks, in `params/<slug>/notebooks/`: words laid over the originals, and sections that the params name.

A cell with the id of an original one stands in its place, or takes it out where it is empty; one with an id of its own stands
behind the cell before it. A copy that nobody edited, by what it remembers as `over`, follows the original.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import read_beneath
from fabricreport.base.project import SHIPPED, client_folder, project_of
from fabricreport.base.text import visible
from fabricreport.memo.run.snapshot import PART, read_notebook, sha256

if TYPE_CHECKING:
    from fabricreport.memo.run.recall import Places
    from fabricreport.scenario import ParamsFile

OVER = "over"
"""In a cell's own metadata the hash of the original that it was copied from."""
_OVERLAYS, _LOAD = "%overlays", "%load_ext fabricreport"
_OURS = SHIPPED / "notebooks"
Cell = Mapping[str, Any]


def laid_over(
    original: Sequence[Cell], own: Sequence[Cell], name: str, at: str
) -> tuple[list[Cell], list[tuple[str, str]]]:
    """The cells of the notebook `name` with those of a client's own (`at`) laid over, and the id of each that was written over
    another original with the hash of today's ('': it is gone). `ValueError` says why they cannot be."""
    from fabricreport.blocks.prose import opening_cells

    known = {c.get("id"): n for n, c in enumerate(original)}
    head, ids = _head(own, name), [str(c["id"]) for c in own if c.get("id")]
    if len(ids) > len(set(ids)) or (head is None and not known.keys() & set(ids)):
        raise ValueError("has two cells of one id" if len(ids) > len(set(ids)) else f"shares no cell with our {name}")
    place = -1 if head is None else opening_cells(original) - 1  # %overlays has run what the original opens with
    stands: dict[int, list[Cell]] = {n: [_at(c, c["source"], name, n + 1)] for n, c in enumerate(original)} | {-1: []}
    notes = list[tuple[str, str]]()
    for number, cell in enumerate(own, start=1):
        found, over = known.get(cell.get("id")), _marks(cell).get(OVER)
        source = _without_head(cell, is_known=found is not None) if number - 1 == head else cell["source"]
        place = place if found is None else found
        if over == sha256(source.encode()):
            continue
        now = "" if found is None else sha256(original[found]["source"].encode())
        if over != now and (over or found is not None):
            notes.append((str(cell.get("id")), now))
        told = [_at(cell, source, at, number)] if source.strip() else []
        stands[place] = [*told, *stands[place][1:]] if found is not None else [*stands[place], *told]
    return [cell for n in range(-1, len(original)) for cell in stands[n]], notes


def _head(own: Sequence[Cell], name: str) -> int | None:
    """Which cell says what the notebook lies over, if one does."""
    for number, cell in enumerate(own):
        said = next((x for x in cell["source"].splitlines() if x.startswith(_OVERLAYS)), "")
        if said and cell["cell_type"] == "code":
            if said.split()[1:2] != [name]:
                raise ValueError(f"says {visible(said)} and is called {name}")
            return number
    return None


def _without_head(cell: Cell, *, is_known: bool) -> str:
    gone = (_OVERLAYS,) if is_known else (_OVERLAYS, _LOAD, "#")
    return "\n".join(line for line in cell["source"].splitlines() if not line.startswith(gone))


def _marks(cell: Cell) -> Mapping[str, Any]:
    own = cell["metadata"].get("fabricreport")
    return own if isinstance(own, Mapping) else {}


def _at(cell: Cell, source: str, notebook: str, number: int) -> Cell:
    """A cell that knows where it was written."""
    own = {**{k: v for k, v in _marks(cell).items() if k != OVER}, "at": [notebook, number]}
    return {**cell, "source": source, "metadata": {**cell["metadata"], "fabricreport": own}}


def lay(original: Path, own: bytes, shown: Path) -> tuple[Any, tuple[str, ...]]:
    """The node of a notebook with a client's own, which is shown as `shown`, laid over, and what is to be told of it."""
    from nbformat import from_dict

    below, above = read_notebook(original.read_bytes(), original), read_notebook(own, shown)
    try:
        cells, notes = laid_over(below.cells, above.cells, shown.name, "/".join(shown.parts[-3:]))
    except ValueError as error:
        remedy = f"Move it away and begin it by `fabricreport new --section {shown.stem}`, or call it otherwise and name it in `extra`."
        raise InputError(Problem(str(error), str(shown), remedy=remedy)) from None
    below.cells = [from_dict({"id": f"cell-{n}", **cell}) for n, cell in enumerate(cells, start=1)]  # type: ignore[no-untyped-call]
    below.nbformat_minor = 5
    return below, tuple(
        f"{shown}, cell {visible(cell, 60)}: its original is {'not the one it was written over' if now else 'gone'}. Compare the "
        f'two; what is right as it is has {{"fabricreport": {{"{OVER}": "{now}"}}}} in its metadata'
        for cell, now in notes
    )


@dataclass(frozen=True)
class OwnNotebooks:
    """Those of one client, as they stand in its folder beside the params; most clients have none."""

    loaded: ParamsFile
    places: Places

    def path(self, section: str) -> Path:
        """Where that of a section would stand."""
        return client_folder(self.loaded.path.parent, self.loaded.slug, PART) / f"{section}.ipynb"

    def node(self, section: str) -> tuple[Any, tuple[str, ...]]:
        """That of a section, laid over the original if there is one, and what to tell of it; None where there is none."""
        original, shown = self.places.notebook(section), self.path(section)
        try:
            own = read_beneath(self.loaded.path.parent, f"{self.loaded.slug}/{PART}/{shown.name}")
        except OSError:
            return None, ()  # whoever copies it says why
        if section in self.loaded.params.extras:
            return read_notebook(own, shown), ()
        return lay(original, own, shown) if original.is_file() else (None, ())

    def examined(self) -> tuple[tuple[Problem, ...], tuple[str, ...]]:
        """What is wrong with them, and what is worth a note."""
        params, problems, notes = self.loaded.params, list[Problem](), list[str]()
        for section in params.notebooks:
            try:
                notes += self.node(section)[1]
            except InputError as error:
                problems += error.problems
        for extra in (path for path in map(self.path, params.extras) if not path.exists()):
            remedy = f"`fabricreport new --section {extra.stem} --params {self.loaded.path}` writes one to start from."
            problems.append(self.loaded.placed(Problem("is not there", key="extra", value=str(extra), remedy=remedy)))
        idle = (path for path in sorted(self.path("").parent.glob("*.ipynb")) if path.stem not in params.notebooks)
        said = "this memo is not made of it; `extra` names a section of the client's own"
        notes += [f"{visible(path, 300)}: {said}" for path in idle]
        return (*problems, *self.untrusted(self.outside())), tuple(notes)

    def untrusted(self, run: Iterable[Path]) -> Iterator[Problem]:
        """That what would be `run` is not the package's, and of another project than the current folder's."""
        project, own = project_of(self.loaded.path.parent), [path for path in run if not path.is_relative_to(_OURS)]
        if own and not self.places.trusted and project.resolve() != project_of(Path.cwd()).resolve():
            message = "notebooks would be run, which are code, of another project than that of the current folder"
            remedy = f"Read them, then add --trust-notebooks, or run the command in {project.resolve()}."
            listed, file = ", ".join(map(str, own)), str(self.loaded.path)
            yield Problem(message, file, key="--trust-notebooks", value=visible(listed, 300), remedy=remedy)

    def faults(self) -> list[Problem]:
        """What is wrong with the prose cells of all notebooks of the memo."""
        from fabricreport.check.prose import prose_faults

        named = ((self.places.notebook(s), self.node(s)[0]) for s in self.loaded.params.notebooks)
        return [problem for path, node in named for problem in prose_faults(path, node)]

    def outside(self) -> tuple[Path, ...]:
        """The notebooks outside the package that a build would run, in order."""
        params = self.loaded.params
        ours = {s: () if s in params.extras else (self.places.notebook(s),) for s in params.notebooks}
        found = (path for s, original in ours.items() for path in (*original, self.path(s)))
        return tuple(path for path in found if path.exists() and not path.is_relative_to(_OURS))
