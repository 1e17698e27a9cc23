"""FlashInfer's and torch's own functions find what we predict, in every environment.

The seed is 1; GPULAUNCH_LOOKUPS_SEED draws others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from launcher.consumers import flashinfer, lookup, torch
from tests.lookups import compared
from tests.lookups.compared import Answered, Library
from tests.lookups.environments import Question, questions
from tests.lookups.lab import Lab
from tests.lookups.layouts import Stage

pytestmark = pytest.mark.lookups

VERSIONS = ("0.5.0", "0.5.3", "0.6.8", "0.6.12", "0.7.0", "0.7.2", "0.7.4")
Ask = Callable[[Library], list[Answered]]
Tell = Callable[[str, int, int], None]


def of_flashinfer(lab: Lab, version: str) -> Library:
    """One release of it, with torch 2.13.0."""
    folder = lab.library(f"flashinfer-{version}")
    return Library(f"flashinfer {version}", (folder,), lab.python, flashinfer.PROBE, {"flashinfer-python": version})


def of_torch(lab: Lab) -> Library:
    """2.13.0."""
    return Library("torch 2.13.0", (), lab.python, torch.PROBE, {"torch": "2.13.0"})


@pytest.fixture(scope="session")
def asked(stage: Stage) -> tuple[Question, ...]:
    """At least 200 environments."""
    return questions(stage.folder, 200, int(os.environ.get("GPULAUNCH_LOOKUPS_SEED", "1")))


@pytest.fixture(scope="session")
def ask(stage: Stage, asked: tuple[Question, ...]) -> Ask:
    """Every library is asked once."""
    facts = compared.described(stage, asked, sys.executable)
    answers: dict[str, list[Answered]] = {}

    def of(library: Library) -> list[Answered]:
        if library.name not in answers:
            answers[library.name] = compared.answered(stage, library, asked, facts)
        return answers[library.name]

    return of


@pytest.mark.parametrize("version", VERSIONS)
def test_flashinfer_finds_what_is_predicted(ask: Ask, lab: Lab, tell: Tell, version: str) -> None:
    library = of_flashinfer(lab, version)
    answers = ask(library)
    different = compared.mismatches(answers, flashinfer.predict)
    tell(library.name, len(answers), len(different))
    assert not different, "\n".join(different)


def test_torch_finds_what_is_predicted(ask: Ask, lab: Lab, tell: Tell) -> None:
    library = of_torch(lab)
    answers = ask(library)
    different = compared.mismatches(answers, torch.predict)
    tell(library.name, len(answers), len(different))
    assert not different, "\n".join(different)


def test_the_answers_differ_from_environment_to_environment(ask: Ask, lab: Lab) -> None:
    for version in VERSIONS:
        answers = [entry.answer for entry in ask(of_flashinfer(lab, version))]
        assert len({answer["path"] for answer in answers}) > 15
        assert len({answer["release"] for answer in answers}) > 5
        assert len({str(answer["archs"]) for answer in answers}) > 10
        raised = {error for answer in answers for error in answer["errors"].values()}
        assert raised >= {"RuntimeError", "PermissionError", "NotADirectoryError", "ValueError", "FileNotFoundError"}


def test_a_wrong_rule_is_found_out(ask: Ask, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ask(of_flashinfer(lab, "0.6.8"))
    with monkeypatch.context() as wrong:
        wrong.setattr(flashinfer, "_ALLOWS_12_8", flashinfer.Version("0.6.8"))
        assert compared.mismatches(answers, flashinfer.predict)
    with monkeypatch.context() as wrong:
        read = lookup.from_variables
        wrong.setattr(lookup, "from_variables", lambda there: read(there, "CUDA_PATH", "CUDA_HOME"))
        assert compared.mismatches(answers, flashinfer.predict)
    assert not compared.mismatches(answers, flashinfer.predict)


# No GPU and a torch without CUDA: nothing has to be said to the libraries, so each is asked as doctor asks it.
FRESH = ("12.0", "12.0a", "12.0;9.0", "", "sm_120", None)


@pytest.mark.parametrize("arch_list", FRESH)
def test_the_probe_as_doctor_runs_it_agrees_with_the_import(stage: Stage, lab: Lab, arch_list: str | None) -> None:
    library = of_flashinfer(lab, "0.6.8")
    variables = {"CUDA_HOME": f"{stage.folder}/cuda-12.8", "PATH": "/usr/bin:/bin", "HOME": str(stage.folder.parent)}
    if arch_list is not None:
        variables["FLASHINFER_CUDA_ARCH_LIST"] = arch_list
    question = Question("bare", tuple(sorted(variables.items())), None, ())
    facts = compared.described(stage, (question,), sys.executable)
    predicted = flashinfer.predict(compared.surroundings(question, facts[0], library))
    environ = {**variables, "PYTHONPATH": str(library.folders[0]), "PYTHONDONTWRITEBYTECODE": "1"}

    probe = subprocess.run(
        [library.python, compared.PROBES / library.probe], env=environ, capture_output=True, text=True
    )
    imported = subprocess.run([library.python, "-c", "import flashinfer"], env=environ, capture_output=True, text=True)

    assert json.loads(probe.stdout.splitlines()[-1]) == compared.shown(predicted), probe.stderr
    raised = predicted.errors.get("archs")
    assert (imported.returncode != 0) == (raised is not None), imported.stderr
    assert raised is None or raised in imported.stderr.splitlines()[-1]
