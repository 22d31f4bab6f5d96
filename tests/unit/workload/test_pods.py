"""Validation pods: how many, how they may run, and how they claim devices."""

from __future__ import annotations

import pytest
from unit.workload.builders import MARK, SLICES, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import claims as gpu_claims
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import resource_quota
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import pods as workload_pods
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import images
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.registry import (
    PROGRAMS,
)


def test_as_many_pods_as_the_geometry_promises() -> None:
    pods = workload_pods.pods(params(), [node(), node("gpu-1", mig_1g="3", gpu="1")], MARK)
    asked = [
        (
            pod["spec"]["nodeSelector"]["kubernetes.io/hostname"],
            *(key for key in pod["spec"]["containers"][0]["resources"]["limits"] if "/" in key),
        )
        for pod in pods
    ]
    assert (
        asked
        == [("host-gpu-0", "nvidia.com/gpu")] * 2
        + [("host-gpu-1", "nvidia.com/gpu")]
        + [("host-gpu-1", "nvidia.com/mig-1g")] * 3
    )
    names = [pod["metadata"]["name"] for pod in pods]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 63 for name in names)


def test_a_pod_is_what_an_ordinary_user_may_run() -> None:
    (pod,) = workload_pods.pods(
        params(
            expected={"nvidia.com/gpu": 1},
            tolerations=[{"key": "team", "operator": "Exists", "value": None}],
        ),
        [node()],
        MARK,
    )
    spec, (container,) = pod["spec"], pod["spec"]["containers"]
    assert "nodeName" not in spec
    assert spec["restartPolicy"] == "Never"
    assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert container["image"] == images.SAMPLES
    assert spec["tolerations"] == [
        {"key": "team", "operator": "Exists"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    ]
    assert container["command"][-1].endswith("code=$?\nsleep 3\nexit $code")
    assert pod["metadata"]["labels"]["accelerators.openshift/benchmark"] == "vectoradd"


@pytest.mark.parametrize("benchmark", sorted(PROGRAMS))
@pytest.mark.parametrize("claims", [False, True])
def test_no_variable_of_a_pod_overrides_the_devices_that_it_was_given(benchmark: str, claims: bool) -> None:
    found = [gpu_claims.offering(node(), SLICES)] if claims else [node()]
    asked = params(benchmark=benchmark, claims=claims)
    for pod in [*workload_pods.pods(asked, found, MARK), workload_pods.probes(asked, found, MARK)[0]]:
        for container in pod["spec"]["containers"]:
            assert not container.keys() & {"env", "envFrom"}
            assert "NVIDIA_" not in " ".join(container["command"])


def test_a_pod_names_its_run_and_ends_by_itself() -> None:
    for pod in [
        *workload_pods.pods(params(), [node()], MARK),
        *workload_pods.probes(params(), [node()], MARK),
    ]:
        assert pod["spec"]["activeDeadlineSeconds"] == 900
        assert pod["metadata"]["annotations"] == {"accelerators.openshift/run-id": MARK.run}


def test_the_probe_asks_for_everything_at_once() -> None:
    (probe,) = workload_pods.probes(params(), [node(), node("gpu-1")], MARK)
    limits = probe["spec"]["containers"][0]["resources"]["limits"]
    assert (limits["nvidia.com/gpu"], limits["cpu"], limits["memory"]) == ("4", "400m", "2048Mi")


def test_a_pod_that_claims_requests_no_device() -> None:
    asked = params(claims=True)
    (pod, _other) = workload_pods.pods(asked, [gpu_claims.offering(node(), SLICES)], MARK)
    (container,) = pod["spec"]["containers"]
    assert (
        container["resources"]["limits"]
        == container["resources"]["requests"]
        == {"cpu": "100m", "memory": "512Mi"}
    )
    assert container["resources"]["claims"] == [{"name": "gpu"}]
    assert "env" not in container
    template = workload_pods.templates([pod], asked.namespace, MARK.name)[0]
    assert pod["spec"]["resourceClaims"] == [
        {"name": "gpu", "resourceClaimTemplateName": template["metadata"]["name"]}
    ]
    assert template["spec"]["metadata"]["labels"] == {
        key: value for key, value in pod["metadata"]["labels"].items() if "benchmark" not in key
    }
    whole, everything = workload_pods.probes(
        asked, [gpu_claims.offering(node(name), SLICES) for name in ("gpu-0", "gpu-1")], MARK
    )
    assert whole["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "600m", "memory": "3072Mi"}
    assert resource_quota.asked(everything) == {"gpu.nvidia.com": 6}
