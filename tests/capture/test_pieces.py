"""The stream is cut at line ends, wherever the reads are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from launcher.capture.pieces import LONGEST, Piece, Splitter, split_long

WORDS = st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\r\n", b" ", b"\xc3\xbc"]), max_size=40)


def split(*chunks: bytes) -> list[Piece]:
    splitter = Splitter()
    return [piece for chunk in chunks for piece in splitter.feed(chunk)] + list(splitter.flush())


def test_a_line_feed_ends_a_line_also_after_carriage_returns() -> None:
    assert split(b"one\ntwo\r\nthree\r\r\n\nfour") == [Piece(t) for t in (b"one", b"two", b"three", b"", b"four")]


def test_a_carriage_return_before_anything_else_begins_to_write_over_it() -> None:
    assert split(b" 10%\r 20%\rdone\n") == [Piece(b" 10%", True), Piece(b" 20%", True), Piece(b"done")]


def test_a_carriage_return_at_the_end_of_a_read_waits_for_what_follows() -> None:
    assert split(b"one\r", b"\ntwo\r", b"three\n") == [Piece(b"one"), Piece(b"two", True), Piece(b"three")]


@given(WORDS, st.lists(st.integers(0, 80), max_size=6))
def test_the_cuts_of_the_reads_do_not_matter(words: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(words)
    edges = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    chunks = [whole[begin:end] for begin, end in pairwise(edges)]
    assert split(*chunks) == split(whole)
    assert b"".join(piece.text for piece in split(whole)) == whole.replace(b"\r", b"").replace(b"\n", b"")


@given(st.text(st.sampled_from("aü€😀"), min_size=0, max_size=3), st.integers(LONGEST - 5, LONGEST + 5))
def test_a_long_line_is_cut_between_characters(tail: str, size: int) -> None:
    line = b"x" * size + (tail * 20).encode()
    parts = split_long(line)
    assert b"".join(parts) == line
    assert all(0 < len(part) <= LONGEST for part in parts)
    assert all(part.decode() or True for part in parts)


def test_an_endless_line_comes_out_in_parts_while_it_goes_on() -> None:
    splitter = Splitter()
    got = [piece.text for _ in range(100) for piece in splitter.feed("ü".encode() * 1000)]
    assert len(got) > 10
    assert {len(part) for part in got} == {LONGEST}
    assert len(splitter.rest) <= LONGEST
    assert "".join(part.decode() for part in (*got, splitter.rest)) == "ü" * 100_000
