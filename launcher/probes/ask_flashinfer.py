"""Asks FlashInfer: its toolkit, CUDA release, architectures, and the check that ends a service. Runs in the target."""

from __future__ import annotations

from collections.abc import Iterable

from answering import Answer  # type: ignore[import-not-found]  # it lies beside this script


def ask() -> Answer:
    """The answer of the FlashInfer that can be imported here."""
    answer = Answer()
    try:
        from flashinfer.compilation_context import CompilationContext
        from flashinfer.jit import core, cpp_ext
    except Exception as error:  # an arch list that it cannot read raises while it is imported
        answer.errors["archs"] = type(error).__name__
        return answer
    answer.ask("path", cpp_ext.get_cuda_path)
    answer.ask("release", lambda: str(cpp_ext.get_cuda_version()))
    answer.ask("archs", lambda: spelled(CompilationContext().TARGET_CUDA_ARCHS))
    if "archs" not in answer.errors:
        answer.ask("check", core.check_cuda_arch)
    return answer


def spelled(archs: Iterable[tuple[int, str]]) -> list[str]:
    """{(12, "0f")} to ["12.0f"], ascending."""
    return [f"{major}.{minor}" for major, minor in sorted(archs)]


if __name__ == "__main__":
    ask().print()
