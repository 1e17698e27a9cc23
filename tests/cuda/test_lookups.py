"""The same comparison of predictions as in the `lookups` stage, with the very torch of the founding report.

torch 2.11.0+cu130 with FlashInfer 0.6.8, and with the 0.6.12 that sglang 0.5.14 pins.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from launcher.consumers import Consumer, flashinfer, torch
from tests.cuda.lab import Lab
from tests.lookups import compared
from tests.lookups.compared import Library
from tests.lookups.environments import questions
from tests.lookups.layouts import Stage

pytestmark = pytest.mark.cuda


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    made = Stage(tmp_path_factory.mktemp("lookups") / "stage")
    made.folder.mkdir()
    made.make()
    return made


@pytest.mark.parametrize(
    ("environment", "consumer", "packages"),
    [
        ("founding", flashinfer, {"flashinfer-python": "0.6.8"}),
        ("server", flashinfer, {"flashinfer-python": "0.6.12"}),
        ("founding", torch, {"torch": "2.11.0"}),
    ],
    ids=["flashinfer-0.6.8", "flashinfer-0.6.12", "torch-2.11.0"],
)
def test_with_the_founding_torch_the_lookup_finds_what_is_predicted(
    stage: Stage, lab: Lab, environment: str, consumer: Consumer, packages: dict[str, str]
) -> None:
    assert consumer.PROBE is not None
    python: Path = lab.environment(environment) / "bin/python"
    library = Library(environment, (), python, consumer.PROBE, packages)
    asked = questions(stage.folder, 150, seed=11)
    facts = compared.described(stage, asked, sys.executable)
    answers = compared.answered(stage, library, asked, facts)
    different = compared.mismatches(answers, consumer.predict)
    assert not different, "\n".join(different)
