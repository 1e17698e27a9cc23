"""Asks DeepGEMM which toolkit it takes: its own function, without the import that loads its kernels.

Runs in the target.
"""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path
from typing import Any

from answering import Answer, folder_of, module_of  # type: ignore[import-not-found]  # it lies beside this script


def ask() -> Answer:
    """The answer of the deep_gemm that is installed here."""
    answer = Answer()
    find_cuda_home = finder()
    answer.ask("path", find_cuda_home)
    return answer


def finder() -> Any:
    """`find_cuda_home` of its own module (0.2 on), or `_find_cuda_home` in the package's first file (0.1)."""
    folder: Path = folder_of("deep_gemm")
    if (folder / "cuda_helpers.py").is_file():
        return module_of("deep_gemm", "cuda_helpers.py").find_cuda_home
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "_find_cuda_home")
    there: dict[str, Any] = {"os": os, "subprocess": subprocess}
    exec(compile(ast.Module([function], []), str(folder), "exec"), there)
    return there["_find_cuda_home"]


if __name__ == "__main__":
    ask().print()
