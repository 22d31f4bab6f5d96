# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preflight of a cluster update: whether kernel modules and drivers have images for the new kernel."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
import yaml
from cluster import Cluster
from integration.patience import until
from integration.playbook import ROOT, Playbook
from integration.stack.operators.updates import KERNEL, NEXT, POOL, said, trouble, verdicts
from integration.wire import Audit

from openshift_sandbox.catalogue import crds
from openshift_sandbox.client import Client

SCENARIO: t.Final = "before-update"
KMM: t.Final = "kmm.sigs.x-k8s.io"
pytestmark = [
    pytest.mark.usefixtures("stack"),
    pytest.mark.long(
        "drivers and modules of others before an update: test_preflight_update.py has the GPU stack"
    ),
]


def serve_modules(client: Client) -> None:
    """Serve the kinds of Kernel Module Management, whose operator is not installed."""
    for name in ("modules", "preflightvalidationsocp"):
        client.apply(
            yaml.safe_load((ROOT / f"sandbox/crds/operators/kernel-module-management/{name}.yml").read_text())
        )
    until(lambda: client.request("GET", f"/apis/{KMM}/v1beta1/modules")[0] == 200, "Modules are served")
    until(
        lambda: client.request("GET", f"/apis/{KMM}/v1beta2/preflightvalidationsocp")[0] == 200,
        "PreflightValidationOCPs are served",
    )


def create_module(client: Client) -> None:
    module = {
        "container": {
            "modprobe": {"moduleName": "nic"},
            "kernelMappings": [{"regexp": "^5\\.14\\.0-.*$", "containerImage": "r.io/nic:1"}],
        }
    }
    client.create(
        {
            "apiVersion": f"{KMM}/v1beta1",
            "kind": "Module",
            "metadata": {"name": "nic", "namespace": "default"},
            "spec": {"selector": {"kubernetes.io/os": "linux"}, "moduleLoader": module},
        }
    )


def fail_the_verification(client: Client) -> None:
    """Create a PreflightValidationOCP for the next kernel that has found no image of the module."""
    proof = {
        "apiVersion": f"{KMM}/v1beta2",
        "kind": "PreflightValidationOCP",
        "metadata": {"name": "next"},
        "spec": {"kernelVersion": KERNEL},
    }
    client.create(proof)
    result = {
        "name": "nic",
        "namespace": "default",
        "verificationStage": "Image",
        "verificationStatus": "Failure",
        "statusReason": "r.io/nic:1 was not found",
        "lastTransitionTime": "2026-11-21T00:00:00Z",
    }
    where = (f"{KMM}/v1beta2", "preflightvalidationsocp", "next", None)
    client.patch(*where, {"status": {"modules": [result]}}, "status")


def test_modules_of_kmm(cluster: Cluster, playbook: Playbook) -> None:
    client = cluster.client
    serve_modules(client)
    create_module(client)
    found = playbook.module("preflight_update", **NEXT)
    assert (verdicts(found)["module default/nic"], found.failed) == ("ok", False)
    with trouble(cluster, "kmm_image_missing", image="r.io/nic:1"):
        missing = playbook.module("preflight_update", **NEXT)
    assert (missing["code"], "there is no image r.io/nic:1" in missing["message"]) == ("UPDATE-KMM", True)
    with trouble(cluster, "registry_closed", host="r.io"):
        untried = playbook.module("preflight_update", **NEXT)
    assert (verdicts(untried)["module default/nic"], untried.failed) == ("unknown", False)
    fail_the_verification(client)
    failed = playbook.module("preflight_update", **NEXT)
    assert (failed["code"], "r.io/nic:1 was not found" in failed["message"]) == ("UPDATE-KMM", True)
    client.delete(f"{KMM}/v1beta1", "modules", "nic", "default")


def serve_nic_cluster_policies(client: Client) -> None:
    crds.load(
        client,
        [
            one
            for one in crds.operator_crds("nvidia-network-operator")
            if one["spec"]["names"]["kind"] == "NicClusterPolicy"
        ],
    )


@contextlib.contextmanager
def nic_driver(client: Client) -> t.Iterator[None]:
    """Create a NicClusterPolicy and the DaemonSet of its driver, which fits no node; delete both at last."""
    where = ("mellanox.com/v1alpha1", "nicclusterpolicies", "nic-cluster-policy", None)
    driver = {"image": "doca-driver", "repository": "nvcr.io/nvidia/mellanox", "version": "doca3.5.0"}
    policy = {"apiVersion": where[0], "kind": "NicClusterPolicy", "metadata": {"name": where[2]}}
    client.create({**policy, "spec": {"ofedDriver": driver}})
    labels = {"nvidia.com/ofed-driver": ""}
    image = "nvcr.io/nvidia/mellanox/doca-driver:doca3.5.0-rhel9.6-amd64"
    pod = {"containers": [{"name": "mofed-container", "image": image}], "nodeSelector": {"no": "node"}}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    client.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "mofed", "namespace": "default", "labels": labels},
            "spec": spec,
        }
    )
    try:
        yield
    finally:
        client.delete(*where)
        client.delete("apps/v1", "daemonsets", "mofed", "default")


def test_the_image_of_the_nic_driver(cluster: Cluster, playbook: Playbook) -> None:
    name = "NIC driver image"
    needed = "nvcr.io/nvidia/mellanox/doca-driver:doca3.5.0-rhel9.8-amd64"
    serve_nic_cluster_policies(cluster.client)
    with nic_driver(cluster.client):
        there = playbook.module("preflight_update", **NEXT)
        with trouble(cluster, "registry_image_missing", image=needed):
            missing = playbook.module("preflight_update", **NEXT)
    assert (verdicts(there)[name], said(there, name)) == ("ok", f"{needed} is there")
    assert (missing["code"], f"no image for kernel {KERNEL}: {needed}" in missing["message"]) == (
        "UPDATE-DRIVER",
        True,
    )


def install_precompiled_drivers(playbook: Playbook) -> None:
    driver = {
        "usePrecompiled": True,
        "repository": "registry.example.com/nvidia",
        "image": "gpu-driver-rhel9",
        "version": "595",
    }
    run = playbook.tasks(
        {
            "accelerators.openshift.special_resource": {
                "pools": [POOL],
                "grace": 60,
                "wait_timeout": 180,
                "spec": {"driver": driver},
            }
        }
    )
    assert run.rc == 0, run.output[-3000:]


def test_precompiled_drivers_and_the_images_that_are_there(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    install_precompiled_drivers(playbook)
    needed = f"registry.example.com/nvidia/gpu-driver-rhel9:595-{KERNEL}-rhel9"
    name = "driver (precompiled)"
    told = [playbook.module("preflight_update", **NEXT, driver_images=images) for images in ([needed], [])]
    assert [verdicts(one)[name] for one in told] == ["ok", "blocking"]
    assert (told[1]["code"], needed in told[1]["message"]) == ("UPDATE-DRIVER", True)
    assert not [one for one in audit.of(*told) if one.resource.startswith("imagestreamimports")]
    # In check mode too, the cluster looks the image up and stores nothing.
    seen = [playbook.module("preflight_update", check=check, **NEXT) for check in (False, True)]
    assert [verdicts(one)[name] for one in seen] == ["ok", "ok"]
    assert any(
        f"{needed} is sha256:" in line
        for line in next(one["evidence"] for one in seen[0]["checks"] if one["name"] == name)
    )
    assert [one.resource for one in audit.of(*seen) if one.verb == "create"] == [
        "imagestreamimports.image.openshift.io"
    ] * 2
    assert audit.writes(*seen) == []
    assert cluster.client.list("image.openshift.io/v1", "imagestreamimports") == []
    with trouble(cluster, "driver_image_missing", kernel=KERNEL):
        missing = playbook.module("preflight_update", **NEXT)
    assert (missing["code"], verdicts(missing)[name]) == ("UPDATE-DRIVER", "blocking")
    assert f'{needed} (dockerimage.image.openshift.io "{needed}" not found)' in missing["message"]


def test_what_nobody_can_find_out_stays_unknown(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    name = "driver (precompiled)"
    host = {"host": "registry.example.com"}
    with trouble(cluster, "registry_closed", **host):
        closed = playbook.module("preflight_update", **NEXT)
    with trouble(
        cluster,
        "registry_closed",
        **host,
        reason="InternalError",
        text='registry.example.com/d: Get "https://registry.example.com/v2/": i/o timeout',
    ):
        away = playbook.module("preflight_update", **NEXT)
    restricted = cluster.needs_sandbox().directory / "kubeconfig-restricted"
    reader = playbook.tasks({"accelerators.openshift.preflight_update": NEXT}, kubeconfig=restricted).tasks[
        -1
    ]
    for result, words in (
        (closed, "not allowed: you may not have access to the container image"),
        (away, "unreachable: registry.example.com/d: Get"),
        (
            reader,
            "not asked: the identity lacks the verb create on imagestreamimports.image.openshift.io "
            "in namespace nvidia-gpu-operator",
        ),
    ):
        assert (result.failed, verdicts(result)[name]) == (False, "unknown"), result.result
        assert words in said(result, name)
        assert "skopeo inspect docker://registry.example.com/nvidia/gpu-driver-rhel9:595-" in str(
            result["checks"]
        )
    # Without the right to read optional kinds those checks are unknown; the other checks still report.
    assert (verdicts(reader)["modules"], verdicts(reader)["NIC driver image"]) == ("unknown", "unknown")
    assert audit.writes(closed, away, reader) == []
