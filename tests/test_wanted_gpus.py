"""Which GPUs and ports a launch takes for itself: those that the server will truly use, by its final command line."""

from __future__ import annotations

from typing import Any

import pytest

from launcher.cli import starting
from launcher.wanted_gpus import wanted_gpus
from tests import builders


def indices(engine: str, args: dict[str, str], gpus: dict[str, Any] | None = None) -> list[int]:
    wish = builders.asked(engine=engine, args=args, gpus=gpus or {})
    return [gpu.index for gpu in wanted_gpus(builders.plan(wish), wish.profile)]


@pytest.mark.parametrize(
    ("engine", "args", "expected"),
    [
        ("sglang", {}, [0]),
        ("sglang", {"tp-size": "4"}, [0, 1, 2, 3]),
        ("sglang", {"tp-size": "2", "base-gpu-id": "4"}, [4, 5]),
        ("sglang", {"tp-size": "2", "dp-size": "2"}, [0, 1, 2, 3]),
        ("sglang", {"tp-size": "4", "dp-size": "4", "enable-dp-attention": "true"}, [0, 1, 2, 3]),
        ("sglang", {"tp-size": "16", "nnodes": "2"}, list(range(8))),
        ("vllm", {}, [0]),
        ("vllm", {"tensor-parallel-size": "2", "pipeline-parallel-size": "2"}, [0, 1, 2, 3]),
    ],
)
def test_the_engines_flags_say_how_many_and_from_which_on(
    engine: str, args: dict[str, str], expected: list[int]
) -> None:
    assert indices(engine, args) == expected


def test_of_those_that_are_selected_all_are_meant() -> None:
    assert indices("sglang", {"tp-size": "1"}, {"select": ["2", "5"]}) == [2, 5]


def test_a_server_that_names_none_and_runs_on_a_cpu_as_well_takes_none() -> None:
    wish = builders.asked(engine="command", command=["proxy"], ready="none", model=None, args={}, gpus={})
    assert wanted_gpus(builders.plan(wish), wish.profile) == ()


def test_a_launch_takes_its_name_its_gpus_its_port_and_those_beside_it() -> None:
    wish = builders.asked(args={"tp-size": "2", "port": "30000", "nccl-port": "29001"}, gpus={})
    taken = [resource.file_name for resource in starting.wanted(builders.plan(wish), wish.profile, "second")]
    uuids = [gpu.uuid for gpu in builders.gpus()[:2]]
    assert taken == [
        "instance-second.lock", *(f"gpu-{uuid}.lock" for uuid in uuids), "port-30000.lock", "port-29001.lock",
    ]  # fmt: skip
