"""A session that ends takes the server with it: warned of before, explained after."""

from __future__ import annotations

import pytest

from launcher.causes.evidence import session
from launcher.causes.lingering import Session, check, explanation

OVER_SSH = Session("/user.slice/user-1000.slice/session-3.scope", "ana", False)
LINGERS = OVER_SSH._replace(lingers=True)
SERVICE = Session("/system.slice/gpulaunch.service", "ana", False)
UNKNOWN = OVER_SSH._replace(lingers=None)


def test_r092_the_session_that_ended_is_named_as_the_sender() -> None:
    """R092 vllm-project/vllm#50067: the engine "dies silently" when the last SSH session is closed."""
    said = explanation("/usr/lib/systemd/systemd --user", OVER_SSH)
    assert said is not None and "loginctl enable-linger ana" in said
    assert explanation("(sd-pam)", OVER_SSH) is not None
    assert [finding.code for finding in check(OVER_SSH)] == ["no-linger"]
    for other in (LINGERS, SERVICE, UNKNOWN):
        assert explanation("/usr/lib/systemd/systemd --user", other) is None
        assert not list(check(other))


@pytest.mark.parametrize("sender", ["", "bash", "python3 kill.py", "/usr/lib/systemd/systemd --system"])
def test_any_other_sender_is_not_explained_away(sender: str) -> None:
    assert explanation(sender, OVER_SSH) is None


def test_our_own_session_can_be_looked_at() -> None:
    seen = session.look()
    assert seen.user and seen.lingers in (True, False, None)
