"""A smaller PDF with the same objects: those without a stream are compressed together.

A tagged memo is thousands of small dictionaries (a link, a cell, a paragraph), which Typst writes one by one in
plain text. PDF 1.5 and later may keep them in compressed object streams (ISO 32000-1, 7.5.7 and 7.5.8). One entry
is left out: `/Suspects false` says what its absence says (ISO 32000-1, table 321; PDF/UA-1 forbids `true` only), and
Poppler calls any value but `true` a syntax error on every file it opens.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from itertools import pairwise

MOST_IN_STREAM = 200
"""Objects a reader must unpack to see one of them."""

_TABLE = re.compile(rb"xref\n0 (\d+)\n")
_ROW = re.compile(rb"(\d{10}) 00000 n")
_OBJECT = re.compile(rb"\s*(\d+) 0 obj\n(.*)\nendobj\s*\Z", re.DOTALL)
_TRAILER = re.compile(rb"trailer\n<<(.*)>>\nstartxref\n(\d+)\n%%EOF\s*\Z", re.DOTALL)
_FIRST = re.compile(rb"\d+ 0 obj\n")
_SIZE = re.compile(rb"/Size \d+")

_CATALOG = b"<</Type/Catalog"
_SUSPECTS = (b"/MarkInfo<</Marked true/Suspects false>>", b"/MarkInfo<</Marked true>>")

Place = tuple[int, int, int]
"""A row of the cross-reference stream: (1, offset, 0) or (2, number of the object stream, index in it)."""


def pack(pdf: bytes) -> bytes:
    """The same document in fewer bytes; a file that is not laid out as Typst does comes back unchanged."""
    found, trailer, first = _objects(pdf), _TRAILER.search(pdf), _FIRST.search(pdf)
    if found is None or trailer is None or first is None:
        return pdf
    found = {n: body.replace(*_SUSPECTS, 1) if body.startswith(_CATALOG) else body for n, body in found.items()}
    small = [number for number, body in found.items() if not body.endswith(b"endstream")]
    packs = [small[i : i + MOST_IN_STREAM] for i in range(0, len(small), MOST_IN_STREAM)]
    first_free = max(found) + 1
    places: dict[int, Place] = {}
    written = bytearray(pdf[: first.start()])

    def write(number: int, body: bytes) -> None:
        places[number] = (1, len(written), 0)
        written.extend(b"%d 0 obj\n%s\nendobj\n" % (number, body))

    for number, body in found.items():
        if body.endswith(b"endstream"):
            write(number, body)
    for number, members in enumerate(packs, start=first_free):
        write(number, _object_stream([(n, found[n]) for n in members]))
        places |= {n: (2, number, index) for index, n in enumerate(members)}
    last = first_free + len(packs)
    start = len(written)
    places[last] = (1, start, 0)
    entries = _SIZE.sub(b"/Size %d" % (last + 1), trailer[1])
    written.extend(b"%d 0 obj\n%s\nendobj\n" % (last, _cross_references(places, last + 1, entries)))
    written.extend(b"startxref\n%d\n%%%%EOF\n" % start)
    return bytes(written)


def _objects(pdf: bytes) -> dict[int, bytes] | None:
    """Objects by number in the file's order, as the cross-reference table finds them; None if it does not."""
    trailer = _TRAILER.search(pdf)
    table = _TABLE.match(pdf, int(trailer[2])) if trailer else None
    if trailer is None or table is None:
        return None
    offsets = sorted(int(row) for row in _ROW.findall(pdf, table.end(), trailer.start()))
    objects: dict[int, bytes] = {}
    for start, end in pairwise([*offsets, table.start()]):
        match = _OBJECT.match(pdf[start:end])
        if match is None:
            return None
        objects[int(match[1])] = match[2]
    return objects if len(objects) == int(table[1]) - 1 else None


def _object_stream(members: list[tuple[int, bytes]]) -> bytes:
    heads, bodies, at = [], [], 0
    for number, body in members:
        heads.append(b"%d %d" % (number, at))
        bodies.append(body)
        at += len(body) + 1
    head = b" ".join(heads) + b"\n"
    kind = b"/Type/ObjStm/N %d/First %d" % (len(members), len(head))
    return _stream(kind, head + b"\n".join(bodies))


def _cross_references(places: Mapping[int, Place], size: int, trailer: bytes) -> bytes:
    rows = [places.get(number, (0, 0, 65535)) for number in range(size)]
    data = b"".join(kind.to_bytes(1) + where.to_bytes(4) + index.to_bytes(2) for kind, where, index in rows)
    return _stream(b"/Type/XRef/W[1 4 2]" + trailer, data)


def _stream(entries: bytes, data: bytes) -> bytes:
    packed = zlib.compress(data, 7)  # 9 takes twice as long for less than a hundredth
    return b"<<%s/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream" % (entries, len(packed), packed)
