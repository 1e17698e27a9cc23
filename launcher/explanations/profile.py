"""Codes of findings made while loading a profile."""

from __future__ import annotations

from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {}
