"""Codes of findings made while carrying out a plan."""

from __future__ import annotations

from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {}
