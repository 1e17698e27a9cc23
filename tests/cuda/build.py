"""Builds a module of FlashInfer's as FlashInfer does while serving; prints one line of JSON.

    python build.py [quantization | sampling]      quantization is the smallest one

Runs in the environment that serves, where the two GPUs are said as in probe.py.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from probe import two_gpus_of_capability_12_0


def main() -> None:
    two_gpus_of_capability_12_0()
    try:
        print(json.dumps(build(*sys.argv[1:])))
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))


def build(name: str = "quantization") -> dict[str, Any]:
    import flashinfer.jit
    import tvm_ffi

    source = importlib.import_module(f"flashinfer.jit.{name}")
    module = getattr(source, f"gen_{name}_module")()
    module.build(verbose=False)
    library = Path(module.jit_library_path)
    tvm_ffi.load_module(str(library))  # the loader finds everything the library needs
    workspace = Path(flashinfer.jit.env.FLASHINFER_WORKSPACE_DIR)
    return {"library": str(library), "workspace": str(workspace), "compiled": compiled(workspace)}


def compiled(workspace: Path) -> list[str]:
    """Every object that a compiler was called for, from the logs of ninja below the workspace."""
    lines = [line for log in workspace.rglob(".ninja_log") for line in log.read_text().splitlines()[1:]]
    outputs = [line.split("\t")[3] for line in lines if "\t" in line]
    return sorted(Path(output).name for output in outputs if output.endswith(".o"))


if __name__ == "__main__":
    sys.exit(main())
