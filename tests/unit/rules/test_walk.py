"""The way of a key of a pool from the playbook to the wire is short, and docs/internals.md lists it."""

from __future__ import annotations

import functools
import re
import sys
import traceback
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer
from unit.pool_builders import INFRASTRUCTURE

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import machine_set
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import plan as pool_plan, rules
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import resource_quota
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import backend
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import manifest
from ansible_collections.accelerators.openshift.plugins.modules import (
    gpu_machineset,
    gpu_plan,
    gpu_quota,
    special_resource,
)

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "plugins"
MOST = 18
# A value that occurs nowhere else; whoever sends it sends the key of the pool.
VALUE = "580-walk"
POOL = {
    "name": "walk",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
}
KINDS = (
    *(
        "ClusterPolicy",
        "ClusterServiceVersion",
        "ClusterVersion",
        "ConfigMap",
        "ControllerRevision",
        "DaemonSet",
    ),
    *("Event", "ImageStream", "Infrastructure", "LimitRange", "Machine", "MachineAutoscaler"),
    *("MachineHealthCheck", "MachineSet", "Namespace", "Node", "NVIDIADriver", "Pod", "PriorityClass"),
    *("ResourceClaim", "ResourceQuota", "Secret", "Subscription"),
)


class Case(t.NamedTuple):
    """A key of a pool, and who carries it. role: whose task runs the module. notes: functions on the way."""

    given: t.Any
    role: str
    module: t.Any
    arguments: t.Callable[[dict[str, t.Any]], dict[str, t.Any]]
    notes: tuple[tuple[t.Any, str], ...]

    @property
    def yaml(self) -> tuple[str, ...]:
        """Return the files before Python: the playbook, what it gives to the roles, and the role's task."""
        variables = "playbooks/gpu_variables/vars/main/role_inputs.yml"
        return ("playbooks/enable_gpus.yml", variables, f"roles/{self.role}/tasks/present.yml")


CASES = {
    "taints": Case(
        [{"key": "nvidia.com/gpu", "value": VALUE, "effect": "NoSchedule"}],
        "gpu_node_pool",
        gpu_machineset,
        lambda plan: {"pool": plan["pools"][0]},
        ((rules, "_taints"), (Pool, "__init__"), (machine_set, "build")),
    ),
    "quota": Case(
        [{"namespace": "team-a", "name": VALUE, "gpus": 2}],
        "gpu_policy",
        gpu_quota,
        lambda plan: {"quotas": plan["quotas"], "create_namespaces": True, "nodes_exist": False},
        ((rules, "_quota"), (Pool, "__init__"), (pool_plan, "quotas"), (resource_quota, "build")),
    ),
    "driver": Case(
        {"version": VALUE, "repository": "nvcr.io/nvidia", "image": "driver"},
        "gpu_operator",
        special_resource,
        lambda plan: {"driver": plan["stack"]["driver"], "pools": plan["groups"]},
        (
            (rules, "_driver"),
            (Pool, "__init__"),
            (pool_plan, "stack"),
            (backend, "backend"),
            (manifest, "build"),
        ),
    ),
}


def listed(key: str) -> list[str]:
    """Return the files that docs/internals.md lists below the mark of a key, in their order."""
    _before, _mark, after = (ROOT / "docs/internals.md").read_text().partition(f"<!-- walk: {key} -->")
    return re.findall(r"^\d+\. `([^`]+)`", re.split("<!--|\n## ", after)[0], re.MULTILINE)


class Walk:
    """The files of ours on the call stack whenever the key is checked, planned, written or sent."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def note(self) -> None:
        """Add the files of the present call stack, outermost first."""
        for frame in traceback.extract_stack():
            path = Path(frame.filename).resolve()
            if path.is_relative_to(PLUGINS):
                self.files.append(path.relative_to(ROOT).as_posix())

    def noted(self, function: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
        """Return the function, which notes the call stack and its own file when it is called."""

        @functools.wraps(function)
        def noting(*args: t.Any, **more: t.Any) -> t.Any:
            self.note()
            path = Path(str(sys.modules[function.__module__].__file__)).resolve()
            self.files.append(path.relative_to(ROOT).as_posix())
            return function(*args, **more)

        return noting


def cluster(walk: Walk) -> FakeServer:
    """Return a server with a platform and a worker set. It notes the call stack when the key arrives."""
    server = FakeServer(*KINDS)
    worker = yaml.safe_load((ROOT / "tests/unit/fixtures/worker_machine_set.yml").read_text())
    for one in (INFRASTRUCTURE, worker):
        server.put(one)
    answer = server.request

    def request(method: str, url: str, **more: t.Any) -> Answer:
        if VALUE in str(more.get("body")) and method != "GET":
            walk.note()
        return answer(method, url, **more)

    server.request = request
    return server


def run(module: t.Any, server: FakeServer, **given: t.Any) -> dict[str, t.Any]:
    checked = ArgumentSpecValidator(dict(module.SPEC.options), **module.SPEC.constraints()).validate(given)
    assert checked.error_messages == []
    result: dict[str, t.Any] = module.ensure(api_on(server, wait_wanted=False), checked.validated_parameters)
    return result


@pytest.mark.parametrize("key", CASES)
def test_the_way_of_a_key_is_listed_and_short(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of docs/internals.md opens these files, and no others, to follow the key."""
    walk, case = Walk(), CASES[key]
    for owner, function in case.notes:
        monkeypatch.setattr(owner, function, walk.noted(getattr(owner, function)))
    server = cluster(walk)
    plan = run(gpu_plan, server, pools=[{**POOL, key: case.given}])["plan"]
    run(case.module, server, **case.arguments(plan))
    assert any(VALUE in str(live) for live in server.objects.values())
    assert sorted(listed(key)) == sorted({*case.yaml, *walk.files})
    assert len(listed(key)) <= MOST
    assert all((ROOT / name).is_file() for name in listed(key))
