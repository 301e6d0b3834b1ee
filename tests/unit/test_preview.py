"""A preview: who is let in, what its page runs, and where a fault is said to be. What is seen of it: `outside/test_following.py`."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from fabricreport.base.errors import Problem
from fabricreport.memo.editions.manifest import RunRecord, SectionRun
from fabricreport.memo.preview import first_faults, placed
from fabricreport.memo.server import PreviewServer


@pytest.fixture(scope="module")
def server() -> Iterator[PreviewServer]:
    server = PreviewServer()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def asked(server: PreviewServer, path: str = "/", **headers: str) -> http.client.HTTPResponse:
    line = http.client.HTTPConnection("127.0.0.1", server.server_port)
    line.putrequest("GET", path, skip_host=True)
    for name, value in ({"Host": server.own} | headers).items():
        line.putheader(name, value)
    line.endheaders()
    answer = line.getresponse()
    answer.page = answer.read().decode()
    line.close()
    return answer


def test_a_preview_lets_in_who_has_its_token_and_nobody_else(server: PreviewServer) -> None:
    here = f"http://{server.own}"
    assert server.server_address[0] == "127.0.0.1"
    visit = asked(server, f"/?token={server.token}")
    cookie, *rules = visit.headers["Set-Cookie"].split("; ")
    assert (visit.status, visit.headers["Location"]) == (303, "/")
    assert {"HttpOnly", "SameSite=Strict"} <= set(rules) and server.token not in cookie
    refused = {
        "no token": asked(server),
        "another token": asked(server, "/?token=x"),
        "half a cookie": asked(server, "/news", Cookie=cookie[:-1]),
        "token and another page": asked(server, "/memo?token=" + server.token),
        "another name": asked(server, Host=f"localhost.example:{server.server_port}", Cookie=cookie),
        "another port": asked(server, Host="127.0.0.1:1", Cookie=cookie),
        "another origin": asked(server, "/news", Origin="http://evil.example", Cookie=cookie),
        "no origin of a page": asked(server, "/news", Origin="null", Cookie=cookie),
        "token from elsewhere": asked(server, f"/?token={server.token}", Origin="http://evil.example"),
        "a letter beyond ASCII": asked(server, "/?token=%C3%BC"),
    }
    assert {why: answer.status for why, answer in refused.items() if answer.status != 403} == {}
    let_in = [asked(server, path, Cookie=f"a=b; {cookie}", Origin=here) for path in ("/", "/news", "/memo")]
    assert [answer.status for answer in let_in] == [200, 200, 200]
    assert asked(server, "/../params", Cookie=cookie).status == 404


def test_the_page_of_a_preview_runs_its_own_script_alone_and_what_is_told_is_data(server: PreviewServer) -> None:
    hostile = "</script><img src=x onerror=alert(1)>\x1b[2J"
    server.tell(b"<p>memo</p>", faults=[hostile])
    pages = [asked(server, Cookie=server.cookie) for _ in range(2)]
    policies = [page.headers["Content-Security-Policy"] for page in pages]
    assert all("default-src 'none'" in p and "'unsafe" not in p and "frame-ancestors 'none'" in p for p in policies)
    assert policies[0] != policies[1], "a nonce is used once"
    assert hostile not in pages[0].page
    news = asked(server, "/news", Cookie=server.cookie)
    told = json.loads(news.page)
    assert told["faults"] == [hostile] and news.headers["Content-Type"].startswith("application/json")
    assert news.headers["X-Content-Type-Options"] == "nosniff"
    assert asked(server, "/memo", Cookie=server.cookie).page == "<p>memo</p>"


def test_who_waits_for_news_is_told_once_there_are_some(server: PreviewServer) -> None:
    before = server.after("")
    assert server.after(str(before["version"]), wait_s=0) == before
    threading.Timer(0.05, lambda: server.tell(doing="Drawing")).start()
    assert server.after(str(before["version"]))["doing"] == "Drawing"


def test_a_fault_of_a_cell_is_told_with_its_line() -> None:
    cells = [{("tco.ipynb", 1): {"source": ["%%say\nGood.\n", "It costs 15 more than {tco.totl}.\nOr 7."]}}]
    said = {
        "tco.ipynb, cell 1: bare number '15' in paragraph: “It costs 15 …”. Quote it.": 3,
        "tco.ipynb, cell 1: no section declares this figure (found {tco.totl}).": 3,
        "tco.ipynb, cell 1: bare number '7' in paragraph: “Or 7.”.": 4,
        "tco.ipynb, cell 1: nothing that it quotes stands there: 'x'": None,
        "tco.ipynb, cell 9: '15' of a cell that is gone": None,
        "params/example.yaml:3: '15' is no cell's": None,
    }
    told = {fault: placed(fault, cells) for fault in said}
    assert told == {f: f if n is None else f.replace("cell 1: ", f"cell 1, line {n}: ") for f, n in said.items()}


def test_what_a_cell_raises_is_told_and_not_what_later_ones_lack_for_it() -> None:
    plan: Any = SimpleNamespace(written=lambda section, number: (f"acme/notebooks/{section}.ipynb", (number or 1) - 1))
    unread = Problem("no section declares this figure", "acme/notebooks/tco.ipynb, cell 9", value="{tco.mine}")

    def told(cell: int) -> list[str]:
        trace = "Cell In[8], line 2\nValueError: boom"
        end = SectionRun("tco", "failed", cell, ename="ValueError", evalue="boom", traceback=trace)
        wrong: dict[str, list[Problem]] = {"latency": [], "tco": [unread], "power": [unread]}
        return [*first_faults(RunRecord((SectionRun("latency", "ok"), end)), wrong, plan)]

    assert told(9) == ["acme/notebooks/tco.ipynb, cell 8, line 2: ValueError: boom", str(unread)]
    assert told(10) == [str(unread)] * 2, "the cell that cannot be read"
