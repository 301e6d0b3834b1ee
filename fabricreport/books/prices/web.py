"""One document over http(s), from outside only, within a size and a time; nothing else in the package opens a connection.

All addresses of a host are judged, and one of those judged is connected to: its name is asked once. A redirect may not leave
the server. No proxy, no password; certificates are proved. What comes packed is refused, for nobody asked for it.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.text import visible

_PORTS = {"http": 80, "https": 443}
_PRINTED = re.compile(r"[!-\[\]-~]+")
_MOVED = (301, 302, 303, 307, 308)
_REQUESTS = 4
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SAVE_IT = "Save it to a file yourself if you trust it, and give the path."
_SENT = {"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "fabricreport"}


class Answer(NamedTuple):
    """A status, the headers, and the content where the status is 200."""

    status: int
    headers: Any
    content: bytes


def parts_of(address: str) -> SplitResult:
    """Where an address points; `InputError` for one that nobody may fetch."""
    try:
        parts = urlsplit(address)
        plain = parts.hostname and parts.port != 0 and "@" not in parts.netloc and _PRINTED.fullmatch(address)
    except ValueError:
        plain = None
    if not plain or parts.scheme not in _PORTS:
        remedy = "Write https://host/path without a password, a blank as %20; or save it to a file, and give the path."
        raise InputError(Problem("not a plain http or https address", shown(address), remedy=remedy))
    return parts


def is_address(source: str) -> bool:
    """True if the source is written as an address (`scheme://...`) rather than a path."""
    return "://" in source


def shown(source: str) -> str:
    """A source as it is told: an address without password and query, which may hold a key."""
    return visible(re.sub(r"//[^/]*@", "//", source.partition("?")[0]) if is_address(source) else source, 200)


def is_outside(numeric: str, *, loopback: bool = False) -> bool:
    """Whether an address is one of the open Internet, itself or by the one of IPv4 in it; `loopback` lets in this machine."""
    address = ipaddress.ip_address(numeric.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        nat64 = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
        address = address.ipv4_mapped or address.sixtofour or (address.teredo or (0, None))[1] or nat64 or address
    if address.is_loopback:
        return loopback
    inside = address.is_multicast or address.is_reserved or getattr(address, "is_site_local", False)
    return address.is_global and not inside


def get(address: str, largest_bytes: int, timeout_s: float, *, loopback: bool, headers: Mapping[str, str]) -> Answer:
    """The answer to one request, redirects on the server followed; every failure is an `InputError` with the remedy.

    A thread asks: neither a name server nor a server that sends a byte at a time ends by itself.
    """
    found: list[Answer | Exception] = []
    opened: list[socket.socket] = []
    until = time.monotonic() + timeout_s

    def answer_at(there: str) -> Answer:
        for _ in range(_REQUESTS):
            parts = parts_of(there)
            if parts[:2] != parts_of(address)[:2]:
                raise InputError(f"redirected to another host or port, {shown(there)}")
            with _connected(parts, until, loopback) as sock:
                opened.append(sock)
                sock.settimeout(_left(until))  # too late, or among those that are shut
                connection = http.client.HTTPConnection(parts.netloc)
                connection.sock = sock
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request("GET", path, headers={**_SENT, **headers})
                with connection.getresponse() as response:
                    if response.status not in _MOVED:
                        content = _content(response, largest_bytes) if response.status == HTTPStatus.OK else b""
                        return Answer(response.status, response.headers, content)
                    there = urljoin(there, response.headers.get("Location", ""))
        raise InputError("redirected in a circle")

    def ask() -> None:
        try:
            found.append(answer_at(address))
        except (OSError, http.client.HTTPException, ValueError) as error:
            found.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(timeout_s)
    answer = found[0] if found else InputError(f"no complete answer within {timeout_s:g} s")
    for sock in opened:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
    asking.join(0 if found else 1)  # a process with a thread is not forked
    if isinstance(answer, Answer):
        return answer
    why = getattr(answer, "verify_message", "") or getattr(answer, "strerror", "") or answer
    failed = Problem(f"cannot be fetched ({type(answer).__name__}: {visible(why)})")
    told = answer.problems[0] if isinstance(answer, InputError) else failed
    raise InputError(replace(told, file=shown(address), remedy=told.remedy or _SAVE_IT)) from answer


def _left(until: float) -> float:
    if (left := until - time.monotonic()) <= 0:
        raise TimeoutError
    return left


def _connected(parts: SplitResult, until: float, loopback: bool) -> socket.socket:
    """A connection to the first of the addresses that answers, all of them judged; a silent one leaves time for others."""
    host, port = str(parts.hostname), parts.port or _PORTS[parts.scheme]
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not all(is_outside(str(where[0]), loopback=loopback) for *_, where in found):
        raise InputError(f"{visible(host)} is a private or internal address")
    for left, (family, kind, protocol, _, where) in zip(range(len(found), 0, -1), found, strict=True):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(_left(until) / left)
            sock.connect(where)
            break
        except OSError:
            sock.close()
            if left == 1:
                raise
    if parts.scheme == "http":
        return sock
    return ssl.create_default_context().wrap_socket(sock, server_hostname=host, suppress_ragged_eofs=False)


def _content(response: http.client.HTTPResponse, largest_bytes: int) -> bytes:
    """The body as it was sent, whole and no larger than allowed."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding != "identity":
        raise InputError(f"comes packed as {visible(coding, 40)}, which was not asked for")
    content = response.read(largest_bytes + 1)
    if len(content) > largest_bytes:
        raise InputError(Problem(f"larger than {largest_bytes} bytes", remedy="Split it, or take fewer months."))
    if response.length:
        raise InputError("was cut short")
    return content
