# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real OLM with the sandbox's catalogues: install, upgrade, what clients read, catalogues in trouble."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import must_get, own
from integration.patience import until
from integration.sandbox.subscriptions import V1ALPHA1, Operator

from openshift_sandbox import faults
from openshift_sandbox.client import Client, resource_path
from openshift_sandbox.sandbox import Sandbox

STARTS_CLUSTERS: t.Final = True

pytestmark = pytest.mark.long(
    "the sandbox itself: every other test uses its parts, these test them one by one"
)

Data = dict[str, t.Any]

NFD = ("nfd", "openshift-nfd", "redhat-operators")
GPU = ("gpu-operator-certified", "nvidia-gpu-operator", "certified-operators")
NETWORK = ("nvidia-network-operator", "nvidia-network-operator", "certified-operators")
SRIOV = ("sriov-network-operator", "openshift-sriov-network-operator", "redhat-operators")
TROUBLES = [
    {"type": "csv_failed", "package": "gpu-operator-certified"},
    {"type": "foreign_csv", "package": "nfd", "with_package": "kernel-module-management"},
    {"type": "package_missing", "package": "nvidia-network-operator"},
    {"type": "resolution_failed", "package": "sriov-network-operator"},
]
OLM = {"olm", "olm-catalog", "opm-redhat-operators", "opm-certified-operators"}


def sandbox_of(folder: Path, troubles: list[Data]) -> t.Iterator[Sandbox]:
    scenario = folder / "olm.yml"
    scenario.write_text(yaml.safe_dump({"extends": "aws", "troubles": troubles}))
    with own(str(scenario)) as cluster:
        yield cluster.needs_sandbox()


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Sandbox]:
    yield from sandbox_of(tmp_path_factory.mktemp("calm"), [])


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Sandbox]:
    yield from sandbox_of(tmp_path_factory.mktemp("troubled"), TROUBLES)


def served(client: Client, crd: str) -> bool:
    return client.get("apiextensions.k8s.io/v1", "customresourcedefinitions", crd) is not None


def available(client: Client, name: str, namespace: str) -> bool:
    deployment = client.get("apps/v1", "deployments", name, namespace) or {}
    return bool(deployment.get("status", {}).get("availableReplicas") == 1)


def check_samples(client: Client, package: str) -> None:
    """Assert that the API server accepts every field of the catalogue's sample objects."""
    manifest = client.get(
        "packages.operators.coreos.com/v1", "packagemanifests", package, "openshift-marketplace"
    )
    assert manifest is not None
    for sample in json.loads(
        manifest["status"]["channels"][0]["currentCSVDesc"]["annotations"]["alm-examples"]
    ):
        path = resource_path(
            sample["apiVersion"],
            client.plural(sample["apiVersion"], sample["kind"]),
            None,
            sample["metadata"].get("namespace"),
        )
        client.checked("POST", path, sample, query={"dryRun": "All", "fieldValidation": "Strict"})


def viewed(client: Client) -> set[str]:
    """Return the kinds that the ClusterRole `view` shows."""
    role = must_get(client, "rbac.authorization.k8s.io/v1", "clusterroles", "view")
    return {one for rule in role.get("rules") or [] for one in rule.get("resources", [])}


def test_two_sandboxes_side_by_side(calm: Sandbox, troubled: Sandbox) -> None:
    """Run two OLMs: only one of their four processes gets port 8080; the others log that and go on."""
    for sandbox in (calm, troubled):
        assert {child.name for child in sandbox.processes.all() if child.alive} >= OLM
        sources = sandbox.client().list(V1ALPHA1, "catalogsources", "openshift-marketplace")
        assert {source["metadata"]["name"] for source in sources} == {
            "redhat-operators",
            "certified-operators",
        }
        assert all(source["status"]["connectionState"]["lastObservedState"] == "READY" for source in sources)


def test_nfd_is_upgraded_within_its_channel(calm: Sandbox) -> None:
    first, second = "nfd.v4.22.0-202607141007", "nfd.v4.22.0-202608111344"
    client = calm.client()
    nfd = Operator(client, *NFD)
    nfd.subscribe("stable", first)
    assert nfd.plan(first)["spec"] == {
        "approval": "Manual",
        "approved": False,
        "clusterServiceVersionNames": [first],
        "generation": 1,
    }
    assert not served(client, "nodefeaturediscoveries.nfd.openshift.io")
    nfd.approve(first)
    assert nfd.reached(first, "Succeeded")["reason"] == "InstallSucceeded"
    assert served(client, "nodefeaturediscoveries.nfd.openshift.io")
    assert available(client, "nfd-controller-manager", "openshift-nfd")
    until(lambda: "nodefeaturediscoveries" in viewed(client), "whoever may view a project may view its kinds")
    nfd.approve(second)
    nfd.reached(second, "Succeeded")
    until(lambda: nfd.csv(first) is None, "the old CSV gone")
    until(
        lambda: nfd.status().get("installedCSV") == second and nfd.status()["state"] == "AtLatestKnown",
        "installedCSV",
    )
    check_samples(client, "nfd")


def test_gpu_operator_is_upgraded_by_a_change_of_channel(calm: Sandbox) -> None:
    before, after = "gpu-operator-certified.v26.3.3", "gpu-operator-certified.v26.7.1"
    client = calm.client()
    gpu = Operator(client, *GPU)
    gpu.subscribe("v26.3")
    gpu.approve(before)
    gpu.reached(before, "Succeeded")
    until(lambda: gpu.status().get("state") == "AtLatestKnown", "AtLatestKnown")
    client.patch(V1ALPHA1, "subscriptions", gpu.package, gpu.namespace, {"spec": {"channel": "v26.7"}})
    gpu.approve(after)
    gpu.reached(after, "Succeeded")
    assert available(client, "gpu-operator", "nvidia-gpu-operator")
    check_samples(client, "gpu-operator-certified")


def test_package_manifests_can_be_told_apart_by_their_catalogue(calm: Sandbox) -> None:
    client = calm.client()

    def names(catalog: str) -> set[str]:
        found = client.list(
            "packages.operators.coreos.com/v1",
            "packagemanifests",
            "openshift-marketplace",
            labels=f"catalog={catalog}",
        )
        return {manifest["metadata"]["name"] for manifest in found}

    assert names("certified-operators") == {
        "fpga-operator",
        "gpu-operator-certified",
        "nvidia-network-operator",
    }
    assert names("redhat-operators") == {
        "nfd",
        "sriov-network-operator",
        "kernel-module-management",
        "kubevirt-hyperconverged",
        "kueue-operator",
    }


def test_a_trouble_comes_and_goes_while_olm_runs(calm: Sandbox) -> None:
    sriov = Operator(calm.client(), *SRIOV)
    faults.add(calm, "package_missing", {"package": sriov.package})
    sriov.subscribe("stable")
    assert (
        "no operators found in package sriov-network-operator"
        in sriov.condition("ResolutionFailed")["message"]
    )
    assert (
        calm.client().get(
            "packages.operators.coreos.com/v1", "packagemanifests", sriov.package, "openshift-marketplace"
        )
        is None
    )
    assert faults.clear(calm, "package_missing", {}) == 1
    assert sriov.plan("sriov-network-operator.v4.22.0-202608111344")


def test_csv_failed(troubled: Sandbox) -> None:
    gpu = Operator(troubled.client(), *GPU)
    gpu.subscribe("v26.7")
    gpu.approve("gpu-operator-certified.v26.7.1")
    status = gpu.reached("gpu-operator-certified.v26.7.1", "Failed")
    assert status["reason"] == "InstallCheckFailed"
    assert status["message"].endswith('deployment "gpu-operator" exceeded its progress deadline')


def test_foreign_csv(troubled: Sandbox) -> None:
    nfd = Operator(troubled.client(), *NFD)
    nfd.subscribe("stable")
    plan = nfd.plan("nfd.v4.22.0-202608111344")
    assert sorted(plan["spec"]["clusterServiceVersionNames"]) == [
        "kernel-module-management.v2.6.0",
        "nfd.v4.22.0-202608111344",
    ]


@pytest.mark.parametrize(
    ("package", "text"),
    [
        (
            NETWORK,
            "no operators found in package nvidia-network-operator in the catalog referenced by subscription "
            "nvidia-network-operator",
        ),
        (SRIOV, "requires an operator with package: openshift-cert-manager-operator"),
    ],
)
def test_resolution_failed(troubled: Sandbox, package: tuple[str, str, str], text: str) -> None:
    operator = Operator(troubled.client(), *package)
    operator.subscribe("stable")
    condition = operator.condition("ResolutionFailed")
    assert condition["reason"] == "ConstraintsNotSatisfiable"
    assert text in condition["message"]
