"""Links between the sites of one job, and what its exchanges take over them: bytes over the rate, and light in the fibre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_BITS_PER_BYTE = 8.0
_GIGA = 1e9
_US = 1e-6


@dataclass(frozen=True)
class SiteLinks:
    """`sites` that a job spans, each linked to the others at `gbits_per_s` each way; `delay_us` is of one way."""

    sites: int
    gbits_per_s: float
    delay_us: Any

    def allreduce_s(self, size_bytes: float) -> Any:
        """Seconds to sum `size_bytes`, which every site holds summed over its own GPUs, over the sites.

        A ring of sites, as NCCL rings are (Patarasuk and Yuan 2009): in 2 (n - 1) turns each site passes on an n-th. What
        gathers the parts within a site is in the step already. Nothing for one site.
        """
        turns = 2 * (self.sites - 1)
        sent_s = turns / self.sites * size_bytes * _BITS_PER_BYTE / (self.gbits_per_s * _GIGA)
        return sent_s + turns * self.delay_us * _US
