"""The variables of playbooks end failures of the catalogue, the lease, field managers and reboots."""

from __future__ import annotations

import typing as t
from pathlib import Path

from ansible.parsing.dataloader import DataLoader
from unit.engine import api_on, config_map
from unit.fake_server import FakeServer
from unit.frame.test_lease import THEIRS, World
from unit.managed import live, patched
from unit.remedies.case import Case, Cases, Options, ensured, failure
from unit.tuning.operator_in_memory import Operator, gpu_pod, node, tuning

from ansible_collections.accelerators.openshift.plugins.lookup import gpu_instance_types
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import walk
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import rollout_steps

FILES: t.Final = Path(__file__).parent / "files"


def read_catalogue(options: Options) -> str | None:
    lookup = gpu_instance_types.LookupModule(loader=DataLoader())
    return failure(lambda: lookup.catalogue(options.get("catalogue"), {}))


def second_run(options: Options) -> str | None:
    """Write while another run holds the lease, which it gives back after twenty seconds."""
    world = World(lock_timeout=float(options.get("lock_timeout") or 0))
    other = world.task(THEIRS)
    other.apply(config_map(k="1"))
    world.lets_go(other, after=1020)
    return failure(lambda: world.api.apply(config_map(k="2")))


def conflict(options: Options) -> str | None:
    """Set a field of our ClusterPolicy that kubectl changed."""
    server = FakeServer(
        "ClusterPolicy", "ClusterServiceVersion", "Node", "Pod", "DaemonSet", "ControllerRevision"
    )
    ours = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "gpu-cluster-policy"},
        "spec": {"mig": {"strategy": "single"}},
    }
    server.put(patched(live(ours), {"mig": {"strategy": "mixed"}}))
    given = {
        "backend": "clusterpolicy",
        "mig": {"strategy": "single"},
        "pools": [{"name": "a", "node_selector": {"pool": "a"}}],
    }
    return ensured("special_resource", api_on(server, check_mode=True), {**given, **options})


def reboot(options: Options) -> str | None:
    """Change a kernel argument of a node with a pod that uses a GPU."""
    operator = Operator(node("n1"), gpu_pod("train", "n1"))
    api = operator.api(check_mode=True)
    return failure(lambda: rollout_steps.ensure(api, [tuning()], options["on_busy"]))


def pod_asked(options: Options) -> str | None:
    """Ask why a pod does not run; there is one pod, and it runs."""
    server = FakeServer("Pod", "Node", "Namespace", "ResourceQuota", "DaemonSet", "Event")
    pod = {
        "metadata": {"name": "train-0", "namespace": "team-a"},
        "spec": {"nodeName": "n", "containers": [{"name": "c"}]},
    }
    server.put({"apiVersion": "v1", "kind": "Pod", **pod, "status": {"phase": "Running"}})
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {}, "status": ready})
    given: t.Any = {"pools": None, "namespace": None, "pod": "", **options}
    found = walk.look(api_on(server, check_mode=True), given)
    return found["diagnosis"]["code"] or None


CASES: t.Final[Cases] = {
    ("API-CONFLICT", "gpu_operator_adopt"): Case("special_resource", conflict),
    ("INPUT-CATALOGUE", "gpu_instance_types_catalogue"): Case(
        "gpu_instance_types", read_catalogue, str(FILES / "types.yml"), str(FILES / "missing.yml")
    ),
    ("REBOOT-BUSY", "gpu_on_busy"): Case("node_tuning", reboot, where="node_tuning"),
    ("SCHED-ABSENT", "gpu_pod"): Case("gpu_diagnose", pod_asked, "team-a/train-0", "team-a/trian-0"),
    ("RUN-LOCKED", "gpu_lock_timeout"): Case("any", second_run),
}
