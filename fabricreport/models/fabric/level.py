"""The price of a switch at which two fabrics cost the same in switches alone: a check beside the whole comparison."""

from __future__ import annotations


def level_on_switches(switches_per_gpu: float, other_per_gpu: float, other_price: float) -> float:
    """The price of one fabric's switch at which its switches cost what another's do, per GPU, at the other's price.

    In the currency of the other's price; spares are the same share of both and cancel.
    """
    return other_price * (other_per_gpu / switches_per_gpu)
