"""Modules of Kernel Module Management: options to objects, kernels to images, nodes to verdicts, checks of kernels to come."""

from __future__ import annotations

import copy
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    dependencies,
    devices,
    judge as kmm_judge,
    kernels,
    manifest as kmm_manifest,
    preflight as kmm_preflight,
)

Data = dict[str, t.Any]
KERNEL = "5.14.0-570.12.1.el9_6.x86_64"
LABEL = "5-14-0-570-12-1-el9-6-x86-64"
UPSTREAM_BUILD = {
    "kmm.node.kubernetes.io/resource-type": "BuildImage",
    "kmm.node.kubernetes.io/target-kernel": LABEL,
}
IMAGE = "quay.io/acme/card:${KERNEL_FULL_VERSION}"
POOL = {"name": "cards", "node_selector": {"pool": "cards"}, "expected": {"example.com/card": 2}}
READY = "kmm.node.kubernetes.io/openshift-kmm.card.ready"
CONFIG = {
    "containerImage": f"quay.io/acme/card:{KERNEL}",
    "kernelVersion": KERNEL,
    "modprobe": {"moduleName": "card", "dirName": "/opt"},
}
ENTRY = {"namespace": "openshift-kmm", "name": "card", "config": CONFIG, "bootId": "b1"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def params(**more: t.Any) -> Data:
    options = {
        "module_name": "card",
        "kernel_mappings": [{"regexp": r"^5\.14\.", "container_image": IMAGE}],
    } | more.pop("kmm", {})
    base = {
        "name": "card",
        "namespace": "openshift-kmm",
        "tolerations": [],
        "spec": {},
        "pools": [POOL],
        "state": "present",
        "grace": 10.0,
        "kmm": options,
    }
    return base | more


def node(kernel: str = KERNEL, devices: str = "2", **labels: str) -> Data:
    info = {"kernelVersion": kernel, "bootID": "b1"}
    status = {
        "nodeInfo": info,
        "conditions": [{"type": "Ready", "status": "True"}],
        "allocatable": {"example.com/card": devices},
    }
    return {
        "metadata": {"name": "n1", "labels": {"pool": "cards", READY: ""} | labels},
        "spec": {},
        "status": status,
    }


def snapshot(**more: t.Any) -> Data:
    numbers = {"nodesMatchingSelectorNumber": 1, "desiredNumber": 1, "availableNumber": 1}
    module = kmm_manifest.build(params()) | {"status": {"moduleLoader": numbers}}
    config = {"metadata": {"name": "n1"}, "spec": {"modules": [ENTRY]}, "status": {"modules": [ENTRY]}}
    return copy.deepcopy({"modules": [module], "nodes": [node()], "configs": [config], "pods": []} | more)


def pod(labels: Data, reason: str = "Error", node_name: str | None = "n1", waiting: bool = False) -> Data:
    container = {
        "name": "worker",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": {"exitCode": 1, "reason": reason}},
    }
    if waiting:
        container["state"] = {"waiting": {"reason": reason, "message": "manifest unknown"}}
    spec = {"nodeName": node_name} if node_name else {}
    return {
        "metadata": {"name": "p", "namespace": "openshift-kmm", "labels": labels},
        "spec": spec,
        "status": {"containerStatuses": [container]},
    }


def pull(kind: str = "until-success") -> Data:
    found = pod(
        {"kmm.node.kubernetes.io/image-owner": "card", "kmm.node.kubernetes.io/pull-pod-type": kind},
        "ImagePullBackOff",
        None,
        waiting=True,
    )
    return found | {"spec": {"containers": [{"image": CONFIG["containerImage"]}]}}


def build(step: str, phase: str) -> Data:
    """As KMM makes them on OpenShift."""
    labels = {"kmm.openshift.io/build.type": step, "kmm.node.kubernetes.io/target-kernel": LABEL}
    status = {"phase": phase, "message": "Dockerfile build strategy has failed."}
    return {
        "metadata": {"name": "card-build", "namespace": "openshift-kmm", "labels": labels},
        "status": status,
    }


def judged(seen: Data, after: float = 0.0, **more: t.Any) -> t.Any:
    clock = Clock()
    judge = kmm_judge.Judge(params(**more), clock)
    verdict = judge(seen)
    if after:
        clock.now = after
        verdict = judge(seen)
    return verdict


def test_a_module_is_built_with_what_was_given_and_nothing_else() -> None:
    taints = [{"key": "example.com/card", "effect": "NoSchedule"}]
    sign = {"key_secret": "k", "cert_secret": "c", "files_to_sign": ["/opt/a.ko"]}
    build = {"dockerfile": "FROM x", "build_args": {"A": 1}, "secrets": ["s"]}
    more = {
        "version": "2",
        "build": build,
        "sign": sign,
        "device_plugin": {"image": "i", "args": ["-v"]},
        "in_tree_modules_to_remove": ["old"],
    }
    spec = kmm_manifest.build(
        params(
            kmm=more,
            pools=[POOL | {"taints": taints}],
            spec={"moduleLoader": {"container": {"imagePullPolicy": "Always"}}},
        )
    )["spec"]
    assert spec["selector"] == {"pool": "cards"}
    assert spec["tolerations"] == [{"key": "example.com/card", "operator": "Exists", "effect": "NoSchedule"}]
    assert spec["devicePlugin"] == {"container": {"image": "i", "args": ["-v"]}}
    assert spec["moduleLoader"]["container"] == {
        "version": "2",
        "imagePullPolicy": "Always",
        "inTreeModulesToRemove": ["old"],
        "modprobe": {"moduleName": "card"},
        "build": {
            "dockerfileConfigMap": {"name": "card-dockerfile"},
            "buildArgs": [{"name": "A", "value": "1"}],
            "secrets": [{"name": "s"}],
        },
        "sign": {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}, "filesToSign": ["/opt/a.ko"]},
        "kernelMappings": [{"regexp": r"^5\.14\.", "containerImage": IMAGE}],
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "name is missing"),
        ({"kmm": {"kernel_mappings": []}}, "kmm.kernel_mappings is missing"),
        ({"kmm": {"module_name": None}}, "kmm.module_name is missing"),
        (
            {"kmm": {"kernel_mappings": [{"regexp": "a", "literal": "b", "container_image": "i"}]}},
            r"kmm.kernel_mappings\[0\] needs either",
        ),
        (
            {"kmm": {"kernel_mappings": [{"regexp": "(", "container_image": "i"}]}},
            r"kmm.kernel_mappings\[0\].regexp '\(' is no regular expression",
        ),
        (
            {"kmm": {"kernel_mappings": [{"regexp": "^5(?!.14)", "container_image": "i"}]}},
            "Go's regular expressions",
        ),
        (
            {"kmm": {"kernel_mappings": [{"literal": "a"}]}},
            r"kmm.kernel_mappings\[0\].container_image is missing",
        ),
        ({"kmm": {"build": {"secrets": ["s"]}}}, "kmm.build needs either"),
        (
            {"kmm": {"device_plugin": {"image": "i"}, "dra": {"image": "i", "driver_name": "d"}}},
            "exclude each other",
        ),
        (
            {
                "kmm": {"device_plugin": {"image": "i"}},
                "spec": {"dra": {}, "devicePlugin": {}, "moduleLoader": {}} | {"dra": {"a": 1}},
            },
            "exclude each other",
        ),
        ({"kmm": {"version": "1"}, "name": "a-name-that-is-much-too-long-for-labels"}, "may have 39"),
        ({"pools": []}, "kmm.selector is missing"),
        ({"pools": [POOL, POOL | {"node_selector": {"other": "1"}}]}, "no node_selector in common"),
    ],
)
def test_what_cannot_work_is_refused_at_once(change: Data, said: str) -> None:
    with pytest.raises(InputError, match=said):
        kmm_manifest.check(params(**change))


def test_a_check_of_a_kernel_needs_nothing_else() -> None:
    alone = params(
        name="",
        kmm={"module_name": None, "kernel_mappings": None, "preflight": {"kernel_version": "6.1"}},
    )
    kmm_manifest.check(alone)
    assert kmm_manifest.is_preflight_only(alone)


def test_kernels_without_a_mapping_and_with_two_are_found() -> None:
    mappings = [{"literal": KERNEL}, {"regexp": "^5"}, {"regexp": "el9"}]
    nodes = [node(), node(kernel="6.1.0-1.fc40"), node(kernel=f"{KERNEL}+")]
    assert [one.mappings for one in kernels.survey(nodes, mappings)] == [(0, 1, 2), (0, 1, 2), ()]
    assert kernels.image_for(kmm_manifest.build(params()), KERNEL) == f"quay.io/acme/card:{KERNEL}"
    assert kernels.image_for(kmm_manifest.build(params()), "6.1") == ""


def test_what_has_to_be_there_and_what_is_made() -> None:
    options = {
        "image_repo_secret": "pull",
        "service_account": "loader",
        "device_plugin": {"service_account": "default"},
        "build": {"dockerfile": "FROM x"},
        "kernel_mappings": [
            {
                "build": {"dockerfile_config_map": "cm", "secrets": ["s"]},
                "sign": {"key_secret": "k", "cert_secret": "c"},
            }
        ],
    }
    assert [(one.kind, one.name, one.path) for one in dependencies.needs(options)] == [
        ("Secret", "pull", "kmm.image_repo_secret"),
        ("Secret", "s", "kmm.kernel_mappings[0].build.secrets"),
        ("ConfigMap", "cm", "kmm.kernel_mappings[0].build.dockerfile_config_map"),
        ("Secret", "k", "kmm.kernel_mappings[0].sign.key_secret"),
        ("Secret", "c", "kmm.kernel_mappings[0].sign.cert_secret"),
        ("ServiceAccount", "loader", "kmm.service_account"),
    ]
    made = dependencies.own(options | {"create_service_accounts": True}, "card", "openshift-kmm")
    assert [(one["kind"], one["metadata"]["name"]) for one in made] == [
        ("ConfigMap", "card-dockerfile"),
        ("ServiceAccount", "loader"),
        ("RoleBinding", "loader-privileged"),
    ]


def test_ready_is_ready() -> None:
    assert judged(snapshot()).is_ready
    told = kmm_judge.Judge(params(), Clock()).summarize(snapshot())
    assert told["state"] == "ready"
    assert told["nodes"][0] == {
        "name": "n1",
        "pool": "cards",
        "expected": {"example.com/card": 2},
        "allocatable": {"example.com/card": 2},
        "kernel": KERNEL,
        "image": f"quay.io/acme/card:{KERNEL}",
        "version": "",
    }


OTHER = ENTRY | {"config": CONFIG | {"containerImage": "quay.io/acme/card:old"}}


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"nodes": []}, "GPU-NODES", "0 of 1"),
        ({"configs": []}, "GPU-KMM-PENDING", "waits for the image"),
        (
            {"configs": [{"metadata": {"name": "n1"}, "spec": {"modules": [ENTRY]}}]},
            "GPU-KMM-PENDING",
            "being loaded",
        ),
        (
            {
                "configs": [
                    {"metadata": {"name": "n1"}, "spec": {"modules": [OTHER]}, "status": {"modules": [OTHER]}}
                ]
            },
            "GPU-KMM-PENDING",
            "change",
        ),
        ({"nodes": [node(kernel="5.14.0-999.el9.x86_64")]}, "GPU-KMM-PENDING", "runs 5.14.0-999"),
        ({"nodes": [node(kernel="6.1.0")]}, "GPU-KMM-KERNEL", "no kernel mapping fits its kernel 6.1.0"),
        ({"pods": [pod({"kmm.node.kubernetes.io/worker-action": "Load"})]}, "GPU-KMM-LOAD", "loading: pod p"),
        (
            {
                "pods": [
                    pod({"kmm.node.kubernetes.io/worker-action": "Load"}, "ImagePullBackOff", waiting=True)
                ]
            },
            "GPU-IMAGE",
            "manifest unknown",
        ),
        (
            {"configs": [], "pulls": [pull()]},
            "GPU-IMAGE",
            "image: pod p is in ImagePullBackOff: manifest unknown",
        ),
        ({"configs": [], "pulls": [pull("one-time-pull")]}, "GPU-KMM-PENDING", "waits for the image"),
        (
            {"configs": [], "builds": [build("BuildImage", "Failed")]},
            "GPU-KMM-BUILD",
            "build: Build card-build is Failed: Dockerfile",
        ),
        (
            {"configs": [], "builds": [build("SignImage", "Failed")]},
            "GPU-KMM-SIGN",
            "signing: Build card-build is Failed",
        ),
        (
            {"configs": [], "builds": [build("SignImage", "Running")]},
            "GPU-KMM-PENDING",
            r"(signing card-build is Running)",
        ),
        (
            {
                "configs": [],
                "pods": [
                    pod(
                        {
                            "kmm.node.kubernetes.io/resource-type": "BuildImage",
                            "kmm.node.kubernetes.io/target-kernel": LABEL,
                        },
                        node_name=None,
                    )
                ],
            },
            "GPU-KMM-BUILD",
            "build: pod p",
        ),
        ({"pods": [pod({})]}, "GPU-KMM-PLUGIN", "device plugin: pod p"),
        ({"nodes": [node(devices="1")]}, "GPU-ALLOC", "example.com/card 1 of 2"),
    ],
)
def test_each_lack_has_its_code(change: Data, code: str, said: str) -> None:
    found = judged(snapshot(**change))
    assert (found.code, found.is_ready) == (code, False)
    assert said in found.message


def test_a_rebooted_node_is_not_loaded() -> None:
    seen = snapshot()
    seen["nodes"][0]["status"]["nodeInfo"]["bootID"] = "b2"
    assert "rebooted" in judged(seen).message


def test_a_taint_makes_kmm_leave_the_node_out() -> None:
    seen = snapshot()
    seen["nodes"][0]["spec"]["taints"] = [{"key": "team", "value": "a", "effect": "NoSchedule"}]
    found = judged(seen)
    assert (found.verdict, found.code) == ("failed", "GPU-TAINT")


def test_a_node_of_another_version_waits_for_its_turn() -> None:
    seen = snapshot()
    seen["modules"][0]["spec"]["moduleLoader"]["container"]["version"] = "2"
    assert judged(seen).code == "GPU-KMM-VERSION"
    seen["nodes"][0]["metadata"]["labels"]["kmm.node.kubernetes.io/version-module.openshift-kmm.card"] = "1"
    assert "is to have version 1" in judged(seen).message


def test_a_pod_that_stays_broken_is_final_and_missing_devices_only_at_the_end() -> None:
    broken = snapshot(pods=[pod({"kmm.node.kubernetes.io/worker-action": "Load"})])
    assert judged(broken, after=11.0).verdict == "failed"
    assert judged(snapshot(nodes=[node(devices="0")]), after=11.0).verdict == "failed"
    assert judged(snapshot(nodes=[node(devices="0")], configs=[]), after=11.0).verdict == "pending"


@pytest.mark.parametrize(
    ("status", "is_ready"),
    [
        ({}, False),
        ({"moduleLoader": {"nodesMatchingSelectorNumber": 0}}, True),
        (
            {"moduleLoader": {"nodesMatchingSelectorNumber": 2, "desiredNumber": 2, "availableNumber": 1}},
            False,
        ),
        (
            {"moduleLoader": {"nodesMatchingSelectorNumber": 2, "desiredNumber": 0, "availableNumber": 0}},
            False,
        ),
        (
            {"moduleLoader": {"nodesMatchingSelectorNumber": 2, "desiredNumber": 2, "availableNumber": 2}},
            True,
        ),
    ],
)
def test_without_pools_the_numbers_decide(status: Data, is_ready: bool) -> None:
    module = kmm_manifest.build(params()) | {"status": status}
    assert judged(snapshot(modules=[module]), pools=[]).is_ready is is_ready


def verified(*entries: Data) -> Data:
    return {
        "preflights": [{"spec": {"kernelVersion": "6.1"}, "status": {"modules": list(entries)}}],
        "modules": [kmm_manifest.build(params())],
    }


def verification(status: str, reason: str = "") -> Data:
    return {
        "name": "card",
        "namespace": "openshift-kmm",
        "verificationStatus": status,
        "verificationStage": "Done",
        "statusReason": reason,
    }


def test_a_kernel_to_come_is_judged_module_by_module() -> None:
    judge = kmm_preflight.Judge("", "openshift-kmm")
    assert judge(verified()).verdict == "pending"
    assert judge(verified(verification("InProgress"))).verdict == "pending"
    assert judge(verified(verification("Success"))).is_ready
    bad = judge(verified(verification("Failure", "no image")))
    assert (bad.verdict, bad.code) == ("failed", "GPU-KMM-PREFLIGHT")
    assert "openshift-kmm/card: no image" in bad.message
    assert kmm_preflight.Judge("other", "openshift-kmm")(verified()).code == "GPU-KMM-PREFLIGHT"


def test_the_older_api_says_it_by_name() -> None:
    live = {
        "spec": {"kernelVersion": "6.1"},
        "status": {"crStatuses": {"card": {"verificationStatus": "True", "verificationStage": "Done"}}},
    }
    assert kmm_preflight.modules(live)[0]["status"] == "Success"
    assert kmm_preflight.Judge("", "")(
        {"preflights": [live], "modules": [kmm_manifest.build(params())]}
    ).is_ready


def test_the_older_api_has_each_module_twice_and_no_word_for_failure() -> None:
    """v1beta1 of KMM 2.1 to 2.3: by name, where two may meet, and by namespace/name; what failed is False and queued again."""
    failed = {
        "verificationStatus": "False",
        "verificationStage": "Requeued",
        "statusReason": "image i inaccessible or does not exists",
    }
    building = {
        "verificationStatus": "False",
        "verificationStage": "Requeued",
        "statusReason": "Waiting for build verification",
    }
    new = {"verificationStatus": "False", "verificationStage": "Image"}
    entries = {"a/card": failed, "b/card": building, "card": building, "new": new}
    found = [
        (one["namespace"], one["name"], one["status"])
        for one in kmm_preflight.modules({"status": {"crStatuses": entries}})
    ]
    assert found == [("a", "card", "Failure"), ("b", "card", "InProgress"), ("", "new", "InProgress")]


DRA = {"device_plugin": None, "dra": {"image": "i", "driver_name": "card.example.com"}}


def published(count: int = 2, generation: int = 1, of: int = 1) -> Data:
    cards = [
        {"name": f"card-{index}", "attributes": {"serial": {"string": f"s{index}"}}} for index in range(count)
    ]
    pool = {"name": "n1", "generation": generation, "resourceSliceCount": of}
    return {"spec": {"driver": "card.example.com", "nodeName": "n1", "pool": pool, "devices": cards}}


@pytest.mark.parametrize(
    ("expected", "slices", "said"),
    [
        ({}, [published(1)], ""),
        ({}, [], "driver card.example.com offers no device in ResourceSlices"),
        ({"card.example.com": 2}, [published()], ""),
        (
            {"card.example.com": 2},
            [published(), published(1, generation=2)],
            "driver card.example.com offers 1 of 2 devices in ResourceSlices",
        ),
        (
            {"card.example.com": 2},
            [published(of=2)],
            "the ResourceSlices of driver card.example.com are not all there",
        ),
        ({"card.example.com": 2, "example.com/card": 3}, [published()], "offers example.com/card 2 of 3"),
    ],
)
def test_a_dra_driver_is_judged_by_its_slices(expected: Data, slices: list[Data], said: str) -> None:
    module = kmm_manifest.build(params(kmm=DRA))
    numbers = {"nodesMatchingSelectorNumber": 1, "desiredNumber": 1, "availableNumber": 1}
    seen = snapshot(slices=slices, modules=[module | {"status": {"moduleLoader": numbers, "dra": numbers}}])
    asked = params(kmm=DRA, pools=[POOL | {"expected": expected}])
    judge = kmm_judge.Judge(asked, Clock())
    found = judge(seen)
    assert (said in found.message, found.is_ready) == (True, not said)
    (told,) = judge.summarize(seen)["nodes"]
    if slices:
        assert told["offered"] == {"card.example.com": len(told["devices"])}
        assert told["devices"][0] == {"name": "card-0", "attributes": {"serial": "s0"}}


def test_what_a_pool_expects_is_a_resource_or_the_driver() -> None:
    with pytest.raises(
        InputError,
        match=r"pools\[0\].expected has 'card', which is neither a device resource nor the driver of kmm.dra \(card.example.com\)",
    ):
        kmm_manifest.check(params(kmm=DRA, pools=[POOL | {"expected": {"card": 2}}]))
    kmm_manifest.check(params(kmm=DRA, pools=[POOL | {"expected": {"card.example.com": 2}}]))


def test_claims_in_use_are_found_by_the_pools_of_the_node() -> None:
    results = [{"driver": "card.example.com", "pool": "n1"}]
    used = {
        "metadata": {"namespace": "a", "name": "c"},
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": [{"name": "p"}]},
    }
    idle = {
        "metadata": {"namespace": "a", "name": "d"},
        "status": {"allocation": {"devices": {"results": results}}},
    }
    assert devices.claims_on("n1", "card.example.com", [published()], [used, idle]) == ["a/c"]
    assert devices.claims_on("n2", "card.example.com", [published()], [used, idle]) == []


def test_the_check_is_named_after_its_kernel() -> None:
    asked = {"kernel_version": KERNEL, "dtk_image": "quay.io/dtk", "push_built_image": None}
    built = kmm_preflight.build(asked, "kmm.sigs.x-k8s.io/v1beta2")
    assert (built["kind"], built["metadata"]["name"]) == (
        "PreflightValidationOCP",
        "accelerators-5.14.0-570.12.1.el9-6.x86-64",
    )
    assert built["spec"] == {"kernelVersion": KERNEL, "dtkImage": "quay.io/dtk"}
