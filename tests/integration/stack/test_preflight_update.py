# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Before an update of the cluster: what is seen on a live one, what blocks, and that nothing is written."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
import yaml
from cluster import Cluster
from integration.patience import until
from integration.playbook import ROOT, Playbook, Run, TaskResult
from integration.wire import Audit

from openshift_sandbox import faults
from openshift_sandbox.catalogue import crds

Data = dict[str, t.Any]
SCENARIO: t.Final = "before-update"
POOL: t.Final = {
    "name": "training",
    "node_selector": {"accelerators.openshift/pool": "training"},
    "replicas": 2,
    "expected": {"nvidia.com/gpu": 1},
}
KERNEL, RHCOS = "5.14.0-611.5.1.el9_7.x86_64", "9.8.20260815-0"
DRIVER: t.Final = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "595.91.07"}
GPU: t.Final = "nvidia-gpu-operator"
POOLS: t.Final = ("machineconfiguration.openshift.io/v1", "machineconfigpools", "worker", None)


def verdicts(result: TaskResult) -> Data:
    return {check["name"]: check["verdict"] for check in result["checks"]}


def said(result: TaskResult, name: str) -> str:
    return str(next(check["message"] for check in result["checks"] if check["name"] == name))


@contextlib.contextmanager
def patched(
    cluster: Cluster, kind: tuple[str, str, str, str | None], change: Data, back: Data
) -> t.Iterator[None]:
    cluster.client.patch(*kind, change)
    try:
        yield
    finally:
        cluster.client.patch(*kind, back)


@contextlib.contextmanager
def trouble(cluster: Cluster, kind: str, **fields: t.Any) -> t.Iterator[None]:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, kind, fields)
    try:
        yield
    finally:
        faults.clear(sandbox, kind, fields)


def test_a_cluster_without_gpus(playbook: Playbook, audit: Audit, in_process: bool) -> None:
    result = playbook.module(
        "preflight_update", in_process=in_process, check=not in_process, version="4.22.9"
    )
    assert not result.failed, result.result
    assert (result["version"], result["target"], result["verdict"], result.changed) == (
        "4.22.5",
        "4.22.9",
        "ok",
        False,
    )
    assert verdicts(result)["driver"] == "ok"
    assert audit.writes(result) == []
    refused = playbook.module("preflight_update", in_process=in_process, version="4.22")
    assert (refused["code"], audit.of(refused)) == ("INPUT-VALUE", [])


@pytest.mark.parametrize(
    ("version", "code", "text"),
    [
        (
            "4.22.12",
            "UPDATE-RELEASE",
            "channel fast-4.22 does not lead from 4.22.5 to 4.22.12; it offers 4.23.1, 4.22.9",
        ),
        ("4.22.4", "UPDATE-RELEASE", "4.22.4 is older than 4.22.5"),
    ],
)
def test_a_release_that_is_not_offered(playbook: Playbook, version: str, code: str, text: str) -> None:
    failed = playbook.module("preflight_update", version=version)
    assert (failed["code"], failed["layer"], text in failed["message"]) == (code, "update", True)
    assert failed["table"][0].split() == ["CHECK", "VERDICT", "WHAT"]


def test_a_risk_is_quoted(playbook: Playbook) -> None:
    result = playbook.module("preflight_update", version="4.22.11")
    assert (result.failed, verdicts(result)["release"]) == (False, "warning")
    assert "Nodes of some instance types take an hour to boot." in said(result, "release")
    strict = playbook.module("preflight_update", version="4.22.11", fail_on="warning")
    assert (strict["code"], "--allow-not-recommended" in strict["remedy"]) == ("UPDATE-RELEASE", True)


@pytest.fixture(scope="module")
def stack(playbook: Playbook) -> Run:
    run = playbook.tasks(
        {
            "accelerators.openshift.olm_operator": {
                "name": "nfd",
                "namespace": "openshift-nfd",
                "source": "redhat-operators",
            }
        },
        {"accelerators.openshift.nfd_labels": {"namespace": "openshift-nfd"}},
        {
            "accelerators.openshift.olm_operator": {
                "name": "gpu-operator-certified",
                "namespace": GPU,
                "source": "certified-operators",
            }
        },
        {
            "accelerators.openshift.special_resource": {
                "pools": [POOL],
                "driver": DRIVER,
                "grace": 60,
                "wait_timeout": 180,
            }
        },
    )
    assert run.rc == 0, run.output[-3000:]
    return run


def test_a_stack_that_can_follow(cluster: Cluster, playbook: Playbook, audit: Audit, stack: Run) -> None:
    patch = playbook.module("preflight_update", version="4.22.9")
    assert not patch.failed, patch.result
    (operator,) = [name for name in verdicts(patch) if name.startswith("operator gpu-operator-certified.v")]
    assert (
        verdicts(patch)[operator],
        verdicts(patch)["kernels of today"],
        verdicts(patch)["GPU workloads"],
    ) == ("ok", "ok", "ok")
    assert verdicts(patch)["driver (Driver Toolkit)"] == "unknown"
    assert "comes with the release itself" in said(patch, "driver (Driver Toolkit)")
    known = playbook.module("preflight_update", version="4.22.9", rhcos=RHCOS, kernel=KERNEL)
    assert (verdicts(known)["driver (Driver Toolkit)"], verdicts(known)["driver image"]) == ("ok", "ok")
    # The operator asks for the driver that is built with the toolkit by the name of the system, too; which it is shows only with the version of RHCOS.
    assert said(known, "driver image") == "nvcr.io/nvidia/driver:595.91.07-rhel9 is there"
    assert "driver image" not in verdicts(patch)
    with trouble(cluster, "registry_image_missing", image="nvcr.io/nvidia/driver:595.91.07-rhel9"):
        missing = playbook.module("preflight_update", version="4.22.9", rhcos=RHCOS)
    assert (
        missing["code"],
        "no image for the RHCOS of 4.22.9: nvcr.io/nvidia/driver:595.91.07-rhel9" in missing["message"],
    ) == ("UPDATE-DRIVER", True)
    minor = playbook.module("preflight_update", version="4.23.1")
    assert (verdicts(minor)[operator], minor["verdict"]) == ("warning", "warning")
    assert "4.18 to 4.22 (as of 2026-08-31), not on 4.23" in said(minor, operator)
    assert audit.writes(patch, known, minor) == []


def test_what_blocks_a_rollout(cluster: Cluster, playbook: Playbook, stack: Run) -> None:
    client = cluster.client
    labels = {"app": "keeper"}
    metadata = {"name": "keeper", "namespace": "default"}
    pod = {
        "containers": [{"name": "c", "image": "example.com/none"}],
        "nodeSelector": POOL["node_selector"],
        "terminationGracePeriodSeconds": 0,
    }
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    client.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    budget = {"minAvailable": 1, "selector": {"matchLabels": labels}}
    client.create(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget}
    )
    limits = {"nvidia.com/gpu": "1"}
    job = {
        "containers": [{"name": "c", "image": "example.com/none", "resources": {"limits": limits}}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    }
    client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "trainer", "namespace": "default"},
            "spec": job | pod | {"containers": job["containers"]},
        }
    )
    try:
        until(
            lambda: (
                (client.get("policy/v1", "poddisruptionbudgets", "keeper", "default") or {})["status"].get(
                    "currentHealthy"
                )
                == 1
            ),
            "the budget counts",
        )
        until(
            lambda: (
                (client.get("v1", "pods", "trainer", "default") or {})["status"].get("phase") == "Running"
            ),
            "the trainer runs",
        )
        with patched(cluster, POOLS, {"spec": {"paused": True}}, {"spec": {"paused": False}}):
            failed = playbook.module("preflight_update", version="4.22.9")
            playbook_run = playbook.playbook("preflight_update", gpu_update_version="4.22.9")
    finally:
        client.delete("policy/v1", "poddisruptionbudgets", "keeper", "default")
        client.delete("apps/v1", "deployments", "keeper", "default")
        client.delete("v1", "pods", "trainer", "default")
    assert (failed["code"], failed["verdict"]) == ("UPDATE-POOL", "blocking")
    assert "oc patch mcp worker" in failed["remedy"]
    found = verdicts(failed)
    assert (
        found["machine config pool worker"],
        found["disruption budget default/keeper"],
        found["GPU workloads"],
    ) == ("blocking", "blocking", "warning")
    assert "never lets a pod go (1 of 1 have to be healthy): gpu-" in said(
        failed, "disruption budget default/keeper"
    )
    assert any("default/trainer on gpu-" in line for check in failed["checks"] for line in check["evidence"])
    # The playbook shows the table and fails with the same code.
    assert (playbook_run.rc, playbook_run.failure["code"]) == (2, "UPDATE-POOL")
    assert "disruption budget default/keeper" in playbook_run.output
    mended = playbook.playbook("preflight_update", gpu_update_version="4.22.9")
    assert (mended.rc, mended.changed) == (0, 0), mended.output[-2000:]


def test_an_operator_that_is_not_made_for_the_release(
    cluster: Cluster, playbook: Playbook, stack: Run
) -> None:
    csvs = [
        one
        for one in cluster.client.list("operators.coreos.com/v1alpha1", "clusterserviceversions", GPU)
        if one["metadata"]["name"].startswith("gpu-")
    ]
    where = ("operators.coreos.com/v1alpha1", "clusterserviceversions", str(csvs[0]["metadata"]["name"]), GPU)
    limit = '[{"type":"olm.maxOpenShiftVersion","value":"4.22"}]'
    before = (csvs[0]["metadata"].get("annotations") or {}).get("olm.properties")
    with patched(
        cluster,
        where,
        {"metadata": {"annotations": {"olm.properties": limit}}},
        {"metadata": {"annotations": {"olm.properties": before}}},
    ):
        failed = playbook.module("preflight_update", version="4.23.1")
        patch = playbook.module("preflight_update", version="4.22.9")
    assert (failed["code"], "olm.maxOpenShiftVersion" in failed["message"]) == ("UPDATE-OPERATOR", True)
    assert not patch.failed


def test_modules_of_kmm(cluster: Cluster, playbook: Playbook) -> None:
    client, group = cluster.client, "kmm.sigs.x-k8s.io"
    for name in ("modules", "preflightvalidationsocp"):
        client.apply(
            yaml.safe_load((ROOT / f"sandbox/crds/operators/kernel-module-management/{name}.yml").read_text())
        )
    module = {
        "container": {
            "modprobe": {"moduleName": "nic"},
            "kernelMappings": [{"regexp": "^5\\.14\\.0-.*$", "containerImage": "r.io/nic:1"}],
        }
    }
    spec = {"selector": {"kubernetes.io/os": "linux"}, "moduleLoader": module}
    made = {
        "apiVersion": f"{group}/v1beta1",
        "kind": "Module",
        "metadata": {"name": "nic", "namespace": "default"},
        "spec": spec,
    }
    until(lambda: client.request("GET", f"/apis/{group}/v1beta1/modules")[0] == 200, "Modules are served")
    until(
        lambda: client.request("GET", f"/apis/{group}/v1beta2/preflightvalidationsocp")[0] == 200,
        "PreflightValidationOCPs are served",
    )
    client.create(made)
    asked = {"version": "4.22.9", "kernel": KERNEL, "rhcos": RHCOS}
    found = playbook.module("preflight_update", **asked)
    assert (verdicts(found)["module default/nic"], found.failed) == ("ok", False)
    with trouble(cluster, "kmm_image_missing", image="r.io/nic:1"):
        missing = playbook.module("preflight_update", **asked)
    assert (missing["code"], "there is no image r.io/nic:1" in missing["message"]) == ("UPDATE-KMM", True)
    with trouble(cluster, "registry_closed", host="r.io"):
        untried = playbook.module("preflight_update", **asked)
    assert (verdicts(untried)["module default/nic"], untried.failed) == ("unknown", False)
    proof = {
        "apiVersion": f"{group}/v1beta2",
        "kind": "PreflightValidationOCP",
        "metadata": {"name": "next"},
        "spec": {"kernelVersion": KERNEL},
    }
    client.create(proof)
    now = "2026-11-21T00:00:00Z"
    result = {
        "name": "nic",
        "namespace": "default",
        "verificationStage": "Image",
        "statusReason": "r.io/nic:1 was not found",
        "lastTransitionTime": now,
    }
    where = (f"{group}/v1beta2", "preflightvalidationsocp", "next", None)
    client.patch(*where, {"status": {"modules": [result | {"verificationStatus": "Failure"}]}}, "status")
    failed = playbook.module("preflight_update", **asked)
    assert (failed["code"], "r.io/nic:1 was not found" in failed["message"]) == ("UPDATE-KMM", True)
    client.delete(f"{group}/v1beta1", "modules", "nic", "default")


def test_the_image_of_the_nic_driver(cluster: Cluster, playbook: Playbook) -> None:
    client, labels = cluster.client, {"nvidia.com/ofed-driver": ""}
    crds.load(
        client,
        [
            one
            for one in crds.operator_crds("nvidia-network-operator")
            if one["spec"]["names"]["kind"] == "NicClusterPolicy"
        ],
    )
    where = ("mellanox.com/v1alpha1", "nicclusterpolicies", "nic-cluster-policy", None)
    driver = {"image": "doca-driver", "repository": "nvcr.io/nvidia/mellanox", "version": "doca3.5.0"}
    client.create(
        {
            "apiVersion": where[0],
            "kind": "NicClusterPolicy",
            "metadata": {"name": where[2]},
            "spec": {"ofedDriver": driver},
        }
    )
    pod = {
        "containers": [
            {
                "name": "mofed-container",
                "image": "nvcr.io/nvidia/mellanox/doca-driver:doca3.5.0-rhel9.6-amd64",
            }
        ],
        "nodeSelector": {"no": "node"},
    }
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    client.create(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "mofed", "namespace": "default", "labels": labels},
            "spec": spec,
        }
    )
    asked, name = {"version": "4.22.9", "kernel": KERNEL, "rhcos": RHCOS}, "NIC driver image"
    needed = "nvcr.io/nvidia/mellanox/doca-driver:doca3.5.0-rhel9.8-amd64"
    try:
        there = playbook.module("preflight_update", **asked)
        with trouble(cluster, "registry_image_missing", image=needed):
            missing = playbook.module("preflight_update", **asked)
    finally:
        client.delete(*where)
        client.delete("apps/v1", "daemonsets", "mofed", "default")
    assert (verdicts(there)[name], said(there, name)) == ("ok", f"{needed} is there")
    assert (missing["code"], f"no image for kernel {KERNEL}: {needed}" in missing["message"]) == (
        "UPDATE-DRIVER",
        True,
    )


def test_precompiled_drivers_and_the_images_that_are_there(
    cluster: Cluster, playbook: Playbook, audit: Audit, stack: Run
) -> None:
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
    needed = f"registry.example.com/nvidia/gpu-driver-rhel9:595-{KERNEL}-rhel9"
    asked, name = {"version": "4.22.9", "kernel": KERNEL, "rhcos": RHCOS}, "driver (precompiled)"
    told = [
        playbook.module("preflight_update", **asked, **more)
        for more in ({"driver_images": [needed]}, {"driver_images": []})
    ]
    assert [verdicts(one)[name] for one in told] == ["ok", "blocking"]
    assert (told[1]["code"], needed in told[1]["message"]) == ("UPDATE-DRIVER", True)
    assert not [one for one in audit.of(*told) if one.resource.startswith("imagestreamimports")]
    # The cluster itself looks, in check mode as well, and leaves nothing behind.
    seen = [playbook.module("preflight_update", check=check, **asked) for check in (False, True)]
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
        missing = playbook.module("preflight_update", **asked)
    assert (missing["code"], verdicts(missing)[name]) == ("UPDATE-DRIVER", "blocking")
    assert f'{needed} (dockerimage.image.openshift.io "{needed}" not found)' in missing["message"]


def test_what_nobody_can_find_out_stays_unknown(
    cluster: Cluster, playbook: Playbook, audit: Audit, stack: Run
) -> None:
    asked, name = {"version": "4.22.9", "kernel": KERNEL, "rhcos": RHCOS}, "driver (precompiled)"
    host = {"host": "registry.example.com"}
    with trouble(cluster, "registry_closed", **host):
        closed = playbook.module("preflight_update", **asked)
    with trouble(
        cluster,
        "registry_closed",
        **host,
        reason="InternalError",
        text='registry.example.com/d: Get "https://registry.example.com/v2/": i/o timeout',
    ):
        away = playbook.module("preflight_update", **asked)
    restricted = cluster.needs_sandbox().directory / "kubeconfig-restricted"
    reader = playbook.tasks({"accelerators.openshift.preflight_update": asked}, kubeconfig=restricted).tasks[
        -1
    ]
    for result, words in (
        (closed, "not allowed: you may not have access to the container image"),
        (away, "unreachable: registry.example.com/d: Get"),
        (
            reader,
            "not asked: the identity lacks the verb create on imagestreamimports.image.openshift.io in namespace nvidia-gpu-operator",
        ),
    ):
        assert (result.failed, verdicts(result)[name]) == (False, "unknown"), result.result
        assert words in said(result, name)
        assert "skopeo inspect docker://registry.example.com/nvidia/gpu-driver-rhel9:595-" in str(
            result["checks"]
        )
    # Whoever may not even read what most clusters lack is told so, and told the rest.
    assert (verdicts(reader)["modules"], verdicts(reader)["NIC driver image"]) == ("unknown", "unknown")
    assert audit.writes(closed, away, reader) == []
