"""Build a new edition only if it would say something else than the last, and say what moved.

anything changed? (a stamp) -> would the headline or a mark of age move? (a probe of the case) -> build
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.files import HAS_LINKS
from fabricreport.base.text import Shown
from fabricreport.memo.editions.editions import LATEST, EditionInfo, edition_before, latest_edition, publish, verify
from fabricreport.memo.editions.locks import disk_errors, scratch_folder
from fabricreport.memo.editions.manifest import MANIFEST, HeadlineChange, read_output, read_sealed
from fabricreport.memo.editions.probe import Probe, moves, probe
from fabricreport.memo.run.recall import Places, Planned, Question, recall, remember
from fabricreport.memo.run.snapshot import PART

if TYPE_CHECKING:
    from fabricreport.books.prices.book import PriceBook
    from fabricreport.books.prices.rules import PriceRow
    from fabricreport.check.dates import Dates
    from fabricreport.memo.build import BuildResult
    from fabricreport.memo.editions.manifest import ProgressCall
    from fabricreport.memo.report import Cited
    from fabricreport.memo.run.plan import BuildPlan
    from fabricreport.scenario import ParamsFile

NEWEST_PRICE = "the newest price's day"

__all__ = ["HeadlineChange", "RefreshPlan", "RefreshResult", "plan_refresh", "refresh"]


@dataclass(frozen=True)
class RefreshPlan:
    """Whether a new edition is due, why, and as of which day. `last` is None if there is no edition yet.

    `reasons` tell what the last edition rested on and what is not so any more; `probe` what of it a reader would see, None
    where that was not asked or cannot be told. `held`: newer prices that a person has to settle, and rows that are no price. `last_good`: prices to go on with where a row of the price files is no price; None where every row is one.
    """

    changed: bool
    reasons: tuple[str, ...]
    slug: str
    as_of: str
    last: EditionInfo | None
    messages: tuple[str, ...] = ()
    last_good: tuple[PriceRow, ...] | None = None
    held: tuple[str, ...] = ()
    probe: Probe | None = None
    moved_share: float = field(default=0.0, compare=False)

    @property
    def why(self) -> str:
        """What changed since the last edition, and where nobody would be told anything, that."""
        if self.last is None or self.changed:
            return "; ".join(self.reasons)
        since = f"since edition {self.last.edition}"
        if self.reasons:
            return f"{'; '.join(self.reasons)}, but no material number moved {since}"
        return f"nothing that moves a number has changed {since}"


@dataclass(frozen=True, repr=False)
class RefreshResult(Shown):
    """What a refresh did: the plan, the new edition (None if nothing was due, or in a dry run), the headline figures that moved."""

    plan: RefreshPlan
    built: BuildResult | None = None
    changes: tuple[HeadlineChange, ...] = ()

    @property
    def facts(self) -> Mapping[str, Any]:
        """What it shows of itself."""
        return {
            "Refresh": "; ".join(map(str.strip, self.text().splitlines())),
            **(self.built.facts if self.built else {}),
        }

    def text(self) -> str:
        """What was done and why; of a dry run what would be done, and what would move."""
        plan, found = self.plan, self.plan.probe or Probe()
        aged = [f"\n  mark of age: {one}" for one in found.aged]
        if self.built is not None or not plan.changed:
            return "".join([plan.why, *aged])
        moved = (f"\n  would move: {one}" for one in found.moved)
        return "".join([f"would be built: {plan.why}", *moved, *aged])

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        plan, probe = self.plan, self.plan.probe
        return {
            "changed": plan.changed,
            "reasons": plan.reasons,
            "messages": plan.messages,
            "held": plan.held,
            "would_move": probe and [vars(one) for one in probe.moved],
            "marks_of_age": probe and probe.aged,
            "built": self.built and self.built.as_dict(),
            "changes": [vars(one) for one in self.changes],
        }


def plan_refresh(
    params_path: str | Path,
    *,
    output: str | Path,
    as_of: str | date | None = None,
    places: Places | None = None,
    progress: ProgressCall | None = None,
    always: bool = False,
    dry_run: bool = False,
) -> RefreshPlan:
    """Compare what the client's last edition rested on, and says, with what a build would rest on and say now.

    The new date is `as_of`, else the newest date of the price book, else the params' own if that is newer; the
    clock is never asked; nor is it before the last edition's. With `always` an edition is due for any change. The evidence report is made first where it is
    missing or out of date; a `dry_run` writes nothing. `InputError` if the params or the books are wrong.
    """
    params_path, root = Path(params_path), Path(output)
    places = places or Places.of(params_path)
    from fabricreport.memo.build import cites_well

    question = _question(params_path, places, as_of, always)
    before = question.stamp()
    known = recall(root, question, before)
    last = _standing(known, root) if known is not None and cites_well(root, places) else None
    if known is not None and last is not None:
        return RefreshPlan(False, (), known.slug, known.as_of, last, known.notes, held=known.held)
    plan, kept = _compared(question, root, as_of, progress, always=always, dry_run=dry_run)
    if plan.last_good is None and not dry_run:
        answer, stands = kept.planned(), None if plan.changed else plan.last
        if stands is not None:  # nothing moves a reader: what comes of it is the edition that stands
            digest = str(_manifest_of(stands).get("content_sha256", ""))
            answer = replace(answer, edition=stands.edition, digest=digest)
        notes = tuple(dict.fromkeys((*plan.messages, *plan.held)))
        remember(root, question, before, replace(answer, notes=notes, held=plan.held), kept.snapshot)
    return plan


def _question(params_path: Path, places: Places, as_of: str | date | None, always: bool) -> Question:
    day_words = NEWEST_PRICE if as_of is None else f"as of {as_of}"
    return Question(params_path, places, f"refresh{' always' if always else ''}, {day_words}")


def known_slug(
    params_path: Path, *, output: Path, as_of: str | date | None = None, always: bool = False, **_: object
) -> str:
    """The client's folder, if nothing has changed since it was asked; else ''."""
    question = _question(params_path, Places.of(params_path), as_of, always)
    known = recall(output, question, question.stamp())
    return known.slug if known else ""


def _compared(
    question: Question,
    root: Path,
    as_of: str | date | None,
    progress: ProgressCall | None,
    *,
    always: bool,
    dry_run: bool,
) -> tuple[RefreshPlan, BuildPlan]:
    """The last edition beside what a build would come to, whose frozen inputs are gone when this is known."""
    from fabricreport.inputs.dossier import read_params, read_prices
    from fabricreport.memo.run.plan import load_checked, make_plan, parse_date

    params_path, places = question.params_path, question.places
    loaded = read_params(params_path)
    last = latest_edition(root, loaded.slug)
    day, messages = (as_of, []) if as_of is not None else feed_day(loaded, places)
    if as_of is None and last is not None:  # a memo is not made of an earlier day than the one that stands
        day = max(parse_date(day), date.fromisoformat(last.as_of))
    loaded = load_checked(params_path, places, day, going_on=True)
    report = _report(root, places, progress, dry_run)
    book = read_prices(loaded.folder, loaded.slug, places.project_params)
    good, told = _going_on(book, parse_date(day), last)
    work: AbstractContextManager[str | Path] = tempfile.TemporaryDirectory() if dry_run else scratch_folder(root)
    with disk_errors(root), work as scratch:
        plan = make_plan(
            loaded, Path(scratch), attach=_attaches(last), as_of=day, places=places, last_good=good, report=report, before=partial(edition_before, root),
        )  # fmt: skip
        reasons = tuple(_reasons(plan, last, cites=not (dry_run and places.report and report is None)))
        rewritten = any(
            reason.startswith(f"{plan.slug}/{PART}/") for reason in reasons
        )  # what it says no probe can tell
        found = None if always or rewritten or not reasons or last is None else _probed(plan, last)
    changed = bool(reasons) and not (found is not None and found.is_quiet)
    asked = [one.date for one in book.quarantine if one.is_question and one.date]  # a row that is held sets no date
    held = tuple(str(one) for one in book.at(max([parse_date(day), *asked])).questions)
    told_too = () if changed else held  # a build tells them itself
    held = (*told, *held)  # who watches is told of a row that is no price, too
    given = (*messages, *told, *told_too), good if told else None, held
    return RefreshPlan(
        changed, reasons, plan.slug, plan.as_of, last, *given, found, plan.params.refresh.moved_share
    ), plan


def _report(root: Path, places: Places, progress: ProgressCall | None, dry_run: bool) -> Cited | None:
    """The evidence report that the memo cites, made first where it is missing; by a dry run only looked for."""
    from fabricreport.memo.build import cited_report
    from fabricreport.memo.report import standing_report

    if not dry_run or places.report is None:
        return cited_report(root, places, progress)
    found = standing_report(root, places.report)
    return found.cited if found else None


def _probed(plan: BuildPlan, last: EditionInfo) -> Probe | None:
    """What a reader of the last edition would see move; None where only a build can tell: of an edition that is damaged or
    of an analyst's own headline, or where the analysis fails, which a build names cell by cell."""
    from fabricreport.case import open_case

    headline = _manifest_of(last).get("headline") or {}
    if "course" not in headline or verify(last.folder):
        return None
    ledger = json.loads(read_output(last.folder, "ledger.json"))
    try:
        case = open_case(plan.snapshot.params_json)
        return probe(case, headline, {record["id"]: record for record in ledger["inputs"]})
    except Exception:
        return None


def _going_on(book: PriceBook, day: date, last: EditionInfo | None) -> tuple[tuple[PriceRow, ...], list[str]]:
    """Prices of the last edition to restate where a row since is no price, and what to tell of each such row."""
    from fabricreport.memo.editions.remains import prices_of

    faults = [held for held in book.quarantine if held.is_fault]
    if not faults:
        return (), []
    now = book.in_use(day)
    used = prices_of(last.folder, last.client, date.fromisoformat(last.as_of)) if last else {}
    restated = {}
    for held in faults:
        if held.item in used:
            row = used[held.item]
            since = held.date is None or row.date <= held.date <= day
            if since and (held.item not in now or row.cells() != now[held.item].cells()):
                restated[held.item] = row
    after = book.with_own(*restated.values()).at(day)
    told = []
    for held in faults:
        price = after.get(held.item)
        use = (
            f"the last good price, {price.price:,.10g} {price.currency} of {price.date}" if price else "no price of it"
        )
        told.append(f"{held.file}:{held.line}: {held.item}: {held.message}. The memo goes on with {use}; mend the row.")
    return tuple(restated.values()), told


def _standing(known: Planned, root: Path) -> EditionInfo | None:
    """The client's latest edition if it is the one that the inputs are known to come to, and whole."""
    last = latest_edition(root, known.slug)
    if last is None or last.edition != known.edition or verify(last.folder):
        return None
    return last if _manifest_of(last).get("content_sha256") == known.digest else None


def refresh(
    params_path: str | Path,
    *,
    output: str | Path,
    as_of: str | date | None = None,
    progress: ProgressCall | None = None,
    dates: Callable[[Dates], None] | None = None,
    places: Places | None = None,
    always: bool = False,
    dry_run: bool = False,
    trust_notebooks: bool = False,
) -> RefreshResult:
    """Build the new edition if one is due; every earlier edition stays. A second run does nothing, nor does a `dry_run`.

    `dates` is handed the dates that today's may be held against, if there is something to build.

    >>> refresh("params/example.yaml", output=output, dry_run=True).built is None
    True
    """
    from fabricreport.memo.build import build

    places = places or Places.of(Path(params_path), trusted=trust_notebooks)
    plan = plan_refresh(
        params_path, output=output, as_of=as_of, places=places, progress=progress, always=always, dry_run=dry_run
    )
    if dry_run:
        return RefreshResult(plan)
    if not plan.changed:
        return RefreshResult(_with_latest(plan, Path(output)))
    old = _manifest_of(plan.last)
    built = build(
        params_path, output=output, attach=_attaches(plan.last), as_of=plan.as_of, progress=progress, dates=dates, places=places,
        last_good=plan.last_good,
    )  # fmt: skip
    now = latest_edition(Path(output), plan.slug)
    why = now.why_since(plan.last.edition) if now and plan.last else {}
    found = moves(old["headline"], built.headline, plan.moved_share, why) if old.get("headline") else ()
    return RefreshResult(plan, built, tuple(found))


def _with_latest(plan: RefreshPlan, root: Path) -> RefreshPlan:
    """See to it that `latest` points to the edition that still holds; if it did not, the plan says so."""
    if plan.last is None or plan.last.latest or not HAS_LINKS:
        return plan
    with disk_errors(root), scratch_folder(root) as scratch:
        at = publish(scratch, root, plan.slug, plan.last.edition)
    told = f"{at.folder.parent / LATEST} was gone: it points to {plan.last.edition} again"
    return replace(plan, last=replace(plan.last, latest=True), messages=(*plan.messages, *at.messages, told))


def feed_day(loaded: ParamsFile, places: Places) -> tuple[date, list[str]]:
    """The day a refresh is as of, and what to tell about it: the price book's newest, or the params' own if later."""
    from fabricreport.check.check import book_day

    own = loaded.params.as_of
    found = book_day(loaded.folder, loaded.slug, places.project_params)
    return max(own, found.day or own), list(found.notes)


def _attaches(last: EditionInfo | None) -> bool:
    """A client whose last edition has no attachments is not sent any by the next."""
    from fabricreport.memo.run.plan import NO_ATTACHMENTS

    kept = _manifest_of(last).get("fingerprint")
    return not (isinstance(kept, Mapping) and NO_ATTACHMENTS in str(kept.get("variant")))


def _manifest_of(last: EditionInfo | None) -> dict[str, Any]:
    try:
        return read_sealed(last.folder / MANIFEST) if last else {}
    except (OSError, ValueError):
        return {}


def _reasons(plan: BuildPlan, last: EditionInfo | None, cites: bool) -> list[str]:
    """What a new edition would rest on that the last does not; without `cites` whatever report they cite."""
    if last is None:
        return ["there is no edition yet"]
    old = _manifest_of(last).get("fingerprint")
    if not isinstance(old, Mapping):
        return [f"the record of edition {last.edition} cannot be read"]
    new = asdict(plan.fingerprint)
    found = []
    if last.as_of != plan.as_of:
        found.append(f"the date moved: {last.as_of} -> {plan.as_of}")
    elif old.get("params") != new["params"]:
        found.append("the params changed")
    found += _differences("", old.get("inputs", {}), new["inputs"])
    found += _differences("the notebook ", old.get("notebooks", {}), new["notebooks"])
    if old.get("notebook_helpers") != new["notebook_helpers"]:
        found.append("files beside the notebooks changed")
    if old.get("package") != new["package"]:
        found.append("the fabricreport package changed")
    elif cites and old.get("report", "") != new["report"]:
        found.append("the evidence report changed")
    found += _version_changes(old.get("versions", {}), new["versions"])
    found += [f"{k}: {old.get(k)} -> {new[k]}" for k in ("python", "seed", "variant") if old.get(k) != new[k]]
    if not found and (faults := verify(last.folder)):
        found.append(f"edition {last.edition} is damaged: {faults[0]}")
    return found


def _differences(kind: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    found = []
    for name in sorted({*old, *new}):
        if name not in old:
            found.append(f"{kind}{name} is new")
        elif name not in new:
            found.append(f"{kind}{name} is gone")
        elif old[name] != new[name]:
            found.append(f"{kind}{name} changed")
    return found


def _version_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    names = sorted({*old, *new})
    return [f"{n}: {old.get(n, 'none')} -> {new.get(n, 'none')}" for n in names if old.get(n) != new.get(n)]
