"""A line in the log is text that cannot move a cursor, ring a bell or end a file early."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.capture.plain import is_plain, plain


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (b"\x1b[1;31mred\x1b[0m", b"red"),
        (b"\x1b[38;2;1;2;3mtrue colour\x1b[m", b"true colour"),
        (b"\x1b[2K\x1b[1A up", b" up"),
        (b"\x1b]8;;https://host/\x1b\\link\x1b]8;;\x1b\\", b"link"),
        (b"\x1b]0;title\x07text", b"text"),
        (b"\x1b(Bcharset\x1b)0", b"charset"),
        (b"\x1bPdevice\x1b\\text", b"text"),
        (b"cut \x1b[3", b"cut [3"),
        (b"nul \x00 end", b"nul \\x00 end"),
        (b"bell\x07 back\x08", b"bell\\x07 back\\x08"),
        (b"bad \xff\xc3", b"bad \\xff\\xc3"),
        ("tab\tand ü € 😀 █".encode(), "tab\tand ü € 😀 █".encode()),
        ("c1 \x9b31m".encode(), b"c1 \\x9b31m"),
    ],
)
def test_what_is_kept(raw: bytes, kept: bytes) -> None:
    assert plain(raw) == kept


@given(st.binary(max_size=200).map(lambda raw: raw.replace(b"\n", b"")))
def test_whatever_comes_the_result_is_plain_text_of_one_line(raw: bytes) -> None:
    once = plain(raw)
    assert is_plain(once)
    assert plain(once) == once


@given(st.binary(max_size=200).map(lambda raw: raw.replace(b"\n", b"")))
def test_what_is_called_plain_is_left_as_it_is(raw: bytes) -> None:
    assert not is_plain(raw) or plain(raw) == raw
