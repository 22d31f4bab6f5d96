# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration that a new machine starts with: that of the pool which its user data names.

The machine-config server serves the configuration that all nodes of the pool have had last, not the newest.
"""

from __future__ import annotations

import base64
import re
import typing as t

from openshift_sandbox.seed.booted import resources
from openshift_sandbox.seed.nodes import MACHINE_NAMESPACE
from openshift_sandbox.seed.pools import KEYS
from openshift_sandbox.stand_ins.clouds.cloud import provider_spec
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

KINDS: t.Final = ("MachineConfig", "MachineConfigPool", "Secret")
PATH: t.Final = re.compile(r"/config/([a-z0-9.-]+)")
WORKER: t.Final = "worker"


def served(cluster: Cluster, machine: Object) -> bool:
    """Return whether the machine-config server has a configuration for a machine, which needs one to join."""
    name = pool_name(cluster, machine)
    return name == WORKER or _configuration(cluster, name) is not None


def configured(cluster: Cluster, machine: Object, node: Object) -> Object:
    """Return a new Node with the configuration that its machine fetched."""
    name = _configuration(cluster, pool_name(cluster, machine))
    if name is None:
        return node
    annotations = {f"{KEYS}currentConfig": name, f"{KEYS}desiredConfig": name}
    metadata = node["metadata"] | {"annotations": node["metadata"]["annotations"] | annotations}
    config = cluster.find("MachineConfig", name)
    status = node["status"] | (resources(node["status"], config["spec"]) if config else {})
    return node | {"metadata": metadata, "status": status}


def pool_name(cluster: Cluster, machine: Object) -> str:
    """Return the pool that the user data of a machine names; `worker` when they name none."""
    value = provider_spec(machine)
    reference = value.get("userDataSecret") or value.get("userData") or {}
    name = reference.get("name") if isinstance(reference, dict) else None
    secret = cluster.find("Secret", str(name), MACHINE_NAMESPACE)
    text = base64.b64decode(((secret or {}).get("data") or {}).get("userData") or "")
    found = PATH.search(text.decode(errors="replace"))
    return found[1] if found else WORKER


def _configuration(cluster: Cluster, pool: str) -> str | None:
    found = cluster.find("MachineConfigPool", pool) or {}
    name = ((found.get("status") or {}).get("configuration") or {}).get("name")
    return str(name) if name else None
