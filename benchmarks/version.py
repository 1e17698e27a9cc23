"""How long `gpulaunch --version` takes beside `honcho version`, as a ratio: both start Python and print a line.

Eleven interleaved pairs, median of the pairs' ratios; honcho gets a virtual environment of its own. Target: 0.5.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAIRS = 11
TARGET = 0.5


def main() -> int:
    """Prints medians in milliseconds and the ratio; never fails for a slow machine."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([f"{folder}/bin/pip", "install", "-q", "honcho==2.0.0"], check=True)
        ours, theirs = (
            [str(Path(sys.executable).with_name("gpulaunch")), "--version"],
            [f"{folder}/bin/honcho", "version"],
        )
        measured = [(seconds(ours), seconds(theirs)) for _ in range(PAIRS + 1)][1:]  # the first pair warms the disk
    ratio = statistics.median(our / their for our, their in measured)
    print(f"gpulaunch --version  {1000 * statistics.median(our for our, _ in measured):6.1f} ms")
    print(f"honcho version       {1000 * statistics.median(their for _, their in measured):6.1f} ms")
    print(f"ratio                {ratio:6.2f}  (median of {PAIRS} pairs; target {TARGET})")
    return 0


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
