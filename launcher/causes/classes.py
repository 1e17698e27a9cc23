"""The classes of failure, and which of them a restart can heal. Pure.

A closed list: it decides about restarts, and stands in `outcome.json`.
"""

from __future__ import annotations

from enum import Enum


class Failure(str, Enum):
    """What kind of failure it is."""

    FLAG = "flag"  # an option that the engine does not take, or values that do not go together
    TOOLKIT = "toolkit"  # compilers, headers, kernels for the wrong architecture
    MODEL = "model"  # missing, broken or unknown to the engine
    ACCESS = "access"  # a gate, a token, a permission
    LIBRARY = "library"  # a shared library or a Python package is missing or of the wrong version
    DRIVER = "driver"  # the kernel driver, or the link between it and user space
    CACHE = "cache"  # compiled kernels that no longer fit
    MEMORY = "memory"  # the configuration needs more memory than there is
    HOST_MEMORY = "host-memory"  # main memory, /dev/shm or the disk is full
    DEVICE_MEMORY = "device-memory"  # somebody holds the GPU's memory, perhaps not for long
    DEVICE = "device"  # the GPU itself
    PORT = "port"  # somebody holds the port
    NETWORK = "network"  # peers, name servers, downloads
    HANG = "hang"  # a watchdog, a collective that never ended
    CRASH = "crash"  # an end without a better reason


# A restart meets the same wall again in all the others; a poisoned cache heals once it was moved aside.
HEALS = frozenset(
    {
        Failure.HOST_MEMORY,
        Failure.DEVICE_MEMORY,
        Failure.PORT,
        Failure.NETWORK,
        Failure.HANG,
        Failure.CRASH,
    }
)


def can_heal(failure: Failure) -> bool:
    """True if the same command may work the next time."""
    return failure in HEALS
