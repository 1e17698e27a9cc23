"""gpulaunch as ExecStart= of a unit of a real systemd. The controls are units that run the same server plainly."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.host.launching import Server, environment, server
from tests.host.systemd_lab import SystemdLab

pytestmark = pytest.mark.host

WORKER = ("--worker", "--worker-ignores-term", "--worker-setproctitle")
kill_modes = pytest.mark.parametrize("kill_mode", ["control-group", "mixed"])


class Unit:
    """A service of the lab. Of a caller's variables it has only where files go: no HOME, USER or runtime folder."""

    def __init__(self, lab: SystemdLab, name: str, command: list[str], folder: Path, more: str = "") -> None:
        self.lab = lab
        self.name = f"{name}.service"
        places = {name: value for name, value in environment(folder).items() if name.startswith("XDG_")}
        lines = [
            "[Service]",
            f"ExecStart={shlex.join(command)}",
            *(f"Environment={variable}={value}" for variable, value in places.items()),
            *more.split(),
        ]
        lab.add_unit(self.name, "\n".join(lines) + "\n")

    def start(self) -> None:
        self.lab.systemctl("start", self.name)

    def stop(self) -> None:
        self.lab.systemctl("stop", self.name)

    def state(self) -> tuple[str, str]:
        """ActiveState and Result."""
        found = self.lab.properties(self.name, "ActiveState", "Result")
        return found["ActiveState"], found["Result"]

    def exit_code(self) -> int:
        return int(self.lab.properties(self.name, "ExecMainStatus")["ExecMainStatus"])

    def kill_main(self) -> None:
        self.lab.systemctl("kill", "--kill-who=main", "--signal=KILL", self.name)

    def await_failed(self) -> None:
        eventually(lambda: self.state()[0] == "failed", within=40, what=f"{self.name} fails")

    def left(self) -> list[str]:
        """Command lines of what is alive in its cgroup."""
        return [" ".join(process.cmdline) for process in self.lab.processes(self.name)]


class Units:
    """Makes units that are gone after the test."""

    def __init__(self, lab: SystemdLab, folder: Path) -> None:
        self._lab = lab
        self._folder = folder
        self.made: list[Unit] = []

    def launching(self, which: Server, more: str = "") -> Unit:
        """A unit as our documentation has it."""
        return self._add("launched", which.launch_command(), f"Type=notify\n{more}")

    def plain(self, which: Server, more: str = "") -> Unit:
        """The control: the server is the unit's main process."""
        return self._add("plain", which.command, f"Type=exec\n{more}")

    def _add(self, name: str, command: list[str], more: str) -> Unit:
        unit = Unit(self._lab, f"{name}-{len(self.made)}-{self._folder.name}", command, self._folder, more)
        self.made.append(unit)
        return unit


@pytest.fixture
def units(lab: SystemdLab, tmp_path: Path) -> Iterator[Units]:
    made = Units(lab, tmp_path)
    yield made
    for unit in made.made:
        lab.kill(unit.name)
        lab.systemctl("stop", unit.name, check=False)
        lab.systemctl("reset-failed", unit.name, check=False)


# ---------------------------------------------------------------------------------------------------------------------
# Start


def test_start_returns_only_when_the_server_answers(units: Units, lab: SystemdLab, tmp_path: Path) -> None:
    loading = server(tmp_path, ready=False)
    unit = units.launching(loading)
    with lab.begin("systemctl", "start", unit.name) as starting:
        loading.pids()
        eventually(lambda: loading.health() == 503)
        assert unit.state()[0] == "activating"
        assert starting.poll() is None
        loading.open_gate()
        output, _ = starting.communicate(timeout=20)
        assert starting.returncode == 0, output
    assert loading.is_ready()
    assert unit.state() == ("active", "success")


def test_a_plain_unit_counts_as_started_while_its_server_loads(units: Units, tmp_path: Path) -> None:
    loading = server(tmp_path, ready=False)
    unit = units.plain(loading)
    unit.start()
    loading.pids()
    assert unit.state()[0] == "active"
    assert loading.health() == 503


def test_a_server_that_dies_while_it_loads_makes_the_start_fail(units: Units, lab: SystemdLab, tmp_path: Path) -> None:
    unit = units.launching(server(tmp_path, *WORKER, "--exit", 3, ready=False))
    assert lab.systemctl("start", unit.name, check=False).returncode != 0
    assert unit.state() == ("failed", "exit-code")
    assert unit.exit_code() == 3
    assert unit.left() == []


def test_loading_may_take_longer_than_the_units_start_limit(units: Units, lab: SystemdLab, tmp_path: Path) -> None:
    loading = server(tmp_path, ready=False)
    unit = units.launching(loading, "TimeoutStartSec=6")
    with lab.begin("systemctl", "start", unit.name) as starting:
        loading.pids()
        # The start limit of a plain unit runs out meanwhile: that is our clock.
        limited = units.plain(server(tmp_path / "plain"), "TimeoutStartSec=6\nType=notify")
        assert lab.systemctl("start", limited.name, check=False).returncode != 0
        assert limited.state()[1] == "timeout"
        assert starting.poll() is None
        loading.open_gate()
        output, _ = starting.communicate(timeout=20)
        assert starting.returncode == 0, output
    assert unit.state() == ("active", "success")


def test_no_home_no_user_no_runtime_folder_is_needed(units: Units, lab: SystemdLab, tmp_path: Path) -> None:
    speaking = server(tmp_path, "--print-env", "HOME", "--print-env", "USER", "--print-env", "NOTIFY_SOCKET")
    unit = units.launching(speaking)
    unit.start()
    main = lab.properties(unit.name, "MainPID")["MainPID"]
    given = {line.split("=", 1)[0] for line in lab.run("cat", f"/proc/{main}/environ").stdout.split("\0") if line}
    assert not given & {"HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR"}
    said = lab.journal(unit.name)
    home = next(line for line in said.splitlines() if line.startswith("HOME=")).removeprefix("HOME=")
    assert Path(home).is_dir()
    assert "USER=root" in said
    assert "NOTIFY_SOCKET is unset" in said
    unit.stop()
    assert unit.state() == ("inactive", "success")


# ---------------------------------------------------------------------------------------------------------------------
# Stop


@kill_modes
@pytest.mark.parametrize("flags", [(), WORKER, ("--term-exit", 1)], ids=["alone", "stubborn worker", "exit 1 on TERM"])
def test_a_stopped_unit_is_inactive_not_failed(
    units: Units, tmp_path: Path, kill_mode: str, flags: tuple[str | int, ...]
) -> None:
    unit = units.launching(server(tmp_path, *flags), f"KillMode={kill_mode}")
    unit.start()
    unit.stop()
    assert unit.state() == ("inactive", "success")
    assert unit.exit_code() == 0
    assert unit.left() == []


def test_a_plain_unit_with_a_stubborn_worker_fails_when_it_is_stopped(units: Units, tmp_path: Path) -> None:
    which = server(tmp_path, *WORKER)
    unit = units.plain(which, "TimeoutStopSec=1")
    unit.start()
    which.pids()
    unit.stop()
    assert unit.state() == ("failed", "timeout")


def test_a_plain_unit_whose_server_exits_1_on_sigterm_fails_when_it_is_stopped(units: Units, tmp_path: Path) -> None:
    which = server(tmp_path, "--term-exit", 1)
    unit = units.plain(which)
    unit.start()
    which.pids()
    unit.stop()
    assert unit.state() == ("failed", "exit-code")


def test_a_drain_is_not_cut_short_where_systemd_signals_the_main_process_alone(units: Units, tmp_path: Path) -> None:
    draining = server(tmp_path, *WORKER, "--drain", 2)
    unit = units.launching(draining, "KillMode=mixed")
    unit.start()
    unit.stop()
    assert draining.drained.exists()
    assert draining.signals() == ["SIGTERM"]
    assert unit.state() == ("inactive", "success")


@kill_modes
def test_a_stop_while_the_server_loads_leaves_the_unit_inactive(units: Units, tmp_path: Path, kill_mode: str) -> None:
    loading = server(tmp_path, *WORKER, ready=False)
    unit = units.launching(loading, f"KillMode={kill_mode}")
    unit.lab.systemctl("start", "--no-block", unit.name)
    loading.pids()
    unit.stop()
    assert unit.state() == ("inactive", "success")
    assert unit.left() == []


# ---------------------------------------------------------------------------------------------------------------------
# Deaths. KillMode=process: systemd itself cleans up nothing, so an empty cgroup is our doing.


def test_a_killed_server_fails_the_unit_and_empties_its_cgroup(units: Units, lab: SystemdLab, tmp_path: Path) -> None:
    which = server(tmp_path, *WORKER, "--double-fork")
    unit = units.launching(which, "KillMode=process")
    unit.start()
    lab.run("kill", "-KILL", str(which.pids()["server"]))
    unit.await_failed()
    assert unit.state() == ("failed", "exit-code")
    assert unit.exit_code() == 128 + signal.SIGKILL
    assert unit.left() == []


def test_a_server_that_exits_0_unasked_fails_the_unit(units: Units, tmp_path: Path) -> None:
    """vllm-project/vllm#48966 (R087): the unit looked like a success and was not restarted."""
    end = tmp_path / "end"
    unit = units.launching(server(tmp_path, "--exit-on-file", end, "--exit", 0))
    unit.start()
    end.touch()
    unit.await_failed()
    assert unit.state() == ("failed", "exit-code")


def test_a_killed_server_of_a_plain_unit_leaves_its_worker(units: Units, lab: SystemdLab, tmp_path: Path) -> None:
    which = server(tmp_path, *WORKER, "--double-fork")
    unit = units.plain(which, "KillMode=process")
    unit.start()
    lab.run("kill", "-KILL", str(which.pids()["server"]))
    unit.await_failed()
    assert unit.left() == ["renamed worker"]


@pytest.mark.parametrize("delegate", ["no", "yes"])
def test_the_main_process_killed_leaves_nobody(units: Units, lab: SystemdLab, tmp_path: Path, delegate: str) -> None:
    unit = units.launching(server(tmp_path, *WORKER), f"KillMode=process\nDelegate={delegate}")
    unit.start()
    unit.kill_main()
    unit.await_failed()
    assert unit.state() == ("failed", "signal")
    eventually(lambda: unit.left() == [], within=40, what="the cgroup is empty")


def test_the_main_process_of_a_plain_unit_killed_leaves_its_server(units: Units, tmp_path: Path) -> None:
    which = server(tmp_path, *WORKER)
    unit = units.plain(which, "KillMode=process")
    unit.start()
    which.pids()
    unit.kill_main()
    unit.await_failed()
    assert unit.left() == ["renamed worker"]


# ---------------------------------------------------------------------------------------------------------------------
# Cgroups


def test_no_cgroup_is_made_in_a_unit_that_did_not_delegate(units: Units, lab: SystemdLab, tmp_path: Path) -> None:
    unit = units.launching(server(tmp_path, *WORKER))
    unit.start()
    assert lab.inner_cgroups(unit.name) == []


def test_a_delegated_units_stop_leaves_no_cgroup(units: Units, lab: SystemdLab, tmp_path: Path) -> None:
    unit = units.launching(server(tmp_path, *WORKER), "Delegate=yes")
    unit.start()
    folder = lab.control_group(unit.name)
    assert folder
    unit.stop()
    assert unit.state() == ("inactive", "success")
    assert lab.control_group(unit.name) == ""
