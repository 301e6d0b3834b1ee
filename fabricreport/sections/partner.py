"""What NVIDIA's requirement on its cloud partners allows: a rule of contract, which no price answers."""

from __future__ import annotations

from fabricreport.books.families import families
from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.sections.client import one_node

REQUIREMENT = "evidence:nvidia-cloud-partner-networks"
"""The entry of the library that tells what is allowed."""


def allowed_by_partner_rule(option: Option) -> bool:
    """Whether a cloud partner may run an option of its family between nodes."""
    return families()[option.family].cloud_partner


def barred(given: Inputs) -> tuple[str, ...]:
    """Ids of the options that the requirement takes out of this client's advice."""
    return tuple(o.id for o in given.options if bars(given, o))


def bars(given: Inputs, option: Option) -> bool:
    """Whether it takes an option out, compared or not; a single node has nothing between nodes."""
    bound = given.params.organisation.nvidia_cloud_partner and not one_node(given, int(given.params.cluster.final_gpus))
    return bound and not allowed_by_partner_rule(option)
