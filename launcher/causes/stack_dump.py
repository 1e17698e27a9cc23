"""The stacks of a Python server that hangs, by py-spy, if it is there: said before the server is ended.

SGLang's watchdog asks py-spy for the same and fails without it (sgl-project/sglang#8232).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass

PATIENCE = 15.0  # seconds for all of them together
_MOST = 16  # processes
_LONGEST = 256 << 10  # characters


@dataclass(frozen=True)
class Dump:
    """The stacks, or why there are none (`problem`)."""

    text: str
    problem: str | None = None


def find(search_path: str) -> str | None:
    """py-spy on the planned PATH, which holds the target's bin, else on ours."""
    return shutil.which("py-spy", path=search_path) or shutil.which("py-spy")


def dump(pids: Iterable[int], search_path: str = "", patience: float = PATIENCE) -> Dump:
    """The stacks of these processes. Never raises, and takes `patience` seconds at most."""
    program = find(search_path)
    if program is None:
        return Dump("", "py-spy is neither in the target nor on PATH: python -m pip install py-spy")
    until, parts, problem = time.monotonic() + patience, [], None
    for pid in list(pids)[:_MOST]:
        left = until - time.monotonic()
        if left <= 0:
            problem = f"py-spy took longer than {patience:g} s"
            break
        text, said = _one(program, pid, left)
        problem = said or problem
        if text:
            parts.append(f"--- py-spy dump --pid {pid}\n{text}")
    return Dump("\n".join(parts)[:_LONGEST], None if parts else problem)


def _one(program: str, pid: int, patience: float) -> tuple[str, str | None]:
    """One process: its stacks, or what went wrong. py-spy stops the process while it looks, so it must end."""
    try:
        child = subprocess.Popen(
            [program, "dump", "--pid", str(pid)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return "", f"{program}: {error.strerror}"
    try:
        output, _ = child.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        _end(child)
        return "", f"py-spy dump --pid {pid} took longer than {patience:.0f} s"
    text = output.decode("utf-8", "replace").strip()
    if child.returncode != 0:
        return "", f"py-spy dump --pid {pid}: {text.splitlines()[-1] if text else f'exit {child.returncode}'}"
    return text, None


def _end(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)  # its own session: we made it
    except ProcessLookupError:
        pass
    child.communicate()
