"""Our own streams: whoever reads them may be slow, paused or gone. And what is typed into a real terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import termios
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from launcher.capture.terminal import Terminal, is_null_device
from tests.helpers import eventually, no_file_larger_than
from tests.hostiles import health
from tests.launching import Launch

MEBIBYTE = 1 << 20


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):
            os.close(end)


def read_all(descriptor: int) -> int:
    """How many bytes there are to read now."""
    count = 0
    while select.select([descriptor], [], [], 0.2)[0]:
        count += len(os.read(descriptor, MEBIBYTE))
    return count


def test_a_reader_that_catches_up_is_told_what_it_was_not_shown(pipe: tuple[int, int]) -> None:
    read, write = pipe
    said: list[str] = []
    terminal = Terminal(write, "standard output", said.append)
    for _ in range(70):
        terminal.put(b"x" * MEBIBYTE)
    shown = read_all(read)
    assert 0 < shown < 70 * MEBIBYTE
    (sentence,) = eventually(lambda: said)
    assert sentence.startswith(f"{70 * MEBIBYTE - shown} bytes were not shown on standard output")


def test_the_end_waits_for_a_reader_that_still_reads(pipe: tuple[int, int]) -> None:
    read, write = pipe
    said: list[str] = []
    terminal = Terminal(write, "standard output", said.append)
    terminal.put(b"x" * 8 * MEBIBYTE)
    counted: list[int] = []
    reader = threading.Thread(target=lambda: counted.append(read_all(read)))
    reader.start()
    terminal.close(time.monotonic() + 60)
    reader.join()
    assert (counted, said) == ([8 * MEBIBYTE], [])


def test_the_end_does_not_wait_for_a_reader_that_sleeps_and_says_what_it_missed(pipe: tuple[int, int]) -> None:
    read, write = pipe
    said: list[str] = []
    terminal = Terminal(write, "standard error", said.append)
    terminal.put(b"x" * MEBIBYTE)
    terminal.close(time.monotonic() + 60)
    (sentence,) = said
    missed = int(sentence.split()[0])
    assert 0 < missed < MEBIBYTE
    assert read_all(read) >= MEBIBYTE - missed


def test_a_file_on_a_full_disk_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    said: list[str] = []
    with (tmp_path / "shown").open("wb") as file:
        terminal = Terminal(file.fileno(), "standard output", said.append)
        with no_file_larger_than(4096):
            for _ in range(3):
                terminal.put(b"x" * 4096)
            eventually(lambda: terminal._full)
            assert said == [], "not with every chunk"
        terminal.put(b"y")
        terminal.close(time.monotonic() + 10)
    shown = (tmp_path / "shown").read_bytes()
    assert shown.startswith(b"x" * 4096) and shown.endswith(b"y")
    lost = 3 * 4096 + 1 - len(shown)
    assert said == [f"{lost} bytes were not shown on standard output, which did not take them; the log has them"]


@pytest.mark.parametrize(("device", "null"), [(os.devnull, True), ("/dev/zero", False)])
def test_only_the_null_device_counts_as_gone_from_the_start(device: str, null: bool) -> None:
    """/dev/zero takes everything, too, but who gave us that wanted it written."""
    with Path(device).open("wb") as file:
        assert is_null_device(file.fileno()) == null


def test_a_reader_that_is_gone_costs_nothing(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.close(read)
    said: list[str] = []
    terminal = Terminal(write, "standard output", said.append)
    terminal.put(b"x" * MEBIBYTE)
    terminal.close(time.monotonic() + 60)
    assert said == []


# ---------------------------------------------------------------------------------------------------------------------
# A real terminal


@dataclass
class Screen:
    """gpulaunch in the foreground of a terminal of its own. `ours` is what a terminal emulator holds."""

    launch: Launch
    ours: int
    theirs: int
    shown: bytearray = field(default_factory=bytearray)

    def type(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def until(self, words: bytes) -> None:
        """Reads until it has shown these words."""
        eventually(lambda: self._read() and words in self.shown, within=40, what=f"{words!r} in {bytes(self.shown)!r}")

    def end(self) -> int:
        """The exit code, while somebody reads."""
        process = self.launch.process
        assert process is not None
        eventually(lambda: (self._read(), process.poll())[1] is not None, within=40, what="gpulaunch has ended")
        return self.launch.wait()

    def _read(self) -> bool:
        if select.select([self.ours], [], [], 0)[0]:
            with contextlib.suppress(OSError):
                self.shown += os.read(self.ours, MEBIBYTE)
        return True


@pytest.fixture
def screen(launch: Launch) -> Iterator[Screen]:
    """A launch on a terminal, not yet started: `start_on` it."""
    ours, theirs = os.openpty()
    yield Screen(launch, ours, theirs)
    for end in (ours, theirs):
        with contextlib.suppress(OSError):
            os.close(end)


def start_on(screen: Screen) -> Screen:
    """Starts the launch, whose profile must be there, as the terminal's foreground."""
    launch, theirs = screen.launch, screen.theirs
    launch.process = launch.corral.spawn(
        launch.command(), stdin=theirs, stdout=theirs, stderr=theirs, cwd=launch.folder, env=launch.environ,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(theirs)
    return screen


@pytest.mark.parametrize(("key", "code"), [(b"\x03", 128 + signal.SIGINT), (b"\x1c", 128 + signal.SIGQUIT)])
def test_a_key_that_ends_a_program_ends_the_server_with_its_code(screen: Screen, key: bytes, code: int) -> None:
    term_log = screen.launch.folder / "terms"
    screen.launch.profile("--term-log", term_log)
    start_on(screen).until(b"ready: http")
    screen.type(key)
    assert screen.end() == code
    assert b"the terminal: stopping" in screen.shown
    assert term_log.read_text().split()[::2] == ["SIGTERM"], "the key itself must not reach the server"


def test_ctrl_c_twice_ends_a_server_that_does_not_want_to(screen: Screen) -> None:
    screen.launch.profile("--ignore-term")
    start_on(screen).until(b"ready: http")
    screen.type(b"\x03")
    screen.until(b"stopping")
    screen.type(b"\x03")
    assert screen.end() == 130
    assert screen.launch.corral.survivors() == []


def test_a_terminal_that_is_closed_ends_the_server(screen: Screen) -> None:
    """vllm-project/vllm#18122 (R093): the shell is gone, the workers keep their memory."""
    screen.launch.profile("--worker", "--double-fork")
    start_on(screen).until(b"ready: http")
    os.close(screen.ours)
    assert screen.launch.wait() == 128 + signal.SIGHUP
    assert screen.launch.corral.survivors() == []


def test_ctrl_z_is_answered_and_stops_nobody(screen: Screen) -> None:
    screen.launch.profile()
    start_on(screen).until(b"ready: http")
    screen.type(b"\x1a")
    screen.until(b"Ctrl-Z")
    assert health(screen.launch.port) == 200
    screen.type(b"\x03")
    assert screen.end() == 130


def test_ctrl_s_pauses_the_terminal_and_not_the_server(screen: Screen) -> None:
    done, go = screen.launch.folder / "digest", screen.launch.folder / "go"
    screen.launch.profile("--say", "begins", "--spam", 5_000_000, "--spam-digest", done, "--ready-after-file", go)
    start_on(screen)
    screen.type(b"\x13")
    eventually(done.exists, within=40, what="the server has written everything")
    go.touch()
    screen.launch.signal(signal.SIGTERM)
    assert screen.launch.wait() == 0
    assert len(screen.launch.log) == len(b"begins\n") + 5_000_000
