"""The ways in which EC2 refuses, besides having no capacity."""

from __future__ import annotations

import pytest
from unit.sandbox.clouds.builders import NAMESPACE, Data, aws, creation_text, make, outcome


class TestAws:
    @pytest.mark.parametrize(
        ("value", "trouble", "message"),
        [
            (
                aws(),
                {"type": "subnet_full", "subnet": "subnet-1"},
                (
                    "error launching instance: There are not enough free addresses in subnet 'subnet-1' to "
                    "satisfy the requested number of instances."
                ),
            ),
            (
                aws(),
                {"type": "unauthorized"},
                (
                    "error launching instance: You are not authorized to perform this operation. Encoded "
                    "authorization failure message: "
                ),
            ),
            (
                aws(),
                {"type": "image_missing"},
                "error launching instance: The image id '[ami-1]' does not exist",
            ),
            (
                aws(blockDevices=[{"ebs": {"volumeSize": 120}}]),
                {"type": "image_missing"},
                (
                    "error getting blockDeviceMappings: error describing AMI: InvalidAMIID.NotFound: The "
                    "image id '[ami-1]' does not exist"
                ),
            ),
        ],
    )
    def test_a_client_s_error_is_final(self, value: Data, trouble: Data, message: str) -> None:
        machine = outcome(make("aws", trouble), value)
        assert (machine["status"]["phase"], machine["status"]["errorReason"]) == (
            "Failed",
            "InvalidConfiguration",
        )
        assert machine["status"]["errorMessage"].startswith(message)
        assert creation_text(machine)[2] == machine["status"]["errorMessage"]

    def test_no_spot_capacity_is_waited_for(self) -> None:
        world = make("aws", {"type": "spot_unavailable"})
        machine = outcome(world, aws(spotMarketOptions={}))
        assert machine["status"]["phase"] == "Provisioning"
        assert (
            "InsufficientInstanceCapacity: There is no Spot capacity available that matches your "
            "request.\n\tstatus code: 500"
        ) in creation_text(machine)[2]
        assert outcome(world, aws(), "on-demand")["status"]["phase"] == "Running"
        world.scenario.now.troubles.clear()
        world.settle(6)
        assert (
            world.api.get("Machine", "gpu-1", NAMESPACE)["metadata"]["labels"][
                "machine.openshift.io/interruptible-instance"
            ]
            == ""
        )
