# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Machine API's webhook on Google Cloud: what it refuses, changes, warns about and accepts."""

from __future__ import annotations

import json
import signal
import time
import typing as t

import pytest
import urllib3
from integration.patience import until
from integration.sandbox.machine_sets import API, MACHINES, Data, copied, machines, value_of, worker

from openshift_sandbox import faults, lifecycle
from openshift_sandbox.client import ApiError, Client
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.programs import admission
from openshift_sandbox.sandbox import Sandbox

SCENARIO = "gcp"
pytestmark = pytest.mark.long(
    "the sandbox itself: every other test uses its parts, these test them one by one"
)
DEFAULT_SECONDS = 10  # an API server's default timeout for a webhook
T4 = {"machineType": "n1-standard-4", "gpus": [{"type": "nvidia-tesla-t4"}], "onHostMaintenance": "Terminate"}


def machine_set(client: Client, name: str, **over: t.Any) -> Data:
    """Return a copy of the worker set with no replicas and other fields in providerSpec.value."""
    return copied(worker(client, "-a"), name, 0, **over)


def patched(sandbox: Sandbox, name: str, value: Data, query: str = "") -> tuple[int, Data, str]:
    """Send a merge patch; return the HTTP status, the body and the Warning header."""
    pki = sandbox.run / "pki"
    pool = urllib3.PoolManager(
        cert_file=str(pki / "admin.crt"), key_file=str(pki / "admin.key"), ca_certs=str(pki / "ca.crt")
    )
    body = json.dumps({"spec": {"template": {"spec": {"providerSpec": {"value": value}}}}})
    path = f"{sandbox.url}/apis/{API}/namespaces/{MACHINES}/machinesets/{name}{query}"
    answer = pool.request("PATCH", path, body=body, headers={"Content-Type": "application/merge-patch+json"})
    return answer.status, answer.json(), answer.headers.get("Warning", "")


def test_a_wrong_set_is_refused_in_the_webhook_s_name(client: Client) -> None:
    with pytest.raises(ApiError) as refused:
        client.create(machine_set(client, "wrong", **T4 | {"onHostMaintenance": "Migrate"}))
    assert refused.value.status == 403
    assert refused.value.message.startswith(
        'admission webhook "validation.machineset.machine.openshift.io" denied the request: '
        "providerSpec.onHostMaintenance: Forbid"
    )
    assert client.get(API, "machinesets", "wrong", MACHINES) is None


def test_a_new_set_is_rewritten_and_becomes_a_gpu_node(client: Client) -> None:
    made = client.create(machine_set(client, "pool", **T4, gpuCount=1))
    assert value_of(made)["gpus"] == [{"count": 1, "type": "nvidia-tesla-t4"}]
    assert "gpuCount" not in value_of(made)
    client.patch(API, "machinesets", "pool", MACHINES, {"spec": {"replicas": 1}})
    node = until(
        lambda: next(
            (one for one in client.list("v1", "nodes") if one["metadata"]["name"].startswith("pool-")), None
        ),
        "the Node",
    )
    made_of = instance_types.of_node(node)
    assert made_of is not None
    assert (made_of.gpus, made_of.gpu) == (1, instance_types.GPUS["T4"])
    assert until(
        lambda: told(client, "pool").get("machine.openshift.io/GPU") == "1",
        "the number of GPUs that a new node would have",
    )


def told(client: Client, name: str) -> Data:
    return t.cast(
        Data, (client.get(API, "machinesets", name, MACHINES) or {})["metadata"].get("annotations") or {}
    )


def test_an_update_is_warned_of_dry_or_not(sandbox: Sandbox, client: Client) -> None:
    client.create(machine_set(client, "warned"))
    for query in ("?dryRun=All", ""):
        status, answer, warning = patched(sandbox, "warned", {"gpuCount": 1}, query)
        assert status == 200
        assert value_of(answer)["gpuCount"] == 1
        assert (
            r'299 - "providerSpec.value: Unsupported value: \"gpuCount\": '
            'Unknown field (gpuCount) will be ignored"' in warning
        )
    assert patched(sandbox, "warned", {"gpuCount": None, "tags": ["other"]})[2] == ""


def test_capacity_that_is_missing_fails_late_and_the_next_zone_has_some(
    sandbox: Sandbox, client: Client
) -> None:
    faults.add(sandbox, "no_capacity", {"zone": "us-central1-a", "instance_type": "g2-standard-4"})
    l4 = {"machineType": "g2-standard-4", "onHostMaintenance": "Terminate"}
    for zone in ("a", "b"):
        client.create(machine_set(client, f"l4-{zone}", **l4, zone=f"us-central1-{zone}"))
        client.patch(API, "machinesets", f"l4-{zone}", MACHINES, {"spec": {"replicas": 1}})
    wanted = {"l4-a": "Failed", "l4-b": "Running"}
    assert until(lambda: {name: phase(client, name) for name in wanted} == wanted, "one Failed, one Running")


def phase(client: Client, name: str) -> str | None:
    found = machines(client, name)
    return found[0].get("status", {}).get("phase") if found else None


def test_the_api_server_goes_on_without_the_webhook_and_up_brings_it_back(
    sandbox: Sandbox, client: Client
) -> None:
    sandbox.processes.signal(admission.NAME, signal.SIGSTOP)
    started = time.monotonic()
    client.create(machine_set(client, "unseen", onHostMaintenance="Sometimes"))
    assert time.monotonic() - started < 2 * DEFAULT_SECONDS
    sandbox.processes.signal(admission.NAME, signal.SIGKILL)
    until(lambda: not sandbox.processes.alive(admission.NAME), "the webhook killed")
    client.create(machine_set(client, "unheard", onHostMaintenance="Sometimes"))
    lifecycle.up(sandbox, SCENARIO)
    with pytest.raises(ApiError, match="onHostMaintenance must be either Migrate or Terminate"):
        client.create(machine_set(client, "heard", onHostMaintenance="Sometimes"))
