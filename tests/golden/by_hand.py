"""The example's bill worked out by hand: own count of pieces, own draws, own discounting, own losses.

Nothing here imports a model or a section of the package. The case is opened to read two things only: what the inputs
are (prices, evidence, params) and what the memo prints. Every money line of every option is then worked out from the
inputs as one would on a sheet of paper, one function a line; `test_by_hand.py` compares the means with the memo's.

In words: an owner buys 1,024 GPUs and a fabric, runs them for the horizon, sells what is left, and values the GPU time
that the fabric loses. Amounts are in today's money, so they are discounted at the real rate, month by month.

What is not recomputed is the exposed share of communication: its P5, P50 and P95 are taken as the memo prints them.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.case import Case, open_case

Draws = NDArray[np.float64]

DRAWS, SEED = 200_000, 8
HOURS_A_YEAR = 8760

# --- All that is read from the case ------------------------------------------------------------------------------


@cache
def the_case() -> Case:
    return open_case(Path(__file__).parents[2] / "params" / "example.yaml")


def uncertain(input_id: str) -> Any:
    """What the ledger states of a price or an evidence entry: its `kind`, and its `low`, `mode` and `high`."""
    return the_case().inputs.uncertain(input_id)


def param(key: str) -> float:
    """A number of the client's params."""
    return float(the_case().record(f"param:{key}")["value"])


def word(key: str) -> str:
    """A choice of the client's params."""
    return str(the_case().record(f"param:{key}")["text"])


def printed(figure: str) -> Any:
    """A figure of the memo: its `value`, and its `spread` of P5, P50 and P95 where it has one."""
    return the_case().figure(figure)


def printed_causes(option: str) -> list[str]:
    """The causes for which the memo prints an amount."""
    return [cause for cause in the_case().tco().labels if f"tco.{cause}.{option}" in the_case().tco().numbers]


# --- Drawing -----------------------------------------------------------------------------------------------------


def numbers(name: str) -> np.random.Generator:
    """Random numbers that depend on the name alone, not on what was drawn before."""
    return np.random.default_rng([SEED, zlib.crc32(name.encode())])


@cache
def draw(input_id: str) -> Any:
    """Draws of one input: PERT as a beta law, a 90 % interval as a lognormal through its ends, a range as uniform."""
    stated, random = uncertain(input_id), numbers(input_id)
    if stated.low == stated.high:
        return float(stated.mode)
    width = stated.high - stated.low
    if stated.kind == "pert":
        below, above = (stated.mode - stated.low) / width, (stated.high - stated.mode) / width
        return stated.low + width * random.beta(1 + 4 * below, 1 + 4 * above, DRAWS)
    if stated.kind == "interval":
        middle, ends = math.log(stated.low * stated.high) / 2, math.log(stated.high / stated.low) / 2
        return np.exp(random.normal(middle, ends / 1.6449, DRAWS))
    assert stated.kind == "range"
    return random.uniform(stated.low, stated.high, DRAWS)


def evidence(name: str) -> Any:
    """Draws of an evidence entry."""
    return draw(f"evidence:{name}")


@cache
def draw_together(group: str, *names: str) -> tuple[Any, ...]:
    """Draws of entries that move together: each keeps its own values, put in the order of a shared normal factor."""
    together = float(evidence("correlation-within-group"))
    shared = numbers(f"group {group}").standard_normal(DRAWS)
    found = []
    for name in names:
        own = numbers(f"order {name}").standard_normal(DRAWS)
        rank = np.argsort(np.argsort(math.sqrt(together) * shared + math.sqrt(1 - together) * own))
        found.append(np.sort(evidence(name))[rank])
    return tuple(found)


# --- The five options, as their data sheets have them ------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """`ports`: of a switch at the speed of a link. `cage`: links that share one cage, and so one transceiver, of it."""

    family: str
    ports: int
    links_per_server: int
    cage: int
    switch: str
    switch_watts: str
    nic: str
    nic_watts: str
    server_optic: str
    server_optic_watts: str
    switch_optic: str
    switch_optic_watts: str
    support: str
    priced_in: str = ""
    licence_per_link: str = ""
    licence_above: str = ""
    licence_per_switch: str = ""
    training: str = ""
    model: str = "turnkey"
    staff: str = ""
    rerouted: str = "flap-stall-seconds"


def at_400g(
    family: str,
    ports: int,
    switch: str,
    switch_watts: str,
    support: str,
    nic: str = "price:nic-connectx7-400g",
    nic_watts: str = "nic-connectx7-watts",
    **more: str,
) -> Option:
    """One 400G port for each of a server's eight GPUs, multimode optics, twin-port cages on the switch."""
    return Option(
        family, ports, 8, 2, switch, switch_watts, nic, nic_watts, "price:optic-400g-sr4", "optic-400g-sr4-watts",
        "price:optic-800g-2xsr4", "optic-800g-2xsr4-watts", support, **more,
    )  # fmt: skip


OPTIONS = {
    "infiniband-ndr": at_400g(
        "infiniband", 64, "price:switch-qm9700", "switch-qm9700-watts", "support-rate-nvidia-networking",
        licence_per_link="licence-ufm-per-endpoint-year", licence_above="manager-listed-above-gpus",
        training="training-infiniband-usd-per-engineer",
    ),
    "spectrum-x-400g": at_400g(
        "spectrum-x", 128, "price:switch-sn5610", "switch-sn5600-watts", "support-rate-nvidia-networking",
        "evidence:nic-supernic-400g-usd", "nic-supernic-400g-watts",
        licence_per_link="licence-ethernet-manager-per-endpoint-year", licence_above="manager-listed-above-gpus",
        training="training-rocev2-usd-per-engineer", staff="rocev2", rerouted="flap-stall-seconds-spectrum-x",
    ),
    "rocev2-branded-400g": at_400g(
        "rocev2", 128, "price:switch-sn5610", "switch-sn5600-watts", "support-rate-nvidia-networking",
        licence_per_link="licence-ethernet-manager-per-endpoint-year", licence_above="ufm-hard-requirement-gpus",
        training="training-rocev2-usd-per-engineer", model="branded",
    ),
    "rocev2-whitebox-400g": at_400g(
        "rocev2", 128, "price:switch-n9600-64od", "switch-tomahawk5-watts", "support-rate-whitebox",
        priced_in="price:fx-eur-usd",
        licence_per_link="licence-ethernet-manager-per-endpoint-year", licence_above="ufm-hard-requirement-gpus",
        licence_per_switch="licence-whitebox-nos-per-switch-year", training="training-rocev2-usd-per-engineer",
        model="whitebox",
    ),
}  # fmt: skip


# --- Counting pieces ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pieces:
    """What is installed; every cable is fibre and has a transceiver at each end, shared where a cage is."""

    servers: int
    nics: int
    switches: int
    server_optics: int
    switch_optics: int
    cables: int


def pieces(option: Option) -> Pieces:
    """Two tiers, nothing oversubscribed: half of each leaf's ports go down and half up, in equal bundles to the spines.

    leaves = links / (ports / 2); spines = as few as have the ports and divide a leaf's up-links evenly.
    """
    servers = math.ceil(param("cluster.gpus") / param("cluster.gpus_per_node"))
    links, half = servers * option.links_per_server, option.ports // 2
    assert option.ports < links <= option.ports * half, "one switch, or three tiers, are counted otherwise"
    leaves = math.ceil(links / half)
    up_links = leaves * half
    spines = next(s for s in range(math.ceil(up_links / option.ports), half + 1) if half % s == 0)
    at_leaves, at_both_ends = math.ceil(links / option.cage), 2 * math.ceil(up_links / option.cage)
    return Pieces(servers, links, leaves + spines, links, at_leaves + at_both_ends, links + up_links)


# --- Discounting -------------------------------------------------------------------------------------------------


def years() -> float:
    return param("money.horizon_months") / 12


def real_rate() -> float:
    """The client's nominal rate less inflation: (1 + nominal) / (1 + inflation) - 1."""
    return (1 + param("money.discount_rate_per_year")) / (1 + param("money.inflation_per_year")) - 1


def paid_monthly(per_year: Any) -> Any:
    """Value today of a yearly amount paid in twelfths at each month's end until the horizon."""
    months = range(1, int(param("money.horizon_months")) + 1)
    return per_year / 12 * sum((1 + real_rate()) ** (-month / 12) for month in months)


def received_at_the_end(amount: Any) -> Any:
    """Value today of an amount at the horizon."""
    return amount / (1 + real_rate()) ** years()


# --- What is bought ----------------------------------------------------------------------------------------------


def switch_price(option: Option) -> Any:
    """A switch in US dollars, at the uncertain rate where it is priced in euro."""
    return draw(option.switch) * (draw(option.priced_in) if option.priced_in else 1.0)


def servers(option: Option) -> Any:
    """Eight-GPU servers at the listed price, less the eight adapters in it, which are counted with the fabric."""
    return pieces(option).servers * (draw("price:server-h100-8gpu") - 8 * draw("price:nic-connectx7-400g"))


def switches(option: Option) -> Any:
    """Switches times their price."""
    return pieces(option).switches * switch_price(option)


def transceivers(option: Option) -> Any:
    """Transceivers at both ends of all cables."""
    count = pieces(option)
    return count.server_optics * draw(option.server_optic) + count.switch_optics * draw(option.switch_optic)


def optics_and_cables(option: Option) -> Any:
    """Transceivers and a fibre for every cable."""
    return transceivers(option) + pieces(option).cables * draw("price:fibre-mpo-trunk")


def adapters(option: Option) -> Any:
    """An adapter for every link of a server."""
    return pieces(option).nics * draw(option.nic)


def spares_and_installation(option: Option) -> Any:
    """A share of every kind of piece, rounded up, in stock; an installer's minutes for every cable; for InfiniBand the
    servers of its fabric manager."""
    count, share = pieces(option), evidence("spares-share")
    spares = (
        np.ceil(count.switches * share) * switch_price(option)
        + np.ceil(count.nics * share) * draw(option.nic)
        + np.ceil(count.server_optics * share) * draw(option.server_optic)
        + np.ceil(count.switch_optics * share) * draw(option.switch_optic)
        + np.ceil(count.cables * share) * draw("price:fibre-mpo-trunk")
    )
    labour = count.cables * evidence("cabling-minutes-per-cable") / 60 * evidence("cabling-usd-per-hour")
    needed = bool(option.licence_per_link) and param("cluster.gpus") > evidence(option.licence_above)
    manager = evidence("ufm-ha-nodes") * evidence("management-server-usd") if needed else 0.0
    return spares + labour + manager


# --- What it costs to run, and what is left ----------------------------------------------------------------------


def kilowatts(option: Option) -> Any:
    """Servers without their adapters, then adapters, switches and transceivers; fibre draws nothing."""
    count = pieces(option)
    watts = (
        count.servers * (evidence("server-h100-8gpu-watts") - 8 * evidence("nic-connectx7-watts"))
        + count.nics * evidence(option.nic_watts)
        + count.switches * evidence(option.switch_watts)
        + count.server_optics * evidence(option.server_optic_watts)
        + count.switch_optics * evidence(option.switch_optic_watts)
    )
    return watts / 1000


def power_and_cooling(option: Option) -> Any:
    """Kilowatts at the plug, every hour of the year, times the PUE and the price of a kilowatt-hour."""
    return paid_monthly(kilowatts(option) * HOURS_A_YEAR * evidence("pue") * draw("price:electricity"))


def space(_: Option) -> Any:
    """Nothing: own premises are taken as paid for."""
    return paid_monthly(0.0)


def licences(option: Option) -> Any:
    """A yearly licence for every link that the fabric manager manages, above the size that lists it, and one for every
    switch whose system is sold apart."""
    count = pieces(option)
    needed = bool(option.licence_per_link) and param("cluster.gpus") > evidence(option.licence_above)
    managed = count.nics * evidence(option.licence_per_link) if needed else 0.0
    systems = count.switches * evidence(option.licence_per_switch) if option.licence_per_switch else 0.0
    return paid_monthly(managed + systems)


def support(option: Option) -> Any:
    """A yearly share of the price: of the switches at their maker's rate, of servers and adapters at the server's."""
    housed = servers(option) + adapters(option)
    return paid_monthly(switches(option) * evidence(option.support) + housed * evidence("support-rate-servers"))


def staff_and_training(option: Option) -> Any:
    """People for a fabric of 129 to 1,024 GPUs (never fewer than a small one takes) times the fabric's factor, more or
    fewer by effort within a limit of posts, and what one costs to employ; and training of the client's engineers, once."""
    family = option.staff or option.family
    people = np.maximum(evidence("fabric-fte-small"), evidence("fabric-fte-mid"))
    people = people * evidence(f"fabric-fte-factor-{family}-medium") * of_switches(option)
    most = evidence("fabric-fte-most-apart")
    people = people + np.clip(people * (effort(option, "staff") - 1.0), -most, most)
    training = param("organisation.network_engineers") * evidence(option.training)
    return paid_monthly(people * evidence("network-architect-pay") * evidence("pay-loading")) + training


def residual(option: Option) -> Any:
    """What servers and fabric fetch at the end: each keeps a share of its value every year. Fibre is worth nothing."""
    fabric = switches(option) + transceivers(option) + adapters(option)
    left = servers(option) * evidence("retention-per-year-servers") ** years()
    return -received_at_the_end(left + fabric * evidence("retention-per-year-fabric") ** years())


# --- Lost GPU time -----------------------------------------------------------------------------------------------


def of_switches(option: Option) -> Any:
    """How much more the switches beyond the first ask for than those of the design the figures are stated for, 32 leaves
    and 16 spines for 1,024 GPUs; both have two tiers."""
    reference = (32 + 16 - 1) * param("cluster.gpus") / 1024
    return ((pieces(option).switches - 1) / reference) ** evidence("fabric-complexity-exponent")


def size_factor(option: Option) -> Any:
    """How much longer bring-up and how many more misconfigurations than at the size and on the switches they are stated
    for."""
    times = param("cluster.gpus") / evidence("fabric-complexity-reference-gpus")
    return times ** evidence("fabric-complexity-exponent") * of_switches(option)


def effort(option: Option, part: str) -> Any:
    """How much more or less of a part a fabric takes than one bought from one maker, by a team without its kind; the
    client's skill is the one for which entries are stated."""
    assert word("organisation.qos_expertise") == "some"
    kind = "infiniband" if option.family == "infiniband" else "ethernet"
    estate = word(f"organisation.existing_{kind}")
    times = 1.0 if estate == "none" else evidence(f"estate-{estate}-effort")
    return times if option.model == "turnkey" else times * evidence(f"operating-model-{option.model}-{part}")


def bring_up_share(option: Option) -> Any:
    """Weeks until stable, in which only part of the throughput is there, over the horizon."""
    weeks = evidence(f"weeks-to-stable-{option.family}") * size_factor(option) * effort(option, "bring-up")
    return weeks * 7 * 24 * (1 - evidence("bring-up-productivity")) / (years() * HOURS_A_YEAR)


def exposed_share(name: str) -> Draws:
    """Time waited for communication over the step: P5, P50, P95 as the memo prints them, in the weights .185, .63, .185
    that give back mean and variance of most laws (Keefer and Bodily 1983)."""
    spread = printed(f"latency.exposed.{name}").spread
    return numbers(f"exposed {name}").choice([spread.p5, spread.p50, spread.p95], DRAWS, p=[0.185, 0.63, 0.185])


def slow_servers() -> Any:
    """What the slowest of all workers adds to a step on a perfect network, over the step as planned.

    A worker's own noise has a standard deviation s; if it is Gumbel, with scale b = s sqrt(6) / pi, the slowest of N is
    b ln N slower than one. With m workers on slow nodes, slower by p, it is b ln(N - m + m exp(p / b)) slower; slow nodes
    are drawn run by run and stay for part of it.
    """
    gpus, per_node = param("cluster.gpus"), param("cluster.gpus_per_node")
    own = evidence("step-jitter-share") * np.sqrt(1 - evidence("step-jitter-correlation"))
    scale = own * math.sqrt(6) / math.pi
    slowest = scale * math.log(gpus)
    nodes = numbers("slow nodes").binomial(int(gpus / per_node), evidence("slow-node-share"))
    slow = np.maximum(nodes, 1) * per_node
    # the larger exponential is taken out of the logarithm, so that none of them overflows
    ratio = evidence("slow-node-penalty") / scale
    with_slow = scale * (ratio + np.log(slow + (gpus - slow) * np.exp(-ratio)))
    waiting = np.where(nodes > 0, with_slow - slowest, 0.0) * evidence("slow-node-presence")
    timed = evidence("kernel-efficiency-timed-gpus")  # step times taken on so many GPUs hold their jitter already
    return waiting + np.maximum(slowest - scale * np.log(timed), 0.0)


def tail_share(option: Option, exposed: Draws) -> Any:
    """What stalls of everybody and colliding paths add to a step that waits for slow servers, over the step so stretched.

    Collisions take a share c of bandwidth: waiting grows by 1 / (1 - c).
    """
    untuned = effort(option, "tuning")
    collisions = exposed * (1 / (1 - evidence(f"fat-tree-contention-{option.family}") * untuned) - 1)
    added = evidence(f"shared-stall-share-{option.family}") * untuned + collisions
    return added / (1 + slow_servers() + added)


def checkpoint_hours() -> tuple[Any, Any]:
    """(hours of work between checkpoints, hours that one takes).

    The interval is the best one for the faults that no network causes, M hours apart, when a checkpoint takes d hours:
    Daly's (2006) sqrt(2 d M) (1 + sqrt(d / 2M) / 3) - d.
    """
    apart = HOURS_A_YEAR / (param("cluster.gpus") * evidence("common-interruptions-per-gpu-year"))
    write = evidence("checkpoint-write-seconds") / 3600
    return np.sqrt(2 * write * apart) * (1 + np.sqrt(write / (2 * apart)) / 3) - write, write


def hours_of_a_fault() -> Any:
    """Hours of the whole job that a fault costs which ends it: detection, restart and the work since the last checkpoint."""
    interval, write = checkpoint_hours()
    return evidence("detection-hours") + evidence("restart-hours") + (interval + write) / 2


def spare_nodes() -> float:
    """Nodes that stand by, in no plan."""
    return float(printed("latency.spare_nodes").value)


def hours_without_a_node(stops: Any) -> Any:
    """Hours of the whole job that a fault costs for want of a node, of `stops` a year.

    Nodes out at once are Poisson; a fault that takes one out waits if all spares are out. Of nodes left out beside them, as
    many as make waits and nodes left out cost least.
    """
    leaving = evidence("node-fault-share")
    away = stops * leaving * evidence("node-repair-hours") / HOURS_A_YEAR
    chances = [np.exp(-away)]
    for k in range(1, 40):
        chances.append(chances[-1] * away / k)
    nodes = param("cluster.gpus") / param("cluster.gpus_per_node")
    costs = []
    for more in range(30):
        none_left = 1 - sum(chances[: int(spare_nodes()) + more])
        costs.append(leaving * evidence("node-wait-hours") * none_left + more * HOURS_A_YEAR / (nodes * stops))
    return np.min(costs, axis=0)


def fault_share() -> Any:
    """Time lost to faults of GPUs, hosts and software, and to the nodes that stand by for them."""
    stops = param("cluster.gpus") * evidence("common-interruptions-per-gpu-year")
    lost = stops * (hours_of_a_fault() + hours_without_a_node(stops)) / HOURS_A_YEAR
    idle = spare_nodes() * param("cluster.gpus_per_node") / param("cluster.gpus")
    return 1 - (1 - np.minimum(lost, 0.9)) * (1 - idle)


def interruption_share(option: Option) -> Any:
    """Faults of the fabric an hour, times the hours of the whole job that each costs.

    A fault that strikes during the recovery from another cuts that short, so what counts is a share of the time that other
    faults leave. A misconfiguration slows the job until it is found, too. What a job survives stops it until traffic flows
    another way.
    """
    count = pieces(option)
    flaps, failures = draw_together("link-hardware", "link-flaps-per-link-year", "link-failures-per-link-year")
    faults = evidence(f"config-faults-{option.family}-per-year") * size_factor(option) * effort(option, "faults")
    ends_flap, ends_failure = evidence("link-flap-interrupts-share"), evidence("link-failure-interrupts-share")
    survived = count.nics * (flaps * (1 - ends_flap) + failures * (1 - ends_failure))
    switches_survived = count.switches * evidence("switch-failures-per-switch-year")
    switches_survived = switches_survived * (1 - evidence("switch-failure-interrupts-share"))
    fabric_stops = (
        count.nics * flaps * ends_flap
        + count.nics * failures * ends_failure
        + count.switches * evidence("switch-failures-per-switch-year") * evidence("switch-failure-interrupts-share")
        + faults * evidence("config-fault-interrupts-share")
    )
    slow_hours = faults * evidence("config-fault-slowdown") * evidence("config-fault-hours-to-find")
    slow_hours = slow_hours + (survived + switches_survived) * evidence(option.rerouted) / 3600
    if option.family == "infiniband":
        manager = param("cluster.subnets") * evidence("subnet-manager-faults-per-year")
        fabric_stops = fabric_stops + manager
        slow_hours = slow_hours + manager * evidence("subnet-manager-slowdown") * evidence("subnet-manager-slow-hours")
    return (fabric_stops * hours_of_a_fault() + slow_hours) / HOURS_A_YEAR


@cache
def lost_time(name: str) -> dict[str, float]:
    """Mean of lost GPU time by cause, valued at the client's figure for a GPU-hour.

    What no network changes comes first, on a perfect network; the network's causes act on the time that this leaves. Of
    either kind each acts on the time that the others leave, so together they lose 1 - product of (1 - share). That is split
    in proportion to -ln(1 - share), which does not depend on which cause comes first.
    """
    option, exposed = OPTIONS[name], exposed_share(name)
    slow, (interval, write) = slow_servers(), checkpoint_hours()
    faults = 1 - (1 - fault_share()) * (1 - write / (interval + write))
    common = {"lost_servers": slow / (1 + slow), "lost_faults": faults}
    network = {
        "lost_bring_up": bring_up_share(option),
        "lost_communication": exposed,
        "lost_tail": tail_share(option, exposed),
        "lost_interruptions": interruption_share(option),
    }
    all_time = paid_monthly(param("cluster.gpus") * HOURS_A_YEAR * param("money.gpu_hour_value"))
    found, left = {}, np.ones(DRAWS)
    for shares in (common, network):
        logs = {cause: -np.log(1 - share) for cause, share in shares.items()}
        together = np.add.reduce(list(logs.values()))
        lost = all_time * left * (1 - np.exp(-together))
        found |= {cause: float(np.mean(lost * log / together)) for cause, log in logs.items()}
        left = left * np.exp(-together)
    return found


# --- The bill ----------------------------------------------------------------------------------------------------

MONEY: dict[str, Callable[[Option], Any]] = {
    "servers": servers,
    "switches": switches,
    "optics_and_cables": optics_and_cables,
    "adapters": adapters,
    "spares_and_installation": spares_and_installation,
    "power_and_cooling": power_and_cooling,
    "space": space,
    "licences": licences,
    "support": support,
    "staff_and_training": staff_and_training,
    "residual": residual,
}
LOST_TIME = ("lost_servers", "lost_faults", "lost_bring_up", "lost_communication", "lost_tail", "lost_interruptions")


@cache
def money(name: str) -> dict[str, float]:
    """Mean of each money line of an option."""
    return {line: float(np.mean(worked_out(OPTIONS[name]))) for line, worked_out in MONEY.items()}
