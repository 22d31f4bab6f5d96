# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pointers of nodes and pods: the label that names a profile, the name of a ConfigMap, a Secret or a claim.

A pointer to nothing is the cause of what a pod then says, so it is checked before a pod is blamed.
"""

from __future__ import annotations

import re
import typing as t

from .._catalogue.well_known import MIG_CONFIG, PLUGIN_CONFIG, VGPU_CONFIG
from .._core.codes.code import Code
from .._core.errors import text_of
from .._core.objects import KubeObject, at, name
from .._nodes.labels import labels

_FILE: t.Final = "config.yaml"
# The plugin takes no smaller number of replicas.
_FEWEST: t.Final = 2
_REPLICAS: t.Final = re.compile(r"[\"']?\breplicas[\"']?\s*:\s*[\"']?(-?\d+)")
# Label -> the line in its file below which the layouts are.
_HEADS: t.Final = {MIG_CONFIG: "mig-configs", VGPU_CONFIG: "vgpu-configs"}
_ENTRY: t.Final = re.compile(r"""^(\s+)["']?([^\s"':#-][^\s"':#]*)["']?\s*:""")
# The operator makes these itself.
_OPERATORS: t.Final = ("default-mig-parted-config", "default-vgpu-devices-config")


class Label(t.NamedTuple):
    """A label of a node that chooses a profile in a ConfigMap.

    value: the chosen one. config_map: empty if the ClusterPolicy names none. is_default: the ClusterPolicy
    chooses, since the node has no such label.
    """

    key: str
    node: str
    value: str
    config_map: str
    is_default: bool = False

    @property
    def words(self) -> str:
        if self.is_default:
            return f"The ClusterPolicy's devicePlugin.config.default for node {self.node} is {self.value}"
        return f"Node {self.node} has the label {self.key}={self.value}"


class Name(t.NamedTuple):
    """An object that a pod names. place: where in the pod. keys: those that the pod needs of it."""

    kind: str
    name: str
    place: str
    keys: tuple[str, ...] = ()


def of_node(node: KubeObject, policy: KubeObject) -> list[Label]:
    """Return the labels of the node that choose profiles, with the ConfigMaps that the policy names."""
    marks, object_name, spec = labels(node), name(node), policy.get("spec") or {}
    plugin = at(spec, "devicePlugin.config") or {}
    found = []
    if value := marks.get(PLUGIN_CONFIG) or plugin.get("default"):
        is_default = not marks.get(PLUGIN_CONFIG)
        found.append(Label(PLUGIN_CONFIG, object_name, str(value), str(plugin.get("name") or ""), is_default))
    for key, part in ((MIG_CONFIG, "migManager"), (VGPU_CONFIG, "vgpuDeviceManager")):
        config_map = at(spec, f"{part}.config.name")
        if marks.get(key) and config_map:
            found.append(Label(key, object_name, marks[key], str(config_map)))
    return found


def keys_of(label: Label, config_map: KubeObject) -> list[str]:
    """Return what the label may choose in the ConfigMap."""
    data = config_map.get("data") or {}
    if label.key == PLUGIN_CONFIG:
        return sorted(data)
    lines = str(data.get(_FILE) or "").splitlines()
    heads = [at for at, line in enumerate(lines) if line.startswith(f"{_HEADS[label.key]}:")]
    found = [one for line in lines[heads[0] + 1 :] if (one := _ENTRY.match(line))] if heads else []
    return sorted({one[2] for one in found if one[1] == found[0][1]})


def judge_label(label: Label, config_map: KubeObject | None, namespace: str) -> Code | None:
    """Return what is wrong with the label and its ConfigMap; without a code it is only a hint."""
    if not label.config_map:
        return _without_map(label) if not label.is_default else None
    if config_map is None and label.config_map in _OPERATORS:
        return None
    if config_map is None:
        return missing(f"{label.words}, and the ClusterPolicy", "ConfigMap", label.config_map, namespace)
    there = keys_of(label, config_map)
    has = ", ".join(there) or "nothing"
    if not there and label.key != PLUGIN_CONFIG:
        # Written in a form that is not read here.
        return None
    if label.value not in there:
        return text_of(
            "GPU-PROFILE",
            wrong_choice=label.words,
            config_map=label.config_map,
            namespace=namespace,
            keys=has,
            value=label.value,
            also=_otherwise(label, there),
        )
    text = str((config_map.get("data") or {})[label.value]) if label.key == PLUGIN_CONFIG else ""
    if few := next((one for one in _REPLICAS.findall(text) if int(one) < _FEWEST), None):
        return text_of(
            "GPU-PROFILE-REPLICAS",
            wrong_choice=label.words,
            config_map=label.config_map,
            namespace=namespace,
            keys=has,
            value=label.value,
            number=few,
            fewest=_FEWEST,
        )
    return None


def _without_map(label: Label) -> Code:
    said = f"{label.words}, and the ClusterPolicy names no ConfigMap for it, so it has no effect."
    return Code("", said, "")


def _otherwise(label: Label, there: t.Sequence[str]) -> str:
    """Return the other way to a profile that exists, as the end of a remedy."""
    if label.is_default:
        return ", or set devicePlugin.config.default in gpu_operator_spec to one that exists"
    if not there:
        return ""
    best = next((one for one in there if one.startswith(label.value[:4])), there[0])
    change = f"{label.node} {label.key}={best} --overwrite"
    if label.key == PLUGIN_CONFIG:
        return f"; or run `oc label node {change}`, which ends only pods that share by MPS"
    return f"; or run `oc label node {change}`, which cuts the GPUs anew and ends the pods that use them"


def of_pod(pod: KubeObject) -> list[Name]:
    """Return the ConfigMaps, Secrets and claims that the pod cannot start without."""
    spec, found = pod["spec"], []
    for volume in spec.get("volumes") or []:
        place = f"volume {volume.get('name')}"
        for one in [volume, *(at(volume, "projected.sources") or [])]:
            found += _of_source("ConfigMap", one.get("configMap"), "name", place)
            found += _of_source("Secret", one.get("secret"), "secretName", place)
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        place = f"env of container {container['name']}"
        for one in container.get("envFrom") or []:
            found += _of_source("ConfigMap", one.get("configMapRef"), "name", place)
            found += _of_source("Secret", one.get("secretRef"), "name", place)
        for one in container.get("env") or []:
            source = one.get("valueFrom") or {}
            found += _of_source("ConfigMap", source.get("configMapKeyRef"), "name", place)
            found += _of_source("Secret", source.get("secretKeyRef"), "name", place)
    for one in spec.get("resourceClaims") or []:
        place = f"claim {one.get('name')}"
        found += _of_source("ResourceClaimTemplate", one, "resourceClaimTemplateName", place)
        found += _of_source("ResourceClaim", one, "resourceClaimName", place)
    return list(dict.fromkeys(found))


def pull_secrets(pod: KubeObject) -> list[Name]:
    """Return the Secrets with which the pod pulls its images; it starts without them if nobody asks."""
    return [
        Name("Secret", one["name"], "imagePullSecrets")
        for one in pod["spec"].get("imagePullSecrets") or []
        if one.get("name")
    ]


def _of_source(kind: str, source: KubeObject | None, field: str, place: str) -> list[Name]:
    object_name = (source or {}).get(field) or (source or {}).get("name" if kind == "Secret" else field)
    if not source or source.get("optional") or not object_name:
        return []
    keys = [source.get("key"), *(one.get("key") for one in source.get("items") or [])]
    return [Name(kind, str(object_name), place, tuple(str(one) for one in keys if one))]


def judge_name(pod: KubeObject, found: Name, live: KubeObject | None) -> Code | None:
    """Return what is wrong with an object that the pod names; live: None if it does not exist."""
    namespace = pod["metadata"]["namespace"]
    who = f"Pod {name(pod)}"
    if live is None:
        return missing(who, found.kind, found.name, namespace, place=found.place)
    there = {*(live.get("data") or {}), *(live.get("binaryData") or {})}
    lacking = [one for one in found.keys if one not in there]
    if not lacking or found.kind != "ConfigMap":
        return None
    has = ", ".join(sorted(there)) or "nothing"
    key, place = lacking[0], f" ({found.place})"
    return text_of("GPU-CP-KEY", who=who, name=found.name, key=key, namespace=namespace, keys=has, also=place)


def missing(
    who: str, kind: str, object_name: str, namespace: str, option: str = "the name", place: str = ""
) -> Code:
    """Return the text about an object that is named and does not exist. option: which names it."""
    secret = "secret docker-registry" if "pullsecret" in option.lower().replace("_", "") else "secret generic"
    text = text_of(
        "GPU-CP-REFERENCE",
        who=who,
        kind=kind,
        name=object_name,
        namespace=namespace,
        resource="configmap" if kind == "ConfigMap" else secret,
        option=option,
        also=f" ({place})" if place else "",
    )
    if kind in ("ConfigMap", "Secret"):
        return text
    return text._replace(
        remedy=f"Run `oc apply -n {namespace} -f FILE` with {kind} {object_name}, or correct {option}."
    )
