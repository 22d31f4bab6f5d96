# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the real Kueue gets on its cluster: CRDs that it converts, and the webhooks that it answers."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from openshift_sandbox import scenario
from openshift_sandbox.go import manifests
from openshift_sandbox.programs import kueue
from openshift_sandbox.sandbox import Sandbox

Object = dict[str, t.Any]


def crd(plural: str) -> Object:
    names = {"plural": plural}
    return {"kind": "CustomResourceDefinition", "metadata": {"name": plural}, "spec": {"names": names}}


def hook(name: str, *groups: str) -> Object:
    service = {"name": "webhook-service", "namespace": "system", "path": f"/{name}"}
    rules = [{"apiGroups": [one]} for one in groups]
    return {"name": name, "clientConfig": {"service": service}, "failurePolicy": "Fail", "rules": rules}


class Secrets:
    """A client of a cluster with one Secret. data: None without it."""

    def __init__(self, data: dict[str, str] | None) -> None:
        self._data = data

    def get(self, *_place: str) -> Object | None:
        return None if self._data is None else {"data": self._data}


MANIFESTS: t.Final = [
    crd("localqueues"),
    crd("resourceflavors"),
    {
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "mutating-webhook-configuration"},
        "webhooks": [hook("mqueue", "kueue.x-k8s.io"), hook("mpod", ""), hook("mjob", "batch")],
    },
    {
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "validating-webhook-configuration"},
        "webhooks": [hook("vray", "ray.io"), hook("vjob", "batch")],
    },
]


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    monkeypatch.setattr(manifests, "read", lambda _target: MANIFESTS)
    made = Sandbox(tmp_path)
    made.create()
    made.state.set(ports={kueue.NAME: 20123})
    return made


@pytest.mark.parametrize(
    ("name", "is_wanted"), [("real-queues", True), ("gpu-queues", False), ("aws", False)]
)
def test_only_its_own_scenario_runs_it(name: str, is_wanted: bool) -> None:
    assert kueue.wanted(scenario.load(name)) is is_wanted


def test_kueue_converts_the_kinds_whose_versions_differ(sandbox: Sandbox) -> None:
    converted, same = kueue.crds(sandbox)
    client = converted["spec"]["conversion"]["webhook"]["clientConfig"]
    assert client["service"] == {
        "name": "kueue-webhook-service",
        "namespace": "openshift-kueue-operator",
        "path": "/convert",
        "port": 20123,
    }
    assert "conversion" not in same["spec"]


def test_only_jobs_and_its_own_kinds_have_webhooks(sandbox: Sandbox) -> None:
    mutating, validating = kueue.webhooks(sandbox)
    assert mutating["metadata"]["name"] == "kueue-mutating-webhook-configuration"
    assert [one["name"] for one in mutating["webhooks"]] == ["mqueue", "mjob"]
    (job,) = validating["webhooks"]
    service = job["clientConfig"]["service"]
    assert (service["path"], service["port"]) == ("/vjob", 20123)
    assert job["failurePolicy"] == "Fail"


def test_the_platforms_own_jobs_do_not_wait_for_kueue(sandbox: Sandbox) -> None:
    queue, job = kueue.webhooks(sandbox)[0]["webhooks"]
    (passed,) = job["namespaceSelector"]["matchExpressions"]
    assert (passed["operator"], passed["values"]) == ("NotIn", ["kube-system", "openshift-kueue-operator"])
    assert "namespaceSelector" not in queue


def test_it_listens_on_this_machine_alone(tmp_path: Path) -> None:
    made = kueue.configuration(tmp_path, 20123)
    assert made["webhook"] == {"host": "127.0.0.1", "port": 20123, "certDir": str(tmp_path)}
    assert made["metrics"]["bindAddress"] == made["health"]["healthProbeBindAddress"] == "0"


def test_kueue_gets_its_certificate_as_from_a_kubelet(tmp_path: Path) -> None:
    assert not kueue._mount(t.cast(t.Any, Secrets(None)), tmp_path)
    assert not kueue._mount(t.cast(t.Any, Secrets({})), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert kueue._mount(t.cast(t.Any, Secrets({"tls.crt": "b25l", "tls.key": "dHdv"})), tmp_path)
    assert (tmp_path / "tls.key").read_text() == "two"
    assert (tmp_path / "tls.key").stat().st_mode & 0o077 == 0
