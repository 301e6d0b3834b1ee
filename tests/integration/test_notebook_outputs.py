"""Whatever a cell shows, says or leaves open is in the memo, or is named with its notebook and cell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from fabricreport.blocks.cells import OPENING as OPENED
from fabricreport.blocks.nodes import Cite, DataTable, Figure, Num, Paragraph, plain_text, walk
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.document import Document, chart_data, document_from_notebook, merged_ledger, stitch
from fabricreport.memo.document.pieces import gather
from fabricreport.memo.run.execution import run_sections
from fabricreport.memo.run.noise import notebook_from_bytes, strip_volatile

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
OPENING = (
    "%load_ext fabricreport\nfrom fabricreport.blocks import Section\nfrom fabricreport.case import open_case\n\n"
    'case = open_case(params)\nbody = Section("tco", case)\nbody.heading("Extra", level=1)'
)


@dataclass(frozen=True)
class Ran:
    """One executed notebook, as the memo takes it."""

    memo: Any
    document: Document
    faults: list[str]

    def named(self, cell: int) -> list[str]:
        """What the checks say of one cell."""
        return [fault for fault in self.faults if fault.startswith(f"tco.ipynb, cell {cell}:")]

    def words(self) -> list[str]:
        return [plain_text(node.children) for node in self.document.nodes if isinstance(node, Paragraph)]


Cell = str | tuple[str, dict[str, Any]]


def said(alt: str) -> dict[str, Any]:
    """A cell's metadata."""
    return {"alt": alt, "caption": "What is drawn"}


def notebook(*cells: Cell, opening: str = OPENING) -> Any:
    """Cells 3, 4 … behind the usual two; one that starts with `md:` is Markdown."""
    nb = nbformat.v4.new_notebook()
    first = nbformat.v4.new_code_cell('params = ""', metadata={"tags": ["parameters"]})
    nb.cells = [first, nbformat.v4.new_code_cell(opening)]
    for cell in cells:
        source, metadata = (cell, {}) if isinstance(cell, str) else cell
        new = nbformat.v4.new_markdown_cell if source.startswith("md:") else nbformat.v4.new_code_cell
        nb.cells.append(new(source.removeprefix("md:"), metadata=metadata))
    return nb


def cells_of_the_page() -> list[str]:
    """The Python that stands on the page on notebooks, as printed; its sentence once more as Markdown."""
    text = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    number, sentence, *others = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return [number, sentence, *others, "md:" + sentence.removeprefix("%%say\n")]


NOTEBOOKS = {
    "figures": notebook(
        ("import matplotlib.pyplot as plt\nplt.plot([0, 1]); plt.show()", said("shown")),
        ("import seaborn as sns\n_ = sns.barplot(x=['a', 'b'], y=[1, 2])", said("left open")),
        ("figure, axis = plt.subplots()\nplt.close(figure)\nfigure", said("last value")),
        ("for n in range(3):\n    plt.figure()\n    plt.plot([n, 1])", said("several")),
        ("plt.plot([0, 1])", said("beside the repr of its line")),
        ("plt.figure(); plt.plot([1, 0]); plt.show()", {}),
        ("fig, ax = plt.subplots(layout='constrained')\nax.plot([1, 2])\nfig", said("last value, left open")),
    ),
    "printed": notebook(
        "print('left over')",
        "import warnings; warnings.warn('this is odd', stacklevel=1)",
        "import logging; logging.getLogger('x').warning('look here')",
        "import sys; print('aside', file=sys.stderr)",
        "case.options[0].name",
        "from IPython.display import SVG, HTML, Latex, display\ndisplay(Latex('x'))",
        "display(HTML('<b>bold</b>'))",
        "body.say('All is well.')",
    ),
    "markdown": notebook(
        "md:Over {param:money.horizon_months} it is **{tco.mine}** or {power.mine:abs}.^[From {price:switch-qm9700}.] See "
        "{sec-tco} {cite evidence:rule-material-share}. `{code}`, $\\frac{a}{b}$ and {{braces}} stay.",
        "case.number('tco.mine', 1.5e6, 'usd', label='Mine', rule='twice', inputs=('param:cluster.gpus',));",
        "case.number('power.mine', -2.0, 'count', label='Mine too', rule='twice', inputs=('param:cluster.gpus',));",
    ),
    "unknown_fields": notebook(
        "md:It is {param:money.horizon_month}, {no figure} and {cite evidence:none}.",
        "md:A draft of {nothing}.",
        "case.number('tco.mine', 1.0, 'usd', label='Mine', rule='made up');",
    ),
    "no_case": notebook("md:It is {tco.difference}.", opening="x = 1"),
    "frames": notebook(
        ("import pandas as pd\npd.DataFrame({'Letter': list('ab')})", {"caption": "Two letters"}),
        ("pd.DataFrame({'Letter': list('ab') * 50}, index=['x'] * 100)", {"caption": "Many letters"}),
        ("pd.DataFrame({'Letter': ['ab ' * 40]}, index=['x'])", {"caption": "Long letters"}),
        "pd.DataFrame({'Letter': ['ab']}, index=['x'])",
        "pd.Series(['a'])",
        ("pd.DataFrame({'Load': [410.5]})", {"caption": "A number of nobody's"}),
        "useful = [case.figure(f'tco.useful.{option.id}') for option in case.options]",
        ("table = pd.DataFrame({'Share': useful})\ntable", {"caption": "Numbers of the ledger"}),
        "%%table tab-own from=table\ncaption: Numbers of the ledger",
        opening=f"%load_ext fabricreport\n{OPENED.format('tco')}",
    ),
    "page": notebook(*cells_of_the_page()),
    "assumed": notebook(
        "case.number('tco.guess', 1234.0, 'usd', label='My guess', rule='made up');",
        "case.number('tco.fair', 2.0, 'gpus', label='Fair', rule='as given', inputs=('param:cluster.gpus',));",
        "body.say('It is {tco.guess} and {tco.fair}.')",
        "dearer = case.changed(evidence={'pue': 1.9})",
        "case = dearer",
    ),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """Every notebook of this file, executed in one run as those of a memo are."""
    folder = tmp_path_factory.mktemp("notebooks")
    paths = {name: folder / name / "tco.ipynb" for name in NOTEBOOKS}
    for name, path in paths.items():
        path.parent.mkdir()
        nbformat.write(NOTEBOOKS[name], path)
    record = run_sections(
        paths, ROOT / "params" / "tern-finetuning.yaml", folder / "out", matplotlib_dir=folder / "mpl"
    )
    assert record.ok, record.sections
    return {run.section: _as_the_memo_takes_it(run.notebook, NOTEBOOKS[run.section]) for run in record.sections}


def _as_the_memo_takes_it(path: str, source: Any) -> Ran:
    executed = notebook_from_bytes(Path(path).read_bytes())
    assert len(executed.cells) == len(source.cells) + 1, "only the injected parameters are added"
    memo = stitch({"tco": strip_volatile(executed)}, {})
    return Ran(memo, document_from_notebook(memo), check_memo(gather(memo)))


def images(ran: Ran) -> list[str]:
    return [node.alt for node in ran.document.nodes if isinstance(node, Figure)]


def test_figures_shown_left_open_or_last_are_carried_in_order(ran: dict[str, Ran]) -> None:
    found = ran["figures"]
    carried = ["shown", "left open", "last value", *["several"] * 3, "beside the repr of its line", ""]
    assert images(found) == [*carried, "last value, left open"]
    (alt, caption) = found.faults
    assert found.named(8) == [alt, caption] and "alt text" in alt and "no title" in caption
    assert "the cell's metadata" in alt and "the cell's metadata" in caption


def test_prints_values_warnings_errors_and_log_lines_are_named_with_their_cell(ran: dict[str, Ran]) -> None:
    found = ran["printed"]
    told = {cell: " ".join(found.named(cell)) for cell in range(3, 11)}
    for cell, words in {
        3: "left over", 4: "UserWarning: this is odd", 5: "look here", 6: "aside", 7: "InfiniBand", 8: "text/latex",
        9: "holds no table",
    }.items():  # fmt: skip
        assert words in told[cell], (cell, told[cell])
    assert told[10] == "" and "/" not in told[4].partition("found")[2].partition("UserWarning")[0]


def test_markdown_cells_are_filled_from_the_ledger(ran: dict[str, Ran]) -> None:
    found = ran["markdown"]
    assert found.faults == []
    (sentence,) = found.words()
    assert sentence.startswith("Over 12\u00a0months it is $1.5M or 2. See Section\u00a01")
    assert sentence.endswith("{code}, $\\frac{a}{b}$ and {braces} stay.")
    assert plain_text(found.document.notes[0].children).startswith("From $")
    numbers = {n["id"] for n in merged_ledger(gather(found.memo))["numbers"]}
    assert {"tco.mine", "power.mine", "stated.param.money.horizon_months", "stated.price.switch-qm9700"} <= numbers
    assert [c.sources for c in walk(found.document.nodes) if isinstance(c, Cite)] == [(1,)]
    assert not any("show_answers" in cell.source for cell in found.memo.cells)


def test_a_markdown_field_that_means_nothing_is_named_with_the_nearest_figure(ran: dict[str, Ran]) -> None:
    found = ran["unknown_fields"]
    assert len(found.named(3)) == 3 and len(found.named(4)) == 1
    assert "did you mean param:money.horizon_months?" in " ".join(found.named(3)).lower()
    assert found.words()[0] == "It is [param:money.horizon_month], [no figure] and [cite evidence:none]."


def test_a_notebook_without_a_case_has_its_markdown_fields_named(ran: dict[str, Ran]) -> None:
    found = ran["no_case"]
    assert "no variable `case`" in " ".join(found.named(3))


def test_a_notebook_that_no_build_ran_names_its_fields_instead_of_printing_braces() -> None:
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("It is {tco.difference}, see {fig-x}.")])
    document = document_from_notebook(nb)
    assert [p.value for p in document.problems] == ["{tco.difference}", "fig-x"]
    assert all(p.key == "cell 1" for p in document.problems)
    assert "{" not in plain_text(document.nodes[0].children)


def test_a_dataframe_cut_by_pandas_is_named(ran: dict[str, Ran]) -> None:
    found = ran["frames"]
    assert "rows or columns left out" in " ".join(found.named(4)) and "cut off" in " ".join(found.named(5))
    assert "no caption" in " ".join(found.named(6)) and "cannot show" in " ".join(found.named(7))


def test_a_number_in_a_dataframe_is_named_once_with_the_cell_that_prints_it(ran: dict[str, Ran]) -> None:
    """By cells that open as the message says to whoever has no `body`."""
    found = ran["frames"]
    assert found.named(3) == [], "an index that counts is no number"
    for cell, words in ((8, "bare number '410.5'"), (10, "ledger numbers")):
        (told,) = found.named(cell)
        assert words in told and "%%table tab-NAME from=FRAME" in told
    assert found.named(11) == []


def test_the_cells_of_the_page_put_number_sentence_table_and_chart_into_a_memo_without_faults(
    ran: dict[str, Ran],
) -> None:
    found = ran["page"]
    assert found.faults == [] and list(found.document.problems) == []
    live, filled = found.words()
    assert live == filled and re.match(r"Spares cost \$[\d.]+k \(90\s% range: .+ to .+\), or \$[\d,.]+k? each", live)
    ledger = {n["id"]: n for n in merged_ledger(gather(found.memo))["numbers"]}
    assert ledger["tco.spares"]["inputs"] == ["price:switch-qm9700"] and ledger["tco.spares"]["spread"]
    drawn = {node.id: node for node in found.document.nodes if isinstance(node, Figure | DataTable)}
    assert set(drawn) == {"tab-tco-useful", "fig-tco-useful"}
    assert plain_text(drawn["tab-tco-useful"].caption) == "How much GPU time each option leaves for work"
    assert "<svg" in drawn["fig-tco-useful"].svg and re.search(r"leaves \d", drawn["fig-tco-useful"].alt)
    rows = chart_data(gather(found.memo))
    options = [row[0] for row in rows["fig-tco-useful"][1:]]
    assert rows["fig-tco-useful"][0] == ["option", "share"] and options == [
        row[0] for row in rows["tab-tco-useful"][1:]
    ]
    assert all(0 < float(row[1]) <= 1 for row in rows["fig-tco-useful"][1:])


def test_an_assumed_number_is_marked_so_and_one_with_an_input_is_not(ran: dict[str, Ran]) -> None:
    found = ran["assumed"]
    assert found.faults == [] and list(found.document.problems) == []
    shown = [node for node in found.document.body[-1].children if isinstance(node, Num)]
    assert [(node.id, node.footing) for node in shown] == [("tco.guess", "assumed"), ("tco.fair", "firm")]


def test_a_kernel_tells_of_the_cell_that_changes_a_number_by_hand_and_of_no_other(ran: dict[str, Ran]) -> None:
    told = {
        name: [(int(e.where.split()[-1]), e.kind, e.id) for e in gather(found.memo).edits]
        for name, found in ran.items()
    }
    by_hand = {name: edits for name, edits in told.items() if edits}
    assert by_hand == {
        "assumed": [(3, "own", "tco.guess"), (7, "input", "evidence:pue")],
        "unknown_fields": [(5, "own", "tco.mine")],
    }
