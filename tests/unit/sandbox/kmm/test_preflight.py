"""What a PreflightValidation says about a kernel to come."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.sandbox.kmm.builders import KERNEL, SPACE, world

from openshift_sandbox.stand_ins.kmm import preflight


@pytest.mark.parametrize(
    ("kernel", "status", "reason"),
    [
        (KERNEL, "Success", "verified image exists"),
        ("6.1", "Failure", "mapping not found"),
    ],
)
def test_a_kernel_to_come(tmp_path: Path, kernel: str, status: str, reason: str) -> None:
    made = world(tmp_path)
    spec = {"kernelVersion": kernel}
    made.api.create(
        {
            "apiVersion": "kmm.sigs.x-k8s.io/v1beta2",
            "kind": "PreflightValidation",
            "metadata": {"name": "p"},
            "spec": spec,
        }
    )
    made.settle(2.0)
    (entry,) = made.api.get("PreflightValidation", "p")["status"]["modules"]
    assert (entry["verificationStatus"], entry["verificationStage"]) == (status, "Done")
    assert reason in entry["statusReason"]


@pytest.mark.parametrize(
    ("troubles", "status", "reason"),
    [
        ([], "Success", "verified image exists"),
        (["kmm_build_fails"], "Failure", "verified image does not exist and build/sign failed"),
    ],
)
def test_what_is_not_there_is_verified_by_building(
    tmp_path: Path, troubles: list[str], status: str, reason: str
) -> None:
    made = world(tmp_path, {"type": "kmm_image_missing"}, *({"type": one} for one in troubles))
    mapping = {"regexp": "^5", "containerImage": "i", "build": {"dockerfileConfigMap": {"name": "d"}}}
    module = {
        "metadata": {"name": "card", "namespace": SPACE},
        "spec": {"moduleLoader": {"container": {"modprobe": {}, "kernelMappings": [mapping]}}},
    }
    assert preflight.verdict(made.cluster, module, {"kernelVersion": KERNEL}) == (status, reason)
