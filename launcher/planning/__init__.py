"""Profile and Facts to a Plan: pure, the same input gives the same bytes everywhere."""

from __future__ import annotations

from launcher.planning.plan import make_plan

__all__ = ["make_plan"]
