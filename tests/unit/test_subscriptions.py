"""Claims about the feeds that a price book takes by itself: what is asked, of whom, how often, and what a failure leaves."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import shlex
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows import rows, words

from fabricreport.base.errors import InputError
from fabricreport.books.prices import feeds as importing
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.prices.rules import COLUMNS, rules
from fabricreport.books.prices.subscriptions import FILE, Fetched, fetch_feeds
from fabricreport.books.prices.web import get, is_outside
from fabricreport.cli.books import fetched
from fabricreport.cli.main import main

NOW = datetime(2026, 11, 27, 6, 15, tzinfo=UTC)
LIMITS = replace(rules().feeds, timeout_s=20.0, largest_bytes=2000)
OURS = ",".join(COLUMNS)
CATALOG = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice"


def ours(price: object, day: str = "2026-05-01") -> str:
    return f"widget-a,each,{price},,,USD,{day},,A list,secondary"


def table(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n").encode()


GOOD = table(OURS, ours(100))
Page = Callable[[BaseHTTPRequestHandler], None]


class Shop:
    """A server on this machine whose pages a test writes; `asked` are the requests that came."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.pages: dict[str, Page] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.closing = threading.Event()
        self.left_alone = threading.Semaphore(0)

    def page(self, status: int = 200, body: bytes = b"", length: int | None = None, **headers: str) -> Page:
        def send(to: BaseHTTPRequestHandler) -> None:
            to.send_response(status)
            for name, value in headers.items():
                to.send_header(name.replace("_", "-"), value)
            to.send_header("Content-Length", str(len(body) if length is None else length))
            to.end_headers()
            to.wfile.write(body)

        return send

    def drip(self, start: bytes, piece: bytes) -> Page:
        """Never ends by itself, and is never silent for long."""

        def send(to: BaseHTTPRequestHandler) -> None:
            to.wfile.write(start)
            while not self.closing.wait(0.02):
                try:
                    to.wfile.write(piece)
                except OSError:
                    self.left_alone.release()
                    return

        return send


@pytest.fixture
def shop() -> Iterator[Shop]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            mine.asked.append((self.path, dict(self.headers.items())))
            with suppress(OSError):
                mine.pages.get(self.path, mine.page(404))(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mine = Shop(server.server_address[1])
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    yield mine
    mine.closing.set()
    server.shutdown()
    server.server_close()
    serving.join()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "prices"
    folder.mkdir()
    return folder


def subscribe(book: Path, **sources: str) -> None:
    (book / FILE).write_text(json.dumps({"feeds": sources}), encoding="utf-8")


def fetch(book: Path, now: datetime = NOW, **options: Any) -> tuple[Fetched, ...]:
    found = {"cache": book.parent / "cache", "limits": LIMITS, "loopback": True} | options
    return fetch_feeds(book, now=now, **found)


def statuses(done: tuple[Fetched, ...]) -> list[str]:
    return [one.status for one in done]


def price(book: Path) -> float:
    return PriceBook.read(book).at(date(2026, 11, 27))["widget-a"].price


# --- what is new is filed once


def test_a_server_is_asked_for_what_is_new_and_the_same_twice_adds_nothing(book: Path, shop: Shop) -> None:
    def page(to: BaseHTTPRequestHandler) -> None:
        known = (
            to.headers["If-None-Match"] == '"v1"' and to.headers["If-Modified-Since"] == "Fri, 01 May 2026 00:00:00 GMT"
        )
        headers = {"ETag": '"v1"', "Last_Modified": "Fri, 01 May 2026 00:00:00 GMT"}
        (shop.page(304) if known else shop.page(200, GOOD, **headers))(to)

    shop.pages["/list.csv"] = page
    subscribe(book, list=f"{shop.address}/list.csv")
    (first,) = fetch(book)
    assert first.ok and first.report and first.report.added == 1
    before = (book / "list.csv").read_bytes()
    assert statuses(fetch(book)) == ["unchanged"]
    assert (book / "list.csv").read_bytes() == before and price(book) == 100
    assert [sorted(words("If-None-Match If-Modified-Since") & told.keys()) for _, told in shop.asked] == [
        [],
        ["If-Modified-Since", "If-None-Match"],
    ]
    (book / "list.csv").unlink()
    assert statuses(fetch(book)) == ["new"] and price(book) == 100, "prices that were lost come back"
    assert "If-None-Match" not in shop.asked[-1][1]
    assert fetch(book, cache=None)[0].ok and (book / "list.csv").read_bytes() == before, (
        "without a memory all is got, and filed once"
    )


def test_a_file_and_what_is_moved_on_the_same_server_are_taken(book: Path, shop: Shop) -> None:
    (book.parent / "incoming.csv").write_bytes(table(OURS, ours(101, "2026-06-01")))
    shop.pages["/old"] = shop.page(302, Location="/new?key=secret")
    shop.pages["/new?key=secret"] = shop.page(200, GOOD)
    subscribe(book, web=f"{shop.address}/old", file="../incoming.csv")
    assert statuses(fetch(book)) == ["new"] * 2 and price(book) == 101 and (book / "web.csv").is_file()
    assert statuses(fetch(book)) == ["unchanged"] * 2


def test_a_catalog_without_dates_bears_the_day_and_is_taken_once_a_day(book: Path, shop: Shop) -> None:
    shop.pages["/aws"] = shop.page(200, table(CATALOG, "x,H100,8,1,1,80,us,{},"))
    subscribe(book, aws=f"{shop.address}/aws")
    assert fetch(book)[0].ok
    shop.pages["/aws"] = shop.page(200, table(CATALOG, "x,H100,8,1,1,96,us,{},"))
    assert statuses(fetch(book, NOW + timedelta(hours=1))) == ["unchanged"] and len(shop.asked) == 1
    assert statuses(fetch(book, NOW + timedelta(days=1))) == ["new"]
    assert statuses(fetch(book, NOW + timedelta(days=2))) == ["unchanged"], "no row for a day without news"
    found = PriceBook.read(book).history("gpu-hour-h100-aws")
    assert [(row.date, row.price) for row in found] == [(date(2026, 11, 27), 10), (date(2026, 11, 28), 12)]


def test_a_price_that_is_newly_held_is_handed_over_with_the_command_that_settles_it(book: Path, shop: Shop) -> None:
    subscribe(book, list=f"{shop.address}/list.csv")
    shop.pages["/list.csv"] = shop.page(200, GOOD)
    assert fetch(book)[0].held == []
    shop.pages["/list.csv"] = shop.page(200, table(OURS, ours(100), ours(250, "2026-06-01")))
    (found,) = fetch(book)
    assert [held["item"] for held in found.held] == ["widget-a"] and found.is_news and not found.ok
    again = fetch(book)[0]
    assert again.held == [] and not again.is_news, "not held anew at each run"
    command = shlex.split(json.loads(json.dumps(found.as_dict()))["held"][0]["command"])
    assert CliRunner().invoke(main, command[1:]).exit_code == 0
    assert price(book) == 250


# --- what fails is told, stops no other, and is left alone for a while


def test_bad_answers_are_told_and_the_last_good_price_stays_while_other_feeds_go_on(book: Path, shop: Shop) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    pages = {
        "missing": (shop.page(404), "answered 404"),
        "broken": (shop.page(500), "answered 500"),
        "elsewhere": (shop.page(301, Location="http://other.example/x"), "another host or port, http://other.example"),
        "port": (shop.page(307, Location="http://127.0.0.1:1/x"), "another host or port"),
        "scheme": (shop.page(302, Location="ftp://127.0.0.1/x"), "http or https address"),
        "inside": (shop.page(302, Location="//169.254.169.254/x"), "another host or port"),
        "circle": (shop.page(302, Location="/circle"), "redirected in a circle"),
        "large": (shop.page(200, b"#" * 3000), "larger than 2000 bytes"),
        "packed": (shop.page(200, gzip.compress(GOOD), Content_Encoding="gzip"), "not asked for"),
        "odd": (shop.page(200, GOOD, Content_Encoding="br\x1b[31m"), "not asked for"),
        "cut": (shop.page(200, GOOD[:-20], length=len(GOOD)), "cut short"),
        "page": (shop.page(200, b"<html>\x1b[31mSign in</html>"), "none of the known"),
        "empty": (shop.page(200, table(OURS)), "no price in it"),
        "binary": (shop.page(200, b"\xff\xfe\x00"), "not UTF-8"),
        "unasked": (shop.page(304), "answered 304"),
        "noise": (lambda to: to.wfile.write(b"\x00" * 200), "cannot be fetched"),
        "endless": (shop.drip(head, b"#\n" * 200), "larger than 2000 bytes"),
    }
    for name, (page, _) in pages.items():
        shop.pages[f"/{name}"] = page
    shop.pages["/good"] = shop.page(200, GOOD)
    names = [*pages, "good"]
    subscribe(book, **{name: f"{shop.address}/{name}" for name in names})
    done = fetch(book)
    told = {one.name: one.message for one in done if one.status == "failed"}
    assert {n: word for n, (_, word) in pages.items() if word not in told.get(n, "")} == {}, told
    assert done[-1].ok and price(book) == 100 and sorted(p.name for p in book.glob("*.csv")) == ["good.csv"]
    assert "\x1b" not in "".join(one.text() for one in done)


def test_a_server_that_drips_headers_or_content_and_a_name_that_never_resolves_end_at_the_deadline(
    book: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.pages["/body"] = shop.drip(b"HTTP/1.1 200 OK\r\n\r\n", b"#")
    shop.pages["/head"] = shop.drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")
    asked = socket.getaddrinfo

    def resolver(host: str, *rest: Any, **named: Any) -> Any:
        if host == "never.example":
            shop.closing.wait()
        return asked("127.0.0.1" if shop.closing.is_set() else host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    subscribe(book, body=f"{shop.address}/body", head=f"{shop.address}/head", name="http://never.example/x")
    done = fetch(book, limits=replace(LIMITS, timeout_s=0.25))
    assert [one.name for one in done if "no complete answer" in one.message] == words("body head name")
    assert all(shop.left_alone.acquire(timeout=10) for _ in range(2)), "and nobody goes on reading"


def test_a_server_that_fails_is_left_alone_twice_as_long_each_time_within_a_bound(book: Path, shop: Shop) -> None:
    shop.pages["/list.csv"] = shop.page(503)
    subscribe(book, list=f"{shop.address}/list.csv", other="gone.csv")
    now, waits = NOW, []
    for failures in range(1, 9):
        failed = fetch(book, now)[0]
        assert (failed.status, failed.failures, failed.is_news) == ("failed", failures, failures == 1)
        waits.append(failed.wait_s)
        early = fetch(book, now + timedelta(seconds=failed.wait_s - 1))
        assert not (early[0].ok or early[0].is_news)
        assert statuses(early) == ["waiting", "failed"], "a file costs nobody anything: it is looked at each time"
        now += timedelta(seconds=failed.wait_s)
    assert waits == [min(LIMITS.retry_s * 2**n, LIMITS.longest_retry_s) for n in range(8)]
    assert len(shop.asked) == 8 and "for another 60 min" in fetch(book, now - timedelta(hours=1))[0].text()
    assert statuses(fetch(book, NOW - timedelta(days=30)))[0] == "failed", (
        "a clock that was set back stops nobody for long"
    )
    shop.pages["/list.csv"] = shop.page(200, GOOD)
    back = fetch(book, now)[0]
    assert back.ok and back.is_news and back.failures == 9, "its end is told"
    assert not fetch(book, now)[0].is_news


@rows(
    "damage", [b"", b"{", b"[" * 100_000, b"[]", b'{"a": {"failures": -1}}', b"\xff\x00", b'{"a": {"etag": "\\u0007"}}']
)
def test_a_damaged_memory_is_none(tmp_path: Path, shop: Shop, damage: bytes) -> None:
    shop.pages["/x"] = shop.page(200, GOOD, ETag='"v1"')
    book = tmp_path / "prices"
    book.mkdir()
    subscribe(book, x=f"{shop.address}/x")
    assert fetch(book)[0].ok
    (memory,) = (tmp_path / "cache" / "feeds").iterdir()
    memory.write_bytes(damage or memory.read_bytes().replace(b"v1", "\u20ac".encode()))
    assert fetch(book)[0].ok and "If-None-Match" not in shop.asked[-1][1]
    assert b"v1" in memory.read_bytes()


def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(book: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes in folders here")
    os.mkfifo(book / "pipe")
    subscribe(book, pipe=str(book / "pipe"))
    assert "is a pipe" in fetch(book)[0].message


def test_more_feeds_than_one_run_has_time_for_are_refused(book: Path) -> None:
    subscribe(book, **{f"f{n}": "x.csv" for n in range(101)})
    with pytest.raises(InputError, match="100"):
        fetch(book)


def test_a_disk_that_refuses_is_told_and_nothing_is_remembered(
    book: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.pages["/x"] = shop.page(200, GOOD, ETag='"v1"')
    subscribe(book, x=f"{shop.address}/x")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(importing, "append", full)
        assert "No space" in fetch(book)[0].message
    assert fetch(book, NOW + timedelta(hours=1))[0].ok and price(book) == 100


# --- whom nobody asks


@rows(
    ("address", "outside"),
    [(a, False) for a in words(
        "127.0.0.1 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 100.64.0.1 169.254.169.254 198.18.0.1 224.0.1.1 240.0.0.1 "
        "255.255.255.255 192.0.2.1 :: ::1 fe80::1 fe80::1%eth0 fd00::1 fec0::1 ff0e::1 ::ffff:10.0.0.1 ::ffff:127.0.0.1 "
        "::ffff:169.254.169.254 64:ff9b::10.0.0.1 2002:a00:1:: 2001:0:0:0:0:0:f5ff:fffe ::10.0.0.1 2001:db8::1"
    )] + [(a, True) for a in words("8.8.8.8 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::8.8.8.8")],
)  # fmt: skip
def test_only_addresses_of_the_open_internet_are_outside(address: str, outside: bool) -> None:
    assert is_outside(address) is outside


def answers(*numeric: str) -> list[Any]:
    families = [socket.AF_INET6 if ":" in one else socket.AF_INET for one in numeric]
    return [(f, socket.SOCK_STREAM, 6, "", (one, 80)) for f, one in zip(families, numeric, strict=True)]


def test_this_machine_and_names_that_lead_inside_are_not_asked(
    book: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscribe(book, here=f"{shop.address}/x", number=shop.address.replace("127.0.0.1", "2130706433") + "/x")
    for options in ({}, {"loopback": False}):
        done = fetch_feeds(book, cache=None, now=NOW, **options)
        assert [one.message.count("private or internal") for one in done] == [1, 1]
    assert shop.asked == []
    subscribe(book, one="http://one.example/x", both="http://both.example/x")
    led = {"one.example": answers("::ffff:192.168.0.1"), "both.example": answers("8.8.8.8", "10.0.0.1")}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *_, **__: led[host])
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("connected"))
    assert [one.message.count("private or internal") for one in fetch(book)] == [1, 1]


def test_the_address_that_was_judged_is_the_one_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that first tells an address outside, and then one inside, is asked once."""
    asked = itertools.chain([answers("8.8.8.8", "2606:4700::1111")], itertools.repeat(answers("127.0.0.1")))
    reached: list[object] = []
    patience: list[float | None] = []

    class Socket(socket.socket):
        def connect(self, where: Any) -> None:
            reached.append(where)
            patience.append(self.gettimeout())
            raise OSError("refused")

    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: next(asked))
    monkeypatch.setattr(socket, "socket", Socket)
    for name in words("http_proxy https_proxy all_proxy HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(InputError, match="cannot be fetched"):
        get("http://rebind.example/x", 10, 5.0, loopback=False, headers={})
    assert reached == [("8.8.8.8", 80), ("2606:4700::1111", 80)]
    assert patience[0] and patience[0] <= 2.5, "one that is silent leaves time for the other"


def test_a_server_is_asked_by_its_name_and_proves_it_by_a_certificate(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(shop.address.rpartition(":")[2])
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
    )
    shop.pages["/x"] = shop.page(200, GOOD)
    assert get("http://feeds.example/x", 2000, 5.0, loopback=True, headers={}).content == GOOD
    assert shop.asked[0][1]["Host"] == "feeds.example"
    proved: list[object] = []

    def wrap(context: ssl.SSLContext, sock: socket.socket, **named: Any) -> socket.socket:
        proved.append((context.verify_mode, context.check_hostname, named["server_hostname"]))
        return sock

    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", wrap)
    assert get("https://feeds.example/x", 2000, 5.0, loopback=True, headers={}).status == 200
    assert proved == [(ssl.CERT_REQUIRED, True, "feeds.example")]


# --- what the file may say


@rows(
    ("line", "key", "word"),
    [("a: 'ftp://h/x'", "a", "http or https"), ("a: 'file:///etc/passwd'", "a", "http or https"),
     ("a: 'https://'", "a", "http or https"), ("a: 'https://me:secret@h.example/x?key=secret'", "a", "password"),
     ("a: 'http://h:99999/x'", "a", "http or https"), ("a: 'http://h example/x'", "a", "%20"), ("a: 'http://h\\example/x'", "a", "http or https"),
     ("../a: x.csv", "../a", "hyphens"), ("first: y.csv", "first", "given twice, first on line 2"), ("a: ''", "a", "empty"),
     ('a: "x\\u001b[31m.csv"', "a", "control")],
)  # fmt: skip
def test_what_the_list_of_feeds_may_not_say_is_refused_with_its_line(
    tmp_path: Path, line: str, key: str, word: str
) -> None:
    (tmp_path / FILE).write_text(f"feeds:\n  first: x.csv\n  {line}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        fetch(tmp_path, cache=None)
    problem = caught.value.problems[0]
    assert (problem.line, problem.key) == (3, f"feeds.{key}") and word in str(problem), str(problem)
    assert "secret" not in str(problem) and problem.remedy and problem.file.endswith(FILE)


# --- commands


def test_a_refresh_takes_the_feeds_before_it_looks_at_a_client_and_goes_on_where_one_fails(
    tmp_path: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = tmp_path / "params" / "prices"
    book.mkdir(parents=True)
    (tmp_path / "in.csv").write_bytes(GOOD)
    subscribe(book, file="../../in.csv", here=f"{shop.address}/x")
    clients = [tmp_path / "params" / f"{name}.yaml" for name in ("one", "two")]
    seen: list[float] = []

    def looked(*_: object, **__: object) -> None:
        seen.append(price(book))
        raise InputError("looked at")

    monkeypatch.setattr("fabricreport.memo.editions.refresh.refresh", looked)
    monkeypatch.setattr("fabricreport.memo.batch._may_fork", lambda: False)
    words_ = ["refresh", *map(str, clients), "--output", str(tmp_path / "output")]
    told = json.loads(CliRunner().invoke(main, [*words_, "--json"]).stdout)
    assert seen == [100, 100] and [one["status"] for one in told["feeds"]] == ["new", "failed"]
    assert shop.asked == [], "no option of a command lets it ask this machine"
    quiet = CliRunner().invoke(main, [*words_, "--quiet"])
    assert "feed here" not in quiet.stderr, "a failure is told once"
    (book / FILE).write_text("feed: {a: x.csv}\n", encoding="utf-8")
    wrong = CliRunner().invoke(main, words_)
    assert wrong.exit_code == 2 and f"{FILE}:1: feed: is not a known key. Did you mean 'feeds'?" in wrong.stderr


def test_feeds_are_taken_alone_by_a_command_and_two_at_once_file_them_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, output = tmp_path / "prices", tmp_path / "output"
    book.mkdir()
    command = ["prices", "fetch", "--folder", str(book), "--output", str(output)]
    assert CliRunner().invoke(main, command).exit_code == 2, "there is no list of feeds"
    subscribe(book, file="../in.csv")
    assert CliRunner().invoke(main, command).exit_code == 2, "one failed"
    (tmp_path / "in.csv").write_bytes(GOOD)
    append = importing.append

    meeting, one_at_once = threading.Barrier(2), threading.Lock()

    def together(*given: Any) -> None:
        with suppress(threading.BrokenBarrierError):
            meeting.wait(0.5)  # both have judged by what is not there yet, unless one waits for the other
        with one_at_once:
            append(*given)

    monkeypatch.setattr(importing, "append", together)
    both = [threading.Thread(target=fetched, args=(book, output)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert (book / "file.csv").read_bytes() == GOOD
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, done.stdout) == (0, "feed file: nothing new\n")


def test_feeds_leave_a_process_that_may_be_forked_for_its_clients(book: Path) -> None:
    """Neither a thread of theirs is left, nor those that numpy starts for its sums."""
    (book.parent / "in.csv").write_bytes(GOOD)
    subscribe(book, file="../in.csv", here="http://127.0.0.1:9/x")
    code = f"""
import sys, threading
from pathlib import Path
from fabricreport.cli.books import fetched
done = fetched(Path({str(book)!r}), Path({str(book.parent / "output")!r}))
print([one.status for one in done], threading.active_count(), "numpy" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['new', 'failed'] 1 False"
