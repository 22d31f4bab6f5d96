# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GPU node with its driver, and what an update of OpenShift changes on it."""

from __future__ import annotations

import typing as t
from pathlib import Path

import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackPool

Data = dict[str, t.Any]


Snapshot = dict[str, list[Data]]


FIXTURE = yaml.safe_load((Path(__file__).parents[2] / "fixtures/stack_ready.yml").read_text())


POOL: t.Final = t.cast(
    StackPool,
    {
        "name": "training",
        "node_selector": {"accelerators.openshift/pool": "training"},
        "replicas": 1,
        "expected": {"nvidia.com/gpu": 4},
    },
)


KERNEL, RHCOS = "5.14.0-570.12.1.el9_6.x86_64", "9.8.20260801-0"


NEW_KERNEL, NEW_RHCOS = "5.14.0-611.5.1.el9_7.x86_64", "9.8.20260815-0"


DRIVER = "nvidia-driver-daemonset-"


FEATURE = "feature.node.kubernetes.io/"


MACHINE_CONFIG = "machineconfiguration.openshift.io/"


def node(seen: Snapshot) -> Data:
    return seen["nodes"][0]


def marks(seen: Snapshot) -> Data:
    labels: Data = node(seen)["metadata"]["labels"]
    return labels


def driver(seen: Snapshot) -> Data:
    return next(one for one in seen["daemonsets"] if one["metadata"]["name"].startswith(DRIVER))


def driver_pod(seen: Snapshot) -> Data:
    return next(one for one in seen["pods"] if one["metadata"]["name"].startswith(DRIVER))


def unready(pod: Data) -> None:
    pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def reboot(seen: Snapshot) -> None:
    """Another kernel, and whatever ran there starts anew."""
    node(seen)["status"]["nodeInfo"] |= {
        "kernelVersion": NEW_KERNEL,
        "osImage": f"Red Hat Enterprise Linux CoreOS {NEW_RHCOS} (Plow)",
    }
    for pod in seen["pods"]:
        unready(pod)


def relabel(seen: Snapshot) -> None:
    marks(seen).update(
        {f"{FEATURE}kernel-version.full": NEW_KERNEL, f"{FEATURE}system-os_release.OSTREE_VERSION": NEW_RHCOS}
    )


def tag(seen: Snapshot) -> None:
    seen["streams"][0]["spec"]["tags"].append({"name": NEW_RHCOS, "from": {"name": "quay.io/dtk@sha256:12"}})


def rename(seen: Snapshot) -> None:
    """The operator makes a DaemonSet for the new version."""
    live = driver(seen)
    live["metadata"] |= {"name": DRIVER + NEW_RHCOS, "uid": "new"}
    live["metadata"]["labels"]["openshift.driver-toolkit.rhcos"] = NEW_RHCOS
    live["spec"]["template"]["spec"]["nodeSelector"][f"{FEATURE}system-os_release.OSTREE_VERSION"] = NEW_RHCOS
    driver_pod(seen)["metadata"]["ownerReferences"][0]["uid"] = "new"


def precompiled(seen: Snapshot, kernel: str = KERNEL) -> None:
    seen["policies"][0]["spec"]["driver"]["usePrecompiled"] = True
    live = driver(seen)
    live["metadata"]["labels"] = {"nvidia.com/precompiled": "true"}
    selector = {
        "nvidia.com/gpu.deploy.driver": "true",
        f"{FEATURE}kernel-version.full": marks(seen)[f"{FEATURE}kernel-version.full"],
    }
    live["spec"]["template"]["spec"]["nodeSelector"] = selector
    live["spec"]["template"]["spec"]["containers"] = [
        {"name": "nvidia-driver-ctr", "image": f"r.io/driver:595-{kernel}-rhel9.8"}
    ]


def facts(seen: Snapshot) -> Data:
    (found,) = clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [POOL])["nodes"]
    kernel: Data = found["kernel"]
    return kernel
