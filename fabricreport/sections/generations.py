"""Which options are of one generation, on sale, and sold with the client's GPUs; which one stands for another in such a pair."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from fabricreport.books.options import Option


@dataclass(frozen=True)
class Market:
    """What can be ordered: shipped options, for GPUs of this maker, on this day. `years`: between two generations."""

    options: tuple[Option, ...]
    vendor: str
    day: date
    years: float

    def sells(self, option: Option) -> bool:
        """Whether it is shipped with the package, on sale that day, and sold with the client's GPUs."""
        return option.shipped and self.vendor in option.gpus_of and not (option.on_sale and option.on_sale > self.day)

    def apart(self, a: Option, b: Option) -> bool:
        """Whether two options are of different generations."""
        return abs(a.generation - b.generation) >= self.years

    def in_place_of(self, older: Option, newer: Option) -> Option | None:
        """The option of the older one's side that is of the newer one's generation; None where none is sold.

        The nearest generation first, then the family, the operating model and the link speed, the earliest on file last.
        """
        sold = (
            o
            for o in self.options
            if self.sells(o)
            and o.side == older.side
            and o.generation > older.generation
            and not self.apart(o, newer)
            and o.id != newer.id
        )
        return min(
            sold,
            key=lambda o: (
                abs(o.generation - newer.generation),
                o.family != older.family,
                o.operating_model != older.operating_model,
                o.link_gbits_per_s != newer.link_gbits_per_s,
            ),
            default=None,
        )

    def at_speed_of(self, other: Option, option: Option) -> Option | None:
        """The option like this one in family and operating model whose link is as fast as the other's, of one generation
        with it; the option itself where it is as fast, None where none is sold."""
        if option.link_gbits_per_s == other.link_gbits_per_s:
            return option
        kin = (
            o
            for o in self.options
            if self.sells(o)
            and (o.family, o.operating_model) == (option.family, option.operating_model)
            and o.link_gbits_per_s == other.link_gbits_per_s
            and not self.apart(o, other)
        )
        return min(kin, key=lambda o: abs(o.generation - other.generation), default=None)
