"""The golden text of a plan: one fact a line, so that one changed fact changes the lines about it alone."""

from __future__ import annotations

from dataclasses import replace

from launcher.model import Found, Prediction
from launcher.report.golden import golden
from tests.report.builders import TOOLKIT, a_change, a_finding, a_plan


def test_argv_stands_one_token_a_line() -> None:
    text = golden(a_plan(argv=("python", "--json", '{"a": 1}')))
    assert '\nargv\n  python\n  --json\n  {"a": 1}\n' in text


def test_each_variable_stands_with_its_origin_and_reason() -> None:
    text = golden(a_plan((a_change("A", "1", origin="engine", because="why not"), a_change("B", None, because="old"))))
    assert "\n  A=1\n      set by engine: why not\n" in text
    assert "\ndropped\n  B: old\n" in text


def test_one_changed_variable_changes_only_its_lines() -> None:
    before = golden(a_plan((a_change("A", "1"), a_change("B", "2")))).splitlines()
    after = golden(a_plan((a_change("A", "1"), a_change("B", "3")))).splitlines()
    assert [(old, new) for old, new in zip(before, after, strict=True) if old != new] == [("  B=2", "  B=3")]


def test_the_toolkits_verdicts_and_the_findings_are_in_it() -> None:
    text = golden(a_plan(findings=(a_finding(file="x.yaml", line=3, fix="Do it."),)))
    assert "unfit /usr/local/cuda-12.8: 12.8 < 12.9, which FlashInfer asks for" in text
    assert "error no-target: x.yaml:3: Something.\n      fix: Do it.\n" in text
    assert "exit code 78" in text


def test_a_hidden_compiler_is_said_so() -> None:
    assert "release (no compiler)" in golden(a_plan(toolkit=replace(TOOLKIT, strategy="hide", release=None)))


def test_what_each_library_will_find_is_in_it_and_what_the_callers_environment_would_lead_it_to() -> None:
    prediction = Prediction(
        consumer="FlashInfer",
        version="0.6.12",
        callers=Found(path="/usr/local/cuda", release="12.8", archs=(), errors={"check": "RuntimeError"}),
        planned=Found(path="/opt/cuda-13.0", release="13.0", archs=("12.0a",)),
        consequence="nothing works",
    )
    text = golden(replace(a_plan(), predictions=(prediction,)))
    assert "predictions\n  FlashInfer 0.6.12: /opt/cuda-13.0: CUDA 13.0, 12.0a\n" in text
    assert "      the caller's: /usr/local/cuda: CUDA 12.8, no architecture, and its check raises RuntimeError" in text
