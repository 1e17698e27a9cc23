"""Was torch built by a CUDA that knows these GPUs?

"no kernel image is available for execution on the device" comes late, and means that it was not: a compiler cannot have
built for a compute capability that it does not know (vllm-project/vllm#20193).
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.architectures import first_release, order, parse_release, show
from launcher.checks.command import Command
from launcher.gpu_selection import used
from launcher.model import Finding
from launcher.situation import Situation

# CUDA 13 dropped what is older (its nvcc refuses sm_70 and sm_72).
_OLDEST_OF_13 = (7, 5)


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """For each kind of GPU that is used."""
    built = parse_release(situation.torch_cuda)
    torch = situation.target.torch if situation.target else None
    if built is None or torch is None:
        return
    here = tuple(dict.fromkeys(gpu.capability for gpu in used(situation.profile, situation.facts)))
    for capability in here or situation.capabilities:
        first = first_release(capability)
        if first is not None and built < first:
            yield _without(torch.version, capability, f"CUDA {show(first)} is the first that knows it")
        elif built[0] >= 13 and order(capability) < _OLDEST_OF_13:
            yield _without(torch.version, capability, "CUDA 13 begins at 7.5")


def _without(torch: str, capability: str, because: str) -> Finding:
    return findings.error(
        "torch-without-gpu",
        f"torch {torch} holds no kernels for compute capability {capability}: {because}.",
        fix="Install a torch that was built by a CUDA which knows these GPUs.",
    )
