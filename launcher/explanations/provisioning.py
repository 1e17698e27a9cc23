"""Codes of findings about toolkits that gpulaunch makes itself."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "toolkit-not-made": Explanation(
        cause="`gpulaunch toolkit add` (or a launch with cuda: {toolkit: provision}) could not make the toolkit; "
        "nothing half-made is left.",
        evidence="The words of pip, of the compiler or of the system in the message.",
        fix="What the finding says; without a network: --find-links with a folder of the wheels.",
        exit_code=errors.CONFIG,
    ),
    "toolkit-broken": Explanation(
        cause="A toolkit that was made here does not compile and link any more.",
        evidence="A kernel of a few lines, compiled and linked as FlashInfer links.",
        fix="Remove it and make it again.",
        exit_code=errors.CONFIG,
    ),
    "toolkit-not-there": Explanation(
        cause="No toolkit of this release was made here.",
        evidence="gpulaunch's data folder.",
        fix="gpulaunch toolkit list shows what there is.",
        exit_code=errors.CONFIG,
    ),
}
