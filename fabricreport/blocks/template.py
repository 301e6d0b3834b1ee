"""Sentences with bound numbers: a template's fields become ledger numbers, names, references and citations, in prose and in cells of tables.

    {tco.difference}            a figure of the case, by its ledger id
    {tco.difference:range}      the same with its 90 % range (styles: range, spread, abs, absrange, bare,
                                low, high, sides, turned, of100)
    {price:switch-qm9700}       an input of the case: price:…, evidence:…, param:…
    {saving}                    a value handed to the call: a Number, or text
    {fig-tco-waterfall}         a cross-reference: fig-…, tab-…, sec-…
    {cite evidence:llama3-run}  a citation in the source list
    ^[…]                        a footnote
    {{ and }}                   literal braces

In prose cells also `{decision.total[choice]}`, the figure of one of several (by the key of a named thing, or the key
itself), `{turn.side}`, what is said of a named thing, `{cite reason}`, its sources, and the choices of `prose.py`.

Digits typed into a template are left as they are: the memo's gate finds them.

Which row comes first, and whether there is one, is decided in the package; its words stand in the data beside the rest of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricreport.base.formats import significant
from fabricreport.base.locations import did_you_mean
from fabricreport.blocks.markdown import parse_markdown
from fabricreport.blocks.nodes import Break, Cite, Flow, Inline, Num, Paragraph, Preformatted, Ref, Text
from fabricreport.blocks.prose import ALIKE, DIRECTIONS, IF, MOST, ProseFault, figure_of, resolved
from fabricreport.ledger.facts import Listing, Name, Named, Phrase, capital, joined
from fabricreport.ledger.numbers import STYLES, VALUE_DIGITS, FigureOf, InputRecords, Number, Record

REFERENCES = ("fig-", "tab-", "sec-")
_INPUT_KINDS = ("price", "evidence", "param", "contested")
_CITE = "cite "
_OPENS = re.compile(
    r"""(?:\A|\n[ \t]*\n|\n(?=[ \t]*(?:[-*]|\#+|\d+[.])\s)|[.!?][”"’)*_]*\s|\^\[)  # a text, a paragraph, an item, a sentence
    [ \t\n]*(?:(?:[-*]|\#+|\d+[.])[ \t]+)?[“"‘(*_]*\{(?!\{)""",
    re.VERBOSE,
)
"""What a field that begins a sentence follows, its brace included."""
_BEGINS = "^"
_INDEX = re.compile(r"\[([^\[\]]*)\]")


class Prose(str):
    """A text of a prose cell: Markdown whose fields are all checked before one is refused."""

    __slots__ = ()


class Binder:
    """Binds templates to a case's figures; collects the numbers, names and citations used."""

    def __init__(self, figure: FigureOf, values: Mapping[str, object] | None = None) -> None:
        self._figure = figure
        self._values = values or {}
        self.numbers: dict[str, Number] = {}
        self.names: dict[str, None] = {}
        self.cited: dict[str, None] = {}
        self._listings: set[str] = set()

    def prose(self, text: str) -> tuple[Flow, ...]:
        """A prose cell's Markdown as block nodes; `ProseFault` names every field that nothing answers to."""
        faults: list[str] = []

        def fill(field: str) -> Inline:
            opens, field = field.startswith(_BEGINS), field.removeprefix(_BEGINS)
            try:
                return self.field_node(field, opens=opens)
            except (LookupError, TypeError, ValueError) as error:
                said = str(error.args[0]) if error.args else type(error).__name__
                faults.append(f"{{{field}}}: {said}")
                return Text("")

        def holds(kind: str, asked: str) -> bool:
            try:
                return {IF: self._any, ALIKE: self._alike}.get(kind, self._single)(asked)
            except (LookupError, TypeError) as error:
                faults.append(f"{{{kind}:{asked}|…}}: {error.args[0]}")
                return False

        chosen = resolved(text, holds)
        nodes = parse_markdown(_OPENS.sub(rf"\g<0>{_BEGINS}", chosen), fill)
        if faults:
            raise ProseFault("\n".join(dict.fromkeys(faults)))
        return tuple(map(self._listed, nodes))

    def _listed(self, node: Flow) -> Flow:
        """A paragraph that is nothing but a listing, as lines that stand as they are."""
        only = node.children[0] if isinstance(node, Paragraph) and len(node.children) == 1 else None
        return Preformatted(only.words) if isinstance(only, Text) and only.words in self._listings else node

    def prose_line(self, text: str) -> tuple[Inline, ...]:
        """A title, a caption or a label of a prose cell: one paragraph's inline nodes."""
        nodes = self.prose(text)
        if len(nodes) != 1 or not isinstance(nodes[0], Paragraph):
            raise ProseFault(f"a title, a caption or a label is one paragraph: {text!r}")
        return nodes[0].children

    def within(self, words: Mapping[str, object]) -> Binder:
        """The same with further words; what it meets counts as met here."""
        inner = Binder(self._figure, {**self._values, **words})
        inner.numbers, inner.names, inner.cited = self.numbers, self.names, self.cited
        return inner

    def behind(self, case: InputRecords) -> tuple[list[Record], list[Record]]:
        """The ledger's entries of all numbers met, and the records of the inputs behind them and of what was cited."""
        ledger = [self.numbers[i].as_dict() for i in sorted(self.numbers)]
        used = {i for entry in ledger for i in (*entry["inputs"], *entry["sources"])}
        return ledger, [dict(case.record(i)) for i in sorted(used | self.cited.keys())]

    def blocks(self, template: str) -> tuple[Flow, ...]:
        """The template as block nodes (paragraphs, lists …)."""
        return parse_markdown(template, self.field_node)

    def inline(self, template: str) -> tuple[Inline, ...]:
        """The template as inline nodes: one paragraph's content."""
        if isinstance(template, Prose):
            return self.prose_line(template)
        nodes: list[Inline] = []
        for block in self.blocks(template):
            if not isinstance(block, Paragraph):
                raise ValueError(f"a caption, title or label is one line of prose, not a {block.kind}: {template!r}")
            nodes += [*([Break()] if nodes else []), *block.children]
        return tuple(nodes)

    def number_node(self, number: Number, style: str = "", text: str | None = None) -> Num:
        """The node of a number, remembered for the ledger."""
        self.numbers[number.id] = number
        shown = text if text is not None else number.show(style)
        return Num(number.id, shown, significant(number.value, VALUE_DIGITS))

    def name_node(self, text: str) -> Text:
        """The node of a piece of text that is data."""
        if isinstance(text, Name):
            self.names[str(text)] = None
        if isinstance(text, Listing):
            self._listings.add(str(text))
        return Text(str(text))

    def field_node(self, field: str, *, opens: bool = False) -> Inline:
        """The node of one field: a reference, a citation, a figure or a word; a phrase that `opens` a sentence has a capital."""
        if field.startswith(REFERENCES):
            return Ref(field)
        return Cite(tuple(self._cite(field))) if field.startswith(_CITE) else self._value_node(field, opens)

    def _cite(self, field: str) -> list[str]:
        ids = [i for name in field.removeprefix(_CITE).split(",") for i in self._sources(name.strip())]
        self.cited.update(dict.fromkeys(ids))
        return ids

    def _sources(self, name: str) -> tuple[str, ...]:
        """The ids behind one name of a citation: those of a named thing, or the id itself."""
        value = self._values.get(name)
        return tuple(value.said.get("sources", ())) if isinstance(value, Named) else (name,)  # type: ignore[arg-type]

    def _any(self, name: str) -> bool:
        """Whether there is what a word stands for: no things, no text and None are nothing."""
        found, value = self._said(name)
        if not found:
            raise KeyError(f"no word {name}; the words here are {', '.join(self._values)}")
        return bool(value)

    def _single(self, name: str) -> bool:
        """Whether a word stands for one thing, or a figure prints as one."""
        found, value = self._said(name)
        if isinstance(value, tuple):
            return len(value) == 1
        number = value if isinstance(value, Number) else None if found else self._asked(name)
        if number is None:
            raise TypeError(f"{name} cannot be counted: it is neither things nor a figure")
        return number.text == "1"

    def _alike(self, figures: str) -> bool:
        """Whether these figures, with commas between, all print the same."""
        return len({self._asked(figure.strip()).text for figure in figures.split(",")}) == 1

    def _direction(self, word: str, figure: str) -> Text:
        """The word for the sign of a figure that tells two options apart."""
        number = self._asked(figure)
        if number.compares is None:
            raise ValueError(f"{figure} tells no two options apart (compares), so its sign has no word")
        return Text(DIRECTIONS[word][number.sign])

    def _most(self, figure: str) -> Text:
        """The name of that of several things whose figure is the largest by its size, as printed; of those alike each."""
        index = _INDEX.search(figure)
        things = self._values.get(index[1]) if index else None
        if index is None or not isinstance(things, tuple) or not things:
            raise ValueError(f"{figure} is of no several things: write {{most:figure[things]}}")
        numbers = [self._asked(f"{figure[: index.start()]}[{thing.key}]{figure[index.end() :]}") for thing in things]
        top = max(numbers, key=lambda number: abs(number.value))
        alike = [thing for thing, number in zip(things, numbers, strict=True) if number.show("abs") == top.show("abs")]
        return self.name_node(joined(alike, last=" and "))

    def _value_node(self, field: str, opens: bool) -> Num | Text:
        word, figure = figure_of(field)
        if word:
            return self._most(figure) if word == MOST else self._direction(word, figure)
        name, style = split_style(field)
        found, value = self._said(name)
        if not found:
            return self.number_node(self._asked(name), style)
        if isinstance(value, Number):
            return self.number_node(value, style)
        if isinstance(value, str):
            return self.name_node(Name(capital(value)) if opens and isinstance(value, Phrase) else value)
        if value is None:
            raise ValueError("there is none here: let when= ask for it")
        raise TypeError(
            f"{{{field}}} is a bare {type(value).__name__}: give a Number (case.number(...) or a figure's id) or text"
        )

    def _said(self, name: str) -> tuple[bool, object]:
        """Whether a field names a word (or what is said of one), and what stands for it."""
        if name in self._values:
            return True, self._values[name]
        head, _, rest = name.partition(".")
        thing = self._values.get(head)
        if not rest or not isinstance(thing, Named):
            return False, None
        if rest not in thing.said:
            close = did_you_mean(rest, thing.said)
            raise KeyError(
                f"nothing called {rest} is said of {head}" + (f"; did you mean {head}.{close}?" if close else "")
            )
        return True, thing.said[rest]

    def _asked(self, name: str) -> Number:
        """The figure of a field; where there is none, `KeyError` also thinks of the words that it may be meant for."""
        try:
            return self._figure(self._keyed(name))
        except LookupError as error:
            if "." not in name and ":" not in name and self._values:
                close = did_you_mean(name, self._values)
                known = f"did you mean {{{close}}}?" if close else f"the words here are {', '.join(self._values)}"
                raise KeyError(f"no word {name}; {known}") from error
            things = [word for word, value in self._values.items() if isinstance(value, Named)]
            for word in _INDEX.findall(name):
                if word not in things and (close := did_you_mean(word, things)):
                    raise KeyError(f"no word {word} to take the key of; did you mean [{close}]?") from error
            raise

    def _keyed(self, name: str) -> str:
        """The figure's id with each `[word]` replaced by the key of what the word names."""

        def key(match: re.Match[str]) -> str:
            value = self._values.get(match[1])
            return "." + (value.key if isinstance(value, Named) else match[1])

        return _INDEX.sub(key, name)


def split_style(field: str) -> tuple[str, str]:
    """Split `id:style`; the colon of `price:item` belongs to the id."""
    head, _, tail = field.rpartition(":")
    if head and tail in STYLES and head not in _INPUT_KINDS:
        return head, tail
    return field, ""


@dataclass(frozen=True)
class PhraseCell:
    """A cell of a table: a text whose fields may speak of the section's words, and of `words` of its own."""

    text: str
    words: Mapping[str, object] = field(default_factory=dict)
