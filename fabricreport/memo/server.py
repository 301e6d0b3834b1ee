"""The page of a preview: for this machine's own browser, which has a token, and nobody else."""

from __future__ import annotations

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"
_WAIT_S = 20.0
_SHELL = (
    "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}


class PreviewServer(ThreadingHTTPServer):
    """Shows what it is told, and the memo; the token in `address` is exchanged for the `cookie` at the first visit."""

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Answers)
        self.own = f"{HOST}:{self.server_port}"
        self.token = secrets.token_urlsafe(24)
        self.address = f"http://{self.own}/?token={self.token}"
        self.cookie = f"fabricreport-{self.server_port}={secrets.token_urlsafe(24)}"  # browsers keep ports together
        lists = dict.fromkeys(("faults", "stops", "notes"), ())
        self.shown: dict[str, Any] = {"doing": "", "new": "", **lists, "page": 0, "version": 0}
        self.memo, self._changed = b"", threading.Condition()

    def tell(self, memo: bytes | None = None, **shown: Any) -> None:
        """Show something else: what is `doing`, what of the memo is `new`, `faults`, what `stops` a client copy, `notes`."""
        with self._changed:
            if memo is not None:
                self.memo, self.shown["page"] = memo, self.shown["page"] + 1
            self.shown |= {**shown, "version": self.shown["version"] + 1}
            self._changed.notify_all()

    def after(self, version: str, wait_s: float = _WAIT_S) -> dict[str, Any]:
        """What is shown, once its version is another than this, or after a while."""
        with self._changed:
            self._changed.wait_for(lambda: str(self.shown["version"]) != version, wait_s)
            return dict(self.shown)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a browser that goes away is no error."""


def same(one: str, other: str) -> bool:
    """Whether two secrets are one, in the same time whatever they are."""
    return secrets.compare_digest(one.encode(), other.encode())


class _Answers(BaseHTTPRequestHandler):
    server: PreviewServer

    def do_GET(self) -> None:
        url, nonce = urlsplit(self.path), secrets.token_urlsafe(16)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        own, sent, cookie = self.server.own, self.headers, self.server.cookie
        if sent.get("Host") != own or sent.get("Origin", f"http://{own}") != f"http://{own}":
            self._send(403, b"This page answers to its own address alone.\n")
        elif url.path == "/" and same(asked.get("token", ""), self.server.token):
            self._send(303, b"", **{"Location": "/", "Set-Cookie": f"{cookie}; Path=/; HttpOnly; SameSite=Strict"})
        elif not any(same(part.strip(), cookie) for part in sent.get("Cookie", "").split(";")):
            self._send(403, b"Open the address that `fabricreport preview` printed, with its token.\n")
        elif url.path == "/":
            page = (resources.files("fabricreport.memo") / "templates" / "preview.html").read_text(encoding="utf-8")
            self._send(200, page.replace("NONCE", nonce).encode(), "text/html", _SHELL.format(nonce))
        elif url.path == "/news":
            news = json.dumps(self.server.after(asked.get("after", "")), allow_nan=False)
            self._send(200, news.encode(), "application/json")
        elif url.path == "/memo":
            self._send(200, self.server.memo, "text/html")
        else:
            self._send(404, b"There is nothing here.\n")

    def _send(
        self, status: int, body: bytes, kind: str = "text/plain", policy: str = "frame-ancestors 'self'", **more: str
    ) -> None:
        self.send_response(status)
        told = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": f"{len(body)}",
            "Content-Security-Policy": policy,
        }
        for name, value in (_ALWAYS | told | more).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what strangers ask does not belong on a terminal."""
