"""Runs in gpulaunch's own environment: what the server's PATH finds, asked through `gpulaunch env` on each machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from entering import answer_all

PROGRAMS = ("nvcc", "python3", "gcc", "c++", "ninja", "ls", "ldconfig", "which")
_PROFILE = "schema: 1\nname: path\nengine: command\ncommand: [python3, server.py]\nready: none\n"


def answered(question: dict[str, Any]) -> Any:
    """Program -> where `command -v` finds it, or None."""
    with tempfile.TemporaryDirectory() as home:
        profile = Path(home, "path.yaml")
        profile.write_text(_PROFILE)
        asking = "; ".join(f"command -v {program} || echo" for program in PROGRAMS)
        command = [
            sys.executable,
            "-m",
            "launcher",
            "env",
            "-q",
            "--profile",
            str(profile),
            "--target",
            question["target"],
        ]
        environ = {**question["environ"], "HOME": home, "PYTHONPATH": os.environ["PYTHONPATH"]}
        done = subprocess.run([*command, "--", "sh", "-c", asking], env=environ, capture_output=True, text=True)
        return dict(zip(PROGRAMS, done.stdout.splitlines(), strict=True)) if done.stdout else done.stderr


if __name__ == "__main__":
    answer_all(answered)
