"""A server that behaves as badly as real engines do, on request: a program for tests, standard library alone.

`python tests/hostile.py --port 8000 --worker --worker-ignores-term ...`; `--help` lists the bad habits. It says nothing
on its streams unless asked, and everything in it ends by itself after LIFETIME seconds, should a test lose sight of it.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import random
import signal
import string
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LIFETIME = 600  # seconds
TICK = 0.02  # seconds between two looks at the files that steer it
CHUNK = 8191  # bytes per write of --spam: odd, so that lines are cut anywhere
CUT_SHORT = 9  # exit code after a second SIGTERM during --drain
PR_SET_NAME = 15


def arguments(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    serve = parser.add_argument_group("serving")
    serve.add_argument("--port", type=int, help="answer /health on 127.0.0.1: 503 while loading, then 200")
    serve.add_argument("--ready-after-file", type=Path, metavar="PATH", help="loads until this file exists")
    serve.add_argument("--pid-file", type=Path, metavar="PATH", help="a JSON line per process, once all have started")

    work = parser.add_argument_group("workers, each in a session of its own, holding our streams open")
    work.add_argument("--worker", action="count", default=0, help="one; twice: two")
    work.add_argument("--worker-ignores-term", action="store_true")
    work.add_argument("--worker-setproctitle", action="store_true", help="overwrites its argv and its environment")
    work.add_argument("--double-fork", action="store_true", help="workers lose their parent at once")

    end = parser.add_argument_group("ends")
    end.add_argument("--exit", type=int, metavar="CODE", help="at once, or after --spam")
    end.add_argument("--exit-after-ready", type=int, metavar="CODE", help="after the first 200 was sent")
    end.add_argument("--die-on-file", type=Path, metavar="PATH", help="SIGKILLs itself, and no worker, when it exists")

    term = parser.add_argument_group("SIGTERM")
    term.add_argument("--term-exit", type=int, default=0, metavar="CODE", help="how it answers a SIGTERM (default 0)")
    term.add_argument("--ignore-term", action="store_true")
    term.add_argument("--ignore-first-term-while-loading", action="store_true", help="loses one, as vLLM does")
    term.add_argument("--drain", type=float, metavar="SECONDS", help=f"when ready; a second one: exit {CUT_SHORT}")
    term.add_argument("--drained-file", type=Path, metavar="PATH", help="written at the end of a whole --drain")
    term.add_argument("--term-log", type=Path, metavar="PATH", help="per signal from outside: name, monotonic seconds")

    speak = parser.add_argument_group("streams")
    speak.add_argument("--say", action="append", default=[], metavar="TEXT", help="a line on standard output")
    speak.add_argument("--say-error", action="append", default=[], metavar="TEXT", help="a line on standard error")
    speak.add_argument("--print-env", action="append", default=[], metavar="NAME", help="NAME=value, or NAME is unset")
    speak.add_argument("--close-stdout", action="store_true")
    speak.add_argument("--close-stderr", action="store_true")
    speak.add_argument("--spam", type=int, metavar="BYTES", help="of text, always the same")
    speak.add_argument("--spam-to", choices=("stdout", "stderr", "both"), default="stdout", help="both: half each")
    speak.add_argument("--spam-digest", type=Path, metavar="PATH", help='{"stdout": {"bytes": N, "sha256": S}, ...}')
    return parser.parse_args(words)


class Server:
    """What it is doing. All signals are taken by `run`, in the main thread, one at a time."""

    def __init__(self, options: argparse.Namespace, watched: set[signal.Signals]) -> None:
        self.options = options
        self.watched = watched
        self.ready = False
        self.answered = threading.Event()
        self.wrote_all = threading.Event()
        self.lost_one = False
        self.drains_until: float | None = None

    @property
    def healthy(self) -> bool:
        return self.ready and self.drains_until is None

    def run(self) -> int:
        """Serves until something ends it; the exit code."""
        while True:
            received = signal.sigtimedwait(self.watched, TICK)
            if received is not None:
                code = self.receive(signal.Signals(received.si_signo))
            else:
                code = self.look()
            if code is not None:
                return code

    def receive(self, number: signal.Signals) -> int | None:
        """Answers a signal: an exit code, or None to go on."""
        if self.options.term_log is not None:
            with self.options.term_log.open("a") as log:
                log.write(f"{number.name} {time.monotonic():.6f}\n")
        if number != signal.SIGTERM:
            die_of(number)
        if self.options.ignore_term:
            return None
        if not self.ready and self.options.ignore_first_term_while_loading and not self.lost_one:
            self.lost_one = True
            return None
        if self.drains_until is not None:
            return CUT_SHORT
        if self.ready and self.options.drain is not None:
            self.drains_until = time.monotonic() + self.options.drain
            return None
        return int(self.options.term_exit)

    def look(self) -> int | None:
        """Has anything happened that is no signal? An exit code, or None to go on."""
        gate, death = self.options.ready_after_file, self.options.die_on_file
        if death is not None and death.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        self.ready = self.ready or gate is None or gate.exists()
        if self.drains_until is not None and time.monotonic() >= self.drains_until:
            if self.options.drained_file is not None:
                write_whole(self.options.drained_file, "drained\n")
            return int(self.options.term_exit)
        if self.options.exit_after_ready is not None and self.answered.is_set():
            return int(self.options.exit_after_ready)
        if self.options.exit is not None and self.wrote_all.is_set():
            return int(self.options.exit)
        return None


def main(words: list[str]) -> int:
    options = arguments(words)
    signal.alarm(LIFETIME)
    everything = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
    # A blocked signal waits for us even where its disposition is to ignore it: nohup's HUP must stay ignored.
    watched = {number for number in everything if signal.getsignal(number) != signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    server = Server(options, watched)

    workers = [start_worker(options) for _ in range(options.worker)]
    speak(options)
    if options.port is not None:
        listen(options.port, server)
    if options.pid_file is not None:
        lines = [{"role": "server", "pid": os.getpid()}, *({"role": "worker", "pid": pid} for pid in workers)]
        write_whole(options.pid_file, "".join(json.dumps(line) + "\n" for line in lines))
    if options.spam is not None:
        threading.Thread(target=spam, args=(options, server.wrote_all), daemon=True).start()
    else:
        server.wrote_all.set()
    return server.run()


def start_worker(options: argparse.Namespace) -> int:
    """Forks a worker and returns its pid when it is as hostile as it was told to be."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setsid()
        if options.double_fork and os.fork():
            os._exit(0)
        work(options, write)
    os.close(write)
    with os.fdopen(read) as report:
        pid = int(report.readline())
    if options.double_fork:
        os.waitpid(child, 0)
    return pid


def work(options: argparse.Namespace, report: int) -> None:
    """The life of a worker: it waits to be killed."""
    signal.alarm(LIFETIME)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if options.worker_ignores_term else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if options.worker_setproctitle:
        take_title(b"renamed worker")
    os.write(report, f"{os.getpid()}\n".encode())
    os.close(report)
    while True:
        signal.pause()


def take_title(title: bytes) -> None:
    """What setproctitle does at its worst: a new name and argv, and nothing left in /proc/PID/environ.

    The areas are fields 48 to 51 of /proc/PID/stat, proc(5). SPT_NOENV would spare the environment; we are hostile.
    """
    ctypes.CDLL(None).prctl(PR_SET_NAME, title[:15], 0, 0, 0)
    fields = Path("/proc/self/stat").read_text().rpartition(") ")[2].split()
    arguments_start, arguments_end, environment_start, environment_end = (int(text) for text in fields[45:49])
    ctypes.memset(environment_start, 0, environment_end - environment_start)
    ctypes.memset(arguments_start, 0, arguments_end - arguments_start)
    ctypes.memmove(arguments_start, title, min(len(title), arguments_end - arguments_start - 1))


def die_of(number: signal.Signals) -> None:
    """Ends as a program without a handler does."""
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


def listen(port: int, server: Server) -> None:
    """Answers on loopback from now on, in threads that do not hold up the end."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            healthy = server.healthy
            status = 404 if self.path != "/health" else 200 if healthy else 503
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            self.wfile.flush()
            if status == 200:
                server.answered.set()

        def log_message(self, format: str, *args: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    listener.daemon_threads = True
    threading.Thread(target=listener.serve_forever, daemon=True).start()


def speak(options: argparse.Namespace) -> None:
    """The lines it was asked for; then it closes what it was asked to close."""
    for name in options.print_env:
        options.say.append(f"{name}={os.environ[name]}" if name in os.environ else f"{name} is unset")
    for line in options.say:
        write_all(1, f"{line}\n".encode())
    for line in options.say_error:
        write_all(2, f"{line}\n".encode())
    if options.close_stdout:
        os.close(1)
    if options.close_stderr:
        os.close(2)


def spam(options: argparse.Namespace, done: threading.Event) -> None:
    """Writes the text, then the digest."""
    shares = {options.spam_to: options.spam}
    if options.spam_to == "both":
        half = options.spam // 2
        shares = {"stdout": half, "stderr": options.spam - half}
    digests = {stream: hashlib.sha256() for stream in shares}
    sources = {stream: text(stream, size) for stream, size in shares.items()}
    while sources:
        for stream, source in list(sources.items()):
            chunk = next(source, None)
            if chunk is None:
                del sources[stream]
                continue
            digests[stream].update(chunk)
            write_all({"stdout": 1, "stderr": 2}[stream], chunk)
    if options.spam_digest is not None:
        report = {stream: {"bytes": shares[stream], "sha256": digests[stream].hexdigest()} for stream in shares}
        write_whole(options.spam_digest, json.dumps(report))
    done.set()


def text(stream: str, size: int) -> Iterator[bytes]:
    """`size` bytes of numbered lines of up to 200 letters, in chunks that end anywhere; the same on every run."""
    chance = random.Random(stream)
    letters = "".join(chance.choices(string.ascii_letters + string.digits + "    .,:/", k=1 << 16)).encode()
    held, left, number = bytearray(), size, 0
    while left > 0:
        while len(held) < min(CHUNK, left):
            start, length = (number * 7919) % (len(letters) - 200), (number * 31) % 200
            held += b"%s %08d %s\n" % (stream.encode(), number, letters[start : start + length])
            number += 1
        chunk = bytes(held[: min(CHUNK, left)])
        del held[: len(chunk)]
        left -= len(chunk)
        yield chunk[:-1] + b"\n" if left == 0 else chunk


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_whole(path: Path, content: str) -> None:
    """The file is there with all of it, or not at all."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(content)
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
