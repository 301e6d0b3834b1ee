"""What to ask each seller, what the answers are worth, and the acceptance test that turns a promise into a price.

The option tested is the one advised, on whatever ground. Questions are worth what knowing the inputs they settle is
worth to the choice, or, where the answer is a price, what a good one saves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, inputs_of, plain
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.base.vocabulary import Side
from fabricreport.books.answers import Answer, Log
from fabricreport.books.equipment import families
from fabricreport.books.options import Option
from fabricreport.books.sellers import ContractOnly, ProviderBook, Question, Seller, read_providers
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit import diligence as model
from fabricreport.models.information import Estimate
from fabricreport.sections.client import stages_of
from fabricreport.sections.diligence.amounts import GIB, modelled, of_delivery, price_of, tested_on
from fabricreport.sections.diligence.figures import FIGURES, DiligenceFigures
from fabricreport.sections.diligence.inputs import Ground
from fabricreport.sections.diligence.plan.result import Plan
from fabricreport.sections.diligence.plan.study import plan_of
from fabricreport.sections.diligence.promises import Promise, floors, promises, promises_of_rival, rivals
from fabricreport.sections.diligence.result import (
    Changes,
    Contract,
    DiligenceResult,
    Judged,
    PricedQuestion,
    Shortlisted,
)
from fabricreport.sections.rents import ASSUMED

BYTES_PER_MIB = 2.0**20
_CLAIM = ("-claim-days", "-claim-window")


def run(on: Ground, changes: Changes | None) -> DiligenceResult:
    """Diligence for a client, on the other studies and the comparison they share; `changes`: what the answers change."""
    given, tco = on.given, on.tco
    book = read_providers()
    other = rivals(on)
    options = tuple(dict.fromkeys(ground.option.id for ground in (on, other) if ground is not None))
    tested = tested_on(on, options)
    tests = promises(tested)
    of_rival: tuple[Promise, ...] = ()
    plan_of_rival: Plan | None = None
    its = None
    if other is not None:
        its = tested_on(other, options, tested)
        of_rival = promises_of_rival(its)
        plan_of_rival = plan_of(other, of_rival, its, prefix="diligence.rival")
    result = DiligenceResult(
        option=on.option,
        rival=on.rival,
        verdict=on.comparison.verdict,
        promises=tests,
        promises_of_rival=of_rival,
        floors={} if tested is None else dict(floors(tested)),
        plan=plan_of(on, tests, tested),
        plan_of_rival=plan_of_rival,
        shortlist=tuple(_shortlisted(given, book, _tested(on), p.name) for p in given.params.providers),
        questions=_priced(on, book),
        judged=_judged(on, book, tests),
        at_ends=_at_ends(on),
        difference=on.comparison.lead,
        total=on.total,
        totals=tco.totals,
        price=price_of(given, tco, on.option.id),
        book=book,
        numbers={},
        terms=of_delivery(on) if tested is None else tested.terms,
        terms_of_rival=None if its is None else its.terms,
        changes=changes,
    )
    figures = DiligenceFigures(given, result, on.tail.bring_up_weeks)
    return replace(result, numbers=DeclaredFigures(FIGURES, figures, given))


def nodes_of(given: Inputs) -> int:
    """Nodes of the cluster as it starts."""
    return -(-int(given.params.cluster.gpus) // int(given.params.cluster.gpus_per_node))


def largest_nodes(given: Inputs) -> int:
    """Nodes of the largest cluster planned within the horizon."""
    return max(-(-int(gpus) // int(given.params.cluster.gpus_per_node)) for _, gpus in stages_of(given))


def asked(given: Inputs, book: ProviderBook, *, joins_nodes: bool) -> tuple[Question, ...]:
    """The questions this client should put: by what it buys, its size and the fabrics compared; `joins_nodes`: whether
    what is advised joins nodes by a network."""
    audience = "cloud" if given.team.rented else "builder"
    nodes = largest_nodes(given) if joins_nodes else 1
    facts = {
        "": True,
        "more-than-one-node": nodes > 1,
        "more-than-two-nodes": nodes > 2,
        "skill": nodes > 1 and any(o.behaviour.skill for o in given.options),
        "reduction": nodes > 1 and any(o.behaviour.reduction for o in given.options),
        "tenants": nodes > 1 and given.params.cluster.tenancy == "multi",
        "growth": nodes > 1 and len(stages_of(given)) > 1,
    }
    return tuple(q for q in book.questions if audience in q.to and facts[q.when])


# ---- the shortlist


def side_of(seller: Seller) -> Side | None:
    """The side of the fabric that a seller documents; None where it differs by host."""
    return Side(families()[seller.fabric].side) if seller.fabric in families() else None


def _tested(on: Ground) -> frozenset[Side]:
    """The sides of the options that a test is written for: both, where the course is open."""
    return frozenset(Side(o.side) for o in ((on.option, on.rival) if on.comparison.verdict.open else (on.option,)))


def _shortlisted(given: Inputs, book: ProviderBook, tested: frozenset[Side], name: str) -> Shortlisted:
    seller = book.seller(name)
    if seller is None:
        return Shortlisted(name, None, "not documented", False, ("everything: not in the table",))
    side = side_of(seller)
    kind = next((o for o in given.options if o.side == side), None)
    topology = model.topology_stated(seller.stated_topology, book.wording.topology, book.wording.topology_unknown)
    need = min(kind.link_gbits_per_s, given.params.cluster.link_gbits_per_s) if kind else 0.0
    low, high = seller.link_low_gbits_per_s, seller.link_high_gbits_per_s
    speed = model.speed_fit(low, high, need or float(given.params.cluster.link_gbits_per_s))
    return Shortlisted(
        name=name,
        seller=seller,
        topology=topology,
        tested=side in tested,
        gaps=_gaps(seller, topology, speed, compared=kind is not None),
    )


def _gaps(seller: Seller, topology: str, speed: str, *, compared: bool) -> tuple[str, ...]:
    fabric = "which fabric" if seller.fabric == "varies" else "" if compared else "its fabric is not compared here"
    link = {"enough": "", "some": "which nodes have the full link", "unknown": "link speed", "short": "links too slow"}
    layout = {"stated": "", "equipment only": "topology (only equipment named)", "differs by host": "topology by host"}
    add_on = "price of the tier with the fabric" if seller.add_on else ""
    found = (fabric, link[speed], layout.get(topology, "topology"), add_on)
    return tuple(gap for gap in found if gap)


def contracts(given: Inputs, result: DiligenceResult) -> tuple[Contract, ...]:
    """The service levels that were read, in the order of the table."""
    sellers: list[Seller | ContractOnly] = [*result.book.sellers, *result.book.contracts_only]
    return tuple(
        Contract(
            s.name,
            _clause(given, s.sla, _CLAIM),
            result.numbers.get(f"diligence.credit.{s.id}"),
        )
        for s in sellers
        if s.sla
    )


def _clause(given: Inputs, ids: tuple[str, ...], ends: tuple[str, ...]) -> Number | str | None:
    """The first service level whose id ends so."""
    found = next((i for end in ends for i in ids if i.endswith(end)), None)
    if found is None:
        return None
    number = given.entry(found.partition(":")[2]).kind == "number"
    return given.figure(found) if number else str(given.record(found)["text"])


# ---- the questions


def _priced(on: Ground, book: ProviderBook) -> tuple[PricedQuestion, ...]:
    difference, within = on.comparison.lead, on.within is not None
    known = inputs_of(on.total) if within else inputs_of(difference, on.total)
    found = []
    for question in asked(on.given, book, joins_nodes=on.joins_nodes):
        draws = _settled(on.given, question, known)
        stakes = (
            None if within else _stake(on, draws, difference, lambda f: on.moved(f).gap(on.rival.id, on.option.id)),
            _stake(on, draws, on.total, on.total_with),
        )
        # who asks a renter's sellers for a price learns what each of them takes off
        ids = (*draws, ASSUMED) if question.commercial and on.given.team.rented else tuple(draws)
        informs = Estimate(0.0, 0.0) if within else on.informs(ids)  # the choice between networks is not put
        found.append(PricedQuestion(question, tuple(draws), *stakes, informs))
    return tuple(sorted(found, key=lambda q: q.order, reverse=True))


def _stake(
    on: Ground, draws: Mapping[str, Any], amount: Traced, again: Callable[[Mapping[str, Uncertain]], Any]
) -> model.Stake | None:
    """The mean of an amount with all inputs settled at the ends, P5 or P95, that lower it, then at those that raise it.

    None where what they explain of its spread is within the noise of the draws. `again`: the amount with inputs set.
    """
    noise = 9.0 * max(1, len(draws)) / on.given.sampler.size  # three standard errors of a rank correlation, squared
    if model.joint_share(amount, draws) <= noise:
        return None
    slopes = model.slopes_of(amount, draws)
    ends = {i: np.quantile(plain(on.given.own(i)), [0.05, 0.95]) for i in slopes}
    means = []
    for raising in (False, True):
        set_to = {i: exactly(float(ends[i][int((slopes[i] > 0) == raising)])) for i in slopes}
        means.append(float(plain(again(set_to)).mean()))
    return model.Stake(means[0], means[1])


def _settled(given: Inputs, question: Question, known: frozenset[str]) -> dict[str, Any]:
    """Draws of the inputs behind the money that an answer settles, by id; contested quantities by their own."""
    names = {i: i.partition(":")[2] for i in sorted(known) if i.startswith(("evidence:", "price:"))}
    ids = [i for i, name in names.items() if any(fnmatchcase(i if ":" in p else name, p) for p in question.settles)]
    for quantity in question.contested:
        if {f"evidence:{e.id}" for e in given.contested(quantity).admissible} & known:
            ids.append(f"contested:{quantity}")
    draws = {i: given.draw(i) for i in ids}
    return {i: d for i, d in draws.items() if np.ptp(plain(d)) > 0}


# ---- the answers


def _judged(on: Ground, book: ProviderBook, tests: tuple[Promise, ...]) -> tuple[Judged, ...]:
    given, option = on.given, on.option
    need = _need(given, tests)
    words = model.Words(book.wording.vague, book.wording.others_tune, book.wording.least_words)
    found = []
    for file in given.answer_files:
        questions = [*asked(given, book, joins_nodes=on.joins_nodes)]
        questions += [q for q in book.questions if q.id in file.answers and q not in questions]
        kind = _kind_of(given, book, file.provider, option)
        findings = {
            q.id: model.judge(q.check, q.form, _reply(on, kind, file.answers.get(q.id)), need, words) for q in questions
        }
        found.append(Judged(file, findings))
    return tuple(found)


def _kind_of(given: Inputs, book: ProviderBook, provider: str, option: Option) -> Option:
    """The option a seller's logs are read as: the first of its own side, else the one tested."""
    seller = book.seller(provider)
    side = side_of(seller) if seller else None
    return next((o for o in given.options if o.side == side), option)


def _need(given: Inputs, tests: tuple[Promise, ...]) -> model.Need:
    cluster = given.params.cluster
    floor = next((p.passes.value for p in tests if p.id == "busbw"), 0.0)
    return model.Need(
        gpus=int(cluster.gpus),
        largest_gpus=max([int(cluster.gpus), *(int(s.gpus) for s in cluster.trajectory)]),
        gpus_per_node=int(cluster.gpus_per_node),
        gbits_per_s_per_gpu=float(cluster.links_per_gpu * cluster.link_gbits_per_s),
        oversubscription=float(cluster.oversubscription),
        busbw_floor_gbytes_per_s=floor,
        least_nodes=int(given.central("evidence:acceptance-least-nodes")),
    )


def _reply(on: Ground, option: Option, answer: Answer | None) -> model.Reply | None:
    if answer is None:
        return None
    benchmark = _benchmark(on, option, answer.measured) if answer.measured else None
    return model.Reply(answer.text, answer.low, answer.high, answer.document, benchmark)


def _benchmark(on: Ground, option: Option, log: Log) -> model.Benchmark:
    """The log beside the model's band at its own size, with the allowance on both sides."""
    margin = on.given.central("evidence:acceptance-margin")
    band = modelled(on, option, log.gpus, [log.size_mib * BYTES_PER_MIB], every=4).busbw_gbytes_per_s[..., 0]
    low, high = np.quantile(plain(band), [0.05, 0.95])
    return model.Benchmark(
        log.gpus,
        log.busbw_gbytes_per_s,
        log.algbw_gbytes_per_s,
        float(low) * (1.0 - margin),
        float(high) * (1.0 + margin),
    )


def _at_ends(on: Ground) -> tuple[float, float] | None:
    """Median busbw on two nodes and on all that the cluster starts with; None where no network joins them."""
    given, cluster = on.given, on.given.params.cluster
    if not on.networked:
        return None
    bytes_sent = given.central("evidence:acceptance-message-gib") * GIB

    def median(nodes: int) -> float:
        gpus = nodes * int(cluster.gpus_per_node)
        found = modelled(on, on.option, gpus, [bytes_sent], every=4).busbw_gbytes_per_s[..., 0]
        return float(np.quantile(plain(found), 0.5))

    return median(2), median(nodes_of(given))
