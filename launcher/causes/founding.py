"""The founding fault, with this machine's own numbers: "FlashInfer requires GPUs with sm75 or higher". Pure.

The text blames the card. FlashInfer's list of architectures is empty, because the nvcc that it asked is too old for the
GPU (flashinfer-ai/flashinfer#3675), or because the GPUs could not be asked at all.
"""

from __future__ import annotations

import shlex

from launcher.consumers import flashinfer
from launcher.model import Plan

CODE = "flashinfer-sm75"


def explanation(plan: Plan) -> str:
    """One sentence, without a full stop."""
    capabilities = tuple(dict.fromkeys(gpu.capability for gpu in plan.gpus or ()))
    prediction = next((one for one in plan.predictions if one.consumer == flashinfer.NAME), None)
    version = prediction.version if prediction else None
    cards = f"the GPUs ({', '.join(capabilities)}) are" if capabilities else "the GPUs are"
    said = f"{cards} not to blame: FlashInfer{f' {version}' if version else ''} found no architecture that "
    found = prediction.planned if prediction else None
    if found is not None and found.release is not None and found.path is not None:
        said += f"CUDA {found.release} in {found.path} may build for"
    elif plan.toolkit.release is not None:
        said += f"its toolkit may build for (planned: CUDA {plan.toolkit.release} in {plan.toolkit.root})"
    else:
        said += "its toolkit may build for (no compiler was planned)"
    if not capabilities:
        said += "; no GPU answered on this machine, and without one the list stays empty"
    floors = [floor for floor in (flashinfer.floor(version, one) for one in capabilities) if floor]
    if floors:
        said += f"; it asks for CUDA {'.'.join(str(part) for part in max(floors))} or newer there"
    return said


def fix(plan: Plan) -> str:
    """What to do next."""
    return (
        f"gpulaunch doctor --verify --profile {shlex.quote(plan.file)} shows which toolkit FlashInfer takes; name a "
        "newer one in cuda.toolkit, or run gpulaunch toolkit add."
    )
