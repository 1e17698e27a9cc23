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
    "built-for-another-cuda": Explanation(
        cause="A compiled module in the target was built for another major release of CUDA than torch: it does not "
        "load, or loads a second CUDA runtime beside torch's (sgl-project/sglang#18203, vllm-project/vllm#47628).",
        evidence="The libraries that the module's own dynamic section names; nothing was loaded.",
        fix="Install both for the same CUDA release; the hint in the library's own message may name the wrong wheel.",
    ),
    "library-missing": Explanation(
        cause="A compiled module needs a library of CUDA's that is in none of the places where it could be found "
        "(sgl-project/sglang#5002).",
        evidence="The module's dynamic section, the target's nvidia wheels and `ldconfig -p`.",
        fix="Install the wheel that the finding names into the target.",
    ),
}
