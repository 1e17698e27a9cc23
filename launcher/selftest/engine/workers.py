"""Its workers, which a supervisor must not lose: sessions of their own, double forks, titles that hide them."""

from __future__ import annotations

import argparse
import os
import signal
import time
from pathlib import Path

from launcher.selftest.engine import LIFETIME, TICK
from launcher.selftest.engine.files import is_there, read_line

PR_SET_NAME = 15


def start_worker(options: argparse.Namespace, number: int) -> tuple[int, int]:
    """Forks a worker; its pid when it is as hostile as it was told to be, and a pipe that ends with it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        if options.worker_in == "session":
            os.setsid()
        if options.worker_in == "group":
            os.setpgid(0, 0)
        if options.double_fork and os.fork():
            os._exit(0)
        work(options, number, write)
    os.close(write)
    pid = int(read_line(read))
    if options.double_fork:
        os.waitpid(child, 0)
    return pid, read


def work(options: argparse.Namespace, number: int, life: int) -> None:
    """The life of a worker: it waits to be killed. `life` tells its pid, and stays open as long as it lives."""
    signal.alarm(LIFETIME)
    for other in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(other, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if options.worker_ignores_term else signal.SIG_DFL)
    if options.worker_forks_on_term:
        signal.signal(signal.SIGTERM, lambda *_: leave_a_deaf_one(life))
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if options.worker_setproctitle:
        take_title(b"renamed worker")
    if options.worker_port is not None and number == 0:
        keep_listening(options.worker_port)
    os.write(life, f"{os.getpid()}\n".encode())
    steered = options.worker_dies_on_file, options.worker_quits_parent_on_file
    told = False
    while True:
        if steered == (None, None):
            signal.pause()
        time.sleep(TICK)
        if is_there(steered[0]):
            os.kill(os.getpid(), signal.SIGKILL)
        if is_there(steered[1]) and not told:
            told = True
            os.kill(os.getppid(), signal.SIGQUIT)


def leave_a_deaf_one(life: int) -> None:
    """A child in a session of its own, made in the moment when its parent is told to end."""
    if os.fork():
        os._exit(0)
    os.setsid()
    os.close(life)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(LIFETIME)
    while True:
        signal.pause()


def keep_listening(port: int) -> None:
    """The port stays taken while this process lives."""
    import socket

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    listener.detach()


def take_title(title: bytes) -> None:
    """What setproctitle does at its worst: a new name and argv, and nothing left in /proc/PID/environ.

    The areas are fields 48 to 51 of /proc/PID/stat, proc(5). SPT_NOENV would spare the environment; we are hostile.
    """
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_NAME, title[:15], 0, 0, 0)
    fields = Path("/proc/self/stat").read_text().rpartition(") ")[2].split()
    arguments_start, arguments_end, environment_start, environment_end = (int(text) for text in fields[45:49])
    ctypes.memset(environment_start, 0, environment_end - environment_start)
    ctypes.memset(arguments_start, 0, arguments_end - arguments_start)
    ctypes.memmove(arguments_start, title, min(len(title), arguments_end - arguments_start - 1))
