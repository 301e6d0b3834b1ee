"""A process that does the forking for one that may not: `python -m fabricreport.memo.run.host JOB`.

It is an interpreter with the environment of sections and one thread. It tells its maker every step over one pipe, a JSON
document a line, and the record at the end; it cancels what runs when its input ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from fabricreport.memo.run.lineage import cause_of, end_with
from fabricreport.memo.run.pool import Limits, Pool, tail_of
from fabricreport.memo.run.processes import forked
from fabricreport.memo.run.run_record import Progress, RunRecord, SectionRun
from fabricreport.memo.run.warm import warm_up


def run_in_host(pool: Pool, notebooks: Mapping[str, Path], jobs: int) -> RunRecord:
    """What `pool.run` would give if it could fork; a KeyboardInterrupt cancels as it does there."""
    reader, writer = os.pipe()
    job, log = pool.runtime / "host.json", pool.runtime / "host.log"
    given = {
        "maker": os.getpid(),
        "pipe": writer,
        "notebooks": {s: str(p) for s, p in notebooks.items()},
        "params": str(pool.params),
        "scratch": str(pool.scratch),
        "cwd": pool.cwd and str(pool.cwd),
        "runtime": str(pool.runtime),
        "limits": asdict(pool.limits),
        "jobs": jobs,
    }
    job.write_text(json.dumps(given, allow_nan=False), encoding="utf-8")
    try:
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "fabricreport.memo.run.host", str(job)],
                env=pool.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                pass_fds=(writer,),
                start_new_session=True,
            )
    finally:
        os.close(writer)
    with process, os.fdopen(reader, encoding="utf-8") as words:
        record = _heard(words, process, pool)
    if record is not None:
        return record
    end: dict[str, Any] = {"ename": "HostDied", "evalue": cause_of(process.wait()), "traceback": tail_of(log)}
    return RunRecord(tuple(SectionRun(section, "dead", **end) for section in notebooks))


def _heard(words: IO[str], process: subprocess.Popen[bytes], pool: Pool) -> RunRecord | None:
    """Pass every step on until the record comes; an interrupt closes the host's input, and its record is waited for."""
    record = None
    while True:
        try:
            for line in words:
                word = json.loads(line)
                if "record" in word:
                    record = RunRecord(tuple(SectionRun(**run) for run in word["record"]))
                else:
                    pool.progress(Progress(**word))
            return record
        except KeyboardInterrupt:
            if process.stdin is not None:
                process.stdin.close()


def main(job_path: Path) -> None:
    """Fork the sections of a job and tell how they fare."""
    job = json.loads(job_path.read_text(encoding="utf-8"))
    end_with(job["maker"])
    with os.fdopen(job["pipe"], "w", encoding="utf-8", buffering=1) as pipe:

        def tell(step: Progress) -> None:
            pipe.write(json.dumps(asdict(step), allow_nan=False) + "\n")

        params = Path(job["params"])
        notebooks = {s: Path(p) for s, p in job["notebooks"].items()}
        warm_up(params, notebooks)
        pool = Pool(
            params,
            Path(job["scratch"]),
            None if job["cwd"] is None else Path(job["cwd"]),
            Path(job["runtime"]),
            Limits(**job["limits"]),
            dict(os.environ),
            tell,
            forked,
            cancelled=0,
        )
        record = pool.run(notebooks, job["jobs"])
        pipe.write(json.dumps({"record": [asdict(run) for run in record.sections]}, allow_nan=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
