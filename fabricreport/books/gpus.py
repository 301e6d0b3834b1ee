"""The types of GPU that a cluster may be made of, read from one file: `evidence/gpus.yaml`, whose head explains each key.

A type says what is sold as one server (or one rack), the links it carries, what its kernels and its scale-up network
do, and by reference (`price:<item>`, `evidence:<id>`) what it costs, draws and rents for. Every default of the params
that follows from the GPU is taken from here, so that a further type is a further entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from fabricreport.books.fields import CLOSED, Keyed, refusal, unknown_word
from fabricreport.books.gpu_type import GpuType
from fabricreport.books.reader import judged, repeated
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT
from fabricreport.located import did_you_mean
from fabricreport.strict_yaml import load_strict


@dataclass(frozen=True)
class GpuTypes:
    """All types by id, and the one that is assumed of a client who names none."""

    __pydantic_config__ = CLOSED
    default: str
    known: Annotated[Mapping[str, GpuType], Keyed("id"), Field(alias="types")]

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """The default is one of the types."""
        if self.default not in self.known:
            raise refusal(unknown_word(self.default, self.known, "the id of an entry", ("default",)))
        return self

    def of(self, gpu: str) -> GpuType:
        """The type of that id, or an `InputError` with the nearest id."""
        if gpu not in self.known:
            remedy = f"Take one of {', '.join(self.known)}. In a checkout, an entry of fabricreport/evidence/gpus.yaml adds one."
            nearest = did_you_mean(gpu, self.known)
            raise InputError(
                Problem("is no known GPU type", key="cluster.gpu", value=gpu, remedy=remedy, suggestion=nearest)
            )
        return self.known[gpu]


@cache
def gpu_types() -> GpuTypes:
    """The shipped types, read once."""
    return read_gpus(ROOT / "gpus.yaml")


def read_gpus(path: Path) -> GpuTypes:
    """The types of a file; `InputError` with every fault found, each with file, line, key, value and remedy."""
    located = load_strict(path)
    found, problems = judged(located, GpuTypes)
    problems += repeated(located, ("types",), "id", "this id is used already")
    if problems or found is None:
        raise InputError(problems)
    return found
