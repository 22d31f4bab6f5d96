"""The variables of shared and partitioned GPUs end the failures whose remedies name them."""

from __future__ import annotations

import typing as t

from unit.engine import api_on
from unit.fake_server import Answer
from unit.remedies.case import Case, Cases, Options, checked, ensured, failure
from unit.remedies.clusters import ending, policy
from unit.sharing.builders import MPS, Server, gpu_pod, node, params
from unit.sharing.mig_server import MODE, MigServer
from unit.sharing.test_claim_steps import claim_server, used
from unit.sharing.test_repartition_steps import SEVEN, cluster, paused

from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import repartition_steps
from ansible_collections.accelerators.openshift.plugins.modules import gpu_sharing


def pools(sharing: t.Mapping[str, t.Any]) -> t.Any:
    return params(("inference", sharing))["pools"]


def repartition(server: MigServer, options: Options, **sharing: t.Any) -> str | None:
    """Write the configurations as gpu_sharing does, and the policy; then cut the nodes of a pool."""
    api = api_on(server, wait_wanted=False)
    (server.named("ClusterPolicy", policy.NAME) or {})["metadata"]["labels"] = dict(MANAGED_BY)
    given = {"pools": pools(SEVEN), "on_change": "keep", **sharing}
    found = gpu_sharing.ensure(api, checked("gpu_sharing", given))
    policy.write(api, {"mig_manager": found["mig_manager"], "mig": {"strategy": "single"}})
    if "WITH_REBOOT" in str(server.named("ClusterPolicy", policy.NAME)):
        server.fails.clear()
    given = checked("gpu_repartition", {"pools": pools(SEVEN), "node_timeout": 60, **options})
    return failure(lambda: repartition_steps.ensure(api_on(server), given, paused))


def busy(options: Options) -> str | None:
    """Cut a node with a pod that has a GPU, and that ends while the task waits for it."""
    server = cluster()
    server.put(gpu_pod("b"))
    if "on_busy" in options:
        ending.while_waited_for(server)
    return repartition(server, options)


def rebooting(options: Options) -> str | None:
    """Cut a node whose GPUs change their mode only with a reboot."""
    server = cluster("a")
    server.fails = {"a": MODE}
    return repartition(server, {}, **options)


def shared(options: Options) -> str | None:
    """Share a GPU by MPS under a pod, which ends while the task waits for it."""
    server = Server(node("n"), gpu_pod("n"))
    ending.while_waited_for(server)
    return ensured("gpu_sharing", api_on(server), {"pools": pools(MPS), **options})


def claimed(options: Options) -> str | None:
    """Take a shared claim away from a pod, which ends while the task waits for it."""
    server = claim_server()
    server.put(used(server, "server-0"))
    inner = server.request

    def request(method: str, url: str, **more: t.Any) -> Answer:
        if "watch=" in url and "resourceclaims" in url:
            server.free()
        answer: Answer = inner(method, url, **more)
        return answer

    server.request = request
    given = {"pools": [{"name": "inference"}], "claims": True, **options}
    return ensured("gpu_sharing", api_on(server), given)


CASES: t.Final[Cases] = {
    ("GPU-CLAIM-BUSY", "gpu_on_busy"): Case("gpu_sharing", claimed, where="gpu_sharing"),
    ("GPU-MIG-BUSY", "gpu_on_busy"): Case("gpu_repartition", busy, where="repartition"),
    ("GPU-MIG-REBOOT", "gpu_mig_reboot"): Case("gpu_sharing", rebooting, where="repartition"),
    ("GPU-SHARING-BUSY", "gpu_on_busy"): Case("gpu_sharing", shared, where="gpu_sharing"),
}
