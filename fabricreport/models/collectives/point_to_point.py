"""Point-to-point collectives of the library, AlltoAll and SendRecv: no algorithm to choose, protocol Simple."""

from __future__ import annotations

import numpy as np

from fabricreport.models.collectives.catalogue import Parameters
from fabricreport.models.collectives.nccl import BYTES_PER_US, Parts
from fabricreport.models.collectives.parameters import Array, Job


def alltoall_parts(sizes: Array, where: Job, parameters: Parameters) -> Parts:
    """Parts of an AlltoAll: each rank's bytes to far peers over its own NICs, to near ones over NVLink at once."""
    constants, rule = where.known.library, where.known.alltoall
    near, far = where.per_domain - 1.0, where.ranks - where.per_domain
    launch = constants.base_us["ring"]["simple"] + near * constants.nvlink_us["tree"]["ll"]
    inside = sizes * near / (where.ranks * BYTES_PER_US * where.gpu.nvlink_gbytes_per_s)
    if where.domains == 1:
        return Parts(launch + 0.0 * inside, 0.0 * inside, inside, 0.0 * inside)
    network = constants.net_us["ring"]["simple"] + where.step_us + far * rule.per_peer_us
    rate = where.bandwidth_share * (parameters.nic_efficiency * where.nic_gbytes_per_s * rule.nic_share)
    transfer = np.maximum(inside, sizes * far / (where.ranks * BYTES_PER_US * rate))
    return Parts(launch + 0.0 * transfer, network + where.fabric.simple_stall_us, transfer, 0.0 * transfer)


def sendrecv_parts(sizes: Array, where: Job, parameters: Parameters) -> Parts:
    """Parts of a SendRecv to the next rank: one step and one link, the NICs' if any pair crosses domains."""
    constants = where.known.library
    base = constants.base_us["ring"]["simple"]
    inside = sizes / (BYTES_PER_US * where.gpu.nvlink_gbytes_per_s)
    if where.domains == 1:
        launch = base + constants.nvlink_us["ring"]["simple"]
        return Parts(launch + 0.0 * inside, 0.0 * inside, inside, 0.0 * inside)
    network = constants.net_us["ring"]["simple"] + where.step_us + where.fabric.simple_stall_us
    rate = where.bandwidth_share * (parameters.nic_efficiency * where.nic_gbytes_per_s)
    transfer = sizes / (BYTES_PER_US * np.minimum(rate, where.gpu.nvlink_gbytes_per_s))
    return Parts(base + 0.0 * transfer, network, transfer, 0.0 * transfer)
