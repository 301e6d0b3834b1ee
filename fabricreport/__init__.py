"""`fabricreport`: InfiniBand or RoCEv2 for this GPU cluster? One params file in, one client-ready memo out.

Whoever imports it before numpy gets one thread for linear algebra, unless the environment says otherwise: sums are taken in
one order, and matrices as small as these cost up to fifty times more when threads wait for one another.
"""

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

__version__ = "0.1.0"


def load_ipython_extension(shell: object) -> None:
    """Prose cells for a notebook that says `%load_ext fabricreport`."""
    from fabricreport.blocks.cells import load_magics

    load_magics(shell)
