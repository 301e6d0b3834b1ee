"""What a seller answered: the schema of its file, which a person types from a letter or a workbook makes, and what its links can carry.

    provider: Example Cloud                # as in the params
    date: 2026-11-02                       # when it was answered
    answered_by: A. Seller, sales          # who answered
    fabric: infiniband-ndr                 # optional; the fabric it speaks for, an option's id or a family's
    answers:
      - question: Q-NET-07                 # id of a question; each at most once
        answer: Logs of 128 nodes attached # the words given; empty if the seller declined
        value: 371.2                       # optional; a number, or {low, high}
        unit: gbytes/s                     # needed with a value: the question's own unit
        document: logs-2026-10.txt         # optional; what was handed over
        evidence: log                      # optional; what it rests on: contract, log, record or statement
        choice: ...                        # one of the question's choices, where it has some
        measured: {gpus: 1024, size_mib: 1024, busbw_gbytes_per_s: 371.2, algbw_gbytes_per_s: 185.78}   # optional

The rates are those the answers state; where they state none, those of the cluster in the params. Sound by being wide: a
node is taken for eight GPUs at least, and a ring for as fast as the NICs of a node allow.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date as Date
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, ValidationInfo

from fabricreport.base.bounds import Bound, bound_of
from fabricreport.base.errors import InputError, Problem
from fabricreport.base.formats import number_remedy
from fabricreport.base.locations import Located, did_you_mean
from fabricreport.base.yaml_files import load_strict
from fabricreport.books.fields import (
    CLOSED,
    AnsweredDay,
    Count,
    Fault,
    Keyed,
    Unwritten,
    context,
    measured,
    refusal,
    text,
)
from fabricreport.books.reader import judged, repeated
from fabricreport.books.sellers import Proof, Question, folded, known_ids, read_questions

LINE_RATE, PER_GPU = "Q-NET-02", "Q-NET-03"
"""Questions whose answers state the rate of one link, and of all links of one GPU, in Gb/s."""
LONGEST_ANSWER = 2_000
MEASURED = {"gpus": "gpus", "size_mib": "mib", "busbw_gbytes_per_s": "gbytes/s", "algbw_gbytes_per_s": "gbytes/s"}
"""What of a benchmark an answer may quote, in the order of the forms, each with its unit."""
_EMPTY = BeforeValidator(lambda given: "" if given is None else given)
_WORDS = text(LONGEST_ANSWER, one_line=False, empty=True)
_NAME = text(LONGEST_ANSWER, remedy="Write a name.")


def bound_of_answer(question: str, unit: str) -> Bound:
    """The bounds of the value of an answer: of its unit, but a rate of links is that of a link, or of all a GPU has."""
    if question not in (LINE_RATE, PER_GPU):
        return bound_of(unit)
    link = bound_of("link-gbits/s")
    if question == LINE_RATE:
        return link
    most = bound_of("links-per-gpu").high
    return replace(link, high=link.high * most, beyond=f"{link.beyond}, and a GPU has at most {most:g} links")


def _ranks(gpus: int) -> int:
    if gpus < 2:
        raise refusal(Fault("must be a whole number of at least 2", remedy="Count the ranks of the run."))
    return gpus


@dataclass(frozen=True)
class Log:
    """Figures of a benchmark log that a seller quotes: AllReduce over `gpus`, message size in MiB, GB/s."""

    __pydantic_config__ = CLOSED
    gpus: Annotated[Count, AfterValidator(_ranks), measured("gpus")]
    busbw_gbytes_per_s: Annotated[float, measured("gbytes/s")]
    size_mib: Annotated[float, measured("mib")] = 1024.0
    algbw_gbytes_per_s: Annotated[float | None, measured("gbytes/s")] = None


def _asked(found: ValidationInfo) -> Question | None:
    """The question of the answer that is checked; None where its id is at fault."""
    id = found.data.get("question")
    return next((q for q in read_questions() if q.id == id), None)


def _question(id: str) -> str:
    ids = known_ids()
    if id not in ids:
        own = dict.fromkeys(ids.values())
        raise refusal(Fault("is no question's id", (), f"One of: {', '.join(own)}.", did_you_mean(id, ids)))
    return ids[id]


def _unit(unit: str, info: ValidationInfo) -> str:
    question = _asked(info)
    if question is not None and unit != question.unit:
        raise refusal(_of_another_unit(question, info))
    return unit


def _of_another_unit(question: Question, info: ValidationInfo) -> Fault:
    remedies = context(info)["remedies"]
    if not question.unit:
        return Fault(f"{question.id} takes no value", (), remedies.words)
    return Fault(f"a value for {question.id} must be in {question.unit}", (), remedies.unit.format(unit=question.unit))


def _ends(value: Any, info: ValidationInfo) -> tuple[float, float]:
    """A number, or the ends of a range, in the unit of the question."""
    given, question = value if isinstance(value, dict) else {"low": value, "high": value}, _asked(info)
    shown = ", ".join(f"{key}: {end}" for key, end in value.items()) if isinstance(value, dict) else None
    if set(given) != {"low", "high"} or (shown and not all(map(_finite, given.values()))):
        meant = next(filter(None, map(number_remedy, given.values())), context(info)["remedies"].range)
        message, remedy = "a range needs exactly low and high, both numbers", meant
        raise refusal(Fault(message, (), remedy, shown=shown))
    low, high = given["low"], given["high"]
    if not _finite(low):
        remedy = number_remedy(low) or "Words belong into `answer`."
        raise refusal(Fault("must be a number or {low, high}", (), remedy))
    if low > high:
        raise refusal(Fault("must rise from low to high", shown=shown))
    if question is not None and "unit" in info.data:
        if not info.data["unit"]:
            raise refusal(_of_another_unit(question, info))
        fault = bound_of_answer(question.id, question.unit).fault({"low": low, "high": high} if low < high else low)
        if fault:
            raise refusal(Fault(fault, (), f"The unit is {question.unit}.", shown=shown))
    return float(low), float(high)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _choice(choice: str, info: ValidationInfo) -> str:
    question = _asked(info)
    if question is not None and choice not in question.choices:
        known = question.choices
        remedy = f"One of: {', '.join(known)}." if known else "Leave it out: this question has no choices."
        raise refusal(Fault("is none of those known here", (), remedy, did_you_mean(choice, known)))
    return choice


@dataclass(frozen=True)
class Answer:
    """One answer: the words, and what came with them; what is left out is '' or None.

    `value`: its ends in the question's unit, equal for a single number; `evidence`: what the seller says it rests on.
    """

    __pydantic_config__ = CLOSED
    question: Annotated[str, AfterValidator(_question), Field(description="Write `question:` and its id.")]
    text: Annotated[str, _EMPTY, _WORDS, Field(alias="answer", description="Write `answer:` and the words given.")]
    unit: Annotated[str, AfterValidator(_unit)] = ""
    value: Annotated[tuple[float, float] | None, PlainValidator(_ends)] = None
    document: Annotated[str, _NAME] = ""
    measured: Log | None = None
    choice: Annotated[str, AfterValidator(_choice)] = ""
    evidence: Proof | None = None
    line: Unwritten[int] = 0

    @property
    def low(self) -> float | None:
        """The low end of the value; None without one."""
        return None if self.value is None else self.value[0]

    @property
    def high(self) -> float | None:
        """The high end of the value; None without one."""
        return None if self.value is None else self.value[1]


def _provider(name: str, info: ValidationInfo) -> str:
    wanted = context(info)["provider"]
    if folded(name) != folded(wanted):
        remedy = "Name the right file in the params, or mend the name here."
        raise refusal(Fault(f"is not the provider of the params, {wanted}", remedy=remedy))
    return name


def _fabric(id: str, info: ValidationInfo) -> str:
    known = context(info)["fabrics"]
    if id and known and id not in known:
        remedy = f"One of: {', '.join(known)}. Leave it out if none fits."
        raise refusal(Fault("is no fabric known here", (), remedy, did_you_mean(id, known)))
    return id


def _some(answers: Mapping[str, Answer], info: ValidationInfo) -> Mapping[str, Answer]:
    if not answers:
        raise refusal(Fault("holds no answer", remedy=context(info)["remedies"].answers))
    return answers


@dataclass(frozen=True)
class AnswerFile:
    """What one seller answered, when and through whom. `fabric`: for which one it speaks, '' where it does not say."""

    __pydantic_config__ = CLOSED
    provider: Annotated[str, _NAME, AfterValidator(_provider), Field(description="Write `provider:` as in the params.")]
    date: Annotated[AnsweredDay, Field(description="Write `date: YYYY-MM-DD`, when it was answered.")]
    answered_by: Annotated[str, _NAME, Field(description="Write `answered_by:` and who answered.")]
    answers: Annotated[
        Mapping[str, Answer],
        Keyed("question"),
        AfterValidator(_some),
        Field(description="Begin each of them with '- question: <id>'."),
    ]
    file: Unwritten[str] = ""
    fabric: Annotated[str, _EMPTY, text(LONGEST_ANSWER, empty=True), AfterValidator(_fabric)] = ""


_BITS_PER_BYTE = 8.0
_LEAST_NODE_GPUS = 8
_PRINTED = 1.02
"""Room for rounding and for GiB taken for GB at the edge."""


@dataclass(frozen=True)
class Links:
    """The client's cluster: line rate of a link, links of a GPU, GPUs that share NVLink."""

    gbits_per_s: float
    per_gpu: int
    domain_gpus: int


def beyond_links(answers: Mapping[str, Answer], links: Links) -> Iterator[tuple[str, tuple[str, ...], float, str]]:
    """Question, keys, value and reason of every bandwidth above what the links carry."""
    line = _stated(answers, LINE_RATE)
    per_gpu = _stated(answers, PER_GPU)
    most_links = bound_of("links-per-gpu").high
    if line is not None and per_gpu is not None and per_gpu > most_links * line * _PRINTED:
        reason = f"is more than {most_links:g} links of {line:g} Gb/s carry, the most a GPU has"
        yield PER_GPU, ("value",), per_gpu, reason
        return
    rate = per_gpu or max(links.gbits_per_s, line or 0.0) * links.per_gpu
    domain = max(links.domain_gpus, _LEAST_NODE_GPUS)
    for question, answer in answers.items():
        if answer.measured is not None:
            cap = _cap_gbytes_per_s(answer.measured, rate / _BITS_PER_BYTE, domain)
            for key in ("busbw_gbytes_per_s", "algbw_gbytes_per_s"):  # AllReduce's algbw is never above its busbw
                value = getattr(answer.measured, key)
                if cap is not None and value is not None and value > cap * _PRINTED:
                    reason = f"is more than {rate:g} Gb/s a GPU carry between nodes of {domain} GPUs, {cap:.4g} GB/s"
                    yield question, ("measured", key), value, reason


def _cap_gbytes_per_s(log: Log, nic_gbytes_per_s: float, domain: int) -> float | None:
    """Bus bandwidth at which the NICs of a node are full; None for a run inside one node."""
    nodes = -(-log.gpus // domain)
    return None if nodes < 2 else nic_gbytes_per_s * (log.gpus - 1) / (nodes - 1)


def _stated(answers: Mapping[str, Answer], question: str) -> float | None:
    return answers[question].high if question in answers else None


@dataclass(frozen=True)
class Remedies:
    """What to do about faults that are mended otherwise in a workbook than in YAML, which these are for.

    '' leaves it to the schema, which says how a key is written.
    """

    missing: str = ""
    number: str = ""
    range: str = "Write {low: 1, high: 2}."
    unit: str = "Convert it and write unit: {unit}."
    words: str = "Put figures into the words of `answer`, or into `measured`."
    answers: str = "Begin each with '- question: <id>'."


def read_answers(
    path: Path,
    *,
    provider: str,
    as_of: Date | None = None,
    links: Links | None = None,
    fabrics: Collection[str] = (),
) -> AnswerFile:
    """One seller's answers from a YAML file; see `answers_of`."""
    return answers_of(load_strict(path), provider=provider, as_of=as_of, links=links, fabrics=fabrics)


def answers_of(
    located: Located,
    *,
    provider: str,
    as_of: Date | None = None,
    links: Links | None = None,
    fabrics: Collection[str] = (),
    remedies: Remedies | None = None,
) -> AnswerFile:
    """One seller's answers. `provider` is the name in the params; `as_of` refuses answers from after the memo.

    `links` are those of the client's cluster: a bandwidth above what they, or the links answered, carry is refused.
    `fabrics`: ids for which answers may speak, any if none is named. Raises `InputError` with every fault: unknown, missing
    or doubled keys and questions, a value outside its domain or in another unit, a name that is not the params' provider,
    text a page could show otherwise than typed.
    """
    said = remedies or Remedies()
    mended = {kind: words for kind, words in (("missing", said.missing), ("float_type", said.number)) if words}
    found, problems = judged(
        located, AnswerFile, mended=mended, provider=provider, as_of=as_of, fabrics=fabrics, remedies=said
    )
    problems += repeated(located, ("answers",), "question", "is answered twice, first on line {line}", known_ids())
    if found is not None and not problems and links is not None:
        problems = list(_bandwidths(located, found.answers, links))
    if found is None or problems:
        raise InputError(sorted(problems, key=lambda p: p.line or 0))
    rows = enumerate(found.answers.items())
    answers = {q: replace(answer, line=located.line_of(("answers", n))) for n, (q, answer) in rows}
    return replace(found, answers=answers, file=located.file)


def _bandwidths(located: Located, answers: Mapping[str, Answer], links: Links) -> list[Problem]:
    """Every bandwidth that is above what the links carry, in a file without other faults."""
    index = {question: n for n, question in enumerate(answers)}
    remedy = f"Mend it, or state the links of that cluster: `question: {PER_GPU}` with its value."
    return [
        located.problem(("answers", index[question], *keys), reason, value=value, remedy=remedy)
        for question, keys, value, reason in beyond_links(answers, links)
    ]
