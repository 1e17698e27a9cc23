"""tests/machines/founding*.json are what gpulaunch says on the founding hosts, not what somebody thinks it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.lab import Lab
from tests.cuda.machine import pythons_in
from tests.cuda.write_founding import FILES, MACHINES, OURS, TARGET, facts_of, with_gpus

pytestmark = pytest.mark.cuda


@pytest.mark.skipif(any(pythons_in(Path("/opt"))), reason="this Python lives below /opt, which the host replaces")
@pytest.mark.parametrize("name", FILES)
def test_the_file_is_what_gpulaunch_writes_there(lab: Lab, tmp_path: Path, name: str) -> None:
    written = json.loads((MACHINES / name).read_text())
    said = with_gpus(facts_of(FILES[name], lab, tmp_path))
    assert _of_the_founding_host(said) == _of_the_founding_host(written)


@pytest.mark.parametrize("name", FILES)
def test_no_path_of_the_machine_that_wrote_it_is_left(name: str) -> None:
    paths = set(re.findall(r'"(/[^"]*)"', (MACHINES / name).read_text()))
    allowed = (TARGET, OURS, "/usr", "/bin", "/sbin", "/root", "/opt/cuda")  # the last is where everybody looks
    assert {path for path in paths if not path.startswith(allowed)} == set()


def _of_the_founding_host(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts less what belongs to whichever machine writes them: its Python, its pip, its system programs."""
    same: dict[str, Any] = json.loads(re.sub(r"python3\.[0-9]+", "python3", json.dumps(facts)))
    packages = {name: version for name, version in same["target"]["packages"].items() if name not in ("pip", "numpy")}
    target = {**same["target"], "packages": packages, "version": None, "python_header": None}
    compilers = {folder["path"]: folder["nvcc_root"] for folder in same["folders"] if folder["nvcc"]}
    return {
        **{key: same[key] for key in ("caller", "toolkits", "gpus", "driver", "unknowns", "edited", "findings")},
        "target": target,
        "compilers": compilers,
    }
