"""Editions that stand where a build would put them, published without running a notebook."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fabricreport.case import open_case
from fabricreport.memo.editions.editions import EVIDENCE, publish
from fabricreport.memo.editions.locks import scratch_folder
from fabricreport.memo.editions.manifest import MANIFEST, list_outputs, sealed
from fabricreport.memo.editions.probe import headline_of_case
from fabricreport.memo.editions.remains import keep_inputs
from fabricreport.memo.report import Cited, report_digest
from fabricreport.memo.run.plan import BuildPlan, load_checked, make_plan
from fabricreport.memo.run.recall import Places

NUMBER = {"id": "tco.difference", "text": "$531k", "label": "Difference", "grade": "quote", "inputs": []}


def put_report(output: Path) -> Cited:
    """An evidence report that a build would find below `output`, with an anchor for all its content."""
    digest, anchors = report_digest(), {"tab-report-claims": "Table 3"}
    edition = f"2026-11-23-{digest[:8]}"
    with scratch_folder(output) as scratch:
        folder = scratch / edition
        folder.mkdir()
        (folder / "ledger.json").write_text('{"inputs": [], "numbers": []}', encoding="utf-8")
        facts = {"edition": edition, "as_of": "2026-11-23", "status": "Evidence report", "anchors": anchors}
        facts |= {"client": {"name": "Evidence report", "slug": EVIDENCE}, "content_sha256": digest}
        (folder / MANIFEST).write_bytes(sealed({**facts, "outputs": list_outputs(folder)}))
        publish(scratch, output, EVIDENCE, edition)
    return Cited(edition, anchors)


def said_of(plan: BuildPlan) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Headline, numbers and inputs of a ledger as a memo of the plan would hold them, as far as page one goes."""
    case = open_case(plan.snapshot.params_json)
    headline = headline_of_case(case)
    figures = [case.figure(number["id"]) for number in headline["numbers"]]
    behind = sorted({i for figure in figures for i in figure.inputs})
    return headline, [figure.as_dict() for figure in figures], [dict(case.record(i)) for i in behind]


def put_edition(params: Path, output: Path, **asked: Any) -> Path:
    """The edition that a build of these params would come to: a ledger of one number for all its content, or what it `says`."""
    places = asked.get("places", Places.of(params))
    says = asked.pop(
        "says", lambda plan: ({"recommendation": "Buy A", "confidence": "clear", "numbers": []}, [NUMBER], [])
    )
    report = put_report(output) if places.report else None
    loaded = load_checked(params, places, asked.get("as_of"))
    with scratch_folder(output) as scratch:
        work = scratch / "work"
        work.mkdir()
        plan = make_plan(loaded, work, report=report, **asked)
        folder = scratch / plan.edition
        folder.mkdir()
        headline, numbers, inputs = says(plan)
        ledger = {"inputs": inputs, "numbers": numbers}
        (folder / "ledger.json").write_text(json.dumps(ledger), encoding="utf-8")
        keep_inputs(folder, plan.snapshot)
        manifest = {
            "edition": plan.edition,
            "client": {"name": plan.params.client.name, "slug": plan.slug},
            "as_of": plan.as_of,
            "status": plan.status,
            "content_sha256": plan.fingerprint.digest,
            "fingerprint": asdict(plan.fingerprint),
            "outputs": list_outputs(folder),
            "run": [{"section": section, "status": "ok"} for section in plan.sections],
            "headline": headline,
            "faults": [],
            **({"trial": plan.trial} if plan.trial else {}),
        }
        (folder / MANIFEST).write_bytes(sealed(manifest))
        at = publish(scratch, output, plan.slug, plan.edition, draft=plan.draft, aside=plan.aside)
        return at.folder
