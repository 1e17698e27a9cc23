"""What a library said beside what was predicted of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from launcher.model import Comparison, Found, Prediction

Environment = Literal["planned", "callers"]


class NoAnswer(Exception):
    """What a probe printed is no answer: why, as a phrase."""


def read_answer(output: str) -> Found:
    """The last line of a probe's output. Raises NoAnswer."""
    lines = output.strip().splitlines()
    if not lines:
        raise NoAnswer("it printed nothing")
    try:
        said = json.loads(lines[-1])
    except ValueError:
        raise NoAnswer("its last line is no answer") from None
    if not isinstance(said, Mapping):
        raise NoAnswer("its last line is no answer")
    archs, errors = said.get("archs"), said.get("errors")
    return Found(
        path=_text(said.get("path")),
        release=_text(said.get("release")),
        archs=tuple(str(arch) for arch in archs) if isinstance(archs, list) else None,
        errors={str(part): str(name) for part, name in errors.items()} if isinstance(errors, Mapping) else {},
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def compare(prediction: Prediction, environment: Environment, found: Found, *, gpus_here: bool) -> Comparison:
    """As predicted, or not. What a library makes of GPUs that are not here cannot be told."""
    predicted = prediction.planned if environment == "planned" else prediction.callers
    if predicted is None:
        because = "nothing was predicted: its lookup leads to a place that was not looked at"
        return could_not_tell(prediction, environment, because, found)
    if _same(predicted, found):
        return _comparison(prediction, environment, "as-predicted", found)
    if not gpus_here and _same_but_for_gpus(predicted, found):
        because = "toolkit and release are as predicted; the architectures depend on GPUs, and none is here"
        return could_not_tell(prediction, environment, because, found)
    return _comparison(prediction, environment, "not-as-predicted", found)


def could_not_tell(
    prediction: Prediction, environment: Environment, because: str, found: Found | None = None, *, lasting: bool = True
) -> Comparison:
    """The library gave no answer, or nothing to compare it with."""
    return replace(_comparison(prediction, environment, "could-not-tell", found, because), lasting=lasting)


def _comparison(
    prediction: Prediction,
    environment: Environment,
    verdict: Literal["as-predicted", "not-as-predicted", "could-not-tell"],
    found: Found | None,
    because: str = "",
) -> Comparison:
    return Comparison(
        consumer=prediction.consumer,
        version=prediction.version,
        environment=environment,
        verdict=verdict,
        predicted=prediction.planned if environment == "planned" else prediction.callers,
        found=found,
        because=because,
    )


def _same(one: Found, other: Found) -> bool:
    return _key(one) == _key(other)


def _same_but_for_gpus(predicted: Found, found: Found) -> bool:
    """Without GPUs a library that asks them comes to no architecture at all."""
    return not found.archs and _key(predicted)[:2] == _key(found)[:2] and _toolkits(predicted) == _toolkits(found)


def _key(found: Found) -> tuple[object, ...]:
    return (found.path, found.release, found.archs, tuple(sorted(found.errors.items())))


def _toolkits(found: Found) -> dict[str, str]:
    """What went wrong in finding the toolkit."""
    return {part: name for part, name in found.errors.items() if part in ("path", "release")}
