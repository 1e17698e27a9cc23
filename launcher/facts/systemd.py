"""How we stand to systemd: are we the main process of a unit?

INVOCATION_ID is inherited by every shell below a unit and proves nothing. NOTIFY_SOCKET is only given to the main
process (or to all, with NotifyAccess=all), SYSTEMD_EXEC_PID names it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from launcher.model import Systemd

_WRAPPERS = ("sh", "bash", "dash", "env", "nice", "ionice", "taskset", "numactl", "setpriv", "sudo", "runuser")


def look(environ: Mapping[str, str]) -> Systemd:
    """The answer with its reason; `main_process` None where unsure."""
    booted = Path("/run/systemd/system").is_dir()
    notify = bool(environ.get("NOTIFY_SOCKET"))
    main, because = _main_process(environ, notify)
    return Systemd(booted=booted, main_process=main, notify_socket=notify, because=because)


def _main_process(environ: Mapping[str, str], notify: bool) -> tuple[bool | None, str]:
    if notify:
        return True, "NOTIFY_SOCKET is set"
    said = environ.get("SYSTEMD_EXEC_PID", "")
    if said.isdigit():
        if int(said) == os.getpid():
            return True, "SYSTEMD_EXEC_PID is our own process"
        if int(said) == os.getppid():
            command = _command(os.getppid())
            if command in _WRAPPERS:
                return True, f"SYSTEMD_EXEC_PID is {command}, a wrapper above us"
        return False, f"SYSTEMD_EXEC_PID is process {said}, not ours"
    if environ.get("INVOCATION_ID"):
        return None, "INVOCATION_ID is set, which every process below a unit inherits"
    return False, "no variable of systemd's is set"


def _command(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return None
