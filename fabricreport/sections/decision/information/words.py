"""What the prose says of what could be found out, and its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabricreport.findings import Name, Phrase
from fabricreport.sections.decision.finding import DecisionFinding as F
from fabricreport.sections.decision.information.study import Information


def information_findings(found: Information | None, *, idle: bool) -> Iterator[F]:
    """What holds of what could be found out; `idle`: where no fabric is worth finding out about."""
    if found is None or not found.groups:
        return
    yield F.INFORMATION
    if found.telling and not idle:
        yield F.WORTH_KNOWING


def information_words(found: Information | None) -> Mapping[str, object]:
    """The group worth most alone, with when it is settled."""
    telling = found.telling if found else ()
    top = telling[0] if telling else None
    return {
        "known": Phrase(top.group.name, top.group.id, when=Name(_when(list(top.settled)))) if top else None,
    }


def _when(whens: Sequence[str]) -> str:
    """When it is settled, as it stands within a sentence."""
    return whens[0] if len(whens) == 1 else "partly " + " and partly ".join(whens)
