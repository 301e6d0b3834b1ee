"""What diligence found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from fabricreport.answered import Moved
from fabricreport.books.providers import Seller
from fabricreport.findings import Findings, Name, Named, OptionName, Spoken
from fabricreport.inputs import Inputs
from fabricreport.models.audit.acceptance import Reason
from fabricreport.sections.diligence.changes import Changes, key_of
from fabricreport.sections.diligence.clauses import clauses
from fabricreport.sections.diligence.plan.figures import IN_USE
from fabricreport.sections.diligence.plan.sheets import ethernets, managed
from fabricreport.sections.diligence.plan.stages import few_nodes
from fabricreport.sections.diligence.plan.tables import stage_numbers
from fabricreport.sections.diligence.plan.words import plan_words
from fabricreport.sections.diligence.result import DiligenceResult, Judged, PricedQuestion
from fabricreport.sections.diligence.study import nodes_of
from fabricreport.sections.stance import Stance
from fabricreport.vocabulary import Acquisition, Ground

FAILS = "fails"
NEITHER = "neither fabric"
PERCENT = 0.01
"""A week that costs more than this share of bandwidth is what the section opens with."""
HALF = 0.5
"""From this share on bandwidth is no measure of a week: no network that loses so much costs in proportion."""


class DiligenceFinding(StrEnum):
    """What may be true of diligence; those of one group exclude each other."""

    # how the section opens
    ONE_NODE = "all GPUs sit in one node"
    OPENS_FAILING = "a seller's answers fail checks"
    OPENS_UNDOCUMENTED = "a renter's sellers leave topologies open"
    OPENS_DOCUMENTED = "each of a renter's sellers states its topology"
    OPENS_STAGES = "the fabric is accepted at several sizes"
    OPENS_FREE = "lost bandwidth costs this client nothing"
    OPENS_WEEK = "a week late costs more than a percent of bandwidth"
    OPENS_LATE = "a week late costs more than half the bandwidth would at the price of a percent"
    OPENS_FLOOR = "a percent of bandwidth costs more than a week late"
    # what the test guards
    TESTED = "there is a fabric to test, and one option is advised or compared"
    TESTED_BOTH = "there is a fabric to test, and no option is advised over the other"
    STANDS_ALONE = "one option is compared"
    STANDS_OPEN = "no option is advised over the other"
    STANDS_LEVEL = "the lead prints as nothing"
    STANDS_AHEAD = "the advised option costs less"
    STANDS_BY_DATE = "the advised option costs more: the date decides"
    STANDS_BY_WEIGHTS = "the advised option costs more: the client's weights decide"
    TESTED_ONCE = "the cluster is tested at one size"
    TESTED_AGAIN = "the cluster is tested at every size planned"
    MANY_NODES = "the cluster has more than two nodes"
    TWO_NODES = "two nodes are the whole cluster"
    FLATTERS = "a log from two of many nodes shows more bandwidth than all reach"
    FLATTERS_NOT = "a log from two of many nodes shows no more bandwidth than all reach"
    RENTS = "the client rents"
    # what a pass on bandwidth is worth
    LEAD_BELOW_HAGGLING = "a renter's lead is too small to choose by"
    PASS_LOSES_LEAD = "the lead is gone before the floor is reached"
    PASS_KEEPS_LEAD = "the lead lasts down to the floor"
    # the acceptance plan
    PLAN_HELD = "every threshold by repeated runs lies clear of the value at which the lead is gone"
    PLAN_CREDIT_ONLY = "some threshold cannot: only the credit protects the lead"
    PLAN_NO_LEAD = "no lead is used up within reach of a test"
    PLAN_ABOVE_USE = "on the fewest nodes the threshold lies at or above those in use"
    PLAN_BELOW_USE = "on the fewest nodes the threshold lies below those in use"
    PLAN_GROWS = "the plan has several stages"
    PLAN_UNUSED = "some collective of the plan is not run over the fabric by the client's step"
    PLAN_BOTH = "the plan has thresholds for two options"
    PLAN_CREDIT = "lost bandwidth costs something"
    CREDIT_OF_STAGES = "and the plan has several stages, over all of which the credit counts"
    PLAN_FREE = "lost bandwidth costs nothing"
    PLAN_FEW_NODES = "no stage has nodes enough to make traffic of its own beside a test, and a sheet asks for it"
    PLAN_LOSSLESS = "an Ethernet fabric compared is kept lossless or marked"
    PLAN_MANAGED = "a fabric compared has a subnet manager"
    TESTED_AT_ALL = "there is a network to test"
    TERMS_PRICED = "breaking some draft term has a price"
    PLAN_SHARED = "several tenants share a fabric that keeps them apart by itself"
    PLAN_TENANTS = "several tenants share the fabric"
    PLAN_ALONE = "the client shares the fabric with nobody"
    # the sellers
    ONE_SELLER = "the client names one seller"
    RENTED_FROM_MANY = "the client rents, and names several sellers"
    HOSTED_BY_MANY = "the client buys, and names several sellers"
    KIND_SOLD = "some of several sellers run the tested kind of fabric, and not all"
    KIND_SOLD_BY_ALL = "each of several sellers runs the tested kind of fabric"
    KIND_UNSOLD = "no seller named is known to run the tested kind of fabric"
    LIST_CUT = "the list is longer than its table"
    LIST_OPEN = "some of several sellers state no topology"
    LIST_STATED = "each of several sellers states a topology"
    SELLERS_IN_BODY = "the sellers are chosen from, or have answered"
    SELLERS_IN_ANNEX = "the sellers are to host only"
    # the questions
    PRICED = "an answer moves the difference between the fabrics"
    UNPRICED = "no answer moves the difference between the fabrics"
    WIDEST_TURNS = "the answer that moves the difference most can turn its sign"
    WIDEST_STAYS = "no answer can turn the sign of the difference"
    OTHERS_TURN = "the answer that moves the difference most turns no sign, another can"
    FIRST_BY_CHOICE = "the answer worth most is worth it to the choice"
    FIRST_BY_PRICE = "the answer worth most is a price"
    NONE_WORTH = "no answer is worth more than its noise"
    SOME_TURNS = "some answer can turn the sign of the difference"
    TURNS_CLOSE = "and every range that does so stays within a close lead"
    SILENT = "nobody has answered a priced question"
    ANSWERED = "a seller has answered"
    # what the answers change
    UNANSWERED = "no seller has answered"
    ANSWERS_TURN = "the answers change what is advised"
    ANSWERS_KEEP = "answers move figures, and what is advised stays"
    ANSWERS_IDLE = "sellers have answered, and no answer moves a figure"
    LEAD_RANGED = "what is advised has a lead with the answers and without"
    SOME_IDLE = "an answer moves nothing"
    LEFT_OUT = "some questions of the book do not apply"


F = DiligenceFinding


def spoken(given: Inputs, result: DiligenceResult) -> Spoken:
    """Findings and words of diligence."""
    groups = (
        _opening(given, result),
        _test(given, result),
        _pass(given, result),
        _plan(given, result),
        _sellers(given, result),
    )
    holds = [*(f for group in groups for f in group), *_questions(result)]
    return Spoken(Findings(DiligenceFinding, holds), _words(given, result))


def _rents(given: Inputs) -> bool:
    return Acquisition(given.params.money.acquisition) is Acquisition.RENT


def _most_failing(result: DiligenceResult) -> Judged | None:
    """The seller with the most failing answers, if any fails."""
    worst = max(result.judged, key=lambda j: j.count(FAILS), default=None)
    return worst if worst and worst.count(FAILS) else None


def _leads(result: DiligenceResult) -> bool:
    return result.stance in (Stance.LESS, Stance.AHEAD)


def _opening(given: Inputs, result: DiligenceResult) -> Iterator[DiligenceFinding]:
    week = result.numbers.get("diligence.week_in_percent")
    if not result.promises:
        yield F.ONE_NODE
    elif _most_failing(result):
        yield F.OPENS_FAILING
    elif _rents(given) and result.shortlist:
        yield F.OPENS_UNDOCUMENTED if result.undocumented else F.OPENS_DOCUMENTED
    elif len(result.floors) > 1:
        yield F.OPENS_STAGES
    elif week is None:
        yield F.OPENS_FREE
    else:
        yield F.OPENS_LATE if week.value >= HALF else F.OPENS_WEEK if week.value > PERCENT else F.OPENS_FLOOR


def _test(given: Inputs, result: DiligenceResult) -> Iterator[DiligenceFinding]:
    if not result.promises:
        return
    costs_more = F.STANDS_BY_DATE if result.verdict.decided_by == Ground.DEADLINE else F.STANDS_BY_WEIGHTS
    stands = {
        Stance.ALONE: F.STANDS_ALONE,
        Stance.OPEN: F.STANDS_OPEN,
        Stance.LEVEL: F.STANDS_LEVEL,
        Stance.MORE: costs_more,
    }
    yield F.TESTED_BOTH if result.promises_of_rival else F.TESTED
    yield stands.get(result.stance, F.STANDS_AHEAD)
    yield F.TESTED_AGAIN if len(result.floors) > 1 else F.TESTED_ONCE
    if nodes_of(given) > 2:
        yield F.MANY_NODES
        yield F.FLATTERS if result.flatters else F.FLATTERS_NOT
    else:
        yield F.TWO_NODES


def _pass(given: Inputs, result: DiligenceResult) -> Iterator[DiligenceFinding]:
    if _rents(given):
        yield F.RENTS
    busbw = next((p for p in result.promises if p.id == "busbw"), None)
    if busbw is None or not _leads(result):
        return
    if _rents(given) and not result.material:
        yield F.LEAD_BELOW_HAGGLING
        return
    gone = busbw.lead is not None and busbw.lead.value > busbw.passes.value
    yield F.PASS_LOSES_LEAD if gone else F.PASS_KEEPS_LEAD


def _plan(given: Inputs, result: DiligenceResult) -> Iterator[DiligenceFinding]:
    plan = result.plan
    if not plan.tests:
        return
    yield F.TESTED_AT_ALL
    if any(clause.breach for clause in clauses(given, result)):
        yield F.TERMS_PRICED
    bases = {test.basis for test in plan.tests}
    if Reason.CREDIT_ONLY in bases:
        yield F.PLAN_CREDIT_ONLY
    else:
        yield F.PLAN_HELD if Reason.HELD in bases else F.PLAN_NO_LEAD
    few, in_use = result.numbers["diligence.line_share.few"], given.central(IN_USE)
    yield F.PLAN_ABOVE_USE if few.value >= in_use else F.PLAN_BELOW_USE
    if len(stage_numbers(plan)) > 1:
        yield F.PLAN_GROWS
    if any(test.by_step is False for test in plan.tests):
        yield F.PLAN_UNUSED
    if result.plan_of_rival is not None:
        yield F.PLAN_BOTH
    yield F.PLAN_CREDIT if "diligence.credit_share" in result.numbers else F.PLAN_FREE
    if "diligence.credit_share" in result.numbers and len(stage_numbers(plan)) > 1:
        yield F.CREDIT_OF_STAGES
    yield from _sheets(given)


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
        yield F.PLAN_ALONE
        return
    yield F.PLAN_TENANTS
    if marked or run_by_manager:
        yield F.PLAN_SHARED


def _sellers(given: Inputs, result: DiligenceResult) -> Iterator[DiligenceFinding]:
    rows = result.shortlist
    if not rows:
        return
    rents, many = _rents(given), len(rows) > 1
    yield (F.RENTED_FROM_MANY if rents else F.HOSTED_BY_MANY) if many else F.ONE_SELLER
    if result.promises and not any(s.tested for s in rows):
        yield F.KIND_UNSOLD
    elif result.promises and many:
        yield F.KIND_SOLD_BY_ALL if all(s.tested for s in rows) else F.KIND_SOLD
    if many:
        cut = len(result.shown) < len(rows)
        yield F.LIST_CUT if cut else F.LIST_OPEN if result.undocumented else F.LIST_STATED
    yield F.SELLERS_IN_BODY if rents or result.judged else F.SELLERS_IN_ANNEX


def _turns(question: PricedQuestion) -> bool:
    stake = question.difference
    return stake is not None and stake.at_low * stake.at_high < 0


def _reach(question: PricedQuestion) -> float:
    """How far from zero a question's answer may move the difference."""
    stake = question.difference
    return 0.0 if stake is None else max(abs(stake.at_low), abs(stake.at_high))


def _questions(result: DiligenceResult) -> Iterator[DiligenceFinding]:
    if result.first is None:
        yield F.NONE_WORTH
    else:
        yield F.FIRST_BY_PRICE if result.first.by_price else F.FIRST_BY_CHOICE
    if result.priced:
        yield F.PRICED
        turning = any(_turns(q) for q in result.priced)
        widest = F.WIDEST_TURNS if result.widest and _turns(result.widest) else F.OTHERS_TURN
        yield widest if turning else F.WIDEST_STAYS
        if turning:
            yield F.SOME_TURNS
            if all(_reach(q) < result.verdict.materiality for q in result.priced if _turns(q)):
                yield F.TURNS_CLOSE
        if not result.judged:
            yield F.SILENT
    else:
        yield F.UNPRICED
    yield F.ANSWERED if result.judged else F.UNANSWERED
    if result.changes is not None:
        yield from _changes(result.changes)
    if _unasked(result):
        yield F.LEFT_OUT


def _changes(found: Changes) -> Iterator[DiligenceFinding]:
    if not found.moved:
        yield F.ANSWERS_IDLE
    else:
        yield F.ANSWERS_TURN if found.turned else F.ANSWERS_KEEP
        if found.without.lead is not None and found.together.lead is not None:
            yield F.LEAD_RANGED
    if found.unmoved:
        yield F.SOME_IDLE


# ---- words


def _unasked(result: DiligenceResult) -> list[str]:
    """Titles of the book's questions that do not apply to this client."""
    put = {q.question.id for q in result.questions}
    return [q.title for q in result.book.questions if q.id not in put]


def _words(given: Inputs, result: DiligenceResult) -> Mapping[str, object]:
    """Every word of the section's prose; None where there is none here."""
    failing, sizes = _most_failing(result), [str(gpus) for gpus in result.floors]
    widest = result.widest.question if result.widest else None
    first = result.first.question if result.first else None
    found = result.changes
    return {
        "client": Name(given.params.client.name),
        "option": OptionName(result.option.name, result.option.id),
        "rival": OptionName(result.rival.name, result.rival.id),
        "currency": Name(given.params.money.currency),
        "failing": Named(failing.file.provider, key_of(failing.file.provider)) if failing else None,
        "first": Named(sizes[0], sizes[0]) if sizes else None,
        "last": Named(sizes[-1], sizes[-1]) if sizes else None,
        "widest": Named(widest.title, widest.id) if widest else None,
        "foremost": Named(first.title, first.id) if first else None,
        "questions": tuple(_question(q) for q in result.questions),
        "left_out": Name("; ".join(_unasked(result))),
        "changed": tuple(_changed(given, seller) for seller in result.book.sellers if seller.since),
        "unchanged": Name(", ".join(seller.name for seller in result.book.sellers if not seller.since)),
        "answered": tuple(_answered(j) for j in result.judged),
        "changing": tuple(Named(s, key_of(s)) for s in found.sellers) if found else (),
        "idle": tuple(_idle(result, m) for m in found.unmoved) if found else (),
        "advised_before": Name(found.without.course or NEITHER) if found else None,
        "advised_after": Name(found.together.course or NEITHER) if found else None,
        "papers": tuple(paper for j in result.judged for paper in _papers(result, j)),
        **plan_words(given, result),
        "factor": Name("2 (n − 1) ÷ n"),
        "ranks": Name("2 ÷ (2 − busbw ÷ algbw)"),
    }


def _idle(result: DiligenceResult, moved: Moved) -> Named:
    """An answer that moves nothing, and why."""
    title = Name(result.book.question(moved.question).title)
    return Named(moved.question, moved.question, title=title, seller=Name(moved.provider), because=Name(moved.reason))


def _question(priced: PricedQuestion) -> Named:
    q = priced.question
    said = {
        "id": Name(q.id),
        "asks": Name(q.question),
        "why": Name(q.why),
        "good": Name(q.good),
        "flag": Name(q.red_flag),
    }
    return Named(q.title, q.id, sources=q.evidence, **said)


def _answered(judged: Judged) -> Named:
    file = judged.file
    return Named(file.provider, key_of(file.provider), day=Name(file.date), who=Name(file.answered_by))


def _changed(given: Inputs, seller: Seller) -> Named:
    """A seller of whom something newer than the article was found."""
    records = [given.record(entry) for entry in seller.since]
    days = dict.fromkeys(str(record["date"]) for record in records)
    said = {"found": Name("; ".join(str(record["text"]) for record in records)), "dated": Name(", ".join(days))}
    return Named(seller.name, seller.id, sources=seller.since, **said)


def _papers(result: DiligenceResult, judged: Judged) -> Iterator[Named]:
    """The documents that came with a seller's answers."""
    for answer in judged.file.answers.values():
        if answer.document:
            title = Name(result.book.question(answer.question).title)
            yield Named(answer.document, answer.question, title=title, seller=Name(judged.file.provider))
