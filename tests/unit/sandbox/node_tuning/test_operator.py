"""Profiles that follow the rules, conditions of Tuneds, kernel arguments of pools."""

from __future__ import annotations

from unit.sandbox.node_tuning.builders import (
    CLUSTER,
    NAMESPACE,
    POOL,
    ROLE,
    edit,
    mcp,
    node,
    operator,
    profile,
    reasons,
    says,
    tuned,
    world,
)

from openshift_sandbox.seed import tuning

TUNED = tuning.TUNED_API
KERNEL = "[main]\ninclude=openshift-node\n[bootloader]\ncmdline=+iommu=pt pci=realloc\n"
POOLS = (mcp("worker"), mcp("master"), mcp("training", "worker", "training", selector="training"))


class TestProfiles:
    def test_every_linux_node_has_one(self) -> None:
        windows = node("w")
        windows["metadata"]["labels"]["kubernetes.io/os"] = "windows"
        made = world(node("a"), node("m", "control-plane"), windows)
        assert {one["metadata"]["name"] for one in made.api.all("Profile")} == {"a", "m"}
        assert says(made, "a") == ("openshift-node", "openshift-node", "True", "False")
        assert says(made, "m")[0] == "openshift-control-plane"
        assert profile(made, "a")["spec"]["config"]["providerName"] == "aws"
        assert profile(made, "a")["metadata"]["ownerReferences"][0]["name"] == "default"

    def test_what_the_installer_leaves_needs_no_write(self) -> None:
        made = world()
        default = made.api.get("Tuned", "default", NAMESPACE)
        for one in (node("a"), node("m", "control-plane")):
            one["metadata"]["annotations"] = tuning.node_annotations(CLUSTER)
            made.api.create(one)
            made.api.create(tuning.profile(CLUSTER, one, default))
        before = len(made.api.writes)
        made.settle(2)
        assert made.api.writes[before:] == []

    def test_a_tuned_switches_the_nodes_that_it_matches(self) -> None:
        made = world(node("a"), node("g", pool="training"))
        made.api.create(tuned("gpu"))
        made.settle(2)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")
        assert says(made, "a")[0] == "openshift-node"
        assert [one["name"] for one in profile(made, "g")["spec"]["profile"]] == ["gpu", "openshift"]
        assert made.api.get("Tuned", "gpu", NAMESPACE)["status"]["conditions"][0]["status"] == "True"
        made.api.delete(TUNED, "tuneds", "gpu", NAMESPACE)
        made.settle(2)
        assert says(made, "g") == ("openshift-node", "openshift-node", "True", "False")

    def test_a_label_or_a_new_node_is_enough(self) -> None:
        made = world(tuned("gpu"), node("a"))
        made.api.patch("v1", "nodes", "a", None, {"metadata": {"labels": {POOL: "training"}}})
        made.api.create(node("later", pool="training"))
        made.settle(2)
        assert says(made, "a")[1] == says(made, "later")[1] == "gpu"

    def test_the_profile_goes_with_its_node(self) -> None:
        made = world(node("a"), node("b"))
        made.api.delete("v1", "nodes", "a")
        made.settle(1)
        assert [one["metadata"]["name"] for one in made.api.all("Profile")] == ["b"]

    def test_options_of_the_operand_reach_it_and_leave_it(self) -> None:
        one = tuned("gpu")
        one["spec"]["recommend"][0]["operand"] = {"tunedConfig": {"reapply_sysctl": False}, "verbosity": 2}
        made = world(one, node("g", pool="training"))
        config = profile(made, "g")["spec"]["config"]
        assert (config["verbosity"], config["tunedConfig"]) == (2, {"reapply_sysctl": False})
        rule = [{"profile": "gpu", "priority": 20}]
        made.api.patch(TUNED, "tuneds", "gpu", NAMESPACE, {"spec": {"recommend": rule}})
        made.settle(2)
        assert profile(made, "g")["spec"]["config"]["tunedConfig"] == {}

    def test_a_delay(self) -> None:
        made = world(node("g", pool="training"), delays={"node_tuning": 3})
        made.settle(3)
        made.api.create(tuned("gpu"))
        made.settle(2)
        assert says(made, "g")[0] == "openshift-node"
        made.settle(3)
        assert says(made, "g")[0] == "gpu"


class TestTuneds:
    def test_default_is_restored(self) -> None:
        made = world(node("a"))
        made.api.patch(TUNED, "tuneds", "default", NAMESPACE, {"spec": {"recommend": []}})
        made.settle(1)
        assert len(made.api.get("Tuned", "default", NAMESPACE)["spec"]["recommend"]) == 2
        made.api.delete(TUNED, "tuneds", "default", NAMESPACE)
        made.settle(1)
        assert says(made, "a")[0] == "openshift-node"

    def test_two_texts_of_one_profile_stop_every_profile(self) -> None:
        made = world(node("g", pool="training"))
        other = tuned("other", "[main]\n")
        other["spec"]["profile"][0]["name"] = "gpu"
        made.api.create(tuned("gpu"))
        made.api.create(other)
        made.settle(2)
        for name in ("gpu", "other"):
            assert reasons(made.api.get("Tuned", name, NAMESPACE))["Valid"] == (
                "InvalidConfiguration",
                'Duplicate TuneD profile "gpu" with conflicting content detected.',
            )
        assert says(made, "g")[0] == "openshift-node"
        made.api.delete(TUNED, "tuneds", "other", NAMESPACE)
        made.settle(2)
        assert reasons(made.api.get("Tuned", "gpu", NAMESPACE))["Valid"] == ("AsExpected", "")
        assert says(made, "g")[1] == "gpu"

    def test_labels_of_pods_are_deprecated_but_work(self) -> None:
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "n", "labels": {"app": "db"}},
            "spec": {"nodeName": "a"},
        }
        made = world(node("a"), node("b"), pod, tuned("db", match=[{"label": "app", "type": "pod"}]))
        assert (says(made, "a")[1], says(made, "b")[1]) == ("db", "openshift-node")
        assert reasons(made.api.get("Tuned", "db", NAMESPACE))["Valid"] == (
            "InvalidConfiguration",
            "Deprecated pod label matching detected.",
        )

    def test_a_hosted_cluster_keeps_only_default(self) -> None:
        hosted = CLUSTER | {"control_plane_topology": "External"}
        made = world(node("g", pool="training"), tuned("gpu"), cluster=hosted)
        assert [one["metadata"]["name"] for one in made.api.all("Tuned")] == ["default"]
        assert says(made, "g")[0] == "openshift-node"


class TestKernelArguments:
    def test_machine_config_labels_make_a_machine_config_that_goes_with_the_rule(self) -> None:
        made = world(node("g", pool="training"), node("a"), *POOLS)
        made.api.create(tuned("gpu", KERNEL, machineConfigLabels={ROLE: "training"}))
        made.settle(2)
        config = made.api.get("MachineConfig", "50-nto-training")
        assert config["spec"] == {"kernelArguments": ["iommu=pt", "pci=realloc"]}
        assert config["metadata"]["labels"] == {ROLE: "training"}
        edit(made, "gpu", KERNEL.replace("pci=realloc", "nosmt"))
        made.settle(2)
        assert made.api.get("MachineConfig", "50-nto-training")["spec"]["kernelArguments"] == [
            "iommu=pt",
            "nosmt",
        ]
        made.api.delete(TUNED, "tuneds", "gpu", NAMESPACE)
        made.settle(2)
        assert made.api.all("MachineConfig") == []

    def test_a_match_by_label_makes_none(self) -> None:
        made = world(node("g", pool="training"), *POOLS, tuned("gpu", KERNEL))
        assert says(made, "g") == ("gpu", "gpu", "True", "False")
        assert made.api.all("MachineConfig") == []

    def test_no_arguments_make_none(self) -> None:
        made = world(node("g", pool="training"), *POOLS, tuned("gpu", machineConfigLabels={ROLE: "training"}))
        assert says(made, "g")[1] == "gpu"
        assert made.api.all("MachineConfig") == []

    def test_labels_that_two_pools_select_make_none(self) -> None:
        made = world(node("a"), node("g", pool="training"), *POOLS, operator())
        made.api.create(tuned("gpu", KERNEL, machineConfigLabels={ROLE: "worker"}))
        made.settle(2)
        assert made.api.all("MachineConfig") == []
        assert reasons(made.api.get("ClusterOperator", "node-tuning"))["Degraded"] == (
            "MCLabelsAcrossMCPs",
            "2/2 Profiles use machineConfigLabels that match across multiple MCPs",
        )

    def test_nodes_of_a_pool_that_differ_are_a_conflict(self) -> None:
        labels = {ROLE: "training"}
        made = world(node("a", pool="training"), node("b", pool="training", big="yes"), *POOLS, operator())
        made.api.create(tuned("all", KERNEL, machineConfigLabels=labels))
        made.api.create(tuned("big", KERNEL + "cmdline_big=+nosmt\n", priority=10, match=[{"label": "big"}]))
        made.settle(2)
        assert made.api.all("MachineConfig") == []
        assert reasons(made.api.get("ClusterOperator", "node-tuning"))["Degraded"][0] == "ProfileConflict"


def test_the_cluster_operator_says_what_profiles_do() -> None:
    made = world(node("a"), node("g", pool="training"), operator(), delays={"tuned_apply": 2})
    made.api.create(tuned("gpu", "[sysctl]\nvm.nothing=1\n"))
    made.settle(1)
    reason = ("ProfileProgressing", "Waiting for 1/2 Profiles to be applied")
    assert reasons(made.api.get("ClusterOperator", "node-tuning"))["Available"] == reason
    made.settle(3)
    reason = ("ProfileDegraded", "1/2 Profiles failed to be applied")
    assert reasons(made.api.get("ClusterOperator", "node-tuning"))["Available"] == reason
