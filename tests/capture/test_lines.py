"""From bytes to the lines of the log: nothing lost that is not counted, nothing unusual let through."""

from __future__ import annotations

import os
import random
import re

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from launcher.capture.lines import Lines
from launcher.capture.masker import Masker
from launcher.capture.pieces import LONGEST
from launcher.capture.plain import is_plain
from launcher.capture.repeats import runs

SECRET = b"secretvalue1"


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


REPEATED = [
    b"same\n", b"other\n", b"\n", b" \n", b"\r\n", b"crlf\r\n", b"over\r", b"\x1b[31mred\x1b[0m\n", b"nul\x00\n",
    b"Loading:  50%|#####     | 5/10\n", b"Loading:  50%|#####     | 5/10\r", b"50 %\n", b"--api-key secretvalue1\n",
    b"x" * LONGEST + b"y\n", "\u00fc\n".encode(), b"last line repeated 3 times\n",
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(REPEATED), st.sampled_from([1, 2, 3, 4, 50, 2000])), max_size=6))
def test_long_runs_are_counted_at_once_exactly_as_line_by_line(parts: list[tuple[bytes, int]]) -> None:
    raw = b"".join(line * (min(count, 4) if len(line) > 100 else count) for line, count in parts)
    assert through(raw) == through(*raw.splitlines(keepends=True))


def test_a_run_is_found_and_left_out() -> None:
    numbers = b"".join(b"%d\n" % number for number in range(1500))
    raw = numbers + b"y\n" * 100_000 + numbers
    parts = list(runs(raw))
    assert [times for _, times in parts if times] and sum(len(part) for part, _ in parts) < 2 * len(numbers) + 10_000
    assert b"".join(part + part[part.rfind(b"\n", 0, -1) + 1 :] * times for part, times in parts) == raw


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


# Lines of which a test makes many: what hypothesis finds, and what is known to be awkward.
LINES = st.lists(
    st.one_of(
        st.binary(max_size=200),
        st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.sampled_from(
            [b"", b"\r", b"\x1b[31mred", b"\x1b]8;;", b"\x00", b"x" * 20_000, b"a 50%|#| 1/2", b"a 60%|#| 2/2", SECRET]
        ),
    ),
    min_size=1,
    max_size=50,
)


@settings(max_examples=20)
@given(LINES, st.integers(0, 1 << 32))
def test_lines_of_any_bytes_never_break_it(lines: list[bytes], order: int) -> None:
    put_through(lines, random.Random(order), most=1000)


@pytest.mark.stress
def test_a_million_lines_of_any_bytes_never_break_it() -> None:
    """GPULAUNCH_STRESS_SEED, which the test prints, repeats it."""
    chosen = int(os.environ.get("GPULAUNCH_STRESS_SEED", random.randrange(1 << 32)))
    print(f"GPULAUNCH_STRESS_SEED={chosen}")

    @seed(chosen)
    @settings(max_examples=100, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(LINES, st.integers(0, 1 << 32))
    def many(lines: list[bytes], order: int) -> None:
        put_through(lines, random.Random(order), most=10_000)

    many()


def put_through(lines: list[bytes], chance: random.Random, most: int) -> None:
    """So many of these lines, in any order, in reads of any size, to what the log's file gets."""
    masker = Masker([SECRET.decode()])
    made = Lines(masker)
    raw, at = b"\n".join(chance.choices(lines, k=most)) + b"\n", 0
    while at < len(raw):
        end = at + chance.choice([1, 5_000, 1 << 16, 1 << 18])
        check(made.feed(masker.feed(raw[at:end])))
        at = end
    check(made.feed(masker.flush(final=True)) + made.settle())


def check(block: bytes) -> None:
    """Whole plain lines of bounded length."""
    assert not block or block.endswith(b"\n")
    assert is_plain(block)
    assert SECRET not in block
    assert all(len(line) <= LONGEST for line in block.split(b"\n"))
