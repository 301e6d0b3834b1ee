"""What is compared: the fabrics proposed where a client names none, and offers, each written out or in a file of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from fabricreport.base.locations import did_you_mean
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.fields import IsoDate, Items, Line, RelativePath, Section, Unit
from fabricreport.books.messages import TAG
from fabricreport.books.options import Option, read_options

Currency = Literal["USD", "EUR", "GBP", "CHF", "CAD", "AUD", "JPY", "CNY", "INR", "SGD", "SEK", "NOK", "DKK"]

Price = Annotated[float, Unit("usd/gpu-hour")]
Share = Annotated[float, Unit("share", 0, 1)]
MaybePrice = Annotated[float | None, Unit("usd/gpu-hour")]
MaybeShare = Annotated[float | None, Unit("share", 0, 1)]


class Rung(Section):
    """A price for a longer commitment."""

    months: Annotated[int, Unit("month", 1, 240)] = Field(description="Months that the client commits to.")
    price_per_gpu_hour: Price = Field(description="Price of a GPU-hour for that commitment, in the offer's currency.")


class AddOn(Section):
    """Something that the price of a GPU-hour does not hold."""

    name: Line = Field(description="What it is.", examples=["InfiniBand tier"])
    price_per_gpu_hour: MaybePrice = Field(default=None, description="Its price for each GPU-hour.", examples=[0.2])
    price_per_month: Annotated[float | None, Unit("usd/month")] = Field(
        default=None, description="Or its price for each month.", examples=[500]
    )
    needed: bool = Field(
        default=True, description="Whether the work needs it; what it does not is told and not charged."
    )


class Credits(Section):
    """What the seller pays back when it falls short."""

    uptime: MaybeShare = Field(default=None, description="Uptime promised, as a share.", examples=[0.995])
    credit: MaybeShare = Field(
        default=None, description="Credit for falling short of it, as a share of the month's bill.", examples=[0.1]
    )
    cap: MaybeShare = Field(
        default=None, description="Most that is paid back, as a share of the month's bill.", examples=[0.3]
    )


class Quoted(Section):
    """One line of a bill of quantities."""

    item: Line = Field(description="Item of the price files.", examples=["switch-qm9700"])
    price: Annotated[float, Unit("usd")] = Field(description="Price of one, in the offer's currency.")
    quantity: Annotated[float, Unit("count", zero=True)] = Field(default=0, description="How many the seller counts.")


class Offer(Section):
    """What one seller asks for what."""

    seller: Line = Field(description="Who offers.", examples=["Example Cloud"])
    date: IsoDate = Field(description="Day of the offer.")
    expiry: IsoDate = Field(description="Last day on which the seller is bound by it.")
    fabric: Line = Field(
        description="The network between servers: an option that is compared, a family of fabrics, unknown or varies.",
        examples=["unknown"],
    )
    gpu: Line | None = Field(default=None, description="GPU type; the client's if left out.")
    size: Annotated[int | None, Unit("gpus", 1, 1_000_000)] = Field(
        default=None, description="GPUs that have to be taken; as many as the client asks for if left out."
    )
    currency: Currency = Field(default="USD", description="Currency of its amounts.")
    price_per_gpu_hour: MaybePrice = Field(
        default=None, description="Price of a GPU-hour; a renter's offer needs it or a ladder.", examples=[2.4]
    )
    term_months: Annotated[int | None, Unit("month", 1, 240)] = Field(
        default=None, description="Months that the client commits to at that price; none if left out.", examples=[12]
    )
    ladder: Annotated[tuple[Rung, ...], Items] = Field(
        default=(), max_length=20, description="Prices for longer commitments: a list of {months, price_per_gpu_hour}."
    )
    minimum_share: Share = Field(
        default=1.0, description="Share of the committed hours that is paid whether they are used or not."
    )
    start: IsoDate | None = Field(
        default=None, description="Day of the hand-over; the memo's date if left out.", examples=["2026-12-01"]
    )
    network: Literal["included", "add-on", "extra", "unknown"] = Field(
        default="unknown",
        description="Whether the network is in the price, in a needed add-on, to be paid for beside it, or not said.",
    )
    product: Line | None = Field(default=None, description="The product that has it.", examples=["H100 clusters"])
    topology: Line | None = Field(
        default=None, description="Topology as documented.", examples=["rail-optimised, non-blocking"]
    )
    generation: Line | None = Field(default=None, description="Generation of the network.", examples=["Quantum-2"])
    add_ons: Annotated[tuple[AddOn, ...], Items] = Field(
        default=(), max_length=20, description="What costs more beside the GPU-hour."
    )
    credits: Credits = Field(default_factory=Credits, description="What is paid back for downtime.")
    refuses: Annotated[tuple[Line, ...], Items] = Field(
        default=(), max_length=40, description="Terms and questions that the seller refuses, by id."
    )
    items: Annotated[tuple[Quoted, ...], Items] = Field(
        default=(), max_length=60, description="A bill of quantities, for a client that buys: {item, price, quantity}."
    )


class OfferFile(Section):
    """An offer in a file of its own."""

    file: RelativePath = Field(description="File with the offer, relative to the params file.")


def _kind_of(value: Any) -> str:
    named = "file" in value if isinstance(value, dict) else isinstance(value, OfferFile)
    return f"{TAG}file" if named else f"{TAG}offer"


Offered = Annotated[
    Annotated[Offer, Tag(f"{TAG}offer")] | Annotated[OfferFile, Tag(f"{TAG}file")], Discriminator(_kind_of)
]
"""An offer as the params hold it."""


MOST_WITHOUT_RDMA = 1024
"""GPUs above which a fabric without RDMA is proposed to nobody."""
MOST_PRETRAINED_WITHOUT_RDMA = 128
"""GPUs of pre-training above which one is compared for nobody, whoever names it."""


class Reason(StrEnum):
    """Why an option is not proposed."""

    MAKER = "sold with other GPUs"
    NOT_ON_SALE = "not on sale on the memo's date"
    SPEED = "for links of another speed"
    SIZE = "without RDMA, at more GPUs than it serves"


@cache
def shipped() -> Mapping[str, Option]:
    """The shipped options by id, in the order of their file."""
    return read_options()


def meant(option: str, known: Collection[str]) -> str:
    """The known option that somebody means by an unknown id: the nearest, or what has taken its place; '' for none."""
    former: Mapping[str, str] = read_yaml("former_options")
    nearest = did_you_mean(option, [*known, *(old for old, now in former.items() if now in known)])
    return former.get(nearest, nearest)


SHIPPED_OPTIONS: tuple[str, ...] = tuple(shipped())


def excluded(option: Option, final_gpus: int, pretrains: bool, as_of: date) -> Reason | None:
    """Why an option is compared for no client of this largest size, work and day; None where it may be."""
    if option.on_sale is not None and option.on_sale > as_of:
        return Reason.NOT_ON_SALE
    if pretrains and not option.rdma and final_gpus > MOST_PRETRAINED_WITHOUT_RDMA:
        return Reason.SIZE
    return None


def proposed(vendor: str, link_gbits_per_s: float, final_gpus: int, pretrains: bool, as_of: date) -> tuple[str, ...]:
    """Ids of the options for GPUs of this maker, links of this speed, the largest size planned and the day of the memo."""
    out = left_out(vendor, link_gbits_per_s, final_gpus, pretrains, as_of)
    return tuple(option for option in shipped() if option not in out)


def left_out(vendor: str, link_gbits_per_s: float, final_gpus: int, pretrains: bool, as_of: date) -> dict[str, Reason]:
    """The shipped options that are not proposed, each with the first reason.

    Of fabrics with RDMA those of the least speed that carries the GPUs' links, or else of the highest there is.
    """
    out = {o.id: excluded(o, final_gpus, pretrains, as_of) for o in shipped().values()}
    speeds = sorted(
        {o.link_gbits_per_s for o in shipped().values() if o.rdma and vendor in o.gpus_of and not out[o.id]}
    )
    speed = next((s for s in speeds if s >= link_gbits_per_s), speeds[-1])
    found: dict[str, Reason] = {}
    for option in shipped().values():
        if vendor not in option.gpus_of:
            found[option.id] = Reason.MAKER
        elif (reason := out[option.id]) is not None:
            found[option.id] = reason
        elif option.rdma and option.link_gbits_per_s != speed:
            found[option.id] = Reason.SPEED
        elif not option.rdma and final_gpus > MOST_WITHOUT_RDMA:
            found[option.id] = Reason.SIZE
    return found
