"""Words against figures: a sentence that says the reverse of its figure is refused, and one that says nothing is let pass."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.blocks.nodes import Glance, GlanceTile, Headline, Inline, Num, Paragraph, Text, Top
from fabricreport.memo.document.pieces import Compared, Gathered, Piece
from fabricreport.memo.document.proofs import contradictions

WHERE = "buy_once.ipynb, cell 4"
IB, WB, NV = "infiniband-ndr", "rocev2-whitebox", "rocev2-nvidia"
CALLED = {
    IB: ["InfiniBand", "InfiniBand NDR 400G"],
    WB: ["RoCEv2", "RoCEv2 on white-box switches"],
    NV: ["RoCEv2 on NVIDIA switches"],
}


def entry(
    number_id: str, value: float, text: str, unit: str = "usd", central: str = "mean", **more: Any
) -> dict[str, Any]:
    return {"id": number_id, "value": value, "text": text, "unit": unit, "central": central, **more}


PAIR = {"less": WB, "more": IB}
LEDGER = {
    "lead": entry("lead", 5e5, "$500k", compares=PAIR),
    "loss": entry("loss", -5e5, "−$500k", compares=PAIR),
    "nil": entry("nil", 0.0, "$0", compares=PAIR),
    "odds": entry("odds", 0.74, "74 %", "share", "", compares=PAIR),
    "longer": entry("longer", 3.0, "3 days", "day", compares={"less": IB, "more": WB}),
    "mean": entry("mean", 7e5, "$700k"),
    "median": entry("median", 6e5, "$600k", central="p50"),
    "weeks": entry("weeks", 6.0, "6 weeks", "week", central="p50"),
    "plain": entry("plain", 9.0, "9", "count", ""),
}


def words(text: str) -> tuple[Inline, ...]:
    """`{id}` prints a figure as it is, `{id:…}` in the words behind the colon."""
    parts: list[Inline] = []
    for part in text.replace("}", "{").split("{"):
        name, _, shown = part.partition(":")
        known = LEDGER.get(name)
        parts.append(Num(name, shown or known["text"], known["value"]) if known else Text(part))
    return tuple(parts)


def told(*nodes: Top, choice: str = WB) -> list[str]:
    piece = Piece(nodes, "buy_once", WHERE)
    head = Piece((Headline({"recommendation": "Rent first"}, ()),), "buy_once", WHERE)
    mark = {"choice": choice, "rival": IB, "called": CALLED}
    found = Gathered(pieces=[piece, head], ledger=LEDGER, compared=[Compared(mark, "buy_once", WHERE)])
    return list(contradictions(found))


def faults(text: str) -> list[str]:
    return told(Paragraph(words(text)))


TRUE = [
    "Over 48 months RoCEv2 costs {lead} less than InfiniBand on average, servers or rent included.",
    "InfiniBand costs {lead} more than RoCEv2.",
    "RoCEv2 on white-box switches is {lead} cheaper.",
    "Against InfiniBand it saves {lead}.",
    "RoCEv2 lies {lead} below InfiniBand.",
    "InfiniBand lies {lead} above RoCEv2.",
    "We expect RoCEv2 to save {lead}.",
    "The saving with RoCEv2 against InfiniBand is {lead}.",
    "The lead of RoCEv2 over InfiniBand, {lead} on average, rests on promises.",
    "RoCEv2’s lead is {lead}.",
    "InfiniBand costs {loss:$500k} less than RoCEv2.",
    "RoCEv2 costs {loss} less than InfiniBand.",
    "RoCEv2 costs less than InfiniBand by {lead}.",
    "In {odds} of outcomes RoCEv2 costs less than InfiniBand.",
    "In {odds:74 of 100} outcomes InfiniBand costs more.",
    "A run takes {longer} longer on RoCEv2 than on InfiniBand.",
    "The cost of InfiniBand less that of RoCEv2 is {lead}.",
    "InfiniBand costs {lead} (and no less) more than RoCEv2.",
]


@rows("text", TRUE)
def test_what_agrees_with_its_figure_passes(text: str) -> None:
    assert not faults(text)


FALSE = [
    "RoCEv2 costs {lead} more than InfiniBand on average, servers or rent included.",
    "InfiniBand costs {lead} less than RoCEv2.",
    "InfiniBand is {lead} cheaper.",
    "Against RoCEv2 it saves {lead}.",
    "We expect InfiniBand to save {lead}.",
    "RoCEv2 lies {lead} above InfiniBand.",
    "InfiniBand comes out {lead} below RoCEv2.",
    "The saving with InfiniBand against RoCEv2 is {lead}.",
    "The lead of InfiniBand over RoCEv2, {lead} on average, rests on promises.",
    "RoCEv2 costs {loss:$500k} less than InfiniBand.",
    "InfiniBand costs {loss} less than RoCEv2.",
    "InfiniBand costs less than RoCEv2 by {lead}.",
    "In {odds} of outcomes InfiniBand costs less than RoCEv2.",
    "In {odds:74 of 100} outcomes RoCEv2 costs more.",
    "A run takes {longer} longer on InfiniBand than on RoCEv2.",
    "The cost of RoCEv2 less that of InfiniBand is {lead}.",
]


@rows("text", FALSE)
def test_what_says_the_reverse_is_refused_with_cell_sentence_and_number(text: str) -> None:
    (fault,) = faults(text)
    number = next(i for i in LEDGER if f"{{{i}" in text)
    assert fault.startswith(f"{WHERE}: “") and number in fault and LEDGER[number]["text"] in fault


def test_another_option_than_the_two_that_are_told_apart_is_refused() -> None:
    (fault,) = faults("RoCEv2 on NVIDIA switches costs {lead} less than InfiniBand.")
    assert "and no others" in fault and IB in fault and WB in fault


@rows(
    "text",
    [
        "If it fails, InfiniBand costs {lead} less than RoCEv2.",
        "InfiniBand does not cost {lead} less.",
        "Would InfiniBand cost {lead} less than RoCEv2?",
        "InfiniBand must cost {lead} less to win.",
        "InfiniBand and RoCEv2 are {lead} apart, less than we thought.",
        "InfiniBand costs {nil} less than RoCEv2.",
        "InfiniBand costs less than {lead}.",
        "InfiniBand lies below {lead}.",
        "InfiniBand saves {plain} switches; the lead is {lead}.",
        "InfiniBand saves power, but the lead of RoCEv2 is {lead}.",
        "InfiniBand saves {plain} and RoCEv2 {lead}.",
        "It costs {lead} less.",
        "InfiniBand costs between {lead:$100k} and {lead:$900k} less.",
        "InfiniBand and RoCEv2 cost {lead} less than before.",
        "InfiniBand is quoted; {lead} is more.",
    ],
)
def test_what_proves_nothing_passes(text: str) -> None:
    assert not faults(text)


@given(
    st.sampled_from([IB, WB]),
    st.sampled_from(["{} costs {} {} than {}.", "{} is {} {} than {} on average.", "We see {} {} {} than {}."]),
    st.sampled_from([("cheaper", True), ("less", True), ("more", False), ("dearer", False), ("below", True)]),
    st.sampled_from(["lead", "loss:$500k"]),
    st.booleans(),
)
def test_turning_the_sign_the_word_or_the_options_turns_the_verdict(
    first: str, form: str, word: tuple[str, bool], number: str, long: bool
) -> None:
    def verdict(subject: str, said: str, figure: str) -> bool:
        other = WB if subject == IB else IB
        text = form.format(CALLED[subject][long], f"{{{figure}}}", said, CALLED[other][long])
        return bool(faults(text.replace("below than", "below")))

    other = {"lead": "loss:$500k", "loss:$500k": "lead"}[number]
    opposite = "more" if word[1] else "less"
    found = verdict(first, word[0], number)
    assert found == ((first == WB) != word[1] if number == "lead" else (first == WB) == word[1])
    assert verdict(first, word[0], other) is not found
    assert verdict(first, opposite, number) is not found
    assert verdict(WB if first == IB else IB, word[0], number) is not found


def test_a_tile_says_its_value_with_its_label() -> None:
    def tile(label: str) -> Glance:
        return Glance((), (GlanceTile((Text(label),), words("{lead}"), ()),))

    assert not told(tile("Saving with RoCEv2 against InfiniBand"))
    assert len(told(tile("Saving with InfiniBand against RoCEv2"))) == 1
    assert len(told(tile("RoCEv2 costs more by"))) == 1


@rows(
    ("text", "wrong"),
    [
        ("It costs {mean} on average.", False),
        ("It costs {median} on average.", True),
        ("The median is {mean}.", True),
        ("On the median it costs {median}, and {mean} on average.", False),
        ("On average it costs {median}, {mean} on the median.", True),
        ("We expect {mean}.", False),
        ("We expect {median}.", True),
        ("We expect {weeks} of it.", False),
        ("It takes {weeks} on average.", True),
        ("On average {plain} of them fail.", False),
        ("It lies between {median:$100k} and {median:$900k} on average.", False),
    ],
)
def test_a_statistic_is_that_of_its_figure(text: str, wrong: bool) -> None:
    assert bool(faults(text)) is wrong


def test_what_is_advised_is_the_comparison_s_choice_or_in_the_headline() -> None:
    assert not faults("We advise RoCEv2.") and not faults("Buy RoCEv2 on white-box switches and test them.")
    for text in ("We advise InfiniBand.", "Buy InfiniBand for the cluster.", "We recommend to take InfiniBand."):
        (fault,) = faults(text)
        assert "advises InfiniBand" in fault and WB in fault
    assert not faults("Buy InfiniBand if RoCEv2 takes longer.") and not faults("Take InfiniBand or RoCEv2.")
    assert not told(Paragraph(words("We advise InfiniBand.")), choice=IB)


def test_a_memo_without_a_comparison_proves_nothing() -> None:
    assert not list(
        contradictions(Gathered(pieces=[Piece((Paragraph(words("Buy InfiniBand, {lead} less.")),), "a", WHERE)]))
    )
