"""The names by which CUDA's folders call a machine. Data; pure."""

from __future__ import annotations

# Below `targets` of a toolkit. Arm servers are sbsa; Jetson's toolkits before CUDA 13 say aarch64. A toolkit with
# cross compilers has the folders of other machines beside its own.
TARGETS = {"x86_64": ("x86_64-linux",), "aarch64": ("sbsa-linux", "aarch64-linux")}
# Below /opt/nvidia/hpc_sdk.
HPC_SDK = {"x86_64": "Linux_x86_64", "aarch64": "Linux_aarch64"}
# Below /usr/lib on Debian and Ubuntu.
MULTIARCH = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}


def below_targets(machine: str, path: str) -> tuple[str, ...]:
    """`targets/*/PATH` for this machine's own names."""
    return tuple(f"targets/{name}/{path}" for name in TARGETS.get(machine, ()))
