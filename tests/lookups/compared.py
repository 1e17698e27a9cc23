"""Asks the library and our prediction the same questions, and lists where they differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import launcher.probes
from launcher.model import Found, Root, Tool
from launcher.surroundings import Surroundings, Unforeseen
from tests.lookups.environments import Question
from tests.lookups.layouts import LAYOUTS, Stage

HERE = Path(__file__).parent
PROBES = Path(launcher.probes.__file__).parent
Predict = Callable[[Surroundings], "Found | None"]


@dataclass(frozen=True)
class Library:
    """One release of a library: what holds it, the interpreter that imports it, its probe, what is installed."""

    name: str
    folders: tuple[Path, ...]
    python: Path
    probe: str
    packages: Mapping[str, str]


@dataclass(frozen=True)
class Answered:
    """A question, what our facts say of it, and what the library answers."""

    question: Question
    surroundings: Surroundings
    answer: Mapping[str, Any]


def described(stage: Stage, questions: Sequence[Question], python: str) -> list[Mapping[str, Any]]:
    """What our facts say, asked on the machine of each question."""
    root = str(PROBES.parent.parent)
    return _ask(stage, questions, [python, HERE / "described.py"], {"PYTHONPATH": root})


def answered(
    stage: Stage, library: Library, questions: Sequence[Question], facts: Sequence[Mapping[str, Any]]
) -> list[Answered]:
    """What the library says, with the surroundings that a prediction is made from."""
    command = [library.python, HERE / "asked.py", PROBES, library.probe.removesuffix(".py"), *library.folders]
    answers = _ask(stage, questions, command, {"HOME": str(stage.folder.parent)})
    return [
        Answered(question, surroundings(question, fact, library), answer)
        for question, fact, answer in zip(questions, facts, answers, strict=True)
    ]


def _ask(
    stage: Stage, questions: Sequence[Question], command: Sequence[str | Path], more: Mapping[str, str]
) -> list[Mapping[str, Any]]:
    """One process; the answers in the order of the questions."""
    numbers = {
        layout: [n for n, question in enumerate(questions) if question.layout == layout.name] for layout in LAYOUTS
    }
    text = "".join(
        json.dumps({"script": stage.script(layout), "questions": [_shown(questions[n]) for n in those]}) + "\n"
        for layout, those in numbers.items()
    )
    environ = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **more}
    lines = stage.run(command, environ=environ, text=text).splitlines()
    order = [number for those in numbers.values() for number in those]
    answers = dict(zip(order, map(json.loads, lines), strict=True))
    return [answers[number] for number in range(len(questions))]


def _shown(question: Question) -> Mapping[str, Any]:
    return {"environ": question.environ, "torch_cuda": question.torch_cuda, "capabilities": question.capabilities}


def surroundings(question: Question, fact: Mapping[str, Any], library: Library) -> Surroundings:
    """What a prediction is made from."""
    return Surroundings(
        environ=question.environ,
        roots={root["path"]: Root(**{**root, "holds": tuple(root["holds"])}) for root in fact["roots"]},
        folders={folder: tuple(programs) for folder, programs in fact["folders"].items()},
        tools={tool["path"]: Tool(**tool) for tool in fact["tools"]},
        packages=library.packages,
        site_packages=tuple(map(str, library.folders)),
        torch_cuda=question.torch_cuda,
        capabilities=question.capabilities,
    )


def mismatches(answers: Sequence[Answered], predict: Predict) -> list[str]:
    """Each difference as text: the environment, what was predicted, what the library said."""
    found = []
    for entry in answers:
        predicted = predicted_as_shown(predict, entry.surroundings)
        if predicted != dict(entry.answer):
            found.append(f"{entry.question}\n    predicted {predicted}\n    it says   {dict(entry.answer)}")
    return found


def predicted_as_shown(predict: Predict, surroundings: Surroundings) -> dict[str, Any]:
    """The prediction in the form in which probes print."""
    try:
        found = predict(surroundings)
    except Unforeseen as unforeseen:
        return {"could not tell": str(unforeseen)}
    assert found is not None
    return shown(found)


def shown(found: Found) -> dict[str, Any]:
    """A lookup's result in the form in which probes print."""
    archs = None if found.archs is None else list(found.archs)
    return {"path": found.path, "release": found.release, "archs": archs, "errors": dict(found.errors)}
