# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No valid token or password appears anywhere.

The tests search -vvvv output, results, errors, diffs, artifacts, /tmp, argv and environment.
"""

from __future__ import annotations

import base64
import os
import stat
import tempfile
import threading
import time
import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import Cluster
from integration.oauth_login import OAuth
from integration.playbook import Playbook, Run

# A file that was last changed before cannot have a secret that a test makes. Nothing sets a ctime back.
BEGAN: t.Final = time.time() - 1


@pytest.fixture(scope="module")
def token(cluster: Cluster) -> str:
    """Return a real token of a service account with the role cluster-admin."""
    client = cluster.client
    client.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "canary", "namespace": "default"}}
    )
    client.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "canary"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [{"kind": "ServiceAccount", "name": "canary", "namespace": "default"}],
        }
    )
    path = "/api/v1/namespaces/default/serviceaccounts/canary/token"
    status, body = client.request(
        "POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    )
    assert status == 201, body
    return str(body["status"]["token"])


class Spy(threading.Thread):
    """A thread that reads the arguments and environment of every process while a playbook runs."""

    def __init__(self, *secrets: str) -> None:
        super().__init__(daemon=True)
        self._secrets, self._done, self.looks = [secret.encode() for secret in secrets], threading.Event(), 0
        self.found: set[str] = set()

    def run(self) -> None:
        while not self._done.wait(0.05):
            self.looks += 1
            for name in ("cmdline", "environ"):
                found = ((path, content(path)) for path in Path("/proc").glob(f"[0-9]*/{name}"))
                self.found.update(
                    str(path) for path, text in found if any(secret in text for secret in self._secrets)
                )

    def stop(self) -> None:
        self._done.set()
        self.join()


def content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def files_with(secret: str, *directories: Path) -> list[str]:
    """Return the files of these folders that have a secret, among those that were written since the start."""
    # os.walk ignores files that disappear, as those of other programs in /tmp do.
    paths = (
        Path(folder, name)
        for directory in directories
        for folder, _folders, names in os.walk(directory)
        for name in names
    )
    return [str(path) for path in paths if is_new(path) and secret.encode() in content(path)]


def is_new(path: Path) -> bool:
    """Return whether this is a file that was changed, moved or linked since the start."""
    try:
        status = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_ctime >= BEGAN


@pytest.fixture(scope="module")
def playbook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """Return a Playbook with the real ansible-playbook and its own home, which the tests search."""
    return Playbook(tmp_path_factory.mktemp("secrecy"), cluster.kubeconfig)


def credentials(cluster: Cluster, token: str, given: str, directory: Path) -> dict[str, t.Any]:
    """Return the options that carry the token: as api_key, or in a kubeconfig."""
    admin = yaml.safe_load(cluster.kubeconfig.read_text())
    server = admin["clusters"][0]["cluster"]
    if given == "api_key":
        authority = directory / "ca.crt"
        authority.write_bytes(base64.b64decode(server["certificate-authority-data"]))
        return {"host": server["server"], "ca_cert": str(authority), "api_key": token}
    user = {"name": "canary", "user": {"token": token}}
    context = {"name": "c", "context": {"cluster": admin["clusters"][0]["name"], "user": "canary"}}
    return {"kubeconfig": {**admin, "users": [user], "contexts": [context], "current-context": "c"}}


def spied_on(
    playbook: Playbook, tasks: list[dict[str, t.Any]], in_process: bool, credentials: Path, *secrets: str
) -> Run:
    """Run tasks with the credentials in a file; no process has a secret in its arguments or environment."""
    spy = Spy(*secrets)
    spy.start()
    run = playbook.tasks(
        *tasks, in_process=in_process, defaults="{{ credentials }}", cmdline=f"-vvvv -e @{credentials}"
    )
    spy.stop()
    assert spy.looks > 5
    assert spy.found == set()
    return run


def test_the_search_finds_a_file_with_an_old_date(tmp_path: Path) -> None:
    (tmp_path / "copy").write_text("a token-1 b")
    os.utime(tmp_path / "copy", (0, 0))
    (tmp_path / "other").write_text("a token-2 b")
    assert files_with("token-1", tmp_path) == [str(tmp_path / "copy")]


@pytest.mark.parametrize(
    ("given", "in_process"),
    [
        pytest.param("api_key", True, id="in-process-api_key"),
        pytest.param("kubeconfig", False, id="module-kubeconfig"),
    ],
)
def test_a_token_is_nowhere_to_be_seen(
    cluster: Cluster,
    playbook: Playbook,
    token: str,
    given: str,
    in_process: bool,
    tmp_path: Path,
    team: str,
) -> None:
    secret = tmp_path / "credentials.yml"
    secret.write_text(yaml.safe_dump({"credentials": credentials(cluster, token, given, tmp_path)}))
    quota = {"namespace": team, "name": "canary"}
    tasks: list[dict[str, t.Any]] = [
        {"accelerators.openshift.gpu_quota": {**quota, "gpus": 1}, "diff": True},
        {"accelerators.openshift.gpu_quota": {**quota, "gpus": -1}, "ignore_errors": True},
        {
            "accelerators.openshift.manifests": {
                "objects": [{"apiVersion": "v1", "kind": "Nonsense", "metadata": {"name": token[:60]}}]
            },
            "ignore_errors": True,
        },
        {"accelerators.openshift.gpu_quota": {**quota, "state": "absent"}},
    ]
    run = spied_on(playbook, tasks, in_process, secret, token)
    assert [task.failed for task in run.tasks] == [False, True, True, False], run.output[-3000:]
    assert token not in run.output
    secret.unlink()
    assert files_with(token, playbook.directory, Path(tempfile.gettempdir())) == []


def test_a_password_and_its_token_are_nowhere_to_be_seen(
    cluster: Cluster, in_process: bool, tmp_path: Path, team: str
) -> None:
    """Search for the prefix that every OAuth token has; besides tokens only their hashed names begin with it.

    Other tests pass the same password as plain options.
    """
    playbook = Playbook(tmp_path, cluster.kubeconfig)
    oauth = OAuth(cluster.needs_sandbox())
    password, issued = oauth.password(), "Bearer sha256~"
    secret = tmp_path / "credentials.yml"
    secret.write_text(yaml.safe_dump({"credentials": oauth.options()}))
    quota = {"namespace": team, "name": "canary-login"}
    nodes = "{{ query('accelerators.openshift.gpu_nodes', 'none', **credentials) }}"
    tasks: list[dict[str, t.Any]] = [
        {"accelerators.openshift.gpu_quota": {**quota, "gpus": 1}, "diff": True},
        {
            "accelerators.openshift.gpu_quota": {
                **quota,
                "gpus": 1,
                "username": "{{ credentials.password }}",
            },
            "ignore_errors": True,
        },
        {"accelerators.openshift.gpu_quota": {**quota, "state": "absent"}},
        {"ansible.builtin.set_fact": {"found": nodes}},
    ]
    run = spied_on(playbook, tasks, in_process, secret, password, issued)
    assert [task.failed for task in run.tasks] == [False, True, False, False], run.output[-3000:]
    assert run.tasks[1]["code"] == "CRED-LOGIN"
    assert password not in run.output
    assert "sha256~" not in run.output
    secret.unlink()
    assert files_with(password, playbook.directory) == []
    # The token must not be in Ansible's own files either; the sandbox's server stores none on disk.
    assert files_with("sha256~", playbook.directory) == []
