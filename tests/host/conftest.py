"""The host stage needs what ci/install_host.sh installs. A user's machine without it skips; CI fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.host import systemd_lab
from tests.host.systemd_lab import SystemdLab
from tests.survivors import FencedCorral

PROGRAMS = ("unshare", "nsenter", "mount", "umount", "tmux", "systemctl", "journalctl")


def unavailable() -> str | None:
    """Why the stage cannot run here, or None."""
    if os.geteuid() != 0:
        return "the host stage needs root"
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"missing: {', '.join(missing)}; ci/install_host.sh installs them"
    return FencedCorral.unavailable() or systemd_lab.unavailable()


@pytest.fixture(scope="session", autouse=True)
def host_stage() -> None:
    """Skips every test here with the reason; under CI a stage that cannot run is a failure."""
    reason = unavailable()
    if reason and os.environ.get("CI", "").lower() not in ("", "0", "false"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


@pytest.fixture
def corral() -> Iterator[FencedCorral]:
    """A pid namespace and a cgroup that hold whatever the test starts."""
    with FencedCorral() as opened:
        yield opened


@pytest.fixture(scope="module")
def lab(host_stage: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SystemdLab]:
    """One booted systemd for the tests of a module; each uses units of its own."""
    with SystemdLab(tmp_path_factory.mktemp("systemd")) as booted:
        yield booted
