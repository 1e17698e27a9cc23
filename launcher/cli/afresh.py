"""Goes on in a fresh interpreter: the same process executes its own command line once more, for the second half.

A plan takes the profile's schema, YAML, every consumer and check; supervising, for weeks, takes none of them, and a
Python that has loaded them gives nothing back: 44 MiB become 26. exec(2) keeps the pid that systemd knows, the locks,
and the signals that wait.

What the second half needs goes through a file in memory that nobody can change any more: it holds secrets, which must
reach no disk and no command line.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from launcher.cli.screen import Screen

if TYPE_CHECKING:  # every command loads this module
    from launcher.cli.second_half import SecondHalf

AGAIN = "launcher.again"  # in click's meta: the command line of our process, where executing it leads here once more
VARIABLE = "GPULAUNCH_SECOND_HALF"  # the descriptor of that file
_F_ADD_SEALS, _F_GET_SEALS = 1033, 1034  # <linux/fcntl.h>: the library has these names on Linux alone
_SEALED = 1 | 2 | 4 | 8  # no more seals, no less, no more, no other bytes


@dataclass(frozen=True)
class Handed:
    """What one interpreter leaves to the next."""

    half: SecondHalf
    quiet: bool
    verbose: bool
    no_color: bool

    def carry_out(self, screen: Screen) -> int:
        """The exit code of the launch."""
        screen.quiet, screen.verbose, screen.no_color = self.quiet, self.verbose, self.no_color
        with self.half.claim as claim:
            claim.keep_from_children()
            return self.half.carry_out(dict(os.environ), screen)


def go_on(half: SecondHalf, screen: Screen, again: Sequence[str]) -> None:
    """Does not return. Where it does, nothing has happened, and the caller goes on as it is.

    A terminal that still has to be told something keeps us as we are: exec would take the words away.
    """
    from launcher.supervise.signals import blocked

    if screen.voice.is_late or not sys.executable:
        return
    left = Handed(half, screen.quiet, screen.verbose, screen.no_color)
    # Signals wait until the next one reads them.
    with blocked(), contextlib.suppress(OSError), _file_with(left) as file:
        half.claim.keep_through_exec()
        try:
            os.execve(sys.executable, [sys.executable, *again[1:]], {**os.environ, VARIABLE: str(file.fileno())})
        finally:
            half.claim.keep_from_children()


def handed() -> Handed | None:
    """What was left to us; None where nothing was, as usual."""
    number = os.environ.pop(VARIABLE, "")
    if not number.isdecimal():
        return None
    try:
        # What is sealed so is what we wrote: whoever else sets the variable has no such file open here.
        if fcntl.fcntl(int(number), _F_GET_SEALS) != _SEALED:
            return None
    except OSError:
        return None
    with os.fdopen(int(number), "rb") as file:
        found = pickle.load(file)
    return found if isinstance(found, Handed) else None


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
