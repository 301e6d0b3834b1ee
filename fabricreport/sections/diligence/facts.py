"""What diligence found, named: which sentence of the notebook is true, and the words that its sentences and the plan's use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport.base.formats import listed
from fabricreport.books.acceptance import read_acceptance
from fabricreport.books.names import whole_names
from fabricreport.books.sellers import ALLREDUCE
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Listing, Name, Named, OptionName, Spoken, joined
from fabricreport.models.audit.acceptance import Reason
from fabricreport.scenario import is_given
from fabricreport.sections.client import domain_gpus
from fabricreport.sections.diligence.plan.figures import IN_USE
from fabricreport.sections.diligence.plan.result import Plan, PlannedTest, ethernets, few_nodes, managed
from fabricreport.sections.diligence.plan.rule import rests_on_a_run
from fabricreport.sections.diligence.result import DiligenceResult, Judged, key_of
from fabricreport.sections.diligence.study import nodes_of
from fabricreport.sections.diligence.tables import PAID_LATE, line, stage_numbers
from fabricreport.sections.diligence.terms import paid_for
from fabricreport.sections.sites import sites_in_use

SETTINGS_ASKED = "Q-NET-16"
"""The question whose answer stands for a setting of lossless Ethernet that no source has."""


def plan_words(given: Inputs, result: DiligenceResult) -> Mapping[str, object]:
    """The words of the plan; the same names for every client."""
    plan, cluster = result.plan, given.params.cluster
    suite = read_acceptance().suites[str(cluster.vendor)]
    return {
        "plan_tests": tuple(_named_test(test, result) for test in plan.tests if test.stage == 1),
        "plan_setups": tuple(_setups(result)),
        "plan_stages": tuple(_stages(result, plan)),
        "plan_reasons": tuple(_reasons(plan)),
        "plan_losses": tuple(_losses(result)),
        "plan_settled": Name(SETTINGS_ASKED) if SETTINGS_ASKED in result.put and ethernets(given) else None,
        "plan_below": _listed_tests(plan, below=True),
        "plan_near": _listed_tests(plan, below=False),
        "plan_unused": Name(", ".join(dict.fromkeys(t.id for t in plan.tests if t.by_step is False))),
        "plan_loaded": Name("loaded") if any(t.id == "T-LATENCY-LOADED" for t in plan.tests) else None,
        "exchange": Name(result.terms.exchange.name),
        "exchange_test": Name(result.terms.exchange.test),
        "exchange_other": Name("other") if result.terms.exchange.test != ALLREDUCE else None,
        "rival": OptionName(result.rival.name, result.rival.id),
        "plan_sites": Name("several") if plan.tests and len(cluster.halls(cluster.final_gpus)) > 1 else None,
        "plan_between": Name("joined") if plan.tests and sites_in_use(cluster, cluster.final_gpus) > 1 else None,
        "paid_for": Name(paid_for(given)),
        "plan_suite": Name(suite.name),
        "plan_library": Name(suite.library),
        "plan_versions": Listing(plan.versions),
        "plan_settings": Name(listed(plan.settings)),
        "plan_tested": joined(
            whole_names((result.option, *([result.rival] if result.plan_of_rival else []))).values(), " and "
        ),
        "plan_day": Name(given.as_of.isoformat()),
    }


def _named_test(test: PlannedTest, result: DiligenceResult) -> Named:
    asks = Name(", ".join(q for q in test.questions if q in result.put) or "none")
    said = {"title": Name(test.title), "why": Name(test.why), "asks": asks, "stage": Name(str(test.stage))}
    return Named(test.id, f"{test.id}-{test.stage}", **said, command=Listing(test.command))


def _losses(result: DiligenceResult) -> Iterator[Named]:
    """What is credited besides bandwidth and time, by its test; of either network where the course is open and they differ."""
    of_rival = {p.id: p.price.text for p in result.promises_of_rival if p.price is not None}
    for test in result.plan.tests:
        if test.stage == 1 and test.price is not None and test.pays not in ("busbw", PAID_LATE):
            yield Named(
                test.id,
                test.pays,
                either=Name("either") if of_rival.get(test.pays, test.price.text) != test.price.text else None,
            )


def _setups(result: DiligenceResult) -> Iterator[Named]:
    """What the commands begin with at each stage; on either network where neither is advised and they are told of it."""
    either = [(result.option, result.plan), *([(result.rival, other)] if (other := result.plan_of_rival) else [])]
    alike = all(plan.setup == result.plan.setup for _, plan in either)
    for option, plan in either[: 1 if alike else None]:
        for number, text in plan.setup.items():
            on = None if alike else OptionName(option.name, option.id)
            yield Named(f"Stage {number}", f"{number}-{option.id}", command=Listing(text), on=on)


def _stages(result: DiligenceResult, plan: Plan) -> Iterator[Named]:
    for number in stage_numbers(plan):
        test = next(t for t in plan.tests if t.stage == number and t.by_step is not None)
        yield Named(f"Stage {number}", str(number), gpus=result.numbers[f"diligence.run_gpus.{test.gpus}"])


def _reasons(plan: Plan) -> Iterator[Named]:
    """Each reason for a threshold with the tests it holds for."""
    for reason in dict.fromkeys(test.reason for test in plan.tests):
        ids = list(dict.fromkeys(test.id for test in plan.tests if test.reason == reason))
        yield Named(", ".join(ids), ids[0], reason=Name(reason))


def _listed_tests(plan: Plan, *, below: bool) -> Name | None:
    """The tests that alone do not protect the saving: those with a floor on the wrong side of where it is gone, or those
    whose floors lie too near to it."""
    unguarded = [test for test in plan.tests if test.basis == Reason.CREDIT_ONLY]
    lost = {test.id for test in unguarded if test.passes_without}
    found = dict.fromkeys(test.id for test in unguarded if (test.id in lost) == below)
    return Name(listed(found)) if found else None


class DiligenceFinding(StrEnum):
    """What may be true of diligence; those of one group exclude each other."""

    # what the test guards
    TESTED_AGAIN = "the cluster is tested at every size planned"
    TWO_NODES = "two nodes are the whole cluster"
    FLATTERS = "a log from two of many nodes shows more bandwidth than all reach"
    # the acceptance plan
    TESTED_AT_ALL = "there is a network to test"
    PLAN_HELD = "every threshold by repeated runs lies clear of the value at which the lead is gone"
    PLAN_CREDIT_ONLY = "some threshold cannot: only the credit protects the lead"
    CREDIT_PROTECTS = "there the credit does"
    PLAN_NO_LEAD = "no lead is used up within reach of a test"
    PLAN_HEALTHY = "some floor of the plan also gives way to a published healthy run"
    PLAN_MODEL_ALONE = "no published healthy run is comparable"
    PLAN_GROWS = "the plan has several stages"
    PLAN_UNUSED = "some collective of the plan is not run over the fabric by the client's step"
    PLAN_BOTH = "the plan has thresholds for two options"
    PLAN_CREDIT = "lost bandwidth costs something"
    CREDIT_ENDS = "and credits reach the share of the price at which they end"
    PLAN_UNTIMED = "the step sends nothing that a test of bandwidth times"
    PLAN_FREE = "it does, and lost bandwidth costs nothing"
    PLAN_FEW_NODES = "no stage has nodes enough to make traffic of its own beside a test, and a sheet asks for it"
    PLAN_LOSSLESS = "an Ethernet fabric compared is kept lossless or marked"
    PLAN_MANAGED = "a fabric compared has a subnet manager"
    PLAN_SHARED = "several tenants share a fabric that keeps them apart by itself"
    PLAN_TENANTS = "several tenants share the fabric"
    PLAN_ALONE = "the client shares the fabric with nobody"
    PLAN_UNTOLD = "it rents, and does not say whether it does"
    # the sellers and their answers
    SELLERS_RENTED = "the client rents, and names sellers"
    UNANSWERED = "no seller has answered"
    ANSWERS_MOVE = "an answer moves a figure"
    ANSWERS_IDLE = "sellers have answered, and no answer moves a figure"


F = DiligenceFinding


def spoken(given: Inputs, result: DiligenceResult) -> Spoken:
    """Findings and words of diligence."""
    holds = (*_test(given, result), *_plan(given, result), *_sellers(given, result))
    return Spoken(Findings(DiligenceFinding, holds), _words(given, result))


def _test(given: Inputs, result: DiligenceResult) -> Iterator[DiligenceFinding]:
    if not result.promises:
        return
    if len(result.floors) > 1:
        yield F.TESTED_AGAIN
    if nodes_of(given) <= 2:
        yield F.TWO_NODES
    elif result.flatters:
        yield F.FLATTERS


def _plan(given: Inputs, result: DiligenceResult) -> Iterator[DiligenceFinding]:
    plan = result.plan
    if not plan.tests:
        return
    yield F.TESTED_AT_ALL
    bases = {test.basis for test in plan.tests}
    if Reason.CREDIT_ONLY in bases:
        yield F.PLAN_CREDIT_ONLY
    else:
        yield F.PLAN_HELD if Reason.HELD in bases else F.PLAN_NO_LEAD
    yield F.PLAN_HEALTHY if rests_on_a_run(plan) else F.PLAN_MODEL_ALONE
    if len(stage_numbers(plan)) > 1:
        yield F.PLAN_GROWS
    if any(test.by_step is False for test in plan.tests):
        yield F.PLAN_UNUSED
    if result.plan_of_rival is not None:
        yield F.PLAN_BOTH
    yield from _credit(result)
    yield from _sheets(given)


def _credit(result: DiligenceResult) -> Iterator[DiligenceFinding]:
    """Whether bandwidth has a credit, and where it ends."""
    terms = result.terms
    if 1 not in terms.credits:
        yield F.PLAN_FREE if terms.exchange.sent else F.PLAN_UNTIMED
        return
    yield F.PLAN_CREDIT
    if any(test.basis == Reason.CREDIT_ONLY for test in result.plan.tests):
        yield F.CREDIT_PROTECTS
    every = [*terms.credits.values(), *(result.terms_of_rival.credits.values() if result.terms_of_rival else ())]
    if any(credit.ends for credit in every):
        yield F.CREDIT_ENDS


def _sheets(given: Inputs) -> Iterator[DiligenceFinding]:
    """Which sheets of settings the seller fills in."""
    marked, run_by_manager = bool(ethernets(given)), bool(managed(given))
    shared = str(given.params.cluster.tenancy) == "multi"
    if (marked or shared) and few_nodes(given):
        yield F.PLAN_FEW_NODES
    if marked:
        yield F.PLAN_LOSSLESS
    if run_by_manager:
        yield F.PLAN_MANAGED
    if not shared:
        untold = given.team.rented and not is_given(given.params, "cluster.tenancy")
        yield F.PLAN_UNTOLD if untold else F.PLAN_ALONE
        return
    yield F.PLAN_TENANTS
    if marked or run_by_manager:
        yield F.PLAN_SHARED


def _sellers(given: Inputs, result: DiligenceResult) -> Iterator[DiligenceFinding]:
    if given.team.rented and result.shortlist:
        yield F.SELLERS_RENTED
    if not result.judged:
        yield F.UNANSWERED
    if result.changes is not None:
        yield F.ANSWERS_MOVE if result.changes.moved else F.ANSWERS_IDLE


# ---- words


def _words(given: Inputs, result: DiligenceResult) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    sizes, found = [str(gpus) for gpus in result.floors], result.changes
    few = result.numbers.get("diligence.line_share.few")
    return {
        "client": Name(given.params.client.name),
        "option": OptionName(result.option.name, result.option.id),
        "first": Named(sizes[0], sizes[0]) if sizes else None,
        "last": Named(sizes[-1], sizes[-1]) if sizes else None,
        "answered": tuple(_answered(j) for j in result.judged),
        "asked_first": Name(result.first[0].question.title) if result.first else None,
        "saving_gone": _gone(result),
        "domain": Name("domain") if domain_gpus(given) > int(given.params.cluster.gpus_per_node) else None,
        "below_use": Name("below") if few is not None and few.value < given.central(IN_USE) else None,
        "changing": tuple(Named(s, key_of(s)) for s in found.sellers) if found else (),
        **plan_words(given, result),
    }


def _gone(result: DiligenceResult) -> Named | None:
    """The bandwidth at which the saving is gone though the test that has the credit is passed; None where there is none."""
    test = next(iter(result.plan.of(result.terms.exchange.test)), None)
    found = line(test) if test else None
    if found is None or found.saving is None or found.floor.value >= found.saving.value:
        return None
    return Named("saving_gone", found.saving.id.removeprefix("diligence.plan."))


def _answered(judged: Judged) -> Named:
    file = judged.file
    return Named(file.provider, key_of(file.provider), day=Name(file.date), who=Name(file.answered_by))
