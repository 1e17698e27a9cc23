"""The one place where every command ends: what was refused is printed, what broke becomes an exit code.

Nothing below this prints an error or exits. An operator's mistake never shows a traceback; a bug of ours shows one
line, and its traceback with -v.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from launcher import errors, secrets
from launcher.cli.answers import Answered
from launcher.cli.screen import Screen
from launcher.cli.usage import sentence
from launcher.errors import Refused, UsageError

REPORT_AT = "please report it with the output of the same command and -v"


def run(arguments: Sequence[str]) -> int:
    """Runs one command line; returns its exit code and raises nothing."""
    from launcher.cli.group import gpulaunch

    screen = Screen()
    try:
        code = gpulaunch.main(list(arguments), prog_name="gpulaunch", standalone_mode=False, obj=screen)
        sys.stdout.flush()
        return code if isinstance(code, int) else errors.OK
    except Answered as answered:
        return answered.exit_code
    except Refused as refused:
        screen.refused(refused)
        return refused.exit_code
    except UsageError as error:
        screen.say(str(error))
        return errors.USAGE
    except click.exceptions.Abort:
        return errors.INTERRUPTED
    except click.ClickException as error:
        screen.say(sentence(error))
        return errors.USAGE
    except BrokenPipeError:
        _forget_standard_output()
        return errors.PIPE_CLOSED
    except Exception as error:
        _bug(error, screen)
        return errors.LAUNCHER_FAILED


def _bug(error: Exception, screen: Screen) -> None:
    """Texts of exceptions may hold values of the caller's secrets."""
    hidden = [value for name, value in os.environ.items() if secrets.is_secret_name(name)]
    if screen.verbose:
        sys.stderr.write(secrets.mask(traceback.format_exc(), hidden))
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = secrets.mask(f"{type(error).__name__}: {error}", hidden)
    screen.say(f"this is a bug of gpulaunch: {what} ({last.filename}:{last.lineno}); {REPORT_AT}")


def _forget_standard_output() -> None:
    """Whoever read it is gone (`gpulaunch explain | head -1`): the interpreter must not complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
