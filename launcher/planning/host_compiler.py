"""Which C and C++ compiler the server's builds use: none is named unless nvcc would refuse the default one. Pure.

nvcc reads NVCC_CCBIN; torch and FlashInfer hand CC to it as -ccbin; CMake reads CUDAHOSTCXX. All four name one.
"""

from __future__ import annotations

from collections.abc import Iterator

from launcher import host_compilers
from launcher.model import Change, Choice
from launcher.situation import Situation


def variables(situation: Situation, choice: Choice) -> Iterator[Change]:
    """An older compiler for an nvcc that refuses the default one (karpathy/llm.c#824)."""
    toolkit = next((toolkit for toolkit in situation.facts.toolkits if toolkit.root == choice.source), None)
    if toolkit is None or choice.release is None:
        return
    default, older = host_compilers.refused(toolkit, situation.facts), host_compilers.accepted(toolkit, situation.facts)
    if default is None or older is None:
        return
    because = (
        f"{default.path} is gcc {default.major}, nvcc {choice.release} accepts up to {toolkit.newest_gcc}: "
        f"{older.path} is {older.major}"
    )
    values = {"NVCC_CCBIN": older.path, "CUDAHOSTCXX": older.path, "CXX": older.path, "CC": older.c_path or older.path}
    for name, value in values.items():
        yield Change(name=name, action="set", value=value, origin="cuda", because=because)
