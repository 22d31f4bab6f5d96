# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a NicClusterPolicy from the options, and read its status as all releases of the operator write it."""

from __future__ import annotations

import json
import re
import typing as t

from ..._catalogue.well_known import MELLANOX
from ..._core import conditions, references
from ..._core.errors import AcceleratorError, InputError, text_of
from ..._core.objects import KubeObject, at, merge, name
from ..._core.ownership import owned
from ..._core.readiness import Readiness, failed, pending, ready
from ..._nodes.taints import merge_tolerations
from ..clusterpolicy import manifest as policy_manifest
from ..clusterpolicy.default_spec import example_of
from ..clusterpolicy.options import camel
from ..params import StackParams

Data = dict[str, t.Any]

API_VERSION: t.Final = "mellanox.com/v1alpha1"
NAME: t.Final = "nic-cluster-policy"
NAMESPACE: t.Final = "nvidia-network-operator"
PACKAGE: t.Final = "nvidia-network-operator"
# Remedies name the usual namespace: a judge does not know another one.
OPERATOR_LOG: t.Final = f"Run `oc logs -n {NAMESPACE} deployment/nvidia-network-operator-controller-manager`."
DRIVER: t.Final = "doca-driver"
# Option -> (key of the spec, name of its image).
COMPONENTS: t.Final = {
    "ofed_driver": ("ofedDriver", DRIVER),
    "rdma_shared_device_plugin": ("rdmaSharedDevicePlugin", "k8s-rdma-shared-dev-plugin"),
    "sriov_device_plugin": ("sriovDevicePlugin", "sriov-network-device-plugin"),
    "nv_ipam": ("nvIpam", "nvidia-k8s-ipam"),
    "nic_feature_discovery": ("nicFeatureDiscovery", "nic-feature-discovery"),
}
PREFIXES: t.Final = {"rdma_shared_device_plugin": "rdma", "sriov_device_plugin": "nvidia.com"}
_NAME: t.Final = re.compile(r"[A-Za-z0-9_.]+")
_OWN_KEYS: t.Final = ("resources", "cert_config", "repo_config")
# What a node loses to a drain only if the user says so; the operator's own sample has both true.
_KEPT: t.Final = {"upgradePolicy": {"drain": {"force": False, "deleteEmptyDir": False}}}
# What the operator says of a component for which neither it nor `global` names a place of images.
_NO_IMAGE: t.Final = re.compile(r"\b(?:repository|version) is required")
# Reason of a component's condition -> its state, in the words of appliedStates.
_STATES: t.Final = {"ComponentError": "error", "ComponentReady": "ready"}
_IMAGE_REMEDY: t.Final = (
    "Set repository and version of the component in nvidia_network_operator_nic_cluster_policy, or "
    "global.repository and global.version for all components; ofed_driver needs a version of its own."
)


# The sections that a NicNodePolicy can have for its nodes.
OF_NODES: t.Final = ("ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin")


def check(params: StackParams) -> None:
    """Raise InputError for options that cannot work, before the first request."""
    if params.name != NAME:
        message = f"name is {params.name!r}: the operator ignores every NicClusterPolicy but {NAME}."
        raise InputError("INPUT-VALUE", message, f"Leave name out, or set {NAME}.")
    policy_manifest.check_raw(params.spec, "spec")
    asked = params.nic_cluster_policy or {}
    is_empty = not params.spec and not any(asked.get(option) is not None for option in COMPONENTS)
    if params.state == "present" and is_empty:
        raise InputError(
            "INPUT-REQUIRED",
            option="nvidia_network_operator_nic_cluster_policy (module option nic_cluster_policy)",
            example="{ofed_driver: {}}",
            also=f", or has no component: {', '.join(COMPONENTS)}",
        )
    for option in PREFIXES:
        path, part = f"nic_cluster_policy.{option}.resources", asked.get(option)
        entries = (part or {}).get("resources") or []
        if part is not None and not entries and not at(params.spec, f"{COMPONENTS[option][0]}.config"):
            example, why = "[{name: nics, vendors: [15b3]}]", ": the plugin would offer nothing"
            raise InputError("INPUT-REQUIRED", option=path, example=example, also=why)
        for index, entry in enumerate(entries):
            if not _NAME.fullmatch(entry["name"]):
                message = f"{path}[{index}].name is {entry['name']!r}."
                raise InputError("INPUT-VALUE", message, "Allowed are letters, digits, underscores and dots.")


def offered(params: StackParams) -> list[str]:
    """Return the names of the resources that the plugins will offer."""
    asked = params.nic_cluster_policy or {}
    return [
        f"{one.get('prefix') or prefix}/{one['name']}"
        for option, prefix in PREFIXES.items()
        for one in (asked.get(option) or {}).get("resources") or []
    ]


def wished(
    params: StackParams, images: t.Mapping[str, Data], live: t.Mapping[str, t.Any] | None = None
) -> Data:
    """Return the spec that the options ask for; raise InputError if an image is unknown.

    images: name -> {repository, version} of the installed operator. live: the spec of the live object, whose
    images stay unless an option names others.
    """
    asked = params.nic_cluster_policy or {}
    shared = {camel(key): value for key, value in (asked.get("global") or {}).items() if value}
    spec: Data = {"global": shared} if shared else {}
    shared = {**shared, **(params.spec.get("global") or {})}
    for option, (key, image) in COMPONENTS.items():
        part = asked.get(option)
        if part is not None:
            there = (live or {}).get(key) or {}
            found = _image(option, part, image, images, (there, shared))
            kept = _KEPT if option == "ofed_driver" else {}
            spec[key] = merge(kept, {**found, **_plain(part), **_config(option, part)})
    if asked.get("node_affinity"):
        spec["nodeAffinity"] = asked["node_affinity"]
    return t.cast(Data, merge(spec, params.spec))


def build(params: StackParams, images: t.Mapping[str, Data], live: KubeObject | None) -> Data:
    """Return the manifest; it keeps all tolerations of the live object, and the images of one of ours."""
    there = (live or {}).get("spec") or {}
    spec = wished(params, images, there if owned(live) else None)
    theirs = there.get("tolerations")
    if tolerations := merge_tolerations(theirs, params.tolerations, spec.get("tolerations")):
        spec["tolerations"] = tolerations
    return {"apiVersion": API_VERSION, "kind": "NicClusterPolicy", "metadata": {"name": NAME}, "spec": spec}


def images_of(csvs: t.Sequence[Data]) -> dict[str, Data]:
    """Return name -> {repository, version} of the images that the operators name.

    The driver's are those of the example: as related images it has digests alone. The operator takes a digest
    for a driver that was built for one kernel, and builds none.
    """
    found: dict[str, Data] = {}
    for csv in csvs:
        for entry in (csv.get("spec") or {}).get("relatedImages") or []:
            path, mark, digest = str(entry.get("image", "")).partition("@")
            path, colon, tag = (path, ":", digest) if mark else path.rpartition(":")
            repository, slash, name = path.rpartition("/")
            if colon and slash and not (mark and name == DRIVER):
                found[name] = {"repository": repository, "version": digest if mark else tag}
    example = example_of("NicClusterPolicy", csvs).get("ofedDriver") or {}
    if example.get("image") and example.get("version"):
        found[example["image"]] = {key: example.get(key) for key in ("repository", "version")}
    return found


def refuse_twice(wanted: Data, others: t.Iterable[KubeObject], raw: t.Mapping[str, t.Any]) -> None:
    """Raise NIC-TWICE for a section that a NicNodePolicy has too: the operator then serves neither.

    wanted: the NicClusterPolicy. others: the NicNodePolicies. raw: what the user gives in `spec`.
    """
    options = {key: option for option, (key, _image) in COMPONENTS.items()}
    for other in others:
        for key in OF_NODES:
            if key in wanted["spec"] and (other.get("spec") or {}).get(key) is not None:
                where = f"spec.{key}" if key in raw else f"nic_cluster_policy.{options[key]}"
                raise AcceleratorError("NIC-TWICE", where=where, other=name(other), section=key)


def _image(
    option: str, part: Data, name: str, images: t.Mapping[str, Data], others: tuple[Data, Data]
) -> Data:
    """Return image, repository and version; raise InputError if one is unknown: older releases than 26.4
    require all three in each component.

    others: the live component and `global`. The live image stays: another operator may be installed than the
    one it is from. What `global` says is left out, but for the driver's version: it has tags of its own.
    """
    there, shared = others
    name = part.get("image") or there.get("image") or name
    own = there if there.get("image") == name and there.get("version") else images.get(name) or {}
    spared = {key for key in shared if (option, key) != ("ofed_driver", "version")}
    found: Data = {"image": name}
    for key in ("repository", "version"):
        if part.get(key) or key not in spared:
            found[key] = part.get(key) or own.get(key)
    for key, fault in references.faults(found).items():
        where = f"nic_cluster_policy.{option}.{key}"
        raise InputError("INPUT-IMAGE", f"{where} {found[key]!r} {fault}.", f"Correct {where}.")
    if missing := [key for key, value in found.items() if not value]:
        paths = " and ".join(f"nic_cluster_policy.{option}.{key}" for key in missing)
        message = f"{paths} must be given: the installed operator does not say where its image {name} is."
        if shared.get("version") and missing == ["version"]:
            message = f"{paths} must be given: global.version is no tag of the image {name}."
        remedy = f"Set {paths}, as the release notes of the operator have it."
        raise InputError("INPUT-IMAGE", message, remedy)
    return found


def _plain(part: Data) -> Data:
    kept = {
        camel(key): value
        for key, value in part.items()
        if value not in (None, {}) and key not in (*_OWN_KEYS, "image", "repository", "version")
    }
    return kept | {camel(key): {"name": part[key]} for key in ("cert_config", "repo_config") if part.get(key)}


def _config(option: str, part: Data) -> Data:
    """Return the configuration of a plugin as a JSON string; sorted keys keep it equal between runs."""
    entries = part.get("resources")
    if not entries:
        return {}
    is_shared = option == "rdma_shared_device_plugin"
    listed = [_entry(one, {"rdmaHcaMax": one.get("hca_max", 63)} if is_shared else {}) for one in entries]
    return {"config": json.dumps({"configList" if is_shared else "resourceList": listed}, sort_keys=True)}


def _entry(one: Data, more: Data) -> Data:
    selectors = {"vendors": one.get("vendors") or [MELLANOX]}
    if one.get("device_ids"):
        selectors["deviceIDs"] = one["device_ids"]
    keys = ("drivers", "if_names", "link_types", "pf_names", "is_rdma")
    selectors |= {camel(key): one[key] for key in keys if one.get(key)}
    prefix = {"resourcePrefix": one["prefix"]} if one.get("prefix") else {}
    return {"resourceName": one["name"], **prefix, **more, "selectors": selectors}


def object_name(policy: Data) -> str:
    """Return kind and name of the policy."""
    return f"{policy.get('kind') or 'NicClusterPolicy'} {name(policy)}"


def state(policy: Data) -> str:
    return str(at(policy, "status.state") or "")


def components(policy: Data) -> list[Data]:
    """Return name, state and message of each deployed component; every release has appliedStates."""
    return [
        {"name": one["name"].removeprefix("state-"), "state": one["state"], "message": one.get("message", "")}
        for one in at(policy, "status.appliedStates") or []
        if one["state"] != "ignore"
    ]


def judge(policy: Data) -> Readiness:
    status, found = policy.get("status") or {}, state(policy)
    if found == "ignore":
        text = text_of("NIC-IGNORED", policy=name(policy), why=str(status.get("reason")).removesuffix("."))
        return failed("Ignored", **text._asdict())
    own = conditions.find(policy, "Ready")
    seen, now = own.get("observedGeneration") or 0, policy["metadata"].get("generation") or 0
    if 0 < seen < now:
        old = f"its status is older than its last change (generation {seen} of {now})"
        text = text_of("NIC-STATE", policy=object_name(policy), why=f"state {found or 'unknown'}, but {old}")
        return pending("StatusOfBefore", **text._asdict())
    late = _late(policy)
    is_broken = any(one["state"] == "error" for one in late)
    if found == "ready" and own.get("status", "True") == "True" and not is_broken:
        return ready("AllComponentsReady")
    said = "; ".join(
        f"{one['name']} is {one['state']}" + (f": {one['message']}" if one["message"] else "") for one in late
    )
    said = said or str(status.get("reason") or own.get("message") or "it gives no reason")
    text = text_of("NIC-STATE", policy=object_name(policy), why=f"state {found or 'unknown'}: {said}")
    if _NO_IMAGE.search(said):
        text = text._replace(remedy=_IMAGE_REMEDY)
    return (failed if is_broken else pending)("ComponentsNotReady", **text._asdict())


def _late(policy: Data) -> list[Data]:
    """Return the components that are not ready, those in error first.

    Releases from 26.7 on have a condition for each, such as OFEDDriverReady, whose message says more.
    """
    told = (policy.get("status") or {}).get("conditions") or []
    found = [
        {
            "name": str(one["type"]).removesuffix("Ready"),
            "state": _STATES.get(str(one.get("reason")), "notReady"),
            "message": str(one.get("message") or ""),
        }
        for one in told
        if one["type"] not in ("Ready", "Error") and one.get("status") != "True"
    ]
    found = found or [one for one in components(policy) if one["state"] != "ready"]
    return sorted(found, key=lambda one: one["state"] != "error")
