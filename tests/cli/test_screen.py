"""A real terminal of 80 columns, a pipe and a log: colours and wrapping only where they help."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

from tests.cli.conftest import Caller

COLUMNS = 80


def on_a_terminal(caller: Caller, *arguments: str, **env: str) -> str:
    """What a command writes to a terminal, standard error included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    command = [sys.executable, "-m", "launcher", *arguments]
    environ = {**caller.environ, "TERM": "xterm", **env}
    with subprocess.Popen(command, env=environ, cwd=caller.folder, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # EIO: everybody who had the terminal is gone
                break
            if not chunk:
                break
            said += chunk
        process.wait(timeout=60)
    os.close(ours)
    return said.decode().replace("\r\n", "\n")


def test_prose_fits_the_terminal_and_commands_stay_whole(caller: Caller, founding_machine: str) -> None:
    said = on_a_terminal(
        caller, "check", "--profile", "kimi-k26-dflash", "--facts", founding_machine, "--no-color"
    ).splitlines()
    # One word is never torn apart: a variable with its value, a folder.
    long = [line for line in said if len(line) > COLUMNS and line.split()[0] not in ("+", "folder:")]
    assert [line.split()[0] for line in long] == ["gpulaunch", "~"]  # the command to paste, and PATH
    assert len(said) > 40


def test_colours_are_for_terminals(caller: Caller) -> None:
    line = ("explain", "toolkit-hidden")
    assert "\x1b[1mtoolkit-hidden" in on_a_terminal(caller, *line)
    assert "\x1b" not in caller(*line).out


@pytest.mark.parametrize(
    ("arguments", "env"),
    [(("--no-color",), {}), ((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"}), (("--no-color",), {"FORCE_COLOR": "1"})],
)
def test_colours_can_be_refused(caller: Caller, arguments: tuple[str, ...], env: dict[str, str]) -> None:
    assert "\x1b" not in on_a_terminal(caller, "explain", "toolkit-hidden", *arguments, **env)


def test_colours_can_be_forced(caller: Caller) -> None:
    assert "\x1b[1m" in caller("explain", "toolkit-hidden", env={**caller.environ, "FORCE_COLOR": "1"}).out


def test_an_empty_no_color_means_nothing(caller: Caller) -> None:
    assert "\x1b[1m" in on_a_terminal(caller, "explain", "toolkit-hidden", NO_COLOR="")


def test_json_is_never_coloured_or_wrapped(caller: Caller, founding_machine: str) -> None:
    arguments = ("check", "--profile", "kimi-k26-dflash", "--facts", founding_machine, "--json")
    assert on_a_terminal(caller, *arguments, FORCE_COLOR="1") == caller(*arguments).out
