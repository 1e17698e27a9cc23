"""Judges every place that may serve as CUDA_HOME: does it suit the consumers, the GPUs and torch in the target? Pure.

A judgement is a sentence with the numbers that decided it. Whoever wants another rule writes one more generator and
adds it to `OBJECTIONS`: a root fits if none objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher.architectures import first_release, parse_release, show
from launcher.consumers import Consumer, installed
from launcher.model import Toolkit, Verdict
from launcher.situation import Situation

# What a view adds: as it lies, nvidia/cu13 compiles but does not link (flashinfer-ai/flashinfer#5064).
ADDED_BY_VIEW = frozenset({"libcudart.so", "libcuda-stub", "lib64"})


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
        yield f"nvcc {toolkit.release} is the distribution's own in {toolkit.root}, which no consumer can use as a root"


def _shares_its_folder(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    """conda's bin on PATH would bring its python, gcc and ninja along."""
    if toolkit.kind == "conda":
        yield f"nvcc {toolkit.release} is conda's in {toolkit.root}, whose bin holds more than a toolkit's programs"


def _incomplete(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    needed = {part for consumer in installed(situation) for part in consumer.NEEDS}
    there = set(toolkit.parts) | (ADDED_BY_VIEW if toolkit.kind == "wheel" else set())
    missing = sorted(needed - there)
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
    release = parse_release(toolkit.release)
    for capability in situation.capabilities:
        first = first_release(capability)
        if release and first and release < first:
            yield f"{toolkit.release} < {show(first)}, the first CUDA that knows compute capability {capability}"


def _another_major_than_torch(toolkit: Toolkit, situation: Situation) -> Iterator[str]:
    """A build by another major links another libcudart beside torch's (flashinfer-ai/flashinfer#5145)."""
    release, built = parse_release(toolkit.release), parse_release(situation.torch_cuda)
    if release and built and release[0] != built[0]:
        yield f"CUDA {toolkit.release} is another major release than torch's {situation.torch_cuda}"


OBJECTIONS = (
    _does_not_run,
    _belongs_to_the_distribution,
    _shares_its_folder,
    _too_old_for_a_consumer,
    _does_not_know_the_gpus,
    _another_major_than_torch,
    _headers_of_another_release,
    _incomplete,
)


def _called(consumer: Consumer, situation: Situation) -> str:
    version = situation.version(consumer.PACKAGE)
    return f"{consumer.NAME} {version}" if version else consumer.NAME
