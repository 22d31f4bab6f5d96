# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Before an update of the cluster: what speaks against it, what cannot be known, and what the task makes of that."""

from __future__ import annotations

import copy
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
    kernel as driver_kernel,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.lookup import Answer
from ansible_collections.accelerators.openshift.plugins.module_utils._update import (
    drivers,
    images as update_images,
    operator_support,
    release,
    rollout,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import (
    Check,
    refusal,
    table,
    worst,
)

Data = dict[str, t.Any]
FIXTURE = yaml.safe_load((Path(__file__).parents[1] / "fixtures/stack_ready.yml").read_text())
KERNEL, NEW_KERNEL, NEW_RHCOS = (
    "5.14.0-570.12.1.el9_6.x86_64",
    "5.14.0-611.5.1.el9_7.x86_64",
    "9.8.20260815-0",
)
RISK = {"name": "SlowBoot", "message": "Nodes boot slowly.", "url": "https://example.com/1"}


def cluster(**status: t.Any) -> Data:
    known = {"type": "RetrievedUpdates", "status": "True"}
    base = {
        "history": [{"state": "Completed", "version": "4.22.5"}],
        "conditions": [known],
        "availableUpdates": [{"version": "4.22.9", "image": "i"}],
    }
    return {"spec": {"channel": "stable-4.22"}, "status": base | status}


def conditional(status: str) -> Data:
    told = {"type": "Recommended", "status": status, "message": "It boots slowly here."}
    return {"release": {"version": "4.22.11"}, "risks": [RISK], "conditions": [told]}


def operator(name: str, **conditions: str) -> Data:
    listed = [
        {"type": kind, "status": status, "message": f"{kind} says so"} for kind, status in conditions.items()
    ]
    return {"metadata": {"name": name}, "status": {"conditions": listed}}


def named(checks: t.Iterable[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


UNASKED = {
    "type": "RetrievedUpdates",
    "status": "False",
    "message": "Unable to retrieve available updates: no route",
}
RELEASES = [
    (cluster(), "4.22.9", "ok", "4.22.9 is recommended from 4.22.5"),
    (cluster(), "4.22.5", "ok", "runs 4.22.5 already"),
    (cluster(), "4.21.9", "blocking", "older than 4.22.5"),
    (cluster(), "4.22.5-rc.1", "blocking", "older than 4.22.5"),
    (
        cluster(),
        "4.22.10",
        "blocking",
        "channel stable-4.22 does not lead from 4.22.5 to 4.22.10; it offers 4.22.9",
    ),
    (cluster(availableUpdates=None), "5.0.1", "blocking", "it offers nothing"),
    (cluster(), "4.24.0", "blocking", "a release in between may have to come first"),
    (cluster(conditionalUpdates=[conditional("True")]), "4.22.11", "ok", "its risks do not apply here"),
    (
        cluster(conditionalUpdates=[conditional("False")]),
        "4.22.11",
        "warning",
        "is not recommended from 4.22.5: It boots slowly here.",
    ),
    (cluster(conditionalUpdates=[conditional("Unknown")]), "4.22.11", "warning", "may not be recommended"),
    (cluster(availableUpdates=None, conditions=[UNASKED]), "4.22.9", "unknown", "no route"),
]


@pytest.mark.parametrize(
    ("live", "target", "verdict", "text"), RELEASES, ids=[f"{one[1]}-{one[2]}" for one in RELEASES]
)
def test_whether_the_release_is_offered(live: Data, target: str, verdict: str, text: str) -> None:
    check = named(release.checks(live, [], target), "release")
    assert (check.verdict, text in check.message, bool(check.remedy)) == (verdict, True, verdict != "ok")


def test_risks_are_quoted() -> None:
    check = named(
        release.checks(cluster(conditionalUpdates=[conditional("False")]), [], "4.22.11"), "release"
    )
    assert check.evidence == ("SlowBoot: Nodes boot slowly. https://example.com/1",)
    assert "--allow-not-recommended" in check.remedy


@pytest.mark.parametrize("version", ["4.22", "latest", "v4.22.9", ""])
def test_what_is_no_release(version: str) -> None:
    with pytest.raises(InputError, match="no release of OpenShift"):
        release.release(version)


def test_an_update_that_is_under_way() -> None:
    live = cluster(
        history=[{"state": "Partial", "version": "4.22.9"}, {"state": "Completed", "version": "4.22.5"}]
    )
    check = named(release.checks(live, [], "4.22.9"), "cluster version")
    assert (check.verdict, check.code) == ("blocking", "UPDATE-CLUSTER")


@pytest.mark.parametrize(("target", "verdict"), [("4.22.9", "ok"), ("4.23.1", "blocking")])
def test_who_is_not_upgradeable_holds_back_minor_updates_alone(target: str, verdict: str) -> None:
    found = release.checks(cluster(), [operator("operator-lifecycle-manager", Upgradeable="False")], target)
    assert (
        named(found, "upgradeable").verdict,
        "Upgradeable says so" in named(found, "upgradeable").message,
    ) == (verdict, True)


def test_a_degraded_operator() -> None:
    check = named(
        release.checks(cluster(), [operator("machine-config", Degraded="True")], "4.22.9"),
        "cluster operators",
    )
    assert (check.verdict, check.evidence) == ("warning", ("machine-config: Degraded says so",))


def csv(name: str, phase: str = "Succeeded", most: str = "") -> Data:
    notes = {"olm.properties": f'[{{"type":"olm.maxOpenShiftVersion","value":"{most}"}}]'} if most else {}
    return {
        "metadata": {"name": name, "namespace": "n", "annotations": notes},
        "spec": {"version": name.partition(".v")[2]},
        "status": {"phase": phase, "message": "waits"},
    }


OPERATORS = [
    (csv("gpu-operator-certified.v26.7.0"), (4, 22), "ok", "as of 2026-08-31"),
    (csv("gpu-operator-certified.v26.7.0"), (4, 23), "warning", "supported on OpenShift 4.18 to 4.22"),
    (csv("gpu-operator-certified.v25.10.1"), (4, 22), "warning", "4.14 to 4.20"),
    (csv("gpu-operator-certified.v24.9.0"), (4, 23), "unknown", "names no last release"),
    (
        csv("gpu-operator-certified.v26.7.0", "Installing", most="4.22"),
        (4, 23),
        "blocking",
        "olm.maxOpenShiftVersion",
    ),
    (csv("nfd.4.22.0"), (4, 22), "ok", "stays as it is"),
    (csv("nfd.4.22.0"), (4, 23), "unknown", "names no last release"),
    (csv("any.v1.0.0", most="4.22"), (4, 23), "blocking", "made for OpenShift up to 4.22"),
    (csv("any.v1.0.0", most="4.23"), (4, 23), "unknown", "names no last release"),
    (csv("any.v1.0.0", phase="Failed"), (4, 22), "warning", "is Failed: waits"),
]


@pytest.mark.parametrize(("live", "target", "verdict", "text"), OPERATORS)
def test_operators_and_releases(live: Data, target: tuple[int, int], verdict: str, text: str) -> None:
    (check,) = operator_support.checks([live], (4, 22), target)
    assert (check.verdict, text in check.message, check.name) == (
        verdict,
        True,
        f"operator {live['metadata']['name']}",
    )


def test_a_copied_csv_says_nothing() -> None:
    copied = csv("any.v1.0.0")
    copied["status"]["reason"] = "Copied"
    assert operator_support.checks([copied], (4, 22), (4, 23)) == []


def target(
    kernel: str = "", rhcos: str = "", images: t.Collection[str] | None = None, version: str = "4.22.9"
) -> drivers.Target:
    return drivers.Target(
        version, release.release(version), kernel, rhcos, None if images is None else frozenset(images)
    )


NOTHING: t.Final[update_images.Answers] = {}


def matches(precompiled: bool = False, **spec: t.Any) -> tuple[list[driver_kernel.Match], list[Data]]:
    seen = copy.deepcopy(FIXTURE)
    seen["policies"][0]["spec"] |= spec
    if precompiled:
        seen["policies"][0]["spec"]["driver"]["usePrecompiled"] = True
        driver = next(
            one for one in seen["daemonsets"] if one["metadata"]["name"].startswith("nvidia-driver")
        )
        driver["spec"]["template"]["spec"]["containers"] = [
            {"name": "nvidia-driver-ctr", "image": f"r.io/d:595-{KERNEL}-rhel9.6"}
        ]
    return [driver_kernel.match(seen["nodes"][0], seen["policies"][0], seen)], seen["streams"]


IMAGE = f"r.io/d:595-{NEW_KERNEL}-rhel9.8"
DRIVERS = [
    (False, target(), "driver (Driver Toolkit)", "unknown", "comes with the release itself"),
    (False, target(rhcos="9.8.20260722-0"), "driver (Driver Toolkit)", "ok", "has tag 9.8.20260722-0"),
    (
        False,
        target(rhcos=NEW_RHCOS),
        "driver (Driver Toolkit)",
        "unknown",
        f"tag {NEW_RHCOS} comes with the release itself",
    ),
    (True, target(), "driver (precompiled)", "unknown", "which the cluster does not know before"),
    (True, target(NEW_KERNEL), "driver (precompiled)", "unknown", "without the version of RHCOS"),
    (
        True,
        target(NEW_KERNEL, version="4.18.9"),
        "driver (precompiled)",
        "unknown",
        f"needed are r.io/d:595-{NEW_KERNEL}-rhcos4.18",
    ),
    (True, target(NEW_KERNEL, NEW_RHCOS), "driver (precompiled)", "unknown", f"needed are {IMAGE}"),
    (True, target(NEW_KERNEL, NEW_RHCOS, [IMAGE]), "driver (precompiled)", "ok", IMAGE),
    (True, target(NEW_KERNEL, NEW_RHCOS, [IMAGE.rpartition(":")[2]]), "driver (precompiled)", "ok", IMAGE),
    (
        True,
        target(NEW_KERNEL, NEW_RHCOS, []),
        "driver (precompiled)",
        "blocking",
        f"no image for kernel {NEW_KERNEL}: {IMAGE}",
    ),
]


@pytest.mark.parametrize(("precompiled", "wanted", "name", "verdict", "text"), DRIVERS)
def test_where_the_driver_would_come_from(
    precompiled: bool, wanted: drivers.Target, name: str, verdict: str, text: str
) -> None:
    live, streams = matches(precompiled)
    known = (
        NOTHING
        if wanted.images is None
        else update_images.given(update_images.of_drivers(live, wanted), wanted.images)
    )
    found = drivers.checks(live, streams, wanted, known)
    assert (named(found, name).verdict, text in named(found, name).message) == (verdict, True)
    assert named(found, "kernels of today").verdict == "ok"


def test_a_toolkit_without_any_image() -> None:
    assert (
        named(drivers.checks(matches()[0], [], target(), NOTHING), "driver (Driver Toolkit)").verdict
        == "blocking"
    )


@pytest.mark.parametrize(
    ("spec", "name", "verdict"),
    [
        ({"driver": {"enabled": False}}, "driver (host)", "unknown"),
        ({"operator": {"use_ocp_driver_toolkit": False}}, "driver (packages)", "warning"),
    ],
)
def test_drivers_from_elsewhere(spec: Data, name: str, verdict: str) -> None:
    assert named(drivers.checks(*matches(**spec), target(), NOTHING), name).verdict == verdict


def test_a_node_that_does_not_fit_today() -> None:
    seen = copy.deepcopy(FIXTURE)
    seen["nodes"][0]["status"]["nodeInfo"]["kernelVersion"] = NEW_KERNEL
    found = drivers.checks(
        [driver_kernel.match(seen["nodes"][0], seen["policies"][0], seen)], seen["streams"], target(), NOTHING
    )
    assert (
        named(found, "kernels of today").verdict,
        "gpu-0: label kernel-version.full" in named(found, "kernels of today").message,
    ) == ("warning", True)


def module(*mappings: Data) -> Data:
    return {
        "metadata": {"name": "nic", "namespace": "n"},
        "spec": {"moduleLoader": {"container": {"kernelMappings": list(mappings)}}},
    }


def validation(status: Data, kernel: str = NEW_KERNEL) -> Data:
    return {"metadata": {"name": "next"}, "spec": {"kernelVersion": kernel}, "status": status}


FAILED = {"name": "nic", "namespace": "n", "verificationStatus": "Failure", "statusReason": "image not found"}
ANY = {"regexp": "^5\\.14\\.0-.*$"}
MODULES = [
    (module(ANY), [], "", "unknown", "without the kernel"),
    (module(ANY), [], NEW_KERNEL, "unknown", "has to be in its registry"),
    (
        module(ANY | {"build": {}}, {"literal": KERNEL, "build": {"dockerfileConfigMap": {}}}),
        [],
        KERNEL,
        "unknown",
        "has to be in its registry",
    ),
    (
        module({"literal": NEW_KERNEL, "build": {"dockerfileConfigMap": {}}}),
        [],
        NEW_KERNEL,
        "unknown",
        "would be built in the cluster",
    ),
    (module({"literal": KERNEL}), [], NEW_KERNEL, "blocking", "no kernel mapping fits"),
    (module(ANY), [validation({"modules": [FAILED]})], NEW_KERNEL, "blocking", "failed: image not found"),
    (
        module(ANY),
        [validation({"modules": [FAILED | {"verificationStatus": "Success"}]})],
        NEW_KERNEL,
        "ok",
        "succeeded",
    ),
    (
        module(ANY),
        [validation({"modules": [FAILED]}, KERNEL)],
        NEW_KERNEL,
        "unknown",
        "which nobody has tried",
    ),
    (
        module(ANY),
        [validation({"crStatuses": {"nic": {"verificationStatus": "True", "statusReason": ""}}})],
        NEW_KERNEL,
        "ok",
        "succeeded",
    ),
]


@pytest.mark.parametrize(("live", "validations", "kernel", "verdict", "text"), MODULES)
def test_modules_of_kmm(live: Data, validations: list[Data], kernel: str, verdict: str, text: str) -> None:
    (check,) = drivers.modules([live], validations, target(kernel), NOTHING)
    assert (check.name, check.verdict, text in check.message) == ("module n/nic", verdict, True)


@pytest.mark.parametrize(
    ("mapping", "found", "verdict", "text"),
    [
        (ANY, "there", "ok", "its image r.io/nic:1 is there"),
        (ANY, "missing", "blocking", "there is no image r.io/nic:1 (words)"),
        (ANY, "not allowed", "unknown", "nobody has tried (not allowed: words)"),
        (ANY | {"build": {"dockerfileConfigMap": {}}}, "missing", "unknown", "would be built in the cluster"),
        (ANY | {"build": {"dockerfileConfigMap": {}}}, "there", "ok", "its image r.io/nic:1 is there"),
    ],
)
def test_images_of_modules(mapping: Data, found: str, verdict: str, text: str) -> None:
    known = {"r.io/nic:1": Answer("r.io/nic:1", found, words="words")}
    (check,) = drivers.modules(
        [module(mapping | {"containerImage": "r.io/nic:1"})], [], target(NEW_KERNEL), known
    )
    assert (check.verdict, text in check.message) == (verdict, True)


def pool(paused: bool = False, machines: int = 3, **conditions: str) -> Data:
    listed = [{"type": kind, "status": status, "message": "because"} for kind, status in conditions.items()]
    return {
        "metadata": {"name": "worker"},
        "spec": {"paused": paused},
        "status": {"machineCount": machines, "conditions": listed},
    }


@pytest.mark.parametrize(
    ("live", "verdict"),
    [
        (pool(), "ok"),
        (pool(paused=True), "blocking"),
        (pool(paused=True, machines=0), "ok"),
        (pool(Updating="True"), "blocking"),
        (pool(NodeDegraded="True"), "blocking"),
        (pool(Updated="True", Degraded="False"), "ok"),
    ],
)
def test_machine_config_pools(live: Data, verdict: str) -> None:
    assert worst(rollout.pools([live])) == verdict


def pod(
    name: str, owner: str = "ReplicaSet", gpu: bool = False, data: bool = False, node: str = "gpu-0"
) -> Data:
    limits = {"nvidia.com/gpu": "1"} if gpu else {}
    metadata = {
        "name": name,
        "namespace": "n",
        **({"ownerReferences": [{"kind": owner, "controller": True}]} if owner else {}),
    }
    spec = {
        "nodeName": node,
        "containers": [{"resources": {"limits": limits}}],
        "volumes": [{"emptyDir": {}}] if data else [],
    }
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


def budget(allowed: int, expected: int, desired: int) -> Data:
    status = {
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "desiredHealthy": desired,
        "currentHealthy": expected,
    }
    return {"metadata": {"name": "b", "namespace": "n"}, "spec": {}, "status": status}


@pytest.mark.parametrize(
    ("live", "pods", "verdict"),
    [
        (budget(1, 2, 1), [pod("a")], "ok"),
        (budget(0, 1, 1), [pod("a")], "blocking"),
        (budget(0, 1, 1), [], "ok"),
        (budget(0, 1, 1), [pod("a", node="")], "ok"),
        (budget(0, 3, 2), [pod("a")], "warning"),
        (budget(0, 0, 1), [pod("a")], "ok"),
    ],
)
def test_disruption_budgets(live: Data, pods: list[Data], verdict: str) -> None:
    assert worst(rollout.budgets([live], lambda _budget: pods)) == verdict


def test_what_a_drain_by_the_machine_config_operator_ends() -> None:
    check = rollout.workloads(
        [pod("job", gpu=True, data=True), pod("alone", owner=""), pod("set", owner="DaemonSet", gpu=True)]
    )
    assert check.verdict == "warning"
    assert check.evidence == (
        "n/alone on gpu-0: nobody makes it again",
        "n/job on gpu-0: emptyDir",
        "n/job on gpu-0: uses GPUs",
    )
    assert rollout.workloads([pod("web"), pod("set", owner="DaemonSet", gpu=True)]).verdict == "ok"


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, None),
        ({}, ""),
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        (
            {
                "matchExpressions": [
                    {"key": "a", "operator": "In", "values": ["1", "2"]},
                    {"key": "b", "operator": "DoesNotExist"},
                ]
            },
            "a in (1,2),!b",
        ),
    ],
)
def test_a_budgets_selector_as_a_query(selector: Data | None, expected: str | None) -> None:
    assert rollout.selector({"spec": {} if selector is None else {"selector": selector}}) == expected


def test_gpu_nodes_that_somebody_is_at_work_on() -> None:
    node: Data = {
        "metadata": {"name": "gpu-0", "labels": {"nvidia.com/gpu-driver-upgrade-state": "upgrade-failed"}},
        "spec": {"unschedulable": True},
    }
    check = rollout.nodes([node])
    assert (check.verdict, check.evidence) == (
        "warning",
        ("gpu-0 is cordoned", "gpu-0: the driver upgrade is at upgrade-failed"),
    )
    assert rollout.nodes([{"metadata": {"name": "a"}, "spec": {}}]).verdict == "ok"


CHECKS = [
    Check("a", "ok", "fine"),
    Check("b", "warning", "hm", "Do x.", "UPDATE-NODE"),
    Check("c", "blocking", "no", "Do y.", "UPDATE-POOL"),
]


@pytest.mark.parametrize(
    ("checks", "fail_on", "code"),
    [
        (CHECKS, "blocking", "UPDATE-POOL"),
        (CHECKS, "unknown", "UPDATE-POOL"),
        (CHECKS, "never", None),
        (CHECKS[:2], "blocking", None),
        (CHECKS[:2], "warning", "UPDATE-NODE"),
        (CHECKS[:1], "unknown", None),
    ],
)
def test_what_the_task_fails_with(checks: list[Check], fail_on: str, code: str | None) -> None:
    error = refusal(checks, fail_on)
    assert (error and error.code) == code
    if error and len(checks) == 3 and fail_on == "unknown":
        assert error.message == "c: no (1 more: b)"
        assert error.evidence == ["b: warning: hm", "c: blocking: no"]
        assert error.layer == "update"


def test_the_table() -> None:
    assert table(CHECKS) == [
        "CHECK  VERDICT   WHAT",
        "a      ok        fine",
        "b      warning   hm",
        "                 -> Do x.",
        "c      blocking  no",
        "                 -> Do y.",
    ]
