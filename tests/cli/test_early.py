"""A stop that comes while gpulaunch still plans has the code that it has later, and nothing is started."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.launching import Launch
from tests.survivors import Corral


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)]
)
def test_a_signal_while_it_plans_is_a_stop(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """Planning waits for an nvcc that does not answer: the moment can be met."""
    nvcc = tmp_path / "cuda/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexec tail -f /dev/null\n")
    nvcc.chmod(0o755)
    with Corral() as corral:
        launch = Launch(corral, tmp_path)
        launch.profile()
        environ = {**launch.environ, "PATH": f"{nvcc.parent}:/usr/bin:/bin"}
        with (tmp_path / "stderr").open("wb") as err:
            launch.process = corral.spawn(
                launch.command(), stdout=err, stderr=err, stdin=subprocess.DEVNULL, env=environ
            )
        eventually((tmp_path / "asked").exists, what="gpulaunch asks the nvcc")
        assert launch.signal(number).wait() == code
        assert corral.survivors() == []
    assert not (tmp_path / "state").exists()
