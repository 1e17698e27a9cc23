"""Facts told to people: the machine, the target, the toolkits; what could not be told at the end. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from launcher.model import Facts, Gpu, Target, Toolkit
from launcher.report.findings import finding_lines
from launcher.report.lines import Line
from launcher.report.plan import fact, heading
from launcher.report.showing import count

GIB = 1024**3

# Of a target's packages, those that the plan reads; the rest is counted.
READ = ("sglang", "vllm", "xllamacpp", "transformers", "torch", "triton", "flashinfer-python", "flashinfer-jit-cache")


def machine_lines(facts: Facts) -> Iterator[Line]:
    """A readable summary; --json has everything."""
    for section in SECTIONS:
        yield from section(facts)


def _machine(facts: Facts) -> Iterator[Line]:
    host = facts.host
    memory = f", {host.memory / GIB:.0f} GiB of memory" if host.memory else ""
    yield Line("Machine", style="bold")
    yield fact("system", f"{host.system} {host.kernel} {host.machine}{', WSL' if host.wsl else ''}")
    yield fact("size", f"{count(host.cpus, 'CPU')}{memory}")
    yield fact("user", f"{host.user or 'without an account'} (uid {host.uid}), home {host.home or 'none'}")
    yield fact("init", f"{host.pid1 or 'could not tell'}; {facts.systemd.because}")
    for edit in facts.edited:
        yield fact("edited", edit)


def _gpus(facts: Facts) -> Iterator[Line]:
    yield from heading("GPUs")
    if facts.driver:
        cuda = f", knows CUDA up to {facts.driver.cuda}" if facts.driver.cuda else ""
        yield fact("driver", f"{facts.driver.version or 'could not tell'}{cuda} ({facts.driver.how})")
    if facts.gpus is None:
        yield Line("could not tell", indent=2)
    elif not facts.gpus:
        yield Line("none", indent=2)
    else:
        yield from (_gpu(gpu) for gpu in facts.gpus)


def _gpu(gpu: Gpu) -> Line:
    used = f", {gpu.memory_used / GIB:.1f} used" if gpu.memory_used is not None else ""
    memory = f"{gpu.memory_total / GIB:.0f} GiB{used}"
    return Line(f"{gpu.name}, compute capability {gpu.capability}, {memory}, {gpu.uuid}", lead=f"{gpu.index}", indent=2)


def _target(facts: Facts) -> Iterator[Line]:
    yield from heading("Target")
    target = facts.target
    if target is None:
        yield Line("none named: --target T, or --profile P", indent=2)
        return
    yield Line(f"{target.path} ({target.how})", indent=2)
    if not (target.exists and target.executable and target.readable):
        yield Line(_trouble(target), indent=2, style="bold red")
    if target.version:
        yield fact("python", target.version)
    if target.torch:
        built = f"built for CUDA {target.torch.cuda}" if target.torch.cuda else "without CUDA"
        yield fact("torch", f"{target.torch.version}, {built}")
    if target.packages is not None:
        for name in READ:
            if name in target.packages and not (name == "torch" and target.torch):
                yield fact(name, target.packages[name])
        yield fact("packages", f"{len(target.packages)} in all")


def _trouble(target: Target) -> str:
    if not target.exists:
        return "is not there"
    return "cannot be executed by this user" if not target.executable else "its packages cannot be read by this user"


def _toolkits(facts: Facts) -> Iterator[Line]:
    yield from heading("CUDA toolkits")
    if not facts.toolkits:
        yield Line("none found", indent=2)
    for toolkit in facts.toolkits:
        yield Line(toolkit.root, indent=2, whole=True)
        yield Line(_about(toolkit), indent=6, hanging=0, style="dim")


def _about(toolkit: Toolkit) -> str:
    release = f"nvcc {toolkit.release}" if toolkit.release else toolkit.problem or "no nvcc"
    return f"{toolkit.kind}, {release}; found by {', '.join(toolkit.found)}"


def _folders(facts: Facts) -> Iterator[Line]:
    """Only what matters: folders of PATH that hold a compiler."""
    holding = [folder for folder in facts.folders if folder.nvcc]
    if holding:
        yield from heading("Folders with an nvcc")
    for folder in holding:
        yield Line(f"{folder.path} -> {folder.nvcc_root or folder.nvcc}", indent=2, whole=True)


def _findings(facts: Facts) -> Iterator[Line]:
    if facts.findings:
        yield from heading("Findings")
        yield from finding_lines(facts.findings, indent=2)
    if facts.unknowns:
        yield from heading("Could not tell")
        yield from (Line(unknown.because, lead=f"{unknown.subject}:", indent=2) for unknown in facts.unknowns)


SECTIONS: tuple[Callable[[Facts], Iterator[Line]], ...] = (_machine, _gpus, _target, _toolkits, _folders, _findings)
