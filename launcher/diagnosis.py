"""The chain from symptom to cause, as a value: what `gpulaunch doctor` tells and `doctor --json` holds. Pure.

It decides nothing: it puts in order what Facts and Plan already say, so that a person can follow it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from launcher.consumers import CONSUMERS
from launcher.consumers.strangers import STRANGERS
from launcher.model import Facts, Plan, Prediction, Toolkit, Verdict

# Variables that lookups, compilers and linkers read: those of the caller's that are worth showing.
READ = (
    "CUDA_HOME", "CUDA_PATH", "CUDA_LIB_PATH", "CUDA_ROOT", "CUDACXX", "PATH", "LD_LIBRARY_PATH", "LD_PRELOAD",
    "LIBRARY_PATH", "CPATH", "CC", "CXX", "CUDAHOSTCXX", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
    "PYTORCH_NVCC", "FLASHINFER_NVCC", "FLASHINFER_CUDA_ARCH_LIST", "FLASHINFER_WORKSPACE_BASE",
    "TORCH_CUDA_ARCH_LIST", "TVM_FFI_CUDA_ARCH_LIST", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH",
    "CUDA_VISIBLE_DEVICES", "CONDA_PREFIX", "VIRTUAL_ENV",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A toolkit that the caller's environment leads libraries to, and what is to be said of it.

    `path` is the libraries' spelling, `root` what truly stands there; `verdict` None: it was not judged.
    """

    path: str
    root: str
    consumers: tuple[str, ...]
    toolkit: Toolkit | None
    verdict: Verdict | None


@dataclass(frozen=True, kw_only=True)
class Stranger:
    """A package in the target that looks for a toolkit in a way that we do not predict."""

    package: str
    version: str
    looks_for: str


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One variable, in the caller's environment and in the planned one; None: not set."""

    name: str
    callers: str | None
    planned: str | None


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The chain. `harmed` are those of the predictions whose end in the caller's environment is a fault."""

    plan: Plan
    facts: Facts
    variables: tuple[Variable, ...]
    harmed: tuple[Prediction, ...]
    causes: tuple[Cause, ...]
    strangers: tuple[Stranger, ...]


def diagnose(plan: Plan, facts: Facts) -> Diagnosis:
    """What the plan and the facts say, from the symptom to the cause."""
    return Diagnosis(
        plan=plan,
        facts=facts,
        variables=tuple(_variables(plan, facts)),
        harmed=tuple(prediction for prediction in plan.predictions if prediction.consequence),
        causes=tuple(_causes(plan, facts)),
        strangers=tuple(_strangers(facts)),
    )


def _variables(plan: Plan, facts: Facts) -> Iterator[Variable]:
    for name in READ:
        callers, planned = facts.caller.environ.get(name), plan.env.get(name)
        if callers is not None or planned is not None:
            yield Variable(name=name, callers=callers, planned=planned)


def _causes(plan: Plan, facts: Facts) -> Iterator[Cause]:
    """One for each place that the libraries would take, in the order in which they name it."""
    paths: dict[str, list[str]] = {}
    for prediction in plan.predictions:
        if prediction.callers is not None and _is_place(prediction.callers.path, facts):
            paths.setdefault(prediction.callers.path, []).append(prediction.consumer)
    for path, consumers in paths.items():
        toolkit = behind(path, facts)
        root = toolkit.root if toolkit else path
        verdict = next((verdict for verdict in plan.toolkit.verdicts if verdict.root == root), None)
        yield Cause(path=path, root=root, consumers=tuple(consumers), toolkit=toolkit, verdict=verdict)


def _is_place(path: str | None, facts: Facts) -> TypeGuard[str]:
    """Not what a library brings itself, which has no place of its own."""
    said = {facts.caller.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")}
    return path is not None and ("/" in path or path in ("", *said))


def behind(path: str, facts: Facts) -> Toolkit | None:
    """The toolkit that truly stands at a library's spelling; None where none of those that were found does."""
    ways = {name for name in ("CUDA_HOME", "CUDA_PATH") if facts.caller.environ.get(name) == path}
    ways |= {path, f"nvcc on PATH in {path}/bin"}
    for toolkit in facts.toolkits:
        # "/usr/local/cuda (a link to ...)" is a way, too.
        if toolkit.root == path or ways & {found.partition(" (")[0] for found in toolkit.found}:
            return toolkit
    return None


def _strangers(facts: Facts) -> Iterator[Stranger]:
    known = {consumer.PACKAGE for consumer in CONSUMERS}
    packages = facts.target.packages if facts.target else None
    for name, version in (packages or {}).items():
        looks_for = STRANGERS.get(name)
        if looks_for is not None and name not in known:
            yield Stranger(package=name, version=version, looks_for=looks_for)
