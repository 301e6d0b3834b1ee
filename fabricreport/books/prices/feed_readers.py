"""Feeds as text: read from a path or an http(s) address, with limits, and by format into price rows and refusals.

An address is read as `web.py` says. This machine itself is reached only if the address names it.

GPU-hour feeds become items of two kinds: one per provider (`gpu-hour-h100-runpod`, other terms appended as in
`gpu-hour-h100-runpod-spot`) with the median, lowest and highest of its rows in a month, dated by the last of them;
and one per panel of providers (`gpu-hour-h100-on-demand`) with the median of the providers' medians. Panels change
their members, so hyperscalers, whose rate cards lie far higher, form their own (`gpu-hour-h100-hyperscaler-on-demand`).
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from pathlib import Path
from statistics import median
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.books.prices.files import columns_fault, header_line, parse_prices, separator_fault
from fabricreport.books.prices.rules import COLUMNS, FeedRules, PriceRow, clean_text, parse_row, rules
from fabricreport.books.prices.web import Answer, get, is_address, parts_of, shown


def fetch_text(source: str, limits: FeedRules) -> str:
    """The UTF-8 text at a path or http(s) address; every failure is an `InputError` with the remedy."""
    here = is_address(source) and parts_of(source).hostname in ("localhost", "127.0.0.1", "::1")
    return text_of(answer_of(source, limits, loopback=here, headers={}), source)


def answer_of(source: str, limits: FeedRules, *, loopback: bool, headers: Mapping[str, str]) -> Answer:
    """What the server of an address answers, or a file holds."""
    if is_address(source):
        return get(source, limits.largest_bytes, limits.timeout_s, loopback=loopback, headers=headers)
    try:
        with Path(source).open("rb") as handle:
            data = handle.read(limits.largest_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "") or "not a path"
        raise _problem(source, f"cannot be read ({reason})", "Name a file or an http(s) address.") from error
    if len(data) > limits.largest_bytes:
        raise _problem(source, f"larger than {limits.largest_bytes} bytes", "Split it, or take fewer months.")
    return Answer(HTTPStatus.OK, {}, data)


def text_of(answer: Answer, source: str) -> str:
    """What an answer holds as text."""
    if answer.status != HTTPStatus.OK:
        raise _problem(source, f"the server answered {answer.status}", "Check the address.")
    try:
        return answer.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _problem(source, "not UTF-8 text", "Is this the CSV itself and not an archive or a web page?") from error


def _problem(source: str, message: str, remedy: str) -> InputError:
    return InputError(Problem(message, shown(source), remedy=remedy))


HISTORY_COLUMNS = ("date", "provider", "gpu", "usd_per_gpu_hour", "term", "source")
_KNOWN = "Known: our CSV, the GPU-hour history, SkyPilot's catalog; the first line must be the header."
CATALOG_COLUMNS = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region", "SpotPrice")


@dataclass(frozen=True)
class Reading:
    """Rows read from a feed, rows refused with file and line, and counts of rows left out by reason."""

    rows: tuple[PriceRow, ...]
    refused: tuple[Problem, ...] = ()
    skipped: Mapping[str, int] | None = None


@dataclass(frozen=True)
class _Quote:
    """One USD price of one GPU-hour."""

    day: date
    provider: str
    gpu: str
    term: str
    usd: float
    source: str


def feed_kind(text: str) -> str:
    """`csv`, `gpu-hour-history` or `skypilot`, told by the header line; '' if it is none of them."""
    names = {c.strip().strip('"') for c in header_line(text)[1].split(",")}
    if set(COLUMNS) <= names:
        return "csv"
    if set(HISTORY_COLUMNS) <= names:
        return "gpu-hour-history"
    return "skypilot" if set(CATALOG_COLUMNS) <= names else ""


def header_fault(text: str) -> tuple[str, str]:
    """Why a text's first line is none of the known headers, and the remedy."""
    if parted := separator_fault(text, ""):
        return parted.message, f"{parted.remedy} {_KNOWN}"
    names = [c.strip().strip('"') for c in header_line(text)[1].split(",")]
    kinds = {"our CSV": COLUMNS, "a GPU-hour history": HISTORY_COLUMNS, "a SkyPilot catalog": CATALOG_COLUMNS}
    kind, needed = max(kinds.items(), key=lambda pair: len(set(pair[1]) & set(names)) / len(pair[1]))
    if 2 * len(set(needed) & set(names)) < len(needed):
        return "none of the known feed formats", _KNOWN
    what, remedy = columns_fault(names, needed) or ("columns in another order", "")
    return f"nearly {kind}, but {what}", f"{remedy} Needed: {','.join(needed)}.".strip()


def read_csv_feed(text: str, file: str) -> Reading:
    """Rows of our own format."""
    rows, malformed = parse_prices(text, file)
    return Reading(rows, tuple(m.problem for m in malformed))


def read_gpu_hour_history(text: str, file: str) -> Reading:
    """Rows `date,provider,gpu,usd_per_gpu_hour,term,source`, gathered by month."""
    quotes: list[_Quote] = []
    refused: list[Problem] = []
    skipped: dict[str, int] = defaultdict(int)
    for line, cells in _records(text, file, HISTORY_COLUMNS):
        try:
            term, skip = _term(cells["term"])
            gpu = _gpu(cells["gpu"])
            if skip or not gpu or not term:
                named = f"unknown GPU {cells['gpu']}" if not gpu else f"unknown term {cells['term']}"
                skipped[skip or clean_text(named)[:50]] += 1
                continue
            probe = _probe(cells["usd_per_gpu_hour"], cells["date"], cells["source"], file, line)
            quotes.append(_Quote(probe.date, _provider(cells["provider"]), gpu, term, probe.price, probe.source))
        except InputError as error:
            refused += error.problems
    return Reading((*_by_provider(quotes), *_by_panel(quotes)), tuple(refused), dict(skipped))


def read_skypilot(text: str, file: str, *, provider: str, as_of: date) -> Reading:
    """One provider's catalog file; the price of an instance-hour is divided by its GPUs. It has no dates: `as_of`."""
    provider = _provider(provider)
    quotes: list[_Quote] = []
    refused: list[Problem] = []
    skipped: dict[str, int] = defaultdict(int)
    for line, cells in _records(text, file, CATALOG_COLUMNS):
        try:
            gpu = _gpu(cells["AcceleratorName"], rules().feeds.skypilot_gpus)
            if not gpu:
                named = cells["AcceleratorName"].strip()
                skipped[f"accelerator {clean_text(named)[:30]} is not in the list" if named else "no accelerator"] += 1
                continue
            count = _count(cells["AcceleratorCount"], file, line)
            for column, term in (("Price", "on-demand"), ("SpotPrice", "spot")):
                if not cells[column].strip():
                    skipped[f"no {column}"] += 1
                    continue
                probe = _probe(cells[column], as_of.isoformat(), "catalog", file, line)
                source = f"SkyPilot catalog, {provider}, {gpu}"
                quotes.append(_Quote(as_of, provider, gpu, term, probe.price / count, source))
        except InputError as error:
            refused += error.problems
    return Reading(tuple(_by_provider(quotes)), tuple(refused), dict(skipped))


def _records(text: str, file: str, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(c.strip() for c in cells) or cells[0].startswith("#"):
                continue
            if header is None:
                header = [c.strip() for c in cells]
                continue
            if reader.line_num > rules().most_rows:
                raise InputError(Problem(f"more than {rules().most_rows} rows", file, reader.line_num))
            padded = [*cells, *[""] * (len(header) - len(cells))]
            record = dict(zip(header, padded, strict=False))
            yield reader.line_num, record | {n: record.get(n, "") for n in needed}
    except csv.Error as error:
        raise InputError(Problem(f"not a CSV table ({error})", file, reader.line_num)) from error


def _probe(price: str, day: str, source: str, file: str, line: int) -> PriceRow:
    """Borrow the price book's own checks of numbers, dates and texts for one feed row."""
    cells = {"item": "gpu-hour", "unit": "gpu-hour", "price": price, "currency": "USD", "date": day,
             "source": source, "grade": rules().feeds.grade}  # fmt: skip
    return parse_row(cells, file, line)


def _count(text: str, file: str, line: int) -> float:
    value = float(text) if re.fullmatch(r"\d+(\.\d+)?", text.strip()) else 0.0
    if value <= 0:
        shown = clean_text(text)[:40]
        raise InputError(Problem("not a number of GPUs", file, line, "AcceleratorCount", shown))
    return value


def _term(text: str) -> tuple[str, str]:
    for rule in rules().feeds.terms:
        if rule.contains in text.lower():
            return rule.term, rule.skip
    return "", ""


def _gpu(text: str, first: Mapping[str, str] | None = None) -> str:
    key = re.sub(r"[\s_-]", "", text.lower())
    return (first or {}).get(key) or rules().feeds.gpus.get(key, "")


def _provider(text: str) -> str:
    name = re.sub(r"\(.*?\)", "", text).strip().lower()
    key = re.sub(r"[\s_-]", "", name)
    known = rules().feeds.providers.get(key)
    return known or re.sub(r"[^a-z0-9]+", "-", name).strip("-") or "unnamed"


def _by_provider(quotes: list[_Quote]) -> Iterator[PriceRow]:
    def key(q: _Quote) -> tuple[str, ...]:
        return (q.gpu, q.provider, q.term)

    for (gpu, provider, term), month in _months(quotes, key):
        item = f"gpu-hour-{gpu}-{provider}" + ("" if term == "on-demand" else f"-{term}")
        sources = sorted({q.source.split(" ")[0] if q.source.startswith("github.com") else q.source for q in month})
        text = f"{provider}, {term}, median of {len(month)} rows of {month[0].day:%Y-%m}; {'; '.join(sources)}"
        yield _row(item, [q.usd for q in month], max(q.day for q in month), text, term)


def _by_panel(quotes: list[_Quote]) -> Iterator[PriceRow]:
    large = set(rules().feeds.hyperscalers)

    def key(q: _Quote) -> tuple[str, ...]:
        return (q.gpu, "hyperscaler-" if q.provider in large and q.term != "list" else "", q.term)

    for (gpu, panel, term), month in _months(quotes, key):
        members: dict[str, list[float]] = defaultdict(list)
        for q in month:
            members[q.provider].append(q.usd)
        medians = {name: median(values) for name, values in sorted(members.items())}
        named = "; ".join(f"{name} {value:.2f}" for name, value in medians.items())
        who = f"{len(medians)} providers' medians" if len(medians) > 1 else "one provider, its median"
        text = f"Median of {who} of {month[0].day:%Y-%m} ({named})"
        yield _row(f"gpu-hour-{gpu}-{panel}{term}", list(medians.values()), max(q.day for q in month), text, term)


def _months(
    quotes: list[_Quote], key: Callable[[_Quote], tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], list[_Quote]]]:
    groups: dict[tuple[tuple[str, ...], str], list[_Quote]] = defaultdict(list)
    for quote in quotes:
        groups[key(quote), f"{quote.day:%Y-%m}"].append(quote)
    for (name, _), month in sorted(groups.items(), key=lambda entry: entry[0]):
        yield name, month


def _row(item: str, values: list[float], day: date, source: str, product: str) -> PriceRow:
    cells: dict[str, Any] = {
        "item": item, "unit": "gpu-hour", "price": f"{median(values):.6g}", "low": f"{min(values):.6g}",
        "high": f"{max(values):.6g}", "currency": "USD", "date": day.isoformat(),
        "source": source[: rules().longest_source], "grade": rules().feeds.grade, "product": product,
    }  # fmt: skip
    return parse_row(cells)
