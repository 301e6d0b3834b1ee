"""The ledger numbers of the diligence section: the acceptance test, the shortlist, the questions and the answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabricreport.books.providers import ContractOnly, ProviderBook, Seller
from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.audit.diligence import VERDICTS, Stake
from fabricreport.provenance import inputs_of
from fabricreport.sections.diligence.result import DiligenceResult, Judged, Shortlisted

_SIZES = ("param:cluster.gpus", "param:cluster.gpus_per_node")


def numbers_of(given: Inputs, result: DiligenceResult) -> Iterator[Number]:
    """All figures of the section."""
    for promise in result.promises:
        yield from (n for n in (promise.passes, promise.expected, promise.price, promise.lead) if n is not None)
    yield from result.floors.values()
    yield from _sizes(given, result)
    yield from _shortlist(given, result)
    yield from _sellers(given, result)
    yield from _questions(given, result)
    for judged in result.judged:
        yield from _answers(given, judged)
        yield from _values(given, result.book, judged)


def _sizes(given: Inputs, result: DiligenceResult) -> Iterator[Number]:
    yield given.number(
        "diligence.stages", float(len(result.floors)), "count",
        label="Sizes at which the fabric is to be accepted", rule="count of the sizes in the plan within the horizon",
        inputs=("param:cluster.gpus",),
    )  # fmt: skip
    for gpus in result.floors:
        yield given.number(
            f"diligence.gpus.{gpus}", float(gpus), "gpus",
            label="A size of the cluster", rule="as stated in the params", inputs=("param:cluster.gpus",),
        )  # fmt: skip
    yield given.number(
        "diligence.lead", result.difference, "usd", central="mean",
        label="Lead of the tested option over its rival",
        rule="mean over the shared draws of total cost(rival) − total cost(option), present value",
        inputs=("param:money.horizon_months",),
    )  # fmt: skip
    yield given.number(
        "diligence.lead_share", result.difference / np.mean(result.total), "share", central="mean",
        label="Lead of the tested option as a share of its total cost", rule="mean lead ÷ mean total cost",
        inputs=inputs_of(result.total), digits=2,
    )  # fmt: skip
    yield given.number(
        "diligence.measured_excess", given.central("evidence:two-node-busbw-excess"), "share",
        label="Measured busbw of two nodes above that of four", rule="as derived from the published tables",
        inputs=("evidence:two-node-busbw-excess",), digits=2,
    )  # fmt: skip
    if result.curve:
        yield from _flattery(given, result)
    prices = {p.id: p.price for p in result.promises if p.price}
    if {"weeks", "busbw"} <= set(prices) and prices["busbw"].value > 0:
        week, percent = prices["weeks"], prices["busbw"]
        yield given.number(
            "diligence.week_in_percent", week.value * (DAYS_PER_WEEK if week.unit == "usd/day" else 1.0) / percent.value, "index",
            label="Percent of busbw that cost as much as one week",
            rule="price of a week ÷ price of one percent of busbw", inputs={*week.inputs, *percent.inputs}, digits=2,
        )  # fmt: skip


def _flattery(given: Inputs, result: DiligenceResult) -> Iterator[Number]:
    used = {*_SIZES, *next(p.expected for p in result.promises if p.expected).inputs}
    first, last = result.curve[0], next(p for p in result.curve if p.nodes == _nodes(given))
    for name, point in (("two_nodes", first), ("all_nodes", last)):
        yield given.number(
            f"diligence.busbw.{name}", point.p50, "gbytes/s",
            label=f"Modelled busbw at {'two nodes' if name == 'two_nodes' else 'the size the cluster starts with'}",
            rule="median of the collective model at that number of nodes", inputs=used,
        )  # fmt: skip
    yield given.number(
        "diligence.flattery", first.p50 / last.p50 - 1.0, "share",
        label="Busbw at two nodes above busbw at the full size",
        rule="median at two nodes ÷ median at full size − 1", inputs=used, digits=2,
    )  # fmt: skip
    yield given.number(
        "diligence.nodes", float(last.nodes), "node", label="Nodes of the cluster", rule="GPUs ÷ GPUs per node",
        inputs=_SIZES,
    )  # fmt: skip


def _nodes(given: Inputs) -> int:
    return -(-int(given.params.cluster.gpus) // int(given.params.cluster.gpus_per_node))


def _shortlist(given: Inputs, result: DiligenceResult) -> Iterator[Number]:
    rows = result.shortlist
    counts = {
        "shortlisted": (len(rows), "Sellers on the client's list"),
        "fitting": (len(result.fitting), "Sellers on the list with nothing open"),
        "undocumented": (len(result.undocumented), "Sellers on the list that do not state their topology"),
        "advised_kind": (sum(r.advised for r in rows), "Sellers on the list with the tested option's kind of fabric"),
        "sla_read": (sum(_has_sla(r) for r in rows), "Sellers on the list whose service levels were read"),
        "unanswered": (len(rows) - len(result.judged), "Sellers on the list that have answered nothing"),
        "questions": (len(result.questions), "Questions this client should put"),
    }
    for name, (count, label) in counts.items():
        yield given.number(
            f"diligence.{name}", float(count), "count", label=label, rule="count",
            inputs=("param:money.acquisition",) if name == "questions" else (*_listed(given), result.book.source),
        )  # fmt: skip


def _listed(given: Inputs) -> tuple[str, ...]:
    """The sellers' names in the params, as inputs."""
    return tuple(f"param:providers[{i}].name" for i in range(len(given.params.providers)))


def _has_sla(row: Shortlisted) -> bool:
    return bool(row.seller and row.seller.sla)


def _sellers(given: Inputs, result: DiligenceResult) -> Iterator[Number]:
    """Link and credit of every seller in the table, and the credit of the contracts read outside it."""
    for seller in result.book.sellers:
        if seller.link_high_gbits_per_s is not None:
            yield given.number(
                f"diligence.link.{seller.id}", float(seller.link_high_gbits_per_s), "gbits/s",
                label=f"Link of {seller.name}, at most", rule="as the table states it", inputs=(result.book.source,),
            )  # fmt: skip
    contracts: list[Seller | ContractOnly] = [*result.book.sellers, *result.book.contracts_only]
    for one in contracts:
        for entry_id in one.sla:
            entry = given.entry(entry_id.partition(":")[2])
            if entry.id.endswith("-credit") and entry.kind != "text":
                yield given.number(
                    f"diligence.credit.{one.id}", entry.high, "share",
                    label=f"Highest service credit of {one.name}", rule="as the contract states it", inputs=(entry_id,),
                )  # fmt: skip


def _questions(given: Inputs, result: DiligenceResult) -> Iterator[Number]:
    for priced in result.questions:
        for name, swing, of, moved in (
            ("worth", priced.difference, "the mean difference between the fabrics", result.difference),
            (
                "stake",
                priced.own_cost,
                "the mean total cost of the tested option",
                result.total,
            ),
        ):
            if swing is not None:
                number_id = f"diligence.{name}.{priced.question.id}"
                yield from _swing(given, number_id, swing, priced.question.title, of, tuple(inputs_of(moved)))


def _swing(given: Inputs, number_id: str, swing: Stake, title: str, of: str, used: tuple[str, ...]) -> Iterator[Number]:
    rule = (
        "the model run again with the inputs it settles at the ends (P5 or P95) that lower, then at those that raise it"
    )
    yield given.number(number_id, swing.width, "usd", label=f"How far “{title}” moves {of}", rule=rule, inputs=used)
    for end, value in (("low", swing.at_low), ("high", swing.at_high)):
        yield given.number(
            f"{number_id}.{end}", value, "usd", label=f"{of[0].upper()}{of[1:]} at the {end} end of “{title}”",
            rule=rule, inputs=used,
        )  # fmt: skip


def _answers(given: Inputs, judged: Judged) -> Iterator[Number]:
    slug = key_of(judged.file.provider)
    inputs = _listed(given)
    for verdict in VERDICTS:
        yield given.number(
            f"diligence.answers.{slug}.{verdict}", float(judged.count(verdict)), "count",
            label=f"Answers of {judged.file.provider}: {verdict}", rule="count of verdicts", inputs=inputs,
        )  # fmt: skip
    yield given.number(
        f"diligence.answers.{slug}", float(len(judged.findings)), "count",
        label=f"Questions put to {judged.file.provider}", rule="count", inputs=inputs,
    )  # fmt: skip


def _values(given: Inputs, book: ProviderBook, judged: Judged) -> Iterator[Number]:
    for answer in judged.file.answers.values():
        if answer.low is not None and answer.high is not None:
            yield given.number(
                f"diligence.answer.{key_of(judged.file.provider)}.{answer.question}", (answer.low + answer.high) / 2,
                answer.unit, label=f"{judged.file.provider} on “{book.question(answer.question).title}”",
                rule="as answered; the middle of a range", inputs=_listed(given), digits=6,
            )  # fmt: skip
        elif answer.measured:
            yield given.number(
                f"diligence.answer.{key_of(judged.file.provider)}.{answer.question}", answer.measured.busbw_gbytes_per_s,
                "gbytes/s", label=f"busbw that {judged.file.provider} reports", rule="as answered", inputs=_listed(given), digits=4,
            )  # fmt: skip


def key_of(name: str) -> str:
    """A seller's name as part of an id."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.casefold()).split())
