"""`make coverage` says which room lost what its tests ran."""

from __future__ import annotations

import coverage_rooms
import yaml
from test_architecture import MODULES, room_of


def test_a_room_that_runs_fewer_lines_than_it_did_is_named() -> None:
    lines = {"base/a.py": (100, 90), "base/b.py": (100, 98), "case.py": (10, 8), "__main__.py": (2, 0)}
    files = {
        f"fabricreport/{p}": {"summary": {"num_statements": of, "covered_lines": run}} for p, (of, run) in lines.items()
    }
    now = coverage_rooms.percents(files)
    assert now == {"base": 94.0, "case": 80.0}
    assert coverage_rooms.faults(now, {"base": 94.5}) == ["case: 80.0 %, at least 85 %"]
    assert len(coverage_rooms.faults(now, {"base": 94.6, "desk": 99.0})) == 3


def test_what_is_on_record_is_a_room() -> None:
    record = yaml.safe_load(coverage_rooms.RECORD.read_text(encoding="utf-8"))
    assert record and set(record) <= {room_of(path).partition("/")[0] for path in MODULES} - coverage_rooms.NO_ROOMS
