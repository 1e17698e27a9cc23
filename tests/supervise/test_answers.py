"""Who answers counts: a health URL that another process answers is no readiness of ours."""

from __future__ import annotations

import signal

from tests.helpers import eventually
from tests.hostiles import hostile, processes
from tests.launching import Launch


def test_an_answer_of_somebody_elses_server_is_not_taken_for_ours(launch: Launch) -> None:
    """Two that are started at once see the port free, both; the loser must not count as ready."""
    other = launch.folder / "other"
    script = f"touch {launch.folder}/started; exec tail -f /dev/null"
    launch.start(command=["sh", "-c", script])
    eventually((launch.folder / "started").exists)
    launch.corral.spawn(hostile("--port", launch.port, "--pid-file", other))
    processes(other)
    eventually(lambda: "answered by somebody else" in launch.errors, what="the probe's answer is refused")
    launch.signal(signal.SIGTERM)
    assert launch.wait() == 0
    assert "gpulaunch: ready:" not in launch.errors


def test_a_term_of_the_servers_own_process_is_not_a_stop_that_was_asked_for(launch: Launch) -> None:
    """A server that TERMs its parent and goes on is no success; from outside the same signal is."""
    script = "kill -TERM $PPID; exec tail -f /dev/null"
    launch.start(command=["sh", "-c", script.replace("$", "$$")], ready=False)
    launch.until("ignored")
    launch.signal(signal.SIGTERM)
    assert launch.wait() == 0
