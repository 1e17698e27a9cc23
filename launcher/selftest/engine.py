"""A server that behaves as badly as real engines do, on request: standard library alone, for any Python 3.

`python engine.py --port 8000 --worker --worker-ignores-term ...`; `--help` lists the bad habits, most of which were
seen in vLLM, SGLang and llama.cpp. It says nothing on its streams unless asked; what it does is steered by files, so
that nobody needs to guess how long it takes; and everything in it ends by itself after LIFETIME seconds, should
whoever started it lose sight of it.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import mmap
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

LIFETIME = 600  # seconds
TICK = 0.02  # seconds between two looks at the files that steer it
CHUNK = 8191  # bytes per write of --spam: odd, so that lines are cut anywhere
BROKEN_DRAIN = 8  # exit code where a worker was taken away during a --drain
CUT_SHORT = 9  # exit code after a second SIGTERM during --drain
PR_SET_NAME = 15
METRICS = {  # requests that run, requests that wait, tokens generated: vllm/v1/metrics, sglang/srt/observability
    "vllm": ("vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:generation_tokens_total"),
    "sglang": ("sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:generation_tokens_total"),
}


def arguments(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    add_serving(parser.add_argument_group("serving"))
    add_workers(parser.add_argument_group("workers, which hold our streams open"))
    add_ends(parser.add_argument_group("ends"))
    add_term(parser.add_argument_group("SIGTERM"))
    add_streams(parser.add_argument_group("streams, in this order"))
    return parser.parse_args(words)


def add_serving(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--host", default="127.0.0.1")
    group.add_argument("--port", type=int, help="answer /health: 503 while loading, then 200")
    group.add_argument("--listen-when-ready", action="store_true", help="refuse connections while loading, as vLLM")
    group.add_argument("--port-taken", choices=("exit", "hang"), default="exit", help="hang: as SGLang does")
    group.add_argument("--ready-after-file", type=Path, metavar="PATH", help="loads until this file exists")
    group.add_argument("--load", type=float, default=0.0, metavar="SECONDS", help="loads at least so long")
    group.add_argument("--pid-file", type=Path, metavar="PATH", help="a JSON line per process, once all have started")
    group.add_argument(
        "--health", choices=("lies", "honest", "hangs"), default="lies",
        help="lies: 200 also with dead workers; honest: then 503; hangs: no answer at all",
    )  # fmt: skip
    group.add_argument("--health-delay", type=float, default=0.0, metavar="SECONDS", help="SGLang generates a token")
    group.add_argument("--generate", choices=("answers", "hangs", "errs"), default="answers", help="/v1/completions")
    group.add_argument("--metrics", choices=tuple(METRICS), help="whose names /metrics has")
    group.add_argument("--requests", type=int, default=0, metavar="N", help="so many run all the time")
    group.add_argument("--stall-file", type=Path, metavar="PATH", help="while it is there no token is generated")
    group.add_argument("--api-key", metavar="KEY", help="is not asked for, only printed by --print-arguments")
    group.add_argument("--leave-shm", action="append", default=[], metavar="NAME", help="in /dev/shm; {pid} is its own")
    group.add_argument("--eat", type=int, default=0, metavar="BYTES", help="of memory, when it has written everything")


def add_workers(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--worker", action="count", default=0, help="one; twice: two")
    group.add_argument("--worker-in", choices=("session", "group", "parents"), default="session", help="of its own")
    group.add_argument("--worker-ignores-term", action="store_true")
    group.add_argument("--worker-setproctitle", action="store_true", help="overwrites its argv and its environment")
    group.add_argument("--double-fork", action="store_true", help="workers lose their parent at once")
    group.add_argument("--worker-forks-on-term", action="store_true", help="dies of it, and leaves one that is deaf")
    group.add_argument("--worker-port", type=int, metavar="PORT", help="the first one listens there")
    group.add_argument("--worker-dies-on-file", type=Path, metavar="PATH", help="by SIGKILL")
    group.add_argument("--worker-quits-parent-on-file", type=Path, metavar="PATH", help="SIGQUIT, as SGLang's")
    group.add_argument("--worker-death-exits", type=int, metavar="CODE", help="the server then; vLLM's with 0")
    group.add_argument("--worker-death-kills", action="store_true", help="the server SIGKILLs itself, as SGLang's")
    group.add_argument("--ends-workers", action="store_true", help="the server sends them SIGTERM before it ends")


def add_ends(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--last-words", metavar="TEXT", help="a line on standard error before what follows")
    group.add_argument("--exit", type=int, metavar="CODE", help="when it has written everything")
    group.add_argument("--exit-after-ready", type=int, metavar="CODE", help="after the first 200 was sent")
    group.add_argument("--exit-on-file", type=Path, metavar="PATH", help="when it exists, with the code of --exit")
    group.add_argument("--die", action="store_true", help="SIGKILLs itself when it has written everything")
    group.add_argument("--die-on-file", type=Path, metavar="PATH", help="SIGKILLs itself, and no worker, then")
    group.add_argument("--hang-on-file", type=Path, metavar="PATH", help="hangs in its shutdown: deaf, and no answers")


def add_term(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--setproctitle", action="store_true", help="the server itself does what workers may do")
    group.add_argument("--term-exit", type=int, default=0, metavar="CODE", help="how it answers one (default 0)")
    group.add_argument("--term-says", metavar="TEXT", help="a line on standard output, just before it ends of one")
    group.add_argument("--ignore-term", action="store_true")
    group.add_argument("--ignore-first-term-while-loading", action="store_true", help="loses one, as vLLM does")
    group.add_argument("--drain", type=float, metavar="SECONDS", help=f"when ready; a second one: exit {CUT_SHORT}")
    group.add_argument("--drain-needs-workers", action="store_true", help=f"exit {BROKEN_DRAIN} if one dies meanwhile")
    group.add_argument("--drained-file", type=Path, metavar="PATH", help="written at the end of a whole --drain")
    group.add_argument("--term-log", type=Path, metavar="PATH", help="per signal from outside: name, monotonic seconds")


def add_streams(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--say", action="append", default=[], metavar="TEXT", help="a line on standard output")
    group.add_argument("--print-env", action="append", default=[], metavar="NAME", help="NAME=value, or NAME is unset")
    group.add_argument("--print-arguments", action="store_true", help="all of them on standard error, as SGLang does")
    group.add_argument("--say-error", action="append", default=[], metavar="TEXT", help="a line on standard error")
    group.add_argument("--repeat", nargs=2, metavar=("N", "TEXT"), help="the same line N times")
    group.add_argument("--long-line", type=int, metavar="BYTES", help="one line of so many letters")
    group.add_argument("--ansi", action="store_true", help="a coloured line")
    group.add_argument("--write", action="append", default=[], metavar="BYTES", help=r"one write each; \0 \xff \r \n")
    group.add_argument("--write-pause", type=float, default=0.0, metavar="SECONDS", help="after each --write")
    group.add_argument("--progress", type=int, metavar="N", help="a bar in N steps by \\r, during --load")
    group.add_argument("--progress-lines", type=int, metavar="N", help="the same as lines")
    group.add_argument("--close-stdout", action="store_true")
    group.add_argument("--close-stderr", action="store_true")
    group.add_argument("--spam", type=int, metavar="BYTES", help="of text, always the same")
    group.add_argument("--spam-to", choices=("stdout", "stderr", "both"), default="stdout", help="both: half each")
    group.add_argument("--spam-digest", type=Path, metavar="PATH", help='{"stdout": {"bytes": N, "sha256": S}, ...}')


# ----------------------------------------------------------------------------------------------------------------------
# The server


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


def main(words: list[str]) -> int:
    options = arguments(words)
    signal.alarm(LIFETIME)
    everything = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
    # A blocked signal waits for us even where its disposition is to ignore it: nohup's HUP must stay ignored.
    watched = {number for number in everything if signal.getsignal(number) != signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    server = Server(options, watched)

    for number in range(options.worker):
        pid, life = start_worker(options, number)
        server.workers.append(pid)
        server.lives.append(life)
    if options.setproctitle:
        take_title(b"renamed server")
    segments = [segment(name.format(pid=os.getpid())) for name in options.leave_shm]  # mapped as long as it runs
    speak(options)
    if options.port is not None and not (options.listen_when_ready or listens(server)):
        return 1
    if options.pid_file is not None:
        lines = [{"role": "server", "pid": os.getpid()}, *({"role": "worker", "pid": pid} for pid in server.workers)]
        write_whole(options.pid_file, "".join(json.dumps(line) + "\n" for line in lines))
    threading.Thread(target=work_off, args=(server,), daemon=True).start()
    code = server.run()
    for mapped in segments:
        mapped.close()
    return code


def segment(name: str) -> mmap.mmap:
    """A page of shared memory, as NCCL makes them; nobody removes it."""
    path = Path("/dev/shm", name)
    path.write_bytes(bytes(mmap.PAGESIZE))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), mmap.PAGESIZE)


def work_off(server: Server) -> None:
    """What takes its time, in order; the server answers signals and questions meanwhile."""
    options = server.options
    show_progress(options)
    if options.spam is not None:
        spam(options)
    server.wrote_all.set()
    if options.listen_when_ready and options.port is not None:
        while not server.ready:
            time.sleep(TICK)
        if not listens(server):
            os._exit(1)
    while len(server.eaten) < options.eat:
        server.eaten += b"x" * min(16 << 20, options.eat - len(server.eaten))


def die_of(number: signal.Signals) -> None:
    """Ends as a program without a handler does."""
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


# ----------------------------------------------------------------------------------------------------------------------
# Workers


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


# ----------------------------------------------------------------------------------------------------------------------
# Answers


def listens(server: Server) -> bool:
    """Answers from now on, in threads that do not hold up the end. False where the port is taken."""
    from socketserver import StreamRequestHandler, ThreadingTCPServer

    options = server.options

    class Handler(StreamRequestHandler):
        """HTTP/1.0, as far as it is needed: http.server would double the time that it takes to start."""

        def handle(self) -> None:
            words = self.rfile.readline().decode("latin-1").split()
            self.rfile.read(self.length_of_body())
            if len(words) >= 2:
                status, body = answer(server, words[0], words[1].partition("?")[0])
                head = f"HTTP/1.0 {status} -\r\nContent-Length: {len(body)}\r\nContent-Type: text/plain\r\n\r\n"
                with contextlib.suppress(OSError):
                    self.wfile.write(head.encode() + body.encode())
                    if status == 200 and words[1] == "/health":
                        server.answered.set()

        def length_of_body(self) -> int:
            length = 0
            while header := self.rfile.readline().strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            return length

    class Listener(ThreadingTCPServer):
        allow_reuse_address, daemon_threads, request_queue_size = True, True, 128

        def handle_error(self, request: object, client_address: object) -> None:
            """Whoever asked is gone: nobody is to be told."""

    try:
        listener = Listener((options.host, options.port), Handler)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        where = (options.host, options.port)
        write_all(2, f"ERROR: [Errno {errno.EADDRINUSE}] {where}: address already in use\n".encode())
        while options.port_taken == "hang":
            time.sleep(LIFETIME)
        return False
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    return True


def answer(server: Server, method: str, path: str) -> tuple[int, str]:
    """Status and body; it may take for ever."""
    options = server.options
    if server.hangs:
        time.sleep(LIFETIME)
    if method == "POST" and path in ("/v1/completions", "/v1/chat/completions", "/generate"):
        return generation(server)
    if method == "GET" and path == "/health":
        time.sleep(LIFETIME if options.health == "hangs" else options.health_delay)
        return (200 if server.healthy else 503), ""
    if method == "GET" and path == "/metrics" and options.metrics is not None:
        return 200, metrics(server)
    if method == "GET" and path == "/v1/models":
        return 200, json.dumps({"object": "list", "data": [{"id": "tiny", "object": "model"}]})
    return 404, ""


def generation(server: Server) -> tuple[int, str]:
    """One token, an error, or nothing for ever."""
    if server.options.generate == "hangs" or server.stalls:
        time.sleep(LIFETIME)
    if server.options.generate == "errs" or not server.ready:
        return 500, json.dumps({"error": {"message": "the engine is dead"}})
    server.tokens += 1
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "text": "x", "finish_reason": "length"}
    return 200, json.dumps({"model": "tiny", "choices": [choice], "usage": usage})


def metrics(server: Server) -> str:
    """In Prometheus' text format."""
    running, waiting, tokens = METRICS[server.options.metrics]
    rows = ((running, "gauge", server.options.requests), (waiting, "gauge", 0), (tokens, "counter", server.tokens))
    return "".join(
        f'# TYPE {name} {kind}\n{name}{{engine="0",model_name="tiny"}} {float(value)}\n' for name, kind, value in rows
    )


# ----------------------------------------------------------------------------------------------------------------------
# Streams


def speak(options: argparse.Namespace) -> None:
    """The lines it was asked for; then it closes what it was asked to close."""
    for name in options.print_env:
        options.say.append(f"{name}={os.environ[name]}" if name in os.environ else f"{name} is unset")
    for line in options.say:
        write_all(1, f"{line}\n".encode())
    if options.print_arguments:
        write_all(2, f"server_args={vars(options)!r}\n".encode())
    for line in options.say_error:
        write_all(2, f"{line}\n".encode())
    if options.repeat:
        write_all(1, f"{options.repeat[1]}\n".encode() * int(options.repeat[0]))
    if options.long_line:
        write_all(1, b"abcdefghi " * (options.long_line // 10) + b"x" * (options.long_line % 10) + b"\n")
    if options.ansi:
        write_all(1, b"\x1b[1;31mred\x1b[0m and \x1b[38;5;208morange\x1b[0m\n")
    for raw in options.write:
        write_all(1, raw.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1", "replace"))
        time.sleep(options.write_pause)
    if options.close_stdout:
        os.close(1)
    if options.close_stderr:
        os.close(2)


def show_progress(options: argparse.Namespace) -> None:
    """As vLLM tells of its shards, on standard error."""
    count = options.progress or options.progress_lines
    for done in range(count + 1 if count else 0):
        text = f"Loading safetensors checkpoint shards: {100 * done // count:3d}% Completed | {done}/{count}"
        ending = "\r" if options.progress and done < count else "\n"
        write_all(2, f"{text}{ending}".encode())
        time.sleep(options.load / (count + 1))


def spam(options: argparse.Namespace) -> None:
    """Writes the text, then the digest."""
    import hashlib

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


def text(stream: str, size: int) -> Iterator[bytes]:
    """`size` bytes of numbered lines of up to 200 letters, in chunks that end anywhere; the same on every run."""
    import random
    import string

    chance = random.Random(stream)
    letters = "".join(chance.choices(string.ascii_letters + string.digits + "    .,:/", k=1 << 13)).encode()
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


# ----------------------------------------------------------------------------------------------------------------------
# Files


def is_there(path: Path | None) -> bool:
    return path is not None and path.exists()


def read_line(descriptor: int) -> bytes:
    """Byte by byte: what follows, if only the end, is for somebody else."""
    line = b""
    while (byte := os.read(descriptor, 1)) not in (b"\n", b""):
        line += byte
    return line


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
