"""The variables of driver upgrades end the failures whose remedies name them."""

from __future__ import annotations

import json
import typing as t

from unit.fake_server import Answer
from unit.killed_run import KilledError
from unit.remedies.case import Case, Cases, Options, ensured
from unit.remedies.clusters import ending, policy
from unit.upgrade.in_memory.builders import NEW, OLD, gpu_pod
from unit.upgrade.in_memory.controller import Operator
from unit.upgrade.in_memory.kueue import budget
from unit.upgrade.test_empty_steps import POOL, cluster as with_a_gang
from unit.upgrade.test_queue_steps import one_queue
from unit.upgrade.test_rollback_steps import PROBE, Patient
from unit.upgrade.test_steps_images import Registry

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import driver_branches

MODULE: t.Final = "gpu_driver_upgrade"
TRIPLE: t.Final = {"version": NEW, "repository": "nvcr.io/nvidia", "image": "driver"}
NEWEST: t.Final = {version: branch for branch, version in driver_branches.NEWEST.items()}
POLICY: t.Final = ("nvidia.com/v1", "clusterpolicies", "", "gpu-cluster-policy")


def upgrade(operator: Operator, options: Options, **given: t.Any) -> str | None:
    """Upgrade the drivers of a cluster to NEW, without a validation and without any patience.

    The task has no time at all, unless `wait_timeout` is given: in memory all happens at once, or never.
    """
    plain = {**TRIPLE, "validate": False, "grace": 0, "settle": 0}
    api = operator.api()
    api.deadline.seconds = float(given.get("wait_timeout", 0))
    return ensured(MODULE, api, {**plain, **given, **options})


def to(given: Options, options: Options) -> str | None:
    """Upgrade to the driver that only these options name."""
    plain = {"validate": False, "grace": 0, "settle": 0}
    return ensured(MODULE, Operator().api(), {**plain, **given, **options})


def without(key: str) -> t.Callable[[Options], str | None]:
    """Return an upgrade whose user has named all parts of the driver but one."""
    rest = {name: value for name, value in TRIPLE.items() if name != key}
    return lambda options: to(rest, options)


def foreign(options: Options) -> str | None:
    operator = Operator()
    operator.server.objects[POLICY]["metadata"]["labels"] = {}
    return upgrade(operator, options)


def gang(options: Options) -> str | None:
    """Upgrade a node of a gang whose budget keeps it. Where the task waits, the gang ends."""
    platform = with_a_gang(budget(2))
    if options["on_busy"] == "wait":
        ending.while_waited_for(platform.server)
    return upgrade(platform, options, pools=POOL)


def missing(options: Options) -> str | None:
    """Upgrade to the newest driver of a branch, where the registry has only the driver of today."""
    operator = Operator()
    Registry(operator, OLD)
    plain = {"validate": False, "grace": 0, "settle": 0}
    return ensured(MODULE, operator.api(), {**plain, **options})


def manual(options: Options) -> str | None:
    operator = Operator()
    policy.write(operator.api(), options)
    return upgrade(operator, {})


def stuck(options: Options) -> str | None:
    """Upgrade nodes where another node, which is cordoned, takes a place of those that may be away."""
    operator = Operator()
    operator.node("gpu-2")["spec"]["unschedulable"] = True
    policy.write(operator.api(), options)
    return upgrade(operator, {}, wave="1")


def other(options: Options) -> str | None:
    """Ask for a driver while the upgrade to another one has stopped between its nodes."""
    operator = Operator()
    for writes in (6, 1):
        operator.writes_left = writes
        try:
            upgrade(operator, {})
        except KilledError:
            operator.writes_left = None
    return upgrade(operator, options, version="580.173.02")


def probed(options: Options) -> str | None:
    """Upgrade with a probe that fails if its image is broken."""
    operator = Operator()
    inner = operator.server.request

    def request(method: str, url: str, **more: t.Any) -> Answer:
        if method == "POST" and "/jobs" in url:
            operator.jobs_end = "Failed" if "broken" in str(more.get("body")) else "Complete"
        answer: Answer = inner(method, url, **more)
        return answer

    operator.server.request = request
    return upgrade(operator, options)


def probe(image: str) -> str:
    spec = {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}
    return json.dumps({**PROBE, "spec": spec})


def queued(options: Options) -> str | None:
    """Upgrade nodes of a queue whose Workloads Kueue does not requeue."""
    platform = one_queue()
    platform.is_slow = True
    return upgrade(platform, options, on_busy="drain")


def drained(options: Options) -> str | None:
    """Upgrade a node of a queue that is to be drained."""
    return upgrade(one_queue(), {"queues": "drain", **options})


def outgrown(options: Options) -> str | None:
    """Upgrade a node whose GPU is too old for the newest branch."""
    operator = Operator()
    operator.node("gpu-1")["metadata"]["labels"]["nvidia.com/gpu.product"] = "Tesla-V100-SXM2-16GB"
    plain = {"validate": False, "grace": 0, "settle": 0}
    return ensured(MODULE, operator.api(), {**plain, **options})


def slow(options: Options) -> str | None:
    """Upgrade a node where the upgrade waits for a pod, which ends after five minutes."""
    operator = Patient(("gpu-0",), gpu_pod("train", "gpu-0"))

    def request(method: str, url: str, **more: t.Any) -> Answer:
        operator.clock.seconds += 20
        operator.let_end("train", 300)
        return operator.request(method, url, **more)

    operator.server.request = request
    given = {"wait_for": "app=train", "on_busy": "drain", "grace": 600, "wait_timeout": 9000}
    return upgrade(operator, options, **given)


def rules(**given: t.Any) -> str:
    """Return the value of gpu_operator_spec with this upgradePolicy."""
    return json.dumps({"driver": {"upgradePolicy": given}})


def plain(before: str, value: str, **given: t.Any) -> Case:
    """Return the case of an option that had a wrong value on a cluster without trouble."""
    return Case(MODULE, lambda options: upgrade(Operator(), options, **given), before=before, value=value)


CASES: t.Final[Cases] = {
    ("UPGRADE-BRANCH", "gpu_driver_branch"): Case(
        MODULE, lambda options: to({}, options), before="999", value=NEWEST[NEW]
    ),
    ("UPGRADE-BUSY", "gpu_on_busy"): Case(
        MODULE, lambda options: upgrade(Operator(("gpu-0",), gpu_pod("train", "gpu-0")), options)
    ),
    ("UPGRADE-CANARY", "gpu_upgrade_canary"): plain("gpu-9", "gpu-1"),
    ("UPGRADE-FOREIGN", "gpu_operator_adopt"): Case(MODULE, foreign),
    ("UPGRADE-GANG", "gpu_on_busy"): Case(MODULE, gang, before="drain"),
    ("UPGRADE-IMAGE", "gpu_driver_branch"): Case(MODULE, missing, before=NEWEST[NEW], value=NEWEST[OLD]),
    ("UPGRADE-JOB", "gpu_upgrade_probe"): plain("{kind: Pod}", probe("i")),
    ("UPGRADE-MANUAL", "gpu_operator_spec"): Case(
        "special_resource", manual, before=rules(autoUpgrade=False)
    ),
    ("UPGRADE-OTHER", "gpu_upgrade_action"): Case(MODULE, other),
    ("UPGRADE-PROBE", "gpu_upgrade_probe"): Case(MODULE, probed, before=probe("broken"), value=probe("i")),
    ("UPGRADE-QUEUE", "gpu_upgrade_queues"): Case(MODULE, queued),
    ("UPGRADE-OLD-GPU", "gpu_driver_branch"): Case(MODULE, outgrown, before=NEWEST[NEW], value="580"),
    ("UPGRADE-QUEUE-DRAIN", "gpu_on_busy"): Case(MODULE, drained),
    ("UPGRADE-QUEUE-DRAIN", "gpu_upgrade_queues"): Case(MODULE, drained, before="drain"),
    ("UPGRADE-SLOW", "gpu_upgrade_node_timeout"): Case(MODULE, slow, before="60"),
    ("UPGRADE-STUCK", "gpu_operator_spec"): Case(
        "special_resource",
        stuck,
        before=rules(autoUpgrade=True, maxUnavailable=1),
        value=rules(autoUpgrade=True, maxUnavailable="100%"),
    ),
    ("UPGRADE-TRIPLE", "gpu_driver_branch"): Case(MODULE, lambda options: to({}, options), value=NEWEST[NEW]),
    ("UPGRADE-TRIPLE", "gpu_driver_image"): Case(MODULE, without("image"), value="driver"),
    ("UPGRADE-TRIPLE", "gpu_driver_repository"): Case(MODULE, without("repository"), value="nvcr.io/nvidia"),
    ("UPGRADE-TRIPLE", "gpu_driver_version"): Case(MODULE, without("version"), value=NEW),
    ("UPGRADE-WAVE", "gpu_upgrade_wave"): plain("9", "2"),
    ("UPGRADE-WINDOW", "gpu_upgrade_window"): plain("25:00-26:00", "22:00-04:00"),
}
