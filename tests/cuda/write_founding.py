"""Writes tests/machines/founding*.json: what `gpulaunch facts --json` says on the founding hosts, eight GPUs added.

    python -m tests.cuda.write_founding        as root, in the repository, with the lab of ci/install_cuda.py

The paths are those of a host with the target in /opt/venvs/sglang, because it is there while the facts are written;
nothing of them is edited. What is edited (GPUs, driver, size of the machine) is named in the file itself.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path
from typing import Any

from tests.cuda import lab as labs
from tests.cuda.lab import Lab
from tests.cuda.machine import CALLERS_PATH, Machine, pythons_in
from tests.cuda.situations import MIXED, NEITHER_PINNED, SYSTEM_PINNED, WHEEL_PINNED, Situation

REPOSITORY = Path(__file__).parents[2]
MACHINES = REPOSITORY / "tests/machines"
TARGET, OURS = "/opt/venvs/sglang", "/opt/gpulaunch"

# sglang 0.5.14 and its own pins on CUDA 12.8, and what else may lie there.
FILES = {
    "founding.json": NEITHER_PINNED,
    "founding-with-system-13.0.json": SYSTEM_PINNED,
    "founding-with-wheel-13.0.json": WHEEL_PINNED,
    "founding-with-mixed-wheels.json": MIXED,
}

_MEMORY = {"memory": 2**40, "memory_available": 960 * 2**30}
_DRIVER = "580.95.05"
_SYSTEM_LIBRARIES = "/usr/lib/x86_64-linux-gnu"
_LIMITS = (("NOFILE", 1024, 524288), ("MEMLOCK", 8388608, 8388608), ("NPROC", 4126517, 4126517))


def facts_of(situation: Situation, lab: Lab, folder: Path) -> dict[str, Any]:
    """What gpulaunch says of such a host, unedited."""
    opt = folder / "opt"
    for place in (TARGET, OURS):
        (folder / place.lstrip("/")).mkdir(parents=True)
    machine = Machine(
        folder,
        toolkit=lab.toolkit if situation.system else None,
        places=(("/opt", opt), (TARGET, lab.environment(situation.environment)), (OURS, _install(folder / "ours"))),
    )
    caller = {"PATH": CALLERS_PATH, "HOME": "/root", "USER": "root", "LOGNAME": "root", "LANG": "C.UTF-8"}
    inside = ["env", "--chdir=/root", "--unset=PWD", "--unset=OLDPWD"]
    facts = ["-m", "launcher", "facts", "--target", TARGET, "--json"]
    done = machine.run([*inside, f"{OURS}/bin/python", *facts], environ=caller)
    if done.returncode:
        raise SystemExit(done.stderr)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _install(folder: Path) -> Path:
    """An environment that holds our package as an installation would; its dependencies stay where they are."""
    venv.create(folder, symlinks=True)
    site = folder / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    shutil.copytree(REPOSITORY / "launcher", site / "launcher", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def with_gpus(facts: dict[str, Any]) -> dict[str, Any]:
    """Eight RTX PRO 6000 and a machine to match, each marked as edited."""
    return {
        **facts,
        "host": {**facts["host"], "kernel": "6.8.0-90-generic", "pid1": "systemd", "cpus": 128, **_MEMORY},
        "systemd": {**facts["systemd"], "booted": True},
        "gpus": [_gpu(index) for index in range(8)],
        "driver": {"version": _DRIVER, "cuda": "13.0", "how": "added by hand"},
        "system_libraries": [_driver_library("libcuda"), _driver_library("libnvidia-ml")],
        "limits": [{"name": name, "soft": soft, "hard": hard} for name, soft, hard in _LIMITS]
        + [limit for limit in facts["limits"] if limit["name"] in ("CORE", "STACK")],
        "unknowns": [unknown for unknown in facts["unknowns"] if unknown["subject"] != "gpus"],
        "edited": [
            "gpus, driver, system_libraries: added by hand: eight RTX PRO 6000 Blackwell and their driver",
            "host.kernel, host.pid1, host.cpus, host.memory*, systemd.booted, limits: those of a server with such GPUs",
        ],
    }


def _gpu(index: int) -> dict[str, Any]:
    return {
        "index": index,
        "name": "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "uuid": f"GPU-00000000-0000-4000-8000-{index + 1:012d}",
        "capability": "12.0",
        "memory_total": 97887 * 2**20,
        "memory_used": 0,
        "bus_id": f"00000000:{0x11 + 0x10 * index:02X}:00.0",
    }


def _driver_library(name: str) -> dict[str, Any]:
    """As the driver's packages of Debian and Ubuntu lay it down."""
    folder = _SYSTEM_LIBRARIES
    return {
        "name": f"{name}.so.1",
        "path": f"{folder}/{name}.so.1",
        "real": f"{folder}/{name}.so.{_DRIVER}",
        "cached": True,
    }


def main() -> None:
    """Writes every file anew."""
    reason = labs.why_not()
    if reason or list(pythons_in(Path("/opt"))):
        raise SystemExit(reason or "this Python lives below /opt, which the founding host replaces: use another one")
    os.umask(0o022)
    MACHINES.mkdir(exist_ok=True)
    for name, situation in FILES.items():
        with tempfile.TemporaryDirectory() as folder:
            facts = with_gpus(facts_of(situation, labs.here(), Path(folder)))
        (MACHINES / name).write_text(json.dumps(facts, indent=2) + "\n")
        print(MACHINES / name)


if __name__ == "__main__":
    main()
