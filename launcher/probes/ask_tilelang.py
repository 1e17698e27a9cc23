"""Asks tilelang which toolkit it takes: the module that decides is loaded alone, the whole would load its compiler.

Runs in the target.
"""

from __future__ import annotations

from answering import Answer, module_of  # type: ignore[import-not-found]  # it lies beside this script


def ask() -> Answer:
    """The answer of the tilelang that is installed here."""
    answer = Answer()
    answer.ask("path", lambda: module_of("tilelang", "env.py")._find_cuda_home())
    return answer


if __name__ == "__main__":
    ask().print()
