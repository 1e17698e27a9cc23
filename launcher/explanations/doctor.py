"""Codes of findings made by asking the libraries themselves."""

from __future__ import annotations

from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "prediction-failed": Explanation(
        cause="A library's own lookup returns something else in the planned environment than gpulaunch predicted: the "
        "server would compile with another toolkit, for other GPUs or not at all.",
        evidence="The library's own functions were run in the target under the planned environment.",
        fix="gpulaunch doctor --profile P --verify --json shows both values, and is fit to be attached to a report; "
        "--no-verify starts all the same.",
    ),
    "prediction-unverified": Explanation(
        cause="A library could not be asked what it finds: the process took too long, broke, or gave no answer.",
        evidence="The message says how it ended; the launch goes on with the prediction alone.",
        fix="gpulaunch doctor --profile P --verify asks again, without a server to wait for.",
    ),
    "build-failed": Explanation(
        cause="The chosen toolkit cannot compile or link what the libraries in the target will compile and link.",
        evidence="A kernel of one line was built with their own flags; the message names the first step that failed "
        "(unslothai/unsloth-zoo#1099: all objects compiled, and -lcuda failed after minutes).",
        fix="Complete the toolkit, or choose another one with cuda.toolkit in the profile.",
    ),
}
