"""Reading one text from a local path or an http(s) address, with limits.

An address is read through fsspec with a guarded session: at most `largest_bytes` and `timeout_s`, no redirect to
another host or down to http, and no host that resolves to a private, link-local or otherwise internal address.
Loopback is reached only if the address itself names it. Nothing else in the package opens a connection.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fabricreport.books.prices.rules import clean_text
from fabricreport.errors import InputError, Problem

_CHUNK = 65536


class Refused(Exception):
    """A connection or redirect that the guard did not allow; turned into an `InputError` by `fetch_text`."""


def is_address(source: str) -> bool:
    """True if the source is written as an address (`scheme://...`) rather than a path."""
    return "://" in source


def fetch_text(source: str, *, largest_bytes: int, timeout_s: float) -> str:
    """The UTF-8 text at a path or http(s) address; every failure is an `InputError` with the remedy."""
    data = _fetch(source, largest_bytes, timeout_s) if is_address(source) else _read(source, largest_bytes)
    if len(data) > largest_bytes:
        raise _problem(source, f"larger than {largest_bytes} bytes", "Split it, or take fewer months.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _problem(source, "not UTF-8 text", "Is this the CSV itself and not an archive or a web page?") from error


def _read(source: str, largest_bytes: int) -> bytes:
    try:
        with Path(source).open("rb") as handle:
            return handle.read(largest_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "") or "not a path"
        raise _problem(source, f"cannot be read ({reason})", "Name a file or an http(s) address.") from error


def _fetch(source: str, largest_bytes: int, timeout_s: float) -> bytes:
    import aiohttp  # here, because a build that imports no feed should not pay for it
    from fsspec.exceptions import FSTimeoutError
    from fsspec.implementations.http import HTTPFileSystem

    host = _checked_host(source)
    until = time.monotonic() + timeout_s

    async def session(**kwargs: Any) -> Any:
        return _guarded_session(host, timeout_s, **kwargs)

    system = HTTPFileSystem(get_client=session, skip_instance_cache=True, block_size=0)
    data = b""
    try:
        with system.open(source, "rb", block_size=0, size=1) as stream:  # size given: no second request for it
            while len(data) <= largest_bytes:
                if time.monotonic() > until:
                    raise TimeoutError
                piece = stream.read(_CHUNK)
                if not piece:
                    break
                data += piece
    except (TimeoutError, FSTimeoutError) as error:
        raise _problem(
            source, f"no complete answer within {timeout_s:g} s", "Try again, or save it to a file."
        ) from error
    except Refused as error:
        raise _problem(source, str(error), "Download it yourself if you trust it.") from error
    except aiohttp.ClientResponseError as error:
        raise _problem(source, f"the server answered {error.status}", "Check the address.") from error
    except FileNotFoundError as error:
        raise _problem(source, "the server answered 404", "Check the address.") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        refused = _refusal(error)
        raise _problem(
            source, refused or f"cannot be fetched ({type(error).__name__})", "Check the address."
        ) from error
    return data


def _checked_host(source: str) -> str:
    try:
        parts = urlsplit(source)
        host, scheme = (parts.hostname or "").lower(), parts.scheme.lower()
        parts.port  # noqa: B018 -- raises on a port that is none
    except ValueError as error:
        raise _problem(source, "not an address", "Write https://host/path.") from error
    if scheme not in ("http", "https") or not host:
        raise _problem(source, "not an http or https address", "Give a local path or https://host/path.")
    if parts.username or parts.password:
        raise _problem(source, "a name or password in an address", "Download it yourself and give the path.")
    literal = _literal(host)
    if literal is not None and not literal.is_loopback and not literal.is_global:
        raise _problem(source, "a private or internal address", "Download it yourself and give the path.")
    return host


def _guarded_session(host: str, timeout_s: float, **kwargs: Any) -> Any:
    import aiohttp
    from aiohttp.resolver import ThreadedResolver

    loopback_asked = host == "localhost" or bool(getattr(_literal(host), "is_loopback", False))

    class Resolver(ThreadedResolver):
        """Resolves as usual, then refuses answers that point inside."""

        async def resolve(self, name: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
            answers = await super().resolve(name, port, family)
            for answer in answers:
                address = ipaddress.ip_address(answer["host"].split("%")[0])
                if not (address.is_global or (address.is_loopback and loopback_asked)):
                    raise Refused(f"{name} resolves to a private or internal address")
            return answers

    async def on_redirect(_session: Any, _context: Any, params: Any) -> None:
        before = params.url
        after = before.join(type(before)(params.response.headers.get("Location", "")))
        if (after.host or "").lower() != host or after.port != before.port:
            raise Refused(f"redirected to another host, {clean_text(after.host)[:80]}")
        if before.scheme == "https" and after.scheme != "https":
            raise Refused("redirected from https to http")

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(on_redirect)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=Resolver(), use_dns_cache=False),
        trace_configs=[trace],
        timeout=aiohttp.ClientTimeout(total=timeout_s),
        **{k: v for k, v in kwargs.items() if k != "loop"},
    )


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _refusal(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, Refused):
            return str(error)
        error = error.__cause__ or error.__context__
    return ""


def _problem(source: str, message: str, remedy: str) -> InputError:
    return InputError(Problem(message, clean_text(source)[:200], remedy=remedy))
