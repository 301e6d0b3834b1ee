"""`feeds.yaml` in a folder of prices: the feeds that the book takes by itself, each filed in `<name>.csv` as by `prices import`.

    feeds:
      reseller: https://prices.example.com/list.csv
      rents: ../incoming/gpu_hours.csv    # from this folder

Only the hosts of these addresses are asked, and none that is private (`web.py`). A memory in the cache folder says what was
got last, so that only what is new is sent, and a server that failed is left alone for a while. A SkyPilot catalog, named for
its provider, bears the day's date, and is taken once a day. Without the memory all is got anew; nothing is added twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, TypeAdapter

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import write_if_new
from fabricreport.books.fields import CLOSED, Fault, Id, refusal, text
from fabricreport.books.prices.feed_readers import answer_of, text_of
from fabricreport.books.prices.feeds import ImportReport, import_prices
from fabricreport.books.prices.rules import FeedRules, rules
from fabricreport.books.prices.web import is_address, parts_of, shown
from fabricreport.books.reader import read_book

FILE = "feeds.yaml"
_MOST_LINES = 20


def _source(found: str) -> str:
    try:
        if is_address(found):
            parts_of(found)
    except InputError as error:
        (told,) = error.problems
        raise refusal(Fault(told.message, remedy=told.remedy, shown=shown(found))) from None
    return found


@dataclass(frozen=True)
class _Feeds:
    __pydantic_config__ = CLOSED
    feeds: Annotated[
        Mapping[Annotated[Id, text(60)], Annotated[str, text(2000), AfterValidator(_source)]], Field(max_length=100)
    ]


@dataclass(frozen=True)
class Fetched:
    """One feed in one run, `new`, `unchanged`, `failed` or, after a failure, `waiting`; `wait_s`: how long nobody asks now.

    `failures`: in a row, or before it answered again; `is_news`: the first failure, their end, a price held or refused.
    """

    name: str
    status: str
    message: str
    failures: int
    wait_s: float = 0.0
    is_news: bool = False
    report: ImportReport | None = None

    @property
    def ok(self) -> bool:
        """Whether the book holds what the feed says, and nothing of it is in doubt."""
        return self.report.ok if self.report else self.status == "unchanged"

    @property
    def held(self) -> list[dict[str, Any]]:
        """The prices newly held, each with the command that uses it; with `reject` for `accept` nobody does."""
        line = "fabricreport prices accept {} --date {} --who NAME --why REASON --folder {}"
        held = [(h, shlex.quote(str(Path(h.file).parent))) for h in (self.report.held if self.report else ())]
        return [h.as_dict() | {"command": line.format(h.item, h.date, folder)} for h, folder in held]

    def text(self) -> str:
        """What is told of it, a summary last."""
        lines = self.message.splitlines()
        return "\n".join(f"feed {self.name}: {line}" for line in [*lines[:-1][:_MOST_LINES], lines[-1]])

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return vars(self) | {"ok": self.ok, "held": self.held, "report": self.report and self.report.as_dict()}


@dataclass(frozen=True)
class _Memory:
    """Failures in a row, until when (s since 1970) nobody asks, and of what was filed last: the validators of its server, the
    sha256 of its text and of the file with it, the day given to a catalog without dates."""

    __pydantic_config__ = CLOSED
    failures: int = 0
    retry_at: float = 0.0
    etag: str = ""
    modified: str = ""
    sha256: str = ""
    filed: str = ""
    day: str = ""


_MEMORIES = TypeAdapter(Mapping[str, _Memory])


def fetch_feeds(
    folder: Path, *, cache: Path | None, now: datetime, limits: FeedRules | None = None, loopback: bool = False
) -> tuple[Fetched, ...]:
    """Take every feed of a folder once; one that fails is told and stops no other. `InputError` if `feeds.yaml` is wrong.

    `cache`: where a memory is kept, if it may be; `now`: with its time zone; `loopback`: for tests, whose servers are here.
    """
    feeds = read_book(folder / FILE, _Feeds).value.feeds
    kept = cache / "feeds" / f"{_sha256(str(folder.resolve()))}.json" if cache else None
    before: Mapping[str, _Memory] = {}
    with contextlib.suppress(OSError, ValueError):  # a damaged memory is none
        before = _MEMORIES.validate_json(kept.read_bytes()) if kept else before
    done, memory = [], {}
    for name, source in feeds.items():
        was = before.get(f"{name} {source}", _Memory())
        one, memory[f"{name} {source}"] = _fetched(name, source, was, folder, now, limits or rules().feeds, loopback)
        done.append(one)
    with contextlib.suppress(OSError):
        if kept:
            write_if_new(kept, _MEMORIES.dump_json(memory).decode())
    return tuple(done)


def _fetched(
    name: str, source: str, was: _Memory, folder: Path, now: datetime, limits: FeedRules, loopback: bool
) -> tuple[Fetched, _Memory]:
    wait_s = was.retry_at - now.timestamp()
    if 0 < wait_s <= limits.longest_retry_s:
        message = f"failures in a row: {was.failures}; it is not asked for another {wait_s / 60:.0f} min"
        return Fetched(name, "waiting", message, was.failures, wait_s), was
    file, today = folder / f"{name}.csv", now.date()
    where = source if is_address(source) else str(folder / source)
    try:
        if was.filed != _sha256(file):  # somebody else changed it: what was got may no longer be there
            was = _Memory(was.failures)
        report, left = None, replace(was, failures=0, retry_at=0.0)
        known = {"If-None-Match": was.etag, "If-Modified-Since": was.modified}
        headers = {k: v for k, v in known.items() if v and v.isascii() and v.isprintable()}
        if was.day != str(today):
            if not is_address(where) and Path(where).is_fifo():
                raise InputError(Problem("is a pipe, which may never end", where, remedy=f"Name a file in {FILE}."))
            answer = answer_of(where, limits, loopback=loopback, headers=headers)
            if answer.status != HTTPStatus.NOT_MODIFIED or not headers:
                found = text_of(answer, where)
                etag, modified = (answer.headers.get(key, "") for key in ("ETag", "Last-Modified"))
                left = replace(left, etag=etag, modified=modified, sha256=_sha256(found))
                if left.sha256 != was.sha256:
                    report = import_prices(where, folder=folder, name=name, as_of=today, provider=name, text=found)
                    left = replace(left, day=str(today) if report.kind == "skypilot" else "", filed=_sha256(file))
        again = f"; it answers again, failures before: {was.failures}" if was.failures else ""
        message = (report.text() if report else "nothing new") + again
        is_news = bool(again) or not (report is None or report.ok)
        return Fetched(name, "new" if report else "unchanged", message, was.failures, 0.0, is_news, report), left
    except (InputError, OSError) as error:
        failures = was.failures + 1
        # left alone twice as long after each failure
        pause_s = min(limits.retry_s * 2.0 ** min(failures - 1, 20), limits.longest_retry_s)
        wait_s = pause_s if is_address(source) else 0.0
        message = f"{error}\nfailures in a row: {failures}; the prices there are stay in use"
        message += f"; it is asked again after {wait_s / 60:.0f} min" if wait_s else ""
        left = replace(was, failures=failures, retry_at=now.timestamp() + wait_s if wait_s else 0.0)
        return Fetched(name, "failed", message, failures, wait_s, failures == 1), left


def _sha256(given: str | Path) -> str:
    """Of a text, or of what a file holds; '' for one that is not there."""
    data = given.encode() if isinstance(given, str) else given.read_bytes() if given.is_file() else None
    return "" if data is None else hashlib.sha256(data).hexdigest()
