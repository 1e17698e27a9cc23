"""The kernel's words and counters, parsed and read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.causes import kernel_words
from launcher.causes.evidence import oom
from launcher.causes.evidence.kernel_log import KernelLog
from launcher.causes.kernel_words import Victim

FELL_OFF = "NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
FAULT = "NVRM: Xid (PCI:0000:c1:00): 31, pid=4711, name=python3, Ch 00000008, intr 00000000. MMU Fault"
KILLED = "Out of memory: Killed process 4711 (VLLM::EngineCor) total-vm:99kB, anon-rss:9kB, UID:0 pgtables:1kB"
IN_CGROUP = "Memory cgroup out of memory: Killed process 42 (python3) total-vm:99kB"
OOM_KILL = (
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,oom_memcg=/x,task_memcg=/x,task=nvcc,pid=43,uid=0"
)


def test_xids_and_lost_gpus_are_read() -> None:
    found = list(
        kernel_words.xids(
            [FELL_OFF, "usb 1-1: new device", FAULT, "NVRM: GPU at PCI:0000:01:00.0 has fallen off the bus."]
        )
    )
    assert [(xid.bus, xid.number, xid.pid) for xid in found] == [
        ("0000:41:00", 79, None), ("0000:c1:00", 31, 4711), ("0000:01:00.0", 79, None),
    ]  # fmt: skip


def test_whoever_was_ended_for_memory_is_read() -> None:
    assert list(kernel_words.victims([KILLED, IN_CGROUP, OOM_KILL, KILLED, "Killed by me"])) == [
        Victim(4711, "VLLM::EngineCor"), Victim(42, "python3"), Victim(43, "nvcc"),
    ]  # fmt: skip


def test_two_spellings_of_a_bus_are_one() -> None:
    assert kernel_words.same_bus("0000:41:00", "00000000:41:00.0")
    assert not kernel_words.same_bus("0000:41:00", "00000000:42:00.0")
    assert not kernel_words.same_bus("0000:41:00", "nonsense")


def test_a_record_is_taken_apart() -> None:
    assert kernel_words.message(f"4,1234,5678,-;{FELL_OFF}\n SUBSYSTEM=pci\n".encode()) == FELL_OFF
    assert kernel_words.message(b"nonsense") == ""


def test_both_versions_of_the_counter_are_read() -> None:
    assert kernel_words.oom_kills_v2("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n") == 2
    assert kernel_words.oom_kills_v1("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n") == 1
    assert kernel_words.oom_kills_v1("oom_kill_disable 0\nunder_oom 0\n") is None


@given(st.text())
def test_no_words_of_the_kernel_break_it(text: str) -> None:
    lines = text.splitlines()
    list(kernel_words.xids(lines))
    list(kernel_words.victims(lines))
    kernel_words.oom_kills_v2(text)
    kernel_words.message(text.encode("utf-8", "replace"))
    kernel_words.same_bus(text, "0000:41:00")


@given(st.integers(0, 1 << 40))
def test_any_count_is_read_back(count: int) -> None:
    assert kernel_words.oom_kills_v2(f"oom 0\noom_kill {count}\n") == count


def test_growth_between_two_looks_is_found_in_either_version(tmp_path: Path) -> None:
    run, v1 = tmp_path / "unified/run/memory.events", tmp_path / "memory/job/memory.oom_control"
    for file, text in ((run, "oom_kill 0\n"), (v1, "oom_kill_disable 0\noom_kill 4\n")):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    paths = list(oom.files("4:memory:/job\n0::/service\n", root=tmp_path, run=run.parent))
    before = oom.read(paths)
    assert before == {run: 0, v1: 4}
    assert oom.since(before) == 0
    v1.write_text("oom_kill_disable 0\noom_kill 5\n")
    assert oom.since(before) == 1


def test_without_a_counter_nothing_can_be_told(tmp_path: Path) -> None:
    assert oom.since(oom.read([tmp_path / "none/memory.events"])) is None


def test_a_kernel_log_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    log = KernelLog(str(tmp_path / "none"))
    assert log.problem is not None and "No such file" in log.problem
    assert log.new() == []


def test_the_kernel_log_is_read_from_its_end_and_never_waits() -> None:
    log = KernelLog()
    if log.problem is not None:
        pytest.skip(log.problem)
    try:
        log.new()
        assert isinstance(log.new(), list)
    finally:
        log.close()


def test_a_kernel_log_without_an_end_to_go_to_is_refused(tmp_path: Path) -> None:
    """Read from its beginning it would blame this run for errors of last week."""
    fifo = tmp_path / "kmsg"
    os.mkfifo(fifo)
    assert KernelLog(str(fifo)).problem is not None
