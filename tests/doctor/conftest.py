"""The caller of the command line's tests serves here, too."""

from __future__ import annotations

from tests.cli.conftest import caller, founding_machine, here

__all__ = ["caller", "founding_machine", "here"]
