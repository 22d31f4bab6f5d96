"""Why a pod does not run, as the pod, its events and the cluster say."""

from __future__ import annotations

import typing as t

import pytest
from unit.diagnosis.pods import GPU, Data, event, node, pod, seen

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import pod as own
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Trouble

FULL = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available."
TAINTED = "0/1 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}."
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
NOT_OURS = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
CLOSED = "0/1 nodes are available: 1 node(s) were unschedulable."


def found(asked: Data | str, *nodes: Data, **objects: list[Data]) -> Trouble:
    made = own.judge(seen(asked, *nodes, **objects))
    assert made is not None
    return made


def waiting(status: Data, **more: t.Any) -> Data:
    return {
        "containerStatuses": [{"name": "main", "restartCount": 0, "ready": False, "state": status, **more}]
    }


class TestScheduler:
    @pytest.mark.parametrize(
        "told",
        [
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
            '0/3 nodes are available: persistentvolumeclaim "data" not found.',
            "0/3 nodes are available: 3 node(s) had volume node affinity conflict.",
            "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.",
            "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports.",
        ],
    )
    def test_other_answers_are_quoted(self, told: str) -> None:
        made = found(pod(told=told), node("a"))
        assert (made.code, told in made.message) == ("SCHED-UNPLACED", True)
        assert "oc describe pod train -n team-a" in made.remedy

    def test_a_scheduler_that_nobody_runs(self) -> None:
        made = found(pod(schedulerName="volcano"), node("a"))
        assert "scheduler volcano has not looked at it" in made.message
        assert "Start scheduler volcano" in made.remedy

    def test_the_autoscaler_brings_a_node(self) -> None:
        events = [
            event("train", "TriggeredScaleUp", "pod triggered scale-up: [{g 0->1 (max: 4)}]", warns=False)
        ]
        look = seen(pod(told=FULL), node("a"), crowd=[pod("x", 8, "b", "a")], events=events)
        made = own.judge(look)
        assert made is not None
        assert made.is_busy
        assert "It goes on: 2026-11-28T09:00:00Z Pod train: TriggeredScaleUp" in [*own.notes(look)][-1]

    def test_the_autoscaler_gives_up(self) -> None:
        told = "pod didn't trigger scale-up: 1 max node group size reached"
        events = [event("train", "NotTriggerScaleUp", told, warns=False)]
        made = found(pod(told=FULL), node("a"), crowd=[pod("x", 8, "b", "a")], events=events)
        assert not made.is_busy
        assert any("max node group size reached" in line for line in made.evidence)

    def test_a_pod_for_which_others_end_is_busy(self) -> None:
        asked = pod(told=FULL, status={"nominatedNodeName": "a"})
        assert found(asked, node("a"), crowd=[pod("x", 8, "b", "a")]).is_busy

    def test_nobody_had_time_to_look_at_a_new_pod(self) -> None:
        assert found(pod(meta={"creationTimestamp": "2026-11-28T14:39:50Z"}), node("a")).is_busy
        assert not found(pod(), node("a")).is_busy

    def test_a_busy_pod_without_evidence_is_told(self) -> None:
        asked = pod(gpus=0, told="0/1 nodes are available: 1 Insufficient cpu.")
        asked["status"]["nominatedNodeName"] = "a"
        assert "Insufficient cpu" in [*own.notes(seen(asked, node("a")))][-1]

    def test_a_volume_is_named(self) -> None:
        volumes = [{"name": "a", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "b"}]
        told = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
        assert found(pod(told=told, volumes=volumes), node("a")).remedy.startswith(
            "Run `oc describe pvc data -n team-a`"
        )

    def test_a_pod_that_goes_is_not_placed(self) -> None:
        gone = {"deletionTimestamp": "2026-11-28T09:30:00Z", "finalizers": ["example.com/x"]}
        made = found(pod(told=FULL, meta=gone), node("a"))
        assert (made.code, "kept by its finalizers example.com/x" in made.message) == (
            "SCHED-CONTAINER",
            True,
        )

    def test_a_scheduling_gate(self) -> None:
        made = found(pod(schedulingGates=[{"name": "example.com/wait"}]), node("a"))
        assert (made.code, "example.com/wait" in made.message) == ("SCHED-GATE", True)


class TestQueues:
    gated: t.ClassVar[Data] = {
        "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}],
        "meta": {"labels": {"kueue.x-k8s.io/queue-name": "gpus"}, "uid": "u1"},
    }
    local: t.ClassVar[Data] = {"metadata": {"name": "gpus"}, "spec": {"clusterQueue": "team-a"}}

    def queue(self, status: str = "True", reason: str = "Ready", **spec: t.Any) -> Data:
        active = {
            "type": "Active",
            "status": status,
            "reason": reason,
            "message": "Can't admit new workloads: flavors not found",
        }
        usage = [{"name": "t4", "resources": [{"name": GPU, "total": "8"}, {"name": "cpu", "total": "4"}]}]
        return {
            "metadata": {"name": "team-a"},
            "spec": spec,
            "status": {"conditions": [active], "pendingWorkloads": 3, "flavorsUsage": usage},
        }

    def test_the_quota_is_used(self) -> None:
        told = "couldn't assign flavors: insufficient unused quota for nvidia.com/gpu, 1 more needed"
        workload = {
            "metadata": {"name": "pod-train-1", "ownerReferences": [{"uid": "u1"}]},
            "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": told}]},
        }
        made = found(
            pod(**self.gated), workloads=[workload], local_queues=[self.local], cluster_queues=[self.queue()]
        )
        assert made.code == "SCHED-GATE"
        assert told in made.message
        assert made.evidence == ("ClusterQueue team-a: 3 wait; 8 nvidia.com/gpu used",)
        assert "workloads.kueue.x-k8s.io pod-train-1 -n team-a" in made.remedy

    def test_there_is_no_such_queue(self) -> None:
        other = {"metadata": {"name": "gpu"}, "spec": {}}
        assert (
            "no such LocalQueue in team-a; there are: gpu"
            in found(pod(**self.gated), local_queues=[other]).message
        )

    def test_no_label_names_a_queue(self) -> None:
        made = found(pod(schedulingGates=self.gated["schedulingGates"]), local_queues=[self.local])
        assert "no label names one; there are: gpus" in made.message
        assert "oc get localqueues.kueue.x-k8s.io -n team-a" in made.remedy

    def test_the_queue_is_not_active(self) -> None:
        made = found(
            pod(**self.gated),
            local_queues=[self.local],
            cluster_queues=[self.queue("False", "FlavorNotFound")],
        )
        assert (made.code, made.layer) == ("QUEUE-NOT-ACTIVE", "quota")
        assert "flavors not found" in made.message

    def test_somebody_stopped_the_queue(self) -> None:
        stopped = self.queue("False", "Stopped", stopPolicy="Hold")
        made = found(pod(**self.gated), local_queues=[self.local], cluster_queues=[stopped])
        assert "stopPolicy Hold" in made.message
        assert "oc patch clusterqueues" in made.remedy

    def test_a_suspended_job_of_a_queue(self) -> None:
        job = {
            "kind": "Job",
            "metadata": {"name": "train", "labels": self.gated["meta"]["labels"], "uid": "u1"},
            "spec": {"suspend": True},
        }
        assert "queue gpus" in found("team-a/train-0-abc", jobs=[job], local_queues=[self.local]).message


class TestClaims:
    def asked(self, told: str) -> Data:
        return pod(gpus=0, resourceClaims=[{"name": "gpu", "resourceClaimName": "one"}], told=told)

    @pytest.mark.parametrize(
        "told",
        [
            "0/1 nodes are available: cannot allocate all claims.",
            "request gpu: device class gpu.example.com does not exist",
            'resourceclaim.resource.k8s.io "one" not found',
        ],
    )
    def test_the_scheduler_says_why(self, told: str) -> None:
        made = found(self.asked(told), node("a"), slices=[{"spec": {"driver": "gpu.nvidia.com"}}])
        assert (made.code, told in made.message, "DRA driver" in made.message) == (
            "SCHED-UNPLACED",
            True,
            False,
        )

    def test_no_driver_runs(self) -> None:
        made = found(self.asked("0/1 nodes are available: cannot allocate all claims."))
        assert "No ResourceSlice offers devices: no DRA driver runs." in made.message

    def test_a_template_that_does_not_exist(self) -> None:
        told = 'PodResourceClaim gpu: resource claim template "one-gpu": not found'
        events = [event("train", "FailedResourceClaimCreation", told)]
        made = found(self.asked(""), events=events)
        assert (told in made.evidence[0], told in made.message) == (True, True)
        assert "DRA driver" not in made.message


class TestRefused:
    quota: t.ClassVar[str] = (
        'Error creating: pods "train-x7k2p" is forbidden: exceeded quota: gpu-quota, requested: '
        "requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=7, limited: requests.nvidia.com/gpu=8"
    )

    def test_a_quota_of_the_namespace(self) -> None:
        quota = {"metadata": {"name": "gpu-quota", "namespace": "team-a"}}
        made = found(
            "team-a/train-x7k2p",
            node("a"),
            events=[event("train", "FailedCreate", self.quota, "Job")],
            quotas=[quota],
            crowd=[pod("old", 7, on="a"), pod("x", 1, "team-b", "a")],
        )
        assert (made.code, made.layer) == ("QUOTA-EXCEEDED", "quota")
        assert "Held by Pod team-a/old (7)." in made.message
        patch = '{"spec": {"hard": {"requests.nvidia.com/gpu": "9"}}}'
        assert f"oc patch resourcequota gpu-quota -n team-a --type merge -p '{patch}'" in made.remedy
        assert made.since == "2026-11-28T09:00:00Z"

    def test_a_quota_of_several_namespaces(self) -> None:
        made = found("team-a/train", events=[event("train-6c9d", "FailedCreate", self.quota, "ReplicaSet")])
        assert "oc patch clusterresourcequota gpu-quota" in made.remedy

    def test_a_quota_of_claims(self) -> None:
        key = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
        told = f"exceeded quota: q, requested: {key}=1, used: {key}=4, limited: {key}=4"
        told = f'failed to create ResourceClaim: resourceclaims "train-gpu-" is forbidden: {told}'
        asked = pod(gpus=0, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one"}])
        assert (
            found(asked, events=[event("train", "FailedResourceClaimCreation", told)]).code
            == "QUOTA-EXCEEDED"
        )

    @pytest.mark.parametrize(
        "told",
        [
            'pods "train-" is forbidden: maximum nvidia.com/gpu usage per Container is 1, but limit is 2',
            'pods "train-" is forbidden: failed quota: q: must specify cpu for: main',
            'Pod "train-abc" is invalid: spec.containers[0].resources.limits: Required value: Limit must be '
            "set for non overcommitable resources",
            'pods "train-" is forbidden: no PriorityClass with name gpu-high was found',
            'admission webhook "policy.example.com" denied the request: image not allowed',
        ],
    )
    def test_other_answers_of_the_server(self, told: str) -> None:
        made = found(
            "team-a/train-abc", events=[event("train", "FailedCreate", f"Error creating: {told}", "Job")]
        )
        assert (made.code, told in made.message, "job train" in made.message) == ("SCHED-REFUSED", True, True)

    def test_a_webhook_without_pods(self) -> None:
        told = 'failed calling webhook "m.kb.io": failed to call webhook: Post "https://k.s.svc:443/m": '
        told += 'no endpoints available for service "k"'
        made = found("team-a/train-abc", events=[event("train", "FailedCreate", told, "Job")])
        assert "find the pods of the service" in made.remedy

    def test_an_answer_that_the_server_cut(self) -> None:
        told = "exceeded quota: q, requested: a=1,requests.nvidia.com/gpu, used: a=1, limited: a=1"
        made = found("team-a/train-abc", events=[event("train", "FailedCreate", told, "Job")])
        assert made.code == "QUOTA-EXCEEDED"

    def test_the_newest_answer_counts(self) -> None:
        events = [
            event("train", "FailedCreate", "old", "Job", 1),
            event("train", "FailedCreate", "new", "Job", 2),
        ]
        assert "new" in found("team-a/train-abc", events=events).message

    def test_an_answer_to_somebody_else_does_not_count(self) -> None:
        made = found("team-a/train-abc", events=[event("trainer", "FailedCreate", "x", "Job")])
        assert made.code == "SCHED-ABSENT"

    def test_a_suspended_job(self) -> None:
        job = {"metadata": {"name": "train"}, "spec": {"suspend": True}}
        made = found("team-a/train", jobs=[job])
        assert made.code == "SCHED-GATE"
        assert 'oc patch job train -n team-a --type merge -p \'{"spec":{"suspend":false}}\'' in made.remedy

    def test_an_answer_before_the_newest_pod_is_over(self) -> None:
        events = [event("train", "FailedCreate", self.quota, "Job")]
        later = pod("train-abc", meta={"creationTimestamp": "2026-11-28T09:10:00Z"})
        made = found("team-a/train", events=events, neighbours=[later, pod("web")])
        assert (made.code, "There are train-abc." in made.message) == ("SCHED-ABSENT", True)

    def test_near_names(self) -> None:
        assert "There are train-0" in found("team-a/tarin-0", neighbours=[pod("train-0"), pod("web")]).message
        assert "has no pod, or does not exist" in found("team-x/train").message


class TestOnItsNode:
    def test_the_kubelet_refused_it(self) -> None:
        told = "Pod was rejected: Allocate failed due to requested number of devices unavailable for "
        told += "nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected"
        asked = pod(on="a", phase="Failed", status={"reason": "UnexpectedAdmissionError", "message": told})
        made = found(asked, node("a"))
        assert made.code == "GPU-VAL-BUSY"
        assert "Requested: 1, Available: 0" in made.message
        assert "oc delete pod train -n team-a" in made.remedy
        assert "validator" not in made.remedy

    def test_the_topology_manager_refused_it(self) -> None:
        told = "Pod was rejected: Resources cannot be allocated with Topology locality"
        made = found(
            pod(on="a", phase="Failed", status={"reason": "TopologyAffinityError", "message": told}),
            node("a"),
        )
        assert (made.code, "TopologyAffinityError" in made.message, told in made.message) == (
            "SCHED-CONTAINER",
            True,
            True,
        )

    def test_an_image_that_cannot_be_pulled(self) -> None:
        status = waiting(
            {
                "waiting": {
                    "reason": "ImagePullBackOff",
                    "message": 'Back-off pulling image "quay.io/x:1": manifest unknown',
                }
            }
        )
        made = found(pod(on="a", phase="Pending", status=status), node("a"))
        assert (made.code, "ImagePullBackOff" in made.message) == ("SCHED-CONTAINER", True)
        assert "image of container main, or the pull secrets of the pod" in made.remedy
        assert "operand" not in made.remedy
        assert made.node == ""

    def test_a_container_that_never_ran_is_described(self) -> None:
        status = waiting(
            {"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "s" not found'}}
        )
        made = found(pod(on="a", phase="Pending", status=status), node("a"))
        assert made.remedy == "Run `oc describe pod -n team-a train`."

    def test_a_crash_by_too_little_memory(self) -> None:
        last = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
        asked = pod(
            on="a",
            status=waiting({"waiting": {"reason": "CrashLoopBackOff"}}, lastState=last),
            limits={GPU: "1", "memory": "4Gi"},
        )
        made = found(asked, node("a"))
        assert "Raise the memory limit of container main, which is 4Gi." in made.remedy

    def test_events_of_a_pod_that_does_not_start(self) -> None:
        told = "Failed to create pod sandbox: rpc error: code = Unknown desc = no space left on device"
        made = found(
            pod(on="a", phase="Pending"), node("a"), events=[event("train", "FailedCreatePodSandBox", told)]
        )
        assert "no space left on device" in made.message

    def test_a_mount_that_fails(self) -> None:
        told = (
            'MountVolume.SetUp failed for volume "data" : hostPath type check failed: /d is not a directory'
        )
        made = found(pod(on="a", phase="Pending"), node("a"), events=[event("train", "FailedMount", told)])
        assert (made.code, told in made.message) == ("SCHED-CONTAINER", True)

    def test_its_node_does_not_exist(self) -> None:
        owners = [{"kind": "Job", "name": "train", "uid": "j"}]
        look = seen(pod(on="b", phase="Pending", meta={"ownerReferences": owners}), node("a"))
        made = own.judge(look)
        assert made is not None
        assert "there is no node b" in made.message
        assert made.remedy.endswith("Job train makes another one.")
        look.unread["nodes with their pods"] = "API-FORBIDDEN"
        assert own.judge(look) is None

    def test_its_node_is_lost(self) -> None:
        made = found(pod(on="a"), node("a", ready=False))
        assert (made.node, "Kubelet stopped posting" in made.message) == ("a", True)

    def test_a_running_pod_that_lost_its_gpus(self) -> None:
        look = seen(pod(on="a"), node("a"))
        look.log = "step 100\nFailed to initialize NVML: Unknown Error\n"
        made = own.judge(look)
        assert made is not None
        assert (made.code, made.node) == ("GPU-CDI-LOST", "a")
        assert "oc delete pod train -n team-a" in made.remedy

    def test_a_pod_that_runs_is_no_trouble(self) -> None:
        look = seen(pod(on="a", gpus=2), node("a"), events=[event("train", "Unhealthy", "probe failed")])
        look.log = "loss 0.1"
        assert own.judge(look) is None
        assert list(own.notes(look)) == [
            "Pod team-a/train is Running on node a; it asks for 2 nvidia.com/gpu."
        ]

    def test_an_eviction(self) -> None:
        told = "The node was low on resource: memory."
        made = found(pod(on="a", phase="Failed", status={"reason": "Evicted", "message": told}), node("a"))
        assert f"Evicted: {told}" in made.message

    def test_a_quota_that_is_over_is_no_trouble_of_a_running_pod(self) -> None:
        events = [event("train", "FailedResourceClaimCreation", TestRefused.quota)]
        assert own.judge(seen(pod(on="a"), node("a"), events=events)) is None

    def test_a_pod_that_has_ended_well_is_no_trouble(self) -> None:
        assert own.judge(seen(pod(on="a", phase="Succeeded"), node("a"))) is None

    def test_a_pod_without_devices_is_said(self) -> None:
        assert "it asks for no device" in next(own.notes(seen(pod(gpus=0, on="a"))))

    def test_a_pod_that_starts_is_no_trouble(self) -> None:
        assert own.judge(seen(pod(on="a", phase="Pending"), node("a"))) is None

    def test_a_pod_that_does_not_go(self) -> None:
        gone = pod(on="a", meta={"deletionTimestamp": "2026-11-28T09:30:00Z"})
        assert "being deleted since 2026-11-28T09:30:00Z" in found(gone, node("a")).message
        late = pod(on="a", meta={"deletionTimestamp": "2026-11-28T14:39:50Z"})
        assert found(late, node("a")).is_busy


def test_nobody_asked() -> None:
    assert own.judge(seen()) is None
