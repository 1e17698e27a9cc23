"""Triton brings its own assemblers and needs no toolkit, unless a GPU is newer than they are.

From compute capability 10.0 on only the second one is used, so one variable is not enough
(triton-inference-server/server#8632). An empty or non-executable path raises PermissionError, a missing one falls back
to what is bundled (triton 3.6.0 and 3.8.0, `knobs.py`): the caller's is never carried over.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from launcher import findings, libcuda
from launcher.architectures import Release, first_release, order, parse_release, show
from launcher.consumers.defaults import compiles_nothing as compiles
from launcher.consumers.defaults import no_floor as floor
from launcher.consumers.defaults import no_harm as harm
from launcher.model import Change, Finding, Found, Step
from launcher.situation import Situation
from launcher.surroundings import Surroundings, Unforeseen

__all__ = ["NAME", "NEEDS", "PACKAGE", "PROBE", "WANTS", "compiles", "contribute", "floor", "harm", "predict"]

NAME = "Triton"
PACKAGE = "triton"
PROBE = "ask_triton.py"
NEEDS: tuple[str, ...] = ()
WANTS: tuple[str, ...] = ()

_PLAIN, _BLACKWELL = "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"
# From a version on: the releases of the bundled ptxas and ptxas-blackwell (asked with --version).
_BUNDLED: tuple[tuple[Version, Release, Release], ...] = (
    (Version("3.8"), (12, 9), (13, 3)),
    (Version("3.6"), (12, 8), (12, 9)),
)


def bundled(version: str | None) -> tuple[Release, Release] | None:
    """Both bundled releases; None for a version that the table does not reach."""
    if version is None:
        return None
    known = Version(version)
    return next(((plain, blackwell) for since, plain, blackwell in _BUNDLED if known >= since), None)


def contribute(situation: Situation) -> Iterator[Change | Step | Finding]:
    """Where libcuda lies, and the chosen toolkit's ptxas, each only where Triton does not find its own way."""
    yield from _where_libcuda_is(situation)
    yield from _assemblers(situation)


def _where_libcuda_is(situation: Situation) -> Iterator[Change]:
    """It asks `/sbin/ldconfig -p`, then LD_LIBRARY_PATH, not the loader itself (triton-lang/triton#1981)."""
    found = libcuda.loaded(situation.facts, ":".join(situation.facts.driver_mounts))
    if found is not None and found.how == libcuda.UNCACHED:
        folder = found.path.rpartition("/")[0]
        because = f"{libcuda.NAME} lies in {folder}, which the loader's cache does not know"
        yield Change(name="TRITON_LIBCUDA_PATH", action="set", value=folder, origin="cuda", because=because)


def _assemblers(situation: Situation) -> Iterator[Change | Finding]:
    releases = bundled(situation.version(PACKAGE))
    if releases is None:
        return
    for variable, release, capabilities in (
        (_PLAIN, releases[0], [c for c in situation.capabilities if order(c) < (10, 0)]),
        (_BLACKWELL, releases[1], [c for c in situation.capabilities if order(c) >= (10, 0)]),
    ):
        unknown = [c for c in capabilities if not _knows(release, c)]
        if unknown:
            yield _from_toolkit(variable, release, unknown, situation)


def _knows(release: Release, capability: str) -> bool:
    """Triton builds for the `a` target from 9.0 on."""
    first = first_release(capability, "a") or first_release(capability)
    return first is None or release >= first


def _from_toolkit(variable: str, release: Release, unknown: list[str], situation: Situation) -> Change | Finding:
    choice = situation.choice
    chosen = parse_release(choice.release) if choice else None
    needed = f"Triton {situation.version(PACKAGE)}'s own ptxas {show(release)} does not know {', '.join(unknown)}"
    if choice is not None and chosen is not None and all(_knows(chosen, capability) for capability in unknown):
        because = f"{needed}, the toolkit's {show(chosen)} does (triton-lang/triton#8539)"
        return Change(name=variable, action="set", value=f"{choice.root}/bin/ptxas", origin="cuda", because=because)
    return findings.warning(
        "assembler-too-old",
        f"{needed}, and no toolkit that does was chosen: its kernels cannot be assembled.",
        fix="A newer Triton (with a newer torch), or a newer toolkit.",
    )


def predict(surroundings: Surroundings) -> Found | None:
    """Which assembler `get_ptxas` takes for the first GPU, and what it takes for its release."""
    releases = bundled(surroundings.packages.get(PACKAGE))
    if not surroundings.capabilities:
        return None
    if releases is None:
        raise Unforeseen(PACKAGE)
    blackwell = order(surroundings.capabilities[0]) >= (10, 0)
    said = surroundings.environ.get(_BLACKWELL if blackwell else _PLAIN)
    own = Found(path="its own", release=show(releases[blackwell]))
    if said is None:
        return own
    tool = surroundings.tool(said)
    if tool.answer == "runs":
        return Found(path=said, release=tool.release)
    raised = {"forbidden": "PermissionError", "below-a-file": "NotADirectoryError", "no-program": "OSError"}
    # A missing, failing or silent one falls back to what is bundled.
    return own if tool.answer not in raised else Found(errors={"path": raised[tool.answer]})
