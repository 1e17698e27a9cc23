"""Builds a kernel of one line as the libraries in the target will build theirs: same compiler, same -L and -l.

Looking for the files is not enough: where only libcuda.so.1 exists everything compiles and, after minutes, the link
fails for -lcuda (unslothai/unsloth-zoo#1099).
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from launcher.model import Facts, Plan, Trial
from launcher.verify.running import Ended, Job, run_all

PATIENCE = 120.0  # seconds for each step
_SHOWN = 20  # lines of a step that failed

_DEVICE = """\
#include <cuda_runtime.h>
__global__ void increase(float *numbers) { numbers[threadIdx.x] += 1; }
extern "C" int run(float *numbers) { increase<<<1, 32>>>(numbers); return (int)cudaGetLastError(); }
"""
_HOST = """\
#include <cuda_runtime.h>
extern "C" int cuInit(unsigned int);
extern "C" int begin() { int device = 0; return cuInit(0) + (int)cudaGetDevice(&device); }
"""


@dataclass(frozen=True)
class _Linking:
    """How a library links what it has compiled."""

    name: str
    package: str
    flags: tuple[str, ...]


_LINKING = (
    # `jit/cpp_ext.py:generate_ninja_build_for_op`, flashinfer 0.5.0 to 0.7.4: lib64 whatever the toolkit's layout.
    _Linking("FlashInfer", "flashinfer-python", ("-L{home}/lib64", "-L{home}/lib64/stubs", "-lcudart", "-lcuda")),
    # `kernels/jit/compile/toolchain.py`, sglang 0.5.23.
    _Linking("SGLang", "sglang", ("-L{home}/lib64", "-lcudart")),
    # `utils/cpp_extension.py:_prepare_ldflags`, torch 2.11 and 2.14.
    _Linking("PyTorch", "torch", ("-L{home}/lib64", "-lcudart")),
)


@dataclass(frozen=True)
class _Step:
    name: str
    words: tuple[str, ...]


def try_build(plan: Plan, facts: Facts, *, patience: float = PATIENCE) -> tuple[Trial, ...]:
    """The steps in their order, up to the first that failed. `patience` in seconds for each."""
    if plan.toolkit.release is None:
        why = "the planned environment holds no compiler: what is not prebuilt cannot be built"
        return (Trial(step="compile", command="", state="not-tried", output=(why,)),)
    try:
        return _try_all(plan, facts, patience)
    except OSError as error:  # no room for a temporary folder
        why = f"nothing could be tried: {error.strerror or error}"
        return (Trial(step="compile", command="", state="not-tried", output=(why,)),)


def _try_all(plan: Plan, facts: Facts, patience: float) -> tuple[Trial, ...]:
    with tempfile.TemporaryDirectory(prefix="gpulaunch-", ignore_cleanup_errors=True) as folder:
        Path(folder, "device.cu").write_text(_DEVICE, encoding="utf-8")
        Path(folder, "host.cpp").write_text(_HOST, encoding="utf-8")
        trials: list[Trial] = []
        for step in _steps(plan, facts):
            failed = bool(trials) and trials[-1].state != "passed"
            trials.append(_not_tried(step) if failed else _try(step, plan, folder, patience))
    return tuple(trials)


def _steps(plan: Plan, facts: Facts) -> Iterator[_Step]:
    home = plan.env.get("CUDA_HOME", plan.toolkit.root)
    include = ("-isystem", f"{home}/include")
    compiler = plan.env.get("CXX") or "c++"
    bin_ccbin = ("-ccbin", plan.env["CC"]) if plan.env.get("CC") else ()
    device = (f"{home}/bin/nvcc", *bin_ccbin, *_gencode(plan), "-std=c++17", "-Xcompiler", "-fPIC")
    yield _Step("compile device code", (*device, *include, "-c", "device.cu", "-o", "device.o"))
    yield _Step(
        "compile host code against the toolkit's headers",
        (*shlex.split(compiler), "-std=c++17", "-fPIC", *include, "-c", "host.cpp", "-o", "host.o"),
    )
    for linking in _of_the_target(facts):
        flags = tuple(flag.format(home=home) for flag in linking.flags)
        words = (*shlex.split(compiler), "device.o", "host.o", "-shared", *flags, "-o", f"{linking.package}.so")
        yield _Step(f"link as {linking.name} does ({' '.join(linking.flags).format(home='$CUDA_HOME')})", words)


def _of_the_target(facts: Facts) -> tuple[_Linking, ...]:
    """How those that are installed link; PyTorch's way where none is known to be."""
    packages = facts.target.packages if facts.target else None
    return tuple(linking for linking in _LINKING if linking.package in (packages or {})) or _LINKING[-1:]


def _gencode(plan: Plan) -> Iterator[str]:
    """What the libraries will build for; without a list the compiler's own default."""
    listed = next((prediction.planned.archs for prediction in plan.predictions
                   if prediction.planned and prediction.planned.archs), ())  # fmt: skip
    for arch in listed or tuple(plan.env.get("TORCH_CUDA_ARCH_LIST", "").split(";")):
        number = arch.replace(".", "")
        if number:
            yield f"-gencode=arch=compute_{number},code=sm_{number}"


def _try(step: _Step, plan: Plan, folder: str, patience: float) -> Trial:
    (ended,) = run_all([Job(words=step.words, env=plan.env, cwd=folder)], at_once=1, patience=patience)
    command = shlex.join(step.words)
    if ended.code == 0:
        return Trial(step=step.name, command=command, state="passed")
    return Trial(step=step.name, command=command, state="failed", output=_output(ended))


def _not_tried(step: _Step) -> Trial:
    return Trial(step=step.name, command=shlex.join(step.words), state="not-tried")


def _output(ended: Ended) -> tuple[str, ...]:
    """Its own words, the end of them; ours where it has none."""
    lines = [line for line in f"{ended.out}\n{ended.err}\n{ended.trouble}".splitlines() if line.strip()]
    return tuple(lines[-_SHOWN:]) or (f"it ended with {ended.code} and said nothing",)
