"""Claims about reading measurement logs: what is read out of a mess, and what is said about it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured_cases import BENCH, BROKEN, CLEAN, PERFTEST, ROW, curve, finding, kinds, table
from rows import rows

from fabricreport.base import yaml_files
from fabricreport.base.errors import InputError
from fabricreport.books.logs.lines import log_rules, strip_line
from fabricreport.books.logs.measurements import (
    COLUMNS,
    measure_report,
    read_all_reduce_bench,
    read_log,
    read_nccl_tests,
    read_perftest,
)
from fabricreport.books.logs.nccl_log import parse_nccl_tests

# --- the three real-looking logs


def test_a_clean_mpirun_log_is_read_whole() -> None:
    frame = read_nccl_tests(CLEAN)
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 32
    assert set(frame["ranks"]) == {16} and set(frame["hosts"]) == {2} and set(frame["collective"]) == {"allreduce"}
    by_size = frame.set_index("size_bytes")
    assert by_size.loc[2**30, "busbw_gbytes_per_s"] == 448.90
    assert by_size.loc[16, "time_us"] == 24.96
    assert by_size.loc[8, "in_place_time_us"] == 25.02
    assert kinds(frame) == ["warm-up", "spike", "two-node-flattery"]
    assert frame.attrs["findings"][0].line == 26


def test_the_broken_log_gives_every_row_that_parses_and_names_every_fault() -> None:
    frame = read_nccl_tests(BROKEN, nic_gbytes_per_s=50, gpus_per_node=8)
    assert list(frame.groupby("section").size()) == [13, 6, 3]
    assert list(frame.groupby("section")["collective"].first()) == ["allreduce", "allgather", "allreduce"]
    first = frame[frame["section"] == 0].set_index("size_bytes")
    assert first.loc[2**24, ["time_us", "busbw_gbytes_per_s", "in_place_time_us"]].tolist() == [510.5, 64.71, 512.5]
    assert first.loc[2**25, "busbw_gbytes_per_s"] == 106.34
    assert pd.isna(first.loc[2**28, "wrong"]) and first.loc[2**27, "wrong"] == 0
    text = BROKEN.read_bytes().decode().split("\r\n")
    by_kind = {k: [f for f in frame.attrs["findings"] if f.kind == k] for k in kinds(frame)}
    assert set(by_kind) == {
        "malformed", "cut-off", "spike", "identity", "bimodal", "rank-count", "above-cap", "no-footer", "ranks-implied",
    }  # fmt: skip
    marks = ["flo@t", "oops", "43211"]
    assert [next(m for m in marks if m in text[f.line - 1]) for f in by_kind["malformed"]] == marks
    assert text[by_kind["cut-off"][-1].line - 1].endswith("7300")
    assert "196.18" in text[by_kind["identity"][0].line - 1]
    assert by_kind["rank-count"][0].numbers["implied"] == 64 and by_kind["rank-count"][0].numbers["claimed"] == 144
    assert by_kind["above-cap"][0].numbers["cap"] == pytest.approx(50 * 63 / 7)
    assert by_kind["bimodal"][0].numbers["low"] == pytest.approx(203.3, abs=0.1)


def test_perftest_tables_in_one_pasted_file_are_kept_apart() -> None:
    frame = read_perftest(PERFTEST, nic_gbytes_per_s=50)
    assert list(frame["collective"].unique()) == ["ib_write_bw", "ib_write_lat", "ib_send_lat"]
    assert frame["busbw_gbytes_per_s"].iloc[0] == pytest.approx(391.98 / 8)
    latency = frame[frame["collective"] == "ib_write_lat"].set_index("size_bytes")
    assert latency.loc[2, ["time_us", "p99_us", "p999_us"]].tolist() == [1.79, 1.88, 6.12]
    assert kinds(frame) == ["unsteady", "long-tail", "malformed"]
    assert "3 figures under 9 columns" in finding(frame, "malformed").message


def test_all_reduce_bench_is_read_with_times_derived() -> None:
    frame = read_all_reduce_bench(BENCH)
    assert len(frame) == 20 and set(frame["ranks"]) == {32}
    last = frame.iloc[-1]
    assert (last["size_bytes"], last["busbw_gbytes_per_s"]) == (16 * 2**30, 381.80)
    assert last["time_us"] == pytest.approx(16 * 2**30 / 197.06 / 1e3)
    assert kinds(frame) == []


@rows(
    ("path", "kind"),
    [(CLEAN, "nccl-tests"), (BROKEN, "nccl-tests"), (PERFTEST, "perftest"), (BENCH, "all_reduce_bench")],
)  # fmt: skip
def test_the_kind_of_a_log_is_told_by_its_content(path: Path, kind: str) -> None:
    frame = read_log(path)
    assert frame.attrs["kind"] == kind
    assert read_log(path.read_bytes().decode()).drop(columns=[]).equals(frame)


# --- what is pasted around a row


@rows(
    "prefix",
    ["[1,0]<stdout>:", "[prterun-h-77@1,0]<stdout>: ", " 0: ", "00: ", "[default0]:", "[node1:0]:", "> ", "> > ", "worker-0: ",
     "2025-06-18T09:14:07.512Z ", "[2025-06-18 09:14:07] ", "09:14:07 ", "2025-06-18 09:14:07,123 0: ",
     "Jun 18 09:14:07 gpu-01 slurmd[991]: ", "\x1b[1;32m", "^[[0m", "[32m", "\u200b", "\t", "\xa0"],
)  # fmt: skip
@rows("end", ["\n", "\r\n", "\r"])
def test_prefixes_colours_and_line_ends_change_nothing(prefix: str, end: str) -> None:
    frame = read_nccl_tests(f"{prefix}{ROW}\x1b[0m{end}{prefix}# Avg bus bandwidth    : 448.64{end}")
    assert frame["busbw_gbytes_per_s"].tolist() == [448.90]
    assert frame["in_place_busbw_gbytes_per_s"].tolist() == [448.38]


@rows("cut", range(12, len(ROW) - 2))
def test_a_row_wrapped_anywhere_after_its_size_is_read_as_one(cut: int) -> None:
    frame = read_nccl_tests("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                            f"{ROW[:cut]}\n{ROW[cut:]}\n")  # fmt: skip
    assert len(frame) == 1
    assert frame.iloc[0]["time_us"] == 4484.9
    assert not {"malformed", "cut-off", "identity"} & set(kinds(frame))


@rows(
    ("row", "wrong"),
    [
        ("1048576 262144 float sum 71.93 14.58 27.33 2e-07 71.0 14.77 27.69 1e-07", 2e-07 + 1e-07),
        ("1048576 262144 float sum -1 71.93 14.58 27.33 0 71.0 14.77 27.69 0", 0),
        ("1048576 262144 float sum -1 71.93 14.58 27.33 0", 0),
        ("1048576 262144 float sum -1 71.93 14.58 27.33 N/A 71.0 14.77 27.69 N/A", None),
        ("1048576 262144 float sum -1 71.93 14.58 27.33", None),
        ("1048576 262144 float 71.93 14.58 27.33 0 71.0 14.77 27.69 0", 0),
        ("1048576 262144 bfloat16 none 0 71.93 14.58 27.33 0 71.0 14.77 27.69 0", 0),
        ("| 1048576 | 262144 | half | sum | -1 | 71.93 | 14.58 | 27.33 | 0 |", 0),
    ],
)
def test_old_and_new_layouts_are_read(row: str, wrong: float | None) -> None:
    frame = read_nccl_tests(row + "\n")
    assert frame.iloc[0]["time_us"] == 71.93 and frame.iloc[0]["busbw_gbytes_per_s"] == 27.33
    assert pd.isna(frame.iloc[0]["wrong"]) if wrong is None else frame.iloc[0]["wrong"] == wrong


def test_a_row_with_in_place_figures_only_says_so() -> None:
    frame = read_nccl_tests("1048576 262144 float sum -1 N/A N/A N/A N/A 71.0 14.77 27.69 0\n")
    assert frame.iloc[0]["in_place"] and frame.iloc[0]["time_us"] == 71.0


@rows(
    ("line", "reason"),
    [
        ("268435456 float sum -1 100.0 2.0 3.0 0", "count of elements"),
        ("float sum -1 100.0 2.0 3.0 0", "start is missing"),
        ("1048576 262144 float sum -1 71,93 14.58 27.33 0", "71,93 is not a number"),
        ("1048576 262144 float sum -1 0.00 14.58 27.33 0", "a time of zero"),
        (ROW.replace("4490.1", "0.00"), "a time of zero"),
        ("1048576 262144 float sum -1 71.93", "1 figures"),
        ("1048576 262144", "rest is missing"),
        ("1048576 262144 float sum -1 N/A 14.58 27.33 0", "not a number"),
        ("100.0 2.0 3.0 0", "start is missing"),
    ],
)
def test_a_line_that_is_no_row_is_a_finding_with_its_number_and_reason(line: str, reason: str) -> None:
    frame = read_nccl_tests(f"{ROW}\n{line}\n{ROW}\n")
    assert len(frame) == 2
    bad = finding(frame, "malformed")
    assert bad.line == 2 and reason in bad.message


def test_a_cut_off_table_is_said_with_the_size_it_stops_at() -> None:
    head = "# nThread 1 nGpus 1 minBytes 8 maxBytes 17179869184 step: 2(factor)"
    frame = read_nccl_tests(table((2**28, 1282.8), (2**29, 2357.6), head=head))
    cut = finding(frame, "cut-off")
    assert cut.numbers == {"last_bytes": 2.0**29, "asked_bytes": 17179869184.0}


def test_only_a_log_without_any_row_raises() -> None:
    with pytest.raises(InputError, match="no row of a measurement"):
        read_log("hello\nworld\n")
    with pytest.raises(InputError, match=r"line 1.*rest is missing|only size and count"):
        read_nccl_tests("# size count type redop root time algbw busbw\n8 2\n")
    with pytest.raises(InputError, match="does not exist"):
        read_log("/nowhere/log.txt")
    with pytest.raises(InputError, match="positive"):
        read_log(CLEAN, nic_gbytes_per_s=-1)


def test_a_log_saved_by_a_windows_shell_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text(ROW + "\n", encoding="utf-16")
    assert len(read_log(path)) == 1


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200), st.integers(0, 80))
def test_noise_around_a_row_never_hides_it_and_never_crashes(noise: str, at: int) -> None:
    noise = noise.replace("_perf", "")
    frame = read_log(f"# {noise.splitlines()[0] if noise.splitlines() else ''}\n{ROW}\n#{noise}\n")
    assert 448.90 in frame["busbw_gbytes_per_s"].tolist()
    try:
        read_log(ROW[:at] + noise + "\n" + ROW[at:])
    except InputError as error:
        assert error.exit_code == 2


def test_a_stripped_line_keeps_what_is_no_prefix() -> None:
    assert strip_line("0: 0: 8 2 float") == "8 2 float"
    assert strip_line("gpu-01:41:77 [0] NCCL INFO x") == "gpu-01:41:77 [0] NCCL INFO x"


# --- what the figures say


def test_ranks_are_recomputed_from_the_ratio_of_bandwidths() -> None:
    """The two-rack table of a public README: the log names 144 ranks, the ratio 1.98437 is that of 128."""
    rows = [
        (536870912, 2156.8, 248.92, 493.94),
        (1073741824, 3574.4, 300.40, 596.10),
        (17179869184, 42067, 408.40, 810.41),
    ]
    text = "\n".join(f"{s} {s // 4} float sum -1 {t} {a} {b} 0" for s, t, a, b in rows)
    frame = read_nccl_tests("x\n" + text, ranks=144)
    assert finding(frame, "rank-count").numbers["implied"] == 128
    assert "rank-count" not in kinds(read_nccl_tests("x\n" + text, ranks=128))
    unnamed = read_nccl_tests("x\n" + text)
    assert set(unnamed["ranks"]) == {128} and "ranks-implied" in kinds(unnamed)


def test_the_measured_tables_we_ship_agree_with_themselves() -> None:
    """17 public tables: time x algbw is the size in all, and one names another rank count than its ratio implies."""
    doubted = []
    for path in sorted((yaml_files.ROOT / "nccl").glob("*.csv")):
        lines = path.read_text(encoding="utf-8").splitlines()
        claimed = int(match.group(1)) if (match := re.search(r"(\d+)gpu", path.name)) else 144
        rows = [line.split(",") for line in lines if line[:1].isdigit()]
        text = "\n".join(f"{s} {int(s) // 4} float sum -1 {t} {a} {b} 0" for s, t, a, b in rows)
        frame = read_nccl_tests("# all_reduce_perf\n" + text, ranks=claimed)
        assert len(frame) == len(rows)
        assert "identity" not in kinds(frame), path.name
        doubted += [path.stem] if "rank-count" in kinds(frame) else []
    assert doubted == ["coreweave_ib_gb200_2racks"]


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([2, 4, 8, 16, 24, 32, 64, 96, 128, 256, 512, 1024]))
def test_a_true_rank_count_is_never_doubted(n: int) -> None:
    frame = read_nccl_tests(table(*curve(n), n=n), ranks=n)
    assert "rank-count" not in kinds(frame) and "identity" not in kinds(frame)


@rows(("factor", "word"), [(1 / 1.073741824, "GiB"), (8, "Gbit"), (1000, "milliseconds")])
def test_a_unit_slip_in_the_whole_table_is_named(factor: float, word: str) -> None:
    lines = [
        f"{s} {s // 4} float sum -1 {t} {s / t / 1e3 * factor:.3f} {s / t / 1e3 * factor * 1.9375:.3f} 0"
        for s, t in curve()
    ]
    assert word in finding(read_nccl_tests("\n".join(lines)), "identity").message


def test_one_edited_row_is_pointed_at() -> None:
    lines = table(*curve()).splitlines()
    lines[6] = lines[6].replace(lines[6].split()[6], "999.99")
    frame = read_nccl_tests("\n".join(lines))
    assert finding(frame, "identity").line == 7


def test_above_the_cap_needs_the_nic_rate() -> None:
    text = table(*curve(peak=400.0), n=32)
    assert "above-cap" not in kinds(read_nccl_tests(text))
    frame = read_nccl_tests(text, nic_gbytes_per_s=50, gpus_per_node=8)
    assert finding(frame, "above-cap").numbers["cap"] == pytest.approx(50 * 31 / 3)
    assert "above-cap" not in kinds(read_nccl_tests(text, nic_gbytes_per_s=100, gpus_per_node=8))


def test_a_slow_first_row_is_a_warm_up_outlier_only_for_small_messages() -> None:
    small = [(8, 68.5), (16, 25.0), (32, 25.0), (64, 25.2), (128, 25.7)]
    assert finding(read_nccl_tests(table(*small)), "warm-up").line == 2
    assert "warm-up" not in kinds(read_nccl_tests(table((8, 26.0), *small[1:])))


@rows(
    ("peak_busbw", "word"),
    [(390.0, None), (320.0, None), (290.0, "not tuned"), (200.0, "half"), (100.0, "quarter"), (50.0, "one NIC"), (12.0, "TCP")],
)  # fmt: skip
def test_a_shortfall_names_the_setting_to_look_at(peak_busbw: float, word: str | None) -> None:
    n = 64
    text = table(*curve(n, peak_busbw * n / (2 * (n - 1))), n=n)
    frame = read_nccl_tests(text, nic_gbytes_per_s=50, gpus_per_node=8)
    if word is None:
        assert "far-below" not in kinds(frame)
    else:
        assert word in finding(frame, "far-below").message and finding(frame, "far-below").remedy


def test_an_assumed_nic_rate_is_said_and_weighs_less() -> None:
    head = "# Collective test starting: all_reduce_perf\n#  Rank  0 Group  0 Pid 1 on h device  0 [0x1b] NVIDIA H100 80GB HBM3"
    frame = read_nccl_tests(table(*curve(64, 100.0), n=64, head=head), ranks=64)
    assert finding(frame, "far-below").severity == "info"
    assert "assumed" in finding(frame, "far-below").message


def test_two_nodes_are_called_flattery_and_four_are_not() -> None:
    for nodes in (2, 4):
        frame = read_nccl_tests(table(*curve(8 * nodes, 200), n=8 * nodes), nic_gbytes_per_s=50, gpus_per_node=8)
        assert ("two-node-flattery" in kinds(frame)) is (nodes == 2)


def test_a_dip_is_a_finding_and_a_smooth_curve_is_none() -> None:
    rows = curve()
    assert not {"dip", "spike", "bimodal"} & set(kinds(read_nccl_tests(table(*rows, n=32))))
    size, time_us = rows[9]
    rows[9] = (size, time_us * 2.4)
    dip = finding(read_nccl_tests(table(*rows, n=32)), "dip")
    assert dip.line == 11 and dip.numbers["share"] < 0.9


def test_repeats_of_one_size_in_two_groups_are_bimodal() -> None:
    slow_and_fast = [(2**30, t) for t in (2700.0, 5200.0, 2710.0, 5210.0, 2690.0)]
    steady = [(2**30, t) for t in (2700.0, 2720.0, 2710.0, 2705.0, 2690.0)]
    assert "bimodal" in kinds(read_nccl_tests(table(*slow_and_fast)))
    assert "bimodal" not in kinds(read_nccl_tests(table(*steady)))


def test_wrong_results_are_an_error_but_an_old_error_column_is_not() -> None:
    assert finding(read_nccl_tests(f"{ROW[:-1]}5\n{ROW}\n"), "wrong-results").severity == "error"
    old = "# size count type redop time algbw busbw error time algbw busbw error\n"
    frame = read_nccl_tests(old + "1048576 262144 float sum 71.93 14.58 27.33 2e-07 71.0 14.77 27.69 1e-07\n")
    assert "wrong-results" not in kinds(frame)


@rows(("footer", "sound"), [("0 OK", True), ("12 FAILED", False), ("0 FAILED", False), ("3 OK", False)])
def test_a_footer_that_counts_wrong_values_is_believed_though_no_row_shows_them(footer: str, sound: bool) -> None:
    log = f"{table(*curve(), n=32)}# Out of bounds values : {footer}\n"
    assert ("wrong-results" not in kinds(read_nccl_tests(log))) == sound


def test_a_footer_that_does_not_fit_the_rows_is_said() -> None:
    text = table(*curve(), n=32)
    mean = read_nccl_tests(text)["busbw_gbytes_per_s"].mean()
    assert "average" not in kinds(read_nccl_tests(f"{text}# Avg bus bandwidth : {mean:.3f}\n"))
    assert "average" in kinds(read_nccl_tests(f"{text}# Avg bus bandwidth : {mean * 1.2:.3f}\n"))


def test_a_perftest_rate_far_below_the_nic_is_a_finding() -> None:
    text = PERFTEST.read_text()
    assert "far-below" in kinds(read_perftest(text, nic_gbytes_per_s=100))
    assert "above-cap" in kinds(read_perftest(text, nic_gbytes_per_s=25))


def test_perftest_megabytes_are_binary() -> None:
    text = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 65536 5000 46700.0 46600.5 0.745608\n"
    assert read_perftest(text)["busbw_gbytes_per_s"].iloc[0] == pytest.approx(46600.5 * 2**20 / 1e9)


# --- the report


def test_the_report_is_plain_text_and_plain_values() -> None:
    report = measure_report([CLEAN, BROKEN, PERFTEST, BENCH], nic_gbytes_per_s=50, gpus_per_node=8)
    assert not report.ok and measure_report([CLEAN]).ok
    text = report.text()
    assert text.count("█" * 40) >= 4
    assert "two nodes are the best case" in text and "144 ranks are claimed" in text
    data = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert [len(log["rows"]) for log in data["logs"]] == [32, 22, 6, 20]
    assert {"kind", "severity", "line", "message", "remedy", "numbers"} == set(data["logs"][0]["findings"][0])


def test_every_unreadable_log_is_named_at_once(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("nothing\n")
    with pytest.raises(InputError) as caught:
        measure_report([CLEAN, tmp_path / "a.txt", tmp_path / "b.txt"])
    assert len(caught.value.problems) == 2


def edited(log: Path, folder: Path, old: str, new: str) -> tuple[Path, int]:
    """The log with the first `old` replaced, and the line it stood on."""
    text = log.read_text(encoding="utf-8")
    assert old in text
    path = folder / log.name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path, text[: text.index(old)].count("\n") + 1


@rows("figure", ["1e400", "1e300", "-1e400", "1e-300", "9" * 400])
@rows(("log", "cell"), [(CLEAN, "68.52"), (CLEAN, "24.71"), (CLEAN, "3.38"), (PERFTEST, "392.10"), (PERFTEST, "44.10")])
def test_an_impossible_figure_refuses_the_log_with_its_line(tmp_path: Path, log: Path, cell: str, figure: str) -> None:
    path, line = edited(log, tmp_path, cell, figure)
    with pytest.raises(InputError) as caught:
        measure_report([path])
    assert [(p.file, p.line) for p in caught.value.problems] == [(str(path), line)]


@rows("figure", ["9" * 400, "9" * 5000, "1" + "0" * 30])
@rows(
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


@rows("digit", ["\u0663", "\u00b2", "\uff13"])
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


@rows("figure", ["-1", "-0.01", "inf", "-inf", "nan"])
@rows("cell", ["4484.9", "239.41", "448.90", "4490.1", "239.14", "448.38"])
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


@rows(
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


@rows(
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
    length = log_rules().longest_line_characters - len(start) - len(end)
    line = start + (repeated * length)[:length] + end
    assert len(read_log(f"{ROW}\n" + f"{line}\n" * 10)) == 1


@pytest.mark.slow
def test_a_log_of_more_lines_than_any_benchmark_prints_is_refused_and_one_at_the_limit_is_read(tmp_path: Path) -> None:
    path, most = tmp_path / "log.txt", log_rules().most_lines
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
        handle.truncate(log_rules().largest_log_bytes + 1)
    with pytest.raises(InputError, match="larger than"):
        measure_report([tmp_path / "log.txt"])


@rows(
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
