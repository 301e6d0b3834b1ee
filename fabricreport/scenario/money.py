"""How a cluster is paid for, and what weighs with the client besides: two sections of the params file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabricreport.books.fields import Section, Unit
from fabricreport.scenario.offers import Currency
from fabricreport.scenario.uncertain import Bounds, UncertainValue

ChargeName = Literal["as-sold", "charged", "left-out"]


class Money(Section):
    """How it is paid for and how money over time is valued."""

    acquisition: Literal["buy", "lease", "rent", "colocate"] = Field(description="How the cluster is obtained.")
    horizon_months: Annotated[int, Unit("month", 1, 240)] = Field(
        default=48, description="Months over which all costs are counted."
    )
    discount_rate_per_year: Annotated[UncertainValue, Bounds("share", units=("share", "share/year"))] = Field(
        default=0.08, description="Discount rate as a share per year: 0.08 is 8 %."
    )
    discounting: Literal["nominal", "real"] = Field(
        default="nominal", description="Whether the discount rate and the cash flows include inflation."
    )
    inflation_per_year: Annotated[
        UncertainValue, Bounds("relative", -0.1, 1, units=("share", "share/year", "relative"))
    ] = Field(default=0.025, description="Inflation as a share per year.")
    currency: Currency = Field(
        default="USD",
        description="Currency of the memo's amounts. Another than USD needs its rate (item fx-eur-usd) in the price book.",
    )
    gpu_hour_value: Annotated[
        Literal["amortised", "market"] | UncertainValue,
        Bounds("usd/gpu-hour", words=("amortised", "market"), units=("usd/gpu-hour",)),
    ] = Field(
        default_factory=lambda data: "market" if data.get("acquisition") == "rent" else "amortised",
        description="What a lost GPU-hour is worth: `amortised`, `market`, or US dollars.",
    )
    price_of_delay_usd_per_day: Annotated[UncertainValue, Bounds("usd/day", high=1e10, units=("usd/day",))] = Field(
        default=0.0, description="Value lost per day of delay beyond compute, such as a missed launch, in US dollars."
    )
    materiality_usd: Annotated[float | None, Unit("usd", zero=True)] = Field(
        default=None,
        description="Lead in US dollars below which a choice is close. If left out, the largest of 5 % of what the lines "
        "differ by, the noise of their quotes, and 0.5 % of the dearer network.",
        examples=[250000],
    )
    manager_licence: ChargeName = Field(
        default="as-sold",
        description="Whether the yearly licence of the network's manager is in every network's bill: `as-sold` by its "
        "makers' lists, `charged` on each, or `left-out` of each.",
    )
    switch_system_licence: ChargeName = Field(
        default="as-sold",
        description="The same for the yearly licence of the switches' operating system.",
    )


class Weights(Section):
    """Weights of the four axes; any scale, only their ratios count."""

    workload: Annotated[float, Unit("weight", zero=True)] = Field(
        default=0.25, description="Latency sensitivity and synchronisation."
    )
    maturity: Annotated[float, Unit("weight", zero=True)] = Field(default=0.25, description="Networking maturity.")
    scale_and_budget: Annotated[float, Unit("weight", zero=True)] = Field(
        default=0.25, description="Scale trajectory and budget."
    )
    time_to_production: Annotated[float, Unit("weight", zero=True)] = Field(
        default=0.25, description="Time to production."
    )

    @property
    def shares(self) -> dict[str, float]:
        """The weights scaled to sum to 1, by axis."""
        given = {name: float(getattr(self, name)) for name in type(self).model_fields}
        total = sum(given.values())
        return {name: weight / total for name, weight in given.items()}
