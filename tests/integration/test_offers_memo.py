"""Whole memos of clients who are offered something: what page one answers, whatever stands in an offer."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bench
import pytest
import yaml
from one_process import whole, written
from read_memo import blocks_of, stitched

from fabricreport.base.formats import NBSP
from fabricreport.memo.build import BuildResult
from fabricreport.memo.document.pieces import gather
from fabricreport.sections.decision.offers.judgements import Open

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PARAMS = ROOT / "params"
RENTERS = "choose_provider"
HOSTILE = "Ex & <script>alert(1)</script> *b* {c} $x$ #set =1+1"


def folder(tmp_path: Path, base: str, offers: list[dict[str, Any]], **changes: Any) -> Path:
    for name in ("prices", "offers"):
        shutil.copytree(PARAMS / name, tmp_path / name)
    data = yaml.safe_load((PARAMS / f"{base}.yaml").read_text(encoding="utf-8"))
    data |= {"as_of": str(data["as_of"]), "offers": offers, "sections": ["decision"], **changes}
    path = tmp_path / "client.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


def nodes(memo: Any, section: str) -> Iterator[dict[str, Any]]:
    """Every node that a notebook of a stitched memo emits, body first."""
    return (node for block in blocks_of(memo) if block["section"] == section for node in block["nodes"])


def words(node: Any) -> str:
    """All text below a node, numbers as they print."""
    if isinstance(node, list):
        return "".join(map(words, node))
    if isinstance(node, dict):
        own = str(node.get("v", "")) if node.get("t") == "text" else str(node.get("text", ""))
        return own.replace(NBSP, " ") + "".join(
            words(part) for key, part in node.items() if key not in ("data", "svg", "text")
        )
    return ""


def test_the_renters_memo_answers_which_offer_and_why_on_page_one(memos: dict[str, BuildResult]) -> None:
    """Read by someone asked only: which offer do I take, and why?"""
    memo = stitched(memos["tern-finetuning"].folder)
    ledger, emitted = gather(memo).ledger, list(nodes(memo, RENTERS))
    headings = [i for i, n in enumerate(emitted) if n["t"] == "h"]
    page_one = emitted[: headings[1]]
    sellers = next(n for n in emitted if n.get("id") == "tab-body-offers")
    glance = " ".join(words(n) for n in page_one if n["t"] == "glance")
    prose = " ".join(words(n) for n in page_one if n["t"] == "p")
    assert sum(n["t"] == "figure" and n["id"] == "fig-body-sellers" for n in page_one) == 1
    # what to do, and with whom
    assert words(page_one[0]).startswith("Which provider should we sign with")
    assert "Sign with the cheapest provider that puts in writing" in glance
    assert all(asked in glance for asked in ("12 months", "hand-over", "a test", "DataCrunch/Verda", "Nebius"))
    # why: the rents lie far apart, the networks do not
    case = bench.case("tern-finetuning")
    offers, networks = case.knowledge.offers, case.figure("decision.difference").value
    assert offers is not None
    material = ledger["decision.materiality"]["value"]
    assert ledger["decision.offers.spread"]["value"] > material > 20 * abs(networks)
    assert "The rent decides" in prose
    # nobody is named the winner on a price that is old, or that may not hold the network
    shown = words(sellers)
    assert "none is a quote for 12 months" in shown and "not said" in shown
    assert len(sellers["rows"]) == len(offers.judged) and all(row["role"] == "normal" for row in sellers["rows"])
    # what comes to a price that is out of date is marked like it
    figures = [ledger[f"decision.offers.total.{o}"] for o in offers.order[1:]]
    old = {figure["stale"] for figure in figures if figure["id"].rpartition(".")[2] in offers.having(Open.OLD)}
    assert old == {True} and ledger["decision.offers.spread"]["stale"]


def test_an_offer_that_can_be_signed_is_named_and_the_other_stands_behind_it(tmp_path: Path) -> None:
    files = [{"file": "offers/example-cloud.yaml"}, {"file": "offers/example-hosting.yaml"}]
    done = whole(folder(tmp_path, "tern-finetuning", files), draws=bench.DRAWS, draw_charts=False)
    assert done.faults == []
    glance = " ".join(words(n) for n in nodes(done.memo, RENTERS) if n["t"] == "glance")
    assert "Sign with Example Hosting" in glance and "Does this price include the network?" in glance
    assert "Otherwise sign with Example Cloud" in glance
    assert done.headline["offer"] == "example-hosting" and done.headline["offer_stands"] == "take_if"


def test_what_a_seller_types_never_runs(tmp_path: Path) -> None:
    offer = yaml.safe_load((PARAMS / "offers" / "example-cloud.yaml").read_text(encoding="utf-8"))
    days = {key: str(offer[key]) for key in ("date", "expiry", "start")}
    add_ons = [{"name": HOSTILE, "price_per_month": 400}]
    hostile = {**offer, **days, "seller": HOSTILE, "product": HOSTILE, "topology": HOSTILE, "add_ons": add_ons}
    done = whole(folder(tmp_path, "tern-finetuning", [hostile]), draws=bench.DRAWS, draw_charts=False)
    assert done.faults == []
    html, pdf = written(done)
    assert "<script>alert(1)" not in html and "&lt;script&gt;" in html and pdf.startswith(b"%PDF")


def test_a_buyers_memo_sets_the_bill_at_the_prices_quoted_beside_its_own(tmp_path: Path) -> None:
    bill = {
        "seller": "Example Switches",
        "date": "2026-11-12",
        "expiry": "2026-12-12",
        "fabric": "infiniband",
        "items": [{"item": "switch-qm9700", "price": 28_000, "quantity": 48}],
    }
    done = whole(folder(tmp_path, "example", [bill]), draws=bench.DRAWS, draw_charts=False)
    assert done.faults == []
    tables = {n["id"]: words(n) for n in nodes(done.memo, "decision") if "rows" in n}
    assert "QM9700" in tables["tab-decision-bid-items"]
    assert "Example Switches" in " ".join(words(n) for n in nodes(done.memo, "buy_once"))
