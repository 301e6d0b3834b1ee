"""Feeds as text: read from a path or an http(s) address, with limits, and by format into price rows and refusals.

An address is read through fsspec with a guarded session: at most `largest_bytes` and `timeout_s`, no redirect to
another host or down to http, and no host that resolves to a private, link-local or otherwise internal address.
Loopback is reached only if the address itself names it. Nothing else in the package opens a connection.

GPU-hour feeds become items of two kinds: one per provider (`gpu-hour-h100-runpod`, other terms appended as in
`gpu-hour-h100-runpod-spot`) with the median, lowest and highest of its rows in a month, dated by the last of them;
and one per panel of providers (`gpu-hour-h100-on-demand`) with the median of the providers' medians. Panels change
their members, so hyperscalers, whose rate cards lie far higher, form their own (`gpu-hour-h100-hyperscaler-on-demand`).
"""

from __future__ import annotations

import csv
import io
import ipaddress
import re
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from fabricreport.base.errors import InputError, Problem
from fabricreport.books.prices.files import columns_fault, header_line, parse_prices, separator_fault
from fabricreport.books.prices.rules import COLUMNS, PriceRow, clean_text, parse_row, rules

_CHUNK = 65536


class Refused(Exception):
    """A connection or redirect that the guard did not allow; turned into an `InputError` by `fetch_text`."""


def is_address(source: str) -> bool:
    """True if the source is written as an address (`scheme://...`) rather than a path."""
    return "://" in source


def fetch_text(source: str, *, largest_bytes: int, timeout_s: float) -> str:
    """The UTF-8 text at a path or http(s) address; every failure is an `InputError` with the remedy."""
    data = _fetch(source, largest_bytes, timeout_s) if is_address(source) else _read(source, largest_bytes)
    if len(data) > largest_bytes:
        raise _problem(source, f"larger than {largest_bytes} bytes", "Split it, or take fewer months.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _problem(source, "not UTF-8 text", "Is this the CSV itself and not an archive or a web page?") from error


def _read(source: str, largest_bytes: int) -> bytes:
    try:
        with Path(source).open("rb") as handle:
            return handle.read(largest_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "") or "not a path"
        raise _problem(source, f"cannot be read ({reason})", "Name a file or an http(s) address.") from error


def _fetch(source: str, largest_bytes: int, timeout_s: float) -> bytes:
    import aiohttp  # here, because a build that imports no feed should not pay for it
    from fsspec.exceptions import FSTimeoutError
    from fsspec.implementations.http import HTTPFileSystem

    host = _checked_host(source)
    until = time.monotonic() + timeout_s

    async def session(**kwargs: Any) -> Any:
        return _guarded_session(host, timeout_s, **kwargs)

    system = HTTPFileSystem(get_client=session, skip_instance_cache=True, block_size=0)
    data = b""
    try:
        with system.open(source, "rb", block_size=0, size=1) as stream:  # size given: no second request for it
            while len(data) <= largest_bytes:
                if time.monotonic() > until:
                    raise TimeoutError
                piece = stream.read(_CHUNK)
                if not piece:
                    break
                data += piece
    except (TimeoutError, FSTimeoutError) as error:
        raise _problem(
            source, f"no complete answer within {timeout_s:g} s", "Try again, or save it to a file."
        ) from error
    except Refused as error:
        raise _problem(source, str(error), "Download it yourself if you trust it.") from error
    except aiohttp.ClientResponseError as error:
        raise _problem(source, f"the server answered {error.status}", "Check the address.") from error
    except FileNotFoundError as error:
        raise _problem(source, "the server answered 404", "Check the address.") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        refused = _refusal(error)
        raise _problem(
            source, refused or f"cannot be fetched ({type(error).__name__})", "Check the address."
        ) from error
    return data


def _checked_host(source: str) -> str:
    try:
        parts = urlsplit(source)
        host, scheme = (parts.hostname or "").lower(), parts.scheme.lower()
        parts.port  # noqa: B018 -- raises on a port that is none
    except ValueError as error:
        raise _problem(source, "not an address", "Write https://host/path.") from error
    if scheme not in ("http", "https") or not host:
        raise _problem(source, "not an http or https address", "Give a local path or https://host/path.")
    if parts.username or parts.password:
        raise _problem(source, "a name or password in an address", "Download it yourself and give the path.")
    literal = _literal(host)
    if literal is not None and not literal.is_loopback and not literal.is_global:
        raise _problem(source, "a private or internal address", "Download it yourself and give the path.")
    return host


def _guarded_session(host: str, timeout_s: float, **kwargs: Any) -> Any:
    import aiohttp
    from aiohttp.resolver import ThreadedResolver

    loopback_asked = host == "localhost" or bool(getattr(_literal(host), "is_loopback", False))

    class Resolver(ThreadedResolver):
        """Resolves as usual, then refuses answers that point inside."""

        async def resolve(self, name: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
            answers = await super().resolve(name, port, family)
            for answer in answers:
                address = ipaddress.ip_address(answer["host"].split("%")[0])
                if not (address.is_global or (address.is_loopback and loopback_asked)):
                    raise Refused(f"{name} resolves to a private or internal address")
            return answers

    async def on_redirect(_session: Any, _context: Any, params: Any) -> None:
        before = params.url
        after = before.join(type(before)(params.response.headers.get("Location", "")))
        if (after.host or "").lower() != host or after.port != before.port:
            raise Refused(f"redirected to another host, {clean_text(after.host)[:80]}")
        if before.scheme == "https" and after.scheme != "https":
            raise Refused("redirected from https to http")

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(on_redirect)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=Resolver(), use_dns_cache=False),
        trace_configs=[trace],
        timeout=aiohttp.ClientTimeout(total=timeout_s),
        **{k: v for k, v in kwargs.items() if k != "loop"},
    )


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _refusal(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, Refused):
            return str(error)
        error = error.__cause__ or error.__context__
    return ""


def _problem(source: str, message: str, remedy: str) -> InputError:
    return InputError(Problem(message, clean_text(source)[:200], remedy=remedy))


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
    return Reading(tuple(rows), tuple(m.problem for m in malformed))


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
                skipped[skip or (f"unknown GPU {cells['gpu']}" if not gpu else f"unknown term {cells['term']}")] += 1
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
