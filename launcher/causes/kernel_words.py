"""What the kernel says about GPUs and memory, parsed. Pure: `evidence/` reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?(?P<bus>[0-9A-Fa-f:.]+)\): (?P<number>\d+)(?:, (?P<rest>.*))?")
_XID_PID = re.compile(r"\bpid='?(?P<pid>\d+)")
_LOST = re.compile(r"NVRM: GPU (?:at )?(?:PCI:)?(?P<bus>[0-9A-Fa-f:.]+?):? (?:GPU )?has fallen off the bus")
# mm/oom_kill.c: "Out of memory: Killed process 7 (python3) total-vm:..."; "Memory cgroup out of memory: ...".
_KILLED = re.compile(r"[Oo]ut of memory.*?: Killed process (?P<pid>\d+) \((?P<name>.*?)\)(?:[ ,]|$)")
_OOM_KILL = re.compile(r"oom-kill:.*\btask=(?P<name>[^,]*),pid=(?P<pid>\d+)\b")
_FELL_OFF = 79


class Xid(NamedTuple):
    """One report of the driver. `bus` as it stands there, "0000:41:00"; `pid` in the kernel's own numbers."""

    bus: str
    number: int
    pid: int | None
    line: str


class Victim(NamedTuple):
    """A process that the kernel ended for want of memory."""

    pid: int
    name: str


def message(record: bytes) -> str:
    """The words of one record of /dev/kmsg: "6,1234,5678,-;words", then lines of a dictionary; "" for no record."""
    head, semicolon, rest = record.partition(b";")
    if not semicolon or head.count(b",") < 2:
        return ""
    return rest.split(b"\n", 1)[0].decode("utf-8", "replace")


def xids(lines: Iterable[str]) -> Iterator[Xid]:
    """Every report of a GPU, and GPUs that are gone."""
    for line in lines:
        found = _XID.search(line)
        if found is not None:
            pid = _XID_PID.search(found["rest"] or "")
            yield Xid(found["bus"], int(found["number"]), int(pid["pid"]) if pid else None, line)
            continue
        lost = _LOST.search(line)
        if lost is not None:
            yield Xid(lost["bus"], _FELL_OFF, None, line)


def victims(lines: Iterable[str]) -> Iterator[Victim]:
    """Every process that was ended for want of memory, once."""
    seen = set()
    for line in lines:
        found = _KILLED.search(line) or _OOM_KILL.search(line)
        if found is not None and int(found["pid"]) not in seen:
            seen.add(int(found["pid"]))
            yield Victim(int(found["pid"]), found["name"])


def oom_kills_v2(memory_events: str) -> int | None:
    """The counter `oom_kill` of a memory.events; None if it is not there."""
    return _counter(memory_events)


def oom_kills_v1(oom_control: str) -> int | None:
    """The counter `oom_kill` of a version 1 memory.oom_control (Linux 4.13); None if it is not there."""
    return _counter(oom_control)


def _counter(text: str) -> int | None:
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == "oom_kill" and value.strip().isdecimal() and value.strip().isascii():
            return int(value)
    return None


def same_bus(one: str, other: str) -> bool:
    """True if two spellings name one device: "0000:41:00" and "00000000:41:00.0"."""
    return _device(one) == _device(other)


def _device(bus: str) -> tuple[int, ...] | None:
    parts = bus.partition(".")[0].split(":")
    try:
        numbers = tuple(int(part, 16) for part in parts)
    except ValueError:
        return None
    return (0, *numbers)[-3:]
