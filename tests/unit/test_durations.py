"""There is one length of a year, and nobody but `durations` spells it."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from fabricreport import durations
from fabricreport.models.fabric.cost import energy_usd_per_month
from fabricreport.models.money.ownership import bring_up_share, gpu_hours
from fabricreport.models.risk.incidents import Cluster, IncidentLaw

PACKAGE = Path(durations.__file__).parent
SPELT_OUT = {168.0, 365.0, 365.25, 366.0, 730.0, 730.5, 8760.0, 8766.0, 86400.0, 525600.0, 525960.0}


def numbers_in(path: Path) -> set[float]:
    found = (n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant))
    return {float(v) for v in found if isinstance(v, int | float) and not isinstance(v, bool)}


def names_set_in(path: Path) -> set[str]:
    stores = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Name))
    return {n.id.lstrip("_") for n in stores if isinstance(n.ctx, ast.Store)}


@pytest.mark.slow
def test_no_module_but_this_one_spells_a_length_of_time() -> None:
    own = {n for n in vars(durations) if n.isupper()}
    modules = [p for p in PACKAGE.rglob("*.py") if p.name != "durations.py"]
    assert {str(p): numbers_in(p) & SPELT_OUT for p in modules if numbers_in(p) & SPELT_OUT} == {}
    assert {str(p): names_set_in(p) & own for p in modules if names_set_in(p) & own} == {}


def test_twelve_months_are_a_year_and_seven_days_a_week() -> None:
    assert durations.HOURS_PER_MONTH * 12 == durations.HOURS_PER_YEAR == 8766
    assert durations.DAYS_PER_MONTH * 12 == durations.DAYS_PER_YEAR == 365.25
    assert (durations.HOURS_PER_WEEK, durations.SECONDS_PER_DAY) == (168, 86_400)


def test_money_risk_and_work_reckon_with_the_same_year() -> None:
    """One GPU, one kW at $1 a kWh, and one incident a year, each counted over twelve months."""
    hours = float(np.sum(gpu_hours([(0, 1)], 12)))
    energy = 12 * float(energy_usd_per_month(1000.0, 1.0, 1.0)[0])
    law = IncidentLaw("x", "x", "gpu", "hardware", 1.0)
    between = 1 / float(law.events_per_hour(Cluster(1, 1.0, 1.0)))
    weeks = 52.17857142857143
    assert hours == energy == pytest.approx(between)
    assert float(bring_up_share(weeks, 12)) == pytest.approx(weeks * 168 / hours)
