"""What the other libraries' own functions find is what we predict: Triton, tilelang, tvm-ffi, DeepGEMM, cuda-pathfinder
and vLLM's question whether FlashInfer can be used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from launcher.consumers import Consumer, deep_gemm, pathfinder, tilelang, triton, tvm_ffi, vllm_flashinfer
from tests.lookups import compared
from tests.lookups.compared import Library
from tests.lookups.environments import Question, questions
from tests.lookups.lab import Lab
from tests.lookups.layouts import Stage

pytestmark = pytest.mark.lookups


@dataclass(frozen=True)
class Case:
    """One release of a library, by the folders of the lab that hold it."""

    consumer: Consumer
    version: str
    folders: tuple[str, ...]
    packages: Mapping[str, str]

    @property
    def name(self) -> str:
        """For people."""
        return " with ".join([f"{self.consumer.NAME} {self.version}", *self.folders[1:]])


CASES = (
    Case(triton, "3.8.0", ("triton",), {"triton": "3.8.0"}),
    Case(tilelang, "0.1.12", ("tilelang",), {"tilelang": "0.1.12"}),
    Case(tilelang, "0.1.12", ("nvcc-wheel", "tilelang"), {"tilelang": "0.1.12", "nvidia-cuda-nvcc": "13.0.88"}),
    Case(tvm_ffi, "0.1.11", (), {"apache-tvm-ffi": "0.1.11"}),
    Case(deep_gemm, "0.1.3", ("deep-gemm-0.1.3",), {"sgl-deep-gemm": "0.1.3"}),
    Case(deep_gemm, "0.2.3.post2", ("deep-gemm-0.2.3",), {"sgl-deep-gemm": "0.2.3.post2"}),
    Case(pathfinder, "1.9.1", ("cuda-pathfinder",), {"cuda-pathfinder": "1.9.1"}),
    Case(vllm_flashinfer, "0.33.0", ("vllm",), {"vllm": "0.33.0"}),
    Case(
        vllm_flashinfer,
        "0.33.0",
        ("vllm", "flashinfer-0.7.2"),
        {"vllm": "0.33.0", "flashinfer-python": "0.7.2"},
    ),
)
Tell = Callable[[str, int, int], None]


@pytest.fixture(scope="module")
def asked(stage: Stage) -> tuple[Question, ...]:
    """At least 100 environments, in which some GPU is seen."""
    seed = int(os.environ.get("GPULAUNCH_LOOKUPS_SEED", "1"))
    return tuple(question for question in questions(stage.folder, 110, seed + 1) if question.capabilities)


@pytest.fixture(scope="module")
def facts(stage: Stage, asked: Sequence[Question]) -> list[Mapping[str, Any]]:
    """What our facts say of each."""
    return compared.described(stage, asked, sys.executable)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_library_finds_what_is_predicted(
    stage: Stage, lab: Lab, asked: Sequence[Question], facts: list[Mapping[str, Any]], case: Case, tell: Tell
) -> None:
    assert case.consumer.PROBE is not None
    folders = tuple(map(lab.library, case.folders))
    library = Library(case.name, folders, lab.python, case.consumer.PROBE, case.packages)
    answers = compared.answered(stage, library, asked, facts)

    different = compared.mismatches(answers, case.consumer.predict)

    tell(case.name, len(answers), len(different))
    assert len(answers) >= 100
    assert not different, "\n".join(different)
    assert len({str(entry.answer) for entry in answers}) > 5  # the question has more than one answer
