"""A cluster in memory whose operators of networks work at once, and descriptions of networks."""

from __future__ import annotations

import typing as t

from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import pool_label
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._networks import objects, rules, schema
from ansible_collections.accelerators.openshift.plugins.module_utils._networks.schema import Network
from ansible_collections.accelerators.openshift.plugins.module_utils._networks.steps import GpuNetworkParams

SRIOV_KINDS: t.Final = (
    "SriovNetworkNodePolicy",
    "SriovNetworkNodeState",
    "SriovNetworkPoolConfig",
    "SriovNetwork",
    "SriovIBNetwork",
    "SriovOperatorConfig",
)
NIC_KINDS: t.Final = ("MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork", "IPPool", "CIDRPool")
SPACE: t.Final = "nvidia-network-operator"
Given = dict[str, t.Any]


def macvlan(name: str = "storage", **more: t.Any) -> Given:
    return {
        "name": name,
        "kind": "macvlan",
        "pools": ["training"],
        "namespaces": ["team-a"],
        "ipam": {"type": "whereabouts", "range": "192.168.100.0/24"},
        "macvlan": {"master": "ens1f0np0", "mode": "bridge"},
        **more,
    }


def sriov(name: str = "rail-0", /, **more: t.Any) -> Given:
    """Return a network of virtual functions. more: keys of the network, or options of its kind."""
    kind = more.pop("kind", "sriov")
    options = {key: more.pop(key) for key in [*more] if key in schema.OF_KIND["sriov"]}
    return {
        "name": name,
        "kind": kind,
        "pools": ["training"],
        "namespaces": ["team-a"],
        "ipam": {"type": "none"},
        kind: {"vfs": 8, "interfaces": ["ens1f0np0"], **options},
        **more,
    }


def read(*given: Given) -> list[Network]:
    return rules.read(list(given), "gpu_networks")


def card(name: str = "ens1f0np0", **more: t.Any) -> Given:
    return {
        "name": name,
        "pciAddress": "0000:1b:00.0",
        "vendor": "15b3",
        "deviceID": "101d",
        "linkType": "ETH",
        **more,
    }


def state(
    name: str, *cards: Given, sync: str = "Succeeded", doing: str = "Idle", **more: t.Any
) -> KubeObject:
    """Return the state of a node. doing: both annotations. more: of the status."""
    marks = {f"sriovnetwork.openshift.io/{key}-state": doing for key in ("desired", "current")}
    return {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkNodeState",
        "metadata": {"name": name, "namespace": objects.SRIOV_NAMESPACE, "annotations": marks},
        "spec": {},
        "status": {"interfaces": list(cards or [card()]), "syncStatus": sync, **more},
    }


def node(name: str, pool: str = "training", offers: t.Mapping[str, int] | None = None) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": dict(pool_label(pool))},
        "status": {"allocatable": {key: str(number) for key, number in (offers or {}).items()}},
    }


def gpu_pod(name: str, on: str) -> KubeObject:
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    metadata = {"name": name, "namespace": "team-a"}
    spec = {"nodeName": on, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def cluster_network(*entries: Given, **annotations: str) -> KubeObject:
    return {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "Network",
        "metadata": {"name": "cluster", "annotations": annotations},
        "spec": {"additionalNetworks": list(entries)},
    }


def params(*networks: Given, **given: t.Any) -> GpuNetworkParams:
    made = {
        "state": "present",
        "wait": True,
        "wait_timeout": 1800,
        "on_busy": "fail",
        "lock_timeout": 0,
        "networks": list(networks),
        "pools": [],
        "nic_namespace": SPACE,
        "wait_for_driver": False,
        "grace": 30,
        "validation_namespace": "gpu-validation",
        "adopt": "report",
        **given,
    }
    return t.cast(GpuNetworkParams, made)


class World:
    """A cluster with the namespaces team-a and team-b. has: kinds of the operators that are installed.

    refuses: what the webhook of the SR-IOV operator says to policies.
    """

    def __init__(self, *live: KubeObject, has: t.Sequence[str] = (*SRIOV_KINDS, *NIC_KINDS)) -> None:
        self.server = FakeServer("Node", "Pod", "Namespace", "NetworkAttachmentDefinition", *has)
        kind = objects.CLUSTER_NETWORK
        self.server.served[kind.api_version, kind.plural] = kind
        self.clock, self.refuses = FakeClock(), ""
        for space in ("team-a", "team-b"):
            self.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
        for obj in live:
            self.server.put(obj)
        self.server.request = self.answer

    def api(self, **more: t.Any) -> Api:
        self.server.requests.clear()
        return api_on(self.server, self.clock, **more)

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if self.refuses and method == "PATCH" and "/sriovnetworknodepolicies/" in url:
            hook = 'admission webhook "operator-webhook.sriovnetwork.openshift.io" denied the request: '
            return status(403, "Forbidden", hook + self.refuses)
        answered = self.server.answer(method, url, body, **more)
        if method != "GET" and "dryRun" not in url:
            self.operate()
        return answered

    def all(self, plural: str) -> list[KubeObject]:
        return [obj for key, obj in self.server.objects.items() if key[1] == plural]

    def names(self, plural: str) -> list[str]:
        return sorted(obj["metadata"]["name"] for obj in self.all(plural))

    def operate(self) -> None:
        """Make attachments, set up the cards of every node, and give addresses, as the operators do."""
        makers = {kind.plural for kind in objects.MAKERS.values()}
        for obj in [obj for plural in makers for obj in self.all(plural)]:
            metadata = {"name": obj["metadata"]["name"], "namespace": obj["spec"]["networkNamespace"]}
            version = objects.ATTACHMENT.api_version
            self.server.put(
                {"apiVersion": version, "kind": objects.ATTACHMENT.kind, "metadata": metadata, "spec": {}}
            )
        nodes = self.all("nodes")
        for pool in (*self.all("ippools"), *self.all("cidrpools")):
            pool["status"] = {"allocations": [{"nodeName": one["metadata"]["name"]} for one in nodes]}
        for one in nodes:
            self._set_up(one)

    def _set_up(self, one: KubeObject) -> None:
        found = [
            obj
            for obj in self.all("sriovnetworknodestates")
            if obj["metadata"]["name"] == one["metadata"]["name"]
        ]
        for live in found:
            groups, offers = [], {}
            for policy in self.all("sriovnetworknodepolicies"):
                spec = policy["spec"]
                if spec["nodeSelector"].items() <= one["metadata"]["labels"].items():
                    name, number = spec["resourceName"], spec["numVfs"]
                    entry = {"policyName": policy["metadata"]["name"], "resourceName": name}
                    groups.append({**entry, "vfRange": f"0-{number - 1}"})
                    offers[f"openshift.io/{name}"] = str(number)
            numbers = {"numVfs": max((int(number) for number in offers.values()), default=0)}
            wanted = {**card(), **numbers, "vfGroups": groups}
            live["spec"] = {"interfaces": [wanted] if groups else []}
            live["status"]["interfaces"][0]["numVfs"] = numbers["numVfs"]
            one["status"]["allocatable"] = offers
