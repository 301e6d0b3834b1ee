"""What a notebook emits: prose, charts, tables, callouts. Each block carries its meaning beside its looks.

    body = Section("tco", case)
    body.say("Over the horizon {tco.cheapest} costs {tco.difference:absrange} less.")

In JupyterLab a block shows at once; in the memo the exporters read the block's nodes, never the HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast, get_args

from markupsafe import Markup

from fabricreport.blocks.forms import HtmlWriter, to_json
from fabricreport.blocks.nodes import (
    Callout,
    DataTable,
    Figure,
    Formula,
    Heading,
    Headline,
    Paragraph,
    Tone,
    Top,
    plain_text,
    walk,
)
from fabricreport.blocks.tables import Column, Row, frame_parts, table_node
from fabricreport.blocks.template import Binder
from fabricreport.ledger.facts import Facts, Name
from fabricreport.ledger.numbers import InputRecords, Number, Record

MIME = "application/vnd.fabricreport.block+json"
_STYLE = Markup(
    ".fabricreport .num{border-bottom:1px dotted}.fabricreport .tag{color:#5b6472}"
    ".fabricreport td,.fabricreport th{text-align:left}.fabricreport .r{text-align:right}"
    ".fabricreport .callout{border-left:4px solid #5b6472;padding:.2em 1em;margin:1em 0}"
    ".fabricreport .decision{border-color:#2f6f4f}.fabricreport .caution{border-color:#b3541e}"
    ".fabricreport .tiles{display:flex;gap:2em}.fabricreport .value{display:block;font-size:1.4em}"
    ".fabricreport .subtitle{display:block}.fabricreport .total,.fabricreport .winner{font-weight:bold}"
)
TONES = get_args(Tone)


class Figures(InputRecords, Protocol):
    """What a section asks of the case: figures by ledger id, and the records of their inputs.

    A case that compares options also says what came of it, as `compared`: `choice`, `rival`, the `lead` as printed, and
    `stated_as`, the ids of the figures that state it. Every block carries it, and the check step holds them together.
    """

    def figure(self, figure_id: str) -> Number:
        """The ledger number with this id."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names that belong to the case (client, options, providers): their digits are no figures."""
        ...


@dataclass(frozen=True)
class Message:
    """A sentence about the params, what to look at, and the keys of the params file that it rests on.

    `text` is a template; each field in braces is in `values`, a ledger number or the name of something.
    """

    text: str
    look: str
    keys: tuple[str, ...]
    values: Mapping[str, Number | str]


def preview_html(nodes: Sequence[Top]) -> str:
    """Block nodes as a fragment of HTML with its own small style."""
    return str(Markup('<div class="fabricreport"><style>{}</style>{}</div>').format(_STYLE, HtmlWriter().blocks(nodes)))


def preview_text(nodes: Sequence[Top]) -> str:
    """The words of block nodes, one block to a line."""
    lines = []
    for node in walk(nodes):
        if isinstance(node, Paragraph | Heading):
            lines.append(plain_text(node.children))
        elif isinstance(node, Figure):
            lines.append(f"{plain_text(node.title)}: {node.alt}")
        elif isinstance(node, DataTable):
            lines.append(plain_text(node.caption))
    return "\n".join(lines)


@dataclass(frozen=True)
class Block:
    """One emitted block: its nodes, and the ledger entries, inputs and names behind them.

    `compared` is what the section's case says of the comparison (empty if it makes none);
    with `further` its first paragraph goes on in that of the block before. `accounts` are not printed: the workbook's.
    """

    section: str
    nodes: tuple[Top, ...]
    ledger: tuple[Record, ...]
    inputs: tuple[Record, ...]
    names: tuple[str, ...]
    compared: Mapping[str, Any]
    further: bool = False
    accounts: Mapping[str, Any] | None = None

    @property
    def bundle(self) -> dict[str, Any]:
        """The JSON that a notebook keeps and the exporters read."""
        return {
            "version": 1,
            "section": self.section,
            "nodes": list(map(to_json, self.nodes)),
            "ledger": list(map(dict, self.ledger)),
            "inputs": list(map(dict, self.inputs)),
            "names": list(self.names),
            **({"compared": dict(self.compared)} if self.compared else {}),
            **({"further": True} if self.further else {}),
            **({"accounts": self.accounts} if self.accounts else {}),
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self.bundle, "text/html": preview_html(self.nodes), "text/plain": preview_text(self.nodes)}


@dataclass(frozen=True)
class Drawing:
    """A drawn chart without its words, which stand in the notebook's cell: the SVG and the rows it plots.

    `data`: the first row is the header. `values` are words of this chart alone. `narrow` is the same drawing for a narrow screen,
    if there is one.
    """

    id: str
    svg: str
    data: tuple[tuple[str, ...], ...]
    values: Mapping[str, object] = field(default_factory=dict)
    narrow: str = ""


class Section:
    """Emits the blocks of one section. `emitted` keeps them for tests and for scripts outside a notebook.

    `words` are names and numbers that any of its texts may use, `facts` what chooses among their arms; `next_title` is a title
    said ahead of its chart or table; `muted`: no prose cell of it is said;
    `phrases` are the texts that tables say of their rows; `opened` once it has a heading of level one.
    """

    def __init__(
        self,
        name: str,
        case: Figures,
        *,
        words: Mapping[str, object] | None = None,
        facts: Facts | None = None,
        muted: bool = False,
    ) -> None:
        self.name = name
        self.muted = muted
        self.words = words or {}
        self.facts = facts or Facts()
        self.emitted: list[Block] = []
        self.next_title = ""
        self.opened = False
        self.case = case
        self._names = frozenset(case.names)
        self._compared: Mapping[str, Any] = getattr(case, "compared", None) or {}

    def heading(self, template: str, *, level: int = 2, anchor: str = "", **values: object) -> None:
        """A heading that states a finding. Level 1 opens the section (its anchor is `sec-<section>`)."""
        binder = self.binder(values)
        heading = Heading(level, binder.inline(template), anchor)
        self.emit((self.opening(heading) if level == 1 and not anchor else heading,), binder)

    def opening(self, heading: Heading) -> Heading:
        """A heading of level one: the first opens the section and bears its name."""
        named = heading if self.opened else replace(heading, id=f"sec-{self.name}")
        self.opened = True
        return named

    def say(self, template: str, **values: object) -> None:
        """Prose (Markdown) with bound numbers."""
        binder = self.binder(values)
        self.emit(binder.blocks(template), binder)

    def callout(self, tone: str, title: str, template: str, **values: object) -> None:
        """A boxed remark: `decision`, `caution` or `note`."""
        if tone not in TONES:
            raise ValueError(f"no tone {tone!r}: use {', '.join(TONES)}")
        binder = self.binder(values)
        node = Callout(cast(Tone, tone), binder.inline(title), binder.blocks(template))
        self.emit((node,), binder)

    def messages(self, tone: str, title: str, messages: Iterable[Message]) -> None:
        """A boxed list of messages, each with the keys of the params it rests on; nothing without any."""
        told = list(messages)
        lines = [f"- {m.text} {m.look} (In your answers: {', '.join(f'`{key}`' for key in m.keys)}.)" for m in told]
        values = {name: value for message in told for name, value in message.values.items()}
        named = {name: Name(v) if isinstance(v, str) else v for name, v in values.items()}
        if lines:
            self.callout(tone, title, "\n".join(lines), **named)

    def chart(
        self, chart: Drawing, *, title: str, subtitle: str, alt: str, caption: str = "", **values: object
    ) -> None:
        """A chart: a finding as title, what is measured as subtitle, its words for who cannot see it, its data."""
        binder = self.binder({**values, **chart.values})
        told = binder.inline(alt)
        node = Figure(
            id=chart.id,
            title=binder.inline(title),
            subtitle=binder.inline(subtitle),
            caption=binder.inline(caption) if caption else (),
            alt=plain_text(told).strip(),
            svg=chart.svg,
            data=tuple(tuple(row) for row in chart.data),
            alt_nodes=told,
            narrow=chart.narrow,
        )
        self.emit((node,), binder)

    def table(
        self,
        table_id: str,
        caption: str,
        columns: Sequence[Column],
        rows: Sequence[Row],
        *,
        note: str = "",
        **values: object,
    ) -> None:
        """A table whose caption states its takeaway; units stand in the column heads."""
        binder = self.binder(values)
        self.emit((table_node(binder, table_id, caption, columns, rows, note),), binder)

    def frame(self, frame: Any, table_id: str, caption: str, *, note: str = "", **values: object) -> None:
        """A pandas DataFrame as a table; figures in its cells are ledger numbers (`case.figure(…)`, `case.number(…)`)."""
        columns, rows = frame_parts(frame)
        if not rows:
            raise ValueError(
                f"the DataFrame of {table_id} has no rows: show it only where it has some, or say so in words"
            )
        self.table(table_id, caption, columns, rows, note=note, **values)

    def formula(self, svg: str, tex: str, alt: str) -> None:
        """A formula drawn by mathtext, with its source as alt text."""
        self.emit((Formula(svg, tex, alt),), self.binder({}))

    def headline(self, data: Mapping[str, Any], numbers: Sequence[Number]) -> None:
        """Not printed: the advice in keys and the figures that the command line and `refresh` report."""
        binder = self.binder({})
        shown = tuple(binder.number_node(n) for n in numbers)
        self.emit((Headline(dict(data), shown),), binder)

    def accounts(self, accounts: Mapping[str, Any]) -> None:
        """Not printed: what the memo's workbook is made of."""
        block = Block(self.name, (), (), (), (), self._compared, accounts=accounts)
        self.emitted.append(block)
        _show(block)

    def binder(self, values: Mapping[str, object]) -> Binder:
        """What fills templates here: the words of the section, and `values` of this call."""
        return Binder(self.case.figure, {**self.words, **values})

    def emit(self, nodes: tuple[Top, ...], binder: Binder, *, further: bool = False) -> None:
        """Show block nodes, with the ledger entries behind the numbers that the binder met.

        `further`: the first paragraph goes on in that of the block before.
        """
        ledger, inputs = binder.behind(self.case)
        block = Block(
            section=self.name,
            nodes=nodes,
            ledger=tuple({**entry, "section": self.name} for entry in ledger),
            inputs=tuple(inputs),
            names=tuple(sorted({*binder.names, *self._names})),
            compared=self._compared,
            further=further,
        )
        self.emitted.append(block)
        _show(block)


def _show(block: Block) -> None:
    """Display the block when a notebook is running; outside one, do nothing."""
    import sys

    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython() is not None:
        display(block)  # type: ignore[no-untyped-call]
