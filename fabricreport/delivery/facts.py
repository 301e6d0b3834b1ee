"""What the memo of a delivery turns on, its words (reasons stand in `data/delivery.yaml`), its plain values, and what its notebook opens.

case = open_delivery(params)           # judged on what lies in `as-delivered/` beside the params
body, finding = open_section("acceptance", case)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from fabricreport.base.formats import NBSP, listed, significant
from fabricreport.base.provenance import Traced
from fabricreport.base.text import visible
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.template import PhraseCell
from fabricreport.bodies.bodies import Turns
from fabricreport.case import open_case
from fabricreport.delivery.figures import Figures
from fabricreport.delivery.judgement import PERCENT, Fault, Judged, TestVerdict, made_good
from fabricreport.delivery.runs import Flaw
from fabricreport.delivery.study import (
    Acceptance,
    Outcome,
    accept,
    handed_beside,
    mean_of,
    plan_of,
    ranks_refused,
    read_logs,
)
from fabricreport.ledger.facts import Findings, Name, Named, Spoken
from fabricreport.ledger.numbers import Number
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.diligence.tables import size_text

_FIELD = re.compile(r"\{(\w+)\}")


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = read_yaml("delivery")
    return found


class Said(PhraseCell):
    """Why a test stands as it does, or what it asks: a template and what its fields stand for."""

    @property
    def sentence(self) -> str:
        """The sentence, for data and for a terminal."""
        filled = _FIELD.sub(lambda f: str(getattr(self.words[f[1]], "text", self.words[f[1]])), self.text)
        return filled.replace(NBSP, " ")


def reason(figures: Figures, one: Judged) -> Said:
    """The reason of a verdict where it stands alone, with the limit missed and every log by name."""
    template = _texts()["alone"].get(one.why, _texts()["reasons"][one.why])
    if one.runs == 1:
        template = template.partition(";")[0]
    if one.verdict is TestVerdict.NOT_PROVEN and one.faults and "{logs}" not in template:
        template += "; {logs}"
    return _said(figures, one, template)


def reason_in_short(figures: Figures, one: Judged) -> Said:
    """The reason of a verdict in a cell beside its threshold and what was measured."""
    return _said(figures, one, _texts()["reasons"][one.why])


def _said(figures: Figures, one: Judged, template: str) -> Said:
    size = figures.size(one)
    flaw = _texts()["flaws"][one.flaw.name] if one.flaw else ""
    values: dict[str, Number | Name | None] = {
        "gpus": figures.count(one, "gpus"),
        "largest": figures.count(one, "largest"),
        "found": figures.count(one, "runs"),
        "wanted": figures.count(one, "wanted"),
        "missed": figures.count(one, "missed"),
        "missing": figures.count(one, "missing"),
        "size": size,
        "flaw": Name(flaw),
        "measured": figures.measured(one),
        "asked": figures.asked(one),
        "logs": Name(_logs(one.faults)),
    }
    if size is None:
        template = template.replace(" at {size}", "")
    used = set(_FIELD.findall(template))
    return Said(template, {name: value for name, value in values.items() if value is not None and name in used})


def _logs(faults: Sequence[Fault]) -> str:
    """Logs by name and what each is blamed for; those blamed for the same stand together."""
    blamed: dict[str, list[str]] = {}
    for fault in faults:
        flaw = "CHANGED" if fault.flaw is Flaw.INCOMPLETE and not fault.sizes else fault.flaw.name
        sizes = ", ".join(map(size_text, fault.sizes))
        blamed.setdefault(fault.log, []).append(_texts()["logs"][flaw].format(sizes=sizes))
    alike: dict[str, list[str]] = {}
    for log, flaws in blamed.items():
        alike.setdefault(", ".join(flaws), []).append(visible(log))
    return "; ".join(f"{listed(logs)}: {flaws}" for flaws, logs in alike.items())


def spoken(found: Acceptance) -> Spoken:
    """Facts and words of a delivery."""
    return Spoken(Findings(StrEnum, ()), _words(found), Turns(_verdict(found), _owed(found), _advised(found)))


def _verdict(found: Acceptance) -> Any:
    if found.outcome is not Outcome.REJECT:
        return found.outcome.name.lower()
    return "refused_unpriced" if _refused(found) else "refused_advice"


def _refused(found: Acceptance) -> list[Judged]:
    """Failed tests for which the network is refused, because no credit makes them good; none where it is not refused."""
    if found.outcome is not Outcome.REJECT:
        return []
    return [one for one in _once(found, TestVerdict.FAIL) if not (made_good(one, found.credits) or ranks_refused(one))]


def _owed(found: Acceptance) -> Any:
    return "due" if found.credits else "not_priced" if found.of(TestVerdict.FAIL) else "not_due"


def _advised(found: Acceptance) -> Any:
    if not found.seen.any:
        return "unmoved"
    if not found.advised_before:
        return "never_advised"
    if not found.advised_after:
        return "lost"
    before, after = found.decided.before.open, found.decided.after.open
    if before:
        return "still_open" if after else "now_clear"
    return "now_open" if after else "still_advised"


def _words(found: Acceptance) -> Mapping[str, Any]:
    figures, seen = Figures(found), found.seen
    moved = seen.any and figures.lead("before").text != figures.lead("after").text
    capped = {credit.per == PERCENT for credit in found.credits if credit.capped}
    return {
        "client": Name(found.case.params.client.name),
        "option": Name(found.option.name),
        "rival": Name(found.rival.name),
        "tests": figures.tally(None),
        "passed": figures.tally(TestVerdict.PASS),
        "failed": figures.tally(TestVerdict.FAIL),
        "unproven": figures.tally(TestVerdict.NOT_PROVEN),
        "files": figures.files,
        "settings": Name(listed(found.logs.settings) or "none"),
        "credit": figures.credit,
        "before": figures.lead("before"),
        "after": figures.lead("after"),
        "moved": figures.moved,
        "unmoved": not seen.any,
        "falls": moved and figures.moved.value <= 0,
        "rises": moved and figures.moved.value > 0,
        "busbw": figures.busbw(),
        "weeks": figures.weeks() if seen.weeks is not None else None,
        "faults": seen.faults is not None,
        "due": bool(found.credits),
        "one_loss": not all(credit.counts for credit in found.credits),
        "capped": True in capped,
        "damages_capped": False in capped,
        "staged": len({one.test.stage for one in found.judged}) > 1,
        "nothing_handed": not found.logs.names,
        "ranks_refused": any(ranks_refused(one) for one in found.judged),
        "passing": bool(found.of(TestVerdict.PASS)),
        "now_advised": Name(_name(found, found.decided.after.choice)),
        "failing": tuple(_named(found, one) for one in _once(found, TestVerdict.FAIL)),
        "refused_list": Name(", ".join(one.test.id for one in _refused(found))),
        "open_list": Name(", ".join(one.test.id for one in _once(found, TestVerdict.NOT_PROVEN))),
        "open_tests": tuple(_named(found, one) for one in _once(found, TestVerdict.NOT_PROVEN)),
    }


def _name(found: Acceptance, option: str) -> str:
    return next(o.name for o in found.case.options if o.id == option)


def _once(found: Acceptance, verdict: TestVerdict) -> list[Judged]:
    return [one for one in found.worst_by_test() if one.verdict is verdict]


def _named(found: Acceptance, one: Judged) -> Named:
    return Named(
        one.test.id, one.test.id.lower(), why=Name(reason(Figures(found), one).sentence), command=Name(one.test.command)
    )


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


SECTION = "acceptance"


class Delivery:
    """A case and the delivery judged, for the blocks of a notebook."""

    compared: Mapping[str, Any] = {}
    """Nothing: the memo of a delivery states two leads, before and after."""

    def __init__(self, found: Acceptance) -> None:
        self.found = found

    @cached_property
    def names(self) -> Sequence[str]:
        """Names that may hold digits: the case's own, and those of the files handed over."""
        tests = (one.test for one in self.found.judged)
        return (*self.found.case.names, *self.found.logs.names, *dict.fromkeys(test.title for test in tests))

    def figure(self, figure_id: str) -> Number:
        """A figure of the case."""
        return self.found.case.figure(figure_id)

    def record(self, input_id: str) -> dict[str, Any]:
        """The record of an input of the case."""
        return self.found.case.record(input_id)

    def spoken(self, section: str) -> Spoken:
        """Findings and words of the delivery."""
        if section != SECTION:
            raise KeyError(f"a delivery speaks of {SECTION}, not of {section}")
        return spoken(self.found)


def open_delivery(params: str | Path) -> Delivery:
    """The delivery of the client of a params file, judged on the files in `as-delivered/` beside it (`as-delivered-<option>/`
    for one of two options that are as good); none is a delivery of which nothing was shown. `InputError` lists every fault of
    params and files.
    """
    path = Path(params)
    case = open_case(path)
    option, files = handed_beside(path)
    plan = plan_of(case, option)
    return Delivery(accept(case, plan, read_logs(case, plan, files)))
