"""Field reports on stops and ends: each with the fault as a plain start has it, and the same server under gpulaunch."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from typing import Any

import pytest

from launcher.selftest.engine import BROKEN_DRAIN, CUT_SHORT
from launcher.supervise.processes import marked
from tests.helpers import eventually, free_port
from tests.hostiles import health, hostile, processes, signals
from tests.launching import Launch

WORKER = ("--worker",)  # in a session of its own: nobody's TERM reaches it unless somebody looks for it
DEAF = (*WORKER, "--worker-ignores-term")


def pids(launch: Launch) -> list[int]:
    """The server's own and its workers', once all have started."""
    return [int(str(line["pid"])) for line in processes(launch.folder / "pids")]


def plainly(launch: Launch, *flags: Any, **popen: Any) -> subprocess.Popen[Any]:
    """The control: the server as a simple supervisor starts it, leading a session. It has started."""
    popen.setdefault("start_new_session", True)
    server = launch.corral.spawn(hostile("--pid-file", launch.folder / "pids", *flags), **popen)
    pids(launch)
    return server


def supervised(launch: Launch, *flags: Any, **keys: Any) -> list[int]:
    """The same under gpulaunch, ready; the pids."""
    launch.start("--pid-file", launch.folder / "pids", *flags, **keys).until_ready()
    return pids(launch)


def left(launch: Launch) -> list[int]:
    """Who is alive of all that was started."""
    return [process.pid for process in launch.corral.survivors()]


# ----------------------------------------------------------------------------------------------------------------------
# Who is left


def test_r079_a_plain_api_server_that_is_killed_leaves_its_workers(launch: Launch) -> None:
    """vllm-project/vllm#55510."""
    server = plainly(launch, *DEAF, "--worker-setproctitle")
    server.kill()
    server.wait(10)
    assert left(launch) == pids(launch)[1:]


def test_r079_under_gpulaunch_the_workers_end_with_it_before_it_is_called_over(launch: Launch) -> None:
    server, _ = supervised(launch, *DEAF, "--worker-setproctitle")
    os.kill(server, signal.SIGKILL)
    assert launch.wait() == 128 + signal.SIGKILL
    assert left(launch) == []


def test_r080_a_plain_stop_during_the_warm_up_is_lost_or_leaves_the_workers(launch: Launch) -> None:
    """vllm-project/vllm#44751."""
    loading = ("--ready-after-file", launch.folder / "never", "--ignore-first-term-while-loading")
    server = plainly(launch, *WORKER, *loading, "--term-log", launch.folder / "terms")
    server.terminate()
    eventually(lambda: signals(launch.folder / "terms") == ["SIGTERM"])
    assert server.poll() is None


def test_r080_ctrl_c_during_the_warm_up_ends_all_of_it(launch: Launch) -> None:
    loading = ("--ready-after-file", launch.folder / "never", "--ignore-first-term-while-loading")
    launch.grace = "1s"
    launch.start("--pid-file", launch.folder / "pids", *WORKER, *loading)
    pids(launch)
    assert launch.signal(signal.SIGINT).wait() == 130
    assert left(launch) == []


def test_r081_workers_of_a_run_are_known_by_their_mark_and_nobody_elses(launch: Launch) -> None:
    """vllm-project/vllm-omni#2317: workers that outlived their container, and nothing to find them by."""
    _, worker = supervised(launch, *WORKER, "--double-fork")
    run_id = launch.run_folder.resolve().name.rpartition("-")[2]
    assert worker in [process.pid for process in marked(f"GPULAUNCH_RUN_ID={run_id}".encode())]
    stranger = launch.corral.spawn(hostile("--pid-file", launch.folder / "other"))
    processes(launch.folder / "other")
    assert stranger.pid not in [process.pid for process in marked(f"GPULAUNCH_RUN_ID={run_id}".encode())]
    launch.signal(signal.SIGKILL).wait()
    eventually(lambda: left(launch) == [stranger.pid])


@pytest.mark.parametrize(
    ("report", "where"),
    [("R163 multikernel/sandlock#252", "session"), ("R166 mostlygeek/llama-swap#804", "group")],
    ids=["r163", "r166"],
)
def test_r163_r166_a_group_signal_misses_whoever_left_the_group(launch: Launch, report: str, where: str) -> None:
    server = plainly(launch, *WORKER, "--worker-in", where)
    os.killpg(server.pid, signal.SIGKILL)
    server.wait(10)
    assert left(launch) == pids(launch)[1:], report


@pytest.mark.parametrize("where", ["session", "group", "parents"], ids=["r163", "r166", "neither"])
def test_r163_r166_under_gpulaunch_nobody_is_missed(launch: Launch, where: str) -> None:
    supervised(launch, *WORKER, "--worker-in", where)
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert left(launch) == []


def test_r174_the_parents_exit_is_not_the_end_of_all(launch: Launch) -> None:
    """circus-tent/circus#998, nickstenning/honcho#32: whoever dangled never got a KILL."""
    server = plainly(launch, "--worker", "--worker-forks-on-term")
    _, worker = pids(launch)
    server.terminate()
    assert server.wait(10) == 0
    os.kill(worker, signal.SIGTERM)
    eventually(lambda: worker not in left(launch))
    (deaf,) = left(launch)
    assert deaf not in (server.pid, worker), "it was forked in the last moment, and nobody knows of it"


def test_r174_gpulaunch_ends_when_the_set_is_empty(launch: Launch) -> None:
    supervised(launch, *WORKER, "--worker-forks-on-term")
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert left(launch) == []
    assert launch.outcome["swept"] == 2


# ----------------------------------------------------------------------------------------------------------------------
# Who must not be touched, and when


def test_r085_whoever_kills_all_its_children_kills_a_strangers_too(launch: Launch) -> None:
    """NVIDIA/TensorRT-LLM#16404: orted was among them, and took the host process along."""
    script = "import os, signal, subprocess; h = subprocess.Popen(['sleep', '60']); os.killpg(0, signal.SIGKILL)"
    launch.corral.spawn([sys.executable, "-c", script], start_new_session=True).wait(10)
    assert left(launch) == []


def test_r085_what_was_there_before_gpulaunch_is_there_after_it(launch: Launch) -> None:
    launch.profile("--pid-file", launch.folder / "pids", *WORKER)
    script = 'sleep 600 & echo $! > helper; exec "$@"'
    launch.run(["sh", "-c", script, "sh", *launch.command()], launch.environ).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert left(launch) == [int((launch.folder / "helper").read_text())]


def test_r173_a_signal_to_the_group_breaks_a_drain(launch: Launch) -> None:
    """F1bonacc1/process-compose#67: it hits pool workers and resource trackers that the main process still needs."""
    port = free_port()
    server = plainly(
        launch, "--port", port, "--worker", "--worker-in", "parents", "--drain", 20, "--drain-needs-workers"
    )
    eventually(lambda: health(port) == 200)
    os.killpg(server.pid, signal.SIGTERM)
    assert server.wait(10) == BROKEN_DRAIN


def test_r173_gpulaunch_tells_the_main_process_alone(launch: Launch) -> None:
    drain = ("--drain", 0.5, "--drain-needs-workers", "--drained-file", launch.folder / "drained")
    supervised(launch, "--worker", "--worker-in", "parents", *drain)
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert launch.outcome["child"] == "exit 0"
    assert (launch.folder / "drained").exists()
    assert left(launch) == []


def test_r171_a_server_that_kills_its_group_takes_a_plain_supervisor_along(launch: Launch) -> None:
    """Supervisor/supervisor#1101: one program that killed its session took down its siblings."""
    script = "import subprocess; subprocess.run(['sh', '-c', 'kill -KILL 0'])"
    supervisor = launch.corral.spawn([sys.executable, "-c", script], start_new_session=True)
    assert supervisor.wait(10) == -signal.SIGKILL


def test_r171_under_gpulaunch_it_takes_nobody_along(launch: Launch) -> None:
    launch.start(command=["sh", "-c", "kill -KILL 0"], ready=False)
    assert launch.wait() == 128 + signal.SIGKILL
    assert launch.outcome["child"] == "signal 9 (SIGKILL)"


# ----------------------------------------------------------------------------------------------------------------------
# Codes, drains, graces


@pytest.mark.parametrize("code", [1, 143])
def test_r088_a_server_that_fails_on_every_stop(launch: Launch, code: int) -> None:
    """JustVugg/colibri#810: plainly each planned stop leaves the unit failed; under us an asked-for end is one."""
    server = plainly(launch, "--term-exit", code)
    server.terminate()
    assert server.wait(10) == code
    (launch.folder / "pids").unlink()
    supervised(launch, "--term-exit", code)
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert launch.outcome["child"] == f"exit {code}"


def test_r088_the_same_code_without_a_stop_stays_a_failure(launch: Launch) -> None:
    launch.start("--exit", 1, ready=False)
    assert launch.wait() == 1


def test_r107_a_second_sigterm_cuts_a_plain_drain_short(launch: Launch) -> None:
    """sgl-project/sglang#39016."""
    port = free_port()
    server = plainly(launch, "--port", port, "--drain", 20, "--term-log", launch.folder / "terms")
    eventually(lambda: health(port) == 200)
    for count in (1, 2):
        server.terminate()
        eventually(lambda count=count: len(signals(launch.folder / "terms")) == count)  # type: ignore[misc]
    assert server.wait(10) == CUT_SHORT


def test_r107_two_sigterms_at_once_reach_the_server_as_one(launch: Launch) -> None:
    drain = ("--drain", 0.5, "--drained-file", launch.folder / "drained", "--term-log", launch.folder / "terms")
    supervised(launch, *drain)
    launch.signal(signal.SIGTERM).signal(signal.SIGTERM)
    assert launch.wait() == 0
    assert (launch.folder / "drained").exists()
    assert signals(launch.folder / "terms") == ["SIGTERM"]


def test_r107_a_second_ctrl_c_does_not_wait_for_the_drain(launch: Launch) -> None:
    supervised(launch, "--drain", 25, *WORKER)
    launch.signal(signal.SIGINT).until("stopping").signal(signal.SIGINT)
    assert launch.wait(10) == 130
    assert left(launch) == []


def test_r167_a_limit_of_its_own_ends_a_drain_that_needs_longer(launch: Launch) -> None:
    """mostlygeek/llama-swap#38: five seconds for everybody."""
    port = free_port()
    drain = ("--drain", 1, "--drained-file", launch.folder / "drained")
    server = plainly(launch, "--port", port, *drain)
    eventually(lambda: health(port) == 200)
    server.terminate()
    with pytest.raises(subprocess.TimeoutExpired):
        server.wait(0.2)
    server.kill()
    server.wait(10)
    assert not (launch.folder / "drained").exists()


@pytest.mark.parametrize(("grace", "drained"), [("30s", True), ("200ms", False)])
def test_r167_the_profile_says_how_long_it_may_take(launch: Launch, grace: str, drained: bool) -> None:
    launch.grace = grace
    supervised(launch, "--drain", 1, "--drained-file", launch.folder / "drained", *WORKER)
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert (launch.folder / "drained").exists() is drained
    assert left(launch) == []


def test_r170_a_deadline_ends_a_server_that_is_well_and_loads(launch: Launch) -> None:
    """mostlygeek/llama-swap#92; then the next start finds nothing in its way (#155, #789)."""
    launch.start("--load", 30, ready_timeout="1s")
    assert launch.wait() == 124
    launch.start().until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_r170_there_is_no_deadline_unless_somebody_asks_for_one(launch: Launch) -> None:
    launch.start("--load", 2).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_r106_a_shell_without_exec_keeps_the_stop_for_itself(launch: Launch) -> None:
    """ggml-org/llama.cpp#10815."""
    words = ["sh", "-c", '"$@"; true', "sh", *hostile("--pid-file", launch.folder / "pids")]
    shell = launch.corral.spawn(words)
    (server,) = pids(launch)
    shell.terminate()
    assert shell.wait(10) == -signal.SIGTERM
    assert left(launch) == [server]


def test_r106_under_gpulaunch_the_stop_reaches_who_is_behind_the_shell(launch: Launch) -> None:
    words = ["sh", "-c", '"$@"; true', "sh", *hostile("--pid-file", launch.folder / "pids")]
    launch.start(command=words, ready=False)
    pids(launch)
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert left(launch) == []


def test_r106_where_nobody_supervises_we_truly_become_the_server(launch: Launch) -> None:
    launch.profile("--pid-file", launch.folder / "pids", "--term-exit", 5, ready=False)
    launch.run(launch.command("--exec"), launch.environ)
    assert launch.process is not None
    assert pids(launch) == [launch.process.pid]
    assert launch.signal(signal.SIGTERM).wait() == 5


# ----------------------------------------------------------------------------------------------------------------------
# Terminals that close


def test_r093_a_plain_server_dies_of_the_hang_up_and_leaves_its_workers(launch: Launch) -> None:
    """vllm-project/vllm#18122."""
    server = plainly(launch, *WORKER)
    server.send_signal(signal.SIGHUP)
    assert server.wait(10) == -signal.SIGHUP
    assert left(launch) == pids(launch)[1:]


def test_r093_a_hang_up_stops_all_of_it_in_order(launch: Launch) -> None:
    supervised(launch, *WORKER, "--drain", 0.5, "--drained-file", launch.folder / "drained")
    assert launch.signal(signal.SIGHUP).wait() == 129
    assert (launch.folder / "drained").exists()
    assert left(launch) == []


def on_a_terminal(launch: Launch, command: list[str]) -> tuple[subprocess.Popen[Any], int]:
    """A session leader with a terminal of its own, and the end of it that a closed window closes."""
    master, slave = pty.openpty()
    launch.profile("--pid-file", launch.folder / "pids", *WORKER)
    leader = launch.corral.spawn(
        ["setsid", "--ctty", "--wait", *command], stdin=slave, stdout=slave, stderr=slave, cwd=launch.folder,
        env=launch.environ,
    )  # fmt: skip
    os.close(slave)
    pids(launch)
    eventually(lambda: health(launch.port) == 200)
    return leader, master


def test_r095_a_dropped_connection_ends_a_launch_on_its_terminal(launch: Launch) -> None:
    """eugr/spark-vllm-docker#195: so people wrap launch scripts in tmux. It ends in order, and nothing is left."""
    leader, master = on_a_terminal(launch, launch.command())
    os.close(master)
    leader.wait(30)
    assert launch.corral.wait_empty(15) == []
    assert launch.outcome["cause"].startswith("stopped by SIGHUP")


def test_r095_with_nohup_it_outlives_its_terminal(launch: Launch) -> None:
    script = 'nohup "$@" > said 2>&1 < /dev/null & echo $! > pid; wait'
    leader, master = on_a_terminal(launch, ["sh", "-c", script, "sh", *launch.command()])
    os.close(master)
    eventually(lambda: leader.pid not in left(launch))
    gpulaunch = int((launch.folder / "pid").read_text())
    assert health(launch.port) == 200
    os.kill(gpulaunch, signal.SIGTERM)
    assert launch.corral.wait_empty(20) == []
    assert launch.outcome["exit_code"] == 0


@pytest.mark.parametrize("apart", [False, True], ids=["nohup alone", "setsid"])
def test_r178_nohup_does_not_keep_the_signals_of_the_callers_group_away(launch: Launch, apart: bool) -> None:
    """marcusquinn/aidevops#20561: plain workers die with them; gpulaunch stops in order, or in a session of its own
    never hears of it.
    """
    launch.profile("--pid-file", launch.folder / "pids", *WORKER)
    start = "setsid --fork" if apart else "nohup"
    script = f'{start} "$@" > said 2>&1 < /dev/null & wait; sleep 60'
    caller = launch.corral.spawn(
        ["sh", "-c", script, "sh", *launch.command()], start_new_session=True, cwd=launch.folder, env=launch.environ
    )
    pids(launch)
    eventually(lambda: health(launch.port) == 200)
    os.killpg(caller.pid, signal.SIGTERM)
    caller.wait(10)
    if not apart:
        assert launch.corral.wait_empty(20) == []
        assert launch.outcome["exit_code"] == 0
        return
    assert health(launch.port) == 200
    stop = [sys.executable, "-m", "launcher", "stop", "test"]
    assert subprocess.run(stop, env=launch.environ, capture_output=True).returncode == 0
    assert left(launch) == []


def test_r178_a_plain_server_that_was_started_with_nohup_dies_of_them(launch: Launch) -> None:
    words = hostile("--pid-file", launch.folder / "pids", "--worker", "--worker-in", "parents")
    script = 'nohup "$@" > said 2>&1 < /dev/null & wait; sleep 60'
    caller = launch.corral.spawn(["sh", "-c", script, "sh", *words], start_new_session=True, cwd=launch.folder)
    server, _ = pids(launch)
    os.killpg(caller.pid, signal.SIGHUP)
    caller.wait(10)
    assert server in left(launch), "nohup keeps a hang-up away, and nothing else"
    os.killpg(caller.pid, signal.SIGTERM)
    assert launch.corral.wait_empty(10) == []
