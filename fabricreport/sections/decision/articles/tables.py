"""Tables of the articles: what each would advise here and by which rule, and its rules of size tried on this client."""

from __future__ import annotations

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.claims import read_claims
from fabricreport.books.names import side_names, whole_names
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.models.judgement.articles import SILENT, TORN
from fabricreport.sections.decision.articles.sizes import Outcome, SizeRule
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.vocabulary import LEANS

_TOLD = {SILENT: "nothing: no rule of it fits", TORN: "both: its rules contradict each other here"}
_SHORT = {"reproduces with a caveat": "with a caveat", "cannot be checked": "not checkable"}
_TEAM = {"": "", "strong": " with a strong team", "none": " with no such skill"}


def answer_names() -> dict[str, str]:
    """What a sentence calls each answer."""
    return {answer["id"]: answer["name"] for answer in read_yaml("articles")["answers"]}


def advised(given: Inputs, result: DecisionResult) -> Table:
    """Each article with what it would advise here, rule by rule, the audit's verdict on each, and where that stands to us."""
    found, names = result.articles, answer_names()
    said: dict[str, object] = {}
    rows = []
    for article, one in found.advised.items():
        first = [Name(read_claims().sources[article].publisher), _TOLD.get(one.says) or Name(names[one.says])]
        ours = "agrees" if article in found.agree else "differs" if one.speaks else None
        if not one.by:
            rows.append(Row([*first, None, None, ours]))
        for place, rule in enumerate({(r.claim, r.words): r for r in one.by}.values()):
            key = f"r{len(said)}"
            said[key] = _rule(given, rule.claim, rule.words)
            torn = f" ({names[rule.advises]})" if one.says == TORN else ""
            words = f"{{{key}}}{torn} {{cite claim:{rule.claim}}}"
            head = first if place == 0 else ["", ""]
            rows.append(
                Row(
                    [
                        *head,
                        words,
                        Name(_SHORT.get(found.verdicts[rule.claim], found.verdicts[rule.claim])),
                        ours if place == 0 else "",
                    ]
                )
            )
    heads = ("Article", "Would advise", "By the rule", "Audit", "Our advice")
    return Table([Column(head) for head in heads], rows, said)


def _rule(given: Inputs, claim: str, words: str) -> Name:
    return Name(words or given.record(f"claim:{claim}")["label"])


def sizes(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Each rule of size: where it was tried, which side costs less there and by how much, and what becomes of the rule."""
    names = whole_names(given.all_options.values())
    said: dict[str, object] = {}
    rows = []
    for rule in result.articles.sizes:
        key = f"s{len(said)}"
        said[key] = _rule(given, rule.claim, rule.words)
        words = f"{{{key}}} {{cite claim:{rule.claim}}}"
        told = _outcome(given, rule)
        if not rule.runs:
            rows.append(Row([words, None, None, None, None, told]))
        for place, run in enumerate(rule.runs):
            rows.append(
                Row(
                    [
                        words if place == 0 else f"…{_TEAM[run.team]}",
                        figure(f"decision.articles.size_gpus.{run.key}"),
                        names[run.first] if run.first else "neither",
                        figure(f"decision.articles.size_lead.{run.key}"),
                        figure(f"decision.articles.size_close.{run.key}"),
                        told if place == 0 else "",
                    ]
                )
            )
    heads = ("What the article says", "Tried at", "Costs less", "By", "Close below", "Here")
    return Table([Column(h, style="mixed" if h in ("By", "Close below") else "value") for h in heads], rows, said)


def _outcome(given: Inputs, rule: SizeRule) -> Name:
    if rule.outcome != Outcome.TOWARDS:
        return Name(rule.outcome)
    first = given.all_options[rule.runs[0].first].name
    towards = side_names(given.options, rule.towards).phrase if rule.towards in LEANS else first
    return Name(f"{rule.outcome} {towards}")
