"""A real systemd for tests: PID 1 of namespaces of its own, on the machine's own file system.

No D-Bus, no image, no daemon of the machine is needed; only root and cgroup v2, alone or beside the old hierarchies.
It must never change the machine: /etc and /proc/sys are read-only in it, /run is its own, and its processes
and its cgroup end with it.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import textwrap
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.survivors import Cgroup, Process

SYSTEMD = ("/usr/lib/systemd/systemd", "/lib/systemd/systemd")
BOOT_SECONDS = 30.0

# Only these exist in the lab, and what a test adds. sysinit.target and basic.target are what every service asks for.
# Without the socket for /dev/log: /dev is the machine's.
UNITS = {
    "sysinit.target": """
        [Unit]
        DefaultDependencies=no
    """,
    "basic.target": """
        [Unit]
        DefaultDependencies=no
        Requires=sysinit.target
        After=sysinit.target
    """,
    "lab.target": """
        [Unit]
        DefaultDependencies=no
        Requires=basic.target systemd-journald.service
        After=basic.target systemd-journald.service
    """,
    "systemd-journald.socket": """
        [Unit]
        DefaultDependencies=no
        [Socket]
        ListenStream=/run/systemd/journal/stdout
        ListenDatagram=/run/systemd/journal/socket
        PassCredentials=yes
        SocketMode=0666
    """,
    "systemd-journald.service": """
        [Unit]
        DefaultDependencies=no
        Requires=systemd-journald.socket
        After=systemd-journald.socket
        [Service]
        Type=notify
        ExecStart={journald}
        StandardOutput=null
        FileDescriptorStoreMax=64
    """,
}

# Storage=volatile and a private /run: the journal ends with the lab. ReadKMsg=no: the kernel's log is the machine's.
JOURNALD_CONF = "[Journal]\\nStorage=volatile\\nReadKMsg=no\\nRateLimitIntervalSec=0\\nRuntimeMaxUse=256M\\n"

# $1: systemd, $2: the folder of units, $3: where to say that it has booted. mount(8) keeps a record in /run, so a
# /run of its own comes first, and unrecorded (-n). Generators would read the machine's fstab and more. A shared / lets
# the mounts that systemd makes for a unit (credentials) reach the unit.
BOOT = f"""
mount -n -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
umount -R /sys/fs/cgroup 2>/dev/null || umount -R -l /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/lock /run/systemd/journald.conf.d
printf '{JOURNALD_CONF}' > /run/systemd/journald.conf.d/lab.conf
for kept in /etc /proc/sys; do
    mount --bind $kept $kept
    mount -o remount,bind,ro $kept
done
for folder in /usr/lib/systemd /usr/local/lib/systemd; do
    for kind in system-generators system-environment-generators; do
        [ ! -d $folder/$kind ] || mount -t tmpfs -o ro tmpfs $folder/$kind
    done
done
mount --make-rshared /
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin container=lab \
    SYSTEMD_UNIT_PATH="$2" NOTIFY_SOCKET="$3" \
    "$1" --system --unit=lab.target --show-status=no --log-target=journal
"""


class SystemdLab:
    """A booted systemd, as a context. `folder` holds its units and the log of its boot."""

    def __init__(self, folder: Path) -> None:
        self.units = folder / "units"
        self.boot_log = folder / "boot.log"
        self.boot_seconds = 0.0
        self._outer: subprocess.Popen[bytes] | None = None
        self._cgroup: Cgroup | None = None
        self._init = 0

    def __enter__(self) -> SystemdLab:
        self.units.mkdir(parents=True)
        program = _systemd()
        for name, text in UNITS.items():
            self._write(name, text.replace("{journald}", f"{program}-journald"))
        self._cgroup = Cgroup.create()
        try:
            self._boot(program)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def add_unit(self, name: str, text: str) -> None:
        """Writes the unit and makes systemd read it."""
        self._write(name, text)
        self.systemctl("daemon-reload")

    def systemctl(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """systemctl inside; a failure is an error that shows what it said, unless `check` is false."""
        done = self.run("systemctl", "--no-pager", *words)
        if check and done.returncode != 0:
            raise AssertionError(f"systemctl {' '.join(words)}: exit {done.returncode}: {done.stderr}{done.stdout}")
        return done

    def properties(self, unit: str, *names: str) -> dict[str, str]:
        """What `systemctl show` says of the unit."""
        lines = self.systemctl("show", unit, *(f"--property={name}" for name in names)).stdout.splitlines()
        return dict(line.split("=", 1) for line in lines)

    def journal(self, unit: str) -> str:
        """What the unit wrote, and what systemd says of it."""
        self.run("journalctl", "--sync")
        return self.run("journalctl", "--no-pager", "--quiet", "--unit", unit, "--output", "cat").stdout

    def processes(self, unit: str) -> list[Process]:
        """Everything alive in the unit's cgroup, with the pids that the test sees."""
        folder = self.control_group(unit)
        return self._own_cgroup().processes(folder) if folder else []

    def control_group(self, unit: str) -> str:
        """The unit's cgroup below the lab's, empty where it has none (any more)."""
        path = self.properties(unit, "ControlGroup")["ControlGroup"].lstrip("/")
        return path if path and (self._own_cgroup().folder / path).is_dir() else ""

    def inner_cgroups(self, unit: str) -> list[str]:
        """The cgroups that somebody made inside the unit's."""
        folder = self._own_cgroup().folder / self.control_group(unit)
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir())

    def kill(self, unit: str) -> None:
        """SIGKILL for all that is in the unit's cgroup, whatever the unit thinks of it."""
        if folder := self.control_group(unit):
            self._own_cgroup().kill(folder)

    def run(self, *argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """A program inside: it sees the lab's pids, its /run and its /sys/fs/cgroup."""
        return subprocess.run(self._inside(argv), capture_output=True, text=True, errors="backslashreplace", **options)

    def begin(self, *argv: str) -> subprocess.Popen[str]:
        """The same, not waited for."""
        return subprocess.Popen(
            self._inside(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def _inside(self, argv: tuple[str, ...]) -> list[str]:
        return ["nsenter", f"--target={self._init}", "--mount", "--pid", "--cgroup", "--uts", "--ipc", "--", *argv]

    def _write(self, name: str, text: str) -> None:
        (self.units / name).write_text(textwrap.dedent(text))

    def _own_cgroup(self) -> Cgroup:
        assert self._cgroup is not None
        return self._cgroup

    def _boot(self, program: str) -> None:
        began = time.monotonic()
        name = f"systemd-lab-{uuid.uuid4().hex}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices, self.boot_log.open("wb") as log:
            notices.bind(f"\0{name}")
            with self._own_cgroup().entered():
                self._outer = subprocess.Popen(
                    [
                        *("unshare", "--mount", "--pid", "--ipc", "--uts", "--cgroup", "--propagation=private"),
                        *("--fork", "--kill-child=KILL", "--mount-proc", "--"),
                        *("sh", "-euc", BOOT, "boot", program, str(self.units), f"@{name}"),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    cwd="/",
                )
            self._await_ready(notices, began + BOOT_SECONDS)
        self._init = int(Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children").read_text())
        state = self.systemctl("is-system-running", check=False).stdout.strip()
        if state != "running":
            raise RuntimeError(f"the lab is {state}: {self.systemctl('--failed', check=False).stdout}")
        self.boot_seconds = time.monotonic() - began

    def _await_ready(self, notices: socket.socket, deadline: float) -> None:
        """PID 1 of a container says READY=1 itself when it has booted."""
        assert self._outer is not None
        ended = os.pidfd_open(self._outer.pid)
        try:
            while True:
                remaining = max(deadline - time.monotonic(), 0)
                readable, _, _ = select.select([notices.fileno(), ended], [], [], remaining)
                if notices.fileno() in readable:
                    if b"READY=1" in notices.recv(65536).splitlines():
                        return
                else:
                    what = "ended" if readable else f"was not ready after {BOOT_SECONDS:.0f} s"
                    raise RuntimeError(f"systemd {what}: {self.boot_log.read_text(errors='backslashreplace')}")
        finally:
            os.close(ended)

    def _end(self) -> None:
        """By force: its services are the test's to stop, and nothing of the lab is worth a shutdown."""
        if self._outer is not None:
            self._outer.kill()
            self._outer.wait(10)
        self._own_cgroup().remove()


def unavailable() -> str | None:
    """Why no systemd can be booted here, or None."""
    if os.geteuid() != 0:
        return "a systemd of its own needs root"
    if not any(os.access(program, os.X_OK) for program in SYSTEMD):
        return "systemd is not installed (ci/install_host.sh)"
    return Cgroup.unavailable()


def _systemd() -> str:
    return next(program for program in SYSTEMD if os.access(program, os.X_OK))
