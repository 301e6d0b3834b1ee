"""`fabricreport trace`: follow one question from what is asked to what its tests found."""

from __future__ import annotations

from pathlib import Path

import click

from fabricreport.cli_shared import JSON, epilog, print_json, told


@click.command(epilog=epilog("An id that no question has ends with 2 and the nearest."))
@click.argument("question", metavar="QUESTION")
@click.argument("params", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=Path("output"), show_default=True,
              help="Folder that holds all editions, and what tests found.")  # fmt: skip
@JSON
@told
def trace(question: str, params: Path, output: Path, as_json: bool) -> int:
    """Follow QUESTION (Q-NET-07, or its former name) for the client of PARAMS.

    What is asked, what each seller answered, on what evidence, which inputs and numbers that moves, the clause as it stands,
    the tests that hold a seller to it, and their result.
    """
    from fabricreport.case import open_case
    from fabricreport.tracing import question_of
    from fabricreport.tracing import trace as follow

    question_of(question)  # an id that is wrong is told before the models run
    found = follow(open_case(params), question, output)
    print_json(found.as_dict()) if as_json else click.echo(found.as_text())
    return 0
