"""Idle is not stuck, and what cannot be told is not guessed: the pure parts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.liveness.api_key import api_key
from launcher.liveness.http import Answer
from launcher.liveness.judge import Pulse, Sample, feel
from launcher.liveness.loading import Work, moved
from launcher.liveness.metrics import METRICS
from launcher.liveness.prometheus import sums
from launcher.liveness.served_model import served_model
from launcher.liveness.watcher import read

STALL = 300.0


def hang_at(samples: list[tuple[float, Sample | None]]) -> float | None:
    """When it was found to hang."""
    pulse = Pulse(0.0)
    for at, sample in samples:
        pulse, why = feel(pulse, sample, STALL, at)
        if why:
            return at
    return None


def busy(tokens: float, requests: float = 2) -> Sample:
    return Sample(requests, {"tokens": tokens})


IDLE = Sample(0, {"tokens": 7})


@pytest.mark.parametrize(
    ("samples", "found"),
    [
        ([(at, busy(7)) for at in range(0, 1000, 100)], 300),
        ([(at, busy(at)) for at in range(0, 1000, 100)], None),
        ([(at, IDLE) for at in range(0, 1000, 100)], None),
        ([(0, busy(7)), (200, IDLE), (400, busy(7)), (600, busy(7))], 600),
        ([(0, busy(7)), (200, busy(8)), (400, busy(8)), (500, busy(8))], 500),
        ([(0, busy(7)), (200, busy(3)), (400, busy(3))], None),  # a counter that begins anew has moved
        ([(at, None) for at in range(0, 1000, 100)], None),  # it never had counters
        ([(0, IDLE), (100, None), (200, None), (300, None)], 300),
        ([(0, IDLE), (100, None), (200, IDLE), (400, None)], None),
    ],
)
def test_only_work_that_stands_still_is_a_hang(samples: list[tuple[float, Sample | None]], found: float | None) -> None:
    assert hang_at(samples) == found


def test_a_hang_is_told_in_a_sentence() -> None:
    pulse, _ = feel(Pulse(0.0), busy(7, 1), STALL, 0.0)
    assert feel(pulse, busy(7, 1), STALL, 301.0)[1] == "1 request runs or waits, and no token came for 301 s"


TEXT = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a } \\"b\\""} 2.0
vllm:num_requests_running{engine="1",model_name="m"} 1.0 1700000000000
vllm:num_requests_waiting{engine="0"} 0.0
vllm:generation_tokens_total{engine="0"} 1.5e+03
vllm:generation_tokens_created{engine="0"} 9
vllm:prompt_tokens_total NaN
"""


def test_samples_are_added_up_over_their_labels() -> None:
    names = (*METRICS["vllm"].BUSY, *METRICS["vllm"].MOVING)
    assert sums(TEXT, names) == {
        "vllm:num_requests_running": 3.0,
        "vllm:num_requests_waiting": 0.0,
        "vllm:generation_tokens_total": 1500.0,
    }


@given(st.text())
def test_no_text_breaks_the_reader_of_metrics(text: str) -> None:
    assert all(math.isfinite(value) for value in sums(f"a 1\n{text}", ["a"]).values())


def test_an_answer_without_counters_is_no_sample() -> None:
    everybody = tuple(METRICS.values())
    assert read(None, everybody) is None
    assert read(Answer(404, TEXT), everybody) is None
    assert read(Answer(200, "python_info 1"), everybody) is None
    assert read(Answer(200, TEXT), everybody) == Sample(3.0, {"vllm:generation_tokens_total": 1500.0})
    assert read(Answer(200, TEXT), (METRICS["sglang"],)) is None


@pytest.mark.parametrize(
    ("argv", "env", "key"),
    [
        (["serve", "--api-key", "abc"], {}, "abc"),
        (["serve", "--api-key=abc"], {"VLLM_API_KEY": "other"}, "abc"),
        (["serve", "--api-key", "a,b"], {}, "a"),
        (["serve"], {"VLLM_API_KEY": "v"}, "v"),
        (["serve"], {"LLAMA_API_KEY": "l"}, "l"),
        (["serve", "--api-key"], {}, None),
        (["serve"], {"VLLM_API_KEY": ""}, None),
        (["serve", "--api-key", "of-the-profile", "--api-key=after--"], {}, "after--"),
    ],
)
def test_the_servers_key_is_found_where_the_server_finds_it(argv: list[str], env: dict[str, str], key: str) -> None:
    assert api_key(argv, env) == key


@pytest.mark.parametrize(
    ("engine", "argv", "model"),
    [
        ("transformers", ["python", "-m", "transformers.cli.transformers", "serve", "./tiny", "--port", "1"], "./tiny"),
        ("transformers", ["python", "-m", "transformers.cli.transformers", "serve", "--port", "1"], None),
        ("vllm", ["python", "-m", "vllm.entrypoints.cli.main", "serve", "./tiny"], None),  # it may have another name
    ],
)
def test_a_server_that_lists_a_cache_is_asked_for_what_it_serves(
    engine: str, argv: list[str], model: str | None
) -> None:
    assert served_model(engine, argv) == model


@pytest.mark.parametrize(
    ("before", "now", "is_progress"),
    [
        (Work(0, 0), Work(2 << 20, 0), True),
        (Work(0, 5), Work(4096, 5), False),  # what an event loop reads
        (Work(0, 5), Work(0, 6), True),
        (Work(9 << 20, 5), Work(1 << 20, 5), True),  # a process ended
    ],
)
def test_reading_and_compiling_are_progress(before: Work, now: Work, is_progress: bool) -> None:
    assert moved(before, now) is is_progress
