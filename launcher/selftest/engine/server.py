"""What the server itself is doing: it loads, serves, answers signals, and ends in one of its ways."""

from __future__ import annotations

import argparse
import os
import select
import signal
import threading
import time

from launcher.selftest.engine import BROKEN_DRAIN, CUT_SHORT, TICK
from launcher.selftest.engine.files import is_there, write_all, write_whole


class Server:
    """What it is doing. All signals are taken by `run`, in the main thread, one at a time."""

    def __init__(self, options: argparse.Namespace, watched: set[signal.Signals]) -> None:
        self.options = options
        self.watched = watched
        self.born = time.monotonic()
        self.ready = False
        self.answered = threading.Event()
        self.wrote_all = threading.Event()
        self.lost_one = False
        self.hangs = False
        self.drains_until: float | None = None
        self.workers: list[int] = []
        self.lives: list[int] = []  # pipes that end with each worker
        self.tokens = 0
        self.eaten = bytearray()

    @property
    def healthy(self) -> bool:
        """What /health says."""
        honest = self.options.health != "honest" or not self.a_worker_is_dead()
        return self.ready and self.drains_until is None and honest

    @property
    def stalls(self) -> bool:
        """True while no token is generated."""
        return self.hangs or (self.options.stall_file is not None and self.options.stall_file.exists())

    def a_worker_is_dead(self) -> bool:
        """A pipe that ended is readable."""
        return bool(select.select(self.lives, [], [], 0)[0])

    def run(self) -> int:
        """Serves until something ends it; the exit code."""
        while True:
            received = signal.sigtimedwait(self.watched, TICK)
            if received is not None:
                code = self.receive(signal.Signals(received.si_signo))
            else:
                code = self.look()
            if code is not None:
                self.end_workers()
                return code

    def receive(self, number: signal.Signals) -> int | None:
        """Answers a signal: an exit code, or None to go on."""
        if self.options.term_log is not None:
            with self.options.term_log.open("a") as log:
                log.write(f"{number.name} {time.monotonic():.6f}\n")
        if number != signal.SIGTERM:
            die_of(number)
        if self.options.ignore_term or self.hangs:
            return None
        if not self.ready and self.options.ignore_first_term_while_loading and not self.lost_one:
            self.lost_one = True
            return None
        if self.drains_until is not None:
            return CUT_SHORT
        if self.ready and self.options.drain is not None:
            self.drains_until = time.monotonic() + self.options.drain
            return None
        return self.end_of_term()

    def end_of_term(self) -> int:
        """What it says last, and its code."""
        if self.options.term_says is not None:
            write_all(1, f"{self.options.term_says}\n".encode())
        return int(self.options.term_exit)

    def look(self) -> int | None:
        """Has anything happened that is no signal? An exit code, or None to go on."""
        options = self.options
        self.ready = self.ready or self.has_loaded()
        if self.options.requests and self.ready and not self.stalls:
            self.tokens += self.options.requests
        if is_there(options.hang_on_file) and not self.hangs:
            self.speak_last()
            self.hangs = True
        if is_there(options.die_on_file) or (options.die and self.wrote_all.is_set()):
            self.kill_itself()
        if self.drains_until is not None:
            return self.drained()
        if self.a_worker_is_dead() and options.worker_death_kills:
            self.kill_itself()
        if self.a_worker_is_dead() and options.worker_death_exits is not None:
            return self.end_with(options.worker_death_exits)
        if options.exit_after_ready is not None and self.answered.is_set():
            return self.end_with(options.exit_after_ready)
        if options.exit_on_file is not None:
            return self.end_with(options.exit or 0) if options.exit_on_file.exists() else None
        if options.exit is not None and self.wrote_all.is_set():
            return self.end_with(options.exit)
        return None

    def has_loaded(self) -> bool:
        """True when nothing holds it up any more."""
        gate = self.options.ready_after_file
        return time.monotonic() >= self.born + self.options.load and (gate is None or gate.exists())

    def drained(self) -> int | None:
        """The exit code of a drain that is over."""
        if self.options.drain_needs_workers and self.a_worker_is_dead():
            return BROKEN_DRAIN
        if self.drains_until is None or time.monotonic() < self.drains_until:
            return None
        if self.options.drained_file is not None:
            write_whole(self.options.drained_file, "drained\n")
        return self.end_of_term()

    def end_with(self, code: int) -> int:
        """An end that nobody asked for."""
        self.speak_last()
        return code

    def kill_itself(self) -> None:
        self.speak_last()
        os.kill(os.getpid(), signal.SIGKILL)

    def speak_last(self) -> None:
        if self.options.last_words is not None:
            write_all(2, f"{self.options.last_words}\n".encode())

    def end_workers(self) -> None:
        """What an orderly server does."""
        if self.options.ends_workers:
            for pid in self.workers:
                os.kill(pid, signal.SIGTERM)
            for life in self.lives:
                select.select([life], [], [])


def die_of(number: signal.Signals) -> None:
    """Ends as a program without a handler does."""
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
