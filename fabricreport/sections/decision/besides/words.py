"""Words of the prose on reasons beyond money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabricreport.books.names import whole_names
from fabricreport.evidence import read_yaml
from fabricreport.findings import Name, Named, OptionName, joined
from fabricreport.formats import inside
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.besides.scores import Weighed
from fabricreport.sections.decision.besides.topologies import DRAGONFLY, TREE
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction

_BUILT = {DRAGONFLY: "dragonfly", TREE: "fat tree", "rail-optimised": "rail-optimised fat tree"}


def besides_words(given: Inputs, result: DecisionResult, figure: FigureOf) -> Mapping[str, object]:
    """Words of the prose on what speaks for an option besides its bill; None where there is none here."""
    besides, names = result.besides, whole_names(given.options)
    weighed, priced, topology = besides.weighed, besides.priced, besides.topology
    sizes = besides.utilisations.ends if besides.utilisations else None
    return {
        "soft_order": Name(", then ".join(_titles(given.params.organisation.beyond_money))),
        "soft": names[weighed.leader] if weighed.leader else None,
        "even": names[weighed.even] if weighed.even else None,
        "soft_next": names[weighed.runner_up] if weighed.runner_up else None,
        "soft_reason": _reason(given, weighed),
        "soft_criterion": _criterion(given, weighed),
        "dropped": joined(names[o] for o in result.totals if o not in weighed.options),
        "open_option": names[priced.against] if priced.against else None,
        "subnetted": tuple(
            names[o] for o in priced.subnets if direction(figure(f"decision.besides.subnets.{o}")) != "same"
        ),
        "planned_topology": _BUILT[str(given.params.cluster.topology)],
        "other_topology": _BUILT[topology.other] if topology else None,
        "turned": tuple(_turned(figure, names[o], o) for o in besides.compared) if topology else (),
        "small": figure(f"decision.besides.size.{sizes[0]}") if sizes else None,
        "large": figure(f"decision.besides.size.{sizes[1]}") if sizes else None,
    }


def _reason(given: Inputs, weighed: Weighed) -> Name | None:
    """What puts the leader first, above all."""
    if not weighed.leader:
        return None
    return Name(_titles([_strongest(given, weighed)])[0])


def _criterion(given: Inputs, weighed: Weighed) -> Named | None:
    """The same by its id, for the figures of it."""
    return Named(_reason(given, weighed) or "", _strongest(given, weighed)) if weighed.leader else None


def _strongest(given: Inputs, weighed: Weighed) -> str:
    """The criterion that puts the leader first, above all."""
    return weighed.strongest({o.id: o.side for o in given.options})


def _titles(order: Sequence[str]) -> list[str]:
    """The criteria of a stated order as they stand within a sentence."""
    titles = {c["id"]: inside(c["title"]) for c in read_yaml("besides")["criteria"]}
    return [titles[criterion] for criterion in order]


def _turned(figure: FigureOf, name: str, option: str) -> OptionName:
    """An option as the other topology: whether it costs `more` or `less` in all, and takes more cables or fewer."""
    cables = direction(figure(f"decision.besides.topology_cables.{option}"))
    return OptionName(
        name, option, than=_than(figure, option), cables={"less": "more", "more": "fewer"}.get(cables, "more or fewer")
    )


def _than(figure: FigureOf, option: str) -> str:
    """Whether the other topology costs `more` or `less` in all, or `the same`."""
    way = direction(figure(f"decision.besides.topology.total.{option}"))
    return {"less": "more", "more": "less"}.get(way, "the same")
