"""Which of the GPUs that a server will see it will truly use: they are claimed, and must have free memory. Pure.

Too few is harmless, as memory is looked at all the same by whoever starts next; too many would refuse a server that
could run. So a server that names no GPUs and whose engine runs on a CPU as well (a proxy, a llama.cpp demo) wants none.
"""

from __future__ import annotations

from launcher.engines.arguments import option
from launcher.model import Gpu, Plan
from launcher.profile.schema import Profile


def wanted_gpus(plan: Plan, profile: Profile) -> tuple[Gpu, ...]:
    """In PCI order. With CUDA_VISIBLE_DEVICES all that it leaves: whoever set it meant them."""
    seen = plan.gpus or ()
    if plan.env.get("CUDA_VISIBLE_DEVICES"):
        return seen
    first, count = _by_flags(plan)
    if count is None:
        count = profile.gpus.count or (len(seen) if profile.gpus.select or profile.gpus.capability else 0)
    return seen[first : first + count]


def _by_flags(plan: Plan) -> tuple[int, int | None]:
    """The first GPU and how many of this machine's, by the engine's own flags (sglang 0.5.14 `server_args.py`, vllm
    0.33.0 `config/parallel.py`); None: this engine has none such.
    """
    if plan.engine not in ("sglang", "vllm"):
        return 0, None
    tensor = _number(plan.argv, 1, "--tp-size", "--tensor-parallel-size", "--tp", "-tp")
    pipeline = _number(plan.argv, 1, "--pp-size", "--pipeline-parallel-size", "--pp", "-pp")
    replicas = _number(plan.argv, 1, "--dp-size", "--data-parallel-size", "--dp", "-dp")
    if plan.engine == "sglang" and "--enable-dp-attention" in plan.argv:
        replicas = 1  # then the replicas share the tensor-parallel GPUs
    nodes = _number(plan.argv, 1, "--nnodes")
    return _number(plan.argv, 0, "--base-gpu-id"), max(1, tensor * pipeline * replicas // nodes)


def _number(argv: tuple[str, ...], otherwise: int, *names: str) -> int:
    said = option(argv, *names)
    return max(int(said), otherwise) if said and said.isdecimal() else otherwise
