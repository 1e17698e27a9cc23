"""A stop that comes while gpulaunch still plans has the code that it has later, and nothing is started."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.launching import Launch
from tests.survivors import Corral

# What a shell without job control does for `gpulaunch ... &`.
IN_THE_BACKGROUND = ("sh", "-c", 'trap "" INT QUIT; exec "$@"', "sh")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)]
)
@pytest.mark.parametrize("before", [(), IN_THE_BACKGROUND], ids=["", "in-the-background"])
def test_a_signal_while_it_plans_is_a_stop(
    tmp_path: Path, number: signal.Signals, code: int, before: tuple[str, ...]
) -> None:
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
                [*before, *launch.command()], stdout=err, stderr=err, stdin=subprocess.DEVNULL, env=environ
            )
        eventually((tmp_path / "asked").exists, what="gpulaunch asks the nvcc")
        assert launch.signal(number).wait() == code
        assert corral.survivors() == []
    assert not (tmp_path / "state").exists()
