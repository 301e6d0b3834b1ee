"""What a client reads in place of an item of the price files."""

from __future__ import annotations

import re

from fabricreport.evidence import read_yaml

_HOUR = re.compile(r"gpu-hour-([a-z]+[0-9]+[a-z]*)(?:-(.+))?")
_EXCHANGE = re.compile(r"fx-([a-z]{3})-([a-z]{3})")
_ARTICLE = re.compile(r"(?:an?|the) ")


def spoken(item: str) -> str:
    """An item within a sentence, with its article: `a QM9700 switch (InfiniBand NDR)`."""
    book = read_yaml("item_names")
    if item in book["names"]:
        return str(book["names"][item])
    if exchanged := _EXCHANGE.fullmatch(item):
        source, target = (code.upper() for code in exchanged.groups())
        return str(book["currencies"]).replace("{from}", source).replace("{to}", target)
    if hour := _HOUR.fullmatch(item):
        rest = _rest(hour[2] or "", book["words"])
        return str(book["hours"]).replace("{gpu}", hour[1].upper()) + (f" ({rest})" if rest else "")
    return item.replace("-", " ")


def priced(item: str) -> str:
    """The price of an item within a sentence, without brackets: `the price of a QM8700 switch, InfiniBand HDR`."""
    book, named = read_yaml("said"), spoken(item).replace(" (", ", ").replace(")", "")
    if item in read_yaml("item_names")["names"] or not _EXCHANGE.fullmatch(item):
        return str(book["rent" if _HOUR.fullmatch(item) else "price"]).replace("{item}", named)
    return named


def titled(item: str) -> str:
    """An item as a table's row begins with it: without its article, the first letter large."""
    bare = _ARTICLE.sub("", spoken(item), count=1) if _ARTICLE.match(spoken(item)) else spoken(item)
    return bare[:1].upper() + bare[1:]


def _rest(rest: str, words: dict[str, str]) -> str:
    """What follows the GPU in the name of a rent: its longest known beginning, then what follows that."""
    if not rest:
        return ""
    known = (word for word in sorted(words, key=len, reverse=True) if rest == word or rest.startswith(f"{word}-"))
    first = next(known, "")
    if not first:
        return rest.replace("-", " ")
    after = _rest(rest[len(first) + 1 :], words)
    return words[first] + (f", {after}" if after else "")
