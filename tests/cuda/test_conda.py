"""conda's toolkit: headers and libraries below targets/ alone, and a bin with much else in it. Used through a view."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cuda.fatbin import architectures
from tests.cuda.lab import Lab
from tests.cuda.machine import Machine
from tests.cuda.situations import NEITHER, FoundingHost

pytestmark = pytest.mark.cuda


def make_prefix(prefix: Path, toolkit: Path) -> Path:
    """The files of a whole toolkit, laid out as the cuda-nvcc packages of conda-forge lay them out."""
    shutil.copytree(
        toolkit, prefix, symlinks=True, copy_function=os.link, ignore=shutil.ignore_patterns("version.json")
    )
    for link in ("include", "lib64"):
        (prefix / link).unlink()
    shutil.rmtree(prefix / "targets/x86_64-linux/lib/stubs")
    (prefix / "conda-meta").mkdir()
    for other in ("python3", "gcc", "c++", "ninja"):
        program = prefix / "bin" / other
        program.write_text("#!/bin/sh\necho a program of the conda environment was run >&2\nexit 1\n")
        program.chmod(0o755)
    return prefix


def test_its_compiler_builds_and_its_other_programs_stay_out(lab: Lab, tmp_path: Path) -> None:
    prefix = make_prefix(tmp_path / "conda", lab.toolkit)
    (tmp_path / "machine").mkdir()
    machine = Machine(tmp_path / "machine", stale=False)
    activated = {"CONDA_PREFIX": str(prefix), "NVCC_PREPEND_FLAGS": "-ccbin=/nowhere/g++"}
    host = FoundingHost(machine, lab.environment("founding"), NEITHER, activated)

    plan = host.plan()

    assert plan["toolkit"]["how"].startswith("CONDA_PREFIX")
    root = plan["env"]["CUDA_HOME"]
    assert not Path(root).is_relative_to(prefix)
    asked = host.inside("probe.py")
    assert asked["path"] == asked["torch_home"] == root
    built = host.inside("build.py")
    assert "error" not in built, built["error"]
    assert architectures(Path(built["library"]).read_bytes()) == {120}
    which = host.run_inside("which", "nvcc", "c++", "python").stdout.split()
    assert which == [f"{root}/bin/nvcc", "/usr/bin/c++", f"{host.target}/bin/python"]
