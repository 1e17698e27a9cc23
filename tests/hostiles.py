"""How tests start the hostile server, `launcher/selftest/engine`, and hear that it has started."""

from __future__ import annotations

import http.client
import json
import os
import sys
from pathlib import Path

from launcher.selftest import engine
from tests.helpers import eventually

PROGRAM = engine.PROGRAM


def hostile(*flags: str | os.PathLike[str] | int | float) -> list[str]:
    """Its command line."""
    return [sys.executable, str(PROGRAM), *(os.fspath(f) if isinstance(f, os.PathLike) else str(f) for f in flags)]


def processes(pid_file: Path) -> list[dict[str, object]]:
    """Waits until the server and all its workers have started; their roles and pids, as they see them themselves."""
    eventually(pid_file.exists, what=f"the server writes {pid_file}")
    return [json.loads(line) for line in pid_file.read_text().splitlines()]


def health(port: int) -> int | None:
    """The status of /health, None where nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


def signals(term_log: Path) -> list[str]:
    """The names of the signals that reached the server, in order."""
    return [line.split()[0] for line in term_log.read_text().splitlines()] if term_log.exists() else []
