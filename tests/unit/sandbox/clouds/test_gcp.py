"""What Google Cloud grants and refuses, in its own words."""

from __future__ import annotations

import pytest
from unit.sandbox.clouds.builders import T4, Data, creation_text, gcp, make, outcome

from openshift_sandbox.hardware import instance_types


class TestGcp:
    def test_an_n1_has_the_gpus_that_are_attached_to_it(self) -> None:
        world = make("gcp")
        machine = outcome(world, gcp("n1-standard-4", **T4))
        assert machine["status"]["phase"] == "Running"
        assert machine["spec"]["providerID"] == "gce://demo-project/us-central1-a/gpu-1"
        node = world.api.get("Node", machine["status"]["nodeRef"]["name"])
        assert node["metadata"]["name"] == "gpu-1.c.demo-project.internal"
        assert node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "n1-standard-4"
        made_of = instance_types.of_node(node)
        assert made_of is not None
        assert (made_of.gpus, made_of.gpu) == (1, instance_types.GPUS["T4"])

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (gcp("a2-highgpu-1g", **T4), "A2 and A3 Machine types have pre-attached guest accelerators."),
            (
                gcp(**T4),
                (
                    "MachineType g2-standard-4 does not support accelerators. Only A2, A3 and N1 machine "
                    "type families support guest accelerators."
                ),
            ),
            (
                gcp("n1-standard-5", **T4),
                "MachineType n1-standard-5 is not available in the zone us-central1-a.",
            ),
            (
                gcp("n1-standard-4", gpus=[{"type": "nvidia-l4", "count": 1}]),
                "AcceleratorType nvidia-l4 not available in the zone us-central1-a : googleapi: 404",
            ),
            (gcp("n1-standard-4", gpus=[T4, T4]), "More than one type of accelerator provided."),
            (
                gcp(preemptible=True, restartPolicy="Always"),
                (
                    "failed to determine restart policy: preemptible/spot instances cannot be "
                    "automatically restarted"
                ),
            ),
        ],
    )
    def test_what_the_provider_refuses_has_no_condition(self, value: Data, text: str) -> None:
        status = outcome(make("gcp"), value)["status"]
        assert (status["phase"], status["errorReason"]) == ("Failed", "InvalidConfiguration")
        assert status["errorMessage"].replace("Error ", "").startswith(text)
        assert "conditions" not in status["providerStatus"]

    @pytest.mark.parametrize(
        ("value", "trouble", "text"),
        [
            (
                gcp("n1-standard-4", gpus=T4["gpus"]),
                {"type": "none"},
                "Error 400: Instances with guest accelerators do not support live migration., badRequest",
            ),
            (
                gcp(),
                {"type": "none"},
                "Error 400: Instances with guest accelerators do not support live migration.",
            ),
            (
                gcp("g9-standard-4"),
                {"type": "none"},
                "Machine type with name 'g9-standard-4' does not exist in zone 'us-central1-a'.",
            ),
            (
                gcp(onHostMaintenance="Terminate"),
                {"type": "quota_exceeded"},
                (
                    "Error 403: Quota 'NVIDIA_L4_GPUS' exceeded.  Limit: 0.0 in region us-central1., "
                    "quotaExceeded"
                ),
            ),
            (
                gcp("n1-standard-4", **T4),
                {"type": "quota_exceeded", "metric": "GPUS_ALL_REGIONS"},
                "Error 403: Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally., quotaExceeded",
            ),
        ],
    )
    def test_what_compute_engine_refuses(self, value: Data, trouble: Data, text: str) -> None:
        machine = outcome(make("gcp", trouble), value)
        assert machine["status"]["errorReason"] == "InvalidConfiguration"
        assert machine["status"]["errorMessage"].startswith("error launching instance: googleapi: Error 40")
        assert text in machine["status"]["errorMessage"]
        assert creation_text(machine)[:2] == ("MachineCreated", "False")

    @pytest.mark.parametrize(("more", "prefix"), [({}, ""), ({"provisioningModel": "Spot"}, "PREEMPTIBLE_")])
    def test_a_quota_that_the_provider_knows(self, more: Data, prefix: str) -> None:
        status = outcome(make("gcp", {"type": "quota_exceeded"}), gcp("n1-standard-4", **T4, **more))[
            "status"
        ]
        assert (
            status["errorMessage"] == f"Quota exceeded. Metric: {prefix}NVIDIA_T4_GPUS. Usage: 0. Limit: 0."
        )

    def test_no_capacity_is_an_instance_that_is_gone_again(self) -> None:
        world = make("gcp", {"type": "no_capacity"})
        status = outcome(world, gcp(onHostMaintenance="Terminate"))["status"]
        assert (status["phase"], status["errorMessage"], "errorReason" in status) == (
            "Failed",
            "can't find created instance",
            False,
        )
        [exists] = [one for one in status["conditions"] if one["type"] == "InstanceExists"]
        assert (exists["status"], exists["reason"]) == ("False", "InstanceMissing")
        assert world.api.all("Node") == []

    @pytest.mark.parametrize("more", [{"preemptible": True}, {"provisioningModel": "Spot"}])
    def test_spot_may_live_without_saying_terminate(self, more: Data) -> None:
        machine = outcome(make("gcp"), gcp(**more))
        assert machine["status"]["phase"] == "Running"
        assert machine["metadata"]["labels"]["machine.openshift.io/interruptible-instance"] == ""
