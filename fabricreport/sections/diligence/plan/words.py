"""What the prose of the acceptance plan is said of: its tests with their commands, its stages, versions and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricreport.books.acceptance import read_acceptance
from fabricreport.books.names import whole_names
from fabricreport.findings import Listing, Name, Named, OptionName, joined
from fabricreport.formats import listed
from fabricreport.inputs import Inputs
from fabricreport.sections.diligence.plan.result import Plan, PlannedTest
from fabricreport.sections.diligence.plan.sheets import ethernets
from fabricreport.sections.diligence.plan.tables import PAID_LATE, stage_numbers
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.terms import paid_for
from fabricreport.sections.sites import sites_in_use

SETTINGS_ASKED = "Q-NET-16"
"""The question whose answer stands for a setting of lossless Ethernet that no source has."""


def plan_words(given: Inputs, result: DiligenceResult) -> Mapping[str, object]:
    """The words of the plan; the same names for every client."""
    plan, cluster = result.plan, given.params.cluster
    suite = read_acceptance().suites[str(cluster.vendor)]
    return {
        "plan_tests": tuple(_test(test, result) for test in plan.tests if test.stage == 1),
        "plan_setups": tuple(_setups(result)),
        "plan_stages": tuple(_stages(result, plan)),
        "plan_reasons": tuple(_reasons(plan)),
        "plan_losses": tuple(_losses(result)),
        "plan_settled": Name(SETTINGS_ASKED) if SETTINGS_ASKED in result.put and ethernets(given) else None,
        "plan_unused": Name(", ".join(dict.fromkeys(t.id for t in plan.tests if t.by_step is False))),
        "exchange": Name(result.terms.exchange.name),
        "exchange_test": Name(result.terms.exchange.test),
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


def _test(test: PlannedTest, result: DiligenceResult) -> Named:
    asks = Name(", ".join(q for q in test.questions if q in result.put) or "none")
    said = {"title": Name(test.title), "why": Name(test.why), "asks": asks, "stage": Name(str(test.stage))}
    return Named(test.id, f"{test.id}-{test.stage}", **said, command=Listing(test.command))


def _losses(result: DiligenceResult) -> Iterator[Named]:
    """What is credited besides bandwidth and time, by its test; of either network where the course is open."""
    of_rival = {p.id for p in result.promises_of_rival if p.price is not None}
    for test in result.plan.tests:
        if test.stage == 1 and test.price is not None and test.pays not in ("busbw", PAID_LATE):
            yield Named(test.id, test.pays, either=Name("either") if test.pays in of_rival else None)


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
    for basis in dict.fromkeys(test.basis for test in plan.tests):
        of = [test for test in plan.tests if test.basis == basis]
        named = [
            f"{test} (stage {', '.join(dict.fromkeys(str(t.stage) for t in of if t.id == test))})"
            if len({t.basis for t in plan.tests if t.id == test}) > 1
            else test
            for test in dict.fromkeys(t.id for t in of)
        ]
        yield Named(", ".join(named), basis, reason=Name(of[0].reason))
