"""What cells print comes out in the order of the messages, however it is cut on its way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabricreport.memo.run.printed import Printed, mark

SECRET = "0123456789abcdef"
texts = st.lists(st.text(max_size=30), min_size=1, max_size=6)


@given(texts, st.data())
def test_text_stands_before_its_message_however_it_was_cut(parts: list[str], data: st.DataObject) -> None:
    sent = b"".join(text.encode("utf-8", "replace") + mark(SECRET, n) for n, text in enumerate(parts, start=1))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sent)), max_size=5)))
    printed, found = Printed(SECRET), ""
    for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True):
        printed.feed(sent[start:end])
        if data.draw(st.booleans()):
            found += printed.so_far()
            assert parts[0].encode("utf-8", "replace").startswith(found.encode("utf-8"))
    assert found + printed.before(1) == parts[0].encode("utf-8", "replace").decode()
    for number, text in enumerate(parts[1:], start=2):
        assert printed.before(number) == text.encode("utf-8", "replace").decode()
    assert printed.rest() == ""


def test_a_mark_that_never_comes_holds_nothing_back() -> None:
    printed = Printed(SECRET)
    printed.feed(b"words" + mark(SECRET, 1) + b"more")
    assert printed.before(7) == "words"
    assert printed.rest() == "more"


def test_a_zero_byte_of_a_program_is_text() -> None:
    printed = Printed(SECRET)
    printed.feed(b"a\0b")
    assert printed.so_far() == "a\0b"
    printed.feed(b"\0")
    assert printed.so_far() == ""
    assert printed.rest() == "\0"
