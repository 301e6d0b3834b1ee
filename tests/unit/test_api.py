"""The public API: what-ifs that equal the case so changed, cases held against each other, editions read back and proved."""

from __future__ import annotations

import csv
import doctest
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import bench
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_markdown_cell, new_notebook
from published_cases import NUMBER, put_edition
from pypdf import PdfReader

import fabricreport
from fabricreport import api
from fabricreport.base.errors import InputError, Problem
from fabricreport.base.provenance import plain
from fabricreport.case import Case, keep_open, open_case
from fabricreport.cli.main import main
from fabricreport.memo.build import BuildResult
from fabricreport.memo.editions.editions import latest_edition, list_editions
from fabricreport.memo.editions.manifest import RunRecord
from fabricreport.memo.editions.refresh import RefreshPlan, RefreshResult
from fabricreport.memo.run.plan import Ready, tried
from fabricreport.memo.write.exporters import FabricReportHTMLExporter, FabricReportPDFExporter
from fabricreport.scenario import load_params_file
from fabricreport.sections.decision.advice import Advice

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

ROOT = Path(__file__).parents[2]
PARAMS = ROOT / "params" / "example.yaml"
HOSTILE = '=HYPERLINK("x")<script>alert(1)</script>'


@pytest.fixture(scope="module")
def case(few_draws: None) -> Iterator[Case]:
    """One case for all, however often its file is opened."""
    with mock.patch("fabricreport.case._KEPT", {}):
        keep_open(PARAMS)
        yield open_case(PARAMS)


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def said(_: object) -> tuple[dict[str, Any], list[Any], list[Any]]:
    return {"recommendation": "Buy A", "confidence": "clear"}, [{**NUMBER, "unit": "usd", "value": 531_000.0}], []


def refused(case: Case, changes: dict[str, list[Any]]) -> str:
    with pytest.raises(InputError) as caught:
        api.what_if(case, changes)
    return str(caught.value)


def test_the_public_names_are_there_when_asked_for_and_cost_nothing_before() -> None:
    code = "import sys, fabricreport; print(sum(n.startswith(('fabricreport', 'numpy', 'yaml', 'pandas')) for n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3"], "itself, and the version in its room"
    assert {*api.__all__, "__version__"} == {*fabricreport.__all__}
    assert all(getattr(fabricreport, name) is not None for name in fabricreport.__all__)
    with pytest.raises(AttributeError, match="sweeps"):
        _ = fabricreport.sweeps


def test_every_example_of_the_public_api_runs(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    output, path = tmp_path / "output", Path("params/example.yaml")
    given = {name: getattr(api, name) for name in api.__all__}
    given |= {"case": case, "output": output, "published": put_edition(path, output, says=said)}
    asked = (*(getattr(api, name) for name in api.__all__ if name != "Case"), Case.changed, Advice)
    found = [doctest.DocTestFinder(recurse=False).find(one, globs=dict(given))[0] for one in asked]
    assert len([test for test in found if test.examples]) == 10
    assert [test.name for test in found if doctest.DocTestRunner(verbose=False).run(test).failed] == []


def test_a_line_of_a_what_if_is_the_case_so_changed_to_the_digit(case: Case) -> None:
    changes: dict[str, list[Any]] = {
        "cluster.gpus": [512],
        "price:switch-qm9700": [28_000, {"low": 30_000, "high": 36_000}],
        "evidence:pue": [1.3],
    }
    found = api.what_if(case, changes)
    assert len(found.rows) == 3 and not found.rows[0].changes
    for row in (found.rows[0], found.rows[2]):
        of = {key: value for key, value in row.changes.items() if ":" not in key}
        books = {"prices": {}, "evidence": {}} | {
            kind: {i.partition(":")[2]: v for i, v in row.changes.items() if i.startswith(start)}
            for kind, start in (("prices", "price:"), ("evidence", "evidence:"))
        }
        alone = case.changed(**{key.replace(".", "__"): value for key, value in of.items()}, **books)
        memo, two = alone.figure("decision.difference"), row.compared
        assert two.lead is not None and two.rival_cost is not None
        assert (two.lead.value, two.lead.spread) == (memo.value, memo.spread)
        assert two.cost.value == alone.figure(f"tco.total.{alone.comparison.choice}").value
        assert two.rival_cost.value == alone.figure(f"tco.total.{alone.comparison.rival}").value
        assert two.side in (two.choice, two.rival)


def test_the_cost_of_a_switch_goes_on_in_a_straight_line_and_only_its_own_network_pays(case: Case) -> None:
    rows = api.sweep(case, "price:switch-qm9700", [28_000, 30_000, 32_000]).rows[1:]
    costs = [row.compared.rival_cost.value for row in rows if row.compared.rival_cost]
    assert costs[1] - costs[0] == pytest.approx(costs[2] - costs[1]) and costs[1] > costs[0]
    assert len({row.compared.cost.value for row in rows}) == 1


def test_a_value_that_is_given_twice_is_one_line(case: Case) -> None:
    rows = api.what_if(case, {"cluster.gpus": [512, 512], "money.horizon_months": [48, 36, 48]}).rows
    assert [[*row.changes.values()] for row in rows] == [[], [512, 48], [512, 36]]


def test_what_a_case_found_is_not_written_over(case: Case) -> None:
    for found, name in ((case, "inputs"), (case.decision(), "advice"), (case.decision().advice, "confidence")):
        with pytest.raises(AttributeError):
            setattr(found, name, "another")
    with pytest.raises(ValueError, match="read-only"):
        case.inputs.draw("price:switch-qm9700")[:] = 1.0
    assert len(repr(case.figure("tco.difference"))) < 700


def test_two_cases_differ_by_what_was_changed_in_one_outcome_by_outcome(case: Case) -> None:
    other = case.changed(cluster__gpus=512, prices={"electricity": 0.12})
    found = api.compare(case, other)
    assert [input_id for input_id, _, _ in found.inputs] == ["price:electricity", "cluster.gpus"]
    for option in case.options:
        was, now, less = found.costs[option.name]
        draws = plain(other.chain.bills.totals[option.id]) - plain(case.chain.bills.totals[option.id])
        assert less.value < 0 and less.value == pytest.approx(now.value - was.value) == pytest.approx(draws.mean())
    assert "512\N{NO-BREAK SPACE}GPUs" in repr(found)
    same = api.compare(case, case)
    assert same.inputs == () and not any(less.value for _, _, less in same.costs.values())
    with pytest.raises(InputError, match="two currencies"):
        api.compare(case, case.changed(money__currency="EUR"))


def test_a_what_if_of_sellers_compares_offers_and_one_of_stages_tells_the_first_order() -> None:
    rented = api.sweep(bench.case("tern-finetuning"), "cluster.gpus", [32]).rows
    offers = bench.case("tern-finetuning").knowledge.offers
    assert offers is not None
    names = [offers.judged[o].offer.seller for o in (offers.order[0], offers.order[-1])]
    assert [rented[0].compared.choice, rented[0].compared.rival] == names
    staged = bench.case("kestrel-lab")
    (row,) = api.sweep(staged, "price:electricity", [0.1]).rows[1:]
    first = staged.figure(f"tco.stage.price.0.{staged.comparison.choice}")
    assert row.first_order is not None and row.first_order.value == first.value


def test_whatever_is_typed_stays_text_in_every_form(case: Case) -> None:
    found = api.what_if(case, {"memo.subject": [HOSTILE], "price:switch-qm9700": [30_000]})
    assert "<script>" not in found._repr_html_() and "&lt;script&gt;" in found._repr_html_()
    lines = list(csv.reader(io.StringIO(found.as_csv())))
    assert len(lines) == 3 and lines[2][1] == f"'{HOSTILE}"
    assert lines[0][:3] == ["what-if", "memo.subject", "price:switch-qm9700 [usd]"]
    assert list(found.frame.columns) == lines[0][1:]
    assert "<script>" not in case.decision()._repr_html_() + repr(case)


def test_what_cannot_be_tried_is_refused_by_its_own_name(case: Case) -> None:
    assert "Did you mean 'gpus'?" in refused(case, {"cluster.gpuz": [1]})
    assert refused(case, {"price:switch-qm970": [1]}).startswith("price:switch-qm970: ")
    assert "Did you mean 'price:switch-qm9700'?" in refused(case, {"price:switch-qm970": [1]})
    assert "two currencies" in refused(case, {"money.currency": ["EUR"]})


@pytest.mark.parametrize(
    "typed", ["cluster.gpus", "=3", "cluster.gpus=", "cluster.gpus=1],[2", "cluster.gpus=010", "memo.subject=\u202e"]
)
def test_a_value_that_cannot_be_read_ends_with_two(typed: str) -> None:
    code, out, err = run("what-if", str(PARAMS), "--vary", typed)
    assert (code, out) == (2, "") and "--vary" in err and "Traceback" not in err and "\u202e" not in err


def test_the_command_prints_what_the_api_finds(case: Case) -> None:
    asked = ("what-if", str(PARAMS), "--vary", "price:switch-qm9700=28000", "--vary", "price:electricity=0.1,0.2")
    found = api.what_if(case, {"price:switch-qm9700": [28_000], "price:electricity": [0.1, 0.2]})
    assert run(*asked) == (0, f"{found!r}\n", "")
    assert run(*asked, "--csv")[1] == found.as_csv().replace("\r\n", "\n")
    assert json.loads(run(*asked, "--json")[1])["rows"] == json.loads(json.dumps(found.records()))
    code, out, err = run(*asked[:2], "--vary", "memo.to=A", "--decide", "--json")
    told = json.loads(out)
    assert code == 0 and "1 times the whole advice" in err and told["rows"][0]["class"] and told["idle"] == ["memo.to"]
    assert run(*asked[:2], "--vary", "memo.to=A", "--csv")[2] == "note: memo.to moves nothing here\n"


def test_a_key_that_moves_nothing_is_told_beside_one_that_does(case: Case) -> None:
    found = api.what_if(case, {"memo.to": ["A"], "cluster.gpus": [512], "price:electricity": [0.1, 0.2]})
    assert found.idle == ("memo.to",) and "memo.to moves nothing here" in repr(found) and found._repr_html_()
    assert api.sweep(case, "memo.to", []).idle == ()


def test_an_edition_is_read_back_with_its_units_and_refused_once_touched(tmp_path: Path) -> None:
    folder = put_edition(PARAMS, tmp_path / "output", says=said)
    found = api.load_edition(folder.parent)
    assert found.info.edition == folder.name and found.info.latest
    assert list(found.frame) == ["tco.difference [usd]"] and "Buy A" in found._repr_html_()
    (folder / "ledger.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"ledger\.json"):
        api.load_edition(folder)


def test_a_trial_stands_aside_as_a_draft_that_names_what_was_set(tmp_path: Path) -> None:
    output = tmp_path / "output"
    memo = put_edition(PARAMS, output)
    trial = put_edition(PARAMS, output, trial={"cluster.gpus": 512, "memo.to": HOSTILE})
    assert trial.parent == memo.parent / "trials" and trial.name != memo.name
    stands = latest_edition(output, memo.parent.name)
    assert stands is not None and stands.edition == memo.name
    assert [info.edition for info in list_editions(output, memo.parent.name)] == [memo.name]
    told = json.loads(run("list", memo.parent.name, "--output", str(output), "--json")[1])
    assert [(one["client"], one["edition"]) for one in told] == [
        (memo.parent.name, memo.name),
        (memo.parent.name, trial.name),
    ]
    assert "trial: cluster.gpus = 512" in run("list", "--output", str(output))[1]
    assert json.loads((trial / "manifest.json").read_text())["status"] == "Draft"


def test_what_is_built_and_refreshed_shows_what_its_memo_says_as_text() -> None:
    head = {"recommendation": "<b>Buy A</b>", "numbers": [{"label": "Cost", "text": "$1"}]}
    built = BuildResult("A", "a", "e", Path("x"), "Client copy", head, RunRecord(()))
    moved = RefreshResult(RefreshPlan(True, ("prices changed",), "a", "2026-11-27", None), built)
    for shown in (built, moved):
        assert "Edition: a/e" in repr(shown) and "Cost: $1" in repr(shown) and "<b>" not in shown._repr_html_()
    assert "prices changed" in repr(moved)


def test_page_one_names_what_a_trial_sets_as_text(tmp_path: Path) -> None:
    memo = new_notebook(cells=[new_markdown_cell("# A memo")])
    memo.metadata["fabricreport"] = {"status": "Draft", "trial": f'memo.to = "{HOSTILE}"', "date": "2026-11-27"}
    page = FabricReportHTMLExporter().from_notebook_node(memo)[0]
    assert "<dt>Trial, with</dt>" in page and "<script>alert" not in page
    (tmp_path / "memo.pdf").write_bytes(FabricReportPDFExporter().from_notebook_node(memo)[0])
    assert "alert(1)" in PdfReader(tmp_path / "memo.pdf").pages[0].extract_text()


def test_a_trial_that_cannot_be_or_moves_nothing_is_refused(case: Case, tmp_path: Path) -> None:
    output = ("--output", str(tmp_path / "output"))
    code, out, err = run("build", str(PARAMS), "--set", "cluster.gpuz=1", *output)
    assert (code, out) == (2, "") and "Did you mean 'gpus'?" in err and not list(tmp_path.glob("output/*/trials"))
    assert run("build", str(PARAMS), str(PARAMS), "--set", "cluster.gpus=512", *output)[0] == 2
    ready = Ready(load_params_file(PARAMS), case)
    idle = Problem("no figure of this memo depends on it", key="overrides[0].id", value="price:aoc-400g")
    with mock.patch("fabricreport.check.examination.tried_out", return_value=(idle,)) as asked:
        with pytest.raises(InputError, match="price:aoc-400g: no figure of this memo depends on it"):
            tried(ready, {"price:aoc-400g": 700}, None)
        asked.return_value = ()
        with pytest.raises(InputError, match="another client's"):
            tried(ready, {"client.slug": "other"}, None)
        set_aside = tried(ready, {"cluster.gpus": 512}, None).loaded
    assert (set_aside.params.cluster.gpus, set_aside.slug) == (512, ready.loaded.slug)
