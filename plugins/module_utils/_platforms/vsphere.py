# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform vSphere: the template of a machine has the GPUs, not a field of the provider's value."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._core.input import Field, Problems
from .platform import Paths, Reports, Wanted, known_fields, refuse_disk, refuse_markets, refuse_sockets

_SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "userDataSecret": {"name": None},
    "credentialsSecret": {"name": None},
    "template": None,
    "workspace": {
        "server": None,
        "datacenter": None,
        "folder": None,
        "datastore": None,
        "resourcePool": None,
        "vmGroup": None,
    },
    "network": {
        "devices": [
            {
                "networkName": None,
                "gateway": None,
                "ipAddrs": None,
                "nameservers": None,
                "addressesFromPools": [{"group": None, "resource": None, "name": None}],
            }
        ]
    },
    "numCPUs": None,
    "numCoresPerSocket": None,
    "memoryMiB": None,
    "diskGiB": None,
    "tagIDs": None,
    "snapshot": None,
    "cloneMode": None,
    "dataDisks": [{"name": None, "sizeGiB": None, "provisioningMode": None}],
}
# Fields for placement and joining the cluster; a snapshot would be one of the reference's template.
_COPIED: t.Final = (
    "apiVersion",
    "kind",
    "userDataSecret",
    "credentialsSecret",
    "workspace",
    "network",
    "numCPUs",
    "numCoresPerSocket",
    "memoryMiB",
    "diskGiB",
    "tagIDs",
)
# The installer's name of the only failure domain if the user defines none.
_GENERATED: t.Final = "generated-failure-domain"
_PLACE: t.Final = ("datacenter", "datastore", "resourcePool")


@dataclass(frozen=True)
class VSphere:
    """The platform vSphere. domains: the Infrastructure's failure domains, which decide the zone."""

    domains: tuple[dict[str, t.Any], ...] = ()

    KEY: t.ClassVar = "vsphere"
    NAME: t.ClassVar = "VSphere"
    OWN_TYPE: t.ClassVar = "a template that has the GPUs"
    HAS_TYPE_LABEL: t.ClassVar = False
    NO_IMAGE: t.ClassVar = ""
    REPORTS: t.ClassVar[Reports] = "size"
    CHOSEN: t.ClassVar[dict[str, str]] = {}
    ZONED: t.ClassVar = False
    IMAGE: t.ClassVar = "template"
    SHAPE: t.ClassVar = _SHAPE
    OPTIONS: t.ClassVar = {
        "cpus": Field("integer", low=2, high=768),
        "cores_per_socket": Field("integer", low=1, high=768),
        "memory_gib": Field("integer", low=2, high=24576),
    }

    def zone(self, provider: t.Mapping[str, t.Any]) -> str:
        """Return the name of the failure domain, or "" on a cluster without any."""
        workspace = provider.get("workspace") or {}
        name = str(next((domain.get("name") for domain in self.domains if _is_in(workspace, domain)), ""))
        return "" if name == _GENERATED else name

    def instance_type(self, provider: t.Mapping[str, t.Any]) -> str:
        return str(provider.get("template") or "")

    def check(self, wanted: Wanted, paths: Paths, problems: Problems) -> None:
        refuse_markets(wanted, "vSphere", paths, problems)
        refuse_disk(wanted, ("size_gib",), "vSphere", paths, problems)
        refuse_sockets(wanted, paths, problems)

    def build(self, source: t.Mapping[str, t.Any], wanted: Wanted) -> dict[str, t.Any]:
        source = known_fields(source, _SHAPE)
        provider = {key: source[key] for key in _COPIED if source.get(key) is not None}
        # The machine-config operator may replace the template of an existing set, like images of other
        # platforms.
        provider["template"] = (
            wanted.image or wanted.instance_type
            if wanted.is_new
            else source.get("template") or wanted.instance_type
        )
        cpus = wanted.options.get("cpus")
        cores = wanted.options.get("cores_per_socket") or cpus
        gib = wanted.options.get("memory_gib")
        sizes = {
            "numCPUs": cpus,
            "numCoresPerSocket": cores,
            "memoryMiB": gib and gib * 1024,
            "diskGiB": wanted.disk.get("size_gib"),
        }
        return provider | {key: value for key, value in sizes.items() if value}


def _is_in(workspace: t.Mapping[str, t.Any], domain: dict[str, t.Any]) -> bool:
    """Return True if machines of the workspace are in the failure domain.

    A domain without a resource pool uses the pool of its compute cluster.
    """
    topology = domain.get("topology") or {}
    pool = topology.get("resourcePool") or f"{topology.get('computeCluster')}/Resources"
    group = ((domain.get("zoneAffinity") or {}).get("hostGroup") or {}).get("vmGroup") or ""
    wanted = {
        "server": domain.get("server"),
        **{key: topology.get(key) for key in _PLACE},
        "resourcePool": pool,
        "vmGroup": group,
    }
    return all((workspace.get(key) or "") == value for key, value in wanted.items() if value is not None)
