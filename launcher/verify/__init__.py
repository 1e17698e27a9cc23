"""Proves what the plan predicts: runs each library's own lookup in the target, and tries a build. The plan's steps must
have been carried out. Nothing here outlives its call, whatever signal ends it.
"""

from __future__ import annotations

from launcher.verify.asking import askable, compare_all
from launcher.verify.building import try_build
from launcher.verify.once import verify_once
from launcher.verify.telling import build_findings, comparison_findings

__all__ = ["askable", "build_findings", "compare_all", "comparison_findings", "try_build", "verify_once"]
