"""Between its halves a launch executes itself once more: the same process, with its locks, and nothing that planned."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher import instances
from launcher.cli import afresh
from launcher.cli.screen import Screen
from launcher.cli.second_half import SecondHalf
from launcher.instances import Claim
from tests.launching import Launch
from tests.orphans import launching

PLANNING = ("pydantic_core", "_yaml")  # compiled modules that only planning takes: they show in a process's map
# Python runs this file first of all. It signals the second half before that can have prepared for anything.
AT_ONCE = f"""
import os, signal
if {afresh.VARIABLE!r} in os.environ:
    os.kill(os.getpid(), signal.{{}})
"""


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    with launching(tmp_path) as made:
        yield made


def pid(launch: Launch) -> int:
    assert launch.process is not None
    return launch.process.pid


def server(launch: Launch) -> int:
    """The one child that listens; the guard does not."""
    children = Path(f"/proc/{pid(launch)}/task/{pid(launch)}/children").read_text().split()
    return next(int(child) for child in children if str(launch.port) in command(int(child)))


def command(process: int) -> list[str]:
    return Path(f"/proc/{process}/cmdline").read_text().split("\0")


def open_files(process: int) -> set[str]:
    return {os.readlink(file) for file in Path(f"/proc/{process}/fd").iterdir()}


def test_who_supervises_is_the_process_that_was_started_and_has_loaded_nothing_that_plans(launch: Launch) -> None:
    planner = "import launcher.cli.story; print(open('/proc/self/maps').read())"
    planned = subprocess.run([sys.executable, "-c", planner], env=launch.environ, capture_output=True, text=True)
    assert all(name in planned.stdout for name in PLANNING), "the control: planning loads them"
    launch.start().until_ready()
    loaded = Path(f"/proc/{pid(launch)}/maps").read_text()
    assert not [name for name in PLANNING if name in loaded]
    assert "launcher" in command(pid(launch)) and launch.instance in command(pid(launch)), "ps shows what was typed"
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert launch.corral.survivors() == []


def test_the_locks_are_kept_and_the_server_has_neither_them_nor_a_word_of_the_hand_over(launch: Launch) -> None:
    launch.start().until_ready()
    locks = {file for file in open_files(pid(launch)) if file.endswith(".lock")}
    assert {Path(lock).name for lock in locks} == {f"instance-{launch.instance}.lock", f"port-{launch.port}.lock"}
    child = server(launch)
    assert not [file for file in open_files(child) if file.endswith(".lock") or "memfd" in file]
    assert afresh.VARIABLE.encode() not in Path(f"/proc/{child}/environ").read_bytes()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert not [lock for lock in locks if Path(lock).exists()]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)]
)
def test_a_stop_that_comes_between_the_halves_is_not_lost(launch: Launch, number: signal.Signals, code: int) -> None:
    (launch.folder / "sitecustomize.py").write_text(AT_ONCE.format(number.name))
    launch.start(environ={"PYTHONPATH": f"{launch.folder}:{launch.environ['PYTHONPATH']}"})
    assert launch.wait() == code
    assert launch.corral.survivors() == []
    assert launch.outcome["requested"] and not launch.outcome["ready"]


def test_what_somebody_else_wrote_into_the_variable_counts_for_nothing(launch: Launch) -> None:
    launch.start(environ={afresh.VARIABLE: "0"}).until_ready()
    assert launch.signal(signal.SIGTERM).wait() == 0
    assert launch.outcome["ready"]


@pytest.mark.parametrize("value", ["", "0", "97", "-1", "²", "2147483648", "9" * 5000, "x" * 5000])
def test_no_value_but_a_sealed_file_means_anything(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A file that is no such one, one that is not open, what is no descriptor, no number at all."""
    monkeypatch.setenv(afresh.VARIABLE, value)
    assert afresh.handed(["profiles"]) is None
    assert afresh.VARIABLE not in os.environ


# ---------------------------------------------------------------------------------------------------------------------
# Who is executed once more, and who is not

SCRIPT = "/opt/venv/bin/gpulaunch"
WORDS = ["vllm", "--profile", "p"]


@pytest.mark.parametrize(
    ("typed", "argv0", "again"),
    [
        (["python3", SCRIPT], SCRIPT, True),
        (["python3", "-I", "-X", "utf8", SCRIPT], SCRIPT, True),
        (["python3", "-m", "launcher"], "/opt/launcher/__main__.py", True),
        (["python3", "-I", "-m", "launcher"], "/opt/launcher/__main__.py", True),
        (["python3", "/opt/start.py"], "/opt/start.py", False),
        (["python3", "-c", "import launcher.__main__"], "-c", False),
        (["python3", "-"], "-", False),
        (["python3"], "", False),
        (["python3", "/dev/fd/63"], "/dev/fd/63", False),
    ],
)
def test_only_the_program_and_the_module_are_executed_once_more(
    monkeypatch: pytest.MonkeyPatch, typed: list[str], argv0: str, again: bool
) -> None:
    monkeypatch.setattr(Path, "is_file", lambda path: str(path) == SCRIPT)
    monkeypatch.setattr(sys, "orig_argv", [*typed, *WORDS])
    monkeypatch.setattr(sys, "argv", [argv0, *WORDS])
    assert afresh.command_line() == ((*typed[1:], *WORDS) if again else None)


def test_a_caller_that_changed_the_words_is_not_executed_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    monkeypatch.setattr(sys, "orig_argv", ["python3", SCRIPT, "--default"])
    monkeypatch.setattr(sys, "argv", [SCRIPT, *WORDS])
    assert afresh.command_line() is None


def test_a_script_from_standard_input_cannot_be_read_twice_and_starts_the_server_all_the_same(launch: Launch) -> None:
    launch.profile("--say", "started", "--exit", 3, ready=False)
    main = "import sys; from launcher.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-", *arguments_of(launch)]
    done = subprocess.run(command, input=main, env=launch.environ, capture_output=True, text=True)
    assert done.returncode == 3 and done.stdout == "started\n"


def test_a_program_that_calls_us_more_than_once_is_never_begun_again(launch: Launch) -> None:
    launch.profile("--say", "started", "--exit", 3, ready=False)
    check = ["check", "--profile", str(launch.file)]
    wrapper = launch.folder / "wrapper.py"
    wrapper.write_text(
        "import sys\nfrom launcher.__main__ import main\nprint('begun', flush=True)\n"
        f"for words in ({check!r}, {arguments_of(launch)!r}):\n"
        "    sys.argv[1:] = words\n    print('ended with', main(), flush=True)\n"
    )
    done = subprocess.run([sys.executable, wrapper], env=launch.environ, capture_output=True, text=True)
    shown = done.stdout.splitlines()
    assert [shown.count(line) for line in ("begun", "started", "ended with 0", "ended with 3")] == [1, 1, 1, 1]


def arguments_of(launch: Launch) -> list[str]:
    """The words after the program's name."""
    command = launch.command()
    return command[command.index("launcher") + 1 :]


# ---------------------------------------------------------------------------------------------------------------------
# Where it cannot be done


def a_half(claim: Claim) -> SecondHalf:
    """Only what is looked at before the next interpreter: it must be fit for pickle, no more."""
    return SecondHalf(host="supervise", plan=None, run=None, claim=claim)  # type: ignore[arg-type]


@pytest.fixture
def claim(tmp_path: Path) -> Iterator[Claim]:
    with instances.claim(str(tmp_path), instances.claimant("a", "a", "run"), [instances.instance("a")]) as made:
        yield made


def lock_of(claim: Claim) -> int:
    (descriptor,) = claim._held.values()
    return descriptor


def mask() -> set[signal.Signals | int]:
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def fail(*_: object, **__: object) -> int:
    raise OSError(38, "Function not implemented")


@pytest.mark.parametrize("missing", ["os.memfd_create", "os.execve", "fcntl.fcntl"])
def test_where_it_cannot_be_done_all_is_as_before_and_the_caller_goes_on(
    monkeypatch: pytest.MonkeyPatch, claim: Claim, missing: str
) -> None:
    before, files = mask(), len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(f"launcher.cli.afresh.{missing}", fail)
    afresh.go_on(a_half(claim), Screen(), ["-m", "launcher"])
    assert mask() == before
    assert not os.get_inheritable(lock_of(claim))
    assert len(os.listdir("/proc/self/fd")) == files


def test_what_a_terminal_has_still_to_be_told_keeps_us_as_we_are(monkeypatch: pytest.MonkeyPatch, claim: Claim) -> None:
    executed: list[object] = []
    monkeypatch.setattr("launcher.cli.afresh.os.execve", lambda *words: executed.append(words))
    screen = Screen()
    full, end = os.pipe()
    try:
        os.set_blocking(end, False)
        while True:
            try:
                os.write(end, b"x" * 4096)
            except BlockingIOError:
                break
        os.set_blocking(end, True)
        screen.voice._descriptor = end
        screen.say("not read yet")
        afresh.go_on(a_half(claim), screen, ["-m", "launcher"])
    finally:
        os.close(full)
        screen.voice.close(10)
        os.close(end)
    assert executed == []


def test_the_second_half_of_another_command_line_is_a_mistake_and_starts_nothing(
    monkeypatch: pytest.MonkeyPatch, claim: Claim
) -> None:
    left = afresh.Handed(a_half(claim), ("vllm",), quiet=False, verbose=False, no_color=False)
    with afresh._file_with(left) as file:
        monkeypatch.setenv(afresh.VARIABLE, str(os.dup(file.fileno())))
        with pytest.raises(RuntimeError, match="another command line"):
            afresh.handed(["sglang"])
