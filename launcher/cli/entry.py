"""The one place where every command ends: what was refused is printed, what broke becomes an exit code.

Nothing below this prints an error or exits. An operator's mistake never shows a traceback; a bug of ours shows one
line, and its traceback with -v.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence

import click

from launcher import errors, secrets
from launcher.cli import afresh
from launcher.cli.answers import Answered
from launcher.cli.early import Stopped, listen
from launcher.cli.screen import Screen
from launcher.cli.table import starts_a_server
from launcher.cli.usage import sentence
from launcher.errors import Refused, UsageError

PATIENCE = 2.0  # seconds for a terminal that does not keep up
REPORT_AT = "please report it with the output of the same command and -v"


def run(arguments: Sequence[str], again: Sequence[str] | None = None) -> int:
    """Runs one command line; returns its exit code and raises nothing.

    `again` is the command line of our process, where executing it would lead here once more (`afresh.command_line`).
    """
    _have_three_streams()
    screen = Screen()
    try:
        return _answer(arguments, screen, again)
    finally:
        screen.voice.close(PATIENCE)


def _answer(arguments: Sequence[str], screen: Screen, again: Sequence[str] | None) -> int:
    try:
        handed = afresh.handed(arguments)
        return handed.carry_out(screen) if handed else _command(arguments, screen, again)
    except click.exceptions.Exit as asked:
        return asked.exit_code
    except Answered as answered:
        return answered.exit_code
    except Refused as refused:
        screen.refused(refused)
        return refused.exit_code
    except UsageError as error:
        screen.say(str(error))
        return errors.USAGE
    except KeyboardInterrupt:
        return errors.INTERRUPTED
    except Stopped as stopped:
        screen.say(f"stopped by {stopped} before the start")
        return stopped.exit_code
    except click.ClickException as error:
        screen.say(sentence(error))
        return errors.USAGE
    except BrokenPipeError:
        _forget_standard_output()
        return errors.PIPE_CLOSED
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO):
            _bug(error, screen)
            return errors.LAUNCHER_FAILED
        _forget_standard_output()
        screen.say(f"standard output cannot be written: {error.strerror}")
        return errors.LAUNCHER_FAILED
    except Exception as error:
        _bug(error, screen)
        return errors.LAUNCHER_FAILED


def _command(arguments: Sequence[str], screen: Screen, again: Sequence[str] | None) -> int:
    if starts_a_server(arguments):
        listen()  # before all that a plan takes is loaded

    from launcher.cli.group import gpulaunch

    # Not click's own main(): it would turn a closed pipe into exit 1 and Ctrl-C into a line of its own.
    with gpulaunch.make_context("gpulaunch", list(arguments), obj=screen) as context:
        context.meta[afresh.AGAIN] = again
        code = gpulaunch.invoke(context)
    sys.stdout.flush()
    return code if isinstance(code, int) else errors.OK


def _have_three_streams() -> None:
    """Whoever starts us may have closed some: then a file of ours would become standard error, and be written to."""
    for descriptor, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            setattr(sys, name, open(descriptor, "r" if descriptor == 0 else "w", closefd=False))  # noqa: SIM115 - stays open


def _bug(error: Exception, screen: Screen) -> None:
    """Texts of exceptions may hold values of the caller's secrets."""
    hidden = [value for name, value in os.environ.items() if secrets.is_secret_name(name)]
    if screen.verbose:
        screen.voice.say(secrets.mask(traceback.format_exc(), hidden))
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = secrets.mask(f"{type(error).__name__}: {error}", hidden)
    screen.say(f"this is a bug of gpulaunch: {what} ({last.filename}:{last.lineno}); {REPORT_AT}")


def _forget_standard_output() -> None:
    """Whoever read it is gone (`gpulaunch explain | head -1`): the interpreter must not complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
