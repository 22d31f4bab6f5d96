# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that describe an OpenShift cluster: version, infrastructure, pools, images, roles."""

from __future__ import annotations

import typing as t

from openshift_sandbox.catalogue import images
from openshift_sandbox.seed import access, image_mirrors, more_sets, pools
from openshift_sandbox.seed.nodes import MACHINE_NAMESPACE, Object, rendered
from openshift_sandbox.seed.platforms.registry import platform as platform_of
from openshift_sandbox.seed.pools import INSTALLED, as_expected

CONFIG: t.Final = "config.openshift.io/v1"
REGISTRY: t.Final = "image-registry.openshift-image-registry.svc:5000"
NAMESPACES: t.Final = (
    "openshift",
    "openshift-cluster-node-tuning-operator",
    "openshift-cluster-version",
    "openshift-config",
    "openshift-config-managed",
    "openshift-console",
    "openshift-ingress",
    MACHINE_NAMESPACE,
    "openshift-machine-config-operator",
    "openshift-monitoring",
    "openshift-multus",
    "openshift-user-workload-monitoring",
)
OPERATORS: t.Final = (
    "console",
    "machine-api",
    "machine-config",
    "monitoring",
    "node-tuning",
    "operator-lifecycle-manager",
)


def namespaces() -> list[Object]:
    """Return the Namespaces of OpenShift."""
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in NAMESPACES]


def objects(cluster: Object) -> list[Object]:
    """Return all objects that describe the cluster itself."""
    return [
        infrastructure(cluster),
        cluster_version(cluster),
        _config("DNS", {"baseDomain": cluster["base_domain"]}, {}),
        _config("Proxy", {"trustedCA": {"name": ""}}, {}),
        _config(
            "OperatorHub", {"disableAllDefaultSources": True} if cluster.get("mirrored_catalogs") else {}, {}
        ),
        *(cluster_operator(cluster, name) for name in OPERATORS),
        *(one for pool in counts(cluster) for one in pools.machine_configs(cluster, pool)),
        *(pools.machine_config_pool(cluster, pool, count) for pool, count in counts(cluster).items()),
        network(),
        *([console()] if "Console" in cluster["capabilities"] else []),
        driver_toolkit(cluster),
        command_line(cluster),
        *image_mirrors.objects(cluster),
        *access.secrets(cluster),
        *access.restricted_role(),
        access.administrators(),
    ]


def counts(cluster: Object) -> dict[str, int]:
    """Return how many nodes each pool has; a hosted control plane has no pools."""
    if cluster.get("control_plane_topology") == "External":
        return {}
    other = [one.get("role", "worker") for one in cluster.get("nodes", [])]
    workers = cluster["workers"]["replicas_per_zone"] * len(cluster["zones"]) + other.count("worker")
    workers += more_sets.linux(cluster)
    return {
        "master": cluster["control_plane"]["replicas"] + len(other) - other.count("worker"),
        "worker": workers,
    }


def infrastructure(cluster: Object) -> Object:
    """Return the Infrastructure."""
    platform, domain = cluster["platform"], cluster["base_domain"]
    status: Object = {
        "infrastructureName": cluster["infrastructure_name"],
        "platform": platform,
        "platformStatus": {"type": platform} | platform_of(cluster).platform_status(cluster),
        "apiServerURL": f"https://api.{domain}:6443",
        "apiServerInternalURI": f"https://api-int.{domain}:6443",
        "controlPlaneTopology": cluster.get("control_plane_topology", "HighlyAvailable"),
        "infrastructureTopology": cluster.get("infrastructure_topology", "HighlyAvailable"),
        "cpuPartitioning": "None",
        "etcdDiscoveryDomain": "",
    }
    return _config(
        "Infrastructure",
        {
            "cloudConfig": {"name": ""},
            "platformSpec": {"type": platform} | platform_of(cluster).platform_spec(cluster),
        },
        status,
    )


def cluster_version(cluster: Object) -> Object:
    """Return the ClusterVersion, with the updates that the scenario offers."""
    version, capabilities = str(cluster["version"]), sorted(cluster["capabilities"])
    image = _image(cluster, "ocp-release", version)
    entry = {
        "state": "Completed",
        "version": version,
        "image": image,
        "startedTime": INSTALLED,
        "completionTime": INSTALLED,
        "verified": False,
    }
    conditions = [
        ("Available", "True", f"Done applying {version}"),
        ("Failing", "False", ""),
        ("Progressing", "False", f"Cluster version is {version}"),
    ]
    available, conditional = cluster.get("available_updates") or [], cluster.get("conditional_updates") or []
    conditions += [("RetrievedUpdates", "True", "")] if available or conditional else []
    status = {
        "desired": {"version": version, "image": image},
        "history": [entry],
        "observedGeneration": 1,
        "versionHash": "sandbox",
        "availableUpdates": [update(cluster, one) for one in available] or None,
        **(
            {"conditionalUpdates": [conditional_update(cluster, one) for one in conditional]}
            if conditional
            else {}
        ),
        "capabilities": {"enabledCapabilities": capabilities, "knownCapabilities": capabilities},
        "conditions": [as_expected(*one) for one in conditions],
    }
    spec = {"channel": cluster["channel"], "clusterID": "5f2c1c1e-7a53-4d0b-9c55-2f7e0a9b6c11"}
    return _config("ClusterVersion", spec, status, name="version")


def update(cluster: Object, version: str) -> Object:
    """Return a release as the ClusterVersion offers it."""
    return {
        "version": version,
        "image": _image(cluster, "ocp-release", version),
        "url": f"https://access.redhat.com/errata/{version}",
    }


def conditional_update(cluster: Object, one: Object) -> Object:
    """Return a release with one risk (version, name and message), which applies to this cluster."""
    name, message = one["name"], one["message"]
    risk = {
        "name": name,
        "message": message,
        "url": f"https://access.redhat.com/{name}",
        "matchingRules": [{"type": "Always"}],
    }
    condition = as_expected("Recommended", "False", message) | {"reason": name}
    return {"release": update(cluster, one["version"]), "risks": [risk], "conditions": [condition]}


def cluster_operator(cluster: Object, name: str) -> Object:
    """Return a ClusterOperator that is Available."""
    states = {"Available": "True", "Progressing": "False", "Degraded": "False", "Upgradeable": "True"}
    conditions = [as_expected(kind, value, "") for kind, value in states.items()]
    return _config(
        "ClusterOperator",
        {},
        {"conditions": conditions, "versions": [{"name": "operator", "version": str(cluster["version"])}]},
        name=name,
    )


def termination_handler() -> Object:
    """Return the MachineHealthCheck that replaces spot instances before the cloud takes them."""
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "MachineHealthCheck",
        "metadata": {
            "name": "machine-api-termination-handler",
            "namespace": MACHINE_NAMESPACE,
            "labels": {"api": "clusterapi", "k8s-app": "termination-handler"},
        },
        "spec": {
            "selector": {"matchLabels": {"machine.openshift.io/interruptible-instance": ""}},
            "maxUnhealthy": "100%",
            "nodeStartupTimeout": "0",
            "unhealthyConditions": [{"type": "Terminating", "status": "True", "timeout": "0s"}],
        },
    }


def network() -> Object:
    """Return the configuration of the cluster network operator."""
    spec = {
        "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
        "defaultNetwork": {"type": "OVNKubernetes"},
        "disableNetworkDiagnostics": False,
        "logLevel": "Normal",
        "managementState": "Managed",
        "operatorLogLevel": "Normal",
        "serviceNetwork": ["172.30.0.0/16"],
    }
    return {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "Network",
        "metadata": {"name": "cluster"},
        "spec": spec,
    }


def console() -> Object:
    """Return the configuration of the console operator, with the plugins that OpenShift brings."""
    spec = {
        "logLevel": "Normal",
        "managementState": "Managed",
        "operatorLogLevel": "Normal",
        "plugins": ["monitoring-plugin", "networking-console-plugin"],
    }
    return {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "Console",
        "metadata": {"name": "cluster"},
        "spec": spec,
    }


def driver_toolkit(cluster: Object) -> Object:
    """Return the ImageStream: one tag per OSTREE_VERSION that the release knows, and `latest`."""
    images = {tag: _image(cluster, "ocp-v4.0-art-dev", tag) for tag in cluster["driver_toolkit"]}
    return image_stream(
        "driver-toolkit", images | ({"latest": next(iter(images.values()))} if images else {})
    )


def command_line(cluster: Object) -> Object:
    """Return the ImageStream with the image of `oc`."""
    return image_stream("cli", {"latest": _image(cluster, "ocp-v4.0-art-dev", "cli")})


def image_stream(name: str, tags: t.Mapping[str, str]) -> Object:
    """Return an ImageStream of the release. tags: name to image."""
    spec = {
        "lookupPolicy": {"local": False},
        "tags": [
            {"name": tag, "from": {"kind": "DockerImage", "name": image}} for tag, image in tags.items()
        ],
    }
    items = [
        {"tag": tag, "items": [{"created": INSTALLED, "dockerImageReference": image, "generation": 1}]}
        for tag, image in tags.items()
    ]
    return {
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStream",
        "metadata": {"name": name, "namespace": "openshift"},
        "spec": spec,
        "status": {"dockerImageRepository": f"{REGISTRY}/openshift/{name}", "tags": items},
    }


def _image(cluster: Object, repository: str, tag: str) -> str:
    """Return an image with a digest that is the same in every sandbox of this version."""
    digest = rendered(cluster, tag).rpartition("-")[2] * 2
    name = f"quay.io/openshift-release-dev/{repository}@sha256:{digest}"
    return images.named(name) if "registry" in cluster else name


def _config(kind: str, spec: Object, status: Object, name: str = "cluster") -> Object:
    return {"apiVersion": CONFIG, "kind": kind, "metadata": {"name": name}, "spec": spec, "status": status}
