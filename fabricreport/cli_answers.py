"""`fabricreport questionnaire` and `fabricreport answers`: send a seller our questions, and file what comes back."""

from __future__ import annotations

from pathlib import Path

import click

from fabricreport.cli_shared import JSON, epilog, print_json, told
from fabricreport.errors import InputError, Problem

_KINDS = (".xlsx", ".yaml", ".yml")


@click.command(epilog=epilog())
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--provider", metavar="NAME", required=True, help="The seller to ask, by any name up to 80 characters.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), default=None, metavar="FILE",
              help="File to write, .xlsx or .yaml.  [default: questionnaires/<client>/<provider>.xlsx]")  # fmt: skip
@JSON
@told
def questionnaire(params: Path, provider: str, output: Path | None, as_json: bool) -> int:
    """Write the questions that the client of PARAMS puts to a seller, as a form to fill in: a workbook, or YAML."""
    if output is not None and output.suffix.lower() not in _KINDS:
        raise InputError(Problem("is no kind of form", str(output), remedy=f"End it in {' or '.join(_KINDS)}."))
    from fabricreport.asking.questionnaire import questionnaire_of
    from fabricreport.books.questionnaire.commented import as_yaml
    from fabricreport.books.questionnaire.form import provider_name
    from fabricreport.books.questionnaire.workbook import as_workbook
    from fabricreport.case import open_case
    from fabricreport.scenario import client_slug, slugify

    name = provider_name(provider)
    case = open_case(params)
    form = questionnaire_of(case, name)
    target = output or Path("questionnaires") / client_slug(case.params) / f"{slugify(name, 'provider')}.xlsx"
    _write(target, as_workbook(form, case.as_of) if target.suffix.lower() == _KINDS[0] else as_yaml(form))
    if as_json:
        ids = [question.id for question in form.questions]
        print_json({"ok": True, "written": str(target), "provider": name, "questions": ids})
        return 0
    click.echo(f"Wrote {target}: {len(form.questions)} questions for {name}")
    click.echo(f"Then: fabricreport answers {target} --params {params}")
    return 0


def _write(target: Path, data: bytes) -> None:
    """Write the form, never over one that is there and may be filled in."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as handle:
            handle.write(data)
    except FileExistsError as error:
        raise InputError(Problem("is already there", str(target), remedy="Name another file with --output.")) from error
    except OSError as error:
        message = f"cannot be written ({error.strerror or error})"
        raise InputError(Problem(message, str(target), remedy="Check the folder and disk.")) from error


@click.command(epilog=epilog())
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--params", type=click.Path(path_type=Path), required=True,
              help="Params file of the client that asked; it is made to name the answers.")  # fmt: skip
@JSON
@told
def answers(file: Path, params: Path, as_json: bool) -> int:
    """Check a filled questionnaire FILE (XLSX or YAML) and file it as <client>/providers/<name>.yaml beside the params.

    The entry of that provider in the params gets `answers:`, and nothing else of them changes. Where anything is wrong
    nothing is written; the same answers twice change nothing.
    """
    from fabricreport.asking.filing import file_answers

    filed = file_answers(file, params)
    if as_json:
        print_json(filed.as_dict())
        return 0
    for note in filed.notes:
        click.echo(f"note: {note}", err=True)
    if not filed.named:
        click.echo(f"note: {params} could not be edited safely; write into it, {filed.line}", err=True)
    count = len(filed.questions)
    for path in filed.changed:
        click.echo(f"wrote {path}")
    click.echo(
        f"{count} answer{'s' if count > 1 else ''} of {filed.provider} in {filed.file}"
        + ("" if filed.changed else ", as before")
    )
    return 0
