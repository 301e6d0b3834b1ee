"""The figures of the conventions of licences: the lead under each."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.provenance import inputs_of
from fabricreport.sections.decision.corners import CORNERS, Corner
from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec
from fabricreport.vocabulary import Charge

_SAID: Mapping[Charge, str] = {
    Charge.AS_SOLD: "as sold",
    Charge.CHARGED: "charged on every option",
    Charge.LEFT_OUT: "left out of every option",
}


def corners_in(at: DecisionFigures) -> Mapping[str, Corner]:
    """The conventions by key; none where nothing is compared, or where the network is rented."""
    return {corner.key: corner for corner in at.result.corners}


def _told(key: str) -> str:
    manager, system = CORNERS[key]
    return f"managers {_SAID[manager]}, switch systems {_SAID[system]}"


CORNER_FIGURES = (
    EachSpec(
        "decision.corner[corner]",
        "usd",
        label=lambda at, key: f"Total cost of {at.rival} less that of {at.choice}: {_told(key)}",
        rule=lambda _, key: (
            f"the bills again on the same outcomes, {_told(key)}: mean of total cost(rival) − total cost(choice)"
        ),
        value=lambda at, key: corners_in(at)[key].gap,
        inputs=lambda at, key: inputs_of(corners_in(at)[key].gap),
        central="mean",
        compares=lambda at, _: at.compared,
    ),
)
