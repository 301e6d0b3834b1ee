"""A delivery as plain values: what `acceptance.json` and `--json` hold."""

from __future__ import annotations

from typing import Any

from fabricreport.acceptance.figures import Figures
from fabricreport.acceptance.judging import Judged, TestVerdict
from fabricreport.acceptance.redecide import mean_of
from fabricreport.acceptance.result import Acceptance
from fabricreport.acceptance.speech import reason
from fabricreport.formats import significant
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.provenance import Traced

_DIGITS = 6


def facts_of(found: Acceptance) -> dict[str, Any]:
    """Everything that a delivery comes to. Money is in the memo's currency, `credit` of a test in it too."""
    decided = found.decided
    return {
        "client": found.case.params.client.name,
        "as_of": found.case.as_of.isoformat(),
        "option": found.option.id,
        "verdict": str(found.outcome),
        "counts": {str(verdict): len(found.of(verdict)) for verdict in TestVerdict},
        "tests": [_test(found, one) for one in found.judged],
        "credit": _rounded(found.credit),
        "currency": found.case.inputs.currency,
        "before": _decision(decided.before, decided.rival, decided.lead_before, advised=found.advised_before),
        "after": _decision(decided.after, decided.rival, decided.lead_after, advised=found.advised_after),
        "logs": list(found.logs.names),
        "not_judged": list(found.logs.beside),
        "settings": list(found.logs.settings),
    }


def _test(found: Acceptance, one: Judged) -> dict[str, Any]:
    credit = next((c for c in found.credits if c.judged is one), None)
    return {
        "id": one.test.id,
        "stage": one.test.stage,
        "stage_gpus": one.test.gpus,
        "gpus": one.gpus,
        "size_bytes": one.size_bytes or None,
        "verdict": str(one.verdict),
        "reason": reason(Figures(found), one).sentence,
        "why": str(one.why),
        "measured": None if one.measured is None else _rounded(one.measured),
        "threshold": _rounded(one.threshold),
        "credit_from": _rounded(one.credit_from),
        "at_least": one.test.at_least,
        "unit": one.test.unit,
        "runs": one.runs,
        "runs_wanted": one.wanted,
        "credit": None if credit is None else _rounded(credit.amount),
        "credit_counts": None if credit is None else credit.counts,
        "questions": list(one.test.questions),
        "faults": [{"file": f.log, "flaw": str(f.flaw), "sizes_bytes": list(f.sizes)} for f in one.faults],
        "logs": [{"file": log, "line": line} for log, line in one.lines],
    }


def _decision(verdict: Verdict, rival: str, lead: Traced, *, advised: bool) -> dict[str, Any]:
    return {
        "choice": verdict.choice,
        "course": verdict.course.id,
        "confidence": str(verdict.confidence),
        "advised": advised,
        "rival": rival,
        "lead": _rounded(mean_of(lead)),
    }


def _rounded(value: float) -> float:
    return significant(float(value), _DIGITS)
