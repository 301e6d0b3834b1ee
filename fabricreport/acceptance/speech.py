"""What a delivery comes to, named, and the words its memo and its data use; the reasons stand in `evidence/delivery.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from fabricreport.acceptance.credit import PERCENT, made_good
from fabricreport.acceptance.figures import Figures
from fabricreport.acceptance.judging import Fault, Judged, TestVerdict
from fabricreport.acceptance.result import Acceptance, Outcome, ranks_refused
from fabricreport.acceptance.runs import Flaw
from fabricreport.evidence import read_yaml
from fabricreport.findings import Findings, Name, Named, Spoken
from fabricreport.formats import NBSP, listed
from fabricreport.hostile_text import visible
from fabricreport.ledger import Number
from fabricreport.sections.diligence.plan.tables import size_text

_FIELD = re.compile(r"\{(\w+)\}")


class AcceptanceFinding(StrEnum):
    """What may be true of a delivery; those of one group exclude each other."""

    # what to do
    ACCEPT = "every test passes"
    CREDIT = "what falls short is made good by a credit"
    RETEST = "something is not proven, and nothing fails for which the fabric is refused"
    RETEST_DUE = "a credit is due, and something is not proven"
    REJECT = "something fails for which the fabric is refused"
    # why it is refused
    REFUSED_UNPRICED = "what fails is nothing that a credit makes good"
    REFUSED_ADVICE = "with what was measured another option is advised"
    # the tests
    SOME_FAIL = "a test fails"
    SOME_OPEN = "a test is not proven"
    SOME_PASS = "a test passes"
    RANKS_REFUSED = "a log ran on other ranks than it claims"
    NOTHING_HANDED = "no file was handed over"
    STAGED = "the plan has several stages"
    # the credit
    DUE = "a credit is due"
    NOT_DUE = "no credit is due, and nothing falls short"
    NOT_PRICED = "something fails, and no credit is due"
    ONE_LOSS = "several tests show the same loss"
    CAPPED = "the shortfall of bandwidth is worth more than the plan lets be credited"
    DAMAGES_CAPPED = "damages for weeks have reached their end"
    # the decision again
    UNMOVED = "nothing that the decision rests on was measured"
    STILL_ADVISED = "the option is advised as before"
    STILL_OPEN = "money does not tell the option from its rival, as before"
    NOW_OPEN = "money does not tell the two apart any more"
    NOW_CLEAR = "the option is advised, which money did not tell apart before"
    LOST = "the rival is advised now"
    NEVER_ADVISED = "the option was not advised before either"
    LEAD_FALLS = "the lead falls"
    LEAD_RISES = "the lead rises"
    SEEN_BANDWIDTH = "bandwidth was measured on enough GPUs to decide by"
    SEEN_WEEKS = "weeks until stable were recorded"
    SEEN_FAULTS = "more interruptions were recorded than allowed"


F = AcceptanceFinding


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = read_yaml("delivery")
    return found


@dataclass(frozen=True)
class Said:
    """Why a test stands as it does: a template and what its fields stand for."""

    template: str
    values: Mapping[str, Number | Name]

    @property
    def text(self) -> str:
        """The sentence, for data and for a terminal."""
        filled = _FIELD.sub(lambda f: str(getattr(self.values[f[1]], "text", self.values[f[1]])), self.template)
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
    """Findings and words of a delivery."""
    groups = (_outcome(found), _tests(found), _credit(found), _decision(found))
    return Spoken(Findings(F, [finding for group in groups for finding in group]), _words(found))


def _outcome(found: Acceptance) -> Iterator[AcceptanceFinding]:
    yield AcceptanceFinding[found.outcome.name]
    if found.outcome is Outcome.RETEST and found.credits:
        yield F.RETEST_DUE
    if found.outcome is Outcome.REJECT:
        unpriced = any(_refused(found, one) for one in found.of(TestVerdict.FAIL))
        yield F.REFUSED_UNPRICED if unpriced else F.REFUSED_ADVICE


def _refused(found: Acceptance, one: Judged) -> bool:
    """Whether the fabric is refused for a failed test, which no credit makes good."""
    return not (made_good(one, found.credits) or ranks_refused(one))


def _tests(found: Acceptance) -> Iterator[AcceptanceFinding]:
    some = {TestVerdict.FAIL: F.SOME_FAIL, TestVerdict.NOT_PROVEN: F.SOME_OPEN, TestVerdict.PASS: F.SOME_PASS}
    yield from (finding for verdict, finding in some.items() if found.of(verdict))
    if any(ranks_refused(one) for one in found.judged):
        yield F.RANKS_REFUSED
    if not found.logs.names:
        yield F.NOTHING_HANDED
    if len({one.test.stage for one in found.judged}) > 1:
        yield F.STAGED


def _credit(found: Acceptance) -> Iterator[AcceptanceFinding]:
    if found.credits:
        yield F.DUE
        if not all(credit.counts for credit in found.credits):
            yield F.ONE_LOSS
        for per in {credit.per for credit in found.credits if credit.capped}:
            yield F.CAPPED if per == PERCENT else F.DAMAGES_CAPPED
    else:
        yield F.NOT_PRICED if found.of(TestVerdict.FAIL) else F.NOT_DUE


def _decision(found: Acceptance) -> Iterator[AcceptanceFinding]:
    if not found.seen.any:
        yield F.UNMOVED
        return
    yield _advice(found)
    figures = Figures(found)
    if figures.lead("before").text != figures.lead("after").text:
        yield F.LEAD_RISES if figures.moved.value > 0 else F.LEAD_FALLS
    if found.seen.busbw_gbytes_per_s is not None:
        yield F.SEEN_BANDWIDTH
    if found.seen.weeks is not None:
        yield F.SEEN_WEEKS
    if found.seen.faults is not None:
        yield F.SEEN_FAULTS


def _advice(found: Acceptance) -> AcceptanceFinding:
    if not found.advised_before:
        return F.NEVER_ADVISED
    if not found.advised_after:
        return F.LOST
    before, after = found.decided.before.open, found.decided.after.open
    if before:
        return F.STILL_OPEN if after else F.NOW_CLEAR
    return F.NOW_OPEN if after else F.STILL_ADVISED


def _words(found: Acceptance) -> Mapping[str, Any]:
    figures = Figures(found)
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
        "busbw": figures.busbw(),
        "weeks": figures.weeks(),
        "now_advised": Name(_name(found, found.decided.after.choice)),
        "failing": tuple(_named(found, one) for one in _once(found, TestVerdict.FAIL)),
        "refused_list": Name(", ".join(one.test.id for one in _once(found, TestVerdict.FAIL) if _refused(found, one))),
        "open_list": Name(", ".join(one.test.id for one in _once(found, TestVerdict.NOT_PROVEN))),
        "open_tests": tuple(_named(found, one) for one in _once(found, TestVerdict.NOT_PROVEN)),
    }


def _name(found: Acceptance, option: str) -> str:
    return next(o.name for o in found.case.options if o.id == option)


def _once(found: Acceptance, verdict: TestVerdict) -> list[Judged]:
    return [one for one in found.worst_by_test() if one.verdict is verdict]


def _named(found: Acceptance, one: Judged) -> Named:
    return Named(
        one.test.id, one.test.id.lower(), why=Name(reason(Figures(found), one).text), command=Name(one.test.command)
    )
