"""Hostile and broken params: the outcome is a valid Params, or an InputError that names file and line."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.text import hostile_characters
from fabricreport.scenario import Params, canonical_json, load_params, load_params_file

PARAMS = Path(__file__).parents[2] / "params"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(PARAMS.glob("*.yaml"))]
EXAMPLE = (PARAMS / "example.yaml").read_text(encoding="utf-8")
CANONICAL = canonical_json(load_params(PARAMS / "example.yaml"))


@contextmanager
def written(content: str | bytes, suffix: str = ".yaml") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"params{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        yield path


def checked_outcome(content: str | bytes, suffix: str = ".yaml") -> Params | InputError:
    """Load it; any exception but a well-formed InputError fails the test by itself."""
    with written(content, suffix) as path:
        try:
            params = load_params(path)
        except InputError as error:
            assert error.problems
            for problem in error.problems:
                assert problem.file == str(path)
                assert problem.line is not None and problem.line >= 1
                assert problem.message
                assert not hostile_characters(str(problem)), ascii(str(problem))
                assert len(str(problem)) < 1500
                json.dumps(problem.as_dict()).encode()
            return error
        copy = path.with_name("copy.json")
        copy.write_text(canonical_json(params), encoding="utf-8")
        assert load_params(copy) == params
        return params


def swap(old: str, new: str) -> str:
    assert old in EXAMPLE
    return EXAMPLE.replace(old, new, 1)


NAME, GPUS, DAYS = "name: Northmere AI", "gpus: 1024", "run_days: 30"

REFUSED: dict[str, str | bytes] = {  # beyond what the strict reader and the schema are tried with in their own tests
    "null": "null\n",
    "scalar": "hello\n",
    "number": "42\n",
    "list": "- a\n- b\n",
    "binary": bytes(range(256)) * 10,
    "png": b"\x89PNG\r\n\x1a\n" + b"\x00" * 100,
    "latin-1": EXAMPLE.replace("Northmere", "Zürich").encode("latin-1"),
    "utf-32": EXAMPLE.encode("utf-32"),
    "utf-8 overlong": b"client: {name: \xc0\xaf}\n",
    "cesu surrogate": b"client: {name: \xed\xa0\x80}\n",
    "cut in a character": EXAMPLE.encode() + "é".encode()[:1],
    "zero width in a key": swap("gpus: 1024", "gp\u200bus: 1024"),
    "cyrillic key": swap("gpus: 1024", "gрus: 1024"),
    "unknown key": swap(GPUS, "gpus: 1024\n  gpuz: 3"),
    "nan word": swap(DAYS, "run_days: nan"),
    "inf word": swap(DAYS, "run_days: Infinity"),
    "hex": swap(GPUS, "gpus: 0x400"),
    "sexagesimal": swap(GPUS, "gpus: 17:04"),
    "underscore": swap(GPUS, "gpus: 1_024"),
    "exponent gpus": swap(GPUS, "gpus: 1e3"),
    "quoted gpus": swap(GPUS, "gpus: '1024'"),
    "map gpus": swap(GPUS, "gpus: {n: 1024}"),
    "date gpus": swap(GPUS, "gpus: 2026-11-20"),
    "arabic digits": swap(GPUS, "gpus: ١٠٢٤"),
    "fullwidth digits": swap(GPUS, "gpus: １０２４"),
    "minus sign": swap(DAYS, "run_days: −30"),
    "on for bool": swap("latency_variance_bound: true", "latency_variance_bound: on"),
    "one for bool": swap("latency_variance_bound: true", "latency_variance_bound: 1"),
    "date and time": swap("as_of: 2026-11-27", "as_of: 2026-11-27T00:00:00Z"),
    "year 0": swap("as_of: 2026-11-27", "as_of: 0000-01-01"),
    "year 9999": swap("as_of: 2026-11-27", "as_of: 9999-12-31"),
    "as_of today": swap("as_of: 2026-11-27", "as_of: today"),
    "name is a list": swap(NAME, "name: [a]"),
    "slug is absolute": swap("slug: northmere-ai", "slug: /root"),
    "slug is dots": swap("slug: northmere-ai", "slug: .."),
    "slug has capitals": swap("slug: northmere-ai", "slug: Northmere"),
    "slug has a newline": swap("slug: northmere-ai", 'slug: "a\\n"'),
    "log is a device": EXAMPLE + "measurements: [/dev/stdin]\n",
    "log is a share": EXAMPLE + "measurements: ['\\\\host\\share']\n",
    "log has a NUL": EXAMPLE + 'measurements: ["a\\0b"]\n',
    "log is a folder": EXAMPLE + "measurements: [.]\n",
    "log is missing": EXAMPLE + "measurements: [nowhere.txt]\n",
    "log name is very long": EXAMPLE + f"measurements: [{'x' * 254}/{'y' * 254}]\n",
    "override of a param": EXAMPLE + "overrides: [{id: param:a, value: 1, who: c, why: b, until: 2027-01-01}]\n",
    "override upside down": EXAMPLE
    + "overrides: [{id: price:a, value: {low: 2, high: 1}, who: c, why: b, until: 2027-01-01}]\n",
    "overrides is null": EXAMPLE + "overrides:\n",
    "too large": "# " + "x" * 2_000_000,
    "yaml 3": "%YAML 3.0\n---\n" + EXAMPLE,
    "jinja outside quotes": swap(NAME, "name: {{7*7}}"),
}

SHOWN_AS_TYPED: dict[str, str] = {
    "script": "<script>alert(1)</script>",
    "image": "<img src=x onerror=alert(1)>",
    "close title": "</title><script>x</script>",
    "attribute": '"><a href=javascript:x>',
    "markdown link": "[x](javascript:alert(1))",
    "jinja": "{{7*7}}{% include 'x' %}",
    "format": "{0.__class__} %(x)s %n",
    "typst read": '#read("/etc/passwd")',
    "typst math": "$x$ @ref <label> `raw",
    "formula": "=HYPERLINK(1)",
    "command": "+cmd|' /C calc'!A0",
    "shell": "$(touch x); `id`",
    "path": "../../etc/passwd",
    "right to left": "שלום עולם",
    "emoji": "🦅 Kestrel",
    "chinese": "北京智能",
    "reserved": "CON",
    "null word": "null",
    "dots": "..",
}


@rows("case", REFUSED)
def test_broken_params_are_refused_with_file_and_line(case: str) -> None:
    assert isinstance(checked_outcome(REFUSED[case]), InputError)


@rows("case", SHOWN_AS_TYPED)
def test_hostile_names_that_are_honest_text_are_kept_as_typed(case: str) -> None:
    text = swap(
        "{name: Northmere AI, slug: northmere-ai}", f"{{name: {json.dumps(SHOWN_AS_TYPED[case], ensure_ascii=False)}}}"
    )
    params = checked_outcome(text)
    assert isinstance(params, Params)
    assert params.client.name == SHOWN_AS_TYPED[case]


@rows(
    "content",
    [
        CANONICAL.replace("1024", "NaN", 1),
        CANONICAL.replace('"gpus": 1024', '"gpus": 1024, "gpus": 8'),
        CANONICAL.replace("Northmere", "\\u202eNorthmere", 1),
        CANONICAL[:-5],
        "[]",
        "{}",
        "null",
        '{"client": 1}',
        "[" * 100_000,
        '{"a":' * 20_000,
    ],
)
def test_broken_json_is_refused_the_same_way(content: str) -> None:
    assert isinstance(checked_outcome(content, ".json"), InputError)


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    plain = checked_outcome(EXAMPLE)
    assert checked_outcome(b"\xef\xbb\xbf" + EXAMPLE.encode()) == plain
    assert checked_outcome(EXAMPLE.replace("\n", "\r\n")) == plain


def test_a_second_reading_says_the_same() -> None:
    with written(REFUSED["unknown key"]) as path:
        messages = []
        for _ in range(2):
            with pytest.raises(InputError) as caught:
                load_params_file(path)
            messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_an_empty_object_names_every_required_key() -> None:
    error = checked_outcome("{}", ".json")
    assert isinstance(error, InputError)
    assert {p.key for p in error.problems} == {"client", "as_of", "cluster", "workload", "organisation", "money"}


# --- mutations -------------------------------------------------------------------------------------------

SNIPPETS = st.sampled_from(
    [
        *("\t", "\x00", "\u202e", "&a ", "*a", "!!x ", "<<: ", "---\n", "...\n", "? ", "- ", ": ", "[", "]", "{", "}"),
        *("'", '"', "|\n", ">\n", "#", "%", "@", "`", ".nan", ".inf", "1e999", "010", "null", "~", "true", "\r", "é"),
    ]
)


@st.composite
def mutated(draw: st.DrawFn, texts: list[str]) -> str:
    """An example with a few characters, lines or words changed."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 30))
        piece = draw(st.one_of(st.just(""), SNIPPETS, st.text(max_size=6)))
        how = draw(st.sampled_from(["insert", "replace", "line", "swap"]))
        if how == "insert":
            text = text[:at] + piece + text[at:]
        elif how == "replace":
            text = text[:at] + piece + text[at + length :]
        else:
            lines = text.split("\n")
            i, j = at % len(lines), draw(st.integers(0, len(lines) - 1))
            if how == "line":
                lines.insert(i, lines[j])
            else:
                lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
    return text


@given(mutated(TEXTS))
@settings(max_examples=50, deadline=None)
def test_any_mutation_of_an_example_is_params_or_an_input_error(text: str) -> None:
    checked_outcome(text)


@given(mutated([CANONICAL]))
@settings(max_examples=50, deadline=None)
def test_any_mutation_of_canonical_json_is_params_or_an_input_error(text: str) -> None:
    checked_outcome(text, ".json")


@given(st.binary(max_size=300))
@settings(max_examples=50, deadline=None)
def test_any_bytes_are_params_or_an_input_error(content: bytes) -> None:
    assert isinstance(checked_outcome(content), InputError)
    assert isinstance(checked_outcome(content, ".json"), InputError)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=5,
)


@given(VALUES, st.integers(0, 10_000), st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_any_value_at_any_key_is_params_or_an_input_error(value: object, which: int, seed: int) -> None:
    data = json.loads(CANONICAL)
    section = list(data)[which % len(data)]
    if isinstance(data[section], dict) and seed % 3:
        data[section][random.Random(seed).choice(list(data[section]))] = value
    else:
        data[section] = value
    checked_outcome(json.dumps(data), ".json")
