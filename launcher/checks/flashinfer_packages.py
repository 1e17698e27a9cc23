"""Are FlashInfer's packages of one version? An upgrade often leaves the prebuilt ones behind.

Up to 0.7.0 the import raises; from 0.7.2 on the package is ignored with a warning, and everything is compiled while
serving (`jit/env.py`). With the check turned off, kernels of another version are loaded (lightseekorg/tokenspeed#284).
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from launcher import findings
from launcher.checks.command import Command
from launcher.consumers.flashinfer import AOT_PACKAGE, PACKAGE
from launcher.model import Finding
from launcher.situation import Situation

CUBINS = "flashinfer-cubin"
SWITCH = "FLASHINFER_DISABLE_VERSION_CHECK"
_IGNORES = Version("0.7.2")


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """By the metadata alone."""
    own = situation.version(PACKAGE)
    others = {name: version for name in (CUBINS, AOT_PACKAGE) if (version := situation.version(name))}
    skewed = {name: version for name, version in others.items() if own and _public(version) != _public(own)}
    switched = bool(command.env.get(SWITCH))
    if own and skewed:
        listed = ", ".join(f"{name} {version}" for name, version in skewed.items())
        yield _told(situation, own, listed, tuple(skewed), switched)
    if switched and own:
        yield findings.warning(
            "version-check-disabled",
            f"{SWITCH} is set: prebuilt kernels of another FlashInfer would be loaded and end in illegal memory "
            "accesses.",
            fix=f"Leave {SWITCH} out.",
            where=situation.asked.where(f"env.set.{SWITCH}") if SWITCH in situation.profile.env.set else None,
        )


def _told(situation: Situation, own: str, listed: str, names: tuple[str, ...], switched: bool) -> Finding:
    python = situation.target.path if situation.target else "python3"
    fix = f"{python} -m pip install {' '.join(f'{name}=={_public(own)}' for name in names)}; or uninstall them."
    if switched:
        what = "the check is turned off"
    elif _ignored(own):
        what = "it ignores them, and compiles while serving"
    else:
        what = "its import raises"
    make = findings.warning if switched or _ignored(own) else findings.error
    return make("flashinfer-packages-differ", f"flashinfer-python is {own}, but {listed}: {what}.", fix=fix)


def _ignored(own: str) -> bool:
    try:
        return Version(own) >= _IGNORES
    except InvalidVersion:
        return False


def _public(version: str) -> str:
    """Without the local part: 0.6.8+cu130 is 0.6.8 for CUDA 13.0."""
    return version.partition("+")[0]
