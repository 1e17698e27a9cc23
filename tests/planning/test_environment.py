"""The child's environment: from nothing, in layers, every variable with a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.model import Request, Severity
from launcher.variables import RESERVED
from tests.builders import ENVIRON, SYSTEM_13, asked, change, codes, facts, finding, plan


def test_the_callers_leftovers_do_not_reach_the_server() -> None:
    leftovers = {
        "TORCH_CUDA_ARCH_LIST": "7.0;7.5",
        "CUDA_HOME": "/usr/local/cuda-12.8",
        "LD_PRELOAD": "/opt/lib/tcmalloc.so",
        "PYTHONPATH": "/home/serve/src",
        "PYTHONHOME": "/usr",
        "NOTIFY_SOCKET": "/run/systemd/notify",
        "LISTEN_FDS": "1",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
        "SOMETHING": "else",
    }
    made = plan(here=facts(environ=leftovers, toolkits=(SYSTEM_13,)))
    assert made.env["TORCH_CUDA_ARCH_LIST"] == "12.0"
    assert made.env["CUDA_HOME"] == "/usr/local/cuda-13.0"
    for name in set(leftovers) - {"TORCH_CUDA_ARCH_LIST", "CUDA_HOME"}:
        assert name not in made.env
        assert change(made, name).action == "drop"


def test_every_variable_has_an_origin_and_a_reason_and_nothing_else_is_in_the_environment() -> None:
    made = plan()
    assert made.env == {entry.name: entry.value for entry in made.changes if entry.value is not None}
    assert all(entry.origin and entry.because for entry in made.changes)


def test_a_dropped_variable_that_an_engine_reads_says_how_to_keep_it() -> None:
    made = plan(here=facts(environ={"NCCL_DEBUG": "INFO"}))
    assert "--keep-env NCCL_DEBUG" in change(made, "NCCL_DEBUG").because


def test_a_variable_that_was_set_but_never_exported_is_not_in_the_child() -> None:
    """R031 flashinfer-ai/flashinfer#3078: the plan shows what the child really gets."""
    assert "MAX_JOBS" not in plan().env
    assert plan(request=Request(env=(("MAX_JOBS", "8"),))).env["MAX_JOBS"] == "8"


def test_packages_of_the_users_own_site_do_not_shadow_the_targets() -> None:
    """R059 princeton-ddss/blackfish#366."""
    made = plan(here=facts(environ={"PYTHONPATH": "/home/serve/.local/lib"}))
    assert made.env["PYTHONNOUSERSITE"] == "1"
    assert "PYTHONPATH" not in made.env


def test_the_last_lines_of_a_killed_server_are_not_lost_in_its_buffer() -> None:
    """R134 docker-library/python#604."""
    assert plan().env["PYTHONUNBUFFERED"] == "1"


@pytest.mark.parametrize("said", [None, "", "/", "/nonexistent"])
def test_a_service_without_a_usable_home_gets_one(said: str | None) -> None:
    """R071 vllm-project/vllm#10185: HOME unset or / puts caches at /.cache."""
    environ = {name: value for name, value in ENVIRON.items() if name != "HOME"} | (
        {} if said is None else {"HOME": said}
    )
    here = facts()
    here = replace(
        here,
        caller=replace(here.caller, environ=environ),
        host=replace(here.host, home=None, user=None, uid=4711, usable_homes=()),
    )
    made = plan(here=here)
    assert made.env["HOME"] not in ("", "/", "/nonexistent")
    assert made.env["HOME"] in [step.path for step in made.prepare if step.action == "folder"]
    assert "no-usable-home" in codes(made)


def test_an_account_home_replaces_an_unwritable_one() -> None:
    here = facts(environ={"HOME": "/gone"})
    made = plan(here=replace(here, host=replace(here.host, usable_homes=("/home/serve",))))
    assert made.env["HOME"] == "/home/serve"


def test_a_uid_without_an_account_gets_a_user_name() -> None:
    """R072 pytorch/pytorch#140765: getuser() raises KeyError."""
    here = facts()
    environ = {name: value for name, value in ENVIRON.items() if name not in ("USER", "LOGNAME")}
    here = replace(here, caller=replace(here.caller, environ=environ), host=replace(here.host, user=None, uid=4711))
    made = plan(here=here)
    assert made.env["USER"] == made.env["LOGNAME"] == "uid4711"


def test_later_layers_win_in_the_contracts_order() -> None:
    """R142 NVIDIA/TensorRT-LLM#14812: what is said last counts, and the override is told."""
    here = facts(environ={"NCCL_DEBUG": "from caller"})
    passes = asked(env={"pass": ["NCCL_*"]})
    sets = asked(env={"pass": ["NCCL_*"], "set": {"NCCL_DEBUG": "from profile"}})
    once = Request(env=(("NCCL_DEBUG", "from operator"),))
    assert plan(passes, here).env["NCCL_DEBUG"] == "from caller"
    assert plan(sets, here).env["NCCL_DEBUG"] == "from profile"
    made = plan(sets, here, once)
    assert made.env["NCCL_DEBUG"] == "from operator"
    told = [entry.message for entry in made.findings if entry.code == "value-replaced"]
    assert any("'from operator'" in line and "'from profile'" in line for line in told)


def test_engine_flags_after_the_dashes_come_last_and_win() -> None:
    """R142: an explicit flag of the command line beats the file."""
    made = plan(request=Request(flags=("--tp-size", "4", "--port", "31000")))
    assert made.argv[-4:] == ("--tp-size", "4", "--port", "31000")
    assert made.endpoint is not None and made.endpoint.port == 31000


def test_keep_env_passes_a_variable_whole() -> None:
    value = "/usr/local/cuda-12.8/lib64"
    made = plan(here=facts(environ={"LD_LIBRARY_PATH": value}), request=Request(keep_env=("LD_LIBRARY_PATH",)))
    assert made.env["LD_LIBRARY_PATH"] == value
    assert change(made, "LD_LIBRARY_PATH").origin == "operator"


def test_the_drivers_own_folders_stay_on_the_library_path() -> None:
    here = facts(
        environ={"LD_LIBRARY_PATH": "/usr/local/cuda/lib64:/usr/local/nvidia/lib64"},
        driver_mounts=("/usr/local/nvidia/lib64",),
    )
    assert plan(here=here).env["LD_LIBRARY_PATH"] == "/usr/local/nvidia/lib64"


def test_a_passed_library_path_loses_toolkits_compat_and_stubs() -> None:
    value = "/opt/mpi/lib:/usr/local/cuda-12.8/lib64:/x/compat:/usr/local/cuda/lib64/stubs::relative"
    made = plan(asked(env={"pass": ["LD_LIBRARY_PATH"]}), facts(environ={"LD_LIBRARY_PATH": value}))
    assert made.env["LD_LIBRARY_PATH"] == "/opt/mpi/lib"
    assert "library-path-filtered" in codes(made)


def test_an_override_of_a_repair_is_kept_and_warned_of() -> None:
    made = plan(asked(env={"set": {"PYTHONNOUSERSITE": "0"}}))
    assert made.env["PYTHONNOUSERSITE"] == "0"
    assert finding(made, "repair-overridden").severity is Severity.WARNING


def test_unset_removes_what_gpulaunch_would_set() -> None:
    assert "NO_COLOR" not in plan(asked(env={"unset": ["NO_COLOR"]})).env


@pytest.mark.parametrize(
    ("on_terminal", "callers", "colours"),
    [
        (True, {}, {"FORCE_COLOR": "1"}),
        (True, {"NO_COLOR": "1"}, {"NO_COLOR": "1"}),
        (True, {"NO_COLOR": ""}, {"FORCE_COLOR": "1"}),  # no-color.org: empty says nothing
        (False, {}, {"NO_COLOR": "1"}),
        (False, {"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}),
    ],
)
def test_the_server_writes_colours_where_somebody_sees_them(
    on_terminal: bool, callers: dict[str, str], colours: dict[str, str]
) -> None:
    known = facts(environ=callers)
    made = plan(here=replace(known, caller=replace(known.caller, on_terminal=on_terminal)))
    assert {name: value for name, value in made.env.items() if name in ("FORCE_COLOR", "NO_COLOR") and value} == colours


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_the_operator_cannot_point_libraries_at_two_toolkits(name: str) -> None:
    assert finding(plan(request=Request(env=((name, "/x"),))), "reserved-variable-asked").exit_code == 2
    assert "reserved-variable-asked" in codes(plan(request=Request(keep_env=(name,))))


@pytest.mark.parametrize("name", ["FLASHINFER_CUDA_ARCH_LIST", "TORCH_CUDA_ARCH_LIST", "TRITON_PTXAS_PATH"])
def test_an_empty_arch_list_is_refused_because_unset_is_not_empty(name: str) -> None:
    assert "empty-value" in codes(plan(request=Request(env=((name, ""),))))


def test_kubernetes_service_links_are_not_settings() -> None:
    here = facts(environ={"VLLM_PORT": "tcp://10.0.0.1:8000", "VLLM_SERVICE_HOST": "10.0.0.1", "VLLM_USE_X": "1"})
    made = plan(asked(env={"pass": ["VLLM_*"]}), here)
    assert "VLLM_PORT" not in made.env
    assert "VLLM_SERVICE_HOST" not in made.env
    assert made.env["VLLM_USE_X"] == "1"


def test_loopback_is_never_reached_through_a_proxy() -> None:
    made = plan(here=facts(environ={"https_proxy": "http://proxy:3128", "NO_PROXY": "intra.example"}))
    assert made.env["NO_PROXY"] == "intra.example,localhost,127.0.0.1,0.0.0.0,::1"
    assert "127.0.0.1" in made.env["no_proxy"].split(",")
    assert "NO_PROXY" not in plan().env


def test_secrets_are_known_by_name_by_option_and_by_url() -> None:
    here = facts(environ={"HF_TOKEN": "hf_0123456789", "https_proxy": "http://me:pass-word@proxy:3128"})
    wish = asked(args={"api-key": "sk-0123456789"})
    made = plan(wish, here, Request(env=(("MY_PASSWD", "hunter2hunter2"),), flags=("--hf-token=hf_9876543210",)))
    assert {"hf_0123456789", "me:pass-word", "sk-0123456789", "hunter2hunter2", "hf_9876543210"} <= made.secrets
    assert change(made, "HF_TOKEN").secret
    shown = {made.argv[position] for position in made.secret_arguments}
    assert shown == {"sk-0123456789", "--hf-token=hf_9876543210"}


def test_every_key_of_a_list_and_one_inside_json_is_a_secret() -> None:
    wish = asked(
        args={"api-key": ["sk-0123456789", "sk-9876543210"], "kv-config": {"auth": {"token": "tok-0123456789"}}}
    )
    made = plan(wish)
    assert {"sk-0123456789", "sk-9876543210", "tok-0123456789"} <= made.secrets
    assert {made.argv[position] for position in made.secret_arguments} == {"sk-0123456789", "sk-9876543210"}


def test_soft_limits_are_raised_and_core_files_are_off() -> None:
    limits = {limit.name: limit.soft for limit in plan().limits}
    assert limits == {"NOFILE": 524_288, "MEMLOCK": -1, "NPROC": 8192, "CORE": 0}


@given(st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,12}", fullmatch=True), st.text(max_size=20), max_size=12))
def test_whatever_the_caller_has_the_plan_is_whole_and_empty_of_it(environ: dict[str, str]) -> None:
    made = plan(here=facts(environ=environ))
    assert set(made.env) == {entry.name for entry in made.changes if entry.value is not None}
    assert made.env["PATH"].startswith("/")
    assert all(made.env[name] for name in ("HOME", "USER", "CUDA_HOME", "FLASHINFER_CUDA_ARCH_LIST"))
    assert "LD_PRELOAD" not in made.env
