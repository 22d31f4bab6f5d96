"""From NVIDIADriver objects back to the policy's driver.

What is refused, which nodes' upgrades are asked for, and when it is over.
"""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_UPGRADE,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import migration

Data = dict[str, t.Any]
OURS: t.Final = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
GOOD: t.Final[Data] = {"driver": {"upgradePolicy": {"autoUpgrade": True}}}


def driver(name: str, state: str = "disabled", **labels: str) -> Data:
    return {"metadata": {"name": name, "uid": name, "labels": labels}, "spec": {}, "status": {"state": state}}


def daemonset(owner: str, **labels: str) -> Data:
    metadata = {
        "name": f"ds-{owner}",
        "ownerReferences": [{"kind": "NVIDIADriver", "name": owner, "uid": owner}],
    }
    return {"metadata": metadata, "spec": {"template": {"metadata": {"labels": labels}}}}


def pod(node: str, *owners: str) -> Data:
    return {
        "metadata": {"name": f"pod-{node}", "ownerReferences": [{"uid": one} for one in owners]},
        "spec": {"nodeName": node},
    }


def node(name: str, state: str | None = None, **annotations: str) -> Data:
    return {
        "metadata": {
            "name": name,
            "labels": {DRIVER_UPGRADE: state} if state else {},
            "annotations": annotations,
        }
    }


def test_somebody_elses_that_drives_is_refused_and_one_that_does_not_is_told() -> None:
    drivers = [driver("ours", **OURS), driver("theirs")]
    assert migration.refuse_foreign(drivers, [daemonset("ours")]) == [
        "NVIDIADriver theirs was made by another client; it stays, and the operator disables it."
    ]
    with pytest.raises(NotReadyError) as caught:
        migration.refuse_foreign(drivers, [daemonset("theirs")])
    assert (
        caught.value.code,
        "oc label --field-manager=accelerators.openshift nvidiadriver theirs" in (caught.value.remedy or ""),
    ) == (
        "GPU-NVD-FOREIGN",
        True,
    )


@pytest.mark.parametrize(
    ("spec", "marks", "cause"),
    [
        ({"driver": {}}, {"openshift.driver-toolkit": "true"}, "auto_upgrade"),
        (
            {"driver": GOOD["driver"] | {"enabled": False}},
            {"openshift.driver-toolkit": "true"},
            "driver.enabled",
        ),
        (
            GOOD | {"sandboxWorkloads": {"enabled": True}},
            {"openshift.driver-toolkit": "true"},
            "sandbox_workloads",
        ),
        (GOOD, {}, "DaemonSet ds-a has a precompiled driver"),
    ],
)
def test_pods_that_nobody_would_replace(spec: Data, marks: dict[str, str], cause: str) -> None:
    migration.refuse_unreplaced(GOOD, [daemonset("a", **{"openshift.driver-toolkit": "true"})])
    with pytest.raises(NotReadyError) as caught:
        migration.refuse_unreplaced(spec, [daemonset("a", **marks)])
    assert (caught.value.code, cause in caught.value.message) == ("GPU-NVD-BACK", True)


def test_the_operator_has_to_have_seen_the_switch_before_anything_is_taken_from_it() -> None:
    drivers = [driver("a", "ready", **OURS), driver("b", **OURS), driver("theirs", "ready")]
    assert (
        migration.judge_disabled({"drivers": drivers}).message
        == "NVIDIADriver a is not ready: it is not disabled yet."
    )
    assert migration.judge_disabled({"drivers": drivers[1:]}).is_ready


def test_an_upgrade_is_asked_for_once_and_only_where_a_pod_is_left_over() -> None:
    nodes = [
        node("a"),
        node("b", "upgrade-done"),
        node("c", "cordon-required"),
        node("d", "upgrade-failed"),
        node("e"),
        node("f", **{migration.REQUESTED: "true"}),
    ]
    pods = [*(pod(name) for name in "abcdf"), pod("e", "uid")]
    assert migration.unasked(pods, nodes) == ["a", "b"]


def test_it_is_over_when_no_pod_is_left_over() -> None:
    assert migration.judge_replaced({"pods": [pod("a", "uid")]}).is_ready
    late = migration.judge_replaced({"pods": [pod("a", "uid"), pod("b")]})
    assert (late.code, late.message) == (
        "GPU-UPG-RUNNING",
        "Driver pods of NVIDIADriver objects still run on b.",
    )
