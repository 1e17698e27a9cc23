"""/dev/nvidia-uvm, and the wait for GPUs that appear after the service at boot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from launcher.preflight import devices
from launcher.preflight.devices import PAUSE, await_gpus, is_missing
from launcher.profile.schema import Gpus
from tests import builders
from tests.preflight.conftest import Make


def test_without_the_device_it_is_69(moment: Make) -> None:
    made = moment()
    (made.dev / "nvidia-uvm").unlink()
    (found,) = devices.check(made)
    assert (found.code, found.exit_code) == ("nvidia-uvm-missing", 69)
    assert "gpus: {wait: 60s}" in (found.fix or "")


def test_with_it_there_is_nothing_to_say(moment: Make) -> None:
    assert list(devices.check(moment())) == []


def test_a_server_that_asks_for_no_gpu_needs_none(moment: Make) -> None:
    made = moment(builders.asked(engine="command", command=["proxy"], gpus={}, args={}, model=None, ready="none"))
    (made.dev / "nvidia-uvm").unlink()
    assert list(devices.check(made)) == []


def test_a_machine_without_nvidias_driver_lacks_something_else(tmp_path: Path) -> None:
    """WSL has /dev/dxg."""
    assert not is_missing(tmp_path, ())


def test_where_nvidia_modprobe_would_make_it_it_is_no_fault(moment: Make, tmp_path: Path) -> None:
    made = moment()
    (made.dev / "nvidia-uvm").unlink()
    assert is_missing(made.dev, (tmp_path,))
    program = tmp_path / "nvidia-modprobe"
    program.touch()
    program.chmod(0o4755)
    assert not is_missing(made.dev, (tmp_path,))


class Machine:
    """GPUs that appear one look after the other; a clock that only sleeping moves."""

    def __init__(self, *lacks: str | None) -> None:
        self._answers: Iterator[str | None] = iter(lacks)
        self._last = lacks[-1]
        self.time = 100.0
        self.said: list[str] = []

    def wait(self, seconds: float) -> None:
        await_gpus(
            Gpus.model_validate({"wait": f"{seconds:g}s"}),
            self.said.append,
            here=lambda wish: next(self._answers, self._last),
            now=lambda: self.time,
            sleep=self._sleep,
        )

    def _sleep(self, seconds: float) -> None:
        self.time += seconds


def test_it_is_waited_for_until_all_is_there() -> None:
    machine = Machine("the driver", "the driver", "/dev/nvidia-uvm", None)
    machine.wait(60)
    assert machine.time == 100.0 + 3 * PAUSE
    assert machine.said == [
        "waiting for the driver, at most 60 s",
        "waiting for /dev/nvidia-uvm, at most 60 s",
    ]


def test_a_wait_has_an_end() -> None:
    machine = Machine("the driver")
    machine.wait(5)
    assert machine.time == 105.0


def test_without_a_wish_to_wait_nobody_looks() -> None:
    machine = Machine("the driver")
    machine.wait(0)
    assert (machine.time, machine.said) == (100.0, [])
