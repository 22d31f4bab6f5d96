"""User data of new machines: a copy of the workers' that names the pool's configuration."""

from __future__ import annotations

import base64
import json
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import user_data

SERVER: t.Final = "https://api-int.c.example:22623/config"


def secret(data: t.Any) -> KubeObject:
    text = data if isinstance(data, str) else json.dumps(data)
    encoded = {"userData": base64.b64encode(text.encode()).decode(), "disableTemplating": "dHJ1ZQ=="}
    return {"metadata": {"name": "worker-user-data"}, "data": encoded}


@pytest.mark.parametrize("key", ["merge", "append"])
def test_only_the_address_changes(key: str) -> None:
    ignition = {
        "ignition": {
            "config": {key: [{"source": f"{SERVER}/worker", "verification": {}}]},
            "security": {"tls": {"certificateAuthorities": [{"source": "data:,CA"}]}},
            "version": "3.2.0",
        }
    }
    found = user_data.build("training", secret(ignition))
    assert found is not None
    assert found["metadata"]["name"] == "gpu-training-user-data"
    assert found["metadata"]["annotations"] == {user_data.COPY_OF: "worker-user-data"}
    assert found["data"]["disableTemplating"] == "dHJ1ZQ=="
    data = json.loads(base64.b64decode(found["data"]["userData"]))
    assert data["ignition"]["config"][key][0]["source"] == f"{SERVER}/gpu-training"
    data["ignition"]["config"][key][0]["source"] = f"{SERVER}/worker"
    assert data == ignition


@pytest.mark.parametrize(
    "data", ["<powershell>", {"ignition": {"config": {"merge": [{"source": "https://x/config/infra"}]}}}, [1]]
)
def test_other_user_data_is_left_alone(data: t.Any) -> None:
    assert user_data.build("training", secret(data)) is None


def test_the_secret_of_a_machine_set() -> None:
    for key in ("userDataSecret", "userData"):
        value = {key: {"name": "worker-user-data"}}
        one = {"spec": {"template": {"spec": {"providerSpec": {"value": value}}}}}
        assert user_data.names_of(one) == "worker-user-data"
        provider = user_data.patch(one, "own")["spec"]["template"]["spec"]["providerSpec"]
        assert provider == {"value": {key: {"name": "own"}}}
    assert user_data.names_of({"spec": {"template": {"spec": {}}}}) == ""
