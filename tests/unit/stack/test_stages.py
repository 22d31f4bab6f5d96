"""Stages: causes, consequences, since when, and which pool is ready; what OLM, metrics, logs and Xids add to them."""

from __future__ import annotations

import copy
import re
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ApiError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import (
    logs,
    olm_stages,
    signatures,
    stages,
    table as stack_table,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.steps import Also
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import (
    is_consequence,
    on_object,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Place, Stage

Data = dict[str, t.Any]
Snapshot = dict[str, list[Data]]
FIXTURE = yaml.safe_load((Path(__file__).parents[1] / "fixtures/stack_ready.yml").read_text())
POOL = {
    "name": "training",
    "node_selector": {"accelerators.openshift/pool": "training"},
    "replicas": 1,
    "expected": {"nvidia.com/gpu": 4},
}
OTHER = {
    "name": "other",
    "node_selector": {"accelerators.openshift/pool": "other"},
    "replicas": 1,
    "expected": {"nvidia.com/gpu": 4},
}
NINE, TEN = "2026-11-21T21:03:00Z", "2026-11-21T22:00:00Z"
BEHIND_DRIVER = {
    "toolkit": "waiting",
    "device plugin": "waiting",
    "validator": "waiting",
    "metrics": "waiting",
    "allocatable": "waiting",
}


@pytest.fixture
def seen() -> Snapshot:
    return copy.deepcopy(FIXTURE)


def node(seen: Snapshot) -> Data:
    return seen["nodes"][0]


def pod(seen: Snapshot, prefix: str) -> Data:
    return next(one for one in seen["pods"] if one["metadata"]["name"].startswith(prefix))


def unready(one: Data, since: str = NINE) -> None:
    one["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": since}]


def table(seen: Snapshot, *pools: Data) -> dict[str, Data]:
    return {
        one["name"]: one
        for one in clusterpolicy_result.summarize(seen, "gpu-cluster-policy", list(pools) or [POOL])["stages"]
    }


def verdicts(found: dict[str, Data]) -> dict[str, str]:
    return {name: stage["verdict"] for name, stage in found.items() if stage["verdict"] != "ready"}


def second_node(seen: Snapshot, pool: str = "other") -> Data:
    """Another node that runs everything, in a pool of its own."""
    other = copy.deepcopy(node(seen))
    other["metadata"]["name"] = "gpu-1"
    other["metadata"]["labels"]["accelerators.openshift/pool"] = pool
    seen["nodes"].append(other)
    for one in list(seen["pods"]):
        twin = copy.deepcopy(one)
        twin["metadata"]["name"] += "-twin"
        twin["spec"]["nodeName"] = "gpu-1"
        seen["pods"].append(twin)
    return other


def test_a_stack_that_works_is_ready_at_every_stage(seen: Snapshot) -> None:
    for one in seen["pods"]:
        one["status"]["conditions"][0] |= {"type": "Ready", "status": "True", "lastTransitionTime": TEN}
    found = table(seen)
    assert list(found) == list(clusterpolicy_judge.CHAIN.needs)
    assert verdicts(found) == {}
    assert found["driver"]["since"] == TEN
    assert found["csv"]["evidence"] == ["not looked at, since what it brings is there"]
    assert stages.lines(list(found.values())) == [f"ready: {', '.join(clusterpolicy_judge.CHAIN.needs)}"]


def test_what_waits_for_the_driver_is_its_consequence(seen: Snapshot) -> None:
    second_node(seen, "training")
    for one in seen["pods"]:
        if one["spec"]["nodeName"] == "gpu-0" and "node-status-exporter" not in one["metadata"]["name"]:
            unready(one)
    node(seen)["status"]["allocatable"]["nvidia.com/gpu"] = "0"
    driver = pod(seen, "nvidia-driver")["status"]
    driver["containerStatuses"][0] |= {
        "ready": False,
        "restartCount": 4,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    }
    found = table(seen, POOL | {"replicas": 2})
    assert verdicts(found) == {"driver": "pending", **BEHIND_DRIVER}
    assert {found[name]["consequence_of"] for name in BEHIND_DRIVER} == {"driver"}
    assert found["driver"]["since"] == NINE
    [behind] = found["driver"]["nodes"]
    assert (behind["pool"], behind["node"], behind["verdict"], behind["since"]) == (
        "training",
        "gpu-0",
        "pending",
        NINE,
    )
    assert found["driver"]["of"] == 2
    lines = stages.lines(list(found.values()))
    assert lines[0] == "ready: catalogue, install plan, csv, crd, nfd labels"
    assert lines[1].startswith(
        f"driver PENDING since {NINE} on 1 of 2 nodes: gpu-0: driver is in CrashLoopBackOff"
    )
    assert lines[2:] == ["toolkit, device plugin, validator, metrics, allocatable wait for driver"]


def test_a_trouble_of_its_own_behind_another_one_is_no_consequence(seen: Snapshot) -> None:
    for one in seen["pods"]:
        unready(one)
    plugin = pod(seen, "nvidia-device-plugin")["status"]["containerStatuses"][0]
    plugin |= {"ready": False, "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    found = table(seen)
    assert (found["driver"]["verdict"], found["device plugin"]["verdict"], found["toolkit"]["verdict"]) == (
        "pending",
        "pending",
        "waiting",
    )
    assert found["device plugin"]["consequence_of"] == ""


def test_a_node_without_its_label_makes_everything_wait_for_the_label(seen: Snapshot) -> None:
    del node(seen)["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"]
    for one in seen["pods"]:
        unready(one)
    found = table(seen)
    assert found["nfd labels"]["verdict"] == "pending"
    assert {found[name]["consequence_of"] for name in ("driver", *BEHIND_DRIVER)} == {"nfd labels"}


def test_the_nodes_that_a_pool_lacks_wait_for_their_labels(seen: Snapshot) -> None:
    seen["nodes"] = []
    found = table(seen)
    assert found["nfd labels"]["evidence"] == [
        "pool training: 0 of 1 nodes match accelerators.openshift/pool=training"
    ]
    assert found["allocatable"]["consequence_of"] == "nfd labels"
    assert found["driver"]["nodes"][0]["node"] == ""


def test_without_pools_only_what_the_cluster_has_once_is_told(seen: Snapshot) -> None:
    assert [
        one["name"] for one in clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [])["stages"]
    ] == [
        "catalogue",
        "install plan",
        "csv",
        "crd",
    ]


def test_before_the_policy_everything_waits_for_it(seen: Snapshot) -> None:
    seen["policies"] = []
    found = table(seen)
    assert found["crd"]["verdict"] == "pending"
    assert found["nfd labels"]["verdict"] == "ready"
    assert {found[name]["consequence_of"] for name in ("driver", *BEHIND_DRIVER)} == {"crd"}


def test_a_consequence_is_as_patient_as_its_cause(seen: Snapshot) -> None:
    seen["daemonsets"] = [one for one in seen["daemonsets"] if one["metadata"]["name"] != "nvidia-dcgm"]
    alone = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", [POOL])
    assert not any(is_consequence(one, alone, clusterpolicy_judge.CHAIN) for one in alone)
    unready(pod(seen, "nvidia-driver"))
    behind = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", [POOL])
    assert [one.code for one in behind if is_consequence(one, behind, clusterpolicy_judge.CHAIN)] == [
        "GPU-OPERAND-LACKING"
    ]


def test_what_another_judge_finds_is_told_in_its_stage(seen: Snapshot) -> None:
    """Backend nvidiadriver looks at its objects besides."""
    found = on_object(
        "pending",
        "Owner:gpu-0",
        "Node gpu-0: nobody owns it.",
        code="GPU-NVD-OWNER",
        stage="driver",
        pool="training",
        node="gpu-0",
    )
    judge = clusterpolicy_judge.Judge(
        {"name": "gpu-cluster-policy", "grace": 60, "pools": [POOL]}, lambda: 0.0
    )
    verdict = Also({}, lambda _snapshot: [found]).over(judge)(seen)
    told = clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [POOL], judge.findings)
    assert (verdict.code, told["pools"][0]["ready"]) == ("GPU-NVD-OWNER", False)
    assert told["lines"][-1] == "driver PENDING on 1 of 1 nodes: Node gpu-0: nobody owns it."


# Pools


def test_each_pool_is_judged_by_itself(seen: Snapshot) -> None:
    second_node(seen)
    node(seen)["metadata"]["labels"]["nvidia.com/mig.config.state"] = "failed"
    wanted = [POOL, OTHER]
    parts = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", wanted)
    sick, well = stack_table.pools_of(seen, wanted, parts)
    assert (sick["name"], sick["ready"], sick["code"], sick["nodes"], sick["nodes_ready"]) == (
        "training",
        False,
        "GPU-MIG-FAILED",
        1,
        0,
    )
    assert "gpu-0" in sick["message"]
    assert well == {
        "name": "other",
        "ready": True,
        "nodes": 1,
        "nodes_ready": 1,
        "code": "",
        "message": "",
        "remedy": "",
    }


def test_a_policy_that_does_not_count_makes_no_pool_ready(seen: Snapshot) -> None:
    seen["policies"][0]["status"] = {"state": "ignored", "conditions": []}
    parts = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", [POOL])
    assert [one["ready"] for one in stack_table.pools_of(seen, [POOL], parts)] == [False]


def not_ready(seen: Snapshot, states: str) -> None:
    seen["policies"][0]["status"] = {
        "state": "notReady",
        "conditions": [
            {"type": "Ready", "status": "False", "reason": "Error", "message": ""},
            {
                "type": "Error",
                "status": "True",
                "reason": "OperandNotReady",
                "message": f"ClusterPolicy is not ready; states not ready: [{states}]",
            },
        ],
    }


def test_nodes_of_nobody_may_be_broken(seen: Snapshot) -> None:
    second_node(seen)
    not_ready(seen, "state-driver")
    assert not clusterpolicy_judge.Judge(
        {"name": "gpu-cluster-policy", "grace": 60, "pools": [POOL]}, lambda: 0.0
    )(seen).is_ready
    unready(
        next(
            one
            for one in seen["pods"]
            if one["metadata"]["name"].endswith("-twin") and "driver-daemonset" in one["metadata"]["name"]
        )
    )
    judging = clusterpolicy_judge.Judge(
        {"name": "gpu-cluster-policy", "grace": 60, "pools": [POOL]}, lambda: 0.0
    )
    assert judging(seen).is_ready
    assert "gpu-1 (driver is not Ready)" in judging.findings[-1].message
    assert clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [POOL])["others"] == [
        {"name": "gpu-1", "operands": [{"name": "driver", "note": "is not Ready"}]}
    ]


def test_they_are_no_excuse_for_what_they_do_not_explain(seen: Snapshot) -> None:
    second_node(seen)
    unready(
        next(
            one
            for one in seen["pods"]
            if one["metadata"]["name"].endswith("-twin") and "driver-daemonset" in one["metadata"]["name"]
        )
    )
    not_ready(seen, "state-driver state-dcgm")
    assert not clusterpolicy_judge.Judge(
        {"name": "gpu-cluster-policy", "grace": 60, "pools": [POOL]}, lambda: 0.0
    )(seen).is_ready


# Catalogue, install plan, CSV


def subscription(**status: t.Any) -> Data:
    spec = {
        "name": "gpu-operator-certified",
        "source": "certified-operators",
        "sourceNamespace": "openshift-marketplace",
    }
    return {
        "metadata": {"name": "gpu-operator-certified", "namespace": "nvidia-gpu-operator"},
        "spec": spec,
        "status": status,
    }


def condition(kind: str, **more: str) -> Data:
    return {"type": kind, "status": "True", "lastTransitionTime": NINE, **more}


CATALOG: t.Final = {
    "metadata": {"name": "certified-operators"},
    "status": {"connectionState": {"lastObservedState": "READY", "lastConnect": NINE}},
}
DOWN: t.Final = {
    "metadata": {"name": "certified-operators"},
    "status": {"connectionState": {"lastObservedState": "TRANSIENT_FAILURE"}},
}
PLAN: t.Final = {
    "metadata": {"name": "install-a", "namespace": "nvidia-gpu-operator", "creationTimestamp": NINE},
    "spec": {"approved": False, "clusterServiceVersionNames": ["gpu.v1"]},
    "status": {"phase": "RequiresApproval"},
}
PLANNED: t.Final = {"currentCSV": "gpu.v1", "installPlanRef": {"name": "install-a"}}
CSV: t.Final = {
    "metadata": {"name": "gpu.v1", "namespace": "nvidia-gpu-operator"},
    "status": {"phase": "Succeeded", "lastTransitionTime": TEN},
}
FAILED: t.Final = {
    **CSV,
    "status": {
        "phase": "Failed",
        "reason": "InstallCheckFailed",
        "message": "install timeout",
        "lastTransitionTime": TEN,
    },
}


@pytest.mark.parametrize(
    ("live", "plans", "csvs", "catalog", "expected", "words"),
    [
        ([], [], [], None, ["pending", "waiting", "waiting"], "no Subscription for gpu-operator"),
        (
            [],
            [],
            [{**CSV, "metadata": {"name": "gpu-operator-certified.v1"}}],
            None,
            ["ready", "ready", "ready"],
            "no Subscription",
        ),
        (
            [subscription()],
            [],
            [],
            None,
            ["pending", "waiting", "waiting"],
            "CatalogSource certified-operators in namespace openshift-marketplace is not there",
        ),
        ([subscription()], [], [], DOWN, ["pending", "waiting", "waiting"], "is TRANSIENT_FAILURE"),
        (
            [subscription(conditions=[condition("ResolutionFailed", message="constraints not satisfiable")])],
            [],
            [],
            CATALOG,
            ["failed", "waiting", "waiting"],
            "constraints",
        ),
        (
            [subscription(conditions=[condition("BundleUnpackFailed", message="no image")])],
            [],
            [],
            CATALOG,
            ["ready", "failed", "waiting"],
            "no image",
        ),
        (
            [subscription(**PLANNED)],
            [PLAN],
            [],
            CATALOG,
            ["ready", "pending", "waiting"],
            "waits for an approval",
        ),
        (
            [subscription(**PLANNED, conditions=[condition("BundleUnpackFailed", message="no image")])],
            [PLAN],
            [],
            {**CATALOG, "status": {"connectionState": {"lastObservedState": "IDLE"}}},
            ["ready", "pending", "waiting"],
            "is IDLE",
        ),
        (
            [subscription(**PLANNED)],
            [{**PLAN, "status": {"phase": "Complete"}}],
            [FAILED],
            CATALOG,
            ["ready", "ready", "failed"],
            "install timeout",
        ),
        (
            [subscription(**PLANNED, installedCSV="gpu.v1")],
            [PLAN],
            [CSV],
            CATALOG,
            ["ready", "ready", "ready"],
            "would upgrade the operator",
        ),
    ],
    ids=[
        "nothing",
        "without OLM's Subscription",
        "no catalogue",
        "catalogue down",
        "resolution",
        "unpack",
        "unapproved",
        "unpacked after all",
        "csv failed",
        "installed",
    ],
)
def test_how_far_olm_is(
    live: list[Data],
    plans: list[Data],
    csvs: list[Data],
    catalog: Data | None,
    expected: list[str],
    words: str,
) -> None:
    found = olm_stages.judge(
        {"subscriptions": live, "plans": plans, "csvs": csvs, "catalogs": [catalog] if catalog else []},
        "gpu-operator",
    )
    assert [one.verdict for one in found] == expected
    assert words in str([one.evidence for one in found])


def test_a_cluster_whose_olm_cannot_be_read_says_so() -> None:
    found = olm_stages.judge({"unread": [{"message": "API-FORBIDDEN: list subscriptions"}]}, "gpu-operator")
    assert [(one.verdict, one.evidence) for one in found] == [
        ("ready", ("not known: API-FORBIDDEN: list subscriptions",))
    ] * 3


def test_olm_is_a_cause_only_of_what_is_not_there(seen: Snapshot) -> None:
    seen |= {
        "subscriptions": [subscription(**PLANNED)],
        "plans": [copy.deepcopy(PLAN)],
        "csvs": [],
        "catalogs": [CATALOG],
        "policies": [],
    }
    assert table(seen)["allocatable"]["consequence_of"] == "install plan"


# Metrics

NAMESPACE: t.Final = {
    "metadata": {"name": "nvidia-gpu-operator", "labels": {"openshift.io/cluster-monitoring": "true"}}
}
MONITOR: t.Final = {"metadata": {"name": "nvidia-dcgm-exporter"}, "spec": {}}


@pytest.mark.parametrize(
    ("spec", "namespace", "monitors", "verdict", "words"),
    [
        ({}, NAMESPACE, [MONITOR], "ready", "Prometheus itself is not asked"),
        (
            {},
            NAMESPACE,
            [
                {
                    "metadata": {"name": "ours"},
                    "spec": {"selector": {"matchLabels": {"app": "nvidia-dcgm-exporter"}}},
                }
            ],
            "ready",
            "judged",
        ),
        ({}, NAMESPACE, [], "failed", "no ServiceMonitor"),
        (
            {},
            {"metadata": {"name": "gpus"}},
            [MONITOR],
            "failed",
            "namespace gpus lacks the label openshift.io/cluster-monitoring=true",
        ),
        ({"dcgmExporter": {"enabled": False}}, None, [], "ready", "switched off"),
        ({"dcgmExporter": {"serviceMonitor": {"enabled": False}}}, None, [], "ready", "switched off"),
    ],
)
def test_how_metrics_are_collected(
    spec: Data, namespace: Data | None, monitors: list[Data], verdict: str, words: str
) -> None:
    found = clusterpolicy_result.judge_metrics(
        {"namespaces": [namespace] if namespace else [], "monitors": monitors}, {"spec": spec}
    )
    assert found.verdict == verdict
    assert words in str(found.evidence)


def test_metrics_that_go_nowhere_are_a_stage_of_their_own(seen: Snapshot) -> None:
    found = table(seen | {"namespaces": [], "monitors": []})
    assert verdicts(found) == {"metrics": "failed"}


# Logs


SIGNATURES = [
    ("sign-file: /run/secrets/key/key: No such file", "GPU-KMM-SIGN"),
    ("modprobe: ERROR: could not insert 'card': Key was rejected by service", "GPU-DRV-SIGN"),
    (
        "error: failed to install elfutils packages. RHEL entitlement may be improperly deployed.",
        "GPU-DRV-NODTK",
    ),
    ("Unable to find a match: elfutils-libelf-devel", "GPU-DRV-NODTK"),
    ("driver-toolkit imagestream not found", "GPU-DTK-STREAM"),
    ("DriverToolkit was requested but could not be enabled (dependencies missing)", "GPU-DTK-STREAM"),
    ('no matches for kind "ImageStream" in version "image.openshift.io/v1"', "GPU-DTK-STREAM"),
    ("could not find osImage quay.io/x in OS --> DTK mapping", "GPU-DTK-OSIMAGE"),
    ("Couldn't get kernelVersion, did you run the node feature discovery?", "GPU-NFD-KERNEL"),
    ("No GPU node in the cluster, do not create DaemonSets", "GPU-NFD-EMPTY"),
    ("Could not unload NVIDIA driver kernel modules, driver is in use", "GPU-DRV-INUSE"),
    ("eviction is disabled by the upgrade policy", "GPU-UPG-POLICY"),
    ("drain is superseded by the GPU Operator's upgrade policy", "GPU-UPG-POLICY"),
    ("cannot delete Pods with local storage (use --delete-emptydir-data to override)", "GPU-UPG-EMPTYDIR"),
    ("PKCS#7 signature not signed by a key that is trusted", "GPU-DRV-SIGN"),
    ("Loading of unsigned module is rejected", "GPU-DRV-SIGN"),
    ("NVRM: RmInitAdapter failed! (0x22:0x56:884)", "GPU-DRV-FLAVOUR"),
    ("the GPU is not supported by open nvidia.ko", "GPU-DRV-FLAVOUR"),
    ('no runtime for "nvidia" is configured', "GPU-TK-RUNTIME"),
    ("error code system not yet initialized", "GPU-FABRIC"),
    ("Requested: 1, Available: 0, which is unexpected", "GPU-VAL-BUSY"),
    ("XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy.", "GPU-HW-XID"),
    ("Failed to initialize NVML: Unknown Error", "GPU-CDI-LOST"),
    ("At least one mode change pending", "GPU-MIG-REBOOT"),
    ("unable to read MDEV devices directory", "GPU-VGPU-MDEV"),
    ("modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument", "GPU-RDMA-ABI"),
    ("waiting for mellanox ofed and nvidia drivers to be installed", "GPU-RDMA-ORDER"),
    ("conflicting GPUCluster resource gpu-cluster cannot co-exist", "GPU-CP-CONFLICT"),
    ("states not ready: [state-driver]", "GPU-CP-OPERAND"),
]


@pytest.mark.parametrize(
    ("text", "code"), SIGNATURES, ids=[f"{code}-{number}" for number, (_text, code) in enumerate(SIGNATURES)]
)
def test_a_known_text_is_recognised_in_the_middle_of_a_log(text: str, code: str) -> None:
    found = signatures.recognise(f"I1121 starting\n{text}\nexiting\n")
    assert found is not None
    assert found.code == code
    assert found.remedy
    assert found.meaning


def test_every_signature_has_a_case_here_or_with_its_own_stack() -> None:
    tested = {code for _text, code in SIGNATURES}
    assert {one.code for one in signatures.SIGNATURES if not one.code.startswith("NIC-")} == tested


def sources(seen: Snapshot, pools: list[Data] | None = None) -> list[logs.Source]:
    parts = clusterpolicy_judge.judge(seen, "gpu-cluster-policy", pools or [POOL])
    decisive = next((one for one in parts if not one.is_ready), None)
    return logs.sources(parts, seen["pods"], decisive, clusterpolicy_judge.PODS)


def test_the_log_of_what_broke_is_read_and_of_nothing_that_waits(seen: Snapshot) -> None:
    second_node(seen)
    for one in seen["pods"]:
        unready(one)
    [found, *more] = sources(seen)
    assert (found.pod.startswith("nvidia-driver"), found.decides, more) == (True, True, [])


def test_few_logs_are_read(seen: Snapshot) -> None:
    second_node(seen, "training")
    for one in seen["pods"]:
        unready(one)
        one["status"]["containerStatuses"] = [
            {
                "name": "c",
                "ready": False,
                "restartCount": 9,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            }
        ]
    found = sources(seen, [POOL | {"replicas": 2}])
    assert len(found) == logs.MOST
    assert found[0].pod.startswith("nvidia-driver")


def test_the_init_container_that_hangs_is_the_one(seen: Snapshot) -> None:
    driver = pod(seen, "nvidia-driver")
    unready(driver)
    driver["status"]["initContainerStatuses"] = [{"name": "k8s-driver-manager", "state": {"running": {}}}]
    driver["status"]["containerStatuses"] = [
        {"name": "nvidia-driver-ctr", "ready": False, "state": {"waiting": {"reason": "PodInitializing"}}}
    ]
    assert [one.container for one in sources(seen)] == ["k8s-driver-manager"]


def test_peermem_beside_a_driver_that_runs_is_the_one(seen: Snapshot) -> None:
    driver = pod(seen, "nvidia-driver")
    unready(driver)
    states = [
        {"name": "nvidia-driver-ctr", "ready": True, "state": {"running": {}}},
        {"name": "nvidia-peermem-ctr", "ready": False, "state": {"running": {}}},
    ]
    driver["status"] |= {"initContainerStatuses": [], "containerStatuses": states}
    assert [one.container for one in sources(seen)] == ["nvidia-peermem-ctr"]


def test_a_taint_is_in_no_log(seen: Snapshot) -> None:
    node(seen)["spec"]["taints"].append({"key": "dedicated", "effect": "NoSchedule"})
    assert sources(seen) == []


def test_the_operators_own_log_tells_of_labels(seen: Snapshot) -> None:
    del node(seen)["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"]
    seen["pods"].append(
        {
            "metadata": {"name": "gpu-operator-5d", "namespace": "n"},
            "spec": {"containers": [{"name": "gpu-operator"}]},
            "status": {},
        }
    )
    assert [(one.pod, one.container) for one in sources(seen)] == [("gpu-operator-5d", "gpu-operator")]


def test_a_log_that_cannot_be_read_says_so() -> None:
    error = AcceleratorError("GPU-DRV-CRASH", "crashes.")
    logs.unreadable(error, logs.Source("n", "p", "c", True), ApiError("API-FORBIDDEN", "no get on pods/log"))
    assert error.evidence == ["p/c: its log could not be read: API-FORBIDDEN: no get on pods/log"]


def test_the_log_of_another_node_is_evidence_and_no_cause() -> None:
    error = AcceleratorError("GPU-DRV-CRASH", "crashes.", "look")
    logs.read(error, logs.Source("n", "p", "c", False), "NVRM: RmInitAdapter failed!")
    assert (error.code, error.remedy, error.evidence) == (
        "GPU-DRV-CRASH",
        "look",
        ["p/c: NVRM: RmInitAdapter failed!"],
    )


@pytest.mark.parametrize(
    ("code", "text", "becomes"),
    [
        ("GPU-MIG-FAILED", "At least one mode change pending", "GPU-MIG-REBOOT"),
        ("GPU-ALLOC", "Failed to initialize NVML: Unknown Error", "GPU-CDI-LOST"),
        (
            "GPU-DRV-OUTDATED",
            "Could not unload NVIDIA driver kernel modules, driver is in use",
            "GPU-DRV-INUSE",
        ),
        ("GPU-CP-NOTREADY", "driver-toolkit imagestream not found", "GPU-DTK-STREAM"),
        ("GPU-TAINT", "driver-toolkit imagestream not found", "GPU-TAINT"),
        ("GPU-ALLOC", "everything is fine", "GPU-ALLOC"),
    ],
)
def test_a_log_may_know_more_than_what_was_seen(code: str, text: str, becomes: str) -> None:
    error = AcceleratorError(code, "Seen.", "look")
    logs.read(error, logs.Source("n", "p", "c", True), f"starting\n{text}\n")
    assert error.code == becomes
    assert (error.message == "Seen.") is (becomes == code)
    assert error.evidence[-1] == f"p/c: {text}"


def test_what_a_log_says_is_a_sentence_of_its_own() -> None:
    error = AcceleratorError("NIC-DRV-CRASH", "Node n1: the NIC driver is in CrashLoopBackOff")
    logs.read(error, logs.Source("n", "mofed-x", "c", True), "no space left")
    assert (
        error.message
        == "Node n1: the NIC driver is in CrashLoopBackOff. The log of mofed-x ends with: no space left"
    )


def test_an_event_tells_what_no_log_can() -> None:
    error = AcceleratorError("GPU-OPERAND", "not Ready.", "look")
    logs.read_events(
        error,
        "p",
        [
            {"type": "Normal", "message": "Pulled"},
            {"type": "Warning", "reason": "Failed", "message": 'no runtime for "nvidia" is configured'},
        ],
    )
    assert error.code == "GPU-TK-RUNTIME"


# Xids


@pytest.mark.parametrize(
    ("log", "words", "remedy"),
    [
        (
            "XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy.",
            "Xid 79 on GPU-1: the GPU has fallen off the bus",
            "reboot the node",
        ),
        (
            "XidCriticalError: Xid=95 on Device=GPU-1; x\nXidCriticalError: Xid=95 on Device=GPU-1; x",
            "Xid 95 on GPU-1: memory error, not contained",
            "reset the GPU",
        ),
        (
            "XidCriticalError: Xid=64 on Device=GPU-1; x\nXidCriticalError: Xid=48 on Device=GPU-2; x",
            "Xid 64 on GPU-1: a memory row could not be remapped; Xid 48",
            "have it replaced",
        ),
        (
            "XidCriticalError: Xid=119, All devices will go unhealthy.",
            "Xid 119 on every device",
            "reset the GPU",
        ),
        (
            "XidCriticalError: Xid=94 on Device=GPU-1; x",
            "contained in one application",
            "Restart the application",
        ),
        ("XidCriticalError: Xid=777 on Device=GPU-1; x", "not in our table", "reboot"),
    ],
)
def test_an_xid_says_what_to_do(log: str, words: str, remedy: str) -> None:
    error = AcceleratorError("GPU-ALLOC", "Node a offers 3 of 4.", "look")
    logs.read(error, logs.Source("n", "plugin", "c", True), f"starting\n{log}\n")
    assert error.code == "GPU-HW-XID"
    assert words in error.message
    assert remedy in error.remedy
    assert error.evidence[0].startswith("plugin/c: XidCriticalError")


def test_xids_of_applications_are_no_reason() -> None:
    """The device plugin does not withdraw a GPU for these."""
    assert not {13, 31, 43, 45, 68, 109} & set(signatures.XIDS)
    assert all(one.action in signatures.REMEDIES and one.meaning for one in signatures.XIDS.values())


def test_the_page_has_the_same_xids_for_the_same_action() -> None:
    page = (Path(__file__).parents[3] / "docs/driver-stack.md").read_text()
    rows = [
        {int(number) for number in found.split(", ")}
        for found in re.findall(r"^\| (\d+(?:, \d+)*) \|", page, re.MULTILINE)
    ]
    told = [
        {number for number, one in signatures.XIDS.items() if one.action == action}
        for action in (signatures.RESET, signatures.REBOOT, signatures.REPLACE, signatures.WATCH)
    ]
    assert rows == [*told, {13, 31, 43, 45, 68, 109}]


# The pure parts


def test_a_stage_that_could_wait_for_nothing_is_pending_itself() -> None:
    settled = stages.with_causes(
        {"driver": Stage("driver", "waiting"), "toolkit": Stage("toolkit", "waiting")},
        clusterpolicy_judge.CHAIN,
    )
    assert (settled["driver"].verdict, settled["toolkit"].consequence_of) == ("pending", "driver")


def test_the_worst_node_decides_and_the_oldest_trouble_dates_it() -> None:
    places = [
        Place("a", "n0", Stage("driver", "pending", TEN)),
        Place("a", "n1", Stage("driver", "pending", NINE)),
        Place("a", "n2", Stage("driver")),
    ]
    found = stages.across("driver", places)
    assert (found["verdict"], found["since"], [one["node"] for one in found["nodes"]], found["of"]) == (
        "pending",
        NINE,
        ["n0", "n1"],
        3,
    )
