"""Every known failure text finds its own examples, and none is found in what engines say when all is well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from launcher.causes.classes import HEALS, Failure
from launcher.causes.recognising import Recogniser
from launcher.causes.signatures import BadSignatures, Signature, parse, signatures

ORDINARY = sorted((Path(__file__).parent / "ordinary").glob("*.log"))
EXAMPLES = [(signature, example) for signature in signatures() for example in signature.examples]


@pytest.mark.parametrize(("signature", "example"), EXAMPLES, ids=lambda value: getattr(value, "code", None))
def test_a_text_is_recognised_by_its_own_code(signature: Signature, example: str) -> None:
    recogniser = Recogniser()
    recogniser.feed(f"an ordinary line\n{example}\nanother one\n")
    found = recogniser.first()
    assert found is not None
    assert (found.code, found.line) == (signature.code, example.strip())
    assert "{" not in found.cause.replace("{}", "") or "{" in example


@pytest.mark.parametrize("log", ORDINARY, ids=lambda path: path.stem)
def test_ordinary_output_is_no_failure(log: Path) -> None:
    recogniser = Recogniser()
    recogniser.feed(log.read_text())
    assert recogniser.first() is None
    assert recogniser.first_exception is None


@pytest.mark.parametrize("log", ORDINARY, ids=lambda path: path.stem)
def test_the_same_output_with_one_failure_in_it_is_one(log: Path) -> None:
    """The control: the corpus would show it."""
    recogniser = Recogniser()
    recogniser.feed(log.read_text() + "OSError: [Errno 98] Address already in use\n")
    found = recogniser.first()
    assert found is not None and found.failure is Failure.PORT


def test_there_are_many_and_each_says_where_it_comes_from() -> None:
    assert len(signatures()) >= 100
    assert all(signature.source and signature.examples for signature in signatures())


def test_causes_are_phrases_and_fixes_are_sentences() -> None:
    for signature in signatures():
        assert not signature.cause.endswith("."), signature.code
        assert signature.fix.endswith("."), signature.code


def test_what_cannot_heal_is_not_tried_again() -> None:
    assert not HEALS & {Failure.FLAG, Failure.TOOLKIT, Failure.MODEL, Failure.ACCESS, Failure.LIBRARY, Failure.DRIVER}
    assert {Failure.PORT, Failure.NETWORK, Failure.CRASH, Failure.DEVICE_MEMORY} <= HEALS


GOOD = {
    "code": "x", "text": "an error", "cause": "c", "fix": "F.", "class": "flag", "source": "s",
    "examples": ["an error"],
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"class": "weather"},
        {"kind": "branch"},
        {"cause": "{nobody} knows"},
        {"pattern": "("},
        {"examples": ["another error"]},
        {"text": "plain", "examples": ["plain"]},
        {"colour": "red"},
    ],
)
def test_a_mistake_in_the_file_is_refused(change: dict[str, Any]) -> None:
    parse([GOOD])
    with pytest.raises(BadSignatures):
        parse([{**GOOD, **change}])
    with pytest.raises(BadSignatures):
        parse([GOOD, GOOD])
