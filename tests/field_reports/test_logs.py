"""Field reports on output: each with the fault as a plain pipe has it, and the same server's log under gpulaunch."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from launcher.runs import log_files
from tests.hostiles import hostile
from tests.launching import Launch
from tests.orphans import gpulaunch

KEY = "sk-nobodysKeyOfAnyService0123456789"
TOKEN = "hf_thisIsNobodysTokenAtAll0123456789"


def plainly(*flags: Any) -> bytes:
    """What a plain supervisor's pipe gets, both streams together."""
    done = subprocess.run(hostile(*flags, "--exit", 0), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout


def captured(launch: Launch, *flags: Any, **keys: Any) -> bytes:
    """The log of the same under gpulaunch."""
    launch.start(*flags, "--exit", 0, ready=False, **keys).wait()
    return launch.log


def printing(lines: list[str]) -> list[str]:
    """A server that prints these and ends."""
    return [sys.executable, "-c", f"for line in {lines!r}: print(line)"]


def everything_of(launch: Launch) -> bytes:
    """All that gpulaunch wrote: every file of every run, and the terminal."""
    files = (path for path in (launch.folder / "state").rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in files) + launch.output + launch.errors.encode()


def test_r125_a_plain_log_has_every_shard_once_per_rank() -> None:
    """vllm-project/vllm#6569, sgl-project/sglang#7181."""
    assert plainly("--progress-lines", 200).count(b"\n") >= 200


def test_r125_the_log_has_the_first_every_tenth_per_cent_and_the_last(launch: Launch) -> None:
    kept = captured(launch, "--progress-lines", 200).splitlines()
    assert len(kept) <= 12
    assert b"100%" in kept[-1]


def test_r125_shards_of_two_ranks_are_collapsed_each(launch: Launch) -> None:
    bars = [f"(Worker_TP{rank} pid=1) Loading shards: {n}% | {n}/100" for n in range(101) for rank in range(2)]
    launch.start(command=printing(bars), ready=False).wait()
    kept = launch.log.splitlines()
    assert len(kept) <= 24
    for rank in (b"TP0", b"TP1"):
        assert any(rank in line and b"100%" in line for line in kept)


def parameters() -> list[str]:
    """What transformers prints for each of 291 weights where no terminal is."""
    return [
        f"Loading weights: {done * 100 // 291:3d}%|#####     | {done}/291 [00:00<00:00, {done}.13it/s, "
        f"Materializing param=model.layers.{done}.mlp.up_proj.weight]"
        for done in range(1, 292)
    ]


def test_r126_one_line_for_each_parameter_becomes_a_few(launch: Launch) -> None:
    """huggingface/transformers#44345."""
    plain = subprocess.run(printing(parameters()), capture_output=True, check=True).stdout
    assert plain.count(b"\n") == 291
    launch.start(command=printing(parameters()), ready=False).wait()
    kept = launch.log.splitlines()
    assert 2 <= len(kept) <= 13
    assert b"291/291" in kept[-1]


def test_r126_equal_lines_are_counted(launch: Launch) -> None:
    assert plainly("--repeat", 5000, "the same again").count(b"the same again") == 5000
    kept = captured(launch, "--repeat", 5000, "the same again")
    assert kept.count(b"the same again") == 1
    assert b"last line repeated 4999 times" in kept


def test_r126_lines_that_say_something_new_are_all_kept(launch: Launch) -> None:
    lines = [f"parameter {number} loaded" for number in range(500)]
    launch.start(command=printing(lines), ready=False).wait()
    assert launch.log.decode().splitlines() == lines


def test_r130_a_log_grows_to_a_bound_and_keeps_the_latest(launch: Launch) -> None:
    """dryvist/nix-ai#255, vllm-project/vllm#6290: access lines fill the disk."""
    command = [sys.executable, "-c", "for n in range(20000): print(f'127.0.0.1:{n} - \"POST /v1\" 200 OK')"]
    whole = subprocess.run(command, capture_output=True, check=True).stdout
    assert len(whole) > 500_000
    launch.start(command=command, ready=False, log={"rotate": "64KiB", "keep": 3}).wait()
    files = log_files(launch.run_folder)
    assert len(files) == 3
    assert sum(file.stat().st_size for file in files) <= 3 * (64 << 10)
    assert b"127.0.0.1:19999 " in launch.log


def test_r130_a_short_log_is_whole_and_one_file(launch: Launch) -> None:
    assert captured(launch, "--say", "one line") == b"one line\n"
    assert len(log_files(launch.run_folder)) == 1


def test_r131_a_plain_server_prints_its_key_and_its_token() -> None:
    """vllm-project/vllm#52523, #53625: in "non-default args"."""
    assert KEY.encode() in plainly("--api-key", KEY, "--print-arguments")


@pytest.mark.parametrize("split", [False, True], ids=["at once", "over two writes"])
def test_r131_a_secret_is_in_nothing_that_gpulaunch_writes(launch: Launch, split: bool) -> None:
    half = len(TOKEN) // 2
    written = (TOKEN[:half], f"{TOKEN[half:]}\\n") if split else (f"{TOKEN}\\n",)
    writes = [word for part in written for word in ("--write", part)]
    flags = ("--api-key", KEY, "--print-arguments", "--print-env", "HF_TOKEN", *writes, "--write-pause", 0.1)
    launch.start(*flags, "--exit", 1, ready=False, environ={"HF_TOKEN": TOKEN})
    launch.wait()
    wrote = everything_of(launch)
    assert b"HF_TOKEN=***" in wrote
    for secret in (KEY, TOKEN):
        assert secret.encode() not in wrote


def test_r131_what_is_no_secret_is_not_masked(launch: Launch) -> None:
    assert captured(launch, "--say", "max_model_len=8192 tokens=128") == b"max_model_len=8192 tokens=128\n"


def test_r132_what_a_user_pastes_from_a_run_holds_no_key(launch: Launch) -> None:
    """ogx-ai/ogx#3499: a pasted log put a live key into a public issue."""
    flags = ("--api-key", KEY, "--print-arguments", "--say-error", f"Authorization: Bearer {KEY}")
    assert KEY.encode() in plainly(*flags)
    captured(launch, *flags)
    pasted = [
        gpulaunch(launch, *words)
        for words in (
            ("logs", "test"),
            ("explain", "--profile", str(launch.file)),
            ("check", "--profile", str(launch.file), "--json"),
        )
    ]
    assert all("***" in done.stdout for done in pasted), "the control: there it would stand"
    for done in pasted:
        assert KEY not in done.stdout + done.stderr


def test_r133_a_plain_file_has_the_colours_codes() -> None:
    """vllm-project/vllm#25943: codes in files, prefix colouring where no terminal is."""
    assert b"\x1b[" in plainly("--ansi")


def test_r133_the_file_has_the_words_without_the_codes(launch: Launch) -> None:
    kept = captured(launch, "--ansi")
    assert kept.strip()
    assert b"\x1b" not in kept


def test_r134_the_last_lines_of_a_plain_server_that_is_killed_are_lost() -> None:
    """docker-library/python#604: output to a pipe is buffered by the block."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    assert subprocess.run(dying(), stdout=subprocess.PIPE, env=environ, check=False).stdout == b""


def test_r134_under_gpulaunch_they_are_in_the_log(launch: Launch) -> None:
    launch.start(command=dying(), ready=False)
    assert launch.wait() == 137
    assert launch.log == b"the last words\n"


def test_r134_a_profile_may_have_it_otherwise(launch: Launch) -> None:
    launch.start(command=dying(), ready=False, env={"unset": ["PYTHONUNBUFFERED"]})
    assert launch.wait() == 137
    assert launch.log == b""


def dying() -> list[str]:
    script = "import os, signal; print('the last words'); os.kill(os.getpid(), signal.SIGKILL)"
    return [sys.executable, "-c", script]


def test_a_folder_of_a_run_is_where_it_is_looked_for(launch: Launch) -> None:
    """The control of `everything_of`: the log is among what it reads."""
    captured(launch, "--say", "a word that is found")
    assert b"a word that is found" in everything_of(launch)
