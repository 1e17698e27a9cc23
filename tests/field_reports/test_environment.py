"""Reports whose cause is a variable: what a shell, an image, a cluster or a proxy left in the environment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from launcher.model import Gpu, Request
from tests.builders import SYSTEM_13, WHEEL_13, asked, change, codes, facts, finding, gpus, plan, target


def test_r023_flashinfer_1115_an_arch_list_of_the_image_build_does_not_survive() -> None:
    left = facts(environ={"TORCH_CUDA_ARCH_LIST": "7.0;7.5;8.0"}, toolkits=(SYSTEM_13,), gpus=gpus(1, "9.0"))
    wish = asked(gpus={"count": "1", "capability": "9.0"})
    assert plan(wish, left).env["TORCH_CUDA_ARCH_LIST"] == "9.0"
    assert plan(wish, left).env["FLASHINFER_CUDA_ARCH_LIST"] == "9.0a"
    # The capability is not known: no list is better than a wrong one.
    unknown = replace(left, gpus=None)
    assert "TORCH_CUDA_ARCH_LIST" not in plan(asked(gpus={}), unknown).env
    assert "image build" in change(plan(asked(gpus={}), unknown), "TORCH_CUDA_ARCH_LIST").because
    # A profile that says so means it.
    meant = asked(env={"set": {"TORCH_CUDA_ARCH_LIST": "8.9"}})
    assert plan(meant, left).env["TORCH_CUDA_ARCH_LIST"] == "8.9"


def test_r025_flashinfer_5355_two_kinds_of_gpus_are_warned_of_and_the_selected_ones_count() -> None:
    mixed = facts(toolkits=(SYSTEM_13,), gpus=_two_kinds())
    both = plan(asked(gpus={}), mixed)
    assert both.env["FLASHINFER_CUDA_ARCH_LIST"] == "8.6 8.9"
    assert "8.9 (GPU 0), 8.6 (GPU 1)" in finding(both, "mixed-capabilities").message
    one = plan(asked(gpus={"select": ["1"]}), mixed)
    assert one.env["FLASHINFER_CUDA_ARCH_LIST"] == "8.6"
    assert "mixed-capabilities" not in codes(one)


def _two_kinds() -> tuple[Gpu, ...]:
    ada, ampere = gpus(2)
    return (
        replace(ada, capability="8.9", name="NVIDIA L40S"),
        replace(ampere, capability="8.6", name="NVIDIA RTX A6000"),
    )


def test_r026_vllm_49029_ninja_beside_the_interpreter_is_found_without_activation() -> None:
    never_activated = facts(environ={"PATH": "/usr/bin:/bin"}, toolkits=(SYSTEM_13,))
    made = plan(here=never_activated)
    entries = made.env["PATH"].split(":")
    assert entries.index("/opt/venvs/sglang/bin") < entries.index("/usr/bin")
    assert made.env["VIRTUAL_ENV"] == "/opt/venvs/sglang"
    program = target(kind="program", path="/opt/llama/llama-server", prefix=None, bin=None, packages=None, torch=None)
    assert "VIRTUAL_ENV" not in plan(here=facts(target=program)).env


def test_r031_flashinfer_3078_what_was_never_exported_is_not_in_the_child_and_is_seen_not_to_be() -> None:
    never_exported = plan()
    exported = plan(request=Request(env=(("MAX_JOBS", "3"),)))
    assert exported.env["MAX_JOBS"] == "3"
    assert never_exported.env.get("MAX_JOBS") != "3"


def test_r039_proxmoxved_2047_a_unit_gets_toolkit_and_path_and_no_invented_engine_variables() -> None:
    unit = facts(environ={"PATH": "/usr/bin:/bin"}, toolkits=(WHEEL_13,))
    made = plan(here=unit)
    assert made.env["CUDA_HOME"] == made.env["CUDA_PATH"]
    assert made.env["PATH"].split(":")[:2] == [f"{made.env['CUDA_HOME']}/bin", "/opt/venvs/sglang/bin"]
    installers = facts(environ={"VLLM_INSTALL_DIR": "/opt/vllm", "VLLM_VERSION_WANTED": "0.19"})
    assert [name for name in plan(here=installers).env if name.startswith("VLLM_")] == []
    kept = plan(asked(env={"pass": ["VLLM_INSTALL_*"]}), installers)
    assert kept.env["VLLM_INSTALL_DIR"] == "/opt/vllm"


def test_r055_vllm_37561_a_preloaded_library_comes_from_the_profile_alone() -> None:
    preloaded = facts(environ={"LD_PRELOAD": "/usr/lib/libtcmalloc.so.4"})
    assert "LD_PRELOAD" not in plan(here=preloaded).env
    assert "only a profile" in change(plan(here=preloaded), "LD_PRELOAD").because
    wanted = asked(env={"set": {"LD_PRELOAD": "/usr/lib/libtcmalloc_minimal.so.4"}})
    assert plan(wanted, preloaded).env["LD_PRELOAD"] == "/usr/lib/libtcmalloc_minimal.so.4"
    assert plan(asked(env={"pass": ["LD_PRELOAD"]}), preloaded).env["LD_PRELOAD"] == "/usr/lib/libtcmalloc.so.4"


def test_r059_blackfish_366_packages_in_the_users_home_do_not_shadow_the_targets() -> None:
    shadowed = plan(here=facts(environ={"PYTHONPATH": "/home/serve/.local/lib/python3.11/site-packages"}))
    assert shadowed.env["PYTHONNOUSERSITE"] == "1"
    assert "PYTHONPATH" not in shadowed.env
    meant = plan(asked(env={"set": {"PYTHONPATH": "/srv/plugins"}}), facts())
    assert meant.env["PYTHONPATH"] == "/srv/plugins"


@pytest.mark.parametrize("home", ["/", "", None])
def test_r071_llmd_kv_cache_83_a_service_without_a_home_gets_one(home: str | None) -> None:
    bare = facts()
    environ = {name: value for name, value in bare.caller.environ.items() if name != "HOME"}
    if home is not None:
        environ["HOME"] = home
    without = replace(
        bare,
        host=replace(bare.host, home=None, user=None, usable_homes=()),
        caller=replace(bare.caller, environ=environ),
    )
    made = plan(here=without)
    assert made.env["HOME"].startswith("/tmp/gpulaunch-1000/")
    assert "no-usable-home" in codes(made)
    assert "no-usable-home" not in codes(plan())
    assert plan().env["HOME"] == "/home/serve"


def test_r072_pytorch_140765_a_uid_without_an_account_gets_a_name() -> None:
    bare = facts()
    environ = {name: value for name, value in bare.caller.environ.items() if name not in ("USER", "LOGNAME")}
    nobody = replace(bare, host=replace(bare.host, user=None, uid=4242), caller=replace(bare.caller, environ=environ))
    assert plan(here=nobody).env["USER"] == plan(here=nobody).env["LOGNAME"] == "uid4242"
    known = replace(nobody, host=replace(nobody.host, user="serve"))
    assert plan(here=known).env["USER"] == "serve"


def test_r149_gpustack_6041_gpus_are_counted_as_nvidia_smi_does_and_chosen_by_name_or_uuid() -> None:
    mixed = facts(toolkits=(SYSTEM_13,), gpus=_two_kinds())
    for wish in ("A6000", "GPU-00000001", "1"):
        made = plan(asked(gpus={"select": [wish]}), mixed)
        assert made.env["CUDA_VISIBLE_DEVICES"] == "1"
        assert made.env["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    fastest_first = facts(environ={"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}, gpus=_two_kinds())
    assert plan(here=fastest_first).env["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert "CUDA_VISIBLE_DEVICES" not in plan(asked(gpus={}), mixed).env
    assert "gpu-not-here" in codes(plan(asked(gpus={"select": ["H100"]}), mixed))


def test_r150_vllm_34199_a_service_link_of_kubernetes_is_no_setting() -> None:
    linked = {"VLLM_PORT": "tcp://10.96.0.12:8000", "VLLM_SERVICE_HOST": "10.96.0.12", "VLLM_PORT_8000_TCP": "tcp://x"}
    made = plan(asked(env={"pass": ["VLLM_*"]}), facts(environ=linked))
    assert not set(linked) & set(made.env)
    assert "service link" in change(made, "VLLM_PORT").because
    port = plan(asked(env={"pass": ["VLLM_*"]}), facts(environ={"VLLM_PORT": "29500"}))
    assert port.env["VLLM_PORT"] == "29500"


def test_r151_sglang_9155_requests_to_itself_do_not_go_through_a_proxy() -> None:
    proxied = facts(environ={"http_proxy": "http://proxy:3128", "no_proxy": "intra.example"})
    made = plan(asked(args={"host": "10.0.0.5"}), proxied)
    for name in ("NO_PROXY", "no_proxy"):
        assert {"localhost", "127.0.0.1", "0.0.0.0", "::1", "10.0.0.5"} <= set(made.env[name].split(","))
    assert "intra.example" in made.env["no_proxy"]
    assert "NO_PROXY" not in plan(asked(args={"host": "10.0.0.5"}), facts()).env


@pytest.mark.parametrize(
    ("said", "comes_to"),
    [("[::1],a.example", "::1"), ("fd00::/8,a.example", None), ("10.0.0.0/8,a.example", "10.0.0.0/8")],
)
def test_r151_sglang_28493_entries_that_http_clients_raise_on_are_mended(said: str, comes_to: str | None) -> None:
    made = plan(here=facts(environ={"https_proxy": "http://proxy:3128", "NO_PROXY": said}))
    entries = made.env["NO_PROXY"].split(",")
    assert "a.example" in entries
    assert not [entry for entry in entries if "[" in entry or ("/" in entry and entry.count(":") > 1)]
    assert comes_to is None or comes_to in entries


@pytest.mark.parametrize("url", ["http://", "proxy:port", "http://user:secret@", "ftp://proxy:21", "http://a b:3128"])
def test_r151_sglang_9814_a_proxy_that_is_no_url_is_named_without_its_value(url: str) -> None:
    made = plan(here=facts(environ={"HTTPS_PROXY": url}))
    said = finding(made, "proxy-malformed")
    assert "HTTPS_PROXY" in said.message
    assert "secret" not in said.message + said.fix
    for right in ("http://proxy:3128", "http://user:secret@proxy:3128", "socks5h://proxy:1080", "proxy:3128"):
        assert "proxy-malformed" not in codes(plan(here=facts(environ={"HTTPS_PROXY": right})))


@pytest.mark.parametrize("name", ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"])
def test_r153_torch_memory_saver_24_expandable_segments_are_not_inherited_under_either_name(name: str) -> None:
    inherited = facts(environ={name: "expandable_segments:True"})
    assert name not in plan(here=inherited).env
    assert "memory savers" in change(plan(here=inherited), name).because
    meant = asked(env={"set": {name: "expandable_segments:True"}})
    assert plan(meant, inherited).env[name] == "expandable_segments:True"
