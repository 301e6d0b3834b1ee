"""Whether a GPU that is bought is of an older generation than its maker has on sale by the memo's date."""

from __future__ import annotations

from fabricreport.books.gpu_type import GpuType
from fabricreport.books.gpus import gpu_types
from fabricreport.findings import Name, Named
from fabricreport.inputs import Inputs
from fabricreport.sections.client import gpu_type


def newer_gpu(given: Inputs) -> GpuType | None:
    """The type that the client's GPU is held against; None for a renter, whose GPUs are the provider's."""
    return None if given.team.rented else newer_than(gpu_type(given), given.as_of.year)


def newer_than(mine: GpuType, year: int) -> GpuType | None:
    """The newest type of a later generation that the same maker has sold since a year before this one.

    Only what is sold in the same form counts, a rack or a server. None where the type's own generation is the newest.
    """
    later = [
        gpu
        for gpu in gpu_types().known.values()
        if (gpu.vendor, gpu.rack) == (mine.vendor, mine.rack)
        and first_sold(mine.generation) < first_sold(gpu.generation)
        and gpu.on_sale < year
    ]
    return max(later, key=lambda gpu: gpu.on_sale, default=None)


def told(gpu: GpuType) -> Named:
    """A type of GPU as prose names it, with the year in which it was first sold."""
    return Named(gpu.name, gpu.id, since=Name(str(gpu.on_sale)))


def first_sold(generation: str) -> int:
    """The year in which the first GPU of a generation was sold."""
    return min(gpu.on_sale for gpu in gpu_types().known.values() if gpu.generation == generation)
