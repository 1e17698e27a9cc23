"""A caller with a home of its own."""

from __future__ import annotations

from tests.cli.conftest import caller

__all__ = ["caller"]
