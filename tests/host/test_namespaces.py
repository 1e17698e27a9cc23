"""Nobody is left, however the server hides its workers and whoever dies first.

Survivors are counted by a private pid namespace, as names can change and marks can be wiped. The controls run the same
server as a plain child and show who is left then: what is gone under gpulaunch is gone because of gpulaunch.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.host.launching import Launch, Server, launch, run_plainly, server
from tests.survivors import FencedCorral, Process

pytestmark = pytest.mark.host

HIDING = {
    "own session": ("--worker", "--worker-ignores-term"),
    "renamed": ("--worker", "--worker-ignores-term", "--worker-setproctitle"),
    "orphaned": ("--worker", "--worker-ignores-term", "--worker-setproctitle", "--double-fork"),
}
hiding = pytest.mark.parametrize("flags", HIDING.values(), ids=HIDING)

# With an empty folder over /sys/fs/cgroup no cgroup can be made: as for an ordinary user, or in most containers.
WITHOUT_CGROUPS = ("sh", "-euc", 'mount -t tmpfs none /sys/fs/cgroup; exec "$@"', "sh")
WITH_CGROUPS = ()

MEMFD_NOEXEC = Path("/proc/sys/vm/memfd_noexec")


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that linger are no server
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def recorded_pids(which: Server) -> set[int]:
    """The pids that the run folder holds for whoever cleans up."""
    path = which.run_folder() / "processes.json"
    return {int(pid) for pid, _ in json.loads(path.read_text())["processes"]} if path.exists() else set()


# ---------------------------------------------------------------------------------------------------------------------
# A stop


@hiding
def test_a_stop_leaves_nobody(corral: FencedCorral, tmp_path: Path, flags: tuple[str, ...]) -> None:
    running = launch(corral, server(tmp_path, *flags))
    running.await_ready()
    running.process.terminate()
    assert running.process.wait(20) == 0, running.said()
    assert corral.survivors() == []
    assert corral.inner_cgroups() == []
    assert port_is_free(running.server.port)
    assert running.server.signals() == ["SIGTERM"]


@hiding
def test_a_plain_stop_leaves_the_worker(corral: FencedCorral, tmp_path: Path, flags: tuple[str, ...]) -> None:
    process = run_plainly(corral, server(tmp_path, *flags))
    process.terminate()
    assert process.wait(20) == 0
    (left,) = corral.survivors()
    os.kill(left.pid, signal.SIGTERM)
    assert corral.wait_empty(0.1) == [left]


def test_a_stop_in_a_container_leaves_nobody(corral: FencedCorral, tmp_path: Path) -> None:
    """As PID 1 of a namespace we get no signal that we do not ask for, and every orphan."""
    container = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
    running = launch(corral, server(tmp_path, *HIDING["orphaned"]), *container)
    running.await_ready()
    (first,) = (process for process in corral.survivors() if process.parent == running.process.pid)
    os.kill(first.pid, signal.SIGTERM)
    assert running.process.wait(20) == 0, running.said()
    assert corral.survivors() == []


@pytest.mark.parametrize("level", [0, 1, 2])
def test_where_files_in_memory_must_not_be_executed_a_launch_is_as_always(
    corral: FencedCorral, tmp_path: Path, level: int
) -> None:
    """vm.memfd_noexec, of each pid namespace: 1 adds a seal, 2 refuses a file that was not asked for so."""
    if not MEMFD_NOEXEC.exists():
        pytest.skip(f"no {MEMFD_NOEXEC} before Linux 6.3")
    hardened = ("sh", "-euc", f'echo {level} >{MEMFD_NOEXEC}; exec "$@"', "sh")
    container = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
    running = launch(corral, server(tmp_path), *container, *hardened)
    running.await_ready()
    (first,) = (process for process in corral.survivors() if process.parent == running.process.pid)
    os.kill(first.pid, signal.SIGTERM)
    assert running.process.wait(20) == 0, running.said()
    assert corral.survivors() == []


# ---------------------------------------------------------------------------------------------------------------------
# Before it is ready


def test_a_stop_during_start_up_leaves_nobody(corral: FencedCorral, tmp_path: Path) -> None:
    running = launch(corral, server(tmp_path, *HIDING["orphaned"], ready=False))
    running.await_started()
    running.process.terminate()
    assert running.process.wait(20) == 0, running.said()
    assert corral.survivors() == []
    assert running.server.health() is None


def test_a_plain_stop_during_start_up_leaves_the_worker(corral: FencedCorral, tmp_path: Path) -> None:
    process = run_plainly(corral, server(tmp_path, *HIDING["own session"], ready=False))
    process.terminate()
    assert process.wait(20) == 0
    assert len(corral.survivors()) == 1


def test_a_first_sigterm_lost_while_loading_is_followed_by_another(corral: FencedCorral, tmp_path: Path) -> None:
    running = launch(corral, server(tmp_path, "--ignore-first-term-while-loading", ready=False))
    running.await_started()
    running.process.terminate()
    assert running.process.wait(20) == 0, running.said()
    assert running.server.signals() == ["SIGTERM", "SIGTERM"]
    assert corral.survivors() == []
    first, second = (float(line.split()[1]) for line in (tmp_path / "signals").read_text().splitlines())
    assert 4 < second - first < 8


def test_a_plain_server_that_lost_its_sigterm_lives_on(corral: FencedCorral, tmp_path: Path) -> None:
    which = server(tmp_path, "--ignore-first-term-while-loading", ready=False)
    process = run_plainly(corral, which)
    process.terminate()
    eventually(lambda: which.signals() == ["SIGTERM"])
    which.open_gate()
    eventually(which.is_ready)  # nobody asked it again
    assert process.poll() is None


# ---------------------------------------------------------------------------------------------------------------------
# The server dies


@hiding
def test_a_leader_that_dies_takes_its_workers_along(
    corral: FencedCorral, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    running = launch(corral, server(tmp_path, *flags, "--die-on-file", tmp_path / "death"))
    running.await_ready()
    (tmp_path / "death").touch()
    assert running.process.wait(20) == 128 + signal.SIGKILL, running.said()
    assert corral.survivors() == []
    assert running.server.outcome()["requested"] is False


@hiding
def test_a_plain_leader_that_dies_leaves_its_worker(
    corral: FencedCorral, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    process = run_plainly(corral, server(tmp_path, *flags, "--die-on-file", tmp_path / "death"))
    (tmp_path / "death").touch()
    assert process.wait(20) == -signal.SIGKILL
    assert len(corral.survivors()) == 1


# ---------------------------------------------------------------------------------------------------------------------
# gpulaunch dies


@pytest.mark.parametrize("before", [WITH_CGROUPS, WITHOUT_CGROUPS], ids=["cgroups", "no cgroups"])
@hiding
def test_the_launchers_own_sigkill_leaves_nobody(
    corral: FencedCorral, tmp_path: Path, flags: tuple[str, ...], before: tuple[str, ...]
) -> None:
    running = launch(corral, server(tmp_path, *flags), *before)
    running.await_ready()
    pids = running.await_started()
    eventually(lambda: set(pids.values()) <= recorded_pids(running.server), what="the run folder names the worker")
    running.process.kill()
    running.process.wait(20)
    assert corral.wait_empty(20) == []
    assert corral.inner_cgroups() == []
    assert port_is_free(running.server.port)


def test_a_plain_supervisors_sigkill_leaves_everybody(corral: FencedCorral, tmp_path: Path) -> None:
    which = server(tmp_path, *HIDING["own session"])
    supervisor = corral.spawn(
        [sys.executable, "-c", "import subprocess, sys; subprocess.call(sys.argv[1:])", *which.command]
    )
    which.pids()
    supervisor.kill()
    supervisor.wait(20)
    eventually(which.is_ready)
    assert len(corral.survivors()) == 2


def test_a_sigkill_during_start_up_leaves_nobody(corral: FencedCorral, tmp_path: Path) -> None:
    running = launch(corral, server(tmp_path, *HIDING["renamed"], "--ignore-term", ready=False))
    running.await_started()
    running.process.kill()
    running.process.wait(20)
    assert corral.wait_empty(20) == []


def test_a_guard_that_was_killed_first_is_replaced(corral: FencedCorral, tmp_path: Path) -> None:
    running = launch(corral, server(tmp_path, *HIDING["renamed"]), *WITHOUT_CGROUPS)
    running.await_ready()
    guard = the_guard(corral, running)
    os.kill(guard.pid, signal.SIGKILL)
    eventually(lambda: [found for found in guards(corral, running) if found != guard], what="a new guard")
    running.process.kill()
    running.process.wait(20)
    assert corral.wait_empty(20) == []


def test_the_guard_alone_outlives_the_signals_of_a_whole_group(corral: FencedCorral, tmp_path: Path) -> None:
    running = launch(corral, server(tmp_path, *HIDING["renamed"]))
    running.await_ready()
    guard = the_guard(corral, running)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        os.kill(guard.pid, number)
    running.process.kill()
    running.process.wait(20)
    assert corral.wait_empty(20) == []


def guards(corral: FencedCorral, running: Launch) -> list[Process]:
    """Children of gpulaunch that are not the server."""
    everybody = corral.survivors()
    leader = next(process.pid for process in everybody if str(process.cmdline).count("selftest/engine"))
    return [process for process in everybody if process.parent == running.process.pid and process.pid != leader]


def the_guard(corral: FencedCorral, running: Launch) -> Process:
    (guard,) = eventually(lambda: guards(corral, running), what="a guard")
    return guard
