"""Which signals mean a stop, and which mean impatience."""

from __future__ import annotations

import pytest

from launcher.supervise.asking import Asked, hear
from launcher.supervise.lifecycle import Event

STOP, HURRY = Event.STOP_ASKED, Event.HURRY


@pytest.mark.parametrize(
    ("signals", "events"),
    [
        ([("SIGTERM", 0)], [STOP]),
        ([("SIGINT", 0), ("SIGINT", 0.1)], [STOP, HURRY]),
        ([("SIGTERM", 0), ("SIGTERM", 0.5)], [STOP, None]),
        ([("SIGTERM", 0), ("SIGTERM", 1.5)], [STOP, HURRY]),
        ([("SIGTERM", 0), ("SIGTERM", 0.9), ("SIGTERM", 1.8)], [STOP, None, HURRY]),
        # A closed pane sends two, and whoever then stops the unit is not impatient.
        ([("SIGHUP", 0), ("SIGHUP", 9)], [STOP, None]),
        ([("SIGHUP", 0), ("SIGTERM", 9)], [STOP, None]),
        ([("SIGINT", 0), ("SIGTERM", 9)], [STOP, None]),
        ([("SIGTERM", 0), ("SIGINT", 9)], [STOP, None]),
        ([("SIGTERM", 0), ("SIGINT", 1), ("SIGINT", 2)], [STOP, None, HURRY]),
        ([("SIGQUIT", 0), ("SIGQUIT", 9)], [STOP, None]),
    ],
)
def test_a_second_one_hurries_only_if_it_is_impatience(
    signals: list[tuple[str, float]], events: list[Event | None]
) -> None:
    asked, heard = Asked(), []
    for name, at in signals:
        asked, event = hear(asked, name, 100.0 + at)
        heard.append(event)
    assert heard == events
    assert asked.first == signals[0][0]
