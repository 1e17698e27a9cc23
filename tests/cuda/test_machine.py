"""The founding host is what it claims to be, and the machine around it stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cuda.lab import Lab
from tests.cuda.machine import Machine, pythons_in

pytestmark = pytest.mark.cuda


@pytest.fixture
def machine(lab: Lab, tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_usr_local_holds_cuda_12_8_and_at_most_the_python_under_test(machine: Machine) -> None:
    python = {path.relative_to("/usr/local").parts[0] for path in pythons_in(Path("/usr/local"))}
    assert set(machine.run(["ls", "/usr/local"]).stdout.split()) == {"cuda", "cuda-12.8"} | python
    assert machine.run(["readlink", "/usr/local/cuda"]).stdout == "cuda-12.8\n"


def test_a_complete_13_0_can_lie_beside_it(lab: Lab, tmp_path: Path) -> None:
    machine = Machine(tmp_path, toolkit=lab.toolkit)
    assert "release 13.0" in machine.run(["/usr/local/cuda-13.0/bin/nvcc", "--version"]).stdout
    assert machine.run(["readlink", "/usr/local/cuda"]).stdout == "cuda-12.8\n"


def test_the_only_nvcc_says_release_12_8_and_compiles_nothing(machine: Machine) -> None:
    assert machine.run(["which", "-a", "nvcc"]).stdout == "/usr/local/cuda/bin/nvcc\n"
    assert "release 12.8, V12.8.93" in machine.run(["nvcc", "--version"]).stdout
    (machine.home / "empty.cu").touch()
    compiled = machine.run(["nvcc", "-c", "empty.cu", "-o", "empty.o"])
    assert compiled.returncode == 1
    assert not (machine.home / "empty.o").exists()


def test_nothing_outside_changes(machine: Machine) -> None:
    before = sorted(os.listdir("/usr/local")), _mounts()
    machine.run(["true"])
    assert (sorted(os.listdir("/usr/local")), _mounts()) == before


def test_another_nvcc_of_the_distribution_is_hidden(machine: Machine, tmp_path: Path) -> None:
    """The script that makes the machine is run where a distribution's nvcc exists: again in a namespace of its own."""
    layer = tmp_path / "distribution"
    layer.mkdir()
    (layer / "nvcc").write_text("#!/bin/sh\necho release 12.4,\n")
    (layer / "nvcc").chmod(0o755)
    inner = (
        "import pathlib, sys; from tests.cuda.machine import Machine; "
        "print(Machine(pathlib.Path(sys.argv[1])).run(['which', '-a', 'nvcc']).stdout, end='')"
    )
    overlay = f"mount -t overlay overlay -o lowerdir={layer}:/usr/bin /usr/bin"
    script = f'{overlay} && which nvcc && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-euc", script, "sh"]
        + [sys.executable, "-c", inner, str(tmp_path)],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == ["/usr/bin/nvcc", "/usr/local/cuda/bin/nvcc"], done.stderr


def _mounts() -> list[str]:
    return Path("/proc/self/mountinfo").read_text().splitlines()
