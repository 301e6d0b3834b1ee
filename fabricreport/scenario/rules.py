"""The rules by which a well-formed params file is refused, those on one offer among them, and a broken rule as it is found.

A file that breaks none of these, whose keys are known and whose figures lie within their bounds, builds. What is
merely unlikely is a caution and never stands here. `fabricreport check --rules` prints the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricreport.base.locations import KeyPath, did_you_mean
from fabricreport.base.units import DAYS_PER_MONTH
from fabricreport.books.equipment import families
from fabricreport.books.sellers import UNNAMED, Network, refusable
from fabricreport.scenario.candidates import Offer

if TYPE_CHECKING:
    from fabricreport.scenario.schema import Params


@dataclass(frozen=True)
class Finding:
    """One broken rule: its name, the key it is reported at, what is wrong, what to do, and every key the rule read.

    `rule` is empty for a mistyped name, which is a slip and no contradiction.
    """

    rule: str
    path: KeyPath
    message: str
    value: object = ""
    remedy: str = ""
    suggestion: str = ""
    uses: tuple[KeyPath, ...] = ()

    @property
    def keys(self) -> tuple[KeyPath, ...]:
        """Where it is reported and everything it read."""
        return (self.path, *self.uses)


REFUSALS: Mapping[str, str] = {
    "memo-date": "No price or source is dated outside these years, so nothing could be said as of such a day.",
    "production-before-memo": "Production cannot be due before anything is ordered.",
    "colour-too-pale": "Words and lines too near the page's own colour cannot be read by everybody.",
    "colours-alike": "Two series that differ by their hue alone are one in grey, and to the colour-blind.",
    "reserved-slug": "The folder of that name is used by the program itself, or no file system takes it.",
    "folder-of-others": "Quotes and answers of one client lie in a folder of its own, so no book's folder may be it.",
    "stages-out-of-order": "A later size of the cluster cannot stand before an earlier one.",
    "cluster-shrinks": "The models buy what a stage adds; a cluster that shrinks has no bill to add up.",
    "stage-beyond-horizon": "Costs are counted to the end of the horizon, and a stage after it would cost nothing.",
    "part-of-a-node": "Servers are bought whole, so beyond one server the GPUs are a multiple of those in one.",
    "more-sites-than-servers": "A site of the cluster holds at least one of its servers.",
    "too-few-ports": "A server cannot have more links than ports.",
    "maker-of-the-gpu": "Each GPU type has one maker.",
    "plan-does-not-multiply": "Every GPU has exactly one place in a parallel plan.",
    "experts-do-not-divide": "Expert ranks are taken from the other ranks and must divide them.",
    "jobs-do-not-sum": "The GPU time of a cluster is spent in jobs of some size, so the shares make up the whole.",
    "job-beyond-site": "A job that spans sites needs a network that joins them.",
    "sites-apart-cut-the-job": "A job that finds no room within a site is not made smaller in silence.",
    "links-of-no-sites": "Without sites that are joined there is no link between them.",
    "sites-beyond-links": "A site sends the others no more than the links of its GPUs carry.",
    "plan-does-not-divide-jobs": "A stated plan is run on every job with whole replicas, more or fewer of them.",
    "profile-of-no-simulation": "What a profile of a simulation says moves nothing where no simulation runs.",
    "method-of-no-fine-tuning": "How a model is fine-tuned moves nothing where none is.",
    "rented-servers-used": "Whoever rents pays for hours, whatever the age of the servers.",
    "office-of-others": "A cluster that others host does not stand in an office of the client.",
    "no-weight": "Weights are read as ratios, and no ratio can be formed of zeros alone.",
    "nothing-to-compare": "A decision between fabrics needs two of them, unless there is no fabric to choose.",
    "question-of-others": "Whoever rents has sellers to choose between, and whoever buys a network to choose.",
    "operations-of-others": "Whoever rents has nobody to pay but the provider for running the network.",
    "nothing-grows": "A plan of stages needs a second size.",
    "option-of-other-gpus": "An option is sold with the GPUs of some makers only, and its adapter fits no others.",
    "given-twice": "Two statements on the same thing cannot both hold.",
    "override-expired": "Whoever vouched for the figure did so only until that day.",
    "override-of-itself": "A figure cannot be replaced by a reference to itself.",
    "override-moves-nothing": "Whoever vouches for a figure expects it to count, and nothing in the memo rests on this one.",
    "elicited-moves-nothing": "Whoever was asked expects the answers to count, and nothing in the memo rests on these.",
    "elicited-and-overridden": "An entry that experts judged and the client replaced would have two figures.",
    "offer-after-memo": "What is offered after the memo's day is not known on it.",
    "offer-ends-before-it-begins": "A seller is bound from the day of the offer to its last day.",
    "offer-after-horizon": "What begins after the months over which costs are counted does none of their work.",
    "offer-of-other-gpus": "An offer of other GPUs is an offer for other work.",
    "offer-too-small": "GPUs in two places are joined by no fabric, so an offer is for all of them.",
    "offer-of-another-trade": "Who rents pays for hours and who buys pays for pieces; no bill adds up both.",
    "offer-without-price": "What costs nothing that anybody states cannot be compared.",
    "offer-of-no-option": "What a network loses is worked out for the options compared, and for no other.",
    "dragonfly-has-no-taper": "A dragonfly has no leaf-to-spine ratio to state: its balanced form fixes every link.",
    "switches-cannot-connect": "Three tiers of a switch connect no more links than its ports allow.",
    "partner-rule-leaves-too-few": "A decision needs two options that NVIDIA's requirement on its cloud partners allows.",
    "model-does-not-fit": "Weights, in the fewest bits anybody uses, must find room in the memory of all the GPUs.",
}
"""Rule -> why, in one sentence."""


def offer_findings(offer: Offer, params: Params, at: KeyPath = ()) -> Iterator[Finding]:
    """Every broken rule of an offer that stands at this key."""
    for rule in (_dates, _goods, _trade, _fabric, _prices, _refused):
        yield from rule(offer, params, at)


def _dates(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    if offer.date > params.as_of:
        yield Finding(
            "offer-after-memo",
            (*at, "date"),
            f"is after the memo's date, {params.as_of.isoformat()}",
            offer.date.isoformat(),
            "Date the memo later, or leave the offer out.",
            uses=(("as_of",),),
        )
    if offer.expiry < offer.date:
        yield Finding(
            "offer-ends-before-it-begins",
            (*at, "expiry"),
            f"lies before the offer's own date, {offer.date.isoformat()}",
            offer.expiry.isoformat(),
            "Correct one of the two.",
        )

    horizon = params.money.horizon_months
    if offer.start is not None and (offer.start - params.as_of).days >= horizon * DAYS_PER_MONTH:
        yield Finding(
            "offer-after-horizon",
            (*at, "start"),
            f"lies after the horizon, {horizon} months from the memo's date",
            offer.start.isoformat(),
            "Ask for an earlier day, correct it, or leave the offer out.",
            uses=(("as_of",), ("money", "horizon_months")),
        )


def _goods(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    cluster = params.cluster
    if offer.gpu is not None and offer.gpu != cluster.gpu:
        yield Finding(
            "offer-of-other-gpus",
            (*at, "gpu"),
            f"is another GPU than cluster.gpu, {cluster.gpu}",
            offer.gpu,
            "Ask the seller for that GPU, or leave the offer out.",
            uses=(("cluster", "gpu"),),
        )
    if offer.size is not None and offer.size < cluster.gpus:
        yield Finding(
            "offer-too-small",
            (*at, "size"),
            f"is fewer GPUs than cluster.gpus, {cluster.gpus}",
            offer.size,
            "Ask for all of them in one network, or leave the offer out.",
            uses=(("cluster", "gpus"),),
        )


def _trade(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    rents = params.money.acquisition == "rent"
    hourly = offer.price_per_gpu_hour is not None or bool(offer.ladder)
    wrong = "items" if rents and offer.items else "price_per_gpu_hour" if hourly and not rents else ""
    if wrong:
        trade = "rents, and is offered hours" if rents else "buys, and is offered pieces"
        yield Finding(
            "offer-of-another-trade",
            (*at, wrong if getattr(offer, wrong) is not None else "ladder"),
            f"the client {trade}",
            "",
            "Leave it out, or correct money.acquisition.",
            uses=(("money", "acquisition"),),
        )
    elif not (hourly if rents else offer.items):
        needed = "price_per_gpu_hour or ladder" if rents else "items"
        price = (*at, "price_per_gpu_hour" if rents else "items")
        remedy = f"Add {needed}."
        yield Finding("offer-without-price", (*at, "seller"), "asks no price", offer.seller, remedy, uses=(price,))


def _fabric(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    known = (*params.options, *families(), *UNNAMED)
    if offer.fabric not in known:
        yield Finding(
            "",
            (*at, "fabric"),
            "is no option that is compared and no family of fabrics",
            offer.fabric,
            f"Write one of {', '.join(known)}.",
            did_you_mean(offer.fabric, known),
            uses=(("options",),),
        )


def _prices(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    for n, add_on in enumerate(offer.add_ons):
        if (add_on.price_per_gpu_hour is None) == (add_on.price_per_month is None):
            message = "needs one price: for a GPU-hour or for a month"
            yield Finding("offer-without-price", (*at, "add_ons", n), message, add_on.name, "Write one of the two.")
    if Network(offer.network) is Network.ADD_ON and not any(a.needed for a in offer.add_ons):
        yield Finding(
            "offer-without-price",
            (*at, "network"),
            "is said to be in an add-on, and no add-on is needed",
            offer.network,
            "Add it to add_ons, or write extra.",
        )
    first = [] if offer.price_per_gpu_hour is None else [offer.term_months]
    yield from _twice(at, "ladder", "months", [*first, *(r.months for r in offer.ladder)])
    yield from _twice(at, "items", "item", [i.item for i in offer.items])


def _twice(at: KeyPath, name: str, key: str, values: list[Any]) -> Iterator[Finding]:
    for n, value in enumerate(values):
        if value in values[:n]:
            yield Finding("given-twice", (*at, name), f"has this {key} twice", value, "Keep one of the two.")


def _refused(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    known = refusable()
    for n, term in enumerate(offer.refuses):
        if term not in known:
            remedy = f"One of: {', '.join(known)}."
            close = did_you_mean(term, known)
            yield Finding("", (*at, "refuses", n), "is no term or question", term, remedy, close)
