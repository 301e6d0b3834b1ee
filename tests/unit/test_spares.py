"""One server more never undoes a plan: where their number divides badly a few GPUs stay idle, and count as lost."""

from __future__ import annotations

import bench
import pytest
from rows import rows

from fabricreport.case import Case
from fabricreport.provenance import plain

pytestmark = pytest.mark.slow


def of_size(gpus: int) -> Case:
    return bench.changed("example", cluster__gpus=gpus)


@rows("gpus", [256, 1024, 2048, 4096, 8192])
@rows("servers", [1, 3])
def test_a_few_servers_more_lose_no_more_than_themselves(gpus: int, servers: int) -> None:
    more = gpus + 8 * servers
    for option in ("infiniband-ndr", "rocev2-branded-400g"):
        before, after = (float(plain(of_size(n).chain.exposed[option]).mean()) for n in (gpus, more))
        assert after <= before + (more - gpus) / more + 0.01, option


def test_idle_gpus_are_counted_as_lost() -> None:
    work = of_size(8200).chain.exposure.jobs.shared[8200]
    assert (work.used, work.gpus) == (8192, 8200)
    assert work.busy == pytest.approx(8192 / 8200)


def test_a_stated_plan_uses_what_it_states() -> None:
    stated = of_size(1024).changed(workload__parallelism={"tp": 8, "pp": 4, "dp": 32})
    assert stated.chain.exposure.jobs.shared[1024].used == 1024
