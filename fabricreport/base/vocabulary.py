"""The words that many rooms share, each spelt once: sides, maturities, grades, classes, ways of obtaining.

A member is its own text (`Side.ROCEV2 == "rocev2"`), so data read from files compares equal to it.
"""

from __future__ import annotations

from enum import StrEnum


class Side(StrEnum):
    """Whose arguments hold for a family of fabrics: those for InfiniBand, for Ethernet with RDMA, or without it."""

    INFINIBAND = "infiniband"
    ROCEV2 = "rocev2"
    PLAIN = "plain"


LEANS = (Side.INFINIBAND, Side.ROCEV2)
"""The sides between which the framework leans."""
NEITHER = "neither"
"""What the framework leans to where it leans to no side."""


class Question(StrEnum):
    """What the client asks, which decides the spine of the memo: its first page and the order of its body."""

    BUY_ONCE = "buy-once"
    CHOOSE_PROVIDER = "choose-provider"
    GROW_IN_STAGES = "grow-in-stages"

    @property
    def spine(self) -> str:
        """The notebook that holds the memo's body."""
        return self.value.replace("-", "_")


SPINES = tuple(question.spine for question in Question)
"""The notebooks of the memo's body, one a question."""


class Maturity(StrEnum):
    """Networking maturity, from the least to the most."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 for the least."""
        return list(Maturity).index(self)


class OperatingModel(StrEnum):
    """Who answers for a fabric, from one maker of everything to a buyer who joins the parts."""

    TURNKEY = "turnkey"
    BRANDED = "branded"
    WHITEBOX = "whitebox"


class Sold(StrEnum):
    """How makers sell the manager of a fabric or the system of its switches."""

    INCLUDED = "included"
    """Part of the switch."""
    APART = "apart"
    """Sold apart, and on the list of what the fabric is made of."""
    OPTIONAL = "optional"
    """Sold apart, and on no list below a size."""


class Charge(StrEnum):
    """What a bill holds of the managers, or of the switch systems, of every option alike."""

    AS_SOLD = "as-sold"
    CHARGED = "charged"
    LEFT_OUT = "left-out"


class Grade(StrEnum):
    """How firm a figure's footing is, from the strongest to the weakest."""

    MEASURED = "measured"
    CONTRACT = "contract"
    QUOTE = "quote"
    PUBLISHED = "published"
    SECONDARY = "secondary"
    ESTIMATE = "estimate"
    ASSUMPTION = "assumption"


OURS = (Grade.ASSUMPTION, Grade.ESTIMATE)
"""Grades of what nobody has measured, published or sold."""


class Confidence(StrEnum):
    """Classes of an advice, from the least to the most."""

    DOES_NOT_MATTER = "does not matter"
    CLOSE = "close"
    LEANING = "leaning"
    CLEAR = "clear"

    @property
    def close(self) -> bool:
        """Whether the lead is too small to choose by."""
        return self in (Confidence.DOES_NOT_MATTER, Confidence.CLOSE)


class Ground(StrEnum):
    """What decided between two options; `NOTHING` leaves the course open."""

    MONEY = "money"
    SIZE = "size"
    DEADLINE = "deadline"
    POLICY = "policy"
    ESTATE = "estate"
    ORDER = "order"
    WEIGHTS = "weights"
    NOTHING = "nothing"


STATED = (Ground.POLICY, Ground.ESTATE, Ground.ORDER, Ground.WEIGHTS)
"""What a client may state beside a date that breaks a tie, in the order in which it is asked."""


class CourseKind(StrEnum):
    """Courses of action: what a client may do about two options, from the plainest to the most involved."""

    TAKE = "take"
    """Take one option, all of it."""
    STAGE_ONE = "stage-one"
    """Take one option, and sign for the first stage of the plan alone."""
    EITHER = "either"
    """Take whichever of two the better offer brings."""
    SINGLE_NODE = "single-node"
    """Do the same work in jobs that stay within a node."""
    OFFERS = "offers"
    """Ask for offers on both, then choose."""
    PILOT = "pilot"
    """Run both on a few nodes, then choose."""
    RENT_FIRST = "rent-first"
    """Rent for some months, then take one."""
    DAMAGES = "damages"
    """Take one, with damages for each week that it is stable too late."""
    AHEAD = "ahead"
    """Take one, and order the fabric of every stage at the start."""


class Acquisition(StrEnum):
    """How a cluster is obtained."""

    BUY = "buy"
    LEASE = "lease"
    RENT = "rent"
    COLOCATE = "colocate"


class Basis(StrEnum):
    """What a lost GPU-hour is valued at."""

    AMORTISED = "amortised"
    MARKET = "market"
    STATED = "stated"
