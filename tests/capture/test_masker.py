"""Secrets are masked in the stream, also where one is split over two reads."""

from __future__ import annotations

import itertools
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.capture.masker import LONGEST, Masker, spellings

SECRET = "sk-0123456789abcdef"
PROSE = "a value with blanks in it"  # which no shape betrays


def through(masker: Masker, *chunks: bytes) -> bytes:
    """What comes out for chunks that come in."""
    return b"".join(masker.feed(chunk) for chunk in chunks) + masker.flush(final=True)


def test_a_secret_is_masked() -> None:
    assert through(Masker([SECRET]), b"key=" + SECRET.encode() + b"\n") == b"key=***\n"


def test_without_secrets_a_line_is_neither_held_nor_changed() -> None:
    masker = Masker([])
    assert masker.feed(b"abc\n") == b"abc\n"
    assert not masker.holds


def test_a_short_value_is_left_alone_for_it_would_eat_the_log() -> None:
    assert through(Masker(["true"]), b"is it true?") == b"is it true?"


def test_what_only_looks_like_the_beginning_is_shown_in_the_end() -> None:
    masker = Masker([SECRET])
    assert masker.feed(b"sk-01") == b""
    assert masker.holds
    assert masker.feed(b"99\n") == b"sk-0199\n"


@given(
    text=st.lists(st.sampled_from([b"sk-0", b"sk-", b"x", b"\n", SECRET.encode(), b"\xff\x00"]), max_size=12),
    cuts=st.lists(st.integers(0, 200), max_size=12),
)
def test_wherever_the_reads_are_cut_the_result_is_that_of_one_read(text: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(text)
    edges = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
    pieces = [whole[begin:end] for begin, end in itertools.pairwise(edges)]
    assert through(Masker([SECRET]), *pieces) == whole.replace(SECRET.encode(), b"***")


MANY_LINES = ["line1secret\nline2secret", "abc\rdefghijkl", "tok\r\nentail12\r\n"]


@pytest.mark.parametrize("value", MANY_LINES)
@given(
    text=st.lists(st.sampled_from([b"value", b"x", b"\n", b"\r", b"line1secret", b"tok\r\n"]), max_size=8),
    cuts=st.dictionaries(st.integers(0, 120), st.booleans(), max_size=12),
)
def test_a_secret_of_several_lines_is_masked_wherever_reads_and_pauses_are(
    value: str, text: list[bytes], cuts: dict[int, bool]
) -> None:
    """Also one that no line end follows: `printf %s "$KEY"`, or a read that ends before it."""
    whole = b"".join(value.encode() if part == b"value" else part for part in text)
    masker, shown = Masker([value]), b""
    edges = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
    for begin, end in itertools.pairwise(edges):
        shown += masker.feed(whole[begin:end])
        shown += masker.flush() if cuts.get(end) else b""
    shown += masker.flush(final=True)
    bare = re.sub(b"|".join(map(re.escape, spellings([value]))), b"***", whole)
    # At the very end even the beginning of a value is masked, as no more of it can come.
    assert shown == bare or (shown.endswith(b"***") and bare.startswith(shown[:-3]))


@pytest.mark.parametrize("around", ["\n", "\r\n", " ", "\t", "\n\n"])
def test_what_stands_around_a_value_is_neither_needed_nor_eaten(around: str) -> None:
    """A token that was read from a file with its line end, and is stripped before it is used."""
    for value in (f"{PROSE}{around}", f"{around}{PROSE}"):
        assert through(Masker([value]), f"with {PROSE}\nand {PROSE}\n".encode()) == b"with ***\nand ***\n"


def test_each_line_of_a_value_is_one_for_itself_however_it_is_indented() -> None:
    key = "-----BEGIN KEY-----\nfirst-part-of-it\nlast-part-of-it\n-----END KEY-----\n"
    shown = through(Masker([key]), key.replace("\n", "\r\n").encode() + b"  " + key.replace("\n", "\n  ").encode())
    assert b"part" not in shown and shown.count(b"\n") == 8


NESTED = ["token-0123", "token-0123-4567", "0123-4567-89ab"]


@given(
    text=st.lists(st.sampled_from(["token-0123", "-4567", "-89ab", "0123", "x"]), max_size=5),
    cuts=st.lists(st.integers(0, 50), max_size=12),
)
def test_secrets_that_begin_or_end_alike_are_masked_as_in_one_read(text: list[str], cuts: list[int]) -> None:
    """A longer secret must not lose its mask because a shorter one was complete at the end of a read."""
    whole = "".join(text).encode() + b" end\n"
    edges = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
    pieces = [whole[begin:end] for begin, end in itertools.pairwise(edges)]
    longest_first = re.compile("|".join(re.escape(value) for value in sorted(NESTED, key=len, reverse=True)).encode())
    assert through(Masker(NESTED), *pieces) == longest_first.sub(b"***", whole)


def test_a_whole_secret_whose_end_may_begin_another_is_masked_after_a_pause_and_at_the_end() -> None:
    """Cut in two between them, neither would be recognised when the rest turns out to be something else."""
    masker = Masker(NESTED)
    shown = masker.feed(b"token-0123-4567") + masker.flush()
    assert shown + masker.feed(b" end\n") == b"*** end\n"
    assert through(Masker(NESTED), b"token-0123-4567") == b"***"


def test_a_whole_secret_that_may_be_the_beginning_of_a_longer_one_is_masked_when_nothing_follows() -> None:
    masker = Masker(NESTED)
    assert masker.feed(b"token-0123") == b""
    assert masker.flush() == b""  # the rest may come after a pause
    assert masker.flush(final=True) == b"***"


@given(st.binary(max_size=300), st.integers(1, 40))
def test_any_bytes_pass_unchanged_where_no_secret_is_in_them(data: bytes, size: int) -> None:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert through(Masker([SECRET]), *pieces) == data.replace(SECRET.encode(), b"***")


def test_a_secret_that_is_no_utf8_is_masked_as_the_bytes_that_it_is() -> None:
    assert through(Masker(["\udcff\udcfeabcdefghij"]), b"x\xff\xfeabcdefghijx") == b"x***x"


@pytest.mark.parametrize("at", range(1, len(SECRET)))
def test_a_pause_within_a_secret_shows_nothing_of_it(at: int) -> None:
    """Two writes, seconds apart: what waits is shown in between, as a prompt must be."""
    masker, secret = Masker([SECRET]), SECRET.encode()
    shown = masker.feed(b"key " + secret[:at]) + masker.flush()
    shown += masker.feed(secret[at:] + b" is it\n") + masker.flush(final=True)
    assert shown == b"key *** is it\n"


def test_many_pauses_within_a_secret_show_nothing_of_it() -> None:
    masker = Masker([SECRET])
    shown = b"".join(masker.feed(bytes([byte])) + masker.flush() for byte in b"key " + SECRET.encode() + b" is it\n")
    assert shown + masker.flush(final=True) == b"key *** is it\n"


@pytest.mark.parametrize("at", range(1, len(PROSE)))
def test_a_secret_in_an_endless_line_is_masked_where_that_has_to_be_shown_before_its_end(at: int) -> None:
    value = PROSE.encode()
    shown = through(Masker([PROSE]), b"x" * LONGEST + value[:at], value[at:] + b" y\n")
    assert shown == b"x" * LONGEST + b"*** y\n"


def test_a_secret_that_was_cut_short_by_the_end_is_masked() -> None:
    assert through(Masker([PROSE]), PROSE[:-1].encode()) == b"***"
    assert through(Masker([PROSE]), PROSE[:7].encode()) == PROSE[:7].encode()  # too little to betray anything


AWKWARD = 'pass"word\\with/every thing&\u00fc'


@pytest.mark.parametrize(
    "shown",
    [AWKWARD, json.dumps({"key": AWKWARD}), json.dumps(AWKWARD, ensure_ascii=False), repr([AWKWARD]), quote(AWKWARD),
     quote(AWKWARD, safe=""), quote(AWKWARD, safe="").lower(), quote_plus(AWKWARD)],
)  # fmt: skip
def test_a_known_value_is_masked_in_every_spelling(shown: str) -> None:
    masked = through(Masker([AWKWARD]), f"it is {shown}.\n".encode())
    assert b"word" not in masked
    assert b"thing" not in masked
    assert masked.startswith(b"it is ")


def test_a_secret_of_two_lines_is_masked_though_the_lines_come_alone() -> None:
    assert through(Masker(["first line\nsecond line"]), b"a first line\n", b"second line b\n") == b"a *** b\n"


def test_a_coloured_secret_is_masked() -> None:
    coloured = b"\x1b[1m" + SECRET[:5].encode() + b"\x1b[0;32m" + SECRET[5:].encode() + b"\x1b[0m\n"
    assert through(Masker([SECRET]), coloured) == b"\x1b[1m***\x1b[0m\n"


def test_an_endless_line_is_not_held_for_ever() -> None:
    masker = Masker([])
    shown = b"".join(masker.feed(b"x" * 1000) for _ in range(1000))
    assert len(shown) > 900_000
    assert shown + masker.flush(final=True) == b"x" * 1_000_000
