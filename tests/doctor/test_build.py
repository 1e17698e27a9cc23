"""`--build` compiles and links as the libraries do, and names the first step that fails with its own output."""

from __future__ import annotations

from pathlib import Path

import pytest

from launcher.model import Facts, Plan, Trial
from launcher.verify import build_findings, try_build
from tests.builders import PACKAGES, asked, facts, plan, root, roots, target, toolkit

# Writes what -o names; a linker that looks for -l as ld does, in the folders of -L alone.
COMPILER = """\
#!/bin/sh
words="$*"; folders=""
echo "$(basename "$0") $words" >> "{notes}"
while [ $# -gt 0 ]; do
    case "$1" in
    -o) touch "$2" ;;
    -L*) folders="$folders ${{1#-L}}" ;;
    -l*) found=no
        for folder in $folders; do [ -e "$folder/lib${{1#-l}}.so" ] && found=yes; done
        [ $found = yes ] || {{ echo "ld: cannot find $1" >&2; echo "collect2: error: 1" >&2; exit 1; }} ;;
    esac
    shift
done
"""
LIBRARIES = ("lib64/libcudart.so", "lib64/stubs/libcuda.so")


class Bench:
    """A toolkit and a compiler that are scripts, on a described machine."""

    def __init__(self, folder: Path) -> None:
        self.home, self.notes = folder / "cuda", folder / "notes"
        self.script(self.home / "bin/nvcc", COMPILER.format(notes=self.notes))
        self.cxx = self.script(folder / "bin/c++", COMPILER.format(notes=self.notes))
        for name in LIBRARIES:
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).touch()

    def script(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def tried(self, packages: dict[str, str] | None = None, **env: str) -> tuple[Trial, ...]:
        made, here = self.planned(packages, **env)
        return try_build(made, here, patience=30)

    def planned(self, packages: dict[str, str] | None = None, **env: str) -> tuple[Plan, Facts]:
        here = facts(
            toolkits=(toolkit(str(self.home), "13.0"),),
            roots=(*roots(), root(str(self.home), "13.0")),
            target=target(packages=packages),
        )
        return plan(asked(env={"set": {"CXX": str(self.cxx), **env}}), here), here

    @property
    def ran(self) -> list[str]:
        return self.notes.read_text().splitlines()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def states(trials: tuple[Trial, ...]) -> list[str]:
    return [trial.state for trial in trials]


def test_it_compiles_for_the_gpus_and_links_as_each_library_does(bench: Bench) -> None:
    trials = bench.tried()
    assert states(trials) == ["passed"] * 5
    device, host, flashinfer, sglang, torch = bench.ran
    home = bench.home
    assert device.startswith("nvcc ")
    assert "-gencode=arch=compute_120a,code=sm_120a" in device
    assert f"-isystem {home}/include" in host
    assert f"-shared -L{home}/lib64 -L{home}/lib64/stubs -lcudart -lcuda " in flashinfer
    assert f"-shared -L{home}/lib64 -lcudart -o sglang.so" in sglang
    assert f"-shared -L{home}/lib64 -lcudart -o torch.so" in torch


def test_only_what_is_installed_is_linked(bench: Bench) -> None:
    assert len(bench.tried(packages={"torch": "2.11.0"})) == 3


def test_r018_a_missing_libcuda_is_found_by_linking_before_anything_is_compiled_for_minutes(bench: Bench) -> None:
    """R018, unslothai/unsloth-zoo#1099."""
    (bench.home / "lib64/stubs/libcuda.so").unlink()
    made, here = bench.planned()
    trials = try_build(made, here)
    assert states(trials) == ["passed", "passed", "failed", "not-tried", "not-tried"]
    assert trials[2].step.startswith("link as FlashInfer does")
    assert trials[2].output[0] == "ld: cannot find -lcuda"
    (finding,) = build_findings(trials, made)
    assert (finding.code, finding.exit_code) == ("build-failed", 78)
    assert "link as FlashInfer does (-L$CUDA_HOME/lib64 -L$CUDA_HOME/lib64/stubs -lcudart -lcuda)" in finding.message
    assert finding.message.endswith("ld: cannot find -lcuda.")


def test_r018_with_the_stub_there_is_nothing_to_say(bench: Bench) -> None:
    """R018, the other half."""
    made, here = bench.planned()
    trials = try_build(made, here)
    assert "passed" in states(trials)
    assert list(build_findings(trials, made)) == []


def test_the_first_failing_step_is_named_with_its_own_output(bench: Bench) -> None:
    bench.script(bench.home / "bin/nvcc", "#!/bin/sh\necho 'fatal error: cuda_fp8.h: No such file' >&2\nexit 1\n")
    trials = bench.tried()
    assert states(trials) == ["failed"] + ["not-tried"] * 4
    assert trials[0].output == ("fatal error: cuda_fp8.h: No such file",)
    assert trials[0].command.startswith(f"{bench.home}/bin/nvcc ")


def test_a_compiler_that_is_not_there_is_a_failed_step(bench: Bench) -> None:
    trials = bench.tried(CXX="/nowhere/c++")
    assert states(trials)[:2] == ["passed", "failed"]
    assert trials[1].output == ("/nowhere/c++ cannot be run: No such file or directory",)


def test_a_compiler_that_never_ends_is_a_failed_step(bench: Bench) -> None:
    bench.script(bench.home / "bin/nvcc", "#!/bin/sh\nexec tail -f /dev/null\n")
    made, here = bench.planned()
    trials = try_build(made, here, patience=0.5)
    assert trials[0].output == ("no answer within 0.5 s",)


def test_without_a_compiler_nothing_is_tried_and_nothing_is_wrong() -> None:
    here = facts(target=target(packages=PACKAGES))
    made = plan(asked(cuda={"toolkit": "hide"}), here)
    (trial,) = try_build(made, here)
    assert trial.state == "not-tried"
    assert "holds no compiler" in trial.output[0]
    assert list(build_findings((trial,), made)) == []
