"""Asks Triton which assembler it would run for the first GPU. Runs in the target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from answering import Answer  # type: ignore[import-not-found]  # it lies beside this script


def ask(capability: tuple[int, int] | None = None) -> Answer:
    """The answer of the Triton that can be imported here; for the first GPU that torch sees, unless one is said."""
    import triton
    from triton.backends.nvidia.compiler import get_ptxas

    if capability is None:
        import torch

        capability = torch.cuda.get_device_capability(0)
    arch = capability[0] * 10 + capability[1]
    found: list[Any] = []
    answer = Answer()
    answer.ask("path", lambda: named(get_ptxas(arch), found, Path(triton.__file__).parent))
    if found:
        answer.ask("release", lambda: found[0].version)
    return answer


def named(tool: Any, found: list[Any], package: Path) -> str:
    """Its path, or that it is Triton's own."""
    found.append(tool)
    return "its own" if Path(tool.path).is_relative_to(package) else str(tool.path)


if __name__ == "__main__":
    ask().print()
