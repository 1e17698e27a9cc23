"""Ports that an engine binds beside the one it serves at, as far as its final command line says which. Pure.

They stay taken as long as any process of an earlier server lives (sgl-project/sglang#31645: an hour), and the engine
finds out only after it has loaded for a while. Ports that an engine picks freely are none of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from launcher.engines.arguments import option
from launcher.model import Endpoint

_TOP = 65535


def beside(engine: str, argv: Sequence[str], endpoint: Endpoint | None) -> tuple[tuple[int, str], ...]:
    """Each with what it is for, as a clause."""
    ports = _RULES.get(engine, _none)(argv, endpoint)
    return tuple((number, purpose) for number, purpose in ports if 0 < number <= _TOP)


def _sglang(argv: Sequence[str], endpoint: Endpoint | None) -> Iterator[tuple[int, str]]:
    """sglang 0.5.14, `srt/server_args.py: PortArgs.init_new` and `srt/managers/data_parallel_controller.py`."""
    yield from _said(argv, "--nccl-port")
    rendezvous = _port_of(option(argv, "--dist-init-addr", "--nccl-init-addr"))
    first_node = (option(argv, "--node-rank") or "0") == "0"
    if rendezvous is not None and first_node:
        yield rendezvous, "--dist-init-addr"
    if option(argv, "--disaggregation-mode") == "prefill":
        yield int(_decimal(option(argv, "--disaggregation-bootstrap-port")) or 8998), "--disaggregation-mode prefill"
    if "--enable-dp-attention" not in argv or not first_node:
        return
    base = rendezvous if rendezvous is not None else _derived(endpoint)
    if base is not None:
        # Five in a row for its message queues, above the rendezvous or, at the top of the range, below it.
        first = base + 1 if base + 5 <= _TOP else base - 6
        for number in (*(() if rendezvous else (base,)), *range(first, first + 5)):
            yield number, "--enable-dp-attention"


def _derived(endpoint: Endpoint | None) -> int | None:
    """233 above the serving port, or below where that is no port."""
    if endpoint is None:
        return None
    return endpoint.port + 233 if endpoint.port + 233 <= _TOP else endpoint.port - 233


def _vllm(argv: Sequence[str], endpoint: Endpoint | None) -> Iterator[tuple[int, str]]:
    """vllm 0.33.0, `config/parallel.py`: bound by the first node alone, and only where several take part."""
    if (option(argv, "--node-rank", "-r") or "0") == "0" and int(_decimal(option(argv, "--nnodes")) or 1) > 1:
        yield int(_decimal(option(argv, "--master-port")) or 29501), "--nnodes"
    if (option(argv, "--data-parallel-start-rank", "--data-parallel-rank") or "0") == "0":
        yield from _said(argv, "--data-parallel-rpc-port")


def _none(argv: Sequence[str], endpoint: Endpoint | None) -> Iterator[tuple[int, str]]:
    return iter(())


def _said(argv: Sequence[str], name: str) -> Iterator[tuple[int, str]]:
    said = _decimal(option(argv, name))
    if said:
        yield int(said), name


def _port_of(address: str | None) -> int | None:
    """ "10.0.0.1:25000", "[::1]:25000", "tcp://host:25000" to 25000."""
    said = _decimal(address.rpartition(":")[2]) if address and ":" in address else None
    return int(said) if said else None


def _decimal(text: str | None) -> str | None:
    return text if text and text.isascii() and text.isdecimal() and len(text) < 6 else None


_RULES: dict[str, Callable[[Sequence[str], Endpoint | None], Iterator[tuple[int, str]]]] = {
    "sglang": _sglang,
    "vllm": _vllm,
}
