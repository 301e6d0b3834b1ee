"""The fabrics that are proposed where a client names none, and those that are compared for nobody, named or not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from enum import StrEnum
from functools import cache

from fabricreport.books.options import Option, read_options
from fabricreport.evidence import read_yaml
from fabricreport.located import did_you_mean

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
