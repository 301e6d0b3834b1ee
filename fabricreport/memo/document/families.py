"""Derivations for print: numbers that share a rule stand under it once, in a run-in list.

The rule is said once, then for each set of inputs what its members share (inputs, grade, date, sources), then the
members; neighbours whose labels begin with the same words share those words too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabricreport.memo.document.derive import Derivation, Step, in_runs

_SMALL_WORDS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "its", "of", "on", "per", "than", "that", "the", "to", "with"]
)
_MORE = "…"
"""Stands for the words that follow a head, so that all of the head may be shared again."""
FEWEST_SHARED = 10
"""Fewer shared characters than that are not worth a heading of their own."""


@dataclass(frozen=True)
class Member:
    """One printed number within a family; `label` lacks the words of the run's `head`."""

    anchor: str
    label: str
    text: str
    spread: str
    stale: bool


@dataclass(frozen=True)
class Run:
    """Members whose labels begin with `head` (empty for a member alone)."""

    head: str
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Group:
    """Members that rest on the same inputs and have the same grade, date and sources.

    `grade` is empty where the family tells it, `date` where the inputs have none.
    """

    steps: tuple[Step, ...]
    grade: str
    date: str
    sources: tuple[Step, ...]
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Family:
    """All printed numbers of one rule, in the section that printed the first of them.

    `head` holds the words all labels begin with, `grade` the grade of all members; empty if they differ.
    """

    rule: str
    section: str
    head: str
    grade: str
    groups: tuple[Group, ...]


def families(derivations: Sequence[Derivation]) -> tuple[Family, ...]:
    """The derivations by rule and then by inputs, sections and rules in order of first printing."""
    by_rule: dict[str, list[Derivation]] = {}
    for entry in derivations:
        by_rule.setdefault(entry.rule, []).append(entry)
    made = [_family(rule, entries) for rule, entries in by_rule.items()]
    order = list(dict.fromkeys(family.section for family in made))
    return tuple(sorted(made, key=lambda family: order.index(family.section)))


def _family(rule: str, entries: Sequence[Derivation]) -> Family:
    head = _shared_by_all([entry.label for entry in entries]) if len(entries) > 1 else ""
    if len(head) < FEWEST_SHARED:
        head = ""
    grades = {entry.grade for entry in entries}
    grade = grades.pop() if len(grades) == 1 else ""
    without_head = [replace(entry, label=entry.label[len(head) :].strip()) for entry in entries]
    return Family(rule, entries[0].section, head.rstrip(":,;"), grade, _groups(without_head, grade))


def _groups(entries: Sequence[Derivation], family_grade: str) -> tuple[Group, ...]:
    shared: dict[tuple[tuple[Step, ...], str, str, tuple[Step, ...]], list[Derivation]] = {}
    for entry in entries:
        steps = (entry.input_set,) if entry.input_set else entry.short_steps
        grade = "" if entry.grade == family_grade else entry.grade
        shared.setdefault((steps, grade, _told(entry), entry.sources), []).append(entry)
    return tuple(Group(*key, runs(_together(members))) for key, members in shared.items())


def _together(entries: Sequence[Derivation]) -> list[Derivation]:
    """The entries, those that tell one thing of several options or stages beside each other, in order of the first of each."""
    told = [entry.label.rpartition(": ")[0] or entry.label for entry in entries]
    first = {label: place for place, label in reversed([*enumerate(told)])}
    return [entries[i] for i in sorted(range(len(entries)), key=lambda i: first[told[i]])]


def _told(entry: Derivation) -> str:
    """The date of what a number rests on; an assumption is as old as the memo."""
    return "" if entry.date == "undated" or entry.grade == "assumption" else entry.date


def runs(entries: Sequence[Derivation]) -> tuple[Run, ...]:
    """Neighbours whose labels begin with the same words, those words factored out."""
    made: list[Run] = []
    rest = list(entries)
    while rest:
        count, head = _longest(rest)
        made.append(Run(head.rstrip(":,;"), tuple(_member(entry, head) for entry in rest[:count])))
        rest = rest[count:]
    return tuple(made)


def _longest(entries: Sequence[Derivation]) -> tuple[int, str]:
    """How many entries from the front share their first words, and those words."""
    head, count = entries[0].label, 1
    for entry in entries[1:]:
        shared = _shared_words(head if count == 1 else f"{head} {_MORE}", entry.label)
        # A longer run must not cost the members before it more words than it saves.
        if len(shared) < FEWEST_SHARED or (count > 1 and len(shared) * (count + 1) < len(head) * count):
            break
        head, count = shared, count + 1
    return (count, head) if count > 1 else (1, "")


def _shared_by_all(labels: Sequence[str]) -> str:
    """The words that all labels begin with, one word of each left over."""
    head = _shared_words(labels[0], labels[1])
    for label in labels[2:]:
        head = _shared_words(f"{head} {_MORE}", label)
    return head


def _shared_words(one: str, other: str) -> str:
    """The words both begin with; at least one word of each is left over."""
    left, right = one.split(" "), other.split(" ")
    most = min(len(left), len(right)) - 1
    same = 0
    while same < most and left[same] == right[same]:
        same += 1
    while same and (left[same - 1].lower() in _SMALL_WORDS or not any(c.isalnum() for c in left[same - 1])):
        same -= 1
    return " ".join(left[:same])


def _member(entry: Derivation, head: str) -> Member:
    return Member(
        entry.anchor, entry.label[len(head) :].strip() if head else entry.label, entry.text, entry.spread, entry.stale
    )


def number_runs(sources: Sequence[Step]) -> tuple[Step, ...]:
    """Numbers of sources in order, neighbours joined: 1, 4–9; each leads to its first."""
    made = in_runs(sources, lambda one, other: int(one.text) + 1 == int(other.text))
    return tuple(Step(r[0].text if len(r) == 1 else f"{r[0].text}–{r[-1].text}", r[0].anchor) for r in made)
