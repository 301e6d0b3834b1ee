"""A model's validation card: the published number beside ours, and what the model does not claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricreport.base.errors import InputError, Problem


@dataclass(frozen=True)
class CardRow:
    """One published figure beside the model's.

    `error` is `ours / published - 1` (a share, positive when the model says more). `held_out` is true when the
    figure was not used to set any parameter. `unit` belongs to `published` and `ours`; `band` names the group
    the row is summarised in; `counted` is false for a row that is shown but left out of the summary, and
    `note` then says why. A published figure of zero has no relative error and is refused.
    """

    case: str
    published: float
    ours: float
    error: float = field(init=False)
    held_out: bool
    unit: str = ""
    band: str = ""
    source: str = ""
    counted: bool = True
    note: str = ""

    def __post_init__(self) -> None:
        if self.published == 0.0:
            remedy = "Leave the row out: a relative error needs a figure that is not zero."
            message = f"the published figure of '{self.case}' is zero"
            raise InputError(Problem(message, key="published", value="0", remedy=remedy))
        object.__setattr__(self, "error", self.ours / self.published - 1.0)


@dataclass(frozen=True)
class Card:
    """What a model was tried on, how far off it was, and where it stops meaning anything.

    `summary` maps a label (for example `held out, above 64 MiB`) to a share: a median absolute error unless the
    label says otherwise. `intervals` maps a band to the (p5, p95) factors by which a published figure may differ
    from ours. `baselines` holds the same statistics for models that know less. `expected` repeats what was
    written down before the fit; `as_expected` says, item by item, whether it came true.
    """

    model: str
    data_used: tuple[str, ...]
    rows: tuple[CardRow, ...]
    summary: Mapping[str, float]
    valid_range: str
    date: str
    does_not_claim: tuple[str, ...]
    irreducible: tuple[str, ...]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    expected: tuple[str, ...] = ()
    as_expected: Mapping[str, bool] = field(default_factory=dict)

    @property
    def held_out(self) -> tuple[CardRow, ...]:
        """The rows that no parameter was set from."""
        return tuple(row for row in self.rows if row.held_out)


def median_abs_error(rows: tuple[CardRow, ...]) -> float:
    """Median of |ours / published - 1| over the counted rows (a share); NaN if none is counted."""
    errors = sorted(abs(row.error) for row in rows if row.counted)
    if not errors:
        return float("nan")
    middle = len(errors) // 2
    return errors[middle] if len(errors) % 2 else 0.5 * (errors[middle - 1] + errors[middle])
