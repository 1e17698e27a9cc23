"""Xid numbers, by which NVIDIA's driver reports errors of a GPU in the kernel log. Pure.

Meanings and actions follow NVIDIA's Xid catalog (docs.nvidia.com/deploy/xid-errors). A `grave` one is the end of
whatever used the GPU, whoever is to blame; the others also follow from a mistake in a program.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """What a number stands for, and what to do."""

    meaning: str
    fix: str
    grave: bool = False


_PROGRAM = "Look at the engine's own words first; where no program fails alike on another GPU, test this one."
_RESET = "Reset the GPU (nvidia-smi --gpu-reset) or restart the machine; if it comes back, ask for a replacement."
_RESTART = "Start the server again; if it comes back, reset the GPU and look at nvidia-smi -q -d ECC,ROW_REMAPPER."
_BUS = "Restart the machine; if it comes back, look at power, temperature, cables and the slot."
_DRIVER = "Restart the machine or reload the driver; if it comes back, update driver and firmware."

MEANINGS: dict[int, Meaning] = {
    8: Meaning("the GPU stopped working on a task", _PROGRAM),
    13: Meaning("a kernel caused an exception: an access out of range or an illegal instruction", _PROGRAM),
    31: Meaning("a kernel touched memory that is not mapped", _PROGRAM),
    32: Meaning("the stream of commands to the GPU was corrupted", _PROGRAM),
    43: Meaning("the GPU stopped working on a task of one program", _PROGRAM),
    45: Meaning("the work of a program that had ended or failed was cleaned away", _PROGRAM),
    48: Meaning("a memory error that cannot be corrected (double bit)", _RESET, grave=True),
    61: Meaning("the GPU's internal controller met a breakpoint", _DRIVER, grave=True),
    62: Meaning("the GPU's internal controller halted", _DRIVER, grave=True),
    63: Meaning("a bad row of memory was marked and will be replaced by a spare one", _RESTART),
    64: Meaning("a bad row of memory could not be replaced", _RESET, grave=True),
    69: Meaning("a kernel or the driver gave the GPU an impossible command", _PROGRAM),
    74: Meaning(
        "an NVLink failed", "Reset the GPUs; if it comes back, look at the NVLink bridge or board.", grave=True
    ),
    79: Meaning("the GPU has fallen off the bus", _BUS, grave=True),
    92: Meaning("memory errors that could be corrected are frequent", _RESTART),
    94: Meaning("a memory error that cannot be corrected, contained in one program", _RESTART, grave=True),
    95: Meaning("a memory error that cannot be corrected and hits every program on the GPU", _RESET, grave=True),
    109: Meaning("a task did not give the GPU back in time", _PROGRAM),
    119: Meaning("the GPU's system processor (GSP) did not answer the driver", _DRIVER, grave=True),
    120: Meaning("the GPU's system processor (GSP) failed", _DRIVER, grave=True),
    121: Meaning("the link between processor and GPU (C2C) failed", _RESTART),
    140: Meaning("a memory error that cannot be corrected", _RESET, grave=True),
    143: Meaning("the GPU could not be initialised", _BUS, grave=True),
    144: Meaning("an NVLink failed", "Reset the GPUs; if it comes back, ask for a replacement.", grave=True),
    154: Meaning("the driver asks for a recovery of the GPU", _RESET, grave=True),
}
_UNKNOWN = Meaning("an error of the GPU", "Look the number up at docs.nvidia.com/deploy/xid-errors.")


def meaning(number: int) -> Meaning:
    """What is known of a number."""
    return MEANINGS.get(number, _UNKNOWN)
