# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""rotate_pull_secret.yml: a new login of the GPU stack is tried, put in place, and shown nowhere."""

from __future__ import annotations

import base64
import json
import typing as t
from pathlib import Path

import pytest
from cluster import Cluster, must_get
from integration.playbook import Playbook, Run
from integration.stack.operators.updates import trouble
from integration.test_secrecy import Spy, files_with
from integration.wire import Audit

from openshift_sandbox.catalogue import crds

Data = dict[str, t.Any]
SPACE, NAME, CHECK = "it-pull", "it-ngc", "accelerators-pull-secret-check"
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
HOST: t.Final = "nvcr.io"
DRIVER: t.Final = f"{HOST}/nvidia/driver:580.65.06-rhcos9.6"
OLD, NEW, OTHER = "canary-of-the-old-login", "canary-of-the-new-login", "canary-of-nobody"
LOGINS: t.Final = [
    form
    for one in (OLD, NEW, OTHER)
    for form in (one, base64.b64encode(f"$oauthtoken:{one}".encode()).decode())
]


def content(password: str, *registries: str) -> Data:
    entry = {"auth": base64.b64encode(f"$oauthtoken:{password}".encode()).decode()}
    return {"auths": dict.fromkeys(registries or (HOST,), entry)}


def secret(password: str, *registries: str) -> Data:
    data = base64.b64encode(json.dumps(content(password, *registries)).encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": NAME, "namespace": SPACE},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": data},
    }


def live(cluster: Cluster) -> t.Any:
    found = must_get(cluster.client, "v1", "secrets", NAME, SPACE)
    return json.loads(base64.b64decode(found["data"][".dockerconfigjson"]))


@pytest.fixture(scope="module")
def playbook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """Return a Playbook with the real ansible-playbook and its own home, which the tests search."""
    return Playbook(tmp_path_factory.mktemp("pull-secret"), cluster.kubeconfig)


@pytest.fixture(scope="module")
def policy(cluster: Cluster) -> t.Iterator[None]:
    """Make a ClusterPolicy that names the Secret, and a pod that pulls with it; no operator runs."""
    client = cluster.client
    crds.load(client, crds.operator_crds("gpu-operator-certified"))
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    keys = ("operator", "daemonsets", "driver", "toolkit", "devicePlugin", "dcgmExporter", "dcgm")
    spec: Data = {key: {} for key in (*keys, "nodeStatusExporter", "gfd")}
    client.apply(
        {
            "apiVersion": POLICIES[0],
            "kind": "ClusterPolicy",
            "metadata": {"name": "it-pull"},
            "spec": spec | {"driver": {"imagePullSecrets": [NAME]}},
        }
    )
    pod = {"imagePullSecrets": [{"name": NAME}], "containers": [{"name": "driver", "image": DRIVER}]}
    metadata = {"name": "it-driver", "namespace": SPACE}
    client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod})
    yield
    client.delete("v1", "pods", "it-driver", SPACE)
    client.delete(*POLICIES, "it-pull")
    client.delete("v1", "secrets", NAME, SPACE)
    client.delete("v1", "namespaces", SPACE)


@pytest.fixture
def old(cluster: Cluster, policy: None) -> None:
    """Give the Secret its old content again, as an administrator made it."""
    cluster.client.delete("v1", "secrets", NAME, SPACE)
    cluster.client.create(secret(OLD))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "new.json"
    path.write_text(json.dumps(content(NEW)))
    return path


def rotate(playbook: Playbook, *arguments: str, **variables: t.Any) -> Run:
    names = {"gpu_operator_namespace": SPACE}
    return playbook.playbook("rotate_pull_secret", "-vvvv", "--diff", *arguments, **names, **variables)


def unsaid(run: Run) -> None:
    """Assert that no form of a login is in the output or a result."""
    said = run.output + str([one.result for one in run.tasks])
    assert [login for login in LOGINS if login in said] == []


def silent(run: Run, playbook: Playbook, file: Path) -> None:
    """Assert that no form of a login is in the output, the artifacts, or a file but the user's."""
    file.unlink(missing_ok=True)
    unsaid(run)
    for login in LOGINS:
        assert files_with(login, playbook.directory) == []


def test_a_new_login_is_tried_and_put_in_place(
    cluster: Cluster, playbook: Playbook, audit: Audit, old: None, file: Path
) -> None:
    spy = Spy(OLD, NEW)
    with trouble(cluster, "registry_needs_login", host=HOST, logins=[f"$oauthtoken:{NEW}"]):
        checked = rotate(playbook, "--check", gpu_pull_secret_file=str(file))
        assert (checked.rc, live(cluster), audit.writes(*checked.tasks)) == (0, content(OLD), [])
        spy.start()
        run = rotate(playbook, gpu_pull_secret_file=str(file))
        spy.stop()
        again = rotate(playbook, gpu_pull_secret_file=str(file))
    assert (run.rc, live(cluster)) == (0, content(NEW)), run.output[-3000:]
    (entry,) = next(one for one in run.tasks if one.name == "Replace the pull secrets")["pull_secrets"]
    assert (entry["pods"], entry["verified"]) == (["it-driver"], [DRIVER])
    assert [one for one in audit.writes(*run.tasks) if "leases" not in one] == [
        f"create secrets {SPACE}/{CHECK}",
        f"delete secrets {SPACE}/{CHECK}",
        f"patch secrets {SPACE}/{NAME}",
    ]
    assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, [])
    pod = must_get(cluster.client, "v1", "pods", "it-driver", SPACE)
    assert "deletionTimestamp" not in pod["metadata"]
    log = cluster.needs_sandbox().audit_log.read_text()
    assert (spy.found, OLD in log, NEW in log) == (set(), False, False)
    for one in (checked, run, again):
        silent(one, playbook, file)


def test_a_login_that_the_registry_refuses_changes_nothing(
    cluster: Cluster, playbook: Playbook, old: None, file: Path, tmp_path: Path
) -> None:
    with trouble(cluster, "registry_needs_login", host=HOST, logins=[f"$oauthtoken:{OTHER}"]):
        run = rotate(playbook, gpu_pull_secret_file=str(file))
        assert (run.failure["code"], live(cluster)) == ("PULL-REFUSED", content(OLD))
        silent(run, playbook, file)
        # ansible-runner writes variables into a file of its folder.
        given = rotate(Playbook(tmp_path, cluster.kubeconfig), gpu_pull_secret=content(NEW))
    assert (given.failure["code"], live(cluster)) == ("PULL-REFUSED", content(OLD))
    assert cluster.client.get("v1", "secrets", CHECK, SPACE) is None
    unsaid(given)


def test_a_secret_of_another_tool_is_left_to_it(
    cluster: Cluster, playbook: Playbook, audit: Audit, old: None
) -> None:
    mark = {"metadata": {"annotations": {"reconcile.external-secrets.io/data-hash": "1"}}}
    cluster.client.patch("v1", "secrets", NAME, SPACE, mark)
    task = playbook.module("gpu_pull_secret", content=content(NEW), namespace=SPACE)
    assert (task["code"], "External Secrets" in task["message"]) == ("PULL-OWNER", True)
    assert (audit.writes(task), NEW in str(task.result)) == ([], False)
    assert live(cluster) == content(OLD)
