"""What an object works out is kept by that object alone, until it is told to forget."""

from functools import cached_property

import pytest

from fabricreport.base.memory import cached_method, forget, fresh_copy


class Shop:
    def __init__(self) -> None:
        self.asked: list[str] = []

    @cached_method
    def price(self, item: str) -> list[str]:
        self.asked.append(item)
        if item == "none":
            raise KeyError(item)
        return [item]

    @cached_property
    def sign(self) -> list[str]:
        return ["open"]


class Branch(Shop):
    """What is kept is inherited."""


def test_each_object_answers_a_question_once_and_a_failure_is_no_answer() -> None:
    one, other = Branch(), Branch()
    assert one.price("a") is one.price("a") and one.price("b") != one.price("a")
    assert one.price("a") is not other.price("a")
    for _ in range(2):
        with pytest.raises(KeyError):
            one.price("none")
    assert one.asked == ["a", "b", "none", "none"] and other.asked == ["a"]


def test_a_copy_asks_its_own_object_and_who_forgets_is_asked_again() -> None:
    one = Branch()
    first, sign = one.price("a"), one.sign
    other = fresh_copy(one)
    assert one.price("a") is first and one.sign is sign
    assert other.price("a") is not first and other.sign is not sign
    forget(one)
    assert one.price("a") is not first and one.sign is not sign
