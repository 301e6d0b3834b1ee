"""What two memos share and how long their sentences are: known answers by hand, and laws."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from fabricreport.cli import main
from fabricreport.errors import InputError
from fabricreport.memo.compare import Shared, compare, is_definition, masked_words, near, shared
from fabricreport.memo.document.measures import Sentence
from fabricreport.memo.read_back import read_memo

NUMBER = '<a class="num told" href="#d-1"><data value="1">{}</data><span class="stale">†</span></a>'


def memo(folder: Path, client: str, *paragraphs: str, head: str = "", annex: str = "", pdf: bytes = b"") -> Path:
    """A memo's folder whose body holds the paragraphs."""
    folder.mkdir(parents=True, exist_ok=True)
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    (folder / "memo.html").write_text(
        f'<!doctype html><html><body><header class="head"><p class="tag">Memorandum for {escape(client)}</p>'
        f"<h1>Which network?</h1></header><nav><ol><li>Nothing of the contents is a sentence</li></ol></nav>"
        f'<main id="memo">{head}<section><h2><span class="no">1</span> No heading is a sentence here</h2>{body}</section>'
        f'<section><h2><span class="no">Annex A</span> Behind it</h2><p>{annex}</p></section></main></body></html>',
        encoding="utf-8",
    )
    if pdf:
        (folder / "memo.pdf").write_bytes(pdf)
    return folder


def said(words: str) -> Sentence:
    return Sentence(words, "prose", "", "")


def share(found: tuple[Shared, ...], of: str, within: str) -> tuple[int, int]:
    pair = next(p for p in found if (p.of, p.within) == (of, within))
    return pair.shared, pair.compared


# ---- known answers


def test_two_texts_worked_by_hand(tmp_path: Path) -> None:
    # A has three sentences of four words or more, B four. The first of each differ in a client and a number only. Of the
    # second, six words of eight (A) and of seven (B) stand in both in order: 2 x 6 / 15 = 0.8. The third has none in B.
    first = memo(
        tmp_path / "a",
        "Acme",
        f"Acme pays {NUMBER.format('$415k')} for its network. Not so long.",
        "Write the acceptance test into the signed order. Copper was cheaper to buy last year, some say.",
    )
    second = memo(
        tmp_path / "b",
        "Beta",
        f"Beta pays {NUMBER.format('$2')} for its network.",
        "Write the acceptance test into each order. Nobody asked for this. Two more words stand alone here.",
    )
    found = compare([first, second])
    assert share(found.pairs, "Acme", "Beta") == (2, 3)
    assert share(found.pairs, "Beta", "Acme") == (2, 4)
    measures = found.measures["Acme"]
    assert (measures.count, measures.words, measures.longest, measures.over) == (3, 6 + 8 + 9, 9, 0)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a b c d", "a b c d", True),
        ("a b c d", "a b c x", True),  # 2 x 3 / 8 = 0.75
        ("a b c d", "a b x y", False),  # 2 x 2 / 8 = 0.5
        ("a b c d", "d c b a", False),  # the same words in another order
        ("a b c d", "a b c d e f", True),  # 2 x 4 / 10 = 0.8
        ("a b c d", "a b c d e f g", False),  # 2 x 4 / 11 = 0.73
    ],
)
def test_three_words_in_four_in_the_same_order_are_near_identical(one: str, other: str, same: bool) -> None:
    assert near(tuple(one.split()), tuple(other.split())) is same


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        ("It costs $1.2M over 48 months.", "it costs 0 over 0 months"),
        ("Buy InfiniBand NDR 400G, not RoCEv2 400G on branded switches.", "buy option not option"),
        ("Ask Lambda, not CoreWeave.", "ask option not option"),
        ("Northmere AI waits.", "client waits"),
        ("See Section 3.2, Table W4 and Annex B.", "see reference reference and reference"),
        ("The maker’s twenty-four ports don't fit.", "the maker’s twenty-four ports don't fit"),
    ],
)
def test_what_differs_from_client_to_client_is_masked(words: str, masked: str) -> None:
    assert " ".join(masked_words(said(words), ["Northmere AI"])) == masked


@pytest.mark.parametrize(
    ("words", "defines"),
    [
        ("InfiniBand is a network with adapters of its own.", True),
        ("NCCL (NVIDIA's library) is what joins the GPUs.", True),
        ("RoCEv2 means that Ethernet carries RDMA.", True),
        ("InfiniBand is cheaper in 73 of 100 outcomes.", False),
        ("We would buy InfiniBand.", False),
    ],
)
def test_a_definition_says_what_a_term_of_the_glossary_means(words: str, defines: bool) -> None:
    assert is_definition(said(words)) is defines


def test_definitions_are_measured_but_not_compared(tmp_path: Path) -> None:
    text = "InfiniBand is a network with adapters of its own."
    found = compare([memo(tmp_path / "a", "A", text), memo(tmp_path / "b", "B", text)])
    assert share(found.pairs, "A", "B") == (0, 0) and found.pairs[0].share == 0.0
    assert found.measures["A"].count == 1


def test_only_sentences_of_the_body_are_read(tmp_path: Path) -> None:
    parts = (
        "<h3>Nor is a heading of a part</h3><table><tr><td>Nor is a long cell of a table</td></tr></table>"
        '<svg><text>Nor is the text of a drawing</text></svg><details class="data"><p>Nor is data of a figure here</p></details>'
        '<figure class="table"><figcaption><span class="tag">Table 1</span> <strong>RoCEv2 saves money in both stages</strong>'
        '</figcaption></figure><figure><figcaption><strong>Nor is the title of a drawing</strong></figcaption>'
        '<p class="caption">The line shows what remains to pay.</p></figure>'
        '<ul><li><p>Ask for an offer on both.</p></li><li>Sign on the last working day.</li></ul>'
        '<dl class="tiles"><div class="tile"><dt>Saving</dt><dd><span class="value">$1</span> '
        '<span class="more">nine times in ten more</span></dd></div></dl>'
    )  # fmt: skip
    folder = memo(
        tmp_path / "a",
        "Acme",
        "It holds <em>here</em><sup>1</sup> <span class='cite'>[<a href='#s'>3</a>]</span> as <a href='#t'>Section 2</a> says.",
        head=parts,
        annex="Nor is anything that stands in an annex.",
    )
    assert [s.words for s in read_memo(folder).sentences] == [
        "RoCEv2 saves money in both stages",
        "The line shows what remains to pay.",
        "Ask for an offer on both.",
        "Sign on the last working day.",
        "nine times in ten more",
        "It holds here as Section 2 says.",
    ]


def test_pages_are_those_that_the_pdf_states(tmp_path: Path) -> None:
    pdf = b"%PDF<pdf:Keywords>body: 6 pages, annexes: 1 page</pdf:Keywords>"
    told = compare(
        [memo(tmp_path / "a", "A", "Four words stand here; or more.", pdf=pdf), memo(tmp_path / "b", "B", "x")]
    )
    first, second = told.as_dict()["memos"]
    assert (first["pages"], first["annex_pages"], first["semicolons_per_page"]) == (6, 1, 0.17)
    assert (second["pages"], second["annex_pages"], second["sentences"]) == (None, None, 0)
    assert "not counted" in told.as_text()


# ---- laws

WORDS = st.lists(st.sampled_from(["the", "order", "names", "a", "date", "test", "and"]), min_size=1, max_size=12).map(
    tuple
)


@given(st.lists(WORDS, max_size=6))
def test_a_memo_shares_all_of_itself(sentences: list[tuple[str, ...]]) -> None:
    found = shared("a", sentences, "a", sentences)
    assert found.shared == found.compared == len(sentences)


@given(WORDS, WORDS)
def test_which_of_two_sentences_comes_first_makes_no_difference(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert near(one, other) is near(other, one)
    assert shared("a", [one], "b", [other]).shared == shared("b", [other], "a", [one]).shared


@given(st.integers(0, 10**9), st.floats(0, 1e6, allow_nan=False))
def test_masked_numbers_do_not_matter(count: int, share: float) -> None:
    assert masked_words(said(f"It takes {count:,} GPUs and {share:.2f} of a day.")) == masked_words(
        said("It takes 7 GPUs and 0.5 of a day.")
    )


def test_a_memo_beside_itself_is_all_of_it(tmp_path: Path) -> None:
    one = memo(tmp_path / "a", "Acme", "Write the acceptance test into the order. Ask both makers for an offer.")
    found = compare([one, one])
    assert [(p.shared, p.compared) for p in found.pairs] == [(2, 2), (2, 2)]
    assert list(found.memos) == ["Acme, a", "Acme, a (2)"]


# ---- the command


def run(*words: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["compare", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def test_the_command_takes_folders_clients_and_files_and_tells_tables_or_json(tmp_path: Path) -> None:
    one = memo(tmp_path / "acme" / "latest", "Acme", "Write the acceptance test into the order.")
    two = memo(tmp_path / "beta" / "2026", "Beta", "Write the acceptance test into each order.")
    code, out, _ = run(tmp_path / "acme", two / "memo.html")
    assert code == 0 and "100% (1 of 1)" in out and "Sentences of the body" in out
    code, out, _ = run("--json", one, two)
    told = json.loads(out)
    assert code == 0 and told["ok"] is True
    assert [m["name"] for m in told["memos"]] == ["Acme", "Beta"]
    assert told["pairs"][0] == {"of": "Acme", "in": "Beta", "shared": 1, "compared": 1, "share": 1.0}
    code, out, _ = run(one)
    assert code == 0 and "Near-identical" not in out


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda at: at / "gone", "does not exist"),
        (lambda at: at, "holds no memo.html, nor latest/memo.html"),
        (
            lambda at: put(at / "x.html", b"<html><body><p>Some other page of the web.</p></body></html>"),
            "is no memo of ours",
        ),
        (lambda at: put(at / "x.html", b"\xff\xfe\x00"), "is no text in UTF-8"),
        (lambda at: put(at / "x.html", b""), "is no memo of ours"),
    ],
)
def test_what_cannot_be_read_gets_one_clear_message(make, words: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, err = run(make(tmp_path))
    assert code == 2 and words in err and "Traceback" not in err and out == ""
    assert len(err.strip().splitlines()) == 2, "the fault, and what to do"
    with pytest.raises(InputError, match=words):
        compare([make(tmp_path)])


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_without_a_memo_the_command_says_how_it_is_used() -> None:
    code, _, err = run()
    assert code == 2 and "MEMO" in err
