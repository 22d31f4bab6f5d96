"""The way of `gpu_pools[].taints` from the playbook to the wire is short, and docs/internals.md lists it."""

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
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import rules
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool
from ansible_collections.accelerators.openshift.plugins.modules import gpu_machineset, gpu_plan

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "plugins"
MOST = 18
# A value that occurs nowhere else; whoever sends it sends the taint.
VALUE = "walk-of-a-taint"
TAINT = {"key": "nvidia.com/gpu", "value": VALUE, "effect": "NoSchedule"}
POOL = {
    "name": "walk",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
    "taints": [TAINT],
}
KINDS = (
    "Event",
    "Infrastructure",
    "Machine",
    "MachineAutoscaler",
    "MachineHealthCheck",
    "MachineSet",
    "Node",
    "Pod",
)
# Before Python: the playbook, what it gives to the roles, and the role's task.
YAML = (
    "playbooks/enable_gpus.yml",
    "playbooks/gpu_variables/vars/main/role_inputs.yml",
    "roles/gpu_node_pool/tasks/present.yml",
)


def listed() -> list[str]:
    """Return the files that docs/internals.md lists below its mark, in their order."""
    _before, _mark, after = (ROOT / "docs/internals.md").read_text().partition("<!-- walk -->")
    return re.findall(r"^\d+\. `([^`]+)`", after.partition("\n## ")[0], re.MULTILINE)


class Walk:
    """The files of ours on the call stack whenever the taint is checked, planned, written or sent."""

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
    """Return a server with a platform and a worker set. It notes the call stack when the taint arrives."""
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


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Walk:
    """Plan a pool, hand the plan to its machine set, and note the way."""
    walk = Walk()
    for owner, function in ((rules, "_taints"), (Pool, "__init__"), (machine_set, "build")):
        monkeypatch.setattr(owner, function, walk.noted(getattr(owner, function)))
    server = cluster(walk)
    (planned,) = run(gpu_plan, server, pools=[POOL])["plan"]["pools"]
    run(gpu_machineset, server, pool=planned)
    sent = [one for one in server.objects.values() if one["kind"] == "MachineSet" and VALUE in str(one)]
    assert [one["spec"]["template"]["spec"]["taints"] for one in sent] == [[TAINT]]
    return walk


def test_the_way_of_a_taint_is_listed(walk: Walk) -> None:
    """A reader of docs/internals.md opens these files, and no others, to follow a taint."""
    assert sorted(listed()) == sorted({*YAML, *walk.files})


def test_the_way_of_a_taint_is_short() -> None:
    assert len(listed()) <= MOST
    assert all((ROOT / name).is_file() for name in listed())
