"""The evidence report as it is published: made before the memos that cite it, found again, the same bytes each time."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from read_memo import page_texts

from fabricreport.base.errors import MemoRejected, SectionFailed
from fabricreport.blocks.nodes import Paragraph, Ref
from fabricreport.cli.main import main
from fabricreport.memo.build import BuildResult
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.pieces import Gathered, Piece
from fabricreport.memo.editions.editions import EVIDENCE, latest_edition, list_editions
from fabricreport.memo.report import ReportResult, make_report, report_digest, standing_report
from fabricreport.memo.run.recall import REPORT_NOTEBOOK
from fabricreport.report.report import newest_reading

pytestmark = pytest.mark.slow
MOST_PAGES = 28


@pytest.fixture(scope="module")
def output(memos: dict[str, BuildResult]) -> Path:
    return memos["example"].folder.parents[1]


@pytest.fixture(scope="module")
def report(output: Path) -> ReportResult:
    """The report that the build of the memos made."""
    found = standing_report(output)
    assert found is not None
    return found


def test_the_memos_of_one_command_make_it_once_and_latest_points_to_it(output: Path, report: ReportResult) -> None:
    editions = [info for info in list_editions(output) if info.client == EVIDENCE]
    assert [info.folder for info in editions] == [report.folder]
    assert report.edition == f"{newest_reading()}-{report_digest()[:8]}" and editions[0].latest
    newest = latest_edition(output, EVIDENCE)
    assert newest is not None and newest.edition == report.edition


def test_it_is_short(report: ReportResult) -> None:
    pages = page_texts(report.pdf)
    assert len(pages) <= MOST_PAGES
    assert "EVIDENCE REPORT" in pages[0] and "Memorandum" not in pages[0]


def test_memos_cite_its_tables_by_the_numbers_that_it_gives_them(
    memos: dict[str, BuildResult], report: ReportResult
) -> None:
    said = memos["example"].memo_html.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    cited = set(re.findall(r"((?:Table|Figure) \d+) of the evidence report", said))
    called = {word.replace("\N{NO-BREAK SPACE}", " ") for word in report.cited.anchors.values()}
    assert cited and cited <= called
    page = report.html.read_text(encoding="utf-8")
    assert all(f'id="m-{anchor}"' in page for anchor in report.cited.anchors)
    for result in memos.values():
        assert result.manifest["fingerprint"]["report"] == report.cited.digest
    moved = replace(report.cited, anchors={**report.cited.anchors, "tab-report-claims": "Table 99"})
    assert moved.digest != report.cited.digest, "another report makes other editions of memos"


def test_built_before_it_is_told_at_once(output: Path, report: ReportResult) -> None:
    assert make_report(output) == replace(report, reused=True)


@pytest.mark.trust
def test_built_elsewhere_it_has_the_same_bytes(report: ReportResult, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["report", "--output", str(tmp_path / "output"), "--json"])
    again = json.loads(done.stdout)
    assert (done.exit_code, again["edition"], again["reused"]) == (0, report.edition, False)
    files = sorted(p.relative_to(report.folder) for p in report.folder.rglob("*") if p.is_file())
    differing = [f for f in files if (report.folder / f).read_bytes() != (Path(again["folder"]) / f).read_bytes()]
    assert [str(f) for f in differing] in ([], ["run.json"])


def test_explain_and_list_know_the_folder(output: Path, report: ReportResult) -> None:
    run = CliRunner().invoke
    told = run(main, ["explain", "report.claims.contradicted", "--edition", EVIDENCE, "--output", str(output)])
    assert told.exit_code == 0 and report.edition in told.stdout
    worked_out = run(main, ["explain", "report.slowest.64.0_3", "--edition", EVIDENCE, "--output", str(output)])
    assert worked_out.exit_code == 0 and "worked out now" in worked_out.stdout
    listed = run(main, ["list", "--output", str(output)])
    assert EVIDENCE in listed.stdout and " damaged" not in listed.stdout


def test_a_reference_that_the_report_lacks_is_a_fault_like_any_other(report: ReportResult) -> None:
    def faults(anchor: str, cited: object) -> list[str]:
        piece = Piece((Paragraph((Ref(anchor),)),), "decision", "body", "decision.ipynb, cell 1")
        return [f for f in check_memo(Gathered(pieces=[piece], report=cited)) if anchor in f]  # type: ignore[arg-type]

    cited = report.cited.as_dict()
    assert faults("tab-report-claims", cited) == [] == faults("sec-report", cited)
    assert "leads nowhere" in faults("tab-report-clams", cited)[0]
    assert faults("tab-report-clams", None) == []


def test_a_damaged_report_is_no_answer(report: ReportResult, tmp_path: Path) -> None:

    shutil.copytree(report.folder, tmp_path / EVIDENCE / report.edition)
    assert standing_report(tmp_path) is not None
    (tmp_path / EVIDENCE / report.edition / "ledger.json").write_text("{}", encoding="utf-8")
    assert standing_report(tmp_path) is None


@pytest.mark.parametrize(
    ("cell", "error", "words"),
    [
        ("raise ValueError('no such table')", SectionFailed, "the evidence report cannot be built: cell 3: ValueError"),
        ("%%say\nThere are 17 of them.", MemoRejected, "the evidence report cannot be built: .*bare number '17'"),
    ],
)
def test_a_report_that_cannot_be_built_says_why_and_leaves_nothing(
    tmp_path: Path, cell: str, error: type[Exception], words: str
) -> None:
    source = json.loads(REPORT_NOTEBOOK.read_text(encoding="utf-8"))
    broken = SimpleNamespace(
        cell_type="code", source=[cell], metadata={}, outputs=[], execution_count=None, id="broken"
    )
    source["cells"] = [*source["cells"][:2], vars(broken)]
    notebook = tmp_path / "evidence_report.ipynb"
    notebook.write_text(json.dumps(source), encoding="utf-8")
    with pytest.raises(error, match=words):
        make_report(tmp_path / "output", notebook=notebook)
    assert list_editions(tmp_path / "output") == ()


def test_no_client_may_have_a_slug_that_begins_as_the_reports_folder_does(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "params/tern-finetuning.yaml").read_text(encoding="utf-8")
    path = tmp_path / "x.yaml"
    path.write_text(re.sub(r"(?m)^client: .*$", "client: {name: Acme, slug: _x}", text), encoding="utf-8")
    done = CliRunner().invoke(main, ["check", str(path), "--json"])
    slugs = [p for p in json.loads(done.stdout)["problems"] if p["key"] == "client.slug"]
    assert done.exit_code == 2 and len(slugs) == 1
