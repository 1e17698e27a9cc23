"""Everything ends in one place: no traceback for an operator's mistake, an exit code for each kind of end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import click
import pytest

from launcher import findings
from launcher.cli import entry
from launcher.cli import group as groups
from launcher.cli.table import COMMANDS, Entry
from launcher.errors import Refused
from tests.cli.conftest import Answer, Caller

Here = Callable[..., Answer]


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes a command `probe` that ends in the way that is asked for."""

    def make(error: BaseException) -> None:
        def raise_it() -> None:
            raise error

        commands = {"probe": click.Command("probe", callback=raise_it)}
        monkeypatch.setitem(COMMANDS, "probe", Entry("probe", "", ""))
        monkeypatch.setattr(groups.gpulaunch, "get_command", lambda ctx, name: commands[name])

    return make


def test_what_was_refused_is_printed_with_its_fix_and_code(here: Here, ending: Callable[[BaseException], None]) -> None:
    ending(Refused([findings.error("target-missing", "It is gone.", fix="Make it.")]))
    answer = here("probe")
    assert answer.code == 127
    assert answer.err == "gpulaunch: error: It is gone. [target-missing]\ngpulaunch:   fix: Make it.\n"


def test_a_bug_is_one_line_that_says_where_and_holds_no_secret(
    here: Here, ending: Callable[[BaseException], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefgh")
    ending(ValueError("no hf_abcdefgh here"))
    answer = here("probe")
    assert answer.code == 125
    assert answer.err.startswith("gpulaunch: this is a bug of gpulaunch: ValueError: no *** here (")
    assert answer.err.count("\n") == 1


def test_the_traceback_of_a_bug_comes_with_v_and_holds_no_secret(
    here: Here, ending: Callable[[BaseException], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefgh")
    ending(ValueError("no hf_abcdefgh here"))
    answer = here("-v", "probe")
    assert "Traceback (most recent call last)" in answer.err
    assert "hf_abcdefgh" not in answer.err


def test_an_interrupt_is_130_without_a_word_of_python(here: Here, ending: Callable[[BaseException], None]) -> None:
    ending(KeyboardInterrupt())
    answer = here("probe")
    assert answer.code == 130
    assert "Traceback" not in answer.err


def test_an_interrupt_while_starting_up_is_130_too() -> None:
    """Ctrl-C may come while our own modules are being imported."""
    program = (
        "import sys, signal, os\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs inherit it as ignored
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'launcher.cli.entry': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "sys.argv = ['gpulaunch', '--help']\n"
        "from launcher.__main__ import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")


def test_a_reader_that_went_away_is_no_error(caller: Caller) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "launcher", "schema"]
    done = subprocess.run(command, env=dict(caller.environ), stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_usage_errors_and_refusals_are_the_only_ways_to_2_and_78(here: Here, caller: Caller) -> None:
    assert here("check", "--profile", "nowhere").code == 78
    assert here("check", "--profile", "./nowhere.yaml").code == 78
    assert here("check", "--profile", caller.profile("schema: 1\nnmae: x\n")).code == 78
    assert here("check", "--nmae").code == 2


def test_every_error_of_a_profile_is_printed_with_its_line(here: Here, caller: Caller) -> None:
    profile = caller.profile("schema: 1\nname: server\nengine: sglnag\nport: 1\n")
    answer = here("command", "--profile", profile)
    assert answer.code == 78
    assert "gpulaunch: error: ./server.yaml:3: engine: " in answer.err
    assert "gpulaunch: error: ./server.yaml:4: port: " in answer.err
    assert "Traceback" not in answer.err


def test_run_never_raises(capfd: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["--no-such-option"]) == 2
    assert "there is no option --no-such-option" in capfd.readouterr().err
