"""Faults that only params and books together show, found before any analysis: impossible clusters, unfit offers and overrides.

Each is one of the rules of `scenario/rules.py`. The models are asked themselves, so that what is accepted here is
what they can carry: the switches of every option at every size, and the memory for the client's model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fabricreport.base.bounds import Bound, bound_of, price_bound
from fabricreport.base.errors import Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.books.options import Option
from fabricreport.books.quotes import items_of
from fabricreport.books.sellers import UNNAMED, Offer
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import endpoints_for, shape
from fabricreport.models.fabric.topology import capacity
from fabricreport.scenario import Reference, dump_uncertain, meant
from fabricreport.sections.client import barred, job_sizes, largest_job, mix_of, one_node, whole_nodes
from fabricreport.sections.latency import inputs as latency_inputs
from fabricreport.sections.rents import option_of
from fabricreport.sections.requirements import unanswered

if TYPE_CHECKING:
    from fabricreport.scenario import Cluster


def contradictions(given: Inputs) -> Iterator[Problem]:
    """One problem for each option that cannot be had or built and for a model that finds no room."""
    yield from _of_other_gpus(given)
    yield from _beyond_switches(given)
    yield from _cut(given)
    yield from _without_room(given)
    yield from _undivided(given)
    yield from _barred(given)


def sizes(given: Inputs) -> dict[str, int]:
    """Every size of the cluster by the key that states it, the start first."""
    cluster = given.params.cluster
    later = {f"cluster.trajectory[{i}].gpus": int(stage.gpus) for i, stage in enumerate(cluster.trajectory)}
    return {"cluster.gpus": int(cluster.gpus), **later}


def most_gpus(cluster: Cluster, option: Option) -> int:
    """The GPUs, in whole nodes, that the option's switches can connect in the client's topology."""
    arguments = shape(cluster, option)
    links = int(arguments["gpus_per_node"]) * int(arguments["links_per_gpu"])
    held = capacity(option.radix, float(cluster.oversubscription), str(cluster.topology))
    return held // links * int(cluster.gpus_per_node)


def _of_other_gpus(given: Inputs) -> Iterator[Problem]:
    """Options that are sold with the GPUs of other makers."""
    cluster = given.params.cluster
    for option in given.options:
        if cluster.vendor not in option.gpus_of:
            yield Problem(
                f"is sold with GPUs of {' or '.join(option.gpus_of)}, and the {cluster.gpu} is made by {cluster.vendor}",
                key=given.option_key(option.id),
                value=option.id,
                remedy="Leave it out of the options, or correct cluster.gpu.",
                rule="option-of-other-gpus",
            )


def _beyond_switches(given: Inputs) -> Iterator[Problem]:
    """Options whose switches cannot connect the largest cluster planned."""
    cluster = given.params.cluster
    key, whole = list(sizes(given).items())[-1]
    largest = cluster.networks(whole)[0]
    if one_node(given, largest):
        return
    for option in given.options:
        most = most_gpus(cluster, option)
        if endpoints_for(cluster, option, whole_nodes(given, largest)) > endpoints_for(cluster, option, most):
            yield Problem(
                f"is more than the switches of {option.id} can connect, {most:,} GPUs in this topology",
                key=key,
                value=str(whole),
                remedy=f"Leave {option.id} out of the options, or lower the number of GPUs or of links per GPU.",
                rule="switches-cannot-connect",
            )


def _barred(given: Inputs) -> Iterator[Problem]:
    """A requirement of contract that leaves nothing to compare."""
    left = len(given.options) - len(barred(given))
    if barred(given) and left < 2:
        yield Problem(
            f"leaves {left} of the options: {', '.join(barred(given))} may not join a cloud partner's nodes",
            key="organisation.nvidia_cloud_partner",
            value="true",
            remedy="Add options of InfiniBand or Spectrum-X, or write false.",
            rule="partner-rule-leaves-too-few",
        )


def _cut(given: Inputs) -> Iterator[Problem]:
    """One job on all GPUs of sites that no network joins."""
    cluster, kind = given.params.cluster, str(given.params.workload.kind)
    if len(cluster.networks(cluster.final_gpus)) > 1 and not job_sizes(given) and not kind.startswith("inference"):
        yield Problem(
            "leaves no network for one job on all GPUs, and no sizes of smaller jobs are stated",
            key="cluster.sites_joined",
            value="false",
            remedy=f"Say in workload.jobs what runs within a site, of {cluster.site_gpus} GPUs or fewer, or write true.",
            rule="sites-apart-cut-the-job",
        )


def _without_room(given: Inputs) -> Iterator[Problem]:
    """A model whose weights alone exceed the memory of the GPUs of some stage."""
    workload = given.params.workload
    for key, gpus in sizes(given).items():
        job = largest_job(given, gpus)
        if not latency_inputs.weights_fit(given, job):
            memory = latency_inputs.memory_of(given)
            yield Problem(
                f"its weights alone do not fit into {job:,} GPUs of {memory:g} GB ({key})",
                key="workload.model_parameters_billion",
                value=f"{workload.model_parameters_billion:g}",
                remedy="Write a smaller model or more GPUs.",
                rule="model-does-not-fit",
            )
            return


def _undivided(given: Inputs) -> Iterator[Problem]:
    """A stated plan whose replica does not divide a job that the cluster runs."""
    plan = given.params.workload.parallelism
    if plan == "choose" or given.params.workload.kind not in latency_inputs.TRAINING_KINDS:
        return
    replica = plan.tp * plan.pp * plan.cp
    for key, gpus in sizes(given).items():
        for job, _ in mix_of(given, gpus):
            if job % replica:
                yield Problem(
                    f"a replica of {replica} GPUs does not divide a job of {job:,} ({key})",
                    key="workload.parallelism",
                    value=f"{plan.tp} x {plan.pp} x {plan.cp}",
                    remedy="Correct tp, pp or cp, or the sizes of the jobs, or write `choose`.",
                    rule="plan-does-not-divide-jobs",
                )
                return


def unfit_offers(given: Inputs) -> Iterator[Problem]:
    """One problem for each offer of a fabric that is not compared, and for each piece that its option does not take."""
    for offer in given.offers:
        option = option_of(given, offer.fabric)
        if option is None and (offer.fabric not in UNNAMED or not given.team.rented):
            compared = ", ".join(o.id for o in given.options)
            yield _at(
                offer,
                "fabric",
                "no option of it is compared",
                offer.fabric,
                f"Add one to the options, or write one of those compared: {compared}.",
                rule="offer-of-no-option",
            )
        elif option is not None:
            known = tuple(items_of(option))
            for item in offer.items:
                if item not in known:
                    remedy = f"{option.id} is priced by {', '.join(known)}."
                    message = f"is no item that {option.id} takes"
                    yield _at(offer, "items", message, item, remedy, did_you_mean(item, known))


def _at(
    offer: Offer, key: str, message: str, value: str, remedy: str, suggestion: str = "", *, rule: str = ""
) -> Problem:
    """A problem at a key of an offer, in its own file or in the params."""
    place = f"{offer.key}.{key}" if offer.key else key
    return Problem(message, offer.file, offer.lines.get(key), place, value, remedy, suggestion, rule)


def impossible_overrides(given: Inputs) -> Iterator[Problem]:
    """Overrides that no entry of that unit could have.

    An id that no book holds is passed over: that is told elsewhere. Each problem has the key of the params, no line.
    """
    for number, override in enumerate(given.params.overrides):
        bound = _bound_of_entry(given, override.id)
        if bound is None or isinstance(override.value, Reference):
            continue
        figure = dump_uncertain(override.value)
        if fault := bound.fault(figure):
            shown = (
                ", ".join(f"{k}: {v:g}" for k, v in figure.items()) if isinstance(figure, Mapping) else f"{figure:g}"
            )
            remedy = "The figure is in the unit of the entry: correct it or its unit."
            yield Problem(fault, key=f"overrides[{number}].value", value=shown, remedy=remedy)


def _bound_of_entry(given: Inputs, entry_id: str) -> Bound | None:
    """What the entry with this id may be; None for one that no book holds or that is text."""
    kind, _, name = entry_id.partition(":")
    if kind == "price":
        found = given.price_book.terms(name)
        return None if found is None else price_bound(*found)
    if kind == "contested":
        return bound_of(given.contested(name).unit) if name in given.quantities else None
    entry = given.evidence.get(name)
    return None if entry is None or entry.kind == "text" else bound_of(entry.unit)


def faults_of(given: Inputs) -> list[Problem]:
    """Every fault, each with its key of the params: overrides no entry could have, options nobody knows, references
    that nothing answers, a fabric that cannot be built."""
    unknown = [*impossible_overrides(given), *_unknown_options(given)]
    if bare := unknown or [*_too_few(given)]:
        return bare
    return [*unanswered(given), *contradictions(given), *unfit_offers(given)]


def excluded_words(given: Inputs) -> tuple[str, ...]:
    """Each stated option that is not compared, with why."""
    return tuple(f"{option} is not compared: {reason.value}" for option, reason in given.excluded.items())


def _too_few(given: Inputs) -> Iterator[Problem]:
    """Stated options of which too few can be compared."""
    left = len(given.options)
    if given.excluded and left < (1 if one_node(given, int(given.params.cluster.final_gpus)) else 2):
        yield Problem(
            f"leaves {left} to compare: {'; '.join(excluded_words(given))}",
            key="options",
            value=", ".join(given.params.options),
            remedy="Add options with RDMA that are on sale, or leave out options to have them proposed.",
            rule="nothing-to-compare",
        )


def _unknown_options(given: Inputs) -> Iterator[Problem]:
    for number, option_id in enumerate(given.params.options):
        if option_id not in given.all_options:
            yield Problem(
                "is no option",
                key=f"options[{number}]",
                value=option_id,
                suggestion=meant(option_id, given.all_options),
                remedy=f"Known: {', '.join(given.all_options)}; add your own as params/options/*.yaml.",
            )
