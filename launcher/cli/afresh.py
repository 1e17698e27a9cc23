"""Goes on in a fresh interpreter: the same process executes its own command line once more, for the second half.

A plan takes the profile's schema, YAML, every consumer and check; supervising, for weeks, takes none of them, and a
Python that has loaded them gives nothing back. exec(2) keeps the pid that systemd knows, the locks, and the signals
that wait.

What the second half needs goes through a file in memory that nobody can change any more: it holds secrets, which must
reach no file system and no command line.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from launcher.cli.screen import Screen

if TYPE_CHECKING:  # every command loads this module
    from launcher.cli.second_half import SecondHalf

AGAIN = "launcher.again"  # in click's meta: what `command_line` says
VARIABLE = "GPULAUNCH_SECOND_HALF"  # the descriptor of that file
_PROGRAM, _MODULE = "gpulaunch", ["-m", "launcher"]
_LONGEST = 9  # digits of a descriptor
_F_ADD_SEALS, _F_GET_SEALS = 1033, 1034  # <linux/fcntl.h>: the library has these names on Linux alone
_SEALED = 1 | 2 | 4 | 8  # no more seals, no less, no more, no other bytes


@dataclass(frozen=True)
class Handed:
    """What one interpreter leaves to the next."""

    half: SecondHalf
    arguments: tuple[str, ...]  # of the command line that both halves share
    quiet: bool
    verbose: bool
    no_color: bool

    def carry_out(self, screen: Screen) -> int:
        """The exit code of the launch."""
        screen.quiet, screen.verbose, screen.no_color = self.quiet, self.verbose, self.no_color
        with self.half.claim as claim:
            claim.keep_from_children()
            return self.half.carry_out(dict(os.environ), screen)


def command_line() -> tuple[str, ...] | None:
    """That of our process without the interpreter's name, where executing it leads here once more: of `gpulaunch` and
    of `python -m launcher`. Any other caller may do more than to call us, or cannot be read twice (`python - < file`).
    """
    arguments, typed = sys.argv[1:], sys.orig_argv[1:]
    before = typed[: len(typed) - len(arguments)]
    if not before or typed[len(before) :] != arguments:
        return None
    script = Path(before[-1])
    is_script = before[-1] == sys.argv[0] and script.name == _PROGRAM and script.is_file()
    return tuple(typed) if is_script or before[-2:] == _MODULE else None


def go_on(half: SecondHalf, screen: Screen, again: Sequence[str]) -> None:
    """Does not return. Where it does, it cannot be done here, and the caller goes on as it is.

    A terminal that still has to be told something keeps us as we are: exec would take the words away.
    """
    from launcher.supervise.signals import blocked

    if screen.voice.is_late or not sys.executable:
        return
    left = Handed(half, tuple(sys.argv[1:]), screen.quiet, screen.verbose, screen.no_color)
    # Signals wait until the next one reads them.
    with blocked(), contextlib.suppress(OSError), _file_with(left) as file:
        if not _is_sealed(file.fileno()):
            return
        half.claim.keep_through_exec()
        try:
            os.execve(sys.executable, [sys.executable, *again], {**os.environ, VARIABLE: str(file.fileno())})
        finally:
            half.claim.keep_from_children()


def handed(arguments: Sequence[str]) -> Handed | None:
    """What was left to us; None where nothing was, as usual. Raises RuntimeError for what is not for these words."""
    number = os.environ.pop(VARIABLE, "")
    # What is sealed so is what we wrote: whoever else sets the variable has no such file open here.
    if not number.isdecimal() or len(number) > _LONGEST or not _is_sealed(int(number)):
        return None
    with os.fdopen(int(number), "rb") as file:
        found = pickle.load(file)
    if not isinstance(found, Handed) or found.arguments != tuple(arguments):
        raise RuntimeError(f"{VARIABLE} holds the second half of another command line")
    return found


def _is_sealed(descriptor: int) -> bool:
    """True for a file in memory that nobody can change; the kernel may add a seal (vm.memfd_noexec)."""
    try:
        return fcntl.fcntl(descriptor, _F_GET_SEALS) & _SEALED == _SEALED
    except OSError:
        return False


@contextlib.contextmanager
def _file_with(handed: Handed) -> Iterator[BinaryIO]:
    """A file that outlives exec. Raises OSError."""
    with os.fdopen(os.memfd_create("gpulaunch", os.MFD_ALLOW_SEALING), "wb") as file:
        os.set_inheritable(file.fileno(), True)
        pickle.dump(handed, file)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        fcntl.fcntl(file, _F_ADD_SEALS, _SEALED)
        yield file
