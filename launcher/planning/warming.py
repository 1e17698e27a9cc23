"""Which modules of FlashInfer's a server will need, as far as profile and command line tell. Pure.

The small ones are needed by every server that uses FlashInfer at all. Attention is built for the model's head size,
fused experts for the GPU: both take long, and are wanted only where an option asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from launcher.consumers.flashinfer import PACKAGE
from launcher.engines.arguments import option
from launcher.gpu_selection import capabilities
from launcher.model import Facts, Finding, Plan
from launcher.profile.asked import Asked

ALWAYS = ("sampling", "page", "norm", "quantization")
_ATTENTION = ("--attention-backend", "--prefill-attention-backend", "--decode-attention-backend")
_EXPERTS = ("--moe-runner-backend", "--moe-backend")
# Compute capability to a part of the generator's name (`jit/fused_moe.py`, FlashInfer 0.5.3 to 0.7.4).
_FUSED = {"9.0": "sm90", "10.0": "sm100", "10.3": "sm103", "12.0": "sm120", "12.1": "sm120"}
# A missing GPU, a port that is taken or a model that is not here keep nobody from compiling.
_IN_THE_WAY = (
    "toolkit-refused", "toolkit-hidden", "torch-below-floor", "build-tool-missing", "cache-not-writable",
    "flashinfer-packages-differ",
)  # fmt: skip


def modules(asked: Asked, facts: Facts, plan: Plan) -> tuple[str, ...]:
    """Names that `probes/warm_flashinfer.py` knows, the quick ones first; none where nothing is compiled."""
    packages = (facts.target.packages or {}) if facts.target else {}
    if PACKAGE not in packages or plan.toolkit.release is None:
        return ()
    return tuple(dict.fromkeys(_wanted(plan.argv, capabilities(asked.profile, facts))))


def in_the_way(plan: Plan) -> tuple[Finding, ...]:
    """Errors that would let a compilation fail too."""
    return tuple(
        finding
        for finding in plan.findings
        if finding.exit_code and (finding.code in _IN_THE_WAY or finding.code.startswith("target-"))
    )


def model_folder(asked: Asked) -> str:
    """The model, if it is a folder; a name on a hub is not looked up."""
    model = asked.profile.model or ""
    return model if model.startswith("/") else ""


def _wanted(argv: Sequence[str], capable_of: Sequence[str]) -> Iterator[str]:
    samples = option(argv, "--sampling-backend")
    yield from (name for name in ALWAYS if name != "sampling" or samples in (None, "flashinfer"))
    if any((option(argv, name) or "").lower() == "flashinfer" for name in _ATTENTION):
        yield from ("rope", "cascade", "attention")
    if any((option(argv, name) or "").startswith("flashinfer_cutlass") for name in _EXPERTS):
        yield from (f"fused_moe_{_FUSED[known]}" for known in capable_of if known in _FUSED)
