"""Reports on caches of compiled kernels: with the cause the finding or the right value, without it not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from launcher.caches import CACHES
from launcher.model import Caches, Facts, Plan, Request
from tests.builders import PACKAGES, SYSTEM_13, WHEEL_13, asked, change, codes, facts, finding, plan, target, toolkit
from tests.caches.described import CHOSEN, OURS, build, disk, lock, machine

WORKSPACE = "FLASHINFER_WORKSPACE_BASE"


def workspace(here: Facts) -> str:
    """Where FlashInfer will compile."""
    return plan(here=here).env[WORKSPACE]


def steps(made: Plan, action: str) -> list[str]:
    """The paths of one kind of steps."""
    return [step.path for step in made.prepare if step.action == action]


# What keys the root: (what differs, the machine)
OTHER_TOOLCHAINS = {
    "toolkit": machine(toolkits=(toolkit("/opt/cuda-13.0", "13.0"),)),
    "release": machine(toolkits=(toolkit(CHOSEN, "13.2"),)),
    "flashinfer": machine(target=target(packages={**PACKAGES, "flashinfer-python": "0.6.12"})),
    "engine": machine(target=target(packages={**PACKAGES, "sglang": "0.5.23"})),
    "triton": machine(target=target(packages={**PACKAGES, "triton": "3.8.0"})),
    "python": machine(target=target(version="3.12")),
    "processor": machine(host=replace(machine().host, machine="aarch64")),
}


@pytest.mark.parametrize("other", OTHER_TOOLCHAINS)
def test_r060_flashinfer_3229_another_toolchain_never_meets_what_this_one_compiled(other: str) -> None:
    assert workspace(OTHER_TOOLCHAINS[other]) != workspace(machine())
    assert workspace(machine()) == workspace(machine())


def test_r060_other_architectures_are_another_toolchain() -> None:
    both = plan(asked(gpus={"capability": ["9.0", "12.0"]}), machine())
    assert both.env[WORKSPACE] != workspace(machine())


def test_r060_flashinfer_3229_a_cache_of_the_operators_with_the_old_compiler_is_moved_aside() -> None:
    wish = asked(env={"set": {WORKSPACE: "/data/flashinfer"}})
    poisoned = machine(Caches(builds=(build("/data/flashinfer"),)))
    made = plan(wish, poisoned)
    assert steps(made, "move-aside") == ["/data/flashinfer/.cache/flashinfer/0.6.8/120f/cached_ops/sampling"]
    told = finding(made, "poisoned-build")
    assert "sampling" in told.message
    assert "/usr/local/cuda/bin/nvcc (CUDA 12.8)" in told.message
    assert f"{CHOSEN}/bin/nvcc (CUDA 13.0)" in told.message
    right = machine(Caches(builds=(build("/data/flashinfer", cuda_home=CHOSEN),)))
    assert steps(plan(wish, right), "move-aside") == []
    assert "poisoned-build" not in codes(plan(wish, right))


def test_r060_from_0_6_12_on_flashinfer_writes_the_compiler_anew_and_nothing_is_moved() -> None:
    newer = target(packages={**PACKAGES, "flashinfer-python": "0.6.12"})
    there = machine(Caches(builds=(build("/data/flashinfer", version="0.6.12"),)), target=newer)
    assert steps(plan(asked(env={"set": {WORKSPACE: "/data/flashinfer"}}), there), "move-aside") == []


def test_r060_a_compiler_that_is_gone_is_named_as_gone() -> None:
    gone = machine(Caches(builds=(build("/data/x", cuda_home="/opt/cuda-12.4", compiler_exists=False),)))
    made = plan(asked(env={"set": {WORKSPACE: "/data/x"}}), gone)
    assert "/opt/cuda-12.4/bin/nvcc, which is not there any more" in finding(made, "poisoned-build").message


def test_r060_what_only_others_would_use_is_told_and_left_alone() -> None:
    made = plan(here=machine(Caches(builds=(build("/home/serve"),))))
    assert steps(made, "move-aside") == []
    told = finding(made, "poisoned-build")
    assert told.severity.value == "note"
    assert "started by hand" in told.message


def test_r061_flashinfer_5145_a_library_linked_for_another_cuda_is_moved_aside() -> None:
    wish = asked(env={"set": {WORKSPACE: "/shared/cache"}})
    linked = build("/shared/cache", cuda_home=CHOSEN, built=True, needs=("libcudart.so.12",))
    made = plan(wish, machine(Caches(builds=(linked,))))
    assert steps(made, "move-aside") == [linked.folder]
    assert "linked against libcudart.so.12, and torch loads libcudart.so.13" in finding(made, "poisoned-build").message
    right = replace(linked, needs=("libcudart.so.13",))
    assert "poisoned-build" not in codes(plan(wish, machine(Caches(builds=(right,)))))


def test_r062_flashinfer_4884_two_spellings_of_one_toolkit_are_one_cache() -> None:
    spelled = replace(SYSTEM_13, found=("CUDA_HOME", "/usr/local/cuda", CHOSEN))
    shell = facts(environ={"CUDA_HOME": "/usr/local/cuda", "PATH": "/usr/local/cuda/bin:/usr/bin"}, toolkits=(spelled,))
    unit = facts(environ={"CUDA_HOME": CHOSEN, "PATH": "/usr/bin:/bin"}, toolkits=(spelled,))
    assert plan(here=shell).env["CUDA_HOME"] == plan(here=unit).env["CUDA_HOME"] == CHOSEN
    assert workspace(shell) == workspace(unit)
    assert workspace(facts(toolkits=(WHEEL_13,))) != workspace(unit)


@pytest.mark.parametrize(
    ("flashinfer", "package", "version", "severity"),
    [
        ("0.6.12", "flashinfer-cubin", "0.6.8", "error"),
        ("0.6.12", "flashinfer-jit-cache", "0.6.8+cu130", "error"),
        ("0.7.4", "flashinfer-jit-cache", "0.7.2+cu130", "warning"),
    ],
)
def test_r064_tokenspeed_284_prebuilt_packages_of_another_version_are_found_before_the_start(
    flashinfer: str, package: str, version: str, severity: str
) -> None:
    def packages(of_package: str) -> Facts:
        return machine(target=target(packages={**PACKAGES, "flashinfer-python": flashinfer, package: of_package}))

    told = finding(plan(here=packages(version)), "flashinfer-packages-differ")
    assert told.severity.value == severity
    assert f"flashinfer-python is {flashinfer}, but {package} {version}" in told.message
    assert f"pip install {package}=={flashinfer}" in told.fix
    same = f"{flashinfer}+cu130" if package.endswith("cache") else flashinfer
    assert "flashinfer-packages-differ" not in codes(plan(here=packages(same)))


def test_r064_turning_the_check_off_is_only_for_those_who_say_so_and_is_warned_of() -> None:
    switch = "FLASHINFER_DISABLE_VERSION_CHECK"
    assert switch not in plan(here=machine()).env
    assert switch not in plan(here=machine(environ={switch: "1"})).env
    assert "version-check-disabled" not in codes(plan(here=machine(environ={switch: "1"})))
    meant = plan(asked(env={"set": {switch: "1"}}), machine())
    assert "illegal memory" in finding(meant, "version-check-disabled").message


def test_r065_flashinfer_972_a_lock_is_named_with_its_holder() -> None:
    base = workspace(machine())
    held = plan(here=machine(Caches(locks=(lock(base),))))
    told = finding(held, "cache-locked")
    assert "sampling.lock is held by process 4711 (ninja -v)" in told.message
    assert told.fix.endswith("kill 4711")
    elsewhere = plan(here=machine(Caches(locks=(lock("/somebody/elses"),))))
    assert "cache-locked" not in codes(elsewhere)


def test_r065_flashinfer_972_a_lock_that_a_dead_process_left_says_so() -> None:
    folder = plan(here=machine()).env["TORCH_EXTENSIONS_DIR"]
    left = lock(folder, path=f"{folder}/my_op/lock", kind="left", module="my_op", pid=None, command=None)
    told = finding(plan(here=machine(Caches(locks=(left,)))), "stale-lock")
    assert "process that is gone" in told.message
    assert told.fix == f"rm {folder}/my_op/lock"


def test_r065_a_poisoned_build_that_somebody_holds_is_not_moved_under_him() -> None:
    wish = asked(env={"set": {WORKSPACE: "/data/x"}})
    made = plan(wish, machine(Caches(builds=(build("/data/x"),), locks=(lock("/data/x"),))))
    assert steps(made, "move-aside") == []
    assert "locked by a running process" in finding(made, "poisoned-build").message


def test_r066_flashinfer_539_an_empty_cache_before_a_start_of_many_ranks_is_told_with_the_cure() -> None:
    cold = plan(here=machine())
    assert finding(cold, "cache-cold").fix == "gpulaunch cache warm --profile test"
    base = workspace(machine())
    warm = machine(Caches(builds=(build(base, cuda_home=CHOSEN, built=True, needs=("libcudart.so.13",)),)))
    assert "cache-cold" not in codes(plan(here=warm))
    begun = machine(Caches(builds=(build(base, cuda_home=CHOSEN, built=False),)))
    assert "cache-cold" in codes(plan(here=begun))
    aot = machine(target=target(packages={**PACKAGES, "flashinfer-jit-cache": "0.6.8+cu130"}))
    assert "cache-cold" not in codes(plan(here=aot))


def test_r067_deepgemm_301_an_instance_can_have_a_cache_of_its_own_and_sglang_does_not_take_it_away() -> None:
    packages = target(packages={**PACKAGES, "sgl-deep-gemm": "0.2.3"})
    alone = asked(env={"set": {"DG_JIT_CACHE_DIR": "/run/instance-1/deep-gemm"}})
    made = plan(alone, machine(target=packages))
    assert made.env["DG_JIT_CACHE_DIR"] == made.env["SGLANG_DG_CACHE_DIR"] == "/run/instance-1/deep-gemm"
    together = plan(here=machine(target=packages))
    assert together.env["DG_JIT_CACHE_DIR"] == together.env["SGLANG_DG_CACHE_DIR"]
    assert together.env["DG_JIT_CACHE_DIR"].startswith(f"{OURS}/jit/13.0-sglang-0.5.14-")


EVERYTHING = {owner: "1" for cache in CACHES for owner in cache.owners}


def test_r069_sglang_29170_every_cache_of_an_installed_library_lies_below_one_folder() -> None:
    made = plan(here=machine(target=target(packages={**PACKAGES, **EVERYTHING})))
    values = {cache.variable: made.env[cache.variable] for cache in CACHES}
    assert all(value.startswith(f"{OURS}/jit/") for value in values.values())
    assert set(values.values()) <= set(steps(made, "folder"))
    for cache in CACHES:
        assert values[cache.variable].startswith(f"{OURS}/jit/shared/") is cache.covers_toolkit


def test_r069_a_library_that_is_not_installed_has_no_variable() -> None:
    made = plan(here=machine(target=target(packages={"torch": "2.11.0"})))
    named = {cache.variable for cache in CACHES} & set(made.env)
    assert named == {cache.variable for cache in CACHES if "torch" in cache.owners}


def test_r070_vllm_28440_kernels_go_to_a_folder_that_is_known_to_be_writable() -> None:
    made = plan(here=machine())
    assert made.env[WORKSPACE] in steps(made, "folder")
    assert "site-packages" not in made.env[WORKSPACE]
    forbidden = plan(here=machine(Caches(folders=(disk(writable=False),))))
    assert finding(forbidden, "cache-not-writable").exit_code == 77
    assert "cache-not-writable" not in codes(made)


def test_r074_edutelligence_579_another_release_of_the_engine_replays_no_artefact_of_the_last_one() -> None:
    def env(version: str) -> dict[str, str]:
        packages = {"vllm": version, "torch": "2.11.0", "triton": "3.6.0"}
        return dict(plan(asked(engine="vllm"), machine(target=target(packages=packages))).env)

    before, after, again = env("0.21.0"), env("0.22.0"), env("0.22.0")
    for name in ("VLLM_CACHE_ROOT", "TORCHINDUCTOR_CACHE_DIR"):
        assert before[name] != after[name] == again[name]
        assert "vllm-0.22.0" in after[name]


def test_r075_vllm_24915_the_place_is_stable_and_an_instance_may_have_its_own() -> None:
    packages = target(packages={"vllm": "0.33.0", "torch": "2.13.0"})
    there = machine(target=packages)
    usual = plan(asked(engine="vllm"), there).env["VLLM_CACHE_ROOT"]
    assert plan(asked(engine="vllm"), there).env["VLLM_CACHE_ROOT"] == usual
    busy = replace(there, caller=replace(there.caller, environ={**there.caller.environ, "SSH_TTY": "/dev/pts/3"}))
    assert plan(asked(engine="vllm"), busy).env["VLLM_CACHE_ROOT"] == usual
    own = plan(asked(engine="vllm", env={"set": {"VLLM_CACHE_ROOT": "/var/cache/one"}}), there)
    assert own.env["VLLM_CACHE_ROOT"] == "/var/cache/one"
    assert usual not in steps(own, "folder")
    once = plan(asked(engine="vllm"), there, Request(env=(("VLLM_CACHE_ROOT", "/var/cache/two"),)))
    assert once.env["VLLM_CACHE_ROOT"] == "/var/cache/two"


SEVEN = (
    "VLLM_CACHE_ROOT", "DG_JIT_CACHE_DIR", "TILELANG_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR", WORKSPACE,
)  # fmt: skip


def test_r076_dgx_spark_27_a_shared_model_cache_does_not_drag_the_compilers_caches_along() -> None:
    packages = {"vllm": "0.33.0", "torch": "2.13.0", "triton": "3.6.0", "tilelang": "0.1.12", "sgl-deep-gemm": "0.2.3",
                "flashinfer-python": "0.7.4"}  # fmt: skip
    here = machine(target=target(packages=packages), environ={"HF_HOME": "/nfs/models"})
    made = plan(asked(engine="vllm"), here)
    assert made.env["HF_HOME"] == "/nfs/models"
    assert [name for name in SEVEN if not made.env[name].startswith(f"{OURS}/")] == []
    assert "cache-not-local" not in codes(made)


@pytest.mark.parametrize("kind", ["nfs4", "lustre", "cifs", "fuse.sshfs"])
def test_r076_dgx_spark_27_compiled_kernels_on_a_network_disk_are_warned_of(kind: str) -> None:
    far = plan(here=machine(Caches(folders=(disk(file_system=kind),))))
    assert f"lies on {kind}" in finding(far, "cache-not-local").message
    for near in ("ext4", "xfs", "overlay", None):
        assert "cache-not-local" not in codes(plan(here=machine(Caches(folders=(disk(file_system=near),)))))


def test_r076_a_network_folder_that_the_profile_names_is_found_too() -> None:
    folders = (disk(), disk("/nfs/vllm", "nfs4"))
    wish = asked(env={"set": {"TRITON_CACHE_DIR": "/nfs/vllm"}})
    assert "/nfs/vllm" in finding(plan(wish, machine(Caches(folders=folders))), "cache-not-local").message
    assert "cache-not-local" not in codes(plan(here=machine(Caches(folders=folders))))


def test_r077_tensorrt_llm_17810_a_name_that_nobody_reads_any_more_is_told() -> None:
    name = "FLASHINFER_JIT_DIR"
    for made in (
        plan(asked(env={"set": {name: "/local/jit"}}), machine()),
        plan(here=machine(environ={name: "/local/jit"})),
        plan(here=machine(), request=Request(env=((name, "/local/jit"),))),
    ):
        assert WORKSPACE in finding(made, "dead-cache-variable").message
        assert made.env[WORKSPACE].startswith(OURS)
    living = plan(asked(env={"set": {WORKSPACE: "/local/jit"}}), machine())
    assert "dead-cache-variable" not in codes(living)
    assert change(living, WORKSPACE).origin == "profile"
