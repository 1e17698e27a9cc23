"""Lines for people: wrapped at words on a terminal, whole in a log, and no value can steer the terminal."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from launcher.report.lines import Line, plain, render

PATH = "/opt/some/where/" + "very-long-folder-name/" * 5 + "file.so"


def shown(line: Line, *, width: int | None = None, prefix: str = "", colored: bool = False) -> str:
    stream = io.StringIO()
    render([line], stream, prefix=prefix, width=width, colored=colored)
    return stream.getvalue()


def test_a_log_gets_every_line_whole() -> None:
    assert shown(Line("word " * 60)).count("\n") == 1


def test_a_terminal_gets_lines_of_its_width() -> None:
    text = shown(Line("word " * 60, lead="error:", tail="[code]", indent=2), width=80, prefix="gpulaunch:")
    rows = text.splitlines()
    assert len(rows) > 3
    assert all(len(row) <= 80 and row.startswith("gpulaunch: ") for row in rows)
    assert rows[0].startswith("gpulaunch:   error: word")
    assert rows[-1].endswith("[code]")


def test_a_path_is_never_torn_apart() -> None:
    text = shown(Line(f"the toolkit in {PATH} is not complete"), width=60)
    assert PATH in text.splitlines()[1]


def test_a_command_is_one_line_however_long() -> None:
    command = "gpulaunch env --profile x -- " + "--option value " * 20
    assert shown(Line(command, whole=True), width=80).strip() == command.strip()


@given(
    st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1), min_size=1), st.integers(40, 120)
)
def test_wrapping_loses_no_word(words: list[str], width: int) -> None:
    assert shown(Line(" ".join(words)), width=width).split() == words


def test_control_characters_are_shown_not_obeyed() -> None:
    assert plain([Line("a\x1b[31mb\r\nc\x9bd\udc80e")]) == "a\\x1b[31mb\\r\\nc\\x9bd\\udc80e\n"


def test_colour_comes_only_where_it_is_wanted() -> None:
    line = Line("text", lead="error:", lead_style="bold red")
    assert "\x1b[" not in shown(line)
    coloured = shown(line, colored=True)
    assert "\x1b[1;31merror:" in coloured
    assert coloured.endswith("\n")


def test_markup_in_a_value_is_text() -> None:
    assert "[bold]x[/bold]" in shown(Line("[bold]x[/bold]"), colored=True)
