"""The status of a Profile."""

from __future__ import annotations

from unit.sandbox.fake_api import World
from unit.sandbox.node_tuning.builders import Data, edit, node, profile, reasons, says, tuned, world

from openshift_sandbox.seed import tuning
from openshift_sandbox.stand_ins.node_tuning.recommend import DEFERRED

GPU = node("g", pool="training")
SWAP = "[main]\ninclude=openshift-node\n[sysctl]\nvm.swappiness={}\n"


def tuning_later(mode: str) -> Data:
    later = tuned("gpu", SWAP.format(10))
    later["metadata"]["annotations"] = {DEFERRED: mode}
    return later


def reboot(made: World) -> None:
    made.api.patch("v1", "nodes", "g", None, {"status": {"nodeInfo": {"bootID": "second"}}}, "status")
    made.settle(2)


def switched(text: str) -> World:
    """Return a world in which a node had the default profile before it got this text."""
    made = world(GPU)
    made.api.create(tuned("gpu", text))
    made.settle(2)
    return made


class TestApplied:
    def test_the_node_says_which_arguments_it_wants_from_which_tuneds(self) -> None:
        made = switched("[bootloader]\ncmdline=+iommu=pt\n")
        notes = made.api.get("Node", "g")["metadata"]["annotations"]
        assert notes[tuning.BOOTCMDLINE] == "iommu=pt"
        assert notes[tuning.DEPENDENCIES] == "4.22.5,default:1,gpu:1"
        assert (
            profile(made, "g")["status"]["observedGeneration"] == profile(made, "g")["metadata"]["generation"]
        )

    def test_a_change_that_succeeds_changes_no_condition_and_no_observed_generation(self) -> None:
        made = switched(SWAP.format(10))
        before = profile(made, "g")["status"]
        edit(made, "gpu", SWAP.format(20))
        made.settle(2)
        found = profile(made, "g")
        assert found["status"] == before
        assert found["status"]["observedGeneration"] < found["metadata"]["generation"]
        assert made.api.get("Node", "g")["metadata"]["annotations"][tuning.DEPENDENCIES].endswith("gpu:2")

    def test_it_takes_time(self) -> None:
        made = world(GPU, tuned("gpu"), seconds=1, delays={"tuned_apply": 5})
        assert "status" not in profile(made, "g")
        made.settle(6)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")


class TestErrors:
    def test_a_text_that_cannot_be_parsed_leaves_the_profile_before_it_active(self) -> None:
        made = switched("[sysctl\n")
        assert says(made, "g") == ("gpu", "openshift-node", "False", "True")
        assert reasons(profile(made, "g"))["Applied"] == (
            "Failed",
            "The TuneD daemon profile not yet applied, or application failed.",
        )
        reason, message = reasons(profile(made, "g"))["Degraded"]
        assert reason == "TunedError"
        assert message.endswith("'gpu': Cannot parse '/etc/tuned/gpu/tuned.conf'.")
        edit(made, "gpu", "[main]\ninclude=nowhere\n")
        made.settle(2)
        assert says(made, "g") == ("gpu", "openshift-node", "False", "True")
        edit(made, "gpu", SWAP.format(1))
        made.settle(2)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")

    def test_a_sysctl_that_the_kernel_does_not_take(self) -> None:
        made = switched("[sysctl]\nnet.core.rmem_maxx=1\n")
        assert says(made, "g") == ("gpu", "gpu", "True", "True")
        assert (
            "sysctl option net.core.rmem_maxx will not be set" in reasons(profile(made, "g"))["Degraded"][1]
        )


class TestDeferred:
    def test_always_waits_for_the_next_start_of_the_node(self) -> None:
        made = world(GPU)
        made.api.create(tuning_later("always"))
        made.settle(2)
        assert says(made, "g") == ("gpu", "openshift-node", "False", "True")
        assert reasons(profile(made, "g")) == {
            "Applied": ("Deferred", "The TuneD daemon profile is waiting for the next node restart: gpu"),
            "Degraded": ("TunedDeferredUpdate", "Profile will be applied at the next node restart: gpu"),
        }
        reboot(made)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")

    def test_update_switches_at_once_and_puts_off_later_changes(self) -> None:
        made = world(GPU)
        made.api.create(tuning_later("update"))
        made.settle(2)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")
        edit(made, "gpu", SWAP.format(20))
        made.settle(2)
        assert says(made, "g") == ("gpu", "gpu", "False", "True")
        edit(made, "gpu", SWAP.format(10))
        made.settle(2)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")
        edit(made, "gpu", SWAP.format(30))
        reboot(made)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")

    def test_without_the_annotation_the_change_comes_at_once(self) -> None:
        made = world(GPU)
        made.api.create(tuning_later("always"))
        made.settle(2)
        made.api.patch(
            tuning.TUNED_API,
            "tuneds",
            "gpu",
            tuning.NAMESPACE,
            {"metadata": {"annotations": {DEFERRED: None}}},
        )
        made.settle(2)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")

    def test_a_node_that_joins_has_nothing_to_put_off(self) -> None:
        assert says(world(tuning_later("always"), GPU), "g") == ("gpu", "gpu", "True", "False")


class TestTroubles:
    def test_profile_fails_on_one_node(self) -> None:
        trouble = {"type": "profile_fails", "node": "g", "text": " ERROR    tuned.plugins.x: broken"}
        made = world(GPU, node("h", pool="training"), tuned("gpu"), troubles=[trouble])
        assert says(made, "h") == ("gpu", "gpu", "True", "False")
        assert says(made, "g")[2:] == ("False", "True")
        assert reasons(profile(made, "g"))["Degraded"][1].endswith("tuned.plugins.x: broken")
        made.scenario.now.troubles.clear()
        made.settle(2)
        assert says(made, "g") == ("gpu", "gpu", "True", "False")

    def test_profile_stuck(self) -> None:
        made = world(GPU, tuned("gpu"), troubles=[{"type": "profile_stuck", "node": "g"}])
        assert "status" not in profile(made, "g")
