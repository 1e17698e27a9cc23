"""Plans for tests of reports: everything has a harmless default, a test states only what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from launcher.model import (
    Change,
    Choice,
    Endpoint,
    Finding,
    PathEntry,
    Plan,
    Readiness,
    Severity,
    Step,
    TargetUsed,
    Verdict,
)

TOOLKIT = Choice(
    root="/usr/local/cuda-13.0",
    source="/usr/local/cuda-13.0",
    release="13.0",
    strategy="redirect",
    how="/usr/local/cuda-13.0",
    because="nvcc 13.0 suits torch's CUDA 13.0",
    verdicts=(
        Verdict(root="/usr/local/cuda-13.0", fits=True, because="nvcc 13.0 suits torch's CUDA 13.0"),
        Verdict(root="/usr/local/cuda-12.8", fits=False, because="12.8 < 12.9, which FlashInfer asks for"),
    ),
)


def a_change(name: str, value: str | None, **more: Any) -> Change:
    """A variable that the profile sets, or one of the caller's that is dropped."""
    usual = {"action": "set", "origin": "profile"} if value is not None else {"action": "drop", "origin": "caller"}
    return Change(**{"name": name, "value": value, "because": "a reason of its own that is long", **usual, **more})


def a_finding(severity: Severity = Severity.ERROR, code: str = "no-target", **more: Any) -> Finding:
    """A finding; an error has exit code 78."""
    exit_code = 78 if severity is Severity.ERROR else 0
    return Finding(**{"code": code, "severity": severity, "message": "Something.", "exit_code": exit_code, **more})


def a_plan(changes: tuple[Change, ...] = (), **more: Any) -> Plan:
    """An sglang server; its environment is what the changes say."""
    env: Mapping[str, str] = {change.name: change.value for change in changes if change.value is not None}
    plan = Plan(
        profile="kimi",
        file="shipped/kimi.yaml",
        engine="sglang",
        target=TargetUsed(python="/opt/venv/bin/python", program=None, how="--target"),
        argv=("/opt/venv/bin/python", "-m", "sglang.launch_server", "--model-path", "org/model", "--port", "30000"),
        cwd="/srv",
        env=env,
        changes=changes,
        prepare=(Step(action="folder", path="/root/.cache/gpulaunch/jit", because="compiled kernels"),),
        toolkit=TOOLKIT,
        findings=(),
        endpoint=Endpoint(host="127.0.0.1", port=30000),
        ready=Readiness(url="http://127.0.0.1:30000/health"),
        search_path=(PathEntry(path="/usr/local/cuda-13.0/bin", because="nvcc 13.0, the chosen toolkit"),),
    )
    return replace(plan, **more)
