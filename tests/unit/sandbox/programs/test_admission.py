"""The webhook configurations that the API server gets."""

from __future__ import annotations

from openshift_sandbox.programs import admission


def test_the_configurations_ask_for_what_the_real_ones_do() -> None:
    validating, mutating = admission.configurations("https://127.0.0.1:1", b"ca")
    assert [one["name"] for one in validating["webhooks"]] == [
        "validation.machine.machine.openshift.io",
        "validation.machineset.machine.openshift.io",
    ]
    assert {one["failurePolicy"] for one in (*validating["webhooks"], *mutating["webhooks"])} == {"Ignore"}
    assert validating["webhooks"][1]["rules"][0]["operations"] == ["CREATE", "UPDATE"]
    assert mutating["webhooks"][0]["rules"][0]["operations"] == ["CREATE"]
