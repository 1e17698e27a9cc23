"""Is enough memory of the GPUs free, and who has it if not?

What is enough, the command line says: vLLM refuses to start where less than --gpu-memory-utilization of all memory is
free (vllm 0.33.0: 0.92 by default, `config/cache.py` and `v1/worker/gpu_worker.py`), SGLang plans with
--mem-fraction-static. Of any other server it is not known: then it is an error only where nearly nothing is free.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.engines.arguments import option
from launcher.model import Finding
from launcher.preflight.moment import Moment
from launcher.supervise.gpu_memory import MIB, Held, Used
from launcher.supervise.naming import holder

_VLLM = 0.9  # before 0.92 became the default; what is in between is vLLM's to say
_NEARLY_NOTHING = 0.1  # of all memory: below that no model is loaded
_WORTH_A_WORD = 1024 * MIB  # a desktop's windows hold less


def check(moment: Moment) -> Iterator[Finding]:
    """75 with each holder: pid, user, command and MiB."""
    wanted = {gpu.uuid for gpu in moment.wanted}
    if not wanted:
        return
    if moment.looked.gpus is None:
        if not moment.looked.mismatch:
            because = moment.looked.because.rstrip(".")
            yield findings.note("gpus-not-asked", f"Could not tell who holds the GPUs' memory: {because}.")
        return
    share, source = needed(moment.plan.engine, moment.plan.argv)
    for gpu in moment.looked.gpus:
        if gpu.uuid in wanted:
            yield from _judged(gpu, share, source)


def needed(engine: str, argv: tuple[str, ...]) -> tuple[float, str]:
    """The share of a GPU's memory that must be free, and who says so."""
    if engine == "vllm" and not option(argv, "--kv-cache-memory-bytes"):
        said = _share(option(argv, "--gpu-memory-utilization"))
        return (said, "--gpu-memory-utilization") if said else (_VLLM, "vLLM's --gpu-memory-utilization by default")
    if engine == "sglang" and (said := _share(option(argv, "--mem-fraction-static"))):
        return said, "--mem-fraction-static"
    return _NEARLY_NOTHING, "any model"


def _share(text: str | None) -> float | None:
    try:
        share = float(text or "")
    except ValueError:
        return None
    return share if 0 < share <= 1 else None


def _judged(gpu: Used, share: float, source: str) -> Iterator[Finding]:
    holders = gpu.held or ()
    if gpu.free < share * gpu.total:
        who = _listed(holders) or ("the driver does not say by whom" if gpu.held is None else "no process is listed")
        yield findings.error(
            "gpu-held",
            f"GPU {gpu.gpu} has {gpu.free // MIB:,} MiB free of {gpu.total // MIB:,}; {source} needs "
            f"{int(share * gpu.total) // MIB:,}: {who}.",
            fix="Stop that process (gpulaunch clean for what an earlier run left), choose another GPU with "
            "gpus.select, or ask for less.",
        )
    elif large := [held for held in holders if held.memory is None or held.memory >= _WORTH_A_WORD]:
        yield findings.warning(
            "gpu-shared",
            f"GPU {gpu.gpu} is not this server's alone: {_listed(large)}.",
            fix="Nothing if that is meant; else stop that process, or choose another GPU with gpus.select.",
        )


def _listed(holders: tuple[Held, ...] | list[Held]) -> str:
    return "; ".join(f"{holder(held.pid)} holds {_much(held)}" for held in holders)


def _much(held: Held) -> str:
    return "an unknown amount" if held.memory is None else f"{held.memory // MIB:,} MiB"
