"""Fixed texts are found in a large one exactly where a plain search finds them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from launcher.needles import Needles

TEXTS = ["key", "oken", "not found", "üß", "-"]


@given(
    st.lists(st.sampled_from(["key", "ke", "y", "oken", "not found", "ü", "ß", "x", " "]), max_size=20), st.booleans()
)
def test_what_occurs_is_found(parts: list[str], large: bool) -> None:
    text = "".join(parts) + "~" * (5000 if large else 0)
    expected = tuple(needle for needle in TEXTS if needle in text)
    assert Needles(TEXTS).occurring(text) == expected
    encoded = tuple(needle.encode() for needle in expected)
    assert Needles(needle.encode() for needle in TEXTS).occurring(text.encode()) == encoded


def test_few_characters_rule_out_all_texts() -> None:
    """What makes it fast: 0 and a newline are in every log, and the first characters asked for are not among them."""
    asked: list[str] = []

    class Text(str):
        def __contains__(self, part: str) -> bool:  # type: ignore[override]
            asked.append(part)
            return super().__contains__(part)

    texts = [*TEXTS, "Traceback", "failed", "cannot", "No such file", "signal"]
    assert Needles(texts).occurring(Text("0123456789\n" * 1000)) == ()
    assert len(asked) <= 5
