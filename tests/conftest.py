"""For every test: signals that a shell may have made us ignore are as they are at a login; no claim depends on time.

The default tests share the machine's cores: most of a test is waiting. Root's locks are the machine's, and two tests
that run at once may launch the same name; so every worker has a folder for locks of its own.
"""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from launcher.paths import places
from tests import nvml
from tests.nvml import Nvml

_CLONE_NEWNS, _MS_REC, _MS_PRIVATE = 0x20000, 0x4000, 0x40000

# A busy machine is slow, not wrong.
settings.register_profile("gpulaunch", deadline=None)


def pytest_configure() -> None:
    """`nohup pytest` and a job in the background hand ignored signals on to everything that is started."""
    settings.load_profile("gpulaunch")
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" in os.environ and os.geteuid() == 0:
        hide_locks(Path(places({}, home=None, uid=0).locks))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Workers for `-n auto`; none (0) in the other stages, which measure or have a machine's worth of their own, and
    where root may not hide its locks.
    """
    by_default = str(config.option.markexpr).startswith("not host")
    alone = os.geteuid() == 0 and not may_hide()
    return (os.cpu_count() or 1) + 1 if by_default and not alone else 0


def may_hide() -> bool:
    """True if a process like this one may have a mount namespace; tried in a child."""
    child = os.fork()
    if child == 0:
        os._exit(0 if ctypes.CDLL(None).unshare(_CLONE_NEWNS) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def hide_locks(folder: Path) -> None:
    """An empty file system over the folder, for this thread and all that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    done = (
        libc.unshare(_CLONE_NEWNS) == 0
        and libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) == 0
        and libc.mount(b"none", bytes(folder), b"tmpfs", 0, b"mode=0700") == 0
    )
    if not done:
        raise OSError(ctypes.get_errno(), f"{folder} cannot be hidden from other tests")


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in for NVML, compiled once."""
    if reason := nvml.unavailable():
        pytest.skip(reason)
    return nvml.build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def gpus(nvml_library: Path, tmp_path: Path) -> Nvml:
    """GPUs that a test describes, as NVML tells them."""
    made = Nvml(nvml_library, tmp_path / "gpus")
    made.write()
    return made
