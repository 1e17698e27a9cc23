"""Which C++ compiler nvcc can call: its own header sets a bound, and refuses anything newer. Pure.

The bound is read from the toolkit (`crt/host_config.h`: gcc 15 in CUDA 13.0), so there is no table to keep. Forcing
the refusal off breeds other errors (karpathy/llm.c#824): an older compiler beside is the cure.
"""

from __future__ import annotations

from launcher.model import Facts, HostCompiler, Toolkit


def refused(toolkit: Toolkit, facts: Facts) -> HostCompiler | None:
    """The default compiler, where this toolkit's nvcc refuses it; None where it suits or either is not known."""
    default = next(iter(facts.host_compilers or ()), None)
    if default is None or toolkit.newest_gcc is None or default.major <= toolkit.newest_gcc:
        return None
    return default


def accepted(toolkit: Toolkit, facts: Facts) -> HostCompiler | None:
    """The newest compiler that this toolkit's nvcc accepts; None where there is none."""
    bound = toolkit.newest_gcc
    suiting = [compiler for compiler in facts.host_compilers or () if bound is None or compiler.major <= bound]
    return max(suiting, key=lambda compiler: compiler.major, default=None)
