"""MachineHealthChecks: what a pool may say of one, what is made of it, and whose else there are."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import (
    health as health_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import health

Data = dict[str, t.Any]
POOL: t.Final[Data] = {
    "name": "t4",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
}
BLOCK = {"type": "capacity_block", "reservation": "cr-0123456789abcdef0"}
LABELS = {"accelerators.openshift/pool": "t4"}
OURS = {"app.kubernetes.io/managed-by": "accelerators.openshift"}


def planned(value: t.Any, **more: t.Any) -> Data:
    found: Data = pool_builders.plan([{**POOL, "health": value, **more}])["pools"][0]
    return found


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({}, {"max_unhealthy": 1}),
        (True, {"max_unhealthy": 1}),
        (False, False),
        (
            {"max_unhealthy": "40%", "startup_timeout": "45m", "paused": True},
            {"max_unhealthy": "40%", "startup_timeout": "45m", "paused": True},
        ),
        ({"max_unhealthy": 0, "unhealthy_after": "1h30m"}, {"max_unhealthy": 0, "unhealthy_after": "1h30m"}),
        (
            {"max_unhealthy": "100%", "startup_timeout": "0"},
            {"max_unhealthy": "100%", "startup_timeout": "0"},
        ),
    ],
)
def test_what_a_pool_says(value: t.Any, wanted: t.Any) -> None:
    pool = planned(value)
    assert pool["health"] == wanted
    assert pool_builders.plan([pool])["pools"][0]["health"] == wanted, "a planned pool can be planned again"


def test_a_pool_that_says_nothing() -> None:
    assert "health" not in pool_builders.plan([POOL])["pools"][0]


@pytest.mark.parametrize(
    ("value", "more", "code", "path"),
    [
        ("yes", {}, "POOL-TYPE", "gpu_pools[0].health"),
        ({"max_unhealthy": "many"}, {}, "POOL-TYPE", "gpu_pools[0].health.max_unhealthy"),
        ({"max_unhealthy": -1}, {}, "POOL-TYPE", "gpu_pools[0].health.max_unhealthy"),
        ({"max_unhealthy": True}, {}, "POOL-TYPE", "gpu_pools[0].health.max_unhealthy"),
        ({"startup_timeout": "soon"}, {}, "POOL-VALUE", "gpu_pools[0].health.startup_timeout"),
        ({"unhealthy_after": 600}, {}, "POOL-TYPE", "gpu_pools[0].health.unhealthy_after"),
        ({"maxUnhealthy": 1}, {}, "POOL-UNKNOWN-KEY", "gpu_pools[0].health.maxUnhealthy"),
        ({"max_unhealthy": 1}, {"market": BLOCK}, "POOL-CONFLICT", "gpu_pools[0].health.max_unhealthy"),
    ],
)
def test_wrong_options(value: t.Any, more: Data, code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        planned(value, **more)
    assert (caught.value.code, caught.value.facts["problems"][0]["path"]) == (code, path)


def test_nothing_is_replaced_at_the_end_of_a_capacity_block() -> None:
    for given in ({}, {"max_unhealthy": 0}):
        assert planned(given, market=BLOCK)["health"] == {"max_unhealthy": 0}
    candidates = [
        POOL["candidates"][0],
        {"instance_type": "p5.48xlarge", "zones": ["us-east-2a"], "market": BLOCK},
    ]
    assert planned({}, candidates=candidates)["health"] == {"max_unhealthy": 0}


def test_existing_nodes_have_no_machines() -> None:
    with pytest.raises(InputError) as caught:
        pool_builders.plan(
            [
                {
                    "name": "t4",
                    "existing": {"node_selector": {"a": "b"}, "expected": {"nvidia.com/gpu": 1}},
                    "health": {},
                }
            ]
        )
    assert (caught.value.code, caught.value.facts["problems"][0]["path"]) == (
        "POOL-CONFLICT",
        "gpu_pools[0].health",
    )


@pytest.mark.parametrize(("is_metal", "startup", "after"), [(True, "30m", "20m"), (False, "20m", "10m")])
def test_the_defaults_fit_the_platform(is_metal: bool, startup: str, after: str) -> None:
    check = health.build("demo-x7k2p", "t4", "ns", {"max_unhealthy": 1}, is_metal)
    assert (check["apiVersion"], check["kind"]) == ("machine.openshift.io/v1beta1", "MachineHealthCheck")
    assert check["metadata"] == {"name": "demo-x7k2p-t4", "namespace": "ns", "labels": LABELS}
    assert check["spec"] == {
        "selector": {"matchLabels": LABELS},
        "unhealthyConditions": [
            {"type": "Ready", "status": status, "timeout": after} for status in ("False", "Unknown")
        ],
        "maxUnhealthy": 1,
        "nodeStartupTimeout": startup,
    }
    assert (
        health.build("demo-x7k2p", "t4", "ns", {"max_unhealthy": 1, "startup_timeout": "1h"}, is_metal)[
            "spec"
        ]["nodeStartupTimeout"]
        == "1h"
    )


def check(
    name: str = "c",
    selector: Data | None = None,
    annotations: Data | None = None,
    labels: Data | None = None,
    **status: t.Any,
) -> Data:
    metadata = {"name": name, "annotations": annotations or {}, "labels": labels or {}}
    return {
        "metadata": metadata,
        "spec": {"selector": selector or {}, "unhealthyConditions": [{"timeout": "5m"}]},
        "status": status,
    }


@pytest.mark.parametrize(
    ("found", "wanted", "value"),
    [
        (None, True, "accelerators.openshift"),
        (None, False, "-"),
        ("accelerators.openshift", True, "-"),
        ("accelerators.openshift", False, None),
        ("accelerators.openshift/replacement", True, "-"),
        ("accelerators.openshift/replacement", False, None),
        ("somebody", True, "-"),
        ("somebody", False, "-"),
    ],
)
def test_pausing_ends_only_our_own_pause(found: str | None, wanted: bool, value: str | None) -> None:
    body = health.pause(check(annotations={} if found is None else {health.PAUSED: found}), wanted)
    assert body == ({} if value == "-" else {"metadata": {"annotations": {health.PAUSED: value}}})


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        ({}, True),
        ({"matchLabels": {"role": "worker"}}, True),
        ({"matchLabels": {"role": "infra"}}, False),
        ({"matchExpressions": [{"key": "role", "operator": "In", "values": ["worker", "x"]}]}, True),
        ({"matchExpressions": [{"key": "role", "operator": "NotIn", "values": ["worker"]}]}, False),
        (
            {
                "matchExpressions": [
                    {"key": "role", "operator": "Exists"},
                    {"key": "spot", "operator": "DoesNotExist"},
                ]
            },
            True,
        ),
        (
            {"matchLabels": {"role": "worker"}, "matchExpressions": [{"key": "spot", "operator": "Exists"}]},
            False,
        ),
    ],
)
def test_checks_of_others(selector: Data, is_selected: bool) -> None:
    checks = [check("theirs", selector), check("ours", labels=OURS), check("machine-api-termination-handler")]
    foreign = health.foreign(checks)
    assert [one["metadata"]["name"] for one in foreign] == ["theirs"]
    assert health.selecting(foreign, [{"metadata": {"labels": {"role": "worker"}}}]) == (
        ["theirs"] if is_selected else []
    )
    assert health.selecting(foreign, []) == []


def test_what_its_owner_should_know() -> None:
    held = {
        "type": "RemediationAllowed",
        "status": "False",
        "reason": "TooManyUnhealthy",
        "message": "2 of 2 are unhealthy",
    }
    said = " ".join(
        health.warnings(check("mine", annotations={health.PAUSED: "somebody"}, conditions=[held]), ["theirs"])
    )
    assert all(
        words in said
        for words in (
            "theirs was not created by the collection",
            "mine replaces nothing now: 2 of 2",
            "mine is paused, but not by the collection",
        )
    )
    assert (
        health.warnings(
            check(
                annotations={health.PAUSED: "accelerators.openshift"}, conditions=[{**held, "status": "True"}]
            ),
            [],
        )
        == []
    )


def test_summary() -> None:
    found = health.summarize(
        health.build("i", "t4", "ns", {"max_unhealthy": 1}, False)
        | {"status": {"expectedMachines": 2, "currentHealthy": 1}}
    )
    assert found == {
        "name": "i-t4",
        "startup_timeout": "20m",
        "unhealthy_after": "10m",
        "max_unhealthy": 1,
        "paused": False,
        "expected": 2,
        "healthy": 1,
    }


def test_a_check_that_has_not_counted_yet() -> None:
    found = health.summarize(check())
    assert (found["startup_timeout"], found["expected"], found["healthy"]) == ("", 0, 0)
    held = {"type": "RemediationAllowed", "status": "False", "reason": "TooManyUnhealthy"}
    (told,) = health.warnings(check(conditions=[held, {"type": "Other", "status": "False"}]), [])
    assert told == "MachineHealthCheck c replaces nothing now: TooManyUnhealthy"


def event(name: str, reason: str, message: str, at: str, kind: str = "Normal", **times: t.Any) -> Data:
    return {
        "metadata": {"creationTimestamp": at},
        "involvedObject": {"kind": "Machine", "name": name},
        "reason": reason,
        "message": message,
        "type": kind,
        **times,
    }


def deleted(name: str, node: str = "", at: str = "2026-11-22T02:00:00Z", **times: t.Any) -> Data:
    text = (
        f"Machine openshift-machine-api/demo-t4/{name}/{node} has been remediated by requesting to delete "
        "Machine object"
    )
    return event(name, "MachineDeleted", text, at, **times)


def test_what_events_remember_of_machines_that_a_check_deleted() -> None:
    newer: Data = {"eventTime": "2026-11-22T02:10:00.123456Z", "lastTimestamp": None}
    events = [
        deleted("demo-t4-a-22222", **newer),
        event("demo-t4-a-22222", "FailedCreate", "no\n  room", "2026-11-22T02:05:00Z", "Warning"),
        event("demo-t4-a-22222", "FailedCreate", "another", "2026-11-22T02:04:00Z", "Warning"),
        deleted("demo-t4-a-11111", node="n1"),
        deleted("demo-other-33333"),
        event("demo-t4-a-44444", "FailedCreate", "still there", "2026-11-22T02:05:00Z", "Warning"),
    ]
    found = health_steps.remediated(events, ["demo-t4-a"])
    assert [(one["name"], one["node"], one["since"][:16], one["code"]) for one in found] == [
        ("demo-t4-a-11111", "n1", "2026-11-22T02:00", "MACH-REMEDIATED"),
        ("demo-t4-a-22222", "", "2026-11-22T02:10", "MACH-REMEDIATED"),
    ]
    assert health_steps.event_lines(found) == [
        "demo-t4-a-11111: MachineHealthCheck demo-t4 deleted it at 2026-11-22T02:00:00Z",
        (
            "demo-t4-a-22222: MachineHealthCheck demo-t4 deleted it at "
            "2026-11-22T02:10:00.123456Z; before that FailedCreate: no room"
        ),
    ]


def test_a_new_node_of_a_gated_pool_that_does_not_pass_is_unhealthy() -> None:
    check = health.build("i", "t4", "ns", {"max_unhealthy": 1}, False, is_gated=True)
    plain = health.build("i", "t4", "ns", {"max_unhealthy": 1}, False)
    kinds = [(one["type"], one["status"], one["timeout"]) for one in check["spec"]["unhealthyConditions"]]
    assert kinds[-1] == ("accelerators.openshift/GPUValidated", "False", "10m")
    assert check["spec"]["unhealthyConditions"][:-1] == plain["spec"]["unhealthyConditions"]
    assert health.summarize(check) == health.summarize(plain)


def test_node_health_checks_that_will_be_disabled_are_named() -> None:
    assert health.disabled([]) == ""
    text = health.disabled([{"metadata": {"name": "nhc-worker"}}, {"metadata": {"name": "nhc-gpu"}}])
    assert "nhc-worker, nhc-gpu" in text
    assert "health: false" in text
