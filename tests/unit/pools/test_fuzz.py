"""Wrong descriptions of pools: whatever a user writes, the planner says where and what, and how to mend it.

The seeds are fixed, so a failure comes again. `FUZZ_ROUNDS` makes each of them longer.
"""

from __future__ import annotations

import copy
import json
import os
import random
import typing as t

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.overrides import extended
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import nested
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import (
    account,
    plan as pool_plan,
    tuning,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import options as queue
from ansible_collections.accelerators.openshift.plugins.modules import gpu_queue

ROUNDS: t.Final = int(os.environ.get("FUZZ_ROUNDS", "500"))
_QUOTA: t.Final = {"namespace": "team-a", "gpus": 2, "limit_range": {"cpu": "1"}}
_PRIORITY: t.Final = {"name": "high", "value": 1000, "preemption_policy": "Never", "description": "mine"}
_FACTS: t.Final = {"gpus": 8, "gpu_model": "A100", "gpu_memory_gib": 40}
_AWS: t.Final = {
    "name": "training",
    "candidates": [
        {"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"], "market": {"type": "spot"}},
        {"instance_type": "mine.large", "zones": ["us-east-2b"], **_FACTS},
    ],
    "replicas": 2,
    "min_replicas": 1,
    "market": "on_demand",
    "taints": [{"key": "nvidia.com/gpu", "value": "x", "effect": "NoSchedule"}],
    "labels": {"team": "a"},
    "disk": {"size_gib": 200, "type": "gp3", "iops": 3000, "throughput_mib": 200},
    "aws": {"efa": True, "placement_group": "mine"},
    "provider_spec_patch": {"tags": [{"name": "a", "value": "b"}], "metadataServiceOptions": {}},
    "tuning": {"sysctl": {"net.core.rmem_max": 1}, "kernel_arguments": ["a=b"]},
    "driver": {"version": "580.1", "repository": "nvcr.io/nvidia", "image": "driver"},
    "quota": [_QUOTA, {"namespace": "team-b", "hard": {"requests.nvidia.com/gpu": 1, "cpu": "3"}}],
    "priority": [_PRIORITY],
    "validate": {"benchmark": "matmul", "image": "quay.io/me/check:1", "image_archs": ["amd64"]},
    "health": {"max_unhealthy": "40%"},
    "partition": "hard",
    "spare": 1,
}
_SCALED: t.Final = {
    "name": "inference",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "autoscale": {"min": 0, "max": 4},
    "sharing": {"time_slicing": {"replicas": 4, "rename": False}},
    "tuning": {
        "isolate": {"reserved": "0-1", "isolated": "2-3"},
        "huge_pages": [{"size": "1G", "count": 2, "numa_node": 0}],
        "topology": "restricted",
    },
    "priority": [_PRIORITY],
    "spare": 2,
}
_MIG: t.Final = {
    "name": "mig",
    "candidates": [{"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"]}],
    "autoscale": {"min": 1, "max": 2},
    "sharing": {
        "mig": {"layout": {"1g.5gb": 2, "2g.10gb": 1}, "strategy": "mixed"},
        "time_slicing": {"replicas": 2},
    },
}
_CONFIG: t.Final = [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.5gb": 7}}]
_OWN: t.Final = {
    "name": "own",
    "existing": {"node_selector": {"gpu": "yes"}, "expected": {"nvidia.com/gpu": 8}},
    "sharing": {"mig": {"config": _CONFIG}},
    "partition": "soft",
}
_HALVES: t.Final = {**_MIG, "name": "halves", "sharing": {"mig": {"slices": 3}}, "spare": 1}
_SHARED: t.Final = {
    "name": "claims",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
    "sharing": {"claims": [{"name": "one", "namespace": "team-a", "models": ["T4"]}]},
}
_QUEUE: t.Final[dict[str, t.Any]] = {
    "name": "team-a",
    "cohort": "all",
    "pools": [
        {"name": "training", "gpus": 4, "borrow": 2, "lend": 1},
        {"name": "inference", "resources": {"nvidia.com/gpu": 2}},
    ],
    "namespaces": ["team-a", "team-b"],
    "preemption": {"within_queue": "LowerPriority", "reclaim": "Any", "borrowing": "LowerPriority"},
}
_COSTS: t.Final = {
    "prices": {"p4d.24xlarge": 32.77, "p4d.24xlarge spot": "10"},
    "classes": {"low": 0, "high": 30},
    "catalogue": [{"platform": "aws", "instance_type": "mine.xlarge", **_FACTS}],
}
VALID: t.Final[list[dict[str, t.Any]]] = [_AWS, _SCALED, _MIG, _HALVES, _OWN, _SHARED]
# In place of a value, or of a key.
_ODD: t.Final[tuple[t.Any, ...]] = (
    None, True, False, 0, 1, -1, 7, 48, 10**30, -(2**63), 0.5, float("nan"), float("inf"), "", " ", "0",
    "-1", "1e3", "yes", "null", "ä\u202e\U0001f600", "x" * 300, "²", "\x00\n", "a/b", "nvidia.com/gpu",
    [], {}, [None], [[]], [{}], {"": ""}, {1: 2}, {None: None}, {"a": {"b": ["c"]}}, ["a", 1], "mixed",
    "hard", "soft", "spot", "capacity_block", "1g.5gb", {"type": "spot"}, [{"name": "a"}], 1.0,
)  # fmt: skip
_CLOUDS: t.Final = (None, "aws", "azure", "gcp", "ibm", "oci", "baremetal", "vsphere", "openstack", "nutanix")


def changed(value: t.Any, dice: random.Random) -> None:
    """Change one place below the value: drop, replace, nest, repeat or rename it."""
    places = list(_places(value))
    if not places:
        return
    holder, key = dice.choice(places)
    way = dice.randrange(6)
    if way == 0:
        del holder[key]
    elif way == 1:
        holder[key] = dice.choice(([holder[key]], {"a": holder[key]}))
    elif way == 2 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif way == 2:
        holder[dice.choice([one for one in _ODD if not isinstance(one, (list, dict))])] = holder[key]
    elif way == 3:
        other_holder, other = dice.choice(places)
        holder[key] = copy.deepcopy(other_holder[other])
    else:
        holder[key] = copy.deepcopy(dice.choice(_ODD))


def _places(value: t.Any) -> t.Iterator[tuple[t.Any, t.Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def refusal(call: t.Callable[[], t.Any]) -> AcceleratorError | None:
    """Return the failure, which says everything that a user needs, or None. Any other exception escapes."""
    failure: AcceleratorError | None = None
    try:
        call()
    except AcceleratorError as exc:
        failure = exc
    if failure:
        assert failure.code != "INTERNAL"
        for one in failure.facts.get("problems") or [{"path": "in the message", **vars(failure)}]:
            assert all(one[part] for part in ("code", "path", "message", "remedy")), one
    return failure


def _plan(pools: t.Any, cloud: str | None, backend: str | None) -> None:
    draft = pool_plan.draft(pools, backend=backend, rules=(tuning.check_pool,))
    draft.check()
    found = draft.pools(Place(cloud, "cluster-x7x7x", None))
    pool_plan.assemble(found, "gpu_pools", backend, []).as_result()
    account.limits(found, cloud)


@pytest.mark.parametrize("seed", range(8))
def test_no_description_breaks_the_planner(seed: int) -> None:
    """A description is planned or refused with path, message and remedy."""
    dice, refused = random.Random(seed), 0
    for _round in range(ROUNDS):
        pools = copy.deepcopy(dice.sample(VALID, dice.choice((1, 1, 2))))
        for _change in range(dice.choice((1, 1, 1, 2, 3))):
            changed(pools, dice)
        cloud, backend = dice.choice(_CLOUDS), dice.choice((None, None, "dra"))
        refused += refusal(lambda: _plan(pools, cloud, backend)) is not None  # noqa: B023
    assert refused > ROUNDS / 3


@pytest.mark.parametrize("pool", VALID, ids=lambda pool: str(pool["name"]))
def test_what_the_changes_begin_with_is_planned(pool: dict[str, t.Any]) -> None:
    """A description without a change is no refusal, so the changes above are what is refused."""
    backend = "dra" if pool["name"] == "claims" else None
    assert refusal(lambda: _plan([pool], "aws", backend)) is None


def _queue(queues: t.Any, pools: list[dict[str, t.Any]]) -> None:
    options = {name: dict(one) for name, one in gpu_queue.SPEC.options.items() if name not in AUTH_ARG_SPEC}
    sent = json.loads(json.dumps({"queues": queues, "pools": pools}))
    if nested.problems(options, sent):
        return
    checked = ArgumentSpecValidator(options).validate(sent)
    if not checked.error_messages:
        queue.read(checked.validated_parameters)


@pytest.mark.parametrize("seed", range(2))
def test_no_queue_breaks_the_reader(seed: int) -> None:
    """A queue is read, or it is refused with a path; wrong types are a matter of the option's table."""
    dice = random.Random(seed)
    pools = pool_plan.draft([_AWS, _SCALED], rules=()).pools(Place("aws", "cluster-x7x7x", None))
    planned = [json.loads(json.dumps(pool.as_result())) for pool in pools]
    assert refusal(lambda: _queue([_QUEUE], planned)) is None
    for _round in range(ROUNDS // 4):
        queues = [copy.deepcopy(_QUEUE), {**copy.deepcopy(_QUEUE), "name": "other"}]
        changed(queues, dice)
        refusal(lambda: _queue(queues, planned))  # noqa: B023


def _costs(given: dict[str, t.Any]) -> None:
    account.read_prices(given.get("prices"))
    account.read_classes(given.get("classes"))
    extended(given.get("catalogue"))


def test_no_price_class_or_type_breaks_its_reader() -> None:
    """Prices, classes of costs and own instance types are read or refused."""
    dice = random.Random(1)
    assert refusal(lambda: _costs(_COSTS)) is None
    for _round in range(ROUNDS):
        given = copy.deepcopy(_COSTS)
        for key in given:
            holder = {key: given[key]}
            changed(holder[key], dice)
        refusal(lambda: _costs(given))  # noqa: B023
