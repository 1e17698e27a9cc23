"""What is finished of the plan when the checks are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from launcher.model import Endpoint


@dataclass(frozen=True)
class Command:
    """The final argv, where it listens and what the child's environment is."""

    argv: tuple[str, ...]
    endpoint: Endpoint | None
    env: Mapping[str, str]
