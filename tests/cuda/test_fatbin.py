"""The reader of fat binaries tells architectures apart; else finding sm_120 with it would prove nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cuda.fatbin import architectures
from tests.cuda.lab import Lab
from tests.cuda.machine import Machine

pytestmark = pytest.mark.cuda

KERNEL = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n"


def compiled(lab: Lab, folder: Path, *flags: str) -> bytes:
    """A library with one kernel, compiled and linked by the 13.0 beside the stale toolkit."""
    machine = Machine(folder, toolkit=lab.toolkit)
    (folder / "kernel.cu").write_text(KERNEL)
    nvcc = ["/usr/local/cuda-13.0/bin/nvcc", "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared", *flags]
    done = machine.run([*nvcc, "-o", folder / "kernel.so", folder / "kernel.cu"])
    assert done.returncode == 0, done.stderr
    return (folder / "kernel.so").read_bytes()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["-gencode=arch=compute_120f,code=sm_120f"], {120}),
        (["-gencode=arch=compute_90a,code=sm_90a"], {90}),
        (["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_120a,code=sm_120a"], {80, 120}),
        (["-gencode=arch=compute_120,code=compute_120"], set()),  # PTX alone is no machine code
    ],
)
def test_it_names_exactly_the_architectures_with_machine_code(
    lab: Lab, tmp_path: Path, flags: list[str], expected: set[int]
) -> None:
    assert architectures(compiled(lab, tmp_path, *flags)) == expected


def test_a_library_without_cuda_has_none() -> None:
    assert architectures(b"\x7fELF" + bytes(5000)) == set()
