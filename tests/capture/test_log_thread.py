"""The log's own thread: whole and in order on a slow disk, counted on one that hangs, and never in the server's way."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from launcher.capture.log_thread import BEHIND, ENOUGH, LogThread
from launcher.capture.records import stamped
from launcher.capture.run_log import RunLog
from launcher.model import Logging
from tests.helpers import eventually
from tests.launching import unstamped

LINE = b"x" * 1023 + b"\n"
MARKED = stamped(LINE, "out", 0.0, "text")
BLOCK = LINE * 256


class Disk:
    """Stands for a disk that answers only while `answers` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self.asked = threading.Event()
        real: Callable[..., int] = os.writev

        def writev(descriptor: int, parts: tuple[bytes, ...]) -> int:
            self.asked.set()
            self.answers.wait(60)
            return real(descriptor, parts)

        monkeypatch.setattr("launcher.capture.run_log.os.writev", writev)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    made = Disk(monkeypatch)
    yield made
    made.answers.set()


def thread_of(folder: Path, hangs: float = 1.0) -> tuple[LogThread, list[str]]:
    """A log that takes a disk for hanging after so many seconds, and what it says."""
    said: list[str] = []
    return LogThread(RunLog(folder / "server.log", Logging(), said.append), said.append, hangs), said


def test_everything_is_written_in_the_order_in_which_it_came(tmp_path: Path) -> None:
    log, said = thread_of(tmp_path)
    for number in range(5000):
        log.put(b"line %d\n" % number, "out", 0.0)
    log.close()
    assert unstamped((tmp_path / "server.log").read_bytes()).split() == [
        word for number in range(5000) for word in (b"line", b"%d" % number)
    ]
    assert said == []


def test_small_blocks_are_written_together_and_none_waits_when_no_more_comes(tmp_path: Path, disk: Disk) -> None:
    log, _ = thread_of(tmp_path)
    written = tmp_path / "server.log"
    for _ in range(3):
        log.put(LINE, "out", 0.0, more=True)
    assert not disk.asked.wait(0.2) and log.behind == 3 * len(MARKED)
    log.go_on()
    eventually(lambda: written.stat().st_size == 3 * len(MARKED))
    for _ in range(ENOUGH // len(MARKED) + 1):
        log.put(LINE, "out", 0.0, more=True)  # a flood goes on without a word
    eventually(lambda: written.stat().st_size > ENOUGH)
    log.close()
    assert written.read_bytes() == MARKED * (ENOUGH // len(MARKED) + 4)


def test_a_disk_that_hangs_holds_nobody_up_and_what_is_missing_is_counted(tmp_path: Path, disk: Disk) -> None:
    log, said = thread_of(tmp_path)
    disk.answers.clear()
    log.put(b"first\n", "out", 0.0)
    assert disk.asked.wait(10)
    begin = time.monotonic()
    blocks = 2 * BEHIND // len(BLOCK)
    for _ in range(blocks):
        log.put(BLOCK, "out", 0.0)
    assert time.monotonic() - begin < 10
    assert said == ["the log's disk does not answer: the server goes on, and what cannot be kept is counted"]
    disk.answers.set()
    eventually(lambda: not log.behind)
    log.put(b"last\n", "out", 0.0)
    log.close()
    lines = (tmp_path / "server.log").read_bytes()
    kept = lines.count(LINE)
    missing = (blocks * 256 - kept) * len(MARKED)
    assert missing > 0
    assert f"gpulaunch {missing} bytes are missing here\n".encode() in lines
    assert lines.endswith(b" out last\n") and lines.index(b" out first\n") < lines.index(LINE)
    assert said[1:] == [f"{missing} bytes are missing in the log, which could not be written"]


def test_one_that_is_only_slow_is_waited_for(tmp_path: Path, disk: Disk) -> None:
    """A burst that is larger than what may wait, over a disk that goes on before it counts as hanging."""
    log, said = thread_of(tmp_path, hangs=30.0)
    disk.answers.clear()
    blocks = 2 * BEHIND // len(BLOCK)
    done = threading.Event()

    def burst() -> None:
        for _ in range(blocks):
            log.put(BLOCK, "out", 0.0)
        done.set()

    threading.Thread(target=burst, daemon=True).start()
    assert disk.asked.wait(10)
    assert not done.is_set()
    disk.answers.set()
    eventually(done.is_set)
    log.close()
    assert (tmp_path / "server.log").read_bytes().count(LINE) == blocks * 256
    assert said == []


def test_a_disk_that_never_answers_again_does_not_hold_up_the_end(tmp_path: Path, disk: Disk) -> None:
    log, said = thread_of(tmp_path)
    disk.answers.clear()
    log.put(LINE, "out", 0.0)
    assert disk.asked.wait(10)
    log.close(patience=0.2)
    assert said == [f"the log's disk does not answer: at least {len(MARKED)} bytes are missing in the log"]


def test_an_error_of_the_disk_is_said_once_and_written_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EIO, as of a disk that is dying; there is more of the log when it goes on."""
    fails = threading.Event()
    real_write, real_writev = os.write, os.writev

    def guarded(real: Callable[..., int]) -> Callable[..., int]:
        def write(*arguments: object) -> int:
            if fails.is_set():
                raise OSError(5, "Input/output error")
            return real(*arguments)

        return write

    log, said = thread_of(tmp_path)
    fails.set()
    monkeypatch.setattr("launcher.capture.run_log.os.write", guarded(real_write))
    monkeypatch.setattr("launcher.capture.run_log.os.writev", guarded(real_writev))
    log.put(b"lost\n", "out", 0.0)
    eventually(lambda: said)
    fails.clear()
    log.put(b"kept\n", "out", 0.0)
    log.close()
    written = (tmp_path / "server.log").read_bytes()
    assert b" out kept\n" in written and b"lost\n" not in written and b"bytes are missing here\n" in written
    assert said[0] == "the log cannot be written: Input/output error; the server goes on without it"
