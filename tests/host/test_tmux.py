"""gpulaunch as the command of a real tmux pane: whatever closes the pane ends the server, in its own time.

The controls in test_labs.py run the same server in a pane of its own: a hang-up takes it in the middle of what it does,
and its worker stays.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.host.launching import Server, environment, server
from tests.host.tmux_lab import Tmux
from tests.survivors import FencedCorral

pytestmark = pytest.mark.host

WORKER = ("--worker", "--worker-ignores-term", "--worker-setproctitle")


@pytest.fixture
def tmux(corral: FencedCorral) -> Iterator[Tmux]:
    with Tmux(corral) as opened:
        yield opened


def begin(tmux: Tmux, which: Server) -> None:
    """gpulaunch in a pane, until it says that the server answers."""
    tmux.begin(which.launch_command(), environment(which.folder))
    eventually(lambda: "ready: http" in tmux.screen(), what="READY in the pane")


@pytest.mark.parametrize("how", ["kill-session", "kill-pane", "kill-server", "SIGKILL of tmux"])
def test_whatever_closes_the_pane_the_server_drains_and_nothing_is_left(
    corral: FencedCorral, tmux: Tmux, tmp_path: Path, how: str
) -> None:
    draining = server(tmp_path, *WORKER, "--drain", 2)
    begin(tmux, draining)
    if how == "SIGKILL of tmux":
        os.kill(tmux.server().pid, signal.SIGKILL)
    else:
        tmux.run(how)
    assert corral.wait_empty(20) == []
    assert draining.drained.exists(), "the drain was cut short"
    assert draining.signals() == ["SIGTERM"]
    assert draining.outcome()["exit_code"] == 128 + signal.SIGHUP
    assert corral.inner_cgroups() == []


def test_ctrl_c_reaches_gpulaunch_alone_and_ends_in_130(corral: FencedCorral, tmux: Tmux, tmp_path: Path) -> None:
    running = server(tmp_path, *WORKER)
    begin(tmux, running)
    tmux.type("C-c")
    assert tmux.await_exit() == 130, tmux.screen()
    assert running.signals() == ["SIGTERM"]
    assert tmux.others() == []


def test_a_second_ctrl_c_ends_the_grace_at_once(tmux: Tmux, tmp_path: Path) -> None:
    stubborn = server(tmp_path, *WORKER, "--ignore-term")
    begin(tmux, stubborn)
    tmux.type("C-c")
    eventually(lambda: stubborn.signals() == ["SIGTERM"])
    tmux.type("C-c")
    assert tmux.await_exit(within=10) == 130, tmux.screen()
    assert tmux.others() == []


def test_ctrl_z_is_answered_and_stops_nothing(tmux: Tmux, tmp_path: Path) -> None:
    running = server(tmp_path)
    begin(tmux, running)
    tmux.type("C-z")
    eventually(lambda: "Ctrl-Z" in tmux.screen(), what="an answer to Ctrl-Z")
    assert running.is_ready()
    tmux.type("C-c")
    assert tmux.await_exit() == 130


def test_a_server_that_crashes_leaves_its_code_and_its_cause_in_the_pane(tmux: Tmux, tmp_path: Path) -> None:
    crashing = server(tmp_path, *WORKER, "--exit-after-ready", 3)
    tmux.begin(crashing.launch_command(), environment(tmp_path))
    assert tmux.await_exit() == 3
    assert "exit 3" in tmux.screen()
    assert tmux.others() == []
