"""Which writes change what driver pods are made from, and what the GPU operator then ends."""

from __future__ import annotations

import copy
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import driver
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import GPU_TOLERATION

Object = dict[str, t.Any]
MANAGER: t.Final = "nvcr.io/nvidia/cloud-native/k8s-driver-manager@sha256:"
SAME: t.Final = "nvcr.io/nvidia/driver@sha256:f8e3dc91"
AUTO: t.Final[Object] = {"autoUpgrade": True}
TEAM: t.Final = {"key": "team", "operator": "Exists", "effect": "NoSchedule"}


def policy(**spec: t.Any) -> Object:
    given = merge({"driver": {"enabled": True, "upgradePolicy": AUTO}, "daemonsets": {}}, spec)
    return {"kind": "ClusterPolicy", "metadata": {"name": "gpu-cluster-policy"}, "spec": given}


def changes(**spec: t.Any) -> tuple[str, ...]:
    before = policy()
    return driver.template_changes(before, merge(copy.deepcopy(before), {"spec": spec}))


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"daemonsets": {"tolerations": [TEAM]}}, ("spec.daemonsets.tolerations",)),
        ({"daemonsets": {"labels": {"a": "b"}}}, ("spec.daemonsets.labels.a",)),
        ({"daemonsets": {"annotations": {"a": "b"}}}, ("spec.daemonsets.annotations.a",)),
        ({"daemonsets": {"priorityClassName": "high"}}, ("spec.daemonsets.priorityClassName",)),
        ({"driver": {"version": "595"}}, ("spec.driver.version",)),
        ({"driver": {"manager": {"version": "1"}}}, ("spec.driver.manager.version",)),
        ({"driver": {"rdma": {"enabled": True}}}, ("spec.driver.rdma.enabled",)),
        ({"gds": {"enabled": True, "version": "2"}}, ("spec.gds.enabled", "spec.gds.version")),
        ({"gdrcopy": {"enabled": True}}, ("spec.gdrcopy.enabled",)),
        ({"hostPaths": {"rootFS": "/host"}}, ("spec.hostPaths.rootFS",)),
        (
            {"daemonsets": {"podSecurityContext": {"fsGroup": 1}}},
            ("spec.daemonsets.podSecurityContext.fsGroup",),
        ),
        ({"operator": {"use_ocp_driver_toolkit": False}}, ("spec.operator.use_ocp_driver_toolkit",)),
        ({"sandboxWorkloads": {"enabled": True}}, ("spec.sandboxWorkloads.enabled",)),
        ({"driver": {"useNvidiaDriverCRD": True}}, None),
        ({"driver": {"enabled": False}}, None),
    ],
)
def test_fields_from_which_driver_pods_are_made(spec: Object, paths: tuple[str, ...] | None) -> None:
    found = changes(**spec)
    assert found
    assert paths is None or found == paths


@pytest.mark.parametrize(
    "spec",
    [
        {"driver": {"upgradePolicy": {"maxUnavailable": "50%"}}},
        {"driver": {"rdma": {"enabled": False}, "certConfig": {"name": ""}, "useNvidiaDriverCRD": False}},
        {"daemonsets": {"tolerations": [GPU_TOLERATION]}},
        {"daemonsets": {"updateStrategy": "OnDelete"}},
        {"gds": {"enabled": False, "version": "2"}},
        {"mig": {"strategy": "mixed"}},
        {"devicePlugin": {"config": {"name": "time-slicing"}}},
        {"dcgmExporter": {"enabled": False}},
    ],
)
def test_fields_that_leave_driver_pods_as_they_are(spec: Object) -> None:
    assert changes(**spec) == ()


def test_switching_the_upgrade_on_counts_because_pods_may_be_outdated() -> None:
    before = policy(driver={"upgradePolicy": {"autoUpgrade": False}})
    assert driver.template_changes(before, policy()) == ("spec.driver.upgradePolicy.autoUpgrade",)
    assert driver.template_changes(policy(), before) == ()
    assert not driver.replaces(before), "the operator replaces no pod by itself"
    assert driver.replaces(policy())
    assert not driver.replaces(policy(sandboxWorkloads={"enabled": True}))
    assert not driver.replaces(policy(driver={"enabled": False}))


def test_a_driver_is_on_unless_the_policy_says_no() -> None:
    assert driver.template_changes({"spec": {"driver": {}}}, {"spec": {"driver": {"enabled": True}}}) == ()


def test_a_policy_without_a_driver_of_its_own_has_no_template() -> None:
    off = policy(driver={"enabled": False})
    assert driver.template_changes(off, merge(off, {"spec": {"daemonsets": {"tolerations": [TEAM]}}})) == ()
    delegated = policy(driver={"useNvidiaDriverCRD": True})
    assert driver.template_changes(delegated, merge(delegated, {"spec": {"driver": {"version": "1"}}})) == ()
    manual = merge(delegated, {"spec": {"driver": {"upgradePolicy": {"autoUpgrade": False}}}})
    assert driver.replaces(manual), "its NVIDIADrivers decide"
    moved = merge(delegated, {"spec": {"hostPaths": {"rootFS": "/host"}}})
    assert driver.template_changes(delegated, moved) == ("spec.hostPaths.rootFS",)
    assert "spec.driver.useNvidiaDriverCRD" in driver.template_changes(policy(), delegated)


def test_an_nvidia_driver_upgrades_unless_it_says_no() -> None:
    before: Object = {"metadata": {"name": "a"}, "spec": {"driverType": "gpu", "version": "1"}}
    after = merge(before, {"spec": {"tolerations": [TEAM], "upgradePolicy": {"maxParallelUpgrades": 2}}})
    assert driver.driver_changes(before, after) == ("spec.tolerations",)
    assert driver.driver_changes(before, before) == ()
    assert driver.driver_changes(before, merge(before, {"spec": {"tolerations": [GPU_TOLERATION]}})) == ()
    assert driver.replaces_own(after)
    manual = merge(before, {"spec": {"upgradePolicy": {"autoUpgrade": False}}})
    assert driver.driver_changes(manual, before) == ("spec.upgradePolicy.autoUpgrade",)
    assert not driver.replaces_own(merge(after, {"spec": {"upgradePolicy": {"autoUpgrade": False}}}))


def test_only_the_nic_driver_of_a_nic_cluster_policy_counts() -> None:
    ofed = {"image": "doca-driver", "version": "1"}
    before: Object = {"spec": {"ofedDriver": ofed, "nvIpam": {"version": "1"}}}
    assert driver.nic_changes(before, merge(before, {"spec": {"nvIpam": {"version": "2"}}})) == ()
    newer = merge(before, {"spec": {"ofedDriver": {"version": "2"}}})
    assert driver.nic_changes(before, newer) == ("spec.ofedDriver.version",)
    tolerant = merge(before, {"spec": {"tolerations": [TEAM]}})
    assert driver.nic_changes(before, tolerant) == ("spec.tolerations",)
    upgrades = merge(before, {"spec": {"ofedDriver": {"upgradePolicy": {"autoUpgrade": True}}}})
    (begins,) = driver.nic_changes(before, upgrades)
    assert begins == "spec.ofedDriver.upgradePolicy.autoUpgrade", "the operator begins with its nodes"
    assert driver.nic_changes(upgrades, upgrades) == ()
    slower = {"upgradePolicy": {"maxParallelUpgrades": 2, "autoUpgrade": False}}
    assert driver.nic_changes(upgrades, merge(upgrades, {"spec": {"ofedDriver": slower}})) == ()
    without: Object = {"spec": {"nvIpam": {"version": "1"}}}
    assert driver.nic_changes(without, before), "the kernel's driver leaves"
    assert driver.nic_changes(without, merge(without, {"spec": {"tolerations": [TEAM]}})) == ()


@pytest.mark.parametrize("release", [(), (25, 10), (26, 3)])
def test_before_26_7_every_change_evicts(release: tuple[int, ...]) -> None:
    assert driver.effect(release, ["spec.daemonsets.tolerations"]) == driver.EVICTS


@pytest.mark.parametrize(
    ("path", "effect"),
    [
        ("spec.daemonsets.tolerations", driver.RESTARTS),
        ("spec.daemonsets.labels.a", driver.RESTARTS),
        ("spec.tolerations", driver.RESTARTS),
        ("spec.driver.startupProbe.periodSeconds", driver.RESTARTS),
        ("spec.driver.resources.limits", driver.RESTARTS),
        *((f"spec.driver.{key}", driver.RESTARTS) for key in ("livenessProbe", "readinessProbe")),
        *((f"spec.driver.image{key}", driver.RESTARTS) for key in ("PullPolicy", "PullSecrets")),
        *((f"spec.{key}", driver.RESTARTS) for key in ("labels", "annotations", "priorityClassName")),
        ("spec.driver.version", driver.EVICTS),
        ("spec.driver.manager.version", driver.EVICTS),
        ("spec.version", driver.EVICTS),
        ("spec.gds", driver.EVICTS),
        ("spec.driver.upgradePolicy.autoUpgrade", driver.EVICTS),
    ],
)
def test_from_26_7_on_only_what_the_driver_is_installed_with_evicts(path: str, effect: str) -> None:
    for release in ((26, 7), (27, 1)):
        assert driver.effect(release, [path]) == effect
        assert driver.effect(release, [path, "spec.driver.version"]) == driver.EVICTS


def test_whose_upgrade_policy_counts() -> None:
    rules = {"drain": {"enable": True}}
    own: Object = {"kind": "NVIDIADriver", "spec": {"upgradePolicy": rules}}
    unnamed: Object = {"spec": {"driverType": "gpu", "upgradePolicy": rules}}
    of_cluster: Object = {"kind": "ClusterPolicy", "spec": {"driver": {"upgradePolicy": rules}}}
    assert [driver.upgrade_policy(each) for each in (own, unnamed, of_cluster)] == [rules] * 3
    assert driver.upgrade_policy({"kind": "ClusterPolicy", "spec": {"upgradePolicy": rules}}) == {}


def test_of_a_part_that_is_switched_only_the_switch_differs() -> None:
    before: Object = {"a": {"enabled": True, "b": 1}, "c": {"d": 1, "e": 2}}
    assert driver.differences(before, {"a": {"enabled": False, "b": 2}, "c": {"d": 2, "e": 2}}) == {
        "a.enabled": False,
        "c.d": 2,
    }
