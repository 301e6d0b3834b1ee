"""Rules that join several keys: a plan that does not multiply out, growth that shrinks, an expired override.

Each rule is a generator of `Finding`s over a valid `Params`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from fabricreport.base.locations import KeyPath
from fabricreport.base.project import has_a_meaning
from fabricreport.base.vocabulary import Acquisition, Question
from fabricreport.books.equipment import gpu_types
from fabricreport.books.fields import RESERVED_NAMES
from fabricreport.scenario.brand import colour_findings
from fabricreport.scenario.candidates import Offer, meant
from fabricreport.scenario.rules import Finding, offer_findings
from fabricreport.scenario.schema import OF_OURS, SHIPPED_OPTIONS, Parallelism, Params

FIRST_YEAR, LAST_YEAR = 2020, 2100
_SHARES_WITHIN = 0.001
_GBITS_PER_TBIT = 1000.0
_RESERVED = RESERVED_NAMES | {"latest", "archive", "cache", "tmp"}


def slugify(name: str, of: str = "client") -> str:
    """A folder name of 1 to 60 characters of a-z, 0-9 and hyphens; never empty, never a reserved name.

    A name without any Latin letter or digit becomes what it is of, and eight hex digits of its hash: `client-1f3870be`.
    """
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    slug = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:60].strip("-")
    if not slug:
        return f"{of}-{sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return f"{slug}-{of}" if slug in _RESERVED else slug


def new_slug(name: str) -> str:
    """The folder name of a new client: `slugify`'s, told apart from folders that mean something else."""
    slug = slugify(name)
    return f"client-{slug}" if has_a_meaning(slug) else slug


def client_slug(params: Params) -> str:
    """The folder name of the client's editions: the slug given, or one made from the name."""
    return params.client.slug or slugify(params.client.name)


def findings(params: Params, *, extra_options: Iterable[str] = ()) -> list[Finding]:
    """Every broken rule. `extra_options` are ids of fabrics that the client's own data adds to the shipped ones."""
    known = (*SHIPPED_OPTIONS, *extra_options)
    return [finding for rule in _RULES for finding in rule(params)] + list(_options(params, known))


def _as_of(params: Params) -> Iterator[Finding]:
    if not FIRST_YEAR <= params.as_of.year <= LAST_YEAR:
        yield Finding(
            "memo-date",
            ("as_of",),
            f"is outside the years {FIRST_YEAR} to {LAST_YEAR}",
            params.as_of.isoformat(),
            "Write the date of the memo, YYYY-MM-DD.",
        )


def _production(params: Params) -> Iterator[Finding]:
    due = params.schedule.production_by
    if due is not None and due <= params.as_of:
        yield Finding(
            "production-before-memo",
            ("schedule", "production_by"),
            f"is not after the memo's date, {params.as_of.isoformat()}",
            due.isoformat(),
            "Write a later day, or leave the key out: then no date binds.",
            uses=(("as_of",),),
        )


def _client(params: Params) -> Iterator[Finding]:
    slug, given = client_slug(params), params.client.slug is not None
    if slug in _RESERVED:
        yield Finding(
            "reserved-slug", ("client", "slug"), "is a reserved name", slug, f"Write for example '{slug}-client'."
        )
    elif has_a_meaning(slug):
        yield Finding(
            "folder-of-others",
            ("client", "slug" if given else "name"),
            f"the client's own folder would be {slug}/, which means something else beside the params",
            slug if given else params.client.name,
            f"Write for example client.slug: client-{slug}.",
        )


def _growth(params: Params) -> Iterator[Finding]:
    cluster = params.cluster
    month, gpus, before = 0, cluster.gpus, "cluster.gpus"
    for i, stage in enumerate(cluster.trajectory):
        at = ("cluster", "trajectory", i)
        if stage.month <= month:
            yield Finding(
                "stages-out-of-order",
                (*at, "month"),
                f"months must rise, and month {month} comes before",
                stage.month,
                "Sort the stages by month.",
            )
        if stage.gpus < gpus:
            yield Finding(
                "cluster-shrinks",
                (*at, "gpus"),
                f"the cluster shrinks: {before} is {gpus}",
                stage.gpus,
                "Growth may pause but not shrink; correct one of the two.",
                uses=(("cluster", "gpus"),),
            )
        if stage.month > params.money.horizon_months:
            yield Finding(
                "stage-beyond-horizon",
                (*at, "month"),
                f"lies beyond money.horizon_months ({params.money.horizon_months})",
                stage.month,
                "Lengthen the horizon or drop the stage.",
                uses=(("money", "horizon_months"),),
            )
        month, gpus, before = stage.month, max(gpus, stage.gpus), f"cluster.trajectory[{i}].gpus"


def _whole_nodes(params: Params) -> Iterator[Finding]:
    cluster = params.cluster
    per_node = cluster.gpus_per_node
    sizes: list[tuple[KeyPath, int]] = [(("cluster", "gpus"), cluster.gpus)]
    sizes += [(("cluster", "trajectory", i, "gpus"), s.gpus) for i, s in enumerate(cluster.trajectory)]
    for path, gpus in sizes:
        if gpus > per_node and gpus % per_node:
            below = gpus // per_node * per_node
            yield Finding(
                "part-of-a-node",
                path,
                f"is not a whole number of nodes of {per_node} GPUs",
                gpus,
                f"Write {below} or {below + per_node}, or correct cluster.gpus_per_node.",
                uses=(("cluster", "gpus_per_node"),),
            )


def _sites(params: Params) -> Iterator[Finding]:
    cluster = params.cluster
    servers = -(-cluster.final_gpus // cluster.gpus_per_node)
    if cluster.sites > servers:
        yield Finding(
            "more-sites-than-servers",
            ("cluster", "sites"),
            f"the cluster has {servers} server{'s' if servers > 1 else ''}, at its largest, and no more sites than servers",
            cluster.sites,
            f"Write {servers} or fewer, or correct cluster.gpus or cluster.gpus_per_node.",
            uses=(("cluster", "gpus"), ("cluster", "gpus_per_node"), ("cluster", "trajectory")),
        )


def _site_links(params: Params) -> Iterator[Finding]:
    """Links are stated of sites that have some, at a rate that their GPUs can send."""
    cluster = params.cluster
    joined = cluster.sites > 1 and cluster.sites_joined
    keys = ("site_distance_km", "site_tbits_per_s", *(() if cluster.sites > 1 else ("sites_joined",)))
    for key in () if joined else keys:
        if getattr(cluster, key) == type(cluster).model_fields[key].default:
            continue
        yield Finding(
            "links-of-no-sites",
            ("cluster", key),
            "is of links between sites, and no network joins several of them",
            getattr(cluster, key),
            f"Leave out cluster.{key}, or correct cluster.sites or cluster.sites_joined.",
            uses=(("cluster", "sites"), ("cluster", "sites_joined")),
        )
    most = cluster.site_gpus * cluster.links_per_gpu * cluster.link_gbits_per_s / _GBITS_PER_TBIT
    if joined and (cluster.site_tbits_per_s or 0.0) > most:
        yield Finding(
            "sites-beyond-links",
            ("cluster", "site_tbits_per_s"),
            f"the links of a site's {cluster.site_gpus} GPUs carry {most:g} Tbit/s",
            cluster.site_tbits_per_s,
            f"Write {most:g} or less, or leave it out.",
            uses=(("cluster", "sites"), ("cluster", "gpus"), ("cluster", "link_gbits_per_s")),
        )


def _ports(params: Params) -> Iterator[Finding]:
    cluster = params.cluster
    if cluster.nic_ports_per_node is None:
        return
    needed = cluster.links_per_gpu * cluster.gpus_per_node
    if needed > cluster.nic_ports_per_node:
        yield Finding(
            "too-few-ports",
            ("cluster", "links_per_gpu"),
            f"{cluster.links_per_gpu} per GPU x {cluster.gpus_per_node} GPUs need {needed} ports, "
            f"but cluster.nic_ports_per_node is {cluster.nic_ports_per_node}",
            cluster.links_per_gpu,
            "Lower links_per_gpu or gpus_per_node, or correct nic_ports_per_node.",
            uses=(("cluster", "gpus_per_node"), ("cluster", "nic_ports_per_node")),
        )


def _vendor(params: Params) -> Iterator[Finding]:
    expected = gpu_types().of(params.cluster.gpu).vendor
    if params.cluster.vendor != expected:
        yield Finding(
            "maker-of-the-gpu",
            ("cluster", "vendor"),
            f"the {params.cluster.gpu} is made by {expected}",
            params.cluster.vendor,
            f"Write {expected}, or delete the line: it follows from cluster.gpu.",
            uses=(("cluster", "gpu"),),
        )


def _taper(params: Params) -> Iterator[Finding]:
    cluster = params.cluster
    if cluster.topology == "dragonfly" and cluster.oversubscription != 1.0:
        yield Finding(
            "dragonfly-has-no-taper",
            ("cluster", "oversubscription"),
            "a dragonfly is counted in its balanced form only",
            cluster.oversubscription,
            "Write 1.0, or choose fat-tree or rail-optimised.",
            uses=(("cluster", "topology"),),
        )


def _plan(params: Params) -> Iterator[Finding]:
    plan, gpus = params.workload.parallelism, params.cluster.gpus
    if not isinstance(plan, Parallelism):
        return
    at = ("workload", "parallelism")
    ranks = plan.tp * plan.pp * plan.dp * plan.cp
    if ranks != gpus:
        yield Finding(
            "plan-does-not-multiply",
            at,
            f"tp x pp x dp x cp is {ranks}, but cluster.gpus is {gpus}",
            f"{plan.tp} x {plan.pp} x {plan.dp} x {plan.cp}",
            "Correct the plan, or write `choose`.",
            uses=(("cluster", "gpus"),),
        )
    if plan.dp * plan.cp * plan.tp % plan.ep:
        yield Finding(
            "experts-do-not-divide",
            (*at, "ep"),
            "does not divide tp x dp x cp",
            plan.ep,
            "Expert ranks are taken from these ranks.",
        )


def _jobs(params: Params) -> Iterator[Finding]:
    jobs, cluster = params.workload.jobs, params.cluster
    if jobs and abs(sum(job.share for job in jobs) - 1.0) > _SHARES_WITHIN:
        yield Finding(
            "jobs-do-not-sum",
            ("workload", "jobs"),
            "the shares do not sum to 1",
            f"{sum(job.share for job in jobs):g}",
            "Correct the shares of GPU time, or leave out workload.jobs.",
        )
    for i, job in enumerate(jobs):
        if job.gpus > cluster.networks(cluster.final_gpus)[0]:
            yield Finding(
                "job-beyond-site",
                ("workload", "jobs", i, "gpus"),
                f"one network of the cluster joins {cluster.networks(cluster.final_gpus)[0]} GPUs at its largest",
                job.gpus,
                f"Write {cluster.networks(cluster.final_gpus)[0]} or fewer, or correct cluster.gpus, cluster.sites or "
                "cluster.sites_joined.",
                uses=(
                    ("cluster", "gpus"),
                    ("cluster", "sites"),
                    ("cluster", "trajectory"),
                    ("cluster", "gpus_per_node"),
                ),
            )
        elif job.gpus > cluster.gpus_per_node and job.gpus % cluster.gpus_per_node:
            yield Finding(
                "part-of-a-node",
                ("workload", "jobs", i, "gpus"),
                f"is not a whole number of nodes of {cluster.gpus_per_node} GPUs",
                job.gpus,
                f"Write a multiple of {cluster.gpus_per_node}.",
                uses=(("cluster", "gpus_per_node"),),
            )
    yield from _repeated(("workload", "jobs"), [str(job.gpus) for job in jobs], "gpus")


def _profile(params: Params) -> Iterator[Finding]:
    """What a profile of a simulation says, stated of another kind of work."""
    workload = params.workload
    for key in ("calls_per_step", "mpi_share"):
        if getattr(workload, key) is not None and workload.kind != "hpc-simulation":
            yield Finding(
                "profile-of-no-simulation",
                ("workload", key),
                f"is of a simulation, and the workload is {workload.kind}",
                getattr(workload, key),
                "Leave it out, or correct workload.kind.",
                uses=(("workload", "kind"),),
            )


def _used(params: Params) -> Iterator[Finding]:
    if params.cluster.server_age_months is not None and Acquisition(params.money.acquisition) is Acquisition.RENT:
        yield Finding(
            "rented-servers-used",
            ("cluster", "server_age_months"),
            "servers that are rented have no price of their own",
            params.cluster.server_age_months,
            "Leave it out, or correct money.acquisition.",
            uses=(("money", "acquisition"),),
        )


def _premises(params: Params) -> Iterator[Finding]:
    hosted = Acquisition(params.money.acquisition) in (Acquisition.RENT, Acquisition.COLOCATE)
    if params.cluster.premises == "office" and hosted:
        yield Finding(
            "office-of-others",
            ("cluster", "premises"),
            f"what is paid for as money.acquisition: {params.money.acquisition} stands with others",
            params.cluster.premises,
            "Leave it out, or correct money.acquisition.",
            uses=(("money", "acquisition"),),
        )


def _method(params: Params) -> Iterator[Finding]:
    workload = params.workload
    if workload.method != "full" and workload.kind != "fine-tuning":
        yield Finding(
            "method-of-no-fine-tuning",
            ("workload", "method"),
            f"is a way to fine-tune, and the workload is {workload.kind}",
            workload.method,
            "Leave it out, or correct workload.kind.",
            uses=(("workload", "kind"),),
        )


def _weights(params: Params) -> Iterator[Finding]:
    if not any(getattr(params.weights, name) for name in type(params.weights).model_fields):
        yield Finding(
            "no-weight", ("weights",), "all weights are zero", remedy="Give at least one axis a weight above zero."
        )


def _options(params: Params, known: tuple[str, ...]) -> Iterator[Finding]:
    cluster = params.cluster
    for i, option in enumerate(params.options):
        if option not in known:
            yield Finding(
                "",
                ("options", i),
                "is not a fabric option",
                option,
                f"Known are {', '.join(known)}.",
                meant(option, known),
            )
    yield from _repeated(("options",), params.options)
    if len(params.options) == 1 and cluster.final_gpus > cluster.gpus_per_node:
        yield Finding(
            "nothing-to-compare",
            ("options",),
            "one option is nothing to compare",
            params.options[0],
            "Name at least two; only a cluster of a single node may have one.",
            uses=(("cluster",),),
        )


def _question(params: Params) -> Iterator[Finding]:
    """A renter chooses among providers; whoever does not grow has no stages to plan."""
    rents = Acquisition(params.money.acquisition) is Acquisition.RENT
    if params.question is not None and rents != (params.asked == Question.CHOOSE_PROVIDER):
        yield Finding(
            "question-of-others",
            ("question",),
            "whoever rents chooses a provider, and nobody else does",
            params.question,
            "Leave out question, or correct money.acquisition.",
            uses=(("money", "acquisition"),),
        )
    elif params.asked == Question.GROW_IN_STAGES and params.cluster.final_gpus <= params.cluster.gpus:
        yield Finding(
            "nothing-grows",
            ("question",),
            "the cluster has one size, so there are no stages to plan",
            params.question or "",
            "Leave out question, or state cluster.trajectory.",
            uses=(("cluster", "gpus"), ("cluster", "trajectory")),
        )


def _operations(params: Params) -> Iterator[Finding]:
    """Whoever rents has the network run by the provider."""
    if params.organisation.operations != "own" and Acquisition(params.money.acquisition) is Acquisition.RENT:
        yield Finding(
            "operations-of-others",
            ("organisation", "operations"),
            "the provider runs a rented network",
            params.organisation.operations,
            "Leave out organisation.operations, or correct money.acquisition.",
            uses=(("money", "acquisition"),),
        )


def _lists(params: Params) -> Iterator[Finding]:
    yield from _repeated(("sections",), params.sections)
    yield from _repeated(("extra",), params.extra)
    ours = (i for i, name in enumerate(params.extras) if name in OF_OURS | _RESERVED)
    yield from (Finding("", ("extra", i), "has a name of ours", params.extra[i], "Call it otherwise.") for i in ours)
    yield from _repeated(("organisation", "beyond_money"), params.organisation.beyond_money)
    yield from _repeated(("measurements",), params.measurements)
    yield from _repeated(("elicited",), params.elicited)
    yield from _repeated(("providers",), [p.name.casefold() for p in params.providers], "name")
    yield from _repeated(("overrides",), [o.id for o in params.overrides], "id")
    yield from _repeated(("adopted",), [a.id for a in params.adopted], "id")


def _offers(params: Params) -> Iterator[Finding]:
    for i, offer in enumerate(params.offers):
        if isinstance(offer, Offer):
            yield from offer_findings(offer, params, ("offers", i))
    files = [str(offer.file) for offer in params.offers if not isinstance(offer, Offer)]
    yield from _repeated(("offers",), files)


def _overrides(params: Params) -> Iterator[Finding]:
    named = (("overrides", "override", params.overrides), ("adopted", "signature", params.adopted))
    for key, name, i, each in ((key, name, i, each) for key, name, listed in named for i, each in enumerate(listed)):
        if each.until < params.as_of:
            yield Finding(
                "override-expired",
                (key, i, "until"),
                f"the {name} expired before as_of, {params.as_of.isoformat()}",
                each.until.isoformat(),
                f"Renew it with {each.who}, or delete the {name}.",
                uses=(("as_of",),),
            )
    for i, override in enumerate(params.overrides):
        if str(override.value) == override.id:
            yield Finding(
                "override-of-itself",
                ("overrides", i, "value"),
                "refers to the entry it replaces",
                override.id,
                "Write the figure itself.",
            )


def _repeated(path: KeyPath, values: Iterable[str], key: str = "") -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for i, value in enumerate(values):
        if value in seen:
            at = (*path, i, key) if key else (*path, i)
            yield Finding(
                "given-twice", at, f"is already item {seen[value] + 1} of this list", value, "Keep one of the two."
            )
        seen.setdefault(value, i)


_RULES: tuple[Callable[[Params], Iterator[Finding]], ...] = (
    _as_of,
    _production,
    _client,
    colour_findings,
    _growth,
    _whole_nodes,
    _sites,
    _site_links,
    _ports,
    _vendor,
    _taper,
    _plan,
    _jobs,
    _profile,
    _method,
    _used,
    _premises,
    _weights,
    _question,
    _operations,
    _lists,
    _offers,
    _overrides,
)
