"""Is the plan itself plausible? Cautions about what a client may have meant otherwise, each true of the case.

Impossible is refused when the params are read; improbable is said here, on page one and by `check`. A caution is a
sentence of `data/plausibility.yaml` with figures of this case. `dates_of` gives what the clock is held against:
only the command line asks it, and no memo does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricreport.base.locations import undotted
from fabricreport.base.provenance import plain
from fabricreport.base.units import DAYS_PER_MONTH
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.document import Message
from fabricreport.books.equipment import LARGEST_SERVER
from fabricreport.books.prices.rules import rules
from fabricreport.check.dates import Dates
from fabricreport.scenario import is_given
from fabricreport.sections.client import days_of_tokens, gpu_type, one_node
from fabricreport.sections.latency.inputs import TRAINING_KINDS
from fabricreport.sections.schedule import told

if TYPE_CHECKING:
    from fabricreport.books.options import Option
    from fabricreport.books.sellers import Offer
    from fabricreport.case import Case
    from fabricreport.scenario import ParamsFile

_ROOM, _ASSUMED = "{assumed}", " (assumed, for none was given)"
_TRAY = "evidence:rack-tray-gpus"
WATTS_PER_KW = 1000
_HALF = 0.5
"""What happens in more than half of outcomes is likelier than not, and what is more than half of a time is most of it."""


@dataclass(frozen=True)
class Caution(Message):
    """One sentence about the plan, by the id that the data have it under."""

    id: str

    @property
    def sentence(self) -> str:
        """What is doubted, and what to look at."""
        shown = {name: v if isinstance(v, str) else v.text for name, v in self.values.items()}
        return f"{self.text.format(**shown)} {self.look}"

    def placed(self, loaded: ParamsFile) -> str:
        """The sentence at the line of the first key that stands in the params file, and each key with its own line."""
        lines = {key: loaded.located.lines.get(undotted(key)) for key in self.keys}
        keys = "; ".join(f"{key}, line {line}" if line else f"{key}, left out" for key, line in lines.items())
        first = next(filter(None, lines.values()), 1)
        return f"{loaded.path}:{first}: {self.sentence} ({keys})"


def cautions(case: Case) -> tuple[Caution, ...]:
    """Every caution that is true of the case, the gravest first; most cases have none."""
    return tuple(caution for find in _FINDERS for caution in find(case))


def unsaid(case: Case) -> tuple[Caution, ...]:
    """Those that page one does not say itself: a date that is missed stands in its second sentence."""
    return tuple(caution for find in _FINDERS if find is not _not_ready for caution in find(case))


def _caution(case: Case, id: str, *, assumed: str = "", of: str = "", **values: Any) -> Caution:
    """The caution of that id; `assumed` are the words that stand where its text leaves room for them.

    A value under `figures` is made a number as is told there, `of` a price or an offer.
    """
    entry = next(e for e in read_yaml("plausibility") if e["id"] == id)
    text, names = entry["text"].replace(_ROOM, assumed), {"of": of, "seller": values.get("seller", "")}
    for name, record in entry.get("figures", {}).items():
        figure = {key: word.format(**names) if isinstance(word, str) else word for key, word in record.items()}
        figure["inputs"] = [i.format(**names) for i in record.get("inputs", ())]
        values[name] = case.number(f"decision.caution_{figure.pop('id')}", values[name], **figure)
    return Caution(text, entry["look"], tuple(entry["keys"]), values, id)


def _threshold(case: Case, name: str) -> float:
    return case.inputs.central(f"evidence:plausible-{name}")


def _advised(case: Case) -> Option:
    return case.inputs.all_options[case.comparison.choice]


def _rdma(case: Case) -> tuple[Option, ...]:
    """The options that are real rivals: those with RDMA, or all where none has it."""
    return tuple(o for o in case.options if o.rdma) or case.options


def _waiting(case: Case, option: Option) -> float:
    return float(np.median(plain(case.latency().exposed_share[option.id])))


def _half_waiting(case: Case) -> Iterator[Caution]:
    """Half or more of the GPU time waits for the network on an option that is a rival; the one on which most does is named."""
    most = max(_rdma(case), key=lambda o: _waiting(case, o))
    if _waiting(case, most) >= _HALF:
        yield _caution(case, "half-waiting", choice=most.name, lost=case.figure(f"latency.exposed.{most.id}"))


def _idle(case: Case) -> Iterator[Caution]:
    """Less than half of the GPU time works; the largest loss is named, unless it is waiting that is doubted already."""
    option = _advised(case)
    if float(np.median(plain(case.tco().useful_share[option.id]))) >= _HALF or _waiting(case, option) >= _HALF:
        return
    losses = {
        "exposed": f"latency.exposed.{option.id}",
        "bring-up": f"tail_risk.bring_up_share.{option.id}",
        "tail": f"tail_risk.tail_share.{option.id}",
        "incidents": f"tail_risk.incident_share.{option.id}",
        "common": f"tail_risk.common_lost.{option.id}",
    }
    found = {cause: case.figure(id) for cause, id in losses.items()}
    worst = max(found, key=lambda cause: found[cause].value)
    yield _caution(
        case, f"idle-{worst}", choice=option.name, useful=case.figure(f"tco.useful.{option.id}"), lost=found[worst]
    )


def _fits_one_node(case: Case) -> Iterator[Caution]:
    """Serving over several nodes, of a model that one node holds."""
    job, per_node = case.latency().job, int(case.params.cluster.gpus_per_node)
    if job.kind == "inference-multi-node" and job.plan is not None and job.plan.pp == 1 and job.gpus > per_node:
        yield _caution(
            case,
            "fits-one-node",
            parameters=case.figure("param:workload.model_parameters_billion"),
            per_node=case.figure("param:cluster.gpus_per_node"),
        )


def _office(case: Case) -> Iterator[Caution]:
    """More power in an office than offices are supplied and cooled for."""
    if case.params.cluster.premises != "office":
        return
    drawn = case.tco().common.server.watts * _servers(case) / WATTS_PER_KW
    if float(np.median(plain(drawn))) > _threshold(case, "office-kw"):
        yield _caution(case, "office-power", power=drawn, most=case.figure("evidence:plausible-office-kw"))


def _links(case: Case) -> Iterator[Caution]:
    """Links far below what a server of that GPU usually carries."""
    cluster = case.params.cluster
    reference = gpu_type(case.inputs).links.total
    own, usual = float(cluster.links_per_gpu * cluster.link_gbits_per_s), case.inputs.central(reference)
    if own < _HALF * usual and not one_node(case.inputs, cluster.final_gpus):
        yield _caution(case, "thin-links", own=own, usual=case.figure(reference))


def _node_size(case: Case) -> Iterator[Caution]:
    """A node of a size in which its GPU is not sold."""
    cluster, kind = case.params.cluster, gpu_type(case.inputs)
    whole, per_node = kind.gpus_per_node, cluster.gpus_per_node
    planned, gpu = case.figure("param:cluster.gpus_per_node"), kind.name
    if whole > LARGEST_SERVER and per_node not in (whole, case.inputs.central(_TRAY)):
        assumed = "" if is_given(case.params, "cluster.gpus_per_node") else _ASSUMED
        tray = case.figure(_TRAY)
        yield _caution(case, "part-of-a-rack", assumed=assumed, per_node=planned, gpu=gpu, rack=whole, tray=tray)
    elif whole <= LARGEST_SERVER < per_node:
        yield _caution(case, "large-node", per_node=planned, gpu=gpu, server=whole)


def _not_ready(case: Case) -> Iterator[Caution]:
    """The client's date is missed more often than met: by every RDMA fabric, or by the advised one."""
    due, option = case.params.schedule.production_by, _advised(case)
    if due is None:
        return
    met = case.comparison.verdict.ready
    best = max(_rdma(case), key=lambda o: met[o.id])
    if met[best.id] < _HALF:
        yield _caution(
            case, "nobody-ready", day=told(due), best=best.name, most=case.figure(f"decision.ready.{best.id}")
        )
    elif met[option.id] < _HALF:
        most, ours = (case.figure(f"decision.ready.{o.id}") for o in (best, option))
        yield _caution(case, "advice-not-ready", day=told(due), best=best.name, most=most, choice=option.name, met=ours)


def _run_length(case: Case) -> Iterator[Caution]:
    """A run that outlasts the horizon, or one that the client's own days leave no time for."""
    tail, params = case.tail(), case.params
    planned = case.figure("tail_risk.planned")
    if tail.planned_days > params.money.horizon_months * DAYS_PER_MONTH:
        yield _caution(case, "run-beyond-horizon", planned=planned, horizon=case.figure("param:money.horizon_months"))
    if not is_given(params, "workload.run_days"):
        return
    late = {o.name: case.figure(f"tail_risk.late.{o.id}") for o in _rdma(case)}
    punctual = min(late, key=lambda name: late[name].value)
    if late[punctual].value > 1.0 - _threshold(case, "punctual-share"):
        yield _caution(case, "run-late", planned=planned, punctual=punctual, late=late[punctual])


def _run_and_tokens(case: Case) -> Iterator[Caution]:
    """Days and tokens of one training run that do not go together at the rate the memo itself expects."""
    workload = case.params.workload
    if workload.tokens_billion is None or workload.run_days is None or workload.kind not in TRAINING_KINDS:
        return
    days, by_tokens = float(workload.run_days), days_of_tokens(case.inputs)
    if max(days, by_tokens) > _threshold(case, "run-multiple") * min(days, by_tokens):
        yield _caution(case, "run-and-tokens", planned=case.figure("tail_risk.planned"), by_tokens=by_tokens)


def _late_production(case: Case) -> Iterator[Caution]:
    """Production that is due when most of the horizon has passed."""
    due, months = case.params.schedule.production_by, case.params.money.horizon_months
    if due is not None and (due - case.as_of).days > _HALF * months * DAYS_PER_MONTH:
        yield _caution(case, "late-production", day=told(due), horizon=case.figure("param:money.horizon_months"))


def _amounts(case: Case) -> Iterator[Caution]:
    """Values of an hour and of a day that no market would pay."""
    common = case.tco().common
    if common.value_basis == "stated":
        hour = case.inputs.money("param:money.gpu_hour_value")
        dearest, item = case.prices.dearest("gpu-hour", case.inputs.currency)
        if float(np.median(plain(hour))) > _threshold(case, "gpu-hour-multiple") * dearest > 0:
            yield _caution(case, "dear-hour", of=item, hour=hour, dearest=dearest)
    day, cost = common.delay_per_day, common.server.price * _servers(case)
    if float(np.median(plain(day))) > float(np.median(plain(cost))):
        yield _caution(case, "dear-delay", day=day, servers_cost=cost)


def _servers(case: Case) -> int:
    """Servers at the largest size of the plan."""
    cluster = case.params.cluster
    return int(-(-cluster.final_gpus // cluster.gpus_per_node))


def _exchange_rate(case: Case) -> Iterator[Caution]:
    """An override that moves an exchange rate by what would hold a new price back; the furthest moved is named."""
    book: dict[str, float] = {}
    moved: dict[str, float] = {}
    for override in case.params.overrides:
        item = override.id.removeprefix("price:")
        replaced = case.prices[item].replaced if item.startswith("fx-") and item in case.prices else None
        if replaced is not None and replaced.old is not None:
            book[item] = replaced.old.central
            ratio = case.inputs.central(override.id) / book[item]
            moved[item] = max(ratio, 1 / ratio) if ratio > 0 else np.inf
    item = max(moved, key=lambda name: moved[name], default="")
    if not item or moved[item] < rules().hold_at_ratio:
        return
    pair, stated = "/".join(item.upper().split("-")[1:]), case.inputs.central(f"price:{item}")
    yield _caution(case, "moved-rate", of=item, pair=pair, stated=stated, book=book[item])


def _worse_fit(case: Case) -> Iterator[Caution]:
    """A log of the client's own after which the model is further off that log than before; the worst is named."""
    measured = case.latency().measurements
    worse = {i: log for i, log in enumerate(measured.used) if log.error_after > log.error_before} if measured else {}
    if worse:
        i = max(worse, key=lambda i: worse[i].error_after - worse[i].error_before)
        before, after = (case.figure(f"latency.measured.{when}.{i}") for when in ("before", "after"))
        yield _caution(case, "worse-fit", log=worse[i].source, before=before, after=after)


def _unusual(case: Case) -> Iterator[Caution]:
    """Choices that do not go together often: a rent without a seller, tenants and the team."""
    params, cluster = case.params, case.params.cluster
    rented = case.inputs.team.rented
    if rented and not params.providers and not params.offers:
        yield _caution(case, "no-provider")
    if cluster.tenancy == "multi" and params.organisation.qos_expertise == "none" and not rented:
        yield _caution(case, "untuned-tenants")


def _offers(case: Case) -> Iterator[Caution]:
    """Offers with dates, sizes or prices that a seller would seldom mean."""
    seen: list[Offer] = []
    for offer in case.inputs.offers:
        first = case.prices.by_id(offer.prices[0])
        if first.stale:
            yield _doubt(case, offer, "offer-expired", expiry=first.expiry.isoformat())
        if offer.start is not None and offer.start < first.date:
            yield _doubt(case, offer, "offer-from-before", start=offer.start.isoformat(), day=first.date.isoformat())
        yield from _hand_over(case, offer)
        yield from _too_many(case, offer)
        yield from _asked_prices(case, offer)
        if any(_compared(case, offer) == _compared(case, one) for one in seen):
            yield _doubt(case, offer, "offer-twice")
        seen.append(offer)


def _doubt(case: Case, offer: Offer, id: str, **values: Any) -> Caution:
    """A caution about one offer, whose words bear its number: a memo's cautions call no two things by one name."""
    told, number = _caution(case, id, seller=offer.seller, **values), case.inputs.offers.index(offer)
    text = told.text
    for name in told.values:
        text = text.replace(f"{{{name}}}", f"{{{name}_{number}}}")
    return replace(told, text=text, values={f"{name}_{number}": value for name, value in told.values.items()})


def _compared(case: Case, offer: Offer) -> tuple[object, ...]:
    """What of an offer is compared, its prices as amounts."""
    amounts = tuple(case.inputs.central(p) for p in offer.prices)
    return (
        offer.seller,
        offer.fabric,
        offer.network,
        offer.size,
        tuple(r.months for r in offer.rungs),
        offer.start,
        amounts,
    )


def _hand_over(case: Case, offer: Offer) -> Iterator[Caution]:
    due = case.params.schedule.production_by
    if offer.start is not None and due is not None and offer.start > due:
        yield _doubt(case, offer, "offer-late", start=offer.start.isoformat(), day=told(due))


def _too_many(case: Case, offer: Offer) -> Iterator[Caution]:
    if offer.size > case.params.cluster.final_gpus:
        gpus = case.figure("param:cluster.gpus")
        yield _doubt(case, offer, "offer-larger", of=offer.id, size=offer.size, gpus=gpus)


def _asked_prices(case: Case, offer: Offer) -> Iterator[Caution]:
    """A commitment that costs more an hour than a shorter one, and an hour far from all that is known of that GPU."""
    asked = {r.months: case.figure(r.price) for r in offer.rungs}
    steps = sorted(asked)
    for short, long in pairwise(steps):
        if asked[long].value > asked[short].value:
            yield _doubt(case, offer, "offer-ladder", months=str(long), dear=asked[long], less=asked[short])
            break
    known = [p for p in case.prices.values() if p.unit == "gpu-hour" and not p.item.startswith("offer-")]
    own = [p for p in known if p.item.startswith(f"gpu-hour-{case.params.cluster.gpu}")] or known
    hours = sorted((p.price * case.prices.rate(p.currency, case.inputs.currency).rate, p.item) for p in own)
    if not hours or not asked:
        return
    most, times = max(asked.values(), key=lambda n: n.value), _threshold(case, "gpu-hour-multiple")
    least = min(asked.values(), key=lambda n: n.value)
    for doubted, (hour, item), name in ((most, hours[-1], "dear"), (least, hours[0], "cheap")):
        if doubted.value > times * hour if name == "dear" else doubted.value < hour / times:
            yield _doubt(case, offer, f"offer-{name}", of=item, asked=doubted, market=hour)


_FINDERS: tuple[Callable[[Case], Iterator[Caution]], ...] = (
    _half_waiting,
    _idle,
    _fits_one_node,
    _office,
    _links,
    _node_size,
    _not_ready,
    _run_length,
    _run_and_tokens,
    _late_production,
    _amounts,
    _exchange_rate,
    _worse_fit,
    _unusual,
    _offers,
)


def dates_of(case: Case) -> Dates:
    """The dates of a case that today's is held against."""
    priced: dict[date, list[str]] = {}
    for row in case.inputs.price_book.rows:
        priced.setdefault(row.date, []).append(row.item)
    days = tuple((day, len(items), items[0]) for day, items in priced.items())
    return Dates(case.as_of, int(_threshold(case, "clock-days")), days)
