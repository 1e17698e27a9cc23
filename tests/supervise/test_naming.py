"""How processes are named to people: also somebody else's command line may hold a key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.supervise.naming import LONGEST, shown


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["python", "-m", "x", "--api-key", "sk-1", "--port", "1"], "python -m x --api-key *** --port 1"),
        (["serve", "--api-key", "sk-1", "sk-2", "--x"], "serve --api-key *** *** --x"),
        (["serve", "--hf-token=hf_1", "http://me:word@host/"], "serve --hf-token=*** http://***@host/"),
        (["a\nb\x1b[31m"], "a b [31m"),
        ([], ""),
    ],
)
def test_a_command_line_is_shown_without_its_secrets(words: list[str], line: str) -> None:
    assert shown(words) == line


@given(st.lists(st.text(max_size=60), max_size=20))
def test_whatever_the_words_are_it_is_one_short_printable_line(words: list[str]) -> None:
    line = shown(words)
    assert len(line) <= LONGEST
    assert line.isprintable()
