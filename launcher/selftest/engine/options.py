"""The command line of the hostile server: one option for each bad habit."""

from __future__ import annotations

import argparse
from pathlib import Path

from launcher.selftest.engine import BROKEN_DRAIN, CUT_SHORT, METRICS


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
