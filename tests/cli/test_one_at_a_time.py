"""Launches that want the same: the later one ends with 75 and names the first, or takes over where it was told to."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import eventually
from tests.hostiles import health
from tests.launching import Launch
from tests.orphans import gpulaunch, launching


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    with launching(tmp_path) as made:
        yield made


def beside(launch: Launch, name: str, *, port: int | None = None, instance: str | None = None) -> Launch:
    """Another launch by the same caller, with a folder for its profile and its streams."""
    folder = launch.folder / name
    folder.mkdir(mode=0o700)
    other = Sharing(launch.corral, folder, port or launch.port)
    other.called = instance or other.instance
    other.state = launch.environ["XDG_STATE_HOME"]
    return other


class Sharing(Launch):
    """A launch that shares another one's state."""

    called = ""
    state = ""

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "XDG_STATE_HOME": self.state}

    def command(self, *options: str) -> list[str]:
        words = super().command(*options)
        return [self.called if word == self.instance else word for word in words]


def pid(launch: Launch) -> int:
    assert launch.process is not None
    return launch.process.pid


def test_of_two_at_the_same_instant_one_gets_the_port_and_the_other_names_it(launch: Launch) -> None:
    launches = [beside(launch, f"racer{number}", instance=f"racer{number}-{launch.port}") for number in range(2)]
    for racer in launches:
        racer.start()
    loser = eventually(lambda: next((r for r in launches if r.process and r.process.poll() is not None), None))
    (winner,) = (racer for racer in launches if racer is not loser)
    winner.until_ready()
    assert loser.wait() == 75
    assert re.search(rf"Port {launch.port} is taken by another launch: .*process {pid(winner)} ", loser.errors)
    assert "port-claimed" in loser.errors
    assert winner.signal(signal.SIGTERM).wait() == 0


def test_a_second_instance_of_a_name_is_refused_and_another_name_is_not(launch: Launch) -> None:
    launch.start().until_ready()
    second = beside(launch, "second", port=Launch(launch.corral, launch.folder).port, instance=launch.instance)
    assert second.start().wait() == 75
    assert f"process {pid(launch)} " in second.errors
    assert f"gpulaunch stop {launch.instance}, or --replace to take over, or --name" in second.errors
    third = beside(launch, "third", port=second.port, instance=f"third-{launch.port}")
    third.start().until_ready()
    for running in (third, launch):
        assert running.signal(signal.SIGTERM).wait() == 0


def test_replace_stops_the_first_and_takes_over_when_nothing_of_it_is_left(launch: Launch) -> None:
    launch.start("--worker", "--worker-ignores-term").until_ready()
    second = beside(launch, "second", instance=launch.instance)
    second.profile()
    second.run(second.command("--replace"), second.environ).until_ready()
    assert launch.process is not None
    assert launch.process.poll() == 0, "the first one was asked, and ended in order, before the second one started"
    assert f"replacing test as {launch.instance}, run " in second.errors
    assert health(launch.port) == 200
    assert second.signal(signal.SIGTERM).wait() == 0
    assert launch.corral.survivors() == []


def test_replace_without_a_first_one_just_starts(launch: Launch) -> None:
    launch.profile()
    launch.run(launch.command("--replace"), launch.environ).until_ready()
    assert "replacing" not in launch.errors
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_nobody_is_stopped_for_a_launch_that_cannot_start(launch: Launch) -> None:
    launch.start().until_ready()
    second = beside(launch, "second", instance=launch.instance)
    second.profile(cwd=str(launch.folder / "no such folder"))
    second.run(second.command("--replace"), second.environ)
    assert second.wait() not in (0, 75)
    assert health(launch.port) == 200
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_a_dry_run_says_what_the_launch_would_be_refused_for_and_takes_nothing(launch: Launch) -> None:
    launch.start().until_ready()
    second = beside(launch, "second", instance=launch.instance)
    second.profile()
    second.run(second.command("--dry-run", "--json"), second.environ)
    assert second.wait() == 75
    codes = [finding["code"] for finding in json.loads(second.output)["findings"]]
    assert "instance-running" in codes
    assert "port-claimed" in codes
    second.run(second.command("--dry-run", "--replace"), second.environ)
    assert second.wait() == 0, "it would start"
    assert launch.signal(signal.SIGTERM).wait() == 0


def test_stop_knows_an_instance_by_its_name(launch: Launch) -> None:
    launch.start().until_ready()
    other = beside(launch, "other", port=Launch(launch.corral, launch.folder).port, instance=f"other-{launch.port}")
    other.start().until_ready()
    assert gpulaunch(launch, "stop", launch.instance).returncode == 0
    assert launch.wait() == 0
    assert health(other.port) == 200
    assert other.signal(signal.SIGTERM).wait() == 0


@pytest.mark.parametrize("name", ["", "../up", "-x", "a/b", "a" * 101])
def test_a_name_that_cannot_stand_in_a_files_name_is_a_usage_error(launch: Launch, name: str) -> None:
    launch.profile()
    words = [name if word == launch.instance else word for word in launch.command("--dry-run")]
    launch.run(words, launch.environ)
    assert launch.wait() == 2


def test_what_became_the_server_keeps_the_locks(launch: Launch) -> None:
    launch.profile()
    launch.run(launch.command("--exec"), launch.environ)
    eventually(lambda: health(launch.port) == 200)
    second = beside(launch, "second", instance=launch.instance)
    assert second.start().wait() == 75
    assert f"process {pid(launch)} " in second.errors
    os.kill(pid(launch), signal.SIGTERM)
    launch.wait()
    second.start().until_ready()
    assert second.signal(signal.SIGTERM).wait() == 0
