"""What a kernel's cells print, with the marks that tell what was printed before which message."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder


def mark(secret: str, number: int) -> bytes:
    """What stands in the pipes of printed text before message `number`; no program prints it by chance."""
    return b"\0%s:%d\0" % (secret.encode(), number)


class Printed:
    """One pipe's text: bytes go in as they come, text comes out in the order of the messages, without the marks."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._start = mark(secret, 0)[:-2]
        self._any = re.compile(re.escape(self._start) + rb"\d+\0")
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Add what was read."""
        self._bytes += data

    def so_far(self) -> str:
        """Text that stands before every mark not yet asked for, less an end that may be the beginning of a mark."""
        end = self._bytes.find(self._start)
        if end < 0:
            end = len(self._bytes)
            begun = self._bytes.rfind(b"\0", -len(self._start)) if self._bytes else -1
            if begun >= 0 and self._start.startswith(self._bytes[begun:]):
                end = begun
        return self._taken(end, end)

    def before(self, number: int) -> str:
        """Text printed before a message; what is there where its mark is not (a cell closed the file)."""
        wanted = mark(self._secret, number)
        end = self._bytes.find(wanted)
        return self.so_far() if end < 0 else self._taken(end, end + len(wanted))

    def rest(self) -> str:
        """All that is left, of a kernel that says no more."""
        return self._taken(len(self._bytes), len(self._bytes))

    def _taken(self, end: int, after: int) -> str:
        text = self._decoder.decode(self._any.sub(b"", self._bytes[:end]))
        del self._bytes[:after]
        return text
