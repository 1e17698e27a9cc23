"""A stop that comes while gpulaunch still plans has the code that it has later, and nothing is started."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.launching import Launch
from tests.survivors import Corral

# What a shell without job control does for `gpulaunch ... &`.
IN_THE_BACKGROUND = ("sh", "-c", 'trap "" INT QUIT; exec "$@"', "sh")
NOHUP = ("sh", "-c", 'trap "" HUP; exec "$@"', "sh")


def planning(corral: Corral, folder: Path, before: tuple[str, ...]) -> Launch:
    """A launch that plans: it waits for an nvcc that says nothing until there is a file `go`."""
    nvcc = folder / "cuda/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text(f"#!/bin/sh\ntouch {folder}/asked\nwhile [ ! -e {folder}/go ]; do sleep 0.05; done\nexit 1\n")
    nvcc.chmod(0o755)
    launch = Launch(corral, folder)
    launch.profile()
    launch.run([*before, *launch.command()], {**launch.environ, "PATH": f"{nvcc.parent}:/usr/bin:/bin"})
    eventually((folder / "asked").exists, what="gpulaunch asks the nvcc")
    return launch


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)]
)
@pytest.mark.parametrize("before", [(), IN_THE_BACKGROUND], ids=["", "in-the-background"])
def test_a_signal_while_it_plans_is_a_stop(
    tmp_path: Path, number: signal.Signals, code: int, before: tuple[str, ...]
) -> None:
    with Corral() as corral:
        launch = planning(corral, tmp_path, before)
        assert launch.signal(number).wait() == code
        assert corral.survivors() == []
    assert not (tmp_path / "state").exists()


def test_a_hang_up_that_was_ignored_when_we_were_started_ends_nothing_while_it_plans(tmp_path: Path) -> None:
    """As `nohup gpulaunch ...`; without it the same signal ends the launch (above)."""
    with Corral() as corral:
        launch = planning(corral, tmp_path, NOHUP).signal(signal.SIGHUP)
        (tmp_path / "go").touch()
        launch.until_ready()
        assert launch.signal(signal.SIGTERM).wait() == 0
        assert corral.survivors() == []


# Python runs this first of all. It signals the launch while that loads what a plan takes.
WHILE_LOADING = """
import os, signal, sys

class Signaller:
    def find_spec(self, name, *_):
        if name == "launcher.cli.story":
            os.kill(os.getpid(), signal.SIGTERM)

sys.meta_path.insert(0, Signaller())
"""


def test_a_stop_while_it_loads_its_own_modules_is_one_too(tmp_path: Path) -> None:
    """That takes most of the time before the plan. A dry run that was cut short is no answer."""
    (tmp_path / "sitecustomize.py").write_text(WHILE_LOADING)
    with Corral() as corral:
        launch = Launch(corral, tmp_path)
        environ = {**launch.environ, "PYTHONPATH": f"{tmp_path}:{launch.environ['PYTHONPATH']}"}
        launch.profile()
        assert launch.run(launch.command(), environ).wait() == 0
        assert launch.errors == "gpulaunch: stopped by SIGTERM before the start\n"
        assert launch.run(launch.command("--dry-run"), environ).wait() == 128 + signal.SIGTERM
    assert not (tmp_path / "state").exists()
