"""Large blocks that were freed are used again, which a process of its own shows: the setting holds for all of it."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

# Prints how many page faults a hundred blocks of 256 KiB cost, each freed before the next.
SCRIPT = """
import resource
from launcher.capture.memory import keep_freed_blocks

{}
block = b"x" * (256 << 10)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    block[1:] and None
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(first: str) -> int:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", SCRIPT.format(first)]
    return int(subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
def test_a_freed_block_is_used_again() -> None:
    assert faults("") > 100, "the control: each block costs its page faults anew"
    assert faults("keep_freed_blocks()") < 100
