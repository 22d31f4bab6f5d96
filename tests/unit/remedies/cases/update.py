"""The variables of an update of OpenShift end the failures whose remedies name them."""

from __future__ import annotations

import copy
import json
import typing as t

from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.remedies.case import Case, Cases, Options, checked, ensured, failure
from unit.remedies.clusters import ending
from unit.stack.builders import FIXTURE
from unit.tuning.operator_in_memory import gpu_pod
from unit.update.builders import NEW_KERNEL, NEW_RHCOS, OLD_KERNEL
from unit.update.pools_in_memory import cluster, paused, update

from ansible_collections.accelerators.openshift.plugins.module_utils._update import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import refusal
from ansible_collections.accelerators.openshift.plugins.module_utils._update.release import Target, release

IMAGE: t.Final = f"r.io/d:595-{NEW_KERNEL}-rhel9.8"
OF_4_18: t.Final = f"r.io/d:595-{NEW_KERNEL}-rhcos4.18"
ALL: t.Final = [IMAGE, OF_4_18]


def stack() -> FakeServer:
    """Return a cluster whose driver is an image for each kernel."""
    server = FakeServer("Node", "Pod", "DaemonSet", "ControllerRevision", "ImageStream", "ClusterPolicy")
    seen = copy.deepcopy(FIXTURE)
    seen["policies"][0]["spec"]["driver"]["usePrecompiled"] = True
    for one in seen["daemonsets"]:
        if one["metadata"]["name"].startswith("nvidia-driver"):
            containers = [{"name": "nvidia-driver-ctr", "image": f"r.io/d:595-{OLD_KERNEL}-rhel9.6"}]
            one["spec"]["template"]["spec"]["containers"] = containers
    for objects in seen.values():
        for one in objects:
            server.put(one)
    return server


def drivers(options: Options, **given: t.Any) -> str | None:
    """Check the drivers for another release as preflight_update does, which fails if it does not know."""
    params = checked("preflight_update", {"version": "4.22.9", "fail_on": "unknown", **given, **options})
    server = stack()
    images = None if params["driver_images"] is None else frozenset(params["driver_images"])
    version = params["version"]
    wanted = Target(version, release(version), params["kernel"] or "", params["rhcos"] or "", images)
    api = api_on(server)

    def check() -> None:
        if error := refusal(steps.driver_checks(api, params, FIXTURE["nodes"], wanted), params["fail_on"]):
            raise error

    return failure(check)


def busy(options: Options) -> str | None:
    """Release pools after an update while a pod that soon ends has a GPU."""
    operator = cluster(gpu_pod("train", "g2"))
    paused(operator)
    update(operator)
    ending.while_waited_for(operator.server)
    return ensured("update_pools", operator.api(), {"state": "released", **options})


def early(options: Options) -> str | None:
    """Release pools that wait for a release to which the cluster was never updated."""
    operator = cluster()
    ensured("update_pools", operator.api(), {"version": "4.22.10"})
    return ensured("update_pools", operator.api(), {"state": "released", **options})


CASES: t.Final[Cases] = {
    ("UPDATE-BUSY", "gpu_on_busy"): Case("update_pools", busy),
    ("UPDATE-DRIVER", "gpu_update_driver_images"): Case(
        "preflight_update",
        lambda options: drivers(options, kernel=NEW_KERNEL, rhcos=NEW_RHCOS),
        value=json.dumps([IMAGE]),
    ),
    ("UPDATE-DRIVER", "gpu_update_kernel"): Case(
        "preflight_update",
        lambda options: drivers(options, rhcos=NEW_RHCOS, driver_images=ALL),
        value=NEW_KERNEL,
    ),
    ("UPDATE-DRIVER", "gpu_update_rhcos"): Case(
        "preflight_update",
        lambda options: drivers(options, kernel=NEW_KERNEL, driver_images=ALL),
        value=NEW_RHCOS,
    ),
    ("UPDATE-NOT-BEGUN", "gpu_update_cancelled"): Case("update_pools", early),
}
