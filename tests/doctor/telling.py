"""What `doctor` tells of a described machine, without a command line."""

from __future__ import annotations

from launcher.diagnosis import Diagnosis, diagnose
from launcher.model import Facts, Plan
from launcher.profile.asked import Asked
from launcher.report.doctor import doctor_lines
from launcher.report.lines import plain
from tests.builders import facts, plan


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
