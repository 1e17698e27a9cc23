"""What stands behind a file called nvcc: its true root, its release, or why it is no compiler.

A symlink in another folder and a wrapper script both lie about the root: everybody takes the parent of the parent
(tile-ai/tilelang#2839). So links are resolved, a script's exec line is followed, and else the compiler itself is asked:
`nvcc --dryrun` prints TOP, Debian's only _HERE_.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from launcher.facts.asking import PATIENCE, ask

_RELEASE = re.compile(r"release (?P<release>[0-9]+\.[0-9]+)")
_TOP = re.compile(r"^#\$ TOP=(?P<top>.+)$", re.MULTILINE)
_HERE = re.compile(r"^#\$ _HERE_=(?P<here>.+)$", re.MULTILINE)
_EXEC = re.compile(r"^\s*exec\s+(?:-a\s+\S+\s+)?[\"']?(?P<program>[^\"'\s]*/nvcc)[\"']?(?:\s|$)", re.MULTILINE)
_DEEPEST = 8  # wrappers of wrappers


@dataclass(frozen=True)
class Compiler:
    """`root` is the true root; `release` None with `problem` where it is no working compiler."""

    path: str
    root: str
    release: str | None
    problem: str | None = None


def parse_release(banner: str) -> str | None:
    """ "... release 12.8, V12.8.93" to "12.8". Pure."""
    match = _RELEASE.search(banner)
    return match["release"] if match else None


def parse_root(dryrun: str) -> str | None:
    """The root that `nvcc --dryrun` names. Pure."""
    top = _TOP.search(dryrun)
    if top:
        return top["top"].strip()
    here = _HERE.search(dryrun)
    return str(Path(here["here"].strip()).parent) if here else None


def parse_wrapper(script: str) -> str | None:
    """The nvcc that a wrapper script executes. Pure."""
    match = _EXEC.search(script)
    return match["program"] if match else None


def examine(path: Path) -> Compiler:
    """Follows links and wrappers to the true compiler and asks it for its release."""
    true = _follow(path)
    root = str(true.parent.parent)
    if not os.path.lexists(path):
        return Compiler(str(true), root, None, "there is no nvcc in it")
    if not true.is_file():
        return Compiler(str(true), root, None, f"{path} leads to {true}, which is no file")
    if not os.access(true, os.X_OK):
        return Compiler(str(true), root, None, f"{true} is not executable")
    banner, problem = _ask(true, "--version")
    release = parse_release(banner)
    if release is None:
        return Compiler(str(true), root, None, problem or f"{true} --version prints no release")
    return Compiler(str(true), _root(true), release)


def _follow(path: Path) -> Path:
    """Behind symlinks and wrapper scripts, to a file that is neither."""
    for _ in range(_DEEPEST):
        try:
            path = path.resolve()
            with path.open("rb") as file:
                head = file.read(4096)
        except (OSError, RuntimeError):
            return path
        wrapped = parse_wrapper(head.decode("utf-8", "replace")) if head.startswith(b"#!") else None
        if not wrapped or not wrapped.startswith("/") or Path(wrapped) == path:
            return path
        path = Path(wrapped)
    return path


def _root(compiler: Path) -> str:
    """The parent of its bin, unless the compiler says otherwise: a script may do more than an exec line shows."""
    parent = compiler.parent.parent
    if (parent / "include/cuda_runtime.h").exists() or (parent / "nvvm").is_dir():
        return str(parent)
    said, _ = _ask(compiler, "--dryrun", "-c", "x.cu")
    root = parse_root(said)
    if root is None:
        return str(parent)
    return str(Path(compiler.parent, root).resolve())


def _ask(compiler: Path, *arguments: str) -> tuple[str, str | None]:
    """What it prints, and why it printed nothing."""
    said = ask([str(compiler), *arguments], cwd="/")
    if said.error is not None:
        return "", f"{compiler} cannot be run: {said.error.strerror}"
    if said.code is None:
        return "", f"{compiler} does not come to an end within {PATIENCE:.0f} s or 1 MiB of output"
    return said.text, None if said.code == 0 else f"{compiler} ends with exit code {said.code}"
