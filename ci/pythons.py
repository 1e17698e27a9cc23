"""Runs the fast tests with the oldest and the newest supported Python, each in a virtual environment of its own.

Supported are 3.10 to 3.13: what the two ends can do, the ones between can. They are looked up on PATH and below pyenv's
versions.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENDS = ("3.10", "3.13")
FAST = (
    "tests/planning",
    "tests/profile",
    "tests/facts",
    "tests/report",
    "tests/prepare",
    "tests/engines",
    "tests/plans",
    "tests/doctor",
)


def main() -> int:
    """1 if a Python fails; those that are not here are named."""
    root = Path(__file__).resolve().parent.parent
    failed = []
    for version in ENDS:
        python = find(version)
        if python is None:
            print(f"Python {version}: not here")
            continue
        print(f"Python {version}: {python}", flush=True)
        if not passes(python, root):
            failed.append(version)
    if failed:
        print(f"failed with Python {', '.join(failed)}")
    return 1 if failed else 0


def find(version: str) -> str | None:
    """A real interpreter of that version: a shim that cannot start one does not count."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for candidate in (*map(str, pyenv), shutil.which(f"python{version}")):
        if candidate and re.match(rf"Python {re.escape(version)}\.", _version(candidate)):
            return candidate
    return None


def _version(python: str) -> str:
    return subprocess.run([python, "--version"], capture_output=True, text=True).stdout


def passes(python: str, root: Path) -> bool:
    """Installs the project with its test tools and runs the fast tests."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder, "bin/python")
        steps = (
            [python, "-m", "venv", folder],
            [str(own), "-m", "pip", "install", "-q", "-e", f"{root}[dev]", "gguf", "numpy"],
            [str(own), "-m", "pytest", "-q", *(path for path in FAST if (root / path).exists())],
        )
        return all(subprocess.run(step, cwd=root).returncode == 0 for step in steps)


if __name__ == "__main__":
    sys.exit(main())
