"""The variables of hardware profiles end the failures that name them."""

from __future__ import annotations

import typing as t

from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.hardware_profiles.test_steps import NAMES, World
from unit.pools.builders import pool
from unit.queue.builders import pools
from unit.remedies.case import LEFT_OUT, Case, Cases, Options, checked, ensured
from unit.rules.role_tasks import passed, rendered

from ansible_collections.accelerators.openshift.plugins.modules import gpu_plan

MODULE: t.Final = "gpu_hardware_profile"


def make(options: Options, world: World | None = None, **more: t.Any) -> str | None:
    """Make profiles, unless the variable takes the pools away."""
    given = {**more, **options, "pools": pools() if options.get("pools", True) else []}
    return ensured(MODULE, api_on((world or World()).server), given)


def without_openshift_ai(options: Options) -> str | None:
    world = World()
    world.server.served = {key: kind for key, kind in world.server.served.items() if kind.kind not in NAMES}
    return make(options, world)


def elsewhere(options: Options) -> str | None:
    """Make profiles where OpenShift AI has a namespace of its own, which the cluster does not tell."""
    return make(options, World(place="ai", has_operator=False))


def claimed(options: Options) -> str | None:
    """Plan a pool with this backend, and make its profile, as the playbook does with the plan."""
    asked = {"platform": "aws", "pools": [pool(name="training")], **options}
    plan = gpu_plan.ensure(api_on(FakeServer()), checked("gpu_plan", asked))["plan"]
    user = {"gpu_plan_result": {"plan": plan}}
    (claims,) = {rendered(one, user) for one in passed() if (one.module, one.option) == (MODULE, "claims")}
    return make({}, claims=claims)


CASES: t.Final[Cases] = {
    ("POLICY-NO-PROFILES", "gpu_hardware_profiles"): Case(
        MODULE, without_openshift_ai, before="true", where="gpu_policy"
    ),
    ("POLICY-PROFILE-CLAIMS", "gpu_hardware_profiles"): Case(
        MODULE, lambda options: make(options, claims=True), before="true", where="gpu_policy"
    ),
    ("POLICY-PROFILE-CLAIMS", "gpu_backend"): Case(
        "gpu_plan", claimed, before="dra", value=LEFT_OUT, where="enable_gpus"
    ),
    ("POLICY-PROFILE-NAMESPACE", "gpu_policy_hardware_profile_namespace"): Case(
        MODULE, elsewhere, value="ai"
    ),
}
