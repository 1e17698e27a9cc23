"""The first cause counts, whatever is repeated after it, in whatever pieces it comes."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.causes.recognising import Recogniser
from launcher.causes.signatures import Kind

CORE = "(EngineCore_DP0 pid=12) ERROR 12-03 10:11:1{} [core.py:718] {}"
CRASH = [
    CORE.format(2, "EngineCore failed to start."),
    CORE.format(2, "Traceback (most recent call last):"),
    CORE.format(2, '  File "core.py", line 709, in run_engine_core'),
    CORE.format(3, "    raise ValueError("),
    CORE.format(3, "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`."),
    "(APIServer pid=1) Traceback (most recent call last):",
    '(APIServer pid=1)   File "api_server.py", line 1, in main',
    "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
    "",
]


def fed(*texts: str) -> Recogniser:
    recogniser = Recogniser()
    for text in texts:
        recogniser.feed(text)
    return recogniser


def code(recogniser: Recogniser) -> str | None:
    found = recogniser.first()
    return found.code if found else None


def test_r136_the_cause_above_is_named_and_not_see_root_cause_above() -> None:
    """R136 ls1intum/edutelligence#579: the wrapper speaks last and knows nothing."""
    recogniser = fed("\n".join(CRASH))
    assert code(recogniser) == "vllm-no-cache-blocks"
    assert recogniser.first_exception is not None
    assert recogniser.first_exception.startswith("ValueError: No available memory")
    alone = fed("\n".join(CRASH[5:]))
    assert code(alone) == "vllm-core-failed"
    assert code(fed("INFO all is well\n")) is None


# Of vLLM 0.32.0 for CPUs, cut short: what it says when its worker, and when its engine core, is sent SIGKILL.
WORKER_KILLED = [
    "(EngineCore pid=2) ERROR 12-03 06:35:55 [multiproc_executor.py:315] Worker proc VllmWorker-0 died unexpectedly "
    "(exit code: None), shutting down executor.",
    "(EngineCore pid=2) ERROR 12-03 06:35:55 [core.py:1512] EngineCore encountered a fatal error.",
    "(EngineCore pid=2) ERROR 12-03 06:35:55 [core.py:1512] Traceback (most recent call last):",
    '(EngineCore pid=2) ERROR 12-03 06:35:55 [core.py:1512]     raise RuntimeError("Executor failed.")',
    "(EngineCore pid=2) ERROR 12-03 06:35:55 [core.py:1512] RuntimeError: Executor failed.",
    "",
]
CORE_KILLED = [
    "(APIServer pid=1) WARNING 12-03 06:34:28 [core_client.py:817] [shutdown] MPClient: engine core exited "
    "unexpectedly; starting cleanup",
    "(APIServer pid=1) ERROR 12-03 06:34:28 [async_llm.py:906] AsyncLLM output_handler failed.",
    "(APIServer pid=1) ERROR 12-03 06:34:28 [async_llm.py:906] Traceback (most recent call last):",
    "(APIServer pid=1) ERROR 12-03 06:34:28 [async_llm.py:906]     raise self._format_exception(outputs) from None",
    "(APIServer pid=1) ERROR 12-03 06:34:28 [async_llm.py:906] vllm.v1.engine.exceptions.EngineDeadError: EngineCore "
    "encountered an issue. See stack trace (above) for the root cause.",
    "",
]


@pytest.mark.parametrize(
    ("said", "who"), [(WORKER_KILLED, "Worker proc"), (CORE_KILLED, "engine core")], ids=["worker", "engine core"]
)
def test_who_ended_without_a_word_is_the_cause_and_not_the_exceptions_that_follow(said: list[str], who: str) -> None:
    found = fed("\n".join(said)).first()
    assert found is not None and found.code == "vllm-process-died" and found.kind is Kind.HINT
    assert f"vLLM's {who} ended without a word" in found.cause


def test_who_died_of_an_exception_that_was_told_is_no_cause() -> None:
    told = fed("\n".join(CRASH[1:3] + ["ValueError: odd", ""]), "\n".join(WORKER_KILLED))
    found = told.first()
    assert found is not None and found.kind is Kind.WRAPPER
    assert told.first_exception == "ValueError: odd"


def test_r090_a_word_of_death_is_told_from_a_complaint() -> None:
    """R090 vllm-project/vllm#54553: the engine is dead, its process stays."""
    dead = fed("vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.\n").dead
    assert dead is not None and dead.code == "vllm-engine-dead"
    assert fed("OSError: [Errno 24] Too many open files\n").dead is None


def test_r102_a_run_time_deadline_is_told_from_the_one_at_boot() -> None:
    """R102: the boot's limit was raised, and the engine died by another while it compiled a kernel."""
    found = fed("TimeoutError: RPC call to execute_model timed out.\n").first()
    assert found is not None and "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS" in found.fix and found.dead
    assert fed("INFO RPC call to execute_model took 3 s\n").first() is None


def test_r101_a_watchdog_and_nccls_own_timer_are_told_apart() -> None:
    """R101 sgl-project/sglang#8232: the limit that was raised was not the timer that fired."""
    nccl = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4, OpType=ALLREDUCE, Timeout(ms)=600000) ran"
    assert code(fed(f"[rank0]:[E1203 ProcessGroupNCCL.cpp:685] [Rank 0] {nccl}\n")) == "nccl-watchdog-timeout"
    assert code(fed("Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)\n")) == "sglang-watchdog"
    assert code(fed("server_args=ServerArgs(watchdog_timeout=300)\n")) is None


def test_of_two_causes_the_first_counts() -> None:
    one, other = "OSError: [Errno 98] Address already in use\n", "OSError: [Errno 28] No space left on device\n"
    assert code(fed(one, other)) == "address-in-use"
    assert code(fed(other, one)) == "disk-full"
    assert code(fed(one + other)) == "address-in-use"


def test_what_a_ready_server_has_said_is_not_why_it_ended_later() -> None:
    recogniser = fed("OSError: [Errno 28] No space left on device\n")
    recogniser.survived()
    assert recogniser.first() is None
    recogniser.feed("OSError: [Errno 28] No space left on device\n")
    assert code(recogniser) == "disk-full"


def test_the_ranks_that_say_it_are_remembered() -> None:
    line = "[2026-12-03 10:11:12 TP{}] RuntimeError: CUDA error: an illegal memory access was encountered\n"
    found = fed(line.format(1), line.format(0), line.format(1)).first()
    assert found is not None and found.ranks == ("TP1", "TP0")


def test_sglangs_traceback_begins_in_a_logged_line_and_goes_on_without_its_prefix() -> None:
    text = (
        "[2026-12-03 10:11:12 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "scheduler.py", line 1, in run\nKeyError: 7\n\n[2026-12-03 10:11:13] SIGQUIT received.\n'
    )
    recogniser = fed(text)
    assert (code(recogniser), recogniser.first_exception) == ("sglang-scheduler-exception", "KeyError: 7")


@given(st.lists(st.integers(min_value=1, max_value=len(CRASH) - 1), max_size=4))
def test_chunks_do_not_matter_as_long_as_lines_are_whole(cuts: list[int]) -> None:
    places = [0, *sorted(set(cuts)), len(CRASH)]
    pieces = ["\n".join(CRASH[a:b]) + "\n" for a, b in itertools.pairwise(places)]
    whole, parts = fed("\n".join(CRASH)), fed(*pieces)
    assert code(parts) == code(whole)
    assert parts.first_exception == whole.first_exception


@given(st.text(max_size=3000))
def test_no_text_breaks_it(text: str) -> None:
    recogniser = fed(text, f"Traceback (most recent call last):\n{text}", text)
    recogniser.first()
    assert recogniser.dead is None or recogniser.dead.line


def test_ordinary_lines_cost_little() -> None:
    """Measured at 0.6 µs a line; the bound leaves room for a busy machine and would still show a regular expression."""
    chunk = (
        "INFO 12-03 10:11:12 [loggers.py:248] Engine 000: Avg generation throughput: 45.6 tokens/s" + "." * 30 + "\n"
    ) * 8000
    recogniser = fed(chunk)
    begin = time.process_time()
    for _ in range(4):
        recogniser.feed(chunk)
    assert (time.process_time() - begin) / (4 * 8000) < 8e-6
