"""The variables of quotas, queues, spare devices and admission policies end the failures that name them."""

from __future__ import annotations

import json
import typing as t

from unit.engine import api_on
from unit.fake_server import Answer, FakeServer
from unit.policy.builders import TAINT, Server
from unit.pools.builders import pool
from unit.queue.builders import World as Kueue, pools as planned, workload
from unit.quota.test_steps import World
from unit.remedies.case import LEFT_OUT, Case, Cases, Options, checked, ensured
from unit.rules.role_tasks import passed, rendered

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.modules import gpu_plan, gpu_queue

RESEARCH: t.Final = {"name": "research", "pools": [{"name": "training"}], "namespaces": ["team-a"]}
VISION: t.Final = {**RESEARCH, "namespaces": ["team-b"]}


def quota(options: Options, *namespaces: str, **given: t.Any) -> str | None:
    """Limit the GPUs of a namespace, by default team-a, on a cluster with these namespaces."""
    wanted = {"namespace": "team-a", **(given or {"gpus": 1})}
    return ensured("gpu_quota", World(*namespaces).api(), {"quotas": [wanted], **options})


def renamed(options: Options) -> str | None:
    """Limit the GPUs of a namespace whose name is near to that of an existing one."""
    given = {"create_namespaces": True, **options}
    return quota(given, "team-vision", namespace="team-vison", gpus=1)


def queue(world: Kueue, options: Options, **more: t.Any) -> str | None:
    given = {"pools": planned(), "queues": [RESEARCH], **more, **options}
    return ensured("gpu_queue", world.api(), given)


def busy(options: Options) -> str | None:
    """Remove a queue whose Workload ends as soon as the queue admits nothing more."""
    world = Kueue()
    gpu_queue.ensure(world.api(), checked("gpu_queue", {"pools": planned(), "queues": [RESEARCH]}))
    world.server.put(workload("job-a", "research"))
    inner = world.server.request

    def request(method: str, url: str, *more: t.Any, **rest: t.Any) -> Answer:
        answer: Answer = inner(method, url, *more, **rest)
        if any(one["spec"].get("stopPolicy") for one in world.all("clusterqueues")):
            world.must("workloads", "job-a")["status"] = {}
        return answer

    if "wait" in options.values():
        world.server.request = request
    return queue(world, {**options, "state": "absent"})


def claimed(backend: Options, queues: list[t.Any]) -> str | None:
    """Plan the pool training, and give its GPUs to queues, as the playbook does with the plan."""
    plan = gpu_plan.ensure(
        api_on(FakeServer()),
        checked("gpu_plan", {"platform": "aws", "pools": [pool(name="training")], **backend}),
    )["plan"]
    user = {"gpu_plan_result": {"plan": plan}}
    (claims,) = {
        rendered(one, user) for one in passed() if (one.module, one.option) == ("gpu_queue", "claims")
    }
    given = {"pools": plan["pools"], "queues": queues, "claims": claims}
    return ensured("gpu_queue", Kueue().api(), given)


def foreign(options: Options) -> str | None:
    """Make a queue where others have made one of that name with another strategy."""
    world = Kueue()
    gpu_queue.ensure(world.api(), checked("gpu_queue", {"pools": planned(), "queues": [RESEARCH]}))
    live = world.must("clusterqueues", "research")
    del live["metadata"]["labels"]
    live["spec"]["queueingStrategy"] = "StrictFIFO"
    return queue(world, options)


def without_kueue(options: Options) -> str | None:
    world = Kueue()
    for key in [key for key in world.server.served if key[0].startswith("kueue")]:
        del world.server.served[key]
    return queue(world, options)


def two_quotas(options: Options) -> str | None:
    """Give queues a pool that has a quota for namespace team-a."""
    limited = planned(pool(name="training", quota=[{"namespace": "team-a", "gpus": 1}]))
    return queue(Kueue(), options, pools=limited)


def policies(server: Server, options: Options, **more: t.Any) -> str | None:
    entry = {"name": "training", "taints": [TAINT], **more}
    return ensured("gpu_admission", api_on(server, wait_wanted=False), {"pools": [entry], **options})


def foreign_policy(options: Options) -> str | None:
    server = Server()
    policies(server, {"admission": "warn"})
    server.one("ValidatingAdmissionPolicy")["metadata"]["labels"] = {}
    return policies(server, options)


def foreign_spare(options: Options) -> str | None:
    """Keep a spare device where others have a Deployment of the same name."""
    server = Server()
    policies(server, {}, spare=1)
    theirs: KubeObject = server.one("Deployment")
    theirs["metadata"]["labels"] = {}
    return policies(server, options, spare=1)


def without_policies(options: Options) -> str | None:
    server = Server()
    del server.served["admissionregistration.k8s.io/v1", "validatingadmissionpolicies"]
    return policies(server, options)


def queues(run: t.Callable[[Options], str | None], *value: t.Any) -> Case:
    """Return the case of a user whose list of queues was RESEARCH."""
    return Case("gpu_queue", run, before=json.dumps([RESEARCH]), value=json.dumps([*value]))


CASES: t.Final[Cases] = {
    ("QUOTA-NEW-NAMESPACE", "gpu_policy_namespaces"): Case("gpu_quota", renamed, value="[team-vison]"),
    ("QUOTA-NO-NAMESPACE", "gpu_policy_create_namespaces"): Case("gpu_quota", quota, before="false"),
    ("QUOTA-PROOF", "gpu_policy_prove"): Case(
        "gpu_quota", lambda options: quota(options, "team-a", hard={"pods": "4"})
    ),
    ("POLICY-FOREIGN", "gpu_policy_admission"): Case(
        "gpu_admission", foreign_policy, before="deny", value=LEFT_OUT
    ),
    ("POLICY-FOREIGN", "gpu_policy_spare_namespace"): Case("gpu_admission", foreign_spare),
    ("POLICY-NOT-SERVED", "gpu_policy_admission"): Case(
        "gpu_admission", without_policies, before="deny", value=LEFT_OUT
    ),
    ("QUEUE-BUSY", "gpu_on_busy"): Case("gpu_queue", busy, where="gpu_policy"),
    ("QUEUE-CLAIMS", "gpu_backend"): Case(
        "gpu_plan",
        lambda options: claimed(options, [RESEARCH]),
        before="dra",
        value=LEFT_OUT,
        where="enable_gpus",
    ),
    ("QUEUE-CLAIMS", "gpu_queues"): queues(lambda options: claimed({"backend": "dra"}, options["queues"])),
    ("QUEUE-FOREIGN", "gpu_policy_adopt"): Case("gpu_queue", foreign),
    ("QUEUE-NO-KUEUE", "gpu_queues"): queues(without_kueue),
    ("QUEUE-TWO-QUOTAS", "gpu_queues"): queues(two_quotas, VISION),
}
