"""Judges every place that may serve as CUDA_HOME: does it suit the consumers, the GPUs and torch in the target? Pure.

A judgement is a sentence with the numbers that decided it. Whoever wants another rule writes one more generator and
adds it to `OBJECTIONS`: a root fits if none objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import drivers, host_compilers, libcuda
from launcher.architectures import first_release, parse_release, show
from launcher.consumers import Consumer, installed
from launcher.model import Toolkit, Verdict
from launcher.situation import Situation

# Kinds that are always used through a view of ours: wheels lack parts, conda's bin holds more than a toolkit's.
VIEWED = frozenset({"wheel", "conda"})
# What a view adds: as it lies, nvidia/cu13 compiles but does not link (flashinfer-ai/flashinfer#5064), some
# distributions keep libraries in lib alone (flashinfer-ai/flashinfer#1143), and an installer may leave out the stubs.
ADDED_BY_VIEW = frozenset({"libcudart.so", "libcuda-stub", "lib64"})


def needs_view(toolkit: Toolkit, situation: Situation) -> bool:
    """True for a toolkit that serves once it is completed by links."""
    return toolkit.kind in VIEWED or bool(_missing(toolkit, situation) & ADDED_BY_VIEW)


def _missing(toolkit: Toolkit, situation: Situation) -> frozenset[str]:
    """What the installed consumers need and this toolkit does not hold as it lies."""
    return frozenset(part for consumer in installed(situation) for part in consumer.NEEDS) - set(toolkit.parts)


def judge(toolkit: Toolkit, situation: Situation) -> Verdict:
    """One candidate: fits, or every objection to it."""
    objections = tuple(objection for rule in OBJECTIONS for objection in rule(toolkit, situation))
    if objections:
        return Verdict(root=toolkit.root, fits=False, because="; ".join(objections))
    return Verdict(root=toolkit.root, fits=True, because=_praise(toolkit, situation))


def _praise(toolkit: Toolkit, situation: Situation) -> str:
    suits = [f"torch's CUDA {situation.torch_cuda}"] if situation.torch_cuda else []
    if situation.capabilities:
        suits.append(f"compute capability {', '.join(situation.capabilities)}")
    suits += [consumer.NAME for consumer in installed(situation) if consumer.NEEDS]
    return f"nvcc {toolkit.release} suits {', '.join(suits)}" if suits else f"nvcc {toolkit.release} runs"


def _does_not_run(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    if toolkit.problem:
        yield toolkit.problem
    elif toolkit.release is None:
        yield "its nvcc says no release"


def _belongs_to_the_distribution(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    """CUDA_HOME=/usr makes consumers drop the include path and link in /usr/lib64 (vllm-project/vllm#8665)."""
    if toolkit.kind == "distro":
        yield (
            f"nvcc {toolkit.release} is the distribution's own in {toolkit.root} (package nvidia-cuda-toolkit), "
            "which no consumer can use as a root"
        )


def _incomplete(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    if toolkit.release is None:
        return  # said already: it does not run
    added = ADDED_BY_VIEW if "libcudart.so.N" in toolkit.parts else ADDED_BY_VIEW - {"libcudart.so"}
    missing = sorted(_missing(toolkit, situation) - added)
    if missing:
        yield f"{', '.join(missing)} not in it"


def _headers_of_another_release(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    """CCCL stops the build where nvcc and the headers differ in the minor (vllm-project/vllm#44305)."""
    headers = toolkit.headers_release
    if toolkit.release and headers and headers != toolkit.release:
        yield f"nvcc {toolkit.release} lies beside headers of CUDA {headers}"


def _too_old_for_a_consumer(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    release = parse_release(toolkit.release)
    if release is None:
        return
    for consumer in installed(situation):
        for capability in situation.capabilities:
            floor = consumer.floor(situation.version(consumer.PACKAGE), capability)
            if floor and release < floor:
                asker = _called(consumer, situation)
                yield f"{toolkit.release} < {show(floor)}, which {asker} asks for on compute capability {capability}"


def _does_not_know_the_gpus(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    """From 9.0 on libraries build for the `a` target, which came later than the plain one (9.0: 12.0, not 11.8).

    By release, not by `nvcc --list-gpu-arch`: that never lists the `a` and `f` targets.
    """
    release = parse_release(toolkit.release)
    for capability in situation.capabilities:
        first = first_release(capability, "a") or first_release(capability)
        if release and first and release < first:
            yield f"{toolkit.release} < {show(first)}, the first CUDA that knows compute capability {capability}"


def _another_major_than_torch(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    """A build by another major links another libcudart beside torch's (flashinfer-ai/flashinfer#5145)."""
    release, built = parse_release(toolkit.release), parse_release(situation.torch_cuda)
    if release and built and release[0] != built[0]:
        yield f"CUDA {toolkit.release} is another major release than torch's {situation.torch_cuda}"


def _refuses_the_host_compiler(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    """nvcc stops at a newer gcc than its header names (ggml-org/llama.cpp#22668)."""
    default = host_compilers.refused(toolkit, situation.facts)
    if default is not None and host_compilers.accepted(toolkit, situation.facts) is None:
        yield (
            f"nvcc {toolkit.release} accepts gcc up to {toolkit.newest_gcc}, {default.path} is {default.major} "
            "and there is no older one"
        )


def _needs_a_newer_driver(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    release = parse_release(toolkit.release)
    driver = libcuda.driver(situation.facts, situation.profile.env.set.get("LD_LIBRARY_PATH", ""))
    oldest = drivers.too_old_for(driver, release[0]) if release else None
    if oldest:
        yield f"code of CUDA {toolkit.release} needs driver {oldest} or newer, here is {driver}"


# The weightiest first: it speaks for all where there is room for one.
OBJECTIONS = (
    _does_not_run,
    _too_old_for_a_consumer,
    _does_not_know_the_gpus,
    _another_major_than_torch,
    _belongs_to_the_distribution,
    _headers_of_another_release,
    _incomplete,
    _refuses_the_host_compiler,
    _needs_a_newer_driver,
)


def _called(consumer: Consumer, situation: Situation) -> str:
    version = situation.version(consumer.PACKAGE)
    return f"{consumer.NAME} {version}" if version else consumer.NAME
