"""What the choice of a toolkit means: the variables that name it, the steps that make it, and the sentences about it.

Pure. The choice itself is `launcher.planning.choosing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings, pinned_wheels
from launcher.architectures import parse_release, show
from launcher.consumers import Consumer, installed
from launcher.model import Change, Choice, Finding, Severity, Step, Toolkit
from launcher.planning.choosing import callers_root
from launcher.situation import Situation

# A CUDA 13 wheel toolkit is whole with all of these, of torch's own minor release (ls1intum/edutelligence#687).
WHEELS = ("nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm", "nvidia-cuda-runtime", "nvidia-cuda-cccl")


def variables(situation: Situation, choice: Choice) -> Iterator[Change]:
    """CUDA_HOME and CUDA_PATH alike: cuda-pathfinder reads them the other way round than everybody else."""
    story = f"{choice.strategy}: {choice.because}"
    for name in ("CUDA_HOME", "CUDA_PATH"):
        yield Change(name=name, action="set", value=choice.root, origin="cuda", because=situation.because(story))
    library = "lib" if choice.release is None else "lib64"
    yield Change(
        name="CUDA_LIB_PATH",
        action="set",
        value=f"{choice.root}/{library}",
        origin="cuda",
        because=situation.because(
            "FlashInfer loads libcudart.so.12 from here at import, by default from /usr/local/cuda"
        ),
    )


def steps(situation: Situation, choice: Choice) -> Iterator[Step]:
    """A view, a toolkit from wheels or a root without a compiler has to be made; any other root is there."""
    if choice.strategy == "provisioned" and all(it.root != choice.source for it in situation.facts.toolkits):
        why = f"a CUDA {choice.release} toolkit from NVIDIA's wheels, about 170 MB to fetch: the profile allows it"
        yield Step(action="provision", path=choice.source or choice.root, source=choice.release, because=why)
    if choice.source and choice.root != choice.source and choice.release:
        why = (
            "completes the toolkit in the target's wheels: as it lies it compiles but does not link"
            if choice.strategy == "wheel"
            else "the toolkit's own programs, with the libraries where builds look for them"
        )
        yield Step(action="view", path=choice.root, source=choice.source, because=why)
    elif choice.release is None:
        yield Step(action="hide-root", path=choice.root, because="a root without a compiler")


def about(situation: Situation, choice: Choice) -> Iterator[Finding]:
    """What the operator should know of the choice."""
    if choice.strategy == "refuse":
        yield _refused(situation, choice)
    elif choice.strategy == "hide":
        yield from _hidden(situation, choice)
    else:
        yield from _replaced(situation, choice)
        yield from _another_minor(situation, choice)
        yield from _wanting(situation, choice)
    if situation.facts.target is not None and not situation.capabilities and installed(situation):
        yield findings.note(
            "arch-unknown",
            "Could not tell the GPUs' compute capability: no architecture list is set.",
            fix="Say it in the profile: gpus: {capability: ...} or cuda: {arch: [...]}.",
        )


def _refused(situation: Situation, choice: Choice) -> Finding:
    return findings.error(
        "toolkit-refused",
        f"The profile asks for cuda.toolkit: {situation.profile.cuda.toolkit}, which cannot serve: {choice.because}.",
        fix="Say cuda: {toolkit: auto}, or name a toolkit that fits.",
        where=situation.asked.where("cuda.toolkit"),
    )


def _replaced(situation: Situation, choice: Choice) -> Iterator[Finding]:
    """The founding fault, told with this machine's numbers."""
    stale = callers_root(situation)
    if stale is None or stale.root == choice.source:
        return
    yield findings.note(
        "toolkit-replaced",
        f"{_what(stale)} is what libraries would find ({_how(stale)}), but {_objection(choice, stale)}: "
        f"the server gets nvcc {choice.release} in {choice.root} ({choice.how}).",
    )


def _another_minor(situation: Situation, choice: Choice) -> Iterator[Finding]:
    release, built = parse_release(choice.release), parse_release(situation.torch_cuda)
    if release and built and release != built:
        newer = release > built
        consequence = (
            "code built by a newer one may miss symbols in torch's libcudart (flashinfer-ai/flashinfer#928)"
            if newer
            else "it links against an older libcudart than the process loads, which is the harmless direction"
        )
        yield findings.warning(
            "toolkit-of-another-minor",
            f"nvcc {show(release)} is {'newer' if newer else 'older'} than the release that torch was built for "
            f"({show(built)}): {consequence}.",
            fix=_install_wheels(situation),
        )


def _wanting(situation: Situation, choice: Choice) -> Iterator[Finding]:
    """Parts that a library calls on some paths only."""
    toolkit = next((toolkit for toolkit in situation.facts.toolkits if toolkit.root == choice.source), None)
    for consumer in installed(situation) if toolkit else ():
        missing = [part for part in consumer.WANTS if toolkit and part not in toolkit.parts]
        if missing:
            called = _called(consumer, situation.version(consumer.PACKAGE))
            yield findings.note(
                "toolkit-part-missing",
                f"{called} calls {', '.join(missing)} on some paths, which the toolkit {choice.source} does not hold.",
                fix="A whole toolkit of NVIDIA's holds it; its wheel (nvidia-cuda-cuobjdump) begins at CUDA 13.2.",
            )


def _hidden(situation: Situation, choice: Choice) -> Iterator[Finding]:
    yield from _below_floor(situation)
    uncompiled = [phrase for consumer in installed(situation) if (phrase := consumer.compiles(situation))]
    if not uncompiled:
        lost = "nothing here is known to need one"
        if situation.assumed:
            lost = "what would have to be compiled could not be told"
        yield findings.note("toolkit-hidden", _hidden_message(situation, choice, lost))
        return
    asked = situation.profile.cuda.toolkit == "hide"
    lost = f"these cannot be compiled: {'; '.join(uncompiled)}"
    make = findings.warning if asked else findings.error
    yield make("toolkit-hidden", _hidden_message(situation, choice, lost), fix=_install_wheels(situation))


def _hidden_message(situation: Situation, choice: Choice, consequence: str) -> str:
    stale = callers_root(situation)
    built = f"torch's CUDA {situation.torch_cuda}" if situation.torch_cuda else "torch's own CUDA release"
    if stale is None:
        reason = f"There is no CUDA compiler to use ({choice.because})"
    elif situation.profile.cuda.toolkit == "hide":
        reason = f"{_what(stale)} ({_how(stale)}) is hidden, as the profile asks"
    else:
        wheels = _wheels_too(situation, choice)
        reason = f"{_what(stale)} ({_how(stale)}) is hidden, as {_objection(choice, stale)}{wheels}"
    return f"{reason}; libraries go by {built}, and {consequence}."


def _wheels_too(situation: Situation, choice: Choice) -> str:
    """Wheels that were installed for the very purpose and do not fit: their reason matters as much.

    An unpinned nvcc wheel comes with cuda-tile or humming-kernels and is newer than torch's headers
    (ls1intum/edutelligence#687).
    """
    unfit = [toolkit for toolkit in situation.facts.toolkits if toolkit.kind == "wheel" and toolkit.release]
    return "".join(f"; the wheels in the target do not fit either: {_objection(choice, wheel)}" for wheel in unfit)


def _below_floor(situation: Situation) -> Iterator[Finding]:
    """Hiding cures nothing where torch's own release is below what a consumer asks for."""
    built = parse_release(situation.torch_cuda)
    if built is None:
        return
    for consumer in installed(situation):
        for capability in situation.capabilities:
            version = situation.version(consumer.PACKAGE)
            floor = consumer.floor(version, capability)
            if floor and built < floor:
                yield findings.error(
                    "torch-below-floor",
                    f"{_called(consumer, version)} asks for CUDA {show(floor)} on compute capability {capability}, "
                    f"torch was built for {show(built)} and no toolkit that fits was found.",
                    fix=f"Install a toolkit of CUDA {built[0]} from {show(floor)} on, or a newer torch.",
                )


def _install_wheels(situation: Situation) -> str:
    """The exact line that gives the target a working toolkit."""
    built = parse_release(situation.torch_cuda)
    if built is None:
        return "Install the CUDA toolkit of the release that torch was built for."
    if built[0] < 13:
        return f"Install the CUDA {show(built)} toolkit: no CUDA 12 wheel holds nvcc."
    pins = " ".join(f"'{name}=={show(built)}.*'" for name in WHEELS)
    python = situation.target.path if situation.target else "python3"
    into_the_target = f"{python} -m pip install {pins}"
    if pinned_wheels.can_be_made(show(built), situation.facts.host.machine):
        return f"gpulaunch toolkit add {show(built)} (the target stays as it is), or {into_the_target}"
    return into_the_target


def _how(toolkit: Toolkit) -> str:
    return next(iter(toolkit.found), toolkit.root)


def _what(toolkit: Toolkit) -> str:
    return f"nvcc {toolkit.release} in {toolkit.root}" if toolkit.release else toolkit.root


def _objection(choice: Choice, toolkit: Toolkit) -> str:
    verdict = next((verdict for verdict in choice.verdicts if verdict.root == toolkit.root), None)
    if verdict is None or verdict.fits:
        return "another one suits better"
    return verdict.main_reason


def _called(consumer: Consumer, version: str | None) -> str:
    return f"{consumer.NAME} {version}" if version else consumer.NAME


def is_blocking(finding: Finding) -> bool:
    """True for an error."""
    return finding.severity is Severity.ERROR
