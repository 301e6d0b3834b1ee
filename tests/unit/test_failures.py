"""What a failed build says and keeps names the user's own files, never a copy that is gone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import nbformat

from fabricreport.checking.check import Checked
from fabricreport.memo.editions.failures import keep_failed
from fabricreport.memo.run.plan import Places, load_checked, make_plan
from fabricreport.memo.run.run_record import RunRecord, SectionRun
from fabricreport.scenario import SECTION_NAMES, new_params

MADE_OF = ("buy_once", *SECTION_NAMES)


def test_a_failed_section_names_the_users_files_in_message_and_notebook(tmp_path: Path) -> None:
    client, notebooks, scratch = tmp_path / "client", tmp_path / "notebooks", tmp_path / "out" / ".scratch-1"
    for folder in (client / "prices", client / "logs", notebooks, scratch / "work"):
        folder.mkdir(parents=True)
    (client / "logs" / "run.txt").write_text("a log\n", encoding="utf-8")
    params = client / "acme.yaml"
    text = new_params("Acme", dt.date(2026, 11, 20))
    params.write_text(text + "\nmeasurements: [logs/run.txt]\n", encoding="utf-8")
    for section in MADE_OF:
        nbformat.write(nbformat.v4.new_notebook(), notebooks / f"{section}.ipynb")
    places = Places(notebooks, tmp_path / "project", lambda *_: Checked())
    work = scratch / "work"
    plan = make_plan(load_checked(params, places), work, places=places)

    copy = plan.snapshot.folder / "logs" / "run.txt"
    said = f"{copy}:3: odd; params {plan.snapshot.params_json}; kernel in {work}/executed"
    nb = nbformat.v4.new_notebook()
    nb.cells = [nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("stream", text=said)])]
    executed = work / "tco.ipynb"
    nbformat.write(nb, executed)
    failed = SectionRun("tco", "failed", 3, "x", "InputError", said, said, notebook=str(executed))
    told = keep_failed(RunRecord((failed,)), tmp_path / "out", plan, params, notebooks)

    kept = tmp_path / "out" / "acme" / ".failed" / "tco.ipynb"
    for text in (told, kept.read_text(encoding="utf-8")):
        assert f"{client / 'logs' / 'run.txt'}:3: odd; params {params}" in text
        assert str(scratch) not in text
    assert str(kept) in told
