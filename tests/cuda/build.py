"""Builds FlashInfer's smallest module (quantization) as FlashInfer does while serving; prints one line of JSON.

Runs in the environment that serves, where the two GPUs are said as in probe.py.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from probe import two_gpus_of_capability_12_0


def main() -> None:
    two_gpus_of_capability_12_0()
    try:
        print(json.dumps(build()))
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))


def build() -> dict[str, Any]:
    import flashinfer.jit
    import tvm_ffi
    from flashinfer.jit.quantization import gen_quantization_module

    module = gen_quantization_module()
    module.build(verbose=False)
    library = str(module.jit_library_path)
    tvm_ffi.load_module(library)  # the loader finds everything the library needs
    return {"library": library, "workspace": str(flashinfer.jit.env.FLASHINFER_WORKSPACE_DIR)}


if __name__ == "__main__":
    sys.exit(main())
