# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the ClusterServiceVersion of one version of a package from the package's data file."""

from __future__ import annotations

import json
import typing as t

Data = dict[str, t.Any]

INSTALL_MODES: t.Final = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
VERBS: t.Final = {
    "all": ["create", "delete", "get", "list", "patch", "update", "watch"],
    "read": ["get", "list", "watch"],
}
# No node has this role, so the pod stays Pending, as on a cluster that lost its infra nodes.
# The deadline makes OLM report that within seconds.
FAILING: t.Final[Data] = {
    "node_selector": {"node-role.kubernetes.io/infra": ""},
    "progressDeadlineSeconds": 5,
}


def csv_name(data: Data, version: str) -> str:
    """Return the name of the ClusterServiceVersion of a version."""
    return f"{data['package']}.v{version}"


def cluster_service_version(
    data: Data, version: str, crds: t.Sequence[Data], replaces: str | None = None, failing: bool = False
) -> Data:
    """Return the ClusterServiceVersion; with `failing` its Deployment never becomes available."""
    spec: Data = {
        "displayName": data["display_name"],
        "description": data["description"],
        "version": version,
        "maturity": "stable",
        "provider": {"name": data["provider"]},
        "keywords": data["keywords"],
        "installModes": [
            {"type": mode, "supported": mode in data["install_modes"]} for mode in INSTALL_MODES
        ],
        "customresourcedefinitions": {"owned": [_owned(crd) for crd in crds]},
        "relatedImages": _related_images(data, version),
        "install": {"strategy": "deployment", "spec": _install(data, version, failing)},
    }
    if replaces:
        spec["replaces"] = replaces
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": csv_name(data, version),
            "namespace": "placeholder",
            "annotations": _annotations(data, version),
            "labels": _labels(data),
        },
        "spec": spec,
    }


def _annotations(data: Data, version: str) -> dict[str, str]:
    annotations = {
        "alm-examples": json.dumps(data["examples"], indent=2),
        "capabilities": "Deep Insights",
        "categories": data["categories"],
        "certified": "true" if data["catalog"] == "certified-operators" else "false",
        "containerImage": data["deployment"]["image"].format(version=version),
        "description": data["description"],
        "operatorframework.io/suggested-namespace": data["namespace"],
        "support": data["provider"],
    }
    if skip_range := data.get("skip_range"):
        annotations["olm.skipRange"] = skip_range.format(version=version)
    return annotations


def _labels(data: Data) -> dict[str, str]:
    return {f"operatorframework.io/arch.{arch}": "supported" for arch in data["architectures"]}


def _related_images(data: Data, version: str) -> list[Data]:
    own = data["deployment"].get("image_name", f"{data['package']}-image")
    images = {own: data["deployment"]["image"], **_images(data, version)}
    return [{"name": name, "image": image.format(version=version)} for name, image in images.items()]


def _images(data: Data, version: str) -> Data:
    """Return the images of the operands; a version may have others than the newest one, or fewer.

    An image is a text, or its place and its digest.
    """
    found = {**data.get("images", {}), **data.get("images_of", {}).get(version, {})}
    return {
        name: image if isinstance(image, str) else "@".join(image)
        for name, image in found.items()
        if image is not None
    }


def _env_name(data: Data, image: str) -> str:
    return str(data.get("env_names", {}).get(image) or image.upper().replace("-", "_"))


def _owned(crd: Data) -> Data:
    spec = crd["spec"]
    stored = next(version["name"] for version in spec["versions"] if version["storage"])
    return {
        "name": crd["metadata"]["name"],
        "kind": spec["names"]["kind"],
        "version": stored,
        "displayName": spec["names"]["kind"],
    }


def _install(data: Data, version: str, failing: bool) -> Data:
    account = data["deployment"]["service_account"]
    return {
        "clusterPermissions": [
            {
                "serviceAccountName": account,
                "rules": [_rule(rule) for rule in data.get("cluster_permissions", [])],
            }
        ],
        "permissions": [
            {"serviceAccountName": account, "rules": [_rule(rule) for rule in data.get("permissions", [])]}
        ],
        "deployments": [_deployment(data, version, failing)],
    }


def _rule(rule: Data) -> Data:
    verbs = rule["verbs"]
    return {
        "apiGroups": rule["groups"],
        "resources": rule["resources"],
        "verbs": VERBS[verbs] if isinstance(verbs, str) else verbs,
    }


def _deployment(data: Data, version: str, failing: bool) -> Data:
    wanted = data["deployment"]
    container = {
        "name": wanted["name"],
        "image": wanted["image"].format(version=version),
        "command": wanted["command"],
        "args": wanted.get("args", []),
        "env": [
            {"name": "OPERATOR_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            *(
                {"name": _env_name(data, name), "value": image.format(version=version)}
                for name, image in _images(data, version).items()
            ),
        ],
        "resources": {"requests": wanted["requests"]},
        "securityContext": {"allowPrivilegeEscalation": False},
    }
    pod: Data = {
        "serviceAccountName": wanted["service_account"],
        "terminationGracePeriodSeconds": 10,
        "containers": [container],
    }
    if "tolerations" in wanted:
        pod["tolerations"] = wanted["tolerations"]
    if "priority_class" in wanted:
        pod["priorityClassName"] = wanted["priority_class"]
    if failing:
        pod["nodeSelector"] = FAILING["node_selector"]
    deployment: Data = {
        "replicas": 1,
        "selector": {"matchLabels": wanted["labels"]},
        "template": {"metadata": {"labels": wanted["labels"]}, "spec": pod},
    }
    if failing:
        deployment["progressDeadlineSeconds"] = FAILING["progressDeadlineSeconds"]
    return {"name": wanted["name"], "spec": deployment}
