"""Every money line of the example is the one worked out by hand in `by_hand.py`, and so are the third article's sums.

Means are compared: within 0.5 %, the lines of lost GPU time, whose draws differ more, within 3 %.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import by_hand
import pytest
from by_hand import (
    LOST_TIME,
    MONEY,
    OPTIONS,
    lost_time,
    money,
    param,
    pieces,
    printed,
    printed_causes,
    the_case,
    word,
)

from fabricreport.report.report import open_report

MONEY_WITHIN, LOST_TIME_WITHIN = 0.005, 0.03


def test_the_sheet_of_paper_uses_nothing_of_the_package_but_the_case() -> None:
    tree = ast.parse(Path(by_hand.__file__).read_text(encoding="utf-8"))
    names = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert [name for name in names if name.startswith("fabricreport")] == ["fabricreport.case"]


def test_the_client_is_one_whom_this_sheet_of_paper_fits() -> None:
    assert [o.id for o in the_case().options] == list(OPTIONS)
    assert (word("money.acquisition"), word("money.discounting"), word("money.currency")) == ("buy", "nominal", "USD")
    assert (word("organisation.networking_maturity"), word("organisation.qos_expertise")) == ("medium", "some")
    assert (word("cluster.gpu"), word("cluster.topology")) == ("h100", "rail-optimised")
    assert 128 < param("cluster.gpus") <= 1024 and param("cluster.oversubscription") == 1
    assert param("cluster.links_per_gpu") == 1 and param("money.price_of_delay_usd_per_day") == 0


@pytest.mark.parametrize("name", OPTIONS)
def test_the_pieces_counted_by_hand_are_those_of_the_memo(name: str) -> None:
    count = pieces(OPTIONS[name])
    counted = {
        "switches": count.switches,
        "nics": count.nics,
        "transceivers": count.server_optics + count.switch_optics,
    }
    assert {kind: printed(f"tco.count.{kind}.{name}").value for kind in counted} == counted
    built = the_case().tco().ownership
    assert built is not None
    cables = built.builds[name][-1].cables
    assert (cables.cables, cables.dac + cables.acc) == (count.cables, 0)


@pytest.mark.parametrize("name", OPTIONS)
def test_no_line_of_the_bill_is_left_out(name: str) -> None:
    causes = printed_causes(name)
    assert set(causes) <= {*MONEY, *LOST_TIME}
    assert [line for line, amount in money(name).items() if line not in causes and amount != 0] == []


@pytest.mark.parametrize("line", MONEY)
@pytest.mark.parametrize("name", OPTIONS)
def test_each_money_line_is_the_one_worked_out_by_hand(name: str, line: str) -> None:
    worked_out = money(name)[line]
    in_the_memo = printed(f"tco.{line}.{name}").value if line in printed_causes(name) else 0.0
    assert in_the_memo == pytest.approx(worked_out, rel=MONEY_WITHIN)


@pytest.mark.parametrize("line", LOST_TIME)
@pytest.mark.parametrize("name", OPTIONS)
def test_each_line_of_lost_gpu_time_is_the_one_worked_out_by_hand(name: str, line: str) -> None:
    worked_out = lost_time(name)[line]
    assert printed(f"tco.{line}.{name}").value == pytest.approx(worked_out, rel=LOST_TIME_WITHIN)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_lines_worked_out_by_hand_add_up_to_the_total(name: str) -> None:
    worked_out = sum(money(name).values()) + sum(lost_time(name).values())
    assert printed(f"tco.total.{name}").value == pytest.approx(worked_out, rel=MONEY_WITHIN)


# The third article: 1,024 GPUs for 30 days at $3 an hour, 5 % of it lost. Each sum: the audited claim, the sum in whole
# numbers and fractions, the figure that the article prints, and to what that is rounded.
RUN_HOURS = Fraction(1024 * 30 * 24)
LOSS = Fraction(5, 100)
SUMS: dict[str, tuple[Fraction, float, Fraction]] = {
    "s2-run-cost": (RUN_HOURS * 3, 2_200_000, Fraction(100_000)),
    "s2-wasted-gpu-hours": (RUN_HOURS * LOSS, 36_864, Fraction(1)),
    "s2-waste-cost": (RUN_HOURS * LOSS * 3, 110_000, Fraction(10_000)),
    "s2-extra-days": (30 * LOSS, 1.5, Fraction(1, 2)),
    "s2-extra-days-at-efficiency": (30 / (1 - LOSS) - 30, 1.5, Fraction(1, 2)),
}


@pytest.mark.parametrize("claim", SUMS)
def test_each_headline_sum_of_the_third_article_is_exact(claim: str) -> None:
    exact, in_the_article, rounded_to = SUMS[claim]
    report = open_report()
    assert report.figure(f"report.claim.{claim}.recomputed").value == pytest.approx(float(exact), rel=1e-12)
    assert report.figure(f"report.claim.{claim}.stated").value == in_the_article
    assert round(exact / rounded_to) * rounded_to == in_the_article


def test_the_same_sums_are_those_of_the_worked_case_among_the_stresses() -> None:
    stress = "tail_risk.stress.efficiency-loss"
    assert printed(f"{stress}.gpu_hours").value == pytest.approx(36_864, rel=1e-12)
    assert printed(f"{stress}.usd").value == pytest.approx(110_592, rel=1e-12)
    assert printed(f"{stress}.delay").value == pytest.approx(1.5 * 24, rel=1e-12)
