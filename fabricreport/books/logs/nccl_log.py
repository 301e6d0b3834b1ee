"""Reading nccl-tests and rccl-tests tables: `size count type [redop] [root]`, then `time algbw busbw [#wrong]` once
for out-of-place and, in most logs, once for in-place. Old tables print `error` for `#wrong` and no root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fabricreport.base.bounds import bound_of
from fabricreport.books.logs.lines import (
    ERROR,
    INFO,
    WARNING,
    Finding,
    ImpossibleFigure,
    LogRow,
    LogSection,
    ParsedLog,
    counted,
    decimal,
    impossible,
    possible,
)

_TYPES = frozenset(
    [
        "int8",
        "uint8",
        "char",
        "int32",
        "int",
        "uint32",
        "uint",
        "int64",
        "uint64",
        "half",
        "float16",
        "fp16",
        "float",
        "float32",
        "fp32",
        "double",
        "float64",
        "bfloat16",
        "bf16",
        "f8e4m3",
        "f8e5m2",
        "fp8_e4m3",
        "fp8_e5m2",
        "float8_e4m3",
        "float8_e5m2",
    ]
)
_OPERATIONS = frozenset(["sum", "prod", "max", "min", "avg", "mulsum", "none", "all"])
_COLLECTIVES = {
    "all_reduce": "allreduce", "all_gather": "allgather", "reduce_scatter": "reduce_scatter", "alltoall": "alltoall",
    "all_to_all": "alltoall", "broadcast": "broadcast", "reduce": "reduce", "sendrecv": "sendrecv",
    "gather": "gather", "scatter": "scatter", "hypercube": "hypercube",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|nan|inf)", re.ASCII | re.IGNORECASE)
_MISSING = frozenset(("N/A", "n/a", "NA", "-", "--"))
_RANK = re.compile(
    r"#\s*Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\d+\s*(?:\[[^\]]*\])?\s*(.*)",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b(all_reduce|all_gather|reduce_scatter|alltoallv?|all_to_all|broadcast|reduce|sendrecv|gather|"
                   r"scatter|hypercube)_perf")  # fmt: skip
_LARGEST = re.compile(r"maxBytes\s+(\d+)")
_AVERAGE = re.compile(r"#\s*Avg bus bandwidth\s*:\s*(\S+)")
_BOUNDS = re.compile(r"#\s*Out of bounds values\s*:\s*(\S+)(?:\s+(\w+))?", re.IGNORECASE)
_ELIDED = re.compile(r"\s*(\.{3,}|…|\[\.\.\.\]|<snip>)\s*")
_WHOLE = re.compile(r"\d+", re.ASCII)
_SRUN = re.compile(r"\bsrun\b")
_STARTER = re.compile(r"\b(?:mpirun|mpiexec|srun)\b")
_SETTING = re.compile(r"\b((?:NCCL|RCCL)_[A-Z0-9_]{1,64}+)=(\S{1,128}+)")
_SET_BY = re.compile(r"\b((?:NCCL|RCCL)_[A-Z0-9_]{1,64}+) set by environment to (\S{1,128}+)")
_GLUED_NODES = re.compile(r"-N\d", re.ASCII)
_COLUMNS = ("time", "algbw", "busbw", "#wrong")
_LONGEST_WRAP = 4


class _BadRow(ValueError):
    """A line that looks like a row and is none; the text says why."""


@dataclass(frozen=True)
class _Read:
    """One row as read; `cut` says what is missing of its in-place columns."""

    row: LogRow
    operation: str
    figures: int
    cut: str = ""


@dataclass
class _Draft:
    """A section while its lines are being read."""

    line: int
    collective: str = ""
    operation: str = ""
    rows: list[LogRow] = field(default_factory=list)
    ranks: set[int] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    device: str = ""
    launched: int | None = None
    nodes: int | None = None
    largest: int | None = None
    average: float | None = None
    header: bool = False
    rooted: bool = False
    figures: int = 0
    wrong_column: bool = True
    settings: set[str] | None = None
    bounds: tuple[int, str] | None = None
    """Line and words of a footer that counts wrong values, or calls the run failed."""


def parse_nccl_tests(cleaned: Sequence[tuple[int, str]]) -> ParsedLog:
    """All tables of a log; a line that looks like a row but is none becomes a finding with its number and reason."""
    lines = [(n, line.replace("|", " ") if line.lstrip().startswith("|") else line) for n, line in cleaned]
    drafts = [_Draft(lines[0][0] if lines else 1)]
    findings: list[Finding] = []
    at = 0
    while at < len(lines):
        number, line = lines[at]
        at += 1
        in_table = drafts[-1].header or bool(drafts[-1].rows)
        try:
            if _note(drafts, number, line) or not _looks_like_row(line, in_table):
                if _ELIDED.fullmatch(line):
                    findings.append(
                        Finding("elided", INFO, number, "rows were left out here by whoever pasted the log")
                    )
                continue
            read, used = _wrapped_row(lines, at - 1, drafts[-1])
            at += used - 1
            drafts[-1].rows.append(read.row)
            drafts[-1].operation = read.operation or drafts[-1].operation
            drafts[-1].figures = max(drafts[-1].figures, read.figures)
            if read.cut:
                findings.append(_bad_line(number, read.cut, lines, at))
        except ImpossibleFigure as error:
            findings.append(impossible(number, error))
        except _BadRow as error:
            findings.append(_bad_line(number, str(error), lines, at))
    done = [d for d in drafts if d.rows]
    findings += [f for d in done for f in _ending(d)]
    return ParsedLog("nccl-tests", tuple(_section(d) for d in done), tuple(findings))


def _note(drafts: list[_Draft], number: int, line: str) -> bool:
    """Take what a header, footer or command line says; True if the line was one."""
    draft, stripped = drafts[-1], line.strip()
    name = _NAME.search(line)
    starts = stripped.startswith("#") and ("nThread" in line or "Collective test starting" in line)
    fresh_table = _is_header(stripped) and bool(draft.rows)
    if (starts or fresh_table or (name and not stripped.startswith("#"))) and (draft.rows or draft.average is not None):
        keep = _Draft(number) if not fresh_table else _Draft(number, ranks=draft.ranks, hosts=draft.hosts)
        keep.device = draft.device if fresh_table else ""
        keep.launched, keep.nodes = (draft.launched, draft.nodes) if fresh_table else (None, None)
        keep.settings = draft.settings if fresh_table else None
        drafts.append(keep)
        draft = keep
    if name:
        draft.collective = _COLLECTIVES[name.group(1).removesuffix("v")]
        _launch(draft, line)
    _settings(draft, line)
    if match := _LARGEST.search(line):
        draft.largest = counted(match.group(1), "bytes")
    if match := _RANK.search(line):
        draft.ranks.add(counted(match.group(1), "gpus"))
        draft.hosts.add(match.group(2))
        draft.device = match.group(3).strip() or draft.device
    if match := _AVERAGE.search(line):
        draft.average = _average(match.group(1))
    if (match := _BOUNDS.search(line)) and (match.group(1) != "0" or (match.group(2) or "OK").upper() != "OK"):
        draft.bounds = number, " ".join(filter(None, match.groups()))
    if _is_header(stripped):
        words = stripped.lstrip("# ").split()
        checked = "#wrong" in words or "error" in words
        draft.header, draft.rooted, draft.wrong_column = True, "root" in words, "#wrong" in words
        draft.figures = words.count("time") * (4 if checked else 3)
    return stripped.startswith("#") or name is not None


def _is_header(stripped: str) -> bool:
    words = stripped.lstrip("# ").split()
    return words[:2] == ["size", "count"] and "time" in words


def _launch(draft: _Draft, line: str) -> None:
    """Ranks and nodes as a command line claims them; the list of ranks in the log is better and wins."""
    words = line.split()
    programs = [n for n, word in enumerate(words) if "_perf" in word]
    starter = next((n for n, word in enumerate(words) if _SRUN.search(word)), len(words))
    per_process = _option(words[programs[0] :], ("-g", "--ngpus")) or 1
    if launched := _option(words[: programs[-1]], ("-np", "--ntasks", "-n")):
        draft.launched = counted(str(launched * per_process), "gpus")
    glued = [word.removeprefix("-N") for word in words[starter:] if _GLUED_NODES.match(word)]
    if nodes := _option(words, ("--nodes",)) or _option(words[starter:], ("-N",)) or _option(["-N", *glued], ("-N",)):
        draft.nodes = nodes


def _settings(draft: _Draft, line: str) -> None:
    """The library's settings, where a command line or the library itself tells them; a command without any tells that too."""
    told = _SETTING.findall(line) if _STARTER.search(line) else None
    if told is None and (by_library := _SET_BY.findall(line)):
        told = by_library
    if told is not None:
        draft.settings = (draft.settings or set()) | {f"{name}={value.rstrip('.')}" for name, value in told}


def _option(words: Sequence[str], names: tuple[str, ...]) -> int | None:
    """The number that the first of the options `--name 8`, `--name=8` gives; None if none does."""
    for n, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            value = value if equals else "".join(words[n + 1 : n + 2])
            if match := _WHOLE.match(value):
                return counted(match.group(), "gpus")
    return None


def _looks_like_row(line: str, in_table: bool = True) -> bool:
    words = line.split()
    if not words or line.lstrip().startswith("#"):
        return False
    typed = any(w in _TYPES for w in words[:4])
    numbers = sum(bool(_NUMBER.fullmatch(w)) or w in _MISSING for w in words)
    if typed:
        return numbers >= 2
    if not in_table or not _NUMBER.fullmatch(words[0]):
        return False
    begun = len(words) in (3, 4) and words[0].isdigit() and words[1].isdigit()  # wrapped inside its type or operation
    return begun or numbers >= 4 or numbers == len(words) >= 2


def _wrapped_row(lines: Sequence[tuple[int, str]], at: int, draft: _Draft) -> tuple[_Read, int]:
    """The row that starts at `lines[at]`, joined with the lines after it where a terminal wrapped it."""
    number, text = lines[at]
    best: tuple[_Read, int] | None = None
    reason: ImpossibleFigure | _BadRow | None = None
    candidates = [text]
    for used in range(1, _LONGEST_WRAP + 1):
        for candidate in candidates:
            try:
                read = _row(number, candidate.split(), draft)
            except (ImpossibleFigure, _BadRow) as error:
                reason = reason or error
                continue
            if best is None or (read.figures, not read.cut) > (best[0].figures, not best[0].cut):
                best = (read, used)
        complete = best is not None and not best[0].cut and best[0].figures >= (draft.figures or 8)
        if complete or at + used >= len(lines) or not _continues(lines[at + used][1]):
            break
        more = lines[at + used][1]
        candidates = [glued for c in candidates for glued in (f"{c} {more}", c + more.lstrip())]
    if best is None:
        raise reason or _BadRow("no row")
    return best


def _continues(line: str) -> bool:
    """A line made of a row's later columns only: numbers, or a type and numbers, but no new size and count and type."""
    words = line.split()
    if line.lstrip().startswith("#") or (len(words) > 2 and words[2] in _TYPES):
        return False
    known = [bool(_NUMBER.fullmatch(w)) or w in _MISSING or w in _TYPES or w in _OPERATIONS for w in words]
    fragment = len(words) > 2 and re.fullmatch(r"[a-z]\w{0,7}", words[0]) is not None  # of a type or an operation
    return all(known[1:]) and (known[0] or fragment)


def _row(number: int, words: list[str], draft: _Draft) -> _Read:
    operation, rest = _head(words, draft)
    expected = draft.figures
    whole = len(rest) in (3, 4, 6, 8) and len(rest) >= expected
    if not whole and (len(rest) < 3 or len(rest) > 8 or len(rest) > expected):
        raise _BadRow(f"{len(rest)} figures after type, operation and root: a row has 3 or 4, or twice as many")
    width = 4 if (len(rest) if whole else expected) in (4, 8) else 3
    cut = "" if whole else f"{len(rest)} of {expected} figures"
    figures = [
        [_figure(w, name) for w, name in zip(rest[n : n + width], _COLUMNS, strict=False)]
        for n in range(0, len(rest), width)
    ]
    figures = [f for f in figures if len(f) >= 3]
    in_place = None in figures[0][:3] and len(figures) == 2 and None not in figures[1][:3]
    time_us, algbw, busbw = (figures[1] if in_place else figures[0])[:3]
    if time_us is None or algbw is None or busbw is None:
        raise _BadRow("time, algbw or busbw is not a number")
    if any(f[0] == 0 for f in figures):
        raise _BadRow("a time of zero")
    wrong = [f[3] for f in figures if len(f) == 4 and f[3] is not None] if draft.wrong_column else []
    second = figures[1] if len(figures) == 2 and not in_place else [None] * 3
    row = possible(LogRow(
        number, counted(words[0], "bytes"), time_us, algbw, busbw, wrong=sum(wrong) if wrong else None,
        in_place=in_place, in_place_time_us=second[0], in_place_algbw_gbytes_per_s=second[1],
        in_place_busbw_gbytes_per_s=second[2],
    ))  # fmt: skip
    return _Read(row, operation, len(rest), cut)


def _head(words: list[str], draft: _Draft) -> tuple[str, list[str]]:
    """The operation of a row ('' if none) and its figures, without size, count, type and root."""
    if len(words) < 2 or not _WHOLE.fullmatch(words[0]):
        raise _BadRow("the line does not begin with a size: its start is missing")
    if not _WHOLE.fullmatch(words[1]):
        raise _BadRow(f"the second column should be a count of elements and is {words[1][:20]}")
    if len(words) < 3:
        raise _BadRow("only size and count: the rest is missing")
    if words[2] not in _TYPES:
        raise _BadRow("no data type after size and count")
    rest = words[3:]
    operation = rest.pop(0) if rest and rest[0] in _OPERATIONS else ""
    has_root = draft.rooted or len(rest) in (5, 7, 9)
    if rest and ((rest[0] == "-1" and (has_root or not draft.header)) or (has_root and rest[0].isdigit())):
        rest.pop(0)
    return operation, rest


def _figure(word: str, column: str) -> float | None:
    """A figure of either half of a row; None where the tool printed that it has none, as for `#wrong` without a check."""
    missing = word in _MISSING
    if missing or word.lower().lstrip("+-") in ("nan", "inf"):
        if missing or column == "#wrong":
            return None
        raise ImpossibleFigure(f"{column} of {word} is not a number")
    try:
        value = decimal(word)
    except ImpossibleFigure:
        raise
    except ValueError as error:
        raise _BadRow(str(error)) from None
    if value < 0 and column != "#wrong":
        raise ImpossibleFigure(f"{column} of {word} is below zero")
    return value


def _average(word: str) -> float | None:
    """The printed average; None for a word that is no number, as some tools print nan there."""
    try:
        value = decimal(word)
    except ImpossibleFigure:
        raise
    except ValueError:
        return None
    if fault := bound_of("printed-gbytes/s").fault(value):
        raise ImpossibleFigure(f"an average of {value:g} GB/s {fault}")
    return value


def _bad_line(number: int, reason: str, lines: Sequence[tuple[int, str]], at: int) -> Finding:
    last = not any(_looks_like_row(lines[n][1]) for n in range(at, len(lines)))
    kind, what = ("cut-off", "the table is cut off in this line") if last else ("malformed", "a line that is no row")
    return Finding(kind, WARNING, number, f"{what}: {reason}", "Paste the log again from a file instead of a screen.")


def _ending(draft: _Draft) -> list[Finding]:
    found = []
    last = draft.rows[-1]
    if draft.largest and last.size_bytes < draft.largest // 2 + 1 and draft.average is None:
        message = f"the table stops at {last.size_bytes} bytes, the run was to go on to {draft.largest}"
        numbers = {"last_bytes": float(last.size_bytes), "asked_bytes": float(draft.largest)}
        found.append(Finding("cut-off", WARNING, last.line, message, "Ask for the whole log.", numbers))
    elif draft.header and draft.average is None:
        message = "no line with the average bus bandwidth after the table: the log is cut off or the run was stopped"
        found.append(Finding("no-footer", INFO, last.line, message))
    if draft.ranks and len(draft.ranks) < max(draft.ranks) + 1:
        message = f"the list of ranks names {len(draft.ranks)} of {max(draft.ranks) + 1}"
        found.append(Finding("rank-list-cut", WARNING, draft.line, message, "Ask for the whole log."))
    return [*found, *_wrong(draft)]


def _wrong(draft: _Draft) -> Iterator[Finding]:
    """What a table says of values that came out wrong: its rows, or where they are silent the line that sums them up."""
    bad = [r for r in draft.rows if r.wrong]
    remedy = "Do not use this run; look for faulty links or GPUs first."
    if bad:
        message = f"{len(bad)} rows report wrong results: the figures are of a run that corrupted data"
        yield Finding("wrong-results", ERROR, bad[0].line, message, remedy, {"rows": float(len(bad))})
    elif draft.bounds is not None:
        line, told = draft.bounds
        message = f"line {line} sums up wrong values as {told[:40]}, which no row shows"
        yield Finding("wrong-results", ERROR, draft.rows[-1].line, message, remedy, {"rows": 0.0})


def _section(draft: _Draft) -> LogSection:
    ranks = max(draft.ranks) + 1 if draft.ranks else draft.launched
    return LogSection(
        draft.collective or _guess(draft), tuple(draft.rows), draft.line, ranks, len(draft.hosts) or draft.nodes,
        draft.device, draft.largest, draft.average,
        facts=_facts(draft),
    )  # fmt: skip


def _facts(draft: _Draft) -> dict[str, str]:
    found = {} if draft.collective else {"collective": "inferred"}
    return found if draft.settings is None else {**found, "settings": " ".join(sorted(draft.settings))}


def _guess(draft: _Draft) -> str:
    """The collective of a table without a name, from its bus factor: only AllReduce has one above 1."""
    clear = max(draft.rows, key=lambda r: r.algbw_gbytes_per_s)
    if clear.algbw_gbytes_per_s <= 0:
        return "unknown"
    factor = clear.busbw_gbytes_per_s / clear.algbw_gbytes_per_s
    if factor > 1.02:
        return "allreduce"
    if factor > 0.995:
        return "allreduce" if draft.operation not in ("", "none") and draft.ranks == {0, 1} else "unknown"
    return "reduce_scatter" if draft.operation not in ("", "none") else "allgather"
