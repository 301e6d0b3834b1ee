"""Markdown cells become document nodes; nothing a person types becomes markup."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.blocks.markdown import parse_markdown, plain_text, safe_link


def number(identity: str) -> dict[str, Any]:
    return {"t": "num", "id": identity, "text": "$1", "value": 1.0}


def inline(text: str, **kw: Any) -> list[dict[str, Any]]:
    (node,) = parse_markdown(text, **kw)
    return node["c"]  # type: ignore[no-any-return]


def test_a_marked_number_becomes_a_number_node_wherever_it_stands() -> None:
    text = "**\ue000tco.a_b*c\ue001** and `x \ue000d\ue001`\n\n| h |\n|---|\n| \ue000e|f\ue001 |\n\n- \ue000g\ue001\n"
    found = []
    parse_markdown(text, lambda identity: found.append(identity) or number(identity))
    assert found == ["tco.a_b*c", "d", "e|f", "g"]


def test_a_number_inside_bold_keeps_its_node() -> None:
    assert inline("**\ue000a\ue001**", resolve_number=number) == [{"t": "strong", "c": [number("a")]}]


def test_without_a_resolver_a_marked_number_is_its_id_as_text() -> None:
    assert inline("x \ue000tco.a\ue001 y") == [{"t": "text", "v": "x tco.a y"}]


def test_references_citations_and_footnotes_become_nodes() -> None:
    nodes = inline("See \ue002fig-a\ue003\ue004e:a, e:b\ue005\ue006a *b* \ue000n\ue001\ue007.", resolve_number=number)
    assert [n["t"] for n in nodes] == ["text", "ref", "cite", "note", "text"]
    assert nodes[1]["id"] == "fig-a"
    assert nodes[2]["ids"] == ["e:a", "e:b"]
    assert [n["t"] for n in nodes[3]["c"]] == ["text", "em", "text", "num"]


@pytest.mark.parametrize("text", ["\ue006open", "close\ue007", "\ue000cut", "a\ue001"])
def test_a_mark_without_its_partner_loses_no_words(text: str) -> None:
    words = plain_text(inline(text))
    assert all(c in words for c in text if c.isascii())


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScript:x",
        "data:text/html,x",
        "file:///etc/passwd",
        "http://a.b",
        "//a.b",
        "vbscript:x",
    ],
)
def test_only_https_and_mailto_links_survive(target: str) -> None:
    assert inline(f"[word]({target})") == [{"t": "text", "v": "word"}]


def test_https_and_mailto_links_survive() -> None:
    assert inline("[a](https://x.example/y)")[0]["href"] == "https://x.example/y"
    assert inline("[a](mailto:a@b.example)")[0]["href"] == "mailto:a@b.example"


def test_a_link_may_not_carry_line_breaks_or_backslashes() -> None:
    assert not safe_link("https://a\n.b")
    assert not safe_link("https:\\\\a.b")


def test_raw_html_is_text() -> None:
    nodes = parse_markdown("<div onclick=x>hi</div>\n\na <b>bold</b>")
    assert plain_text(nodes[0]["c"]) == "<div onclick=x>hi</div>"
    assert plain_text(nodes[1]["c"]) == "a <b>bold</b>"


def test_headings_take_an_id_from_braces_and_stop_at_three_levels() -> None:
    nodes = parse_markdown("# One {#sec-one}\n\n##### Deep")
    assert nodes[0] == {"t": "h", "level": 1, "c": [{"t": "text", "v": "One"}], "id": "sec-one"}
    assert nodes[1]["level"] == 3


@pytest.mark.parametrize("order", ["before", "after"])
def test_a_table_takes_its_caption_from_the_paragraph_beside_it(order: str) -> None:
    table, caption = "| a | b |\n|---|--:|\n| x | 1 |\n", "Table: What it says {#tab-x}\n"
    text = f"{caption}\n{table}" if order == "before" else f"{table}\n{caption}"
    (node,) = parse_markdown(text)
    assert node["id"] == "tab-x"
    assert plain_text(node["caption"]) == "What it says"
    assert [c["align"] for c in node["columns"]] == ["left", "right"]


def test_an_image_is_kept_only_when_it_is_attached_as_png() -> None:
    (kept,) = parse_markdown("![alt](attachment:a.png)", images={"attachment:a.png": "data:image/png;base64,QUJD"})
    (lost,) = parse_markdown("![alt](../../etc/passwd)")
    assert kept == {"t": "image", "src": "data:image/png;base64,QUJD", "alt": "alt"}
    assert lost == {"t": "image", "src": "", "alt": "alt", "address": "../../etc/passwd"}


@pytest.mark.parametrize(
    "text",
    ["say ![a](x.png) so", "# head ![a](x.png)", "- item ![a](x.png)", "|h ![a](x.png)|\n|--|\n|c|", "**![a](x.png)**",
     "[![a](x.png)](https://a.example)", "|h|\n|--|\n|c|\n\nTable: words ![a](x.png)", "> said ![a](x.png)"],
)  # fmt: skip
def test_an_image_amid_words_follows_their_block(text: str) -> None:
    nodes = parse_markdown(text)
    inner = nodes[0]["items"][0] if nodes[0]["t"] == "ul" else nodes[0]["c"] if nodes[0]["t"] == "quote" else nodes
    assert inner[-1] == {"t": "image", "src": "", "alt": "a", "address": "x.png"}


def test_code_blocks_keep_their_lines_and_print_numbers() -> None:
    assert parse_markdown("```\na\n  \ue000x\ue001\n```", number) == [{"t": "pre", "v": "a\n  $1"}]


def test_lists_quotes_and_breaks_keep_their_structure() -> None:
    nodes = parse_markdown("1. one\n2. two\n\n> said  \n> again")
    assert nodes[0]["t"] == "ol"
    assert [plain_text(item[0]["c"]) for item in nodes[0]["items"]] == ["one", "two"]
    assert [n["t"] for n in nodes[1]["c"][0]["c"]] == ["text", "br", "text"]


def test_characters_reserved_for_folding_cannot_forge_a_number() -> None:
    assert "\U000f0000" not in plain_text(inline("\U000f0000 \ue000a\ue001", resolve_number=number))


@settings(max_examples=50, deadline=None)
@given(
    st.text(alphabet="ab*_`[]()<>!#|-\n\\&; \ue000\ue001\ue002\ue003\ue004\ue005\ue006\ue007\U000f0000", max_size=80)
)
def test_any_text_parses_into_known_nodes(text: str) -> None:
    known = {"p", "h", "ul", "ol", "quote", "pre", "datatable", "image", "text", "strong", "em", "code", "link", "br"}
    known |= {"num", "ref", "cite", "note"}

    def kinds(value: Any) -> set[str]:
        if isinstance(value, dict):
            return (
                {value["t"]}
                if "t" in value and len(value) == 2 and "v" in value
                else {value.get("t", "p")} | kinds(list(value.values()))
            )
        if isinstance(value, list):
            return set().union(*(kinds(v) for v in value)) if value else set()
        return set()

    assert kinds(parse_markdown(text, number)) <= known
