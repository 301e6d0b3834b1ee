"""What the memo of a delivery turns on, and the words its memo and its data use; the reasons stand in `evidence/delivery.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

from fabricreport.acceptance.credit import PERCENT, made_good
from fabricreport.acceptance.figures import Figures
from fabricreport.acceptance.judging import Fault, Judged, TestVerdict
from fabricreport.acceptance.result import Acceptance, Outcome, ranks_refused
from fabricreport.acceptance.runs import Flaw
from fabricreport.blocks.phrases import Phrase
from fabricreport.evidence import read_yaml
from fabricreport.findings import Findings, Name, Named, Spoken
from fabricreport.formats import NBSP, listed
from fabricreport.hostile_text import visible
from fabricreport.ledger import Number
from fabricreport.sections.diligence.plan.tables import size_text
from fabricreport.spine.delivery_facts import Turns

_FIELD = re.compile(r"\{(\w+)\}")


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = read_yaml("delivery")
    return found


class Said(Phrase):
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
        "gpus": figures.gpus(one),
        "largest": figures.largest(one),
        "found": figures.runs(one),
        "wanted": figures.wanted(one),
        "missed": figures.missed(one),
        "missing": figures.missing(one),
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
