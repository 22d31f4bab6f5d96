# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of special_resource for the kernel module of an invented card."""

from __future__ import annotations

import contextlib
import typing as t

from cluster import Cluster, must_get
from integration.twelve_steps import task

from openshift_sandbox import faults

Data = dict[str, t.Any]
SPACE: t.Final = "openshift-kmm"
LABEL: t.Final = "it-card"
KMM: t.Final = task("olm_operator", name="kernel-module-management", namespace=SPACE)
# By force: KMM keeps a NodeModulesConfig for each node, also without a Module.
KMM_ABSENT: t.Final = task(
    "olm_operator", name="kernel-module-management", namespace=SPACE, state="absent", force=True
)
MODULES: t.Final = ("kmm.sigs.x-k8s.io/v1beta1", "modules")
VERSION: t.Final = f"kmm.node.kubernetes.io/version-module.{SPACE}.card"
SELECTOR: t.Final = {LABEL: "true"}


def module(devices: int = 2, **more: t.Any) -> Data:
    plugin = {
        "image": "quay.io/acme/plugin:1",
        "args": ["--resource-name=example.com/card", f"--devices={devices}"],
    }
    mappings = [
        {"regexp": r"^5\.14\.0-.*\.el9", "container_image": "quay.io/acme/card:${KERNEL_FULL_VERSION}"}
    ]
    base = {"module_name": "card", "kernel_mappings": mappings, "device_plugin": plugin}
    return base | {"service_account": "card-loader", "create_service_accounts": True} | more


def options(devices: int = 2, kmm: Data | None = None, **more: t.Any) -> Data:
    pools = [
        {"name": "cards", "node_selector": SELECTOR, "replicas": 2, "expected": {"example.com/card": devices}}
    ]
    base: Data = {
        "backend": "kmm",
        "name": "card",
        "kmm": module(devices, **(kmm or {})),
        "pools": pools,
        "grace": 1,
        "wait_timeout": 120,
    }
    return base | more


ABSENT: t.Final[Data] = {"backend": "kmm", "name": "card", "state": "absent"}


@contextlib.contextmanager
def trouble(cluster: Cluster, name: str, **fields: t.Any) -> t.Iterator[None]:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, name, fields)
    try:
        yield
    finally:
        faults.clear(sandbox, name, fields)


def labels(cluster: Cluster, name: str) -> Data:
    found: Data = must_get(cluster.client, "v1", "nodes", name)["metadata"]["labels"]
    return found


def versions(cluster: Cluster, names: list[str]) -> set[str | None]:
    return {labels(cluster, name).get(VERSION) for name in names}
