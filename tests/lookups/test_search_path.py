"""On every layout the server's PATH finds no nvcc but the chosen one, here none, and every other program as before."""

from __future__ import annotations

import json
import sys

import pytest

from tests.lookups import compared
from tests.lookups.environments import axes
from tests.lookups.lab import Lab
from tests.lookups.layouts import LAYOUTS, Layout, Stage

pytestmark = pytest.mark.lookups


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_no_other_nvcc_is_found_and_every_program_still_is(stage: Stage, lab: Lab, layout: Layout) -> None:
    target = str(lab.python.parent.parent)
    paths = [str(path) for path in axes(stage.folder)["PATH"]][::3]  # a third of them: each costs a second
    machine = {
        "script": stage.script(layout),
        "questions": [{"environ": {"PATH": path, "LANG": "C.UTF-8"}, "target": target} for path in paths],
    }
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(compared.PROBES.parent.parent)}
    said = stage.run([sys.executable, compared.HERE / "inside.py"], environ=environ, text=json.dumps(machine) + "\n")

    answers = [json.loads(line) for line in said.splitlines()]

    assert len(answers) == len(paths)
    for path, answer in zip(paths, answers, strict=True):
        assert isinstance(answer, dict), f"{path}: {answer}"
        assert answer["nvcc"] == "", path
        assert answer["python3"] == f"{target}/bin/python3", path
        assert answer["ninja"] == f"{target}/bin/ninja", path
        missing = [name for name in ("gcc", "c++", "ls", "ldconfig", "which") if not answer[name]]
        assert not missing, f"{path}: {missing}"
