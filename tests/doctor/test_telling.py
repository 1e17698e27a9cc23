"""The report leads a person from the symptom to the cause, and can be attached to an issue as it is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from launcher.diagnosis import diagnose
from launcher.model import Caller, Folder, Found, Prediction, Unknown
from launcher.report.doctor_document import doctor_document, refused_doctor_document
from launcher.report.document import to_json
from tests.builders import ENVIRON, PACKAGES, STALE, SYSTEM_13, WHEEL_13, facts, plan, root, roots, target, toolkit
from tests.doctor.telling import diagnosis, section, told

SYMPTOM = 'fails with "FlashInfer requires GPUs with sm75 or higher"'


def test_the_chain_begins_with_what_the_library_finds_and_how_it_ends() -> None:
    first = section(told(), 1)
    assert "! FlashInfer 0.6.8  /usr/local/cuda: CUDA 12.8, no architecture, and its check raises RuntimeError" in first
    assert SYMPTOM in first


def test_a_harmless_lookup_is_no_symptom() -> None:
    first = section(told(facts(target=target(packages={**PACKAGES, "flashinfer-python": "0.7.2"}))), 1)
    assert "FlashInfer 0.7.2  /usr/local/cuda: CUDA 12.8, 12.0a" in first
    assert "!" not in first
    assert "and so:" not in first


def test_the_cause_names_the_place_the_toolkit_behind_it_and_how_it_was_found() -> None:
    second = section(told(), 2)
    assert "/usr/local/cuda: nvcc 12.8 in /usr/local/cuda-12.8; found by nvcc on PATH in /usr/local/cuda/bin" in second
    assert "- 12.8 < 12.9, which FlashInfer 0.6.8 asks for on compute capability 12.0" in second


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({"CUDA_HOME": "/opt/link"}, "CUDA_HOME"),
        ({"CUDA_PATH": "/opt/link"}, "CUDA_PATH"),
        ({"PATH": "/opt/link/bin"}, "nvcc on PATH in /opt/link/bin"),
        ({"CUDA_HOME": "/opt/link"}, "/opt/link (a link to /usr/local/cuda-12.8)"),
    ],
)
def test_the_toolkit_behind_a_spelling_is_named_however_it_was_found(environ: dict[str, str], found: str) -> None:
    there = Folder(path="/opt/link/bin", origin="caller", programs=("nvcc",))
    here = facts(
        environ=environ,
        toolkits=(toolkit(found=(found,)),),
        roots=(root("/opt/link", "12.8"), *roots()),
        folders=(*facts().folders, there),
    )
    assert f"/opt/link: nvcc 12.8 in /usr/local/cuda-12.8; found by {found}\n" in section(told(here), 2)


@pytest.mark.parametrize(("path", "is_cause"), [("its own", False), ("/opt/x", True), ("", True), ("relative", True)])
def test_what_a_library_brings_itself_is_no_cause(path: str, is_cause: bool) -> None:
    here = facts(environ={"CUDA_HOME": "relative"})
    found = Prediction(consumer="X", version=None, callers=Found(path=path), planned=None)
    causes = diagnose(replace(plan(here=here), predictions=(found,)), here).causes
    assert [cause.path for cause in causes] == ([path] if is_cause else [])


def test_the_three_numbers_stand_side_by_side() -> None:
    assert "compute capability 12.0   nvcc 12.8   torch's CUDA 13.0" in section(told(), 2)


def test_the_cure_is_told_variable_by_variable_beside_the_callers() -> None:
    here = facts(toolkits=(STALE, SYSTEM_13), environ={"CUDA_HOME": "/usr/local/cuda"})
    third = section(told(here), 3)
    rows = [line.split() for line in third.splitlines()]
    assert ["CUDA_HOME", "/usr/local/cuda", "/usr/local/cuda-13.0"] in rows
    assert ["CUDA_PATH", "(not", "set)", "/usr/local/cuda-13.0"] in rows
    assert "FlashInfer 0.6.8  /usr/local/cuda-13.0: CUDA 13.0, 12.0a" in third


def test_every_toolkit_has_its_verdict() -> None:
    fourth = section(told(facts(toolkits=(STALE, WHEEL_13))), 4)
    assert f"+ {WHEEL_13.root} (chosen)" in fourth
    assert f"- {STALE.root}\n" in fourth
    assert fourth.count("found by") == 2


def test_a_package_that_looks_for_cuda_and_that_we_do_not_predict_is_said() -> None:
    packages = {**PACKAGES, "cupy-cuda13x": "14.2.0", "bitsandbytes": "0.49.0", "requests": "2.32.5"}
    last = section(told(facts(target=target(packages=packages))), 6)
    assert "cupy-cuda13x 14.2.0: what it will find; it looks for" in last
    assert "bitsandbytes 0.49.0: what it will find" in last
    assert "requests" not in last


def test_a_consumer_of_ours_is_no_stranger() -> None:
    assert diagnosis().strangers == ()


def test_a_lookup_that_leads_where_nobody_looked_is_no_all_clear() -> None:
    """Facts of an older gpulaunch, or of another user: they hold no roots."""
    last = section(told(facts(roots=())), 6)
    assert "FlashInfer 0.6.8: what it finds in your environment: its version, or a place that" in last


def test_where_all_is_right_nothing_is_wrong() -> None:
    good = toolkit("/usr/local/cuda-13.0", "13.0", found=("nvcc on PATH in /usr/local/cuda/bin", "/usr/local/cuda"))
    here = facts(
        toolkits=(good,),
        roots=(root("/usr/local/cuda", "13.0"), *roots()[1:]),
        folders=tuple(replace(folder, nvcc_root=good.root) if folder.nvcc else folder for folder in facts().folders),
    )
    text = told(here)
    assert "!" not in section(text, 1)
    assert "+ nvcc 13.0 suits torch's CUDA 13.0" in section(text, 2)
    assert text.splitlines()[-1].startswith("Would start:")


def test_secrets_of_the_caller_are_masked_also_where_the_server_does_not_get_them() -> None:
    secret, user = "s3cret-of-the-caller", "me:pass-word"
    environ = {
        "WANDB_API_KEY": secret,
        "CPATH": f"/opt/{secret}/include",
        "CUDA_HOME": f"/opt/{secret}/cuda",
        "LIBRARY_PATH": f"ftp://{user}@host/lib",
    }
    here = facts(environ=environ, unknowns=(Unknown(subject="gpus", because=f"{secret} was refused"),))
    text = told(here) + to_json(doctor_document(diagnosis(here), None, None))
    assert secret not in text
    assert user not in text
    assert "/opt/***/cuda" in text


def test_json_holds_what_the_text_says() -> None:
    said = json.loads(to_json(doctor_document(diagnosis(), None, None)))
    assert said["schema_version"] == 1
    (flashinfer,) = (entry for entry in said["predictions"] if entry["consumer"] == "FlashInfer")
    assert flashinfer["callers"] == {
        "path": "/usr/local/cuda", "release": "12.8", "archs": [], "errors": {"check": "RuntimeError"},
    }  # fmt: skip
    assert flashinfer["consequence"].endswith(SYMPTOM)
    assert said["causes"][0]["root"] == "/usr/local/cuda-12.8"
    assert said["causes"][0]["fits"] is False
    assert (said["verified"], said["built"]) == (None, None)
    assert said["machine"]["driver"]["version"] == "580.95.05"


def test_a_refusal_has_the_same_keys() -> None:
    assert list(refused_doctor_document("p", ())) == list(doctor_document(diagnosis(), None, None))


def test_the_same_facts_give_the_same_bytes() -> None:
    here = facts(caller=Caller(environ=dict(reversed(list(ENVIRON.items()))), cwd="/srv"))
    assert to_json(doctor_document(diagnosis(here), None, None)) == to_json(doctor_document(diagnosis(), None, None))
