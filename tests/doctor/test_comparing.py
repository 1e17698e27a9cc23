"""An answer is read or refused, never guessed; it is as predicted, not as predicted, or nothing could be told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.model import Found, Prediction
from launcher.verify.comparing import NoAnswer, compare, read_answer

RIGHT = Found(path="/cuda", release="13.0", archs=("12.0a",))
NO_GPU = replace(RIGHT, archs=(), errors={"check": "RuntimeError"})
PREDICTION = Prediction(consumer="FlashInfer", version="0.6.8", callers=None, planned=RIGHT)
LEAVES = st.none() | st.booleans() | st.integers() | st.text()
KEYS = st.sampled_from(("path", "release", "archs", "errors", "other"))
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner))


def verdict(found: Found, *, gpus_here: bool = True) -> str:
    return compare(PREDICTION, "planned", found, gpus_here=gpus_here).verdict


def test_an_answer_is_the_last_line() -> None:
    said = {"path": "/cuda", "release": "13.0", "archs": ["12.0a"], "errors": {}}
    assert read_answer(f"INFO something\n{json.dumps(said)}\n") == RIGHT


def test_what_raised_is_an_answer() -> None:
    said = {"path": None, "release": None, "archs": None, "errors": {"archs": "ValueError"}}
    assert read_answer(json.dumps(said)) == Found(errors={"archs": "ValueError"})


@given(st.text())
def test_any_output_is_an_answer_or_none(output: str) -> None:
    try:
        assert isinstance(read_answer(output), Found)
    except NoAnswer as no_answer:
        assert str(no_answer)


@given(VALUES)
def test_any_value_is_an_answer_or_none(value: object) -> None:
    try:
        found = read_answer(json.dumps(value))
    except NoAnswer:
        return
    assert found.path is None or isinstance(found.path, str)
    assert found.archs is None or all(isinstance(arch, str) for arch in found.archs)
    assert all(isinstance(name, str) for name in found.errors.values())


def test_the_same_is_as_predicted() -> None:
    assert verdict(RIGHT) == "as-predicted"


@pytest.mark.parametrize(
    "found",
    [
        replace(RIGHT, path="/usr/local/cuda"),
        replace(RIGHT, release="12.8"),
        replace(RIGHT, archs=("12.0f",)),
        replace(RIGHT, archs=None),
        replace(RIGHT, errors={"check": "RuntimeError"}),
        Found(),
    ],
)
def test_any_part_that_differs_is_not_as_predicted(found: Found) -> None:
    assert verdict(found) == "not-as-predicted"


def test_what_depends_on_gpus_that_are_not_here_cannot_be_told() -> None:
    assert verdict(NO_GPU, gpus_here=False) == "could-not-tell"
    assert verdict(NO_GPU, gpus_here=True) == "not-as-predicted"


def test_a_wrong_toolkit_is_a_wrong_toolkit_without_gpus_too() -> None:
    assert verdict(replace(NO_GPU, path="/usr/local/cuda"), gpus_here=False) == "not-as-predicted"


def test_without_a_prediction_nothing_can_be_told() -> None:
    assert compare(PREDICTION, "callers", RIGHT, gpus_here=True).verdict == "could-not-tell"
