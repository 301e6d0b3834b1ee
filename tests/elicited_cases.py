"""Answers of two invented experts: one knows how far to trust himself, one is too sure."""

from __future__ import annotations

from pathlib import Path

from fabricreport.books.elicitation import read_questionnaire

CAREFUL, SURE = "elicited/careful.yaml", "elicited/sure.yaml"


def answers_text(expert: str, spread: float, infiniband: str, rocev2: str, *, off: float = 1.2, known: int = 0) -> str:
    """A whole file: each seed's median is `off` times its answer, its P5 and P95 a factor `spread` away."""
    lines = [f"expert: {expert}", "role: builds clusters, Example Ltd (invented)", "date: 2026-11-02", "seeds:"]
    for n, seed in enumerate(read_questionnaire().seeds.values()):
        middle = seed.answer * (off if n % 2 else 1 / off)
        low, high = middle / spread, min(middle * spread, 0.99 if seed.unit == "share" else 1e9)
        numbers = f"p5: {low:.6g}, p50: {middle:.6g}, p95: {high:.6g}"
        lines.append(f"  - {{question: {seed.id}, {'known: true' if n < known else numbers}}}")
    lines += ["answers:", f"  - {{question: weeks-infiniband, {infiniband}}}"]
    lines += [f"  - {{question: rocev2-over-infiniband, {rocev2}}}"] if rocev2 else []
    return "\n".join(lines) + "\n"


def write_two(folder: Path) -> list[str]:
    """The files of both below the folder of a params file; their names for `elicited:`."""
    (folder / "elicited").mkdir(exist_ok=True)
    careful = answers_text("C. Careful", 4.0, "p5: 2, p50: 4, p95: 10", "p5: 0.9, p50: 1.1, p95: 1.6")
    sure = answers_text("S. Sure", 1.15, "p5: 1, p50: 1.2, p95: 1.5", "p5: 2, p50: 2.2, p95: 2.5", off=1.5, known=1)
    (folder / CAREFUL).write_text(careful, encoding="utf-8")
    (folder / SURE).write_text(sure, encoding="utf-8")
    return [CAREFUL, SURE]
