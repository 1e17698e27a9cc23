"""What a library's own lookup returns in one environment: predicted by us, told by the library, and both compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one library's lookup returns in one environment, predicted by us or told by the library itself.

    `path` is what it takes for the toolkit, in its own spelling; `release` what it takes for the CUDA release; `archs`
    what it would build for, in its own spelling, ascending. None: it raises there, and `errors` says which exception
    by the part's name ("path", "release", "archs", "check"), or this library does not ask for it.
    """

    path: str | None = None
    release: str | None = None
    archs: tuple[str, ...] | None = None
    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What a consumer will find: in the caller's environment, and in the planned one. None: could not tell."""

    consumer: str
    version: str | None
    callers: Found | None
    planned: Found | None
    consequence: str = ""  # what follows from the caller's, as a phrase; empty where it does no harm


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a library itself said in one environment, beside what was predicted of it.

    `because` says why nothing could be told: it was not asked, it took too long, it broke. Not `lasting`: it may be
    otherwise the next time, though nothing changed.
    """

    consumer: str
    version: str | None
    environment: Literal["planned", "callers"]
    verdict: Literal["as-predicted", "not-as-predicted", "could-not-tell"]
    predicted: Found | None
    found: Found | None
    because: str = ""
    lasting: bool = True


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One step of a build that was tried: its command line, and what it said where it did not pass."""

    step: str
    command: str
    state: Literal["passed", "failed", "not-tried"]
    output: tuple[str, ...] = ()
