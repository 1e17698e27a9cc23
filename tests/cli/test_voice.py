"""Our own words never make the supervisor wait and never fail, whatever became of the terminal."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

import pytest

from launcher.cli.voice import Voice
from tests.helpers import eventually


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):
            os.close(end)


def fill(write: int) -> int:
    """Writes until the pipe takes no more; how many bytes that were."""
    os.set_blocking(write, False)
    written = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            written += os.write(write, b"x" * 4096)
    os.set_blocking(write, True)
    return written


def at_once(voice: Voice, text: str) -> None:
    """Says it in a thread of its own, so that a voice that waits fails its test instead of stopping it."""
    speaker = threading.Thread(target=voice.say, args=(text,), daemon=True)
    speaker.start()
    speaker.join(timeout=5)
    assert not speaker.is_alive()


def drain(read: int, count: int) -> bytes:
    found = b""
    while len(found) < count:
        found += os.read(read, count - len(found))
    return found


def test_what_a_terminal_takes_is_written_at_once_and_without_a_thread(pipe: tuple[int, int]) -> None:
    read, write = pipe
    before = threading.active_count()
    Voice(write).say("one\n")
    assert os.read(read, 100) == b"one\n"
    assert threading.active_count() == before


def test_a_terminal_that_does_not_read_keeps_nobody_waiting_and_gets_all_of_it_later(pipe: tuple[int, int]) -> None:
    read, write = pipe
    stuffed = fill(write)
    voice = Voice(write)
    for number in range(3):
        at_once(voice, f"line {number}\n")
    assert drain(read, stuffed) == b"x" * stuffed
    voice.close(patience=10)
    assert os.read(read, 100) == b"line 0\nline 1\nline 2\n"


def test_a_terminal_that_never_reads_is_given_up_after_the_patience(pipe: tuple[int, int]) -> None:
    read, write = pipe
    stuffed = fill(write)
    voice = Voice(write)
    at_once(voice, "lost\n")
    voice.close(patience=0.05)
    drain(read, stuffed)  # lets the thread end
    eventually(lambda: not any(thread.name == "voice" for thread in threading.enumerate()))


def test_a_closed_pane_is_no_error(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.close(read)
    Voice(write).say("nobody hears this\n")
    os.close(write)
    Voice(write).say("nor this\n")


def test_bytes_that_are_no_utf8_are_written_as_they_came(pipe: tuple[int, int]) -> None:
    read, write = pipe
    Voice(write).say("a\udcffb")
    assert os.read(read, 10) == b"a\xffb"
