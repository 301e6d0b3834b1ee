"""What stands beside a memo for machines: `ledger.json`, `data/*.csv` and `notebooks/*.ipynb`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.errors import FabricReportError

if TYPE_CHECKING:
    from fabricreport.memo.document.document import Document
    from fabricreport.memo.document.gather import Gathered


def write_data(folder: Path, document: Document, found: Gathered, notebooks: Mapping[str, Any]) -> None:
    """Write the three into a folder that is there: what was gathered, its tables as the document prints them."""
    from fabricreport.memo.document.stitch import chart_data, merged_ledger
    from fabricreport.memo.run.volatile import notebook_bytes
    from fabricreport.spreadsheet import csv_text

    text = json.dumps(merged_ledger(found), sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False)
    (folder / "ledger.json").write_text(text + "\n", encoding="utf-8")
    (folder / "notebooks").mkdir()
    for section, notebook in notebooks.items():
        (folder / "notebooks" / f"{section}.ipynb").write_bytes(notebook_bytes(notebook))
    for name, rows in sorted(chart_data(found, document.nodes).items()):
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise FabricReportError(f"the id of a figure or table is not a file name: {name!r}")
        (folder / "data").mkdir(exist_ok=True)
        (folder / "data" / f"{name}.csv").write_bytes(csv_text(rows).encode("utf-8"))
