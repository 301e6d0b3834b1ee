"""The books and the params as a reader sees them: whatever is taken out of them is noted, by whatever way.

Each stands in for the plain one and says the same. An entry notes its id, also where there is none; going through a
book, or counting it, notes the book as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, ValuesView
from datetime import date
from typing import Any, cast

from fabricreport.books.evidence import EvidenceBook
from fabricreport.books.prices.book import Held, Price, PriceView
from fabricreport.evidence_entry import EvidenceEntry
from fabricreport.reads import EVERY, GIVEN, Reads
from fabricreport.scenario import Params
from fabricreport.uncertain import Replaced, Uncertain


class SeenEvidence(EvidenceBook):
    """The evidence, with what is asked of it noted."""

    def __init__(self, book: EvidenceBook, reads: Reads) -> None:
        self._entries = book._entries
        self._reads = reads

    def __getitem__(self, key: str) -> EvidenceEntry:
        self._reads.note(f"evidence:{key}")
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[str]:
        self._reads.note(EVERY["evidence"])
        return super().__iter__()

    def __len__(self) -> int:
        self._reads.note(EVERY["evidence"])
        return super().__len__()

    def values(self) -> ValuesView[EvidenceEntry]:
        """Every entry."""
        self._reads.note(EVERY["evidence"])
        return super().values()

    def with_figures(self, figures: Mapping[str, tuple[Uncertain, Replaced | None]]) -> EvidenceBook:
        """The same book, of which nothing more is noted, with other figures in force."""
        self._reads.note(EVERY["evidence"])
        return super().with_figures(figures)


class SeenPrices(PriceView):
    """The prices of a day, with what is asked of them noted."""

    def __init__(self, view: PriceView, reads: Reads) -> None:
        super().__init__(view._as_of, view._prices, view._quarantine)
        self._reads = reads

    @property
    def as_of(self) -> date:
        """The day of the prices."""
        self._reads.note("params:as_of")
        return super().as_of

    @property
    def quarantine(self) -> tuple[Held, ...]:
        """The rows that are not used."""
        self._reads.note(EVERY["held"])
        return super().quarantine

    def __getitem__(self, item: str) -> Price:
        if not super().__contains__(item):
            self._reads.note(EVERY["price"], EVERY["held"])  # the complaint names the nearest item, and held rows
        self._reads.note(f"price:{item}")
        return super().__getitem__(item)

    def __contains__(self, item: object) -> bool:
        self._reads.note(f"price:{item}")
        return super().__contains__(item)

    def get(self, item: str, default: Any = None) -> Any:
        """The price, or the default where there is none; nothing similar is sought."""
        self._reads.note(f"price:{item}")
        return self._prices.get(item, default)

    def __iter__(self) -> Iterator[str]:
        self._reads.note(EVERY["price"])
        return super().__iter__()

    def __len__(self) -> int:
        self._reads.note(EVERY["price"])
        return super().__len__()

    def dearest(self, unit: str, currency: str) -> tuple[float, str]:
        """The largest price per one unit in a currency, and its item: noted as such, whatever the others are."""
        self._reads.note(f"dearest:{unit} {currency}")
        return PriceView(super().as_of, self._prices, super().quarantine).dearest(unit, currency)

    def plus(self, *prices: Price) -> PriceView:
        """The same view, of which nothing more is noted, with these prices in it."""
        self._reads.note(EVERY["price"])
        return super().plus(*prices)

    def with_figures(self, figures: Mapping[str, tuple[Uncertain, Replaced | None]]) -> PriceView:
        """The same view, of which nothing more is noted, with other figures in force."""
        self._reads.note(EVERY["price"])
        return super().with_figures(figures)


class SeenParams:
    """The params, with each block that is looked at noted; whatever is not a block takes the params as a whole."""

    def __init__(self, params: Params, reads: Reads) -> None:
        self._params, self._reads = params, reads

    @property  # type: ignore[misc]  # `object` lets it be set, which nobody does
    def __class__(self) -> Any:
        """What stands in for params is one to whoever asks."""
        return Params

    def __getattr__(self, name: str) -> Any:
        known = name in Params.model_fields
        self._reads.note(f"params:{name}" if known else GIVEN if name == "model_fields_set" else EVERY["params"])
        return getattr(self._params, name)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        self._reads.note(EVERY["params"])
        return iter(self._params)

    def __eq__(self, other: object) -> bool:
        self._reads.note(EVERY["params"])
        return bool(self._params == plain_params(other))

    __hash__ = None  # type: ignore[assignment]


def seen_params(params: Params, reads: Reads) -> Params:
    """The params as a reader sees them."""
    return cast(Params, SeenParams(plain_params(params), reads))


def plain_params(params: Any) -> Any:
    """The params themselves, of which nothing is noted."""
    return params._params if type(params) is SeenParams else params
