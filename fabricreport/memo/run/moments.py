"""What a notebook's cells leave, kept behind each, so that a preview goes back to one."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from copy import copy, deepcopy
from functools import partial
from pathlib import Path
from types import MethodType
from typing import Any

import matplotlib
import numpy
import pandas
from IPython.core.getipython import get_ipython

from fabricreport.blocks.document import Section
from fabricreport.case import Case
from fabricreport.memo.run.surroundings import Process, begin, hold

_CHANCE: Any = numpy.random
_DRAWN: Any = matplotlib.rcParams
_PRINTED: Any = pandas.options
_kept: dict[str, list[Callable[[], None]]] = {}
_followed = ""


def follow(notebook: str, cells: int = 0, folder: str = "") -> None:
    """Keep what each cell leaves, the one that asks first; with a `folder`, go back behind so many of the cells that ran."""
    global _followed
    kept, shell = _kept.setdefault(notebook, []), get_ipython()
    assert shell is not None
    if folder:
        begin(folder)
        kept[cells]()
        hold()
    del kept[cells:]
    _followed = notebook
    shell.events.register("post_run_cell", _keep)


def _keep(_: object) -> None:
    _kept[_followed].append(moment(get_ipython()))


def moment(shell: Any) -> Callable[[], None]:
    """What puts back all that cells may have changed."""
    names = {name: value for name, value in shell.user_ns.items() if name not in shell.user_ns_hidden}
    held: dict[int, tuple[object, Callable[[], object]]] = {}
    _hold(names.values(), held)
    with shell.builtin_trap:  # as it is while a cell runs
        process = Process.of(shell)
    folder, chance, drawn = Path.cwd(), (_CHANCE.get_state(), random.getstate()), dict(_DRAWN.copy())
    printed = deepcopy(_PRINTED.d)

    def put_back() -> None:
        process.restore(shell)
        os.chdir(folder)
        _CHANCE.set_state(chance[0])
        random.setstate(chance[1])
        dict.update(_DRAWN, drawn)
        _fill(_PRINTED.d, deepcopy(printed))
        for _, fill in held.values():
            fill()
        shell.user_ns.update(names)

    return put_back


def _hold(values: Iterable[object], held: dict[int, tuple[object, Callable[[], object]]]) -> None:
    """Add each thing that can be changed, and those in it, with what fills it again."""
    for value in values:
        kept: Any = ()
        fill: Callable[[], object] = tuple
        if id(value) in held:
            continue
        if isinstance(value, pandas.DataFrame | pandas.Series):
            fill = partial(_fill_frame, value, value.copy(deep=False))  # pandas copies what is written to
        elif isinstance(value, numpy.ndarray) and value.flags.writeable:
            fill = partial(numpy.copyto, value, value.copy())
        elif isinstance(value, list):
            fill = partial(value.__setitem__, slice(None), kept := [*value])
        elif isinstance(value, set | dict | Section | Case):
            inside = vars(value) if isinstance(value, Section | Case) else value
            now = copy(inside)
            kept, fill = now.values() if isinstance(now, dict) else (), partial(_fill, inside, now)
        elif isinstance(value, tuple | MethodType):
            kept = value if isinstance(value, tuple) else [value.__self__]
        else:
            continue
        held[id(value)] = value, fill
        _hold(kept, held)


def _fill(thing: Any, kept: Any) -> None:
    thing.clear()
    thing.update(kept)


def _fill_frame(frame: Any, kept: Any) -> None:
    vars(frame).update(vars(kept.copy(deep=False)))
