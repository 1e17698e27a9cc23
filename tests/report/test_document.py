"""The JSON object of a plan has the contract's keys, and the same plan gives the same bytes."""

from __future__ import annotations

import json

from launcher.model import Severity, TargetUsed
from launcher.report.document import plan_document, refused_document, to_json
from tests.report.builders import a_change, a_finding, a_plan

KEYS = [
    "schema_version", "profile", "engine", "target", "argv", "cwd", "env", "changes", "prepare", "toolkit",
    "predictions", "findings", "blocked", "exit_code",
]  # fmt: skip


def test_the_object_has_exactly_the_contracts_keys() -> None:
    document = plan_document(a_plan((a_change("A", "1"),), findings=(a_finding(),)))
    assert list(document) == KEYS
    assert document["schema_version"] == 1
    assert document["profile"] == {"name": "kimi", "file": "shipped/kimi.yaml"}
    assert document["target"] == {"python": "/opt/venv/bin/python", "how": "--target"}


def test_each_change_and_finding_has_exactly_the_contracts_keys() -> None:
    document = plan_document(a_plan((a_change("A", "1"), a_change("B", None)), findings=(a_finding(),)))
    assert document["changes"] == [
        {
            "name": "A",
            "action": "set",
            "value": "1",
            "origin": "profile",
            "because": "a reason of its own that is long",
        },
        {
            "name": "B",
            "action": "drop",
            "value": None,
            "origin": "caller",
            "because": "a reason of its own that is long",
        },
    ]
    assert document["findings"] == [
        {"code": "no-target", "severity": "error", "message": "Something.", "fix": "", "file": None, "line": None}
    ]


def test_the_toolkit_is_named_with_its_strategy_and_every_candidates_verdict() -> None:
    toolkit = plan_document(a_plan())["toolkit"]
    assert isinstance(toolkit, dict)
    assert {"root", "release", "strategy", "how"} <= set(toolkit)
    assert [verdict["fits"] for verdict in toolkit["verdicts"]] == [True, False]


def test_errors_block_and_decide_the_exit_code() -> None:
    assert plan_document(a_plan())["blocked"] is False
    assert plan_document(a_plan())["exit_code"] == 0
    held = a_finding(exit_code=75)
    assert plan_document(a_plan(findings=(held,)))["exit_code"] == 75
    assert plan_document(a_plan(findings=(held, a_finding())))["exit_code"] == 78
    warned = plan_document(a_plan(findings=(a_finding(Severity.WARNING),)))
    assert (warned["blocked"], warned["exit_code"]) == (False, 0)


def test_a_target_that_is_a_program_is_named_as_one() -> None:
    target = TargetUsed(python=None, program="/usr/bin/llama-server", how="profile target.program")
    document = plan_document(a_plan(target=target))
    assert document["target"] == {
        "python": None,
        "how": "profile target.program",
        "program": "/usr/bin/llama-server",
    }


def test_variables_are_in_order_and_the_same_plan_gives_the_same_bytes() -> None:
    one = a_plan((a_change("B", "2"), a_change("A", "1")))
    other = a_plan((a_change("B", "2"), a_change("A", "1")))
    assert to_json(plan_document(one)) == to_json(plan_document(other))
    assert list(json.loads(to_json(plan_document(one)))["env"]) == ["A", "B"]


def test_a_refusal_has_the_same_keys() -> None:
    document = refused_document("nowhere.yaml", [a_finding(code="profile-not-found")])
    assert list(document) == KEYS
    assert document["blocked"] is True
    assert document["exit_code"] == 78
