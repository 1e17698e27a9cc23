"""How long `gpulaunch doctor` takes on a target of 200 packages beside `python -c "import torch"`, as a ratio.

The target is a virtual environment of its own with a torch (any build of it) that says CUDA 13.0, and 200
folders of metadata. Eleven interleaved pairs, median of the pairs' ratios. Target: 0.5.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

PAIRS = 11
TARGET = 0.5
TORCH = "torch==2.13.0"
PACKAGES = {"flashinfer-python": "0.6.8", "sglang": "0.5.14", "triton": "3.6.0", "cupy-cuda13x": "14.2.0"}
PROFILE = """\
schema: 1
name: benchmark
engine: sglang
model: org/model
target: {{venv: {venv}}}
cuda: {{arch: ["12.0"]}}
"""


def main() -> int:
    """Prints medians in milliseconds and the ratio; never fails for a slow machine."""
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder, "venv")
        make_target(venv)
        profile = Path(folder, "benchmark.yaml")
        profile.write_text(PROFILE.format(venv=venv), encoding="utf-8")
        profile.chmod(0o600)
        environ = {**os.environ, "HOME": folder}
        doctor = [str(Path(sys.executable).with_name("gpulaunch")), "doctor", "--profile", str(profile), "--json"]
        importing = [f"{venv}/bin/python", "-c", "import torch"]
        said = json.loads(subprocess.run(doctor, env=environ, capture_output=True).stdout)
        assert {one["consumer"] for one in said["predictions"]} >= {"FlashInfer", "PyTorch"}, said
        pairs = [(seconds(doctor, environ), seconds(importing, environ)) for _ in range(PAIRS + 1)][
            1:
        ]  # warms the disk
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    print(f"gpulaunch doctor     {1000 * statistics.median(ours for ours, _ in pairs):6.0f} ms")
    print(f"import torch         {1000 * statistics.median(theirs for _, theirs in pairs):6.0f} ms")
    print(f"ratio                {ratio:6.2f}  (median of {PAIRS} pairs; target {TARGET})")
    return 0


def make_target(venv: Path) -> None:
    """A real torch, as a server's target would show it, among 200 packages."""
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    subprocess.run([f"{venv}/bin/pip", "install", "-q", TORCH], check=True)
    (site,) = venv.glob("lib/python3.*/site-packages")
    version = (site / "torch/version.py").read_text(encoding="utf-8")
    (site / "torch/version.py").write_text(f"{version}\ncuda = '13.0'\n", encoding="utf-8")
    names = {**PACKAGES, **{f"package-{number}": "1.0" for number in range(200)}}
    there = len(list(site.glob("*.dist-info")))
    for name, number in list(names.items())[: max(len(PACKAGES), 200 - there)]:
        (site / f"{name.replace('-', '_')}-{number}.dist-info").mkdir(exist_ok=True)


def seconds(command: list[str], environ: Mapping[str, str]) -> float:
    """Wall time of one run; doctor's exit code is that of a launch, and tells nothing here."""
    begin = time.perf_counter()
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
