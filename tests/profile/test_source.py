"""The text of one profile file."""

from __future__ import annotations

import pytest

from launcher.profile.source import LARGEST
from tests.profile.conftest import MINIMAL, Bench, told


def _bytes(bench: Bench, raw: bytes) -> str:
    (bench.work / "mine.yaml").write_bytes(raw)
    return "./mine.yaml"


def test_a_byte_order_mark_is_no_part_of_the_text(bench: Bench) -> None:
    assert bench.load(_bytes(bench, b"\xef\xbb\xbf" + MINIMAL.encode())).profile.name == "mine"


def test_line_ends_of_other_systems_are_line_ends(bench: Bench) -> None:
    reference = _bytes(bench, (MINIMAL + "description: x\nmodel: on\n").replace("\n", "\r\n").encode())
    assert told(bench.refused(reference)) == ['./mine.yaml:5: model: on may be true or text. Write true or "on".']


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (MINIMAL.encode("utf-16"), "./mine.yaml:1: This is UTF-16. Save the file as UTF-8."),
        (MINIMAL.encode() + b"model: caf\xe9\n", "./mine.yaml:4: This is not UTF-8. Save the file as UTF-8."),
        (MINIMAL.encode() + b"model: a\0b\n", "./mine.yaml:4: a control character stands here."),
        (b"", "./mine.yaml:None: there is nothing in it."),
        (b"#" * (LARGEST + 1), "./mine.yaml:None: The file is larger than 256 KiB."),
    ],
)
def test_what_is_no_plain_text_is_told_in_one_sentence(bench: Bench, raw: bytes, says: str) -> None:
    (line,) = told(bench.refused(_bytes(bench, raw)))
    assert line.startswith(says)
