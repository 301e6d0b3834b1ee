"""What sentences and the rows of tables and charts call the inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from fabricreport.books.prices.spoken import priced
from fabricreport.evidence import read_yaml
from fabricreport.findings import capital
from fabricreport.formats import inside
from fabricreport.inputs import Inputs

_BRACKETS = re.compile(r" ?\([^()]*\)")
_ARTICLE = re.compile(r"(?:an?|the) ")


def said_of(given: Inputs, input_id: str) -> str:
    """An input as it stands within a sentence: by its phrase, else by the item of the price files, else by its label."""
    phrases: Mapping[str, str] = read_yaml("said")["inputs"]
    if input_id in phrases:
        return phrases[input_id]
    found = next((phrase for pattern, phrase in phrases.items() if fnmatchcase(input_id, pattern)), None)
    kind, _, name = input_id.partition(":")
    if found is None and kind == "price" and name in given.prices:
        return priced(name)
    return found or plainly(str(given.record(input_id)["label"]))


def plainly(label: str) -> str:
    """A label as a sentence can say it: without what stands in brackets or behind a semicolon."""
    return inside(_BRACKETS.sub("", label).partition(";")[0].strip())


def row_of(given: Inputs, input_id: str) -> str:
    """An input at the head of a row: its phrase without the article, with a capital."""
    return headed(said_of(given, input_id))


def headed(phrase: str) -> str:
    """A phrase at the head of a row: without its article, with a capital."""
    return capital(_ARTICLE.sub("", phrase, count=1) if _ARTICLE.match(phrase) else phrase)
