"""What the goodput model gives for published runs, over the draws of its inputs, and whether that was expected.

Productive time is counted as its publishers count it: time spent in steps, of whatever length, over all time. Jitter and
slow nodes lengthen steps and so are not in it. The expectations were written down before the inputs were calibrated
(`evidence/goodput_card.yaml`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from fabricreport.books.evidence import read_evidence
from fabricreport.books.families import families
from fabricreport.durations import HOURS_PER_DAY, HOURS_PER_YEAR
from fabricreport.evidence import read_yaml
from fabricreport.models.risk.entries import MATURITIES, common_incidents, fabric_risk, maturity_effect
from fabricreport.models.risk.goodput import Run, RunRisk, operated, simulate
from fabricreport.models.risk.incidents import Cluster
from fabricreport.models.sampling import Draws, Sampler
from fabricreport.validation.card import CardRow, card_row
from fabricreport.vocabulary import Side

COMMON = "common-interruptions-per-gpu-year"
_SAMPLER = Sampler(seed=1, size=4_096, correlation=0.6)
_LINKS_PER_SWITCH = 32.0  # one tier of 64-port switches, half of each up: switches stop few runs
_PLAN_DAYS = 30.0


@cache
def drawn(entry_id: str) -> Any:
    """Draws of a library entry; a number where it is known exactly. Many models ask for the same."""
    entry = read_evidence()[entry_id]
    if entry.figure.fixed:
        return entry.figure.central
    return entry.figure.quantile(_SAMPLER.uniforms(f"evidence:{entry_id}", entry.group or ""))


@cache
def modelled(gpus: int, maturity: str) -> RunRisk:
    """A run on so many GPUs by operators of one maturity, luck averaged out, over the draws of its inputs."""
    run = Run(
        Cluster(gpus, gpus, gpus / _LINKS_PER_SWITCH),
        _PLAN_DAYS,
        drawn("restart-hours"),
        drawn("checkpoint-write-seconds"),
        common_incidents(drawn),
    )
    risk = fabric_risk(drawn, families()[Side.ROCEV2].behaviour, gpus=gpus, maturity=maturity)
    return simulate(operated(run, maturity_effect(drawn, maturity)), risk)


def productive(gpus: int, maturity: str) -> Draws:
    """Productive time of such a run, a share, over the draws."""
    return np.asarray(modelled(gpus, maturity).productive_share)


def median_hours_apart(gpus: int, maturity: str) -> float:
    """Median hours between interruptions of every cause."""
    return float(np.median(modelled(gpus, maturity).mtbf_h))


def per_gpu_year(gpus: float, hours_apart: float) -> float:
    """Interruptions per GPU and year of jobs on so many GPUs that last so many hours between two."""
    return HOURS_PER_YEAR / (hours_apart * gpus)


def productive_rows() -> list[CardRow]:
    """Productive time as published beside the median of the model at the highest maturity."""
    runs = (
        ("Llama 3", "llama3-effective-training-time", int(_value("llama3-gpus")), " (published as a floor)"),
        ("MegaScale", "megascale-effective-time", 10_000, " (more than; published as a floor)"),
        ("ByteRobust", "byterobust-ettr", int(_facts()["byterobust_gpus"]), ""),
    )
    return [
        card_row(
            f"{name}, productive time at {gpus:,} GPUs{note}, highest maturity",
            published=_value(entry),
            ours=float(np.median(productive(gpus, "high"))),
            held_out=True,
            unit="share",
            band="goodput",
            source=f"evidence:{entry}",
            note="Median of our draws; time in steps over all time, so jitter and slow nodes are not in it.",
        )
        for name, entry, gpus, note in runs
    ]


def one_rate_rows() -> list[CardRow]:
    """Hours between interruptions in two publications beside one rate for both: no rate fits them."""
    counts = (
        (
            "Llama 3, hours between interruptions at 16,384 GPUs, by one rate for all",
            "llama3-mtbf-all",
            int(_value("llama3-gpus")),
            "Counts unexpected interruptions of one job that one team ran and watched.",
        ),
        (
            "RSC, hours between failures of 1,024-GPU jobs, by the same rate",
            "kokolis-mttf-1024-gpus",
            1_024,
            "Counts every failed job of many users, restarts of jobs that fail again included; not node failures alone.",
        ),
    )
    return [
        card_row(
            case,
            published=_value(entry),
            ours=median_hours_apart(gpus, "medium"),
            held_out=False,
            unit="h",
            band="one rate for both",
            source=f"evidence:{entry}",
            note=note,
        )
        for case, entry, gpus, note in counts
    ]


def expected() -> tuple[str, ...]:
    """What was written down before the inputs were calibrated."""
    return tuple(e["text"] for e in _facts()["expectations"])


@cache
def as_expected() -> Mapping[str, bool]:
    """Which of it came true."""
    low, high = float(_facts()["low"]), float(_facts()["high"])
    llama, rsc = int(_value("llama3-gpus")), 1_024
    top = productive(llama, "high")
    means = [[float(productive(n, m).mean()) for m in MATURITIES] for n in _facts()["sizes"]]
    counted = _value("llama3-unexpected-interruptions") - _value("llama3-network-interruptions")
    common = drawn(COMMON)
    hours = {m: np.asarray(modelled(n, m).mtbf_h) for n, m in ((llama, "high"), (rsc, "low"))}
    rates = (
        per_gpu_year(llama, HOURS_PER_DAY * _value("llama3-run-days") / counted),
        per_gpu_year(rsc, _value("kokolis-mttf-1024-gpus")),
    )
    found = {
        "spans": all(_within(rate, common) for rate in rates),
        "median": low <= float(np.median(top)) <= high,
        "range": _within(low, top) and _within(high, top),
        "byterobust": _within(_value("byterobust-ettr"), productive(int(_facts()["byterobust_gpus"]), "high")),
        "order": all(each == sorted(each) for each in means),
        "llama3-time": _within(_value("llama3-mtbf-all"), hours["high"]),
        "rsc-time": _within(_value("kokolis-mttf-1024-gpus"), hours["low"]),
    }
    return {e["id"]: bool(found[e["id"]]) for e in _facts()["expectations"]}


def _within(value: float, draws: Any) -> bool:
    p5, p95 = np.quantile(np.asarray(draws), [0.05, 0.95])
    return bool(p5 <= value <= p95)


def _facts() -> Any:
    return read_yaml("goodput_card")


def _value(entry_id: str) -> float:
    return read_evidence().central(entry_id)
