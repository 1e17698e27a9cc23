"""Can the server compile what it will have to? ninja and a C++ compiler on the child's PATH, Python.h for Triton.

Without them it fails after the weights are loaded, or is reported as "not healthy" (anthony-chaudhary/fak#923).
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import findings
from launcher.checks.command import Command
from launcher.consumers import installed
from launcher.consumers.triton import PACKAGE as TRITON
from launcher.model import Finding
from launcher.situation import Situation


def check(situation: Situation, command: Command) -> Iterator[Finding]:
    """Only what was looked for and is not there is an error."""
    yield from _without_ninja_or_compiler(situation)
    yield from _without_python_header(situation)


def _without_ninja_or_compiler(situation: Situation) -> Iterator[Finding]:
    choice = situation.choice
    needing = [consumer.NAME for consumer in installed(situation) if consumer.compiles(situation)]
    if choice is None or choice.release is None or not needing:
        return
    python = situation.target.path if situation.target else "python3"
    cures = {"ninja": f"{python} -m pip install ninja", "c++": "Install g++ (Debian and Ubuntu: apt install g++)."}
    for program, cure in cures.items():
        if _is_missing(program, situation):
            yield findings.error(
                "build-tool-missing",
                f"{program} is on none of the server's PATH folders, and {', '.join(needing)} will compile kernels.",
                fix=cure,
            )


def _is_missing(program: str, situation: Situation) -> bool:
    programs = situation.facts.programs
    return program in programs and programs[program] is None


def _without_python_header(situation: Situation) -> Iterator[Finding]:
    """Triton builds a small module against it at the first kernel (vllm-project/vllm#27890)."""
    target = situation.target
    if target is None or target.python_header is not False or not situation.has(TRITON):
        return
    yield findings.error(
        "python-header-missing",
        f"Python.h of Python {target.version or '3'} is not beside {target.path}: Triton's first kernel would fail.",
        fix=f"Debian and Ubuntu: apt install python{target.version or '3'}-dev; else the interpreter's own headers.",
    )
