"""What is asked for is made then, and no more; what comes of it does not hang on what was asked before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest import mock

import bench
import pytest

import fabricreport.sections.chain as chain_module
from fabricreport.base.vocabulary import Confidence
from fabricreport.case import Case
from fabricreport.check import examination
from fabricreport.check.check import check
from fabricreport.check.examination import make_whole
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.models.judgement.comparison import Comparison, Verdict
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.study import run
from fabricreport.sections.decision.turning import Search

pytestmark = pytest.mark.slow
CLIENTS = ("example", "kestrel-lab", "measured")


def afresh(case: Case, comparison: Comparison | None = None) -> DecisionResult:
    """A decision of which nothing is made yet."""
    return run(Search(case.chain, comparison or case.comparison), lambda: case.knowledge, case.monday)


def capped_by_every_part(case: Case, comparison: Comparison) -> Verdict:
    """The verdict as the rule reads, from all inputs that were moved."""
    made, found = afresh(case, comparison), comparison.verdict
    make_whole(made)
    if any(t.beyond > made.rule.turning_share for t in made.turns.drawn):
        found = found.capped_by("input")
    if made.with_equal_priors is not None and made.with_equal_priors < 0:
        found = found.capped_by("priors")
    if any(left.course.id != found.course.id for left in made.without.values()):
        found = found.capped_by("listing")
    if made.mismatch and made.mismatch.turns(found.lead):
        found = found.capped_by("generation")
    few = made.sure is not None and round(made.sure.share, 2) < made.rule.clear_probability
    return found.capped_by("act") if few and made.offers is None else found


@pytest.mark.laws(0)
def test_a_verdict_asked_for_first_is_the_one_that_all_parts_come_to() -> None:
    capped = set()
    for case in map(bench.case, CLIENTS):
        clear = replace(case.comparison, verdict=replace(case.comparison.verdict, confidence=Confidence.CLEAR))
        for comparison in (case.comparison, clear):
            first = afresh(case, comparison).verdict
            assert first == capped_by_every_part(case, comparison)
            capped.add(first.capped)
    assert capped >= {"", "listing"}


def test_a_comparison_runs_the_chain_once_and_a_verdict_that_is_not_clear_no_more() -> None:
    charged = bench.changed("example", money__manager_licence="charged")
    case = charged.with_params(charged.params)
    with mock.patch.object(chain_module, "_run", side_effect=chain_module._run) as run:
        assert case.comparison.verdict.confidence != Confidence.CLEAR
        assert case.decision().verdict == case.comparison.verdict
        assert case.figure("decision.difference").value and run.call_count == 1
        run.side_effect = InterruptedError  # the first of hundreds
        with pytest.raises(InterruptedError):
            assert case.decision().turns


def test_a_figure_asked_for_alone_is_the_one_among_all() -> None:
    every = bench.case("example").decision().numbers
    assert isinstance(every, DeclaredFigures)
    alone = afresh(bench.case("example")).numbers
    ids = list(every)
    for figure_id in ids[:: len(ids) // 40]:
        assert figure_id in alone and alone[figure_id] == every[figure_id]
    assert "decision.no.such" not in alone and alone.get("decision.total") is None


def test_files_are_told_sound_before_the_analyses_are_tried_and_only_if_they_are(tmp_path: Path) -> None:
    said: list[str] = []
    whole = bench.PARAMS / "tern-finetuning.yaml"
    faulty = tmp_path / "faulty.yaml"
    faulty.write_text(whole.read_text(encoding="utf-8") + "measurements: [no-such.log]\n", encoding="utf-8")
    with mock.patch("fabricreport.check.examination.tried_out", lambda _: said.append("tried") or ()):
        assert not check(whole, trying=lambda: said.append("sound")).problems and said == ["sound", "tried"]
        assert check(faulty, trying=lambda: said.append("sound")).problems and said == ["sound", "tried"]


def test_what_is_the_clients_own_is_tried_on_all_draws_and_what_follows_from_ours_on_few() -> None:
    tried: list[int] = []
    with mock.patch.object(examination, "foundering", lambda case, *_: tried.append(case.inputs.draws) or ""):
        assert examination.founderings(bench.drawn("example")) == () and tried == [bench.DRAWN, examination.FEW_DRAWS]
        assert examination.founderings(bench.drawn("overridden")) == () and tried[2:] == [bench.DRAWN]
