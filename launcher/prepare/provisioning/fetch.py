"""Fetches wheels and unpacks them, with pip: it knows the operator's index, proxies and certificates.

Only what is pinned comes, without dependencies. The target is not asked: its pip belongs to it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from launcher.prepare.failure import Failure

_QUIET = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--quiet")
_SHOWN = 3  # lines of what pip says


def fetch(pin: str, into: Path, find_links: Sequence[str]) -> None:
    """One wheel. Raises Failure with pip's last words."""
    offline = [word for folder in find_links for word in ("--find-links", folder)]
    if offline:
        offline.append("--no-index")
    _pip(["download", *_QUIET, "--no-deps", "--only-binary=:all:", "--dest", str(into), *offline, pin])


def unpack(pins: Sequence[str], wheels: Path, into: Path) -> Path:
    """The toolkit that these wheels make together, as it lies."""
    offline = ("--no-index", "--find-links", str(wheels))
    _pip(["install", *_QUIET, "--no-deps", "--no-compile", "--target", str(into), *offline, *pins])
    shutil.rmtree(wheels, ignore_errors=True)
    return into / "nvidia/cu13"


def _pip(words: Sequence[str]) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_TARGET"))}
    done = subprocess.run(
        [*_program(), *words],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=_end_with_us,
    )
    if done.returncode:
        said = [
            line for line in done.stdout.splitlines() if line.strip() and not line.startswith(("WARNING", "[notice]"))
        ]
        raise Failure(f"pip fetches nothing: {' / '.join(said[-_SHOWN:]) or f'exit code {done.returncode}'}", _CURE)


_CURE = (
    "Check the network and pip's index; without a network fetch the wheels elsewhere (pip download --no-deps) and name "
    "their folder with --find-links"
)


def _program() -> tuple[str, ...]:
    """pip of the Python that runs us; else any pip: all wheels are for every Python."""
    from importlib.util import find_spec

    if find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    other = shutil.which("pip3") or shutil.which("pip")
    if other is None:
        raise Failure(f"there is no pip for {sys.executable}", f"{sys.executable} -m ensurepip, or install pip")
    return (other,)


def _end_with_us() -> None:
    """A launcher that is killed leaves no pip behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
