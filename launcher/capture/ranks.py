"""Which worker says a line, as the engines mark it. Pure."""

from __future__ import annotations

import re

# sglang 0.5: `[2026-12-03 00:00:00 DP0 TP1] ...`; vLLM 0.10 on: `(Worker_TP0 pid=12) ...`, `(EngineCore pid=12)`.
_SGLANG = re.compile(r"^\[[-0-9]{10}[ T][0-9:.,]+((?: [A-Z]{2}[0-9]+)+)\]")
_VLLM = re.compile(r"^\((?P<name>[A-Za-z][A-Za-z0-9]*?)(?:_(?P<rank>[A-Z0-9_]+))? (?:rank=[0-9]+ )?pid=(?P<pid>[0-9]+)")


def rank(line: str) -> dict[str, str | int]:
    """What is known: `rank` ("DP0 TP1"), `process` ("Worker") and `pid`; empty for an unmarked line."""
    if match := _SGLANG.match(line):
        return {"rank": match[1].strip()}
    if match := _VLLM.match(line):
        ranks = {"rank": match["rank"].replace("_", " ")} if match["rank"] else {}
        return {"process": match["name"], **ranks, "pid": int(match["pid"])}
    return {}
