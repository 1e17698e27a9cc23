"""Watches the server's output for known failure texts and remembers the first of each. Pure.

Ordinary output costs few passes of a substring search over whole chunks (`needles`; at most 0.6 µs for 120 bytes);
only a line that holds one of `TRIGGERS` is looked at, and against the known texts alone.

The first cause counts, not the last: wrappers repeat in their own words what went wrong ("Engine core initialization
failed. See root cause above", ls1intum/edutelligence#579), and ranks that lose a peer fail after it. A text that names
a cause beats one that may, and that one beats a wrapper.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from launcher.causes.classes import Failure
from launcher.causes.signatures import TRACEBACK, TRIGGERS, Kind, Signature, filled, signatures
from launcher.needles import Needles

_LONGEST_LINE = 2000  # characters of a line that are looked at
_LONGESTTRACEBACK = 2000  # lines after which the end of a traceback is no longer expected
_MOST_RANKS = 64
# "torch.OutOfMemoryError: CUDA out of memory", "KeyError: 'x'", "vllm.v1.engine.exceptions.EngineDeadError".
_EXCEPTION = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Timeout|Failure)\b(?::.*)?$")
# "(Worker_TP0 pid=7)", "[2026-12-03 10:11:12 TP0]", "[rank0]:", "(EngineCore_DP1 pid=9)".
_RANK = re.compile(r"\b(?:Worker_|EngineCore_|\[?)((?:(?:DP|PP|TP|EP)\d+[ _]?)+|rank\d+)\b")
_IN_TEXT = Needles(TRIGGERS)
_IN_BYTES = Needles(text.encode() for text in (TRACEBACK, *TRIGGERS))
_ORDER = (Kind.ROOT, Kind.HINT, Kind.WRAPPER)


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """One known failure, where it was first said. `line` is the server's, `at` counts the characters
    that it had said before."""

    code: str
    cause: str
    fix: str
    failure: Failure
    kind: Kind
    dead: bool
    line: str
    at: int
    ranks: tuple[str, ...] = ()  # who said it, in the order of saying


class Recogniser:
    """Feed it whole lines; one thread feeds, any may ask."""

    def __init__(self) -> None:
        self._found: dict[str, Recognised] = {}
        self._before: dict[str, Recognised] = {}
        self._said = 0  # characters
        self._exception: str | None = None
        self._open: str | None = None  # what stands before the words of the traceback that is being told
        self._open_lines = 0
        self._known: tuple[Signature, ...] | None = None

    # ----------------------------------------------------------------------------------------------------------------
    # Questions

    def first(self) -> Recognised | None:
        """The first cause that was said since the server was last known to be well, the clearest kind first."""
        found = list(self._found.values())
        for kind in _ORDER:
            of_kind = [one for one in found if one.kind is kind]
            if of_kind:
                return min(of_kind, key=lambda one: one.at)
        return None

    @property
    def dead(self) -> Recognised | None:
        """The first word that the server will not serve again, though its process may live on; else None."""
        dead = [one for one in list(self._found.values()) if one.dead]
        return min(dead, key=lambda one: one.at) if dead else None

    @property
    def first_exception(self) -> str | None:
        """The last line of the first traceback: the first exception, not the last wrapper's."""
        return self._exception

    @property
    def suspicious(self) -> bool:
        """True while something was said that may yet turn out to be why it ended."""
        return bool(self._found) or self._exception is not None

    def survived(self) -> None:
        """The server is well: what it said so far ended nothing. Said again, it counts again."""
        self._before, self._found = self._found, {}
        self._exception = None

    # ----------------------------------------------------------------------------------------------------------------
    # Lines

    def feed_bytes(self, block: bytes) -> None:
        """The same for bytes, which become text only where something in them is to be looked at."""
        if self._open is None and not _IN_BYTES.occurring(block):
            self._said += len(block)
        else:
            self.feed(block.decode("utf-8", "replace"))

    def feed(self, text: str) -> None:
        """More output: whole lines, without colours."""
        at = 0
        while at < len(text):
            if self._open is not None:
                at = self._through_traceback(text, at)
                continue
            next_traceback = text.find(TRACEBACK, at)
            until = len(text) if next_traceback < 0 else _line_start(text, next_traceback)
            self._search(text, at, until)
            at = until
            if next_traceback >= 0:
                at = self._begin_traceback(text, until, next_traceback)
        self._said += len(text)

    def _search(self, text: str, at: int, until: int) -> None:
        """Every line between that holds a trigger, each once and in order."""
        starts = set()
        for trigger in _IN_TEXT.occurring(text if (at, until) == (0, len(text)) else text[at:until]):
            hit = text.find(trigger, at, until)
            while hit >= 0:
                starts.add(_line_start(text, hit))
                hit = text.find(trigger, _line_end(text, hit), until)
        for start in sorted(starts):
            self._look(text[start : min(_line_end(text, start), start + _LONGEST_LINE)], start)

    def _look(self, line: str, start: int) -> None:
        if self._known is None:
            self._known = signatures()
        for signature in self._known:
            match = signature.match(line)
            if match is None:
                continue
            rank = _rank(line)
            seen = self._found.get(signature.code)
            if seen is None:
                found = _recognised(signature, match, line, self._said + start, rank)
                self._found[signature.code] = replace(found, kind=self._weight(found.kind))
            elif rank is not None and rank not in seen.ranks and len(seen.ranks) < _MOST_RANKS:
                self._found[signature.code] = replace(seen, ranks=(*seen.ranks, rank))
            return

    def _weight(self, kind: Kind) -> Kind:
        """An end without a word is a cause by itself, unless an exception was told before: then it only followed."""
        if kind is not Kind.DEATH:
            return kind
        return Kind.HINT if self._exception is None and self._open is None else Kind.WRAPPER

    # ----------------------------------------------------------------------------------------------------------------
    # The first traceback

    def _begin_traceback(self, text: str, start: int, words: int) -> int:
        """Past the first line of a traceback. Only the first is read for its exception."""
        end = _line_end(text, start)
        self._look(text[start : min(end, start + _LONGEST_LINE)], start)
        if self._exception is None and not text.startswith("Exception Group", max(start, words - 16)):
            self._open, self._open_lines = _shape(text[start:words]), 0
        return end + 1

    def _through_traceback(self, text: str, at: int) -> int:
        """One line further in it. What belongs to it begins as its first line does, but for digits."""
        end = _line_end(text, at)
        line = text[at:end]
        self._search(text, at, end)
        self._open_lines += 1
        shape = self._open or ""
        said = line[len(shape) :]
        if _shape(line[: len(shape)]) == shape and _EXCEPTION.match(said):
            self._exception, self._open = said[:_LONGEST_LINE], None
        elif _EXCEPTION.match(line):  # the first line alone had a prefix: one call logged them all
            self._exception, self._open = line[:_LONGEST_LINE], None
        elif self._open_lines > _LONGESTTRACEBACK:
            self._open = None
        return end + 1


def _recognised(signature: Signature, match: re.Match[str], line: str, at: int, rank: str | None) -> Recognised:
    groups = match.groupdict()
    return Recognised(
        code=signature.code,
        cause=filled(signature.cause, groups),
        fix=filled(signature.fix, groups),
        failure=signature.failure,
        kind=signature.kind,
        dead=signature.dead,
        line=line.strip(),
        at=at,
        ranks=(rank,) if rank else (),
    )


def _rank(line: str) -> str | None:
    """Who says it, by the names that vLLM, SGLang and torch put before a line."""
    match = _RANK.search(line[:120])
    return match.group(1).replace("_", " ").strip() if match else None


def _shape(prefix: str) -> str:
    """A prefix without what differs from line to line: times and line numbers have digits."""
    return re.sub(r"\d", "0", prefix)


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
