# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a NicClusterPolicy from the options, and read its status as all releases of the operator write it."""

from __future__ import annotations

import json
import re
import typing as t

from ..._core import conditions, references
from ..._core.errors import InputError, text_of
from ..._core.objects import KubeObject, at, merge
from ..._core.ownership import owned
from ..._core.readiness import Readiness, failed, pending, ready
from ..._nodes.taints import merge_tolerations
from ..clusterpolicy import manifest as policy_manifest
from ..clusterpolicy.options import camel
from ..params import StackParams

Data = dict[str, t.Any]

API_VERSION: t.Final = "mellanox.com/v1alpha1"
NAME: t.Final = "nic-cluster-policy"
NAMESPACE: t.Final = "nvidia-network-operator"
# Remedies name the usual namespace: a judge does not know another one.
OPERATOR_LOG: t.Final = f"Run `oc logs -n {NAMESPACE} deployment/nvidia-network-operator-controller-manager`."
VENDOR: t.Final = "15b3"
# Option -> (key of the spec, name of its image).
COMPONENTS: t.Final = {
    "ofed_driver": ("ofedDriver", "doca-driver"),
    "rdma_shared_device_plugin": ("rdmaSharedDevicePlugin", "k8s-rdma-shared-dev-plugin"),
    "sriov_device_plugin": ("sriovDevicePlugin", "sriov-network-device-plugin"),
    "nv_ipam": ("nvIpam", "nvidia-k8s-ipam"),
    "nic_feature_discovery": ("nicFeatureDiscovery", "nic-feature-discovery"),
}
PREFIXES: t.Final = {"rdma_shared_device_plugin": "rdma", "sriov_device_plugin": "nvidia.com"}
_NAME: t.Final = re.compile(r"[A-Za-z0-9_.]+")
_OWN_KEYS: t.Final = ("resources", "cert_config", "repo_config")


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
            "INPUT-MISSING",
            option="nvidia_network_operator_nic_cluster_policy (module option nic_cluster_policy)",
            example="{ofed_driver: {}}",
            also=f", or has no component: {', '.join(COMPONENTS)}",
        )
    for option in PREFIXES:
        path, part = f"nic_cluster_policy.{option}.resources", asked.get(option)
        entries = (part or {}).get("resources") or []
        if part is not None and not entries and not at(params.spec, f"{COMPONENTS[option][0]}.config"):
            example, why = "[{name: nics, vendors: [15b3]}]", ": the plugin would offer nothing"
            raise InputError("INPUT-MISSING", option=path, example=example, also=why)
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
    spec: Data = {}
    for option, (key, image) in COMPONENTS.items():
        part = asked.get(option)
        if part is not None:
            there = (live or {}).get(key) or {}
            found = _image(option, part, image, images, there)
            spec[key] = {**found, **_plain(part), **_config(option, part)}
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


def images_of(csvs: t.Iterable[Data]) -> dict[str, Data]:
    """Return name -> {repository, version} of the related images of installed operators."""
    found: dict[str, Data] = {}
    for csv in csvs:
        for entry in (csv.get("spec") or {}).get("relatedImages") or []:
            path, mark, digest = str(entry.get("image", "")).partition("@")
            path, colon, tag = (path, ":", digest) if mark else path.rpartition(":")
            repository, slash, name = path.rpartition("/")
            if colon and slash:
                found[name] = {"repository": repository, "version": digest if mark else tag}
    return found


def _image(option: str, part: Data, name: str, images: t.Mapping[str, Data], there: Data) -> Data:
    """Return image, repository and version; raise InputError if one is unknown: older releases than 26.4
    require all three in each component.

    there: the live component. Its image stays: another operator may be installed than the one it is from.
    """
    name = part.get("image") or there.get("image") or name
    own = there if there.get("image") == name and there.get("version") else images.get(name) or {}
    found = {
        "image": name,
        "repository": part.get("repository") or own.get("repository"),
        "version": part.get("version") or own.get("version"),
    }
    for key, fault in references.faults(found).items():
        where = f"nic_cluster_policy.{option}.{key}"
        raise InputError("INPUT-IMAGE", f"{where} {found[key]!r} {fault}.", f"Correct {where}.")
    if missing := [key for key, value in found.items() if not value]:
        paths = " and ".join(f"nic_cluster_policy.{option}.{key}" for key in missing)
        message = f"{paths} must be given: the installed operator does not say where its image {name} is."
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
    selectors = {"vendors": one.get("vendors") or [VENDOR]}
    if one.get("device_ids"):
        selectors["deviceIDs"] = one["device_ids"]
    keys = ("drivers", "if_names", "link_types", "pf_names", "is_rdma")
    selectors |= {camel(key): one[key] for key in keys if one.get(key)}
    prefix = {"resourcePrefix": one["prefix"]} if one.get("prefix") else {}
    return {"resourceName": one["name"], **prefix, **more, "selectors": selectors}


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
        text = text_of("NIC-IGNORED", policy=NAME, why=str(status.get("reason")).removesuffix("."))
        return failed("Ignored", **text._asdict())
    own = conditions.find(policy, "Ready")
    seen, now = own.get("observedGeneration") or 0, policy["metadata"].get("generation") or 0
    if found == "ready" and 0 < seen < now:
        old = f"state ready, but its status is older than its last change (generation {seen} of {now})"
        text = text_of("NIC-STATE", policy=NAME, why=old)
        return pending("StatusOfBefore", **text._asdict())
    if found == "ready" and own.get("status", "True") == "True":
        return ready("AllComponentsReady")
    late = [one for one in components(policy) if one["state"] != "ready"]
    said = "; ".join(
        f"{one['name']} is {one['state']}" + (f": {one['message']}" if one["message"] else "") for one in late
    )
    said = said or str(status.get("reason") or "it gives no reason")
    make = failed if any(one["state"] == "error" for one in late) else pending
    text = text_of("NIC-STATE", policy=NAME, why=f"state {found or 'unknown'}: {said}")
    return make("ComponentsNotReady", **text._asdict())
