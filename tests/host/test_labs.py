"""The labs do what they are for: a systemd that leaves nothing, a tmux, and what is left of a plain server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launcher.supervise import processes
from tests.helpers import eventually
from tests.host import launching
from tests.host.systemd_lab import SystemdLab
from tests.host.tmux_lab import Tmux
from tests.survivors import FencedCorral, unified_root

pytestmark = pytest.mark.host

REPOSITORY = Path(__file__).parents[2]


def test_the_lab_is_a_running_systemd_that_sees_only_itself(lab: SystemdLab) -> None:
    assert lab.systemctl("is-system-running").stdout.strip() == "running"
    assert lab.run("cat", "/proc/1/comm").stdout.strip() == "systemd"
    assert lab.run("cat", "/proc/1/cgroup").stdout.strip().endswith("0::/init.scope")
    services = lab.systemctl("list-units", "--type=service", "--plain", "--no-legend").stdout
    assert [line.split()[0] for line in services.splitlines()] == ["systemd-journald.service"]


def test_a_unit_runs_and_its_words_processes_and_end_can_be_read(lab: SystemdLab) -> None:
    lab.add_unit("plain.service", "[Service]\nExecStart=/bin/sh -c 'echo from the unit; exec sleep 300'\n")
    lab.systemctl("start", "plain.service")
    eventually(lambda: [process.comm for process in lab.processes("plain.service")] == ["sleep"])
    assert "from the unit" in lab.journal("plain.service")
    lab.systemctl("kill", "--kill-who=main", "--signal=KILL", "plain.service")
    eventually(lambda: lab.properties("plain.service", "ActiveState")["ActiveState"] == "failed")
    assert lab.properties("plain.service", "Result", "ExecMainStatus") == {"Result": "signal", "ExecMainStatus": "9"}
    assert lab.processes("plain.service") == []


def test_a_unit_that_cannot_start_is_an_error_that_says_so(lab: SystemdLab) -> None:
    lab.add_unit("broken.service", "[Service]\nType=oneshot\nExecStart=/bin/false\n")
    with pytest.raises(AssertionError, match=r"systemctl start broken\.service: exit 1"):
        lab.systemctl("start", "broken.service")


def test_the_lab_leaves_no_process_no_cgroup_and_no_mount(tmp_path: Path) -> None:
    before = machine()
    with SystemdLab(tmp_path / "lab") as lab:
        lab.add_unit("plain.service", "[Service]\nExecStart=/bin/sleep 300\n")
        lab.systemctl("start", "plain.service")
        (sleeper,) = lab.processes("plain.service")
        assert machine() != before
    assert machine() == before
    # A dying namespace collects its dead a moment later, and by then the number may be somebody else's.
    eventually(lambda: processes.identify(sleeper.pid) != (sleeper.pid, sleeper.started), what="the sleeper is gone")


def test_etc_and_the_kernels_settings_are_read_only_in_the_lab(lab: SystemdLab) -> None:
    for path in ("/etc/gpulaunch-test", "/proc/sys/kernel/hostname"):
        assert "Read-only file system" in lab.run("sh", "-c", f"echo x > {path}").stderr


def test_a_boot_that_fails_says_what_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = machine()
    monkeypatch.setattr("tests.host.systemd_lab.BOOT", "echo no such luck; exit 3")
    with pytest.raises(RuntimeError, match="systemd ended: no such luck"), SystemdLab(tmp_path / "lab"):
        pass
    assert machine() == before


def test_the_lab_boots_where_there_is_no_hierarchy_but_version_2(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys; from tests.host.systemd_lab import SystemdLab\n"
        "with SystemdLab(pathlib.Path(sys.argv[1])) as lab:\n"
        "    print(lab.systemctl('is-system-running').stdout)"
    )
    alone = 'umount -R /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup; exec "$@"'
    done = subprocess.run(
        [
            *("unshare", "--mount", "--propagation=private", "sh", "-euc", alone, "sh"),
            *(sys.executable, "-c", program, str(tmp_path / "lab")),
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "running", done.stderr


def test_a_pane_runs_its_command_without_a_shell_and_tells_its_exit_code(corral: FencedCorral) -> None:
    with Tmux(corral) as tmux:
        tmux.begin(["sh", "-c", "echo in the pane; exit 7"], {"PATH": os.defpath})
        assert tmux.await_exit() == 7
        assert "in the pane" in tmux.screen()


def test_ctrl_c_typed_into_a_pane_interrupts_a_plain_server_and_leaves_its_worker(
    corral: FencedCorral, tmp_path: Path
) -> None:
    server = launching.server(tmp_path / "server", "--worker")
    with Tmux(corral) as tmux:
        tmux.begin(server.command, launching.environment(tmp_path))
        server.pids()
        tmux.type("C-c")
        tmux.await_dead()
        assert server.signals() == ["SIGINT"]
        assert len(tmux.others()) == 1


def test_a_killed_session_takes_a_plain_server_in_the_middle_and_leaves_its_worker(
    corral: FencedCorral, tmp_path: Path
) -> None:
    server = launching.server(tmp_path / "server", "--worker", "--drain", 2)
    with Tmux(corral) as tmux:
        tmux.begin(server.command, launching.environment(tmp_path))
        server.pids()
        eventually(server.is_ready)
        tmux.run("kill-session", "-t", "pane")
        eventually(lambda: server.health() is None)
        eventually(lambda: len(tmux.others()) == 1)
        (worker,) = tmux.others()
    assert server.signals() == ["SIGHUP"]
    assert not server.drained.exists()
    assert corral.survivors() == [worker]


def machine() -> tuple[list[str], list[str]]:
    """The cgroups that this test process made, and the mounts of the machine."""
    root = unified_root()
    assert root is not None
    ours = sorted(folder for folder, _, _ in os.walk(root) if f"test-{os.getpid()}-" in folder)
    return ours, Path("/proc/self/mounts").read_text().splitlines()
