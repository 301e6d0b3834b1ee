"""A scheduled run is quiet until it matters: no edition and no word for what moves nobody, each thing told once."""

from __future__ import annotations

import json
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import pytest
import yaml
from click.testing import CliRunner
from nbformat.v4 import new_markdown_cell, new_notebook
from published_cases import put_edition, said_of
from scenario_cases import minimal

from fabricreport.base.errors import InputError
from fabricreport.cli.main import main
from fabricreport.cli.refresh import params_files
from fabricreport.memo.editions import refresh as refreshing
from fabricreport.memo.editions.manifest import MANIFEST, read_sealed, sealed
from fabricreport.memo.editions.redline import redline
from fabricreport.memo.editions.refresh import RefreshPlan, RefreshResult, plan_refresh
from fabricreport.memo.editions.telling import News, Teller
from fabricreport.memo.run import recall

ROOT = Path(__file__).parents[2]
SWITCH = "switch-qm9700"

pytestmark = pytest.mark.slow


class Client:
    """A buyer of 64 GPUs with a price book of its own and an edition as a build would have left it."""

    def __init__(self, top: Path) -> None:
        self.top, self.output, self.params = top, top / "output", top / "params" / "acme.yaml"
        self.params.parent.mkdir()
        shutil.copytree(ROOT / "params" / "prices", self.params.parent / "prices")
        self.write()
        self.edition = put_edition(self.params, self.output, says=said_of)

    def write(self, **keys: Any) -> None:
        self.params.write_text(yaml.safe_dump({**minimal(), **keys}), encoding="utf-8")

    def price(self, factor: float) -> None:
        """The switch asked for at `factor` of what it costs, in the same file and on the same day."""
        table = self.params.parent / "prices" / "equipment.csv"
        kept = (ROOT / "params" / "prices" / "equipment.csv").read_text(encoding="utf-8").splitlines()
        head = kept[0].split(",")
        at = [head.index(name) for name in ("price", "low", "high")]
        for n, line in enumerate(kept):
            if line.startswith(f"{SWITCH},"):
                cells = line.split(",")
                for place in at:
                    cells[place] = str(round(float(cells[place]) * factor, 2)) if cells[place] else ""
                kept[n] = ",".join(cells)
        table.write_text("\n".join(kept) + "\n", encoding="utf-8")

    def plan(self, **asked: Any) -> RefreshPlan:
        return plan_refresh(self.params, output=self.output, as_of="2026-11-20", **asked)

    def tree(self) -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in sorted(self.top.rglob("*")) if p.is_file() and not p.is_symlink()}

    def run(self, *words: str) -> Any:
        day = ("--as-of", "2026-11-20", "--today", "2026-11-21")
        return CliRunner().invoke(main, ["refresh", str(self.params), "--output", str(self.output), *day, *words])


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with (
        mock.patch("fabricreport.inputs.inputs.DRAWS", 256),
        mock.patch.object(recall, "TICK_NS", -(10**9)),
    ):
        yield Client(tmp_path)


def test_small_moves_are_quiet_until_they_add_up_against_what_was_published(client: Client) -> None:
    assert (client.plan().changed, client.plan().reasons) == (False, ())
    client.price(1.001)
    plan = client.plan()
    assert not plan.changed and plan.reasons == ("prices/equipment.csv changed",)
    assert plan.probe is not None and plan.probe.is_quiet and plan.last is not None
    with mock.patch.object(refreshing, "probe", side_effect=AssertionError("asked again")):
        assert client.plan().reasons == (), "that it is quiet is known the second time"
    assert client.plan(always=True).changed
    client.price(1.05)
    plan = client.plan()
    assert plan.changed and plan.probe is not None
    assert plan.probe.moved[0].id == "decision.difference"
    client.write(refresh={"moved_share": 1.0})
    plan = client.plan()
    assert not plan.changed and "the params changed" in plan.reasons, "the client's own word for what is material"


def test_a_section_of_the_clients_own_that_is_taken_out_is_an_edition_though_no_number_moves(client: Client) -> None:
    own = client.params.parent / "acme" / "notebooks" / "power.ipynb"
    own.parent.mkdir(parents=True)
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Power")]), own)
    client.write(extra=["power.ipynb"])
    put_edition(client.params, client.output)
    client.write()
    assert client.plan().changed


def test_a_dry_run_leaves_no_trace_and_what_cannot_be_probed_is_built(client: Client) -> None:
    client.price(1.2)
    before = client.tree()
    assert client.plan(dry_run=True).changed and client.tree() == before
    shown = client.run("--dry-run")
    assert shown.exit_code == 0 and "would be built" in shown.output and "decision.difference" in shown.output
    assert client.tree() == before
    with mock.patch.object(refreshing, "probe", side_effect=ZeroDivisionError):
        plan = client.plan()
    assert plan.changed and plan.probe is None
    (client.edition / "ledger.json").write_text("{}", encoding="utf-8")
    assert client.plan().probe is None and client.plan().changed


def test_each_thing_is_told_once_and_the_end_of_a_failure_too(client: Client) -> None:
    assert client.run("--quiet").output == ""
    good = client.params.read_text(encoding="utf-8")
    client.params.write_text(good + "nonsense: 1\n", encoding="utf-8")
    first, second = client.run("--quiet"), client.run("--quiet")
    assert (first.exit_code, second.exit_code) == (2, 2) and second.output == ""
    assert (
        "nonsense" in first.output
        and f"Edition {client.edition.name} stands, as of 2026-11-20, 1 day ago" in first.output
    )
    client.params.write_text(good, encoding="utf-8")
    assert "builds again" in client.run("--quiet").output and client.run("--quiet").output == ""
    late = ("--today", "2027-12-01")
    assert "have expired since edition" in client.run("--quiet", *late).output
    assert client.run("--quiet", *late).output == "" and client.edition.exists()


def test_a_price_newly_held_is_told_with_the_command_that_settles_it(client: Client) -> None:
    client.price(1.0)
    table = client.params.parent / "prices" / "more.csv"
    table.write_text(
        "item,unit,price,low,high,currency,date,expiry,source,grade\n"
        f"{SWITCH},each,333000,,,USD,2026-11-19,,A seller,published\n",
        encoding="utf-8",
    )
    assert client.run("--quiet", "--on-change", "false").exit_code == 5, "nobody was told"
    said = client.run("--quiet", "--json")
    news = json.loads(said.output)["news"]
    assert any("fabricreport prices accept" in line for one in news for line in one["held"]), said.output
    assert json.loads(client.run("--quiet", "--json").output)["news"] == []


def test_the_command_gets_the_news_as_json_without_a_shell_and_again_if_it_ended_badly(client: Client) -> None:
    heard = client.top / "heard; touch x.json"
    script = client.top / "hear.py"
    script.write_text(
        "import pathlib, sys\npathlib.Path(sys.argv[1]).write_text(sys.stdin.read())\nsys.exit(int(sys.argv[2]))\n"
    )
    client.params.write_text("nonsense: 1\n", encoding="utf-8")

    def told(code: int) -> int:
        words = f"{sys.executable} {script} '{heard}' {code}"
        return int(client.run("--quiet", "--on-change", words).exit_code)

    (client.params.parent / "prices" / "feeds.yaml").write_text("feeds: {gone: ../gone.csv}\n", encoding="utf-8")
    assert told(3) == 5 and "nonsense" in json.loads(heard.read_text())["clients"][0]["failed"]
    heard.unlink()
    assert told(0) == 2 and json.loads(heard.read_text())["today"] == "2026-11-21"
    assert [feed["status"] for feed in json.loads(heard.read_text())["feeds"]] == ["failed"], "nobody heard of it"
    heard.unlink()
    assert told(0) == 2 and not heard.exists(), "it was told already"
    assert client.run("--on-change", "no-such-command-anywhere").exit_code == 2, "nothing is new, so nobody is called"


def test_params_are_named_by_file_glob_and_folder_each_once(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml", "schema.json", "sub/c.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    a, b = tmp_path / "a.yaml", tmp_path / "b.yaml"
    assert params_files([str(tmp_path)]) == [a, b]
    assert params_files([str(b), f"{tmp_path}/[ab].yaml", str(tmp_path)]) == [b, a]
    assert params_files([str(tmp_path / "gone.yaml")]) == [tmp_path / "gone.yaml"], "told with the others"
    for nothing in (tmp_path / "*.yml", tmp_path / "none"):
        nothing.mkdir() if nothing.name == "none" else None
        with pytest.raises(InputError, match="no params file"):
            params_files([str(nothing)])


def test_what_was_told_is_told_again_where_the_record_is_gone(client: Client) -> None:
    teller = Teller(client.output, date(2026, 11, 21))
    error = InputError("broken at 1")
    assert teller.of(client.params, error).failed
    teller.keep()
    assert not teller.of(client.params, InputError("broken at 2")).failed, "the same failure, at another second"
    shutil.rmtree(client.top / ".cache")
    assert teller.of(client.params, error).failed


def test_what_a_run_built_that_told_nobody_is_told_by_the_next(client: Client) -> None:
    """The command ended badly, or the run was killed when the edition was out."""
    client.run("--quiet")
    client.price(1.2)
    built = put_edition(client.params, client.output, says=said_of)
    news = json.loads(client.run("--quiet", "--json", "--on-change", "false").stdout)["news"]
    assert news[0]["edition"] == built.name and "decision.difference" in {one["id"] for one in news[0]["moved"]}
    assert json.loads(client.run("--quiet", "--json").stdout)["news"] == news, "nobody was told"
    assert json.loads(client.run("--quiet", "--json").stdout)["news"] == []


def test_what_a_first_run_built_that_was_ended_is_told_with_its_causes_by_one_of_two_at_once(client: Client) -> None:
    teller = Teller(client.output, date(2026, 11, 21))
    teller.begin([client.params])
    plan = client.plan()
    client.price(1.2)
    built = put_edition(client.params, client.output, says=said_of)  # and here it was ended
    because = redline(client.edition, built).why()
    teller.begin([client.params])
    told, both = list[News](), threading.Barrier(2)

    def tell() -> None:
        mine = Teller(client.output, date(2026, 11, 21))
        with mine.alone():
            told.append(mine.of(client.params, RefreshResult(plan)))
            with suppress(threading.BrokenBarrierError):
                both.wait(0.3)  # each has read what was told before, unless one waits for the other
            mine.keep()

    manifest = read_sealed(built / MANIFEST)
    since = {**manifest["fingerprint"], "since": client.edition.name}
    (built / MANIFEST).write_bytes(sealed({**manifest, "fingerprint": since, "changes": because}))
    runs = [threading.Thread(target=tell) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    (news,) = filter(None, told)
    found = next(one for one in news.moved if one.id == "decision.difference")
    assert [*found.why] == because[found.id]
    assert re.search(r"InfiniBand NDR switch went from \$\d.* to \$\d.*: [+−]\$\d", found.why[0])
    at = next(n for n, line in enumerate(news.lines()) if f"({found.id})" in line)
    assert news.lines()[at + 1] == f"{client.params}:   why: {found.why[0]}"


def test_a_held_row_that_alone_is_new_is_told_and_no_memo_goes_back_in_time(client: Client) -> None:
    client.run("--quiet")
    rows = "item,unit,price,low,high,currency,date,expiry,source,grade\n{},each,{},,,USD,{},,A seller,published\n"
    more = client.params.parent / "prices" / "more.csv"
    more.write_text(rows.format(SWITCH, 333_000, "2026-11-30"), encoding="utf-8")
    words = ("refresh", str(client.params), "--output", str(client.output), "--json", "--dry-run")
    plan = json.loads(CliRunner().invoke(main, words).stdout)["refreshed"][0]
    assert any("prices accept" in line for line in plan["held"])
    put_edition(client.params, client.output, says=said_of, as_of="2026-12-24")
    assert plan_refresh(client.params, output=client.output).as_of == "2026-12-24"
