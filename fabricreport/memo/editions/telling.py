"""What a scheduled run has to tell: each thing once, and that a failure is over.

What was told of a params file is kept in the cache folder of the output; where that is gone, things are told again.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import FabricReportError, NobodyTold
from fabricreport.base.files import write_if_new
from fabricreport.base.text import visible
from fabricreport.memo.editions.editions import EditionInfo, latest_edition
from fabricreport.memo.editions.locks import held_by_one
from fabricreport.memo.editions.manifest import read_output, read_sealed, sealed
from fabricreport.memo.editions.probe import ACTION, moves
from fabricreport.memo.run.recall import cache_place
from fabricreport.memo.run.snapshot import canonical, sha256

if TYPE_CHECKING:
    from fabricreport.memo.editions.manifest import HeadlineChange
    from fabricreport.memo.editions.refresh import RefreshResult

SHOWN = 6
"""As many expired prices as are named."""
_FEEDS = Path("feeds.yaml")
"""Stands for all feeds among the params of which something was told."""


@dataclass(frozen=True)
class News:
    """What is to be told of one params file after a run.

    `moved`: what of the headline moved in a new edition; `held`: newer prices that were not held before; `expired`: prices
    behind the headline that have run out since the memo was made, and when; `failed`: why nothing could be built; `mended`:
    it had failed and does not any more. `edition` is the one that stands, `standing` how old it is.
    """

    params: str
    client: str = ""
    edition: str = ""
    standing: str = ""
    moved: tuple[HeadlineChange, ...] = ()
    held: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    failed: str = ""
    mended: bool = False

    def __bool__(self) -> bool:
        return bool(self.moved or self.held or self.expired or self.failed or self.mended)

    def lines(self) -> list[str]:
        """One line for each thing but a failure, which has its own message."""
        worded = any(one.id == "recommendation" for one in self.moved)  # then keys of the same need no line
        said = list[str]()
        for one in self.moved:
            if not (worded and one.id in (*ACTION, "choice")):
                said += [f"moved: {one}", *(f"  why: {line}" for line in one.why)]
        said += self.held
        if self.expired:
            more = len(self.expired) - SHOWN
            named = ", ".join(self.expired[:SHOWN]) + (f" and {more} more" if more > 0 else "")
            said.append(f"prices behind the advice have expired since edition {self.edition}: {named}")
        if self.mended:
            said.append(f"builds again. {self.standing}")
        return [visible(f"{self.params}: {line}", 2000) for line in said]


@dataclass(frozen=True)
class Told:
    """What was told of a params file before. `failed` is '' or the failure's words without their figures; `headline` is that of
    the edition told last, with which the next is compared."""

    slug: str = ""
    failed: str = ""
    held: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    edition: str = ""
    headline: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Teller:
    """Finds out what is new of each params file of a run, and keeps what was told once it was."""

    output: Path
    today: date
    kept: dict[Path, Told] = field(default_factory=dict)

    def begin(self, paths: Sequence[Path], known: Callable[[Path], str] = lambda _: "") -> None:
        """Note what stands before anything is built: the next run tells what one built that was ended, or that nobody heard.

        `known` says a client's folder without reading its params; '' where they have to be read."""
        with self.alone():
            for params in paths:
                before = self._told(params)
                slug = "" if before.edition else known(params) or _slug_of(params)
                if slug and (last := latest_edition(self.output, slug)):
                    self._keep(params, replace(before, slug=slug, edition=last.edition, headline=last.headline))

    def alone(self) -> AbstractContextManager[None]:
        """While nobody else with this cache tells anything: from what was told before until that it is told is kept."""
        folder = cache_place(self.output).folder
        return held_by_one(folder, "telling.lock") if folder else nullcontext()

    def of(self, params: Path, found: RefreshResult | FabricReportError) -> News:
        """What the end of a refresh has to tell: of a failure nothing if the last run told the same."""
        before = self._told(params)
        if isinstance(found, FabricReportError):
            now = replace(before, slug=before.slug or _slug_of(params), failed=re.sub(r"\d+", "", str(found)))
            last = latest_edition(self.output, now.slug) if now.slug else None
            news = News(str(params), failed=str(found) if now.failed != before.failed else "")
        else:
            last = latest_edition(self.output, found.plan.slug)
            now = Told(found.plan.slug, held=found.plan.held)
            if last is not None:
                now = replace(now, edition=last.edition, headline=last.headline)
            moved = found.changes
            if last is not None and before.edition:  # also what a run built that told nobody, and not what another told
                why = last.why_since(before.edition)
                moved = tuple(moves(before.headline, now.headline, found.plan.moved_share, why))
            news = News(str(params), moved=moved, mended=bool(before.failed))
        self.kept[params] = now = replace(now, expired=_expired(last, self.today))
        news = replace(news, held=tuple(one for one in now.held if one not in before.held))
        news = replace(news, expired=tuple(one for one in now.expired if one not in before.expired))
        standing = self._standing(last) if now.slug else ""
        return replace(news, client=now.slug, edition=last.edition if last else "", standing=standing)

    def unheard(self) -> list[dict[str, Any]]:
        """What nobody heard of feeds."""
        return [json.loads(one) for one in self._told(_FEEDS).held]

    def keep(self, unheard: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Note what was told; or where nobody heard it, nothing but what it was of feeds, which tell of a failure once."""
        held = tuple(json.dumps(one, allow_nan=False) for one in unheard or ())
        for params, told in {**(self.kept if unheard is None else {}), _FEEDS: Told(held=held)}.items():
            self._keep(params, told)

    def _keep(self, params: Path, told: Told) -> None:
        with suppress(OSError):
            if path := self._place(params):
                write_if_new(path, sealed(asdict(told)).decode())

    def _told(self, params: Path) -> Told:
        path = self._place(params)
        try:
            kept = read_sealed(path) if path else {}
            lists = tuple(kept["held"]), tuple(kept["expired"])
            return Told(kept["slug"], kept["failed"], *lists, kept["edition"], kept["headline"])
        except (OSError, ValueError, LookupError, TypeError):
            return Told()

    def _place(self, params: Path) -> Path | None:
        folder = cache_place(self.output).folder
        key = sha256(canonical([str(params.absolute()), str(self.output.absolute())]))
        return folder / "told" / f"{key}.json" if folder else None

    def _standing(self, info: EditionInfo | None) -> str:
        """How old the edition is that a reader is left with."""
        if info is None:
            return "There is no edition to stand."
        days = (self.today - date.fromisoformat(info.as_of)).days
        apart = f"{abs(days)} day{'' if abs(days) == 1 else 's'} {'ago' if days >= 0 else 'ahead'}"
        return f"Edition {info.edition} stands, as of {info.as_of}, {apart}."


def _expired(info: EditionInfo | None, today: date) -> tuple[str, ...]:
    """Prices behind an edition's headline whose shelf life ended after its date and before `today`, each with its last day."""
    if info is None:
        return ()
    try:
        ledger = json.loads(read_output(info.folder, "ledger.json"))
    except (OSError, ValueError):
        return ()
    told = {number["id"] for number in info.headline.get("numbers", ())}
    behind = {i for number in ledger["numbers"] if number["id"] in told for i in number["inputs"]}
    ends = {i["id"]: i["expiry"] for i in ledger["inputs"] if i["id"] in behind and i.get("expiry")}
    return tuple(f"{i} on {end}" for i, end in ends.items() if info.as_of <= end < today.isoformat())


def _slug_of(params: Path) -> str:
    """The client's folder, '' where the params cannot be read."""
    from fabricreport.base.yaml_files import read_tree

    try:
        read_tree(params)  # before the schema is loaded: what is no YAML needs none
        from fabricreport.scenario import client_slug, load_params

        return client_slug(load_params(params))
    except FabricReportError:
        return ""


def digest(news: Sequence[News], feeds: Sequence[Mapping[str, Any]], today: date) -> dict[str, Any]:
    """Everything that a run has to tell of clients and of price feeds, for machines."""
    told_of = [{key: feed[key] for key in ("name", "status", "message", "held")} for feed in feeds if feed["is_news"]]
    return {"today": today.isoformat(), "clients": [asdict(one) for one in news if one], "feeds": told_of}


def call(command: Sequence[str], told: Mapping[str, Any]) -> NobodyTold | None:
    """Run a list of arguments without a shell, the digest on its standard input; what went wrong unless it ends with 0."""
    text = json.dumps(told, ensure_ascii=False, allow_nan=False, sort_keys=True) + "\n"
    try:
        done = subprocess.run([*command], input=text.encode("utf-8"), check=False)
    except OSError as error:
        return NobodyTold(f"{command[0]}: cannot be run: {error.strerror or error}")
    return NobodyTold(f"{command[0]}: ended with exit code {done.returncode}") if done.returncode else None
