"""A machine without any toolkit and a target without one: `toolkit add` makes one that FlashInfer builds with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cuda.fatbin import architectures
from tests.cuda.lab import Lab
from tests.cuda.machine import Machine
from tests.cuda.situations import NEITHER, FoundingHost

pytestmark = pytest.mark.cuda


def test_a_toolkit_that_is_made_on_the_spot_compiles_and_links_for_the_gpus(lab: Lab, tmp_path: Path) -> None:
    host = FoundingHost(Machine(tmp_path, stale=False), lab.environment("founding"), NEITHER)
    assert host.plan()["toolkit"]["strategy"] == "hide"
    before = sorted(host.wheels.rglob("*"))

    made = host.machine.run([sys.executable, "-m", "launcher", "toolkit", "add", "13.0"])

    assert made.returncode == 0, made.stderr
    plan = host.plan()
    assert plan["toolkit"]["strategy"] == "provisioned"
    assert plan["toolkit"]["root"] == f"{host.machine.home}/.local/share/gpulaunch/toolkits/13.0"
    built = host.inside("build.py")
    assert "error" not in built, built["error"]
    assert len(built["compiled"]) >= 2
    assert architectures(Path(built["library"]).read_bytes()) == {120}
    assert sorted(host.wheels.rglob("*")) == before
