"""The ways in which EC2 refuses, besides having no capacity."""

from __future__ import annotations

import pytest
from unit.sandbox.clouds.builders import NAMESPACE, Data, aws, creation_text, make, outcome

RESERVATION = "cr-0123456789abcdef0"


class TestAws:
    @pytest.mark.parametrize(
        ("value", "trouble", "message"),
        [
            (
                aws(capacityReservationId=RESERVATION),
                {"type": "reservation_exceeded"},
                (
                    "error launching instance: The requested reservation does not have sufficient "
                    "compatible and available capacity for this request."
                ),
            ),
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
            (
                aws(spotMarketOptions={}),
                {"type": "spot_unavailable", "code": "MaxSpotInstanceCountExceeded"},
                "error launching instance: Max spot instance count",
            ),
            (
                aws(marketType="Spot", spotMarketOptions={"maxPrice": "0.50"}),
                {"type": "spot_unavailable", "code": "SpotMaxPriceTooLow"},
                (
                    "error launching instance: Your Spot request price of 0.50 is lower than the minimum "
                    "required Spot request fulfillment price of"
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

    def test_a_reservation_has_places_of_its_own(self) -> None:
        world = make(
            "aws",
            {"type": "no_capacity"},
            {"type": "reservation_exceeded", "reservation": RESERVATION, "available": 1},
        )
        assert outcome(world, aws(capacityReservationId=RESERVATION), "in-1")["status"]["phase"] == "Running"
        assert outcome(world, aws(capacityReservationId=RESERVATION), "in-2")["status"]["phase"] == "Failed"
        assert outcome(world, aws(), "out")["status"]["phase"] == "Provisioning"

    def test_a_shortage_may_last_for_a_while_from_the_first_refusal_on(self) -> None:
        world = make("aws", {"type": "no_capacity", "lasts": 20})
        world.settle(30)
        assert outcome(world, aws(), seconds=15)["status"]["phase"] == "Provisioning"
        world.settle(15)
        assert world.api.get("Machine", "gpu-1", NAMESPACE)["status"]["phase"] == "Running"

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

    def test_the_end_of_a_capacity_block_takes_what_runs_in_it(self) -> None:
        world = make("aws")
        value = aws(capacityReservationId=RESERVATION, marketType="CapacityBlock")
        assert outcome(world, value)["status"]["phase"] == "Running"
        assert outcome(world, aws(), "other")["status"]["phase"] == "Running"
        world.scenario.now.troubles.append({"type": "capacity_block_ended", "reservation": RESERVATION})
        world.settle(5)
        status = world.api.get("Machine", "gpu-1", NAMESPACE)["status"]
        assert (status["phase"], status["errorMessage"]) == ("Failed", "can't find created instance")
        assert len(world.api.all("Node")) == 1
        assert outcome(world, value, "gpu-2")["status"]["phase"] == "Failed"
