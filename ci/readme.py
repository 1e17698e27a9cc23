"""Prints one of README's commands, so that CI runs what a newcomer runs: `python3 ci/readme.py 2`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def command(number: int) -> str:
    """The n-th shell block of README, counted from 1."""
    return re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[
        number - 1
    ].strip()


if __name__ == "__main__":
    print(command(int(sys.argv[1])))
