"""Which sections of a build need not run: those made of the very same inputs, and those that read nothing that changed.

    key of everything  -> the section                       the same inputs as a whole: nothing is opened
    key of the source  -> questions: ids that it once read  (`fabricreport/reads.py`)
    source + answers   -> the section                       what each of those ids is in today's inputs

A value that follows from nearly all inputs (`case.VALUES`) is such an id too. Its digest is kept in the same way, so that
it is worked out again only where something that it was made of has changed.

So a price that moves makes new the sections that asked for it, whatever client they are of. A section whose reading
could not be accounted for (`fabricreport/witness.py`) has the first key alone.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from fabricreport.errors import InputError
from fabricreport.memo.run.cache import SectionCache
from fabricreport.memo.run.digest import canonical, sha256
from fabricreport.memo.run.heard import listening
from fabricreport.reads import VALUE

if TYPE_CHECKING:
    from fabricreport.digests import Digests
    from fabricreport.memo.run.plan import BuildPlan


class Reuse:
    """The kept sections of one build."""

    def __init__(self, cache: SectionCache, plan: BuildPlan) -> None:
        self._cache, self._plan = cache, plan

    def find(self, section: str) -> bytes | None:
        """The section's notebook as a run would leave it, or None if it must be run."""
        whole = self._plan.fingerprint.section_key(section)
        found = self._cache.get(whole)
        if found is not None:
            return found
        if self._today is None:
            return None
        source = self._plan.fingerprint.source_key(section)
        for ids in self._cache.questions(source):
            key = self._key(source, ids)
            found = None if key is None else self._cache.get(key)
            if found is not None and key is not None:
                self._cache.same(whole, key)
                return found
        return None

    def keep(self, section: str, data: bytes, ids: Collection[str] | None) -> None:
        """Keep a section that has run; `ids`: what it read, None if nobody can tell."""
        whole, source = self._plan.fingerprint.section_key(section), self._plan.fingerprint.source_key(section)
        key = None if ids is None else self._key(source, ids)
        if ids is None or key is None:
            self._cache.put(whole, data)
            return
        self._cache.put(key, data)
        self._cache.ask(source, ids)
        self._cache.same(whole, key)

    def _key(self, source: str, ids: Collection[str]) -> str | None:
        """The key of a section by what each of the ids is in today's inputs; None where that cannot be told."""
        today = self._today
        if today is None:
            return None
        try:
            for value in (i for i in ids if i.startswith(f"{VALUE}:") and i not in today):
                today.learn(value, self._value(value, today))
            return sha256(canonical([source, today.of(ids)]))
        except Exception:  # a damaged entry, or an analysis that fails: the cell that asks for it is to be named
            return None

    def _value(self, value: str, today: Digests) -> str:
        """The digest of one of the case's values: kept from inputs that it comes out the same of, else worked out."""
        source = self._plan.fingerprint.code_key(value)
        for ids in self._cache.questions(source):
            found = self._cache.get(sha256(canonical([source, today.of(ids)])))
            if found is not None:
                return found.decode("ascii")
        with listening() as was_heard:
            digest, behind = today.value(value)
        if was_heard():
            self._let_go()
        self._cache.put(sha256(canonical([source, today.of(behind)])), digest.encode("ascii"))
        self._cache.ask(source, behind)
        return digest

    def _let_go(self) -> None:
        """Have the sections analyse for themselves what was not silent here."""
        from fabricreport.case import let_go

        let_go(self._plan.snapshot.params_json)

    @cached_property
    def _today(self) -> Digests | None:
        """What the frozen inputs hold; None if they make no case. The case that is opened is left open for the sections."""
        from fabricreport.case import keep_open, open_case
        from fabricreport.digests import Digests

        try:
            case = open_case(self._plan.snapshot.params_json)
        except InputError:
            return None
        keep_open(self._plan.snapshot.params_json, case)
        return Digests(case)
