"""What it writes on its streams."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator

from launcher.selftest.engine.files import write_all, write_whole

CHUNK = 8191  # bytes per write of --spam: odd, so that lines are cut anywhere


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
