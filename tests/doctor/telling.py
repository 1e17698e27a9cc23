"""What `doctor` tells of a described machine, without a command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from launcher.diagnosis import Diagnosis, diagnose
from launcher.model import Facts, Plan, Toolkit
from launcher.profile.asked import Asked
from launcher.report.doctor import doctor_lines
from launcher.report.lines import plain
from tests.builders import facts, folders, plan, root, roots, toolkit


def diagnosis(here: Facts | None = None, wish: Asked | None = None) -> Diagnosis:
    """By default of the founding host."""
    here = here or facts()
    return diagnose(plan(wish, here), here)


def told(here: Facts | None = None, wish: Asked | None = None) -> str:
    """The report as text."""
    return plain(doctor_lines(diagnosis(here, wish), None, None))


def section(text: str, number: int) -> str:
    """One of the numbered sections."""
    (found,) = (part for part in text.split("\n\n") if part.startswith(f"{number}. "))
    return found


def consequence(made: Plan, consumer: str) -> str:
    """What comes of a library's lookup in the caller's environment; empty where it does no harm."""
    (found,) = (prediction for prediction in made.predictions if prediction.consumer == consumer)
    return found.consequence


def led_to(release: str | None, *, beside: tuple[Toolkit, ...] = (), **changes: Any) -> Facts:
    """A host whose /usr/local/cuda is of this release and first on PATH; None: it has neither, nor an nvcc anywhere."""
    home = "/usr/local/cuda"
    standing = tuple(one for one in roots() if not one.path.startswith(home))
    known = tuple(root(one.root, one.release) for one in beside if one.root != f"{home}-{release}")
    if release is None:
        bare = tuple(replace(one, nvcc=None, nvcc_root=None, programs=()) if one.nvcc else one for one in folders())
        return facts(toolkits=beside, folders=bare, roots=(root(home), *standing, *known), **changes)
    own = toolkit(f"{home}-{release}", release, found=(f"nvcc on PATH in {home}/bin", home, f"{home}-{release}"))
    there = tuple(replace(one, nvcc_root=own.root) if one.nvcc else one for one in folders())
    spelled = (root(home, release), root(own.root, release), *standing, *known)
    return facts(toolkits=(own, *beside), folders=there, roots=spelled, **changes)
