# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine-config operator's controller of KubeletConfigs.

It makes a MachineConfig for each pool that a KubeletConfig selects: the whole file of the kubelet, made of
the template and of this KubeletConfig alone. `systemReserved` goes into a file of its own. The real template
has more fields, and more are refused.
"""

from __future__ import annotations

import json
import typing as t
from urllib.parse import quote

from openshift_sandbox.seed.booted import KUBELET_FILE
from openshift_sandbox.seed.pools import KEYS, MACHINE_CONFIG, SIZING_FILE, sizing
from openshift_sandbox.stand_ins.core.conditions import condition, timestamp
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches

ROLE: t.Final = f"{KEYS}role"
ACCEPTED_FROM: t.Final = (4, 23)
"""From this release on `Accepted` is there, followed by `Success` or `Failure`, which is True."""
REFUSED: t.Final = ("cgroupDriver", "clusterDNS", "clusterDomain", "featureGates", "failSwapOn")
TEMPLATE: t.Final = {"kubeAPIBurst": 100, "kubeAPIQPS": 50, "maxPods": 250, "podPidsLimit": 4096}
SUFFIXES: t.Final = range(1, 10)
"""A pool may have ten KubeletConfigs."""


class KubeletConfigs(Reconciler):
    kinds = ("KubeletConfig", "MachineConfig", "MachineConfigPool")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for config in cluster.objects("KubeletConfig"):
            if config["metadata"].get("deletionTimestamp"):
                self._remove(cluster, config)
            elif cluster.due(
                (config["metadata"]["uid"], config["metadata"]["generation"]), "kubelet_config", 0.2
            ):
                self._enact(cluster, config)

    def _enact(self, cluster: Cluster, config: Object) -> None:
        selector = config["spec"].get("machineConfigPoolSelector")
        pools = [
            pool
            for pool in cluster.objects("MachineConfigPool")
            if selector and matches(selector, pool["metadata"].get("labels") or {})
        ]
        error = _error(config, pools)
        if not error:
            for pool in pools:
                self._write(cluster, config, pool["metadata"]["name"])
        _report(cluster, config, error)

    def _write(self, cluster: Cluster, config: Object, pool: str) -> None:
        name = _managed_name(cluster, config, pool)
        finalizers = config["metadata"].get("finalizers") or []
        if name not in finalizers:
            cluster.patch(
                "KubeletConfig",
                config["metadata"]["name"],
                None,
                {"metadata": {"finalizers": [*finalizers, name]}},
            )
        wanted, live = _machine_config(config, name, pool), cluster.find("MachineConfig", name)
        if live is None:
            cluster.create(wanted)
        elif live["spec"] != wanted["spec"]:
            cluster.patch("MachineConfig", name, None, {"spec": wanted["spec"]})

    def _remove(self, cluster: Cluster, config: Object) -> None:
        """Delete the MachineConfigs, which the finalizers name; then let the KubeletConfig go."""
        for name in config["metadata"].get("finalizers") or []:
            if cluster.find("MachineConfig", name):
                cluster.delete("MachineConfig", name)
        cluster.patch("KubeletConfig", config["metadata"]["name"], None, {"metadata": {"finalizers": None}})


def _change(config: Object) -> tuple[str, int]:
    return config["metadata"]["uid"], config["metadata"]["generation"]


def _error(config: Object, pools: t.Sequence[Object]) -> str:
    name, values = config["metadata"]["name"], config["spec"].get("kubeletConfig") or {}
    if not pools:
        return f"could not find any MachineConfigPool set for KubeletConfig {name}"
    refused = [field for field in REFUSED if field in values]
    if refused:
        return (
            f"KubeletConfiguration: {refused[0]} is not allowed to be set, but contains: {values[refused[0]]}"
        )
    if config["spec"].get("autoSizingReserved") and "systemReserved" in values:
        return "KubeletConfiguration: autoSizingReserved and systemdReserved cannot be set together"
    return ""


def _managed_name(cluster: Cluster, config: Object, pool: str) -> str:
    """Return the name of the MachineConfig: the one that it has, or the first that nobody has."""
    first = f"99-{pool}-generated-kubelet"
    names = [first, *(f"{first}-{number}" for number in SUFFIXES)]
    uid = config["metadata"]["uid"]
    owners = {name: _owner(cluster.find("MachineConfig", name)) for name in names}
    return next((one for one in names if owners[one] == uid), None) or next(
        one for one in names if owners[one] is None
    )


def _owner(config: Object | None) -> str | None:
    if config is None:
        return None
    return next((str(one["uid"]) for one in config["metadata"].get("ownerReferences") or []), "")


def _machine_config(config: Object, name: str, pool: str) -> Object:
    given = dict(config["spec"].get("kubeletConfig") or {})
    reserved = given.pop("systemReserved", {})
    sizes = config["spec"].get("autoSizingReserved")
    files = [_file(KUBELET_FILE, json.dumps(TEMPLATE | given, sort_keys=True))]
    if reserved or sizes is not None:
        files.append(_file(SIZING_FILE, sizing(bool(sizes) and not reserved, reserved)))
    owner = {
        "apiVersion": config["apiVersion"],
        "kind": config["kind"],
        "name": config["metadata"]["name"],
        "uid": config["metadata"]["uid"],
    }
    metadata = {"name": name, "labels": {ROLE: pool}, "ownerReferences": [owner]}
    ignition = {"ignition": {"version": "3.5.0"}, "storage": {"files": files}}
    return MACHINE_CONFIG | {"metadata": metadata, "spec": {"config": ignition}}


def _file(path: str, text: str) -> Object:
    return {
        "contents": {"source": f"data:text/plain,{quote(text)}"},
        "mode": 0o644,
        "overwrite": True,
        "path": path,
    }


def _report(cluster: Cluster, config: Object, error: str) -> None:
    """Write the conditions when they differ from those that are there."""
    live = cluster.find("KubeletConfig", config["metadata"]["name"]) or config
    status, generation = live.get("status") or {}, live["metadata"]["generation"]
    wanted = _conditions(str(cluster.scenario.cluster.get("version") or "4.22"), error)
    known = status.get("conditions") or []
    same = [{key: one.get(key) for key in ("type", "status", "message")} for one in known] == wanted
    if same and status.get("observedGeneration") == generation:
        return
    conditions = [one | {"lastTransitionTime": timestamp()} for one in wanted]
    body = {"conditions": conditions, "observedGeneration": generation}
    cluster.patch("KubeletConfig", config["metadata"]["name"], None, {"status": body}, "status")


def _conditions(version: str, error: str) -> list[Object]:
    message, kind = (f"Error: {error}", "Failure") if error else ("Success", "Success")
    major, minor = version.split(".")[:2]
    if (int(major), int(minor)) < ACCEPTED_FROM:
        return [condition(kind, not error, message=message)]
    return [condition("Accepted", not error, message=message), condition(kind, True, message=message)]
