"""Which files a client's params name beside themselves."""

from __future__ import annotations

from fabricreport.scenario.offers import OfferFile
from fabricreport.scenario.schema import Params


def named_files(params: Params) -> tuple[str, ...]:
    """Every file that the params name, by its path below their folder."""
    answers = [str(p.answers) for p in params.providers if p.answers]
    offers = [str(o.file) for o in params.offers if isinstance(o, OfferFile)]
    return (*answers, *map(str, (*params.measurements, *params.elicited)), *offers)
