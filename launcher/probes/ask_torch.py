"""Asks PyTorch which toolkit its extensions would be built with. Runs in the target."""

from __future__ import annotations

from answering import Answer  # type: ignore[import-not-found]  # it lies beside this script


def ask() -> Answer:
    """The answer of the torch that can be imported here."""
    import torch
    from torch.utils import cpp_extension

    answer = Answer()
    answer.ask("path", cpp_extension._find_cuda_home)
    answer.ask("release", lambda: torch.version.cuda)
    return answer


if __name__ == "__main__":
    ask().print()
