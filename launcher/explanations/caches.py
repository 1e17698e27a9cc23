"""Codes of findings about what libraries compiled while serving, and where they keep it."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "dead-cache-variable": Explanation(
        cause="A variable was renamed, and what still sets the old name has no effect: caches go to their default "
        "place, often on shared storage (NVIDIA/TensorRT-LLM#17810).",
        evidence="No release of the library that was read (FlashInfer 0.5.0 to 0.7.4) reads the name.",
        fix="Set the name that is read; gpulaunch sets it by itself.",
    ),
    "cache-not-local": Explanation(
        cause="Compiled kernels lie on a network file system: locks are lost or kept for ever, files vanish under a "
        "running process, and two machines compile into one folder (flashinfer-ai/flashinfer#3777).",
        evidence="The type of the file system in /proc/self/mountinfo. Weights may be shared, kernels never.",
        fix="XDG_CACHE_HOME on a local disk, or CacheDirectory= in the unit.",
    ),
    "cache-not-writable": Explanation(
        cause="A library would fail at the first kernel that it has to compile, after the weights are loaded "
        "(vllm-project/vllm#28440).",
        evidence="The folder, or the nearest one above it that exists, cannot be written by this user.",
        fix="XDG_CACHE_HOME, or CacheDirectory= in the unit.",
        exit_code=errors.NO_PERMISSION,
    ),
    "cache-locked": Explanation(
        cause="A module is being built, or its builder hangs: whoever needs it waits without a word, or for ever "
        "(flashinfer-ai/flashinfer#972, #993).",
        evidence="/proc/locks names the holder of the lock, or a process has the lock file open.",
        fix="Wait, or look at the process that is named and end it.",
    ),
    "stale-lock": Explanation(
        cause="The lock is the file itself, and its maker was killed before it could remove it: all others wait for "
        "ever (torch/utils/file_baton.py).",
        evidence="No process has the file open.",
        fix="Remove the file that is named.",
    ),
    "poisoned-build": Explanation(
        cause="A cached build runs another compiler than the chosen one, or was linked for another CUDA than torch's. "
        "FlashInfer up to 0.6.11 writes build.ninja once and never again, so that a right CUDA_HOME changes nothing "
        "(flashinfer-ai/flashinfer#3229, #5145).",
        evidence="cuda_home in build.ninja, and the libcudart that the built library's dynamic section names.",
        fix="gpulaunch moves it aside before the start, into a folder beside it with the day in its name; nothing is "
        "deleted.",
    ),
    "cache-cold": Explanation(
        cause="Nothing is compiled yet for this toolchain: the server compiles while requests wait, and several ranks "
        "at once may meet in one folder (flashinfer-ai/flashinfer#539, deepseek-ai/DeepGEMM#301).",
        evidence="No compiled module lies below the root of this toolchain.",
        fix="gpulaunch cache warm --profile P compiles before the start, one process for all ranks.",
    ),
    "flashinfer-packages-differ": Explanation(
        cause="flashinfer-python, flashinfer-cubin and flashinfer-jit-cache must be of one version; an upgrade left "
        "one behind (flashinfer-ai/flashinfer#4869). Up to 0.7.0 the import raises, from 0.7.2 on the package is "
        "ignored and its kernels are compiled while serving.",
        evidence="The metadata in the target.",
        fix="Install the same version of all three, or remove the one that is not needed.",
    ),
    "version-check-disabled": Explanation(
        cause="FLASHINFER_DISABLE_VERSION_CHECK loads prebuilt kernels of another version: it has ended in illegal "
        "memory accesses (lightseekorg/tokenspeed#284).",
        evidence="The planned environment sets it; gpulaunch never does by itself.",
        fix="Leave it out, and install the same version of all FlashInfer packages.",
    ),
    "warm-failed": Explanation(
        cause="A module could not be compiled in the planned environment; the server would fail at its first use.",
        evidence="FlashInfer's own build was run in the target; the message holds the first line that speaks of it.",
        fix="gpulaunch doctor --profile P tells the toolkit, --build tries one line of code.",
        exit_code=errors.FAILED,
    ),
    "nothing-to-warm": Explanation(
        cause="The target has no library whose modules could be compiled in advance.",
        evidence="No flashinfer-python in the target's metadata, or all of it is prebuilt.",
        fix="Nothing.",
    ),
    "cache-in-use": Explanation(
        cause="A running process uses the folder, so that it is not removed.",
        evidence="Its environment, open files, mapped libraries or a lock name it.",
        fix="Stop the server first.",
    ),
}
