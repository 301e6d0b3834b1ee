"""A process made ready to be forked: the data stack imported, the case analysed, and no thread started.

What the analyses find stays in memory, so each section forked from here shows it without computing it again.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fabricreport.memo.run.environment import has_forking_environment
from fabricreport.memo.run.grammar import skip_unused_grammar
from fabricreport.memo.run.heard import listening
from fabricreport.vocabulary import SPINES


def is_ready_to_fork() -> bool:
    """True if sections may be forked from here: Linux, the environment that sections have, and a single thread."""
    if not sys.platform.startswith("linux") or not has_forking_environment(os.environ):
        return False
    return threading.current_thread() is threading.main_thread() and len([*Path("/proc/self/task").iterdir()]) == 1


def warm_up(params_json: Path, notebooks: Mapping[str, Path]) -> None:
    """Import what sections import, and analyse the case once for those that are to run, if one opens a case.

    An analysis that fails, prints or warns is left to the sections: there the cell that asked for it is named.
    """
    import_stack()
    if not any("open_case" in n.read_text(encoding="utf-8", errors="replace") for n in notebooks.values()):
        return
    from fabricreport.case import keep_open, open_case

    gc.disable()  # next to nothing of what is imported and analysed here is ever let go
    with contextlib.suppress(Exception):
        with listening() as was_heard:
            case = open_case(params_json)
            for section in studied(notebooks, case.params.sections):
                case.result(section)
        if not was_heard():
            keep_open(params_json, case)
    gc.enable()
    gc.freeze()  # what is shared stays shared: the collector does not write to it


def studied(notebooks: Iterable[str], sections: Sequence[str]) -> Sequence[str]:
    """The sections whose studies the notebooks read, of those of a memo: its body tells of all there are."""
    from fabricreport.scenario import SECTION_NAMES

    asked = frozenset(notebooks)
    return SECTION_NAMES if asked & {*SPINES} else [section for section in sections if section in asked]


def import_ahead() -> bool:
    """Import all that a build does, to be shared by clients that are forked from here; False where none may be."""
    if not is_ready_to_fork():
        return False
    import_stack()
    gc.collect()
    gc.freeze()
    return is_ready_to_fork()


def import_stack() -> None:
    """Import what sections and writers import."""
    skip_unused_grammar()
    import matplotlib.pyplot  # noqa: F401
    import nbformat  # noqa: F401
    import papermill  # noqa: F401

    import fabricreport.case
    import fabricreport.memo.run.engine
    import fabricreport.memo.run.stock
    import fabricreport.theme  # noqa: F401
