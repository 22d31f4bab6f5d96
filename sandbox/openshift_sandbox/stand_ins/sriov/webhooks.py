# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the webhooks of the SR-IOV operator, in the words of v1.6.0.

One judges policies and configurations; the other, the network resources injector, adds the resources of a
pod's networks to its first container. The real ones are Deployments in the operator's namespace.
"""

from __future__ import annotations

import re
import typing as t

from openshift_sandbox.client import Client
from openshift_sandbox.stand_ins.cluster_network.attachments import RESOURCE, wanted
from openshift_sandbox.stand_ins.core.webhooks import Denial, Patch
from openshift_sandbox.stand_ins.sriov.names import API, DEFAULT, NAMESPACE
from openshift_sandbox.stand_ins.sriov.policies import MOST_VFS, VFIO, fits, pf_range, selects

Object = dict[str, t.Any]

NAME: t.Final = re.compile(r"^[a-zA-Z0-9_]+$")
# Vendor -> devices that the ConfigMap supported-nic-ids lists.
SUPPORTED: t.Final = {
    "15b3": ("1013", "1015", "1017", "1019", "101b", "101d", "101f", "1021", "1023", "a2d6", "a2dc"),
    "8086": ("158a", "158b", "1572", "1563", "1592", "1593", "159b", "1591"),
    "14e4": ("16d7", "1750"),
}


def review(request: Object, client: Client) -> Denial | None:
    """Judge a change of the operator's kinds."""
    if request["operation"] == "DELETE":
        return None
    obj = request["object"]
    text = ""
    if obj["kind"] == "SriovOperatorConfig":
        text = judge_config(
            obj, client.list(API, "sriovnetworknodestates", NAMESPACE), request.get("oldObject")
        )
    elif obj["kind"] == "SriovNetworkPoolConfig":
        text = judge_pool(obj)
    elif obj["metadata"]["name"] != DEFAULT:
        text = judge_policy(obj) or judge_places(
            obj,
            client.list("v1", "nodes"),
            client.list(API, "sriovnetworknodestates", NAMESPACE),
            client.list(API, "sriovnetworknodepolicies", NAMESPACE),
        )
    # The real one writes its text into the reason, and the API server makes the message of it.
    return Denial("", 400, text) if text else None


def default(request: Object) -> Patch | None:
    """Set the priority of a new policy, and isRdma: true where the links are InfiniBand."""
    spec = request["object"]["spec"]
    wanted = {"priority": 99, "isRdma": False} | {
        key: spec[key] for key in ("priority", "isRdma") if key in spec
    }
    if str(spec.get("linkType", "")).upper() == "IB":
        wanted["isRdma"] = True
    operations = [
        {"op": "add", "path": f"/spec/{key}", "value": value}
        for key, value in wanted.items()
        if key not in spec or spec[key] != value
    ]
    return Patch(operations) if operations else None


def judge_config(config: Object, states: t.Iterable[Object], old: Object | None) -> str:
    """Return why a SriovOperatorConfig is refused."""
    metadata = config["metadata"]
    if (metadata["name"], metadata["namespace"]) != (DEFAULT, NAMESPACE):
        return f"only default SriovOperatorConfig in {NAMESPACE} namespace is used"
    if config["spec"].get("disableDrain") and old and not old["spec"].get("disableDrain"):
        for state in states:
            if (state.get("status") or {}).get("syncStatus") == "InProgress":
                name = state["metadata"]["name"]
                return f"can't set Spec.DisableDrain = true while node[{name}] is updating"
    return ""


def judge_pool(pool: Object) -> str:
    """Return why a SriovNetworkPoolConfig is refused."""
    spec = pool["spec"]
    is_parallel = "maxUnavailable" in spec or "nodeSelector" in spec
    if is_parallel and (spec.get("ovsHardwareOffloadConfig") or {}).get("name"):
        return "SriovOperatorConfig can't have both parallel configuration and OvsHardwareOffloadConfig"
    return ""


def judge_policy(policy: Object) -> str:
    """Return what is wrong with a policy wherever it is used."""
    spec, name, selector = policy["spec"], policy["metadata"]["name"], policy["spec"].get("nicSelector") or {}
    if not NAME.match(spec["resourceName"]):
        return (
            f'resource name "{spec["resourceName"]}" contains invalid characters, the accepted syntax of the '
            f'regular expressions is: "{NAME.pattern}"'
        )
    if not any(selector.get(key) for key in ("vendor", "deviceID", "pfNames", "rootDevices", "netFilter")):
        return (
            "at least one of these parameters (vendor, deviceID, pfNames, rootDevices or netFilter) has to "
            f"be defined in nicSelector in CR {name}"
        )
    if problem := _unsupported(selector) or _wrong_range(spec, selector):
        return problem
    if spec.get("deviceType") == VFIO and spec.get("isRdma"):
        return (
            "'deviceType: vfio-pci' conflicts with 'isRdma: true'; Set 'deviceType' to (string)'netdevice' "
            "Or Set 'isRdma' to (bool)'false'"
        )
    if spec.get("linkType", "eth").lower() != "eth" and spec.get("eSwitchMode") == "switchdev":
        return "'eSwitchMode: switchdev' can be used only with ethernet links"
    return ""


def _unsupported(selector: Object) -> str:
    vendor, device = selector.get("vendor"), selector.get("deviceID")
    if vendor and vendor not in SUPPORTED:
        return f"vendor {vendor} is not supported"
    if vendor and device and device not in SUPPORTED[vendor]:
        return f"vendor/device {vendor}/{device} is not supported"
    if device and not vendor and not any(device in known for known in SUPPORTED.values()):
        return f"device {device} is not supported"
    return ""


def _wrong_range(spec: Object, selector: Object) -> str:
    for text in selector.get("pfNames") or []:
        if "#" not in text:
            continue
        if not re.fullmatch(r"[^#]+#\d+-\d+", text):
            return f"failed to parse {text} PF name nicSelector, probably incorrect range character usage"
        _name, first, last = pf_range(text)
        if last < first:
            return (
                f"failed to parse {text} PF name nicSelector, end range shall not be smaller than start range"
            )
        if last >= spec["numVfs"]:
            return f"failed to parse {text} PF name nicSelector, end range exceeds the maximum VF index "
    return ""


def judge_places(
    policy: Object, nodes: t.Sequence[Object], states: t.Sequence[Object], policies: t.Sequence[Object]
) -> str:
    """Return what is wrong with a policy on the nodes of this cluster."""
    name, numbers = policy["metadata"]["name"], policy["spec"]["numVfs"]
    chosen = [node for node in nodes if selects(policy, node)]
    if not chosen:
        return f"no matched node is selected by the nodeSelector in CR {name}"
    has_interface = False
    by_name = {state["metadata"]["name"]: state for state in states}
    for node in chosen:
        state = by_name.get(node["metadata"]["name"]) or {}
        for interface in (state.get("status") or {}).get("interfaces") or []:
            if not fits(policy["spec"]["nicSelector"], interface):
                continue
            has_interface = True
            if numbers == 0:
                return f"numVfs({numbers}) in CR {name} is not allowed"
            if numbers > MOST_VFS:
                return (
                    f"numVfs({numbers}) in CR {name} exceed the maximum allowed value({MOST_VFS}) "
                    f"interface({interface['name']})"
                )
        for other in policies:
            is_other = other["metadata"]["name"] not in (name, DEFAULT) and selects(other, node)
            if is_other and (problem := _conflict(policy, other)):
                return problem
    return "" if has_interface else f"no supported NIC is selected by the nicSelector in CR {name}"


def _conflict(policy: Object, other: Object) -> str:
    """Return why two policies of one node exclude each other. Like the real one it compares names only."""
    mine, theirs, name = policy["spec"], other["spec"], other["metadata"]["name"]
    for text in mine["nicSelector"].get("pfNames") or []:
        pf, first, last = pf_range(text)
        for other_text in theirs["nicSelector"].get("pfNames") or []:
            other_pf, other_first, other_last = pf_range(other_text)
            if pf != other_pf:
                continue
            if bool(mine.get("externallyManaged")) != bool(theirs.get("externallyManaged")):
                return f"externallyManage is inconsistent with existing policy {name}"
            if not (last < other_first or first > other_last):
                return f"VF index range in {text} is overlapped with existing policy {name}"
    for device in mine["nicSelector"].get("rootDevices") or []:
        if device in (theirs["nicSelector"].get("rootDevices") or []):
            return f"root device {device} is overlapped with existing policy {name}"
    return ""


def inject(request: Object, client: Client) -> Denial | Patch | None:
    """Add requests for the devices of a pod's networks; refuse a pod whose network is not there."""
    pod = request["object"]
    pod = pod | {"metadata": {"namespace": request["namespace"]} | pod["metadata"]}
    counts: dict[str, int] = {}
    for network in wanted(pod):
        found = client.get(
            "k8s.cni.cncf.io/v1", "network-attachment-definitions", network.name, network.namespace
        )
        if found is None:
            return Denial(
                f"could not find network attachment definition '{network.namespace}/{network.name}': could "
                f"not get Network Attachment Definition {network.namespace}/{network.name}: the server could "
                "not find the requested resource",
                400,
                "",
            )
        if resource := (found["metadata"].get("annotations") or {}).get(RESOURCE):
            counts[resource] = counts.get(resource, 0) + 1
    asked = {
        name
        for one in pod["spec"]["containers"]
        for part in ("requests", "limits")
        for name in (one.get("resources") or {}).get(part) or {}
    }
    missing = {name: str(count) for name, count in counts.items() if name not in asked}
    if not missing:
        return None
    known = pod["spec"]["containers"][0].get("resources") or {}
    value = known | {part: (known.get(part) or {}) | missing for part in ("requests", "limits")}
    return Patch([{"op": "add", "path": "/spec/containers/0/resources", "value": value}])
