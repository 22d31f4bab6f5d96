"""What the GPU and the network operator take away when a field of their custom resource changes."""

from __future__ import annotations

import copy
import re
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import policy_fields
from ansible_collections.accelerators.openshift.plugins.module_utils._impact.impact import Question

Object = dict[str, t.Any]
OLD, NEW = (26, 3), (26, 7)
SPEC: t.Final[Object] = {
    "driver": {"enabled": True, "upgradePolicy": {"autoUpgrade": True}},
    "sandboxWorkloads": {"enabled": False, "defaultWorkload": "container"},
    "toolkit": {"enabled": True, "installDir": "/usr/local/nvidia"},
    "devicePlugin": {"enabled": True},
}
MANUAL: t.Final[Object] = {"driver": {"upgradePolicy": {"autoUpgrade": False}}}
CONTAINER: t.Final = {
    "nvidia.com/gpu.present": "true",
    **{f"nvidia.com/gpu.deploy.{one}": "true" for one in ("driver", "container-toolkit", "device-plugin")},
}
WORKLOAD: t.Final = "nvidia.com/gpu.workload.config"
MIG: t.Final = "nvidia.com/mig.config"
VFIO: t.Final = {"nvidia.com/gpu.deploy.vfio-manager": "true", WORKLOAD: "vm-passthrough"}


def node(name: str, **labels: str) -> Object:
    return {"metadata": {"name": name, "labels": labels}}


NODES: t.Final = [
    node("plain", **CONTAINER),
    node("labelled", **CONTAINER, **{WORKLOAD: "container"}),
    node("machines", **{"nvidia.com/gpu.present": "true"}, **VFIO),
    node("mps", **CONTAINER, **{"nvidia.com/mps.capable": "true", WORKLOAD: "container"}),
    node("cut", **CONTAINER, **{MIG: "all-1g.5gb", f"{MIG}.state": "success", WORKLOAD: "container"}),
    node("cut-failed", **CONTAINER, **{MIG: "all-1g.5gb", f"{MIG}.state": "failed", WORKLOAD: "container"}),
    node("cpu"),
]
PODS: t.Final = [
    {
        "metadata": {"name": f"train-{one['metadata']['name']}", "namespace": "team"},
        "spec": {
            "nodeName": one["metadata"]["name"],
            "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
        },
        "status": {"phase": "Running"},
    }
    for one in NODES
]
CONTAINERS: t.Final = {"plain", "labelled", "mps", "cut", "cut-failed"}
ALL: t.Final = CONTAINERS | {"machines"}


def fits(selector: str, labels: t.Mapping[str, str]) -> bool:
    """Return whether a label selector with `=`, `!=`, existence and absence selects these labels."""
    found = []
    for part in selector.split(","):
        key, sign, value = re.fullmatch(r"(!?[^!=]+)(!=|=)?(.*)", part).groups()  # type: ignore[union-attr]
        if sign:
            found.append((labels.get(key) == value) == (sign == "="))
        else:
            found.append((key.lstrip("!") in labels) != key.startswith("!"))
    return all(found)


def reached(questions: t.Iterable[Question]) -> dict[str, set[str]]:
    """Return cause -> nodes where pods end."""
    found = {}
    for one in questions:
        nodes = [each for each in NODES if fits(one.labels, each["metadata"]["labels"])]
        if impact := one.answer(nodes, PODS):
            found[impact.cause] = set(impact.nodes)
    return found


def asked(change: Object, before: Object = SPEC, installed: tuple[int, ...] = NEW) -> dict[str, set[str]]:
    live = {"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": copy.deepcopy(before)}
    return reached(policy_fields.of_policy(live, merge(live, {"spec": change}), installed))


def nodes_of(*given: t.Any, **more: t.Any) -> set[str]:
    return {one for nodes in asked(*given, **more).values() for one in nodes}


@pytest.mark.parametrize(
    ("change", "nodes", "says"),
    [
        ({"driver": {"enabled": False}}, CONTAINERS, "false of ClusterPolicy policy takes the driver off"),
        ({"toolkit": {"enabled": False}}, CONTAINERS, "takes the container toolkit off"),
        ({"toolkit": {"env": [{"name": "A", "value": "b"}]}}, CONTAINERS, "restarts the container toolkit"),
        ({"toolkit": {"version": "1.19"}}, CONTAINERS, "restarts the container toolkit"),
        ({"toolkit": {"installDir": "/opt/nvidia"}}, CONTAINERS, "restarts the container toolkit"),
        ({"devicePlugin": {"enabled": False}}, CONTAINERS, "takes the device plugin off"),
        ({"devicePlugin": {"env": [{"name": "A", "value": "b"}]}}, CONTAINERS, "another configuration"),
        ({"devicePlugin": {"version": "0.18"}}, {"mps"}, "the CUDA contexts"),
        ({"devicePlugin": {"mps": {"root": "/mps"}}}, {"mps"}, "the CUDA contexts"),
        ({"devicePlugin": {"config": {"name": "a", "default": "four"}}}, CONTAINERS, "without a profile"),
        ({"devicePlugin": {"config": {"name": "a", "default": "whole-gpus"}}}, {"mps"}, "the CUDA contexts"),
        ({"cdi": {"enabled": False}}, CONTAINERS, "spec.cdi.enabled: false"),
        ({"cdi": {"nriPluginEnabled": True}}, CONTAINERS, "restarts the container toolkit"),
        ({"mig": {"strategy": "mixed"}}, {"cut", "cut-failed", "mps"}, "spec.mig.strategy: mixed"),
        ({"migManager": {"env": [{"name": "WITH_REBOOT", "value": "true"}]}}, {"cut-failed"}, "WITH_REBOOT"),
        ({"migManager": {"enabled": False}}, {"cut-failed"}, "restarts the MIG manager"),
        ({"migManager": {"config": {"name": "other"}}}, {"cut", "cut-failed"}, "other layouts of GPUs"),
        ({"gfd": {"enabled": False}}, ALL, "takes the labels of GPU feature discovery off"),
        ({"hostPaths": {"driverInstallDir": "/opt"}}, ALL, "other paths of the host"),
        ({"operator": {"runtimeClass": "other"}}, ALL, "another RuntimeClass"),
        ({"gfd": {"version": "1"}}, {"mps"}, "the CUDA contexts"),
        ({"vfioManager": {"enabled": True}}, {"machines"}, "the VFIO manager"),
        ({"validator": {"version": "1"}}, {"mps"}, "the CUDA contexts"),
        ({"daemonsets": {"annotations": {"a": "b"}}}, {"mps"}, "the CUDA contexts"),
        ({"somethingNew": {"enabled": True}}, ALL, "changes what we do not know"),
        ({"sandboxWorkloads": {"enabled": True}}, {"plain", "machines"}, "switches the upgrade of drivers"),
    ],
)  # fmt: skip
def test_a_field_that_takes_an_operand_away_or_restarts_it(
    change: Object, nodes: set[str], says: str
) -> None:
    found = asked(change)
    assert set().union(*found.values()) == nodes, found
    assert any(says in cause for cause in found), found


@pytest.mark.parametrize(
    "change",
    [
        {"dcgm": {"enabled": False}},
        {"dcgmExporter": {"config": {"name": "metrics"}, "serviceMonitor": {"enabled": True}}},
        {"nodeStatusExporter": {"enabled": True}},
        {"daemonsets": {"updateStrategy": "OnDelete", "rollingUpdate": {"maxUnavailable": "2"}}},
        {"driver": {"upgradePolicy": {"maxUnavailable": "50%"}}},
        {"validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "true"}]}}},
        {"toolkit": {"enabled": True, "resources": {"limits": {"cpu": "1"}}}},
        {"operator": {"labels": {"a": "b"}}},
        # what the operator takes for granted
        {"driver": {"enabled": True}, "gfd": {"enabled": True}, "cdi": {"enabled": True}},
        {"operator": {"use_ocp_driver_toolkit": True}, "sandboxWorkloads": {"defaultWorkload": "vm-vgpu"}},
        {"vgpuManager": {"enabled": False}, "daemonsets": {"tolerations": []}},
        *({"toolkit": {key: ["a"]}} for key in ("imagePullPolicy", "imagePullSecrets")),
        *({"validator": {key: ["a"]}} for key in ("cuda", "driver", "toolkit", "resources", "args")),
        *({"operator": {key: "a"}} for key in ("annotations", "metrics", "defaultRuntime")),
        {"psa": {"enabled": True}},
        {"psp": {"enabled": True}},
    ],
)
def test_a_field_that_ends_nothing(change: Object) -> None:
    assert asked(change) == {}


@pytest.mark.parametrize(
    "part", ["driver", "toolkit", "devicePlugin", "dcgm", "dcgmExporter", "gfd", "migManager"]
)
def test_an_operand_is_on_unless_the_policy_says_no(part: str) -> None:
    assert asked({part: {"enabled": True}}, before={}) == {}


@pytest.mark.parametrize(
    ("field", "component"),
    [
        ("vfioManager", "vfio-manager"),
        ("vgpuManager", "vgpu-manager"),
        ("vgpuDeviceManager", "vgpu-device-manager"),
        ("sandboxDevicePlugin", "sandbox-device-plugin"),
        ("kataSandboxDevicePlugin", "kata-sandbox-device-plugin"),
        ("kataManager", "kata-manager"),
        ("ccManager", "cc-manager"),
    ],
)
def test_an_operand_of_virtual_machines_counts_where_it_runs(field: str, component: str) -> None:
    live = {"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": {}}
    (question,) = policy_fields.of_policy(live, {**live, "spec": {field: {"enabled": True}}}, NEW)
    assert question.labels == f"nvidia.com/gpu.deploy.{component}=true"
    assert not question.is_certain


@pytest.mark.parametrize(
    ("change", "is_certain"),
    [
        ({"driver": {"enabled": False}}, True),
        ({"driver": {"usePrecompiled": True}}, True),
        ({"operator": {"use_ocp_driver_toolkit": False}}, True),
        ({"toolkit": {"enabled": False}}, True),
        ({"devicePlugin": {"enabled": False}}, True),
        ({"toolkit": {"version": "1.19"}}, False),
    ],
)
def test_what_goes_at_once_goes_for_certain(change: Object, is_certain: bool) -> None:
    live = {"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": SPEC}
    (question,) = policy_fields.of_policy(live, merge(copy.deepcopy(live), {"spec": change}), NEW)
    assert question.is_certain == is_certain
    assert question.order == ("all nodes at once" if is_certain else "node by node")
    assert question.by == "the GPU operator"


def test_a_policy_whose_drivers_others_bring_asks_nothing_about_its_driver() -> None:
    delegated = merge(SPEC, {"driver": {"useNvidiaDriverCRD": True}})
    assert asked({"driver": {"usePrecompiled": True}}, delegated) == {}


def test_the_first_policy_counts_nodes_with_gpus_and_those_that_nobody_labelled() -> None:
    policy = {"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": {}}
    question = policy_fields.of_new(policy)
    assert question.reaches
    assert (question.is_certain, question.order, question.labels) == (False, "all nodes at once", "")
    pci = "feature.node.kubernetes.io/pci-"
    found = [question.reaches(marks) for marks in ({f"{pci}10de.present": "true"}, {}, {f"{pci}8086": "x"})]
    assert found == [True, True, False]


def test_virtual_machines_by_default_take_the_stack_off_the_nodes_without_a_label() -> None:
    change = {"sandboxWorkloads": {"enabled": True, "defaultWorkload": "vm-passthrough"}}
    found = asked(change, merge(SPEC, MANUAL))
    assert found == {
        "spec.sandboxWorkloads.enabled: true, spec.sandboxWorkloads.defaultWorkload: vm-passthrough of "
        "ClusterPolicy policy takes driver, container toolkit and device plugin off": {"plain", "machines"},
    }
    enabled = merge(SPEC, {"sandboxWorkloads": {"enabled": True}})
    later = asked({"sandboxWorkloads": {"defaultWorkload": "vm-vgpu"}}, enabled)
    assert list(later.values()) == [{"plain"}], "the other nodes say what they run"
    (cause,) = asked({"sandboxWorkloads": {"mode": "kata"}}, enabled)
    assert cause.endswith("takes VFIO manager and device plugin of virtual machines off")
    assert asked({"sandboxWorkloads": {"mode": "kubevirt"}}, enabled) == {}, "that is the default"
    off = asked({"sandboxWorkloads": {"enabled": False}}, merge(enabled, MANUAL))
    assert {"machines"} in off.values(), off


def test_virtual_machines_where_no_node_changes_its_operands_may_end_pods() -> None:
    found = asked({"sandboxWorkloads": {"enabled": True}})
    assert {"plain"} in found.values()
    assert {"labelled"} not in found.values()


@pytest.mark.parametrize("upgrades", [SPEC, merge(SPEC, MANUAL)])
@pytest.mark.parametrize(
    ("change", "is_asked"),
    [
        ({"driver": {"enabled": False}}, True),
        ({"driver": {"usePrecompiled": True}}, True),
        ({"operator": {"use_ocp_driver_toolkit": False}}, True),
        ({"driver": {"version": "595"}}, None),
        ({"gds": {"enabled": True}}, None),
    ],
)
def test_the_driver_goes_with_or_without_the_upgrade_controller(
    upgrades: Object, change: Object, is_asked: bool | None
) -> None:
    nodes = nodes_of(change, upgrades)
    assert nodes == CONTAINERS if is_asked or upgrades is SPEC else nodes <= {"mps"}


def test_a_driver_on_nodes_that_have_one_is_asked_about() -> None:
    (cause,) = asked({"driver": {"enabled": True}}, merge(SPEC, {"driver": {"enabled": False}}))
    assert "brings a driver to nodes that have one already" in cause
    off = merge(SPEC, {"driver": {"enabled": False}})
    assert asked({"driver": {"version": "1"}}, off) == {}, "nothing is made from it"


def test_an_upgrade_under_way_is_asked_about() -> None:
    nodes = [node("plain", **CONTAINER, **{"nvidia.com/gpu-driver-upgrade-state": "upgrade-required"})]
    live = {"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": SPEC}
    after = merge(live, {"spec": {"driver": {"upgradePolicy": {"maxParallelUpgrades": 4}}}})
    (question,) = policy_fields.of_policy(live, after, NEW)
    assert fits(question.labels, nodes[0]["metadata"]["labels"])
    assert question.answer(nodes, PODS)


def test_cdi_is_on_by_default_since_25_10() -> None:
    on = {"cdi": {"enabled": True}}
    assert asked(on, installed=(25, 10)) == {}
    assert asked(on, installed=(25, 3))
    assert asked(on, installed=()), "not known, so it counts"
    assert asked({"cdi": {"enabled": False}}, installed=())


def test_a_default_layout_counts_on_nodes_that_have_none() -> None:
    live = {"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": SPEC}
    after = merge(copy.deepcopy(live), {"spec": {"migManager": {"config": {"default": "all-1g.5gb"}}}})
    found = [question.labels for question in policy_fields.of_policy(live, after, NEW)]
    assert found == [f"nvidia.com/mig.capable=true,!{MIG}", f"{MIG},{MIG}.state!=success"]


def test_a_switch_is_shown_with_its_value() -> None:
    for key in ("enabled", "usePrecompiled", "useNvidiaDriverCRD"):
        assert policy_fields.shown(f"driver.{key}", True) == f"driver.{key}: true"
    assert policy_fields.shown("driver.version", "595") == "driver.version"


def test_a_value_that_may_be_secret_is_not_shown() -> None:
    (cause, *_) = asked({"toolkit": {"env": [{"name": "TOKEN", "value": "s3cret"}]}})
    assert "s3cret" not in cause


def test_each_entry_says_how_it_is_known() -> None:
    for table in (policy_fields.POLICY, policy_fields.NIC, policy_fields.CLUSTER):
        for effects in table.values():
            assert effects
            assert all(one.source for one in effects)


NIC_NODE: t.Final = {"feature.node.kubernetes.io/pci-15b3.present": "true"}


def nic(before: Object, change: Object) -> list[str]:
    live = {"kind": "NicClusterPolicy", "metadata": {"name": "nic"}, "spec": before}
    return [one.cause for one in policy_fields.of_nic(live, merge(live, {"spec": change}))]


def test_a_nic_cluster_policy_takes_network_devices_away() -> None:
    plugin = {"image": "k8s-rdma-shared-dev-plugin", "config": "{}"}
    before = {"ofedDriver": {"version": "1"}, "rdmaSharedDevicePlugin": plugin, "nvIpam": {"version": "1"}}
    assert nic(before, {"nvIpam": {"version": "2"}}) == []
    assert nic(before, {"nicFeatureDiscovery": {"image": "a"}, "sriovDevicePlugin": {"image": "b"}}) == []
    (config,) = nic(before, {"rdmaSharedDevicePlugin": {"config": '{"a": 1}'}})
    assert "spec.rdmaSharedDevicePlugin.config of NicClusterPolicy nic" in config
    assert len(nic(before, {"ofedDriver": {"version": "2"}})) == 1
    live = {"kind": "NicClusterPolicy", "metadata": {"name": "nic"}, "spec": before}
    gone = {**live, "spec": {"nvIpam": {"version": "1"}}}
    causes = " ".join(one.cause for one in policy_fields.of_nic(live, gone))
    assert "spec.ofedDriver" in causes
    assert "spec.rdmaSharedDevicePlugin" in causes
    (new,) = nic({"nvIpam": {"version": "1"}}, {"ofedDriver": {"version": "1"}})
    (question,) = policy_fields.of_nic(
        {**live, "spec": {}}, {**live, "spec": {"ofedDriver": {"version": "1"}}}
    )
    assert (question.by, question.order) == ("the network operator", "all nodes at once")
    assert new == "NicClusterPolicy nic brings a NIC driver, which takes the place of the kernel's"


@pytest.mark.parametrize("key", ["image", "repository", "version", "imagePullSecrets", "containerResources"])
@pytest.mark.parametrize("part", ["rdmaSharedDevicePlugin", "sriovDevicePlugin", "nvIpam"])
def test_what_of_a_nic_operand_ends_nothing(part: str, key: str) -> None:
    assert nic({part: {key: "a"}, "docaTelemetryService": {"a": "b"}}, {part: {key: "b"}}) == []
    assert nic({"docaTelemetryService": {"version": "1"}}, {"docaTelemetryService": {"version": "2"}}) == []
    assert nic({"nicFeatureDiscovery": {"version": "1"}}, {"nicFeatureDiscovery": {"version": "2"}}) == []


def test_a_drain_that_ends_more_is_told() -> None:
    """The operator's sample has both fields."""
    forced = {"upgradePolicy": {"drain": {"force": True, "deleteEmptyDir": True}}}
    (cause,) = nic({"ofedDriver": {"version": "1", **forced}}, {"ofedDriver": {"version": "2"}})
    assert cause.endswith(
        "(its drain has force and deleteEmptyDir: it ends all pods of a node, with their data)"
    )
    (plain,) = nic({"ofedDriver": {"version": "1"}}, {"ofedDriver": {"version": "2"}})
    assert "drain" not in plain


def test_a_gpu_cluster_restarts_its_dra_driver() -> None:
    live = {"kind": "GPUCluster", "metadata": {"name": "gpu-cluster"}, "spec": {"draDriver": {}}}

    def of(change: Object) -> list[str]:
        return [one.labels for one in policy_fields.of_cluster(live, merge(live, {"spec": change}))]

    assert of({"draDriver": {"featureGates": {"A": True}}}) == ["nvidia.com/gpu.deploy.dra-driver=true"]
    assert of({"dcgmExporter": {"enabled": False}, "daemonsets": {"tolerations": [{"key": "a"}]}}) == []
    assert of({"other": 1}) == ["nvidia.com/gpu.present=true"]
    assert of({"hostPaths": {"rootFS": "/a"}}) == ["nvidia.com/gpu.deploy.dra-driver=true"]
    assert of({"dcgm": {"enabled": False}}) == []
