"""Scalars that keep their spelling."""

from __future__ import annotations


class Number(str):
    """A plain YAML number as it is spelled in the profile: text in argv, a bare number inside JSON."""

    __slots__ = ()
