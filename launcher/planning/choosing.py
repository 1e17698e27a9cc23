"""Chooses the one root that CUDA_HOME, CUDA_PATH, PATH and CUDA_LIB_PATH will name. Pure.

Nearly every consumer reads CUDA_HOME, then CUDA_PATH, then nvcc on PATH, then /usr/local/cuda; one real root in all of
them is the only arrangement that all read alike. So a plan always ends in one named root, if need be one without a
compiler: then libraries fall back to torch's own release.
"""

from __future__ import annotations

from dataclasses import dataclass

from launcher import pinned_wheels
from launcher.architectures import parse_release
from launcher.model import Choice, Strategy, Toolkit, Verdict
from launcher.paths import short_key
from launcher.planning.judging import judge, needs_view
from launcher.situation import Situation

# What a toolkit made from wheels holds (`launcher.pinned_wheels`): neither cuBLAS nor, before 13.2, cuobjdump.
PROVISIONED_PARTS = (
    "nvcc", "cicc", "ptxas", "cuda_runtime.h", "cuda_fp8.h", "curand_kernel.h", "curand.h", "cccl", "lib64",
    "libcudart.so", "libcudart.so.N", "libcuda-stub",
)  # fmt: skip
# Where releases are equal, the first kind wins: what is installed as a whole before what has to be completed.
KINDS = ("real", "conda", "wheel", "provisioned", "distro")
_STRATEGIES: dict[str, Strategy] = {"wheel": "wheel", "provisioned": "provisioned"}


@dataclass(frozen=True)
class Candidate:
    """A toolkit with its verdict."""

    toolkit: Toolkit
    verdict: Verdict


def choose(situation: Situation) -> Choice:
    """The choice for `cuda.toolkit` of the profile; never another than the one that was asked for by name."""
    candidates = tuple(Candidate(toolkit, judge(toolkit, situation)) for toolkit in situation.facts.toolkits)
    wish = situation.profile.cuda.toolkit
    if wish == "hide":
        return _hide(situation, candidates, "the profile asks for it (cuda.toolkit: hide)")
    if wish == "auto":
        best = _best(candidates, situation)
        return (
            _use(best, situation, candidates)
            if best
            else _hide(situation, candidates, _nothing_fits(candidates, situation))
        )
    asked = _asked_for(wish, candidates, situation)
    if asked and asked.verdict.fits:
        return _use(asked, situation, candidates)
    if wish == "provision":
        to_be_made = _to_be_made(situation)
        if to_be_made and to_be_made.verdict.fits:
            return _use(to_be_made, situation, candidates)
        asked = to_be_made or asked
    return _refuse(wish, asked, situation, candidates)


def callers_root(situation: Situation) -> Toolkit | None:
    """The toolkit that the caller's environment leads to, by the order that nearly every consumer follows."""
    order = ("CUDA_HOME", "CUDA_PATH", "nvcc on PATH", "/usr/local/cuda")
    for prefix in order:
        for toolkit in situation.facts.toolkits:
            if any(_is_way(found, prefix) for found in toolkit.found):
                return toolkit
    return None


def _is_way(found: str, prefix: str) -> bool:
    """`found` begins with the way, as a whole word: "/usr/local/cuda-12.8" is not "/usr/local/cuda"."""
    return found == prefix or found.startswith((f"{prefix} ", f"{prefix}=", f"{prefix}:"))


def _best(candidates: tuple[Candidate, ...], situation: Situation) -> Candidate | None:
    fitting = [candidate for candidate in candidates if candidate.verdict.fits]
    own = callers_root(situation)
    return min(fitting, key=lambda candidate: _rank(candidate.toolkit, situation, own), default=None)


def _rank(toolkit: Toolkit, situation: Situation, own: Toolkit | None) -> tuple[int, int, int, int, str]:
    """Torch's own release first; then a higher minor (nearest first), then a lower one; ties by kind.

    Between roots that are equal in that, the one that the caller's environment leads to already: nothing changes.
    """
    release, built = parse_release(toolkit.release) or (0, 0), parse_release(situation.torch_cuda)
    kind = KINDS.index(toolkit.kind)
    callers = 0 if own is not None and toolkit.root == own.root else 1
    if built is None:
        return (callers, 0, -(release[0] * 100 + release[1]), kind, toolkit.root)
    distance = release[1] - built[1]
    group = 0 if distance == 0 else 1 if distance > 0 else 2
    return (group, abs(distance), kind, callers, toolkit.root)


def _asked_for(wish: str, candidates: tuple[Candidate, ...], situation: Situation) -> Candidate | None:
    if wish == "keep":
        own = callers_root(situation)
        return next((candidate for candidate in candidates if candidate.toolkit is own), None)
    if wish in ("wheel", "provision"):
        kind = {"wheel": "wheel", "provision": "provisioned"}[wish]
        ofkind = tuple(candidate for candidate in candidates if candidate.toolkit.kind == kind)
        return _best(ofkind, situation) or next(iter(ofkind), None)
    return next((candidate for candidate in candidates if "profile cuda.toolkit" in candidate.toolkit.found), None)


def _to_be_made(situation: Situation) -> Candidate | None:
    """The toolkit of torch's release that the launch itself would make, judged as if it were there."""
    release, machine = situation.torch_cuda, situation.facts.host.machine
    if release is None or not pinned_wheels.can_be_made(release, machine):
        return None
    root = pinned_wheels.root(situation.places.data, release)
    toolkit = Toolkit(
        root=root,
        kind="provisioned",
        found=("made from wheels before the start",),
        nvcc=f"{root}/bin/nvcc",
        release=release,
        headers_release=release,
        parts=PROVISIONED_PARTS,
    )
    return Candidate(toolkit, judge(toolkit, situation))


def _use(best: Candidate, situation: Situation, candidates: tuple[Candidate, ...]) -> Choice:
    toolkit = best.toolkit
    own = callers_root(situation)
    strategy: Strategy = _STRATEGIES.get(toolkit.kind, "redirect")
    if strategy == "redirect" and own is not None and own.root == toolkit.root:
        strategy = "keep"
    return Choice(
        root=_view(toolkit, situation) if needs_view(toolkit, situation) else toolkit.root,
        source=toolkit.root,
        release=toolkit.release,
        strategy=strategy,
        how=next(iter(toolkit.found), toolkit.root),
        because=best.verdict.because,
        verdicts=_verdicts(candidates),
    )


def _view(toolkit: Toolkit, situation: Situation) -> str:
    """The view's folder: another one as soon as what it links to changes, so that no build mixes two of them."""
    wheels = "".join(f"{name}={version};" for name, version in sorted(toolkit.wheels.items()))
    return f"{situation.places.cache}/toolkits/{toolkit.release}-{short_key(toolkit.root, wheels)}"


def hide_root(situation: Situation) -> str:
    """The root without a compiler."""
    return f"{situation.places.cache}/toolkits/hidden"


def _hide(situation: Situation, candidates: tuple[Candidate, ...], because: str) -> Choice:
    return Choice(
        root=hide_root(situation),
        release=None,
        strategy="hide",
        how="no compiler: libraries fall back to the CUDA release of torch",
        because=because,
        verdicts=_verdicts(candidates),
    )


def _nothing_fits(candidates: tuple[Candidate, ...], situation: Situation) -> str:
    """The toolkit that libraries would find speaks for all; `explain` lists the others with their verdicts."""
    own = callers_root(situation)
    found = next((candidate for candidate in candidates if candidate.toolkit is own), next(iter(candidates), None))
    if found is None:
        return "no toolkit was found"
    compilers = sum(candidate.toolkit.release is not None for candidate in candidates)
    others = "" if compilers < 2 else f", nor does any of {compilers - 1} more"
    return f"{found.toolkit.root} does not suit{others}: {found.verdict.main_reason}"


def _refuse(wish: str, asked: Candidate | None, situation: Situation, candidates: tuple[Candidate, ...]) -> Choice:
    """The root that was asked for, so that `gpulaunch env` shows what it would do; a finding stops the launch."""
    return Choice(
        root=asked.toolkit.root if asked else hide_root(situation),
        source=asked.toolkit.root if asked else None,
        release=asked.toolkit.release if asked else None,
        strategy="refuse",
        how=f"cuda.toolkit: {wish}",
        because=asked.verdict.because if asked else _not_there(wish, situation),
        verdicts=_verdicts(candidates),
    )


def _not_there(wish: str, situation: Situation) -> str:
    if wish != "provision":
        return "it is not there"
    release, machine = situation.torch_cuda, situation.facts.host.machine
    return f"none of CUDA {release or '?'} was made, and none can be: {pinned_wheels.why_not(release, machine)}"


def _verdicts(candidates: tuple[Candidate, ...]) -> tuple[Verdict, ...]:
    return tuple(candidate.verdict for candidate in candidates)
