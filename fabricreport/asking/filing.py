"""Filing a seller's answers for the client that asks: checked first, written whole or not at all, named in the params."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from fabricreport.as_run import links_of
from fabricreport.atomic import write_if_new
from fabricreport.books.answers import AnswerFile
from fabricreport.books.provider_answers import Remedies, answers_of
from fabricreport.books.providers import folded
from fabricreport.books.questionnaire.form import provider_name
from fabricreport.books.questionnaire.sheets import IN_A_SHEET, LocatedInSheet, read_workbook
from fabricreport.books.questionnaire.written import as_filed, said
from fabricreport.constants import catalogue
from fabricreport.errors import InputError, Problem
from fabricreport.given import read_given
from fabricreport.located import Located, did_you_mean, shown_path
from fabricreport.project import folder_to_file_in
from fabricreport.scenario import ParamsFile, slugify
from fabricreport.scenario.naming import name_answers
from fabricreport.strict_yaml import inspect_yaml, load_strict

FOLDER = "providers"
_WORKBOOK, _TEXT = (".xlsx",), (".yaml", ".yml")


@dataclass(frozen=True)
class Filed:
    """What was done. `named`: the params name the file now; `line`: what to write into them where they do not.

    `changed`: files that are not as they were; `notes`: what to tell whoever filed it.
    """

    provider: str
    file: str
    questions: tuple[str, ...]
    changed: tuple[str, ...]
    named: bool
    line: str
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "ok": True, "provider": self.provider, "filed": self.file, "answers": list(self.questions),
            "changed": list(self.changed), "named": self.named, "line": self.line, "notes": list(self.notes),
        }  # fmt: skip


def file_answers(source: Path, params: Path) -> Filed:
    """Check the answers in `source`, a filled workbook or YAML, and file them for the client of `params`.

    Raises `InputError` with every fault, and nothing is written. The same answers twice change nothing.
    """
    given = read_given(params)
    if given.loaded is None or given.options is None:
        raise InputError(given.problems)
    loaded = given.loaded
    found, notes = _read(source, loaded, given.fabrics)
    target = _place(loaded, found.provider)
    changed = []
    if source.resolve() != target and _write(target, as_filed(found)):
        changed.append(target)
    name = target.relative_to(given.folder).as_posix()
    edit = name_answers(loaded, found.provider, name, folded)
    path = params.resolve()
    if edit.text is not None and _write(path, edit.text):
        changed.append(path)
    questions = tuple(answer.question for answer in found.answers.values() if said(answer))
    named = edit.text is not None
    notes += _remarks(loaded, found.provider, name)
    by_hand = "" if named else edit.line
    return Filed(found.provider, str(target), questions, tuple(map(str, changed)), named, by_hand, tuple(notes))


def _read(source: Path, loaded: ParamsFile, fabrics: tuple[str, ...]) -> tuple[AnswerFile, list[str]]:
    """The answers, checked as a build checks them, and notes on the form."""
    notes: list[str] = []
    end = source.suffix.lower()
    located: Located
    if end in _WORKBOOK:
        filled = read_workbook(source)
        located, remedies = filled.located, IN_A_SHEET
        notes += [f"{question} is put in other words there than we put it now" for question in filled.reworded]
    elif end in _TEXT:
        located, remedies = load_strict(source), Remedies()
    else:
        macros = "holds macros" if end == ".xlsm" else "is no form of ours"
        raise InputError(Problem(macros, shown_path(source), remedy="Give the questionnaire as XLSX or YAML."))
    stated = located.data.get("provider") if isinstance(located.data, dict) else None
    faults: list[Problem] = []
    if isinstance(stated, str):
        try:
            stated = provider_name(stated)
        except InputError as error:
            faults += [located.problem(("provider",), p.message, value=stated, remedy=p.remedy) for p in error.problems]
    try:
        found = answers_of(
            located, provider=str(stated or ""), as_of=loaded.params.as_of,
            links=links_of(loaded.params, catalogue()), fabrics=fabrics, remedies=remedies,
        )  # fmt: skip
    except InputError as error:
        known = {problem.key for problem in faults}
        raise _named_by_cell(located, [*faults, *(p for p in error.problems if p.key not in known)]) from None
    if not faults and not any(said(answer) for answer in found.answers.values()):
        faults.append(located.problem(("answers",), "holds no answer", remedy=remedies.answers))
    if faults:
        raise _named_by_cell(located, faults)
    return found, notes


def _named_by_cell(located: Located, faults: Iterable[Problem]) -> InputError:
    """The faults as an error; those of a workbook are named by sheet and cell alone."""
    in_sheet = isinstance(located, LocatedInSheet)
    return InputError([replace(fault, line=None) if in_sheet else fault for fault in faults])


def _place(loaded: ParamsFile, provider: str) -> Path:
    """The file of this provider's answers in the client's own folder: one that is free, or the provider's."""
    folder = folder_to_file_in(loaded.path.resolve().parent, loaded.slug, FOLDER)
    slug = slugify(provider, FOLDER.removesuffix("s"))
    first = folder / f"{slug}.yaml"
    told_apart = folder / f"{slug}-{sha256(folded(provider).encode()).hexdigest()[:8]}.yaml"
    return first if _free(first, provider) else told_apart


def _free(target: Path, provider: str) -> bool:
    """Whether a provider's answers may take the place of a file: none is there, or it holds theirs."""
    if not target.exists() and not target.is_symlink():
        return True
    located, _ = inspect_yaml(target)
    owner = located.data.get("provider") if located is not None and isinstance(located.data, dict) else None
    return isinstance(owner, str) and folded(owner) == folded(provider)


def _others(loaded: ParamsFile, name: str) -> list[str]:
    """Other params files of this client, beside this one, in which the file is named."""
    here = loaded.path.resolve()
    beside = (path for path in sorted(here.parent.glob("*.yaml")) if path != here)
    return [path.name for path in beside if name in path.read_text("utf-8", errors="replace")]


def _write(target: Path, text: str) -> bool:
    """Make a file hold this text, and its folder if need be; whether that changed it."""
    try:
        return write_if_new(target, text)
    except OSError as error:
        message = f"cannot be written ({error.strerror or error})"
        raise InputError(Problem(message, shown_path(target), remedy="Check the folder and disk.")) from error


def _remarks(loaded: ParamsFile, provider: str, name: str) -> list[str]:
    """What to tell whoever filed the answers: a provider that was not listed, a file that other params name."""
    listed = [p.name for p in loaded.params.providers]
    found = []
    if folded(provider) not in map(folded, listed):
        near = did_you_mean(provider, listed)
        found.append(f"{provider} was not among the providers" + (f"; did you mean {near}?" if near else ""))
    if others := _others(loaded, name):
        found.append(f"{name} is named by {', '.join(others)} too")
    return found
