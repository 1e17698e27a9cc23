"""`gpulaunch facts`: a summary for people, a file for --facts."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.cli.conftest import Answer, Caller

Here = Callable[..., Answer]


def test_the_summary_tells_machine_target_toolkits_and_gpus(here: Here, founding_machine: str) -> None:
    answer = here("facts", "--facts", founding_machine)
    assert (answer.code, answer.err) == (0, "")
    assert "64 CPUs, 512 GiB of memory" in answer.out
    assert "/opt/venv/bin/python (--target)" in answer.out
    assert "2.11.0+cu130, built for CUDA 13.0" in answer.out
    assert "  0 NVIDIA RTX PRO 6000 Blackwell, compute capability 12.0, 96 GiB, GPU-00000000\n" in answer.out
    assert "  /usr/local/cuda-12.8\n      real, nvcc 12.8; found by nvcc on PATH" in answer.out


def test_what_it_writes_here_is_what_facts_takes(caller: Caller, tmp_path: object) -> None:
    env = {**caller.environ, "HF_TOKEN": "hf_abcdefgh"}
    written = caller("facts", "--profile", "kimi-k26-dflash", "--json", env=env)
    assert json.loads(written.out)["schema_version"] == 1
    assert "hf_abcdefgh" not in written.out
    (caller.folder / "here.json").write_text(written.out)
    assert caller("explain", "--profile", "kimi-k26-dflash", "--facts", "here.json").code == 0
    assert caller("facts", "--facts", "here.json", "--json").out == written.out


def test_a_broken_facts_file_is_refused_with_its_line(here: Here, caller: Caller) -> None:
    (caller.folder / "broken.json").write_text("{\n  nothing")
    answer = here("check", "--profile", "kimi-k26-dflash", "--facts", "broken.json")
    assert answer.code == 78
    assert "broken.json:2: this is not JSON" in answer.err


def test_the_target_of_the_profile_is_looked_at(here: Here, caller: Caller) -> None:
    answer = here("facts", "--profile", caller.command_profile("target: {venv: /nowhere}\n"))
    assert "/nowhere/bin/python (profile target.venv)" in answer.out
    assert "is not there" in answer.out
