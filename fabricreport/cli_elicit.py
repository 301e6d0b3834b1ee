"""`fabricreport elicit`: ask a person what nobody has published, and say what the answers are worth."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabricreport import formats
from fabricreport.cli_shared import JSON, epilog, print_json, told
from fabricreport.decimals import number_remedy
from fabricreport.errors import InputError, Problem

if TYPE_CHECKING:
    from fabricreport.books.elicitation import Question, Seed
    from fabricreport.books.evidence import EvidenceBook
    from fabricreport.books.expert_answers import ExpertFile
    from fabricreport.elicited import Elicited
    from fabricreport.scenario import ParamsFile
    from fabricreport.uncertain import Judgement, Uncertain

FOLDER = "elicited"
"""Where answers are put in the client's own folder, unless another place is named."""


@click.command(epilog=epilog())
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(dir_okay=False, path_type=Path), default=None,
              help="File to write.  [default: <client>/elicited/<name>.yaml beside PARAMS]")  # fmt: skip
@click.option("--form", "as_form", is_flag=True, help="Write an empty form, also on a terminal.")
@click.option("--answers", type=click.Path(path_type=Path), multiple=True,
              help="Check answers and say how well calibrated each expert is; may be given several times.")  # fmt: skip
@JSON
@told
def elicit(params: Path, to: Path | None, as_form: bool, answers: Sequence[Path], as_json: bool) -> int:
    """Ask an expert for P5, P50 and P95 of what nobody has published, for the client of PARAMS.

    On a terminal the questions are asked here; elsewhere a form is written to be filled in. Some questions have known
    answers: they calibrate the expert. Named in the params (`elicited: [FILE, ...]`), answers replace our assumptions.
    """
    from fabricreport.given import read_params

    loaded = read_params(params)
    if answers:
        return _report(params.resolve().parent, answers, loaded.params.as_of, as_json)
    given = _asked(loaded.params.as_of) if _at_a_terminal() and not (as_form or as_json) else None
    return _write(loaded, to, given, as_json)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


# ---- the form


def _write(loaded: ParamsFile, to: Path | None, given: ExpertFile | None, as_json: bool) -> int:
    from fabricreport.books.expert_answers import form
    from fabricreport.project import client_folder, folder_to_file_in
    from fabricreport.scenario import slugify

    params = loaded.path
    target = (
        to
        or folder_to_file_in(params.parent, loaded.slug, FOLDER) / f"{slugify(given.expert) if given else 'form'}.yaml"
    )
    folder = params.resolve().parent
    within = target.resolve().is_relative_to(folder)
    at = target.resolve() if within else client_folder(folder, loaded.slug, FOLDER) / target.name
    name = at.relative_to(folder).as_posix()
    if target.exists():
        raise InputError(Problem("is already there", file=str(target), remedy="Name another file with --to."))
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("x", encoding="utf-8") as handle:
        handle.write(form(name, given))
    if as_json:
        print_json({"ok": True, "written": str(target), "name": name, "filled": given is not None})
        return 0
    click.echo(f"Wrote {target}" + ("." if given else "; fill in every line of it."))
    click.echo(f"Then: fabricreport elicit {params} --answers {target}")
    copied = "" if within else f"copy it to {folder / name}, and "
    click.echo(f"To let it count, {copied}write into {params}:  elicited: [{name}]")
    return 0


def _asked(as_of: date) -> ExpertFile:
    """The answers of a person at the terminal."""
    from fabricreport.books.elicitation import read_questionnaire
    from fabricreport.books.expert_answers import ExpertFile

    asked = read_questionnaire()
    click.echo("P50 is as likely too high as too low; one answer in twenty is below P5, one in twenty above P95.")
    expert = click.prompt("Your name", value_proc=_name)
    role = click.prompt("Your role, and where", value_proc=_name)
    day = min(date.today(), as_of).isoformat()
    click.echo(
        f"\n{len(asked.seeds)} questions whose answers are known come first. They show how well ranges are judged."
    )
    seeds = {q.id: _range(q, may_be_known=True) for q in asked.seeds.values()}
    click.echo("\nNow what nobody has published; leave P5 empty to pass.")
    answers = {q.id: judged for q in asked.questions.values() if (judged := _range(q)) is not None}
    return ExpertFile(expert, role, day, seeds, answers)


def _name(text: str) -> str:
    from fabricreport.hostile_text import clean_text

    try:
        found = clean_text(text.strip(), max_chars=120, one_line=True)
    except InputError as error:
        raise click.UsageError(str(error)) from None
    if not found:
        raise click.UsageError("a name is needed")
    return found


def _range(question: Question, *, may_be_known: bool = False) -> Judgement | None:
    """P5, P50 and P95, asked again until they rise; None for a question that is passed, or whose answer is known."""
    from fabricreport.bounds import bound_of
    from fabricreport.uncertain import Judgement

    word = "known" if may_be_known else ""
    click.echo(f"\n{question.ask}" + ("  (`known` in place of P5 if you know the answer)" if may_be_known else ""))

    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise click.UsageError(f"write a number. {number_remedy(text)}".strip()) from None
        fault = "must be above 0" if not value > 0 else bound_of(question.unit).fault(value)
        if fault:
            raise click.UsageError(fault)
        return value

    def first_number(text: str) -> float | None:
        return None if text.strip() == word else number(text)

    while True:
        passed = None if may_be_known else ""
        first = click.prompt(f"  P5, {question.unit}", default=passed, show_default=False, value_proc=first_number)
        if not isinstance(first, float):
            return None
        middle, last = (click.prompt(f"  {name}, {question.unit}", value_proc=number) for name in ("P50", "P95"))
        if first < middle < last:
            return Judgement(first, middle, last)
        click.echo("  P5, P50 and P95 must rise: once more.")


# ---- what answers are worth


def _report(folder: Path, answers: Sequence[Path], as_of: date, as_json: bool) -> int:
    from fabricreport.books.evidence import read_evidence
    from fabricreport.elicited import read_elicited
    from fabricreport.given import if_there
    from fabricreport.project import book_folder

    found = read_elicited(Path(), [str(path) for path in answers], as_of)
    library = read_evidence(if_there(book_folder(folder, "evidence")))
    if as_json:
        print_json({"ok": True, **_facts(found, library)})
        return 0
    for line in _lines(found, library):
        click.echo(line)
    return 0


def _facts(found: Elicited, library: EvidenceBook) -> dict[str, Any]:
    experts = [
        {"expert": e.expert, "role": e.role, "date": e.date, "file": e.file, **vars(s)}
        for e, s in zip(found.experts, found.scores, strict=True)
    ]
    equal = found.figures(equally=True)
    entries = {
        entry: {"library": library[entry].figure.written(), "pooled": f.written(), "equal": equal[entry].written()}
        for entry, f in found.figures().items()
    }
    return {"experts": experts, "entries": entries}


def _lines(found: Elicited, library: EvidenceBook) -> Iterator[str]:
    for expert, score in zip(found.experts, found.scores, strict=True):
        yield f"{expert.expert}, {expert.role}, {expert.date}"
        yield (
            f"  {score.surprises} of {score.seeds} answers outside P5 to P95; calibration {score.calibration:.2g}, "
            f"information {score.information:.2g}, weight {score.weight:.2g}"
        )
        yield from _seeds(found.asked.seeds, expert.seeds)
    equal = found.figures(equally=True)
    for entry, figure in found.figures().items():
        unit = library[entry].unit
        yield f"{library[entry].what}"
        yield f"  the library's  {_ends(library[entry].figure, unit)}, {library[entry].grade}"
        yield f"  elicited       {_ends(figure, unit)}"
        yield f"  equal weights  {_ends(equal[entry], unit)}" if len(found.experts) > 1 else "  one expert: no weights"


def _seeds(asked: Mapping[str, Seed], given: Mapping[str, Judgement | None]) -> Iterator[str]:
    for seed in asked.values():
        judged = given[seed.id]
        answer = formats.write(seed.answer, seed.unit, 4)
        if judged is None:
            yield f"  - {seed.short}: known beforehand, not counted ({answer})"
            continue
        verdict = "outside" if judged.surprised_by(seed.answer) else "inside"
        low, middle, high = (formats.write(v, seed.unit, 3) for v in judged.quantiles)
        yield f"  - {seed.short}: {low} to {high}, median {middle}; it was {answer}: {verdict}"


def _ends(figure: Uncertain, unit: str) -> str:
    low, middle, high = (formats.write(v, unit, 3) for v in (figure.low, figure.mode, figure.high))
    return f"{low} to {high}, median {middle}"
