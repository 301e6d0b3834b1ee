"""The questionnaire as YAML: a file of answers whose comments say what is asked, ready to be filled in."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from fabricreport.books.answers import LONGEST_ANSWER, MEASURED
from fabricreport.books.questionnaire.form import Questionnaire, group_of, takes_benchmark, wording
from fabricreport.books.questions import Proof, Question
from fabricreport.strict_yaml import quoted

_WIDTH = 118


def as_yaml(form: Questionnaire) -> bytes:
    """The form; what is left as it is counts as not answered."""
    return ("\n".join(_lines(form)) + "\n").encode("utf-8")


def _lines(form: Questionnaire) -> Iterator[str]:
    words = wording()
    head = words.yaml_head.format(title=words.title, longest_answer=LONGEST_ANSWER, cluster=form.cluster)
    for line in head.splitlines():
        yield f"# {line}".rstrip()
    for proof in Proof:
        yield f"#   {proof:<10} {words.proofs[proof]}"
    yield f"provider: {quoted(form.provider)}"
    notes = words.yaml_notes
    yield f"date:            # {notes['date']}"
    yield f"answered_by:     # {notes['answered_by']}"
    yield from _comment(f"{notes['fabric']} {', '.join(form.fabrics)}", indent="")
    yield "fabric:"
    yield "answers:"
    last = ""
    for question in form.questions:
        group = group_of(question)
        if group != last:
            yield ""
            yield f"  # ==== {words.groups[group]}"
        last = group
        yield ""
        yield from _entry(question)


def _entry(question: Question) -> Iterator[str]:
    columns = wording().columns
    yield from _comment(f"{question.title}. {question.question}")
    yield from _comment(f"{columns['why'].head}: {question.why}")
    yield from _comment(f"{columns['good'].head}: {question.good}")
    yield f"  - question: {question.id}"
    yield "    answer:"
    if question.unit:
        yield "    # value:"
        yield f"    # unit: {question.unit}"
    if question.choices:
        yield f"    # choice:        # {' | '.join(question.choices)}"
    accepts = ", ".join(question.accepts)
    yield f"    # evidence:      # {' | '.join(Proof)}; we look for: {accepts}"
    yield "    # document:"
    if takes_benchmark(question):
        yield f"    # measured: {{{', '.join(f'{key}: ...' for key in MEASURED)}}}"


def _comment(text: str, indent: str = "  ") -> Iterator[str]:
    lead = f"{indent}# "
    yield from textwrap.wrap(text, _WIDTH, initial_indent=lead, subsequent_indent=lead, break_on_hyphens=False)
