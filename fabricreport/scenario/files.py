"""The params file read: every fault at once, or one frozen `Params`; the files it names, and the same file with keys changed."""

from __future__ import annotations

import copy
import datetime as dt
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import KeyPath, Located, dotted
from fabricreport.base.text import visible
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.base.yaml_files import inspect_yaml, read_tree, typed_value
from fabricreport.books.messages import path_of, problems_of, without_misspelt
from fabricreport.scenario.brand import logo_findings
from fabricreport.scenario.candidates import OfferFile
from fabricreport.scenario.checks import client_slug, findings
from fabricreport.scenario.rules import Finding
from fabricreport.scenario.schema import Params

_MOST_WEEKS = 520
_ISO = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])")
_STAND_INS: dict[KeyPath, Any] = {
    ("client",): {"name": "x"},
    ("client", "name"): "x",
    ("as_of",): "2026-01-01",
    ("cluster",): {"gpus": 8},
    ("cluster", "gpus"): 8,
    ("workload",): {"kind": "fine-tuning"},
    ("workload", "kind"): "fine-tuning",
    ("organisation",): {"networking_maturity": "medium"},
    ("organisation", "networking_maturity"): "medium",
    ("money",): {"acquisition": "buy"},
    ("money", "acquisition"): "buy",
}
"""Stand in for required keys that are wrong, only so that the rules on the other keys can still be checked."""


@dataclass(frozen=True)
class ParamsFile:
    """A valid params file: its `params`, where each came from (`located`), and the `folder` its paths start from.

    `remarks` are what a check of the books had to say.
    """

    params: Params
    located: Located
    path: Path
    folder: Path
    remarks: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """Folder name of the client's editions."""
        return client_slug(self.params)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was read otherwise than written, in sentences."""
        return tuple(dict.fromkeys(self.remarks))

    def line_of(self, *path: str | int) -> int:
        """Line of a key: `line_of("cluster", "gpus")`."""
        return self.located.line_of(path)

    def placed(self, problem: Problem) -> Problem:
        """The problem with the file and the line of its key, if it does not name a file of its own."""
        if problem.file:
            return problem
        path = [int(part) if part.isdigit() else part for part in re.split(r"[.\[\]]+", problem.key) if part]
        return replace(problem, file=str(self.path), line=self.line_of(*path))

    def named(self, problem: Problem) -> Problem:
        """The problem with the line of these params that names its file, if one does: the slip may stand there."""
        at = next((path for path, text in _texts(self.located.data) if self.folder / text == Path(problem.file)), None)
        if not problem.file or at is None:
            return problem
        told = f"{self.path.name} names this file in line {self.line_of(*at)}."
        return replace(problem, remedy=f"{problem.remedy} {told}".strip())


def _texts(data: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Every text of a parsed file, with its path."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, Mapping | list):
        for key, value in data.items() if isinstance(data, Mapping) else enumerate(data):
            yield from _texts(value, (*path, key))


def load_params(path: Path, *, folder: Path | None = None, extra_options: Iterable[str] = ()) -> Params:
    """The params of a YAML file or of the canonical JSON; see `load_params_file`."""
    return load_params_file(path, folder=folder, extra_options=extra_options).params


def load_params_file(path: Path, *, folder: Path | None = None, extra_options: Iterable[str] = ()) -> ParamsFile:
    """The params with their places in the file, or an `InputError` with every problem that was found.

    `folder` is where relative paths in the file start, by default the folder the file is in. Fabrics that
    `folder/options/*.yaml` describes may be named in `options`; `extra_options` are ids from elsewhere.
    """
    path = Path(path)
    folder = path.parent if folder is None else folder
    located, found = read_tree(path)
    problems = list(found)
    params, faults = _validate(
        located, {p.key for p in problems if p.key}, (*_client_options(folder), *extra_options), folder
    )
    problems += faults
    if problems or params is None:
        raise InputError(sorted(problems, key=lambda p: p.line or 0))
    return ParamsFile(params, located, path, folder)


def dated(loaded: ParamsFile, day: dt.date | None) -> ParamsFile:
    """The same params as of another day; `InputError` if they do not hold on that day (None: their own)."""
    if day is None or day == loaded.params.as_of:
        return loaded
    given = loaded.params.model_dump(mode="json", by_alias=True, exclude_unset=True)
    params = Params.model_validate({**given, "as_of": day.isoformat()})  # anew: what is proposed follows from the day
    faults = [f for f in findings(params, extra_options=params.options) if ("as_of",) in f.keys]
    if faults:
        raise InputError(_problem(loaded.located, finding) for finding in faults)
    return replace(loaded, params=params)


def params_from(data: dict[str, Any], *, extra_options: Iterable[str] = ()) -> Params:
    """Params from plain data in memory (tests, notebooks); the same rules, except that no file is looked for."""
    params, faults = _validate(Located(data, "", {}), set(), tuple(extra_options), None)
    if faults or params is None:
        raise InputError(faults)
    return params


def canonical_json(params: Params) -> str:
    """The keys the user gave, sorted, as JSON; `load_params` of it gives an equal `Params`.

    Defaults are left out, so that the copy still tells what was given from what was assumed.
    """
    data = params.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _client_options(folder: Path) -> list[str]:
    """Ids of the fabrics a client describes beside the params; whether they are described well is not asked here."""
    ids = []
    for path in sorted((folder / "options").glob("*.yaml")):
        located, _ = inspect_yaml(path)
        entries = located.data if located is not None and isinstance(located.data, list) else []
        ids += [entry["id"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    return ids


def _validate(
    located: Located, bad_keys: set[str], extra_options: tuple[str, ...], folder: Path | None
) -> tuple[Params | None, list[Problem]]:
    if not isinstance(located.data, dict):
        remedy = "Begin with `client:`; `fabricreport new NAME` writes a file to start from."
        return None, [located.problem((), "must hold keys and values", remedy=remedy)]
    params, bad, problems = _validate_schema(located, bad_keys)
    if params is None:
        return None, problems
    found = findings(params, extra_options=extra_options)
    if folder is not None:
        found += [*_missing_files(params, folder), *logo_findings(params, folder)]
    for finding in found:
        touched = {dotted(key) for key in finding.keys}
        if not _overlap(finding, bad) and not touched & bad_keys:
            problems.append(_problem(located, finding))
    return params, problems


def _problem(located: Located, finding: Finding) -> Problem:
    problem = located.problem(
        finding.path,
        finding.message,
        value=finding.value,
        remedy=finding.remedy,
        suggestion=finding.suggestion,
    )
    return replace(problem, rule=finding.rule)


def _validate_schema(located: Located, bad_keys: set[str]) -> tuple[Params | None, list[KeyPath], list[Problem]]:
    """The params, with stand-ins where a key is wrong (`bad`), and the problems of single keys."""
    data = copy.deepcopy(located.data)
    bad: list[KeyPath] = []
    problems: list[Problem] = []
    for attempt in range(3):
        try:
            return Params.model_validate(data), bad, problems
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                if detail["type"] == "default_factory_not_called":  # follows from another key that is wrong
                    continue
                path = path_of(detail)
                bad.append(path)
                if attempt == 0 and dotted(path) not in bad_keys:
                    problems.extend(problems_of(detail, located, Params))
                _replace(data, path)
            problems = [_by_a_date(p, located.data) for p in without_misspelt(problems)]
    return None, bad, problems


_WEEKS = ("organisation", "time_to_production_weeks")
"""The key of weeks that `schedule.production_by` took the place of."""


def _by_a_date(problem: Problem, data: Any) -> Problem:
    """The problem of a key of weeks with the date that these meant; any other as it is."""
    if problem.key != dotted(_WEEKS):
        return problem
    weeks, day = data[_WEEKS[0]][_WEEKS[1]], str(data.get("as_of", ""))
    meant = "YYYY-MM-DD"
    if isinstance(weeks, int | float) and 0 < weeks <= _MOST_WEEKS and _ISO.fullmatch(day):
        meant = (dt.date.fromisoformat(day) + dt.timedelta(days=round(weeks * DAYS_PER_WEEK))).isoformat()
    return replace(problem, remedy=f"Write `schedule: {{production_by: {meant}}}` at the top level.", suggestion="")


def _replace(data: dict[str, Any], path: KeyPath) -> None:
    """Put a stand-in where the value at `path` is wrong, or drop it (a faulty item drops its whole list)."""
    lists = [i for i, part in enumerate(path) if isinstance(part, int)]
    path = path[: lists[0]] if lists else path
    if path in _STAND_INS:
        parent = _parent(data, path)
        if parent is not None:
            parent[path[-1]] = copy.deepcopy(_STAND_INS[path])
    elif path and (parent := _parent(data, path)) is not None:
        parent.pop(path[-1], None)


def _parent(data: Any, path: KeyPath) -> dict[Any, Any] | None:
    for part in path[:-1]:
        data = data.get(part) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else None


def _overlap(finding: Finding, bad: list[KeyPath]) -> bool:
    return any(key[: len(b)] == b or b[: len(key)] == key for key in finding.keys for b in bad if b)


def _missing_files(params: Params, folder: Path) -> list[Finding]:
    named: list[tuple[KeyPath, str]] = [
        (("providers", i, "answers"), p.answers) for i, p in enumerate(params.providers) if p.answers
    ]
    named += [(("measurements", i), log) for i, log in enumerate(params.measurements)]
    named += [(("elicited", i), answers) for i, answers in enumerate(params.elicited)]
    named += [(("offers", i, "file"), str(o.file)) for i, o in enumerate(params.offers) if isinstance(o, OfferFile)]
    named += [(("brand", "logo"), params.brand.logo)] if params.brand and params.brand.logo else []
    return [
        Finding("", path, reason, name, remedy) for path, name in named for reason, remedy in _file_fault(folder, name)
    ]


def _file_fault(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Walk down from the folder and refuse every symbolic link on the way, wherever it points."""
    at, place = folder, f"in {folder.name}/" if folder.name else "beside the params file"
    try:
        for part in Path(name).parts:
            at = at / part
            mode = os.lstat(at).st_mode
            if stat.S_ISLNK(mode):
                yield "is or passes through a symbolic link", "Copy the file into the params folder."
                return
        if not stat.S_ISREG(mode):
            yield "is not an ordinary file", "Name a file."
    except (OSError, ValueError):
        yield "names a file that does not exist", f"Put it {place}, or drop the line."


TRIED_BY, WHY = "A what-if", "A change tried, not a source"


def changed_params(
    params: Params, keys: Mapping[str, Any], figures: Mapping[str, Any], *, extra_options: Iterable[str] = ()
) -> Params:
    """The params with `keys` (`cluster__gpus`, or `seed`) set and `figures` overridden (`price:…`, by id).

    Values are written as in the file; `InputError` lists every fault. `extra_options`: ids of the client's own options.
    """
    data = params.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for key, value in keys.items():
        *sections, name = key.split("__")
        place: Any = data
        for depth, section in enumerate(sections):
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                above = ".".join(sections[: depth + 1])
                remedy = f"Write the whole of {above}: `{'__'.join(sections[: depth + 1])}=...`."
                raise InputError(Problem(f"holds no key {name}", key=above, remedy=remedy))
        place[name] = value
    stated = {o["id"]: o["value"] for o in data.get("overrides", ())}
    figures = {i: value for i, value in figures.items() if stated.get(i) != value}  # what is so already keeps its name
    kept = [o for o in data.get("overrides", ()) if o["id"] not in figures]
    tried = [
        {"id": i, "value": value, "who": TRIED_BY, "why": WHY, "until": str(params.as_of)}
        for i, value in figures.items()
    ]
    if kept or tried:
        data["overrides"] = [*kept, *tried]
    return params_from(data, extra_options=extra_options)


def typed_changes(texts: Iterable[str], option: str, *, many: bool = False) -> dict[str, Any]:
    """What is typed as `key=value`, by key; with `many` the list of values that commas part. Values are as in the file."""
    found: dict[str, Any] = {}
    for text in texts:
        key, is_there, value = text.partition("=")
        key, shown = key.strip(), f"{option} {visible(key)}"
        if not (is_there and key and value.strip()) or key in found:
            what = "is given twice" if key in found else "is no key with a value"
            remedy = f"Write {option} cluster.gpus=512, or the id of an entry: {option} price:ITEM=28000."
            raise InputError(Problem(what, key=option, value=visible(text), remedy=remedy))
        found[key] = typed_value(f"[{value}]" if many else value, shown)
    return found
