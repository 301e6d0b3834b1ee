"""Everything the project started from stands where `tests/golden/seeds.yaml` says, and what is missing is missing."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from seed_anchors import LOOKUPS, PLACED, ROOT, Edition, rules_printed, told_by_command

from fabricreport.memo.build import BuildResult
from fabricreport.memo.editions.editions import EVIDENCE, LATEST

pytestmark = pytest.mark.slow
REPORT = "report"
SEEDS = yaml.load((ROOT / "tests/golden/seeds.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
ROWS: list[dict[str, Any]] = SEEDS["rows"]
STANDING = [row for row in ROWS if row["status"] != "missing"]
PRINTED = [row for row in STANDING if row["client"] != "cli" and "given" not in row]
MISSING = [row for row in ROWS if row["status"] == "missing"]
BY_PARAMS = {str((row["client"], row["given"])): row for row in STANDING if "given" in row}
GIVEN = [[row for row in STANDING if str((row["client"], row.get("given"))) == key] for key in BY_PARAMS]


@cache
def memo(folder: Path) -> Edition:
    return Edition(folder)


@cache
def report_beside(folder: Path) -> Edition:
    """The evidence report that a memo cites."""
    return Edition(folder.parents[1] / EVIDENCE / LATEST, "report")


def not_found(row: dict[str, Any], folder: Path) -> list[str]:
    """The anchors of a row that its client's memo, or the report, does not show at their place."""
    parts = [(anchor, place or row["place"]) for anchor, _, place in (a.partition("@") for a in row["find"])]
    return [
        anchor
        for anchor, place in parts
        if not (report_beside(folder).shows_anywhere(anchor) if place == REPORT else memo(folder).shows(place, anchor))
    ]


def test_each_anchor_is_of_a_kind_that_its_place_can_show() -> None:
    for row in ROWS:
        for anchor, _, place in (a.partition("@") for a in row["find"]):
            kinds = PLACED.get(place or row["place"], set(LOOKUPS))
            assert anchor.partition(":")[0] in kinds, f"{row['id']}: {anchor}"


@pytest.mark.parametrize("client", ["example", "tern-finetuning", "kestrel-lab"])
def test_each_seed_stands_in_the_memo_of_the_client_it_concerns(memos: dict[str, BuildResult], client: str) -> None:
    rows = [row for row in PRINTED if row["client"] == client]
    lost = {row["id"]: gone for row in rows if (gone := not_found(row, memos[client].folder))}
    assert len(rows) > 20 and lost == {}


def test_each_missing_seed_really_is_missing_so_that_its_row_changes_when_it_comes(
    memos: dict[str, BuildResult],
) -> None:
    editions = [memo(result.folder) for result in memos.values()]
    editions.append(report_beside(memos["example"].folder))
    there = [f"{row['id']}: {a}" for row in MISSING for a in row["find"] if any(e.shows_anywhere(a) for e in editions)]
    assert there == [], "it stands: give the row its place and status"


def test_an_anchor_that_no_memo_holds_is_not_found(memos: dict[str, BuildResult]) -> None:
    folder = memos["example"].folder
    absent = [f"{kind}:no-such-thing" for kind in (*LOOKUPS, "anchor", "data", "ledger")]
    for edition in (memo(folder), report_beside(folder)):
        assert [anchor for anchor in absent if edition.shows_anywhere(anchor)] == []


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: " ".join(row["id"] for row in given))
def test_a_rule_that_concerns_no_shipped_client_holds_for_one_it_concerns(
    memos: dict[str, BuildResult], given: list[dict[str, Any]]
) -> None:
    client, wanted = given[0]["client"], {anchor for row in given for anchor in row["find"]}
    edition = memo(memos[client].folder)
    assert [a for a in wanted if edition.shows_anywhere(a)] == [], "the shipped client meets it: no need of `given`"
    assert {a.removeprefix("rule:") for a in wanted} <= rules_printed(client, given[0]["given"])


@pytest.mark.parametrize("row", [row for row in STANDING if row["client"] == "cli"], ids=lambda row: row["id"])
def test_what_a_command_is_to_tell_it_tells(row: dict[str, Any]) -> None:
    assert [anchor for anchor in row["find"] if not told_by_command(anchor)] == []
    assert not told_by_command("claim:no-such-thing")
