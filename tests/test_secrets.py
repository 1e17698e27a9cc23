"""What is a secret, and how it is kept out of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.secrets import is_secret_name, mask, mask_urls


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("HF_TOKEN", True), ("HUGGING_FACE_HUB_TOKEN", True), ("API_KEY", True), ("APIKEY", True), ("--api-key", True),
        ("DB_PASS", True), ("PGPASSWORD", True), ("AWS_CREDENTIALS", True), ("--hf-token", True), ("MONKEY", True),
        ("PASSAGE", False), ("TOKENIZERS_PARALLELISM", False), ("KEYBOARD", False), ("PATH", False),
        ("--max-tokens", False),
    ],
)  # fmt: skip
def test_names_of_secrets(name: str, secret: bool) -> None:
    assert is_secret_name(name) == secret


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:word@proxy:3128", "http://***@proxy:3128"),
        ("see https://a@b/c and redis://:pw@d", "see https://***@b/c and redis://***@d"),
        ("http://host/a@b", "http://host/a@b"),
        ("mail me@host", "mail me@host"),
    ],
)
def test_the_user_part_of_a_url_is_one(text: str, shown: str) -> None:
    assert mask_urls(text) == shown


def test_a_long_run_of_letters_is_looked_at_once() -> None:
    """A text that was looked at from each of its letters would take minutes here."""
    text = "x" * 800_000
    assert mask(text, ["a-secret-of-mine"]) == text


@given(st.text(max_size=30), st.text(min_size=8, max_size=20), st.text(max_size=30))
def test_a_long_value_is_masked_wherever_it_stands(before: str, value: str, after: str) -> None:
    assert value not in mask(f"{before}{value}{after}", [value]) or value in "***"
