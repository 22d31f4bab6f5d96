"""What Azure and Google Cloud grant and refuse, in their own words; and the ways in which EC2 refuses besides having none left."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox import scenario
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.clouds.registry import CLOUDS
from openshift_sandbox.stand_ins.machine_api.machine_sets import CAPACITY, scale_from_zero
from openshift_sandbox.stand_ins.machine_api.machines import Machines
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink

Data = dict[str, t.Any]

NAMESPACE = "openshift-machine-api"
API = "machine.openshift.io/v1beta1"
T4 = {"gpus": [{"type": "nvidia-tesla-t4", "count": 1}], "onHostMaintenance": "Terminate"}
RESERVATION = "cr-0123456789abcdef0"


def make(name: str, *troubles: Data) -> World:
    shape = scenario.load(name).cluster
    world = World(Machines(), Nodelink(), cluster=shape, troubles=list(troubles))
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": shape["platform"]}}})
    return world


def azure(size: str = "Standard_NC4as_T4_v3", **more: t.Any) -> Data:
    return {"vmSize": size, "location": "eastus", "zone": "1", "acceleratedNetworking": True} | more


def gcp(kind: str = "g2-standard-4", **more: t.Any) -> Data:
    return {
        "machineType": kind,
        "region": "us-central1",
        "zone": "us-central1-a",
        "projectID": "demo-project",
    } | more


def aws(kind: str = "p5.48xlarge", **more: t.Any) -> Data:
    return {
        "instanceType": kind,
        "placement": {"availabilityZone": "us-east-2a", "region": "us-east-2"},
        "ami": {"id": "ami-1"},
    } | more


def outcome(world: World, value: Data, name: str = "gpu-1", seconds: float = 6) -> Data:
    metadata = {"name": name, "namespace": NAMESPACE}
    world.api.create(
        {
            "apiVersion": API,
            "kind": "Machine",
            "metadata": metadata,
            "spec": {"providerSpec": {"value": value}},
        }
    )
    world.settle(seconds)
    return world.api.get("Machine", name, NAMESPACE)


def creation(machine: Data) -> tuple[str, str, str]:
    [found] = machine["status"]["providerStatus"]["conditions"]
    return found["type"], found["status"], found["message"]


class TestAzure:
    def test_a_machine_becomes_a_node_under_its_own_name(self) -> None:
        world = make("azure")
        machine = outcome(world, azure())
        assert machine["status"]["phase"] == "Running"
        assert machine["metadata"]["labels"]["machine.openshift.io/zone"] == "1"
        assert machine["metadata"]["annotations"]["machine.openshift.io/instance-state"] == "Running"
        assert machine["status"]["providerStatus"]["vmState"] == "Running"
        assert creation(machine) == ("MachineCreated", "True", "machine successfully created")
        node = world.api.get("Node", "gpu-1")
        assert node["spec"]["providerID"] == machine["spec"]["providerID"]
        assert node["spec"]["providerID"].endswith(
            "/resourceGroups/demo-x7k2p-rg/providers/Microsoft.Compute/virtualMachines/gpu-1"
        )
        assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "eastus-1"
        before = len(world.api.writes)
        world.settle(5)
        assert len(world.api.writes) == before

    @pytest.mark.parametrize(
        ("value", "trouble", "code", "text"),
        [
            (
                azure(),
                {"type": "quota_exceeded", "limit": 2},
                "OperationNotAllowed",
                "exceeding approved Total Regional Cores quota",
            ),
            (
                azure(),
                {"type": "quota_exceeded", "family": "standardNCASv3_T4Family"},
                "OperationNotAllowed",
                "standardNCASv3_T4Family Cores quota",
            ),
            (
                azure(),
                {"type": "unsupported_zone"},
                "SkuNotAvailable",
                "is currently not available in location 'eastus' zones '1' for subscription",
            ),
            (
                azure(),
                {"type": "no_capacity", "code": "SkuNotAvailable"},
                "SkuNotAvailable",
                "Following SKUs have failed for Capacity Restrictions",
            ),
            (
                azure("Standard_X1", acceleratedNetworking=False),
                {"type": "none"},
                "InvalidParameter",
                "The value Standard_X1 provided",
            ),
        ],
    )
    def test_what_is_refused_at_once_says_why(self, value: Data, trouble: Data, code: str, text: str) -> None:
        machine = outcome(make("azure", trouble), value)
        status = machine["status"]
        assert (status["phase"], status["errorReason"]) == ("Failed", "InvalidConfiguration")
        assert status["errorMessage"].startswith(
            'failed to reconcile machine "gpu-1": failed to create vm gpu-1: failed to create VM: cannot create vm: PUT https'
        )
        assert f"\nERROR CODE: {code}\n" in status["errorMessage"]
        assert text in status["errorMessage"]
        assert creation(machine)[:2] == ("MachineCreated", "False")
        assert creation(machine)[2] == status["errorMessage"].removeprefix(
            'failed to reconcile machine "gpu-1": '
        )
        assert machine["metadata"]["annotations"]["machine.openshift.io/instance-state"] == "Unknown"

    def test_an_unknown_size_is_told_by_its_network_card(self) -> None:
        status = outcome(make("azure"), azure("Standard_X1"))["status"]
        assert (
            "failed to create nic gpu-1-nic for machine gpu-1: failed to obtain instance type information for VMSize 'Standard_X1'"
            in status["errorMessage"]
        )

    def test_no_capacity_shows_late_and_without_a_reason(self) -> None:
        world = make("azure", {"type": "no_capacity", "zone": "1"})
        machine = outcome(world, azure(), seconds=1)
        assert (machine["status"]["phase"], machine["status"]["providerStatus"]["vmState"]) == (
            "Provisioned",
            "Creating",
        )
        world.settle(5)
        machine = world.api.get("Machine", "gpu-1", NAMESPACE)
        assert machine["status"]["phase"] == "Failed"
        assert (machine["status"]["errorReason"], machine["status"]["errorMessage"]) == (
            "CreateError",
            "vm has unexpected 'Failed' provisioning state",
        )
        assert machine["status"]["providerStatus"]["vmState"] == "Unknown"
        assert creation(machine)[1] == "True"
        assert world.api.all("Node") == []
        assert outcome(world, azure(zone="2"), "gpu-2")["status"]["phase"] == "Running"

    def test_spot_is_labelled_on_machine_and_node(self) -> None:
        world = make("azure")
        machine = outcome(world, azure(spotVMOptions={}))
        assert machine["metadata"]["labels"]["machine.openshift.io/interruptible-instance"] == ""
        assert (
            world.api.get("Node", "gpu-1")["metadata"]["labels"][
                "machine.openshift.io/interruptible-instance"
            ]
            == ""
        )


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
                "MachineType g2-standard-4 does not support accelerators. Only A2, A3 and N1 machine type families support guest accelerators.",
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
                "failed to determine restart policy: preemptible/spot instances cannot be automatically restarted",
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
                "Error 403: Quota 'NVIDIA_L4_GPUS' exceeded.  Limit: 0.0 in region us-central1., quotaExceeded",
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
        assert creation(machine)[:2] == ("MachineCreated", "False")

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

    def test_a_request_that_fails_is_repeated(self) -> None:
        world = make("gcp", {"type": "no_capacity", "immediate": True})
        machine = outcome(world, gcp(onHostMaintenance="Terminate"))
        assert machine["status"]["phase"] == "Provisioning"
        assert "does not have enough resources available" in creation(machine)[2]
        world.scenario.now.troubles.clear()
        world.settle(6)
        assert world.api.get("Machine", "gpu-1", NAMESPACE)["status"]["phase"] == "Running"

    @pytest.mark.parametrize("more", [{"preemptible": True}, {"provisioningModel": "Spot"}])
    def test_spot_may_live_without_saying_terminate(self, more: Data) -> None:
        machine = outcome(make("gcp"), gcp(**more))
        assert machine["status"]["phase"] == "Running"
        assert machine["metadata"]["labels"]["machine.openshift.io/interruptible-instance"] == ""


class TestAws:
    @pytest.mark.parametrize(
        ("value", "trouble", "message"),
        [
            (
                aws(capacityReservationId=RESERVATION),
                {"type": "reservation_exceeded"},
                "error launching instance: The requested reservation does not have sufficient compatible and available capacity for this request.",
            ),
            (
                aws(),
                {"type": "subnet_full", "subnet": "subnet-1"},
                "error launching instance: There are not enough free addresses in subnet 'subnet-1' to satisfy the requested number of instances.",
            ),
            (
                aws(),
                {"type": "unauthorized"},
                "error launching instance: You are not authorized to perform this operation. Encoded authorization failure message: ",
            ),
            (
                aws(),
                {"type": "image_missing"},
                "error launching instance: The image id '[ami-1]' does not exist",
            ),
            (
                aws(blockDevices=[{"ebs": {"volumeSize": 120}}]),
                {"type": "image_missing"},
                "error getting blockDeviceMappings: error describing AMI: InvalidAMIID.NotFound: The image id '[ami-1]' does not exist",
            ),
            (
                aws(spotMarketOptions={}),
                {"type": "spot_unavailable", "code": "MaxSpotInstanceCountExceeded"},
                "error launching instance: Max spot instance count",
            ),
            (
                aws(marketType="Spot", spotMarketOptions={"maxPrice": "0.50"}),
                {"type": "spot_unavailable", "code": "SpotMaxPriceTooLow"},
                "error launching instance: Your Spot request price of 0.50 is lower than the minimum required Spot request fulfillment price of",
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
        assert creation(machine)[2] == machine["status"]["errorMessage"]

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
            "InsufficientInstanceCapacity: There is no Spot capacity available that matches your request.\n\tstatus code: 500"
            in creation(machine)[2]
        )
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


@pytest.mark.parametrize(
    ("platform", "value", "wanted"),
    [
        ("Azure", azure("Standard_NC64as_T4_v3"), ("64", str(440 * 1024), "4", "amd64")),
        ("Azure", azure("Standard_NP10s"), ("10", str(168 * 1024), "1", "amd64")),
        ("GCP", gcp("n1-standard-4", **T4), ("4", "15360", "1", "amd64")),
        ("GCP", gcp("a3-highgpu-8g"), ("208", str(1872 * 1024), "8", "amd64")),
        ("GCP", gcp("t2a-standard-4"), ("4", "16384", "0", "arm64")),
        ("GCP", gcp("unheard-of"), None),
    ],
)
def test_what_the_autoscaler_is_told(platform: str, value: Data, wanted: tuple[str, ...] | None) -> None:
    machine_set = {"metadata": {}, "spec": {"template": {"spec": {"providerSpec": {"value": value}}}}}
    told = scale_from_zero(CLOUDS[platform], machine_set)
    keys = [*(f"machine.openshift.io/{name}" for name in ("vCPU", "memoryMb", "GPU")), CAPACITY]
    assert (tuple(told[key].removeprefix("kubernetes.io/arch=") for key in keys) if told else None) == wanted


def test_capacity_labels_of_others_stay() -> None:
    metadata = {"annotations": {CAPACITY: "team=ml,kubernetes.io/arch=arm64"}}
    machine_set = {"metadata": metadata, "spec": {"template": {"spec": {"providerSpec": {"value": aws()}}}}}
    assert scale_from_zero(CLOUDS["AWS"], machine_set)[CAPACITY] == "kubernetes.io/arch=arm64,team=ml"
