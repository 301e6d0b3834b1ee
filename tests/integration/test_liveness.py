"""Every input moves a printed figure of some case, or is context with a reason: each is moved, and the figures read again.

A thirty-second of the inputs by the hash of their ids, always with those that once moved nothing; all of them in `make trust`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import pytest
from liveness_run import Moved, book_ids, keys, moved_by, moved_by_key, still_moves, tried_cases, why_context
from pydantic import BaseModel

from fabricreport.checking.liveness import standings
from fabricreport.scenario import Params

ONCE_DEAD = (
    "evidence:roce-extra-latency-s0",
    "evidence:roce-extra-latency-s1",
    "evidence:roce-extra-latency-s3",
    "evidence:roce-extra-latency-nccl",
    "evidence:incident-clustering",
    "evidence:incident-detection-cv",
    "evidence:fabric-complexity-reference-gpus",
    "evidence:correlation-within-group",
    "evidence:roce-discount-s3-stated",
)
"""Overrides of these were once accepted and changed nothing."""

OF = 32
"""One input in so many is moved in `make test`."""


def schema_keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key that a params file may hold a value at, those inside lists and plans included."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        inner = list(_models(field.annotation))
        if inner:
            yield from (key for part in inner for key in schema_keys(part, f"{path}."))
        else:
            yield path


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models(part)


def untrue(ids: Iterable[str]) -> list[str]:
    """Ids whose row of the table does not hold."""
    return [i for i in ids if not holds(i)]


def holds(input_id: str) -> bool:
    """Whether an input moves what its row says, or nothing where the row says that it is context."""
    row = standings()[input_id]
    kind, _, key = input_id.partition(":")
    if kind == "param":
        found = moved_by_key(key)
        return (
            found == Moved(row.case, row.figures)
            if row.live
            else found is None and keys()[key]["context"] == row.reason
        )
    if row.live:
        return still_moves(input_id, Moved(row.case, row.figures))
    return moved_by(input_id) is None and why_context(input_id) == row.reason


def test_every_key_of_the_schema_is_moved_or_said_to_be_context() -> None:
    assert set(keys()) == set(schema_keys(Params))


def test_the_table_has_every_input_once() -> None:
    assert list(standings()) == [*(f"param:{key}" for key in keys()), *book_ids()]
    assert all(bool(row.figures) == bool(row.case) != bool(row.reason) for row in standings().values())


def test_an_input_that_a_model_reads_is_never_context() -> None:
    context = {i for i, row in standings().items() if not row.live}
    assert not [i for tried in tried_cases().values() for i in tried.case.chain.reached_by & context]


def test_what_an_input_does_not_move_is_noticed() -> None:
    assert not still_moves("evidence:pue", Moved("plain buyer", ("latency.penalty",)))
    assert still_moves("evidence:pue", Moved("plain buyer", ("tco.difference",)))


def test_a_thirty_second_of_the_inputs_moves_what_the_table_says() -> None:
    chosen = [i for i in standings() if zlib.crc32(i.encode()) % OF == 0]
    assert len(chosen) > len(standings()) / (2 * OF)
    assert all(standings()[i].live for i in ONCE_DEAD)
    assert untrue([*chosen, *ONCE_DEAD]) == []


@pytest.mark.trust
@pytest.mark.timeout(3600)
def test_every_input_moves_what_the_table_says() -> None:
    assert untrue(standings()) == []
