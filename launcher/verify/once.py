"""Asks once for each changed environment: a verdict is kept, by everything that it depends on, in our cache.

Kept is that a library said what was predicted, and that it cannot be asked. What was contradicted is asked anew, and so
is what took too long.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from launcher import secrets
from launcher.consumers import CONSUMERS
from launcher.model import Comparison, Facts, Plan
from launcher.paths import short_key
from launcher.private_files import make_private, write_private
from launcher.verify.asking import PATIENCE, askable, compare_all
from launcher.verify.comparing import could_not_tell

# Variables of the session: no lookup reads them, and they differ from login to login.
_OF_THE_SESSION = frozenset({
    "COLORTERM", "FORCE_COLOR", "HOME", "INVOCATION_ID", "JOURNAL_STREAM", "LANG", "LOGNAME", "NO_COLOR", "PWD",
    "SHELL", "SHLVL", "TERM", "TMUX", "TZ", "USER",
})  # fmt: skip


@dataclass(frozen=True)
class _Kept:
    """Of one environment: the libraries that need not be asked again; why some cannot be asked at all."""

    as_predicted: tuple[str, ...] = ()
    could_not_tell: Mapping[str, str] = field(default_factory=dict)

    def settles(self, consumer: str) -> bool:
        return consumer in self.as_predicted or consumer in self.could_not_tell


def verify_once(
    plan: Plan, facts: Facts, cache: str, say: Callable[[str], None], *, patience: float = PATIENCE
) -> tuple[Comparison, ...]:
    """What was compared now, and what could not be told before. Empty where no library can be asked, or all was well
    and nothing changed. `cache` is our cache folder; `say` is told before a wait begins.
    """
    askable_here = [prediction for prediction in askable(plan) if prediction.planned is not None]
    if not askable_here:
        return ()
    verdict = Path(cache, "verdicts", f"{_key(plan, facts)}.json")
    kept = _read(verdict)
    comparisons = [
        could_not_tell(prediction, "planned", kept.could_not_tell[prediction.consumer])
        for prediction in askable_here
        if prediction.consumer in kept.could_not_tell
    ]
    asked = tuple(prediction for prediction in askable_here if not kept.settles(prediction.consumer))
    if asked:
        say(f"asking {', '.join(prediction.consumer for prediction in asked)} in the target which toolkit they find")
        comparisons += compare_all(replace(plan, predictions=asked), facts, patience=patience)
        _keep(verdict, kept, comparisons, plan)
    return tuple(comparisons)


def _read(verdict: Path) -> _Kept:
    """What was kept; a file that is none of ours says nothing."""
    try:
        said = json.loads(verdict.read_text(encoding="utf-8"))
        return _Kept(tuple(said["as_predicted"]), dict(said["could_not_tell"]))
    except (OSError, ValueError, TypeError, KeyError):
        return _Kept()


def _keep(verdict: Path, kept: _Kept, comparisons: list[Comparison], plan: Plan) -> None:
    """Where it cannot be written we ask again the next time."""
    right = [comparison.consumer for comparison in comparisons if comparison.verdict == "as-predicted"]
    silent = {
        comparison.consumer: secrets.mask(comparison.because, plan.secrets)
        for comparison in comparisons
        if comparison.verdict == "could-not-tell" and comparison.lasting
    }
    if not (right or silent):
        return
    document = {"schema_version": 1, "as_predicted": [*kept.as_predicted, *right], "could_not_tell": silent}
    with contextlib.suppress(OSError):
        make_private(verdict.parent)
        write_private(verdict, json.dumps(document) + "\n")


def _key(plan: Plan, facts: Facts) -> str:
    return short_key(*_depends_on(plan, facts))


def _depends_on(plan: Plan, facts: Facts) -> Iterator[str]:
    """Everything that could change an answer, as texts; none of them is written anywhere."""
    yield facts.launcher.version
    secret = {change.name for change in plan.changes if change.secret}
    for name, value in sorted(plan.env.items()):
        if name not in _OF_THE_SESSION and not name.startswith("LC_") and name not in secret:
            yield f"{name}={secrets.mask(value, plan.secrets)}"
    yield from (plan.toolkit.root, plan.toolkit.source or "", plan.toolkit.release or "")
    yield _stamp(f"{plan.toolkit.root}/bin/nvcc")
    yield plan.cwd
    target = facts.target
    if target is not None:
        packages = target.packages or {}
        yield target.path
        yield _stamp(target.path)
        yield from (_stamp(site) for site in target.site_packages)
        yield from (f"{one.PACKAGE}={packages.get(one.PACKAGE)}" for one in CONSUMERS)
        yield f"{target.torch.version} {target.torch.cuda}" if target.torch else "no torch"
    yield facts.driver.version or "" if facts.driver else "no driver"
    yield from (f"{gpu.uuid} {gpu.capability}" for gpu in facts.gpus or ())
    yield from (repr(prediction) for prediction in plan.predictions)


def _stamp(path: str) -> str:
    """Another file, or another state of a folder, has another one."""
    try:
        found = os.stat(path)
    except OSError:
        return "missing"
    return f"{found.st_dev} {found.st_ino} {found.st_mtime_ns}"
