"""Stop means empty: leader first, then whatever it left, whatever sessions it made; exit codes tell the truth."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from launcher.selftest.engine import CUT_SHORT
from tests.helpers import eventually, free_port
from tests.hostiles import health, hostile, processes, signals
from tests.launching import Launch, without_cgroups
from tests.survivors import Corral

STUBBORN = ("--worker", "--worker-ignores-term")

ROOT = Path(__file__).parents[2]
HIDES = Path(__file__).with_name("hides.py")


def test_a_plain_subprocess_leaves_a_worker_that_ignores_sigterm(corral: Corral, tmp_path: Path) -> None:
    """The control: what a group signal or a kill of the leader misses."""
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids", *STUBBORN), start_new_session=True)
    processes(tmp_path / "pids")
    server.terminate()
    server.wait(10)
    assert corral.survivors()


def test_a_worker_in_its_own_session_that_ignores_sigterm_is_gone(launch: Launch) -> None:
    launch.start("--pid-file", launch.folder / "pids", *STUBBORN).until_ready()
    assert len(processes(launch.folder / "pids")) == 2
    assert health(launch.port) == 200
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert launch.corral.survivors() == []
    assert launch.outcome["swept"] == 1
    with socket.socket() as probe:  # and its port is free for the next one
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", launch.port))


def test_a_leader_that_dies_first_leaves_nothing(launch: Launch) -> None:
    die = launch.folder / "die"
    launch.start("--pid-file", launch.folder / "pids", "--die-on-file", die, "--double-fork", *STUBBORN).until_ready()
    processes(launch.folder / "pids")
    die.touch()
    assert launch.wait() == 128 + signal.SIGKILL
    assert launch.corral.survivors() == []
    assert launch.outcome["origin"] == "child"


def test_a_plain_leader_that_dies_leaves_its_worker(corral: Corral, tmp_path: Path) -> None:
    flags = ("--pid-file", tmp_path / "pids", "--die-on-file", tmp_path / "die", "--double-fork", *STUBBORN)
    server = corral.spawn(hostile(*flags), start_new_session=True)
    worker = processes(tmp_path / "pids")[1]["pid"]
    (tmp_path / "die").touch()
    assert server.wait(10) == -signal.SIGKILL
    assert [process.pid for process in corral.survivors()] == [worker]


@pytest.mark.parametrize("cgroups", [True, False], ids=["any way", "without cgroups"])
@pytest.mark.parametrize("disguise", [(), ("--double-fork", "--worker-setproctitle")], ids=["plain", "renamed"])
def test_a_killed_launcher_leaves_nothing(launch: Launch, disguise: Sequence[str], cgroups: bool) -> None:
    before = () if cgroups else without_cgroups()
    launch.start("--pid-file", launch.folder / "pids", *STUBBORN, *disguise, before=before).until_ready()
    processes(launch.folder / "pids")
    launch.signal(signal.SIGKILL).wait()
    assert launch.corral.wait_empty(15) == []


def test_a_worker_that_hides_a_moment_before_the_launcher_is_killed_is_found(launch: Launch) -> None:
    """No longer in the tree, in a session of its own, its environment wiped, and nobody was told of it."""
    command = [sys.executable, str(HIDES), str(launch.folder / "hidden")]
    launch.start(command=command, ready=False, before=without_cgroups())
    assert launch.wait() == 128 + signal.SIGKILL, launch.errors
    assert launch.corral.wait_empty(15) == []


def test_a_plain_supervisors_sigkill_leaves_that_worker(corral: Corral, tmp_path: Path) -> None:
    supervise = "import subprocess, sys; subprocess.call(sys.argv[1:])"
    hidden = tmp_path / "hidden"
    supervisor = corral.spawn([sys.executable, "-c", supervise, sys.executable, HIDES, hidden])
    assert supervisor.wait(20) == -signal.SIGKILL
    assert int(hidden.read_text()) in {process.pid for process in corral.survivors()}


def test_what_a_script_started_before_it_became_gpulaunch_is_not_ended(launch: Launch) -> None:
    """An entry point that says `helper & exec gpulaunch ...`: the helper is our child, but not of our making."""
    launch.profile("--pid-file", launch.folder / "pids", "--worker")
    script = 'sh -c "while read word; do kill -TERM $$; done" < orders & echo $! > helper; exec "$@"'
    os.mkfifo(launch.folder / "orders")
    with (launch.folder / "stderr").open("wb") as err:
        launch.process = launch.corral.spawn(
            ["sh", "-c", script, "sh", *launch.command()], stdout=err, stderr=err, cwd=launch.folder, env=launch.environ
        )
    with (launch.folder / "orders").open("w") as orders:
        launch.until_ready()
        orders.write("stop\n")  # it may ask for a stop, which a process of the server may not
        orders.flush()
        assert launch.wait() == 0
        helper = int((launch.folder / "helper").read_text())
        assert [process.pid for process in launch.corral.survivors()] == [helper]


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)],
)
def test_a_stop_that_was_asked_for_has_the_code_of_its_signal(launch: Launch, number: int, code: int) -> None:
    launch.start().until_ready().signal(number)
    assert launch.wait() == code
    assert launch.outcome["requested"]


def test_an_asked_for_stop_is_a_success_whatever_the_server_returns(launch: Launch) -> None:
    """R088 JustVugg/colibri#810: exit 1 on every planned stop leaves the unit failed."""
    launch.start("--term-exit", 1).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert launch.outcome["child"] == "exit 1"


def test_an_unasked_exit_0_is_a_failure(launch: Launch) -> None:
    """R087 vllm-project/vllm#48966: a worker dies, the API server exits 0, and nobody restarts it."""
    launch.start("--exit-after-ready", 0)
    assert launch.wait() == 1
    assert "nobody asked" in launch.errors


def test_the_servers_own_code_is_passed_on(launch: Launch) -> None:
    launch.start("--exit", 7, ready=False)
    assert launch.wait() == 7
    assert launch.outcome["origin"] == "child"


def test_sigterm_during_start_up_ends_everything(launch: Launch) -> None:
    never = launch.folder / "never"
    launch.start("--pid-file", launch.folder / "pids", "--ready-after-file", never, *STUBBORN)
    processes(launch.folder / "pids")
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert launch.corral.survivors() == []


def test_a_plain_stop_during_start_up_leaves_the_worker(corral: Corral, tmp_path: Path) -> None:
    """vllm-project/vllm#44751 (R080)."""
    flags = ("--pid-file", tmp_path / "pids", "--ready-after-file", tmp_path / "never", *STUBBORN)
    server = corral.spawn(hostile(*flags))
    worker = processes(tmp_path / "pids")[1]["pid"]
    server.terminate()
    server.wait(10)
    assert [process.pid for process in corral.survivors()] == [worker]


def test_a_sigterm_that_is_lost_while_loading_is_sent_again(launch: Launch) -> None:
    """vLLM loses one while it loads; the control is the same server without us, which lives on."""
    flags = ("--ready-after-file", launch.folder / "never", "--ignore-first-term-while-loading")
    term_log = launch.folder / "terms"
    launch.start("--pid-file", launch.folder / "pids", "--term-log", term_log, *flags)
    processes(launch.folder / "pids")
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert signals(term_log) == ["SIGTERM", "SIGTERM"]


def test_the_control_lives_on_after_the_lost_sigterm(corral: Corral, tmp_path: Path) -> None:
    flags = ("--port", 0, "--ready-after-file", tmp_path / "never", "--ignore-first-term-while-loading")
    server = corral.spawn(hostile("--pid-file", tmp_path / "pids", "--term-log", tmp_path / "terms", *flags))
    processes(tmp_path / "pids")
    server.terminate()
    eventually(lambda: signals(tmp_path / "terms") == ["SIGTERM"])
    assert server.poll() is None


def test_a_ready_server_that_drains_for_8_seconds_gets_exactly_one_sigterm(launch: Launch) -> None:
    drained, term_log = launch.folder / "drained", launch.folder / "terms"
    launch.start("--drain", 8, "--drained-file", drained, "--term-log", term_log).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert drained.exists()
    assert signals(term_log) == ["SIGTERM"]


def test_a_second_sigterm_cuts_a_plain_servers_drain_short(corral: Corral, tmp_path: Path) -> None:
    """The control: what a stop that repeats itself does to a server that drains."""
    term_log, port = tmp_path / "terms", free_port()
    server = corral.spawn(
        hostile("--port", port, "--drain", 8, "--drained-file", tmp_path / "drained", "--term-log", term_log)
    )
    eventually(lambda: health(port) == 200)
    server.terminate()
    eventually(lambda: signals(term_log) == ["SIGTERM"])
    server.terminate()
    assert server.wait(5) == CUT_SHORT
    assert not (tmp_path / "drained").exists()


def test_a_second_ctrl_c_ends_it_at_once(launch: Launch) -> None:
    launch.start("--ignore-term", *STUBBORN).until_ready()
    launch.signal(signal.SIGINT).until("stopping")
    launch.signal(signal.SIGINT)
    assert launch.wait(10) == 130
    assert launch.corral.survivors() == []


def test_hang_ups_of_a_closed_pane_do_not_hurry_a_drain(launch: Launch) -> None:
    drained = launch.folder / "drained"
    launch.start("--drain", 2, "--drained-file", drained).until_ready()
    launch.signal(signal.SIGHUP).until("stopping").signal(signal.SIGHUP)
    assert launch.wait() == 129
    assert drained.exists()


def test_a_hang_up_that_was_ignored_at_the_start_stays_ignored(launch: Launch) -> None:
    """nohup gpulaunch ..."""
    launch.profile()
    with (launch.folder / "stderr").open("wb") as err:
        launch.process = launch.corral.spawn(
            ["nohup", *launch.command()], stdout=err, stderr=err, stdin=subprocess.DEVNULL, env=launch.environ
        )
    launch.until_ready().signal(signal.SIGHUP).signal(signal.SIGTERM)
    assert launch.wait() == 0
    assert "SIGHUP" not in launch.errors


def test_ctrl_z_does_not_stop_whoever_drains_the_pipes(launch: Launch) -> None:
    launch.start().until_ready().signal(signal.SIGTSTP).until("Ctrl-Z")
    assert health(launch.port) == 200
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_ctrl_z_stops_a_plain_supervisor_and_nobody_reads_any_more(corral: Corral) -> None:
    script = "import subprocess; subprocess.run(['tail', '-f', '/dev/null'])"
    # A group of its own in our session, as a shell makes one: the kernel stops no group that nobody could continue.
    supervisor = corral.spawn([sys.executable, "-c", script], preexec_fn=lambda: os.setpgid(0, 0))
    eventually(lambda: len(corral.survivors()) == 2)
    supervisor.send_signal(signal.SIGTSTP)
    stat = Path(f"/proc/{supervisor.pid}/stat")
    eventually(lambda: stat.read_text().rpartition(") ")[2].startswith("T"), what="it is stopped")


def test_sigquit_of_the_servers_own_processes_is_ignored(launch: Launch) -> None:
    """SGLang's schedulers send it to their parent, which may be us once the main process is gone."""
    script = "import os, signal; os.kill(os.getppid(), signal.SIGQUIT); signal.pause()"
    launch.start(command=[sys.executable, "-c", script], ready=False)
    launch.until("ignored")
    assert launch.signal(signal.SIGTERM).wait() == 0


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2])
def test_a_signal_that_means_nothing_to_us_ends_nobody(launch: Launch, number: signal.Signals) -> None:
    """By default it would end us, and the guard the server: Slurm sends one before a job's time is over."""
    launch.start().until_ready().signal(number).until(f"{number.name} from process {os.getpid()}")
    assert health(launch.port) == 200
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_a_server_that_is_never_ready_is_stopped_after_the_profiles_timeout(launch: Launch) -> None:
    launch.start("--ready-after-file", launch.folder / "never", ready_timeout="1s")
    assert launch.wait() == 124


def test_a_taken_port_is_told_with_its_holder(launch: Launch) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", launch.port))
        holder.listen()
        launch.start()
        assert launch.wait() == 75
    assert f"process {os.getpid()}" in launch.errors
    assert not (launch.folder / "state").exists()


def test_a_script_whose_interpreter_is_gone_is_told_apart_from_one_that_is_missing(launch: Launch) -> None:
    """A virtual environment that was moved: bin/vllm is there and its first line names a Python that is not."""
    moved = launch.folder / "vllm"
    moved.write_text("#!/old/venv/bin/python\n")
    moved.chmod(0o755)
    launch.start(command=[str(moved)], ready=False)
    assert launch.wait() == 126
    assert "/old/venv/bin/python" in launch.errors


def test_a_server_that_we_became_can_be_stopped_by_name(launch: Launch) -> None:
    launch.profile("--pid-file", launch.folder / "pids", ready=False)
    with (launch.folder / "stderr").open("wb") as err:
        launch.process = launch.corral.spawn(launch.command("--exec"), stdout=err, stderr=err, env=launch.environ)
    processes(launch.folder / "pids")
    command = [sys.executable, "-m", "launcher", "stop", "test"]
    stop = subprocess.run(command, env=launch.environ, cwd=ROOT, capture_output=True, text=True)
    assert stop.returncode == 0
    assert stop.stderr.startswith("gpulaunch: stopped: test, run ")
    assert "nothing of it is left" not in stop.stderr, "nobody of ours was there to see it"
    assert launch.wait() == 0
