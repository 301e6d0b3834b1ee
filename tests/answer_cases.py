"""Clients whose sellers have answered: params and files of answers written for a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from fabricreport.case import Case, open_case

PARAMS = Path(__file__).parents[1] / "params"
WEEKS = {"question": "Q-OPS-10", "answer": "Three weeks.", "value": 3, "unit": "week"}
REPAIR = {"question": "Q-OPS-04", "answer": "Within eight hours.", "value": 8, "unit": "h", "document": "sla.pdf"}
TUNER = {"question": "Q-OPS-01", "answer": "Our own team of four tunes it and tests it every night."}
LOG = {
    "question": "Q-NET-07",
    "answer": "Logs of 128 nodes attached.",
    "document": "all-nodes.txt",
    "measured": {"gpus": 1024, "size_mib": 1024, "busbw_gbytes_per_s": 360.0, "algbw_gbytes_per_s": 180.18},
}
TAPER = {"question": "Q-NET-01", "answer": "Two to one.", "value": 2, "unit": "x", "document": "drawing.pdf"}


def resting(answer: dict[str, Any], proof: str, **more: Any) -> dict[str, Any]:
    """An answer that rests on something, with other values where they are given."""
    return {**answer, "evidence": proof, **more}


def answered(
    folder: Path,
    *answers: dict[str, Any],
    client: str = "example",
    fabric: str | None = "rocev2",
    seller: str = "Example Cloud",
    others: dict[str, tuple[str, list[dict[str, Any]]]] | None = None,
    **keys: Any,
) -> Case:
    """The case of a client whose sellers gave these answers; `others`: by seller, its fabric and its answers."""
    data = yaml.safe_load((PARAMS / f"{client}.yaml").read_text("utf-8"))
    data |= keys
    (folder / "providers").mkdir(exist_ok=True)
    for n, (name, (own, given)) in enumerate({seller: (fabric, list(answers)), **(others or {})}.items()):
        said: dict[str, Any] = {"provider": name, "date": "2026-11-02", "answered_by": "A. Seller", "answers": given}
        if own:
            said["fabric"] = own
        path = folder / "providers" / f"{n}.yaml"
        path.write_text(yaml.safe_dump(said), encoding="utf-8")
        data["providers"] = [p for p in data["providers"] if p["name"] != name]
        data["providers"].append({"name": name, "answers": f"providers/{n}.yaml"})
    prices = folder / "prices"
    if not prices.exists():
        prices.symlink_to(PARAMS / "prices", target_is_directory=True)
    (folder / "client.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return open_case(folder / "client.yaml")
