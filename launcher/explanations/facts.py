"""Codes of findings made while looking at the machine."""

from __future__ import annotations

from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {}
