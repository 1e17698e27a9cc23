"""Asks cuda-pathfinder what it takes for the toolkit's root. Runs in the target."""

from __future__ import annotations

import warnings

from answering import Answer  # type: ignore[import-not-found]  # it lies beside this script


def ask() -> Answer:
    """The answer of the cuda.pathfinder that can be imported here."""
    from cuda.pathfinder._utils import env_vars

    warnings.simplefilter("ignore")  # it warns where the two variables differ
    answer = Answer()
    answer.ask("path", env_vars.get_cuda_path_or_home)
    return answer


if __name__ == "__main__":
    ask().print()
