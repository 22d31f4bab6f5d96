# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job as AWX 24.6.1 runs it: by ansible-runner, with its credential, its variables, and without a home."""

from __future__ import annotations

import base64
import json
import shutil
import sys
import typing as t
from dataclasses import dataclass
from pathlib import Path

import ansible_runner
import pytest
import yaml
from cluster import Cluster
from integration.playbook import ROOT

Data = dict[str, t.Any]

# Parts of a checkout that a job's project holds.
PROJECT: t.Final = ("ansible.cfg", "playbooks", "plugins", "roles", "meta", "galaxy.yml")
JOB: t.Final = 4711


@dataclass(frozen=True)
class Job:
    """A job that has ended. artifacts: what set_stats left. largest: bytes of its largest event."""

    rc: int
    status: str
    output: str
    artifacts: Data
    largest: int
    hosts: set[str]


def credential(cluster: Cluster, folder: Path) -> dict[str, str]:
    """Return the environment that AWX makes of its OpenShift credential, for a cluster's administrator."""
    account = {"kind": "ServiceAccount", "name": "awx", "namespace": "default"}
    client = cluster.client
    client.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _named("awx", "default")})
    client.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": _named("awx-tests"),
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [account],
        }
    )
    wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = client.checked("POST", "/api/v1/namespaces/default/serviceaccounts/awx/token", wanted)
    server = yaml.safe_load(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]
    authority = folder / "authority.pem"
    authority.write_bytes(base64.b64decode(server["certificate-authority-data"]))
    return {
        "K8S_AUTH_HOST": server["server"],
        "K8S_AUTH_API_KEY": str(answer["status"]["token"]),
        "K8S_AUTH_VERIFY_SSL": "True",
        "K8S_AUTH_SSL_CA_CERT": str(authority),
    }


def _named(name: str, namespace: str = "") -> Data:
    return {"name": name, **({"namespace": namespace} if namespace else {})}


class Controller:
    """Launches jobs. folder: gets a private data directory for each. environment: of the credential."""

    def __init__(self, folder: Path, environment: t.Mapping[str, str]) -> None:
        self._folder, self._environment, self._jobs = folder, environment, 0

    def launch(
        self,
        playbook: str,
        hosts: t.Mapping[str, Data],
        limit: str = "",
        cancel: t.Callable[[], bool] | None = None,
        **extra_vars: t.Any,
    ) -> Job:
        """Run a playbook of the collection. hosts: the inventory. cancel: asked once and again."""
        self._jobs += 1
        private = self._folder / f"awx_{self._jobs}"
        project = private / "project"
        project.mkdir(parents=True)
        for name in PROJECT:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, project / name)
        home = project / ".collections/ansible_collections/accelerators"
        home.mkdir(parents=True)
        (home / "openshift").symlink_to("../../..")
        before = _files(project)
        with pytest.MonkeyPatch.context() as patch:
            for name in ("HOME", "KUBECONFIG", "K8S_AUTH_KUBECONFIG"):
                patch.delenv(name, raising=False)
            run = ansible_runner.run(
                private_data_dir=str(private),
                playbook=f"playbooks/{playbook}.yml",
                inventory={"all": {"hosts": dict(hosts)}},
                limit=limit or None,
                extravars={**_of_awx(), "gpu_clusters": "all", **extra_vars},
                envvars={**self._environment, **_settings(private)},
                cancel_callback=cancel,
                quiet=True,
                timeout=500,
            )
        assert _files(project) == before, "a job writes nothing into its project"
        return _ended(run)


def _of_awx() -> Data:
    """The variables that AWX adds to each job."""
    return {
        f"{prefix}_{name}": value
        for prefix in ("awx", "tower")
        for name, value in {"job_id": JOB, "job_launch_type": "manual", "user_name": "admin"}.items()
    }


def _settings(private: Path) -> dict[str, str]:
    return {
        "ANSIBLE_HOME": str(private / "ansible-home"),
        "ANSIBLE_FORCE_COLOR": "1",
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "JOB_ID": str(JOB),
    }


def _files(folder: Path) -> set[tuple[str, int]]:
    found = {one for one in folder.rglob("*") if one.is_file() and "__pycache__" not in one.parts}
    return {(str(one), one.stat().st_mtime_ns) for one in found}


def _ended(run: t.Any) -> Job:
    events = list(run.events)
    last = [one for one in events if one["event"] == "playbook_on_stats"]
    return Job(
        run.rc,
        run.status,
        run.stdout.read(),
        last[0]["event_data"].get("artifact_data", {}) if last else {},
        max(len(json.dumps(one)) for one in events),
        {one["event_data"]["host"] for one in events if one["event_data"].get("host")},
    )
