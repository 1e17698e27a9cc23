"""Claims about the machine that need no launch: what gpulaunch leans on, and what it does where that is not here."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from launcher.causes.evidence import oom
from launcher.causes.evidence.kernel_log import KernelLog
from launcher.selftest.claim import Claim, Told, require
from launcher.supervise import cgroup, gpu_memory, port, processes, run_mark

_RUN = "5e1f7e57"  # an id that no run has by chance
_PATIENCE = 5.0  # seconds


def claims() -> Iterator[Claim]:
    """From what a stop needs to what an explanation needs."""
    yield Claim("cgroup", "a cgroup of its own holds the server", _cgroup)
    yield Claim("mark", "a process that left the tree is known by its run's mark", _mark)
    yield Claim("port-holder", "whoever holds a port is named", _port_holder)
    yield Claim("other-users", "processes of other users can be seen", _other_users)
    yield Claim("gpus", "NVML tells GPUs, and who holds their memory", _gpus)
    yield Claim("kernel-log", "the kernel's log can be read: GPU errors (Xid), the OOM killer", _kernel_log)
    yield Claim("oom-counter", "the kernel counts its out-of-memory kills for us", _oom_counter)


def _cgroup() -> Told:
    hindrance = cgroup.hindrance()
    if hindrance is not None:
        return Told("not here", f"{hindrance}; the run is found by its tree, its sessions and its mark instead")
    made = cgroup.make(_RUN)
    if made is None:
        return Told("not here", "none could be made; the run is found by its tree, its sessions and its mark instead")
    child = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL)
    try:
        (made / "cgroup.procs").write_text(str(child.pid))
        require(set(cgroup.members(made)) == {child.pid}, f"{made} does not tell its members")
        cgroup.kill(made)
        require(_ended(child), f"cgroup.kill in {made} ended nobody")
    finally:
        child.kill()
        child.wait()
        cgroup.remove(made)
    return Told("ok", f"cgroup.kill works below {made.parent}")


def _ended(child: subprocess.Popen[bytes]) -> bool:
    try:
        return child.wait(_PATIENCE) is not None
    except subprocess.TimeoutExpired:
        return False


def _mark() -> Told:
    before = run_mark.put(_RUN)
    if before is None:
        return Told("not here", "RLIMIT_LOCKS cannot be set; the run is found by its tree and its sessions alone")
    try:
        child = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, env={}, executable=_sleep())
    finally:
        run_mark.take_off(before)
    try:
        found = [process.pid for process in run_mark.bearers(_RUN)]
    finally:
        child.kill()
        child.wait()
    require(child.pid in found, f"process {child.pid} was not found by its mark, though it bears one")
    return Told("ok", "a limit without effect, which every fork inherits")


def _sleep() -> str:
    """Its place; with an empty environment nothing would be found on PATH."""
    return next((f"{folder}/sleep" for folder in ("/usr/bin", "/bin") if Path(folder, "sleep").exists()), "sleep")


def _port_holder() -> Told:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        number = holder.getsockname()[1]
        found = [pid for pid, _ in port.holders(number)]
    require(found == [os.getpid()], f"port {number} is held by this process, {os.getpid()}; told was {found}")
    return Told("ok", "by pid and command")


def _other_users() -> Told:
    if processes.status(1) is None:
        hidden = "/proc hides them (hidepid)"
        return Told("not here", f"{hidden}; whoever of another user holds a port or a GPU is not named")
    return Told("ok", "/proc shows them")


def _gpus() -> Told:
    looked = gpu_memory.look()
    if not looked.gpus:
        return Told("not here", looked.because or "NVML answers, and there is none")
    silent = [str(gpu.gpu) for gpu in looked.gpus if gpu.held is None]
    if silent:
        return Told("not here", f"the driver does not list the processes of GPU {', '.join(silent)}")
    return Told("ok", f"{len(looked.gpus)} GPUs")


def _kernel_log() -> Told:
    log = KernelLog()
    try:
        log.new()
        problem = log.problem
    finally:
        log.close()
    if problem is not None:
        return Told("not here", f"{problem}; a GPU that failed is told by the server's own words alone")
    return Told("ok", "/dev/kmsg")


def _oom_counter() -> Told:
    counters = oom.snapshot()
    if not counters:
        return Told("not here", "no memory.events or memory.oom_control; exit 137 may then be anybody's kill")
    return Told("ok", ", ".join(sorted({path.name for path in counters})))
