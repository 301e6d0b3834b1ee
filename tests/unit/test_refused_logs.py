"""Claims about logs that no run printed: refused with their line, in bounded time, and never half read."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured_cases import BENCH, BROKEN, CLEAN, PERFTEST, ROW, kinds

from fabricreport.books.logs.lines import log_rules
from fabricreport.books.logs.measurements import measure_report, read_log, read_nccl_tests
from fabricreport.books.logs.nccl_log import parse_nccl_tests
from fabricreport.errors import InputError


def edited(log: Path, folder: Path, old: str, new: str) -> tuple[Path, int]:
    """The log with the first `old` replaced, and the line it stood on."""
    text = log.read_text(encoding="utf-8")
    assert old in text
    path = folder / log.name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path, text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize("figure", ["1e400", "1e300", "-1e400", "1e-300", "9" * 400])
@pytest.mark.parametrize(
    ("log", "cell"), [(CLEAN, "68.52"), (CLEAN, "24.71"), (CLEAN, "3.38"), (PERFTEST, "392.10"), (PERFTEST, "44.10")]
)
def test_an_impossible_figure_refuses_the_log_with_its_line(tmp_path: Path, log: Path, cell: str, figure: str) -> None:
    path, line = edited(log, tmp_path, cell, figure)
    with pytest.raises(InputError) as caught:
        measure_report([path])
    assert [(p.file, p.line) for p in caught.value.problems] == [(str(path), line)]


@pytest.mark.parametrize("figure", ["9" * 400, "9" * 5000, "1" + "0" * 30])
@pytest.mark.parametrize(
    ("log", "old", "new"),
    [
        (CLEAN, "maxBytes 17179869184", "maxBytes {}"),
        (CLEAN, "Rank  3", "Rank  {}"),
        (CLEAN, "-np 16", "-np {}"),
        (BENCH, "over 32 ranks", "over {} ranks"),
    ],
)
def test_a_count_in_a_header_that_no_cluster_has_refuses_the_log_with_its_line(
    tmp_path: Path, log: Path, old: str, new: str, figure: str
) -> None:
    path, line = edited(log, tmp_path, old, new.format(figure))
    with pytest.raises(InputError) as caught:
        measure_report([path])
    assert [(p.file, p.line) for p in caught.value.problems] == [(str(path), line)]


def test_a_log_without_a_row_is_refused_at_a_line(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear customer,\nour fabric is fast.\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        measure_report([path])
    assert [(p.file, p.line) for p in caught.value.problems] == [(str(path), 1)]


@pytest.mark.parametrize("digit", ["\u0663", "\u00b2", "\uff13"])
def test_digits_of_other_scripts_are_no_figures(tmp_path: Path, digit: str) -> None:
    path, _ = edited(CLEAN, tmp_path, "131072         32768", f"{digit}         {digit}")
    assert "malformed" in kinds(read_log(path))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_figure_of_a_report_is_infinite(data: st.DataObject) -> None:
    log = data.draw(st.sampled_from([CLEAN, BROKEN, PERFTEST, BENCH]))
    text = log.read_text(encoding="utf-8")
    spots = [m.span() for m in re.finditer(r"\d+(?:\.\d+)?", text)]
    start, end = data.draw(st.sampled_from(spots))
    figure = data.draw(
        st.sampled_from(["0", "0.00", "1e400", "1e-400", "nan", "inf", "-1", "1e18", "1e15", "99999999"])
    )
    try:
        frame = read_log(text[:start] + figure + text[end:])
    except InputError as error:
        assert all(p.line for p in error.problems)
        return
    values = [v for f in frame.attrs["findings"] for v in f.numbers.values()]
    json.dumps(values, allow_nan=False)
    assert not frame.isin([float("inf"), float("-inf")]).to_numpy().any()


@pytest.mark.parametrize("figure", ["-1", "-0.01", "inf", "-inf", "nan"])
@pytest.mark.parametrize("cell", ["4484.9", "239.41", "448.90", "4490.1", "239.14", "448.38"])
def test_a_figure_no_run_has_is_refused_out_of_place_and_in_place_alike(tmp_path: Path, cell: str, figure: str) -> None:
    path = tmp_path / "log.txt"
    head = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
    for before in ("# none", head):
        path.write_text(f"{before}\n{ROW}\n{ROW.replace(cell, figure)}\n", encoding="utf-8")
        with pytest.raises(InputError) as caught:
            measure_report([path])
        assert [(p.file, p.line) for p in caught.value.problems] == [(str(path), 3)]


def test_a_time_of_minus_one_is_not_taken_for_the_root_of_a_table_that_has_none() -> None:
    head = "# size count type redop time algbw busbw error time algbw busbw error"
    with pytest.raises(InputError, match="time of -1"):
        read_nccl_tests(f"{head}\n{ROW.replace('sum -1 4484.9', 'sum -1')}\n")


@pytest.mark.parametrize(
    "line",
    [
        "[a" + "1" * 50_000 + "]",
        " " * 200_000 + "x",
        "all_reduce_perf " * 20_000,
        "all_reduce_perf " + "srun " * 20_000,
        "all_reduce_perf " + " -np 1" * 40_000,
        "1 " * 3_000_000,
    ],
)
def test_a_line_longer_than_any_of_a_benchmark_is_refused_at_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log.txt"
    path.write_text(f"{ROW}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="characters") as caught:
        measure_report([path])
    assert [(p.file, p.line) for p in caught.value.problems] == [(str(path), 2)]


@pytest.mark.parametrize(
    ("start", "repeated", "end"),
    [
        ("[a", "1", "]"),
        ("[a,", "1,", "]<stdout"),
        ("", " ", "x"),
        ("", "> ", "x"),
        ("", "a.", ":"),
        ("", "^[]", ""),
        ("", "all_reduce_perf ", ""),
        ("all_reduce_perf ", "srun ", ""),
        ("all_reduce_perf ", " -np 1", ""),
        ("", "1", "x"),
        ("1 2 3 4 ", "1", "x"),
        ("1048576 262144 float sum -1 ", "1 ", ""),
        ("#bytes ", "a", ""),
        ("#bytes ", "a[", ""),
        ("", "Send BW ", ""),
        ("1 KB | 1 GBps | 1 GBps", " ", "x"),
    ],
)
@pytest.mark.timeout(60)  # a reader that hangs ends here; it takes milliseconds a line otherwise
def test_the_longest_line_allowed_is_read_whatever_it_repeats(start: str, repeated: str, end: str) -> None:
    length = int(log_rules()["longest_line_characters"]) - len(start) - len(end)
    line = start + (repeated * length)[:length] + end
    assert len(read_log(f"{ROW}\n" + f"{line}\n" * 10)) == 1


@pytest.mark.slow
def test_a_log_of_more_lines_than_any_benchmark_prints_is_refused_and_one_at_the_limit_is_read(tmp_path: Path) -> None:
    path, most = tmp_path / "log.txt", int(log_rules()["most_lines"])
    path.write_text(f"{ROW}\n" + "# x\n" * (most - 1), encoding="utf-8")
    assert len(read_log(path)) == 1
    path.write_text(f"{ROW}\n" + "# x\n" * most, encoding="utf-8")
    with pytest.raises(InputError, match="lines") as caught:
        measure_report([path])
    assert [(p.file, p.line) for p in caught.value.problems] == [(str(path), most + 1)]


def test_a_pipe_a_device_and_a_folder_are_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(InputError, match="not an ordinary file") as caught:
            measure_report([path])
        assert [p.file for p in caught.value.problems] == [str(path)]


def test_a_file_larger_than_any_log_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "log.txt").open("wb") as handle:
        handle.truncate(int(log_rules()["largest_log_bytes"]) + 1)
    with pytest.raises(InputError, match="larger than"):
        measure_report([tmp_path / "log.txt"])


@pytest.mark.parametrize(
    ("command", "ranks", "hosts"),
    [
        ("srun --nodes=2 --ntasks=16 ./all_reduce_perf -b 8", 16, 2),
        ("/usr/bin/srun -N 2 -n 16 all_reduce_perf -n 20", 16, 2),
        ("srun -N4 all_reduce_perf", None, 4),
        ("mpirun -np 2 -x A=1 ./build/all_reduce_perf -b 8 -g 8", 16, None),
        ("mpirun -np 2 ./build/all_reduce_perf --ngpus=8", 16, None),
        ("./all_reduce_perf -n 20", None, None),
    ],
)
def test_ranks_and_nodes_are_read_from_the_command_line(command: str, ranks: int | None, hosts: int | None) -> None:
    (section,) = parse_nccl_tests([(1, command), (2, ROW)]).sections
    assert (section.ranks, section.hosts) == (ranks, hosts)
