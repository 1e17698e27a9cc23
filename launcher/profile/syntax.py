"""What PyYAML found wrong with a text, as one sentence of ours with its line. Pure.

Its own words are those of somebody who writes a parser ("found character that cannot start any token").
"""

from __future__ import annotations

import re

import yaml

from launcher.profile.document import short, shown

# Pattern over "context: problem", what is wrong, what to do. The first that matches is taken.
_SENTENCES = (
    (r"found character '\\t'|tab", "a tab stands where only spaces may", "Indent with spaces."),
    (
        r"found character '(?P<it>.)' that cannot start",
        "text without quotes cannot begin with {it}",
        'Put it in quotes: "{it}...".',
    ),
    (
        r"while scanning an alias|found undefined alias",
        "a * at the beginning of a text is YAML's sign for an alias",
        'Put a text that begins with * in quotes: "*...".',
    ),
    (
        r"while scanning an anchor|found duplicate anchor",
        "a & at the beginning of a text is YAML's sign for an anchor",
        'Put a text that begins with & in quotes: "&...".',
    ),
    (
        r"mapping values are not allowed",
        "a second colon in one line, or a line that is indented too far",
        "Put a text that holds ': ' in quotes, or correct the indentation.",
    ),
    (
        r"while scanning a quoted scalar.*(?:end of stream|document separator)",
        "a quote is opened and never closed",
        "Close it.",
    ),
    (r"while scanning a double-quoted scalar", "an escape in double quotes is unknown", "Use single quotes, or \\\\."),
    (
        r"flow (?:mapping|sequence|node)",
        "a bracket is not closed, or a comma is missing",
        'Close it; inside brackets put a text that holds any of {{}}[], in quotes, as in "${{NAME}}".',
    ),
    (
        r"sequence entries are not allowed",
        "a list begins in the middle of a line",
        "Write [A, B], or each entry on a line of its own.",
    ),
    (
        r"but found '<scalar>'",
        "text follows a closed quote, or the indentation does not fit the lines above",
        "Inside single quotes write '' for a quote.",
    ),
    (r"block (?:mapping|collection|sequence)", "the indentation does not fit the lines above", "Align it with them."),
    (r"simple key", "a line is no KEY: VALUE", "Put a space after the colon, and a colon after the key."),
)

_NO_CHARACTER = re.compile(r"\\U(?!000|0010)[0-9A-Fa-f]{8}")


def syntax_error(error: Exception, text: str) -> tuple[int | None, str, str]:
    """The line (from 1), what is wrong and what to do."""
    if isinstance(error, RecursionError):
        return None, "it is nested without end", "Write it flatter."
    if isinstance(error, yaml.reader.ReaderError):
        line = text[: error.position].count("\n") + 1
        return line, "a control character stands here", "Remove it; profiles are plain text."
    if isinstance(error, yaml.MarkedYAMLError):
        return _marked(error)
    escape = _NO_CHARACTER.search(text)
    at = text[: escape.start()].count("\n") + 1 if escape else None
    return at, "an escape in double quotes names no character", "Use single quotes, or \\\\."


def _marked(error: yaml.MarkedYAMLError) -> tuple[int | None, str, str]:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    words = f"{error.context or ''}: {error.problem or ''}"
    for pattern, what, fix in _SENTENCES:
        found = re.search(pattern, words, re.DOTALL)
        if found:
            return line, f"{what.format(**found.groupdict())}{_opened(error, line)}", fix.format(**found.groupdict())
    what = f"this is not YAML ({short(shown(words.strip(': ')))})"
    return line, what, "Correct the indentation, quotes and brackets."


def _opened(error: yaml.MarkedYAMLError, line: int | None) -> str:
    """Where the bracket, quote or mapping began, if that is another line."""
    began = error.context_mark.line + 1 if error.context_mark else line
    return f" (it begins on line {began})" if began != line else ""
