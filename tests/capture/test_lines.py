"""From bytes to the lines of the log: nothing lost that is not counted, nothing unusual let through."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from launcher.capture.lines import Lines
from launcher.capture.masker import Masker
from launcher.capture.pieces import LONGEST
from launcher.capture.plain import is_plain


def through(*chunks: bytes) -> bytes:
    lines = Lines(Masker([]))
    return b"".join(lines.feed(chunk) for chunk in chunks) + lines.settle()


def expanded(log: bytes) -> list[bytes]:
    """The lines with those that were only counted."""
    every: list[bytes] = []
    for line in log.split(b"\n")[:-1]:
        count = re.fullmatch(rb"last line repeated (\d+) times", line)
        every += [every[-1]] * int(count[1]) if count else [line]
    return every


def test_repetitions_are_counted() -> None:
    assert through(b"same\n" * 812 + b"other\n") == b"same\nlast line repeated 811 times\nother\n"


def test_a_few_repetitions_stay_as_they_are() -> None:
    assert through(b"same\n" * 3) == b"same\n" * 3


def test_lines_that_differ_in_a_number_are_all_kept() -> None:
    """They may be measurements."""
    raw = b"".join(b"request %d done\n" % number for number in range(5000))
    assert through(raw) == raw


def test_a_long_run_of_repetitions_in_a_flood_is_counted() -> None:
    flood = b"".join(b"%09d %s\n" % (number, b"x" * 100) for number in range(600))
    raw = flood + b"waiting for the lock\n" * 1000 + flood.replace(b"x", b"y")
    log = through(raw)
    assert b"last line repeated 999 times" in log
    assert expanded(log) == raw.split(b"\n")[:-1]


def test_a_repetition_that_begins_where_a_large_chunk_ended_is_counted() -> None:
    flood = b"".join(b"%09d %s\n" % (number, b"x" * 100) for number in range(600))
    last = flood.split(b"\n")[-2] + b"\n"
    assert through(flood, last * 5) == flood + b"last line repeated 5 times\n"


def test_a_large_ordinary_chunk_passes_as_it_is() -> None:
    raw = "".join(f"{number:09d} line with ü and 50% and {'x' * 90}\n" for number in range(2000)).encode()
    assert through(raw) == raw


@given(
    st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"x" * 60 + b"\n", "ü\n".encode(), b"c"]), max_size=60),
    st.integers(1, 9),
)
def test_counted_lines_and_kept_lines_are_all_lines(parts: list[bytes], size: int) -> None:
    raw = b"".join(parts) + b"end\n"
    chunks = [raw[at : at + size] for at in range(0, len(raw), size)]
    assert expanded(through(*chunks)) == raw.split(b"\n")[:-1]
    assert through(*chunks) == through(raw)


HOSTILE = st.lists(
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from(
            [b"\n", b"\r", b"\r\n", b"\x1b[31m", b"\x1b]8;;", b"\x00", b"\xf0\x9f", b" 50%|#| 1/2", b"x" * 40_000]
        ),
    ),
    max_size=40,
)


@given(HOSTILE)
def test_whatever_comes_whole_plain_lines_of_bounded_length_go_out(parts: list[bytes]) -> None:
    log = through(*parts)
    assert not log or log.endswith(b"\n")
    assert is_plain(log)
    # An escaped byte takes four in the log, and a line is cut before it is made plain.
    assert all(len(line) <= LONGEST for line in log.split(b"\n"))


def test_a_million_lines_of_random_bytes_never_break_it() -> None:
    chance = random.Random(4)
    lines, count = Lines(Masker(["secretvalue1"])), 0
    while count < 1_000_000:
        chunk = chance.randbytes(1 << 16).replace(b"\x1b\x1b", b"\x1b[") + b"\n" * 20_000
        count += chunk.count(b"\n")
        log = lines.feed(chunk)
        assert not log or log.endswith(b"\n")
    assert is_plain(log)
