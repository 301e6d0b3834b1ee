"""What a notebook finds in the kernel it shares with those before it: the same as in a kernel of its own.

`begin` is the first cell of each notebook in a merged one (`notebook`). What the notebook before has changed in the process
and a next one could notice is undone; modules stay imported, and the case stays analysed.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import logging
import os
import random
import sys
import warnings
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from IPython.core.getipython import get_ipython

from fabricreport.memo.run.environment import CHANGED_MIME, collect_seldom

_PRINTED_ARRAYS = {"edgeitems": 3, "infstr": "inf", "linewidth": 75, "nanstr": "nan", "precision": 8, "suppress": False,
                   "threshold": 1000, "formatter": None, "sign": "-", "floatmode": "maxprec"}  # fmt: skip
_NUMPY_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
_INLINE = ("figure_formats", "print_figure_kwargs", "close_figures", "rc")


def begin(folder: str, params: str = "", *, watch: bool = False) -> None:
    """Begin a notebook in its folder, `params` being the case that notebooks share. One to `watch`, a client's own, may import
    what lies beside it, and its end tells what it changes."""
    global _first, _began, _shared, _beside
    shell: Any = get_ipython()
    if params and params != _shared:
        _share(params)
        _shared = params
    if _first is None:
        _first = _Process.of(shell)
    else:
        _undo_libraries(shell)
        _first.restore(shell)
    _empty(shell, _first.names)
    os.chdir(folder)
    for name in [n for n, m in sys.modules.items() if _beside and str(getattr(m, "__file__", "")).startswith(_beside)]:
        del sys.modules[name]
    _beside = f"{folder}{os.sep}" if watch else ""
    sys.path[:0] = [folder] if watch else []
    _began = _marks() if watch else {}
    if _shared:
        from fabricreport.case import open_case
        from fabricreport.memo.run.watch import watch as follow

        follow(partial(open_case, Path(_shared)), shell)


def tell_changes() -> None:
    """Display what a watched notebook has changed since it began, if anything, for the build to collect."""
    from IPython.display import display

    now = _marks()
    if changed := [name for name, mark in _began.items() if now[name] != mark]:
        display({CHANGED_MIME: changed}, raw=True)  # type: ignore[no-untyped-call]


def _marks() -> dict[str, Any]:
    """What a notebook may leave behind that another would notice, each by its name."""
    import matplotlib as mpl
    import numpy as np
    import pandas as pd

    drawn: Any = np.random.get_state()  # noqa: NPY002 (the state that an analyst's notebook shares)
    return {
        "rcParams": dict(mpl.rcParams.copy()),
        "pandas options": copy.deepcopy(pd.options.d),
        "the current folder": Path.cwd(),
        "warnings filters": [*warnings.filters],
        "the random state": (random.getstate(), drawn[1].tobytes(), drawn[2]),
    }


def _share(params: str) -> None:
    """Have the notebooks share what is found of one case; the libraries they import leave their marks before the first."""
    collect_seldom()
    import seaborn  # noqa: F401

    import fabricreport.blocks.theme  # noqa: F401
    from fabricreport.blocks.cells import load_magics
    from fabricreport.case import keep_open

    keep_open(Path(params))
    load_magics(get_ipython())


@dataclass(frozen=True)
class _Process:
    """A process before its first notebook, and its names."""

    names: dict[str, Any]
    environ: dict[str, str]
    path: list[str]
    argv: list[str]
    filters: list[Any]
    builtins: dict[str, Any]
    level: int
    handlers: list[logging.Handler]
    extensions: set[str]
    streams: tuple[Any, ...] = field(repr=False)

    @classmethod
    def of(cls, shell: Any) -> _Process:
        """As it is now."""
        names = {k: v for k, v in shell.user_ns.items() if not k.startswith(("_i", "_o", "_d"))}
        root = logging.root
        return cls(
            names, dict(os.environ), [*sys.path], [*sys.argv], [*warnings.filters], dict(vars(builtins)), root.level,
            [*root.handlers], set(shell.extension_manager.loaded), (sys.stdin, sys.stdout, sys.stderr),
        )  # fmt: skip

    def restore(self, shell: Any) -> None:
        """Put all back but the names."""
        sys.stdin, sys.stdout, sys.stderr = self.streams
        for name in [name for name in os.environ if name not in self.environ]:
            del os.environ[name]
        os.environ.update(self.environ)
        sys.path[:], sys.argv[:] = self.path, self.argv
        warnings.resetwarnings()  # forgets what was warned of before, too
        warnings.filters[:] = self.filters  # type: ignore[index]
        logging.root.handlers[:] = self.handlers
        logging.root.setLevel(self.level)
        for name in [name for name in vars(builtins) if name not in self.builtins]:
            delattr(builtins, name)
        vars(builtins).update(self.builtins)
        shell.extension_manager.loaded.intersection_update(self.extensions)
        random.seed()


def _undo_libraries(shell: Any) -> None:
    """Put back settings of libraries, and take out what a notebook hooked into the shell."""
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        numpy.set_printoptions(**_PRINTED_ARRAYS)
        numpy.seterr(**_NUMPY_ERRORS)
        numpy.random.seed()
    if "pandas" in sys.modules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # options that are about to go
            sys.modules["pandas"].reset_option("all")
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
        sys.modules["matplotlib"].rc_file_defaults()
    if "matplotlib_inline.config" in sys.modules:
        inline = sys.modules["matplotlib_inline.config"].InlineBackend
        if inline.initialized():
            for name, value in inline.instance().trait_defaults(*_INLINE).items():
                setattr(inline.instance(), name, value)
    _unhook(shell)


def _unhook(shell: Any) -> None:
    for event, callbacks in shell.events.callbacks.items():
        for callback in [c for c in callbacks if _is_of_notebook(c)]:
            shell.events.unregister(event, callback)
    for formatter in shell.display_formatter.formatters.values():
        for printers in (formatter.type_printers, formatter.deferred_printers, formatter.singleton_printers):
            for kind in [k for k, printer in printers.items() if _is_of_notebook(printer)]:
                del printers[kind]
    shell.display_formatter.formatters["text/plain"].float_precision = ""
    for magics in shell.magics_manager.magics.values():
        for name in [n for n, magic in magics.items() if _is_of_notebook(magic)]:
            del magics[name]
    for transformers in (shell.input_transformers_cleanup, shell.input_transformers_post, shell.ast_transformers):
        transformers[:] = [t for t in transformers if not _is_of_notebook(t)]


def _is_of_notebook(thing: Any) -> bool:
    return getattr(thing, "__module__", "") == "__main__" or type(thing).__module__ == "__main__"


def _empty(shell: Any, names: dict[str, Any]) -> None:
    """Leave the names of a new kernel, and the count of cells where it begins."""
    hook = shell.displayhook
    hook._ = hook.__ = hook.___ = ""
    flush, hook.flush = hook.flush, lambda: None  # it would collect garbage, a fifth of a second each
    try:
        with contextlib.redirect_stdout(None):
            shell.reset(new_session=False)
    finally:
        hook.flush = flush
    for name, value in names.items():
        shell.user_ns.setdefault(name, value)
    history = shell.history_manager
    history.input_hist_parsed[:] = history.input_hist_raw[:] = [""]
    history.output_hist.clear()
    shell.execution_count = 1


_began: dict[str, Any] = {}
_first: _Process | None = None
_shared, _beside = "", ""
