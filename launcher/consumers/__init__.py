"""CUDA consumers: the libraries in the target that look for a toolkit, one file each, and the table of them.

To add one: a module that satisfies `Consumer`, one line in `CONSUMERS`, one test file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from launcher.consumers import (
    cute_dsl,
    deep_ep,
    deep_gemm,
    flashinfer,
    humming,
    nccl,
    pathfinder,
    sglang_jit,
    sglang_kernel,
    tilelang,
    torch,
    transformer_engine,
    triton,
    tvm_ffi,
    vllm_deep_gemm,
    vllm_flashinfer,
)
from launcher.model import Change, Finding, Found, Step
from launcher.situation import Situation
from launcher.surroundings import Surroundings


class Consumer(Protocol):
    """One library. Pure: it is told what is there and yields what it wants."""

    @property
    def NAME(self) -> str:
        """As people call it."""

    @property
    def PACKAGE(self) -> str:
        """Its distribution, normalised."""

    @property
    def NEEDS(self) -> tuple[str, ...]:
        """Parts of a toolkit that its compilations need (`launcher.facts.toolkits.PARTS`)."""

    @property
    def WANTS(self) -> tuple[str, ...]:
        """Parts that it calls on some paths only: a toolkit without them serves, with a word on it."""

    def floor(self, version: str | None, capability: str) -> tuple[int, int] | None:
        """The oldest CUDA release that this version accepts for a compute capability; None: no rule of its own."""

    def compiles(self, situation: Situation) -> str | None:
        """What it certainly compiles while serving, as a phrase; None where all is prebuilt or it never compiles."""

    def contribute(self, situation: Situation) -> Iterator[Change | Step | Finding]:
        """The variables it reads, the folders it needs and what is worth saying."""

    @property
    def PROBE(self) -> str | None:
        """The script in `launcher/probes/` that asks the library itself, in the target; None: there is none."""

    def predict(self, surroundings: Surroundings) -> Found | None:
        """What its own lookup returns there; None: it looks for no toolkit. Imports nothing of the library.

        Raises Unforeseen where the facts do not reach: the answer is "could not tell".
        """

    def harm(self, found: Found, situation: Situation) -> str | None:
        """What comes of it that the lookup returns this, as a phrase; None where no harm comes."""


CONSUMERS: tuple[Consumer, ...] = (
    torch,
    triton,
    flashinfer,
    tvm_ffi,
    sglang_jit,
    sglang_kernel,
    deep_gemm,
    vllm_flashinfer,
    vllm_deep_gemm,
    tilelang,
    humming,
    cute_dsl,
    pathfinder,
    transformer_engine,
    nccl,
    deep_ep,
)


def installed(situation: Situation) -> tuple[Consumer, ...]:
    """The consumers that the target holds (or is assumed to hold), in the table's order."""
    return tuple(consumer for consumer in CONSUMERS if situation.has(consumer.PACKAGE))
