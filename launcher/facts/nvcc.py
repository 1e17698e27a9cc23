"""What stands behind a file called nvcc: its true root, its release, or why it is no compiler.

A symlink in another folder and a wrapper script both lie about the root: everybody takes the parent of the parent
(tile-ai/tilelang#2839). So links are resolved, a script's exec line is followed, and else the compiler itself is asked:
`nvcc --dryrun` prints TOP, Debian's only _HERE_.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_RELEASE = re.compile(r"release (?P<release>[0-9]+\.[0-9]+)")
_TOP = re.compile(r"^#\$ TOP=(?P<top>.+)$", re.MULTILINE)
_HERE = re.compile(r"^#\$ _HERE_=(?P<here>.+)$", re.MULTILINE)
_EXEC = re.compile(r"^\s*exec\s+(?:-a\s+\S+\s+)?[\"']?(?P<program>[^\"'\s]*/nvcc)[\"']?(?:\s|$)", re.MULTILINE)
_PATIENCE = 10.0  # seconds for a compiler to say its version
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
    """What it prints, and why it printed nothing. A small environment: NVCC_APPEND_FLAGS would change its answers."""
    try:
        done = subprocess.run(
            [str(compiler), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"},
            cwd="/",
        )
    except subprocess.TimeoutExpired:
        return "", f"{compiler} does not answer within {_PATIENCE:.0f} s"
    except OSError as error:
        return "", f"{compiler} cannot be run: {error.strerror}"
    text = done.stdout.decode("utf-8", "replace")
    return text, None if done.returncode == 0 else f"{compiler} ends with exit code {done.returncode}"
