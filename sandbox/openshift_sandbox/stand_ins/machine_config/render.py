# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine-config operator where it renders the configuration of each pool.

The real one waits 5 s for further changes, and its names are digests of the whole content. Here the base of
a release has a digest of its own. In both, pools with the same content have configurations with the same
digest.
"""

from __future__ import annotations

import hashlib
import json
import typing as t

from openshift_sandbox.seed.nodes import rendered
from openshift_sandbox.seed.pools import KEYS, MACHINE_CONFIG, sources
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches

VERSION: t.Final = f"{KEYS}generated-by-controller-version"
UPDATE: t.Final = "os_update"
UPDATE_FIELDS: t.Final = ("node", "pool", "zone")
BASES: t.Final = ("master", "worker")


class RenderController(Reconciler):
    kinds = ("MachineConfig", "MachineConfigPool")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        configs = cluster.objects("MachineConfig")
        for pool in cluster.objects("MachineConfigPool"):
            if selected(pool, configs) and not pool["metadata"].get("deletionTimestamp"):
                self._render(cluster, pool, selected(pool, configs))

    def _render(self, cluster: Cluster, pool: Object, chosen: list[Object]) -> None:
        uid, name = pool["metadata"]["uid"], pool["metadata"]["name"]
        spec = merged_spec(chosen)
        wanted = f"rendered-{name}-{digest(cluster, chosen, spec)}"
        if (pool["spec"].get("configuration") or {}).get("name") == wanted:
            cluster.restart(uid, "machine_config_render")
            return
        if not cluster.due(uid, "machine_config_render", 0.3):
            return
        cluster.restart(uid, "machine_config_render")
        if cluster.find("MachineConfig", wanted) is None:
            cluster.create(_rendered(pool, wanted, spec))
        listed = [MACHINE_CONFIG | {"name": one["metadata"]["name"]} for one in chosen]
        body = {"spec": {"configuration": {"name": wanted, "source": listed}}}
        cluster.patch("MachineConfigPool", name, None, body)


def selected(pool: Object, configs: t.Sequence[Object]) -> list[Object]:
    """Return the MachineConfigs that a pool selects: those of the role worker by name, then the others.

    A pool without a selector selects none.
    """
    selector = pool["spec"].get("machineConfigSelector")
    found = [one for one in configs if selector and matches(selector, one["metadata"].get("labels") or {})]

    def rank(one: Object) -> tuple[bool, str]:
        metadata = one["metadata"]
        return (metadata.get("labels") or {}).get(f"{KEYS}role") != "worker", str(metadata["name"])

    return sorted(found, key=rank)


def render_error(pool: Object, configs: t.Sequence[Object]) -> str:
    """Return why a pool cannot be rendered, or an empty text."""
    if not pool["spec"].get("machineConfigSelector") or selected(pool, configs):
        return ""
    reason = f"no MachineConfigs found matching selector {json.dumps(pool['spec']['machineConfigSelector'])}"
    return f"Failed to render configuration for pool {pool['metadata']['name']}: {reason}"


def merged_spec(chosen: t.Sequence[Object]) -> Object:
    """Return what several MachineConfigs make together: later ones win, kernel arguments are all there."""
    specs = [one["spec"] for one in chosen]
    arguments = [argument for spec in specs for argument in spec.get("kernelArguments") or []]
    kernels = [spec["kernelType"] for spec in specs if spec.get("kernelType", "default") != "default"]
    extensions = sorted({one for spec in specs for one in spec.get("extensions") or []})
    config: Object = {"ignition": {"version": "3.5.0"}}
    files, units = _joined(specs, "storage", "files", "path"), _joined(specs, "systemd", "units", "name")
    config |= {"storage": {"files": files}} if files else {}
    config |= {"systemd": {"units": units}} if units else {}
    return {
        "config": config,
        "kernelArguments": arguments,
        "kernelType": kernels[-1] if kernels else "default",
        "extensions": extensions,
    }


def digest(cluster: Cluster, chosen: t.Sequence[Object], spec: Object) -> str:
    """Return the end of the name of a configuration: that of the release, when nobody adds anything to it."""
    names = {one["metadata"]["name"] for one in chosen}
    role = next((one for one in BASES if sources(one)[0] in names), "")
    base = _base(cluster, role)
    own = [one for one in chosen if role and one["metadata"]["name"] in sources(role)]
    if spec == merged_spec(own):
        return base
    content = json.dumps(spec, sort_keys=True)
    return hashlib.sha256(f"{base}/{content}".encode()).hexdigest()[:32]


def update_digest(update: Object) -> str:
    """Return the digest of the configuration that brings another operating system."""
    told = f"{update['new_ostree_version']}/{update['new_kernel']}"
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def _base(cluster: Cluster, role: str) -> str:
    """Return the digest of a role in this release, or after an update of all workers."""
    updates = [one for one in cluster.troubles(UPDATE) if not any(one.get(field) for field in UPDATE_FIELDS)]
    if role == "worker" and updates:
        return update_digest(updates[-1])
    return rendered({"version": cluster.scenario.cluster.get("version")}, role).rpartition("-")[2]


def _joined(specs: t.Sequence[Object], section: str, field: str, key: str) -> list[Object]:
    found: dict[str, Object] = {}
    for spec in specs:
        for one in ((spec.get("config") or {}).get(section) or {}).get(field) or []:
            found[one[key]] = one
    return list(found.values())


def _rendered(pool: Object, name: str, spec: Object) -> Object:
    owner = {
        "apiVersion": pool["apiVersion"],
        "kind": pool["kind"],
        "name": pool["metadata"]["name"],
        "uid": pool["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {"name": name, "annotations": {VERSION: "sandbox"}, "ownerReferences": [owner]}
    return MACHINE_CONFIG | {"metadata": metadata, "spec": spec}
