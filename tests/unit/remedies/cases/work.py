"""The variables of validations end the failures whose remedies name them."""

from __future__ import annotations

import json
import typing as t

from unit.engine import TickingClock, api_on
from unit.fake_server import Answer, FakeServer, status
from unit.pools.builders import existing
from unit.remedies.case import Case, Cases, Options, checked, ensured
from unit.workload.measuring import RATE, Measuring
from unit.workload.programs.test_rdma import CUDA, NO_MR, log, ran, step
from unit.workload.test_gate_steps import Gated, pool
from unit.workload.test_obstacles import QUOTA
from unit.workload.test_steps import THEIRS, OnPod, World
from unit.workload.test_traffic import RDMA, Traffic

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.judge import NO_KERNEL_IMAGE
from ansible_collections.accelerators.openshift.plugins.modules import gpu_plan

TAINT: t.Final = {"key": "team", "value": "vision", "effect": "NoSchedule"}
POOLS: t.Final = [{"name": "a", "node_selector": {"pool": "a"}, "expected": {"nvidia.com/gpu": 1}}]


def validate(world: World, options: Options) -> str | None:
    """Validate the nodes. Each look at the clock takes time, so that no wait is endless."""
    world.clock = TickingClock(0.1)
    return ensured("gpu_workload", world.api(), {"pools": POOLS, "grace": 0, **options})


def busy(options: Options) -> str | None:
    """Validate two nodes, of which another run validates one."""
    world = World()
    world.leave("theirs", THEIRS)
    return validate(world, options)


def waiting(reason: str, message: str) -> dict[str, t.Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"name": "benchmark", "ready": False, "state": state}]}


def with_image(reason: str, message: str) -> t.Callable[[Options], str | None]:
    """Return a validation on a cluster where only containers of the image of a test start."""

    def run(options: Options) -> str | None:
        world = World()

        def on_pod(pod: dict[str, t.Any], key: tuple[str, str, str, str]) -> None:
            if pod["spec"]["containers"][0]["image"] == options.get("image"):
                world.succeed(pod, key)
            else:
                pod["status"] = waiting(reason, message)

        world._on_pod = on_pod
        return validate(world, options)

    return run


def tolerating(world: World) -> OnPod:
    """Return a scheduler that runs only pods which tolerate TAINT."""

    def on_pod(pod: dict[str, t.Any], key: tuple[str, str, str, str]) -> None:
        if any(one.get("key") == TAINT["key"] for one in pod["spec"].get("tolerations") or []):
            world.succeed(pod, key)
            return
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        message = "0/2 nodes are available: 2 node(s) had untolerated taint {team: vision}"
        pod["status"] = {"phase": "Pending", "conditions": [{**condition, "message": message}]}

    return on_pod


def unschedulable(options: Options) -> str | None:
    """Plan the pools of a user, and validate them on nodes with a taint."""
    given = checked("gpu_plan", {"platform": "aws", **options})
    planned = gpu_plan.ensure(api_on(FakeServer()), given)["plan"]
    world = World()
    world._on_pod = tolerating(world)
    return validate(world, {"pools": planned["validations"]})


def limited(options: Options) -> str | None:
    """Validate on a cluster where the namespace gpu-validation has a quota that is too small."""
    world = World()
    account = {"name": "default", "namespace": "elsewhere"}
    world.server.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    inner = world.server.request

    def request(method: str, url: str, *more: t.Any, **rest: t.Any) -> Answer:
        if method == "POST" and "/namespaces/gpu-validation/pods" in url:
            return status(403, "Forbidden", QUOTA)
        if method == "POST" and "/namespaces/elsewhere/pods" in url and "dryRun" not in url:
            answer: Answer = inner(method, url, *more, **rest)
            (key, *_others) = [one for one in reversed(world.server.objects) if one[1] == "pods"]
            world.succeed(world.server.objects[key], key)
            return answer
        return inner(method, url, *more, **rest)

    world.server.request = request
    return validate(world, options)


def judged(says: dict[str, str]) -> t.Callable[[Options], str | None]:
    """Return a plan of a user's pools, and their validation on nodes that print this."""

    def run(options: Options) -> str | None:
        given = checked("gpu_plan", {"platform": "aws", **options})
        planned = gpu_plan.ensure(api_on(FakeServer()), given)["plan"]
        return validate(Measuring(says=says), {"pools": planned["validations"]})

    return run


def without_code(options: Options) -> str | None:
    """Validate on a GPU for which the image of a test has code, and no other image."""
    given = checked("gpu_plan", {"platform": "aws", **options})
    planned = gpu_plan.ensure(api_on(FakeServer()), given)["plan"]
    world = Measuring()

    def note(pod: dict[str, t.Any], key: tuple[str, str, str, str]) -> None:
        world.note(pod, key)
        if pod["spec"]["containers"][0]["image"] != "example.com/bench:volta":
            ended = {"name": "benchmark", "state": {"terminated": {"exitCode": 1}}}
            pod["status"] = {"phase": "Failed", "containerStatuses": [ended]}
            world.says[world.of_pod[key[3]]] = f"RuntimeError: CUDA error: {NO_KERNEL_IMAGE} for execution"

    world._on_pod = note
    return validate(world, {"pools": planned["validations"]})


def with_traffic(options: Options) -> str | None:
    """Validate a pair whose NICs reach GPU memory with the open kernel modules, by an image of a test."""
    described = {
        "name": "fast",
        "kind": "sriov",
        "namespaces": ["gpu-validation"],
        "ipam": {"type": "none"},
        "sriov": {"vfs": 2},
    }
    given = checked("gpu_plan", {"platform": "aws", "networks": [described], **options})
    planned = gpu_plan.ensure(api_on(FakeServer()), given)["plan"]
    (program,) = planned["validations"][0]["programs"]
    gpu = ran("dmabuf", 390.0)
    if program.get("image") != "example.com/perftest:cuda":
        gpu = step("dmabuf", "ib_write_bw: unrecognized option '--use_cuda=0'\n")
    elif planned["stack"]["driver"].get("kernel_module_type") != "open":
        gpu = step("dmabuf", f"{CUDA}DMA-BUF is not supported on this GPU\n") + step("peermem", CUDA + NO_MR)
    says = dict.fromkeys(("gpu-0", "gpu-1"), log(ran("host", 392.0), gpu))
    return validate(Traffic(says=says), {"pools": planned["validations"], "networks": planned["attachments"]})


def in_a_domain(options: Options) -> str | None:
    """Validate nodes of an NVLink domain on a cluster without ComputeDomains."""
    given = checked("gpu_plan", {"platform": "aws", **options})
    planned = gpu_plan.ensure(api_on(FakeServer()), given)["plan"]
    world = World()
    for key, node in world.server.objects.items():
        if key[1] == "nodes":
            node["metadata"]["labels"]["nvidia.com/gpu.clique"] = "8f5c7a52.0"
    return validate(world, {"pools": planned["validations"]})


def pools_with_traffic(kind: str, **more: str) -> str:
    """Return a described pool with this type of kernel module and program rdma, as YAML."""
    validation = {"programs": [{**RDMA, **more}]}
    return json.dumps([{**DESCRIBED, "driver": {"kernel_module_type": kind}, "validate": validation}])


def pools_with(**more: t.Any) -> str:
    """Return a described pool that runs a program of one's own, as YAML."""
    validation = {"programs": [{**RATE, "expected": 50, **more.pop("program", {})}], **more}
    return json.dumps([{**DESCRIBED, "validate": validation}])


def without_image_of_oc(options: Options) -> str | None:
    """Validate a gated pool on a cluster whose ImageStream of `oc` names no image."""
    world = Gated()
    world.of("imagestreams")[0]["status"] = {}
    return validate(world, {"pools": [pool()], **options})


DESCRIBED: t.Final = existing(1, pool="a")
CASES: t.Final[Cases] = {
    ("WORK-ARCH", "gpu_pools"): Case(
        "gpu_plan",
        without_code,
        before=pools_with(),
        value=pools_with(program={"image": "example.com/bench:volta"}),
        where="enable_gpus",
    ),
    ("WORK-IMEX-KIND", "gpu_pools"): Case(
        "gpu_plan",
        in_a_domain,
        before=json.dumps([{**DESCRIBED, "validate": {"programs": ["vectoradd", "compute_domain"]}}]),
        value=json.dumps([{**DESCRIBED, "validate": {"programs": ["vectoradd"]}}]),
        where="enable_gpus",
    ),
    ("WORK-LOW", "gpu_pools"): Case(
        "gpu_plan",
        judged({"gpu-0": "rate: 40", "gpu-1": "rate: 40"}),
        before=pools_with(),
        value=pools_with(program={"expected": 35}),
        where="enable_gpus",
    ),
    ("WORK-PEER", "gpu_pools"): Case(
        "gpu_plan",
        judged({"gpu-0": "rate: 80"}),
        before=pools_with(),
        value=pools_with(tolerance=0.3),
        where="enable_gpus",
    ),
    ("WORK-RDMA-GPU", "gpu_pools"): Case(
        "gpu_plan",
        with_traffic,
        before=pools_with_traffic("proprietary", image="example.com/perftest:cuda"),
        value=pools_with_traffic("open", image="example.com/perftest:cuda"),
        where="enable_gpus",
    ),
    ("WORK-RDMA-IMAGE", "gpu_pools"): Case(
        "gpu_plan",
        with_traffic,
        before=pools_with_traffic("open", image="example.com/perftest:plain"),
        value=pools_with_traffic("open", image="example.com/perftest:cuda"),
        where="enable_gpus",
    ),
    ("WORK-BUSY", "gpu_validation_strict"): Case("gpu_workload", busy, before="true"),
    ("WORK-CONTAINER", "gpu_validation_image"): Case(
        "gpu_workload",
        with_image("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"),
    ),
    ("WORK-GATE-IMAGE", "gpu_validation_gate_image"): Case(
        "gpu_workload", without_image_of_oc, value="mirror.example.com/cli:v4.22"
    ),
    ("WORK-IMAGE", "gpu_validation_image"): Case(
        "gpu_workload", with_image("ImagePullBackOff", "manifest unknown")
    ),
    ("WORK-UNSCHEDULABLE", "gpu_pools"): Case(
        "gpu_plan",
        unschedulable,
        before=json.dumps([DESCRIBED]),
        value=json.dumps([{**DESCRIBED, "taints": [TAINT]}]),
        where="enable_gpus",
    ),
    ("QUOTA-TOO-SMALL", "gpu_validation_namespace"): Case("gpu_workload", limited, value="elsewhere"),
}
