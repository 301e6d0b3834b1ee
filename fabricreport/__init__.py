"""`fabricreport`: InfiniBand or RoCEv2 for this GPU cluster? One params file in, one client-ready memo out.

What programs and notebooks of one's own may call is named in `__all__`, and loaded when it is first asked for.

Whoever imports it before numpy gets one thread for linear algebra, unless the environment says otherwise: sums are taken in
one order, and matrices as small as these cost up to fifty times more when threads wait for one another.
"""

import os
from typing import Any

from fabricreport.base.version import VERSION as __version__

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

__all__ = ["Case", "Comparing", "Edition", "Sweep", "WhatIf", "__version__", "build", "compare", "load_edition", "open_case", "refresh", "sweep", "what_if"]  # fmt: skip


def __getattr__(name: str) -> Any:
    """A name of the public API, loaded now."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fabricreport import api

    return getattr(api, name)


def load_ipython_extension(shell: object) -> None:
    """Prose cells for a notebook that says `%load_ext fabricreport`."""
    from fabricreport.blocks.cells import load_magics

    load_magics(shell)
