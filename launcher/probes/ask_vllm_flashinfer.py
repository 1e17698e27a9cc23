"""Asks vLLM which nvcc it finds for FlashInfer, and whether it would use FlashInfer at all. Runs in the target."""

from __future__ import annotations

from answering import Answer  # type: ignore[import-not-found]  # it lies beside this script


def ask() -> Answer:
    """The answer of the vllm that can be imported here."""
    from vllm.utils import flashinfer

    answer = Answer()
    answer.ask("path", flashinfer._flashinfer_nvcc_path)
    if not flashinfer.has_flashinfer():
        answer.errors["check"] = "off"
    return answer


if __name__ == "__main__":
    ask().print()
