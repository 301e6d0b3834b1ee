"""Options by their short names, in all words that a memo's body may use."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabricreport.findings import Listing, Name, Named, Phrase
from fabricreport.inputs import Inputs
from fabricreport.sections.short_names import short_names, spoken_names

AS_GIVEN = frozenset({"client"})
"""Words that are the client's own, whatever they hold."""


class Shortened:
    """Words in which each option goes by what sentences call it, and keeps its whole name as `full`."""

    def __init__(self, given: Inputs, choice: str, rival: str) -> None:
        every = {o.id: o for o in (*given.options, *given.all_options.values())}
        self._names = spoken_names(given.options, choice, rival, tuple(every.values()))
        heads = short_names(given.options)
        whole = {o: option.name for o, option in every.items()}
        self._whole = whole
        self._by_text = {**{head: o for o, head in heads.items()}, **{name: o for o, name in reversed(whole.items())}}
        longest = sorted(map(re.escape, whole.values()), key=len, reverse=True)
        self._within = re.compile(rf"(?<!\w)(?:{'|'.join(longest)})(?!\w)")

    def words(self, words: Mapping[str, object]) -> dict[str, object]:
        """The words with options by their short names."""
        return {word: value if word in AS_GIVEN else self._said(value) for word, value in words.items()}

    def _said(self, value: object) -> object:
        if isinstance(value, tuple | list):
            return type(value)(self._said(one) for one in value)
        if isinstance(value, Listing) or not isinstance(value, Name):
            return value
        if not isinstance(value, Named):
            option = self._by_text.get(value)
            return Name(self._text(value)) if option is None else self._option(option)
        said = {what: self._said(one) for what, one in value.said.items()}
        if self._whole.get(value.key) == value:
            return self._option(value.key, said)
        return type(value)(self._text(value), value.key, **said)

    def _option(self, option: str, said: Mapping[str, object] | None = None) -> Phrase:
        return Phrase(self._names[option], option, **{**(said or {}), "full": Name(self._whole[option])})

    def _text(self, text: str) -> str:
        return self._within.sub(lambda found: self._names[self._by_text[found[0]]], text)
