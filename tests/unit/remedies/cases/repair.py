"""The variables of repair_node.yml end the refusals of a repair."""

from __future__ import annotations

import json
import typing as t

from unit.fake_server import Answer, status
from unit.remedies.case import Case, Cases, Options, ensured
from unit.repair.node_in_memory import Room, node
from unit.repair.test_host_steps import SET, machine_set

MODULE: t.Final = "gpu_node_repair"
RECORD: t.Final = "accelerators.openshift/repair"


def room() -> Room:
    """Return a broken node without a BareMetalHost, whose machine belongs to a machine set of ours."""
    made = Room(machine_set(), bare_metal=False)
    (machine,) = made.all("Machine")
    machine["metadata"]["labels"] = {SET: "set"}
    made.server.put(machine)
    return made


def repair(options: Options, place: Room | None = None, **more: t.Any) -> str | None:
    """Repair in check mode, which makes every decision before the first write."""
    api = (place or room()).api(check_mode=True)
    return ensured(MODULE, api, {"name": "gpu-0", **more, **options})


def without_image(options: Options) -> str | None:
    """Reboot by a pod where no machine-config daemon lends its image."""
    return repair(options, reboot_with="pod")


def not_ready(options: Options) -> str | None:
    """Reboot by a pod where no pod can start."""
    place = room()
    live = place.node
    live["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    place.server.put(live)
    return repair(options, place, reboot_with="pod", reboot_image="tools")


def refused_pod(options: Options) -> str | None:
    """Reboot by a pod where the API server creates no privileged pods."""
    place = room()

    def request(method: str, url: str, **more: t.Any) -> Answer:
        is_refused = method == "POST" and "/pods?" in url
        return status(403, "Forbidden", "not allowed") if is_refused else place.request(method, url, **more)

    place.server.request = request
    return repair(options, place, reboot_with="pod", reboot_image="tools")


def without_stack(options: Options) -> str | None:
    place = room()
    place.server.objects = {key: one for key, one in place.server.objects.items() if key[1] != "pods"}
    return repair(options, place, reboot_with="pod", reboot_image="tools")


def without_gpus(options: Options) -> str | None:
    place, other = room(), node(capacity={}, allocatable={})
    other["metadata"] = {"name": "cpu-0"}
    place.server.put(other)
    return repair(options, place, reboot_with="pod", reboot_image="tools")


def rebooted_in_vain(options: Options) -> str | None:
    """Repair a node again that was as broken after its reboot."""
    place = room()
    note = {"boot": "boot-0", "expected": {"nvidia.com/gpu": 8}, "asked": 0, "xids": [], "failed": True}
    live = place.node
    live["metadata"]["annotations"][RECORD] = json.dumps(note)
    place.server.put(live)
    return repair(options, place)


def with_image(options: Options) -> str | None:
    """Repair where an image for the pod is known."""
    return repair(options, reboot_image="tools")


def known_way(options: Options) -> str | None:
    """Repair where the way to reboot is known too."""
    return repair(options, reboot_with="pod", reboot_image="tools")


CASES: t.Final[Cases] = {
    ("NODE-ABSENT", "gpu_node"): Case(MODULE, known_way, "gpu-0"),
    ("REPAIR-NO-GPUS", "gpu_node"): Case(MODULE, without_gpus, "gpu-0", "cpu-0"),
    ("REPAIR-NO-REBOOT", "gpu_repair_reboot_with"): Case(MODULE, with_image),
    ("REPAIR-NO-REBOOT", "gpu_repair"): Case(MODULE, repair),
    ("REPAIR-NO-IMAGE", "gpu_repair_reboot_image"): Case(
        MODULE, without_image, "registry.example.com/tools:1"
    ),
    ("REPAIR-NOT-READY", "gpu_repair"): Case(MODULE, not_ready),
    ("REPAIR-POD", "gpu_repair"): Case(MODULE, refused_pod),
    ("REPAIR-RESET", "gpu_repair"): Case(MODULE, known_way, before="reset"),
    ("REPAIR-STAYS", "gpu_repair_replace"): Case(MODULE, rebooted_in_vain),
    ("REPAIR-UNCLEAR", "gpu_repair"): Case(MODULE, without_stack),
}
