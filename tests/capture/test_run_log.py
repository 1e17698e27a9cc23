"""The log's files: stamps, ranks, rotation, what is kept, and what is said where nothing can be written."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from launcher.capture.ranks import rank
from launcher.capture.records import stamped
from launcher.capture.retention import Kept, surplus
from launcher.capture.run_log import RunLog
from launcher.model import Logging
from tests.helpers import no_file_larger_than

AT = 1_796_256_000.1239  # 2026-12-03, in seconds since the epoch


def log_of(folder: Path, **options: int) -> tuple[RunLog, list[str]]:
    """A log and what it says."""
    said: list[str] = []
    return RunLog(folder / "server.log", Logging(**options), said.append), said  # type: ignore[arg-type]


def test_each_line_has_a_time_with_milliseconds_and_its_stream() -> None:
    assert stamped(b"one\ntwo\n", "err", AT, "text") == (
        b"2026-12-03T00:00:00.123Z err one\n2026-12-03T00:00:00.123Z err two\n"
    )
    assert stamped(b"", "out", AT, "text") == b""


def test_as_json_each_line_is_an_object_with_its_rank() -> None:
    words = "[2026-12-03 00:00:00 TP0] loading"
    lines = stamped(f"{words}\nplain ü\n".encode(), "out", AT, "json").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"time": "2026-12-03T00:00:00.123Z", "stream": "out", "rank": "TP0", "line": words},
        {"time": "2026-12-03T00:00:00.123Z", "stream": "out", "line": "plain ü"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("[2026-12-03 00:00:00 TP0] loading", {"rank": "TP0"}),
        ("[2026-12-03 00:00:00 DP1 TP3] loading", {"rank": "DP1 TP3"}),
        ("(Worker_TP0 pid=12) INFO", {"process": "Worker", "rank": "TP0", "pid": 12}),
        ("(EngineCore pid=12) INFO", {"process": "EngineCore", "pid": 12}),
        ("INFO: nobody", {}),
    ],
)
def test_who_says_a_line(line: str, known: dict[str, object]) -> None:
    assert rank(line) == known


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("size", range(4000, 4100, 7))
def test_a_disk_that_is_full_in_the_middle_of_a_line_leaves_whole_lines(tmp_path: Path, form: str, size: int) -> None:
    """Whoever reads the JSON of a log must not stumble over half a line; what was taken away is counted, too."""
    log, said = log_of(tmp_path, format=form, rotate=0)  # type: ignore[arg-type]
    block = b"".join(b"line %03d\n" % number for number in range(100))
    marked = len(stamped(block, "out", AT, form))  # type: ignore[arg-type]
    with no_file_larger_than(size):
        log.put(block, "out", AT)
        log.put(block, "out", AT)
    log.put(b"last\n", "out", AT)
    log.close()
    lines = (tmp_path / "server.log").read_text().splitlines()
    if form == "json":
        lines = [json.loads(line)["line"] for line in lines]
    lines = [re.sub("^[^ ]+Z (out|gpulaunch) ", "", line) for line in lines]
    kept = len(lines) - 2
    assert lines[:kept] == [f"line {number % 100:03d}" for number in range(kept)]
    assert lines[kept:] == [f"{2 * marked - kept * marked // 100} bytes are missing here", "last"]
    assert said[0] == "the log cannot be written: File too large; the server goes on without it"


def test_files_hold_whole_lines_and_the_first_one_stays(tmp_path: Path) -> None:
    log, _ = log_of(tmp_path, rotate=2000, keep=3)
    for number in range(200):
        log.put(b"line %d\n" % number, "out", AT)
    log.close()
    files = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(files) == ["server.log", "server.log.1", "server.log.2"]
    assert all(len(text) <= 2000 and text.endswith("\n") for text in files.values())
    assert files["server.log.2"].startswith("2026-12-03T00:00:00.123Z out line 0\n")
    numbers = [int(word) for name in ("server.log.1", "server.log") for word in re.findall(r"line (\d+)", files[name])]
    assert numbers == list(range(numbers[0], 200)), "the two latest follow one another"


def test_another_start_of_a_run_goes_on_in_its_log(tmp_path: Path) -> None:
    for words in (b"first\n", b"second\n"):
        log, _ = log_of(tmp_path)
        log.put(words, "out", AT)
        log.close()
    said = [line.split(b" ", 1)[1] for line in (tmp_path / "server.log").read_bytes().splitlines()]
    assert said == [b"out first", b"gpulaunch the server is started again", b"out second"]


def test_a_full_device_is_said_once_and_what_was_lost_is_counted(tmp_path: Path) -> None:
    """/dev/full answers every write with ENOSPC."""
    log, said = log_of(tmp_path)
    full = os.open("/dev/full", os.O_WRONLY)
    file = os.dup(log._descriptor)
    os.dup2(full, log._descriptor)
    log.put(b"lost\n", "out", AT)
    log.put(b"lost too\n", "out", AT)
    os.dup2(file, log._descriptor)
    log.put(b"room again\n", "out", AT)
    log.close()
    os.close(full)
    os.close(file)
    lost = len(stamped(b"lost\nlost too\n", "out", AT, "text"))
    assert [re.sub(r".*(No space left on device).*", r"\1", sentence) for sentence in said] == [
        "No space left on device",
        f"{lost} bytes are missing in the log, which could not be written",
    ]
    kept = (tmp_path / "server.log").read_text()
    assert f"{lost} bytes are missing here\n" in kept
    assert kept.endswith("room again\n")


def kept(name: str, size: int, written: float, over: bool = True) -> Kept:
    return Kept(Path(name), size, written, over)


def test_the_oldest_logs_go_first_where_all_are_too_large_and_none_that_is_in_use() -> None:
    runs = (kept("new", 50, 9.0), kept("old", 50, 1.0), kept("lives", 50, 0.0, over=False), kept("here", 50, 10.0))
    options = Logging(total=120, age=0)
    assert [run.folder.name for run in surplus(runs, Path("here"), options, 10.0)] == ["old", "new"]
    assert surplus(runs, Path("here"), Logging(total=200, age=0), 10.0) == ()


def test_logs_that_are_too_old_go_whatever_their_size() -> None:
    runs = (kept("old", 1, 1.0), kept("new", 1, 99.0))
    assert [run.folder.name for run in surplus(runs, Path("here"), Logging(total=0, age=50), 100.0)] == ["old"]
