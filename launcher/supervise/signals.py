"""Signals are waited for like any other input, with their sender; no handler runs at any moment.

`signalfd` has no door in Python's library; it is one call.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
from collections.abc import Iterator
from dataclasses import dataclass

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
# USR1 and USR2 mean nothing to us, but would end us by default: Slurm sends one before a job's time is over.
# So would timers of whoever started us, and limits of processor time; what is heard and means nothing is told.
_NOTHING = (
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO, signal.SIGPWR,
    signal.SIGXCPU,
)  # fmt: skip
WATCHED = (*STOPS, signal.SIGTSTP, *_NOTHING, signal.SIGCHLD)
# TTIN and TTOU are blocked too, lest a terminal stops whoever drains the pipes, and what has no name.
_BLOCKED = (
    *WATCHED, signal.SIGTTIN, signal.SIGTTOU, signal.SIGPIPE, *range(signal.SIGRTMIN, signal.SIGRTMAX + 1),
)  # fmt: skip
_RECORD = 128  # bytes of struct signalfd_siginfo
_SI_KERNEL = 0x80  # <asm-generic/siginfo.h>
_HEAD = struct.Struct("=IiiII")  # ssi_signo, ssi_errno, ssi_code, ssi_pid, ssi_uid
_NONBLOCK, _CLOEXEC = os.O_NONBLOCK, os.O_CLOEXEC


@dataclass(frozen=True)
class Received:
    """A signal and who sent it. pid 0: the kernel, or a process outside our pid namespace."""

    number: signal.Signals
    pid: int
    uid: int
    of_kernel: bool  # a terminal's Ctrl-C or hang-up


class Inbox:
    """Blocks the watched signals and reads them from a descriptor. A context manager: the mask is restored.

    From its end on these signals mean nothing any more: what they ask for is done, and one more Ctrl-C or TERM must not
    end us, with another exit code, before the outcome is written down.
    """

    def __init__(self) -> None:
        # A disposition of "ignore" for children would let the kernel reap them; inherited from a careless parent.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._no_hangups = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
        self.descriptor = _signalfd(WATCHED)

    def __enter__(self) -> Inbox:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)
        for number in set(_BLOCKED) - {signal.SIGCHLD}:
            signal.signal(number, signal.SIG_IGN)  # drops those that wait, too
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def read(self) -> Iterator[Received]:
        """Everything that arrived. A hang-up that was ignored when we were started (nohup) stays ignored."""
        while True:
            try:
                record = os.read(self.descriptor, _RECORD)
            except BlockingIOError:
                return
            which, _, code, pid, uid = _HEAD.unpack_from(record)
            received = Received(signal.Signals(which), pid, uid, code == _SI_KERNEL)
            if not (received.number is signal.SIGHUP and self._no_hangups):
                yield received


@contextlib.contextmanager
def blocked() -> Iterator[None]:
    """All that an inbox reads waits meanwhile: also for the inbox of a program that we execute."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _signalfd(numbers: tuple[signal.Signals, ...]) -> int:
    mask = 0
    for number in numbers:
        mask |= 1 << (number - 1)
    room = (ctypes.c_ulong * 16)()  # a sigset_t of any C library
    room[0] = mask
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = int(libc.signalfd(-1, ctypes.byref(room), _NONBLOCK | _CLOEXEC))
    if descriptor < 0:
        problem = ctypes.get_errno()
        raise OSError(problem, f"signalfd: {os.strerror(problem)}")
    return descriptor
