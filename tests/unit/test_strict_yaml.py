"""The strict reader: what YAML means to us, and JSON with it, what is refused, and on which line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.yaml_files import clean_text, inspect_yaml, load_strict, visible


def read(tmp_path: Path, text: str | bytes, name: str = "a.yaml", **limits: int) -> object:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_strict(path, **limits).data


def refused(tmp_path: Path, text: str | bytes, name: str = "a.yaml", **limits: int) -> InputError:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, name, **limits)
    for problem in caught.value.problems:
        assert problem.file.endswith(name)
        assert problem.line is None or problem.line >= 1
        assert problem.remedy or problem.suggestion
    return caught.value


@rows(
    ("written", "meant"),
    [
        ("1024", 1024),
        ("-3", -3),
        ("+5", 5),
        ("2.50", 2.5),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        (".5", 0.5),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("on", "on"),
        ("yes", "yes"),
        ("no", "no"),
        ("1:30", "1:30"),
        ("2026-11-20", "2026-11-20"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("'010'", "010"),
        ('"1"', "1"),
        ("H100", "H100"),
        ("zoë", "zoë"),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(tmp_path: Path, written: str, meant: object) -> None:
    value = read(tmp_path, f"a: {written}\n")
    assert value == {"a": meant}
    assert type(value["a"]) is type(meant)  # type: ignore[index]


@rows(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "given twice, first on line 1"),
        ("a: 1\nb: {c: 1, c: 2}\n", 2, "given twice"),
        ("a: &x 1\n", 1, "anchors"),
        ("a: *x\n", 1, "aliases"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, "tags"),
        ("a: !!str 1\n", 1, "tags"),
        ("a: ! b\n", 1, "tags"),
        ("x: 1\n<<: {a: 1}\n", 2, "merge keys"),
        ("1: a\n", 1, "key must be text"),
        ("true: a\n", 1, "key must be text"),
        ("? [a, b]\n: 1\n", 1, "key must be text"),
        ("a: .inf\n", 1, "infinite"),
        ("a: -.INF\n", 1, "infinite"),
        ("a: .nan\n", 1, "infinite and undefined"),
        ("a: 1e999\n", 1, "too large"),
        ("a: " + "9" * 5000 + "\n", 1, "too large"),
        ("a: 07\n", 1, "may not begin with 0"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a:\n\t- b\n", 2, "cannot be read as YAML"),
        ("a: [\n", 1, "cannot be read as YAML"),
        ("a: b: c\n", 1, "cannot be read as YAML"),
        ('a: "\\UFFFFFFFF"\n', 1, "cannot be read as YAML"),
        ("", 1, "is empty"),
        (" \n\n", 1, "is empty"),
        ("# nothing\n", 1, "only comments"),
        (b"a: 1\nb: \xff\n", 2, "not UTF-8"),
        ("a: 1\n".encode("utf-16"), 1, "UTF-16"),
    ],
)
def test_what_programs_disagree_on_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, line: int, words: str
) -> None:
    error = refused(tmp_path, text)
    assert any(words in p.message and p.line == line for p in error.problems), str(error)


@rows(
    "char",
    list("\x00\x07\x1b\x7f\x85\u200b\u200f\u2028\u202a\u202e\u2060\u2066\u2069\ufeff\ue000\uf8ff\U000e0041\U00100000"),
)
def test_characters_that_make_text_lie_are_refused_raw_and_escaped(tmp_path: Path, char: str) -> None:
    raw = refused(tmp_path, f"a: 1\nb: 9{char}1\n")
    assert raw.problems[0].line == 2
    assert char not in str(raw)
    escaped = refused(tmp_path, f'a: 1\nb: "9\\U{ord(char):08x}1"\n')
    assert escaped.problems[0].line == 2
    assert escaped.problems[0].key == "b"
    assert char not in str(escaped)


def test_a_hostile_character_in_a_comment_is_refused_too(tmp_path: Path) -> None:
    assert refused(tmp_path, "a: 1 # \u202e txt\n").problems[0].line == 1


def test_a_lone_surrogate_in_json_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, '{"a": "\\ud800"}', "a.json").problems[0].line == 1


def test_a_pile_of_combining_marks_is_refused_and_accents_are_not(tmp_path: Path) -> None:
    assert read(tmp_path, "a: e\u0301\u0323\n") == {"a": "e\u0301\u0323"}
    assert "combining" in str(refused(tmp_path, "a: e" + "\u0301" * 500 + "\n"))


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfa: 1\n") == {"a": 1}


def test_all_faults_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    error = refused(tmp_path, "a: 010\na: .inf\nb: &x [1]\nc: *x\nd: !!int 3\n1: z\n<<: {q: 1}\nh: \u202e\n")
    assert {p.line for p in error.problems} == {1, 2, 3, 4, 5, 6, 7, 8}


def test_every_value_knows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("# head\ncluster:\n  gpus: 8\n  trajectory:\n    - month: 3\n      gpus: 16\n    - {month: 6}\n")
    located = load_strict(path)
    assert located.line_of(("cluster", "gpus")) == 3
    assert located.line_of(("cluster", "trajectory", 0, "gpus")) == 6
    assert located.line_of(("cluster", "trajectory", 1)) == 7
    assert located.line_of(("cluster", "missing")) == 2
    assert located.problem(("cluster", "trajectory", 1, "month"), "x").key == "cluster.trajectory[1].month"


def test_windows_line_ends_do_not_shift_lines(tmp_path: Path) -> None:
    assert refused(tmp_path, "a: 1\r\nb: 1\r\nb: 2\r\n").problems[0].line == 3


@rows(
    "bomb",
    ["[" * 400_000, "- " * 60 + "x", "? " * 100_000, "{a: " * 100_000, "- a\n" * 20_000],
)
def test_deep_and_large_trees_stop_at_the_limit(tmp_path: Path, bomb: str) -> None:
    message = str(refused(tmp_path, bomb))
    assert "nested more than 50" in message or "more than 10,000 values" in message


def test_an_alias_bomb_is_refused_at_its_first_anchor(tmp_path: Path) -> None:
    rows = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 30)]
    assert refused(tmp_path, "\n".join(rows)).problems[0].line == 1


def test_a_file_over_the_size_limit_is_not_read(tmp_path: Path) -> None:
    assert "larger than 100 bytes" in str(refused(tmp_path, "a: " + "x" * 200, max_bytes=100))


def test_limits_can_be_widened(tmp_path: Path) -> None:
    assert len(read(tmp_path, "- a\n" * 20_000, max_nodes=30_000)) == 20_000  # type: ignore[arg-type]


def test_pipes_folders_and_missing_files_are_input_errors(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "params.yaml").write_text("a: 1\n")
    for name, words in (("pipe", "ordinary"), (".", "ordinary"), ("param.yaml", "params.yaml"), ("a\0b", "opened")):
        with pytest.raises(InputError, match=words):
            load_strict(tmp_path / name)


def test_inspect_hands_back_what_could_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: .nan\nb: 2\n")
    located, problems = inspect_yaml(path)
    assert located is not None and located.data == {"a": None, "b": 2}
    assert [p.key for p in problems] == ["a"]


def test_json_is_read_with_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{\n "a": 1,\n "b": [1.5,\n\t{"c":null, "d": "x\\n\\u00e9\\/"}]\n}\n')
    located = load_strict(path)
    assert located.data == {"a": 1, "b": [1.5, {"c": None, "d": "x\né/"}]}
    assert located.line_of(("b", 1, "d")) == 4


NUMBERS = st.integers(-(10**18) + 1, 10**18 - 1) | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.sampled_from("aZ09 \"'\\/:#,&*!%@`?|>~<={}[]-.\n\té€😀"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS.filter(lambda key: key != "<<"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.just("a"), JSON, min_size=1))
@example(
    {"a": [1e-05, 1e16, 1e22, 5e-324, 1.7976931348623157e308, -0.0, 10**18 - 1, "1e5", "010", "null", "~", ".nan"]}
)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_json_as_python_writes_it_comes_back_the_same(tmp_path: Path, data: object) -> None:
    for indent in (1, None):
        assert repr(read(tmp_path, json.dumps(data, ensure_ascii=False, indent=indent), "a.json")) == repr(data)


@rows(
    "text",
    [
        *('{"a": 01}', "[1 2", '{"a" 1', '"\\q"', '{"a": 1} x', "["),
        *('{"a": 1, "a": 2}', '{"a": 1e999}', '{"a": "\\u202e"}', "[" * 60, '"a', "[1,"),
    ],
)
def test_json_that_cannot_be_meant_is_refused(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text, "a.json").problems[0].line == 1


def test_clean_text_normalises_and_refuses() -> None:
    assert clean_text("Zoe\u0308") == "Zoë"
    with pytest.raises(InputError, match="single line"):
        clean_text("a\nb", one_line=True)
    with pytest.raises(InputError, match="at most 3"):
        clean_text("abcd", max_chars=3)
    with pytest.raises(InputError, match=r"file\.csv:7"):
        clean_text("x\n\u202e", file="file.csv", line=6)


def test_visible_text_holds_no_control_character() -> None:
    assert visible("a\u202eb\x1b[2J\n") == "a\\u202eb\\x1b[2J\\n"
    assert len(visible("x" * 500)) == 80
