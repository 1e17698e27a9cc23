"""Who holds GPU memory, asked of a stand-in for NVML in a process of its own (the library is found at its start)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launcher.supervise import gpu_memory, naming, processes
from launcher.supervise.gpu_memory import Held, Looked, Used, await_release, held_by
from launcher.supervise.processes import Process
from tests.nvml import NEVER, Nvml

ROOT = Path(__file__).parents[2]


def asked(gpus: Nvml, code: str, *words: str) -> str:
    """What a Python prints that finds the stand-in."""
    command = [sys.executable, "-c", f"import sys, time\nfrom launcher.supervise import gpu_memory\n{code}", *words]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **gpus.environ}
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_each_gpu_is_told_with_its_memory_and_who_holds_it(gpus: Nvml) -> None:
    gpus.gpus = 2
    gpus.holds(os.getpid(), 5000, gpu=1)
    told = asked(
        gpus, "for g in gpu_memory.look().gpus: print(g.gpu, g.used >> 20, g.total >> 20, g.held and g.held[0].pid)"
    )
    assert told.splitlines() == ["0 0 98304 ()", f"1 5000 98304 {os.getpid()}"]


def test_what_the_driver_does_not_say_is_not_taken_for_a_number(gpus: Nvml) -> None:
    gpus.holds(os.getpid(), -1)
    assert asked(gpus, "print(gpu_memory.look().gpus[0].held[0])") == "memory of GPU 0"


def test_a_driver_of_two_versions_is_told_apart_from_none(gpus: Nvml) -> None:
    gpus.error = 18
    gpus.write()
    assert asked(gpus, "found = gpu_memory.look(); print(found.gpus, found.mismatch)") == "None True"
    gpus.error = 9
    gpus.write()
    assert asked(gpus, "found = gpu_memory.look(); print(found.gpus, found.mismatch)") == "None False"


_AWAIT = """
from launcher.supervise.processes import Process
begin = time.monotonic()
held = gpu_memory.await_release([Process(int(sys.argv[1]), 1)], begin + float(sys.argv[2]), lambda s: time.sleep(s))
print(f"{time.monotonic() - begin:.2f}", gpu_memory.listed(held))
"""


def ended() -> int:
    """The pid of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_memory_that_comes_back_a_second_after_the_end_is_waited_for_that_long(gpus: Nvml) -> None:
    pid = ended()
    gpus.holds(pid, 5000, lingers=1.0)
    waited, _, named = asked(gpus, _AWAIT, str(pid), "20").partition(" ")
    assert 1.0 <= float(waited) < 5.0
    assert named == ""


def test_memory_that_never_comes_back_is_waited_for_within_bounds_and_its_holder_named(gpus: Nvml) -> None:
    pid = ended()
    gpus.holds(pid, 5000, lingers=NEVER)
    waited, _, named = asked(gpus, _AWAIT, str(pid), "0.6").partition(" ")
    assert 0.6 <= float(waited) < 5.0
    who = f"process {pid}, which has ended or belongs to another container"
    assert named == f"5,000 MiB of GPU 0, held by {who}"


def test_somebody_elses_memory_is_not_waited_for(gpus: Nvml) -> None:
    gpus.holds(os.getpid(), 5000)
    waited, _, named = asked(gpus, _AWAIT, str(ended()), "20").partition(" ")
    assert float(waited) < 5.0
    assert named == ""


def test_a_pid_that_is_somebody_elses_by_now_does_not_count() -> None:
    own = processes.identify(os.getpid())
    assert own is not None
    held = Held(0, "GPU-0", own.pid, 1 << 30)
    looked = Looked((Used(0, "GPU-0", 1 << 40, 1 << 30, (held,)),))
    assert held_by([own], looked) == (held,)
    assert held_by([Process(own.pid, own.start - 1)], looked) == ()


def test_where_nvml_cannot_tell_nothing_is_waited_for() -> None:
    begin = time.monotonic()
    assert await_release([Process(1, 1)], begin + 60, lambda s: False, ask=lambda: Looked(None, "none")) == ()
    assert time.monotonic() - begin < 1


def test_an_nvml_that_hangs_is_not_waited_for_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_memory, "_look", lambda: time.sleep(1) or Looked(()))
    assert gpu_memory.look(0.05) == Looked(None, "NVML did not answer within 0.05 s")


def test_a_holder_is_named_with_pid_user_and_command() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        named = naming.holder(child.pid)
        child.kill()
    assert named.startswith(f"process {child.pid} (") and ", user " in named
