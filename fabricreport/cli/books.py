"""Commands over the books: `fabricreport prices`, `fabricreport evidence` and `fabricreport elicit`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from fabricreport.base import formats
from fabricreport.base.errors import InputError, Problem
from fabricreport.base.formats import number_remedy
from fabricreport.base.project import book_folder, filing_folder
from fabricreport.cli.options import CLIENT, DAY, EXIT_CODES, JSON, OUTPUT, epilog, print_json, told

if TYPE_CHECKING:
    from fabricreport.base.uncertain import Judgement, Uncertain
    from fabricreport.books.elicitation import ExpertFile, Question, Seed
    from fabricreport.books.evidence import EvidenceBook
    from fabricreport.books.prices.book import PriceBook
    from fabricreport.books.prices.subscriptions import Fetched
    from fabricreport.inputs.replacements import Elicited
    from fabricreport.scenario import ParamsFile
    from fabricreport.sections.decision.study import Carrying


def default_folder() -> Path:
    """The folder that a build of a params file here would read: `prices` or `params/prices` here, else the one shipped."""
    return book_folder(Path(), "prices")


PRICES = click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=default_folder,
    help="Folder of price files.  [default: prices or params/prices here, else those shipped]",
)  # fmt: skip

FILING = click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=lambda: filing_folder(Path(), "prices"),
    help="Folder of price files.  [default: prices or params/prices here]",
)  # fmt: skip


@click.group(epilog=EXIT_CODES)
def prices() -> None:
    """Show, check and import the price book, and settle held prices."""


@prices.command(name="show", epilog=epilog())
@click.argument("item", required=False)
@PRICES
@click.option("--as-of", type=DAY, default=None, help="Day to show.  [default: the newest price's date]")
@JSON
@told
def show(item: str | None, folder: Path, as_of: date | None, as_json: bool) -> None:
    """Show the prices in use on a day, or one ITEM with its history."""
    from fabricreport.books.prices.reports import show_prices

    listing = show_prices(folder, _day(folder, as_of), item)
    print_json(listing.as_dict()) if as_json else click.echo(listing.text())


@prices.command(name="check", epilog=epilog())
@PRICES
@click.option("--as-of", type=DAY, default=None, help="Day to check for.  [default: the newest price's date]")
@JSON
@told
def check_(folder: Path, as_of: date | None, as_json: bool) -> int:
    """Check every price file: malformed rows, held prices, stale ones."""
    from fabricreport.books.prices.reports import check_prices

    report = check_prices(folder, _day(folder, as_of))
    print_json(report.as_dict()) if as_json else click.echo(report.text())
    return report.exit_code


@prices.command(name="import", epilog=epilog())
@click.argument("source")
@click.option("--kind", type=click.Choice(["auto", "csv", "gpu-hour-history", "skypilot"]), default="auto",
              show_default=True, help="Format of the source.")  # fmt: skip
@click.option("--name", default=None, help="File to write, without .csv.  [default: the source's name]")
@click.option("--provider", default=None, help="Provider of a SkyPilot catalog.  [default: the file's name]")
@click.option("--as-of", type=DAY, default=None, help="Date of a feed that has none of its own.")
@FILING
@JSON
@told
def import_(
    source: str, kind: str, name: str | None, provider: str | None, as_of: date | None, folder: Path, as_json: bool
) -> int:
    """Import prices from a path or an http(s) address SOURCE; history is kept, odd prices are held."""
    from fabricreport.books.prices.feeds import import_prices

    report = import_prices(source, kind, folder=folder, name=name, as_of=as_of, provider=provider)
    print_json(report.as_dict()) if as_json else click.echo(report.text())
    return 0 if report.ok else InputError.exit_code


@prices.command(name="fetch", epilog=epilog())
@FILING
@OUTPUT
@JSON
@told
def fetch(folder: Path, output: Path, as_json: bool) -> int:
    """Import what is new in the feeds of `feeds.yaml` in the folder, as `refresh` does; the cache beside OUTPUT tells that."""
    done = fetched(folder, output)
    print_json([one.as_dict() for one in done]) if as_json else click.echo("\n".join(one.text() for one in done))
    return 0 if all(one.ok for one in done) else InputError.exit_code


def fetch_first(params: Sequence[Path], output: Path, *, quiet: bool, as_json: bool) -> list[dict[str, Any]]:
    """Take the feeds of every price book that these clients read, and tell what came of them on stderr."""
    folders = dict.fromkeys(filing_folder(path.resolve().parent, "prices") for path in params)
    done = [one for folder in folders if (folder / "feeds.yaml").exists() for one in fetched(folder, output)]
    for one in done if not as_json else ():
        if one.is_news or not quiet:
            click.echo(one.text(), err=True)
    return [one.as_dict() for one in done]


def fetched(folder: Path, output: Path) -> tuple[Fetched, ...]:
    """Take the feeds of one folder of prices, while nobody else with this cache does."""
    from fabricreport.books.prices.subscriptions import fetch_feeds
    from fabricreport.memo.editions.locks import held_by_one
    from fabricreport.memo.run.recall import cache_place

    cache = cache_place(output).folder
    with held_by_one(cache, "feeds.lock") if cache else contextlib.nullcontext():
        return fetch_feeds(folder, cache=cache, now=datetime.now().astimezone())


def _settling(verdict: Literal["accept", "reject"]) -> None:
    """The command that settles a held row one way."""

    @prices.command(name=verdict, epilog=epilog())
    @click.argument("item")
    @click.option("--who", required=True, help="Who decides.")
    @click.option("--why", required=True, help="On what grounds.")
    @click.option("--params", type=click.Path(path_type=Path), default=None,
                  help="Decide for this client alone.  [default: for all who read these prices]")  # fmt: skip
    @click.option("--date", "row_date", type=DAY, default=None,
                  help="The row of this day.  [default: the newest that is held]")  # fmt: skip
    @PRICES
    @JSON
    @told
    def settle_(
        item: str, who: str, why: str, params: Path | None, row_date: date | None, folder: Path, as_json: bool
    ) -> None:
        from fabricreport.books.prices.book import PriceBook
        from fabricreport.books.prices.reports import settle

        book, beside = _own_book(params) if params else (PriceBook.read(folder), folder)
        found = settle(book, beside, item, verdict, who=who, why=why, on=date.today(), row_date=row_date)
        item, left = found.decision.item, len(found.left)
        facts = {"ok": True, "item": item, "verdict": verdict, "file": found.file, "left": left}
        print_json(facts) if as_json else click.echo(found.text())

    settle_.help = (
        "Use the held price of ITEM, and judge the next by it." if verdict == "accept"
        else "Never use the held price of ITEM, and ask no more."
    )  # fmt: skip


_settling("accept")
_settling("reject")


def _own_book(params: Path) -> tuple[PriceBook, Path]:
    """The prices that one client reads, and the folder of its own in which its decisions are kept."""
    from fabricreport.base.project import folder_to_file_in
    from fabricreport.inputs.dossier import read_params, read_prices

    loaded = read_params(params)
    return read_prices(loaded.folder, loaded.slug), folder_to_file_in(loaded.folder.resolve(), loaded.slug, "prices")


def _day(folder: Path, as_of: date | None) -> date:
    """The day asked for, else the newest date in the folder."""
    from fabricreport.books.prices.book import PriceBook

    return as_of or PriceBook.read(folder).newest or date.max


@click.command(epilog=epilog())
@click.option("--claims", is_flag=True, help="The audit of what the articles claim, instead of the library.")
@click.option("--carrying", type=click.Path(path_type=Path), default=None, metavar="PARAMS",
              help="What is assumed or estimated and carries this client's advice, the most worth knowing first.")  # fmt: skip
@JSON
@told
def evidence(claims: bool, carrying: Path | None, as_json: bool) -> int:
    """List the evidence library, the audited claims, or the assumptions that carry an advice."""
    if claims and carrying is not None:
        raise click.UsageError("Give --claims or --carrying PARAMS.")
    if carrying is not None:
        return _carrying(carrying, as_json)
    rows = _claims() if claims else _library()
    if as_json:
        print_json(rows)
        return 0
    for row in rows:
        what = f"{row['verdict']}: {row['claim']}" if claims else f"[{row['grade']}] {row['what']}"
        click.echo(f"{row['id']:44} {what}")
    return 0


def _carrying(params: Path, as_json: bool) -> int:
    from fabricreport.case import open_case
    from fabricreport.sections.decision.study import carrying_of

    case = open_case(params)
    found = carrying_of(case.inputs, case.knowledge, case.decision())
    print_json(found.as_dict()) if as_json else click.echo("\n".join(_lines(found)))
    return 0


def _lines(found: Carrying) -> Iterator[str]:
    yield (
        f"{found.client}: {len(found.carried)} of {found.of} inputs that are assumed or estimated carry the advice, "
        "by what knowing each alone is worth."
    )
    for one in found.carried:
        worth = formats.write(one.telling, "usd", 2, found.currency) if one.telling else "not told from nothing"
        yield f"{one.id}  [{one.grade}]  worth {worth}"
        yield f"    {one.what}: {one.text}"
        for place in one.turns:
            chance = formats.percent(place.chance)
            yield f"    turns the advice {place.side} {place.text} (chance {chance}): {place.course}"
        yield f"    {one.settles}; {one.when}"
        if one.searched:
            yield f"    searched {one.searched}"


def _claims() -> list[dict[str, object]]:
    from fabricreport.sections.evidence.result import audit

    return [c.as_dict() for c in audit()]


def _library() -> list[dict[str, object]]:
    from fabricreport.base.project import book_folder
    from fabricreport.books.evidence import read_evidence

    folder = book_folder(Path.cwd(), "evidence")
    return [e.as_dict() for e in read_evidence(folder if folder.is_dir() else None).values()]


FOLDER = "elicited"
"""Where answers are put in the client's own folder, unless another place is named."""


@click.command(epilog=epilog())
@CLIENT
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
    from fabricreport.inputs.dossier import read_params

    loaded = read_params(params)
    if answers:
        return _report(params.resolve().parent, answers, loaded.params.as_of, as_json)
    given = _asked(loaded.params.as_of) if _at_a_terminal() and not (as_form or as_json) else None
    return _write(loaded, to, given, as_json)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


# ---- the form


def _write(loaded: ParamsFile, to: Path | None, given: ExpertFile | None, as_json: bool) -> int:
    from fabricreport.base.project import client_folder, folder_to_file_in
    from fabricreport.books.elicitation import form
    from fabricreport.scenario import slugify

    params = loaded.path
    stem = slugify(given.expert) if given else "form"
    target = to or folder_to_file_in(params.parent, loaded.slug, FOLDER) / f"{stem}.yaml"
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
    from fabricreport.books.elicitation import ExpertFile, read_questionnaire

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
    from fabricreport.base.text import clean_text

    try:
        found = clean_text(text.strip(), max_chars=120, one_line=True)
    except InputError as error:
        raise click.UsageError(str(error)) from None
    if not found:
        raise click.UsageError("a name is needed")
    return found


def _range(question: Question, *, may_be_known: bool = False) -> Judgement | None:
    """P5, P50 and P95, asked again until they rise; None for a question that is passed, or whose answer is known."""
    from fabricreport.base.bounds import bound_of
    from fabricreport.base.uncertain import Judgement

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
    from fabricreport.base.project import book_folder
    from fabricreport.books.evidence import read_evidence
    from fabricreport.inputs.dossier import if_there
    from fabricreport.inputs.replacements import read_elicited

    found = read_elicited(Path(), [str(path) for path in answers], as_of)
    library = read_evidence(if_there(book_folder(folder, "evidence")))
    lines = _score_lines(found, library)
    print_json({"ok": True, **_facts(found, library)}) if as_json else click.echo("\n".join(lines))
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


def _score_lines(found: Elicited, library: EvidenceBook) -> Iterator[str]:
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
