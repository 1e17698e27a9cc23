"""Composes the child's PATH: never inherited, and no nvcc in it but the chosen one. Pure.

The chosen toolkit's bin, the target's bin, the profile's extra folders, the system's (with sbin: Triton asks
/sbin/ldconfig for libcuda, triton-lang/triton#1981). A folder that must stay but holds another nvcc is replaced by a
folder of links without it.
"""

from __future__ import annotations

from dataclasses import dataclass

from launcher.model import Choice, Folder, Step
from launcher.paths import SYSTEM_PATH, short_key
from launcher.situation import Situation


@dataclass(frozen=True)
class Entry:
    """One directory of the child's PATH and why it is there."""

    path: str
    because: str
    step: Step | None = None


def compose(situation: Situation, choice: Choice) -> tuple[Entry, ...]:
    """The entries in order, each directory once (a link to a directory that is there already is left out)."""
    known = {folder.path: folder for folder in situation.facts.folders}
    entries: dict[str, Entry] = {}
    for path, because in _wanted(situation, choice):
        folder = known.get(path)
        if folder is not None and not (folder.exists and folder.readable):
            continue
        real = folder.real or path if folder else path
        entries.setdefault(real, _entry(path, because, folder, situation, choice))
    return tuple(entries.values())


def _wanted(situation: Situation, choice: Choice) -> list[tuple[str, str]]:
    wanted = []
    if choice.release and f"{choice.root}/bin" not in SYSTEM_PATH:
        wanted.append((f"{choice.root}/bin", f"nvcc {choice.release}, the chosen toolkit"))
    target = situation.target
    if target is not None and target.bin:
        wanted.append((target.bin, "the target's programs: ninja lies beside its python (vllm-project/vllm#49029)"))
    wanted += [(path, "the profile asks for it (env.path)") for path in situation.profile.env.path]
    wanted += [(path, "system") for path in SYSTEM_PATH]
    return wanted


def _entry(path: str, because: str, folder: Folder | None, situation: Situation, choice: Choice) -> Entry:
    if folder is None or folder.nvcc is None or _is_chosen(folder, choice):
        return Entry(path, because)
    links = f"{situation.places.cache}/paths/{short_key(folder.real or path)}"
    without = f"{path} without its nvcc, which is not the chosen one"
    step = Step(action="links", path=links, source=path, leave_out=("nvcc",), because=without)
    return Entry(links, f"{because}: {without}", step)


def _is_chosen(folder: Folder, choice: Choice) -> bool:
    """True if the folder's nvcc is the chosen root's, also where that root is seen through a view."""
    return choice.release is not None and folder.nvcc_root in (choice.root, choice.source)
