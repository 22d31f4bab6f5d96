"""The variables of roles end the failures of the stack of network adapters."""

from __future__ import annotations

import copy
import json
import typing as t

from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.impact.test_consent import node as node_with, pod as pod_on
from unit.managed import live
from unit.nfd.builders import params as nfd_params
from unit.remedies.case import Case, Cases, Options, ensured
from unit.stack.nicclusterpolicy import builders
from unit.stack.nicclusterpolicy.builders import IMAGES, offering, pod, tainted, unlabelled, world
from unit.stack.nicclusterpolicy.test_judge import outdated
from unit.stack.nicclusterpolicy.test_steps import IMAGE, network

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import driver
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import instance as nfd_instance
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import diagnose
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import manifest

Data = dict[str, t.Any]
POLICY: t.Final = "nvidia_network_operator_nic_cluster_policy"
STACK: t.Final = "special_resource"
# Seconds that the NIC driver takes to build, and how often the kubelet asks before it starts the pod again.
BUILD: t.Final = 1200
PROBES: t.Final = 60
DRIVER: t.Final = "rdma_shared_device_plugin: {resources: [{name: rdma_a}]}"
SLOW: t.Final = (
    f"{{ofed_driver: {{startup_probe: {{initialDelaySeconds: 10, periodSeconds: 10}}}}, {DRIVER}}}"
)
PATIENT: t.Final = SLOW.replace("periodSeconds: 10", "periodSeconds: 30")
RDMA: t.Final = (
    "{ofed_driver: {}, rdma_shared_device_plugin: {resources: [{name: rdma_a, link_types: [LINK]}]}}"
)


def judged(snapshot: t.Mapping[str, t.Any], options: Options) -> str | None:
    """Judge the stack; return the code of what it is not ready for."""
    found = builders.verdict(dict(snapshot), grace=60, **options)
    return None if found.is_ready else found.code


def spec_of(options: Options) -> Data:
    return manifest.wished(builders.params(**options), IMAGES)


def adapters(options: Options) -> str | None:
    """Offer 63 devices of the node's Ethernet adapter if the selectors of the resource match it."""
    (resource,) = json.loads(spec_of(options)["rdmaSharedDevicePlugin"]["config"])["configList"]
    matches = "ether" in resource["selectors"].get("linkTypes", ["ether"])
    return judged(world(nodes=[offering(resource["rdmaHcaMax"] if matches else 0)]), options)


def older_pod(options: Options) -> str | None:
    """Find a driver pod of an older revision; the operator begins its upgrade only if the policy says so."""
    rules = spec_of(options)["ofedDriver"].get("upgradePolicy") or {}
    return judged(outdated(automatic=bool(rules.get("autoUpgrade"))), options)


def slow_build(options: Options) -> str | None:
    """Build the driver; the kubelet ends its pod before that if the probe gives too little time."""
    probe = spec_of(options)["ofedDriver"]["startupProbe"]
    if probe["initialDelaySeconds"] + PROBES * probe["periodSeconds"] >= BUILD:
        return judged(world(), options)
    code = judged(world(pods=[pod("mofed", False)]), options)
    error = AcceleratorError(str(code), "The NIC driver is not Ready.", "Look.")
    text = "cannot access '/run/mellanox/drivers/.driver-ready': No such file or directory"
    diagnose.add_log(error, diagnose.Source("n", "mofed-x", "mofed-container", True), text)
    return error.code


def labelled(options: Options) -> str | None:
    """Label the node if nfd-worker reads the class of its InfiniBand adapter, 0207."""
    made = nfd_instance.build(nfd_params(**options), None)
    is_read = any("0207".startswith(one) for one in nfd_instance.pci_classes(made))
    return judged(world(nodes=[builders.node() if is_read else unlabelled()]), {})


def tolerated(options: Options) -> str | None:
    """Judge a node with a taint; the operator gives its DaemonSets the tolerations of the policy."""
    policy = manifest.build(builders.params(**options), IMAGES, None)
    found = world(nodes=[tainted()])
    for one in found["daemonsets"]:
        one["spec"]["template"]["spec"]["tolerations"] = policy["spec"].get("tolerations", [])
    return judged(found, options)


def busy(options: Options, found: Data | None = None) -> str | None:
    """Change the version of the NIC driver under a pod with a GPU, or under another pod on node n1."""
    server = FakeServer(
        "NicClusterPolicy", "ClusterServiceVersion", "Node", "Pod", "DaemonSet", "ControllerRevision"
    )
    older = copy.deepcopy(IMAGES)
    older["doca-driver"]["version"] = "doca3.4.0"
    there = manifest.build(builders.params(), older, None)
    for one in (
        {**live(there), "status": {"state": "ready"}},
        node_with("n1", **dict([driver.NIC_NODES.split("=")])),
        found or pod_on("train", "n1"),
    ):
        server.put(one)
    newer = {"version": "doca3.5.0", "repository": "nvcr.io/nvidia/mellanox"}
    given = {
        "backend": "nicclusterpolicy",
        "nic_cluster_policy": {"ofed_driver": newer},
        "pools": [{"name": "ib", "node_selector": {"pool": "ib"}}],
    }
    return ensured(STACK, api_on(server, check_mode=True), {**given, **options})


def carrying(options: Options) -> str | None:
    """Bring a NIC driver to a node that has an address on its adapter."""
    server = FakeServer(
        "NicClusterPolicy", "NodeNetworkState", "Node", "Pod", "DaemonSet", "ControllerRevision"
    )
    for one in (
        node_with("n1", **dict([driver.NIC_NODES.split("=")])),
        network(ipv4={"address": [{"ip": "192.168.7.2"}]}),
    ):
        server.put(one)
    given = {"backend": "nicclusterpolicy", "nic_cluster_policy": {"ofed_driver": IMAGE}}
    return ensured(STACK, api_on(server, check_mode=True), {**given, **options})


CASES: t.Final[Cases] = {
    ("NIC-ALLOC", POLICY): Case(
        STACK, adapters, RDMA.replace("LINK", "ether"), RDMA.replace("LINK", "infiniband")
    ),
    ("NIC-BUSY", "gpu_on_busy"): Case(STACK, busy, where="nvidia_network_operator"),
    ("NIC-DRV-BUILD", POLICY): Case(STACK, slow_build, PATIENT, SLOW),
    ("NIC-DRV-OUTDATED", POLICY): Case(
        STACK,
        older_pod,
        f"{{ofed_driver: {{upgrade_policy: {{autoUpgrade: true}}}}, {DRIVER}}}",
        f"{{ofed_driver: {{}}, {DRIVER}}}",
        then="NIC-UPG",
    ),
    ("NIC-LABEL", "node_feature_discovery_pci_classes"): Case(
        "nfd_labels", labelled, '["02", "03"]', '["03"]'
    ),
    ("NIC-TRAFFIC", "nvidia_network_operator_node_traffic"): Case(STACK, carrying),
    ("NIC-TAINT", "gpu_tolerations"): Case(
        STACK, tolerated, "[{key: dedicated, operator: Exists}]", where="nvidia_network_operator"
    ),
}
