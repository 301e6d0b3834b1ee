"""The four example memos as their readers meet them: page one, differences, links, derivations, same bytes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from itertools import permutations
from pathlib import Path
from typing import Any

import bench
import nbformat
import pytest
import yaml
from delivered_cases import delivery, write
from one_process import page, whole
from pypdf import PdfReader
from pypdf.generic import StreamObject
from read_docx import ReadDocx, missing_of, shown_in
from read_memo import page_texts, pdf_objects, read_memo, share_in_common

import fabricreport.case as case_module
from fabricreport.base.formats import NBSP
from fabricreport.base.vocabulary import Question
from fabricreport.blocks.nodes import Num
from fabricreport.delivery.study import plan_of
from fabricreport.ledger.numbers import DAGGER, RING, keys
from fabricreport.memo.build import BuildResult, build
from fabricreport.memo.document.checks import Shown, too_clean
from fabricreport.memo.document.document import merged_ledger, stitch
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.editable import document_in
from fabricreport.memo.report import standing_report
from fabricreport.memo.run.execution import run_sections
from fabricreport.memo.run.noise import strip_volatile
from fabricreport.memo.write.docx import PROVED, DocxWriter
from fabricreport.memo.write.html import render_html
from fabricreport.scenario import load_params

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")
_TURNS = ("What would change the advice", "No figure changes the advice by itself")
WOULD = {
    Question.BUY_ONCE: _TURNS,
    Question.GROW_IN_STAGES: _TURNS,
    Question.CHOOSE_PROVIDER: ("What would change our answer", "What decides with whom you sign"),
}
"""How page one heads what would change it, or says that nothing would, by what is asked."""


def ledger(result: BuildResult) -> dict[str, dict[str, object]]:
    return {n["id"]: n for n in json.loads((result.folder / "ledger.json").read_text())["numbers"]}


@pytest.mark.parametrize("client", CLIENTS)
def test_page_one_says_what_is_asked_what_is_advised_and_what_would_change_it(
    memos: dict[str, BuildResult], client: str
) -> None:
    first, second, *_ = (" ".join(page.split()) for page in page_texts(memos[client].memo_pdf))
    memo = read_memo(memos[client].folder)
    head = memos[client].headline
    assert head["confidence"] in ("does not matter", "toss-up", "leaning", "clear")
    said = first.replace("- ", "-").replace(NBSP, " ")
    assert memo.title.endswith("?") and memo.title.replace(NBSP, " ") in said
    assert letters(head["recommendation"]) in letters(said)
    assert (
        re.search(r"of 100\b", said)
        and sum(words in said for words in WOULD[load_params(ROOT / "params" / f"{client}.yaml").asked]) == 1
    )
    page = memos[client].memo_html.read_text(encoding="utf-8")
    opening = re.search(r'<div class="body">.*?<a class="no"[^>]*>1</a> (.*?)</h2>', page, re.S)
    assert opening, "the first section is numbered"
    begins = f"1 {' '.join(re.sub('<[^>]*>', '', opening[1]).split())[:12]}"
    assert begins not in first and begins in second, "the body begins on page 2"


def letters(text: str) -> str:
    """What a text says without what a line's end may change of it."""
    return re.sub(r"[\s\u00a0-]", "", text)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_memo_keeps_to_its_pages_and_pictures(memos: dict[str, BuildResult], client: str) -> None:
    memo = read_memo(memos[client].folder)
    page = memos[client].memo_html.read_text(encoding="utf-8")
    body = page.partition('<div class="body">')[2].partition('<div class="annexes">')[0]
    assert memo.body_pages <= 4 and body.count('<figure id="m-fig-') <= 3
    assert memo.body_pages + memo.annex_pages <= 12 and memo.derivation_pages <= 2
    spans = re.findall(r'<span class="held">\((.*?)\)</span>', page)
    numbers = [int(n) for span in spans for n in re.findall(r"\d+", span.partition(", Figure")[0])]
    assert numbers == sorted(numbers) and numbers[-1] == max(
        map(int, re.findall(r'class="tag"[^>]*>Table (\d+)', page))
    )
    assert memos[client].remarks == (), "nothing stands badly on a page, and no figure, sum, day or base is in doubt"


def test_memos_that_answer_other_questions_share_a_quarter_of_their_sentences_at_most(
    memos: dict[str, BuildResult],
) -> None:
    asked = {client: load_params(ROOT / "params" / f"{client}.yaml").asked for client in CLIENTS}
    read = {client: read_memo(memos[client].folder) for client in CLIENTS}
    assert all(len(memo.sentences) > 50 for memo in read.values())
    shared = {(a, b): share_in_common(read[a], read[b]) for a, b in permutations(CLIENTS, 2) if asked[a] != asked[b]}
    assert not {pair: share for pair, share in shared.items() if share > 0.25}
    assert memos["tern-finetuning"].headline["confidence"] in ("does not matter", "close", "leaning")


@pytest.mark.parametrize("client", CLIENTS)
def test_the_pdf_is_tagged_titled_outlined_and_numbered(memos: dict[str, BuildResult], client: str) -> None:
    reader = PdfReader(memos[client].memo_pdf)
    root = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"] and root["/Lang"] == "en" and root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert len(reader.outline) >= 5
    assert b"pdfuaid" in reader.xmp_metadata.stream.get_data()  # type: ignore[union-attr]
    faces = {str(d["/FontName"]).partition("+")[2].partition("-")[0] for d in described(reader)}
    assert faces == {"LibertinusSerif"}
    texts = page_texts(memos[client].memo_pdf)
    assert all(f"{i} of {len(texts)}" in " ".join(t.split()) for i, t in enumerate(texts, 1))


def described(reader: PdfReader) -> list[Any]:
    """The descriptors of a PDF's fonts."""
    return [o for o in pdf_objects(reader) if isinstance(o, dict) and o.get("/Type") == "/FontDescriptor"]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_ledger_is_in_the_memo_and_in_nothing_that_a_seller_gets(
    memos: dict[str, BuildResult], client: str
) -> None:
    folder = memos[client].folder
    ledger = (folder / "ledger.json").read_bytes()
    papers = sorted(folder.glob("*.pdf"))
    assert {paper.name for paper in papers} == {"memo.pdf", "letters.pdf", "acceptance-plan.pdf"}
    for paper in papers:
        reader = PdfReader(paper)
        root = reader.trailer["/Root"]
        if paper.name == "memo.pdf":
            assert reader.attachments["ledger.json"] == [ledger]
            assert set(reader.attachments) == {"ledger.json", "memo.xlsx"} & {p.name for p in folder.iterdir()}
        else:
            assert not reader.attachments and "/AF" not in root and "/EmbeddedFiles" not in root.get("/Names", {})
            streams = [o.get_data() for o in pdf_objects(reader) if isinstance(o, StreamObject)]
            assert not [s for s in streams if b'"numbers"' in s or s.startswith(b"PK")], paper.name


@pytest.mark.laws(1)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_editable_copy_of_an_edition_has_its_numbers_as_the_ledger_has_them(
    memos: dict[str, BuildResult], client: str
) -> None:
    edition = memos[client]
    report = standing_report(edition.folder.parents[1])
    document = document_in(edition, report and report.cited)
    assert render_html(document) == edition.memo_html.read_text(encoding="utf-8"), "it is the edition's own document"
    copy, entries = ReadDocx(DocxWriter(document).written()), ledger(edition)
    assert missing_of(document, copy) == [] and PROVED.format(edition.edition) in copy.paragraphs()[:3]
    numbers = [node for node in shown_in(document) if isinstance(node, Num)]
    assert len(numbers) > 100 and sorted(copy.numbers) == sorted(number.text for number in numbers)
    entries |= {n["id"]: n for n in json.loads((edition.folder / "ledger.json").read_text())["inputs"]}
    assert [n.id for n in numbers if n.value is not None and n.value != entries[n.id]["value"]] == []
    assert copy.pictures() and all(alt and dpi >= 200 for alt, dpi in copy.pictures())
    assert copy.properties["modified"] == f"{edition.manifest['as_of']}T00:00:00Z"


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.data = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.add(str(given["id"]))
        self.data += tag == "data"
        href = given.get("href") or ""
        if href.startswith("#") and tag == "a":
            self.targets.add(href[1:])
        for name in ("src", "srcset", "action", "poster", "data"):
            if given.get(name):
                self.fetched.append(str(given[name]))
        if tag in ("link", "base", "iframe", "object", "embed"):
            self.fetched.append(f"<{tag}>")


@pytest.mark.parametrize("client", CLIENTS)
def test_the_html_fetches_nothing_and_every_link_in_it_arrives(memos: dict[str, BuildResult], client: str) -> None:
    links = _Links()
    links.feed(memos[client].memo_html.read_text())
    assert [f for f in links.fetched if not f.startswith("data:")] == []
    assert links.targets - links.ids == set()
    assert links.data > 50


class _Rows(HTMLParser):
    """The rows of every table of a memo, by what they are, with the amounts in them."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[tuple[str, list[Shown | None]]]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self.tables.append([])
            self.inside = True
        elif self.inside and tag == "tr":
            self.tables[-1].append((given.get("class") or "", []))
        elif self.inside and tag in ("td", "th"):
            self.tables[-1][-1][1].append(None)
        elif self.inside and tag == "data" and re.fullmatch(r"[-+.e\d]+", given.get("value") or ""):
            self.tables[-1][-1][1][-1:] = [Shown(float(str(given["value"])), stale=False)]
        elif self.inside and given.get("class") == "stale":
            cells = self.tables[-1][-1][1]
            cells[-1] = replace(cells[-1], stale=True) if cells[-1] else None

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "table"


@pytest.mark.parametrize("client", CLIENTS)
def test_no_printed_total_is_cleaner_than_a_part_above_the_mark(memos: dict[str, BuildResult], client: str) -> None:
    reader = _Rows()
    reader.feed(memos[client].memo_html.read_text())
    shown = [(role, amount) for table in reader.tables for role, row in table for amount in row if amount]
    assert sum(role == "total" for role, _ in shown) > 3 and any(amount.stale for _, amount in shown)
    assert not [at for table in reader.tables for at in too_clean(table)]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_seller_gets_bears_no_marks_and_the_memo_says_what_its_own_mean(
    memos: dict[str, BuildResult], client: str
) -> None:
    folder = memos[client].folder
    for name in ("letters", "acceptance-plan"):
        text = "".join(page_texts(folder / f"{name}.pdf")) + (folder / f"{name}.html").read_text().partition("<body")[2]
        assert DAGGER not in text and RING not in text
    memo = memos[client].memo_html.read_text().partition("<main")[2]
    assert all(key in memo for key in keys(stale='class="stale"' in memo, assumed='class="ring"' in memo))


@pytest.mark.parametrize("client", CLIENTS)
def test_every_number_has_an_input_or_a_rule_and_every_input_a_source(
    memos: dict[str, BuildResult], client: str
) -> None:
    book = json.loads((memos[client].folder / "ledger.json").read_text())
    inputs = {i["id"]: i for i in book["inputs"]}
    for number in book["numbers"]:
        assert number["rule"] and number["label"] and number["unit"], number["id"]
        assert set(number["inputs"]) <= set(inputs), number["id"]
    for record in inputs.values():
        assert record["source"] and record["grade"] and record["date"], record["id"]


def test_every_chart_and_table_has_its_data_as_csv(memos: dict[str, BuildResult]) -> None:
    folder = memos["example"].folder
    html = memos["example"].memo_html.read_text()
    named = {p.stem for p in (folder / "data").glob("*.csv")}
    figures = set(re.findall(r'<figure id="m-([a-z0-9-]+)"', html))
    offered = {Path(name).stem for name in re.findall(r'download="([^"]+)"', html)}
    assert len(figures) >= 3 and figures <= named and figures <= offered


@pytest.mark.parametrize("client", CLIENTS)
def test_a_reference_has_its_words_in_the_data_too(memos: dict[str, BuildResult], client: str) -> None:
    told = {p.name: p.read_text(encoding="utf-8") for p in (memos[client].folder / "data").glob("*.csv")}
    assert not [name for name, rows in told.items() if re.search(r"\b(?:sec|tab|fig)-[a-z]", rows)]


def test_what_an_option_and_an_answer_file_say_is_printed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "params" / "providers", tmp_path / "providers")
    (tmp_path / "options").mkdir()
    note = "=Quoted in May by {client}, see <b>page 7</b>."
    mine = [{"id": "mine", "like": "rocev2-whitebox-400g", "name": "Mine", "notes": [note]}]
    (tmp_path / "options" / "mine.yaml").write_text(yaml.safe_dump(mine), encoding="utf-8")
    params = yaml.safe_load((ROOT / "params" / "example.yaml").read_text())
    params |= {"options": ["infiniband-ndr", "mine"], "sections": ["tco", "diligence"]}
    params["providers"] = [{"name": "Example Cloud", "answers": "providers/example-answers.yaml"}]
    (tmp_path / "example.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    done = whole(tmp_path / "example.yaml", draws=bench.DRAWS, draw_charts=False)
    papers = page(done)
    assert escape(note, quote=False) in papers, "as data, to the letter"
    assert "fabric-drawing.pdf" in papers and "all-nodes.txt" in papers


@pytest.mark.trust
def test_two_builds_without_any_cache_give_the_same_bytes(memos: dict[str, BuildResult], tmp_path: Path) -> None:
    first = memos["tern-finetuning"]
    again = build(ROOT / "params" / "tern-finetuning.yaml", output=tmp_path / "elsewhere" / "output")
    assert again.edition == first.edition
    assert not case_module._KEPT, "the case that was checked is let go"
    for name in ("memo.pdf", "memo.html", "ledger.json", "manifest.json"):
        assert (again.folder / name).read_bytes() == (first.folder / name).read_bytes(), name


def example_copy(tmp_path: Path, client: str = "example") -> Path:
    """A copy of the params folder that a test may change."""
    shutil.copytree(ROOT / "params", tmp_path / "params")
    return tmp_path / "params" / f"{client}.yaml"


def test_a_price_moves_exactly_the_numbers_that_the_ledger_says_depend_on_it(
    memos: dict[str, BuildResult], tmp_path: Path
) -> None:
    params = example_copy(tmp_path)
    prices = tmp_path / "params" / "prices" / "equipment.csv"
    old = "switch-qm9700,each,32870,"
    assert old in prices.read_text()
    prices.write_text(
        prices.read_text()
        .replace(old, f"switch-qm9700,each,{32870 * 1.01:.1f},")
        .replace(",32870,50000,", ",33198.7,50500,")
    )
    before, case = ledger(memos["example"]), case_module.open_case(params)
    every = {i: n for section in case.params.sections for i, n in case.result(section).numbers.items() if i in before}
    after = {i: number.as_dict() for i, number in every.items()}
    assert len(after) > 0.8 * len(before)
    moved = {i for i in before if i in after and before[i]["value"] != after[i]["value"]}
    declared = {i for i, n in before.items() if "price:switch-qm9700" in n["inputs"]}  # type: ignore[operator]
    assert moved, "a price that moves nothing is no test"
    assert moved <= declared, f"moved without being declared: {sorted(moved - declared)[:5]}"
    # What is declared and stands still is a count of draws, a rank, a point that a date or whole steps set, or how far an
    # answer moves the lead: the difference of two runs, from which a price may cancel. So is what knowledge is worth: the
    # choice it betters turns in few draws, and so are terms of a clause and bounds of a region, which are round figures.
    set_otherwise = (
        "decision.edge.",
        "decision.other_edge.",
        "decision.break_even.param.",
        "decision.besides.topology.",
        "decision.courses.",
        "decision.joint.",
        "diligence.informs.",
        "decision.worth.",
        "diligence.moves.",
        "diligence.stake.",
    )
    still = {
        i
        for i in declared - moved
        if i in after and before[i]["unit"] not in ("share", "count", "index") and not i.startswith(set_otherwise)
    }
    assert not still, f"declared, but unmoved: {sorted(still)[:5]}"


def alone(section: str, params: Path, folder: Path) -> Any:
    """The notebook as stock papermill leaves it, in a kernel of its own."""
    out = folder / "alone.ipynb"
    command = [sys.executable, "-m", "papermill", f"{section}.ipynb", str(out), "-p", "params", str(params)]
    done = subprocess.run(
        [*command, "--no-progress-bar"], cwd=ROOT / "notebooks", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return strip_volatile(nbformat.read(out, as_version=4))


def shown(notebook: Any) -> list[Any]:
    """What each cell shows."""
    return [[dict(output) for output in cell.get("outputs", ())] for cell in notebook.cells]


@pytest.mark.trust
@pytest.mark.parametrize(
    ("section", "client"),
    [
        ("tco", "example"), ("choose_provider", "tern-finetuning"), ("buy_once", "example"), ("grow_in_stages", "kestrel-lab"), ("decision", "example"),
        ("latency", "kestrel-lab"), ("tail_risk", "example"), ("diligence", "tern-finetuning"), ("evidence", "example"),
    ],
)  # fmt: skip
def test_each_notebook_shows_the_same_alone_under_stock_papermill_and_in_a_build(
    memos: dict[str, BuildResult], section: str, client: str, tmp_path: Path
) -> None:
    built = nbformat.read(memos[client].folder / "notebooks" / f"{section}.ipynb", as_version=4)
    mine = alone(section, ROOT / "params" / f"{client}.yaml", tmp_path)
    ledgers = [merged_ledger(gather(stitch({section: notebook}, {}))) for notebook in (mine, built)]
    assert ledgers[0] == ledgers[1] and ledgers[0]["numbers"]
    assert shown(mine) == shown(built)


@pytest.mark.trust
def test_the_notebook_of_a_delivery_shows_the_same_alone_and_behind_another(tmp_path: Path) -> None:
    params = example_copy(tmp_path)
    write(delivery(plan_of(case_module.open_case(params), "")), folder := tmp_path / "params" / "as-delivered")
    assert params.parent == folder.parent
    mine = alone("acceptance", params, tmp_path)
    notebooks = {name: ROOT / "notebooks" / f"{name}.ipynb" for name in ("tco", "acceptance")}
    record = run_sections(notebooks, params, tmp_path / "run")
    assert record.ok
    assert shown(mine) == shown(strip_volatile(nbformat.read(record.sections[1].notebook, as_version=4)))


@pytest.mark.parametrize("form", ["pdf", "html"])
def test_stock_nbconvert_prints_one_executed_notebook(memos: dict[str, BuildResult], form: str) -> None:
    from nbconvert.exporters import get_exporter

    printed, _ = get_exporter(f"fabricreport-{form}")().from_filename(
        memos["example"].folder / "notebooks" / "tco.ipynb"
    )
    assert len(printed) > 10_000
