"""Asks apache-tvm-ffi which toolkit and architectures it would build with. Runs in the target."""

from __future__ import annotations

import os
import re

from answering import Answer  # type: ignore[import-not-found]  # it lies beside this script


def ask() -> Answer:
    """The answer of the tvm_ffi that can be imported here."""
    from tvm_ffi.cpp import extension

    answer = Answer()
    answer.ask("path", extension._find_cuda_home)
    if "TVM_FFI_CUDA_ARCH_LIST" in os.environ:  # else it asks nvidia-smi
        answer.ask("archs", lambda: spelled(extension._get_cuda_target()))
    return answer


def spelled(flags: str) -> list[str]:
    """The entries behind `-gencode=arch=compute_120a,code=sm_120a`: the last digit is the minor."""
    return [f"{major}.{minor}" for major, minor in re.findall(r"code=sm_(\d+)(\d\w*)(?:\s|$)", flags)]


if __name__ == "__main__":
    ask().print()
