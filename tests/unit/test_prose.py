"""Prose cells: what their first line may say, how fields are filled, and how a fault is told."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import nbformat
import pytest
from notebook_cells import EVERY, NOTEBOOKS, ROOT, plain, sources
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.blocks import Column, Drawing, Name, Named, Row, Section, Table
from fabricreport.blocks.cells import run_cell
from fabricreport.blocks.nodes import DataTable, plain_text
from fabricreport.blocks.prose import ProseFault, is_prose, read_cell
from fabricreport.blocks.template import PhraseCell
from fabricreport.check.prose import prose_faults, refuse_unreadable
from fabricreport.ledger.facts import Findings
from fabricreport.ledger.numbers import Number


class Found(StrEnum):
    CLEAR = "clear"
    OPEN = "open"


class Case:
    """Two figures, no names."""

    names: Sequence[str] = ()

    def figure(self, figure_id: str) -> Number:
        known = {"tco.total.ib": 5.0, "tco.total.roce": 4.0}
        if figure_id not in known:
            raise KeyError(f"no figure {figure_id}; did you mean tco.total.ib?")
        return Number(figure_id, known[figure_id], "usd", "Total", "sum")

    def record(self, input_id: str) -> dict[str, Any]:
        return {"id": input_id}


def space(**words: object) -> dict[str, Any]:
    said = {"choice": Named("InfiniBand", "ib", side="above", sources=("claim:a",)), "none": None, "things": ()} | words
    body = Section("tco", Case(), words=said)
    return {"body": body, "finding": Findings(Found, [Found.CLEAR])}


def nodes(source: str, **words: object) -> list[dict[str, Any]]:
    names = space(**words)
    made = {"drawing": Drawing("fig-x", "<svg/>", (("a",),)), "table": Table([Column("A")], [Row(["one"])])}
    run_cell(read_cell(source), names, lambda expression: made[expression])
    return [node for block in names["body"].emitted for node in block.bundle["nodes"]]


def text(node: Any) -> str:
    if isinstance(node, list):
        return "".join(text(part) for part in node)
    if not isinstance(node, dict):
        return ""
    return str(node.get("text") or node.get("v") or "") + "".join(text(v) for v in node.values())


def test_a_condition_that_holds_says_its_sentence_and_one_that_does_not_says_nothing() -> None:
    assert text(nodes("%%say when=finding.clear\nSo it is.")) == "So it is."
    assert nodes("%%say when=finding.open\nSo it is.") == []
    assert nodes("%%say when=not finding.clear\nSo it is.") == []
    assert text(nodes("%%say when=not finding.open\nSo it is.")) == "So it is."


def test_a_figure_is_named_by_the_key_of_a_word_and_a_word_tells_what_is_said_of_it() -> None:
    said = text(nodes("%%say\n{choice} costs {tco.total[choice]}, {choice.side} {tco.total[roce]}."))
    assert said == "InfiniBand costs $5, above $4."


def test_what_two_figures_have_alike_is_said_once() -> None:
    told = "%%say\n{alike:tco.total.ib,tco.total.roce|{tco.total.ib} each|{tco.total.ib} and {tco.total.roce}}."
    assert text(nodes(told)) == "$5 and $4." and text(nodes(told.replace("roce", "ib"))) == "$5 each."


def test_a_citation_of_a_word_is_one_of_its_sources() -> None:
    (paragraph,) = nodes("%%say\nSo {cite choice}.")
    assert [n["ids"] for n in paragraph["c"] if n["t"] == "cite"] == [["claim:a"]]


def test_a_loop_says_its_line_for_each_thing_as_one_list() -> None:
    things = (Named("A", "ib"), Named("B", "roce"))
    (items,) = nodes("%%say each=thing in things\n- {thing}: {tco.total[thing]}", things=things)
    assert [text(item) for item in items["items"]] == ["A: $5", "B: $4"]
    assert nodes("%%say each=thing in things\n- {thing}") == []


def test_a_first_heading_opens_the_section_and_page_one_is_made_of_parts() -> None:
    assert nodes("%%say\n# So")[0]["id"] == "sec-tco"
    assert [node["id"] for node in nodes("%%say\n# So\n\n# And so")] == ["sec-tco", ""]
    assert nodes("%%say glance\nSo.")[0]["t"] == "glance"
    (tile,) = nodes("%%tile\nlabel: A\nvalue: {tco.total[choice]}\nnote: c")[0]["tiles"]
    assert (text(tile["label"]), text(tile["value"]), text(tile["note"])) == ("A", "$5", "c")


def test_a_boxed_remark_without_a_title_goes_on_from_the_one_before() -> None:
    (first,) = nodes("%%say caution\ntitle: Mind this\n- one")
    (second,) = nodes("%%say caution\n- two")
    assert (text(first["title"]), second["title"]) == ("Mind this", [])


def test_a_chart_and_a_table_take_their_words_from_the_cell_or_a_title_said_before() -> None:
    chart = "%%chart from=drawing\ntitle: T\nsubtitle: S\nalt: A of {tco.total[choice]}\ncaption: C"
    (figure,) = nodes(chart)
    assert (figure["id"], text(figure["title"]), figure["alt"], text(figure["caption"])) == (
        "fig-x",
        "T",
        "A of $5",
        "C",
    )
    (table,) = nodes("%%table tab-x from=table\ncaption: C\nnote: N")
    assert (table["id"], text(table["caption"]), text(table["note"])) == ("tab-x", "C", "N")
    names = space()
    run_cell(read_cell("%%title when=finding.clear\nSaid {choice}"), names, str)
    made = Table([Column("A")], [Row(["one"])])
    run_cell(read_cell("%%table tab-x from=table"), names, lambda _: made)
    with pytest.raises(ProseFault, match="has no caption"):
        run_cell(read_cell("%%table tab-y from=table"), names, lambda _: made)
    assert text(names["body"].emitted[0].bundle["nodes"][0]["caption"]) == "Said InfiniBand"


def test_every_wrong_field_of_a_cell_is_named_at_once_with_the_nearest_there_is() -> None:
    with pytest.raises(ProseFault) as caught:
        nodes("%%say\n{tco.totl[choice]} and {choice.sde} and {none}.")
    told = str(caught.value)
    assert "{tco.totl[choice]}: no figure tco.totl.ib; did you mean tco.total.ib?" in told
    assert "did you mean choice.side?" in told and "{none}: there is none here" in told
    assert caught.value._render_traceback_() == [told]
    with pytest.raises(ProseFault, match=r"did you mean \{choice\}\?") as caught:
        nodes("%%say\n{choce} at {tco.total[chioce]}, {tco.total[roce]}.")
    assert "did you mean [choice]?" in str(caught.value)


@rows(
    ("source", "said"),
    [
        ("%%say when=finding.clear or finding.open\nx", "a cell has one condition"),
        ("%%say when=1 < 2\nx", "a cell has one condition"),
        ("%%say when=finding.cleer\nx", "did you mean clear?"),
        ("%%say when=nothing.clear\nx", "the notebook has no nothing"),
        ("%%say when=body\nx", "true or false"),
        ("%%say each=a of b\nx", "write each=turn in turns"),
        ("%%say each=a in choice\nx", "has no choice to go through"),
        ("%%say sidebar\nx", "does not know 'sidebar'"),
        ("%%say from=table\nx", "takes no from="),
        ("%%tile further\nlabel: a", "cannot go further"),
        ("%%table tab-x\ncaption: c", "needs from="),
        ("%%table X from=table\ncaption: c", "names the table first"),
        ("%%table tab-x from=table\nwords", "begins with one of caption:, note:"),
        ("%%table tab-x from=table", "has no caption"),
        ("%%table tab-x from=drawing\ncaption: c", "not a Table"),
        ("%%chart from=drawing\ntitle: T", "has no subtitle and no alt"),
        ("%%chart from=table\ntitle: T", "not a Drawing"),
        ("%%tile\nlabel: a\nlabel: b", "says label: twice"),
        ("%%say when=finding.clear when=finding.open\nx", "says when= twice"),
        ("%%say\n{if:choice|It{if:none| or not|} is.|}", "holds no other choice"),
    ],
)
def test_a_cell_that_cannot_be_read_is_refused_in_words(source: str, said: str) -> None:
    with pytest.raises(ProseFault, match=said.replace("?", r"\?")):
        nodes(source)


def test_a_notebook_without_a_section_is_told_how_to_begin() -> None:
    with pytest.raises(ProseFault, match="open_section"):
        run_cell(read_cell("%%say\nx"), {}, str)


def test_only_our_magics_make_a_cell_prose() -> None:
    assert is_prose("%%say\nx") and is_prose("%%tile") and is_prose("%%say when=finding.clear")
    assert not is_prose("%%time\nx") and not is_prose("x = 1") and not is_prose("%load_ext fabricreport")


def test_what_a_person_typed_stays_text() -> None:
    (paragraph,) = nodes(
        "%%say\n{client}: {{braces}} `{code}` <b>x</b>", client=Named("<i>{tco.total.ib}</i> *A*", "c")
    )
    assert text(paragraph) == "<i>{tco.total.ib}</i> *A*: {braces} {code} <b>x</b>"


def notebook(folder: Path, *sources: str) -> Path:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    path = folder / "tco.ipynb"
    nbformat.write(nb, path)
    return path


@rows("section", EVERY)
def test_the_shipped_notebooks_have_none(section: str) -> None:
    assert prose_faults(NOTEBOOKS / f"{section}.ipynb") == []


@rows(
    ("source", "said"),
    [
        ("%%say when=1 < 2\nx", "tco.ipynb, cell 2: the prose cell cannot be read (found %%say when=1 < 2)"),
        (
            "%%say\n{tco.totl[choice]} and {tco.total[choice]:range}",
            "(found {tco.totl[choice]}). Did you mean 'tco.total",
        ),
        ("%%tile\nlabel: a\nvalue: {decision.evpy:abs}", "found {decision.evpy:abs}"),
        ("%%table tab-x from=t\ncaption: {latency.no.such.thing}", "no section declares this figure"),
    ],
)
def test_a_fault_is_told_by_cell_before_a_kernel_starts(tmp_path: Path, source: str, said: str) -> None:
    path = notebook(tmp_path, "x = 1", source)
    (problem,) = prose_faults(path)
    assert said in str(problem)
    with pytest.raises(InputError):
        refuse_unreadable([path])


def test_what_only_the_running_notebook_knows_is_left_to_it(tmp_path: Path) -> None:
    made = "case.number('tco.mine', 1.0, 'usd', label='a', rule='b')"
    prose = "%%say each=turn in turns\n{tco.mine} {choice} {turn.side} {price:x} {fig-x} {cite claim:a} `{tco.code}`"
    assert prose_faults(notebook(tmp_path, made, prose, "'{tco.nothing}'")) == []


def test_a_file_that_is_no_notebook_is_somebody_elses_fault(tmp_path: Path) -> None:
    path = tmp_path / "tco.ipynb"
    path.write_text("not json")
    assert prose_faults(path) == []


MOST_WORDS = 8
DECISIONS = (ast.Compare, ast.IfExp, ast.FunctionDef, ast.Lambda, ast.JoinedStr, ast.BoolOp)
SAID_ELSEWHERE = {"label", "rule"}
"""Arguments whose text stands in the ledger beside a figure."""


def words(value: str) -> int:
    return len(value.split())


def strings(tree: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Whole strings of a tree: an f-string once, not in its pieces."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield node
        else:
            yield from strings(node)


def length(node: ast.Constant | ast.JoinedStr) -> int:
    if isinstance(node, ast.Constant):
        return words(str(node.value))
    return words("".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values))


@rows("section", EVERY)
def test_code_cells_hold_no_sentence_no_condition_and_no_number_of_their_own(section: str) -> None:
    for number, (source, _) in enumerate(sources(section), start=1):
        if is_prose(source):
            read_cell(source)
            continue
        tree, where = ast.parse(plain(source)), f"{section}.ipynb, cell {number}"
        assert [ast.unparse(s) for s in strings(tree) if length(s) > MOST_WORDS] == [], where
        assert [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, DECISIONS)] == [], where
        assert "case.number" not in source, where


@rows("section", EVERY)
def test_most_words_of_a_notebook_stand_in_prose_cells(section: str) -> None:
    prose = sum(words(s.partition("\n")[2]) for s, _ in sources(section) if is_prose(s))
    code = sum(words(s) for s, _ in sources(section) if not is_prose(s))
    assert prose >= 0.6 * (prose + code)


def _spoken(tree: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Strings that may reach a memo: no docstring, no exception's message, no label or rule, no member of an enum."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise | ast.Assert) or (isinstance(node, ast.keyword) and node.arg in SAID_ELSEWHERE):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "StrEnum" for b in node.bases):
            continue
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield node
        else:
            yield from _spoken(node)


@rows("section", EVERY)
def test_no_sentence_stands_in_a_section_s_modules(section: str) -> None:
    found = [
        f"{path.name}:{node.lineno} {ast.unparse(node)}"
        for path in sorted(Path(ROOT / "fabricreport/sections" / section).rglob("*.py"))
        if not path.stem.endswith("figures")  # labels and rules alone
        for node in _spoken(ast.parse(path.read_text(encoding="utf-8")))
        if length(node) > MOST_WORDS
    ]
    assert found == []


ASK, LESS = "Ask for {todo.first}", "{tco.gap[todo]} less"


@dataclass(frozen=True)
class Ledger:
    """A case with one figure."""

    names: tuple[str, ...] = ()

    def figure(self, figure_id: str) -> Number:
        return {"tco.gap.switch": Number("tco.gap.switch", 5.0, "count", "Gap", "counted")}[figure_id]

    def record(self, input_id: str) -> dict[str, Any]:
        raise KeyError(input_id)


def thing() -> Named:
    return Named("A", "switch", first=Name("a switch of 64 ports"))


def said(section: Section, *cells: PhraseCell) -> list[str]:
    section.table("tab-x", "What to do", [Column("")] * len(cells), [Row(list(cells))])
    node = section.emitted[-1].nodes[0]
    assert isinstance(node, DataTable)
    return [plain_text(cell) for cell in node.rows[0].cells]


def phrase(text: str) -> PhraseCell:
    return PhraseCell(text, {"todo": thing()})


def test_a_phrase_is_said_of_its_thing_and_its_figures_and_names_are_met_by_the_table() -> None:
    body = Section("decision", Ledger())
    assert said(body, phrase(ASK), phrase(LESS)) == ["Ask for a switch of 64 ports", "5 less"]
    assert [entry["id"] for entry in body.emitted[-1].ledger] == ["tco.gap.switch"]
    assert "a switch of 64 ports" in body.emitted[-1].names


def test_a_wrong_field_of_a_phrase_is_named() -> None:
    with pytest.raises(ProseFault, match="first"):
        said(Section("decision", Ledger()), phrase(ASK.replace("first", "frist")))


SELLERS = (Named("Seller One", "one", day="Monday"), Named("Seller Two", "two", day="Friday"))
CHART = "%%chart each=seller in sellers from=drawn\ntitle: {seller}\nsubtitle: On {seller.day}\nalt: Bars of {seller}"
TABLE = "%%table tab-x-answers each=seller in sellers from=made\ncaption: {seller} answered on {seller.day}"


class Names:
    names = ("Seller One", "Seller Two")

    def figure(self, figure_id: str) -> Number:
        raise KeyError(figure_id)

    def record(self, input_id: str) -> dict[str, Any]:
        raise KeyError(input_id)


def looped(source: str, **space: Any) -> list[dict[str, Any]]:
    body = Section("x", Names(), words={"sellers": SELLERS})
    run_cell(read_cell(source), {"body": body}, space.__getitem__)
    return [node for block in body.emitted for node in block.bundle["nodes"]]


def table(text: str) -> Table:
    return Table([Column("Answer")], [Row([text])])


def test_each_thing_has_a_table_under_its_own_id() -> None:
    made = looped(TABLE, made={"one": table("yes"), "two": table("no")})
    assert [n["id"] for n in made] == ["tab-x-answers-one", "tab-x-answers-two"]
    assert [n["rows"][0]["cells"][0][0]["v"] for n in made] == ["yes", "no"]


def test_each_thing_has_a_chart_that_speaks_of_it() -> None:
    drawn = {s.key: Drawing(f"fig-x-{s.key}", "<svg/>", (("a",), ("b",))) for s in SELLERS}
    made = looped(CHART, drawn=drawn)
    assert [(n["id"], n["alt"]) for n in made] == [
        ("fig-x-one", "Bars of Seller One"),
        ("fig-x-two", "Bars of Seller Two"),
    ]


def test_a_thing_without_its_own_is_named() -> None:
    with pytest.raises(ProseFault, match="nothing for two"):
        looped(TABLE, made={"one": table("yes")})
    with pytest.raises(ProseFault, match="nothing for one"):
        looped(TABLE, made=table("yes"))


@rows("notebook", ["diligence", "decision"])
def test_what_stands_amid_a_file_of_its_own_belongs_to_it(notebook: str) -> None:
    """After the first cell of the plan or the letters no sentence is the memo's again."""
    tags = [tags for source, tags in sources(notebook) if is_prose(source)]
    begun = next(number for number, own in enumerate(tags) if own)
    assert all(any(tag.startswith("file:") for tag in own) for own in tags[begun:])
