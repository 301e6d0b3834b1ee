"""Validation cards of the tail and the goodput models: published beside ours, and what we found no measurement of.

Productive time is counted as its publishers count it: time spent in steps, of whatever length, over all time. Jitter and
slow nodes lengthen steps and so are not in it. The expectations were written down before the inputs were calibrated
(`data/goodput_card.yaml`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from fabricreport.base.units import HOURS_PER_DAY, HOURS_PER_YEAR
from fabricreport.base.vocabulary import Side
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.equipment import families
from fabricreport.books.evidence import read_evidence
from fabricreport.models.draws import Draws, Sampler
from fabricreport.models.risk.entries import MATURITIES, common_incidents, fabric_risk, maturity_effect
from fabricreport.models.risk.goodput import Run, RunRisk, daly_interval, kokolis_mttf_h, operated, simulate
from fabricreport.models.risk.incidents import Cluster
from fabricreport.models.risk.tail import expected_max, lognormal_from_quantiles
from fabricreport.validation.card import Card, CardRow, median_abs_error

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
    operators = maturity_effect(drawn, maturity)
    risk = fabric_risk(drawn, families()[Side.ROCEV2].behaviour, gpus=gpus, operators=operators)
    return simulate(operated(run, operators), risk)


def productive(gpus: int, maturity: str) -> Draws:
    """Productive time of such a run, a share, over the draws."""
    return np.asarray(modelled(gpus, maturity).productive_share)


def per_gpu_year(gpus: float, hours_apart: float) -> float:
    """Interruptions per GPU and year of jobs on so many GPUs that last so many hours between two."""
    return HOURS_PER_YEAR / (hours_apart * gpus)


def _beside(case: str, entry: str, ours: float, band: str, **more: Any) -> CardRow:
    """A row on an entry of the library: what it publishes, in its unit, unless `more` says otherwise; held out."""
    unit = read_evidence()[entry].unit
    facts = {"published": central(entry), "held_out": True, "unit": unit, "source": f"evidence:{entry}"}
    told: dict[str, Any] = facts | more
    return CardRow(case, ours=ours, band=band, **told)


def productive_rows() -> list[CardRow]:
    """Productive time as published beside the median of the model at the highest maturity."""
    runs = (
        ("Llama 3", "llama3-effective-training-time", int(central("llama3-gpus")), " (published as a floor)"),
        ("MegaScale", "megascale-effective-time", 10_000, " (more than; published as a floor)"),
        ("ByteRobust", "byterobust-ettr", int(_facts()["byterobust_gpus"]), ""),
    )
    note = "Median of our draws; time in steps over all time, so jitter and slow nodes are not in it."
    return [
        _beside(
            f"{name}, productive time at {gpus:,} GPUs{how}, highest maturity",
            entry,
            float(np.median(productive(gpus, "high"))),
            "goodput",
            note=note,
        )
        for name, entry, gpus, how in runs
    ]


def one_rate_rows() -> list[CardRow]:
    """Hours between interruptions in two publications beside one rate for both: no rate fits them."""
    counts = (
        (
            "Llama 3, hours between interruptions at 16,384 GPUs, by one rate for all",
            "llama3-mtbf-all",
            int(central("llama3-gpus")),
            "Counts unexpected interruptions of one job that one team ran and watched.",
        ),
        (
            "RSC, hours between failures of 1,024-GPU jobs, by the same rate",
            "kokolis-mttf-1024-gpus",
            1_024,
            "Counts every failed job of many users, restarts of jobs that fail again included; not node failures alone.",
        ),
    )
    hours = {gpus: float(np.median(modelled(gpus, "medium").mtbf_h)) for _, _, gpus, _ in counts}
    return [
        _beside(case, entry, hours[gpus], "one rate for both", held_out=False, note=note)
        for case, entry, gpus, note in counts
    ]


def expected() -> tuple[str, ...]:
    """What was written down before the inputs were calibrated."""
    return tuple(e["text"] for e in _facts()["expectations"])


@cache
def as_expected() -> Mapping[str, bool]:
    """Which of it came true."""
    low, high = float(_facts()["low"]), float(_facts()["high"])
    llama, rsc = int(central("llama3-gpus")), 1_024
    top = productive(llama, "high")
    means = [[float(productive(n, m).mean()) for m in MATURITIES] for n in _facts()["sizes"]]
    counted = central("llama3-unexpected-interruptions") - central("llama3-network-interruptions")
    common = drawn(COMMON)
    hours = {m: np.asarray(modelled(n, m).mtbf_h) for n, m in ((llama, "high"), (rsc, "low"))}
    rates = (
        per_gpu_year(llama, HOURS_PER_DAY * central("llama3-run-days") / counted),
        per_gpu_year(rsc, central("kokolis-mttf-1024-gpus")),
    )
    found = {
        "spans": all(_within(rate, common) for rate in rates),
        "median": low <= float(np.median(top)) <= high,
        "range": _within(low, top) and _within(high, top),
        "byterobust": _within(central("byterobust-ettr"), productive(int(_facts()["byterobust_gpus"]), "high")),
        "order": all(each == sorted(each) for each in means),
        "llama3-time": _within(central("llama3-mtbf-all"), hours["high"]),
        "rsc-time": _within(central("kokolis-mttf-1024-gpus"), hours["low"]),
    }
    return {e["id"]: bool(found[e["id"]]) for e in _facts()["expectations"]}


def _within(value: float, draws: Any) -> bool:
    p5, p95 = np.quantile(np.asarray(draws), [0.05, 0.95])
    return bool(p5 <= value <= p95)


def _facts() -> Any:
    return read_yaml("goodput_card")


@cache
def tail_card() -> Card:
    """Card of the order statistics: closed forms and quadrature, since we found no per-rank training data."""
    table = _tail_rows()
    return Card(
        model="tail",
        data_used=(
            "closed forms and numerical integration",
            "one public RoCE p99 and p99.9 pair: 40 GbE, 2016, storage",
        ),
        rows=table,
        summary={"held out, all": median_abs_error(tuple(r for r in table if r.held_out))},
        valid_range="1 to 131,072 workers and beyond; continuous laws with finite mean; correlation 0 to 1",
        date=_date(),
        does_not_claim=(
            "that InfiniBand's or RoCE's tail at 400G is known: we found no p99 and p99.9 of either under "
            "training load",
            "tail dependence: a stall that stops every worker is a separate shock, not a correlation",
            "that the 2016 pair at 40G can be scaled to 400G",
        ),
        irreducible=(
            "per-rank step times are not published, so jitter, its correlation and the share of slow nodes are assumptions",
            "one-factor model: all pairs of workers are alike, no rails, no pods",
        ),
    )


@cache
def goodput_card() -> Card:
    """Card of schedule, incidents and effective training time."""
    table = (*_kokolis_rows(), *_llama_rows(), *_daly_rows(), *_link_rows(), *one_rate_rows(), *productive_rows())
    bands = dict.fromkeys(row.band for row in table if row.counted)
    return Card(
        model="goodput",
        data_used=(
            "Llama 3 interruption counts",
            "Kokolis et al. rates",
            "Daly's worked cases",
            "Alibaba HPN link failures",
            "MegaScale and SemiAnalysis recovery times",
        ),
        rows=table,
        summary={band: median_abs_error(tuple(r for r in table if r.band == band)) for band in bands},
        valid_range="64 to about 16,384 GPUs with recovery that restarts the whole job; beyond, runs that recover "
        "without a restart do better than the model",
        date=_date(),
        does_not_claim=(
            "a difference between InfiniBand and RoCE in interruption rates: no owner has published both",
            "weeks to stable by fabric, incident rates by maturity, flaps per link: we found no measurement of them; "
            "ranges are wide, overlap between fabrics and are labelled assumptions",
            "that a subnet-manager fault or a PFC storm has a known frequency",
        ),
        irreducible=(
            "optics failure rates differ 60-fold between sources",
            "two clusters of one owner (RSC-1, RSC-2) differ 2.8-fold in node failures",
            "Kokolis' formula misses its own 1,024-GPU measurement 3.7-fold",
            "per GPU, RSC's jobs fail six times as often as Llama 3's was interrupted: they count different things, so no "
            "one rate fits both and the range holds both",
        ),
        expected=expected(),
        as_expected=as_expected(),
    )


def _tail_rows() -> tuple[CardRow, ...]:
    from scipy import stats  # slow to import

    workers = (128, 1_024, 131_072)
    harmonic = special.digamma(np.array(workers) + 1.0) + np.euler_gamma
    exponential: dict[str, Any] = {"held_out": True, "unit": "means", "band": "closed form", "source": "H_N / lambda"}
    rows = [
        CardRow(f"exponential, {n:,} workers", published=float(h), ours=expected_max(stats.expon(), n), **exponential)
        for n, h in zip(workers, harmonic, strict=True)
    ]
    normal = stats.norm(10, 2)
    for rho in (0.0, 0.5, 0.9):
        exact = 10 + 2 * np.sqrt(1 - rho) * _normal_maximum(1_024)
        rows.append(
            CardRow(
                f"normal (10, 2), 1,024 workers, correlation {rho:g}",
                published=float(exact),
                ours=expected_max(normal, 1_024, correlation=rho),
                held_out=True,
                unit="units",
                band="quadrature",
                source="mu + sigma sqrt(1 - rho) d_N",
            )
        )
    rows.append(
        CardRow(
            "any law, correlation 1",
            published=10.0,
            ours=expected_max(normal, 131_072, correlation=1.0),
            held_out=True,
            unit="units",
            band="closed form",
            source="no growth",
        )
    )
    p99, p999 = central("roce40g-2016-p99"), central("roce40g-2016-p999")
    law = lognormal_from_quantiles((0.99, p99), (0.999, p999))
    note = "Fitted to this pair, so it proves nothing; never a 400G training figure."
    case = "2016 RoCE at 40G, storage traffic: p99.9 of the fitted lognormal"
    ours = float(law.ppf(0.999))
    rows.append(_beside(case, "roce40g-2016-p999", ours, "fit", held_out=False, counted=False, note=note))
    return tuple(rows)


def _kokolis_rows() -> list[CardRow]:
    rate, measured = central("kokolis-node-failures-rsc1"), "Kokolis formula, measured"
    rows = [
        _beside(
            f"MTTF of {gpus:,} GPUs, projected by its authors",
            f"kokolis-mttf-{gpus}-gpus",
            kokolis_mttf_h(gpus, rate),
            "Kokolis formula, projected",
        )
        for gpus in (16_384, 131_072)
    ]
    note = "The formula's known miss: safe for very large jobs only."
    large = kokolis_mttf_h(1_024, rate)
    rows.append(_beside("MTTF of 1,024 GPUs, measured", "kokolis-mttf-1024-gpus", large, measured, note=note))
    in_hours = {"published": HOURS_PER_DAY * central("kokolis-mttf-8-gpus"), "unit": "h"}
    note = "Small jobs fail far more often than the node rate says."
    small = kokolis_mttf_h(8, rate)
    rows.append(_beside("MTTF of 8 GPUs, measured", "kokolis-mttf-8-gpus", small, measured, note=note, **in_hours))
    return rows


def llama3_mtbf_h(events: float) -> float:
    """Mean hours between `events` interruptions over the Llama 3 window."""
    return HOURS_PER_DAY * central("llama3-run-days") / events


def _llama_rows() -> list[CardRow]:
    network, nic = central("llama3-network-interruptions"), central("llama3-nic-interruptions")
    counted = {
        "llama3-mtbf-network": network,
        "llama3-mtbf-network-and-nic": network + nic,
        "llama3-mtbf-all": central("llama3-unexpected-interruptions"),
    }
    labels = ("network", "network and NIC", "every cause")
    rows = [
        _beside(f"Llama 3, MTBF of {label} at 16,384 GPUs", entry, llama3_mtbf_h(events), "arithmetic")
        for label, (entry, events) in zip(labels, counted.items(), strict=True)
    ]
    gpus = int(central("llama3-gpus"))
    # Llama 3 had far fewer switches than links; without the bill of materials switches are left out.
    cluster = Cluster(gpus, access_links=gpus, switches=0.0)
    operators = maturity_effect(central, "high")
    laws = fabric_risk(central, families()[Side.ROCEV2].behaviour, gpus=gpus, operators=operators).incidents
    hours = HOURS_PER_DAY * central("llama3-run-days")
    ours = sum(float(law.interruptions_per_hour(cluster)) for law in laws) * hours
    mtbf_days = llama3_mtbf_h(counted["llama3-mtbf-all"]) * gpus / 512 / HOURS_PER_DAY
    rows += (
        _beside(
            "Llama 3, network interruptions in 54 days, from our central rates",
            "llama3-network-interruptions",
            ours,
            "rates from parts",
            held_out=False,
            note="Link rates from another owner; flap rate is an assumption; one access link per GPU, no switches.",
        ),
        _beside(
            "MTBF of 512 GPUs at a top operator, from Llama 3's rate",
            "semianalysis-mtbf-512-gpus",
            mtbf_days,
            "rates carried over",
        ),
    )
    return rows


def _daly_rows() -> list[CardRow]:
    write_s = 60.0 * central("daly-checkpoint-write")
    cases = {"24h": 24.0, "6h": 6.0, "15min": 0.25}
    return [
        _beside(
            f"Daly, optimal interval at MTBF {name}",
            f"daly-interval-mtbf-{name}",
            daly_interval(write_s, hours * 3600.0) / 60.0,
            "Daly",
        )
        for name, hours in cases.items()
    ]


def _link_rows() -> list[CardRow]:
    gpus = central("hpn-job-gpus")
    minutes = 60.0 * HOURS_PER_YEAR / (central("optics-afr-semianalysis") * 100_000)
    lost_h = central("hpn-failure-cost") / central("hpn-job-cost-per-hour")
    return [
        _beside(
            "Alibaba HPN, crashes a month of a 3,000-GPU job from its link rate",
            "hpn-crashes-per-month",
            gpus * central("hpn-link-failures-per-month"),
            "arithmetic",
            note="Published as 1 to 2.",
            counted=False,
        ),
        _beside(
            "Alibaba HPN, hours lost per failure against half of its checkpoint interval",
            "hpn-failure-cost",
            central("hpn-checkpoint-interval") / 2.0,
            "work lost",
            published=lost_h,
            unit="h",
        ),
        _beside(
            "SemiAnalysis, first optics failure of 100,000",
            "semianalysis-first-optics-failure",
            minutes,
            "arithmetic",
        ),
    ]


def central(entry_id: str) -> float:
    """The central value of an entry of the shipped library, in its unit."""
    return read_evidence().central(entry_id)


def _date() -> str:
    return max(entry.read for entry in read_evidence().values() if Path(entry.file).stem == "risk")


def _normal_maximum(n: int) -> float:
    """Mean of the largest of n standard normals, by direct integration of its density."""
    from scipy import integrate  # slow to import

    def density(x: float) -> float:
        return float(x * n * np.exp((n - 1) * special.log_ndtr(x)) * (np.exp(-(x**2) / 2.0) / np.sqrt(2 * np.pi)))

    return float(integrate.quad(density, -10, 12, points=[0.0, 3.0], limit=200)[0])
