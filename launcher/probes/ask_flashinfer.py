"""Asks FlashInfer: its toolkit, CUDA release, architectures, and the check that ends a service. Runs in the target."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from answering import Answer  # type: ignore[import-not-found]  # it lies beside this script

ARCH_LIST = "FLASHINFER_CUDA_ARCH_LIST"
CONTEXT = "current_compilation_context"  # of the module: the check reads it


def ask() -> Answer:
    """The answer of the FlashInfer that can be imported here."""
    context, core, cpp_ext = imported()
    answer = Answer()
    answer.ask("path", cpp_ext.get_cuda_path)
    answer.ask("release", lambda: str(cpp_ext.get_cuda_version()))
    answer.ask("archs", lambda: spelled(made(context, core).TARGET_CUDA_ARCHS))
    if "archs" not in answer.errors:
        answer.ask("check", core.check_cuda_arch)
    return answer


def imported() -> tuple[Any, ModuleType, ModuleType]:
    """The class and the two modules that decide. An arch list that it cannot read would raise in the middle of the
    import: it is asked about afterwards, so that the other parts have an answer too.
    """
    said = os.environ.pop(ARCH_LIST, None)
    try:
        from flashinfer.compilation_context import CompilationContext
        from flashinfer.jit import core, cpp_ext
    finally:
        if said is not None:
            os.environ[ARCH_LIST] = said
    return CompilationContext, core, cpp_ext


def made(context: Any, core: ModuleType) -> Any:
    """The context as the import of FlashInfer makes it in this environment."""
    setattr(core, CONTEXT, context())
    return getattr(core, CONTEXT)


def spelled(archs: Iterable[tuple[int, str]]) -> list[str]:
    """{(12, "0f")} to ["12.0f"], ascending."""
    return [f"{major}.{minor}" for major, minor in sorted(archs)]


if __name__ == "__main__":
    ask().print()
