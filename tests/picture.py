"""README's picture: the founding host's environment beside the one that gpulaunch plans, from facts written there.

`python -m tests.picture` prints it, `--write` puts it into README; tests/test_readme.py fails where it is not current.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap

from launcher.diagnosis import Diagnosis, Variable, diagnose
from launcher.facts import document
from launcher.model import Found, Prediction, Request
from launcher.paths import places
from launcher.planning import make_plan
from launcher.profile.load import load_profile
from launcher.report.lookups import called, found_text
from launcher.report.side_by_side import Row, rows, table

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FACTS = ROOT / "tests/machines/founding-with-wheel-13.0.json"
PROFILE = "kimi-k26-dflash"
_BLOCK = re.compile(r"(?<=<!-- python -m tests\.picture --write -->\n)```text\n.*?^```\n", re.MULTILINE | re.DOTALL)


def picture() -> str:
    """The block as it stands in README."""
    facts = document.load(str(FACTS))
    environ = facts.caller.environ
    there = places(environ, home=facts.host.home, uid=facts.host.uid)
    asked = load_profile(PROFILE, environ=environ, places=there, cwd=facts.caller.cwd, uid=None)
    diagnosis = diagnose(make_plan(asked, facts, Request()), facts)
    home = facts.host.home or "/root"
    text = "\n".join(table(_rows(diagnosis))).replace(f"{home}/", "~/")
    return f"```text\n{text}\n```\n"


def current() -> str:
    """The block that README has."""
    return _block(README.read_text(encoding="utf-8"))[0]


def _block(text: str) -> re.Match[str]:
    found = _BLOCK.search(text)
    assert found is not None, "README has no picture: a comment with the command, and a block of text"
    return found


def _rows(diagnosis: Diagnosis) -> Iterator[Row]:
    yield from rows(_variables(diagnosis), diagnosis.plan)
    for prediction in diagnosis.harmed:
        yield ("", "", "")
        yield from _lookup(prediction)


def _variables(diagnosis: Diagnosis) -> Iterator[Variable]:
    """Those that lookups read first; of the others only those that differ."""
    yield from diagnosis.variables
    shown = {variable.name for variable in diagnosis.variables}
    callers, planned = diagnosis.facts.caller.environ, diagnosis.plan.env
    for name in sorted({*callers, *planned} - shown):
        if callers.get(name) != planned.get(name):
            yield Variable(name=name, callers=callers.get(name), planned=planned.get(name))


def _lookup(prediction: Prediction) -> Iterator[Row]:
    """The toolkit, what is made of it, and how that ends."""
    before = [*_parts(prediction.callers), *wrap(prediction.consequence, 40)]
    for number, (left, right) in enumerate(zip_longest(before, _parts(prediction.planned), fillvalue="")):
        yield (f"{called(prediction.consumer, prediction.version)} finds" if number == 0 else "", left, right)


def _parts(found: Found | None) -> list[str]:
    place, _, rest = found_text(found and replace(found, errors={})).partition(": ")
    return [place, *(rest.split(", ") if rest else ())]


def main() -> None:
    """Prints or writes."""
    if sys.argv[1:] != ["--write"]:
        print(picture(), end="")
        return
    text = README.read_text(encoding="utf-8")
    start, end = _block(text).span()
    README.write_text(text[:start] + picture() + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
