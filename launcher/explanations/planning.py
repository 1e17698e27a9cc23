"""Codes of findings made while planning."""

from __future__ import annotations

from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {}
