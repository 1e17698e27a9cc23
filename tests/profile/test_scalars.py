"""What an unquoted scalar means."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.profile.scalars import Ambiguous, Number, json_spelling, read_plain


@pytest.mark.parametrize(
    ("text", "offers"),
    [
        *((word, f'true or "{word}"') for word in ("on", "On", "ON", "yes", "Yes", "YES", "y", "Y")),
        *((word, f'false or "{word}"') for word in ("off", "Off", "OFF", "no", "No", "NO", "n", "N")),
        ("~", 'null or "~"'),
        ("", 'null or ""'),
        ("010", '8 or 10 or "010"'),
        ("-010", '-8 or -10 or "-010"'),
        ("089", '89 or "089"'),
        ("00", '0 or "00"'),
        ("01.5", '1.5 or "01.5"'),
        ("0o10", '8 or "0o10"'),
        ("0x1F", '31 or "0x1F"'),
        ("-0x10", '-16 or "-0x10"'),
        ("0b101", '5 or "0b101"'),
        ("1_000", '1000 or "1_000"'),
        ("1_000.5", '1000.5 or "1_000.5"'),
        ("1_0e5", '"1_0e5"'),
        (".inf", 'inf or ".inf"'),
        ("-.INF", '-inf or "-.INF"'),
        (".NaN", 'nan or ".NaN"'),
        ("12:30:45", '45045 or "12:30:45"'),
        ("1:30", '90 or "1:30"'),
        ("1:30.5", '90.5 or "1:30.5"'),
        ("2024-02-01", '"2024-02-01"'),
        ("2024-02-01T10:00:00Z", '"2024-02-01T10:00:00Z"'),
        ("2024-2-1 10:00:00", '"2024-2-1 10:00:00"'),
    ],
)
def test_what_yaml_versions_read_differently_is_refused_with_every_spelling(text: str, offers: str) -> None:
    value = read_plain(text)
    assert isinstance(value, Ambiguous)
    assert value.offered() == offers


@pytest.mark.parametrize(
    "text", ["0", "8", "-1", "+1", "3.10", "1e-5", "1E5", "1.", ".5", "-.5e3", "12.0", "0.10", "0e1"]
)
def test_other_numbers_keep_their_spelling(text: str) -> None:
    value = read_plain(text)
    assert isinstance(value, Number)
    assert value == text


@pytest.mark.parametrize(
    "text",
    [
        "SYS", "auto", "127.0.0.1", "1.2.3", "0bad", "0beef", "0o89", "0x", "1e", "8000:8000", "192.0.2.53:5000",
        "node", "none", "nope", "onwards", "org/model-7b", "64MiB", "128k", "inf", "::1", "-", "tRUE",
        "2024-02-01-preview", "1_000_steps", "<<",
    ],
)  # fmt: skip
def test_text_is_text(text: str) -> None:
    value = read_plain(text)
    assert value == text
    assert not isinstance(value, Number)


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("True", True), ("FALSE", False), ("null", None), ("Null", None)]
)
def test_true_false_and_null_are_words(text: str, value: bool | None) -> None:
    assert read_plain(text) is value


@given(st.from_regex(r"[-+]?[0-9_.:xob]{1,12}(?:[eE][-+]?[0-9_]{1,3})?", fullmatch=True) | st.text(max_size=12))
def test_any_text_is_read_or_refused_with_an_offer_that_is_read(text: str) -> None:
    value = read_plain(text)
    if isinstance(value, Ambiguous):
        assert value.offers
        assert not any(isinstance(read_plain(offer), Ambiguous) for offer in value.offers)
    elif isinstance(value, str):
        assert value == text


@given(st.from_regex(r"[-+]?(?:[0-9]{1,4}\.?[0-9]{0,3}|\.[0-9]{1,3})(?:[eE][-+]?[0-9]{1,2})?", fullmatch=True))
def test_a_number_for_json_is_one_and_has_the_same_value(text: str) -> None:
    value = read_plain(text)
    if isinstance(value, Number):
        spelling = json_spelling(value) or str(value)
        assert float(json.loads(spelling)) == float(value)
