"""Are the GPUs there that the profile asserts?"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.gpu_selection import used
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """At least `gpus.count` visible ones, each of an asserted compute capability."""
    wish, gpus = situation.profile.gpus, situation.facts.gpus
    yield from _mixed(situation)
    if wish.count is None and not wish.capability:
        yield from _contradiction(situation)
        return
    if gpus is None:
        unknown = next((entry for entry in situation.facts.unknowns if entry.subject == "gpus"), None)
        yield findings.error(
            "gpus-unknown",
            f"The profile asserts {_wished(situation)}, and which GPUs are here could not be told"
            f"{': ' + unknown.because.rstrip('.') if unknown else ''}.",
            fix="Load the NVIDIA driver, or run where its libnvidia-ml.so.1 can be found.",
            where=situation.asked.where("gpus"),
        )
        return
    visible = used(situation.profile, situation.facts)
    if wish.count is not None and len(visible) < wish.count:
        yield findings.error(
            "too-few-gpus",
            f"The profile asserts {_counted(wish.count)}; {len(visible)} can be used here.",
            fix="Check CUDA_VISIBLE_DEVICES, nvidia-smi, and gpus.count with tp-size in the profile.",
            where=situation.asked.where("gpus.count"),
        )
    others = [gpu for gpu in visible if wish.capability and gpu.capability not in wish.capability]
    if others:
        yield findings.error(
            "another-capability",
            f"The profile asserts compute capability {', '.join(wish.capability)}; "
            + ", ".join(f"GPU {gpu.index} ({gpu.name}) has {gpu.capability}" for gpu in others)
            + ".",
            fix="Choose GPUs with gpus.select, or change gpus.capability.",
            where=situation.asked.where("gpus.capability"),
        )
    yield from _contradiction(situation)


def _mixed(situation: Situation) -> Iterator[Finding]:
    """Some modules are built for the first GPU alone: no kernel image for others (flashinfer-ai/flashinfer#5355)."""
    kinds: dict[str, list[str]] = {}
    for gpu in used(situation.profile, situation.facts):
        kinds.setdefault(gpu.capability, []).append(str(gpu.index))
    if len(kinds) > 1:
        listed = ", ".join(f"{capability} (GPU {', '.join(indices)})" for capability, indices in kinds.items())
        yield findings.warning(
            "mixed-capabilities",
            f"The server will use GPUs of several compute capabilities: {listed}; kernels are built for each.",
            fix="Choose GPUs of one kind with gpus.select.",
        )


def _contradiction(situation: Situation) -> Iterator[Finding]:
    """`cuda.arch` for GPUs that are not these."""
    arch = situation.profile.cuda.arch
    missing = sorted({gpu.capability for gpu in used(situation.profile, situation.facts)} - set(arch))
    if arch and missing:
        yield findings.error(
            "arch-contradiction",
            f"cuda.arch says {', '.join(arch)}, but the GPUs here have compute capability {', '.join(missing)}.",
            fix="Leave cuda.arch out: it follows the GPUs.",
            where=situation.asked.where("cuda.arch"),
        )


def _wished(situation: Situation) -> str:
    wish = situation.profile.gpus
    count = "GPUs" if wish.count is None else _counted(wish.count)
    return f"{count} of compute capability {', '.join(wish.capability)}" if wish.capability else count


def _counted(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"
