"""A profile's args to tokens, and options read back from a finished argv."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launcher.engines import arguments
from launcher.engines.transformers import SERVING
from launcher.model import Endpoint
from launcher.profile.scalars import Number
from tests.builders import VENV, asked, codes, facts, finding, plan, target


def rendered(args: dict[str, object], *, negate: bool = True) -> list[str]:
    """The tokens of these args."""
    return list(arguments.tokens(args, negate=negate))  # type: ignore[arg-type]


def test_options_and_values_are_tokens_of_their_own() -> None:
    """vllm-project/vllm#43252: `--config=file` is accepted and ignored."""
    assert rendered({"port": "8000", "dtype": "auto"}) == ["--port", "8000", "--dtype", "auto"]


def test_true_is_the_bare_option_and_false_the_engines_own_no() -> None:
    """vllm-project/vllm#51401: a false that is dropped lets a tri-state option fall back to its default."""
    assert rendered({"a": True, "enable-prefix-caching": False}) == ["--a", "--no-enable-prefix-caching"]
    assert rendered({"a": False}, negate=False) == []


def test_a_list_repeats_its_values_after_the_option() -> None:
    """vllm-project/vllm#23468: a list of names became one stringified name."""
    assert rendered({"served-model-name": ["a", "b"]}) == ["--served-model-name", "a", "b"]


def test_a_mapping_is_one_token_of_json_with_numbers_as_they_are_spelled() -> None:
    """sgl-project/sglang#28094: a mapping rendered as a Python repr."""
    value = {"method": "mtp", "n": Number("2"), "x": Number("1e-5"), "on": True, "names": ["1"], "none": None}
    (_, token) = rendered({"speculative-config": value})
    assert token == '{"method": "mtp", "n": 2, "x": 1e-5, "on": true, "names": ["1"], "none": null}'


JSON = st.recursive(
    st.booleans() | st.text() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON)
def test_any_value_survives_as_json(value: object) -> None:
    assert json.loads(arguments.to_json(value)) == value


@pytest.mark.parametrize(
    ("argv", "endpoint"),
    [
        (["--port", "1"], Endpoint(host="h", port=1)),
        (["--port=2", "--host=x"], Endpoint(host="x", port=2)),
        (["--port", "1", "--port", "3"], Endpoint(host="h", port=3)),  # argparse: the last one counts
        (["--host", "::"], Endpoint(host="::", port=9)),
        (["--port", "${PORT}"], None),
        (["--port", "70000"], None),
        (["--port"], Endpoint(host="h", port=9)),
    ],
)
def test_where_it_listens_is_read_from_the_final_argv(argv: list[str], endpoint: Endpoint | None) -> None:
    assert arguments.listens_at(argv, host="h", port=9) == endpoint


def test_a_wildcard_is_probed_on_loopback() -> None:
    made = plan(asked(args={"host": "0.0.0.0", "port": "31000"}))
    assert made.ready is not None and made.ready.url == "http://127.0.0.1:31000/health"
    assert "open-door" in {finding.code for finding in made.findings}


def test_a_wildcard_with_a_key_is_no_open_door() -> None:
    made = plan(asked(args={"host": "0.0.0.0", "api-key": "sk-0123456789"}))
    assert "open-door" not in {finding.code for finding in made.findings}


def test_sglang_is_started_by_the_targets_own_python() -> None:
    made = plan(asked(args={"tp-size": "8"}))
    assert made.argv == (
        f"{VENV}/bin/python", "-m", "sglang.launch_server", "--model-path", "/models/kimi", "--tp-size", "8",
    )  # fmt: skip


def test_vllm_takes_the_model_as_its_first_word_and_listens_everywhere_by_default() -> None:
    made = plan(asked(engine="vllm", args={}), facts(target=target(packages={"vllm": "0.33.0"})))
    assert made.argv == (f"{VENV}/bin/python", "-m", "vllm.entrypoints.cli.main", "serve", "/models/kimi")
    assert made.endpoint == Endpoint(host="0.0.0.0", port=8000)


def test_llamacpp_serves_by_a_binary_or_by_the_wheel_in_a_python() -> None:
    wish = asked(engine="llamacpp", model="tiny", args={"port": "1"}, gpus={})
    wheel = plan(wish, facts(target=target(packages={"xllamacpp": "1"})))
    model = "/home/serve/.cache/gpulaunch/models/tiny-1.gguf"
    assert wheel.argv[:2] == (
        f"{VENV}/bin/python",
        "/opt/gpulaunch/lib/python3.11/launcher/engines/servers/xllamacpp_server.py",
    )
    assert wheel.argv[2:] == ("--model", model, "--port", "1")
    assert ("tiny-model", model) in [(step.action, step.path) for step in wheel.prepare]
    binary = plan(wish, facts(target=target(kind="program", path="/usr/bin/llama-server", packages={}, torch=None)))
    assert binary.argv[0] == "/usr/bin/llama-server"


def test_llamacpp_without_a_target_is_the_llama_server_on_path() -> None:
    made = plan(asked(engine="llamacpp", model="/models/m.gguf", args={}, gpus={}), facts(target=None))
    assert made.argv == ("llama-server", "--model", "/models/m.gguf")
    assert "no-target" not in {finding.code for finding in made.findings}


def test_a_program_that_was_looked_for_in_vain_is_told_before_the_start() -> None:
    wish = asked(engine="llamacpp", model="/models/m.gguf", args={}, gpus={})
    missing = plan(wish, facts(target=None, programs={"llama-server": None}))
    assert missing.blocked and 127 in {finding.exit_code for finding in missing.findings}
    there = plan(wish, facts(target=None, programs={"llama-server": "/usr/bin/llama-server"}))
    assert "program-missing" not in {finding.code for finding in there.findings}


def test_a_python_that_the_profile_names_is_not_exchanged_for_a_llama_server() -> None:
    wish = asked(engine="llamacpp", model="/models/m.gguf", args={}, gpus={}, target={"python": "self"})
    made = plan(wish, facts(target=None))
    assert "no-target" in {finding.code for finding in made.findings}
    assert made.argv[0] == "python3"


def test_a_command_is_what_the_profile_says_and_its_url_says_where_it_listens() -> None:
    wish = asked(
        engine="command",
        command=["serve", "--x"],
        ready={"url": "http://127.0.0.1:8123/up"},
        model=None,
        args={},
        gpus={},
    )
    made = plan(wish)
    assert made.argv == ("serve", "--x")
    assert made.endpoint == Endpoint(host="127.0.0.1", port=8123)
    assert made.ready is not None and made.ready.url == "http://127.0.0.1:8123/up"


@pytest.mark.parametrize("port", ["abc", "0", "65536", "-1"])
def test_a_port_that_is_none_stops_the_launch_rather_than_the_question(port: str) -> None:
    made = plan(asked(args={"port": port}))
    assert "port-invalid" in {finding.code for finding in made.findings}
    assert made.blocked


TRANSFORMERS = {"transformers": "5.24.0", **dict.fromkeys(SERVING, "1")}


def test_transformers_takes_the_model_as_its_first_word_and_listens_on_localhost_by_default() -> None:
    wish = asked(engine="transformers", args={"continuous-batching": True, "compile": False}, gpus={})
    made = plan(wish, facts(target=target(packages=TRANSFORMERS)))
    assert made.argv == (
        f"{VENV}/bin/python", "-m", "transformers.cli.transformers", "serve", "/models/kimi",
        "--continuous-batching", "--no-compile",
    )  # fmt: skip
    assert made.endpoint == Endpoint(host="localhost", port=8000)
    assert made.ready is not None and made.ready.url == "http://localhost:8000/health"
    assert not made.blocked and not codes(made) & {"model-on-demand", "serving-extra-missing"}


def test_transformers_without_a_model_would_be_ready_with_none_and_a_warning_says_so() -> None:
    made = plan(asked(engine="transformers", model=None, args={}, gpus={}), facts(target=target(packages=TRANSFORMERS)))
    assert "model-on-demand" in codes(made) and not made.blocked


def test_transformers_without_the_packages_of_its_server_is_told_before_the_start() -> None:
    lacking = {name: version for name, version in TRANSFORMERS.items() if name not in ("fastapi", "uvicorn")}
    made = plan(asked(engine="transformers", args={}, gpus={}), facts(target=target(packages=lacking)))
    assert made.blocked
    assert "its server needs: fastapi, uvicorn." in finding(made, "serving-extra-missing").message
    assert "serving-extra-missing" not in codes(plan(asked(engine="transformers"), facts(target=target(packages={}))))


def test_transformers_compiles_into_caches_of_the_toolchain_where_torch_and_triton_are() -> None:
    packages = {**TRANSFORMERS, "torch": "2.14.0", "triton": "3.8.0"}
    made = plan(asked(engine="transformers", args={}), facts(target=target(packages=packages)))
    assert "-transformers-5.24.0-" in made.env["TORCHINDUCTOR_CACHE_DIR"]
    assert made.env["TRITON_CACHE_DIR"].endswith("/shared/triton")
