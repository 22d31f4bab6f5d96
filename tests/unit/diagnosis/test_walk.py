# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The walk over a cluster in memory: what it reads, what it finds, and what it says."""

from __future__ import annotations

import copy
import json
import typing as t
from datetime import UTC, datetime, timedelta

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer, status
from unit.stack.builders import FIXTURE, NINE, POOL, Data, node, pod, second_node, unready

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ApiError,
    CredentialsError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import POOL as POOL_LABEL
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import (
    model,
    report,
    stack,
    walk,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind, known

KINDS: t.Final = {
    "nodes": ("v1", "Node"),
    "policies": ("nvidia.com/v1", "ClusterPolicy"),
    "daemonsets": ("apps/v1", "DaemonSet"),
    "pods": ("v1", "Pod"),
    "revisions": ("apps/v1", "ControllerRevision"),
    "streams": ("image.openshift.io/v1", "ImageStream"),
}
NAMESPACED: t.Final = ("DaemonSet", "Pod", "ControllerRevision")
SERVED: t.Final = (
    *("Node", "ClusterPolicy", "DaemonSet", "Pod", "ControllerRevision", "ImageStream", "Event"),
    *("ResourceQuota", "Namespace", "ConfigMap", "Secret"),
)
CRASH: t.Final = {
    "name": "nvidia-driver-ctr",
    "ready": False,
    "restartCount": 9,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
    "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": NINE}},
}
LOG: t.Final = (
    "Starting installation of NVIDIA driver version 595.71\n"
    "FATAL: failed to install elfutils packages. RHEL entitlement may be improperly deployed.\n"
    "+ _shutdown\nUnloading NVIDIA driver kernel modules..."
)


class Server(FakeServer):
    """A server with logs. before: those before a restart. forbidden: resources that may not be listed."""

    def __init__(self, *kinds: str) -> None:
        super().__init__(*kinds)
        self.logs: dict[str, str] = {}
        self.before: dict[str, str] = {}
        self.forbidden: tuple[str, ...] = ()
        self.asked: list[str] = []

    def answer(self, method: str, url: str, *args: t.Any, **more: t.Any) -> Answer:
        self.asked.append(url)
        path = url.partition("?")[0]
        if path.endswith("/log"):
            name = path.split("/")[-2]
            log = self.before.get(name) if "previous=true" in url else None
            log = self.logs.get(name, "") if log is None else log
            return Answer(200, log, {"Content-Length": str(len(log.encode()))})
        if path.rpartition("/")[2] in self.forbidden:
            return status(403, "Forbidden", "nodes is forbidden")
        return super().answer(method, url, *args, **more)

    def _matching(self, kind: Kind, namespace: str, query: dict[str, str]) -> list[Data]:
        field, _equals, value = query.get("fieldSelector", "").partition("=")
        if field != "involvedObject.name":
            return super()._matching(kind, namespace, query)
        found = super()._matching(kind, namespace, {})
        return [one for one in found if one["involvedObject"]["name"] == value]


@pytest.fixture
def seen() -> dict[str, list[Data]]:
    return copy.deepcopy(FIXTURE)


def cluster(seen: dict[str, list[Data]], *more: str) -> Server:
    server = Server(*SERVED, *more)
    for key, (version, kind) in KINDS.items():
        for obj in seen[key]:
            place = {"namespace": "nvidia-gpu-operator"} if kind in NAMESPACED else {}
            server.put({"apiVersion": version, "kind": kind, **obj, "metadata": {**place, **obj["metadata"]}})
    return server


def look(server: Server, **options: t.Any) -> dict[str, t.Any]:
    given: t.Any = {"pools": [POOL], "namespace": None, "pod": None, "wait": True, "wait_timeout": 60}
    api: Api = api_on(server, check_mode=True)
    return walk.look(api, given | options)


def crash(seen: dict[str, list[Data]]) -> str:
    driver = pod(seen, "nvidia-driver")
    unready(driver)
    driver["status"]["containerStatuses"] = [CRASH]
    return str(driver["metadata"]["name"])


def test_a_healthy_cluster_has_nothing_wrong_and_few_requests(seen: dict[str, list[Data]]) -> None:
    server = cluster(seen)
    found = look(server)
    assert found["diagnosis"]["healthy"], found["table"]
    assert found["table"][0] == "Nothing is wrong on 1 GPU node."
    assert len(server.asked) <= 25


def test_without_pools_those_of_the_labels_are_judged(seen: dict[str, list[Data]]) -> None:
    name = crash(seen)
    server = cluster(seen)
    server.logs[name] = LOG
    found = look(server, pools=None)["diagnosis"]
    assert (found["code"], found["troubles"][0]["pools"]) == ("GPU-DRV-NO-DTK", ["training"])


def test_nodes_of_a_pool_are_not_judged_again_with_those_of_none(seen: dict[str, list[Data]]) -> None:
    crash(seen)
    labels = second_node(seen)["metadata"]["labels"]
    del labels["accelerators.openshift/pool"]
    labels["nvidia.com/gpu.present"] = node(seen)["metadata"]["labels"]["nvidia.com/gpu.present"] = "true"
    found = look(cluster(seen), pools=None)["diagnosis"]["troubles"]
    assert [(one["pools"], one["nodes"]) for one in found if one["layer"] == "driver"] == [
        (["others", "training"], ["gpu-1", "gpu-0"])
    ]


def test_a_crashed_driver_is_explained_by_its_log(seen: dict[str, list[Data]]) -> None:
    name = crash(seen)
    server = cluster(seen)
    server.logs[name] = LOG
    found = look(server)
    first = found["diagnosis"]["troubles"][0]
    assert (first["layer"], first["code"], first["cause"]) == ("driver", "GPU-DRV-NO-DTK", "")
    assert any(
        f"{name}/nvidia-driver-ctr: FATAL: failed to install elfutils" in line for line in first["evidence"]
    )
    assert not any("Unloading" in line for line in found["table"])
    assert [one["name"] for one in found["diagnosis"]["layers"] if one["verdict"] == "trouble"] == ["driver"]


def test_what_may_not_be_read_hides_nothing_else(seen: dict[str, list[Data]]) -> None:
    name = crash(seen)
    server = cluster(seen)
    server.logs[name] = LOG
    server.forbidden = ("resourcequotas", "events")
    found = look(server)["diagnosis"]
    assert found["code"] == "GPU-DRV-NO-DTK"
    assert [one["what"] for one in found["unread"]] == ["quotas"]


@pytest.mark.parametrize(
    "problem",
    [
        CredentialsError("CRED-NONE", "no credentials", "give some"),
        ApiError("API-UNREACHABLE", "no answer", "look at it"),
        ApiError("CRED-UNAUTHORIZED", "nobody", "log in", status=401),
    ],
    ids=["no credentials", "no answer", "unauthorized"],
)
def test_a_cluster_that_cannot_be_read_at_all_is_not_healthy(problem: AcceleratorError) -> None:
    asked = []

    class Mute:
        def list(self, kind: t.Any, *_more: t.Any) -> t.NoReturn:
            asked.append(kind)
            raise problem

    params: t.Any = {"pools": None, "namespace": None, "pod": None}
    with pytest.raises(AcceleratorError) as caught:
        walk.look(t.cast(Api, Mute()), params)
    assert caught.value is problem
    assert len(asked) == 1


def test_two_causes_behind_one_symptom_stay_apart(seen: dict[str, list[Data]]) -> None:
    first = crash(seen)
    second_node(seen)
    server = cluster(seen)
    server.logs = {
        first: LOG,
        f"{first}-twin": "modprobe: ERROR: could not insert: Required key not available",
    }
    found = look(server, pools=None)["diagnosis"]["troubles"]
    assert {one["code"]: one["nodes"] for one in found if one["layer"] == "driver"} == {
        "GPU-DRV-NO-DTK": ["gpu-0"],
        "GPU-DRV-SIGN": ["gpu-1"],
    }


def test_thousands_of_nodes_in_trouble_are_one_cause(seen: dict[str, list[Data]]) -> None:
    crash(seen)
    here, first = [one for one in seen["pods"] if one["spec"].get("nodeName") == "gpu-0"], node(seen)
    for number in range(1, 5000):
        seen["nodes"].append({**first, "metadata": {**first["metadata"], "name": f"gpu-{number}"}})
        for one in here:
            metadata = {**one["metadata"], "name": f"{one['metadata']['name']}-{number}"}
            spec = {**one["spec"], "nodeName": f"gpu-{number}"}
            seen["pods"].append({**one, "metadata": metadata, "spec": spec})
    everything = model.Seen(objects=dict(seen), pools=[POOL])
    [own] = stack.stacks(everything, "nvidia-gpu-operator", {}, lambda: 0.0)
    found = report.result(everything, model.with_causes(stack.troubles(own)), ())
    causes = [one for one in found["diagnosis"]["troubles"] if not one["cause"]]
    assert [(one["code"], one["number"], len(one["nodes"])) for one in causes] == [
        ("GPU-DRV-CRASH", 5000, 10)
    ]
    assert len(json.dumps(found)) < 64 * 1024


def test_the_log_of_a_crashing_operator_is_quoted(seen: dict[str, list[Data]]) -> None:
    operator = copy.deepcopy(pod(seen, "nvidia-driver"))
    operator["metadata"] |= {"name": "gpu-operator-1-x", "uid": "operator"}
    unready(operator)
    operator["status"]["containerStatuses"] = [{**CRASH, "name": "gpu-operator"}]
    seen["pods"].append(operator)
    server = cluster(seen)
    server.logs["gpu-operator-1-x"] = "starting\npanic: open /certs/tls.crt: no such file\n"
    (cause,) = [one for one in look(server)["diagnosis"]["troubles"] if not one["cause"]]
    assert (cause["layer"], cause["code"]) == ("operators", "OLM-OPERATOR-DOWN")
    assert cause["evidence"][0] == "gpu-operator-1-x/gpu-operator: panic: open /certs/tls.crt: no such file"
    assert [url for url in server.asked if "gpu-operator-1-x/log" in url and "previous=true" in url]


def put(server: Server, kind: str, name: str, **parts: t.Any) -> None:
    meta = {"name": name, "uid": name, "creationTimestamp": NINE, **parts.pop("metadata", {})}
    server.put({"apiVersion": known(kind).api_version, "kind": kind, "metadata": meta, **parts})


def tell(server: Server, pod_name: str, reason: str, message: str) -> None:
    """Put a warning about the pod."""
    about = {"kind": "Pod", "name": pod_name, "namespace": "nvidia-gpu-operator"}
    parts = {"involvedObject": about, "reason": reason, "message": message, "type": "Warning"}
    metadata = {"namespace": "nvidia-gpu-operator"}
    put(server, "Event", f"{pod_name}.{reason}", metadata=metadata, lastTimestamp=NINE, **parts)


def roots(found: dict[str, t.Any]) -> list[tuple[str, str]]:
    every = found["diagnosis"]["troubles"]
    return [(one["layer"], one["code"]) for one in every if not one["cause"] and not one["busy"]]


@pytest.mark.parametrize("resource", ["pods", "daemonsets", "clusterpolicies"])
def test_a_stack_of_which_a_part_may_not_be_read_is_not_judged(
    seen: dict[str, list[Data]], resource: str
) -> None:
    crash(seen)
    server = cluster(seen)
    server.forbidden = (resource,)
    found = look(server)
    assert roots(found) == []
    verdicts = {one["name"]: one["verdict"] for one in found["diagnosis"]["layers"]}
    assert {verdicts[one] for one in ("driver", "toolkit", "device plugin", "sharing")} == {"unread"}
    assert found["table"][0].startswith("Nothing wrong was found on 1 GPU node.")


def test_without_the_right_to_read_revisions_or_nodes_nothing_is_made_up(seen: dict[str, list[Data]]) -> None:
    for resource in ("controllerrevisions", "nodes"):
        server = cluster(seen)
        server.forbidden = (resource,)
        assert roots(look(server)) == []


def test_a_nic_stack_of_which_a_part_may_not_be_read_is_not_judged(seen: dict[str, list[Data]]) -> None:
    server = cluster(seen, "NicClusterPolicy")
    put(server, "NicClusterPolicy", "nic-cluster-policy", spec={}, status={"state": "notReady"})
    server.forbidden = ("daemonsets",)
    found = look(server)["diagnosis"]
    assert [one["verdict"] for one in found["layers"] if one["name"] == "nic"] == ["unread"]
    unread = [one["what"] for one in found["unread"]]
    assert unread == ["daemonsets", "daemonsets of nvidia-network-operator", "nfd_daemonsets"]


def test_a_gpu_cluster_is_judged_by_the_slices_of_its_nodes(seen: dict[str, list[Data]]) -> None:
    server = cluster(seen, "GPUCluster", "ResourceSlice")
    ready = {"state": "ready", "conditions": [{"type": "Ready", "status": "True"}]}
    put(server, "GPUCluster", "gpu-cluster", spec={}, status=ready)
    codes = [one["code"] for one in look(server)["diagnosis"]["troubles"]]
    assert "GPU-DRA-SLICES" in codes
    server.forbidden = ("resourceslices",)
    found = look(server)["diagnosis"]
    assert "GPU-DRA-SLICES" not in [one["code"] for one in found["troubles"]]
    assert "slices" in [one["what"] for one in found["unread"]]


@pytest.mark.parametrize("log", ["", "Starting installation of NVIDIA driver version 595.71\n"])
def test_the_log_before_the_restart_is_read_where_the_current_one_tells_of_no_error(
    seen: dict[str, list[Data]], log: str
) -> None:
    name = crash(seen)
    server = cluster(seen)
    server.logs[name], server.before[name] = log, LOG
    assert roots(look(server)) == [("driver", "GPU-DRV-NO-DTK")]


def test_colours_hide_no_error(seen: dict[str, list[Data]]) -> None:
    name = crash(seen)
    server = cluster(seen)
    server.logs[name] = "\x1b[31mError: the blob is torn\x1b[0m\nstep 2\n"
    assert look(server)["diagnosis"]["troubles"][0]["message"].endswith("says: Error: the blob is torn")


def test_an_event_that_no_row_knows_is_quoted_where_no_log_is(seen: dict[str, list[Data]]) -> None:
    plugin = pod(seen, "nvidia-device-plugin")
    unready(plugin)
    waiting = {"name": "nvidia-device-plugin", "ready": False, "restartCount": 0}
    plugin["status"]["containerStatuses"] = [
        {**waiting, "state": {"waiting": {"reason": "ContainerCreating"}}}
    ]
    server = cluster(seen)
    name, text = plugin["metadata"]["name"], 'MountVolume.SetUp failed for volume "x": it is not a directory'
    tell(server, name, "BackOff", "Back-off restarting failed container")
    tell(server, name, "FailedMount", text)
    first = look(server)["diagnosis"]["troubles"][0]
    assert first["code"] == "GPU-OPERAND"
    assert first["message"].endswith(f"An event of pod {name} says: FailedMount: {text}")
    assert f"{name}/FailedMount: {text}" in first["evidence"]


def test_a_crash_of_the_operator_is_no_cause_of_a_crash_of_the_driver(seen: dict[str, list[Data]]) -> None:
    name = crash(seen)
    operator = copy.deepcopy(pod(seen, "nvidia-driver"))
    operator["metadata"] |= {"name": "gpu-operator-1-x", "uid": "operator"}
    operator["status"]["containerStatuses"] = [{**CRASH, "name": "gpu-operator"}]
    seen["pods"].append(operator)
    server = cluster(seen)
    server.logs = {name: LOG, "gpu-operator-1-x": "panic: no idea\n"}
    assert roots(look(server)) == [("operators", "OLM-OPERATOR-DOWN"), ("driver", "GPU-DRV-NO-DTK")]


def test_the_status_of_an_nvidia_driver_is_a_consequence_of_its_crash(seen: dict[str, list[Data]]) -> None:
    name = crash(seen)
    server = cluster(seen, "NVIDIADriver")
    selector = {"accelerators.openshift/pool": "training"}
    put(server, "NVIDIADriver", "t4", spec={"nodeSelector": selector}, status={"state": "notReady"})
    server.logs[name] = LOG
    found = look(server)
    assert ("operators", "GPU-NVD-NOT-READY") not in roots(found)
    assert ("driver", "GPU-DRV-NO-DTK") in roots(found)


def test_pods_that_may_not_be_read_are_named_and_raise_no_alarm(seen: dict[str, list[Data]]) -> None:
    server = cluster(seen)
    server.forbidden = ("pods", "daemonsets", "controllerrevisions", "resourcequotas")
    found = look(server)["diagnosis"]
    assert (found["healthy"], found["troubles"]) == (True, [])
    assert {"pods", "daemonsets", "quotas"} <= {one["what"] for one in found["unread"]}
    assert {one["verdict"] for one in found["layers"] if one["name"] == "driver"} == {"unread"}


@pytest.mark.parametrize(
    "mark",
    [{"nvidia.com/gpu.deploy.operands": "false"}, {"nvidia.com/gpu.workload.config": "vm-passthrough"}],
    ids=["opted out", "virtual machines"],
)
def test_a_node_of_no_pool_that_is_left_out_on_purpose(
    seen: dict[str, list[Data]], mark: dict[str, str]
) -> None:
    seen["policies"][0]["spec"]["sandboxWorkloads"] = {"enabled": True}
    other = copy.deepcopy(node(seen))
    other["metadata"] |= {"name": "out-0", "labels": {"nvidia.com/gpu.present": "true", **mark}}
    other["status"]["allocatable"] = {"cpu": "8", "pods": "250"}
    seen["nodes"].append(other)
    found = look(cluster(seen), pools=None)["diagnosis"]
    assert found["healthy"], found["troubles"]
    assert "1 GPU node left out of the stack by its labels: out-0." in found["notes"]
    other["metadata"]["labels"]["accelerators.openshift/pool"] = "training"
    assert not look(cluster(seen), pools=None)["diagnosis"]["healthy"]


def test_a_new_node_waits_for_its_labels(seen: dict[str, list[Data]]) -> None:
    new = second_node(seen, "training")
    marks = {"accelerators.openshift/pool": "training", "kubernetes.io/hostname": "gpu-1"}
    made = datetime.now(UTC) - timedelta(seconds=60)
    new["metadata"] |= {"labels": marks, "creationTimestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ")}
    new["status"]["allocatable"].pop("nvidia.com/gpu")
    seen["pods"] = [one for one in seen["pods"] if one["spec"].get("nodeName") != "gpu-1"]
    found = look(cluster(seen))["diagnosis"]
    assert found["healthy"], found["troubles"]
    assert "GPU-NFD-EMPTY" in [one["code"] for one in found["troubles"] if one["busy"]]
    new["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    assert look(cluster(seen))["diagnosis"]["code"] == "GPU-NFD-EMPTY"


def test_a_node_without_an_adapter_is_not_of_the_nic_stack() -> None:
    mark = {"feature.node.kubernetes.io/pci-15b3.present": "true"}
    marks = [{**mark, POOL_LABEL: "rdma"}, {POOL_LABEL: "rdma"}, {POOL_LABEL: "plain"}, mark, {}]
    nodes = [{"metadata": {"name": str(index), "labels": one}} for index, one in enumerate(marks)]
    assert [one["metadata"]["name"] for one in stack.with_nics(nodes)] == ["0", "1", "3"]
    assert stack.with_nics(nodes[2:3]) == nodes[2:3]


def test_a_hook_of_the_chart_that_has_ended_is_no_operator(seen: dict[str, list[Data]]) -> None:
    hook = copy.deepcopy(pod(seen, "nvidia-driver"))
    hook["metadata"] |= {"name": "gpu-operator-upgrade-crd-1", "uid": "hook"}
    unready(hook)
    hook["status"]["phase"] = "Succeeded"
    seen["pods"].append(hook)
    assert look(cluster(seen))["diagnosis"]["healthy"]
