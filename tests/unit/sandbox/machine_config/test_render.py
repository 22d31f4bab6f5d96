"""The configuration that a pool gets."""

from __future__ import annotations

import json
from urllib.parse import unquote

from unit.sandbox.machine_config import rolling
from unit.sandbox.machine_config.rolling import (
    API,
    BASE,
    add,
    cluster,
    configuration,
    gpu_pool,
    machine_config,
)

from openshift_sandbox.seed import booted
from openshift_sandbox.stand_ins.machine_config import kubelet_configs
from openshift_sandbox.stand_ins.machine_config.render import merged_spec

BASE_DIGEST = BASE.rpartition("-")[2]


def test_a_fresh_cluster_keeps_the_names_of_its_release() -> None:
    world = cluster(rolling.worker("a"))
    before = len(world.api.writes)
    world.settle(5)
    assert world.api.writes[before:] == []
    assert configuration(world, "worker") == BASE


def test_a_custom_pool_that_adds_nothing_has_the_content_of_the_workers() -> None:
    world = cluster(gpu_pool())
    assert configuration(world) == f"rendered-gpu-training-{BASE_DIGEST}"
    names = [one["name"] for one in rolling.pool(world)["spec"]["configuration"]["source"]]
    assert names == ["00-worker", "01-worker-kubelet"]
    made = world.api.get("MachineConfig", configuration(world))
    assert made["metadata"]["ownerReferences"][0]["name"] == "gpu-training"
    assert rolling.states(world)["Updated"] == "True"


def test_a_machine_config_changes_only_the_pools_that_select_it() -> None:
    world = cluster(gpu_pool())
    before = configuration(world)
    add(world, machine_config("99-gpu", "gpu-training", "iommu=pt"))
    after = configuration(world)
    assert after != before
    assert world.api.get("MachineConfig", after)["spec"]["kernelArguments"] == ["iommu=pt"]
    assert configuration(world, "worker") == BASE
    world.api.delete(API, "machineconfigs", "99-gpu")
    world.settle(1)
    assert configuration(world) == before


def test_one_for_the_workers_reaches_custom_pools_too() -> None:
    world = cluster(gpu_pool())
    add(world, machine_config("99-all", "worker", "audit=1"))
    assert configuration(world, "worker") != BASE
    assert configuration(world).rpartition("-")[2] == configuration(world, "worker").rpartition("-")[2]


def test_an_empty_one_changes_nothing() -> None:
    world = cluster(gpu_pool(), machine_config("99-empty"))
    assert configuration(world) == f"rendered-gpu-training-{BASE_DIGEST}"


def test_changes_that_come_together_make_one_configuration() -> None:
    world = cluster(gpu_pool(), delays={"machine_config_render": 5}, seconds=6)
    rendered = {one["metadata"]["name"] for one in world.api.all("MachineConfig")}
    add(world, machine_config("99-one", "gpu-training", "a=1"), 2)
    add(world, machine_config("99-two", "gpu-training", "b=2"), 6)
    new = (
        {one["metadata"]["name"] for one in world.api.all("MachineConfig")} - rendered - {"99-one", "99-two"}
    )
    assert len(new) == 1
    assert world.api.get("MachineConfig", new.pop())["spec"]["kernelArguments"] == ["a=1", "b=2"]


def test_a_pool_that_selects_nothing_is_degraded() -> None:
    world = cluster(gpu_pool(machineConfigSelector={"matchLabels": {"role": "nobody"}}))
    assert rolling.states(world) == {"RenderDegraded": "True", "Degraded": "True"}
    assert rolling.message(world, "RenderDegraded").startswith(
        "Failed to render configuration for pool gpu-training: no MachineConfigs found matching selector"
    )


def test_later_names_win_and_all_arguments_are_there() -> None:
    def file(text: str) -> dict[str, object]:
        return {"storage": {"files": [{"path": "/etc/x", "contents": {"source": text}}]}}

    spec = merged_spec(
        [
            machine_config("a", "x", "one", config=file("old"), kernelType="realtime"),
            machine_config(
                "b", "x", "two", "one", config=file("new"), kernelType="default", extensions=["usbguard"]
            ),
        ]
    )
    assert spec["kernelArguments"] == ["one", "two", "one"]
    assert spec["config"]["storage"]["files"] == [{"path": "/etc/x", "contents": {"source": "new"}}]
    assert (spec["kernelType"], spec["extensions"]) == ("realtime", ["usbguard"])


class TestKubeletConfigs:
    def test_it_becomes_a_machine_config_of_each_pool(self) -> None:
        world = cluster(gpu_pool(), rolling.kubelet_config(cpuManagerPolicy="static"))
        made = world.api.get("MachineConfig", "99-gpu-training-generated-kubelet")
        [file] = made["spec"]["config"]["storage"]["files"]
        whole = {**kubelet_configs.TEMPLATE, "cpuManagerPolicy": "static"}
        assert json.loads(unquote(file["contents"]["source"].partition(",")[2])) == whole
        assert made["metadata"]["labels"] == {f"{rolling.KEYS}role": "gpu-training"}
        found = world.api.get("KubeletConfig", "gpu-training")
        assert found["metadata"]["finalizers"] == ["99-gpu-training-generated-kubelet"]
        [one] = found["status"]["conditions"]
        assert (one["type"], one["status"], one["message"]) == ("Success", "True", "Success")
        assert booted.kubelet(world.api.get("MachineConfig", configuration(world))["spec"]) == whole

    def test_that_of_a_custom_pool_replaces_that_of_the_workers(self) -> None:
        """The whole file comes from the template and one KubeletConfig; a custom pool's configs come last."""
        big = rolling.kubelet_config("big", maxPods=500)
        big["spec"]["machineConfigPoolSelector"] = {
            "matchLabels": {f"pools.operator.{API.split('/')[0]}/worker": ""}
        }
        world = cluster(gpu_pool(), big)
        seen = booted.kubelet(world.api.get("MachineConfig", configuration(world))["spec"])
        assert seen["maxPods"] == 500
        own = rolling.kubelet_config(cpuManagerPolicy="static", systemReserved={"memory": "500Mi"})
        add(world, own, 6)
        spec = world.api.get("MachineConfig", configuration(world))["spec"]
        assert booted.kubelet(spec) == {**kubelet_configs.TEMPLATE, "cpuManagerPolicy": "static"}
        sizing = next(
            one for one in spec["config"]["storage"]["files"] if one["path"].endswith("sizing-enabled.env")
        )
        assert unquote(sizing["contents"]["source"]).partition(",")[2].split("\n")[:2] == [
            "NODE_SIZING_ENABLED=false",
            "SYSTEM_RESERVED_MEMORY=500Mi",
        ]
        base = world.api.get("MachineConfig", configuration(world, "worker"))["spec"]
        assert "NODE_SIZING_ENABLED%3Dtrue" in str(base)

    def test_a_second_one_has_a_number_and_both_go_with_their_owners(self) -> None:
        second = rolling.kubelet_config("more", topologyManagerPolicy="restricted")
        world = cluster(gpu_pool(), rolling.kubelet_config(cpuManagerPolicy="static"))
        add(world, second)
        assert world.api.get("MachineConfig", "99-gpu-training-generated-kubelet-1")
        world.api.delete(API, "kubeletconfigs", "gpu-training")
        world.settle(1)
        names = {one["metadata"]["name"] for one in world.api.all("MachineConfig")}
        assert "99-gpu-training-generated-kubelet" not in names
        assert "99-gpu-training-generated-kubelet-1" in names
        assert [one["metadata"]["name"] for one in world.api.all("KubeletConfig")] == ["more"]

    def test_a_change_follows(self) -> None:
        world = cluster(gpu_pool(), rolling.kubelet_config(cpuManagerPolicy="static"))
        before = configuration(world)
        body = {"spec": {"kubeletConfig": {"topologyManagerPolicy": "restricted"}}}
        world.api.patch(API, "kubeletconfigs", "gpu-training", None, body)
        world.settle(1)
        assert configuration(world) != before
        assert world.api.get("KubeletConfig", "gpu-training")["status"]["observedGeneration"] == 2

    def test_failures_are_told(self) -> None:
        world = cluster(rolling.kubelet_config(cpuManagerPolicy="static"))
        [one] = world.api.get("KubeletConfig", "gpu-training")["status"]["conditions"]
        assert (one["type"], one["status"]) == ("Failure", "False")
        assert one["message"] == (
            "Error: could not find any MachineConfigPool set for KubeletConfig gpu-training"
        )
        add(world, gpu_pool(), 1)
        [one] = world.api.get("KubeletConfig", "gpu-training")["status"]["conditions"]
        assert one["type"] == "Success"

    def test_some_fields_are_refused(self) -> None:
        world = cluster(gpu_pool(), rolling.kubelet_config(clusterDomain="example.com"))
        [one] = world.api.get("KubeletConfig", "gpu-training")["status"]["conditions"]
        assert one["message"].endswith("clusterDomain is not allowed to be set, but contains: example.com")

    def test_newer_releases_accept_and_keep_the_old_word_behind_it(self) -> None:
        world = cluster(rolling.kubelet_config(), version="4.23.0")
        found = world.api.get("KubeletConfig", "gpu-training")["status"]["conditions"]
        assert [(one["type"], one["status"]) for one in found] == [("Accepted", "False"), ("Failure", "True")]
