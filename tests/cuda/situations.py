"""The founding hosts, and what is asked of each: outside gpulaunch and inside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cuda.lab import Lab
from tests.cuda.machine import Machine

HERE = Path(__file__).parent

# The founding profile, less what only a server needs: nothing is launched. sglang sets FlashInfer's arch list itself,
# as 12.0a; any other engine leaves it to us.
PROFILE = """\
schema: 1
name: founding
engine: {engine}
{serves}
gpus: {{capability: "12.0"}}
"""
_SERVES = {"command": "command: [python, server.py]\nready: none", "sglang": "model: some/model"}


@dataclass(frozen=True)
class Situation:
    """Which target serves, what lies beside CUDA 12.8, and what gpulaunch then does."""

    name: str
    environment: str
    flashinfer: str
    system: bool  # a complete 13.0 in /usr/local/cuda-13.0
    strategy: str


REPORTED, PINNED = "0.6.8", "0.6.12"
WHEEL = Situation("wheel-toolkit-in-the-target", "founding-wheel", REPORTED, False, "wheel")
SYSTEM = Situation("system-13.0-beside-it", "founding", REPORTED, True, "redirect")
NEITHER = Situation("neither", "founding", REPORTED, False, "hide")
WHEEL_PINNED = Situation("wheel-toolkit-in-the-target", "server-wheel", PINNED, False, "wheel")
SYSTEM_PINNED = Situation("system-13.0-beside-it", "server", PINNED, True, "redirect")
NEITHER_PINNED = Situation("neither", "server", PINNED, False, "hide")
# What pip makes of sglang 0.5.14 today: a wheel toolkit that FlashInfer's lookup likes and that cannot build.
MIXED = Situation("wheels-of-two-releases-in-the-target", "server-mixed", PINNED, False, "hide")
# An unpinned nvcc wheel of the newest release beside the headers that torch 2.11 pins (ls1intum/edutelligence#687).
NEWEST = Situation("newest-nvcc-wheel-beside-13.0-headers", "server-newest", PINNED, False, "hide")
SITUATIONS = (WHEEL, SYSTEM, NEITHER, WHEEL_PINNED, SYSTEM_PINNED, NEITHER_PINNED, MIXED, NEWEST)


@dataclass(frozen=True)
class FoundingHost:
    """A machine in one of the situations, with the environment that serves; `more`: what the caller's shell has set."""

    machine: Machine
    target: Path
    situation: Situation
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def wheels(self) -> Path:
        """Where the wheels of the target put CUDA."""
        (root,) = self.target.glob("lib/python3.*/site-packages/nvidia/cu13")
        return root

    def outside(self, script: str, *words: str, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
        """What a script of ours answers in the environment that serves, started from the caller's shell."""
        callers = {**self._callers(), **(environ or {})}
        return self._answer(self.target / "bin/python", HERE / script, *words, environ=callers)

    def inside(self, script: str, *words: str, engine: str = "command") -> dict[str, Any]:
        """What the same script answers through `gpulaunch env`."""
        return self._answer(*self._launcher("env", engine), "--", "python", HERE / script, *words)

    def run_inside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Any command through `gpulaunch env`."""
        return self.machine.run([*self._launcher("env", "command"), "--", *command], environ=self._callers())

    def plan(self, engine: str = "command") -> dict[str, Any]:
        """`--dry-run --json`: what gpulaunch would do. Its exit code is a launch's, which has no GPU here."""
        done = self.machine.run([*self._launcher(engine, engine), "--dry-run", "--json"], environ=self._callers())
        assert done.stdout, done.stderr
        plan: dict[str, Any] = json.loads(done.stdout)
        return plan

    def _callers(self) -> dict[str, str]:
        return {**self.machine.environ(), **self.more}

    def _launcher(self, command: str, engine: str) -> list[str | Path]:
        profile = self.machine.folder / f"{engine}.yaml"
        profile.write_text(PROFILE.format(engine=engine, serves=_SERVES[engine]))
        return [sys.executable, "-m", "launcher", command, "--profile", profile, "--target", self.target]

    def _answer(self, *command: str | Path, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
        done = self.machine.run(command, environ=self._callers() if environ is None else environ)
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer


def founding_host(folder: Path, lab: Lab, situation: Situation) -> FoundingHost:
    """Such a machine in a folder of the test's own."""
    machine = Machine(folder, toolkit=lab.toolkit if situation.system else None)
    return FoundingHost(machine, lab.environment(situation.environment), situation)


def release(text: str) -> tuple[int, ...]:
    """ "12.8" to (12, 8): releases are compared as numbers."""
    return tuple(int(part) for part in text.split("."))
