"""What a library's lookup returns, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from launcher.model import Comparison, Found, Prediction
from launcher.report.lines import Line

UNKNOWN = "could not tell"


def called(consumer: str, version: str | None) -> str:
    """`FlashInfer 0.6.8`"""
    return f"{consumer} {version}" if version else consumer


def found_text(found: Found | None) -> str:
    """`/usr/local/cuda: CUDA 12.8, no architecture`"""
    if found is None:
        return UNKNOWN
    said = [text for text in (_release(found), _archs(found)) if text]
    place = _place(found)
    return f"{place}: {', '.join(said)}" if said else place


def prediction_lines(predictions: Iterable[Prediction]) -> Iterator[Line]:
    """What each library will find, and what the caller's environment would have led it to where that does harm."""
    listed = tuple(predictions)
    width = widest(listed)
    for prediction in listed:
        name = called(prediction.consumer, prediction.version)
        yield Line(f"{name:{width}}  {found_text(prediction.planned)}", indent=2, hanging=width + 2)
        if prediction.consequence:
            text = f"{found_text(prediction.callers)}; {prediction.consequence}"
            yield Line(text, lead="in yours:", indent=6, hanging=2, style="dim")


def widest(named: Iterable[Prediction | Comparison]) -> int:
    """Columns for the names of libraries."""
    return max((len(called(one.consumer, one.version)) for one in named), default=0)


def _place(found: Found) -> str:
    if "path" in found.errors:
        return f"no toolkit ({found.errors['path']})"
    if found.path is None:
        return "no toolkit"
    return found.path or "the empty path, which is the working folder"


def _release(found: Found) -> str:
    if "release" in found.errors:
        return f"no release ({found.errors['release']})"
    return f"CUDA {found.release}" if found.release else ""


def _archs(found: Found) -> str:
    if "archs" in found.errors:
        return f"its architectures raise {found.errors['archs']}"
    check = f", and {_check(found.errors['check'])}" if "check" in found.errors else ""
    if found.archs is None:
        return check.removeprefix(", and ")
    return f"{' '.join(found.archs) or 'no architecture'}{check}"


def _check(outcome: str) -> str:
    """An exception by its name, or a word such as "off"."""
    return f"its check raises {outcome}" if outcome[:1].isupper() else f"its check says {outcome}"
