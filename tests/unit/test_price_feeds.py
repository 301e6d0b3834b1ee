"""Claims about importing prices: formats, what is added, what is refused, and which addresses are not read."""

from __future__ import annotations

import csv
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rows import rows

from fabricreport.base import files
from fabricreport.base.errors import InputError
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.prices.feed_readers import HISTORY_COLUMNS, feed_kind
from fabricreport.books.prices.feeds import import_prices
from fabricreport.books.prices.rules import COLUMNS, rules

SHIPPED = Path(__file__).parents[2] / "params" / "prices"
AS_OF = date(2026, 11, 27)
OURS = ",".join(COLUMNS)
HISTORY = ",".join(HISTORY_COLUMNS)
CATALOG = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice"


def ours(price: object, day: str = "2026-05-01", item: str = "widget-a", source: str = "A list") -> str:
    return f"{item},each,{price},,,USD,{day},,{source},secondary"


def feed(tmp_path: Path, *lines: str, name: str = "feed.csv") -> str:
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


# --- our own format


def test_an_import_adds_rows_and_a_second_one_adds_nothing(tmp_path: Path) -> None:
    source, book = feed(tmp_path, OURS, ours(100), ours(104, "2026-06-01")), tmp_path / "prices"
    first = import_prices(source, folder=book)
    assert (first.kind, first.added, first.known, first.ok) == ("csv", 2, 0, True)
    before = (book / "feed.csv").read_bytes()
    second = import_prices(source, folder=book)
    assert (second.added, second.known) == (0, 2)
    assert (book / "feed.csv").read_bytes() == before
    assert [p.name for p in book.iterdir()] == ["feed.csv"]


def test_history_and_comments_of_the_target_are_kept(tmp_path: Path) -> None:
    book = tmp_path / "prices"
    book.mkdir()
    (book / "mine.csv").write_text(f"# kept by hand\n{OURS}\n{ours(90, '2025-01-01')}")
    import_prices(feed(tmp_path, OURS, ours(100)), folder=book, name="mine")
    assert (book / "mine.csv").read_text().splitlines()[0] == "# kept by hand"
    assert [r.price for r in PriceBook.read(book).history("widget-a")] == [90, 100]


def test_a_jump_in_a_feed_is_kept_held_and_reported(tmp_path: Path) -> None:
    book = tmp_path / "prices"
    import_prices(feed(tmp_path, OURS, ours(100)), folder=book)
    report = import_prices(feed(tmp_path, OURS, ours(1000, "2026-06-01")), folder=book)
    assert (report.added, [h.kind for h in report.held], report.ok) == (0, ["jump"], False)
    assert PriceBook.read(book).at(AS_OF)["widget-a"].price == 100
    assert "decimal point" in Path(report.quarantine_file).read_text()
    assert "held" in report.text() and json.dumps(report.as_dict())


def test_a_bad_row_is_refused_with_its_line_and_the_good_ones_go_in(tmp_path: Path) -> None:
    source = feed(tmp_path, OURS, ours(100), ours("nan", "2026-06-01"), ours(103, "2026-07-01"))
    report = import_prices(source, folder=tmp_path / "prices")
    assert report.added == 2
    assert [(p.line, p.key) for p in report.refused] == [(3, "price")]
    assert "refused" in Path(report.quarantine_file).read_text()
    assert not PriceBook.read(tmp_path / "prices").problems


def test_the_quarantine_file_does_not_grow_when_the_same_feed_comes_again(tmp_path: Path) -> None:
    source = feed(tmp_path, OURS, ours(100), ours("nan", "2026-06-01"))
    first = import_prices(source, folder=tmp_path / "prices")
    size = Path(first.quarantine_file).stat().st_size
    import_prices(source, folder=tmp_path / "prices")
    assert Path(first.quarantine_file).stat().st_size == size


def test_a_source_that_changes_its_mind_about_a_day_is_refused(tmp_path: Path) -> None:
    book = tmp_path / "prices"
    import_prices(feed(tmp_path, OURS, ours(100)), folder=book)
    report = import_prices(feed(tmp_path, OURS, ours(110)), folder=book, name="other")
    assert report.added == 0 and "the price is 110 here but 100 there" in report.refused[0].message
    assert PriceBook.read(book).at(AS_OF)["widget-a"].price == 100


def in_euro(row: str) -> str:
    return row.replace(",USD,", ",EUR,")


def test_a_corrected_row_takes_the_place_of_a_held_one(tmp_path: Path) -> None:
    book, switch = tmp_path / "prices", ours(30_000, "2026-11-02", "switch-qm9700", "A quote")
    held = import_prices(feed(tmp_path, OURS, in_euro(switch), ours(7)), folder=book)
    assert [h.kind for h in held.held] == ["currency"]
    right = import_prices(feed(tmp_path, OURS, switch, name="mended.csv"), folder=book)
    assert (right.added, right.replaced, right.ok) == (1, 1, True), "though it stands in another file"
    settled = PriceBook.read(book)
    assert settled.quarantine == () and settled.at(AS_OF)["switch-qm9700"].price == 30_000
    assert settled.at(AS_OF)["widget-a"].price == 7, "the other rows of that file stay"
    assert "replaced,switch-qm9700,2026-11-02,30000" in Path(right.quarantine_file).read_text()
    again = import_prices(feed(tmp_path, OURS, switch, name="mended.csv"), folder=book)
    assert (again.added, again.known, again.replaced) == (0, 1, 0)


def test_a_correction_settles_two_rows_that_contradict_each_other(tmp_path: Path) -> None:
    book = tmp_path / "prices"
    book.mkdir()
    (book / "mine.csv").write_text("\n".join(["# by hand", OURS, ours(100), ours(110), ours(90, "2026-01-01")]) + "\n")
    assert ["2 different rows" in p.message for p in PriceBook.read(book).problems] == [True]
    report = import_prices(feed(tmp_path, OURS, ours(110)), folder=book, name="mine")
    assert (report.added, report.replaced) == (1, 2)
    assert [r.price for r in PriceBook.read(book).history("widget-a")] == [90, 110]
    assert (book / "mine.csv").read_text().startswith("# by hand\n")


def test_a_row_that_differs_from_the_one_in_use_says_in_what(tmp_path: Path) -> None:
    book = tmp_path / "prices"
    import_prices(feed(tmp_path, OURS, ours(100)), folder=book)
    report = import_prices(feed(tmp_path, OURS, in_euro(ours(100))), folder=book)
    assert report.replaced == 0 and "the currency is EUR here but USD there" in str(report.refused[0])
    assert "the price" not in report.refused[0].message


def test_an_item_that_nothing_uses_is_noted_with_the_nearest_that_is(tmp_path: Path) -> None:
    book = tmp_path / "params" / "prices"
    slip = ours(30_000, "2026-11-02", "switch-qm970", "A quote")
    report = import_prices(feed(tmp_path, OURS, slip, ours(7)), folder=book)
    assert report.notes[0] == "No model uses 'switch-qm970'. Did you mean 'switch-qm9700'?" and report.ok
    assert "widget-a" in report.notes[1] and "note: No model uses" in report.text()
    good = ours(30_000, "2026-11-03", "switch-qm9700", "A quote")
    assert import_prices(feed(tmp_path, OURS, good), folder=book).notes == ()
    (book.parent / "options").mkdir()
    (book.parent / "options" / "mine.yaml").write_text("- {id: mine, switch: {price: widget-a}}\n", encoding="utf-8")
    assert import_prices(feed(tmp_path, OURS, ours(8, "2026-11-04")), folder=book).notes == ()


def test_a_back_dated_row_cannot_push_a_good_price_into_quarantine(tmp_path: Path) -> None:
    book = tmp_path / "prices"
    import_prices(feed(tmp_path, OURS, ours(100), ours(60, "2026-06-01")), folder=book)
    report = import_prices(feed(tmp_path, OURS, ours(190, "2026-05-15", source="B")), folder=book)
    assert report.added == 0 and "back-dated" in report.refused[0].message
    assert PriceBook.read(book).at(AS_OF)["widget-a"].price == 60


def test_a_failed_write_leaves_the_old_file_and_no_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = tmp_path / "prices"
    import_prices(feed(tmp_path, OURS, ours(100)), folder=book)
    before = (book / "feed.csv").read_bytes()

    def full_disk(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full_disk)
    with pytest.raises(InputError, match=r"feed\.csv: cannot be written \(No space"):
        import_prices(feed(tmp_path, OURS, ours(104, "2026-06-01")), folder=book)
    assert (book / "feed.csv").read_bytes() == before
    assert [p.name for p in book.iterdir()] == ["feed.csv"]


# --- GPU-hour history


def test_gpu_hours_become_monthly_rows_for_providers_and_panels(tmp_path: Path) -> None:
    source = feed(
        tmp_path, HISTORY,
        "2026-05-08,RunPod,H100 SXM,2.0,on_demand_list_median,x",
        "2026-05-20,RunPod,H100 SXM,3.0,on_demand_list_median,x",
        "2026-05-09,Lambda Labs,H100 SXM,4.5,on_demand_list_median,y",
        "2026-05-09,aws,H100 SXM,9.0,on_demand,y",
        "2026-05-09,RunPod,H100 SXM,1.5,secure_spot,y",
    )  # fmt: skip
    report = import_prices(source, folder=tmp_path / "prices")
    assert report.kind == "gpu-hour-history"
    view = PriceBook.read(tmp_path / "prices").at(AS_OF)
    runpod = view["gpu-hour-h100-runpod"]
    assert (runpod.price, runpod.low, runpod.high, runpod.date) == (2.5, 2.0, 3.0, date(2026, 5, 20))
    panel = view["gpu-hour-h100-on-demand"]
    assert (panel.price, panel.low, panel.high) == (3.5, 2.5, 4.5)
    assert view["gpu-hour-h100-hyperscaler-on-demand"].price == 9.0
    assert view["gpu-hour-h100-runpod-spot"].price == view["gpu-hour-h100-spot"].price == 1.5


def test_suspect_and_unknown_gpu_hours_are_left_out_and_counted(tmp_path: Path) -> None:
    source = feed(
        tmp_path, HISTORY, "2026-05-08,RunPod,H100,2.0,on_demand,x",
        "2026-05-08,Nebius,H100,1.25,list_suspect_maybe_preemptible,x", "2026-05-08,RunPod,RTX\x1b[31m,0.4,on_demand,x",
        "2026-05-08,RunPod,H100,-2.0,on_demand,x", "2026-13-08,RunPod,H100,2.0,on_demand,x",
    )  # fmt: skip
    report = import_prices(source, folder=tmp_path / "prices")
    assert sum(report.skipped.values()) == 2 and "\x1b" not in report.text()
    assert [p.line for p in report.refused] == [5, 6]
    assert "gpu-hour-h100-nebius" not in PriceBook.read(tmp_path / "prices").items


# --- SkyPilot's catalog


def test_a_catalog_price_is_divided_by_its_gpus(tmp_path: Path) -> None:
    source = feed(
        tmp_path, CATALOG,
        "p5.48xlarge,H100,8,192,2048,98.32,us-east-1,{},40.0",
        "p5.4xlarge,H100,1,16,256,12.69,us-east-2,{},",
        'a2.8x,A100,8,96,1152,32.0,us,"{\'Gpus\': [1, 2]}",',
        "a2u.8x,A100-80GB,8,96,1152,40.0,us,{},",
        "m5.large,,,2,8,0.096,us-east-1,,0.05",
        "bad,H100,8,192,2048,-1,us-east-1,{},",
        "odd,H100,0,192,2048,5,us-east-1,{},",
        "tpu,tpu-v5,4,1,1,5,us,{},",
        name="aws.csv",
    )  # fmt: skip
    report = import_prices(source, "skypilot", folder=tmp_path / "prices", as_of=AS_OF)
    view = PriceBook.read(tmp_path / "prices").at(AS_OF)
    h100 = view["gpu-hour-h100-aws"]
    assert (h100.low, h100.high, h100.unit) == (12.29, 12.69, "gpu-hour")
    assert view["gpu-hour-h100-aws-spot"].price == 5.0
    assert (view["gpu-hour-a100-40gb-aws"].price, view["gpu-hour-a100-aws"].price) == (4.0, 5.0)
    assert [(p.line, p.key) for p in report.refused] == [(7, "price"), (8, "AcceleratorCount")]
    assert report.skipped["no accelerator"] == 1


def test_a_catalog_without_a_date_asks_for_one(tmp_path: Path) -> None:
    source = feed(tmp_path, CATALOG, "x,H100,8,1,1,80,us,{},", name="aws.csv")
    with pytest.raises(InputError, match="--as-of"):
        import_prices(source, folder=tmp_path / "prices")
    assert not (tmp_path / "prices").exists()


def test_feeds_are_told_apart_by_their_header(tmp_path: Path) -> None:
    assert [feed_kind(t) for t in (OURS, HISTORY, CATALOG, "<html>", "")] == [
        "csv", "gpu-hour-history", "skypilot", "", "",
    ]  # fmt: skip
    with pytest.raises(InputError, match="none of the known"):
        import_prices(feed(tmp_path, "<html>", "x"), folder=tmp_path / "prices")
    with pytest.raises(InputError, match="not that of a skypilot"):
        import_prices(feed(tmp_path, OURS, ours(1)), "skypilot", folder=tmp_path / "prices")
    with pytest.raises(InputError, match="unknown kind"):
        import_prices(feed(tmp_path, OURS, ours(1)), "excel", folder=tmp_path / "prices")


@rows(
    ("lines", "words"),
    [
        ((OURS.replace(",", ";"), "a;each;28.500,00"), ("separated by semicolons", "commas between columns")),
        ((OURS.replace(",", "\t"), "a\teach"), ("separated by tabs",)),
        (
            ("Tag;Ware;Preis", "20.11.2026;Switch;27.900,00"),
            (":1: the columns are separated by semicolons", "Known: our CSV"),
        ),
        (("day|item|price", "a|b|3"), ("separated by bars",)),
        ((OURS.replace("currency,", ""), "x"), ("nearly our CSV", "column missing: currency")),
        ((OURS.replace("currency", "curency"), "x"), ("missing: currency", "unknown: curency", "Is 'curency' meant")),
        ((HISTORY.replace("term,", ""), "x"), ("nearly a GPU-hour history", "column missing: term")),
        ((CATALOG.replace("Region,", ""), "x"), ("nearly a SkyPilot catalog", "Region")),
    ],
)
def test_a_header_that_nearly_fits_says_what_is_wrong_with_it(
    tmp_path: Path, lines: tuple[str, ...], words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        import_prices(feed(tmp_path, *lines), folder=tmp_path / "prices")
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_feed_without_a_usable_price_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no price in it"):
        import_prices(feed(tmp_path, OURS), folder=tmp_path / "prices")
    with pytest.raises(InputError, match="not a finite"):
        import_prices(feed(tmp_path, OURS, ours("nan")), folder=tmp_path / "prices")


@rows("name", ["../../evil", "/etc/passwd", "a/b\\c", "..", "É"])
def test_a_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    book = tmp_path / "x" / "prices"
    try:
        report = import_prices(feed(tmp_path, OURS, ours(100)), folder=book, name=name)
    except InputError as error:
        assert "no usable name" in str(error)
    else:
        assert Path(report.file).resolve().parent == book.resolve()
    assert sorted(p.name for p in tmp_path.iterdir()) in (["feed.csv"], ["feed.csv", "x"])


# --- addresses


class Server(BaseHTTPRequestHandler):
    """Serves one good feed and several bad behaviours."""

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/elsewhere.csv":
            self._redirect("http://example.invalid/feed.csv")
        elif path == "/inside.csv":
            self._redirect("http://169.254.169.254/feed.csv")
        elif path == "/other_port.csv":
            self._redirect("http://127.0.0.1:1/feed.csv")
        elif path == "/moved.csv":
            self._redirect("/feed.csv")
        elif path == "/slow.csv":
            self._headers()
            for _ in range(40):
                try:
                    self.wfile.write(b"#\n")
                    self.wfile.flush()
                except OSError:
                    return
                time.sleep(0.05)
        elif path == "/large.csv":
            self._headers()
            try:
                self.wfile.write(b"#" * 300_000)
            except OSError:
                return
        elif path == "/feed.csv":
            self._headers()
            self.wfile.write(f"{OURS}\n{ours(100)}\n".encode())
        else:
            self.send_error(404 if path == "/none.csv" else 500)

    def do_HEAD(self) -> None:
        self.send_error(405)

    def _headers(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/csv")
        self.end_headers()

    def _redirect(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@rows("path", ["/feed.csv", "/moved.csv"])
def test_a_feed_is_read_from_an_address(tmp_path: Path, address: str, path: str) -> None:
    report = import_prices(address + path, folder=tmp_path)
    assert report.added == 1
    assert (tmp_path / path.strip("/")).exists()


@rows(
    ("path", "word"),
    [("/elsewhere.csv", "another host or port, http://example.invalid"), ("/inside.csv", "http://169.254.169.254"),
     ("/other_port.csv", "another host"), ("/none.csv", "404"), ("/broken.csv", "500"), ("/large.csv", "larger than 1000"),
     ("/slow.csv", "no complete answer")],
)  # fmt: skip
def test_bad_answers_are_refused_and_nothing_is_written(tmp_path: Path, address: str, path: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        import_prices(address + path, folder=tmp_path, limits=replace(rules().feeds, largest_bytes=1000, timeout_s=0.6))
    assert not list(tmp_path.iterdir())


@rows(
    ("source", "word"),
    [("http://10.0.0.1/x.csv", "private"), ("http://169.254.169.254/x.csv", "private"), ("http://[fd00::1]/x", "private"),
     ("http://[::ffff:10.0.0.1]/x", "private"), ("http://0.0.0.0/x.csv", "private"), ("ftp://host/x.csv", "http or https"),
     ("file:///etc/passwd", "http or https"), ("s3://bucket/x", "http or https"), ("http://u:p@127.0.0.1/x", "password"),
     ("http://127.0.0.1:99999/x", "http or https"), ("http://127.0.0.1:1/x.csv", "cannot be fetched"),
     ("nowhere.csv", "cannot be read"), ("a\0b", "cannot be read")],
)  # fmt: skip
def test_addresses_that_are_not_read(tmp_path: Path, source: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        import_prices(source, folder=tmp_path)


def test_a_public_name_that_resolves_inside_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: inside)
    with pytest.raises(InputError, match="is a private"):
        import_prices("http://rebind.example/x.csv", folder=tmp_path)


def test_a_quarantine_file_is_safe_to_open_in_a_spreadsheet(tmp_path: Path) -> None:
    source = feed(tmp_path, OURS, ours(100), '"=HYPERLINK(1)",each,-1,,,USD,2026-05-01,,x,secondary')
    report = import_prices(source, folder=tmp_path / "prices")
    with Path(report.quarantine_file).open(newline="") as handle:
        cells = [c for r in csv.reader(handle) for c in r]
    assert not [c for c in cells if c[:1] in "=@+" and c]
