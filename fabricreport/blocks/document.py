"""What a notebook emits: prose, charts, tables, callouts. Each block carries its meaning beside its looks.

    body = Section("tco", case)          # blocks of the memo's body
    annex = body.annex()                 # blocks that the stitcher moves behind the body
    body.say("Over the horizon {tco.cheapest} costs {tco.difference:absrange} less.")

In JupyterLab a block shows at once; in the memo the exporters read the block's nodes, never the HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, get_args

from fabricreport.blocks.node_json import to_json
from fabricreport.blocks.nodes import (
    Callout,
    Figure,
    Formula,
    Glance,
    GlanceTile,
    Heading,
    Headline,
    Tone,
    Top,
    plain_text,
)
from fabricreport.blocks.preview import preview_html, preview_text
from fabricreport.blocks.tables import Column, Row, frame_parts, table_node
from fabricreport.blocks.template import Binder
from fabricreport.ledger import InputRecords, Number, Record

MIME = "application/vnd.fabricreport.block+json"
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
class Block:
    """One emitted block: its nodes, and the ledger entries, inputs and names behind them.

    `place` is body or annex, `compared` what the section's case says of the comparison (empty if it makes none).
    """

    section: str
    place: str
    nodes: tuple[Top, ...]
    ledger: tuple[Record, ...]
    inputs: tuple[Record, ...]
    names: tuple[str, ...]
    compared: Mapping[str, Any]

    @property
    def bundle(self) -> dict[str, Any]:
        """The JSON that a notebook keeps and the exporters read."""
        return {
            "version": 1,
            "place": self.place,
            "section": self.section,
            "nodes": [to_json(node) for node in self.nodes],
            "ledger": [dict(entry) for entry in self.ledger],
            "inputs": [dict(entry) for entry in self.inputs],
            "names": list(self.names),
            **({"compared": dict(self.compared)} if self.compared else {}),
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self.bundle, "text/html": preview_html(self.nodes), "text/plain": preview_text(self.nodes)}


@dataclass(frozen=True)
class Chart:
    """A drawn chart: a finding as title, what is measured as subtitle, alt text, the data it plots.

    `svg` is the drawing; `data` its rows for the CSV, the first one the header. Title, subtitle, caption and
    alt are templates bound with `values`.
    """

    id: str
    title: str
    subtitle: str
    alt: str
    svg: str
    data: tuple[tuple[str, ...], ...]
    caption: str = ""
    values: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Tile:
    """One tile of the glance: a label, a big value (a template) and a line under it."""

    label: str
    value: str
    note: str = ""


class Section:
    """Emits the blocks of one section. `emitted` keeps them for tests and for scripts outside a notebook."""

    def __init__(self, name: str, case: Figures, *, place: str = "body") -> None:
        self.name = name
        self.place = place
        self.emitted: list[Block] = []
        self._case = case

    def annex(self) -> Section:
        """The same section's annex: its blocks follow the memo's body."""
        return Section(self.name, self._case, place="annex")

    def heading(self, template: str, *, level: int = 2, anchor: str = "", **values: object) -> None:
        """A heading that states a finding. Level 1 opens the section (its anchor is `sec-<section>`)."""
        binder = self._binder(values)
        anchor = anchor or (f"sec-{self.name}" if level == 1 and self.place == "body" else "")
        self._emit((Heading(level, binder.inline(template), anchor),), binder)

    def say(self, template: str, **values: object) -> None:
        """Prose (Markdown) with bound numbers."""
        binder = self._binder(values)
        self._emit(binder.blocks(template), binder)

    def callout(self, tone: str, title: str, template: str, **values: object) -> None:
        """A boxed remark: `decision`, `caution` or `note`."""
        if tone not in TONES:
            raise ValueError(f"no tone {tone!r}: use {', '.join(TONES)}")
        binder = self._binder(values)
        node = Callout(cast(Tone, tone), binder.inline(title), binder.blocks(template))
        self._emit((node,), binder)

    def glance(self, template: str, tiles: Sequence[Tile], **values: object) -> None:
        """Page one's summary: the advice in sentences, then three to five tiles."""
        binder = self._binder(values)
        drawn = tuple(
            GlanceTile(binder.inline(t.label), binder.inline(t.value), binder.inline(t.note) if t.note else ())
            for t in tiles
        )
        self._emit((Glance(binder.blocks(template), drawn),), binder)

    def chart(self, chart: Chart) -> None:
        """A chart with its alt text and data."""
        binder = self._binder(chart.values or {})
        alt = binder.inline(chart.alt)
        node = Figure(
            id=chart.id,
            title=binder.inline(chart.title),
            subtitle=binder.inline(chart.subtitle),
            caption=binder.inline(chart.caption) if chart.caption else (),
            alt=plain_text(alt).strip(),
            svg=chart.svg,
            data=tuple(tuple(row) for row in chart.data),
            alt_nodes=alt,
        )
        self._emit((node,), binder)

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
        binder = self._binder(values)
        self._emit((table_node(binder, table_id, caption, columns, rows, note),), binder)

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
        self._emit((Formula(svg, tex, alt),), self._binder({}))

    def headline(self, data: Mapping[str, Any], numbers: Sequence[Number]) -> None:
        """Not printed: the advice and the figures that the command line and `refresh` report."""
        binder = self._binder({})
        shown = tuple(binder.number_node(n) for n in numbers)
        self._emit((Headline(dict(data), shown),), binder)

    def _binder(self, values: Mapping[str, object]) -> Binder:
        return Binder(self._case.figure, values)

    def _emit(self, nodes: tuple[Top, ...], binder: Binder) -> None:
        numbers = [binder.numbers[i] for i in sorted(binder.numbers)]
        used = sorted({i for n in numbers for i in (*n.inputs, *n.sources)} | set(binder.cited))
        block = Block(
            section=self.name,
            place=self.place,
            nodes=nodes,
            ledger=tuple({**n.as_dict(), "section": self.name} for n in numbers),
            inputs=tuple(dict(self._case.record(i)) for i in used),
            names=tuple(sorted({*binder.names, *self._case.names})),
            compared=getattr(self._case, "compared", None) or {},
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
