"""New machines of a pool get its user data after its rollout, and the workers' again before its removal."""

from __future__ import annotations

import json

from unit.tuning.operator_in_memory import Operator, node, tuning
from unit.tuning.test_user_data import SERVER, secret

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import (
    MANAGED_BY,
    pool_label,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import (
    rollout_steps,
    user_data,
    user_data_steps,
)


def machine_set(name: str, pool: str = "training") -> KubeObject:
    value = {"userDataSecret": {"name": "worker-user-data"}}
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "MachineSet",
        "metadata": {
            "name": name,
            "namespace": user_data.NAMESPACE,
            "labels": {**pool_label(pool), **MANAGED_BY},
        },
        "spec": {"template": {"spec": {"providerSpec": {"value": value}}}},
    }


def worker_secret(text: str = f"{SERVER}/worker") -> KubeObject:
    found = secret(json.dumps({"ignition": {"config": {"merge": [{"source": text}]}}}))
    metadata = {"name": "worker-user-data", "namespace": user_data.NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", **found, "metadata": metadata}


def secret_of(operator: Operator, name: str) -> str:
    return user_data.names_of(operator.must("MachineSet", name))


def test_after_the_rollout_new_machines_boot_straight() -> None:
    operator = Operator(node("n1"), machine_set("a"), machine_set("b", "other"), worker_secret())
    (found,) = rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert found["new_machines"] == user_data_steps.STRAIGHT
    assert secret_of(operator, "a") == "gpu-training-user-data"
    assert secret_of(operator, "b") == "worker-user-data"
    operator.server.requests.clear()
    rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert operator.server.writes() == []


def test_a_removal_gives_back_the_user_data_first() -> None:
    operator = Operator(node("n1"), machine_set("a"), worker_secret())
    rollout_steps.ensure(operator.api(), [tuning()], "fail")
    operator.server.requests.clear()
    rollout_steps.remove(operator.api(), ["training"], "fail")
    assert secret_of(operator, "a") == "worker-user-data"
    assert operator.names("Secret") == ["worker-user-data"]
    assert operator.server.writes()[0][1].endswith("/machinesets/a")


def test_what_cannot_be_copied_is_said() -> None:
    other = "https://elsewhere/config/infra"
    operator = Operator(node("n1"), machine_set("a"), worker_secret(other))
    (found,) = rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert found["new_machines"].startswith(
        "reboot once after they have joined: the user data worker-user-data"
    )
    assert secret_of(operator, "a") == "worker-user-data"


def test_without_machine_sets_of_ours() -> None:
    operator = Operator(node("n1"))
    (found,) = rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert "made no machine set" in found["new_machines"]
    operator = Operator(
        node("n1"), kinds=("Node", "Pod", "MachineConfigPool", "MachineConfig", "KubeletConfig")
    )
    (found,) = rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert "no Machine API" in found["new_machines"]
    (found,) = rollout_steps.remove(operator.api(), ["training"], "fail")
    assert operator.names("MachineConfigPool") == ["worker"]
